#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: kmod/transports/grpc kmod/lib/grpc kmod/lib/http2
# Calls that stream, between mrpc and gRPC's own peer, that of Python.
# timeout 180
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/grpc.sh"

# Until the transport carries streams. Then this line goes, and the calls of this function.
not_yet() { skip "the transport grpc does not carry streams yet"; }

test_python_client()
{
	not_yet
	serve_mrpc
	stock stream 7600
	wait_for 10 no_calls
	grpc_ends
}

test_python_server()
{
	not_yet
	serve_stock
	"$peer" stream grpc:127.0.0.1:7601
}

test_both_mrpc()
{
	not_yet
	serve_mrpc
	"$peer" stream grpc:127.0.0.1:7600
	wait_for 10 no_calls
	grpc_ends
}

# The cases themselves, over a transport that has carried streams before.
test_over_tcp()
{
	at=tcp:127.0.0.1:7600
	serve_mrpc
	"$peer" stream "$at"
}

run_tests "$@"
