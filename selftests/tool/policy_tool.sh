#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc/policy kmod/policy
# The mrpc command: policies in eBPF.
# timeout 240
. "${0%/*}/../harness/lib.sh"

PINS=/sys/fs/bpf/mrpc
OBJECTS=$MRPC_BUILD/selftests/bpf

# What a test that failed has left would keep the module.
forget_policies()
{
	local name
	forget_engines
	for name in $(mrpc -j policy | python3 -c '
import json, sys
for p in json.load(sys.stdin):
    print("%s@%u" % (p["name"], p["version"]))'); do
		mrpc policy unload "$name" force
	done
	rm -rf $PINS
} >/dev/null 2>&1

begin()
{
	need /sys/kernel/btf/mrpc "no policies in this kernel"
	need "$OBJECTS/keeper.bpf.o" "built without policies in eBPF"
	if mrpc policy 2>&1 | has 'built without libbpf'; then
		skip "built without libbpf"
	fi
	on_exit forget_policies
}

# Is an expression about policy p, the only one of that name, true?
policy() { mrpc -j policy show "$1" | json "(lambda p: len(j) == 1 and ($2))(j[0])"; }

# A call with a key that a policy may deny.
get() { kv-client get "$1" >/dev/null; }

denied()	# KEY DETAIL
{
	! get "$1" 2>"$TEST_TMP/denied" || fail "'$1' passes"
	grep -q "$2" "$TEST_TMP/denied" || fail "'$1': $(<"$TEST_TMP/denied")"
}

# The 64 bytes of a key, as bpftool takes them.
key() { python3 -c 'import sys; print(" ".join("%02x" % b for b in sys.argv[1].encode().ljust(64, b"\0")))' "$1"; }

# edit update|delete KEY
edit()
{
	# shellcheck disable=SC2046 # many words
	bpftool map "$1" pinned $PINS/keeper/maps/denied key hex $(key "$2") \
		$([[ $1 == delete ]] || echo value hex 01)
}

# begin_calls NUMBER: so many clients call all the time.
begin_calls()
{
	serve "$1"
	kv-client put good 1
	kv-client put bad 1
	mrpc policy load "$OBJECTS/keeper.bpf.o"
	mrpc engine add keeper name gate scope side client
}

test_usage()
{
	begin
	mrpc policy help | has '^Usage: mrpc policy'
	mrpc policy load help | has '^Usage: mrpc policy'
	mrpc help policy | has 'fresh    global variables begin anew'
	refused 2 "'frob' is not a command: it must be show, load, replace, unload" policy frob
	refused 2 'the object file is missing' policy load
	refused 2 'the object file is missing' policy replace keeper
	refused 2 'the name of the policy is missing' policy unload
	refused 2 "'frob' is not known here: it must be name or --debug" \
		policy load "$OBJECTS/keeper.bpf.o" frob
	refused 2 "'frob' is not known here: it must be fresh or --debug" \
		policy replace keeper "$OBJECTS/keeper.bpf.o" frob
	refused 2 "'frob' is not an option: it must be force" policy unload keeper frob
	refused 2 "the name after 'name' is missing" policy load "$OBJECTS/keeper.bpf.o" name
	refused 2 "'../x' is no name of a policy" policy unload ../x
	refused 1 "there is no policy 'keeper'" policy unload keeper
	refused 1 "there is no policy 'keeper'" policy show keeper
	refused 1 "there is no policy 'keeper' that 'mrpc policy load' has loaded" \
		policy replace keeper "$OBJECTS/keeper.bpf.o"
	refused 1 "cannot open '/nowhere'" policy load /nowhere
	echo text >"$TEST_TMP/text"
	refused 1 "is no BPF object" policy load "$TEST_TMP/text"
	refused 1 "there is no policy 'other' in it, but 'keeper'" \
		policy load "$OBJECTS/keeper.bpf.o" name other
	refused 1 "there is no policy 'keeper@2' in it, but 'keeper'" \
		policy load "$OBJECTS/keeper.bpf.o" name keeper@2
	mrpc engine type show null@1 >/dev/null
	refused 1 "'null' is an engine type of a module, not a policy" policy show null
	[[ $(mrpc policy | wc -l) == 1 && $(mrpc -j policy) == '[]' ]]
	[[ ! -e $PINS ]]
}

test_calls()
{
	begin
	begin_calls 1
	get bad
	edit update p5
	edit update bad
	denied bad 'kept out'
	get good
	policy keeper "p['state'] == 'attached' and p['generation'] == 1 and p['evicted'] == 0 and
		p['hooks'] == ['request_tx'] and p['fields'] == ['key'] and p['users'] == ['gate'] and
		p['pinned'] == '$PINS/keeper' and 'why' not in p and
		[(q['hook'], q['name']) for q in p['programs']] == [('request_tx', 'keeper_tx')] and
		'denied' in [m['name'] for m in p['maps']]"
	wait_for 20 policy keeper "p['counters']['kept'] > 0 and p['rejected'] > 0 and
		p['runs'] > p['rejected'] and p['mean_ns'] > 0"
	bpftool prog show id "$(mrpc -j policy show keeper | python3 -c \
		'import json, sys; print(json.load(sys.stdin)[0]["programs"][0]["id"])')" | has keeper_tx
	bpftool map show id "$(mrpc -j policy show keeper | python3 -c 'import json, sys
print([m["id"] for m in json.load(sys.stdin)[0]["maps"] if m["name"] == "denied"][0])')" | has denied
	mrpc policy show keeper | tee "$TEST_TMP/out"
	grep -q "^ *pinned *$PINS/keeper$" "$TEST_TMP/out"
	grep -q '^ *kept *[1-9]' "$TEST_TMP/out"
	mrpc policy list | tee "$TEST_TMP/out"
	grep -q '^keeper  *1  *policy  *attached  *1  *0  *request_tx  *gate .* yes$' "$TEST_TMP/out"
	mrpc engine type show keeper | has 'state *attached'
	edit delete bad
	get bad
}

test_unload()
{
	begin
	begin_calls 1
	refused 1 "'gate' (whose messages would be rejected)" policy unload keeper
	ip netns add other
	on_exit ip netns delete other
	mrpc -n other engine add keeper name far
	refused 1 'and 1 in other network namespaces' policy unload keeper
	mrpc -n other engine del far
	get good
	mrpc policy unload keeper force | tee "$TEST_TMP/out"
	grep -q '^keeper unloaded$' "$TEST_TMP/out"
	grep -q '^engine gate: messages are rejected from now on (fallback reject)$' "$TEST_TMP/out"
	[[ ! -e $PINS ]]
	policy keeper "p['state'] == 'detached' and 'pinned' not in p and 'link' not in p"
	wait_for 20 policy keeper "p['fallbacks'] > 0 and p['rejected'] > 0"
	# It gets programs again.
	mrpc policy load "$OBJECTS/keeper.bpf.o"
	get good
	policy keeper "p['generation'] == 2"
	mrpc engine set gate fallback pass
	refused 1 "'gate' (whose messages would pass)" policy unload keeper
	mrpc policy unload keeper force | has '^engine gate: messages pass from now on (fallback pass)$'
	policy keeper "p['state'] == 'detached'"
	mrpc engine del gate
	refused 1 "there is no policy 'keeper'" policy unload keeper
}

# A policy that another program has attached, or pinned elsewhere, can be detached too.
test_unpinned()
{
	begin
	mrpc policy load "$OBJECTS/keeper.bpf.o"
	mkdir /sys/fs/bpf/else
	on_exit rm -rf /sys/fs/bpf/else
	mv $PINS/keeper/link /sys/fs/bpf/else/link
	refused 1 "which another program has attached" policy load "$OBJECTS/keeper.bpf.o"
	policy keeper "p['state'] == 'attached' and 'pinned' not in p"
	mrpc -j policy unload keeper | json "j == [{'name': 'keeper', 'version': 1, 'users': []}]"
	mrpc -j policy | json 'j == []'
}

data() { bpftool map dump pinned "$PINS/keeper/maps/_$1" -j; }

test_replace()
{
	begin
	begin_calls 0
	edit update bad
	denied bad 'kept out'
	refused 1 "the policy 'keeper' is loaded already: 'mrpc policy replace keeper" \
		policy load "$OBJECTS/keeper.bpf.o"
	refused 1 "it has a function that the first one had not" \
		policy replace keeper "$OBJECTS/keeper_more.bpf.o"
	policy keeper "p['generation'] == 1 and 'it has a function' in p['why']"
	refused 1 "the map 'denied' is another than that of the programs before (its keys have 32 bytes, and had 64)" \
		policy replace keeper "$OBJECTS/keeper_key.bpf.o"
	refused 1 "there is no policy 'keeper' in it, but 'wrong'" \
		policy replace keeper "$OBJECTS/wrong.bpf.o"
	denied bad 'kept out'
	mrpc policy replace keeper "$OBJECTS/keeper_next.bpf.o" | tee "$TEST_TMP/out"
	grep -q '^keeper replaced: generation 2, maps kept: .*denied' "$TEST_TMP/out"
	denied bad 'still out'
	get good
	data data | has '"0x05"'
	[[ $(ls $PINS/keeper) == $'link\nmaps\nsource' ]]
	mrpc -j policy replace keeper "$OBJECTS/keeper_next.bpf.o" fresh |
		json "j[0]['kept'] == ['denied'] and j[0]['generation'] == 3"
	data data | has '"0x07"'
	# The pins are those of the new maps: with a limit of 0 all pass.
	bpftool map update pinned $PINS/keeper/maps/_data key hex 00 00 00 00 value hex 00 00 00 00 00 00 00 00
	get bad
	edit delete bad
	refused 1 "the global variables in '.data' are others than those of the programs before (its values have 24 bytes, and had 8): with 'fresh'" \
		policy replace keeper "$OBJECTS/keeper_data.bpf.o"
	mrpc policy replace keeper "$OBJECTS/keeper_data.bpf.o" fresh | has ': .*denied'
	mrpc engine del gate
	mrpc policy unload keeper
}

test_evicted()
{
	begin
	serve 1
	ip netns add other
	on_exit ip netns delete other
	mrpc monitor policy >"$TEST_TMP/events" &
	mrpc -n other monitor policy >"$TEST_TMP/elsewhere" &
	# Until both listen.
	wait_for 20 eval 'mrpc policy load "$OBJECTS/keeper.bpf.o"; mrpc policy unload keeper;
		[[ -s $TEST_TMP/events && -s $TEST_TMP/elsewhere ]]'
	mrpc policy load "$OBJECTS/wrong.bpf.o"
	mrpc engine add wrong name gate scope side client
	wait_for 20 policy wrong "p['state'] == 'evicted' and 'link' not in p and p['errors'] > 0 and
		p['fallbacks'] > 0"
	policy wrong "p['evicted'] == 1 and p['why'] == 'it returned 77' and 'pinned' not in p"
	! kv-client put a b 2>/dev/null || fail "it passes"
	# Its variables are kept: it begins with what makes it right.
	bpftool map update pinned $PINS/wrong/maps/_data key hex 00 00 00 00 value hex 00 00 00 00
	mrpc policy replace wrong "$OBJECTS/wrong.bpf.o"
	policy wrong "p['state'] == 'attached' and p['generation'] == 2 and p['evicted'] == 1"
	kv-client put a b
	mrpc -j policy replace wrong "$OBJECTS/wrong.bpf.o" | json "j[0]['generation'] == 3"
	kv-client put a b
	mrpc engine del gate
	mrpc policy unload wrong
	wait_for 10 grep -q 'policy detach: policy wrong version 1 state detached' "$TEST_TMP/events"
	cat "$TEST_TMP/events"
	grep -q '^policy attach: policy wrong version 1 state attached generation 1$' "$TEST_TMP/events"
	grep -q '^policy detach: policy wrong version 1 state evicted generation 1 why it returned 77$' \
		"$TEST_TMP/events"
	grep -q '^policy replace: policy wrong version 1 state attached generation 3' "$TEST_TMP/events"
	# Policies are the host's: all network namespaces hear of them.
	wait_for 10 grep -q '^policy detach: policy wrong version 1 state detached' "$TEST_TMP/elsewhere"
}

# bad NAME PATTERN...: the object is refused, in these words, and nothing stays.
bad()
{
	local name=$1 pattern
	shift
	! mrpc policy load "$OBJECTS/bad_$name.bpf.o" 2>"$TEST_TMP/err" || fail "bad_$name is loaded"
	echo "# bad_$name"
	cat "$TEST_TMP/err"
	for pattern; do
		grep -q -- "$pattern" "$TEST_TMP/err" || fail "nothing like '$pattern' about bad_$name"
	done
	[[ ! -e $PINS ]] || fail "pins of bad_$name stay"
}

test_verifier()
{
	begin
	bad function 'it calls a function that the kernel does not have' bpf_mrpc_frobnicate
	bad loop "refuses the program 'bad_tx': it has a loop" 'bad_loop.bpf.c:1[0-9]: ' \
		"'--debug' prints its whole log"
	bad size "refuses the program 'bad_tx': .*sizeof(the buffer)" 'bad_size.bpf.c:1[0-9]: '
	bad leak "refuses the program 'bad_tx': it takes something" 'bad_leak.bpf.c:' 'reference'
	bad null "refuses the program 'bad_tx': it uses a pointer that may be NULL" 'bad_null.bpf.c:'
	bad write "refuses the program 'bad_tx': it writes where" 'bad_write.bpf.c:'
	bad license 'license that is compatible with the GPL'
	bad sleep "struct_ops.s/..."
	bad sleeps 'it calls a function that may sleep' bpf_copy_from_user_str
	! mrpc policy load "$OBJECTS/bad_null.bpf.o" --debug 2>"$TEST_TMP/err" || fail "it is loaded"
	grep -q '^[0-9]*: (85) call bpf_map_lookup_elem' "$TEST_TMP/err"
	mrpc -j policy | json 'j == []'
}

# declared NAME PATTERN
declared()
{
	refused 1 "is declared wrongly: $2" policy load "$OBJECTS/declared.bpf.o" name "$1"
}

test_declared()
{
	begin
	declared Upper "name 'Upper' has a character that is none of a-z, 0-9, _ and -"
	declared flags 'flags is 0x18, of which 0x18 has no meaning'
	declared storage 'storage is 5000 bytes: it must be at most 4096'
	declared budget 'budget is 1000000001: it must be at most 1000000000 ns'
	declared gap 'fields[2] is given, and fields[1] is not'
	declared type "fields[0] 'kv..Put:key': 'kv..Put' is no name of a type"
	declared path "fields[0] 'kv.Put:' has no path"
	declared counters "counters[1] 'Bad' has a character"
	declared counter_gap 'counters[1] is given, and counters[0] is not'
	declared period 'period is 1000000, and there is no tick'
	declared short_tick 'period is 1000 ns: with a tick it must be'
	declared idle 'it has no program that judges messages'
	declared lb_idle 'it has no program that chooses'
	declared lb_flags 'flags is 0x5, of which 0x1 has no meaning'
	declared sched_idle 'it has no program: it must have one of rank, dequeue and charge'
	declared sched_flags 'flags is 0x4: of an egress discipline it must be 0'
	declared sched_storage 'storage is 8: an egress discipline has bpf_mrpc_own()'
	declared sched_budget 'budget is 5000001: it must be at most 5000000 ns'
	declared sched_period 'period is 1000000, and there is no tick'
	declared sched_fields 'an egress discipline has neither fields nor counters'
	refused 1 "it must be in '.struct_ops.link'" policy load "$OBJECTS/declared.bpf.o" name unlinked
	mrpc policy load "$OBJECTS/declared.bpf.o" name fine
	policy fine "p['hooks'] == ['request_tx', 'tick'] and p['period_ns'] == 1000000"
	mrpc policy unload fine
}

# One of another type: the engine lb asks it.
test_chooser()
{
	local lb=(scope service kv.Store side client members tcp:127.0.0.1:7000)
	begin
	serve 1
	kv-client put good 1
	refused 1 "there is no policy 'p2c' to choose" engine add lb name web "${lb[@]}" chooser p2c
	mrpc policy load "$MRPC_BUILD/bpf/p2c.bpf.o"
	policy p2c "p['type'] == 'lb' and p['hooks'] == ['pick'] and p['users'] == []"
	policy p2c "[q['hook'] for q in p['programs']] == ['pick']"
	refused 1 "'p2c' is not placed: it is a chooser for lb" engine add p2c
	refused 1 "'lb' cannot choose: it must be a policy of type lb" \
		engine add lb name web "${lb[@]}" chooser lb
	mrpc engine add lb name web "${lb[@]}" policy least chooser p2c
	policy p2c "p['users'] == ['web']"
	mrpc -j engine show web | json "j[0]['values']['chooser']['text'] == 'p2c'"
	wait_for 20 policy p2c "p['counters'] == {'first': 0, 'second': 0} and p['runs'] > 0"
	mrpc policy list | tee "$TEST_TMP/out"
	grep -q '^p2c  *1  *lb  *attached  *1  *0  *pick  *web .* yes$' "$TEST_TMP/out"
	mrpc config save "$TEST_TMP/config"
	refused 1 "the policy 'p2c' has engines: 'web' (which would go by its own policy, least)" \
		policy unload p2c
	mrpc policy replace p2c "$MRPC_BUILD/bpf/p2c.bpf.o" | has 'generation 2'
	mrpc policy unload p2c force | has 'engine web: goes by its own policy from now on (least)'
	kv-client get good
	policy p2c "p['state'] == 'detached' and p['users'] == ['web']"
	wait_for 20 policy p2c "p['fallbacks'] > 0"
	mrpc engine set web chooser none
	kv-client get good
	wait_for 20 eval "mrpc -j policy | json 'j == []'"
	mrpc engine del web
	mrpc config restore "$TEST_TMP/config" | has '^p2c loaded'
	policy p2c "p['users'] == ['web']"
	mrpc engine del web
	mrpc policy unload p2c
}

# A file has two policies: both are loaded, or none.
test_pair()
{
	begin
	mrpc engine type show null@1 >/dev/null
	refused 1 "there is an engine type 'null' version 1 of the module mrpc_null_1 already" \
		policy load "$OBJECTS/pair.bpf.o"
	mrpc -j policy | json 'j == []'
	[[ ! -e $PINS ]]
	mrpc policy load "$OBJECTS/pair.bpf.o" name first
	[[ $(ls $PINS) == first@3 ]]
	mrpc policy show first@3 | has 'version *3'
	refused 1 "there is no policy 'first@2'" policy show first@2
	mrpc policy unload first
	[[ ! -e $PINS ]]
}

# An egress discipline is a policy, too; its place is another one.
test_sched()
{
	local file=$TEST_TMP/config
	begin
	on_exit eval 'mrpc egress del dev lo'
	serve 1
	bad rank_write 'cannot write\|only read is supported\|may only read'
	bad rank_name "'strict' is the name of a discipline that is no policy"
	mrpc policy load "$MRPC_BUILD/bpf/earliest.bpf.o"
	policy earliest "p['type'] == 'sched' and p['hooks'] == ['rank'] and p['users'] == []"
	refused 1 "policy 'earliest' is an egress discipline: mrpc egress set" engine add earliest
	refused 2 "'a-name-that-is-too-long-for-a-policy' is no name of a discipline: it must be at most 31 characters" \
		egress set dev lo discipline a-name-that-is-too-long-for-a-policy
	mrpc egress set dev lo discipline earliest
	mrpc egress | has '^dev lo  *earliest ' || mrpc egress | has '^lo  *earliest '
	policy earliest "p['users'] == ['egress dev lo']"
	kv-client put a b
	policy earliest "p['runs'] > 0 and p['mean_ns'] > 0"
	refused 1 "egress domains go by the policy 'earliest': 'egress dev lo' (which would go by priority); give them another discipline with 'mrpc egress set', or say 'force'" \
		policy unload earliest
	mrpc policy replace earliest "$MRPC_BUILD/bpf/earliest.bpf.o"
	policy earliest "p['generation'] == 2"
	mrpc config save "$file"
	mrpc egress set dev lo discipline fifo
	mrpc config restore "$file" | has 'egress dev lo: changed'
	mrpc -j egress | json 'j[0]["discipline"] == "earliest"'
	mrpc policy unload earliest force | has 'egress dev lo: goes by priority from now on'
	policy earliest "p['state'] == 'detached'"
	kv-client put a c
	mrpc egress set dev lo discipline strict
	mrpc -j policy | json 'j == []'
	mrpc config restore "$file" | has '^earliest loaded'
	mrpc -j egress | json 'j[0]["discipline"] == "earliest"'
	mrpc egress set dev lo discipline strict
	mrpc policy unload earliest
}

test_rights()
{
	begin
	cp "$OBJECTS/keeper.bpf.o" "$(type -P mrpc)" "$TEST_TMP/"
	chmod 755 "$TEST_TMP"
	local nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	local admin=("${nobody[@]}" --inh-caps=+net_admin --ambient-caps=+net_admin)
	! "${nobody[@]}" "$TEST_TMP/mrpc" policy load "$TEST_TMP/keeper.bpf.o" 2>"$TEST_TMP/err" ||
		fail "nobody loads a policy"
	cat "$TEST_TMP/err"
	grep -q 'needs CAP_SYS_ADMIN in the initial user namespace' "$TEST_TMP/err"
	! setpriv --bounding-set=-sys_admin mrpc policy load "$OBJECTS/keeper.bpf.o" \
		2>"$TEST_TMP/err" || fail "CAP_SYS_ADMIN is not needed"
	cat "$TEST_TMP/err"
	grep -q 'needs CAP_SYS_ADMIN in the initial user namespace' "$TEST_TMP/err"
	mrpc -j policy | json 'j == []'
	[[ ! -e $PINS ]]
	# Who may see it, but has no right to BPF, is told less.
	mrpc policy load "$OBJECTS/keeper.bpf.o"
	"${admin[@]}" "$TEST_TMP/mrpc" -j policy |
		json "j[0]['name'] == 'keeper' and 'programs' not in j[0]"
	! "${admin[@]}" "$TEST_TMP/mrpc" policy unload keeper 2>"$TEST_TMP/err" ||
		fail "who may not detaches it"
	grep -q 'needs CAP_SYS_ADMIN' "$TEST_TMP/err"
	policy keeper "p['state'] == 'attached'"
	mrpc policy unload keeper
	# Who may write there could lead us to where pins are removed.
	mkdir $PINS
	chown nobody $PINS
	refused 1 "'$PINS' belongs to another user" policy load "$OBJECTS/keeper.bpf.o"
	rmdir $PINS
	# The mounts of 'ip netns exec' go with it.
	ip netns add other
	on_exit ip netns delete other
	! in_ns other mrpc policy load "$OBJECTS/wrong.bpf.o" 2>"$TEST_TMP/err" ||
		fail "it is pinned where nobody sees it"
	grep -q 'there is no BPF file system' "$TEST_TMP/err"
	# Where it is not mounted for anybody, it is for all.
	umount -l /sys/fs/bpf
	mrpc policy load "$OBJECTS/keeper.bpf.o"
	[[ -e $PINS/keeper/link ]]
	mrpc policy unload keeper
}

test_unloaded()
{
	begin
	mrpc_unload
	refused 1 'is the module loaded' policy load "$OBJECTS/keeper.bpf.o"
	mrpc_load
	mrpc policy load "$OBJECTS/keeper.bpf.o"
	! rmmod mrpc_tcp mrpc 2>/dev/null || fail "the module goes although it has a policy"
	mrpc_load
	mrpc policy unload keeper
	mrpc_unload
	mrpc_load
}

# A configuration has where its policies come from, and loads those that are missing.
test_config()
{
	begin
	local file=$TEST_TMP/config.json
	cp "$OBJECTS/keeper.bpf.o" "$TEST_TMP/k.bpf.o"
	(cd "$TEST_TMP" && mrpc policy load k.bpf.o)
	mrpc engine add keeper
	mrpc config save "$file"
	json "[(p['name'], p['version'], p['file']) for p in j['policies']] ==
		[('keeper', 1, '$TEST_TMP/k.bpf.o')]" <"$file"
	# Nothing is so that it needs a change.
	[[ -z $(mrpc config restore "$file") ]]
	mrpc engine del keeper
	mrpc policy unload keeper
	mrpc config restore "$file" | tee "$TEST_TMP/out"
	grep -q '^keeper loaded' "$TEST_TMP/out"
	grep -q '^keeper: added' "$TEST_TMP/out"
	policy keeper "p['users'] == ['keeper']"
	# What no engine uses is not kept; a file that is gone is said to be.
	mrpc engine del keeper
	mrpc config save - | json "j['policies'] == []"
	mrpc policy unload keeper
	rm "$TEST_TMP/k.bpf.o"
	refused 1 'k.bpf.o' config restore "$file"
}

# Entries of maps, as their types say.
test_map()
{
	begin
	local hex
	serve 0
	mrpc policy load "$OBJECTS/keeper.bpf.o"
	mrpc engine add keeper scope side client
	kv-client put bad 1
	get bad
	mrpc policy map set keeper denied bad 1
	denied bad 'kept out'
	mrpc policy map show keeper denied | has '^bad  *1$'
	mrpc -j policy map show keeper denied | json "j == [{'key': 'bad', 'value': '1'}]"
	mrpc policy map del keeper denied bad
	get bad
	hex=hex:$(key bad | tr -d ' ')
	mrpc policy map set keeper denied "$hex" hex:ff
	mrpc policy map show keeper denied | has '^bad  *255$'
	mrpc policy map set keeper denied bad 0x10
	refused 1 "it has none with this key" policy map del keeper denied good
	refused 2 "'256' is no number of 1 bytes without a sign" policy map set keeper denied x 256
	refused 2 "'-1' is no number of 1 bytes" policy map set keeper denied x -1
	refused 2 "'one' is not a number" policy map set keeper denied x one
	refused 2 "'hex:0' is not 'hex:' and 1 bytes" policy map set keeper denied x hex:0
	refused 2 'at most 64 have room' policy map set keeper denied "$(printf '%065d' 1)" 1
	refused 1 "the policy 'keeper' has no map 'x'" policy map show keeper x
	refused 1 "the policy 'x' has no map 'denied'" policy map set x denied a 1
	refused 2 'the value is missing' policy map set keeper denied a
	refused 2 "'../link' is not the name of a map" policy map show keeper ../link
	mrpc policy map show keeper denied | has '^bad  *16$'
}

# A struct's members by their names.
test_map_struct()
{
	begin
	need "$MRPC_BUILD/bpf/user_bucket.bpf.o" 'built without examples'
	mrpc policy load "$MRPC_BUILD/bpf/user_bucket.bpf.o"
	mrpc policy map set user_bucket limits 7 rate=12,burst=3
	mrpc policy map show user_bucket limits | has '^7  *rate=12,burst=3,patience_ms=0$'
	refused 2 "'frob' is not a member of struct limit" policy map set user_bucket limits 7 frob=1
	refused 2 'is not member=value' policy map set user_bucket limits 7 12
}

run_tests "$@"
