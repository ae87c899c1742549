// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/change kmod/control/place kmod/control/rollout kmod/chain */
/*
 * Engines change under load. No call is lost or comes twice, and none overtakes another call of
 * its connection. Each call completes once.
 *
 * From the environment: MRPC_CHANGE_CONNS connections (100) of MRPC_CHANGE_THREADS threads (8).
 * Changes go on for MRPC_CHANGE_SECONDS (12), and at least MRPC_CHANGE_TIMES (1) times.
 */
#include <errno.h>
#include <signal.h>

#include "tap.h"
#include "operator.h"
#include "raw.h"

#define THREADS_MAX	8
#define CONNS_MAX	500
#define DEPTH		2	/* calls of a stream under way */
#define DONE_WAIT	(40 * RAW_S)

/**
 * struct stream - the calls of one connection
 * @conn: the connection
 * @sent: calls started
 * @done: calls completed
 * @next: the next completion must be this one. Calls that an engine has lost come late
 * @served: requests that the server has seen; the next request must be this one
 */
struct stream {
	int conn;
	uint32_t sent;
	uint32_t done;
	uint32_t next;
	uint32_t served;
};

/* A session, its threads, and their results. */
struct side {
	struct raw s;
	const char *name;
	struct stream streams[CONNS_MAX];
	unsigned int nr;
	unsigned int threads;
	bool stop;
	uint64_t wrong;
	uint64_t failed;
	uint32_t first;		/* number of the first stream */
};

struct worker {
	struct side *side;
	struct raw_qp qp;
	unsigned int from, to;
	pthread_t thread;
};

static struct raw_server srv[2];
static struct side in, out;
static struct worker workers[THREADS_MAX];
static unsigned int nr_workers;
static uint64_t server_wrong;

static unsigned int setting(const char *name, unsigned int def, unsigned int max)
{
	const char *text = getenv(name);
	unsigned int value = text ? (unsigned int)atoi(text) : def;

	return value < 1 ? 1 : value > max ? max : value;
}

/* -- the load ---------------------------------------------------------------------- */

static uint32_t length(uint32_t seq)
{
	return seq % 64 == 63 ? 20000 : seq % 8 == 7 ? 2000 : 64;
}

static uint64_t tag_of(uint32_t stream, uint32_t seq)
{
	return (uint64_t)stream << 32 | seq;
}

/* Each server has one thread, so the order is that of the connection. */
static void seen(const struct mrpc_cqe *cqe, const void *msg)
{
	const struct test_Blob *blob = msg;
	uint32_t nr = blob->tag >> 32, seq = blob->tag;
	struct side *side = nr >= out.first ? &out : &in;
	struct stream *st = &side->streams[nr - side->first];

	if (nr - side->first >= side->nr || st->served != seq ||
	    !raw_is_blob(msg, cqe->msg_len, blob->tag, length(seq))) {
		printf("# server: stream %u: call %u instead of %u\n", nr, seq, st->served);
		__atomic_add_fetch(&server_wrong, 1, __ATOMIC_RELAXED);
	}
	st->served = seq + 1;
}

/* user_data is the tag. SENT has it, too. */
static void start_call(struct worker *w, unsigned int i)
{
	struct stream *st = &w->side->streams[i];
	uint64_t tag = tag_of(w->side->first + i, st->sent);
	uint32_t root = raw_blob(&w->side->s, tag, length(st->sent), NULL);
	struct mrpc_sqe sqe = raw_sqe(st->conn, RAW_ECHO, root);

	sqe.user_data = tag;
	sqe.flags = MRPC_SQE_COPY;
	while (!raw_push(&w->qp, &sqe))
		raw_enter(&w->qp, 0, 0);
	/* The request is copied, so its block is free when the kernel has taken the entry. */
	while (w->qp.pushed)
		raw_enter(&w->qp, 0, 0);
	raw_free(&w->side->s, root);
	st->sent++;
}

static void complete_call(struct worker *w, const struct mrpc_cqe *cqe)
{
	struct side *side = w->side;
	uint32_t nr = (cqe->user_data >> 32) - side->first, seq = cqe->user_data;
	struct stream *st = &side->streams[nr];
	char detail[MRPC_MAX_DETAIL + 1];

	if (cqe->type != MRPC_CQE_REPLY || nr >= side->nr || seq != st->next) {
		printf("# %s: type %u of stream %u: call %u instead of %u\n", side->name, cqe->type,
		       nr, seq, st->next);
		__atomic_add_fetch(&side->wrong, 1, __ATOMIC_RELAXED);
	}
	if (cqe->status != MRPC_OK) {
		printf("# %s: status %u: %s\n", side->name, cqe->status,
		       raw_detail(&side->s, cqe, detail, sizeof(detail)));
		__atomic_add_fetch(&side->failed, 1, __ATOMIC_RELAXED);
	} else if (!raw_is_blob(raw_msg(&side->s, cqe), cqe->msg_len, cqe->user_data,
				length(seq))) {
		__atomic_add_fetch(&side->wrong, 1, __ATOMIC_RELAXED);
	}
	st->next = seq + 1;
	__atomic_store_n(&st->done, st->done + 1, __ATOMIC_RELEASE);
	raw_done(&side->s, cqe);
}

static unsigned int fill(struct worker *w)
{
	bool stop = __atomic_load_n(&w->side->stop, __ATOMIC_ACQUIRE);
	unsigned int i, left = 0;

	for (i = w->from; i < w->to; i++) {
		struct stream *st = &w->side->streams[i];

		while (!stop && st->sent - st->done < DEPTH)
			start_call(w, i);
		left += st->sent - st->done;
	}
	return left;
}

/* Prints the streams with calls that have not ended: they point at the cause. */
static void __attribute__((__noreturn__)) hangs(const struct worker *w, unsigned int left)
{
	const struct stream *st;
	unsigned int i;

	for (i = w->from; i < w->to; i++) {
		st = &w->side->streams[i];
		if (st->sent != st->done)
			NOTE("stream %u, connection %d: %u sent, %u served, %u done", i, st->conn,
			     st->sent, st->served, st->done);
	}
	raw_die("%s: %u calls do not end", w->side->name, left);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t idle = raw_now();
	struct mrpc_cqe cqe;
	unsigned int left;

	while ((left = fill(w))) {
		if (raw_next(&w->qp, &cqe, 100 * RAW_MS)) {
			complete_call(w, &cqe);
			while (raw_reap(&w->qp, &cqe))
				complete_call(w, &cqe);
			idle = raw_now();
		}
		if (raw_now() - idle > DONE_WAIT * raw_scale())
			hangs(w, left);
	}
	return NULL;
}

static void open_side(struct side *side, const char *name, uint32_t first, unsigned int nr,
		      unsigned int threads, const char *const addr[2])
{
	unsigned int i;

	memset(side, 0, sizeof(*side));
	raw_open(&side->s, 16 << 20, 32 << 20);
	side->name = name;
	side->first = first;
	side->threads = threads;
	for (i = 0; i < nr; i++) {
		side->streams[i].conn = raw_connect(&side->s, addr[i % 4 == 3]);
		if (side->streams[i].conn < 0)
			raw_die("connect: %s", side->s.why);
	}
	side->nr = nr;
}

static void start_side(struct side *side)
{
	unsigned int i;

	for (i = 0; i < side->threads; i++) {
		struct worker *w = &workers[nr_workers++];

		*w = (struct worker){ .side = side };
		w->from = side->nr * i / side->threads;
		w->to = side->nr * (i + 1) / side->threads;
		raw_qp(&w->qp, &side->s, 256, 1024, 0);
		if (pthread_create(&w->thread, NULL, work, w))
			raw_die("no thread");
	}
}

static void start(void)
{
	unsigned int conns = setting("MRPC_CHANGE_CONNS", 100, 2 * CONNS_MAX);
	unsigned int threads = setting("MRPC_CHANGE_THREADS", 8, THREADS_MAX);
	static char tcp[64];
	const char *const addr[2] = { tcp, "loop:change" };
	unsigned int half = (conns + 1) / 2;
	char words[96];

	op_del_all();
	nr_workers = 0;
	server_wrong = 0;
	raw_server_open(&srv[0], 16 << 20, 32 << 20);
	raw_server_open(&srv[1], 16 << 20, 32 << 20);
	srv[0].seen = seen;
	srv[1].seen = seen;
	raw_server_start(&srv[0], "tcp:127.0.0.1:0", 1);
	raw_server_start(&srv[1], addr[1], 1);
	snprintf(tcp, sizeof(tcp), "tcp:127.0.0.1:%u", srv[0].s.port);
	/* Clients of version 2 that want checksums have them, in both directions. */
	snprintf(words, sizeof(words), "name=serve side=server session=%u version=2 checksum=1",
		 srv[0].s.setup.session);
	op_must_add("tcp", words, NULL);
	open_side(&in, "in scope", 0, half, (threads + 1) / 2, addr);
	open_side(&out, "outside", half, half, (threads + 1) / 2, addr);
	start_side(&in);
	start_side(&out);
}

static uint64_t progress(const struct side *side)
{
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < side->nr; i++)
		all += __atomic_load_n(&side->streams[i].done, __ATOMIC_ACQUIRE);
	return all;
}

static void check_side(const struct side *side)
{
	unsigned int i;

	CHECK_MSG(!side->failed, "%s: %llu calls failed", side->name,
		  (unsigned long long)side->failed);
	CHECK_MSG(!side->wrong, "%s: %llu completions were wrong", side->name,
		  (unsigned long long)side->wrong);
	for (i = 0; i < side->nr; i++) {
		const struct stream *st = &side->streams[i];

		CHECK_MSG(st->sent == st->done && st->sent == st->served,
			  "%s: stream %u: %u sent, %u served, %u done", side->name, i, st->sent,
			  st->served, st->done);
	}
}

static void stop(void)
{
	unsigned int i;

	__atomic_store_n(&in.stop, true, __ATOMIC_RELEASE);
	__atomic_store_n(&out.stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < nr_workers; i++)
		pthread_join(workers[i].thread, NULL);
	raw_close(&in.s);
	raw_close(&out.s);
	op_must_del("serve");
	raw_server_stop(&srv[0]);
	raw_server_stop(&srv[1]);
	CHECK_EQ(server_wrong, 0);
	check_side(&in);
	check_side(&out);
	CHECK(raw_sessions(0, 20000));
}

/* -- changes ------------------------------------------------------------------------- */

#define SLOTS	7

/* Engines that exist now; slot 0 is of type crash, 1 of type runtime, 6 of tcp. */
static struct {
	bool there;
	unsigned int held;	/* directions */
	unsigned int version;
} slots[SLOTS];

static uint64_t p50[4096], worst[4096];
static unsigned int nr_pauses, nr_changes, nr_refused;

static void note(const char *what, int err, int want, const struct op_change *c)
{
	CHECK_MSG(err == want, "%s: %d (%s), not %d", what, err, op_why, want);
	CHECK_MSG(!c->leaked, "%s: %u rpcs were lost on the way", what, c->leaked);
	CHECK_MSG(!c->failed || c->rolled_back, "%s: not taken back", what);
	nr_changes++;
	nr_refused += !!err;
	if (c->changed && nr_pauses < ARRAY_SIZE(p50)) {
		p50[nr_pauses] = c->pause_p50;
		worst[nr_pauses++] = c->pause_p99;
	}
}

static const char *slot_name(unsigned int slot)
{
	static char name[16];

	snprintf(name, sizeof(name), "e%u", slot);
	return name;
}

static void release(unsigned int slot)
{
	if (slots[slot].held && op_pause(slot_name(slot), slots[slot].held, false))
		raw_die("resume: %s", op_why);
	slots[slot].held = 0;
}

/* Adds an engine, in steps or at once. */
static void add(unsigned int slot)
{
	static const char *const types[SLOTS] = {
		"crash", "runtime", "null", "ratelimit", "null", "null", "tcp",
	};
	static const char *const words[SLOTS] = {
		"version=1", "on=a", "version=1", "rate=100000", "version=1", "version=2",
		"version=2 checksum=1",
	};
	bool gradual = rand() % 3 == 0;
	struct op_change c;
	char text[256];
	int err;

	snprintf(text, sizeof(text), "name=%s %s session=%u %s", slot_name(slot), words[slot],
		 in.s.setup.session, gradual ? "percent=30" : "");
	err = op_add(types[slot], text, NULL, &c);
	note("add", err, 0, &c);
	slots[slot].there = true;
	if (!gradual)
		return;
	note("step", op_step(slot_name(slot), 70, &c), 0, &c);
	if (rand() % 2) {
		note("step", op_step(slot_name(slot), 100, &c), 0, &c);
	} else {
		note("step", op_step(slot_name(slot), 0, &c), 0, &c);
		slots[slot].there = false;
	}
}

static void del(unsigned int slot)
{
	struct op_change c;

	note("del", op_del(slot_name(slot), &c), 0, &c);
	slots[slot].there = false;
	slots[slot].held = 0;
}

/* Changes that fail are taken back. */
static void misbehave(void)
{
	static const char *const words[] = {
		"fail_configure=%u", "type=crash version=2 fail_restore=%u",
		"type=crash version=2 fail_create=%u",
	};
	unsigned int kind = rand() % 4;
	struct op_change c;
	char text[128];

	if (kind == 3) {
		snprintf(text, sizeof(text), "name=other session=%u fail_create=%u",
			 in.s.setup.session, rand() % in.nr);
		note("add crash", op_add("crash", text, NULL, &c), -EIO, &c);
		return;
	}
	snprintf(text, sizeof(text), words[kind], rand() % in.nr);
	note("set crash", op_set("e0", text, NULL, &c), -EIO, &c);
}

static void set(unsigned int slot)
{
	struct op_change c;
	char text[64];

	switch (slot) {
	case 0:
		misbehave();
		return;
	case 1:
		snprintf(text, sizeof(text), "on=%c", "ab"[rand() % 2]);
		break;
	case 3:
		snprintf(text, sizeof(text), "rate=%s", rand() % 2 ? "unlimited" : "5000");
		break;
	case 6:
		snprintf(text, sizeof(text), "type=tcp version=%s%s", rand() % 2 ? "1" :
			 rand() % 2 ? "2 checksum=1" : "2 checksum=0", rand() % 4 ? "" : " percent=50");
		break;
	default:
		snprintf(text, sizeof(text), "type=null version=%d%s", 1 + rand() % 2,
			 rand() % 4 ? "" : " percent=50");
	}
	note("set", op_set(slot_name(slot), text, NULL, &c), 0, &c);
	if (strstr(text, "percent"))
		note("step", op_step(slot_name(slot), rand() % 2 ? 100 : 0, &c), 0, &c);
}

static void hold(unsigned int slot)
{
	unsigned int dirs = 1 + rand() % 3;
	int err;

	if (slots[slot].held) {
		release(slot);
		return;
	}
	err = op_pause(slot_name(slot), dirs, true);
	CHECK_MSG(!err, "pause: %s", op_why);
	slots[slot].held = dirs;
}

static void change(void)
{
	unsigned int slot = rand() % SLOTS, what = rand() % 8;

	if (!slots[slot].there)
		add(slot);
	else if (what < 2)
		del(slot);
	else if (what < 5 || slot == 1 || slot == 6)
		set(slot);
	else
		hold(slot);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void remove_all(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (slots[i].there)
			del(i);
}

TEST_LIMIT(random, 240)
{
	unsigned int seconds = setting("MRPC_CHANGE_SECONDS", 12, 3600), seed = time(NULL);
	unsigned int times = setting("MRPC_CHANGE_TIMES", 1, ARRAY_SIZE(p50));
	uint64_t quiet[2], busy[2], from, end, span;

	if (getenv("MRPC_CHANGE_SEED"))
		seed = atoi(getenv("MRPC_CHANGE_SEED"));
	NOTE("seed %u", seed);
	srand(seed);
	CHECK_EQ(op_runtime_add("a"), 0);
	CHECK_EQ(op_runtime_add("b"), 0);
	start();
	raw_sleep(RAW_S);
	quiet[0] = progress(&in);
	quiet[1] = progress(&out);
	raw_sleep(3 * RAW_S);
	quiet[0] = progress(&in) - quiet[0];
	quiet[1] = progress(&out) - quiet[1];
	busy[0] = progress(&in);
	busy[1] = progress(&out);
	from = raw_now();
	end = from + seconds * RAW_S;
	do
		change();
	while (raw_now() < end || nr_changes < times);
	span = (raw_now() - from) / RAW_MS + 1;
	busy[0] = progress(&in) - busy[0];
	busy[1] = progress(&out) - busy[1];
	remove_all();
	stop();
	/* The runtimes have no datapaths any more. */
	CHECK_MSG(!op_runtime_del("a"), "%s", op_why);
	CHECK_MSG(!op_runtime_del("b"), "%s", op_why);
	CHECK(nr_pauses > 0);
	qsort(p50, nr_pauses, sizeof(*p50), compare);
	qsort(worst, nr_pauses, sizeof(*worst), compare);
	NOTE("%u changes (%u refused, as ordered) of %u connections and their peers", nr_changes,
	     nr_refused, in.nr);
	NOTE("a datapath stood still: median %llu us, P99 %llu us (of the median change), %llu us (worst)",
	     (unsigned long long)p50[nr_pauses / 2] / 1000,
	     (unsigned long long)worst[nr_pauses / 2] / 1000,
	     (unsigned long long)worst[nr_pauses - 1] / 1000);
	NOTE("calls/s without changes: %llu in scope, %llu outside; with: %llu, %llu",
	     (unsigned long long)quiet[0] / 3, (unsigned long long)quiet[1] / 3,
	     (unsigned long long)(busy[0] * 1000 / span), (unsigned long long)(busy[1] * 1000 / span));
}

/* An engine that loses rpcs is found when it is removed. An engine that is slow is bypassed. */
TEST_LIMIT(leak_and_overrun, 180)
{
	struct op_change c = { };
	unsigned int i;

	op_del_all();
	start();
	srv[0].seen = NULL;	/* lost calls come late */
	srv[1].seen = NULL;
	/* Each instance loses its 50th rpc. It takes a while until an instance has seen so many. */
	for (i = 1; i < 8 && !c.leaked; i++) {
		CHECK_EQ(op_add("crash", "leak=50", NULL, &c), 0);
		raw_sleep(i * RAW_S);
		CHECK_EQ(op_del("crash", &c), 0);
	}
	CHECK(c.leaked > 0);
	NOTE("%u rpcs were lost and found", c.leaked);
	CHECK_EQ(op_add("crash", "name=slow side=client overrun=6000", NULL, &c), 0);
	raw_sleep(3 * RAW_S);
	NOTE("%lld datapaths bypass it", (long long)op_number("slow", MRPC_A_ENGINE_BYPASSED));
	CHECK_EQ(op_del("slow", &c), 0);
	__atomic_store_n(&in.stop, true, __ATOMIC_RELEASE);
	__atomic_store_n(&out.stop, true, __ATOMIC_RELEASE);
	while (nr_workers)
		pthread_join(workers[--nr_workers].thread, NULL);
	CHECK_EQ(in.failed + out.failed, 0);
	raw_close(&in.s);
	raw_close(&out.s);
	op_must_del("serve");
	raw_server_stop(&srv[0]);
	raw_server_stop(&srv[1]);
}

/* Signals interrupt changes. A change that has begun is taken back, and the load goes on. */
static void *interrupt(void *arg)
{
	pthread_t operator = *(pthread_t *)arg;
	unsigned int i;

	for (i = 0; i < 400; i++) {
		pthread_kill(operator, SIGUSR1);
		raw_sleep(7 * RAW_MS + i % 50 * 100000);
	}
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
}

TEST(signals)
{
	const struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	unsigned int interrupted = 0, changed = 0;
	pthread_t self = pthread_self(), t;
	struct op_change c;
	uint64_t end;
	int err, i;

	CHECK_SYS(sigaction(SIGUSR1, &sa, NULL));
	op_del_all();
	start();
	CHECK_EQ(op_add("null", "version=1", NULL, &c), 0);
	CHECK(!pthread_create(&t, NULL, interrupt, &self));
	end = raw_now() + 5 * RAW_S;
	for (i = 0; raw_now() < end; i++) {
		err = op_set("null", i % 2 ? "type=null version=1" : "type=null version=2", NULL, &c);
		CHECK_MSG(!err || err == -ECANCELED, "set: %d, %s", err, op_why);
		CHECK(!c.failed || c.rolled_back);
		interrupted += !!err;
		changed += !err;
	}
	pthread_join(t, NULL);
	NOTE("%u changes were made, %u interrupted", changed, interrupted);
	op_must_del("null");
	stop();
}
