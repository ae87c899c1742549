#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/examples tools/libmrpc/group tools/libmrpc/meeting
# Ranks in four hosts, which are network namespaces, train a model together.
# timeout 240
. "${0%/*}/../harness/lib.sh"

STEPS=200

# Four hosts at a switch: h0 to h3, 10.1.0.1 to 10.1.0.4.
hosts()
{
	local i
	ip link add switch type bridge
	on_exit ip link delete switch
	ip link set switch up
	for i in 0 1 2 3; do
		ip netns add h$i
		on_exit ip netns delete h$i
		ip link add eth0 netns h$i type veth peer name port$i
		ip link set port$i master switch up
		ip -n h$i address add 10.1.0.$((i + 1))/24 dev eth0
		ip -n h$i link set lo up
		ip -n h$i link set eth0 up
	done
}

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
	mrpc-train 1 0 loop:alone $STEPS >"$TEST_TMP/alone"
	for i in 0 1 2 3; do
		diff "$TEST_TMP/alone" "$TEST_TMP/$i" || fail "rank $i has another model"
	done
	awk '{ sub(",", "", $4); loss[NR] = $4 }
	     END { exit !(NR > 8 && loss[NR] < 0.8 * loss[1]) }' "$TEST_TMP/alone" ||
		fail "it learns nothing"
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
