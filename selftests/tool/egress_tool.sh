#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc/engine/egress tools/mrpc/engine/egress_config kmod/netlink/egress
# The mrpc command: egress domains.
# timeout 300
. "${0%/*}/../harness/lib.sh"

begin() { on_exit forget_engines; }

test_egress()
{
	begin
	on_exit eval 'mrpc egress del dev lo; mrpc egress del loop'
	serve 1
	mrpc egress help | has 'mrpc egress set DOMAIN'
	refused 2 "'many' is not a command: it must be show, set, del" egress many
	refused 2 "'dev NAME' or 'loop' is missing" egress set
	refused 2 'the name of the device is missing' egress set dev
	refused 2 "'eth' is not a domain" egress set eth
	refused 1 "no discipline 'red': fifo, strict, small-first, deadline or a policy" \
		egress set loop discipline red
	refused 2 "chunk: '5s' is not a number of bytes" egress set loop chunk 5s
	refused 1 'rate 999 bytes/s' egress set loop rate 999
	refused 1 "there is no device 'nil'" egress set dev nil
	refused 1 'loop links have no egress domain' egress pause loop
	refused 1 "device 'lo' has no egress domain" egress show dev lo
	mrpc egress set dev lo discipline strict fair on chunk 8KiB
	mrpc egress set loop
	[[ $(mrpc egress | column DEV) == 'lo
(loop)' ]]
	mrpc -j egress show dev lo | json 'j[0]["discipline"] == "strict" and j[0]["fair"] and j[0]["limit"] == 16384 and j[0]["datapaths"] == 2'
	mrpc egress set dev lo discipline deadline
	mrpc egress show dev lo | has ' deadline '
	mrpc egress set dev lo fair off limit 32KiB
	mrpc -j egress show dev lo | json 'j[0]["discipline"] == "deadline"'
	mrpc -j egress show dev lo | json 'not j[0]["fair"] and j[0]["chunk"] == 8192 and j[0]["limit"] == 32768'
	mrpc egress pause dev lo
	mrpc -j egress show dev lo | json 'j[0]["paused"]'
	mrpc egress resume dev lo
	mrpc -j egress show dev lo | json 'not j[0]["paused"]'
	mrpc engine add qos tenant red weight 30 small 100 rules 'rank 9 if method Get; deadline' \
		scope side client
	mrpc -j engine show qos | has 'rank 9 if method Get'
	mrpc -j egress dump dev lo | json 'sorted(q["tenant"] for q in j)[0] == "red" and len(j) == 2'
	mrpc engine del qos
	mrpc egress del dev lo
	mrpc egress del loop
	[[ -z $(mrpc egress | column DEV) ]]
}

# domains: their settings, and whether they are paused.
domains()
{
	mrpc -j egress | python3 -c '
import json, sys
for d in json.load(sys.stdin):
    print(*(d[k] for k in ("dev", "discipline", "fair", "paused", "chunk", "limit", "rate")))'
}

test_config()
{
	begin
	on_exit eval 'mrpc egress del dev lo; mrpc egress del loop; mrpc egress del dev mv0; ip link del mv0'
	local file=$TEST_TMP/config.json bad=$TEST_TMP/bad.json
	serve 1
	ip link add mv0 type veth peer name mv1
	mrpc egress set dev lo discipline strict fair on chunk 8KiB limit 64KiB rate 64MiB
	mrpc egress set loop discipline deadline
	mrpc egress set dev mv0 discipline small-first
	domains >"$TEST_TMP/before"
	mrpc egress pause dev mv0
	mrpc config save "$file"
	json "[d['dev'] for d in j['egress']] == ['lo', '', 'mv0'] and j['egress'][0] == {'dev': 'lo',
		'discipline': 'strict', 'fair': True, 'chunk': 8192, 'limit': 65536, 'rate': 67108864}" <"$file"
	# What is so is not touched, paused or not.
	[[ -z $(mrpc config restore exact "$file") ]]
	mrpc -j egress show dev mv0 | json 'j[0]["paused"]'
	# From nothing; datapaths are in it again.
	mrpc egress del dev lo
	mrpc egress del loop
	mrpc egress del dev mv0
	[[ $(mrpc config restore "$file") == 'egress dev lo: made
egress loop: made
egress dev mv0: made' ]]
	domains | diff "$TEST_TMP/before" -
	mrpc -j egress show dev lo | json 'j[0]["datapaths"] == 2'
	# From something else.
	mrpc egress set dev lo discipline fifo limit 32KiB
	mrpc egress set loop fair on
	[[ $(mrpc config restore "$file") == 'egress dev lo: changed
egress loop: changed' ]]
	domains | diff "$TEST_TMP/before" -
	# Those that the file does not have.
	sed '/"dev": ""/,/limit/ s/"dev": ""/"dev": "mv1"/' "$file" >"$bad"
	[[ $(mrpc config restore "$bad") == 'egress dev mv1: made' ]]
	[[ $(domains | wc -l) == 4 ]]
	[[ $(mrpc config restore exact "$file") == 'egress dev mv1: removed' ]]
	domains | diff "$TEST_TMP/before" -
	# A device that is not there, and one of whose settings is not allowed: the others are restored.
	sed 's/"mv0"/"nil"/; s/65536/4096/; s/"fair": false/"fair": true/' "$file" >"$bad"
	refused 1 "the egress domain 'dev lo' could not be changed: a limit of 4096 bytes" \
		config restore "$bad"
	[[ $(<"$TEST_TMP/err") == *"'dev nil' could not be made: there is no device 'nil'"* ]]
	[[ $(<"$TEST_TMP/out") == 'egress loop: changed' ]]
	# What is no configuration.
	sed 's/"strict"/7/' "$file" >"$bad"
	refused 1 'an egress domain whose "discipline" is none' config restore "$bad"
	sed 's/8192/-1/' "$file" >"$bad"
	refused 1 'an egress domain whose "chunk" is none' config restore "$bad"
	sed 's/"fair": true/"fair": 1/' "$file" >"$bad"
	refused 1 'an egress domain whose "fair" is none' config restore "$bad"
	sed 's/"dev": "lo"/"name": "lo"/' "$file" >"$bad"
	refused 1 'an egress domain whose "dev" is none' config restore "$bad"
	echo '{"engines": [], "egress": 7}' >"$bad"
	refused 1 'has "egress" that are none' config restore "$bad"
	# An older one had no domains.
	echo '{"engines": []}' >"$bad"
	[[ -z $(mrpc config restore "$bad") ]]
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

# late: both clients' messages wait; then they may go, but who sends them cannot run.
late()
{
	"$MRPC_BUILD/selftests/helper/late" lo
	grep '^egress expire: dev lo ' "$TEST_TMP/text"
}

test_monitor()
{
	begin
	local i
	export TEST_TMP
	on_exit eval 'mrpc egress del dev lo; mrpc engine del r; mrpc runtime del slow'
	(($(nproc) > 1)) || skip 'there is one processor'
	mrpc monitor egress >"$TEST_TMP/text" &
	mrpc -j monitor >"$TEST_TMP/json" &
	wait_for 10 eval 'mrpc egress set loop; mrpc egress del loop; [[ -s $TEST_TMP/text && -s $TEST_TMP/json ]]'
	mrpc egress set loop
	mrpc egress del loop
	serve 0
	# Each message has more than the limit, so while one of them may go the others wait.
	for i in {1..100}; do printf 'Package: p%d\nDescription: %02000d\n\n' "$i" "$i"; done \
		>"$TEST_TMP/records"
	for i in 1 2; do
		kv-client -n 4 -d 300 load "$TEST_TMP/records" >/dev/null 2>&1 &
		clients+=($!)
	done
	wait_for 20 eval '[[ $(mrpc -j conn | grep -o "\"state\":\"ready\"" | wc -l) == 4 ]]'
	mrpc egress set dev lo discipline strict chunk 1KiB limit 1KiB
	mrpc egress set dev lo fair on
	mrpc runtime add slow cpus 0
	mrpc engine add runtime name r on slow scope side client
	wait_for 60 late
	mrpc egress del dev lo
	wait_for 10 grep -q '^egress del: dev lo ' "$TEST_TMP/text"
	cat "$TEST_TMP/text"
	grep -q '^egress del: loop grants 0 expired 0 wasted 0 sent 0$' "$TEST_TMP/text"
	grep -q '^egress set: loop discipline fifo fair no paused no chunk 16K limit 32K$' \
		"$TEST_TMP/text"
	grep '^egress set: dev lo ' "$TEST_TMP/text" | sed -n 1,3p | diff - <(cat <<-'END'
		egress set: dev lo discipline strict fair no paused no chunk 1.0K limit 1.0K
		egress set: dev lo discipline strict fair yes paused no chunk 1.0K limit 1.0K
		egress set: dev lo discipline strict fair yes paused yes chunk 1.0K limit 1.0K
	END
	)
	grep -Eq '^egress expire: dev lo grants [0-9]+ expired [1-9][0-9]* wasted [0-9]+ sent ' \
		"$TEST_TMP/text"
	! grep -v '^egress ' "$TEST_TMP/text" || fail "monitor egress tells of something else"
	wait_for 10 grep -q '"event":"egress-del","egress":{.*"dev":"lo"' "$TEST_TMP/json"
	grep -q '"event":"egress-expire","egress":{.*"expired":[1-9]' "$TEST_TMP/json"
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

run_tests "$@"
