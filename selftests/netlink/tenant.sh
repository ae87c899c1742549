#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: kmod/netlink/family
# What root of a user namespace, in a network namespace of its own, can do to the host.
# timeout 240
. "${0%/*}/../harness/lib.sh"

# As an ordinary user who made both namespaces.
tenant() { setpriv --reuid 1000 --regid 1000 --clear-groups unshare -rn "$@"; }

# Every command of the family, and what it may do for the tenant:
#	host	it works on what no network namespace owns: refused before any work
#	types	it shows what the host has loaded, as /proc/modules does
#	own	it finds the objects of the tenant's network namespace only
#	makes	it makes one there
test_commands()
{
	nl_client
	serve 1
	modprobe -d "$MRPC_MODULES" mrpc_null_2 2>/dev/null || insmod "$MRPC_MODULES/mrpc_null_2.ko"
	on_exit forget_engines
	mrpc runtime add victim nice 3
	on_exit mrpc runtime del victim
	mrpc engine add null
	mrpc set create victims
	on_exit mrpc set destroy victims
	mrpc egress set lo rate 1G
	on_exit mrpc egress del lo
	cat >"$TEST_TMP/state.py" <<-'END'
	from nl import *
	n = Netlink()
	names = lambda cmd, key: sorted(a[key][0].hex() for a in n.dump(cmd))
	runtime, = n.dump(MRPC_CMD_RUNTIME_GET)
	print([runtime[k][0].hex() for k in (MRPC_A_RUNTIME_NAME, MRPC_A_RUNTIME_NICE)],
	      names(MRPC_CMD_ENGINE_GET, MRPC_A_ENGINE_NAME),
	      names(MRPC_CMD_KEYSET_GET, MRPC_A_KEYSET_NAME),
	      names(MRPC_CMD_EGRESS_GET, MRPC_A_EGRESS_RATE),
	      names(MRPC_CMD_CONN_GET, MRPC_A_CONN_STATE))
	END
	cat >"$TEST_TMP/commands.py" <<-'END'
	from nl import *
	session, conn, datapath, schema = map(int, sys.argv[1:])
	engine = attr(MRPC_A_ENGINE_NAME, b'null\0')
	runtime = attr(MRPC_A_RUNTIME_NAME, b'victim\0')
	keys = attr(MRPC_A_KEYSET_NAME, b'victims\0')
	dev = attr(MRPC_A_EGRESS_DEV, b'lo\0')
	table = {
	    'SESSION_GET': ('own', attr(MRPC_A_SESSION_ID, session), b''),
	    'QP_GET': ('own', attr(MRPC_A_QP_SESSION, session) + attr(MRPC_A_QP_ID, 0), b''),
	    'CONN_GET': ('own', attr(MRPC_A_CONN_SESSION, session) + attr(MRPC_A_CONN_ID, conn), b''),
	    'SERVICE_GET': ('own', None, b''),
	    'SCHEMA_GET': ('own', attr(MRPC_A_SCHEMA_ID, schema), b''),
	    'METHOD_GET': ('own', None, attr(MRPC_A_METHOD_SCHEMA, schema)),
	    'DATAPATH_GET': ('own', attr(MRPC_A_DATAPATH_SESSION, session) +
	                     attr(MRPC_A_DATAPATH_CONN, conn), b''),
	    'ENGINE_TYPE_GET': ('types', attr(MRPC_A_ENGINE_TYPE_NAME, b'null\0'), b''),
	    'ENGINE_GET': ('own', engine, b''),
	    'ENGINE_ADD': ('makes', attr(MRPC_A_ENGINE_NAME, b'mine\0') +
	                   attr(MRPC_A_ENGINE_TYPE, b'null\0'), None),
	    'ENGINE_SET': ('own', engine + attr(MRPC_A_ENGINE_VERSION, 1), None),
	    'ENGINE_DEL': ('own', engine, None),
	    'ENGINE_STEP': ('own', engine + attr(MRPC_A_ENGINE_PERCENT, 50), None),
	    'QUEUE_GET': ('own', None, attr(MRPC_A_QUEUE_DATAPATH, datapath)),
	    'QUEUE_SET': ('own', attr(MRPC_A_QUEUE_ENGINE, b'null\0') + attr(MRPC_A_QUEUE_PAUSED, b'\1'),
	                  None),
	    'RPC_GET': ('own', None, attr(MRPC_A_RPC_DATAPATH, datapath) + attr(MRPC_A_RPC_DIR, 0)),
	    'RUNTIME_GET': ('host', runtime, b''),
	    'RUNTIME_ADD': ('host', attr(MRPC_A_RUNTIME_NAME, b'mine\0'), None),
	    'RUNTIME_SET': ('host', runtime + attr(MRPC_A_RUNTIME_NICE, 1), None),
	    'RUNTIME_DEL': ('host', runtime, None),
	    'SERIES_GET': ('own', None, attr(MRPC_A_SERIES_ENGINE, b'null\0')),
	    'KEYSET_GET': ('own', None, b''),
	    'KEYSET_NEW': ('makes', attr(MRPC_A_KEYSET_NAME, b'mine\0') + attr(MRPC_A_KEYSET_KIND, 1),
	                   None),
	    'KEYSET_DEL': ('own', keys, None),
	    'KEYSET_INSERT': ('own', keys + attr(MRPC_A_KEYSET_KEY, b'x'), None),
	    'KEYSET_REMOVE': ('own', keys + attr(MRPC_A_KEYSET_KEY, b'x'), None),
	    'KEY_GET': ('own', None, keys),
	    'EGRESS_GET': ('own', dev, b''),
	    'EGRESS_SET': ('makes', dev + attr(MRPC_A_EGRESS_RATE, 1 << 20), None),
	    'EGRESS_DEL': ('makes', dev, None),
	    'EGRESS_QUEUE_GET': ('own', None, attr(MRPC_A_EGRESS_QUEUE_DEV, b'lo\0')),
	    'TRANSPORT_GET': ('types', None, b''),
	    'GROUP_GET': ('own', attr(MRPC_A_GROUP_SESSION, session) + attr(MRPC_A_GROUP_ID, 1), b''),
	    'GROUP_LINK_GET': ('own', None, attr(MRPC_A_GROUP_LINK_SESSION, session) +
	                       attr(MRPC_A_GROUP_LINK_GROUP, 1)),
	    'GROUP_TRACE_GET': ('own', None, attr(MRPC_A_GROUP_TRACE_SESSION, session) +
	                        attr(MRPC_A_GROUP_TRACE_GROUP, 1)),
	    'GROUP_SET': ('own', attr(MRPC_A_GROUP_SESSION, session) + attr(MRPC_A_GROUP_ID, 1) +
	                  attr(MRPC_A_GROUP_STRATEGY | 0x8000, attr(MRPC_A_GROUP_STRATEGY_ORDER, 0)),
	                  None),
	    'CONN_DEL': ('own', attr(MRPC_A_CONN_SESSION, session) +
	                 attr(MRPC_A_CONN_ID, conn), None),
	    'CONN_DRAIN': ('own', attr(MRPC_A_CONN_SESSION, session) +
	                   attr(MRPC_A_CONN_ID, conn), None),
	}
	every = {c[9:] for c in globals() if c.startswith('MRPC_CMD_') and not c.endswith('_NTF')
	         and c != 'MRPC_CMD_MAX'}
	assert set(table) == every, f'not in the table: {set(table) ^ every}'
	n = Netlink()

	def tried(cmd, body, flags):
	    try:
	        return len(n.ask(globals()['MRPC_CMD_' + cmd], body, flags)), ''
	    except Refused as e:
	        return errno.errorcode[e.code], e.message

	for cmd, (kind, do, dump) in table.items():
	    for body, flags in (do, 0), (dump, 0x300):
	        result, why = tried(cmd, body or b'', flags)
	        where = f'{cmd}{" dump" if flags else ""} ended with {result} "{why}"'
	        if body is None:
	            assert result in ('ENOTSUP', 'EOPNOTSUPP'), f'{where}: the table does not know it'
	        elif kind == 'host':
	            assert result == 'EPERM' and 'initial user namespace' in why, where
	        elif kind == 'own':
	            assert result == ('ENOENT' if not flags or body else 0) or \
	                (flags and result == 0), where
	        else:
	            assert isinstance(result, int), where
	END
	chmod -R a+rX "$TEST_TMP"
	local before conn
	before=$(python3 "$TEST_TMP/state.py")
	mapfile -t conn < <(nl <<-'END'
	n = Netlink()
	c = n.dump(MRPC_CMD_CONN_GET)[0]
	for key in MRPC_A_CONN_SESSION, MRPC_A_CONN_ID, MRPC_A_CONN_DATAPATH:
	    print(number(c[key][0]))
	print(number(n.dump(MRPC_CMD_SCHEMA_GET)[0][MRPC_A_SCHEMA_ID][0]))
	END
	)
	tenant python3 "$TEST_TMP/commands.py" "${conn[@]}"
	[[ $(python3 "$TEST_TMP/state.py") == "$before" ]]
	kill "${clients[@]}" "$server"
}

# Process ids of the host are shown to the host; the tenant asks, and gets its own.
test_pids()
{
	nl_client
	ip link set lo up
	cat >"$TEST_TMP/pids.py" <<-'END'
	from nl import *
	tenant = sys.argv[1] == 'tenant'
	n = Netlink()
	n.listen()
	fd, id = session()
	kind, flags, data = next(n.messages())
	assert data[0] == MRPC_CMD_SESSION_OPEN_NTF, data[0]
	told = attrs(data[4:])
	assert number(told[MRPC_A_SESSION_ID][0]) == id
	if tenant:
	    assert MRPC_A_SESSION_PID not in told, 'a pid of the initial pid namespace'
	else:
	    assert number(told[MRPC_A_SESSION_PID][0]) == os.getpid()
	asked, = Netlink().ask(MRPC_CMD_SESSION_GET, attr(MRPC_A_SESSION_ID, id))
	assert number(asked[MRPC_A_SESSION_PID][0]) == os.getpid()
	END
	chmod -R a+rX "$TEST_TMP"
	chmod 666 /dev/mrpc
	on_exit chmod 660 /dev/mrpc
	python3 "$TEST_TMP/pids.py" host
	tenant --pid --fork --mount-proc python3 "$TEST_TMP/pids.py" tenant
}

run_tests "$@"
