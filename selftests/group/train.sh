#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/examples tools/libmrpc/group tools/libmrpc/meeting tools/mrpc/show/topology kmod/group/strategy
# Ranks in four hosts, which are network namespaces, train a model together.
# timeout 240
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/hosts.sh"

STEPS=200

# rank NUMBER STEPS: in the background; writes what it says to $TEST_TMP/NUMBER and its errors to
# $TEST_TMP/NUMBER.err. Its process is $!.
rank()
{
	ip netns exec "h$1" mrpc-train 4 "$1" tcp:10.1.0.1:7003 "$2" \
		>"$TEST_TMP/$1" 2>"$TEST_TMP/$1.err" &
}

# All ranks have the model of one that is alone, bit for bit, after each step, and it gets better.
test_equal()
{
	local i pids=()
	hosts
	for i in 3 1 0 2; do
		rank $i $STEPS
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || fail "$(tail "$TEST_TMP"/*.err)"; done
	same_as_alone $STEPS
	awk '{ sub(",", "", $4); loss[NR] = $4 }
	     END { exit !(NR > 8 && loss[NR] < 0.8 * loss[1]) }' "$TEST_TMP/alone" ||
		fail "it learns nothing"
}

# same_as_alone STEPS [LINES]: all ranks have the model of one that is alone, in all they say, or in
# the first lines of that.
same_as_alone()
{
	local i
	mrpc-train 1 0 loop:alone "$1" | head -n "${2:-1000}" >"$TEST_TMP/alone"
	for i in 0 1 2 3; do
		diff "$TEST_TMP/alone" <(head -n "${2:-1000}" "$TEST_TMP/$i") ||
			fail "rank $i has another model"
	done
}

# group_at NUMBER: the group of the rank on a host.
group_at() { mrpc -n "h$1" group | awk 'NR == 2 { print $1 }'; }

# An operator moves the ring while they train, and no step is lost or wrong.
test_moved()
{
	local i lines group=() orders=(3,1,0,2 0,3,2,1 2,3,1,0) algorithms=(ring recursive direct)
	hosts
	for i in 0 1 2 3; do
		rank $i 1000000
		on_exit kill $!
	done
	wait_for 60 grep -q 'step 16:' "$TEST_TMP/3"
	for i in 0 1 2 3; do group+=("$(group_at $i)"); done
	# Two racks, in the wrong order for the ranks' numbers.
	printf '%s\n' '# where hosts are' '10.1.0.0/24 pod rack1 other' '10.1.0.1 pod rack1 a' \
		'10.1.0.4/32 pod rack1 d' '10.1.0.2/31 pod rack2 b  # and c' >"$TEST_TMP/topology"
	mrpc -n h2 group set "${group[2]}" topology "$TEST_TMP/topology" algorithm AllReduce ring
	mrpc -n h2 -j group | json "j[0]['strategy']['order'] == [0, 3, 1, 2]"
	for i in 0 1 3; do
		mrpc -n h$i group set "${group[i]}" order "${orders[i % 3]}" \
			algorithm AllReduce "${algorithms[i % 3]}"
	done
	# They say something at the steps 0, 1, 2, 4, 8 ...: line N is that of step 2^(N-2).
	lines=$(($(wc -l <"$TEST_TMP/0") + 1))
	for i in 0 1 2 3; do
		wait_for 60 eval "[[ \$(wc -l <'$TEST_TMP/$i') -ge $lines ]] || [[ -s '$TEST_TMP/$i.err' ]]"
		[[ ! -s $TEST_TMP/$i.err ]] || fail "$(<"$TEST_TMP/$i.err")"
	done
	same_as_alone $((2 ** (lines - 2) + 1)) "$lines"
}

test_topology_refused()
{
	local i group
	hosts
	for i in 0 1 2 3; do
		rank $i 1000000
		on_exit kill $!
	done
	wait_for 60 grep -q 'step 64:' "$TEST_TMP/3"
	group=$(group_at 0)
	says_of()	# TEXT LINE...: the command refuses a file of these lines
	{
		printf '%s\n' "${@:2}" >"$TEST_TMP/file"
		refused 1 "$1" -n h0 group set "$group" topology "$TEST_TMP/file"
	}
	says_of 'file has no place for rank 1, which is at 10.1.0.2' '10.1.0.1 p r h'
	says_of 'file, line 2: it must be ADDRESS[/PREFIX] POD RACK HOST' '' '10.1.0.1 p r'
	says_of 'file, line 1: it must be ADDRESS[/PREFIX] POD RACK HOST' '10.1.0.1 p r h more'
	says_of "file, line 1: '10.1.0.1/33' is no address" '10.1.0.1/33 p r h'
	says_of "file, line 1: 'h1' is no address" 'h1 p r h'
	says_of 'file: rank 1 has a host that is also in another rack' '10.1.0.0/24 p r h' \
		'10.1.0.2 p s h'
	refused 1 'cannot open' -n h0 group set "$group" topology /none
}

# One is killed while they train: the others learn which one, soon.
test_killed()
{
	local i pids=()
	hosts
	for i in 0 1 2 3; do
		rank $i 1000000
		pids+=($!)
	done
	wait_for 30 grep -q 'step 64:' "$TEST_TMP/3"
	kill -KILL "${pids[2]}"
	for i in 0 1 3; do
		! wait "${pids[$i]}" || fail "rank $i goes on without rank 2"
		grep -Eq 'rank 2 (is lost|has left)' "$TEST_TMP/$i.err" || fail "rank $i: $(<"$TEST_TMP/$i.err")"
	done
}

run_tests "$@"
