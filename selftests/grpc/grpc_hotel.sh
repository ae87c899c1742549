#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/hotel kmod/transports/grpc
# The hotel reservation application with every second service on stock gRPC, that of C++: each
# call between two services leads from mrpc to gRPC, or back.
# timeout 180
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/grpc.sh"
. "${0%/*}/../../tools/hotel/services"

# A service calls only services of the other group.
group1="frontend geo rate"
group2="search profile recommendation reservation user"

port=7100
declare -A ports programs pids
for service in "${hotel_services[@]}"; do
	ports[$service]=$((port++))
done

# Where PROGRAM listens as SERVICE, or finds it: hotel_grpc knows one transport only.
address()	# PROGRAM SERVICE
{
	local prefix=''
	[[ $1 == hotel_grpc ]] || prefix=grpc:
	echo "${prefix}127.0.0.1:${ports[$2]}"
}

listen_address() { address "${programs[$1]}" "$1"; }
call_address() { address "${programs[$1]}" "$2"; }
cache_address() { :; }

# Side by side: they need time to load their libraries.
start()	# SERVICE...
{
	local service command
	for service; do
		read -ra command < <(hotel_command "${programs[$service]}" "$service")
		"${command[@]}" >"$TEST_TMP/$service" 2>&1 &
		pids[$service]=$!
	done
	for service; do
		wait_for 20 grep -q ready "$TEST_TMP/$service"
	done
}

restart()	# SERVICE
{
	kill "${pids[$1]}"
	wait "${pids[$1]}"
	start "$1"
}

start_all()	# GROUP: these services run on mrpc, the others on gRPC
{
	local service leaves=()
	PATH=$MRPC_BUILD/tools/hotel/grpc:$PATH
	type -P hotel_grpc >/dev/null || skip "hotel_grpc is not built"
	grpc_load
	for service in "${hotel_services[@]}"; do
		programs[$service]=hotel_grpc
		[[ " $1 " != *" $service "* ]] || programs[$service]=hotel_mrpc
		[[ ${hotel_calls[$service]:-} ]] || leaves+=("$service")
	done
	start "${leaves[@]}"
	start search
	start frontend
}

# hotel PROGRAM MODE [OPTION...]: a client
hotel() { "$@" -d frontend="$(address "$1" frontend)"; }

# Of each way between two services mrpc has one end.
all_ways_are_mixed()
{
	local ways
	ways=$(wc -w <<<"${hotel_calls[*]}")
	mrpc -j conn show | json "len(j) == $ways and
		all(c['transport'] == 'grpc' and c['state'] == 'ready' for c in j)"
}

load()	# PROGRAM
{
	hotel "$1" load -r 50 -n 100 >"$TEST_TMP/load"
	cat "$TEST_TMP/load"
	grep -q ' errors=0 unanswered=0$' "$TEST_TMP/load"
}

# Clients of both kinds get the answers that are expected. A check needs a reservation service
# that has no reservations, and whose caller has found it.
mix()	# GROUP
{
	start_all "$1"
	all_ways_are_mixed
	hotel hotel_grpc check -n 40
	load hotel_grpc
	restart reservation
	restart frontend
	hotel hotel_mrpc check -n 40
	load hotel_mrpc
	wait_for 10 all_ways_are_mixed
	kill "${pids[@]}"
	wait "${pids[@]}"
	grpc_unload
}

test_frontend_on_mrpc() { mix "$group1"; }
test_frontend_on_grpc() { mix "$group2"; }

run_tests "$@"
