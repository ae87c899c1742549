#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc/show/group tools/mrpc/metrics/group
# mrpc group, and what other commands say of groups.
# timeout 240
. "${0%/*}/../harness/lib.sh"
# shellcheck disable=SC2016 # eval expands

# ranks NUMBER: a group, whose session of rank N is ${session[N]}.
ranks()
{
	local i
	ip link set lo up
	coproc "$MRPC_BUILD/selftests/helper/ranks" "$1"
	on_exit kill "$COPROC_PID"
	says ready
	for ((i = 0; i < $1; i++)); do
		session[i]=$(mrpc group | awk -v rank="$i/$1" '$2 == rank { sub(":.*", "", $1); print $1 }')
	done
}

says()	# WORD
{
	local line
	read -r -t $((60 * MRPC_TIME_SCALE)) line <&"${COPROC[0]}"
	[[ $line == "$1" ]] || fail "it says '$line', not '$1'"
}

# What the ranks do; see helper/ranks.c.
ranks_do()	# WORD
{
	echo "$1" >&"${COPROC[1]}"
	says "$1"
}

# A table whose columns line up: no cell reaches into that of the next head. (A cell may have spaces
# only in the last column.)
lines_up()
{
	python3 -IS -c '
import re, sys
lines = sys.stdin.read().splitlines()
heads = [m.span() for m in re.finditer(r"\S+", lines[0])]
assert len(lines) > 1, "no line"
for line in lines[1:]:
    cells = [m.span() for m in re.finditer(r"\S+", line)][:len(heads)]
    assert len(cells) == len(heads), line
    for (a, b), (c, d) in zip(heads, cells[:-1] + [(heads[-1][0], 0)]):
        assert a == c or b == d, (line, lines[0][a:b])'
}

test_show()
{
	ranks 3
	mrpc group | lines_up
	mrpc -s group | lines_up
	[[ $(mrpc group | column RANK) == $'0/3\n1/3\n2/3' ]]
	[[ $(mrpc group | column STATE | sort -u) == idle ]]
	[[ $(mrpc group | column CONNS | sort -u) == 2 ]]
	ranks_do run
	ranks_do run
	[[ $(mrpc group | column DONE | sort -u) == 2 ]]
	mrpc -j group | json "[g['rank'] for g in j] == [0, 1, 2]"
	mrpc -j group | json "all(g['totals'] == [{'collective': 'AllReduce', 'completed': 2, 'failed': 0,
		'bytes': 200000, 'time_ns': g['totals'][0]['time_ns']}] for g in j)"
	mrpc -j group | json "sum(g['tx_bytes'] for g in j) == 2 * 4 * 100000 and
		sum(g['rx_bytes'] for g in j) == 2 * 4 * 100000"
	[[ $(mrpc group show "${session[1]}:1" | column RANK) == 1/3 ]]
	[[ $(mrpc group show session "${session[1]}" | column RANK) == 1/3 ]]
	[[ $(mrpc group session "${session[1]}" id 1 2>&1) == *"is not a command"* ]]
	mrpc group dump "${session[0]}:1" | has '^    totals'
	mrpc group dump session "${session[0]}" id 1 | has '^ *collective *AllReduce$'
	mrpc dump | has '^group:'
	mrpc -j dump | json "len(j['group']) == 3"
	ranks_do begin
	wait_for 10 eval "mrpc group | has 'running .* AllReduce 3, ring, 98K, for .*, awaits rank 2'"
	mrpc group | lines_up
	mrpc -j group show "${session[0]}:1" | json "j[0]['state'] == 'running' and
		j[0]['operation']['awaits'] == 2 and j[0]['operation']['reduce'] == 'sum' and
		'root' not in j[0]['operation'] and j[0]['operation']['tx_chunks'] == 1"
	mrpc group links "${session[2]}:1" | lines_up
	wait_for 10 eval '[[ $(mrpc group links '"${session[2]}"':1 | column EARLY) == $'"'-\nyes'"' ]]'
	mrpc -j group links "${session[2]}:1" | json "[l['rank'] for l in j] == [0, 1] and j[1]['early']"
	ranks_do finish
	[[ $(mrpc group | column STATE | sort -u) == idle ]]
	[[ $(mrpc group | column DONE | sort -u) == 3 ]]
}

# Which connections are a group's.
test_connections()
{
	ranks 2
	mrpc -j conn show session "${session[0]}" | json "len(j) == 1 and j[0]['group'] == 1 and
		j[0]['rank'] == 1"
	mrpc -j conn show session "${session[1]}" | json "j[0]['group'] == 1 and j[0]['rank'] == 0"
	[[ $(mrpc -s conn show session "${session[0]}" | column RANK) == 1 ]]
	[[ $(mrpc conn) != *RANK* ]]
	mrpc conn dump session "${session[0]}" | has '^    group  *1$'
}

test_ended()
{
	ranks 3
	ranks_do run
	[[ $(mrpc group links "${session[0]}:1" | column LEFT) == $'-\n-' ]]
	ranks_do leave
	[[ $(mrpc group links "${session[0]}:1" | column LEFT) == $'-\nyes' ]]
	[[ $(mrpc group | column STATE) == $'ended\nended' ]]
	mrpc group | lines_up
	mrpc group show "${session[0]}:1" | has 'CANCELLED: rank 2 has left the group$'
	mrpc -j group | json "all(g['status'] == 'CANCELLED' and g['completed'] == 1 for g in j)"
	refused 1 "session ${session[2]} has no group 1" group show "${session[2]}:1"
	refused 1 "session ${session[2]} has no group 1" group trace "${session[2]}:1"
	wait_for 20 eval '[[ $(mrpc group | column CONNS) == $'"'0\n0'"' ]]'
	[[ $(mrpc group links "${session[0]}:1" | column CONN) == $'-\n-' ]]
	mrpc -j conn show session "${session[0]}" | json "all('group' not in c for c in j)"
	kill "$COPROC_PID"
	wait_for 10 eval '[[ $(mrpc -j group) == "[]" ]]'
}

test_trace()
{
	ranks 2
	[[ $(mrpc -j group trace) == '[]' ]]
	ranks_do run
	ranks_do run
	mrpc group trace "${session[0]}:1" | lines_up
	mrpc -s group trace | lines_up
	[[ $(mrpc group trace | column NUMBER) == $'1\n2\n1\n2' ]]
	[[ $(mrpc group trace "${session[1]}:1" "${session[0]}:1" | column RANK) == $'1\n1\n0\n0' ]]
	[[ $(mrpc group trace | column STATUS | sort -u) == OK ]]
	ranks_do begin
	mrpc group trace "${session[0]}:1" | has ' runs$'
	# As Chrome's viewer reads it: complete events, times in microseconds.
	mrpc -j group trace >"$TEST_TMP/trace"
	json "len(j) == 5 and all(e['ph'] == 'X' and e['name'] == 'AllReduce' for e in j)" <"$TEST_TMP/trace"
	json "{(e['pid'], e['tid']) for e in j} == {(${session[0]}, 0), (${session[1]}, 1)}" <"$TEST_TMP/trace"
	json "abs(j[0]['ts'] / 1e6 - $(date +%s)) < 300 and j[1]['ts'] >= j[0]['ts'] + j[0]['dur'] and
		0 < j[0]['dur'] < 60e6" <"$TEST_TMP/trace"
	json "all(e['args']['operation']['bytes'] == 100000 for e in j)" <"$TEST_TMP/trace"
	json "[e['args'].get('status') for e in j] == ['OK', 'OK', None, 'OK', 'OK']" <"$TEST_TMP/trace"
	json "j[0]['args']['last_received_ns'] / 1e3 <= j[0]['dur']" <"$TEST_TMP/trace"
	[[ $(mrpc group trace --json "${session[0]}:1") == '[{"name":"AllReduce","cat":"mrpc","ph":"X","ts":'* ]]
	ranks_do finish
}

test_usage()
{
	refused 2 "'frob' is not a command: it must be show, dump, links, set, trace or help" group frob
	refused 2 "'4' is not a group: it must be SESSION:NUMBER" group links 4
	refused 2 "'0:1' is not a group" group links 0:1
	refused 2 "'4:1x' is not a group" group trace 4:1x
	refused 2 "the group, as SESSION:NUMBER, is missing" group links
	refused 2 "'more' is one word too many" group links 4:1 more
	refused 2 "'more' is one word too many" group show 4:1 more
	refused 2 "'4' is not a filter" group show 4
	refused 2 "'id' needs 'session'" group show id 1
	refused 1 'there is no session 77 in this network namespace' group show 77:1
	refused 1 'there is no session 77 in this network namespace' group links 77:1
	refused 1 'there is no session 77 in this network namespace' group trace 77:1
	[[ $(mrpc group) == "GROUP  RANK"*NOW && $(mrpc -j group) == '[]' ]]
	[[ $(mrpc group links help) == "$(mrpc help group)" ]]
}

test_set()
{
	local all
	ranks 3
	[[ $(mrpc -s group | column ORDER | sort -u) == 0,1,2 ]]
	[[ $(mrpc group set "${session[1]}:1" order 2,0,1 algorithm allreduce ring) == '' ]]
	[[ $(mrpc -s group show "${session[1]}:1" | column STRATEGY) == 1 ]]
	wait_for 10 eval '[[ $(mrpc -s group | column ORDER | sort -u) == 2,0,1 ]]'
	mrpc -s group | lines_up
	mrpc -j group show "${session[0]}:1" | json "j[0]['strategy'] == {'version': 1, 'proposer': 1,
		'order': [2, 0, 1], 'choices': [{'collective': 'AllReduce', 'algorithm': 'ring'}]}"
	mrpc group dump "${session[0]}:1" | has '^ *order *2,0,1$'
	ranks_do run
	mrpc -j group trace | json "[e['args']['operation']['strategy'] for e in j] == [1, 1, 1]"
	mrpc -j group set "${session[0]}:1" order default algorithm AllReduce chosen |
		json "j == {'version': 2, 'proposer': 0, 'order': [0, 1, 2]}"
	# One rank has not begun what the others have: the command waits, and the change does not.
	ranks_do begin
	refused 1 'strategy 3 is not used yet: it is used after operation 2; it goes on' \
		group set "${session[0]}:1" algorithm Broadcast direct timeout 50ms
	refused 1 'strategy 3 is under way' group set "${session[0]}:1" order default
	wait_for 10 eval "mrpc group show ${session[2]}:1 | has 'strategy 3, '"
	mrpc group | lines_up
	ranks_do finish
	for all in "${session[@]}"; do
		wait_for 10 eval "[[ \$(mrpc -s group show $all:1 | column STRATEGY) == 3 ]]"
	done
}

test_set_usage()
{
	ranks 2
	refused 2 "the group, as SESSION:NUMBER, is missing" group set
	refused 2 "say what is to change: order, topology or algorithm" group set "${session[0]}:1"
	refused 2 "'frob' is not what a strategy has" group set "${session[0]}:1" frob
	refused 2 "'1,,0' is no order: it must be ranks with commas between" \
		group set "${session[0]}:1" order 1,,0
	refused 2 "the order is given twice" group set "${session[0]}:1" order 1,0 order default
	refused 2 "'sum' is not a collective" group set "${session[0]}:1" algorithm sum ring
	refused 2 "'star' is not an algorithm" group set "${session[0]}:1" algorithm Reduce star
	refused 1 'the order has 3 ranks, but the group has 2' group set "${session[0]}:1" order 1,0,2
	refused 1 'the order has rank 1 twice, at place 1 again' \
		group set "${session[0]}:1" order 1,1
	refused 1 'AllToAll is not done by ring' group set "${session[0]}:1" algorithm AllToAll ring
	refused 1 "session ${session[0]} has no group 7" group set "${session[0]}:7" order 1,0
	refused 1 'the connection to rank 1 has no addresses' group set "${session[0]}:1" topology /dev/null
}

# Another network namespace sees nothing of it.
test_namespace()
{
	ranks 2
	ip netns add other
	on_exit ip netns delete other
	[[ $(mrpc -n other -j group) == '[]' && $(mrpc -n other -j group trace) == '[]' ]]
	refused 1 "there is no session ${session[0]} in this network namespace" \
		-n other group show "${session[0]}:1"
	refused 1 "there is no session ${session[0]} in this network namespace" \
		-n other group links "${session[0]}:1"
	refused 1 "there is no session ${session[0]} in this network namespace" \
		-n other group trace "${session[0]}:1"
	mrpc -n other metrics | has '^mrpc_group_ranks 0$'
}

test_metrics()
{
	local first
	ranks 2
	mrpc metrics | has '^mrpc_group_ranks 2$'
	ranks_do run
	ranks_do run
	first="session=\"${session[0]}\",group=\"1\""
	mrpc metrics >"$TEST_TMP/metrics"
	grep -q "^mrpc_group_info{$first,name=\"ranks\",rank=\"0\",ranks=\"2\",state=\"idle\"} 1$" "$TEST_TMP/metrics"
	grep -q "^mrpc_group_operations_completed_total{$first,collective=\"AllReduce\"} 2$" "$TEST_TMP/metrics"
	grep -q "^mrpc_group_operations_failed_total{$first,collective=\"AllReduce\"} 0$" "$TEST_TMP/metrics"
	grep -q "^mrpc_group_operation_bytes_total{$first,collective=\"AllReduce\"} 200000$" "$TEST_TMP/metrics"
	grep -q "^mrpc_group_operation_seconds_total{$first,collective=\"AllReduce\"} 0\.[0-9]" "$TEST_TMP/metrics"
	grep -q "^mrpc_group_transmit_bytes_total{$first} 200000$" "$TEST_TMP/metrics"
	grep -q "^mrpc_group_receive_bytes_total{$first} 200000$" "$TEST_TMP/metrics"
	grep -q "^mrpc_group_connections{$first} 1$" "$TEST_TMP/metrics"
	ranks_do begin
	mrpc metrics | has "^mrpc_group_operation_age_seconds{$first} "
	ranks_do finish
	ranks_do leave
	mrpc metrics | has "^mrpc_group_operations_failed_total{$first,collective=\"AllReduce\"} [01]$"
}

run_tests "$@"
