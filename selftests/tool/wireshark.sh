#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/wireshark
# The dissectors read what is captured on a host that calls over prio: it sees packets before the
# network cuts them, and after it has joined them.
# timeout 240
. "${0%/*}/../harness/lib.sh"

# What the transport has placed in a namespace: bytes of messages
placed()	# NAMESPACE
{
	in_ns "$1" mrpc metrics | awk '
		/^mrpc_transport_events_total.*name="data_bytes"/ { n += $NF }
		END { print n + 0 }'
}

# Captures calls of 100 KB, and replies of 2 KB, between two namespaces that may be one.
calls()	# CLIENT SERVER DEVICE ADDRESS
{
	local capture before
	before=$(($(placed "$1") + $(placed "$2")))
	ip netns exec "$1" dumpcap -q -B 32 -i "$3" -w "$TEST_TMP/pcap" 2>"$TEST_TMP/said" &
	capture=$!
	wait_for 20 grep -q '^File:' "$TEST_TMP/said"
	in_ns "$2" mrpc_bench -r 2000 serve "prio:$4:7000" >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q ready "$TEST_TMP/server" || fail "$(<"$TEST_TMP/server")"
	in_ns "$1" mrpc_bench ring "prio:$4:7000" -s 100000 -f 4 -n 12 -w 0
	# Acknowledgements, too, and what dumpcap has not taken from the kernel yet
	sleep 2
	kill -TERM "$capture"
	wait "$capture" || fail "$(<"$TEST_TMP/said")"
	grep -q "/0 (pcap:0/dumpcap:0" "$TEST_TMP/said" || fail "some were missed: $(<"$TEST_TMP/said")"
	bytes=$(($(placed "$1") + $(placed "$2") - before))
	[[ $1 != "$2" ]] || bytes=$((bytes / 2))
	((bytes > 12 * 102000)) || fail "only $bytes bytes were placed"
}

# All is seen that was placed, each byte in one packet; nothing looks wrong. What is wrong says so in
# one of these fields.
wrong=(mrpc_prio.malformed mrpc.malformed _ws.malformed _ws.lua.error mrpc_prio.expert.ungranted
	mrpc_prio.expert.mismatch)
all_is_seen()
{
	local field options=()
	for field in "${wrong[@]}" udp.length mrpc_prio.request_in mrpc.type mrpc_prio.sent_in \
		mrpc_prio.payload; do
		options+=(-e "$field")
	done
	tshark -2 -n -r "$TEST_TMP/pcap" -Y mrpc_prio -T fields "${options[@]}" \
		>"$TEST_TMP/packets" 2>"$TEST_TMP/errors" || fail "$(tail -n 3 "$TEST_TMP/errors")"
	! grep -m 1 Lua "$TEST_TMP/errors" || fail "an error in Lua"
	awk -F '\t' -v wrong=${#wrong[@]} -v placed="$bytes" '
		function fail(what) { print "# " what; failed = 1; exit 1 }
		{
			for (i = 1; i <= wrong; i++)
				if ($i != "")
					fail("it looks wrong: " $0)
			several += $(wrong + 1) > 4000
			replies += $(wrong + 2) != "" && $(wrong + 3) ~ /4/
			again += $(wrong + 4) != ""
			gsub(/[,:]/, "", $NF)
			data += length($NF) / 2
		}
		END {
			if (failed)
				exit 1
			print "# " NR " packets, " several " of many datagrams, " data " bytes"
			if (!several)
				fail("no packet has several datagrams")
			if (again ? data < placed : data != placed)
				fail(placed " bytes were placed")
			if (replies < 12)
				fail("only " replies " replies are seen")
		}' "$TEST_TMP/packets" || exit 1
}

move_in()
{
	command -v tshark >/dev/null || skip "there is no tshark here"
	export HOME=$TEST_TMP
	mkdir -p "$HOME/.local/lib/wireshark/plugins"
	cp "$MRPC_TOP"/tools/wireshark/*.lua "$HOME/.local/lib/wireshark/plugins"
	modprobe -q af_packet || :
}

test_between_hosts()
{
	move_in
	ns_create a b
	calls a b veth0 10.0.0.2
	all_is_seen
}

# What comes is joined before the host sees it.
test_with_gro()
{
	move_in
	ns_create a b
	ns_gro a on
	ns_gro b on
	# Segments that are cut before they come
	in_ns b ip link set veth0 gso_max_segs 1
	calls a b veth0 10.0.0.2
	all_is_seen
}

test_on_one_host()
{
	move_in
	ip netns add a
	on_exit ip netns delete a
	ip -n a link set lo up
	calls a a lo 127.0.0.1
	all_is_seen
}

run_tests "$@"
