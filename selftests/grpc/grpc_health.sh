#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/libmrpc kmod/transports/grpc
# gRPC's services for health and reflection, which a server of the library has, for a stock client.
# timeout 60
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/grpc.sh"

# The client ends the server, which must not wait for calls of Watch.
test_python_client()
{
	serve_mrpc
	protoc -I "$here" -I "$here/../../tools/libmrpc" --include_imports \
		--descriptor_set_out="$TEST_TMP/protos" interop.proto grpc/health/v1/health.proto \
		grpc/reflection/v1/reflection.proto grpc/reflection/v1alpha/reflection.proto
	/usr/bin/python3 "$here/health.py" 7600 "$TEST_TMP/protos" "$server"
	wait "$server"
	grpc_unload
}

run_tests "$@"
