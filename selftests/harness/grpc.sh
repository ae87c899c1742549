# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What selftests/grpc/*.sh share. Ports: 7600 mrpc's server, 7601 that of Python.

here=$(cd "${BASH_SOURCE[0]%/*}/../grpc" && pwd -P)
peer=$MRPC_BUILD/selftests/grpc/peer
at=grpc:127.0.0.1:7600
export PYTHONDONTWRITEBYTECODE=1

# The module is loaded by hand, because it has no alias.
grpc_load()
{
	ip link set lo up
	[[ -d /sys/module/mrpc_grpc ]] || insmod "$MRPC_MODULES/mrpc_grpc.ko"
	echo "mrpc-grpc: begins" >/dev/kmsg
}

# All that refers to the module goes by itself.
grpc_unload()
{
	wait_for 20 rmmod mrpc_grpc
}

# serve_mrpc [RELAY]: its pid is $server.
serve_mrpc()
{
	grpc_load
	"$peer" serve "$at" "$@" >"$TEST_TMP/mrpc" 2>&1 &
	server=$!
	wait_for 10 grep -q listening "$TEST_TMP/mrpc"
}

# Ends $server in order, and the module.
grpc_ends()
{
	kill "$server"
	wait "$server"
	grpc_unload
}

stubs()
{
	[[ ! -e $TEST_TMP/interop_pb2.py ]] || return 0
	protoc -I "$here" -I "$here/.." --python_out="$TEST_TMP" interop.proto test.proto
	export PYTHONPATH=$TEST_TMP
}

# stock ARGUMENT...: stock.py
stock() { stubs && /usr/bin/python3 "$here/stock.py" "$@"; }

# serve_stock [STREAMS]: how many calls it takes at a time.
serve_stock()
{
	grpc_load
	stubs
	stock serve 7601 "$@" >"$TEST_TMP/stock" 2>&1 &
	wait_for 30 grep -q listening "$TEST_TMP/stock"
}

# No connection has a call under way.
no_calls() { mrpc -j conn | json "all(c['calls_active'] == 0 for c in j)"; }

need_cpp()
{
	PATH=$MRPC_BUILD/tools/bench/peers:$PATH
	type -P grpc_bench >/dev/null || skip "grpc_bench is not built"
	grpc_load
}

# Our modules have logged nothing since grpc_load(). The runner judges what else the kernel says.
quiet()
{
	dmesg | tac | sed '/mrpc-grpc: begins/Q' | grep -i mrpc >"$TEST_TMP/log" || return 0
	fail "the kernel: $(<"$TEST_TMP/log")"
}
