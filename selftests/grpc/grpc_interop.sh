#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: kmod/transports/grpc kmod/lib/grpc kmod/lib/http2 kmod/lib/protobuf
# Calls between mrpc and gRPC's own peers, those of Python, Node and C++, in both directions.
# timeout 180
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/grpc.sh"

test_python_client()
{
	serve_mrpc
	stock call 7600
	# What the client has cancelled is gone at the server, too.
	wait_for 10 no_calls
	grpc_ends
}

test_python_server()
{
	serve_stock
	"$peer" call grpc:127.0.0.1:7601
	# It has heard of the two late calls and of the one that was cancelled. The first of those may
	# have ended before it came to the server.
	wait_for 10 eval '(($(grep -c "ended early" "$TEST_TMP/stock") >= 2))'
}

test_node()
{
	need_node
	node_and_mrpc
}

test_cpp() { cpp_and_mrpc; }

# A channel makes calls again that this server fails, when it says so.
test_retries()
{
	serve_stock
	"$peer" retry grpc:127.0.0.1:7601
}

# Calls beyond those that the server takes at a time wait for others to end.
test_few_streams()
{
	serve_stock 2
	"$peer" call grpc:127.0.0.1:7601 concurrent_empty_unary concurrent_large_unary
}

# A server that ends answers all calls that it has said to take.
test_drain()
{
	serve_mrpc
	python3 "$here/drain.py" 7600 "$server"
	wait "$server"
	grpc_unload
}

# There and back through two mrpc hosts, the second of which is a client: all conversions.
test_all_fields()
{
	serve_stock
	serve_mrpc grpc:127.0.0.1:7601
	stock types 7600
	grpc_ends
}

# Clients of both transports at one port. One that says nothing delays no other one.
test_one_port()
{
	local silent
	at=tcp+grpc:127.0.0.1:7600
	serve_mrpc
	grep -q 'listening at tcp+grpc:127.0.0.1:7600' "$TEST_TMP/mrpc"
	exec {silent}<>/dev/tcp/127.0.0.1/7600
	stock stream 7600
	"$peer" stream tcp:127.0.0.1:7600
	"$peer" stream grpc:127.0.0.1:7600
	held tcp:127.0.0.1:7600 "all(c['transport'] == 'tcp' for c in j)"
	exec {silent}>&-
	grpc_ends
}

test_one_port_without_grpc()
{
	local said
	ip link set lo up
	said=$("$peer" serve tcp+grpc:127.0.0.1:7600 2>&1) && fail "it listens without the transport"
	echo "$said"
	[[ $said == *"cannot listen at tcp+grpc:127.0.0.1:7600: "*"grpc"* ]]
}

# nghttp's client, with a message that names 10 bytes of reply.
test_h2load()
{
	serve_mrpc
	printf '\0\0\0\0\2\20\12' >"$TEST_TMP/body"
	h2load -n 2000 -c 4 -m 32 -d "$TEST_TMP/body" -H 'content-type: application/grpc' \
		-H 'te: trailers' http://127.0.0.1:7600/grpc.testing.TestService/UnaryCall |
		tee "$TEST_TMP/load"
	grep -q '2000 succeeded, 0 failed, 0 errored, 0 timeout' "$TEST_TMP/load"
	grep -q '2000 2xx, 0 3xx, 0 4xx, 0 5xx' "$TEST_TMP/load"
	grpc_ends
}

test_cpp_client()
{
	need_cpp
	mrpc_bench serve grpc:127.0.0.1:7602 -j 2 >"$TEST_TMP/bench" 2>&1 &
	server=$!
	wait_for 10 grep -q ready "$TEST_TMP/bench"
	grpc_bench sync 127.0.0.1:7602 -n 50
	grpc_bench async 127.0.0.1:7602 -n 300
	grpc_ends
}

test_cpp_server()
{
	need_cpp
	grpc_bench serve 127.0.0.1:7603 >"$TEST_TMP/bench" 2>&1 &
	wait_for 20 grep -q ready "$TEST_TMP/bench"
	mrpc_bench sync grpc:127.0.0.1:7603 -n 50
	mrpc_bench ring grpc:127.0.0.1:7603 -n 300
}

run_tests "$@"
