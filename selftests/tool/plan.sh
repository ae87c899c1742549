#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc/plan
# mrpc plan: changes of two hosts, which are network namespaces.
# timeout 600
. "${0%/*}/../harness/lib.sh"

# Two hosts, a server with a client that calls it all the time, 200 times in a second, and the
# stage "t" on both. What is tested are the commands: the two have the processors that these
# leave them.
begin()
{
	local i ns
	ns_create server client
	mrpc engine type show null@2 >/dev/null
	in_ns server nice -n 19 kv-server -l tcp:10.0.0.1:7000 >"$TEST_TMP/server" 2>&1 &
	server=$!
	wait_for 10 grep -q 'listening at' "$TEST_TMP/server"
	for i in {1..100}; do printf 'Package: p%d\n\n' "$i"; done >"$TEST_TMP/records"
	in_ns client nice -n 19 kv-client -c tcp:10.0.0.1:7000 -n 2 -d 600 -r 200 \
		load "$TEST_TMP/records" >"$TEST_TMP/client" 2>&1 &
	client=$!
	wait_for 20 eval '[[ $(in_ns client mrpc -j conn) == *\"calls\":[1-9]* ]]'
	for ns in server client; do
		in_ns $ns mrpc engine add null@1 name t >/dev/null
	done
	plan=$TEST_TMP/plan.yaml
	hosts='hosts: { server: { via: ip netns exec server }, client: { via: ip netns exec client } }'
}

# version NAMESPACE: of the stage
version() { in_ns "$1" mrpc -j engine show t | grep -o '"version":[0-9]*' | cut -d: -f2; }

# links NAMESPACE: versions of its links; whether checksums are sent; whether they come.
links()
{
	in_ns "$1" mrpc -j conn | python3 -c '
import json, sys
conns = json.load(sys.stdin)
print({c["transport_version"] for c in conns},
      all(c["stats"]["tx_checksums"] > 0 for c in conns),
      all(c["stats"]["rx_checksums"] > 0 for c in conns))'
}

# describe: all engines of both hosts, without numbers that change. That a value is the
# default, or was given and is the same, makes no difference.
describe()
{
	local ns
	for ns in server client; do
		echo "$ns"
		in_ns $ns mrpc -j engine | python3 -c '
import json, sys
for e in json.load(sys.stdin):
    values = {k: v.get("text", v.get("num")) for k, v in e.get("values", {}).items()}
    print(e["name"], e["type"], e["version"], e["scope"], values, e.get("percent"),
          e["tx"]["paused"], e["rx"]["paused"])'
	done
}

# plan STATUS PATTERN COMMAND ARGUMENT...: how it ends, and what it says on standard error.
plan()
{
	local want=$1 pattern=$2 status=0
	shift 2
	mrpc plan "$@" >"$TEST_TMP/out" 2>"$TEST_TMP/err" || status=$?
	cat "$TEST_TMP/out" "$TEST_TMP/err"
	[[ $status == "$want" ]] || fail "'mrpc plan $*' ended with $status, not $want"
	[[ $(<"$TEST_TMP/err") == *"$pattern"* ]] || fail "'mrpc plan $*' does not say '$pattern'"
}

# commands: what was run, in order: "HOST COMMAND".
commands() { sed -n 's/^    \([a-z]*\): mrpc \(.*\)$/\1 \2/p' "$TEST_TMP/out"; }

two_steps()	# PAUSE
{
	cat >"$plan" <<-END
	$hosts
	steps:
	  - name: the receiver first
	    hosts: server
	    run: engine replace t null@2
	    check:
	      - engine show t: version == 2
	    pause: $1
	  - name: then the sender
	    hosts: client
	    run: engine replace t null@2
	END
}

test_example()
{
	begin
	sed 's/ssh root@/ip netns exec /' "$MRPC_TOP/Documentation/examples/upgrade.yaml" >"$plan"
	plan 0 '' check "$plan"
	grep -q '^server: mrpc [0-9.]*, 1 engines$' "$TEST_TMP/out"
	plan 0 '' apply "$plan"
	[[ $(commands) == "server engine add tcp@1 name link
client engine add tcp@1 name link
server engine replace link tcp@2 --step 50% --every 1s
client engine replace link tcp@2 checksum on --step 50% --every 1s" ]]
	grep -q '^    server: link: 100%' "$TEST_TMP/out"
	grep -q '^    client: no errors for 2s: true after ' "$TEST_TMP/out"
	[[ $(tail -1 "$TEST_TMP/out") == "$plan: applied" ]]
	[[ $(links server) == '{2} False True' && $(links client) == '{2} True False' ]]
	kill -0 "$client" "$server" || fail "somebody did not live through it"
	mrpc plan show "$plan" | tee "$TEST_TMP/out"
	[[ $(awk 'NR > 1 { print $1, $2, $3 }' "$TEST_TMP/out" | xargs) == \
		'1 server done 1 client done 2 server done 3 client done' ]]
	plan 1 'nothing to resume' resume "$plan"
	# Back, long after; the plan need not be there.
	rm "$plan"
	plan 0 '' rollback "$plan"
	[[ $(commands) == "client engine replace link tcp@1
server engine replace link tcp@1
client engine del link
server engine del link" ]]
	[[ $(links server) == '{1} '* && $(links client) == '{1} '* ]]
	kill -0 "$client" "$server" || fail "somebody did not live through the way back"
	plan 1 'was rolled back' rollback "$plan"
}

test_dry_run()
{
	begin
	two_steps 0s
	describe >"$TEST_TMP/before"
	plan 0 '' apply --dry-run "$plan"
	[[ $(commands) == "server engine replace t null@2
client engine replace t null@2" ]]
	[[ $(grep -c 'back by: mrpc engine replace t null@1$' "$TEST_TMP/out") == 2 ]]
	mrpc -j plan apply --dry-run "$plan" | json "j['result'] == 'dry run' and len(j['events']) == 2"
	describe | diff "$TEST_TMP/before" -
	[[ ! -e $plan.state ]]
	plan 1 'has not been begun' rollback "$plan"
	plan 1 'has not been begun' resume "$plan"
}

# in_reverse NUMBER COMMAND...: after so many commands, these were run.
in_reverse()
{
	local number=$1
	shift
	diff <(printf '%s\n' "$@") <(commands | tail -n +$((number + 1)))
}

# Engines: every kind of change is taken back, the last one first.
test_engines()
{
	begin
	in_ns client mrpc engine add ratelimit name r before t rate 5k burst 7 >/dev/null
	in_ns client mrpc engine add fault name f scope uid 0 side client service kv.Store \
		delay 1500us delay_percent 0.25% abort_status ABORTED >/dev/null
	in_ns client mrpc engine add acl name a before r \
		rules 'deny detail "it'"'"'s $HOME; no" if uid 1000-1999' >/dev/null
	describe >"$TEST_TMP/before"
	cat >"$plan" <<-END
	$hosts
	steps:
	  - { hosts: [client, server], run: engine add null@1 name n before t }
	  - { hosts: client, run: engine set r rate 9k queue 3 --step 50% --every 100ms }
	  - { hosts: client, run: engine del r }
	  - { hosts: client, run: engine set f delay 2s abort_percent 1.5% }
	  - { hosts: client, run: engine replace f null@2 }
	  - { hosts: client, run: [engine, set, a, rules, 'allow if uid 7'] }
	  - { hosts: client, run: engine del a }
	  - { hosts: server, run: engine add metrics name m scope side server, undo: engine del m }
	  - name: it goes wrong
	    hosts: [client, server]
	    run: engine replace t null@2
	    check:
	      - { on: client, engine show t: version == 2 }
	      - { on: server, engine show t: version == 3 }
	    within: 5s
	END
	plan 1 "server: 'engine show t: version == 3' has not become true within 5s: version is 2" apply "$plan"
	[[ $(tail -1 "$TEST_TMP/out") == "$plan: rolled back" ]]
	describe | diff "$TEST_TMP/before" -
	in_reverse 11 'server engine replace t null@1' 'client engine replace t null@1' \
		'server engine del m' "client engine add acl@1 name a before n rules 'allow if uid = 7'" \
		"client engine set a rules 'deny detail \"it'\"'\"'s \$HOME; no\" if uid 1000-1999'" \
		'client engine replace f fault@1 abort_percent 1.5% abort_status ABORTED delay_percent 0.25% delay 2s' \
		'client engine set f delay 1500us abort_percent 0' \
		'client engine add ratelimit@1 name r before n rate 9k burst 7 queue 3' \
		'client engine set r rate 5k queue 256' 'server engine del n' 'client engine del n'
	kill -0 "$client" "$server" || fail "somebody did not live through it"
}

# And all the others.
test_others()
{
	begin
	on_exit eval 'mrpc runtime del w; mrpc runtime del w2'
	mrpc runtime add w nice -3 order small turn 64KiB cpus 0
	runtimes() { mrpc runtime | awk '{ print $1, $3, $4, $5, $6, $7, $8 }'; }
	runtimes >"$TEST_TMP/before"
	cat >"$plan" <<-END
	$hosts
	steps:
	  - { hosts: client, run: queue pause t dir tx }
	  - { hosts: client, run: queue resume t dir tx }
	  - { hosts: client, run: runtime set w nice 5 turn 1MiB fifo yes }
	  - { hosts: client, run: runtime del w }
	  - { hosts: client, run: runtime add w2 }
	  - { hosts: client, run: set create keys }
	  - { hosts: client, run: set add keys a b, undo: none }
	  - { hosts: client, run: engine step t 50 , undo: none }
	END
	plan 1 "client: step 8, 'engine step t 50', failed: no change of 't' is in progress" apply "$plan"
	in_reverse 8 'client set destroy keys' 'client runtime del w2' \
		'client runtime add w cpus 0 nice 5 fifo yes busy 0ns order small turn 1048576 dedicated no' \
		'client runtime set w nice -3 turn 65536 fifo no' 'client queue pause t dir tx' \
		'client queue resume t dir tx'
	runtimes | diff "$TEST_TMP/before" -
	[[ $(in_ns client mrpc -j set) == '[]' ]]
}

# domains: those of the client, without numbers that change.
domains()
{
	in_ns client mrpc -j egress | python3 -c '
import json, sys
for d in json.load(sys.stdin):
    print(*(d[k] for k in ("dev", "discipline", "fair", "paused", "chunk", "limit", "rate")))'
}

# Egress domains: made, changed, held and deleted; dry, and back.
test_egress()
{
	begin
	hosts='hosts: { client: { via: ip netns exec client } }'
	in_ns client mrpc egress set dev lo discipline strict chunk 8KiB limit 64KiB
	in_ns client mrpc egress set loop fair on
	in_ns client mrpc egress pause loop
	domains >"$TEST_TMP/before"
	cat >"$plan" <<-END
	$hosts
	steps:
	  - run: egress set dev veth0 discipline small-first
	    check:
	      - egress show dev veth0: discipline == small-first
	      - egress show dev veth0: datapaths > 0
	  - { run: egress pause dev veth0 }
	  - { run: egress resume dev veth0 }
	  - { run: egress set dev veth0 limit 128KiB fair on }
	  - { run: egress set dev lo discipline fifo chunk 1MiB limit 2MiB }
	  - { run: egress pause loop }
	  - { run: egress del dev lo }
	  - { run: egress set loop discipline deadline fair off }
	  - { name: it goes wrong, run: egress set dev nil }
	END
	plan 0 '' apply --dry-run "$plan"
	grep -q '^        back by: mrpc egress del dev veth0$' "$TEST_TMP/out"
	grep -q '^        back by: mrpc egress set dev lo discipline strict chunk 8192 limit 65536$' \
		"$TEST_TMP/out"
	grep -q '^        back by: nothing$' "$TEST_TMP/out"
	domains | diff "$TEST_TMP/before" -
	plan 1 "failed: there is no device 'nil'" apply "$plan"
	[[ $(tail -1 "$TEST_TMP/out") == "$plan: rolled back" ]]
	in_reverse 9 'client egress set loop discipline fifo fair on' \
		'client egress set dev lo discipline fifo fair off chunk 1048576 limit 2097152 rate 0' \
		'client egress set dev lo discipline strict chunk 8192 limit 65536' \
		'client egress set dev veth0 limit 32768 fair off' \
		'client egress pause dev veth0' 'client egress resume dev veth0' \
		'client egress del dev veth0'
	domains | sort | diff <(sort "$TEST_TMP/before") -
	kill -0 "$client" "$server" || fail "somebody did not live through it"
	kill -STOP "$client"
	# Between the change and the record of it: made, and not made.
	cat >"$plan" <<-END
	$hosts
	steps:
	  - { run: egress set dev veth0 discipline strict }
	  - { run: egress set dev veth0 discipline fifo }
	END
	plan 0 '' apply "$plan"
	sed -i '6,$d' "$plan.state"
	plan 0 '' resume "$plan"
	[[ -z $(commands) ]]
	sed -i '6,$d' "$plan.state"
	in_ns client mrpc egress set dev veth0 discipline strict
	plan 0 '' resume "$plan"
	[[ $(commands) == 'client egress set dev veth0 discipline fifo' ]]
	plan 0 '' rollback "$plan"
	domains | sort | diff <(sort "$TEST_TMP/before") -
	# What cannot be taken back is not begun.
	cant()	# WHY COMMAND
	{
		printf '%s\nsteps: [ { run: %s } ]\n' "$hosts" "$2" >"$plan"
		plan 1 "could not be taken back: $1" apply "$plan"
	}
	cant "the egress domain is paused, and one that is made is not" 'egress del loop'
	cant "there is no egress domain 'dev nil'" 'egress del dev nil'
	cant "there is no egress domain 'dev nil'" 'egress pause dev nil'
	cant "'disc' is no setting of an egress domain, in full" 'egress set dev lo disc fifo'
	cant "'d' names no egress domain in full: it must be 'dev NAME' or 'loop'" 'egress set d lo'
	domains | sort | diff <(sort "$TEST_TMP/before") -
}

# Left as it is then, and gone on with.
test_keep()
{
	begin
	cat >"$plan" <<-END
	$hosts
	steps:
	  - { hosts: server, run: engine replace t null@2 }
	  - { hosts: client, run: engine replace t null@2, check: [ engine show probe: type == null ], within: 1s }
	END
	plan 1 "mrpc plan resume" apply --keep "$plan"
	grep -q "no engine named 'probe'" "$TEST_TMP/err"
	[[ $(version server)$(version client) == 22 ]]
	[[ $(wc -l <"$plan.state") == 6 ]]
	plan 1 'was begun and has not ended' apply "$plan"
	in_ns client mrpc engine add null name probe >/dev/null
	plan 0 '' resume "$plan"
	[[ -z $(commands) && $(tail -1 "$TEST_TMP/out") == "$plan: applied" ]]
	# A step that fails by itself.
	cat >"$plan" <<-END
	$hosts
	steps:
	  - { hosts: server, run: engine replace t null@1 }
	  - { hosts: client, run: engine add crash name c fail_create 0 }
	END
	plan 1 "client: step 2, 'engine add crash name c fail_create 0', failed: " apply "$plan"
	[[ $(commands | tail -1) == 'server engine replace t null@2' ]]
	[[ $(version server)$(version client) == 22 ]]
}

test_killed()
{
	begin
	two_steps 10s
	# In the pause after the first step.
	mrpc plan apply "$plan" >"$TEST_TMP/out" 2>&1 &
	wait_for 120 grep -q 'true after' "$TEST_TMP/out"
	kill -KILL $!
	wait $! || :
	[[ $(version server)$(version client) == 21 ]]
	plan 1 'was begun and has not ended' apply "$plan"
	mrpc plan show "$plan" | has '^ *1  server  done '
	mrpc plan show "$plan" | has '^ *2  client  - '
	plan 0 '' resume "$plan"
	[[ $(commands) == 'client engine replace t null@2' && $(version client) == 2 ]]
	plan 0 '' rollback "$plan"
	[[ $(version server)$(version client) == 11 ]]
	# The same, and back.
	mrpc plan apply "$plan" >"$TEST_TMP/out" 2>&1 &
	wait_for 120 grep -q 'true after' "$TEST_TMP/out"
	kill -KILL $!
	wait $! || :
	plan 0 '' rollback "$plan"
	[[ $(commands) == 'server engine replace t null@1' ]]
	[[ $(version server)$(version client) == 11 ]]
	plan 1 'nothing to resume' resume "$plan"
	# Between the change and the record of it.
	two_steps 0s
	mrpc plan apply "$plan" >/dev/null
	sed -i '3,$d' "$plan.state"
	in_ns client mrpc engine replace t null@1 >/dev/null
	plan 0 '' resume "$plan"
	[[ $(commands) == 'client engine replace t null@2' ]]
}

# In the midst of a gradual change: it is taken back, and made again.
test_killed_gradual()
{
	begin
	cat >"$plan" <<-END
	$hosts
	steps:
	  - { hosts: server, run: engine replace t null@2 --step 10% --every 1s }
	  - { hosts: client, run: engine replace t null@2 }
	END
	mrpc plan apply "$plan" >"$TEST_TMP/out" 2>&1 &
	wait_for 120 grep -q 't: 30%' "$TEST_TMP/out"
	kill -KILL $!
	wait $! || :
	mrpc plan show "$plan" | has '^ *1  server  begun '
	plan 0 '' resume "$plan"
	[[ $(commands | head -1) == 'server engine replace t null@2 --step 10% --every 1s' ]]
	[[ $(version server)$(version client) == 22 ]]
	plan 0 '' rollback "$plan"
	mrpc plan apply "$plan" >"$TEST_TMP/out" 2>&1 &
	wait_for 120 grep -q 't: 30%' "$TEST_TMP/out"
	kill -KILL $!
	wait $! || :
	plan 0 '' rollback "$plan"
	[[ $(version server)$(version client) == 11 && $(in_ns server mrpc -j engine) != *next_version* ]]
}

test_interrupted()
{
	begin
	local signal status
	for signal in INT TERM; do
		two_steps 60s
		mrpc plan apply "$plan" >"$TEST_TMP/out" 2>"$TEST_TMP/err" &
		wait_for 120 grep -q 'true after' "$TEST_TMP/out"
		kill -$signal $!
		status=0
		wait $! || status=$?
		[[ $status == 1 ]]
		grep -q "interrupted after step 1, 'the receiver first'; 'mrpc plan resume" "$TEST_TMP/err"
		[[ $(version server)$(version client) == 21 ]]
		plan 0 '' rollback "$plan"
		[[ $(version server)$(version client) == 11 ]]
	done
	# A plan that was changed meanwhile is another one.
	two_steps 60s
	mrpc plan apply "$plan" >"$TEST_TMP/out" 2>&1 &
	wait_for 120 grep -q 'true after' "$TEST_TMP/out"
	plan 1 'another command works on' resume "$plan"
	kill $!
	wait $! || :
	two_steps 1s
	plan 1 'has changed since it was begun' resume "$plan"
	plan 0 '' rollback "$plan"
	[[ $(version server)$(version client) == 11 ]]
	echo frob >"$plan.state"
	plan 1 "is not what 'mrpc plan' writes" resume "$plan"
}

test_unreachable()
{
	begin
	# Not there at all: nothing is begun.
	cat >"$plan" <<-END
	hosts:
	  server: { via: ip netns exec server }
	  client:
	    via: ip netns exec nowhere
	steps:
	  - { hosts: server, run: engine replace t null@2 }
	END
	plan 1 'plan.yaml:3:3: client: mrpc does not answer there: Cannot open network namespace' apply "$plan"
	[[ $(version server) == 1 && ! -e $plan.state ]]
	plan 1 'client: mrpc does not answer' check "$plan"
	sed -i 's/ip netns exec nowhere/nosuchcommand/' "$plan"
	plan 1 "cannot run 'nosuchcommand'" check "$plan"
	# An engine that cannot be had.
	two_steps 0s
	sed -i 's/null@2/null@9/' "$plan"
	plan 1 "plan.yaml:5:10: server: this engine cannot be had: engine type 'null' has no version 9" apply "$plan"
	[[ ! -e $plan.state ]]
	# One that goes away in the midst: before or after the command has come there.
	cat >"$TEST_TMP/via" <<-'END'
	#!/bin/bash
	if [[ -e ${0%/*}/down && " $* " == *" engine replace "* ]]; then
		[[ $(<"${0%/*}/down") != after ]] || ip netns exec client "$@" >/dev/null
		echo 'connection lost' >&2
		exit 255
	fi
	exec ip netns exec client "$@"
	END
	chmod +x "$TEST_TMP/via"
	local when
	for when in before after; do
		two_steps 0s
		sed -i "1s|ip netns exec client|$TEST_TMP/via|" "$plan"
		echo $when >"$TEST_TMP/down"
		plan 1 "client: it is not known what became of step 2, 'then the sender': connection lost; 'mrpc plan resume" \
			apply "$plan"
		[[ $(version server) == 2 ]]
		rm "$TEST_TMP/down"
		plan 0 '' resume "$plan"
		[[ $when == before || -z $(commands) ]]
		[[ $(version server)$(version client) == 22 ]]
		# Back, with an obstacle.
		echo before >"$TEST_TMP/down"
		plan 1 "client: step 2, 'then the sender', could not be taken back: connection lost; 'mrpc plan rollback" \
			rollback "$plan"
		[[ $(version server)$(version client) == 22 ]]
		rm "$TEST_TMP/down"
		plan 0 '' rollback "$plan"
		[[ $(version server)$(version client) == 11 ]]
	done
}

# Words come through a shell, as ssh has one, as they are.
test_shell()
{
	begin
	cd "$TEST_TMP"
	printf '%s\n' '#!/bin/bash' 'shift' 'exec ip netns exec client sh -c "$*"' >"$TEST_TMP/ssh"
	chmod +x "$TEST_TMP/ssh"
	cat >"$plan" <<-END
	hosts: { client: { via: $TEST_TMP/ssh root@client } }
	steps:
	  - run:
	      - engine
	      - add
	      - acl
	      - rules
	      - 'deny detail "it''s \$HOME \`id\` > made" if uid 77'
	  - run: engine add metrics
	  - run: engine replace t null@2 --step 100% --every 1s --abort-if 'p50 > 1000x'
	END
	plan 0 '' apply "$plan"
	in_ns client mrpc -j engine show acl | json "j[0]['values']['rules']['text'].strip() ==
		'deny detail \"it' + chr(39) + 's \$HOME \`id\` > made\" if uid = 77'"
	[[ ! -e $TEST_TMP/made && $(version client) == 2 ]]
	plan 0 '' rollback "$plan"
	[[ $(version client) == 1 && $(in_ns client mrpc engine | wc -l) == 2 ]]
}

test_latency()
{
	begin
	in_ns client mrpc engine add metrics >/dev/null
	cat >"$plan" <<-END
	$hosts
	steps:
	  - { hosts: client, run: engine replace t null@2, abort-if: p50 > 100x, pause: 3s }
	  - hosts: client
	    run: engine replace t fault delay_percent 100% delay 100ms
	    abort-if: p50 > 2x
	    pause: 10s
	END
	plan 1 "client: 'p50 > 2x': it is " apply "$plan"
	[[ $(commands) == "client engine replace t null@2
client engine replace t fault delay_percent 100% delay 100ms
client engine replace t null@2
client engine replace t null@1" ]]
	[[ $(version client) == 1 ]]
	# Errors count against a quiet time.
	cat >"$plan" <<-END
	$hosts
	steps:
	  - hosts: client
	    run: engine replace t fault abort_percent 100%
	    check: [ no errors for 1s ]
	    within: 3s
	END
	plan 1 "client: 'no errors for 1s' has not become true within 3s: " apply "$plan"
	grep -q 'calls have failed' "$TEST_TMP/err"
	in_ns client mrpc engine | has '^t  *null@1 '
}

test_json()
{
	begin
	two_steps 0s
	mrpc -j plan check "$plan" | json "j['result'] == 'good'"
	mrpc -j plan show "$plan" | json "[c['state'] for c in j] == ['-', '-'] and
		j[0]['run'] == ['engine', 'replace', 't', 'null@2'] and j[0]['host'] == 'server'"
	mrpc -j plan apply "$plan" | json "j['result'] == 'applied' and
		[(e['what'], e['step'], e['host']) for e in j['events']] == [('done', 1, 'server'), ('done', 2, 'client')]"
	mrpc -j plan rollback "$plan" | json "j['result'] == 'rolled back' and
		[(e['what'], e['step']) for e in j['events']] == [('undone', 2), ('undone', 1)]"
	sed -i 's/version == 2/version == 7/; s/pause: 0s/within: 1s/' "$plan"
	status=0
	mrpc -j plan apply "$plan" >"$TEST_TMP/out" 2>/dev/null || status=$?
	[[ $status == 1 ]]
	json "j['result'] == 'rolled back' and 'version is 2' in j['why'] and
		[e['what'] for e in j['events']] == ['done', 'check failed', 'undone']" <"$TEST_TMP/out"
}

# What is wrong with a file is said with its place, and what would be right.
test_files()
{
	local number=0 h='hosts: { a: {}, b: {} }' s='run: engine del x'
	bad()	# WANT TEXT
	{
		local status=0
		printf '%b' "$2" >"$TEST_TMP/bad.yaml"
		mrpc plan show "$TEST_TMP/bad.yaml" >"$TEST_TMP/out" 2>"$TEST_TMP/err" || status=$?
		[[ $status == 1 && $(<"$TEST_TMP/err") == *"bad.yaml:$1"* && ! -s $TEST_TMP/out ]] ||
			fail "'$2' ended with $status: $(<"$TEST_TMP/err"); not $1"
		number=$((number + 1))
	}
	bad "1:1: the file is empty" ''
	bad "1:1: the file is empty" '# nothing\n'
	bad "2:2: this is not YAML: " 'a: [\n }'
	bad "1:1: this is not YAML: " '\xff\xff'
	bad "3:1: a file has one plan only" 'steps: [ ]\n---\nsteps: [ ]\n'
	bad "1:1: a plan must be a mapping" '- a\n'
	bad "1:1: a plan has no 'step': it must be hosts or steps" 'step: 5\n'
	bad "2:1: 'steps' is given twice" 'steps: []\nsteps: []\n'
	bad "1:1: the plan has no 'steps'" "$h\n"
	bad "1:8: steps must be a list" 'steps: 5\n'
	bad "1:8: there are no steps" 'steps: []\n'
	bad "1:8: hosts must be a mapping" "hosts: [ a ]\nsteps: [ { $s } ]\n"
	bad "1:8: there are no hosts; " "hosts: { }\nsteps: [ { $s } ]\n"
	bad "1:10: 'a b' is not a name: it must have letters, digits" "hosts: { a b: {} }\nsteps: [ { $s } ]\n"
	bad "1:13: a host must be a mapping" "hosts: { a: ssh a }\nsteps: [ { $s } ]\n"
	bad "1:15: a host has no 'ssh': it must be via or quote" "hosts: { a: { ssh: b } }\nsteps: [ { $s } ]\n"
	bad "1:22: quote: 'maybe' must be yes or no" "hosts: { a: { quote: maybe } }\nsteps: [ { $s } ]\n"
	bad "1:20: via: the quote ' has no end" "hosts: { a: { via: \"x 'y\" } }\nsteps: [ { $s } ]\n"
	bad "3:3: this step has no 'hosts', and there are 2 to choose from" "$h\nsteps:\n- { $s }\n"
	bad "3:12: there is no host 'c' in 'hosts'" "$h\nsteps:\n- { hosts: c, $s }\n"
	bad "3:16: 'a' is given twice" "$h\nsteps:\n- { hosts: [a, a], $s }\n"
	bad "3:12: there are no hosts in this list" "$h\nsteps:\n- { hosts: [], $s }\n"
	bad "2:3: a step must be a mapping" 'steps:\n- engine del x\n'
	bad "2:3: this step has no 'run'" 'steps:\n- name: x\n'
	bad "3:3: a step has no 'when': it must be name, hosts, run," "steps:\n- $s\n  when: now\n"
	bad "3:3: 'run' is given twice" "steps:\n- $s\n  $s\n"
	bad "2:8: run: 'engine show' is not a change: it must be, in full words, one of engine add|set|" \
		'steps:\n- run: engine show\n'
	bad "2:8: run: 'eng del' is not a change" 'steps:\n- run: eng del x\n'
	bad "2:7: run: '' is not a change" 'steps:\n- run:\n'
	bad "2:8: run: 'engine del' is not complete" 'steps:\n- run: engine del\n'
	bad "2:8: run: 'plan apply' is not a change" 'steps:\n- run: plan apply x\n'
	bad "3:5: run must be a text or a list of words; a text with ': ' in it needs quotes" \
		'steps:\n- run:\n    engine: del\n'
	bad "2:8: what takes 'set flush' back cannot be found out: this step needs 'undo'" 'steps:\n- run: set flush x\n'
	bad "3:9: undo: 'conn show' is not a change" "steps:\n- $s\n  undo: conn show\n"
	bad "3:11: within: '5' is not a time with its unit, as 10s" "steps:\n- $s\n  within: 5\n"
	bad "3:10: pause: 'unlimited' is not a time" "steps:\n- $s\n  pause: unlimited\n"
	bad "3:13: abort-if: 'p99' is not a rule: it must be as 'p99 > 2x'" "steps:\n- $s\n  abort-if: p99\n  pause: 1s\n"
	bad "2:3: abort-if needs 'pause'" "steps:\n- $s\n  abort-if: p99 > 2x\n"
	bad "3:10: check must be a list" "steps:\n- $s\n  check: no errors for 5s\n"
	bad "3:12: 'all is well' is not a check: it must be as 'engine show NAME: version == 2'" \
		"steps:\n- $s\n  check: [ all is well ]\n"
	bad "3:12: 'no errors for 5' is not a check" "steps:\n- $s\n  check: [ no errors for 5 ]\n"
	bad "3:12: 'no errors for 5s' cannot become true within 2.0s" \
		"steps:\n- $s\n  check: [ no errors for 5s ]\n  within: 2s\n"
	bad "4:5: 'engine del' shows nothing: it must be" "steps:\n- $s\n  check:\n  - engine del x: count == 0\n"
	bad "4:20: 'count = 0' is not a comparison: it must be PATH OP VALUE" \
		"steps:\n- $s\n  check:\n  - engine show x: count = 0\n"
	bad "5:5: each check is an item of its own" \
		"steps:\n- $s\n  check:\n  - conn: count == 0\n    qp: count == 0\n"
	bad "4:5: nothing is checked here" "steps:\n- $s\n  check:\n  - on: here\n"
	echo "$number files"
	# The command line.
	plan 2 'the file with the plan is missing' apply
	plan 1 "cannot open '/nowhere'" apply /nowhere
	plan 2 "'--frob' is not an option here" apply --frob x
	plan 2 "'--keep' is not an option here" show --keep x
	plan 2 'a plan must be a file' apply -
	plan 2 "'more' is one word too many" apply x more
	plan 2 "'a' is not a command: it must be check, show, apply" a x
	plan 1 'Is a directory' show "$TEST_TMP"
	head -c 1100000 /dev/zero >"$TEST_TMP/bad.yaml"
	plan 1 'is too long' show "$TEST_TMP/bad.yaml"
	mrpc plan help | has '^Usage: mrpc plan'
}

run_tests "$@"
