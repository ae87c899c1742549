#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/examples tools/libmrpc/group tools/libmrpc/meeting tools/mrpc/show/topology kmod/group/strategy
# Ranks in four hosts, which are network namespaces, train a model together.
# timeout 240
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/hosts.sh"

# rank NUMBER STEPS: in the background; writes what it says to $TEST_TMP/NUMBER and its errors to
# $TEST_TMP/NUMBER.err. Its process is $!.
rank()
{
	ip netns exec "h$1" mrpc-train 4 "$1" tcp:10.1.0.1:7003 "$2" \
		>"$TEST_TMP/$1" 2>"$TEST_TMP/$1.err" &
}

# same_as_alone LINES: all ranks have the model of one that is alone, bit for bit, in the first lines of
# what they say. Line N is about step 2^(N-2).
same_as_alone()
{
	local i
	mrpc-train 1 0 loop:alone $((2 ** ($1 - 2) + 1)) | head -n "$1" >"$TEST_TMP/alone"
	for i in 0 1 2 3; do
		diff "$TEST_TMP/alone" <(head -n "$1" "$TEST_TMP/$i") || fail "rank $i has another model"
	done
}

# said LINES: all ranks have said so much.
said()
{
	local i
	for i in 0 1 2 3; do
		wait_for 60 eval "[[ \$(wc -l <'$TEST_TMP/$i') -ge $1 ]] || [[ -s '$TEST_TMP/$i.err' ]]"
		[[ ! -s $TEST_TMP/$i.err ]] || fail "$(<"$TEST_TMP/$i.err")"
	done
}

# group_at NUMBER: the group of the rank on a host.
group_at() { mrpc -n "h$1" group | awk 'NR == 2 { print $1 }'; }

# no_topology TEXT LINE...: the command refuses a file of these lines.
no_topology()
{
	printf '%s\n' "${@:2}" >"$TEST_TMP/file"
	refused 1 "$1" -n h0 group set "$group" topology "$TEST_TMP/file"
}

# Operators move the ring while they train. All ranks have the model of one that is alone, bit for bit,
# after each step, and it gets better.
test_moved()
{
	local i group groups=() orders=('3,1,0,2' '0,3,2,1' '2,3,1,0') algorithms=(ring recursive direct)
	hosts
	for i in 3 1 0 2; do
		rank $i 1000000
		on_exit kill $!
	done
	said 6
	for i in 0 1 2 3; do groups+=("$(group_at $i)"); done
	group=${groups[0]}
	# Two racks, in the wrong order for the ranks' numbers.
	printf '%s\n' '# where hosts are' '10.1.0.0/24 pod rack1 other' '10.1.0.1 pod rack1 a' \
		'10.1.0.4/32 pod rack1 d' '10.1.0.2/31 pod rack2 b  # and c' >"$TEST_TMP/topology"
	mrpc -n h2 group set "${groups[2]}" topology "$TEST_TMP/topology" algorithm AllReduce ring
	mrpc -n h2 -j group | json "j[0]['strategy']['order'] == [0, 3, 1, 2]"
	for i in 0 1 3; do
		mrpc -n h$i group set "${groups[i]}" order "${orders[i % 3]}" \
			algorithm AllReduce "${algorithms[i % 3]}"
	done
	no_topology 'file has no place for rank 1, which is at 10.1.0.2' '10.1.0.1 p r h'
	no_topology 'file, line 2: it must be ADDRESS[/PREFIX] POD RACK HOST' '' '10.1.0.1 p r'
	no_topology "file, line 1: '10.1.0.1/33' is no address" '10.1.0.1/33 p r h'
	no_topology 'file: rank 1 has a host that is also in another rack' '10.1.0.0/24 p r h' \
		'10.1.0.2 p s h'
	i=$(wc -l <"$TEST_TMP/0")
	said $((i > 9 ? i + 1 : 10))
	same_as_alone $((i > 9 ? i + 1 : 10))
	awk '{ sub(",", "", $4); loss[NR] = $4 } END { exit !(loss[NR] < 0.8 * loss[1]) }' \
		"$TEST_TMP/alone" || fail "it learns nothing"
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
