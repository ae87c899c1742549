#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc kmod/engines/lb kmod/replica
# The mrpc command: the lb engine and the links of its replicas.
# timeout 120
. "${0%/*}/../harness/lib.sh"

replica()
{
	kv-server -l "tcp:127.0.0.1:$1" >"$TEST_TMP/server$1" 2>&1 &
	wait_for 10 grep -q 'listening at' "$TEST_TMP/server$1"
}

# Those that carry another one's calls.
links() { mrpc -j conn | json "len([c for c in j if 'parent' in c]) == $1"; }

counters() { mrpc -j engine show web | json "(lambda c: $1)(j[0]['counters'])"; }

test_shown()
{
	on_exit forget_engines
	serve 1
	replica 7001
	replica 7002
	mrpc engine add lb name web scope service kv.Store side client policy least \
		members tcp:127.0.0.1:7001=2,tcp:127.0.0.1:7002
	wait_for 20 counters "c['tcp:127.0.0.1:7002/picks'] > 20"
	counters "c['tcp:127.0.0.1:7001/weight'] == 2 and c['tcp:127.0.0.1:7001/linked'] == 1"
	links 2
	mrpc conn | has 'link:'
	mrpc -j conn | json "all(c['parent'] in [d['id'] for d in j if d['session'] == c['session']]
		for c in j if 'parent' in c)"
	mrpc -j service | json "len([s for s in j if 'conn' in s]) == 1"
	mrpc engine set web members tcp:127.0.0.1:7002 backoff 20ms
	wait_for 20 links 1
	counters "'tcp:127.0.0.1:7001/weight' not in c"
	mrpc config save "$TEST_TMP/config"
	mrpc engine del web
	wait_for 20 links 0
	mrpc config restore "$TEST_TMP/config"
	mrpc -j engine show web | json "j[0]['values']['members']['text'] == 'tcp:127.0.0.1:7002'"
	wait_for 20 links 1
	refused 1 "'tcp:7' is no member: like tcp:10.0.0.1:7000 or loop:NAME" \
		engine set web members tcp:7
	refused 2 "policy cannot be 'random': the choices are wrr, least and hash" \
		engine set web policy random
}

run_tests "$@"
