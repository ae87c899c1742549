#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/hotel
# The hotel reservation application: eight services that call each other.
# timeout 180
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../../tools/hotel/services"

port=7100
declare -A ports pids
for service in "${hotel_services[@]}"; do
	ports[$service]=$((port++))
done

listen_address() { echo "tcp:127.0.0.1:${ports[$1]}"; }
call_address() { listen_address "$2"; }
cache_address() { [[ ! ${caches:-} ]] || echo "127.0.0.1:$((ports[$1] + 100))"; }

start()	# SERVICE
{
	local command
	read -ra command < <(hotel_command hotel_mrpc "$1")
	"${command[@]}" >"$TEST_TMP/$1" &
	pids[$1]=$!
	wait_for 10 grep -q ready "$TEST_TMP/$1"
}

start_all()
{
	local service
	ip link set lo up
	for service in "${hotel_services[@]}"; do
		start "$service"
	done
}

hotel() { hotel_mrpc "$@" -d frontend="$(listen_address frontend)"; }

# At once or soon: that a peer is gone takes a moment to be known.
fails_with()	# STATUS DETAIL
{
	hotel status | grep "^status=$1 places=0 $2"
}

test_answers()
{
	start_all
	hotel check -n 200
}

# The second time answers come from the caches. That they are used is counted there.
test_caches()
{
	local service port hits
	type -P memcached >/dev/null || skip "memcached is not installed"
	for service in $hotel_cached; do
		port=$((ports[$service] + 100))
		memcached -u root -l 127.0.0.1 -p $port &
		wait_for 10 bash -c ": >/dev/tcp/127.0.0.1/$port"
	done
	caches=yes
	start_all
	hotel check -n 200
	for service in $hotel_cached; do
		hits=$(hits_of $((ports[$service] + 100)))
		echo "# $service: $hits hits"
		((hits > 20)) || fail "$service does not use its cache"
	done
	# Nothing depends on them.
	kill %1 %2 %3
	wait %1 %2 %3 || :
	hotel status | grep -q '^status=0 places=[1-9]'
}

hits_of()	# PORT
{
	exec 3<>"/dev/tcp/127.0.0.1/$1"
	printf 'stats\r\nquit\r\n' >&3
	tr -d '\r' <&3 | awk '$2 == "get_hits" { print $3 }'
	exec 3>&-
}

# Who needs it is told, and the others do their work.
test_a_service_is_killed()
{
	start_all
	hotel status | grep -q '^status=0 places=[1-9]'
	kill -KILL "${pids[rate]}"
	wait "${pids[rate]}" || :
	wait_for 10 fails_with 14 "search: rate: "
	kill -KILL "${pids[search]}"
	wait "${pids[search]}" || :
	wait_for 10 fails_with 14 "search: "
	hotel load -r 50 -t 2000 >"$TEST_TMP/load"
	cat "$TEST_TMP/load"
	grep -q ' unanswered=0$' "$TEST_TMP/load" || fail "calls hang"
	# Searches fail; recommendations do not.
	awk -F '[ =]' '/^load/ { errors = $7 } /^hotels/ { nr = $3 }
		END { exit !(nr && errors == nr) }' "$TEST_TMP/load" ||
		fail "other calls failed, too"
}

# A call that a dead service has not answered ends, too.
test_a_service_dies_in_a_call()
{
	start_all
	kill -STOP "${pids[geo]}"
	hotel status >"$TEST_TMP/status" &
	sleep 1
	[[ ! -s $TEST_TMP/status ]] || fail "a search needs no geo"
	kill -KILL "${pids[geo]}"
	wait_for 20 grep -q '^status=14 .*search: geo: ' "$TEST_TMP/status"
}

test_load()
{
	start_all
	hotel load -r 100 -n 400 -w 200 >"$TEST_TMP/load"
	cat "$TEST_TMP/load"
	grep -q ' errors=0 unanswered=0$' "$TEST_TMP/load"
	grep -q '^hotels nr=240 ' "$TEST_TMP/load" || fail "the mix is not exact"
	# Services tell of the calls they have made.
	for service in search frontend; do
		kill -USR1 "${pids[$service]}"
		wait_for 10 grep -q reported "$TEST_TMP/$service"
		cat "$TEST_TMP/$service"
		for callee in ${hotel_calls[$service]}; do
			grep -q "^$callee nr=[1-9].*p99_ns=[1-9]" "$TEST_TMP/$service" ||
				fail "nothing of $callee"
		done
	done
}

run_tests "$@"
