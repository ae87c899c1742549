#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: kmod/transports/grpc kmod/lib/grpc kmod/lib/http2 kmod/lib/protobuf
# Peers that break the rules of HTTP/2, HPACK, gRPC and protobuf, or that overload mrpc within them.
# timeout 240
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/grpc.sh"

test_clients()
{
	serve_mrpc
	python3 "$here/hostile_client.py" 7600
	wait_for 20 no_calls
	grpc_ends
	quiet
}

test_servers()
{
	grpc_load
	python3 "$here/hostile_server.py" "$peer"
	grpc_unload
	quiet
}

run_tests "$@"
