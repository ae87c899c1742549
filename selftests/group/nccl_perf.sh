#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/examples tools/nccl
# A program of NCCL that is compiled against the header of libmrpc-nccl, and nothing else of mrpc.
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/hosts.sh"

# rank NUMBER RANK-VARIABLE RANKS-VARIABLE: in the background, as if a launcher with these variables
# had started it; writes what it says to $TEST_TMP/NUMBER and its errors to $TEST_TMP/NUMBER.err.
# Its process is $!.
rank()
{
	ip netns exec "h$1" env NCCL_COMM_ID=10.1.0.1:7004 "$2=$1" "$3=4" \
		nccl-perf -b 100 -e 8K -f 8 -n 2 >"$TEST_TMP/$1" 2>"$TEST_TMP/$1.err" &
}

# Each host has a rank that another launcher has started. Rank 0 prints a line for each size.
test_hosts()
{
	local pid pids=()
	hosts
	rank 3 SLURM_PROCID SLURM_NTASKS
	pids+=($!)
	rank 1 OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE
	pids+=($!)
	rank 0 MRPC_RANK MRPC_RANKS
	pids+=($!)
	rank 2 PMI_RANK PMI_SIZE
	pids+=($!)
	for pid in "${pids[@]}"; do wait "$pid" || fail "$(tail "$TEST_TMP"/*.err)"; done
	awk '/^#/ { next }
	     { sizes = sizes " " $1; if (NF != 6 || $6 || $3 <= 0 || $1 != 4 * $2) exit 1 }
	     END { if (sizes != " 100 800 6400") exit 1 }' "$TEST_TMP/0" ||
		fail "rank 0 says: $(<"$TEST_TMP/0")"
	[[ ! -s $TEST_TMP/1 ]] || fail "rank 1 prints, too"
}

# What it says of a mistake has the words of the library.
test_mistakes()
{
	! MRPC_RANK=0 MRPC_RANKS=2 nccl-perf 2>"$TEST_TMP/err" || fail "it needs no NCCL_COMM_ID"
	grep -q 'NCCL_COMM_ID must be HOST:PORT' "$TEST_TMP/err"
	! NCCL_COMM_ID=127.0.0.1:7004 MRPC_RANK=2 MRPC_RANKS=2 nccl-perf 2>"$TEST_TMP/err" ||
		fail "rank 2 of 2 joins"
	grep -q 'invalid: ncclCommInitRank: rank 2; the ranks of 2 are 0 to 1' "$TEST_TMP/err"
}

run_tests "$@"
