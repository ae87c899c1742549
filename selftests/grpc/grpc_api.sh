#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: kmod/transports/grpc kmod/lib/grpc kmod/lib/protobuf tools/mrpcc tools/libmrpc
# Random messages of any service, sent both ways between mrpc and gRPC, and compared. The seed is
# fixed: api/google has another one each time.
# timeout 120
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/grpc.sh"

test_fixed()
{
	grpc_load
	/usr/bin/python3 "$here/api/compare.py" "$MRPC_BUILD/selftests/grpc/api/peer" \
		"$MRPC_BUILD/selftests/grpc/api" 1
	grpc_unload
}

run_tests "$@"
