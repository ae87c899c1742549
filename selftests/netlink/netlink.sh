#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: kmod/netlink
# The netlink family, asked by a client that shares no code with the mrpc command.
# timeout 240
. "${0%/*}/../harness/lib.sh"

# A server in this namespace, and a client that calls it for so many seconds.
serve()
{
	ip link set lo up
	kv-server -l tcp:127.0.0.1:7000 -l loop:kv >"$TEST_TMP/server" 2>&1 &
	server=$!
	wait_for 10 grep -q 'listening at loop:kv' "$TEST_TMP/server"
	for i in {1..100}; do
		printf 'Package: p%d\nDescription: %0200d\n\n' "$i" "$i"
	done >"$TEST_TMP/records"
}

call()	# SECONDS [ADDRESS]
{
	kv-client -c "${2:-tcp:127.0.0.1:7000}" -n 4 -d "$1" load "$TEST_TMP/records" \
		>"$TEST_TMP/client" 2>&1 || { cat "$TEST_TMP/client"; return 1; }
}

# The specification and the header name the same things in the same order.
test_spec()
{
	python3 - "$MRPC_TOP" <<-'END'
	import re, sys
	spec = open(sys.argv[1] + '/Documentation/netlink/specs/mrpc.yaml').read()
	header = open(sys.argv[1] + '/uapi/linux/mrpc_netlink.h').read()
	sets = spec[spec.index('attribute-sets:'):spec.index('operations:')]
	want = []
	for body in re.split(r'^  -\n', sets, flags=re.M)[1:]:
	    names = re.findall(r'^ {4,8}name: (.*)', body, re.M)
	    if 'subset-of' not in body:
	        want += [f'MRPC_A_{names[0]}_{n}' for n in names[1:]]
	want += ['MRPC_CMD_' + n for n in re.findall(r'^      name: (.*)',
	         spec[spec.index('operations:'):spec.index('mcast-groups:')], re.M)]
	want = [w.upper().replace('-', '_') for w in want]
	have = [n for n in re.findall(r'^\t(MRPC_(?:A|CMD)_\w+)(?: = 1)?,', header, re.M)]
	assert want == have, set(want) ^ set(have)
	END
}

test_objects()
{
	nl_client
	serve
	call 300 &
	wait_for 10 eval '[[ $(mrpc -j conn | grep -o "\"state\":\"ready\"" | wc -l) == 2 ]]'
	nl "$server" <<-'END'
	n = Netlink()
	sessions = {number(s[MRPC_A_SESSION_ID][0]): s for s in n.dump(MRPC_CMD_SESSION_GET)}
	names = sorted(text(s[MRPC_A_SESSION_NAME][0]) for s in sessions.values())
	assert names == ['kv-client', 'kv-server'], names
	server, = [i for i, s in sessions.items() if text(s[MRPC_A_SESSION_NAME][0]) == 'kv-server']
	client, = set(sessions) - {server}
	s = sessions[server]
	assert number(s[MRPC_A_SESSION_PID][0]) == int(sys.argv[1])
	assert number(s[MRPC_A_SESSION_UID][0]) == 0
	assert number(s[MRPC_A_SESSION_LISTENERS][0]) == 2
	assert number(attrs(s[MRPC_A_SESSION_RECV][0])[MRPC_A_HEAP_BYTES][0]) >= 1 << 16
	one, = n.ask(MRPC_CMD_SESSION_GET, attr(MRPC_A_SESSION_ID, server))
	assert one[MRPC_A_SESSION_ID] == s[MRPC_A_SESSION_ID]

	qps = n.dump(MRPC_CMD_QP_GET, attr(MRPC_A_QP_SESSION, server))
	assert [number(q[MRPC_A_QP_ID][0]) for q in qps] == list(range(len(qps))) and qps
	assert all(number(q[MRPC_A_QP_SESSION][0]) == server for q in qps)
	n.ask(MRPC_CMD_QP_GET, attr(MRPC_A_QP_SESSION, server) + attr(MRPC_A_QP_ID, 0))

	conns = n.dump(MRPC_CMD_CONN_GET)
	assert len(conns) == 2
	for c in conns:
	    assert number(c[MRPC_A_CONN_STATE][0]) == 1
	    which = MRPC_A_CONN_LOCAL if MRPC_A_CONN_LISTENER in c else MRPC_A_CONN_PEER
	    a = attrs(c[which][0])
	    assert a[MRPC_A_ADDR_ADDR4] == [bytes([127, 0, 0, 1])]
	    assert number(a[MRPC_A_ADDR_PORT][0]) == 7000
	    assert text(attrs(c[MRPC_A_CONN_SERVICE][0])[MRPC_A_SERVICE_NAME][0]) == 'kv.Store'
	    stats = attrs(c[MRPC_A_CONN_STATS][0])
	    key = attr(MRPC_A_CONN_SESSION, number(c[MRPC_A_CONN_SESSION][0])) + \
	          attr(MRPC_A_CONN_ID, number(c[MRPC_A_CONN_ID][0]))
	    deadline = time.time() + 30
	    for k in MRPC_A_CONN_STATS_CALLS, MRPC_A_CONN_STATS_TX_BYTES, MRPC_A_CONN_STATS_RX_BYTES:
	        while number(attrs(n.ask(MRPC_CMD_CONN_GET, key)[0][MRPC_A_CONN_STATS][0])[k][0]) <= \
	              number(stats[k][0]):
	            assert time.time() < deadline, k
	            time.sleep(0.1)
	    c, = n.ask(MRPC_CMD_CONN_GET, key)
	    d, = n.ask(MRPC_CMD_DATAPATH_GET, key)
	    assert d[MRPC_A_DATAPATH_ID] == c[MRPC_A_CONN_DATAPATH]
	    assert MRPC_A_DIRECTION_BACKLOG in attrs(d[MRPC_A_DATAPATH_TX][0])
	assert len(n.dump(MRPC_CMD_CONN_GET, attr(MRPC_A_CONN_SESSION, client))) == 1
	assert len(n.dump(MRPC_CMD_DATAPATH_GET)) == 2

	services = n.dump(MRPC_CMD_SERVICE_GET)
	assert sum(MRPC_A_SERVICE_LISTENER in s for s in services) == 2
	assert sum(MRPC_A_SERVICE_CONN in s for s in services) == 1
	name, = [s for s in services if text(s[MRPC_A_SERVICE_TRANSPORT][0]) == 'loop']
	assert attrs(name[MRPC_A_SERVICE_ADDR][0])[MRPC_A_ADDR_NAME] == [b'kv']

	schema, = n.dump(MRPC_CMD_SCHEMA_GET)
	assert schema[MRPC_A_SCHEMA_HASH] == name[MRPC_A_SERVICE_HASH]
	assert number(schema[MRPC_A_SCHEMA_SESSIONS][0]) == 2
	same, = n.ask(MRPC_CMD_SCHEMA_GET, attr(MRPC_A_SCHEMA_HASH, schema[MRPC_A_SCHEMA_HASH][0]))
	assert same[MRPC_A_SCHEMA_ID] == schema[MRPC_A_SCHEMA_ID]
	methods = n.dump(MRPC_CMD_METHOD_GET,
	                 attr(MRPC_A_METHOD_SCHEMA, number(schema[MRPC_A_SCHEMA_ID][0])))
	assert [text(m[MRPC_A_METHOD_NAME][0]) for m in methods] == ['Delete', 'Get', 'List', 'Put']
	END
}

# Calls of closed connections are not forgotten.
test_service_calls()
{
	nl_client
	serve
	call 1
	call 1
	wait_for 5 eval '[[ $(mrpc -j conn) == "[]" ]]'
	nl <<-'END'
	n = Netlink()
	calls = [number(s[MRPC_A_SERVICE_CALLS][0]) for s in n.dump(MRPC_CMD_SERVICE_GET)]
	assert len(calls) == 2 and sorted(calls)[0] == 0 and max(calls) >= 200, calls
	END
}

test_errors()
{
	nl_client
	nl <<-'END'
	n = Netlink()
	u32 = lambda v: struct.pack('I', v)
	for cmd in range(MRPC_CMD_SESSION_GET, MRPC_CMD_DATAPATH_GET + 1):
	    for flags in 0, 0x300:
	        if cmd != MRPC_CMD_METHOD_GET and flags == 0x300:
	            n.ask(cmd, flags=flags)
	        elif cmd in (MRPC_CMD_METHOD_GET, MRPC_CMD_SERVICE_GET) and not flags:
	            n.refused('EOPNOTSUPP', cmd)
	        else:
	            n.refused('EINVAL', cmd, flags=flags)
	        # An attribute that does not exist, and ones of wrong lengths.
	        if flags == 0 and cmd in (MRPC_CMD_METHOD_GET, MRPC_CMD_SERVICE_GET):
	            continue
	        n.refused('EINVAL', cmd, attr(200, 1), flags)
	        if cmd == MRPC_CMD_SCHEMA_GET and flags:
	            continue
	        for bad in b'', b'a', u32(1)[:3]:
	            assert n.refused('EINVAL', cmd, attr(1, bad), flags)
	        assert n.refused('ERANGE', cmd, attr(1, 0), flags)
	        # Bytes that are no attribute.
	        n.refused('EINVAL', cmd, b'\x02\0\x01\0\0\0\0\0', flags)
	for cmd in 0, MRPC_CMD_SESSION_OPEN_NTF, MRPC_CMD_SERVICE_CLOSE_NTF, 255:
	    n.refused('EOPNOTSUPP', cmd)
	    n.refused('EOPNOTSUPP', cmd, flags=0x300)
	n.refused('ERANGE', MRPC_CMD_SCHEMA_GET, attr(MRPC_A_SCHEMA_HASH, bytes(31)))
	assert '77' in n.refused('ENOENT', MRPC_CMD_SESSION_GET, attr(1, 77))
	assert '77' in n.refused('ENOENT', MRPC_CMD_CONN_GET, attr(1, 77), flags=0x300)
	assert 'schema 99' in n.refused('ENOENT', MRPC_CMD_METHOD_GET, attr(1, 99), flags=0x300)
	assert n.refused('ENOENT', MRPC_CMD_SCHEMA_GET, attr(MRPC_A_SCHEMA_HASH, bytes(32)))
	fd, id = session()
	assert f'session {id} has no connection 5' in n.refused(
	    'ENOENT', MRPC_CMD_CONN_GET, attr(1, id) + attr(2, 5))
	assert f'session {id} has no queue pair 9' in n.refused(
	    'ENOENT', MRPC_CMD_QP_GET, attr(1, id) + attr(2, 9))
	n.refused('ENOENT', MRPC_CMD_SESSION_GET, attr(1, 0xffffffff))
	assert len(n.dump(MRPC_CMD_SESSION_GET, attr(1, id))) == 1
	END
}

# Others' activity is not for everybody, nor for root of another user namespace.
test_permission()
{
	nl_client
	cat >"$TEST_TMP/refused.py" <<-'END'
	from nl import *
	n = Netlink()
	for cmd in range(MRPC_CMD_SESSION_GET, MRPC_CMD_DATAPATH_GET + 1):
	    n.refused('EPERM', cmd, attr(1, 1), flags=0x300)
	    if cmd not in (MRPC_CMD_METHOD_GET, MRPC_CMD_SERVICE_GET):
	        n.refused('EPERM', cmd, attr(1, 1))
	n.refused('EPERM', MRPC_CMD_TRANSPORT_GET, flags=0x300)
	try:
	    n.listen()
	except PermissionError:
	    sys.exit(0)
	sys.exit('joined the group')
	END
	chmod -R a+rX "$TEST_TMP"
	setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set -all --inh-caps -all \
		python3 "$TEST_TMP/refused.py"
	# Root of a user namespace, in the network namespace of the host's root.
	setpriv --reuid 1000 --regid 1000 --clear-groups unshare -r python3 "$TEST_TMP/refused.py"
	# In a network namespace of its own it may look, and finds nothing.
	setpriv --reuid 1000 --regid 1000 --clear-groups unshare -rn python3 - <<-'END'
	from nl import *
	n = Netlink()
	assert n.dump(MRPC_CMD_SESSION_GET) == []
	n.listen()
	END
}

test_namespaces()
{
	nl_client
	ns_create a b
	in_ns b kv-server -l tcp:10.0.0.2:7000 -l "tcp:[fd00::2]:7000" >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q 'fd00::2' "$TEST_TMP/server"
	for i in {1..100}; do printf 'Package: p%d\n\n' "$i"; done >"$TEST_TMP/records"
	# Not in_ns: $! would be a shell.
	ip netns exec a kv-client -c "tcp:[fd00::2]:7000" -d 600 load "$TEST_TMP/records" \
		>/dev/null 2>&1 &
	local client=$!
	wait_for 10 eval '[[ $(mrpc -n a -j conn) == *\"ready\"* ]]'
	# It has done its part, and would only take time.
	kill -STOP "$client"
	cat >"$TEST_TMP/see.py" <<-'END'
	from nl import *
	n = Netlink()
	gets = [c for c in range(MRPC_CMD_SESSION_GET, MRPC_CMD_DATAPATH_GET + 1)
	        if c != MRPC_CMD_METHOD_GET]
	print(*[len(n.dump(c)) for c in gets])
	if sys.argv[1:]:
	    schema, = n.dump(MRPC_CMD_SCHEMA_GET)
	    assert MRPC_A_SCHEMA_USERS not in schema
	    c, = n.dump(MRPC_CMD_CONN_GET)
	    a = attrs(c[MRPC_A_CONN_PEER][0])
	    assert socket.inet_ntop(socket.AF_INET6, a[MRPC_A_ADDR_ADDR6][0]) == sys.argv[1]
	END
	# session qp conn service schema datapath; the cache is the host's.
	[[ $(python3 "$TEST_TMP/see.py") == '0 0 0 0 1 0' ]]
	[[ $(in_ns a python3 "$TEST_TMP/see.py" fd00::2) =~ ^1\ [0-9]+\ 1\ 1\ 1\ 1$ ]]
	[[ $(in_ns b python3 "$TEST_TMP/see.py" fd00::1) =~ ^1\ [0-9]+\ 1\ 2\ 1\ 1$ ]]
	[[ $(in_ns a cat /sys/class/misc/mrpc/connections) == 1 ]]
	[[ $(cat /sys/class/misc/mrpc/connections) == 0 ]]
	[[ $(in_ns b cat /sys/class/misc/mrpc/listeners) == 2 ]]
	ip netns add c
	on_exit ip netns delete c
	[[ $(in_ns c python3 "$TEST_TMP/see.py") == '0 0 0 0 0 0' ]]
	in_ns c python3 - <<-'END'
	from nl import *
	n = Netlink()
	n.refused('ENOENT', MRPC_CMD_SCHEMA_GET, attr(MRPC_A_SCHEMA_ID, 1))
	n.refused('ENOENT', MRPC_CMD_METHOD_GET, attr(MRPC_A_METHOD_SCHEMA, 1), flags=0x300)
	n.refused('ENOENT', MRPC_CMD_SESSION_GET, attr(1, 1))
	END
}

# What transports know of a network namespace is that one's.
test_transports()
{
	nl_client
	ns_create a b
	in_ns b kv-server -l prio:10.0.0.2:7000 >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q 'listening at' "$TEST_TMP/server"
	for i in {1..100}; do printf 'Package: p%d\nDescription: %0999d\n\n' "$i" "$i"; done \
		>"$TEST_TMP/records"
	ip netns exec a kv-client -c prio:10.0.0.2:7000 -n 4 -d 300 load "$TEST_TMP/records" \
		>/dev/null 2>&1 &
	cat >"$TEST_TMP/see.py" <<-'END'
	from nl import *
	n = Netlink()
	kinds = dict(counter=MRPC_A_TRANSPORT_COUNTER, drop=MRPC_A_TRANSPORT_DROP,
	             gauge=MRPC_A_TRANSPORT_GAUGE, setting=MRPC_A_TRANSPORT_SETTING)
	def numbers(of, kind):
	    all = [attrs(x) for x in of.get(kinds[kind], [])]
	    found = {text(x[MRPC_A_COUNTER_NAME][0]): number(x[MRPC_A_COUNTER_VALUE][0]) for x in all}
	    assert len(found) == len(all), 'a name comes twice'
	    return found
	def see():
	    all = n.dump(MRPC_CMD_TRANSPORT_GET)
	    keys = [(text(t[MRPC_A_TRANSPORT_NAME][0]), number(t[MRPC_A_TRANSPORT_VERSION][0])) for t in all]
	    assert keys == sorted(set(keys)) and ('loop', 1) in keys, keys
	    assert not any(k in t for t, key in zip(all, keys) for k in kinds.values() if key[0] != 'prio')
	    t = all[keys.index(('prio', 1))]
	    assert text(t[MRPC_A_TRANSPORT_MODULE][0]) == 'mrpc_prio'
	    assert number(t[MRPC_A_TRANSPORT_REFERENCES][0]) >= 3, t
	    return {kind: numbers(t, kind) for kind in kinds}
	END
	# Behind the handshake, which each end makes on its own.
	cat >"$TEST_TMP/busy.py" <<-'END'
	from see import *
	end = time.time() + 60
	while see()['counter'].get('data_bytes', 0) < 4096:
	    assert time.time() < end, see()
	    time.sleep(0.1)
	s, later = see(), see()
	assert s['gauge']['peers'] == s['gauge']['links'] == 1, s
	assert len(s['drop']) == 23 and s['setting']['chunk'] == 16384, s
	assert all(later[kind][k] >= v for kind in ('counter', 'drop') for k, v in s[kind].items())
	assert [s[kind].keys() for kind in kinds] == [later[kind].keys() for kind in kinds]
	END
	in_ns a python3 "$TEST_TMP/busy.py"
	in_ns b python3 "$TEST_TMP/busy.py"
	ip netns add c
	on_exit ip netns delete c
	in_ns c python3 - <<-'END'
	from see import *
	assert not any(see().values()), see()
	END
	nl <<-'END'
	n = Netlink()
	name = lambda t: text(t[MRPC_A_TRANSPORT_NAME][0])
	names = [name(t) for t in n.dump(MRPC_CMD_TRANSPORT_GET)]
	only = n.dump(MRPC_CMD_TRANSPORT_GET, attr(MRPC_A_TRANSPORT_NAME, b'tcp\0'))
	assert [name(t) for t in only] == names.count('tcp') * ['tcp'] and only
	egress = lambda t: number(t[MRPC_A_TRANSPORT_FEATURES][0]) & MRPC_TRANSPORT_FEATURES_EGRESS
	assert all(egress(t) for t in only)
	for bad in b'', b'tc\0', b'tcp1\0', b'loo\0', 1000 * b'x' + b'\0':
	    body = attr(MRPC_A_TRANSPORT_NAME, bad or b'\0')
	    assert 'transport' in n.refused('ENOENT', MRPC_CMD_TRANSPORT_GET, body, flags=0x300)
	n.refused('EINVAL', MRPC_CMD_TRANSPORT_GET, attr(MRPC_A_TRANSPORT_NAME, b'tcp'), flags=0x300)
	n.refused('EINVAL', MRPC_CMD_TRANSPORT_GET, attr(MRPC_A_TRANSPORT_VERSION, 1), flags=0x300)
	n.refused('EOPNOTSUPP', MRPC_CMD_TRANSPORT_GET, attr(MRPC_A_TRANSPORT_NAME, b'tcp\0'))
	END
}

# Dumps that need many messages, read slowly, while sessions come and go: what
# stays is there exactly once.
test_large()
{
	nl_client
	nl <<-'END'
	import resource
	resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
	stay = [session(b'stay') for i in range(400)]
	some = [session(b'go') for i in range(400)]
	n = Netlink()
	for turn in range(4):
	    n.send(MRPC_CMD_SESSION_GET, flags=0x300)
	    seen, done = [], False
	    while not done:
	        for kind, flags, data in n.messages():
	            done |= kind == 3
	            if kind == n.family:
	                seen.append(number(attrs(data[4:])[MRPC_A_SESSION_ID][0]))
	        for i in range(20):
	            if some and turn % 2:
	                os.close(some.pop(0)[0])
	            elif turn % 2 == 0 and len(some) < 800:
	                some.append(session(b'go'))
	    assert seen == sorted(set(seen)), 'out of order or twice'
	    assert {id for fd, id in stay} <= set(seen), 'one is missing'
	END
}

# Dumps of everything while connections are made and end at once.
test_churn()
{
	local i pids=()
	nl_client
	serve
	for i in {1..2}; do
		while :; do
			kv-client put "key$i" value || :
			kv-client -c loop:kv get "key$i" || :
		done >/dev/null 2>&1 &
		pids+=($!)
	done
	nl <<-'END'
	n = Netlink()
	rounds, end = 0, time.time() + 15
	while time.time() < end:
	    for cmd, key in (MRPC_CMD_SESSION_GET, (1,)), (MRPC_CMD_QP_GET, (1, 2)), \
	                    (MRPC_CMD_CONN_GET, (1, 2)), (MRPC_CMD_DATAPATH_GET, (1, 2)), \
	                    (MRPC_CMD_SERVICE_GET, (1, 2, 3, 4)), (MRPC_CMD_SCHEMA_GET, (1,)):
	        seen = [tuple(o.get(k, [b''])[0] for k in key) for o in n.dump(cmd)]
	        assert len(seen) == len(set(seen)), seen
	        assert seen or cmd in (MRPC_CMD_CONN_GET, MRPC_CMD_DATAPATH_GET)
	    for c in n.dump(MRPC_CMD_CONN_GET):
	        try:
	            n.ask(MRPC_CMD_DATAPATH_GET, attr(1, number(c[1][0])) + attr(2, number(c[2][0])))
	        except Refused as e:
	            assert e.code == errno.ENOENT, e
	    rounds += 1
	print(f'# {rounds} rounds')
	assert rounds > 3
	END
	kill "${pids[@]}" || fail "the loops ended"
}

test_events()
{
	nl_client
	cat >"$TEST_TMP/events.py" <<-'END'
	from nl import *
	n = Netlink()
	n.listen()
	names = {v: k[9:-4] for k, v in globals().items() if k.startswith('MRPC_CMD_') and
	         k.endswith('_NTF')}
	print('listening', flush=True)
	while True:
	    for kind, flags, data in n.messages():
	        a = attrs(data[4:])
	        if data[0] in (MRPC_CMD_SESSION_OPEN_NTF, MRPC_CMD_SESSION_CLOSE_NTF):
	            what = text(a[MRPC_A_SESSION_NAME][0])
	        elif data[0] in (MRPC_CMD_CONN_OPEN_NTF, MRPC_CMD_CONN_CLOSE_NTF):
	            what = 'server' if MRPC_A_CONN_LISTENER in a else 'client'
	            if data[0] == MRPC_CMD_CONN_CLOSE_NTF:
	                what += f' {number(a[MRPC_A_CONN_STATUS][0])} ' + text(a[MRPC_A_CONN_REASON][0])
	        else:
	            what = text(a[MRPC_A_SERVICE_NAME][0]) + ' ' + text(a[MRPC_A_SERVICE_TRANSPORT][0])
	        print(names[data[0]], what, flush=True)
	END
	listen
	# An open that was never set up was not announced, so its end is not, either.
	: <>/dev/mrpc
	serve
	call 1
	# A client that is killed.
	call 300 &
	wait_for 10 eval '[[ $(grep -c "CONN_OPEN client" $TEST_TMP/events) == 2 ]]'
	kill -KILL "$(pgrep kv-client)"
	wait_for 10 eval '[[ $(grep -c "CONN_CLOSE server" $TEST_TMP/events) == 2 ]]'
	kill "$server"
	wait_for 10 grep -q 'SESSION_CLOSE kv-server' "$TEST_TMP/events"
	cat "$TEST_TMP/events"
	local event
	for event in 'SESSION_OPEN kv-server' 'SESSION_OPEN kv-client' 'SERVICE_OPEN kv.Store tcp' \
		'SERVICE_OPEN kv.Store loop' 'CONN_OPEN server' 'CONN_OPEN client' \
		'CONN_CLOSE client 14 ' 'CONN_CLOSE server 14 ' 'SESSION_CLOSE kv-client' \
		'SERVICE_CLOSE kv.Store tcp' 'SERVICE_CLOSE kv.Store loop'; do
		wait_for 10 grep -q "^$event" "$TEST_TMP/events" || fail "no event '$event'"
	done
	! grep '^SESSION' "$TEST_TMP/events" | grep -v ' kv-' || fail "an event of no session"
	[[ $(<"$TEST_TMP/elsewhere") == listening ]]
}

# A reader that is too slow is told that it has missed something.
test_overrun()
{
	nl_client
	nl <<-'END'
	n = Netlink()
	n.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	n.listen()
	for i in range(300):
	    os.close(session()[0])
	try:
	    while True:
	        n.socket.recv(65536, socket.MSG_DONTWAIT)
	except OSError as e:
	    assert e.errno == errno.ENOBUFS, e
	END
}

# A dump that nobody reads to its end keeps the module; a listener does not.
test_unload()
{
	nl_client
	nl <<-'END'
	import subprocess
	fds = [session() for i in range(300)]
	n, m = Netlink(), Netlink()
	n.send(MRPC_CMD_SESSION_GET, flags=0x300)
	m.listen()
	for fd, id in fds:
	    os.close(fd)
	def removed(module):
	    for i in range(200):
	        if subprocess.call(['rmmod', module], stderr=subprocess.DEVNULL) == 0:
	            return True
	        time.sleep(0.1)
	assert removed('mrpc_tcp')
	# If another test has had it loaded
	subprocess.call(['rmmod', 'mrpc_prio'], stderr=subprocess.DEVNULL)
	time.sleep(0.5)
	assert subprocess.call(['rmmod', 'mrpc'], stderr=subprocess.DEVNULL) != 0
	n.socket.close()
	assert removed('mrpc')
	END
}

run_tests "$@"
