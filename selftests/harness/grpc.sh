# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What selftests/grpc/*.sh share. Ports: 7600 mrpc's server, 7601 the stock one.

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

# held ADDRESS CONDITION: what both ends of a connection must be, as "mrpc conn show" has them.
held()
{
	coproc "$peer" hold "$1"
	wait_for 10 eval 'mrpc -j conn show state ready | json "len(j) == 2"'
	mrpc -j conn show | json "$2"
	kill "$COPROC_PID"
	wait_for 10 eval 'mrpc -j conn | json "len(j) == 0"'
}

# No connection has a call under way.
no_calls() { mrpc -j conn | json "all(c['calls_active'] == 0 for c in j)"; }

# The packages of Node are where "make setup" has put them.
need_node()
{
	export NODE_PATH=$MRPC_BUILD/node/node_modules
	type -P node >/dev/null || skip "node is not installed"
	[[ -d $NODE_PATH/@grpc/grpc-js ]] || skip "@grpc/grpc-js is not there: no npm, or no registry"
}

# Each case between mrpc and Node, in both directions. Node's server does not see which messages
# came compressed, and compresses none.
node_and_mrpc()
{
	serve_mrpc
	# shellcheck disable=SC2016 # its own arguments
	node "$here/stock.js" 7601 7600 bash -euc '"$0" call "$1"; "$0" stream "$1"; "$0" compress "$@"' \
		"$peer" grpc:127.0.0.1:7601 client_compressed_unary client_compressed_streaming |
		tee "$TEST_TMP/node"
	both_are_done "$TEST_TMP/node"
}

# Each case between mrpc and C++, in both directions. This server sees which messages came
# compressed.
cpp_and_mrpc()
{
	local cpp=$MRPC_BUILD/selftests/grpc/stock_cpp mode
	[[ -x $cpp ]] || skip "stock_cpp is not built: no libgrpc++-dev"
	serve_mrpc
	"$cpp" serve 7601 >"$TEST_TMP/cpp" 2>&1 &
	on_exit kill $!
	wait_for 30 grep -q listening "$TEST_TMP/cpp"
	for mode in call stream compress probe; do
		"$peer" $mode grpc:127.0.0.1:7601
	done
	"$cpp" call 7600
	both_are_done "$TEST_TMP/cpp"
}

# What clients have given up is gone at the servers, too. The stock one has written OUTPUT.
both_are_done()
{
	# Two late calls and one that was cancelled; the first may have ended before it came.
	wait_for 10 eval "((\$(grep -c 'ended early' '$1') >= 2))"
	wait_for 10 no_calls
	grpc_ends
}

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
