// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/rule tools/mrpc/rules */
/*
 * The text of rules, as the operator writes it: tools/mrpc/rules.
 */
#include "rules.h"

static const struct rule_verb fault[] = {
	{ "abort", 1, RULE_TAKES_STATUS | RULE_TAKES_DETAIL | RULE_TAKES_SHARE, MRPC_UNAVAILABLE },
	{ "delay", 2, RULE_TAKES_TIME | RULE_TAKES_SHARE, 0 },
	{ "class", 3, RULE_TAKES_NUMBER, 0 },
	{ NULL }
};

/* The text that comes back, and that it stays so. */
static void check_text(const char *text, const char *canonical, const struct rule_verb *verbs)
{
	struct rule_text_error err;
	size_t len, again_len;
	void *binary = parse(text, verbs, &len), *again;
	char *back = rule_text_format(binary, len, verbs, &err);

	CHECK_MSG(back, "%s", err.what);
	CHECK_STR(back, canonical);
	again = parse(back, verbs, &again_len);
	CHECK(len == again_len && !memcmp(binary, again, len));
	free(binary);
	free(again);
	free(back);
}

TEST(texts)
{
	static const struct { const char *text, *canonical; } cases[] = {
		{ "", "" },
		{ " # nothing\n\n ; ;\r\n", "" },
		{ "allow", "allow\n" },
		{ "allow;deny # all\n", "allow\ndeny\n" },
		{ "deny status PERMISSION_DENIED detail \"blocked\" if method Get and field key in @blocked",
		  "deny detail \"blocked\" if method Get and field key in @blocked\n" },
		{ "allow if uid 1000-1999", "allow if uid 1000-1999\n" },
		{ "deny if field user.name prefix \"test_\"", "deny if field user.name prefix \"test_\"\n" },
		{ "deny status NOT_FOUND if service kv.Store and method Put*",
		  "deny status NOT_FOUND if service kv.Store and method Put*\n" },
		{ "deny if method *", "deny if method *\n" },
		{ "deny if peer 10.0.0.0/8 and port 0-1023", "deny if peer 10.0.0.0/8 and port 0-1023\n" },
		{ "deny if peer 10.1.2.3/32", "deny if peer 10.1.2.3\n" },
		{ "deny if peer 2001:0db8::/32 and request", "deny if peer 2001:db8::/32 and request\n" },
		{ "deny if peer ::/0 and reply", "deny if peer ::/0 and reply\n" },
		{ "deny if uid 0 and cgroup = 77 and size > 64K", "deny if uid = 0 and cgroup = 77 and size >= 65537\n" },
		{ "deny if size <= 1M", "deny if size <= 1048576\n" },
		{ "deny if size 1K-2K", "deny if size 1024-2048\n" },
		{ "deny if size < 1G", "deny if size <= 1073741823\n" },
		{ "deny if meta tenant present and meta x-y.z_1=\"a\" and meta t in @s",
		  "deny if meta tenant present and meta x-y.z_1 = \"a\" and meta t in @s\n" },
		{ "deny if meta a prefix \"\\x41\\\\\\\"\\n\\x00\\xff\"",
		  "deny if meta a prefix \"A\\\\\\\"\\x0a\\x00\\xff\"\n" },
		{ "deny detail \"caf\xc3\xa9\"", "deny detail \"caf\xc3\xa9\"\n" },
		{ "deny if field tags[\"a b\\\"c\"].x[3] = \"y\" and field n# >= 1",
		  "deny if field tags[\"a b\\\"c\"].x[3] = \"y\" and field n# >= 1\n" },
		{ "deny if field n=-5 and field n -5--2 and field n < -9223372036854775807",
		  "deny if field n = -5 and field n -5--2 and field n <= -9223372036854775808\n" },
		{ "deny if field n > -1 and field n < 0 and field n < 1", "deny if field n >= 0 and field n <= -1 and field n <= 0\n" },
		{ "deny if field n 18446744073709551615", "deny if field n = 18446744073709551615\n" },
		{ "deny if field d 1.5-2 and field d > 1.0 and field d < -0.0 and field d = 1e300",
		  "deny if field d 1.5-2.0 and field d >= 1.0000000000000002 and field d <= -4.9406564584124654e-324 and field d = 1.0000000000000001e+300\n" },
		{ "deny if field d -inf-0.5 and field d >= inf", "deny if field d -inf-0.5 and field d >= inf\n" },
		{ "deny if field b = true and field b false", "deny if field b = 1 and field b = 0\n" },
		{ "deny if field a == \"x\" and field b==true and field n == 5 and uid ==7 and meta k==\"v\"",
		  "deny if field a = \"x\" and field b = 1 and field n = 5 and uid = 7 and meta k = \"v\"\n" },
		{ "deny if field a in @x and field b in @y and field c in @x",
		  "deny if field a in @x and field b in @y and field c in @x\n" },
	};
	static const struct { const char *text, *canonical; } faults[] = {
		{ "abort percent 5 status INTERNAL", "abort percent 5 status INTERNAL\n" },
		{ "abort status UNAVAILABLE percent 0.0001", "abort percent 0.0001\n" },
		{ "abort percent 12.5", "abort percent 12.5\n" },
		{ "abort percent 100.0", "abort\n" },
		{ "delay 10ms percent 99.99 if method Get", "delay 10ms percent 99.99 if method Get\n" },
		{ "delay 1500us; delay 1000ms; delay 7ns; delay 0s", "delay 1500us\ndelay 1s\ndelay 7ns\ndelay 0s\n" },
		{ "class 7 if size < 2K", "class 7 if size <= 2047\n" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_text(cases[i].text, cases[i].canonical, acl);
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		check_text(faults[i].text, faults[i].canonical, fault);
}

TEST(text_errors)
{
	static const struct { const char *text; u32 line, column; const char *what; } cases[] = {
		{ "permit", 1, 1, "'permit': allow or deny is expected" },
		{ "permit_of_a_length_that_no_word_of_the_language_has_and_no_line_holds", 1, 1,
		  "'permit_of_a_length_that_no_word_of_the_language_has_and_no_li...': allow or deny is expected" },
		{ "allow\n\n  dny", 3, 3, "'dny': allow or deny is expected" },
		{ "allow status OK", 1, 7, "'status': if or the rule's end is expected" },
		{ "deny status NOPE", 1, 13, "'NOPE': a status, such as PERMISSION_DENIED, is expected" },
		{ "deny detail x", 1, 13, "'x': a text in quotes is expected" },
		{ "deny detail \"x", 1, 13, "the text that starts here has no closing quote" },
		{ "deny detail \"x\\q\"", 1, 15, "after a backslash, \\, \", n, t or xHH is expected" },
		{ "deny if", 1, 8, "the rule ends here; service, method, peer, identity, port, uid, cgroup, request, reply, size, meta or field is expected" },
		{ "deny if uid 5 or", 1, 15, "'or': and, or the rule's end is expected" },
		{ "deny if uid x", 1, 13, "'x': a number is expected" },
		{ "deny if uid -1", 1, 13, "'-1' is not a whole number from 0" },
		{ "deny if uid 1.5", 1, 13, "'1.5' is not a whole number from 0" },
		{ "deny if uid 5-3", 1, 13, "the range '5-3' starts behind its end" },
		{ "deny if uid 5x", 1, 14, "'x': a blank behind the number is expected" },
		{ "deny if uid < 0", 1, 15, "no number can be less than that" },
		{ "deny if size > 18446744073709551615", 1, 16, "no number can be larger than that" },
		{ "deny if size 18446744073709551616", 1, 14, "'18446744073709551616' is larger than any number can be" },
		{ "deny if size 18014398509481984K", 1, 14, "the number of bytes that starts here is too large" },
		{ "deny if field n -9223372036854775809", 1, 17, "'-9223372036854775809' is less than any number can be" },
		{ "deny if peer 10.1.0.0/8", 1, 14, "'10.1.0.0/8' has bits behind its first 8; 10.0.0.0/8 is meant?" },
		{ "deny if peer 10.0.0.0/33", 1, 23, "'33': a number of bits up to 32 is expected" },
		{ "deny if peer ::ffff:10.0.0.0/104", 1, 14, "'::ffff:10.0.0.0/104' has addresses of version 4: write them as those, such as 10.0.0.0/8" },
		{ "deny if peer host", 1, 14, "'host': an address, or an address/bits is expected" },
		{ "deny if method 9x", 1, 16, "'9x': a method's name, or the start of one and * is expected" },
		{ "deny if method a.b", 1, 16, "'a.b': a method's name, or the start of one and * is expected" },
		{ "deny if service a..b", 1, 17, "'a..b': a service's name with its package is expected" },
		{ "deny if meta Key present", 1, 14, "'Key': a metadata key, of a-z, 0-9, '.', '_' and '-', is expected" },
		{ "deny if meta key 5", 1, 18, "'5': present, = \"TEXT\", prefix \"TEXT\" or in @SET is expected" },
		{ "deny if meta key in set", 1, 21, "'set': the name of a set, with @ before it, is expected" },
		{ "deny if meta key in @a:b", 1, 23, "':' cannot be in a set's name: only letters, digits, _, . and - can" },
		{ "deny if field [1]", 1, 15, "'[1]': the path to a field is expected" },
		{ "deny if field a[\"x]", 1, 17, "the key that starts here has no closing quote" },
		{ "deny if field a = blocked", 1, 19, "'blocked': a number, true, false or a text in quotes is expected" },
		{ "deny if field a == ", 1, 20, "the rule ends here; a number, true, false or a text in quotes is expected" },
		{ "deny if field a === 1", 1, 19, "'=': a number, true, false or a text in quotes is expected" },
		{ "deny if field a blocked", 1, 17, "'blocked': present, prefix, in, a number, a range or a comparison is expected" },
		{ "deny if field a", 1, 16, "the rule ends here; present, prefix, in, a number, a range or a comparison is expected" },
	};
	static const struct { const char *text; u32 column; const char *what; } faults[] = {
		{ "stop", 1, "'stop': abort, delay or class is expected" },
		{ "delay 10", 7, "a time with its unit is expected: ns, us, ms or s" },
		{ "delay x", 7, "'x': a number is expected" },
		{ "class 5s", 8, "'s': a blank behind the number is expected" },
		{ "abort percent 0", 15, "'0': a number from 0.0001 to 100, with at most four decimals, is expected" },
		{ "abort percent 100.01", 15, "'100.01': a number from 0.0001 to 100, with at most four decimals, is expected" },
		{ "abort percent 1.00001", 15, "'1.00001': a number from 0.0001 to 100, with at most four decimals, is expected" },
		{ "abort 5", 7, "'5': percent, status, detail, if or the rule's end is expected" },
		{ "delay 99999999999999999999s", 7, "'99999999999999999999' is larger than any number can be" },
		{ "delay 99999999999999999s", 7, "the time is too long" },
	};
	struct rule_text_error err;
	size_t len;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK_MSG(!rule_text_parse(cases[i].text, acl, &len, &err), "%s", cases[i].text);
		CHECK_STR(err.what, cases[i].what);
		CHECK_MSG(err.line == cases[i].line && err.column == cases[i].column,
			  "%s: %u:%u", cases[i].text, err.line, err.column);
	}
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		CHECK_MSG(!rule_text_parse(faults[i].text, fault, &len, &err), "%s", faults[i].text);
		CHECK_STR(err.what, faults[i].what);
		CHECK_MSG(err.column == faults[i].column, "%s: %u", faults[i].text, err.column);
	}
	CHECK(!rule_text_parse("deny detail \"\\xff\"", acl, &len, &err));
	CHECK_STR(err.what, "rule 1 has a detail that is not UTF-8 (1)");
}
