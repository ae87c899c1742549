// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/egress kmod/control/egress_config kmod/lib/egress.c kmod/lib/ds/order */
/*
 * Egress domains: the order in which messages of different connections leave. No message is lost
 * when the domain changes or goes, or when a connection that waits in it ends.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "tap.h"
#include "load.h"
#include "operator.h"

#define FIFO	"discipline=fifo"
#define STRICT	"discipline=strict"
#define SMALL	"discipline=small-first"
#define DEADLINE	"discipline=deadline"

#define SET	MRPC_CMD_EGRESS_SET
#define DEL	MRPC_CMD_EGRESS_DEL

static struct raw_pair p;
static struct load l, other;

static void begin(void)
{
	op_del_all();
	op_egress(DEL, "", NULL);
	op_egress(DEL, "lo", NULL);
}

static const char *dev_of(const char *how)
{
	return strcmp(how, "loop") ? "lo" : "";
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

/* -- traffic passes ------------------------------------------------------------------- */

/* Sends messages of all sizes through a domain that is made, changed and deleted meanwhile. */
static void passes(const char *how)
{
	static const char *const words[] = { FIFO, STRICT " chunk=4096 limit=4096", SMALL " fair=1",
					     DEADLINE " fair=0 chunk=65536 limit=131072" };
	const char *dev = dev_of(how);
	unsigned int i;

	begin();
	raw_pair(&p, how, 2);
	load_start(&l, &p.c, p.conn, 32);
	other.len = 100000;
	other.timeout_us = 900000000;
	load_start(&other, &p.c, raw_connect(&p.c, p.addr), 8);
	for (i = 0; i < 12; i++) {
		op_must_egress(SET, dev, words[i % 4]);
		CHECK(load_more(&l, 50, 60000));
		CHECK(load_more(&other, 10, 60000));
		CHECK_EQ(op_egress_number(dev, MRPC_A_EGRESS_DATAPATHS), 4);
		CHECK(op_egress_number(dev, MRPC_A_EGRESS_SENT) > 1000000);
		if (i % 4 != 3)
			continue;
		op_must_egress(DEL, dev, NULL);
		CHECK(load_more(&l, 50, 60000));
		CHECK(load_more(&other, 10, 60000));
	}
	load_stop(&l);
	load_stop(&other);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(load_failed(&other), 0);
	raw_pair_end(&p);
}

TEST_LIMIT_EACH_TRANSPORT(passes, 120, passes)

/* -- order ------------------------------------------------------------------------------ */

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
	const char *dev = dev_of(how);
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
	const char *dev = dev_of(how);
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

/* -- ends ---------------------------------------------------------------------------------- */

/* A process with much under way dies while the domain runs or is paused. */
static void killed(const char *scheme)
{
	char addr[32];
	unsigned int i;
	int status;
	pid_t pid;

	begin();
	snprintf(addr, sizeof(addr), "%s:127.0.0.1:0", scheme);
	raw_server(&p.srv, addr, 1);
	snprintf(p.addr, sizeof(p.addr), "%s:127.0.0.1:%u", scheme, p.srv.s.port);
	for (i = 0; i < 6; i++) {
		op_must_egress(SET, "lo", STRICT " paused=0 chunk=4096 limit=8192");
		pid = CHECK_SYS(fork());
		if (!pid) {
			raw_open(&p.c, 16 << 20, 16 << 20);
			l.len = 50000;
			load_start(&l, &p.c, raw_connect(&p.c, p.addr), 16);
			load_start(&other, &p.c, raw_connect(&p.c, p.addr), 16);
			for (;;)
				pause();
		}
		CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_SENT, (i + 1) * 1000000));
		if (i & 1) {
			op_must_egress(SET, "lo", "paused=1");
			CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, 1));
		}
		CHECK_SYS(kill(pid, SIGKILL));
		CHECK_SYS(waitpid(pid, &status, 0));
		CHECK(raw_server_conns(&p.srv, 0, 20000));
		CHECK(raw_sessions(1, 20000));
		CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_DATAPATHS), 0);
		CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_OUT), 0);
		CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_WAITING), 0);
	}
	raw_server_stop(&p.srv);
	op_must_egress(DEL, "lo", NULL);
}

TEST_LIMIT(killed_tcp, 120)
{
	killed("tcp");
}

TEST_LIMIT(killed_prio, 120)
{
	killed("prio");
}

/* Messages that wait in a paused domain go on when it is deleted, or end with the connection. */
static void deleted_paused(const char *how)
{
	begin();
	raw_pair(&p, how, 1);
	op_must_egress(SET, "lo", FIFO " paused=1");
	load_start(&l, &p.c, p.conn, 8);
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, 1));
	CHECK_EQ(load_all(&l), 0);
	op_must_egress(DEL, "lo", NULL);
	CHECK(load_more(&l, 50, 20000));
	op_must_egress(SET, "lo", FIFO " paused=1");
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, 1));
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	load_stop(&l);
	CHECK(raw_server_conns(&p.srv, 0, 20000));
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_DATAPATHS), 0);
	raw_pair_end(&p);
	/* The domain stays until the module goes. */
}

TEST(deleted_paused_tcp)
{
	deleted_paused("tcp4");
}

TEST(deleted_paused_prio)
{
	deleted_paused("prio");
}

/* Bytes that a domain sends in about half a second. @allowed: bytes that its rate allows. */
static int64_t paced(const char *dev, uint64_t rate, double *allowed)
{
	uint64_t start = raw_now();
	int64_t from = op_egress_number(dev, MRPC_A_EGRESS_SENT), bytes;

	raw_sleep(RAW_S / 2);
	bytes = op_egress_number(dev, MRPC_A_EGRESS_SENT) - from;
	*allowed = rate * (raw_now() - start) / 1e9;
	return bytes;
}

/* A rate is exceeded at most by one chunk that is made up for. A busy load reaches the rate. */
static void rate_of(const char *how)
{
	const uint64_t rate = 2000000;
	const char *dev = dev_of(how);
	double allowed = 1;
	int64_t bytes = 0;
	unsigned int i;

	begin();
	raw_pair(&p, how, 1);
	l.len = 20000;
	l.ack = true;
	load_start(&l, &p.c, p.conn, 16);
	op_must_egress(SET, dev, STRICT " rate=2000000");
	CHECK(load_more(&l, 20, 60000));
	for (i = 0; i < 10 && bytes < 0.9 * allowed; i++) {
		bytes = paced(dev, rate, &allowed);
		NOTE("%lld bytes of %.0f", (long long)bytes, allowed);
		CHECK(bytes <= allowed + 2 * 16384);
	}
	CHECK(bytes >= 0.9 * allowed);
	/* Without a rate, the full bandwidth is available at once. */
	op_must_egress(SET, dev, "rate=0");
	for (i = 0; i < 10 && bytes < 1.5 * allowed; i++)
		bytes = paced(dev, rate, &allowed);
	NOTE("%lld bytes without", (long long)bytes);
	CHECK(bytes >= 1.5 * allowed || raw_scale() > 1);	/* a debug kernel is slower */
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	raw_pair_end(&p);
	op_must_egress(DEL, dev, NULL);
}

TEST_EACH_TRANSPORT(rate, rate_of)

/* A namespace ends with its domain. Other namespaces do not notice. */
TEST(namespace)
{
	int status;
	pid_t pid;

	begin();
	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_SYS(unshare(CLONE_NEWNET));
		op_forget();
		CHECK(!system("ip link set lo up"));
		op_must_egress(SET, "lo", STRICT);
		op_must_egress(SET, "", STRICT);
		raw_pair(&p, "tcp4", 1);
		load_start(&l, &p.c, p.conn, 8);
		CHECK(load_more(&l, 100, 20000));
		CHECK(op_egress_number("lo", MRPC_A_EGRESS_DATAPATHS) == 2);
		op_must_egress(SET, "lo", "paused=1");
		_exit(0);
	}
	CHECK_SYS(waitpid(pid, &status, 0));
	CHECK_EQ(status, 0);
	CHECK(raw_sessions(0, 20000));
	CHECK_EQ(op_egress(DEL, "lo", NULL), -ENOENT);
}

/* -- bad input ------------------------------------------------------------------------------ */

static void refused(int err, const char *why, uint8_t cmd, const char *dev, const char *words)
{
	int got = op_egress(cmd, dev, words);

	CHECK_MSG(got == err, "egress %s %s: %d, not %d: %s", dev, words, got, err, op_why);
	CHECK_MSG(strstr(op_why, why), "egress %s %s: '%s', not '%s'", dev, words, op_why, why);
}

TEST(bad_input)
{
	begin();
	refused(-ENODEV, "there is no device 'x'", SET, "x", FIFO);
	refused(-ENOENT, "device 'lo' has no egress domain", DEL, "lo", NULL);
	refused(-ENOENT, "loop links have no egress domain", DEL, "", NULL);
	refused(-ERANGE, "a chunk of 100 bytes; 1024 to 1048576", SET, "lo", "chunk=100");
	refused(-ERANGE, "a chunk of 2000000 bytes", SET, "lo", "chunk=2000000");
	refused(-ERANGE, "a limit of 1000 bytes; a chunk (16384) to", SET, "lo", "limit=1000");
	refused(-ERANGE, "a limit of 100000000 bytes", SET, "lo", "limit=100000000");
	refused(-ENOENT, "no discipline 'red'", SET, "lo", "discipline=red");
	refused(-EINVAL, "", SET, "lo", "discipline=a-name-that-is-too-long-for-a-policy");
	refused(-ERANGE, "rate 999 bytes/s: 1000 to 1000000000000 are allowed", SET, "lo",
		"rate=999");
	refused(-ERANGE, "rate 1000000000001 bytes/s", SET, "lo", "rate=1000000000001");
	CHECK(op_egress(SET, "lo", "fair=2") < 0);
	CHECK(op_egress(SET, "lo", "paused=2") < 0);
	refused(-EINVAL, "", SET, "a-name-that-is-too-long", FIFO);
	/* None of these has an effect. A refused change changes nothing. */
	refused(-ENOENT, "device 'lo' has no egress domain", DEL, "lo", NULL);
	op_must_egress(SET, "lo", STRICT " chunk=8192");
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_LIMIT), 16384);
	refused(-ERANGE, "a limit of 4096 bytes", SET, "lo", "limit=4096 fair=1");
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_LIMIT), 16384);
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_FAIR), 0);
	CHECK(op_egress_is("lo", "strict"));
	op_must_egress(DEL, "lo", NULL);
}

/* Sets one number to many values. Each value must stay until the next one is set. */
static bool sets(const char *key, unsigned int attr, uint32_t from, uint32_t step)
{
	uint64_t until = raw_now() + 3 * RAW_S * raw_scale();
	char words[64];
	unsigned int i;

	for (i = 0; raw_now() < until; i++) {
		uint32_t value = from + i % 7 * step;

		snprintf(words, sizeof(words), "%s=%u", key, value);
		op_must_egress(SET, "lo", words);
		if (op_egress_number("lo", attr) != value) {
			printf("# %s is %lld, not %u, after %u times\n", key,
			       (long long)op_egress_number("lo", attr), value, i);
			fflush(stdout);
			return false;
		}
	}
	return true;
}

/* Two operators change different settings. Neither undoes the other's change. */
TEST_LIMIT(set_at_once, 60)
{
	int status;
	pid_t pid;

	begin();
	op_must_egress(SET, "lo", "chunk=1024 limit=1000000");
	pid = CHECK_SYS(fork());
	if (!pid) {
		op_forget();
		_exit(!sets("chunk", MRPC_A_EGRESS_CHUNK, 1024, 1000));
	}
	CHECK(sets("limit", MRPC_A_EGRESS_LIMIT, 100000, 1000));
	CHECK_SYS(waitpid(pid, &status, 0));
	CHECK_EQ(status, 0);
	op_must_egress(DEL, "lo", NULL);
}
