#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/examples tools/libmrpc
# Calls from JSON to JSON.
. "${0%/*}/../harness/lib.sh"

call() { kv-client -c loop:kv call "$@"; }

call_refused()	# STATUS PATTERN METHOD JSON
{
	local status=0
	call "${@:3}" >"$TEST_TMP/out" 2>"$TEST_TMP/err" || status=$?
	[[ $status == "$1" ]] || fail "$3: status $status"
	grep -qF -- "$2" "$TEST_TMP/err" || fail "$3: $(<"$TEST_TMP/err")"
}

test_requests_and_replies_in_json()
{
	kv-server -l loop:kv >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q 'listening at loop:kv' "$TEST_TMP/server"
	[[ $(call Put '{"key":"a","value":"AAEC/w=="}') == '{}' ]] || fail "Put"
	[[ $(call Put '{"key": "a", "value": "aGVsbG8"}') == '{"replaced":true}' ]] || fail "Put again"
	[[ $(call Get '{"key":"\u0061"}') == '{"value":"aGVsbG8="}' ]] || fail "Get"
	[[ $(kv-client -c loop:kv get a) == hello ]] || fail "get"
	[[ $(call List '{"limit":"1e1"}') == '{"entries":[{"key":"a","size":"5"}]}' ]] ||
		fail "List: $(call List '{}')"
	[[ $(call Delete '{"key":"a"}') == '{}' ]] || fail "Delete"
}

test_wrong_requests()
{
	kv-server -l loop:kv >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q 'listening at loop:kv' "$TEST_TMP/server"
	call_refused 2 "kv.Store has no method 'Take'" Take '{}'
	call_refused 2 "line 1, column 2: message kv.GetRequest has no field 'name'" Get '{"name":"a"}'
	call_refused 2 "line 2, column 9, field limit: -1 is out of range" List $'{\n"limit":-1}'
	call_refused 1 'NOT_FOUND' Get '{"key":"none"}'
}

run_tests "$@"
