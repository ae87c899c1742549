#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc
# The mrpc command.
# timeout 240
. "${0%/*}/../harness/lib.sh"

# A server with two listeners, and a client that has called it and stays.
traffic()
{
	local i
	ip link set lo up
	kv-server -l tcp:127.0.0.1:7000 -l loop:kv >"$TEST_TMP/server" 2>&1 &
	server=$!
	wait_for 10 grep -q 'listening at loop:kv' "$TEST_TMP/server"
	for i in {1..100}; do printf 'Package: p%d\n\n' "$i"; done >"$TEST_TMP/records"
	kv-client -n 4 -d 600 load "$TEST_TMP/records" >/dev/null 2>&1 &
	client=$!
	wait_for 10 eval '[[ $(mrpc -j conn) == *\"calls\":[1-9]* ]]'
	kill -STOP "$client"
	session=$(mrpc session | awk '$2 == "kv-server" { print $1 }')
}

schema()	# FILE
{
	(cd "$MRPC_TOP/tools/examples" && mrpcc --schema-out="$1" kv.proto)
}

# only_refused STATUS PATTERN ARGUMENT...: what is wrong is said, and nothing else is printed.
only_refused()
{
	refused "$@"
	[[ ! -s $TEST_TMP/out ]] || fail "it printed $(<"$TEST_TMP/out")"
}

test_usage()
{
	only_refused 2 'an object is missing'
	only_refused 2 "'sesion' is not an object: it must be session, qp," sesion
	only_refused 2 "'s' can be session, service or schema" s
	only_refused 2 "'frob' is not a command: it must be show, dump, del, drain or help" conn frob
	only_refused 2 "'frob' is not a command: it must be show, dump, check, load" schema frob
	only_refused 2 "'peer' is not a filter: it must be session or id" qp show peer
	only_refused 2 "'x' is not the number after 'session'" conn show session x
	only_refused 2 "'-1' is not the number" session show id -1
	only_refused 2 "'4294967296' is not the number" session show id 4294967296
	only_refused 2 "the number after 'id' is missing" session show id
	only_refused 2 "begin at 1" session show id 0
	only_refused 2 "'id' needs 'session'" conn show id 1
	only_refused 2 "'session' is given twice" conn show session 1 session 2
	only_refused 2 "'more' is one word too many" version more
	only_refused 2 "'zz' is not a hash" schema show hash zz
	only_refused 2 "the file to check is missing" schema check
	only_refused 2 "unrecognized option '--frob'" --frob
	only_refused 2 "'frob' is not an object: it must be all, session," monitor frob
	only_refused 1 "no network namespace 'frob'" -n frob session
	only_refused 1 'there is no session 77 in this network namespace' session show id 77
	only_refused 1 'there is no session 77 in this network namespace' qp show session 77
	only_refused 1 'there is no such schema' schema show id 77
	only_refused 1 'cannot open' schema check "$TEST_TMP/nothing"
	if mrpc session >/dev/full 2>"$TEST_TMP/err"; then
		fail "a full disk was not noticed"
	fi
	grep -q 'cannot write' "$TEST_TMP/err"
}

test_help()
{
	local object level
	mrpc help | has '^Usage: mrpc'
	[[ $(mrpc help) == "$(mrpc --help)" && $(mrpc help) == "$(mrpc -h)" ]]
	for object in session qp conn service schema datapath group engine queue runtime egress transport \
		      set config plan top metrics monitor dump version; do
		mrpc help | has "^  $object "
		mrpc help "$object" | has "^Usage: mrpc .*$object"
		for level in help --help; do
			[[ $(mrpc "$object" "$level") == "$(mrpc help "$object")" ]]
		done
	done
	for object in session qp conn service schema datapath group engine queue runtime egress \
		      transport set; do
		[[ $(mrpc "$object" show help) == "$(mrpc help "$object")" ]]
		grep -q "Cm $object" "$MRPC_TOP/Documentation/man/mrpc.8"
	done
	[[ $(mrpc version) =~ ^mrpc\ [0-9.]+$ && $(mrpc -V) == "$(mrpc version)" ]]
	mrpc -j version | json "'version' in j"
}

test_abbreviations()
{
	local a
	traffic
	head_of() { mrpc "$@" | sed -n '1s/  */ /gp'; }
	for a in 'co' 'con s' 'conn list' 'conn sh' 'connection l'; do
		# shellcheck disable=SC2086 # several words
		[[ $(head_of $a) == "$(head_of conn show)" ]] || fail "$a"
	done
	[[ $(head_of ses s i "$session") == "$(head_of session show)" ]]
	[[ $(mrpc -json co) == \[* && $(mrpc -jp co) == \[* && $(mrpc -stats co) == *RX-BYTES* ]]
}

# completes 'WORDS' WORD...: behind these words bash offers these, among others.
completes()
{
	local COMP_WORDS COMP_CWORD COMPREPLY word
	# The last word is what has been typed of it: nothing.
	read -ra COMP_WORDS <<<"$1"
	COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_mrpc
	shift
	for word; do
		[[ " ${COMPREPLY[*]} " == *" $word "* ]] ||
			fail "behind '${COMP_WORDS[*]}' bash offers '${COMPREPLY[*]}', not '$word'"
	done
}

test_completion()
{
	# shellcheck source=tools/mrpc/bash-completion/mrpc
	. "$MRPC_TOP/tools/mrpc/bash-completion/mrpc"
	completes 'mrpc' session group egress transport monitor
	completes 'mrpc transport' show list dump help
	completes 'mrpc transport show' loop tcp
	completes 'mrpc group' show list dump links trace help
	completes 'mrpc group show' session
	completes 'mrpc egress' show set pause resume del dump
	completes 'mrpc egress set' dev loop
	completes 'mrpc egress set dev' lo
	completes 'mrpc egress set dev lo' discipline fair chunk limit rate
	completes 'mrpc egress set loop discipline' fifo strict small-first deadline
	completes 'mrpc egress set loop fair' on off
	completes 'mrpc -j monitor' all conn engine egress --ts
	completes 'mrpc engine add null scope side' client server
}

# Each line has a value under each head, where the head is.
lines_up()
{
	python3 - "$1" <<-'END'
	import re, sys
	table = open(sys.argv[1]).read().splitlines()
	heads = [(m.start(), m.end()) for m in re.finditer(r'\S+', table[0])]
	assert len(table) > 1, 'an empty table'
	for line in table[1:]:
	    cells = [(m.start(), m.end()) for m in re.finditer(r'\S+', line)]
	    assert len(cells) == len(heads), line
	    for (a, b), (c, d) in zip(heads, cells):
	        assert a == c or b == d, f'"{line[c:d]}" is not under "{table[0][a:b]}"'
	END
}

test_tables()
{
	local object option
	traffic
	for object in session qp conn service schema datapath; do
		for option in '' -s; do
			# shellcheck disable=SC2086 # nothing or one word
			mrpc $option "$object" >"$TEST_TMP/table"
			cat "$TEST_TMP/table"
			lines_up "$TEST_TMP/table"
		done
	done
	mrpc service | has '^kv.Store  server .* tcp:127.0.0.1:7000 '
	mrpc service | has '^kv.Store  server .* loop:kv '
	mrpc service | has '^kv.Store  client .* tcp:127.0.0.1:7000 '
	mrpc schema show id "$(mrpc schema | awk 'NR == 2 { print $1 }')" | has '^Get  *kv.GetRequest '
	mrpc session dump | has '^    name  *kv-server$'
	mrpc dump | has '^    rx_bytes\|^        rx_bytes'
}

test_json()
{
	local object hash
	traffic
	for object in session qp conn service schema datapath; do
		mrpc -j "$object" | json 'isinstance(j, list) and len(j) > 0'
		[[ $(mrpc -j "$object" | wc -l) == 1 ]]
		mrpc -j -p "$object" dump | json 'isinstance(j, list) and len(j) > 0'
		mrpc dump | has "^$object:"
	done
	mrpc -j dump | json 'sorted(j) == ["conn", "datapath", "egress", "engine", "group", "qp", "queue", "schema",
		"service", "session", "transport"]'
	mrpc -j session | json "{s['name'] for s in j} == {'kv-server', 'kv-client'} and
		all(s['uid'] == 0 and s['age_ns'] > 0 and s['recv']['bytes'] > 0 for s in j) and
		{s['pid'] for s in j} == {$server, $client}"
	mrpc -j conn | json "len(j) == 2 and all(c['state'] == 'ready' and
		c['services'][0]['name'] == 'kv.Store' and c['stats']['calls'] > 0 for c in j) and
		{'ip': '127.0.0.1', 'port': 7000} in [c['local'] for c in j]"
	mrpc -j conn show session "$session" | json "len(j) == 1 and j[0]['listener'] == 1"
	mrpc -j qp show session "$session" id 0 | json "len(j) == 1 and 'serve' in j[0]['flags']"
	mrpc -j datapath show session "$session" | json "'backlog' in j[0]['tx'] and
		j[0]['calls']['limit'] > 0"
	mrpc -j service | json "sorted(s['transport'] for s in j) == ['loop', 'tcp', 'tcp'] and
		{'name': 'kv'} in [s['address'] for s in j]"
	hash=$(mrpc -j schema | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["hash"])')
	mrpc -j schema show hash "$hash" | json "len(j[0]['method']) == 4"
	mrpc -j -n /proc/self/ns/net session | json 'len(j) == 2'
	ip netns add c
	on_exit ip netns delete c
	mrpc -j -n c dump | json 'not any(v for k, v in j.items() if k != "transport")'
}

test_transport()
{
	local option
	prio_fresh
	for option in '' -s; do
		# shellcheck disable=SC2086 # nothing or one word
		mrpc $option transport | tee "$TEST_TMP/table"
		lines_up "$TEST_TMP/table"
	done
	# Here it has nothing to tell, whatever is asked for.
	mrpc -j transport show prio | json "len(j) == 1 and 'gauges' not in j[0]"
	[[ $(mrpc -s transport show prio | wc -l) == 2 ]]
	kv-server -l prio:127.0.0.1:7000 >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q 'listening at' "$TEST_TMP/server"
	kv-client -c prio:127.0.0.1:7000 put key value
	printf 'what is this?' >/dev/udp/127.0.0.1/7000
	wait_for 10 eval '[[ $(mrpc transport show prio) == *" short "* ]]'
	mrpc transport show prio | tee "$TEST_TMP/out"
	sed -n 1,2p "$TEST_TMP/out" >"$TEST_TMP/table"
	lines_up "$TEST_TMP/table"
	sed 1,3d "$TEST_TMP/out" >"$TEST_TMP/table"
	lines_up "$TEST_TMP/table"
	grep -q '^prio@1  *drop  *short  *1$' "$TEST_TMP/table"
	grep -q '^prio@1  *counter  *packets  *[1-9]' "$TEST_TMP/table"
	grep -q '^prio@1  *setting  *chunk  *16384$' "$TEST_TMP/table"
	! grep -q ' 0$' "$TEST_TMP/table" || fail "there is a 0 without -s"
	mrpc -s transport show prio | has '^prio@1  *drop  *magic  *0$'
	mrpc -s transport | has '^prio@1  *drop  *magic  *0$'
	[[ $(mrpc transport) != *drop* && $(mrpc transport show) == "$(mrpc transport list)" ]]
	mrpc transport dump prio | has '^        short  *1$'
	mrpc dump | has '^transport:'
	for option in -j -jp -js; do
		mrpc $option transport show prio | json "j[0]['drops']['short'] == 1 and
			j[0]['counters']['packets'] > 0 and j[0]['settings']['chunk'] == 16384 and
			j[0]['name'] == 'prio' and j[0]['references'] > 0"
	done
	mrpc -j transport dump | json "[t['name'] for t in j] == sorted(t['name'] for t in j) and
		all('egress' in t['features'] for t in j if t['name'] in ('loop', 'tcp'))"
	only_refused 1 "no transport 'nothing' is loaded" transport show nothing
	only_refused 1 "no transport '0000000000000000000000000000000' is loaded" transport dump "$(printf '%01000d' 1)"
	only_refused 2 "'more' is one word too many" transport show prio more
	only_refused 2 "'frob' is not a command: it must be show, dump or help" transport frob
}

# Options behind the object, one line for each object, commands from a file.
test_options()
{
	[[ $(mrpc version -j) == "$(mrpc -j version)" && $(mrpc conn show --json) == '[]' ]]
	[[ $(mrpc conn -jp) == "$(mrpc -j -p conn)" ]]
	only_refused 2 "'-j' is one word too many" version -- -j
	only_refused 2 "'-f' is one word too many" version -f
	mrpc transport dump loop | sed '/^$/d' >"$TEST_TMP/lines"
	mrpc -o transport dump loop >"$TEST_TMP/one"
	[[ $(wc -l <"$TEST_TMP/one") == "$(grep -c '^transport:' "$TEST_TMP/lines")" ]]
	[[ $(tr '\\' '\n' <"$TEST_TMP/one" | tr -s ' ' | sed 's/ *$//') == "$(tr -s ' ' <"$TEST_TMP/lines" | sed 's/ *$//')" ]]
	[[ $(mrpc transport show -o) == "$(mrpc transport show)" ]]
	printf '%s\n' version '' '# nothing' ' version "-j"' >"$TEST_TMP/batch"
	[[ $(mrpc -batch "$TEST_TMP/batch") == "$(mrpc version; mrpc -j version)" ]]
	printf '%s\n' frob 'conn show session x' version | tee "$TEST_TMP/batch" >/dev/null
	only_refused 2 "batch:1: the command failed" -b "$TEST_TMP/batch"
	! mrpc -force -b - <"$TEST_TMP/batch" >"$TEST_TMP/out" 2>"$TEST_TMP/err" || fail 'it succeeded'
	[[ $(<"$TEST_TMP/out") == "$(mrpc version)" && $(grep -c 'the command failed' "$TEST_TMP/err") == 2 ]]
	only_refused 1 "cannot open '/nowhere'" -b /nowhere
	only_refused 2 "'-force' needs '-batch FILE'" -force version
	echo "version 'x" >"$TEST_TMP/batch"
	only_refused 2 'batch:1: the quote' -b "$TEST_TMP/batch"
}

# client_conn NUMBER: session NUMBER id NUMBER of the connection of the client that is so old
client_conn()
{
	mrpc -j conn show state ready | python3 -c '
import json, sys
c = sorted((c["session"], c["id"]) for c in json.load(sys.stdin) if "listener" not in c)
print("session %u id %u" % c[int(sys.argv[1])])' "$1"
}

# ready session NUMBER id NUMBER
ready()
{
	[[ $(mrpc -j conn show session "$2" state ready) == *'"id":'"$4",* ]]
}

test_conn_filter()
{
	serve 2
	mrpc -j conn show peer 127.0.0.1 | json "len(j) == 4"
	mrpc -j conn show peer 127.0.0.0/8 service kv.Store state ready | json "len(j) == 4"
	mrpc -j conn show peer ::ffff:127.0.0.0/104 | json "len(j) == 4"
	mrpc -j conn show peer 126.0.0.0/7 | json "len(j) == 4"
	mrpc -j conn show peer 10.0.0.0/8 | json "j == []"
	mrpc -j conn show service kv.Stor | json "j == []"
	mrpc -j conn show state closed | json "j == []"
	only_refused 2 "'127.0.0' is not a peer" conn show peer 127.0.0
	only_refused 2 "'10.0.0.0/33' is not a peer" conn show peer 10.0.0.0/33
	only_refused 2 "'open' is not a state: it must be connecting, ready, draining or closed" \
		conn show state open
	only_refused 2 "'state' is given twice" conn show state ready state ready
	only_refused 2 "'peer' is not a filter" qp show peer 127.0.0.1
}

# The calls of one that is drained finish; those of one that is ended fail. Others go on.
# shellcheck disable=SC2086 # several words
test_conn_end()
{
	local drained ended other
	serve 3
	mrpc monitor conn >"$TEST_TMP/events" &
	drained=$(client_conn 0) ended=$(client_conn 1) other=$(client_conn 2)
	ready $drained && ready $ended && ready $other
	mrpc conn drain $drained timeout 60s
	wait_for 10 eval "! ready $drained"
	mrpc conn del $ended
	wait_for 10 eval "! ready $ended"
	wait_for 10 grep -q 'closed by an operator' "$TEST_TMP/events"
	ready $other
	only_refused 1 'has no connection 77' conn del session "$(cut -d' ' -f2 <<<"$other")" id 77
	only_refused 1 'no session 77' conn drain session 77 id 1
	only_refused 2 "'session NUMBER id NUMBER' is missing" conn del session 1
	only_refused 2 "numbers after 'id' begin at 1" conn del session 1 id 0
	ready $other
}

# What an application calls itself must not reach the terminal as it is.
test_hostile_name()
{
	nl_client
	nl <<-'END' &
	names = b'\x1b[31mred', b'\xff\xfe bad', b'a\nb', 'pr\u00fcf\u009b1'.encode(), b'"\\'
	sessions = [session(name) for name in names]
	time.sleep(600)
	END
	wait_for 10 eval '[[ $(mrpc session | wc -l) == 6 ]]'
	mrpc session | tee "$TEST_TMP/table"
	LC_ALL=C grep -q '[^[:print:]]' <(LC_ALL=C tr -d '\303\274' <"$TEST_TMP/table") &&
		fail "control characters came through"
	mrpc session | has '?\[31mred'
	mrpc -j session | json "[s['name'] for s in j] == ['?[31mred', '?? bad', 'a?b', 'pr\u00fcf??1',
		chr(34) + chr(92)]"
}

test_permission()
{
	local run=(setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set -all --inh-caps -all)
	local command
	schema "$TEST_TMP/kv.schema"
	chmod -R a+rX "$TEST_TMP"
	for command in session 'conn show session 1' 'conn del session 1 id 1' \
		'conn drain session 1 id 1' monitor dump; do
		# shellcheck disable=SC2086 # several words
		if "${run[@]}" "$(type -P mrpc)" $command >/dev/null 2>"$TEST_TMP/err"; then
			fail "$command is permitted"
		fi
		grep -q 'needs CAP_NET_ADMIN' "$TEST_TMP/err"
	done
	"${run[@]}" "$(type -P mrpc)" schema check "$TEST_TMP/kv.schema"
	if "${run[@]}" "$(type -P mrpc)" schema load "$TEST_TMP/kv.schema" 2>"$TEST_TMP/err"; then
		fail "schema load is permitted"
	fi
	grep -q '/dev/mrpc: Permission denied' "$TEST_TMP/err"
}

test_schema_check()
{
	local size i
	schema "$TEST_TMP/kv.schema"
	mrpc schema check "$TEST_TMP/kv.schema" | tee "$TEST_TMP/out"
	grep -q '^service   kv.Store$' "$TEST_TMP/out"
	grep -q '^    Get  *kv.GetRequest (8 bytes) -> kv.GetReply (8 bytes)$' "$TEST_TMP/out"
	grep -q "^hash      $(sha256sum <"$TEST_TMP/kv.schema" | cut -c 1-64)$" "$TEST_TMP/out"
	mrpc -s schema check - <"$TEST_TMP/kv.schema" | has 'string key = 1'
	mrpc -j schema check "$TEST_TMP/kv.schema" |
		json "j['service'] == 'kv.Store' and len(j['methods']) == 4 and j['types'][0]['fields']"
	# Every prefix is refused, with the file's name; and so is what is too long.
	size=$(stat -c %s "$TEST_TMP/kv.schema")
	for ((i = 0; i < size; i += 37)); do
		head -c "$i" "$TEST_TMP/kv.schema" >"$TEST_TMP/cut"
		only_refused 1 "$TEST_TMP/cut: header 0:" schema check "$TEST_TMP/cut"
	done
	head -c 300000 /dev/zero >"$TEST_TMP/zero"
	only_refused 1 'more than 262144 bytes' schema check "$TEST_TMP/zero"
	only_refused 1 'Is a directory' schema check "$TEST_TMP"
}

test_schema_load()
{
	schema "$TEST_TMP/kv.schema"
	mrpc_unload
	only_refused 1 'is the module loaded' schema load "$TEST_TMP/kv.schema"
	only_refused 1 'is the module loaded' session
	only_refused 1 'is the module loaded' monitor
	mrpc_load
	mrpc schema load "$TEST_TMP/kv.schema" | tee "$TEST_TMP/out"
	grep -q '^kv.Store: miss, compiled in [0-9.]*[mun]*s, hash' "$TEST_TMP/out"
	mrpc schema load "$TEST_TMP/kv.schema" | has '^kv.Store: hit'
	mrpc -j schema load "$TEST_TMP/kv.schema" "$TEST_TMP/kv.schema" |
		json "len(j) == 2 and all(s['hit'] for s in j) and j[0]['bind_ns'] > 0"
	mrpc -j schema | json "j[0]['users'] == 0 and j[0]['binds'] == 4"
	head -c 100 "$TEST_TMP/kv.schema" >"$TEST_TMP/cut"
	only_refused 1 "cut: header 0: length is not" schema load "$TEST_TMP/cut"
}

test_monitor()
{
	mrpc monitor --ts >"$TEST_TMP/text" &
	mrpc -j monitor >"$TEST_TMP/json" &
	mrpc monitor conn >"$TEST_TMP/conns" &
	# They listen when they hear something.
	schema "$TEST_TMP/kv.schema"
	wait_for 10 eval 'mrpc schema load $TEST_TMP/kv.schema &&
		[[ -s $TEST_TMP/text && -s $TEST_TMP/json ]]'
	sleep 1
	traffic
	kill -CONT "$client"
	kill -KILL "$client"
	wait_for 10 grep -q 'conn close' "$TEST_TMP/conns"
	kill "$server"
	wait_for 10 grep -q 'session close.*kv-server' "$TEST_TMP/text"
	wait_for 10 grep -q 'session-close.*kv-server' "$TEST_TMP/json"
	cat "$TEST_TMP/text"
	grep -Eq '^\[20[-0-9T:.]*\] session open: session [0-9]+ name kv-server pid [0-9]+ uid 0$' \
		"$TEST_TMP/text"
	grep -q 'service open: .* transport tcp address 127.0.0.1:7000 service kv.Store' \
		"$TEST_TMP/text"
	grep -q 'conn open: .* peer 127.0.0.1:7000 service kv.Store' "$TEST_TMP/text"
	grep -q 'conn close: .* status UNAVAILABLE reason ' "$TEST_TMP/text"
	! grep -v '^conn ' "$TEST_TMP/conns" || fail "more than was asked for"
	python3 - "$TEST_TMP/json" <<-'END'
	import json, sys
	events = [json.loads(line) for line in open(sys.argv[1])]
	kinds = {e['event'] for e in events}
	assert {f'{o}-{w}' for o in ('session', 'conn', 'service')
	        for w in ('open', 'close')} <= kinds, kinds
	for e in events:
	    assert isinstance(e[e['event'].split('-')[0]], dict), e
	END
	# Without the module there is nothing to listen to.
	mrpc_unload
	wait_for 5 eval '! pgrep -x mrpc'
}

# Each stage of a call can be followed: by its id, and before it has one by its
# user_data.
test_tracepoints()
{
	local tracing=/sys/kernel/tracing/instances/mrpc-tool
	need "${tracing%/*}" "no events on this kernel"
	traffic
	kill -KILL "$client"
	# Its calls end, too.
	wait_for 10 eval '[[ $(mrpc -j session) != *kv-client* && $(mrpc -j conn) == "[]" ]]'
	mkdir "$tracing"
	on_exit rmdir "$tracing"
	# Events that are on keep the module.
	on_exit eval "echo 0 >$tracing/events/mrpc/enable"
	echo 1 >"$tracing/events/mrpc/enable"
	kv-client -n 4 load "$TEST_TMP/records" >/dev/null
	echo 0 >"$tracing/events/mrpc/enable"
	sed -n 's/.* \(mrpc_[a-z]*: \)/\1/p' "$tracing/trace" >"$TEST_TMP/trace"
	python3 - "$TEST_TMP/trace" <<-'END'
	import re, sys
	seen = {}
	for line in open(sys.argv[1]):
	    event = dict(re.findall(r'(\w+)=(\S+)', line), stage=line.split(':')[0][5:])
	    if event.get('role') == 'client' or event['stage'] == 'complete':
	        seen.setdefault(event['stage'], []).append((event['id'], event['user_data']))
	    elif event.get('role') == 'server' or event.get('type') in ('call', 'reply'):
	        assert event['id'] != '0:0', line
	names = [user_data for id, user_data in seen['submit']]
	assert len(set(names)) == 100, len(set(names))
	calls = sorted(seen['marshal'])
	assert len({id for id, user_data in calls}) == 100 and not any(i.startswith('0:') for i, _ in calls)
	assert sorted(n for _, n in calls) == sorted(names)
	for stage in 'transmit', 'deliver', 'complete':
	    assert sorted(seen[stage]) == calls, stage
	END
}

run_tests "$@"
