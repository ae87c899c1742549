// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/fault kmod/chain/delay */
/*
 * The fault engine: as many faults as were ordered, and nothing else.
 */
#include <errno.h>

#include "tap.h"
#include "load.h"
#include "operator.h"

enum { NONE, ABORT, DELAY };

static struct raw_pair p;
static struct load l;
static struct op_rules r;

static void begin(const char *how, unsigned int in_flight)
{
	op_del_all();
	raw_pair(&p, how, 2);
	load_start(&l, &p.c, p.conn, in_flight);
}

static void end(void)
{
	load_stop(&l);
	op_del_all();
	raw_pair_end(&p);
}

/*
 * Of the next calls, how many end with @status. Six standard deviations: it fails
 * by chance once in a lifetime. Calls under way have met another configuration, and
 * may end any time.
 */
static void check_share(unsigned int status, double share)
{
	uint64_t all = load_all(&l), some = load_done(&l, status);
	double n, got, off;

	CHECK(load_more(&l, 2000, 60000));
	n = load_all(&l) - all;
	got = load_done(&l, status) - some;
	off = got > n * share ? got - n * share : n * share - got;
	off -= off < l.in_flight ? off : l.in_flight;
	CHECK_MSG(off * off <= 36 * n * share * (1 - share), "%.0f of %.0f with status %u", got,
		  n, status);
}

static void aborts(const char *how, const char *side)
{
	char words[128];

	begin(how, 16);
	snprintf(words, sizeof(words), "abort_percent=2500 side=%s", side);
	op_must_add("fault", words, NULL);
	check_share(MRPC_UNAVAILABLE, 0.25);
	CHECK_STR(l.detail, "made to fail by the operator");
	op_must_set("fault", "abort_status=DATA_LOSS", NULL);
	check_share(MRPC_DATA_LOSS, 0.25);
	op_must_set("fault", "abort_percent=10000", NULL);
	CHECK(load_more(&l, 100, 30000));
	check_share(MRPC_DATA_LOSS, 1);
	op_must_set("fault", "abort_percent=0", NULL);
	CHECK(load_more(&l, 100, 30000));
	check_share(MRPC_DATA_LOSS, 0);
	CHECK_EQ(op_counter("fault", "aborted"),
		 load_done(&l, MRPC_UNAVAILABLE) + load_done(&l, MRPC_DATA_LOSS));
	end();
}

TEST(aborts_client)
{
	aborts("tcp4", "client");
}

TEST(aborts_server)
{
	aborts("tcp4", "server");
}

TEST(aborts_loop)
{
	aborts("loop", "client");
}

static uint64_t call_ns(void)
{
	uint32_t root = raw_blob(&p.c, 1, 8, NULL);
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, root);
	uint64_t start = raw_now();
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
	return raw_now() - start;
}

/* Never too early; how late is the machine's matter. */
static void delays(const char *how, const char *side)
{
	unsigned int i, late, at_once;
	char words[128];
	uint64_t ns;

	op_del_all();
	raw_pair(&p, how, 1);
	snprintf(words, sizeof(words), "delay_percent=10000 delay=100000000 side=%s", side);
	op_must_add("fault", words, NULL);
	for (i = 0; i < 5; i++)
		CHECK(call_ns() >= 100 * RAW_MS);
	/* Some are late, some are not: that it is as many as ordered is tested with aborts. */
	op_must_set("fault", "delay=1000000000 delay_percent=5000", NULL);
	for (late = at_once = 0; late < 3 || at_once < 3;) {
		CHECK_MSG(late + at_once < 40, "%u are late, %u are not", late, at_once);
		ns = call_ns();
		if (op_counter("fault", "delayed") == 5 + late) {
			at_once++;
			continue;
		}
		CHECK_EQ(op_counter("fault", "delayed"), 5 + ++late);
		CHECK(ns >= RAW_S);
	}
	op_must_del("fault");
	raw_pair_end(&p);
}

TEST_LIMIT(delays_client, 90)
{
	delays("tcp4", "client");
}

TEST_LIMIT(delays_server, 90)
{
	delays("tcp4", "server");
}

/* Those that it has when it goes, or when the connection ends. */
TEST(leaves_with_some_late)
{
	struct op_change change;

	begin("tcp4", 32);
	op_must_add("fault", "delay_percent=10000 delay=3600000000000", NULL);
	CHECK(load_still(&l));
	/* Those that had passed the client's end when it came wait at the server's. */
	CHECK_EQ(op_dir("fault", false, MRPC_A_ENGINE_DIR_KEPT) +
		 op_dir("fault", true, MRPC_A_ENGINE_DIR_KEPT), 32);
	CHECK_EQ(op_del("fault", &change), 0);
	CHECK_EQ(change.leaked, 0);
	CHECK(load_more(&l, 100, 30000));
	CHECK_EQ(load_failed(&l), 0);
	op_must_add("fault", "delay_percent=10000 delay=3600000000000 side=server", NULL);
	CHECK(load_still(&l));
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	CHECK(load_more(&l, 32, 30000));
	end();
}

TEST(rules)
{
	begin("tcp4", 16);
	l.text = "one";
	op_rules_begin(&r);
	op_rule(&r, NONE, 0, NULL);
	op_cond_text(&r, MRPC_COND_FIELD, MRPC_MATCH_EQUAL, "text", "spared");
	op_rule(&r, ABORT, MRPC_NOT_FOUND, NULL);
	op_rule_more(&r, 100000, 0);
	op_cond_text(&r, MRPC_COND_FIELD, MRPC_MATCH_EQUAL, "text", "one");
	op_must_add("fault", "abort_percent=10000 side=server", &r);
	CHECK(load_more(&l, 50, 30000));
	check_share(MRPC_NOT_FOUND, 0.1);
	CHECK_EQ(load_except(&l, 1 << MRPC_OK | 1 << MRPC_NOT_FOUND | 1 << MRPC_UNAVAILABLE), 0);
	/* What no rule matches gets the percentages. */
	l.text = "two";
	CHECK(load_more(&l, 50, 30000));
	check_share(MRPC_UNAVAILABLE, 1);
	l.text = "spared";
	CHECK(load_more(&l, 50, 30000));
	check_share(MRPC_OK, 1);
	end();
}

static void refused(int err, const char *why, const char *words, const struct op_rules *rules)
{
	int got = op_add("fault", words, rules, NULL);

	CHECK_MSG(got == err, "%s: %d, not %d: %s", words, got, err, op_why);
	CHECK_MSG(strstr(op_why, why), "%s: '%s', not '%s'", words, op_why, why);
}

TEST(bad_input)
{
	op_del_all();
	refused(-ERANGE, "abort_percent is 10001, allowed is 0 to 10000", "abort_percent=10001", NULL);
	refused(-EINVAL, "abort_status is OK, which is no failure", "abort_status=OK", NULL);
	refused(-EINVAL, "abort_status", "abort_status=BROKEN", NULL);
	refused(-EINVAL, "delay_percent is given, but delay is 0", "delay_percent=5", NULL);
	refused(-ERANGE, "delay is", "delay=3600000000001", NULL);
	op_rules_begin(&r);
	op_rule(&r, 3, 0, NULL);
	refused(-EINVAL, "rule 1: action 3", "", &r);
	op_rules_begin(&r);
	op_rule(&r, DELAY, MRPC_ABORTED, NULL);
	refused(-EINVAL, "rule 1: fault takes a status to abort with", "", &r);
	op_rules_begin(&r);
	op_rule(&r, ABORT, 0, NULL);
	op_rule_more(&r, 5, 5);
	refused(-EINVAL, "rule 1: argument 5; only a delay has one", "", &r);
}
