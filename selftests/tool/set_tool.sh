#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc kmod/rules kmod/lib/ds/set
# mrpc set: keys that rules refer to.
# timeout 300
. "${0%/*}/../harness/lib.sh"

begin() { on_exit forget; }

forget()
{
	local name
	forget_engines
	# Rules that refer to them end a little later than their engines.
	for name in $(mrpc set | awk 'NR > 1 { print $1 }'); do
		wait_for 10 mrpc set destroy "$name"
	done
}

test_usage()
{
	begin
	local word
	refused 2 "'frob' is not a command: it must be show, create, destroy, add, del, load" set frob
	refused 2 "'de' is not a command" set de a
	for word in create destroy add del load flush; do
		refused 2 'the name of the set is missing' set $word
	done
	refused 1 "there is no set 'a'" set show a
	refused 1 "there is no set 'a'" set add a b
	refused 1 "there is no set 'a'" set load a /dev/null
	refused 1 "there is no set 'a'" set flush a
	refused 1 "there is no set 'a'" set destroy a
	refused 2 "'number' is not a kind of keys: it must be text or integer" set create a number
	refused 1 'name has 1 to 127 letters, digits or _.-' set create 'a b'
	mrpc set create a
	mrpc set create i integer
	refused 1 "a set named 'a' already" set create a
	refused 2 'a key is missing' set add a
	refused 2 "is not a key of 'a': it is empty" set add a ''
	refused 2 'it is longer than 1024 bytes' set add a "$(printf 'x%.0s' {1..1025})"
	refused 2 'a backslash must begin' set add a 'b\q'
	refused 2 'a backslash must begin' set add a 'b\'
	refused 2 'a backslash must begin' set add a 'b\x1'
	refused 2 'a backslash must begin' set add a 'b\xgg'
	for word in x 1x 0x '' ' 1' +1 1.5 18446744073709551616 -9223372036854775809 0xfffffffffffffffff; do
		refused 2 "it must be an integer of 64 bits" set add i "$word"
	done
	refused 2 'the file with the keys is missing' set load a
	refused 1 "cannot open '/nowhere'" set load a /nowhere
	printf '1\n2\nx\n4\n' >"$TEST_TMP/keys"
	refused 1 "keys:3: 'x' is not a key of 'i': it must be" set load i "$TEST_TMP/keys"
	printf 'a\r\nb\r\n' >"$TEST_TMP/keys"
	refused 1 'keys:1: ' set load a "$TEST_TMP/keys"
	grep -q 'carriage return' "$TEST_TMP/err"
	mrpc -j set | json "[(s['name'], s['kind'], s['keys']) for s in j] == [('a', 'text', 0), ('i', 'integer', 0)]"
	if setpriv --reuid 1000 --clear-groups --bounding-set -all --inh-caps -all "$(type -P mrpc)" set \
		2>"$TEST_TMP/err"; then
		fail "everybody may see them"
	fi
	grep -q 'needs CAP_NET_ADMIN' "$TEST_TMP/err"
}

test_keys()
{
	begin
	mrpc set create a
	[[ $(mrpc set add a one two one) == 'a: 3 keys given, 2 added; it has 2' ]]
	[[ $(mrpc set add a two three) == 'a: 2 keys given, 1 added; it has 3' ]]
	[[ $(mrpc set show a | sort | xargs) == 'one three two' ]]
	mrpc -j set del a two four | json "j == {'name': 'a', 'given': 2, 'removed': 1, 'keys': 2}"
	mrpc -j set show a | json "sorted(j) == ['one', 'three']"
	mrpc set | tee "$TEST_TMP/out"
	[[ $(awk 'NR == 2 { print $1, $2, $3, $4 }' "$TEST_TMP/out") == 'a text 2 0' ]]
	[[ $(mrpc set flush a) == 'a: 2 keys given, 2 removed; it has 0' ]]
	[[ $(mrpc -j set show a) == '[]' && -z $(mrpc set show a) ]]
	mrpc set create i integer
	mrpc set add i 0 -1 18446744073709551615 42 0x2A -9223372036854775808 >/dev/null
	mrpc -j set show i | json "sorted(j) == [0, 42, 2**63, 2**64 - 1]"
	[[ $(mrpc set show i | sort -n | xargs) == '0 42 9223372036854775808 18446744073709551615' ]]
	mrpc set destroy i
	[[ $(mrpc -j set | grep -o name | wc -l) == 1 ]]
	# In another namespace there is none.
	ip netns add c
	on_exit ip netns delete c
	[[ $(mrpc -j -n c set) == '[]' ]]
}

# Every byte there and back; control characters not to the terminal.
test_bytes()
{
	begin
	mrpc set create a
	python3 - >"$TEST_TMP/keys" <<-'END'
	import sys
	keys = [bytes([i]) for i in range(256)] + [b'a' * 1024, bytes(range(256)) * 4,
	        'pr\u00fcf \u0085 \u20ac'.encode(), b'\\n', b'"\\"']
	for k in keys:
	    sys.stdout.write(''.join(chr(b) if 32 <= b < 127 and b != 92 else f'\\x{b:02x}' for b in k) + '\n')
	END
	[[ $(mrpc set load a "$TEST_TMP/keys") == 'a: 261 keys given, 261 added; it has 261' ]]
	mrpc set show a >"$TEST_TMP/shown"
	if LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$TEST_TMP/shown"; then
		fail "control characters came through"
	fi
	iconv -f UTF-8 -t UTF-8 "$TEST_TMP/shown" >/dev/null
	mrpc set create b
	mrpc set load b - <"$TEST_TMP/shown" | has 'it has 261$'
	diff <(mrpc set show a | LC_ALL=C sort) <(mrpc set show b | LC_ALL=C sort)
	mrpc -j set show a | json "len(j) == 261 and {'hex': 'ff'} in j and chr(10) in j and
		'pr\u00fcf \u0085 \u20ac' in j"
}

test_many()
{
	begin
	mrpc set create a
	python3 -c 'for i in range(100000): print(f"user-{i}@example.org")' >"$TEST_TMP/keys"
	time mrpc set load a - <"$TEST_TMP/keys" | tee "$TEST_TMP/out"
	[[ $(<"$TEST_TMP/out") == 'a: 100000 keys given, 100000 added; it has 100000' ]]
	time mrpc set show a >"$TEST_TMP/shown"
	diff <(LC_ALL=C sort "$TEST_TMP/keys") <(LC_ALL=C sort "$TEST_TMP/shown")
	[[ $(mrpc set load a "$TEST_TMP/keys") == 'a: 100000 keys given, 0 added; it has 100000' ]]
	# What a person sees meanwhile.
	script -qec "mrpc set flush a" "$TEST_TMP/typescript" >/dev/null
	grep -q 'a: [0-9]*%' "$TEST_TMP/typescript"
	grep -q 'a: 100000 keys given, 100000 removed; it has 0' "$TEST_TMP/typescript"
	# Shown while it changes: each key that is there all the while, once.
	head -500 "$TEST_TMP/keys" | mrpc set load a - >/dev/null
	tail -n +501 "$TEST_TMP/keys" | mrpc set load a - >/dev/null &
	while kill -0 $! 2>/dev/null; do
		mrpc set show a >"$TEST_TMP/shown"
		[[ -z $(sort "$TEST_TMP/shown" | uniq -d) ]]
		[[ -z $(comm -23 <(head -500 "$TEST_TMP/keys" | sort) <(sort "$TEST_TMP/shown")) ]]
	done
}

test_rules()
{
	begin
	ip link set lo up
	kv-server -l tcp:127.0.0.1:7000 >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q 'listening at' "$TEST_TMP/server"
	kv-client put good value
	kv-client put bad value
	mrpc set create blocked
	mrpc engine add acl rules 'deny detail "blocked" if method Get and field key in @blocked' >/dev/null
	mrpc set | has '^blocked  *text  *0  *1$'
	refused 1 "1 engines have rules that use the set 'blocked'" set destroy blocked
	[[ $(kv-client get bad) == value ]]
	mrpc set add blocked bad >/dev/null
	if kv-client get bad 2>"$TEST_TMP/err"; then
		fail "it is not blocked"
	fi
	grep -q 'blocked' "$TEST_TMP/err"
	[[ $(kv-client get good) == value ]]
	mrpc set del blocked bad >/dev/null
	[[ $(kv-client get bad) == value ]]
}

# With the engines whose rules need them.
test_config()
{
	begin
	local file=$TEST_TMP/config.json
	everything()
	{
		mrpc -j set
		mrpc set show a | sort
		mrpc set show i | sort
		mrpc -j engine show acl | grep -o '"data":"[0-9a-f]*"'
	}
	everything_but_numbers() { everything | sed 's/"id":[0-9]*,//g'; }
	mrpc set create a
	mrpc set create i integer
	mrpc set add a one 'two "x"' '\xff' 'pr\xc3\xbcf\n' >/dev/null
	mrpc set add i -1 5 >/dev/null
	mrpc engine add acl rules 'deny if method Get and field key in @a' >/dev/null
	everything_but_numbers >"$TEST_TMP/before"
	mrpc config save "$file"
	json "len(j['sets']) == 2 and {'hex': 'ff'} in j['sets'][0]['keys'] and
		2 ** 64 - 1 in j['sets'][1]['keys']" <"$file"
	# What is so is not touched; then from nothing.
	[[ -z $(mrpc config restore "$file") ]]
	everything_but_numbers | diff "$TEST_TMP/before" -
	forget
	mrpc config restore "$file" | tee "$TEST_TMP/out"
	[[ $(xargs <"$TEST_TMP/out") == 'set a: made set i: made acl: added' ]]
	everything_but_numbers | diff "$TEST_TMP/before" -
	# More than there was stays, or goes.
	mrpc set create more
	mrpc set add a three >/dev/null
	mrpc set del i 5 >/dev/null
	mrpc config restore "$file"
	[[ $(mrpc set show a | wc -l) == 5 && $(mrpc set show i | wc -l) == 2 ]]
	[[ $(mrpc config restore exact "$file") == 'set more: removed' ]]
	everything_but_numbers | diff "$TEST_TMP/before" -
	# What cannot be.
	forget
	mrpc set create a integer
	refused 1 "the set 'a' has keys of another kind" config restore "$file"
	grep -q "'acl' could not be added" "$TEST_TMP/err" || mrpc engine | has '^acl '
	echo '{"engines": [], "sets": [{"name": "b", "kind": "text", "keys": [7]}]}' >"$TEST_TMP/bad"
	refused 1 "the file has a key of 'b' that is none: 7" config restore "$TEST_TMP/bad"
	echo '{"engines": [], "sets": [{"name": "b"}]}' >"$TEST_TMP/bad"
	refused 1 'a set of the file has no name, kind or keys' config restore "$TEST_TMP/bad"
	echo '{"engines": [], "sets": 5}' >"$TEST_TMP/bad"
	refused 1 'has "sets" that are none' config restore "$TEST_TMP/bad"
}

run_tests "$@"
