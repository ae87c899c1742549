#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: kmod/netlink/engine kmod/netlink/engine_change kmod/netlink/engine_type kmod/netlink/keyset kmod/netlink/queue
# Engines and queues over netlink, asked by a client that shares no code with the mrpc command.
# timeout 300
. "${0%/*}/../harness/lib.sh"

# What the programs below share: making requests, taking replies apart.
client()
{
	nl_client
	cat >"$TEST_TMP/engines.py" <<-'END'
	from nl import *

	NEST = 0x8000
	n = Netlink()
	u64 = lambda v: struct.pack('Q', v)
	nul = lambda t: t.encode() + b'\0'
	MAX = 2**64 - 1

	def value(name, v):
	    body = attr(MRPC_A_VALUE_NAME, nul(name))
	    if isinstance(v, int):
	        body += attr(MRPC_A_VALUE_NUM, u64(v))
	    elif isinstance(v, str):
	        body += attr(MRPC_A_VALUE_TEXT, nul(v))
	    else:
	        body += attr(MRPC_A_VALUE_DATA, v)
	    return attr(MRPC_A_ENGINE_VALUE | NEST, body)

	SCOPE = {'service': nul, 'cgroup': u64}
	def scope(**keys):
	    return attr(MRPC_A_ENGINE_SCOPE | NEST, b''.join(
	        attr(globals()['MRPC_A_SCOPE_' + k.upper()], SCOPE.get(k, lambda v: v)(v))
	        for k, v in keys.items()))

	def engine(name=None, type=None, version=None, percent=None, before=None, after=None, values={}):
	    body = b''
	    for a, v in (MRPC_A_ENGINE_NAME, name), (MRPC_A_ENGINE_TYPE, type), \
	                (MRPC_A_ENGINE_BEFORE, before), (MRPC_A_ENGINE_AFTER, after):
	        body += attr(a, nul(v)) if v is not None else b''
	    for a, v in (MRPC_A_ENGINE_VERSION, version), (MRPC_A_ENGINE_PERCENT, percent):
	        body += attr(a, v) if v is not None else b''
	    return body + b''.join(value(k, v) for k, v in values.items())

	def add(type, name=None, more=b'', **keys):
	    return n.ask(MRPC_CMD_ENGINE_ADD, engine(name, type, **keys) + more)[0]

	def get(name, datapath=None):
	    e, = n.ask(MRPC_CMD_ENGINE_GET, engine(name) +
	               (attr(MRPC_A_ENGINE_DATAPATH, datapath) if datapath else b''))
	    return e

	def values(e, which=None):
	    found = {}
	    for v in e.get(which or MRPC_A_ENGINE_VALUE, []):
	        v = attrs(v)
	        one = number(v[MRPC_A_VALUE_NUM][0]) if MRPC_A_VALUE_NUM in v else None
	        if MRPC_A_VALUE_TEXT in v:
	            one = text(v[MRPC_A_VALUE_TEXT][0])
	        found[text(v[MRPC_A_VALUE_NAME][0])] = one, MRPC_A_VALUE_GIVEN in v
	    return found

	def change(e):
	    c = attrs(e[MRPC_A_ENGINE_CHANGE][0])
	    return number(c[MRPC_A_CHANGE_MATCHED][0]), number(c[MRPC_A_CHANGE_CHANGED][0])

	def names():
	    return [text(e[MRPC_A_ENGINE_NAME][0]) for e in n.dump(MRPC_CMD_ENGINE_GET)]

	def remove(*which):
	    for name in which or names():
	        n.ask(MRPC_CMD_ENGINE_DEL, engine(name))

	# Something comes to be; what it is.
	def until(ready):
	    deadline = time.time() + 60
	    while not (found := ready()):
	        assert time.time() < deadline, 'it never came true'
	        time.sleep(0.1)
	    return found

	def passed(e, *dirs):
	    return [number(attrs(e[d][0])[MRPC_A_ENGINE_DIR_RPCS][0]) for d in dirs]

	def counters(e):
	    return {text(attrs(c)[1][0]): number(attrs(c)[2][0]) for c in e[MRPC_A_ENGINE_COUNTER]}

	def why(code, cmd, body, *parts, **keys):
	    message = n.refused(code, cmd, body, **keys)
	    for part in parts:
	        assert part in message, f'"{message}" without "{part}"'
	END
	chmod -R a+rX "$TEST_TMP"
	on_exit forget_engines
}

# engines [ARGUMENT...]: runs the program on standard input.
engines() { { echo 'from engines import *'; cat; } | python3 - "$@"; }

test_types()
{
	client
	engines <<-'END'
	n.ask(MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'ratelimit\0'))
	n.ask(MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'null\0') + attr(2, 1))
	n.ask(MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'null\0') + attr(2, 2))
	newest, = n.ask(MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'null\0'))
	assert number(newest[MRPC_A_ENGINE_TYPE_VERSION][0]) == 2
	all = n.dump(MRPC_CMD_ENGINE_TYPE_GET)
	have = [(text(t[1][0]), number(t[2][0])) for t in all]
	assert have == sorted(set(have)) and {('null', 1), ('null', 2), ('ratelimit', 1)} <= set(have)
	t, = [t for t in all if t[1] == [b'ratelimit\0']]
	assert text(t[MRPC_A_ENGINE_TYPE_MODULE][0]) == 'mrpc_ratelimit_1'
	assert MRPC_A_ENGINE_TYPE_USER not in t
	params = {text(attrs(p)[1][0]): attrs(p) for p in t[MRPC_A_ENGINE_TYPE_PARAM]}
	rate = params['rate']
	assert number(rate[MRPC_A_PARAM_TYPE][0]) == MRPC_VALUE_TYPE_NUMBER
	assert number(rate[MRPC_A_PARAM_FLAGS][0]) == MRPC_PARAM_FLAGS_UNLIMITED
	assert number(rate[MRPC_A_PARAM_LEAST][0]) == 1 and text(rate[MRPC_A_PARAM_UNIT][0]) == '/s'
	assert number(rate[MRPC_A_PARAM_DEFAULT][0]) == MAX
	assert number(params['shared'][MRPC_A_PARAM_TYPE][0]) == MRPC_VALUE_TYPE_BOOL
	t, = n.ask(MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'fault\0'))
	params = {text(attrs(p)[1][0]): attrs(p) for p in t[MRPC_A_ENGINE_TYPE_PARAM]}
	assert b'UNAVAILABLE\0' in params['abort_status'][MRPC_A_PARAM_CHOICE]
	add('ratelimit', 'a')
	add('ratelimit', 'b')
	t, = n.ask(MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'ratelimit\0'))
	assert t[MRPC_A_ENGINE_TYPE_USER] == [b'a\0', b'b\0']
	remove()
	why('ENOENT', MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'nothing\0'), "no engine type 'nothing'")
	why('ENOENT', MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'null\0') + attr(2, 7), 'version 7', 'is 2')
	END
	if rmmod mrpc 2>/dev/null; then
		fail "mrpc was unloaded under its engines"
	fi
}

test_changes()
{
	client
	serve 3 busy
	engines <<-'END'
	r = add('null')
	assert text(r[MRPC_A_ENGINE_NAME][0]) == 'null' and number(r[MRPC_A_ENGINE_VERSION][0]) == 2
	assert change(r) == (6, 6), change(r)
	c = attrs(r[MRPC_A_ENGINE_CHANGE][0])
	p = [number(c[a][0]) for a in (MRPC_A_CHANGE_PAUSE_P50, MRPC_A_CHANGE_PAUSE_P99,
	     MRPC_A_CHANGE_PAUSE_MAX, MRPC_A_CHANGE_PAUSE_TOTAL)]
	assert 0 < p[0] <= p[1] <= p[2] <= p[3] and number(c[MRPC_A_CHANGE_DURATION][0]) >= p[2]
	assert change(add('ratelimit', 'r', scope(side=MRPC_SCOPE_SIDE_CLIENT), after='null',
	                  values={'rate': MAX, 'shared': 1})) == (3, 3)
	add('null', 'first', version=1, before='null')
	add('null', 'second', before='null')
	assert names() == ['first', 'second', 'null', 'r'], names()
	e = get('r')
	assert values(e)['rate'] == (MAX, True) and values(e)['queue'] == (256, False)
	assert number(e[MRPC_A_ENGINE_DATAPATHS][0]) == 3
	assert number(attrs(e[MRPC_A_ENGINE_SCOPE][0])[MRPC_A_SCOPE_SIDE][0]) == 1
	assert MRPC_A_ENGINE_PERCENT not in e
	# What is not given stays.
	n.ask(MRPC_CMD_ENGINE_SET, engine('r', values={'rate': 1000000}))
	assert values(get('r'))['rate'] == (1000000, True) and values(get('r'))['shared'] == (1, True)
	# Another version, another type.
	n.ask(MRPC_CMD_ENGINE_SET, engine('first', version=2))
	assert number(get('first')[MRPC_A_ENGINE_VERSION][0]) == 2
	n.ask(MRPC_CMD_ENGINE_SET, engine('first', 'ratelimit', values={'rate': 5000000}))
	assert text(get('first')[MRPC_A_ENGINE_TYPE][0]) == 'ratelimit'
	assert values(get('first'))['rate'] == (5000000, True)
	until(lambda: all(passed(get('second'), MRPC_A_ENGINE_TX, MRPC_A_ENGINE_RX)))
	# Counters of one datapath, and of all.
	paths = [number(d[MRPC_A_DATAPATH_ID][0]) for d in n.dump(MRPC_CMD_DATAPATH_GET)]
	assert len(paths) == 6
	assert sum(number(get('r', p)[MRPC_A_ENGINE_DATAPATHS][0]) for p in paths) == 3
	why('ENOENT', MRPC_CMD_ENGINE_GET, engine('r') + attr(MRPC_A_ENGINE_DATAPATH, 9999), '9999')
	for d in n.dump(MRPC_CMD_DATAPATH_GET):
	    stages = [text(attrs(s)[MRPC_A_STAGE_NAME][0]) for s in d[MRPC_A_DATAPATH_STAGE]]
	    assert stages in (['first', 'second', 'null', 'r'], ['first', 'second', 'null']), stages
	remove('second')
	assert names() == ['first', 'null', 'r']
	remove()
	assert names() == [] and not n.dump(MRPC_CMD_ENGINE_GET)
	for d in n.dump(MRPC_CMD_DATAPATH_GET):
	    assert MRPC_A_DATAPATH_STAGE not in d
	END
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

test_steps()
{
	client
	serve 4 busy
	engines <<-'END'
	step = lambda name, p: n.ask(MRPC_CMD_ENGINE_STEP, engine(name, percent=p))[0]
	on = lambda name: number(get(name)[MRPC_A_ENGINE_DATAPATHS][0])
	percent = lambda name: number(get(name)[MRPC_A_ENGINE_PERCENT][0])
	add('null', percent=30)
	assert 0 < on('null') < 8 and percent('null') == 30
	assert MRPC_A_ENGINE_ADDING in get('null')
	why('ENOENT', MRPC_CMD_ENGINE_SET, engine('null', version=1), "'null'", 'being added')
	why('EBUSY', MRPC_CMD_ENGINE_DEL, engine('null'), "'null'", '30 %')
	some = on('null')
	step('null', 60)
	assert some <= on('null') < 8
	step('null', 0)		# the addition is taken back
	assert names() == []
	add('null', percent=50)
	step('null', 100)
	assert on('null') == 8 and MRPC_A_ENGINE_ADDING not in get('null')
	assert MRPC_A_ENGINE_PERCENT not in get('null')
	# Replacing: both versions at once.
	n.ask(MRPC_CMD_ENGINE_SET, engine('null', version=1, percent=40))
	e = get('null')
	assert number(e[MRPC_A_ENGINE_VERSION][0]) == 2 and on('null') == 8
	assert number(e[MRPC_A_ENGINE_NEXT_VERSION][0]) == 1
	have = [number(attrs(s)[MRPC_A_STAGE_VERSION][0]) for d in n.dump(MRPC_CMD_DATAPATH_GET)
	        for s in d[MRPC_A_DATAPATH_STAGE]]
	assert set(have) == {1, 2}, have
	step('null', 0)
	assert number(get('null')[MRPC_A_ENGINE_VERSION][0]) == 2
	# Values: the next ones are shown beside the present ones.
	add('ratelimit', 'r', values={'rate': 1000000})
	n.ask(MRPC_CMD_ENGINE_SET, engine('r', values={'rate': 2000000}, percent=1))
	assert values(get('r'))['rate'] == (1000000, True)
	assert values(get('r'), MRPC_A_ENGINE_NEXT_VALUE)['rate'] == (2000000, True)
	step('r', 100)
	assert values(get('r'))['rate'] == (2000000, True)
	n.ask(MRPC_CMD_ENGINE_DEL, engine('null', percent=50))
	assert MRPC_A_ENGINE_REMOVING in get('null') and 0 < on('null') < 8
	step('null', 100)
	assert names() == ['r']
	why('EINVAL', MRPC_CMD_ENGINE_STEP, engine('r', percent=50), "'r'", 'no change')
	why('EINVAL', MRPC_CMD_ENGINE_STEP, engine('r'))
	why('ERANGE', MRPC_CMD_ENGINE_STEP, engine('r', percent=101), '101')
	for cmd in MRPC_CMD_ENGINE_DEL, MRPC_CMD_ENGINE_SET:
	    why('ERANGE', cmd, engine('r', percent=0, version=1 if cmd == MRPC_CMD_ENGINE_SET else None),
	        'percent is 0', '1 to 100')
	why('ERANGE', MRPC_CMD_ENGINE_ADD, engine('x', 'null', percent=4000000000), '4000000000')
	remove()
	END
}

# Who reads a set while its keys get another order is told so.
test_keys_in_motion()
{
	client
	engines <<-'END'
	NAME = attr(MRPC_A_KEYSET_NAME, nul('k'))
	def do(cmd, more=b''):
	    n.send(cmd, NAME + more, 4)
	    for _, flags, data in n.messages():
	        n.error(data, flags)
	def keys(start, end):
	    return b''.join(attr(MRPC_A_KEYSET_KEY, (b'%d' % i).ljust(1000, b'x')) for i in range(start, end))
	def churn():	# as many as before; the room for keys is used up
	    for i in range(10):
	        do(MRPC_CMD_KEYSET_INSERT, keys(1000, 1050))
	        do(MRPC_CMD_KEYSET_REMOVE, keys(1000, 1050))
	reader = Netlink()
	def read(meanwhile):
	    reader.send(MRPC_CMD_KEY_GET, NAME, 0x300)
	    found, changed, end = [], False, False
	    while not end:
	        for kind, flags, data in reader.messages():
	            changed |= bool(flags & 0x10)	# NLM_F_DUMP_INTR
	            end |= kind == 3
	            if kind != 3:
	                found += attrs(data[4:])[MRPC_A_KEYSET_KEY]
	        if not end:
	            meanwhile()
	    return len(set(found)), changed
	do(MRPC_CMD_KEYSET_NEW, attr(MRPC_A_KEYSET_KIND, 1))
	for i in range(0, 200, 50):
	    do(MRPC_CMD_KEYSET_INSERT, keys(i, i + 50))
	churn()
	assert read(lambda: None) == (200, False)
	assert read(churn)[1], 'nobody said that the keys had moved'
	assert read(lambda: None) == (200, False)
	do(MRPC_CMD_KEYSET_DEL)
	END
}

test_errors()
{
	client
	engines <<-'END'
	ADD, SET, DEL = MRPC_CMD_ENGINE_ADD, MRPC_CMD_ENGINE_SET, MRPC_CMD_ENGINE_DEL
	add('null', 'x')
	remove('x')
	add('ratelimit', 'r')
	for cmd, body in (ADD, engine('x')), (SET, b''), (DEL, b''), (MRPC_CMD_ENGINE_GET, b''), \
	                 (MRPC_CMD_ENGINE_TYPE_GET, b''), (MRPC_CMD_QUEUE_SET, b''):
	    n.refused('EINVAL', cmd, body)
	for cmd in DEL, MRPC_CMD_ENGINE_GET:
	    why('ENOENT', cmd, engine('x'), "no engine named 'x'")
	why('ENOENT', SET, engine('x', version=1), "no engine named 'x'")
	why('ENOENT', MRPC_CMD_ENGINE_STEP, engine('x', percent=1), "no engine named 'x'")
	why('ENOENT', ADD, engine('x', 'nothing'), "no engine type 'nothing'")
	why('ENOENT', ADD, engine('x', 'null', 9), 'null', 'version 9', 'is 2')
	why('EEXIST', ADD, engine('r', 'null'), "'r'")
	why('EEXIST', ADD, engine(None, 'ratelimit') + engine('r'), "'r'")
	why('ENOENT', ADD, engine('x', 'null', before='y'), "'y'")
	why('EINVAL', ADD, engine('x', 'null', before='r', after='r'), 'exclude')
	for bad in '', 'a b', '-a', '.a', 'a/b', 'a\n', '\u00e4', 'a,b':
	    why('EINVAL', ADD, engine(bad, 'null'), 'letters')
	why('EINVAL', ADD, engine('x' * 32, 'null'), 'at most 31', 'has 32')
	for code, cmd, body in ('EINVAL', ADD, engine('x', 'n' * 300)), ('EINVAL', ADD, engine('x', 'null', after='n' * 300)), \
	                 ('EINVAL', MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'n' * 300 + b'\0')), \
	                 ('ENOENT', DEL, engine('n' * 300)), ('EINVAL', ADD, engine('x', 'null', values={'n' * 300: 1})):
	    why(code, cmd, body, 'at most 31', 'has 300')
	add('null', 'x' * 31)
	remove('x' * 31)
	n.refused('ERANGE', ADD, engine('x', 'null', 0))
	# Values.
	bad = lambda code, values, *parts: why(code, ADD, engine('x', 'ratelimit', values=values), *parts)
	bad('ENOENT', {'speed': 1}, 'ratelimit', 'version 1', "'speed'")
	bad('ERANGE', {'rate': 0}, 'rate is 0', '1 to ')
	bad('ERANGE', {'queue': 65537}, 'queue is 65537', 'to 65536')
	bad('ERANGE', {'queue': MAX}, 'queue', '65536')
	bad('ERANGE', {'shared': 2}, 'shared is 2', '0 to 1')
	bad('EINVAL', {'rate': 'fast'}, 'rate', 'number')
	bad('EINVAL', {'rate': b'fast'}, 'rate', 'number')
	why('EINVAL', ADD, engine('x', 'ratelimit') + value('rate', 5) + value('rate', 6), 'rate', 'twice')
	why('EINVAL', ADD, engine('x', 'ratelimit') + attr(MRPC_A_ENGINE_VALUE | NEST, b''), 'name')
	why('EINVAL', ADD, engine('x', 'ratelimit') + attr(MRPC_A_ENGINE_VALUE | NEST,
	    attr(MRPC_A_VALUE_NAME, b'rate\0')), 'rate', 'one of')
	why('EINVAL', ADD, engine('x', 'fault', values={'abort_status': 'FINE'}), "'FINE'", 'OK')
	why('ERANGE', ADD, engine('x', 'fault', values={'abort_status': 99}), '99')
	why('EINVAL', ADD, engine('x', 'acl', values={'rules': 'allow'}), 'rules', 'data')
	n.refused('EINVAL', ADD, engine('x', 'acl', values={'rules': b'allow'}))
	why('EINVAL', SET, engine('r'), 'nothing to set')
	why('ERANGE', SET, engine('r', values={'rate': 0}), 'rate is 0')
	assert values(get('r'))['rate'] == (MAX, False)
	# Requests that say more than they should.
	for cmd, body in (DEL, engine('r', 'null')), (DEL, engine('r', version=1)), \
	                 (DEL, engine('r', values={'rate': 5})), \
	                 (MRPC_CMD_ENGINE_STEP, engine('r', 'null', percent=5)):
	    why('EINVAL', cmd, body, 'not for this request')
	n.refused('EINVAL', SET, engine('r', version=1, before='r'))
	n.refused('EINVAL', MRPC_CMD_ENGINE_GET, engine('r'), flags=0x300)
	n.refused('EINVAL', ADD, engine('x', 'null') + attr(200, 1))
	# Scopes.
	bad = lambda code, part, **keys: why(code, ADD, engine('x', 'null') + scope(**keys), part)
	bad('ENOENT', 'no session 77', session=77)
	bad('ENOENT', 'no datapath 77', datapath=77)
	bad('ESRCH', 'no process 99999', pid=99999)
	bad('ENOENT', 'process 1 has no session', pid=1)
	bad('ENOENT', 'no cgroup 12345678', cgroup=12345678)
	for keys in {'session': 0}, {'pid': 0}, {'datapath': 0}:
	    n.refused('ERANGE', ADD, engine('x', 'null') + scope(**keys))
	n.refused('EINVAL', ADD, engine('x', 'null') + scope(side=4))
	n.refused('EINVAL', ADD, engine('x', 'null') + scope(service='s' * 1025))
	assert names() == ['r'], names()
	# As many as there can be.
	for i in range(31):
	    add('null', f'n{i}', scope(service='of.Nobody', uid=0, cgroup=1, side=2))
	why('ENOSPC', ADD, engine('x', 'null'), '32')
	e = attrs(get('n3')[MRPC_A_ENGINE_SCOPE][0])
	assert text(e[MRPC_A_SCOPE_SERVICE][0]) == 'of.Nobody' and number(e[MRPC_A_SCOPE_CGROUP][0]) == 1
	assert number(e[MRPC_A_SCOPE_UID][0]) == 0
	fd, id = session()
	remove()
	for keys in {'session': id}, {'pid': os.getpid()}:
	    assert change(add('null', 'x', scope(**keys))) == (0, 0)
	    remove('x')
	# Values longer than an attribute: in pieces, together and back.
	rules = b'MRRR' + b'\x01\0\0\0' + struct.pack('IHH', 16, 0, 0)
	add('acl', 'a', value('rules', rules[:7]) + value('rules', rules[7:]))
	v, = [attrs(v) for v in get('a')[MRPC_A_ENGINE_VALUE] if b'rules\0' in v]
	assert v[MRPC_A_VALUE_DATA] == [rules] and number(v[MRPC_A_VALUE_SIZE][0]) == 16
	v, = [attrs(v) for v in n.dump(MRPC_CMD_ENGINE_GET)[0][MRPC_A_ENGINE_VALUE] if b'rules\0' in v]
	assert MRPC_A_VALUE_DATA not in v and number(v[MRPC_A_VALUE_SIZE][0]) == 16
	remove()
	END
}

# An engine that fails on some datapaths: the reply says what was done, the error why.
test_roll_back()
{
	client
	serve 4 busy
	engines <<-'END'
	def fails(cmd, body):
	    n.send(cmd, body, 4)
	    reply = None
	    while True:
	        for kind, flags, data in n.messages():
	            if kind == 2:
	                try:
	                    n.error(data, flags)
	                except Refused as e:
	                    return reply, e
	                assert False, 'it succeeded'
	            reply = attrs(data[4:])
	reply, e = fails(MRPC_CMD_ENGINE_ADD, engine('c', 'crash', values={'fail_create': 3}))
	c = attrs(reply[MRPC_A_ENGINE_CHANGE][0])
	assert change(reply) == (4, 3), change(reply)
	assert number(c[MRPC_A_CHANGE_FAILED][0]) > 0 and MRPC_A_CHANGE_ROLLED_BACK in c
	assert e.message, 'no word why'
	assert names() == []
	add('crash', 'c', version=1)
	reply, e = fails(MRPC_CMD_ENGINE_SET, engine('c', values={'fail_configure': 2}))
	assert attrs(reply[MRPC_A_ENGINE_CHANGE][0])[MRPC_A_CHANGE_FAILED]
	reply, e = fails(MRPC_CMD_ENGINE_SET, engine('c', version=2, values={'fail_restore': 5}))
	assert attrs(reply[MRPC_A_ENGINE_CHANGE][0])[MRPC_A_CHANGE_FAILED]
	assert number(get('c')[MRPC_A_ENGINE_VERSION][0]) == 1
	assert number(get('c')[MRPC_A_ENGINE_DATAPATHS][0]) == 8
	until(lambda: counters(get('c'))['seen_tx'] and counters(get('c'))['seen_rx'])
	remove()
	END
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

test_queues()
{
	client
	serve 2 busy
	engines <<-'END'
	add('null')
	QSET, QGET, RPC = MRPC_CMD_QUEUE_SET, MRPC_CMD_QUEUE_GET, MRPC_CMD_RPC_GET
	hold = lambda paused, *more: attr(MRPC_A_QUEUE_ENGINE, b'null\0') + b''.join(more) + \
	                             attr(MRPC_A_QUEUE_PAUSED, bytes([paused]))
	changed = lambda reply: number(reply[0][MRPC_A_QUEUE_CHANGED][0])
	paths = n.dump(MRPC_CMD_DATAPATH_GET)
	ids = [number(d[MRPC_A_DATAPATH_ID][0]) for d in paths]
	queues = n.dump(QGET)
	assert len(queues) == 16	# of the engine and of the link, in two directions
	assert sum(MRPC_A_QUEUE_ENGINE in q for q in queues) == 8
	assert len(n.dump(QGET, attr(MRPC_A_QUEUE_DATAPATH, ids[0]))) == 4
	assert len(n.dump(QGET, attr(MRPC_A_QUEUE_SESSION,
	                             number(paths[0][MRPC_A_DATAPATH_SESSION][0])))) >= 4
	tx, rx = (attr(MRPC_A_QUEUE_DIR, d) for d in (MRPC_QUEUE_DIR_TX, MRPC_QUEUE_DIR_RX))
	assert changed(n.ask(QSET, hold(1, attr(MRPC_A_QUEUE_DATAPATH, ids[0]), tx))) == 1
	assert changed(n.ask(QSET, hold(1, attr(MRPC_A_QUEUE_DATAPATH, ids[0]), tx))) == 0
	assert changed(n.ask(QSET, hold(1))) == 4
	assert number(attrs(get('null')[MRPC_A_ENGINE_TX][0])[MRPC_A_ENGINE_DIR_PAUSED][0]) == 4
	# All calls under way, four of each client, come to where they wait.
	def settled():
	    full = [q for q in n.dump(QGET) if number(q[MRPC_A_QUEUE_DEPTH][0])]
	    return sum(number(q[MRPC_A_QUEUE_DEPTH][0]) for q in full) == 8 and \
	           all(number(q[MRPC_A_QUEUE_AGE][0]) >= 300_000_000 for q in full) and full
	for q in until(settled):
	    assert q[MRPC_A_QUEUE_PAUSED] == [b'\x01'] and text(q[MRPC_A_QUEUE_ENGINE][0]) == 'null'
	    assert number(q[MRPC_A_QUEUE_BYTES][0]) >= 64 * number(q[MRPC_A_QUEUE_DEPTH][0])
	    dir = number(q[MRPC_A_QUEUE_DIR][0])
	    rpcs = n.dump(RPC, attr(MRPC_A_RPC_DATAPATH, number(q[MRPC_A_QUEUE_DATAPATH][0])) +
	                  attr(MRPC_A_RPC_ENGINE, b'null\0') + attr(MRPC_A_RPC_DIR, dir))
	    assert len(rpcs) == number(q[MRPC_A_QUEUE_DEPTH][0])
	    assert [number(r[MRPC_A_RPC_INDEX][0]) for r in rpcs] == list(range(len(rpcs)))
	    assert sum(number(r[MRPC_A_RPC_SIZE][0]) for r in rpcs) == number(q[MRPC_A_QUEUE_BYTES][0])
	    for r in rpcs:
	        assert text(r[MRPC_A_RPC_SERVICE][0]) == 'kv.Store'
	        assert text(r[MRPC_A_RPC_METHOD][0]) == 'Put'
	        kind = number(r[MRPC_A_RPC_KIND][0])
	        assert kind in (MRPC_RPC_KIND_REQUEST, MRPC_RPC_KIND_REPLY)
	        assert (MRPC_A_RPC_PRIORITY in r) == (kind == MRPC_RPC_KIND_REQUEST)
	# They come through when they may, in order, and none is lost.
	assert changed(n.ask(QSET, hold(0))) == 4
	both = lambda: sum(passed(get('null'), MRPC_A_ENGINE_TX, MRPC_A_ENGINE_RX))
	before = both()
	until(lambda: both() >= before + 50)
	# A replaced engine's queue stays paused.
	n.ask(QSET, hold(1, tx))
	n.ask(MRPC_CMD_ENGINE_SET, engine('null', version=1))
	assert number(attrs(get('null')[MRPC_A_ENGINE_TX][0])[MRPC_A_ENGINE_DIR_PAUSED][0]) == 4
	remove()	# and what it had goes on
	bad = lambda code, cmd, body, part, **k: why(code, cmd, body, part, **k)
	bad('ENOENT', QSET, hold(1), "no datapath has a tx or rx queue of 'null'")
	bad('ENOENT', QSET, hold(1, tx, attr(MRPC_A_QUEUE_DATAPATH, ids[0])),
	    f"datapath {ids[0]} has no tx queue of 'null'")
	n.refused('ERANGE', QSET, hold(2))
	n.refused('ERANGE', QSET, hold(1, attr(MRPC_A_QUEUE_DIR, 2)))
	n.refused('EINVAL', QSET, attr(MRPC_A_QUEUE_ENGINE, b'null\0'))
	where = attr(MRPC_A_RPC_DIR, 0)
	bad('ENOENT', RPC, where + attr(MRPC_A_RPC_DATAPATH, 9999), 'no datapath 9999', flags=0x300)
	bad('ENOENT', RPC, where + attr(MRPC_A_RPC_DATAPATH, ids[0]) + attr(MRPC_A_RPC_ENGINE, b'x\0'),
	    "no tx queue of 'x'", flags=0x300)
	n.refused('EINVAL', RPC, where, flags=0x300)
	n.refused('EINVAL', RPC, attr(MRPC_A_RPC_DATAPATH, ids[0]), flags=0x300)
	for d in 0, 1:	# what is behind the engines
	    n.dump(RPC, attr(MRPC_A_RPC_DATAPATH, ids[0]) + attr(MRPC_A_RPC_DIR, d))
	END
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

test_series()
{
	client
	serve 1 busy
	engines <<-'END'
	add('metrics', 'm', values={'per_connection': 1})
	add('null')
	total = lambda s: sum(number(attrs(b)[MRPC_A_BUCKET_COUNT][0]) for b in s[MRPC_A_SERIES_BUCKET])
	get = lambda *more: n.dump(MRPC_CMD_SERIES_GET, attr(MRPC_A_SERIES_ENGINE, b'm\0') + b''.join(more))
	of = lambda d: get(attr(MRPC_A_SERIES_DATAPATH, number(d[MRPC_A_DATAPATH_ID][0])))
	until(lambda: all(of(d) for d in n.dump(MRPC_CMD_DATAPATH_GET)))
	series = get()
	keys = [tuple(s[k][0] for k in (MRPC_A_SERIES_NAME, MRPC_A_SERIES_METHOD, MRPC_A_SERIES_STATUS,
	                                MRPC_A_SERIES_SIDE)) for s in series]
	assert len(keys) == len(set(keys)), 'one is there twice'
	for s in series:
	    most = [number(attrs(b)[MRPC_A_BUCKET_MOST][0]) for b in s[MRPC_A_SERIES_BUCKET]]
	    assert most == sorted(most) and total(s) > 0
	    assert text(s[MRPC_A_SERIES_SERVICE][0]) == 'kv.Store'
	    assert text(s[MRPC_A_SERIES_UNIT][0]) in ('ns', 'bytes')
	for d in n.dump(MRPC_CMD_DATAPATH_GET):
	    assert len({s[MRPC_A_SERIES_SIDE][0] for s in of(d)}) == 1
	assert n.dump(MRPC_CMD_SERIES_GET, attr(MRPC_A_SERIES_ENGINE, b'null\0')) == []
	why('ENOENT', MRPC_CMD_SERIES_GET, attr(MRPC_A_SERIES_ENGINE, b'x\0'), "'x'", flags=0x300)
	n.refused('EINVAL', MRPC_CMD_SERIES_GET, flags=0x300)
	remove()
	END
}

# Engines are not for everybody, and loading their modules is the host's right.
test_permission()
{
	client
	cat >"$TEST_TMP/refused.py" <<-'END'
	from engines import *
	for cmd in [*range(MRPC_CMD_ENGINE_TYPE_GET, MRPC_CMD_RPC_GET + 1), MRPC_CMD_SERIES_GET,
	            *range(MRPC_CMD_EGRESS_GET, MRPC_CMD_EGRESS_QUEUE_GET + 1)]:
	    for flags in 0, 0x300:
	        try:
	            n.ask(cmd, b'', flags)
	            sys.exit(f'{cmd} is permitted')
	        except Refused as e:
	            assert e.code in (errno.EPERM, errno.EOPNOTSUPP), e
	END
	setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set -all --inh-caps -all \
		python3 "$TEST_TMP/refused.py"
	setpriv --reuid 1000 --regid 1000 --clear-groups unshare -r python3 "$TEST_TMP/refused.py"
	mrpc_unload && mrpc_load
	modprobe -d "$MRPC_MODULES" mrpc_null_2 2>/dev/null || insmod "$MRPC_MODULES/mrpc_null_2.ko"
	# Root of a user namespace, in a network namespace of its own.
	setpriv --reuid 1000 --regid 1000 --clear-groups unshare -rn python3 - <<-'END'
	from engines import *
	add('null')
	add('null', 'x', scope(uid=0))
	why('ENOENT', MRPC_CMD_ENGINE_ADD, engine('y', 'ratelimit'), 'ratelimit', 'CAP_SYS_MODULE')
	why('ENOENT', MRPC_CMD_ENGINE_TYPE_GET, attr(1, b'fault\0'), 'CAP_SYS_MODULE')
	why('EINVAL', MRPC_CMD_ENGINE_ADD, engine('y', 'null') + scope(uid=7), 'user 7')
	assert names() == ['null', 'x']
	END
	[[ ! -d /sys/module/mrpc_ratelimit_1 ]] || fail "it was loaded all the same"
	# What it had placed is gone with it; nobody else saw it.
	engines <<-'END'
	assert names() == []
	END
	wait_for 5 rmmod mrpc_null_2
}

test_namespaces()
{
	client
	ns_create a b
	cat >"$TEST_TMP/see.py" <<-'END'
	from engines import *
	print(*names())
	END
	in_ns a python3 - <<-'END'
	from engines import *
	add('null', 'mine')
	END
	[[ $(in_ns a python3 "$TEST_TMP/see.py") == mine ]]
	[[ -z $(in_ns b python3 "$TEST_TMP/see.py")$(python3 "$TEST_TMP/see.py") ]]
	in_ns b python3 - <<-'END'
	from engines import *
	why('ENOENT', MRPC_CMD_ENGINE_DEL, engine('mine'), "'mine'")
	add('null', 'mine', version=1)
	END
	in_ns b kv-server -l tcp:10.0.0.2:7000 >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q 'listening' "$TEST_TMP/server"
	in_ns a kv-client -c tcp:10.0.0.2:7000 put key value
	in_ns a python3 - <<-'END'
	from engines import *
	assert number(get('mine')[MRPC_A_ENGINE_VERSION][0]) == 2
	END
}

test_events()
{
	client
	cat >"$TEST_TMP/events.py" <<-'END'
	from engines import *
	n.listen()
	print('listening', flush=True)
	which = {MRPC_CMD_ENGINE_ADD_NTF: 'add', MRPC_CMD_ENGINE_SET_NTF: 'set',
	         MRPC_CMD_ENGINE_DEL_NTF: 'del', MRPC_CMD_ENGINE_FAULT_NTF: 'fault'}
	while True:
	    for kind, flags, data in n.messages():
	        a = attrs(data[4:])
	        if data[0] == MRPC_CMD_ENGINE_FAULT_NTF:
	            print('fault', text(a[MRPC_A_FAULT_ENGINE][0]), text(a[MRPC_A_FAULT_WHAT][0]),
	                  text(a[MRPC_A_FAULT_TYPE][0]), number(a[MRPC_A_FAULT_DATAPATH][0]),
	                  'bypassed' if MRPC_A_FAULT_BYPASSED in a else '', flush=True)
	        elif data[0] in which:
	            print(which[data[0]], text(a[MRPC_A_ENGINE_NAME][0]),
	                  text(a[MRPC_A_ENGINE_TYPE][0]) if MRPC_A_ENGINE_TYPE in a else '-',
	                  number(a.get(MRPC_A_ENGINE_PERCENT, [b'\x64'])[0]), flush=True)
	END
	listen
	serve 1 busy
	engines <<-'END'
	add('null', 'x', percent=10)
	n.ask(MRPC_CMD_ENGINE_STEP, engine('x', percent=100))
	n.ask(MRPC_CMD_ENGINE_SET, engine('x', version=1))
	n.ask(MRPC_CMD_ENGINE_DEL, engine('x', percent=10))
	n.ask(MRPC_CMD_ENGINE_STEP, engine('x', percent=100))
	add('null', 'y', percent=10)
	n.ask(MRPC_CMD_ENGINE_STEP, engine('y', percent=0))
	add('crash', 'c', values={'overrun': 20000})
	END
	wait_for 20 grep -q '^fault c slow crash [0-9]* bypassed' "$TEST_TMP/events"
	engines <<-'END'
	remove()
	add('crash', 'd', values={'leak': 5})
	until(lambda: counters(get('d'))['seen_tx'] >= 9)	# of two: one has seen 5
	remove()
	END
	wait_for 10 grep -q '^del d' "$TEST_TMP/events"
	cat "$TEST_TMP/events"
	sed -n 2,8p "$TEST_TMP/events" | diff - <(printf '%s\n' 'add x null 10' 'set x null 100' \
		'set x null 100' 'set x null 10' 'del x - 100' 'add y null 10' 'del y - 100')
	grep -q '^fault d leak crash' "$TEST_TMP/events"
	[[ $(<"$TEST_TMP/elsewhere") == listening ]]
}

# Dumps while engines come and go: nothing twice, in order, and nobody is harmed.
test_churn()
{
	client
	serve 3 busy
	engines <<-'END'
	import subprocess
	add('null', 'stay0'); add('ratelimit', 'stay1'); add('null', 'stay2')
	churn = subprocess.Popen([sys.executable, '-c', '''
	from engines import *
	import random
	random.seed(7)
	while True:
	    name = f'n{random.randrange(8)}'
	    try:
	        add('null', name, before=random.choice(['stay0', 'stay1', 'stay2']))
	    except Refused:
	        remove(name)
	'''.replace('\n\t', '\n')])
	rounds, end = 0, time.time() + 15
	while time.time() < end:
	    seen = names()
	    assert len(seen) == len(set(seen)) and [s for s in seen if 'stay' in s] == \
	           ['stay0', 'stay1', 'stay2'], seen
	    for q in n.dump(MRPC_CMD_QUEUE_GET):
	        assert MRPC_A_QUEUE_DEPTH in q
	    n.dump(MRPC_CMD_DATAPATH_GET)
	    get('stay1')
	    rounds += 1
	churn.kill()
	churn.wait()
	print(f'# {rounds} rounds')
	assert rounds > 3
	remove()
	END
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

# Each operator sets a parameter of his own: nobody's is undone by what another inherits.
test_concurrent()
{
	client
	serve 2 busy
	engines <<-'END'
	import subprocess
	add('ratelimit', 'r')
	operators = [subprocess.Popen([sys.executable, '-c', '''
	from engines import *
	which = sys.argv[1]
	for i in range(1000, 1200):
	    n.ask(MRPC_CMD_ENGINE_SET, engine('r', values={which: i}))
	    seen = values(get('r'))[which][0]
	    assert seen == i, f'{which} is {seen}, {i} was set'
	'''.replace('\n\t', '\n'), which]) for which in ('rate', 'queue', 'bytes')]
	assert [o.wait() for o in operators] == [0, 0, 0]
	assert values(get('r'))['rate'][0] == values(get('r'))['queue'][0] == 1199
	remove()
	END
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

run_tests "$@"
