// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/receive kmod/core/heap kmod/call/receive_staged */
/*
 * Calls that wait in a queue which the operator has paused. Deadlines, cancels, signals and the
 * end of the connection reach them there. They complete once and are not executed afterwards.
 * Their slots are free again, and no application sees them.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "tap.h"
#include "held.h"
#include "operator.h"
#include "peer.h"

#define WAIT	(10 * RAW_S)

#define SMALL	100
#define LARGE	100000	/* by reference */

static struct raw_pair p;
static struct raw_qp qp;
static const char *how;

/* Begins with @calls calls at a time. The server gets no keepalive, only what it is sent. */
static void begin_with(const char *transport, const char *words, const char *calls)
{
	how = transport;
	op_del_all();
	CHECK(raw_file_write(RAW_KNOBS "max_calls", calls));
	raw_server_open(&p.srv, 8 << 20, 4 << 20);
	p.srv.keepalive_us = 3600000000ULL;
	raw_open(&p.c, 8 << 20, 8 << 20);
	raw_pair_start(&p, how, 1);
	CHECK(raw_file_write(RAW_KNOBS "max_calls", "256"));
	raw_qp(&qp, &p.c, 1024, 4096, 0);
	op_must_add("null", words, NULL);
}

/* Begins with one call at a time: the next call needs the slot of the one before. */
static void begin(const char *transport, const char *words)
{
	begin_with(transport, words, "1");
}

static void end(void)
{
	op_must_del("null");
	raw_pair_end(&p);
	CHECK(raw_sessions(0, 10000));
}

static struct mrpc_sqe request(uint64_t tag, uint32_t len, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, tag, len, NULL));

	sqe.user_data = tag;
	sqe.timeout_us = timeout_us * raw_scale();
	return sqe;
}

/* A slot is free, possibly after a while, and the server has executed only @executed calls. */
static void works(uint64_t executed)
{
	uint64_t until = raw_now() + WAIT * raw_patience();
	struct mrpc_cqe cqe;

	do {
		struct mrpc_sqe sqe = request(999, SMALL, 0);

		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		raw_done(&p.c, &cqe);
		raw_free(&p.c, sqe.root);
		CHECK_MSG(raw_now() < until, "the slot does not come back: status %u", cqe.status);
	} while (cqe.status == MRPC_RESOURCE_EXHAUSTED);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK_EQ(raw_server_requests(&p.srv), executed + 1);
}

/* A call completes once, and its blocks come back. */
static void completes(uint64_t tag, uint32_t status)
{
	raw_ends(&qp, tag, status, WAIT);
}

static void nothing_more(void)
{
	struct mrpc_cqe cqe;

	CHECK(!raw_next(&qp, &cqe, 100 * RAW_MS));
}

/* -- at the sender ---------------------------------------------------------------- */

static void deadline_at_sender(const char *transport, uint32_t len)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;

	begin(transport, "side=client");
	hold(TX);
	sqe = request(1, len, 200000);
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	raw_done(&p.c, &cqe);
	queued(false, 0);
	sqe = request(2, len, 200000);
	raw_push(&qp, &sqe);
	completes(2, MRPC_DEADLINE_EXCEEDED);
	let_go(TX);
	works(0);
	nothing_more();
	end();
}

TEST(sender_deadline)
{
	deadline_at_sender("tcp4", SMALL);
	deadline_at_sender("tcp4", LARGE);
	deadline_at_sender("loop", LARGE);
}

static void cancel_it(uint64_t tag)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_CANCEL, .conn = p.conn, .call = tag };

	raw_push(&qp, &sqe);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
}

TEST(sender_cancel)
{
	static const char *const transports[] = { "tcp4", "loop" };
	struct mrpc_sqe sqe;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		begin(transports[i % 2], "side=client");
		hold(TX);
		sqe = request(1, i < 2 ? SMALL : LARGE, 0);
		raw_push(&qp, &sqe);
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		queued(false, 1);
		cancel_it(1);
		completes(1, MRPC_CANCELLED);
		queued(false, 0);
		let_go(TX);
		works(0);
		nothing_more();
		end();
	}
}

static void on_signal(int signal)
{
	(void)signal;
}

struct sync {
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	int err;
	bool done;
};

static void *sync_call(void *arg)
{
	struct sync *s = arg;

	s->err = raw_call(&p.c, &s->sqe, &s->cqe);
	__atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The cancel must not overtake the request. */
TEST(sender_signal)
{
	const struct sigaction sa = { .sa_handler = on_signal };
	struct sync s;
	uint64_t until;
	pthread_t t;
	int i;

	CHECK_SYS(sigaction(SIGUSR1, &sa, NULL));
	for (i = 0; i < 2; i++) {
		begin("tcp4", "side=client");
		hold(TX);
		s = (struct sync){ .sqe = request(1, i ? LARGE : SMALL, 0) };
		CHECK(!pthread_create(&t, NULL, sync_call, &s));
		queued(false, 1);
		until = raw_now() + WAIT * raw_patience();
		while (!__atomic_load_n(&s.done, __ATOMIC_ACQUIRE)) {
			CHECK_MSG(raw_now() < until, "a signal does not end the call");
			pthread_kill(t, SIGUSR1);
			raw_sleep(20 * RAW_MS);
		}
		pthread_join(t, NULL);
		CHECK_EQ(s.err, -EINTR);
		queued(false, 0);
		let_go(TX);
		works(0);
		end();
	}
}

/* -- at the receiver ------------------------------------------------------------------ */

static void at_receiver(const char *transport, bool cancel, uint32_t len)
{
	struct mrpc_sqe sqe;

	begin(transport, "side=server");
	hold(RX);
	sqe = request(77, len, cancel ? 0 : 300000);
	raw_push(&qp, &sqe);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	queued(true, 1);
	CHECK(!raw_visible(&p.srv.s, 77));
	if (cancel)
		cancel_it(77);
	completes(77, cancel ? MRPC_CANCELLED : MRPC_DEADLINE_EXCEEDED);
	/* The server's answer frees the slot; the next call is behind it in the queue. */
	CHECK(!raw_visible(&p.srv.s, 77));
	CHECK(raw_server_calls(&p.srv, 0, 5000));
	let_go(RX);
	works(0);
	CHECK(!raw_visible(&p.srv.s, 77));
	nothing_more();
	end();
}

TEST(receiver_deadline)
{
	at_receiver("tcp4", false, SMALL);
	at_receiver("tcp4", false, LARGE);
	at_receiver("loop", false, LARGE);
}

TEST(receiver_cancel)
{
	at_receiver("tcp4", true, SMALL);
	at_receiver("tcp4", true, LARGE);
	at_receiver("loop", true, LARGE);
}

/* The reply waits at the client. The call was executed, but its caller no longer waits. */
TEST(reply_held)
{
	struct mrpc_sqe sqe;
	int i;

	for (i = 0; i < 2; i++) {
		begin(i ? "loop" : "tcp4", "side=client");
		hold(RX);
		sqe = request(1, LARGE, i ? 300000 : 0);
		raw_push(&qp, &sqe);
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		queued(true, 1);
		if (!i)
			cancel_it(1);
		completes(1, i ? MRPC_DEADLINE_EXCEEDED : MRPC_CANCELLED);
		let_go(RX);
		works(1);
		nothing_more();
		end();
	}
}

/* -- ends -------------------------------------------------------------------------------- */

#define HELD	20

static void begin_many(const char *transport, unsigned int dir, const char *words)
{
	struct mrpc_sqe sqe;
	unsigned int i;

	op_del_all();
	raw_pair(&p, transport, 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	op_must_add("null", words, NULL);
	hold(dir);
	for (i = 0; i < HELD; i++) {
		sqe = request(i, i % 2 ? LARGE : SMALL, 0);
		raw_push(&qp, &sqe);
	}
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	queued(dir == RX, HELD);
}

/* Each call completes once. @unsent: the server has not got it. */
static void all_complete(uint32_t status, bool unsent)
{
	unsigned int done[HELD] = { 0 }, freed[HELD] = { 0 }, left = 2 * HELD;
	struct mrpc_cqe cqe;

	while (left) {
		CHECK_MSG(raw_next(&qp, &cqe, WAIT * raw_patience()), "%u completions are missing", left);
		CHECK(cqe.user_data < HELD);
		if (cqe.type == MRPC_CQE_REPLY) {
			CHECK_EQ(cqe.status, status);
			CHECK_EQ(!!(cqe.flags & MRPC_CQE_UNSENT), unsent);
			CHECK_EQ(done[cqe.user_data]++, 0);
			left--;
			raw_done(&p.c, &cqe);
		}
		if (cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED) {
			CHECK_EQ(freed[cqe.user_data]++, 0);
			left--;
		}
	}
	nothing_more();
}

TEST(close)
{
	static const char *const transports[] = { "tcp4", "loop" };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		begin_many(transports[i % 2], i < 2 ? TX : RX, i < 2 ? "side=client" : "side=server");
		CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
		all_complete(MRPC_UNAVAILABLE, i < 2);
		CHECK_EQ(raw_server_requests(&p.srv), 0);
		end();
	}
}

static void *drain_server(void *arg)
{
	*(int *)arg = raw_close_id(&p.srv.s, p.srv.listener, MRPC_CLOSE_DRAIN, 30000000);
	return NULL;
}

static void *drain_client(void *arg)
{
	*(int *)arg = raw_close_id(&p.c, p.conn, MRPC_CLOSE_DRAIN, 30000000);
	return NULL;
}

/* Both sides drain, so the client sends two BYEs. Neither overtakes a call. */
TEST(drain)
{
	pthread_t server, client;
	int errs[2], i;

	for (i = 0; i < 2; i++) {
		begin_many(i ? "loop" : "tcp4", TX, "side=client");
		CHECK(!pthread_create(&server, NULL, drain_server, &errs[0]));
		raw_sleep(200 * RAW_MS * raw_scale());
		CHECK(!pthread_create(&client, NULL, drain_client, &errs[1]));
		raw_sleep(300 * RAW_MS * raw_scale());
		let_go(TX);
		all_complete(MRPC_OK, false);
		pthread_join(client, NULL);
		pthread_join(server, NULL);
		CHECK_EQ(errs[1], 0);
		CHECK_EQ(raw_server_requests(&p.srv), HELD);
		end();
	}
}

/* Paused messages are released, in order, when the engine is removed or replaced. */
TEST(removal)
{
	struct op_change change;
	int i;

	for (i = 0; i < 4; i++) {
		begin_many("tcp4", i % 2 ? RX : TX, i % 2 ? "side=server version=1" :
			   "side=client version=1");
		if (i < 2) {
			op_must_del("null");
		} else {	/* the new engine is paused, too */
			CHECK_EQ(op_set("null", "type=null version=2", NULL, &change), 0);
			CHECK_EQ(change.leaked, 0);
			queued(i % 2, HELD);
			let_go(i % 2 ? RX : TX);
		}
		all_complete(MRPC_OK, false);
		if (i < 2)
			op_must_add("null", "", NULL);
		end();
	}
}

/* -- more than the receiver has room for --------------------------------------------------- */

#define MANY	600
#define MEDIUM	5000	/* 512 of them fill the server's receive heap */

/* Waits until no more requests come: the heap is full. One turn cannot release all of them. */
static void queue_is_full(void)
{
	uint64_t until = raw_now() + WAIT * raw_patience();
	int64_t before = -1, nr;

	while ((nr = op_dir("null", true, MRPC_A_ENGINE_DIR_QUEUED)) != before || nr < 300) {
		CHECK_MSG(raw_now() < until, "%lld rpcs are queued", (long long)nr);
		before = nr;
		raw_sleep(300 * RAW_MS);
	}
	CHECK_MSG(nr < MANY, "all %lld requests found room", (long long)nr);
}

/*
 * When the queue is released, a turn ends with some messages in the queue, and with one that finds
 * no room. The server must then notice every release of memory: no other event comes.
 */
static void let_go_of_many(const char *transport)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	unsigned int i, done = 0;

	begin_with(transport, "side=server", "1024");
	hold(RX);
	for (i = 0; i < MANY; i++) {
		sqe = request(i, MEDIUM, 0);
		raw_push(&qp, &sqe);
	}
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	queue_is_full();
	raw_sleep(2000 * RAW_MS);	/* the first keepalive check has passed */
	let_go(RX);
	while (done < MANY) {
		CHECK_MSG(raw_next(&qp, &cqe, WAIT / 2 * raw_patience()),
			  "%s: %u of %u calls have ended", transport, done, MANY);
		if (cqe.type != MRPC_CQE_REPLY)
			continue;
		CHECK_EQ(cqe.status, MRPC_OK);
		done++;
		raw_done(&p.c, &cqe);
	}
	CHECK_EQ(raw_server_requests(&p.srv), MANY);
	end();
}

TEST(more_than_fits)
{
	let_go_of_many("tcp4");
	let_go_of_many("loop");
}

/* -- calls that name no method ------------------------------------------------------------- */

static struct peer w;

static void stray(uint32_t method, uint64_t remaining_us)
{
	uint8_t body[4096];
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	uint32_t size = peer_blob(body, &len, 1, SMALL, NULL);
	uint64_t id = peer_id(&w, 0);

	f = peer_call_frame(id, method, &len);
	f.remaining_us = remaining_us;
	CHECK(peer_send_frame(&w, &f, body, size));
	peer_expect(&w, MRPC_WIRE_REPLY);
	CHECK_EQ(w.frame.call_id, id);
	CHECK_MSG(w.frame.status == MRPC_UNIMPLEMENTED || w.frame.status == MRPC_DEADLINE_EXCEEDED,
		  "method %x: status %u", method, w.frame.status);
}

/* Engines count by methods, so these must not reach them. */
TEST(stray_methods)
{
	static const uint32_t methods[] = {
		0xffff, 0x1ffff, 0x20000, 0x1000000, 0xffffffff, 0xff0000, 6, 7, 8, 100, 0x4000,
	};
	unsigned int i;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	op_must_add("metrics", "side=server", NULL);
	peer_shake(&w, p.srv.s.port);
	for (i = 0; i < 200; i++)
		stray(methods[i % ARRAY_SIZE(methods)], i % 3);
	peer_echo(&w, 0, 1, SMALL);
	CHECK_EQ(op_counter("metrics", "calls"), 1);
	peer_close(&w);
	op_must_del("metrics");
	raw_pair_end(&p);
}
