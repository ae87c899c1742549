// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls that a service config has made several times at once, against the stand-in.
 */
#include "clock.h"
#include "conn.h"
#include "free_blocks.h"
#include "op.h"
#include "session.h"

#define SERVERS	3
#define TARGET	"loop:hedge-0,loop:hedge-1,loop:hedge-2"
#define ROBIN	"\"loadBalancingConfig\":[{\"round_robin\":{}}],"
#define HEDGE(more)	"{" ROBIN "\"methodConfig\":[{\"name\":[{}],\"hedgingPolicy\":{" \
			"\"nonFatalStatusCodes\":[\"UNAVAILABLE\",\"ABORTED\"]," more "}}]}"
#define MAX_CALLS	16	/* that are written down */

enum does {
	ANSWER,
	HOLD,		/* until the test lets it go */
	ABORT,
	REFUSE,		/* with a status that ends the call */
};

static struct test_server servers[SERVERS];
static struct mrpc_session *session;
static struct mrpc_conn *channel;
static struct mrpc_qp *qp;
static u64 idle_us;		/* option of the channel */

/* What the servers do with attempts, in the order in which they come; and what came. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t let_go;
	u32 round;		/* of expectations */
	u32 gone;		/* rounds that are not held any more */
	enum does does[MAX_CALLS];
	const char *_Atomic pushback;
	u32 nr;
	u64 at[MAX_CALLS];
	u32 server[MAX_CALLS];
	char previous[MAX_CALLS + 1];
	u32 mark[MAX_CALLS];
	u64 remaining_us[MAX_CALLS];
} log = { .lock = PTHREAD_MUTEX_INITIALIZER, .let_go = PTHREAD_COND_INITIALIZER };

static int serve(struct mrpc_call *call, const struct fake_msg *req, struct fake_msg *reply)
{
	enum does does;
	const char *previous, *mark, *pushback;
	u32 len, n, round;

	previous = mrpc_call_meta_find(call, "grpc-previous-rpc-attempts", &len);
	pthread_mutex_lock(&log.lock);
	/* Losers may come late. */
	n = log.nr < MAX_CALLS - 1 ? log.nr++ : MAX_CALLS - 1;
	does = log.does[n];
	log.at[n] = clock_ns();
	log.server[n] = (u32)(uintptr_t)mrpc_call_ctx(call);
	log.previous[n] = previous && len == 1 ? *previous : '-';
	mark = mrpc_call_meta_find(call, "mark", &len);
	log.mark[n] = mark ? len : 0;
	log.remaining_us[n] = mrpc_call_remaining_us(call);
	pushback = does == ABORT ? log.pushback : NULL;
	for (round = log.round; does == HOLD && log.gone < round; )
		pthread_cond_wait(&log.let_go, &log.lock);
	pthread_mutex_unlock(&log.lock);
	if (pushback)
		mrpc_call_add_meta(call, "grpc-retry-pushback-ms", pushback, strlen(pushback));
	mrpc_call_set_detail(call, "attempt %u", n);
	return does == ABORT ? MRPC_ABORTED : does == REFUSE ? MRPC_INVALID_ARGUMENT :
	       echo_handler(call, req, reply);
}

static u32 came(void)
{
	u32 nr;

	pthread_mutex_lock(&log.lock);
	nr = log.nr;
	pthread_mutex_unlock(&log.lock);
	return nr;
}

/* All that are held so far answer. */
static void let_go(void)
{
	pthread_mutex_lock(&log.lock);
	log.gone = log.round;
	pthread_cond_broadcast(&log.let_go);
	pthread_mutex_unlock(&log.lock);
}

static void expect(const char *what)
{
	u32 i;

	pthread_mutex_lock(&log.lock);
	memset(log.does, 0, sizeof(log.does));
	memset(log.previous, 0, sizeof(log.previous));
	log.nr = 0;
	log.round++;
	log.pushback = NULL;
	for (i = 0; what[i]; i++)
		log.does[i] = what[i] == 'h' ? HOLD : what[i] == 'a' ? ABORT :
			      what[i] == 'r' ? REFUSE : ANSWER;
	pthread_mutex_unlock(&log.lock);
}

static void begin_at(const char *target, const char *config)
{
	static const struct test_ops ops = { .echo = serve };
	struct mrpc_channel_opts opts = { .service_config = config, .idle_us = idle_us };
	char name[32];
	u32 i;

	for (i = 0; i < SERVERS; i++) {
		snprintf(name, sizeof(name), "loop:hedge-%u", i);
		server_start(&servers[i], &ops, (void *)(uintptr_t)i, name, 3);
	}
	session = open_session();
	channel = mrpc_channel_open(session, target, test_services, 1, &opts);
	CHECK_MSG(channel, "%s", mrpc_last_error());
	qp = mrpc_qp_self(session);
}

static u32 links_ready(void)
{
	struct mrpc_conn_info info = { .size = sizeof(info) };
	u32 nr = 0;

	for (info.conn = 1; info.conn <= 16; info.conn++)
		nr += !session_ioctl(session, MRPC_IOC_CONN_INFO, &info);
	return nr;
}

/* All three links stand when it returns. */
static void begin(const char *config)
{
	u64 until = clock_ns() + 30000000000ull;

	begin_at(TARGET, config);
	while (links_ready() < SERVERS) {
		CHECK(mrpc_channel_state(channel, true) >= 0);
		CHECK(clock_ns() < until);
		usleep(1000);
	}
}

static void end(void)
{
	u32 i;

	let_go();
	must_be_free(session, qp);
	must_take_no_room(qp);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	mrpc_session_close(session);
	for (i = 0; i < SERVERS; i++)
		server_stop(&servers[i]);
	CHECK_EQ(fake_stats().bad, 0);
	CHECK_EQ(fake_stats().live_blocks, 0);
}

struct ended {
	int nr;
	int status;
	bool same;
	bool unsent;
	char detail[256];
};

static void on_done(void *user, struct mrpc_result *res)
{
	struct ended *e = user;

	e->nr++;
	e->status = res->status;
	e->unsent = res->unsent;
	e->same = res->status == MRPC_OK && matches(res->reply, 1, 10000);
	snprintf(e->detail, sizeof(e->detail), "%.255s", res->detail);
}

static void start(struct ended *e, const struct mrpc_call_opts *opts, mrpc_call_id *id)
{
	struct mrpc_msg msg;

	memset(e, 0, sizeof(*e));
	build(&msg, session, 1, 10000);
	CHECK_MSG(!mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, opts, on_done, e, id),
		  "%s", mrpc_last_error());
}

enum how { SYNC, KEEP, ASYNC, WAYS };

/* Its status; a reply must be the right one. */
static int call_with(enum how how, const struct mrpc_call_opts *opts, struct ended *e)
{
	struct mrpc_call_opts with = opts ? *opts : (struct mrpc_call_opts){ 0 };
	struct mrpc_result res;
	struct mrpc_msg msg;

	if (how == ASYNC) {
		start(e, opts, NULL);
		CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	} else {
		memset(e, 0, sizeof(*e));
		build(&msg, session, 1, 10000);
		with.flags |= how == KEEP ? MRPC_CALL_KEEP : 0;
		mrpc_call_sync(channel, &test_service, TEST_ECHO, &msg, &with, &res);
		on_done(e, &res);
		mrpc_result_release(&res);
		if (how == KEEP) {
			/* The kernel does not read it any more. */
			memset(msg.root, 0xff, sizeof(struct fake_msg));
			mrpc_msg_free(&msg);
		}
	}
	CHECK_EQ(e->nr, 1);
	CHECK_EQ(e->same, e->status == MRPC_OK);
	return e->status;
}

/* Those that are cancelled come to their servers all the same, perhaps after the call. */
static void must_come(u32 nr)
{
	u64 until = clock_ns() + 30000000000ull;

	while (came() < nr) {
		CHECK_MSG(clock_ns() < until, "%u of %u attempts came", came(), nr);
		usleep(1000);
	}
	usleep(20000);
	CHECK_EQ(came(), nr);
}

/* The second attempt begins after the delay, over another connection, and wins. */
TEST(second_wins)
{
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = { .meta = &meta, .timeout_us = 60000000 };
	struct ended e;
	enum how how;
	u64 before;
	u32 second;

	begin(HEDGE("\"maxAttempts\":2,\"hedgingDelay\":\"0.05s\""));
	mrpc_meta_add_str(&meta, "mark", "12345");
	for (how = 0; how < WAYS; how++) {
		expect("ho");
		before = clock_ns();
		CHECK_EQ(call_with(how, &opts, &e), MRPC_OK);
		must_come(2);
		/* They may come to their servers in either order. */
		CHECK_MSG(!strcmp(log.previous, "-1") || !strcmp(log.previous, "1-"), "%s",
			  log.previous);
		CHECK_EQ(log.mark[0], 5);
		CHECK_EQ(log.mark[1], 5);
		second = log.previous[1] == '1';
		CHECK(log.at[second] - before >= 50000000);
		CHECK(log.remaining_us[second] < 60000000 - 40000);
		CHECK(log.server[0] != log.server[1]);
		let_go();
		must_be_free(session, qp);
	}
	mrpc_meta_free(&meta);
	end();
}

/* Without a delay all begin at once, each over a connection of its own. */
TEST(all_at_once)
{
	struct ended e;
	enum how how;

	begin(HEDGE("\"maxAttempts\":3"));
	for (how = 0; how < WAYS; how++) {
		expect("hho");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_OK);
		must_come(3);
		CHECK_EQ(1u << log.server[0] | 1u << log.server[1] | 1u << log.server[2], 7);
		let_go();
		must_be_free(session, qp);
	}
	end();
}

/* Another connection is taken even if it is the turn of the one that the call has. */
TEST(other_connection)
{
	struct ended first, e;

	begin(HEDGE("\"maxAttempts\":2,\"hedgingDelay\":\"3s\""));
	expect("hooo");
	start(&first, NULL, NULL);
	CHECK_EQ(mrpc_submit(qp), 0);
	must_come(1);
	CHECK_EQ(call_with(SYNC, NULL, &e), MRPC_OK);
	CHECK_EQ(call_with(SYNC, NULL, &e), MRPC_OK);
	CHECK_EQ(came(), 3);
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	CHECK_EQ(first.status, MRPC_OK);
	must_come(4);
	CHECK(log.server[3] != log.server[0]);
	end();
}

/* One that answers in time is the only one. */
TEST(first_wins)
{
	struct ended e;
	enum how how;

	begin(HEDGE("\"maxAttempts\":5,\"hedgingDelay\":\"2s\""));
	for (how = 0; how < WAYS; how++) {
		expect("o");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_OK);
		must_come(1);
	}
	end();
}

/* A failure that is not fatal makes the next attempt begin at once; the last one counts. */
TEST(failures)
{
	struct ended e;
	u64 before = clock_ns();
	enum how how;

	begin(HEDGE("\"maxAttempts\":3,\"hedgingDelay\":\"60s\""));
	for (how = 0; how < WAYS; how++) {
		expect("aao");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_OK);
		must_come(3);
		CHECK_STR(log.previous, "-12");
		CHECK_EQ(1u << log.server[0] | 1u << log.server[1] | 1u << log.server[2], 7);
		expect("aaaa");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_ABORTED);
		CHECK_STR(e.detail, "attempt 2");
		must_come(3);
		expect("ar");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_INVALID_ARGUMENT);
		CHECK_STR(e.detail, "attempt 1");
		must_come(2);
	}
	CHECK(clock_ns() - before < 30000000000ull);
	end();
}

/* A failure while another attempt is under way does not end the call, unless it is fatal. */
TEST(fails_beside_another)
{
	struct ended e;
	enum how how;

	begin(HEDGE("\"maxAttempts\":2,\"hedgingDelay\":\"0.02s\""));
	for (how = 0; how < WAYS; how++) {
		expect("hr");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_INVALID_ARGUMENT);
		let_go();
		must_be_free(session, qp);
	}
	expect("ha");
	start(&e, NULL, NULL);
	while (came() < 2)
		CHECK_EQ(mrpc_run(qp, 10000), -ETIME);
	CHECK_EQ(mrpc_run(qp, 50000), -ETIME);
	let_go();
	CHECK_EQ(mrpc_run(qp, 5000000), 1);
	CHECK_EQ(e.status, MRPC_OK);
	CHECK(e.same);
	end();
}

TEST(pushback)
{
	struct ended e;
	enum how how;
	u64 before;

	begin(HEDGE("\"maxAttempts\":3,\"hedgingDelay\":\"60s\""));
	for (how = 0; how < WAYS; how++) {
		expect("ao");
		log.pushback = "150";
		before = clock_ns();
		CHECK_EQ(call_with(how, NULL, &e), MRPC_OK);
		CHECK(clock_ns() - before >= 150000000);
		must_come(2);
		expect("ao");
		log.pushback = "-1";
		CHECK_EQ(call_with(how, NULL, &e), MRPC_ABORTED);
		must_come(1);
	}
	end();
}

/* The first attempt is always made; others only while there are more than half of the tokens. */
TEST(throttled)
{
	struct ended e;

	begin("{" ROBIN "\"methodConfig\":[{\"name\":[{}],\"hedgingPolicy\":{\"maxAttempts\":5,"
	      "\"nonFatalStatusCodes\":[\"ABORTED\"]}}],"
	      "\"retryThrottling\":{\"maxTokens\":4,\"tokenRatio\":1}}");
	expect("aaaaa");
	CHECK_EQ(call_with(SYNC, NULL, &e), MRPC_ABORTED);
	expect("a");
	CHECK_EQ(call_with(ASYNC, NULL, &e), MRPC_ABORTED);
	must_come(1);
	expect("");
	CHECK_EQ(call_with(KEEP, NULL, &e), MRPC_OK);
	must_come(1);
	end();
}

/* No attempt begins after the deadline of the call, which is that of all. */
TEST(deadline)
{
	struct mrpc_call_opts opts = { .timeout_us = 10000000 };
	struct ended e;
	enum how how;
	u64 before;

	begin(HEDGE("\"maxAttempts\":2,\"hedgingDelay\":\"60s\""));
	for (how = 0; how < WAYS; how++) {
		expect("ao");
		log.pushback = "60000";
		before = clock_ns();
		CHECK_EQ(call_with(how, &opts, &e), MRPC_ABORTED);
		CHECK(clock_ns() - before < 10000000000ull);
		must_come(1);
	}
	end();
}

TEST(no_server)
{
	struct mrpc_call_opts opts = { 0 }, wait = { .timeout_us = 200000 };
	struct ended e;
	enum how how;
	u64 before;

	wait.flags = MRPC_CALL_WAIT_READY;
	begin_at("loop:nobody", HEDGE("\"maxAttempts\":3"));
	for (how = 0; how < WAYS; how++) {
		CHECK_EQ(call_with(how, &opts, &e), MRPC_UNAVAILABLE);
		CHECK(e.unsent);
		before = clock_ns();
		CHECK_EQ(call_with(how, &wait, &e), MRPC_DEADLINE_EXCEEDED);
		CHECK(e.unsent);
		CHECK_MSG(strstr(e.detail, "no connection to loop:nobody"), "%s", e.detail);
		CHECK(clock_ns() - before >= 200000000);
	}
	end();
}

/* -- ends from outside ------------------------------------------------------------------------ */

TEST(cancelled)
{
	struct ended e;
	mrpc_call_id id;

	begin(HEDGE("\"maxAttempts\":3,\"hedgingDelay\":\"0.01s\""));
	expect("hhh");
	start(&e, NULL, &id);
	while (came() < 3)
		mrpc_run(qp, 10000);
	CHECK_EQ(mrpc_cancel(qp, id), 0);
	CHECK_EQ(mrpc_cancel(qp, id), -ENOENT);
	CHECK_EQ(mrpc_run(qp, 1000000), 1);
	CHECK_EQ(e.status, MRPC_CANCELLED);
	CHECK(!e.unsent);
	CHECK_STR(e.detail, "cancelled by the application");
	end();
}

TEST(closed)
{
	struct ended e;

	begin(HEDGE("\"maxAttempts\":3,\"hedgingDelay\":\"60s\""));
	expect("aoo");
	log.pushback = "60000";
	start(&e, NULL, NULL);
	while (!came() || !qp->nr_parked)
		mrpc_run(qp, 10000);
	mrpc_run(qp, 100000);
	CHECK_EQ(e.nr, 0);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	CHECK_EQ(mrpc_run(qp, 1000000), 1);
	CHECK_EQ(e.status, MRPC_ABORTED);
	CHECK(!qp->lots);
	channel = mrpc_channel_open(session, TARGET, test_services, 1, NULL);
	CHECK(channel);
	end();
}

/* The session ends while attempts are under way, and while the next one is waited for. */
TEST(session_ends)
{
	struct ended e[3];
	u32 i;

	begin(HEDGE("\"maxAttempts\":4,\"hedgingDelay\":\"0.05s\""));
	expect("hhhhhhhh");
	for (i = 0; i < 3; i++)
		start(&e[i], NULL, NULL);
	while (came() < 5)
		mrpc_run(qp, 10000);
	mrpc_session_close(session);
	let_go();
	for (i = 0; i < SERVERS; i++)
		server_stop(&servers[i]);
	for (i = 0; i < 3; i++)
		CHECK_EQ(e[i].nr, 0);
}

/* Dies when @nr attempts have come to their servers. */
static void *start_and_die(void *nr)
{
	static struct ended e;
	struct mrpc_qp *own = mrpc_qp_self(session);
	u32 before = came();

	start(&e, NULL, NULL);
	while (came() < before + (u32)(uintptr_t)nr)
		mrpc_run(own, 10000);
	return NULL;
}

/* A call of a thread that has died does not keep the channel from being idle. */
static void dies(const char *config, uintptr_t attempts)
{
	u64 until;
	pthread_t t;

	idle_us = 200000;
	begin(config);
	idle_us = 0;
	expect("hhhhh");
	mrpc_qp_free(qp);
	CHECK_EQ(pthread_create(&t, NULL, start_and_die, (void *)attempts), 0);
	pthread_join(t, NULL);
	until = clock_ns() + 30000000000ull;
	while (mrpc_channel_state(channel, false) != MRPC_CHANNEL_IDLE) {
		CHECK_MSG(clock_ns() < until, "it is %s",
			  mrpc_channel_state_name(mrpc_channel_state(channel, false)));
		usleep(1000);
	}
	CHECK_EQ(came(), attempts);
	/* Its queue pair is used again: what comes late harms nothing. */
	let_go();
	usleep(50000);
	CHECK_EQ(pthread_create(&t, NULL, start_and_die, (void *)1), 0);
	pthread_join(t, NULL);
	qp = mrpc_qp_self(session);
	end();
}

TEST(thread_dies)
{
	dies(HEDGE("\"maxAttempts\":2"), 2);
}

TEST(thread_dies_unhedged)
{
	dies("{" ROBIN "\"methodConfig\":[]}", 1);
}

/* -- room ------------------------------------------------------------------------------------------ */

/* An attempt that was cancelled takes room until the kernel has ended it: one more waits for that. */
TEST(losers_take_room)
{
	struct ended first, second;

	fake_max_calls(2);
	begin_at("loop:hedge-0", HEDGE("\"maxAttempts\":2"));
	expect("hooo");
	start(&first, NULL, NULL);
	while (!first.nr)
		CHECK(mrpc_run(qp, 10000000) >= 0);
	CHECK_EQ(first.status, MRPC_OK);
	start(&second, NULL, NULL);
	CHECK_EQ(qp->nr_parked, 1);
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	CHECK_EQ(second.status, MRPC_OK);
	end();
}

/* -- many ------------------------------------------------------------------------------------------ */

/* Quick ones whose losers answer late; each has one reply, and no block is lost. */
TEST(many)
{
	static struct ended e[40];
	u32 round, i;

	begin(HEDGE("\"maxAttempts\":5"));
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 3; i++) {
			expect(i == 2 ? "aaoo" : "ooooo");
			CHECK_EQ(call_with((enum how)i, NULL, &e[i]), MRPC_OK);
			must_be_free(session, qp);
		}
	}
	end();
}
