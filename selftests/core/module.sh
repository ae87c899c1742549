#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: kmod/main.c kmod/core/transport
# Loading and unloading the modules.
. "${0%/*}/../harness/lib.sh"

test_reload()
{
	local i
	for i in {1..5}; do
		mrpc_unload
		[[ ! -e /sys/module/mrpc ]] || fail "still there in round $i"
		mrpc_load
		[[ -d /sys/module/mrpc && -d /sys/module/mrpc_tcp ]] || fail "not there in round $i"
	done
}

# mrpc_tcp uses mrpc: the other order must be refused.
test_order()
{
	if rmmod mrpc 2>/dev/null; then
		fail "mrpc was unloaded under mrpc_tcp"
	fi
	[[ -d /sys/module/mrpc ]]
}

run_tests "$@"
