#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc/metrics kmod/netlink/series
# mrpc metrics, and the exporter.
# timeout 240
. "${0%/*}/../harness/lib.sh"

# Debian's, which has the parser; python3 can be another one.
debian_python=/usr/bin/python3

# check FILE [PYTHON]: is it what Prometheus reads? As OpenMetrics, too, which is
# the stricter parser: only the words of TYPE differ. Then PYTHON, with v(NAME,
# LABEL=VALUE...), the values of the samples that have these labels.
check()
{
	"$debian_python" - "$1" "${2:-}" <<-'END'
	import re, sys
	from prometheus_client import parser
	from prometheus_client.openmetrics import parser as openmetrics
	text = open(sys.argv[1]).read()
	assert text.endswith('\n') and '\r' not in text
	samples, help = [], set()
	for family in parser.text_string_to_metric_families(text):
	    assert family.documentation and family.type, family
	    samples += family.samples
	assert len({(s.name, tuple(sorted(s.labels.items()))) for s in samples}) == len(samples)
	assert len(samples) == len([l for l in text.splitlines() if l[0] != '#'])
	strict = re.sub(r'^(# (?:TYPE|HELP) \S+)_total ', r'\1 ', text, flags=re.M)
	strict = strict.replace(' untyped\n', ' unknown\n') + '# EOF\n'
	again = [s for f in openmetrics.text_string_to_metric_families(strict) for s in f.samples]
	assert len(again) == len(samples), (len(again), len(samples))
	for line in text.splitlines():
	    name = re.match(r'(?:# (?:TYPE|HELP) )?(mrpc_[a-z_]+)', line).group(1)
	    assert not re.search('_(ns|ms|us|kb)$', name), line
	def v(name, /, **labels):
	    return [s.value for s in samples if s.name == name and
	            all(s.labels.get(k) == x for k, x in labels.items())]
	exec(sys.argv[2])
	END
}

# Of a client that was stopped the calls under way still come to their end.
nothing_moves()
{
	local was
	was=$(mrpc metrics | grep '^mrpc_connection_.*_total{')
	sleep 0.5
	[[ $(mrpc metrics | grep '^mrpc_connection_.*_total{') == "$was" ]]
}

test_print()
{
	on_exit forget_engines
	mrpc metrics >"$TEST_TMP/idle"
	check "$TEST_TMP/idle" "assert v('mrpc_sessions') == [0] and v('mrpc_calls_active') == [0]"
	mrpc engine add metrics >/dev/null
	mrpc engine add ratelimit name r rate unlimited >/dev/null
	serve 1
	wait_for 10 eval '[[ $(mrpc -j conn) == *\"calls\":[1-9]* ]]'
	wait_for 10 eval '[[ $(mrpc metrics) == *mrpc_call_duration_seconds_count* ]]'
	kill -STOP "${clients[0]}"
	wait_for 20 nothing_moves
	mrpc metrics >"$TEST_TMP/out"
	mrpc -j dump >"$TEST_TMP/dump"
	check "$TEST_TMP/out" "
import json
d = json.load(open('$TEST_TMP/dump'))
assert v('mrpc_sessions') == [2] and v('mrpc_connections') == [2] and v('mrpc_schemas') == [1]
for s in d['session']:
    n = dict(session=str(s['id']), name=s['name'])
    assert v('mrpc_session_send_heap_bytes', **n) == [s['send']['bytes']], s
    age, = v('mrpc_session_age_seconds', **n)
    assert 0 < age <= s['age_ns'] / 1e9 < age + 30
for c in d['conn']:
    n = dict(session=str(c['session']), conn=str(c['id']))
    assert v('mrpc_connection_calls_total', **n) == [c['stats']['calls']], c
    sent, = v('mrpc_connection_transmit_bytes_total', **n)
    assert 0 <= c['stats']['tx_bytes'] - sent < 1000, c  # a PING may come in between
    assert v('mrpc_connection_info', datapath=str(c['datapath']), state='ready',
             services='kv.Store', **n) == [1]
assert len(v('mrpc_connection_info', role='server')) == 1
assert len(v('mrpc_queue_messages')) == len(d['queue'])
assert v('mrpc_engine_info', engine='r', type='ratelimit', version='1', scope='all') == [1]
assert v('mrpc_engine_datapaths', engine='r') == [2]
r, = [e for e in d['engine'] if e['name'] == 'r']
assert v('mrpc_engine_messages_total', engine='r', dir='tx') == [r['tx']['rpcs']]
assert len(v('mrpc_engine_value', engine='r', type='ratelimit', name='waited')) == 1
assert sum(v('mrpc_service_calls_total', role='server', service='kv.Store')) > 0
# Histograms: every call that has ended is in one, at both ends.
put = dict(stage='total', engine='metrics', method='Put', service='kv.Store', status='OK')
n, = v('mrpc_call_duration_seconds_count', side='client', **put)
done = [c['stats']['done'] for c in d['conn'] if not c.get('listener')]
assert [n] == done, (n, done)
total, = v('mrpc_call_duration_seconds_sum', side='client', **put)
assert 1e-7 < total / n < 10
assert len(v('mrpc_call_duration_seconds_bucket', side='client', **put)) == 27
sent, = v('mrpc_message_size_bytes_sum', message='request', side='client', method='Put')
assert 8 < sent / n < 1000"
	mrpc -j metrics >"$TEST_TMP/series"
	check "$TEST_TMP/out" "
import json
for s in json.load(open('$TEST_TMP/series')):
    n = dict(engine=s['engine'], service=s['service'], method=s['method'], status=s['status'],
             side=s['side'][0], **{'stage' if s['unit'] == 'ns' else 'message': s['name']})
    name = {'ns': 'mrpc_call_duration_seconds', 'bytes': 'mrpc_message_size_bytes'}[s['unit']]
    scale = 1e9 if s['unit'] == 'ns' else 1
    for b in samples:
        if b.name == name + '_bucket' and all(b.labels[k] == x for k, x in n.items()):
            want = sum(x['count'] for x in s['buckets'] if x['most'] <= float(b.labels['le']) * scale + .5)
            assert b.value == want, (b, s)"
	# In another namespace there is nothing of it.
	ip netns add c
	on_exit ip netns delete c
	mrpc -n c metrics >"$TEST_TMP/out"
	check "$TEST_TMP/out" "assert v('mrpc_sessions') == [0] and not v('mrpc_engine_datapaths')"
}

# What transports know, here and elsewhere.
test_transport()
{
	prio_fresh
	mrpc metrics >"$TEST_TMP/out"
	check "$TEST_TMP/out" "
assert v('mrpc_transport_info', transport='loop', version='1', module='mrpc') == [1]
assert v('mrpc_transport_module_references', transport='prio') == [0]
assert not v('mrpc_transport_events_total')"
	kv-server -l prio:127.0.0.1:7000 >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q 'listening at' "$TEST_TMP/server"
	kv-client -c prio:127.0.0.1:7000 put key value
	printf 'what is this?' >/dev/udp/127.0.0.1/7000
	printf 'it is neither a packet nor an answer' >/dev/udp/127.0.0.1/7000
	wait_for 10 eval '[[ $(mrpc metrics) == *reason=\"magic\"}\ 1* ]]'
	mrpc metrics >"$TEST_TMP/out"
	grep '^mrpc_transport' "$TEST_TMP/out"
	check "$TEST_TMP/out" "
n = dict(transport='prio', version='1')
assert v('mrpc_transport_dropped_packets_total', reason='short', **n) == [1]
assert v('mrpc_transport_dropped_packets_total', reason='magic', **n) == [1]
assert len(v('mrpc_transport_dropped_packets_total')) == 23
assert v('mrpc_transport_events_total', name='packets', **n)[0] > 0
assert v('mrpc_transport_events_total', name='data_bytes', **n)[0] > 0
# The client's end goes a moment after it.
assert v('mrpc_transport_state', name='peers', **n)[0] in (1, 2)
assert v('mrpc_transport_setting', name='chunk', **n) == [16384]
assert v('mrpc_transport_module_references', transport='prio')[0] > 0"
	ip netns add c
	on_exit ip netns delete c
	mrpc -n c metrics >"$TEST_TMP/out"
	check "$TEST_TMP/out" "
assert v('mrpc_transport_info', transport='prio') == [1]
assert not v('mrpc_transport_events_total') and not v('mrpc_transport_state')"
}

test_labels()
{
	nl_client
	nl <<-'END' &
	names = b'a"b', b'c\\', b'\\n"\\"', b'new\nline', b'{x="y"} 1', 'pr\u00fcf'.encode(), b'\xff'
	sessions = [session(name) for name in names]
	time.sleep(600)
	END
	wait_for 10 eval '[[ $(mrpc session | wc -l) == 8 ]]'
	mrpc metrics >"$TEST_TMP/out"
	grep session_age "$TEST_TMP/out"
	check "$TEST_TMP/out" "
names = [s.labels['name'] for s in samples if s.name == 'mrpc_session_age_seconds']
assert names == ['a\"b', 'c' + chr(92), chr(92) + 'n' + '\"' + chr(92) + '\"', 'new?line',
                 '{x=\"y\"} 1', 'pr\u00fcf', '?'], names"
}

# sum NAME: of all domains' samples, in what is printed.
sum() { mrpc metrics | awk -v name="$1{" 'index($0, name) == 1 { n += $2 } END { print n + 0 }'; }

test_egress()
{
	local odd='a"b\c'
	on_exit eval 'mrpc egress del dev lo; mrpc egress del loop; ip link del mv1'
	mrpc metrics >"$TEST_TMP/out"
	grep mrpc_egress "$TEST_TMP/out" && fail "there is no domain"
	serve 1
	ip link add "$odd" type veth peer name mv1
	mrpc egress set dev lo discipline strict fair on limit 64KiB
	mrpc egress set loop discipline small-first
	mrpc egress set dev "$odd" discipline deadline
	wait_for 10 eval '(($(sum mrpc_egress_sent_bytes_total) > 0))'
	kill -STOP "${clients[0]}"
	wait_for 20 nothing_moves
	mrpc metrics >"$TEST_TMP/out"
	mrpc -j dump >"$TEST_TMP/dump"
	grep mrpc_egress "$TEST_TMP/out"
	check "$TEST_TMP/out" "
import json
domains = json.load(open('$TEST_TMP/dump'))['egress']
assert [d['dev'] for d in domains] == ['lo', '', 'a\"b' + chr(92) + 'c']
values = dict(fair='fair', paused='paused', datapaths='datapaths', tenants='tenants',
              waiting_datapaths='waiting', chunk_bytes='chunk', limit_bytes='limit',
              out_bytes='out', turns_total='grants', expired_turns_total='expired',
              wasted_turns_total='wasted', sent_bytes_total='sent')
for d in domains:
    n = dict(dev=d['dev'])
    assert v('mrpc_egress_info', discipline=d['discipline'], **n) == [1], d
    for name, key in values.items():
        assert v('mrpc_egress_' + name, **n) == [d[key]], (name, d)
    assert v('mrpc_egress_below_bytes', **n) == [0] and v('mrpc_egress_left_bytes', **n) == [0]
assert v('mrpc_egress_datapaths', dev='lo') == [2] and v('mrpc_egress_fair', dev='lo') == [1]
assert v('mrpc_egress_turns_total', dev='lo')[0] > 0
assert v('mrpc_egress_sent_bytes_total', dev='') == [0]"
	# What waits.
	mrpc egress pause dev lo
	kill -CONT "${clients[0]}"
	wait_for 10 eval '(($(sum mrpc_egress_left_bytes) > 0 && $(sum mrpc_egress_waiting_datapaths) > 0))'
	[[ $(sum mrpc_egress_paused) == 1 ]]
	mrpc egress resume dev lo
	# A discipline is not what a series is known by.
	mrpc egress set dev lo discipline fifo
	mrpc metrics | has '^mrpc_egress_info{dev="lo",discipline="fifo"} 1$'
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

test_usage()
{
	local address
	refused 2 "'frob' is not an option" metrics frob
	for address in frob 127.0.0.1 127.0.0.1: ::1:9469 [::1] localhost:80 127.0.0.1:x 1.2.3:4:5; do
		refused 2 "'$address' is not an address" metrics --listen "$address"
	done
	refused 2 'one word too many' metrics --listen :1 more
	ip link set lo up
	refused 1 'cannot listen at 10.9.9.9:80: ' metrics --listen 10.9.9.9:80
	if setpriv --reuid 1000 --clear-groups --bounding-set -all --inh-caps -all "$(type -P mrpc)" metrics \
		2>"$TEST_TMP/err"; then
		fail "everybody may read them"
	fi
	grep -q 'needs CAP_NET_ADMIN' "$TEST_TMP/err"
}

# A client, for python3.
client()
{
	ip link set lo up
	cat >"$TEST_TMP/client.py" <<-'END'
	import socket, sys, time
	address = ('127.0.0.1', 9469)
	def connect():
	    s = socket.create_connection(address)
	    s.settimeout(60)
	    return s
	def answer(s):
	    data = b''
	    while (piece := s.recv(65536)):
	        data += piece
	    head, _, body = data.partition(b'\r\n\r\n')
	    lines = head.decode().split('\r\n')
	    fields = dict(l.split(': ', 1) for l in lines[1:])
	    assert lines[0].startswith('HTTP/1.1 '), data[:100]
	    assert int(fields['Content-Length']) == len(body), (fields, len(body))
	    assert fields['Connection'] == 'close'
	    return int(lines[0].split()[1]), fields, body.decode()
	def ask(request):
	    s = connect()
	    s.sendall(request)
	    return answer(s)
	GET = b'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'
	def good():
	    status, fields, body = ask(GET)
	    assert status == 200, body
	    assert fields['Content-Type'] == 'text/plain; version=0.0.4; charset=utf-8'
	    assert body.startswith('# HELP mrpc_sessions '), body[:100]
	    return body
	END
	export PYTHONPATH=$TEST_TMP PYTHONDONTWRITEBYTECODE=1
}

begin_exporter()	# ADDRESS
{
	client
	mrpc metrics --listen "$1" 2>"$TEST_TMP/exporter" &
	exporter=$!
	wait_for 20 python3 -c 'from client import *; good()'
}

test_exporter()
{
	local pid caps
	begin_exporter 127.0.0.1:9469
	python3 -c 'from client import *; print(good(), end="")' >"$TEST_TMP/out"
	check "$TEST_TMP/out" "assert v('mrpc_sessions') == [0]"
	# Nobody, of whom one may ask the kernel, and that is all.
	caps=''
	for pid in $exporter $(pgrep -P "$exporter"); do
		grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs)' "/proc/$pid/status"
		[[ $(awk '/^[UG]id/ { print $2, $3, $4, $5 }' "/proc/$pid/status" | sort -u) == \
			'65534 65534 65534 65534' ]]
		[[ $(awk '/^NoNewPrivs/ { print $2 }' "/proc/$pid/status") == 1 ]]
		[[ $(awk '/^Cap(Inh|Bnd|Amb)/ { print $2 }' "/proc/$pid/status" | sort -u) == 0000000000000000 ]]
		caps+=$(awk '/^Cap(Eff|Prm)/ { print $2 }' "/proc/$pid/status" | xargs)' '
	done
	[[ $caps == '0000000000000000 0000000000000000 0000000000001000 0000000000001000 ' ]] ||
		fail "capabilities: $caps"
	# Without the module, and with it again.
	mrpc_unload
	python3 - <<-'END'
	from client import *
	status, fields, body = ask(GET)
	assert status == 503 and 'is the module loaded' in body, (status, body)
	END
	mrpc_load
	python3 -c 'from client import *; good()'
	# Both processes end.
	pid=$(pgrep -P "$exporter")
	kill "$exporter"
	wait_for 10 eval "! kill -0 $pid"
}

test_http()
{
	begin_exporter :9469
	timeout 110 python3 - <<-'END'
	from client import *
	def status(request):
	    return ask(request)[0]
	for path, want in (('/metrics', 200), ('/metrics?a=b', 200), ('/', 404), ('/metricsx', 404),
	                   ('/metric', 404), ('//metrics', 404), ('/metrics/', 404), ('*', 404)):
	    assert status(f'GET {path} HTTP/1.1\r\nHost: x\r\n\r\n'.encode()) == want, path
	for method in 'POST', 'HEAD', 'PUT', 'GETT', 'get':
	    got, fields, body = ask(f'{method} /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
	    assert (got, fields['Allow']) == (405, 'GET'), method
	assert status(b'GET /metrics HTTP/1.0\r\n\r\n') == 200
	assert status(b'GET /metrics HTTP/1.1\nhost: x\n\n') == 200
	assert status(b'GET /metrics HTTP/2.0\r\nHost: x\r\n\r\n') == 505
	bad = (b'GET /metrics HTTP/1.1\r\n\r\n', b'\r\n\r\n', b'GET\r\n\r\n', b'GET /metrics\r\n\r\n',
	       b'GET  /metrics HTTP/1.1\r\nHost: x\r\n\r\n', b'GET /metrics HTTP/1.1 \r\nHost: x\r\n\r\n',
	       b'GET /metrics HTTQ/1.1\r\nHost: x\r\n\r\n', b'GET /metrics HTTP/1.11\r\nHost: x\r\n\r\n',
	       b'GET /metrics HTTP/1.1\r\nHost x\r\n\r\n', b'GET /metrics HTTP/1.1\r\nHost : x\r\n\r\n',
	       b'GET /metrics HTTP/1.1\r\nHost: x\r\n y\r\n\r\n', b'\0' * 100 + b'\n', b'\n',
	       b'GET /met\0rics HTTP/1.1\r\nHost: x\r\n\r\n', b'GET /metrics HTTP/1.1\r\nHost: \0\r\n\r\n',
	       b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n', b'\xff\xfe\n')
	for request in bad:
	    assert status(request) == 400, request
	# Too long: a line, many of them; just not.
	assert status(b'GET /' + b'a' * 5000) == 431
	assert status(b'GET /metrics HTTP/1.1\r\nHost: x\r\n' + b'X: y\r\n' * 1000) == 431
	fill = 4096 - len(GET) - len(b'X: \r\n')
	assert status(GET[:-2] + b'X: ' + b'a' * fill + b'\r\n\r\n') == 200
	# A byte at a time; pipelined, and with a body: one answer, whole.
	s = connect()
	for c in GET:
	    s.send(bytes([c]))
	assert answer(s)[0] == 200
	assert ask(GET * 50)[0] == 200
	assert ask(b'GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n' + b'b' * 3000)[0] == 200
	s = connect()
	s.sendall(GET)
	s.shutdown(socket.SHUT_WR)
	assert answer(s)[0] == 200
	good()
	END
	kill -0 "$exporter"
}

test_slow()
{
	begin_exporter '[::]:9469'
	timeout 100 python3 - <<-'END'
	from client import *
	# Who is slow has 5 seconds.
	begin = time.monotonic()
	s = connect()
	s.sendall(b'GET /met')
	good()
	assert answer(s)[0] == 408
	took = time.monotonic() - begin
	assert 4.9 < took < 30, took
	# And makes way for others when there are too many: these get their answers at once.
	slow = [connect() for i in range(40)]
	for s in slow:
	    s.sendall(b'G')
	begin = time.monotonic()
	for i in range(10):
	    good()
	took = time.monotonic() - begin
	print(f'10 answers among 40 slow ones: {took:.2f} s')
	assert took < 20, took
	for s in slow:
	    s.close()
	# Many at once get theirs, too.
	many = []
	for i in range(40):
	    many.append(connect())
	    many[-1].sendall(GET)
	assert [answer(s)[0] for s in many] == [200] * 40
	# Who goes away, before, during and after, and who says nothing.
	for request in b'', b'GET', GET, GET * 9:
	    for i in range(20):
	        s = connect()
	        s.sendall(request)
	        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
	        s.close()
	silent = [connect() for i in range(20)]
	good()
	END
	kill -0 "$exporter"
	[[ ! -s $TEST_TMP/exporter ]] || fail "$(<"$TEST_TMP/exporter")"
}

# As systemd starts it.
test_socket()
{
	client
	cat >"$TEST_TMP/activate.py" <<-'END'
	import os, socket, sys
	s = socket.create_server(('127.0.0.1', 9469))
	os.dup2(s.fileno(), 3)
	os.environ.update(LISTEN_FDS=sys.argv[1], LISTEN_PID=str(os.getpid()))
	os.set_inheritable(3, True)
	os.execvp('mrpc', ['mrpc', 'metrics', '--listen'])
	END
	if python3 "$TEST_TMP/activate.py" 2 2>"$TEST_TMP/err"; then
		fail "two sockets"
	fi
	grep -q 'has passed 2 sockets' "$TEST_TMP/err"
	python3 "$TEST_TMP/activate.py" 1 &
	wait_for 20 python3 -c 'from client import *; good()'
	kill $!
}

run_tests "$@"
