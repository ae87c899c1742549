#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests for the test runner, each named for what must become of it. They are
# run and judged by scripts/test-runner.
# timeout 5
. "${0%/*}/../harness/lib.sh"

test_pass() { true; }

test_skip() { skip "no reason"; }

test_flaky()
{
	[[ -e /run/tried ]] || { : >/run/tried; fail "the first time"; }
}

test_fail() { false; }

test_fail_message() { fail "a message"; }

test_fail_late()
{
	false	# errexit must end it here
	true
}

test_fail_warning() { echo "WARNING: CPU: 0 PID: 1 at nowhere" >/dev/kmsg; }

# Of two functions the first is the one whose name is less.
test_fail_race()
{
	echo "BUG: KCSAN: data-race in list_add / mrpc_conn_put [mrpc]" >/dev/kmsg
}

test_kernel_race() { echo "BUG: KCSAN: data-race in tcp_ack / tcp_poll" >/dev/kmsg; }

test_fail_panic() { echo c >/proc/sysrq-trigger; sleep 5; }

test_fail_timeout() { sleep 1000; }

# What one test leaves must not be there in the next; names sort the order.
test_leave_1()
{
	ns_create left over
	trap - EXIT
	sleep 1000 &
	echo $! >/run/left-pid
}

test_leave_2()
{
	[[ ! -e /run/netns/left ]] || fail "the namespace is still there"
	[[ ! -e /proc/$(</run/left-pid) ]] || fail "the process is still there"
}

run_tests "$@"
