#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/examples
# The load that kv-client makes, at the rate that is asked for.
. "${0%/*}/../harness/lib.sh"

# pace IN-FLIGHT: 40 calls, 100 of them in a second, take 0.4 s at least.
pace()
{
	local took=${EPOCHREALTIME/./}
	kv-client -c loop:kv -n "$1" -r 100 load "$TEST_TMP/records" | tee "$TEST_TMP/out"
	took=$((${EPOCHREALTIME/./} - took))
	grep -q "^load *$1 *40 *0 " "$TEST_TMP/out" || fail "not 40 calls without an error"
	((took >= 400000)) || fail "$1 in flight: it took $took us"
}

test_rate()
{
	local i rate
	kv-server -l loop:kv >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q 'listening at loop:kv' "$TEST_TMP/server"
	for i in {1..40}; do printf 'Package: p%d\n\n' "$i"; done >"$TEST_TMP/records"
	pace 1
	pace 4
	for rate in 0 x 1000001; do
		! kv-client -c loop:kv -r $rate load "$TEST_TMP/records" 2>"$TEST_TMP/err" ||
			fail "a rate of $rate"
		grep -q -- '-r takes a number up to 1000000' "$TEST_TMP/err"
	done
}

run_tests "$@"
