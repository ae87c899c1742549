#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: kmod/transports/grpc kmod/lib/grpc kmod/lib/http2
# Calls that stream, between mrpc and gRPC's own peer, that of Python.
# timeout 180
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/grpc.sh"

test_python_client()
{
	serve_mrpc
	stock stream 7600
	wait_for 10 no_calls
	grpc_ends
}

test_python_server()
{
	serve_stock
	"$peer" stream grpc:127.0.0.1:7601
	"$peer" compress grpc:127.0.0.1:7601
}

test_both_mrpc()
{
	serve_mrpc
	"$peer" stream grpc:127.0.0.1:7600
	"$peer" compress grpc:127.0.0.1:7600
	"$peer" probe grpc:127.0.0.1:7600
	wait_for 10 no_calls
	grpc_ends
}

run_tests "$@"
