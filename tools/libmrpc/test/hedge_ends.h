/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two ends of calls that are made several times at once, against the stand-in.
 */
#ifndef TEST_HEDGE_ENDS_H
#define TEST_HEDGE_ENDS_H

#include "clock.h"
#include "conn.h"
#include "free_blocks.h"
#include "op.h"
#include "session.h"
#include "ended.h"

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

static UNUSED u32 came(void)
{
	u32 nr;

	pthread_mutex_lock(&log.lock);
	nr = log.nr;
	pthread_mutex_unlock(&log.lock);
	return nr;
}

/* All that are held so far answer. */
static UNUSED void let_go(void)
{
	pthread_mutex_lock(&log.lock);
	log.gone = log.round;
	pthread_cond_broadcast(&log.let_go);
	pthread_mutex_unlock(&log.lock);
}

static UNUSED void expect(const char *what)
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

static UNUSED void begin_at(const char *target, const char *config)
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
static UNUSED void begin(const char *config)
{
	u64 until = clock_ns() + 30000000000ull;

	begin_at(TARGET, config);
	while (links_ready() < SERVERS) {
		CHECK(mrpc_channel_state(channel, true) >= 0);
		CHECK(clock_ns() < until);
		usleep(1000);
	}
}

static UNUSED void end(void)
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

static UNUSED void start(struct ended *e, const struct mrpc_call_opts *opts, mrpc_call_id *id)
{
	struct mrpc_msg msg;

	memset(e, 0, sizeof(*e));
	build(&msg, session, 1, 10000);
	CHECK_MSG(!mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, opts, on_done, e, id),
		  "%s", mrpc_last_error());
}

enum how { SYNC, KEEP, ASYNC, WAYS };

/* Its status; a reply must be the right one. */
static UNUSED int call_with(enum how how, const struct mrpc_call_opts *opts, struct ended *e)
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
static UNUSED void must_come(u32 nr)
{
	u64 until = clock_ns() + 30000000000ull;

	while (came() < nr) {
		CHECK_MSG(clock_ns() < until, "%u of %u attempts came", came(), nr);
		usleep(1000);
	}
	usleep(20000);
	CHECK_EQ(came(), nr);
}

#endif /* TEST_HEDGE_ENDS_H */
