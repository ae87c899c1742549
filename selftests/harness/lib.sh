# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What shell tests share. A test file is selftests/*/FILE.sh:
#
#	#!/bin/bash
#	# SPDX-License-Identifier: GPL-2.0
#	# What it tests.
#	# timeout 180		(optional: limit of each of its tests, in seconds)
#	. "${0%/*}/../harness/lib.sh"
#
#	test_echo()		# its name is FILE/echo
#	{
#		ns_create client server
#		in_ns server echo-server &
#		wait_for 5 in_ns server mrpc -j service show
#		...
#	}
#
#	run_tests "$@"
#
# A test runs in a shell of its own with errexit: the first command that fails
# fails it. Modules are loaded when it starts. Processes, namespaces and
# $TEST_TMP that it leaves are removed.

# shellcheck source=scripts/in-guest
. "${BASH_SOURCE[0]%/*}/../../scripts/in-guest"

# The debug kernel is slower: multiply waits that are not measurements.
MRPC_TIME_SCALE=${MRPC_TIME_SCALE:-1}

fail() { echo "# $*"; exit 1; }

skip() { echo "$*" >"$TEST_TMP/skip"; exit 4; }

# has PATTERN: as grep -q, but reads to the end: who writes into the pipe must not
# fail with SIGPIPE.
has() { grep "$1" >/dev/null; }

# need FILE WHY: skips the test where this kernel has no such file.
need() { [[ -e $1 ]] || skip "$2 (no $1)"; }

# on_exit COMMAND...: runs it when the test ends, last one first.
on_exit()
{
	local command
	printf -v command '%q ' "$@"
	test_cleanup="$command; ${test_cleanup:-}"
	# shellcheck disable=SC2064 # as it is now
	trap "set +e; trap - ERR; $test_cleanup" EXIT
}

# A process that sleeps would cost an emulated machine more than most of what is waited for.
exec {never}<> <(:)
pause() { read -r -t "$1" -u "$never" _ || :; }

# wait_for SECONDS COMMAND...: until it succeeds; fails when it never does. A busy
# machine gets three times as long.
wait_for()
{
	local deadline=$((SECONDS + 3 * $1 * MRPC_TIME_SCALE))
	shift
	until "$@" >/dev/null 2>&1; do
		if ((SECONDS >= deadline)); then
			echo "# never came true: $*"
			return 1
		fi
		pause 0.1
	done
}

# ns_create A B: two network namespaces joined by a veth pair; the device is
# veth0 in both. A is 10.0.0.1 and fd00::1, B is 10.0.0.2 and fd00::2.
ns_create()
{
	local ns number=0
	for ns in "$1" "$2"; do
		ip netns add "$ns"
		on_exit ip netns delete "$ns"
	done
	ip link add veth0 netns "$1" type veth peer name veth0 netns "$2"
	for ns in "$1" "$2"; do
		number=$((number + 1))
		ip -n "$ns" address add 10.0.0.$number/24 dev veth0
		ip -n "$ns" address add fd00::$number/64 dev veth0 nodad
		ip -n "$ns" link set lo up
		ip -n "$ns" link set veth0 up
	done
}

# in_ns NAMESPACE COMMAND...
in_ns() { ip netns exec "$@"; }

# ns_gro NAMESPACE on|off: packets take another way with receive GRO.
ns_gro() { in_ns "$1" ethtool -K veth0 gro "$2"; }

# nl_client: nl.py, and the header that it reads, where other users can read them.
nl_client()
{
	cp "$MRPC_TOP/uapi/linux/mrpc_netlink.h" "$MRPC_TOP/selftests/harness/nl.py" "$TEST_TMP/"
	export PYTHONPATH=$TEST_TMP PYTHONDONTWRITEBYTECODE=1
}

# nl [ARGUMENT...]: runs the program on standard input with the client.
nl() { { echo 'from nl import *'; cat; } | python3 -S - "$@"; }

# listen: runs $TEST_TMP/events.py, which says that it is listening, into events; and in
# another namespace, which should hear nothing, into elsewhere.
listen()
{
	python3 "$TEST_TMP/events.py" >"$TEST_TMP/events" &
	wait_for 10 grep -q listening "$TEST_TMP/events"
	ip netns add c
	on_exit ip netns delete c
	in_ns c python3 "$TEST_TMP/events.py" >"$TEST_TMP/elsewhere" &
	wait_for 10 grep -q listening "$TEST_TMP/elsewhere"
}

# prio_fresh: the transport prio is loaded, and has nothing in any namespace. Who connects has it
# loaded with all that it needs; what it has counted goes with it.
prio_fresh()
{
	ip link set lo up
	kv-client -c prio:127.0.0.1:9 get key >/dev/null 2>&1 || :
	wait_for 30 rmmod mrpc_prio
	insmod "$MRPC_MODULES/mrpc_prio.ko"
}

# json PYTHON: an expression about j, the JSON on standard input, must be true. (Without -S,
# Python takes a third longer to start.)
json() { python3 -IS -c 'import json, sys; j = json.load(sys.stdin); assert ('"$1"'), j'; }

# refused STATUS PATTERN ARGUMENT...: mrpc says what is wrong, on standard error.
refused()
{
	local want=$1 pattern=$2 status=0
	shift 2
	mrpc "$@" >"$TEST_TMP/out" 2>"$TEST_TMP/err" </dev/null || status=$?
	[[ $status == "$want" ]] || fail "'mrpc $*' ended with $status, not $want: $(<"$TEST_TMP/err")"
	[[ $(<"$TEST_TMP/err") == mrpc:*"$pattern"* ]] ||
		fail "'mrpc $*' says '$(<"$TEST_TMP/err")', without '$pattern'"
}

# serve NUMBER [busy]: a server at 127.0.0.1:7000, whose pid is $server, and so many connections
# from clients, $clients, that call it all the time. Each makes 200 calls in a second: commands
# have something to show, and the host does other work. If busy, each makes as many as
# it can, as far as others leave it processors.
serve()
{
	local i pace=(-r 200)
	[[ ${2:-} != busy ]] || pace=()
	ip link set lo up
	nice -n 19 kv-server -l tcp:127.0.0.1:7000 >"$TEST_TMP/server" 2>&1 &
	server=$!
	wait_for 10 grep -q 'listening at' "$TEST_TMP/server"
	for i in {1..100}; do printf 'Package: p%d\n\n' "$i"; done >"$TEST_TMP/records"
	clients=()
	for ((i = 0; i < $1; i++)); do
		nice -n 19 kv-client -n 4 -d 300 "${pace[@]}" load "$TEST_TMP/records" >/dev/null 2>&1 &
		clients+=($!)
	done
	i=$((2 * $1))
	wait_for 20 eval '[[ $(mrpc -j conn | grep -o "\"state\":\"ready\"" | wc -l) == $i ]]'
}

# What a test that failed has left would be in the way of the next one.
forget_engines()
{
	local name
	for name in $(mrpc engine | awk 'NR > 1 { print $1 }'); do
		mrpc engine step "$name" 0 || :
		mrpc queue resume "$name" || :
		mrpc engine del "$name"
	done >/dev/null 2>&1
}

# Calls the test_* functions that are named, or all; --list prints their names
# and time limits.
run_tests()
{
	local names name status limit number=0 failed=0
	mapfile -t names < <(compgen -A function test_)
	names=("${names[@]#test_}")
	if [[ ${1:-} == --list ]]; then
		limit=$(sed -n '1,20s/^# timeout \([0-9]*\).*/\1/p' "$0")
		printf "%s${limit:+ $limit}\n" "${names[@]}"
		return 0
	fi
	(($# == 0)) || names=("$@")
	for name in "${names[@]}"; do
		number=$((number + 1))
		declare -F "test_$name" >/dev/null ||
			{ echo "not ok $number - $name"; echo "# no such test"; return 1; }
		TEST_TMP=$(mktemp -d)
		(
			set -eEuo pipefail
			trap 'echo "# ${BASH_SOURCE[0]##*/}:$LINENO: failed with status $?: $BASH_COMMAND"' ERR
			"test_$name"
		) </dev/null 2>&1
		status=$?
		if ((status == 0)); then
			echo "ok $number - $name"
		elif [[ -e $TEST_TMP/skip ]]; then
			echo "ok $number - $name # SKIP $(<"$TEST_TMP/skip")"
		else
			echo "not ok $number - $name"
			failed=1
		fi
		rm -rf "$TEST_TMP"
	done
	return $failed
}

# The column HEAD of a table.
column() { awk -v head="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == head) c = i; next } { print $c }'; }
