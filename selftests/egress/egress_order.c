// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/egress kmod/control/egress_config kmod/lib/egress.c kmod/lib/ds/order */
/*
 * Egress domains: the order in which messages of different connections leave, against a model.
 */
#include <errno.h>
#include <limits.h>

#include "tap.h"
#include "operator.h"
#include "raw.h"

#define FIFO	"discipline=fifo"
#define STRICT	"discipline=strict"
#define SMALL	"discipline=small-first"
#define DEADLINE	"discipline=deadline"

#define SET	MRPC_CMD_EGRESS_SET
#define DEL	MRPC_CMD_EGRESS_DEL

static struct raw_pair p;

static void begin(void)
{
	op_del_all();
	op_egress(DEL, "", NULL);
	op_egress(DEL, "lo", NULL);
}

/* With this transport messages of one connection may overtake each other, each in its order. */
static bool apart(const char *how)
{
	return !strcmp(how, "prio");
}

/* Waits until the domain has no more messages to send. */
static bool quiet(const char *dev)
{
	uint64_t until = raw_now() + 10 * RAW_S * raw_scale();
	static struct op_queue all[4096];
	unsigned int nr, i, busy;

	do {
		nr = op_egress_queues(dev, all, 4096);
		for (i = busy = 0; i < nr; i++)
			busy += all[i].value[MRPC_A_EGRESS_QUEUE_LEFT] > 0 ||
				all[i].value[MRPC_A_EGRESS_QUEUE_STATE] !=
				MRPC_EGRESS_QUEUE_STATE_IDLE;
		if (!busy)
			return true;
		raw_sleep(RAW_MS);
	} while (raw_now() < until);
	return false;
}

#define CONNS	12
#define EACH	3		/* messages of each connection */

static int conns[CONNS];
static struct raw_qp qp;
static uint64_t seen[256];
static unsigned int nr_seen;

static void note(const struct mrpc_cqe *cqe, const void *msg)
{
	unsigned int at = __atomic_fetch_add(&nr_seen, 1, __ATOMIC_ACQ_REL);

	(void)cqe;
	if (at < 256)
		seen[at] = ((const struct test_Blob *)msg)->tag;
}

static bool saw(unsigned int nr)
{
	uint64_t until = raw_now() + 20 * RAW_S * raw_scale();

	while (__atomic_load_n(&nr_seen, __ATOMIC_ACQUIRE) < nr) {
		if (raw_now() > until)
			return false;
		raw_sleep(RAW_MS);
	}
	return true;
}

/* One thread runs all datapaths, and another serves. So requests are seen in order of arrival. */
static void one_thread(const char *how)
{
	unsigned int i;

	nr_seen = 0;
	begin();
	/* Connections that have just ended may still use the runtime. */
	for (i = 0; i < 5000 && op_runtime(MRPC_CMD_RUNTIME_DEL, "order", NULL) == -EBUSY; i++)
		raw_sleep(RAW_MS);
	CHECK_EQ(op_runtime(MRPC_CMD_RUNTIME_ADD, "order", ""), 0);
	op_must_add("runtime", "on=order", NULL);
	raw_pair(&p, how, 1);
	conns[0] = p.conn;
	for (i = 1; i < CONNS; i++)
		conns[i] = raw_connect(&p.c, p.addr);
	p.srv.seen = note;
	raw_qp(&qp, &p.c, 256, 1024, 0);
}

static void one_thread_end(const char *dev)
{
	raw_pair_end(&p);
	op_must_egress(DEL, dev, NULL);
	op_must_del("runtime");
}

static void call(int conn, uint64_t tag, uint8_t priority, unsigned int seconds, uint32_t len)
{
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_ACK, raw_blob(&p.c, tag, len, NULL));

	sqe.priority = priority;
	sqe.timeout_us = seconds * 1000000ULL;
	sqe.user_data = tag;
	CHECK(raw_push(&qp, &sqe));
	CHECK(raw_enter(&qp, 0, 0) >= 0);
}

/* The properties of each message of a connection; other connections have some of the same. */
static uint8_t priority_of(unsigned int c, unsigned int m)
{
	return (c * 7 + m * 5) % 4 * 60;
}

static uint32_t len_of(unsigned int c, unsigned int m)
{
	static const uint32_t lens[] = { 3600, 2200, 2800 };

	return lens[(c + m * 2) % 3];
}

/* Seconds until the deadline; 0: it has none. */
static unsigned int seconds_of(unsigned int c, unsigned int m)
{
	static const unsigned int seconds[] = { 3000, 0, 1000, 2000 };

	return seconds[(c * 3 + m) % 4];
}

/* A later call has a later deadline, by less than a second. */
static int deadline_of(unsigned int c, unsigned int m)
{
	return seconds_of(c, m) ? seconds_of(c, m) * 1000 + c * EACH + m : INT_MAX;
}

/* Sort key by a rule; less is earlier. */
static int key_of(const char *rule, unsigned int c, unsigned int m)
{
	if (!strcmp(rule, STRICT))
		return -priority_of(c, m);
	if (!strcmp(rule, DEADLINE))
		return deadline_of(c, m);
	return strcmp(rule, SMALL) ? 0 : (int)len_of(c, m);
}

/*
 * The order of waiting connections (by their first messages) or messages under a rule. Equals keep
 * their order. @at: in and out.
 */
static void stand(const char *how, const char *rule, unsigned int *at)
{
	unsigned int each = apart(how) ? EACH : 1, nr = CONNS * each, was[CONNS * EACH], i, k;

	memcpy(was, at, nr * sizeof(*at));
	for (i = 0; i < nr; i++) {
		at[i] = 0;
		for (k = 0; k < nr; k++) {
			int a = key_of(rule, k / each, k % each);
			int b = key_of(rule, i / each, i % each);

			at[i] += a < b || (a == b && was[k] < was[i]);
		}
	}
}

/* The model for messages that are ordered each by itself: the order in which they stand. */
static void model_apart(const unsigned int *at, uint64_t *order)
{
	unsigned int i;

	for (i = 0; i < CONNS * EACH; i++)
		order[at[i]] = i;
}

/*
 * The model: the waiting connection with the least key is next. Among equals, the one that has
 * waited longest is next. Then it waits with its next message. @order: tags.
 */
static void model(const char *rule, unsigned int *at, uint64_t *order)
{
	unsigned int next[CONNS] = { 0 }, clock, done, c, best;

	clock = CONNS;
	for (done = 0; done < CONNS * EACH; done++) {
		best = CONNS;
		for (c = 0; c < CONNS; c++) {
			int a, b;

			if (next[c] == EACH)
				continue;
			a = key_of(rule, c, next[c]);
			b = best < CONNS ? key_of(rule, best, next[best]) : 0;
			if (best == CONNS || a < b || (a == b && at[c] < at[best]))
				best = c;
		}
		order[done] = best * EACH + next[best]++;
		at[best] = clock++;
	}
}

/* Which message of a waiting connection is first. */
static unsigned int first_of(const char *how, const unsigned int *at, unsigned int c)
{
	unsigned int m, first = 0;

	for (m = 1; m < EACH && apart(how); m++)
		if (at[c * EACH + m] < at[c * EACH + first])
			first = m;
	return first;
}

/* The place of that message. */
static unsigned int place_of(const char *how, const unsigned int *at, unsigned int c)
{
	return apart(how) ? at[c * EACH + first_of(how, at, c)] : at[c];
}

/* Compares the dump of a paused domain with the model's first turn of each connection. */
static void check_dump(const char *how, const unsigned int *at)
{
	const char *dev = op_egress_dev(how);
	static struct op_queue all[64];
	unsigned int nr, i, k, listed = 0;
	bool had[CONNS] = { false };

	nr = op_egress_queues(dev, all, 64);
	CHECK_EQ(nr, 2 * CONNS);
	for (i = 0; i < nr && all[i].value[MRPC_A_EGRESS_QUEUE_POSITION] > 0; i++) {
		for (k = 0; k < CONNS && conns[k] != all[i].value[MRPC_A_EGRESS_QUEUE_CONN]; k++)
			;
		CHECK(k < CONNS && !had[k]);
		had[k] = true;
		CHECK_EQ(all[i].value[MRPC_A_EGRESS_QUEUE_POSITION], i + 1);
		CHECK_EQ(all[i].value[MRPC_A_EGRESS_QUEUE_PRIORITY],
			 priority_of(k, first_of(how, at, k)));
		if (i)
			CHECK(place_of(how, at, listed) < place_of(how, at, k));
		listed = k;
	}
	CHECK_EQ(i, CONNS);
}

/* Sends all messages into a paused domain. */
static void call_all(const char *how, const char *dev)
{
	unsigned int c, m;

	for (c = 0; c < CONNS; c++) {
		for (m = 0; m < EACH; m++)
			call(conns[c], c * EACH + m, priority_of(c, m), seconds_of(c, m),
			     len_of(c, m));
		CHECK(op_egress_reaches(dev, MRPC_A_EGRESS_WAITING,
					apart(how) ? (c + 1) * EACH : c + 1));
	}
	CHECK_EQ(nr_seen, 0);
}

/* The rules that a domain has one after the other while messages wait. */
#define RULES	4

/* Index of the first difference from the model; CONNS * EACH: there is none. */
static unsigned int departs(const char *how, const char *const *rules, uint64_t *order)
{
	const char *dev = op_egress_dev(how);
	unsigned int at[CONNS * EACH], i;
	char words[100];

	one_thread(how);
	/*
	 * One message at a time fits below. What prio sends is gone at once. So it has a rate
	 * limit, to give the server time to see each message separately.
	 */
	snprintf(words, sizeof(words), "%s paused=1 chunk=4096 limit=4096%s", rules[0],
		 apart(how) ? " rate=200000" : "");
	op_must_egress(SET, dev, words);
	call_all(how, dev);
	for (i = 0; i < CONNS * EACH; i++)
		at[i] = i;
	for (i = 0; i < RULES && rules[i]; i++) {
		op_must_egress(SET, dev, rules[i]);
		stand(how, rules[i], at);
		check_dump(how, at);
	}
	op_must_egress(SET, dev, "paused=0");
	CHECK(saw(CONNS * EACH));
	if (apart(how))
		model_apart(at, order);
	else
		model(rules[i - 1], at, order);
	for (i = 0; i < CONNS * EACH && seen[i] == order[i]; i++)
		;
	CHECK(quiet(dev));
	one_thread_end(dev);
	return i;
}

/*
 * If a machine stops for a moment, a grant of 10 ms expires. Or the server finds messages of two
 * connections at once, and cannot know which came first. So the test may need some attempts.
 */
#define ATTEMPTS	20

static void orders_by(const char *how, const char *const *rules)
{
	uint64_t order[CONNS * EACH + 1] = { 0 };
	unsigned int i, at = 0;

	for (i = 0; i < ATTEMPTS && at < CONNS * EACH; i++)
		at = departs(how, rules, order);
	CHECK_MSG(at == CONNS * EACH, "%u: message %u of connection %u, not %u of %u", at,
		  (unsigned int)seen[at] % EACH, (unsigned int)seen[at] / EACH,
		  (unsigned int)order[at] % EACH, (unsigned int)order[at] / EACH);
}

static void orders(const char *how, const char *rule)
{
	const char *const rules[RULES] = { rule };

	orders_by(how, rules);
}

TEST(fifo_loop)
{
	orders("loop", FIFO);
}

TEST(strict_loop)
{
	orders("loop", STRICT);
}

TEST(small_loop)
{
	orders("loop", SMALL);
}

TEST(strict_tcp)
{
	orders("tcp4", STRICT);
}

TEST(fifo_prio)
{
	orders("prio", FIFO);
}

TEST(strict_prio)
{
	orders("prio", STRICT);
}

TEST(small_prio)
{
	orders("prio", SMALL);
}

TEST_EACH_TRANSPORT(deadline, orders, DEADLINE)

/* Changes to deadlines and back while messages wait. They leave by the last rule. */
static const char *const to_deadline[RULES] = { STRICT, FIFO, DEADLINE };
static const char *const from_deadline[RULES] = { STRICT, DEADLINE, FIFO };
static const char *const past_deadline[RULES] = { SMALL, DEADLINE, STRICT };

TEST(deadline_switch_tcp)
{
	orders_by("tcp4", to_deadline);
	orders_by("tcp4", from_deadline);
}

TEST(deadline_switch_loop)
{
	orders_by("loop", past_deadline);
}

TEST(deadline_switch_prio)
{
	orders_by("prio", to_deadline);
	orders_by("prio", from_deadline);
}

/* A reply has the deadline of its call. The server's connections wait by these deadlines. */
static void replies(const char *how)
{
	static struct op_queue all[64];
	struct raw_qp answers;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	unsigned int nr, i;

	one_thread(how);
	raw_qp(&answers, &p.srv.s, 64, 256, 0);
	op_must_egress(SET, "lo", DEADLINE " paused=0");
	/* The fourth call has no deadline. Of the others, the last one has least time. */
	for (i = 0; i < 4; i++) {
		sqe = raw_sqe(conns[i], RAW_HANG, raw_blob(&p.c, i, 10, NULL));
		sqe.timeout_us = i < 3 ? 900000000 - i * 100000000 : 0;
		CHECK(raw_push(&qp, &sqe));
		CHECK(raw_enter(&qp, 0, 0) >= 0);
		CHECK(raw_server_hangs(&p.srv, i + 1));
	}
	CHECK(quiet("lo"));
	op_must_egress(SET, "lo", "paused=1");
	for (i = 0; i < 4; i++)
		raw_server_answer(&answers, &p.srv.hung[3 - i], MRPC_ABORTED);
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, 4));
	nr = op_egress_queues("lo", all, 64);
	CHECK_EQ(nr, 2 * CONNS);
	for (i = 0; i < 4; i++) {
		CHECK_EQ(all[i].value[MRPC_A_EGRESS_QUEUE_POSITION], i + 1);
		CHECK_EQ(all[i].value[MRPC_A_EGRESS_QUEUE_CONN],
			 p.srv.hung[i < 3 ? 2 - i : 3].conn);
	}
	op_must_egress(SET, "lo", "paused=0");
	for (i = 0; i < 4; i++) {
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 20 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_ABORTED);
	}
	one_thread_end("lo");
}

TEST(deadline_replies_tcp)
{
	replies("tcp4");
}

TEST(deadline_replies_prio)
{
	replies("prio");
}

/* A long message that waits, beside messages that are urgent by @rule. */
static void call_long(const char *rule, int conn, uint64_t tag)
{
	call(conn, tag, 10, strcmp(rule, DEADLINE) ? 0 : tag % 2 * 1000, 100000);
}

/* @conn: connection of the urgent message. */
static bool urgent_first(const char *how, const char *rule, unsigned int conn)
{
	bool first;
	unsigned int i;

	one_thread(how);
	op_must_egress(SET, "lo", rule);
	op_must_egress(SET, "lo", "paused=1 chunk=16384 limit=16384");
	for (i = 0; i < 8; i++)
		call_long(rule, conns[0], 100 + i);
	call_long(rule, conns[1], 201);
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, apart(how) ? 9 : 2));
	if (strcmp(rule, DEADLINE))
		call(conns[conn], 1, 200, 0, 32);
	else
		call(conns[conn], 1, 0, 500, 32);
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, apart(how) ? 10 : 3));
	op_must_egress(SET, "lo", "paused=0");
	CHECK(saw(10));
	first = seen[0] == 1;
	CHECK(quiet("lo"));
	one_thread_end("lo");
	return first;
}

/*
 * A long message is under way when an urgent one comes. The urgent one goes after the chunk that
 * has been granted. It waits neither for the rest of the long message nor for other messages.
 */
static void urgent(const char *how, const char *rule, unsigned int conn)
{
	unsigned int i;

	for (i = 0; i < ATTEMPTS; i++)
		if (urgent_first(how, rule, conn))
			return;
	CHECK_MSG(false, "an urgent message came behind others %u times", ATTEMPTS);
}

TEST(urgent_tcp)
{
	urgent("tcp4", STRICT, 2);
}

TEST(urgent_prio)
{
	urgent("prio", STRICT, 2);
}

/* The urgent message comes behind eight long messages of its own connection. */
TEST(urgent_prio_same)
{
	urgent("prio", STRICT, 0);
}

TEST(deadline_urgent_tcp)
{
	urgent("tcp4", DEADLINE, 2);
}

TEST(deadline_urgent_prio)
{
	urgent("prio", DEADLINE, 0);
}
