#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc/engine kmod/netlink
# The mrpc command: engines, queues, configuration.
# timeout 300
. "${0%/*}/../harness/lib.sh"

# The newest that is loaded is what one gets, so have the newest.
begin()
{
	on_exit forget_engines
	mrpc engine type show null@2 >/dev/null
}

test_usage()
{
	begin
	refused 2 "'frob' is not a command: it must be show, dump, type, add, set" engine frob
	refused 2 'the type of engine is missing' engine add
	refused 2 "'null@' is not a type" engine add null@
	refused 2 "'null@x' is not a type" engine add null@x
	refused 2 "'@1' is not a type" engine add @1
	refused 1 "there is no engine type 'frob'" engine add frob
	mrpc engine add null
	refused 1 'version 9; the newest loaded is 2' engine add null@9
	refused 2 "'rat' is not a parameter of ratelimit, which has rate, bytes," engine add ratelimit rat 5
	refused 2 "'side' is not a parameter of ratelimit: write 'scope' before 'side'" \
		engine add ratelimit side server rate 5
	refused 2 "'x' is not a parameter of null, which has none" engine add null x 5
	refused 2 "the value of 'rate' is missing" engine add ratelimit rate
	refused 2 "rate: '5x' is not a number, as 500 or 10k" engine add ratelimit rate 5x
	refused 2 "rate: '0' is out of range; allowed is 1 to " engine add ratelimit rate 0
	refused 2 "queue cannot be unlimited; allowed is 0 to 65536" engine add ratelimit queue unlimited
	refused 2 "shared: 'maybe' is neither on nor off" engine add ratelimit shared maybe
	refused 2 "byte_burst: '5s' is not a number of bytes, as 64k" engine add ratelimit byte_burst 5s
	refused 2 "delay: '5k' is not a time, as 200ms" engine add fault delay 5k
	refused 2 "abort_status cannot be 'FINE': the choices are OK, CANCELLED," engine add fault abort_status FINE
	refused 1 "cannot open '/nowhere'" engine add acl rules /nowhere
	refused 1 "rules:1:1: " engine add acl rules 'forbid'
	refused 1 "rules:1:13: " engine add acl rules 'deny if uid x'
	refused 1 "'null' already" engine add null
	refused 2 "what follows 'scope' is missing" engine add null scope
	refused 2 "'frob' is not a scope: it must be service, session, pid," engine add null scope frob
	refused 2 "'service' is given twice" engine add null scope service a service b
	refused 2 "numbers after 'session' begin at 1" engine add null scope session 0
	refused 2 "there is no user 'nosuchuser'" engine add null scope uid nosuchuser
	refused 2 "'left' is not a side: it must be client or server" engine add null scope side left
	refused 1 "there is no cgroup 'frob'" engine add null scope cgroup frob
	refused 1 'there is no session 77' engine add null name x scope session 77
	refused 1 "no engine named 'x'" engine set x rate 5
	refused 1 "no engine named 'x'" engine replace x null
	refused 1 "no engine named 'x'" engine del x
	refused 1 "no engine named 'x'" engine show x
	refused 1 "no engine named 'x'" engine step x 50
	refused 2 'a parameter is missing' engine set null
	refused 2 "'101' is not a percentage" engine step null 101
	refused 1 "no change of 'null' is in progress" engine step null 50
	refused 2 "'0' is not a share" engine del null --step 0
	refused 2 "'5' is not the time" engine del null --step 5% --every 5
	refused 2 "'--every' needs '--step'" engine del null --every 5s
	refused 2 "'p99' is not a rule" engine del null --step 5% --abort-if p99
	refused 2 "'p99 > 5' is not a rule" engine del null --step 5% --abort-if 'p99 > 5'
	refused 2 "'p0 > 5ms' is not a rule" engine del null --step 5% --abort-if 'p0 > 5ms'
	refused 1 "'mrpc engine add metrics' first" engine del null --step 5% --abort-if 'p99 > 2x'
	refused 2 "'more' is one word too many" engine del null more
	refused 2 'the name of the engine is missing' queue pause
	refused 1 "no datapath has a tx or rx queue of 'null'" queue pause null
	refused 2 'which queue?' queue dump
	refused 1 'there is no datapath 77' queue dump datapath 77 dir tx
	refused 2 "'up' is not a direction: it must be tx or rx" queue show dir up
	refused 1 "cannot open '/nowhere'" config restore /nowhere
	echo '{' >"$TEST_TMP/bad"
	refused 1 "is not JSON" config restore "$TEST_TMP/bad"
	echo '[]' >"$TEST_TMP/bad"
	refused 1 'has no "engines"' config restore "$TEST_TMP/bad"
	[[ $(mrpc engine | column ENGINE) == null ]]
}

test_values()
{
	begin
	local given want
	mrpc engine add ratelimit name r
	while read -r given want; do
		# shellcheck disable=SC2086 # two words
		mrpc engine set r ${given/=/ } >/dev/null
		[[ ,$(mrpc engine | column VALUES), == *,"$want",* ]] || fail "$given: $(mrpc engine)"
	done <<-'END'
	rate=500 rate=500
	rate=10k rate=10k
	rate=1.5M/s rate=1500k
	rate=unlimited rate=unlimited
	bytes=16MiB bytes=16MiB
	bytes=64Ki bytes=64KiB
	bytes=10MB/s bytes=10M
	byte_burst=1k byte_burst=1k
	byte_burst=1000B byte_burst=1k
	shared=on shared=on
	shared=no shared=off
	END
	mrpc engine add fault name f delay 1.5ms abort_status ABORTED
	mrpc engine | has 'abort_status=ABORTED,delay=1500us'
	mrpc engine set f abort_percent 12.5% delay_percent 3
	mrpc engine | has 'abort_percent=12.5%,.*delay_percent=3%'
	mrpc -j engine show f | json "j[0]['values']['delay']['num'] == 1500000 and
		j[0]['values']['abort_status'] == {'text': 'ABORTED', 'num': 10, 'given': True} and
		j[0]['values']['abort_percent']['num'] == 1250"
}

test_engines()
{
	begin
	serve 2
	mrpc engine type show ratelimit | tee "$TEST_TMP/out"
	grep -q '^rate  .*1\.\..*|unlimited' "$TEST_TMP/out"
	mrpc -j engine type show ratelimit@1 | json "j[0]['module'] == 'mrpc_ratelimit_1'"
	mrpc engine add null | tee "$TEST_TMP/out"
	grep -q '^null added (null@2): 4 of 4 datapaths changed in .*, each paused for .* (p99 .*, at most .*)$' \
		"$TEST_TMP/out"
	mrpc engine add ratelimit name r scope service kv.Store side client before null rate unlimited
	mrpc -j engine add null name x scope uid root cgroup / after r |
		json "j['name'] == 'x' and j['change']['changed'] == 4 and j['change']['pause_p99_ns'] > 0"
	mrpc engine type | has 'null *2 .* x,null '
	mrpc engine | tee "$TEST_TMP/out"
	[[ $(column ENGINE <"$TEST_TMP/out" | xargs) == 'r x null' ]]
	[[ $(column SCOPE <"$TEST_TMP/out" | xargs) == 'service=kv.Store,side=client uid=0,cgroup=/ all' ]]
	[[ $(column DATAPATHS <"$TEST_TMP/out" | xargs) == '2 4 4' ]]
	mrpc -s engine | has BYPASSED
	mrpc datapath | has 'r,x,null'
	mrpc datapath dump | has '^ *name *r$'
	mrpc -j datapath | json "len(j) == 4 and all(d['stages'][-1]['name'] == 'null' for d in j)"
	mrpc engine show r | has '^ *rate *unlimited$'
	mrpc engine show r | has '^ *waited '
	mrpc -j engine show r | json "'waited' in j[0]['counters']"
	mrpc engine set r rate 1M queue 500
	mrpc engine | has 'rate=1M,queue=500'
	mrpc engine replace null null@1 | has '^null replaced (null@1): 4 of 4'
	mrpc engine del x | has '^x removed: 4 of 4'
	mrpc -j dump | json "[e['name'] for e in j['engine']] == ['r', 'null'] and len(j['queue']) > 4"
	mrpc dump | has '^engine:'
	mrpc engine delete null
	mrpc engine del r
	[[ $(mrpc -j engine) == '[]' ]]
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

test_gradual()
{
	begin
	local status=0
	serve 4
	mrpc engine add null --step 25% --every 200ms | tee "$TEST_TMP/out"
	[[ $(grep -c '^null: .*% *' "$TEST_TMP/out") == 4 && $(tail -1 "$TEST_TMP/out") == 'null: 100%'* ]]
	mrpc engine | has '^null .* 8 '
	mrpc -j engine replace null null@1 --step 50 --every 100ms >"$TEST_TMP/out"
	[[ $(wc -l <"$TEST_TMP/out") == 2 ]]
	# Interrupted: it is taken back.
	mrpc engine add ratelimit name r --step 10% --every 3s >"$TEST_TMP/out" 2>"$TEST_TMP/err" &
	wait_for 20 grep -q '20%' "$TEST_TMP/out"
	mrpc engine | grep 'adding:[0-9]*%'
	kill -INT $!
	wait $! || status=$?
	cat "$TEST_TMP/out" "$TEST_TMP/err"
	[[ $status == 1 ]]
	grep -q 'interrupted; taking the change back' "$TEST_TMP/err"
	[[ $(mrpc engine | column ENGINE) == null ]]
	# By hand.
	mrpc engine del null --step 30% --every 100s >/dev/null 2>&1 &
	local pid=$!
	wait_for 20 eval 'mrpc engine | has removing:30%'
	kill -KILL $pid
	mrpc engine step null 60 | has '^null stepped'
	mrpc engine | has removing:60%
	mrpc engine step null 100
	[[ $(mrpc -j engine) == '[]' ]]
	# A step that fails.
	refused 1 'failed at datapath' engine add crash name c fail_create 3 --step 50% --every 10ms
	[[ $(mrpc -j engine) == '[]' ]]
}

# A terminal that closes takes a gradual change back, unless nohup keeps it going.
test_hangup()
{
	begin
	local status=0
	serve 4
	nohup mrpc engine add null --step 50% --every 1s >"$TEST_TMP/out" 2>&1 &
	wait_for 20 grep -q ' 50%' "$TEST_TMP/out"
	kill -HUP $!
	wait $!
	grep -q '100%' "$TEST_TMP/out"
	mrpc engine | has '^null .* 8 '
	mrpc engine add ratelimit name r --step 10% --every 100s >"$TEST_TMP/out" 2>"$TEST_TMP/err" &
	wait_for 20 grep -q ' 10%' "$TEST_TMP/out"
	kill -HUP $!
	wait $! || status=$?
	[[ $status == 1 ]]
	grep -q 'interrupted; taking the change back' "$TEST_TMP/err"
	[[ $(mrpc engine | column ENGINE) == null ]]
	mrpc engine del null
}

test_abort()
{
	begin
	serve 3
	mrpc engine add metrics
	mrpc engine add null name x scope side client
	wait_for 20 eval '(( $(mrpc -j engine show metrics | grep -o "\"calls\":[0-9]*" | cut -d: -f2) > 500 ))'
	# Nothing gets worse.
	mrpc engine replace x null@1 --step 50% --every 2s --abort-if 'p50 > 100x' | tee "$TEST_TMP/out"
	grep -q '^usual: .* by engine' "$TEST_TMP/out"
	mrpc engine | has '^x *null@1 .* - '
	# Every call is late now; also where one step does it all. Much later, and too few were left to judge by.
	refused 1 "x: 'p50 > 2x': it is" engine replace x fault delay_percent 100% delay 150ms --step 100% \
		--every 4s --abort-if 'p50 > 2x'
	cat "$TEST_TMP/out" "$TEST_TMP/err"
	mrpc engine | has '^x *null@1 .* - '
	# So late that hardly any is seen.
	refused 1 "calls have nearly stopped" engine replace x fault delay_percent 100% delay 5s \
		--step 60% --every 3s --abort-if 'p50 > 100x'
	mrpc engine | has '^x *null@1 .* - '
}

# links VERSION: all connections have it.
links() { [[ $(mrpc datapath | column TRANSPORT | sort -u) == "tcp@$1" ]] || fail "$(mrpc datapath)"; }

# Versions of a transport are placed, replaced and taken back as engines are.
test_transport()
{
	begin
	serve 2
	refused 2 "'checksum' is not a parameter of tcp, which has none" engine add tcp@1 checksum on
	refused 1 "'tcp' has no version 7" engine add tcp@7
	mrpc engine add tcp@1 name link | has '^link added (tcp@1): 4 of 4 datapaths changed'
	mrpc engine add metrics
	wait_for 20 eval '(( $(mrpc -j engine show metrics | grep -o "\"calls\":[0-9]*" | cut -d: -f2) > 500 ))'
	links 1
	mrpc engine replace link tcp@2 checksum on --step 50% --every 1s --abort-if 'p50 > 100s'
	links 2
	mrpc -j conn | json "all(c['transport'] == 'tcp' and c['transport_version'] == 2 for c in j)"
	wait_for 10 eval '[[ $(mrpc -j conn) != *_checksums\":0[,}]* ]]'
	mrpc -s conn | has 'TX-SUMS *RX-SUMS'
	mrpc -j engine type show tcp@2 | json "j[0]['users'] == ['link']"
	refused 1 "link: 'p50 > 1us': it is" engine replace link tcp@1 --step 50% --every 1s \
		--abort-if 'p50 > 1us'
	links 2
	# It is what a configuration keeps.
	mrpc config save "$TEST_TMP/config"
	mrpc engine del link
	links 1
	mrpc config restore "$TEST_TMP/config"
	links 2
	mrpc engine | has '^link *tcp@2 .* checksum=on'
	kill -0 "$server" "${clients[@]}" || fail "somebody did not live through it"
}

test_queues()
{
	begin
	serve 2
	mrpc engine add null
	mrpc queue show | tee "$TEST_TMP/out"
	[[ $(column QUEUE <"$TEST_TMP/out" | sort | uniq -c | xargs) == '4 (arriving) 4 (link) 8 null' ]]
	mrpc queue pause null | has '^null paused on 4 datapaths'
	# All calls under way come to where they wait.
	wait_for 10 eval '[[ $(mrpc queue show busy engine null | awk "{ n += \$6 } END { print n }") == 8 ]]'
	mrpc queue show busy engine null | tee "$TEST_TMP/out"
	[[ $(column PAUSED <"$TEST_TMP/out" | sort -u) == yes ]]
	read -r datapath dir < <(awk 'NR > 1 && $6 > 0 { print $1, $4; exit }' "$TEST_TMP/out")
	mrpc queue dump datapath "$datapath" dir "$dir" engine null | tee "$TEST_TMP/out"
	grep -Eq '(request|reply) *kv.Store/Put ' "$TEST_TMP/out"
	mrpc -j queue dump datapath "$datapath" dir "$dir" engine null |
		json "len(j) > 0 and all(r['method'] == 'Put' and r['age_ns'] > 0 for r in j)"
	mrpc queue show datapath "$datapath" dir tx | has '(link)'
	mrpc queue watch busy --every 100ms >"$TEST_TMP/watch" &
	wait_for 10 eval '(( $(grep -c DATAPATH "$TEST_TMP/watch") > 3 ))'
	kill $!
	mrpc queue resume null dir tx | has '^null resumed on 4 datapaths'
	mrpc -j queue resume null | json "j['changed'] == 4"
	mrpc queue show busy engine null | grep yes && fail "one is paused still"
	kill -0 "${clients[@]}" "$server" || fail "somebody did not live through it"
}

# describe: what there is, without numbers that change.
describe()
{
	mrpc -j engine | python3 -c '
import json, sys
for e in json.load(sys.stdin):
    print(e["name"], e["type"], e["version"], e["scope"], e.get("values"))'
}

test_config()
{
	begin
	local file=$TEST_TMP/config.json
	printf 'MRRR\001\0\0\0\020\0\0\0\0\0\0\0' >"$TEST_TMP/rules"
	mrpc engine add ratelimit name r scope service kv.Store side client rate 10k shared on
	mrpc engine add null@1
	mrpc engine add fault name f scope uid 1000 cgroup / delay 1.5ms abort_status ABORTED
	mrpc engine add acl rules "$TEST_TMP/rules" after r
	mrpc engine set acl rules 'allow if uid 0; deny status NOT_FOUND detail "no \"x\"" if method Get'
	mrpc engine show acl | has '^deny status NOT_FOUND detail "no .*x.*" if method Get$'
	describe >"$TEST_TMP/before"
	mrpc config save "$file"
	json "[e['name'] for e in j['engines']] == ['r', 'acl', 'null', 'f']" <"$file"
	[[ $(mrpc config save -) == "$(<"$file")" ]]
	# What is so is not touched.
	[[ -z $(mrpc config restore "$file") ]]
	[[ $(describe) == "$(<"$TEST_TMP/before")" ]]
	# From nothing.
	forget_engines
	mrpc config restore "$file"
	describe | diff "$TEST_TMP/before" -
	# From something else: one is missing, one has other values, another type, another scope.
	mrpc engine del acl
	mrpc engine set r rate 5 queue 7 shared off
	mrpc engine replace null null@2
	mrpc engine del f
	mrpc engine add fault name f scope side server
	mrpc engine add null name extra
	mrpc config restore - <"$file" | tee "$TEST_TMP/out"
	[[ $(sort "$TEST_TMP/out" | xargs) == 'acl: added f: added f: removed null: changed r: changed' ]]
	mrpc engine | has '^extra '
	mrpc engine | grep '^r .*queue=256'	# the default, said aloud
	mrpc config restore exact "$file" | has '^extra: removed'
	mrpc engine | grep extra && fail "it stayed"
	# An order that cannot be made by adding.
	mrpc engine del null
	mrpc engine add null@1 name null before r
	refused 1 "'null' stands before 'acl'" config restore "$file"
	# What means nothing after the next boot is left out.
	forget_engines
	python3 -c 'import os, time; os.open("/dev/mrpc", os.O_RDWR); time.sleep(60)' &
	wait_for 10 eval '[[ $(mrpc -j session) == *pid* ]]'
	mrpc engine add null name x scope pid $!
	mrpc engine add null name y
	mrpc config save "$file" 2>"$TEST_TMP/err"
	grep -q "'x' is not saved" "$TEST_TMP/err"
	json "[e['name'] for e in j['engines']] == ['y']" <"$file"
	# The file's place, and one engine that cannot be had.
	mrpc config save 2>/dev/null
	[[ -s /etc/mrpc/config.json ]]
	sed -i 's/"version": 2/"version": 9/' "$file"
	mrpc engine del y
	refused 1 "'y' could not be restored" config restore "$file"
}

# What is no regular file is written to; a regular one keeps its owner, mode and links.
test_config_file()
{
	begin
	local dir=$TEST_TMP
	mrpc engine add null
	mrpc config save - >"$dir/want"
	mknod -m 666 "$dir/null" c 1 3
	mrpc config save "$dir/null"
	[[ -c $dir/null ]]
	refused 1 "cannot write to '/dev/full': No space left" config save /dev/full
	[[ -c /dev/full ]]
	mkfifo "$dir/fifo"
	cat "$dir/fifo" >"$dir/read" &
	mrpc config save "$dir/fifo"
	wait $!
	cmp "$dir/want" "$dir/read"
	[[ -p $dir/fifo ]]
	mrpc config save /dev/stdout | cmp "$dir/want"
	{ mrpc config save /dev/stdout; echo more; } >"$dir/out"
	[[ $(tail -n 1 "$dir/out") == more && $(head -n -1 "$dir/out") == "$(<"$dir/want")" ]]
	[[ -L /dev/stdout ]]
	mkdir "$dir/d"
	echo old >"$dir/d/real"
	chown 7:8 "$dir/d/real"
	chmod 640 "$dir/d/real"
	ln -s d/real "$dir/link"
	mrpc config save "$dir/link"
	cmp "$dir/want" "$dir/d/real"
	[[ -L $dir/link && $(stat -c '%u:%g %a' "$dir/d/real") == '7:8 640' ]]
	ln -s d/none "$dir/dangling"
	mrpc config save "$dir/dangling"
	[[ -L $dir/dangling ]]
	cmp "$dir/want" "$dir/d/none"
	[[ $(ls "$dir/d" | xargs) == 'none real' ]] || fail "files were left: $(ls "$dir/d")"
	(umask 077 && mrpc config save "$dir/new")
	[[ $(stat -c %a "$dir/new") == 600 ]]
}

# The host's file is the host's: another namespace has its own, or none.
test_config_namespace()
{
	begin
	local other
	on_exit rm -rf /etc/netns/a /etc/netns/b
	ns_create a b
	mrpc engine add null name host
	mrpc config save
	mrpc -n a engine add null name guest
	mrpc -n a config save
	json "[e['name'] for e in j['engines']] == ['host']" </etc/mrpc/config.json
	json "[e['name'] for e in j['engines']] == ['guest']" </etc/netns/a/mrpc/config.json
	# The other ways into it.
	in_ns a mrpc engine add null name more
	in_ns a mrpc config save
	json "[e['name'] for e in j['engines']] == ['guest', 'more']" </etc/netns/a/mrpc/config.json
	mrpc -n a engine del guest
	mrpc -n a config restore | has '^guest: added'
	mrpc -n /run/netns/a config save
	# One without a name.
	unshare -n sleep 60 &
	other=$!
	wait_for 5 eval '! [[ /proc/'$other'/ns/net -ef /proc/self/ns/net ]]'
	refused 2 'has no name in /run/netns' -n "/proc/$other/ns/net" config save
	refused 2 'has no name in /run/netns' -n "/proc/$other/ns/net" config restore
	mrpc -n "/proc/$other/ns/net" config save - | json "j['engines'] == []"
	json "[e['name'] for e in j['engines']] == ['host']" </etc/mrpc/config.json
}

# A text of rules is one, whatever is in it and whatever files there are.
test_rules_text()
{
	begin
	cd "$TEST_TMP"
	echo allow >'deny if uid 5'
	mrpc engine add acl rules 'deny if uid 5'
	mrpc engine show acl | has '^deny if uid = 5$'
	mrpc engine set acl rules 'deny if peer 10.0.0.0/8'
	mrpc engine show acl | has '^deny if peer 10.0.0.0/8$'
	mrpc engine set acl rules '# those: a/b
		deny if field path == "/etc"'
	mrpc engine show acl | has '^deny if field path = "/etc"$'
	refused 1 "rules:1:1: 'dney': allow or deny is expected" engine set acl rules 'dney if peer 10.0.0.0/8'
	refused 1 "cannot open './none'" engine set acl rules ./none
	mrpc engine set acl rules './deny if uid 5'
	mrpc engine show acl | has '^allow$'
}

# A misspelt name in a rule would let everything pass: it is refused where the service is
# known, and the operator is warned where it is not.
test_misspelt()
{
	begin
	local warned
	warns() { "$@" 2>&1 >/dev/null | has "^mrpc: warning: .*$warned"; }
	warned='no service is known here yet'
	warns mrpc engine add acl rules 'deny if method Gett'
	! warns mrpc engine set acl rules 'deny if uid 77' || fail 'it warns of nothing'
	serve 1
	warned='rule 2 fits no call of the services known here: misspelt?'
	warns mrpc engine set acl rules 'deny if uid 77; deny if method Gett'
	warns mrpc engine set acl rules 'deny if uid 77; deny if service kv.Stor and method Get'
	refused 1 'rule 1, condition 2 fits no call of kv.Store: misspelt?' \
		engine set acl rules 'deny if service kv.Store and method Gett'
	refused 1 'rule 1, condition 3 fits no call of kv.Store: misspelt?' \
		engine set acl rules 'deny if service kv.Store and method Get and field kye = "x"'
	refused 1 'rule 1, condition 1 fits no call of kv.Store: misspelt?' \
		engine add acl name other scope service kv.Store rules 'deny if field kye = "x"'
	! warns mrpc engine set acl rules 'deny if method Get and field key = "x"; deny if reply and uid 77' ||
		fail 'it warns of nothing'
	mrpc engine show acl | has '^deny if method Get and field key = "x"$'
	mrpc -j engine show acl | json "j[0]['counters']['unfit_rules'] == 0"
	warns mrpc engine set acl rules 'deny if method Gett; deny if field kye = "x"; deny if uid 77'
	mrpc -j engine show acl | json "j[0]['counters']['unfit_rules'] == 2"
}

# A server that has no client yet has its services known all the same.
test_misspelt_before_clients()
{
	begin
	local misspelt='deny if method Gett' no_service='no service is known here yet'
	add() { mrpc engine add acl name "$1" scope "${@:3}" rules "$2" 2>&1 >/dev/null; }
	serve 0
	add a "$misspelt" side server | has 'warning: rule 1 fits no call of the services known here'
	add b "$misspelt" pid "$server" | has 'rule 1 fits no call'
	add c "$misspelt" side client | has "$no_service"
	add d "$misspelt" service kv.Other | has "$no_service"
	add e "$misspelt" uid nobody | has "$no_service"
	add f 'deny if method Get' side server | has . && fail 'it warns of nothing'
	refused 1 'rule 1, condition 1 fits no call of kv.Store: misspelt?' \
		engine add acl name g scope service kv.Store rules "$misspelt"
}

# Where an engine cannot be made there is no connection: the application learns on which host,
# and the operator there why.
test_unmade()
{
	begin
	local i
	need "$MRPC_MODULES/mrpc_crash_1.ko" 'built without engines for tests'
	serve 0
	mrpc monitor conn >"$TEST_TMP/events" &
	mrpc engine add crash@1 name c scope side server fail_create 0
	# The monitor listens when it has said something.
	for i in {1..50}; do
		! kv-client get key 2>"$TEST_TMP/err" || fail 'it connected'
		! grep -q 'conn close' "$TEST_TMP/events" || break
		sleep 0.1
	done
	grep -q "the peer cannot make the engines that its operator has placed" "$TEST_TMP/err"
	wait_for 10 grep -q 'reason its engines cannot be made: fail_create: 0' "$TEST_TMP/events"
	mrpc engine del c
	mrpc engine add crash@1 name c scope side client fail_create 0
	! kv-client get key 2>"$TEST_TMP/err" || fail 'it connected'
	grep -q 'on this host: its engines cannot be made: fail_create: 0' "$TEST_TMP/err"
	mrpc engine del c
}

# What engines have counted stays when the connections end.
test_counts_stay()
{
	begin
	local i
	serve 0
	mrpc engine add acl scope side server rules 'deny if method Get'
	for i in 1 2 3; do
		! kv-client get key 2>/dev/null || fail 'it was allowed'
	done
	wait_for 10 eval '[[ $(mrpc -j conn) == "[]" ]]'
	[[ $(mrpc engine | column DATAPATHS) == 0 && $(mrpc engine | column REJECTED) == 3 ]]
	mrpc -j engine show acl | json "j[0]['counters']['denied'] == 3"
	# Another one adds to it, and so does what a replaced engine had counted.
	! kv-client get key 2>/dev/null || fail 'it was allowed'
	wait_for 10 eval '[[ $(mrpc -j conn) == "[]" ]]'
	mrpc engine replace acl null
	[[ $(mrpc engine | column REJECTED) == 4 ]]
}

test_runtime()
{
	begin
	serve 1
	refused 2 "'many' is not a command: it must be show, add, set, del" runtime many
	refused 2 'the name of the runtime is missing' runtime add
	refused 2 "'x' is no nice value" runtime add a nice x
	refused 2 "turn: '5s' is not a number of bytes" runtime add a turn 5s
	refused 1 'nice is 20, allowed is -20 to 19' runtime add a nice 20
	refused 1 "there is no runtime 'a'" runtime del a
	refused 1 "there is no runtime 'a'" engine add runtime on a
	mrpc runtime add a cpus 0 nice -3 order small turn 64KiB
	refused 1 "there is a runtime 'a' already" runtime add a
	[[ $(mrpc runtime | column ORDER) == small ]]
	mrpc -j runtime show a | json 'j[0]["nice"] == -3 and j[0]["turn"] == 65536 and j[0]["cpus"] == "0"'
	mrpc engine add runtime on a
	wait_for 10 eval 'mrpc -j runtime show a | json "j[0][\"datapaths\"] == 2 and j[0][\"ran_ns\"] > 0"'
	refused 1 'a' runtime del a
	mrpc runtime set a fifo yes busy 100us
	mrpc -j runtime show a | json 'j[0]["fifo"] and j[0]["busy_ns"] == 100000 and j[0]["nice"] == -3'
	mrpc engine del runtime
	mrpc runtime del a
	[[ -z $(mrpc runtime | column NAME) ]]
}

test_monitor()
{
	begin
	serve 1
	mrpc monitor engine >"$TEST_TMP/text" &
	mrpc -j monitor >"$TEST_TMP/json" &
	wait_for 10 eval 'mrpc engine add null name probe >/dev/null; mrpc engine del probe >/dev/null;
		[[ -s $TEST_TMP/text && -s $TEST_TMP/json ]]'
	mrpc engine add ratelimit name r scope side client rate 10k --step 50% --every 50ms
	mrpc engine del r
	mrpc engine add crash name c overrun 20000
	wait_for 20 grep -q 'engine fault: engine c type crash@2 datapath [0-9]* what slow bypassed detail' \
		"$TEST_TMP/text"
	mrpc engine del c
	cat "$TEST_TMP/text"
	grep -q '^engine add: engine r type ratelimit@1 scope side=client values rate=10k adding percent 50$' \
		"$TEST_TMP/text"
	grep -q '^engine set: engine r ' "$TEST_TMP/text"
	grep -q '^engine del: engine r' "$TEST_TMP/text"
	if grep -v '^engine ' "$TEST_TMP/text"; then
		fail "monitor engine tells of something else"
	fi
	wait_for 10 grep -q '"event":"engine-fault","engine":{' "$TEST_TMP/json"
}

run_tests "$@"
