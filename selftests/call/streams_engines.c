// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/flow kmod/call/flow_tx kmod/call/flow_rx kmod/core/flow kmod/call/receive_staged kmod/chain */
/*
 * Streams among engines: some delay messages, hold them or reject them, and engines and transports
 * change while messages pass.
 */
#include "tap.h"
#include "chats.h"
#include "held.h"
#include "operator.h"

enum { ALLOW, DENY };

static void begin_clean(const char *how)
{
	op_del_all();
	begin(how);
}

static void end_clean(void)
{
	op_del_all();
	end();
}

/* -- delays ------------------------------------------------------------------------ */

/*
 * Half of what the client sends is late at each end, its CALL as well: the fault engine delays
 * requests. Messages overtake each other twice.
 */
static void delayed(const char *how)
{
	begin_clean(how);
	op_must_add("fault", "name=near side=client delay_percent=5000 delay=4000000", NULL);
	op_must_add("fault", "name=far side=server delay_percent=5000 delay=4000000", NULL);
	chats_all(1, 500);
	/* 250 on average: six standard deviations are 67. */
	CHECK(op_counter("near", "delayed") > 180);
	CHECK(op_counter("far", "delayed") > 180);
	end_clean();
}

TEST_EACH_TRANSPORT(delayed, delayed)

/* Streams side by side, so that each has messages among those of others. */
static void delayed_many(const char *how)
{
	begin_clean(how);
	op_must_add("fault", "name=near side=client delay_percent=5000 delay=4000000", NULL);
	op_must_add("fault", "name=far side=server delay_percent=5000 delay=4000000", NULL);
	chats_all(12, 50);
	end_clean();
}

TEST_EACH_TRANSPORT(delayed_many, delayed_many)

/* An engine that goes gives the late ones back all at once. */
static void delayed_then_flushed(const char *how)
{
	struct op_change change;
	unsigned int i;

	begin_clean(how);
	chats_open(1, 600);
	for (i = 0; i < 8; i++) {
		op_must_add("fault", "delay_percent=5000 delay=3600000000000", NULL);
		while (chats_step())
			;
		CHECK(i || op_counter("fault", "delayed") > 0);
		CHECK_EQ(op_del("fault", &change), 0);
		CHECK_EQ(change.leaked, 0);
	}
	chats_run(chats_over);
	end_clean();
}

TEST_EACH_TRANSPORT(delayed_then_flushed, delayed_then_flushed)

/* -- held messages ------------------------------------------------------------------- */

#define HELD	40

static uint32_t held_len(unsigned int i)
{
	return i % 10 == 9 ? 20000 : 10 * i;
}

/* The queue of one direction at one end is held. The other direction goes on. */
static void held(const char *how, const char *words, unsigned int dir, bool to_server)
{
	struct side *from = to_server ? &client : &server, *to = to_server ? &server : &client;
	uint64_t up, down, there, back;
	unsigned int i;

	begin_clean(how);
	op_must_add("null", words, NULL);
	up = open_call(CHAT, 7, 0);
	down = requested(CHAT);
	there = to_server ? up : down;
	back = to_server ? down : up;
	send_one(from, there, 1000, 50, MRPC_SQE_COPY);
	comes(to, 1000, 50, true);
	sent(from, 1000, MRPC_OK);

	hold(dir);
	for (i = 0; i < HELD; i++)
		send_one(from, there, i, held_len(i),
			 MRPC_SQE_COPY | (to_server && i == HELD - 1 ? MRPC_SQE_END : 0));
	if (!to_server)
		reply(down, MRPC_OK, 0);
	queued(dir == RX, HELD + !to_server);
	nothing(to);
	if (dir == TX)
		nothing(from);
	if (to_server) {
		send_one(to, back, 2000, 50, MRPC_SQE_COPY);
		comes(from, 2000, 50, true);
		sent(to, 2000, MRPC_OK);
	}

	let_go(dir);
	for (i = 0; i < HELD; i++)
		comes(to, i, held_len(i), !to_server || i < HELD - 1);
	all_sent(from, HELD);
	if (to_server)
		reply(down, MRPC_OK, 0);
	ended(7, MRPC_OK);
	nothing(&client);
	nothing(&server);
	end_clean();
}

static void held_each(const char *how)
{
	held(how, "side=client", TX, true);
	held(how, "side=server", RX, true);
	held(how, "side=server", TX, false);
	held(how, "side=client", RX, false);
}

TEST_EACH_TRANSPORT(held, held_each)

/* -- calls that end while their messages are held -------------------------------------- */

#define SLOTS	4
#define CALLS	(3 * SLOTS)
#define EACH	5

/* What has come for either end since the call before. */
static struct {
	unsigned int requests;
	unsigned int aborts;		/* the server learns of an end */
	unsigned int ends[CALLS];	/* at the client */
	unsigned int refused;		/* there was no slot */
	uint16_t status;
	unsigned int sent[CALLS][EACH];
	unsigned int nr_sent;
	uint64_t up, down;
} got;

static void got_one(struct side *side, const struct mrpc_cqe *cqe)
{
	unsigned int i = cqe->user_data / EACH, j = cqe->user_data % EACH;

	switch (cqe->type) {
	case MRPC_CQE_OPEN:
		got.up = cqe->call;
		break;
	case MRPC_CQE_REQUEST:
		got.requests++;
		got.down = cqe->call;
		server.conn = cqe->conn;
		break;
	case MRPC_CQE_SENT:
		CHECK_MSG(i < CALLS && !got.sent[i][j]++, "a SENT of %u, %u", i, j);
		got.nr_sent++;
		break;
	case MRPC_CQE_MESSAGE:
		CHECK_MSG(side == &server && cqe->status != MRPC_OK,
			  "a held message comes to the %s, after %u requests, %u aborts",
			  side == &server ? "server" : "client", got.requests, got.aborts);
		CHECK_MSG(cqe->call == got.down, "the end of another call");
		got.aborts++;
		break;
	case MRPC_CQE_REPLY:
		CHECK(cqe->user_data < CALLS);
		got.refused += cqe->status == MRPC_RESOURCE_EXHAUSTED;
		got.ends[cqe->user_data] += cqe->status != MRPC_RESOURCE_EXHAUSTED;
		got.status = cqe->status;
		CHECK(cqe->flags & MRPC_CQE_FREED);
		raw_done(&side->s, cqe);
		break;
	default:
		CHECK_MSG(false, "a completion of type %u, status %u", cqe->type, cqe->status);
	}
}

static void got_all(void)
{
	struct mrpc_cqe cqe;
	unsigned int i;

	run_sides();
	raw_enter(&client.qp, 1, RAW_MS);
	for (i = 0; i < nr_sides; i++)
		while (raw_reap(&sides[i]->qp, &cqe))
			got_one(sides[i], &cqe);
}

/* Goes on until a counter has a value. */
#define UNTIL(counter, value)								\
	do {										\
		uint64_t until = raw_now() + WAIT * raw_patience();			\
											\
		while ((counter) != (value)) {						\
			CHECK_MSG(raw_now() < until, "%s stays %u", #counter,		\
				  (unsigned int)(counter));				\
			got_all();							\
		}									\
	} while (0)

/* Calls that the server's kernel has. */
static unsigned int server_calls(void)
{
	unsigned int id, nr = 0;

	for (id = 1; id < 64; id++) {
		struct mrpc_conn_info info = { .size = sizeof(info), .conn = id };

		if (!raw_ioctl(server.s.fd, MRPC_IOC_CONN_INFO, &info) && info.accepted)
			nr += info.calls;
	}
	return nr;
}

/* Begins call @i. The slots of those before may come back a while later. */
static void open_held(unsigned int i, uint64_t timeout_us)
{
	uint64_t until = raw_now() + WAIT * raw_patience();
	struct mrpc_sqe sqe = call_of(CHAT, i);
	unsigned int refused;

	sqe.timeout_us = timeout_us;
	got.up = 0;
	do {
		CHECK_MSG(raw_now() < until, "no slot comes back");
		refused = got.refused;
		push(&client, &sqe);
		do
			got_all();
		while (!got.up && got.refused == refused && raw_now() < until);
	} while (!got.up);
}

/*
 * Calls end one by one, while their messages wait in a queue that the operator holds. @early: the
 * queue is held before the calls begin, so that it has their CALL, too.
 */
static void given_up(const char *how, const char *words, unsigned int dir, bool early,
		     bool deadline)
{
	bool to_server = dir == TX ? strstr(words, "client") : strstr(words, "server");
	struct mrpc_sqe cancel = { .op = MRPC_OP_CANCEL, .user_data = 12345 };
	/* Each deadline takes its time. Calls that are more than slots show that slots are free. */
	unsigned int calls = deadline ? SLOTS + 2 : CALLS;
	unsigned int i, j;

	memset(&got, 0, sizeof(got));
	op_del_all();
	CHECK(raw_file_write(RAW_KNOBS "max_calls", "4"));
	begin(how);
	CHECK(raw_file_write(RAW_KNOBS "max_calls", "256"));
	op_must_add("null", words, NULL);
	if (early)
		hold(dir);
	for (i = 0; i < calls; i++) {
		/* The last call could come after let_go(), before its CANCEL. */
		bool is_seen = early && dir == RX && i == calls - 1 && !deadline;

		if (is_seen)
			UNTIL(server_calls(), 0);	/* it has heard of the ends before */
		open_held(i, deadline ? 300000 * raw_scale() : 0);
		if (!early) {
			UNTIL(got.requests, i + 1);
			hold(dir);
		}
		for (j = 0; j < EACH; j++)
			send_one(to_server ? &client : &server, to_server ? got.up : got.down,
				 i * EACH + j, j == 2 ? 20000 : 100, MRPC_SQE_COPY);
		if (!i)
			queued(dir == RX, EACH + early);
		if (is_seen)
			UNTIL(server_calls(), 1);
		if (!deadline) {
			cancel.conn = client.conn;
			cancel.call = i;
			push(&client, &cancel);
		}
		UNTIL(got.ends[i], 1);
		CHECK_EQ(got.status, deadline ? MRPC_DEADLINE_EXCEEDED : MRPC_CANCELLED);
		/* As a CALL, they leave the queue of a client that gives the call up. */
		if (dir == TX && to_server) {
			queued(false, 0);
			UNTIL(got.nr_sent, (i + 1) * EACH);
		}
		if (!early) {
			UNTIL(got.aborts, i + 1);
			let_go(dir);
		}
	}
	UNTIL(server_calls(), 0);	/* it has heard of the last end, too */
	if (early)
		let_go(dir);
	UNTIL(got.nr_sent, calls * EACH);
	for (i = 0; i < 20; i++)
		got_all();
	for (i = 0; i < calls; i++)
		CHECK_EQ(got.ends[i], 1);
	CHECK_EQ(got.nr_sent, calls * EACH);
	CHECK_EQ(got.requests, early ? 0 : calls);
	CHECK_EQ(got.aborts, early ? 0 : calls);
	CHECK_EQ(op_dir("null", dir == RX, MRPC_A_ENGINE_DIR_QUEUED), 0);
	chats_all(SLOTS, 60);	/* all slots, and the credit of new streams */
	end_clean();
}

static void given_up_each(const char *how, bool deadline)
{
	given_up(how, "side=client", TX, true, deadline);
	given_up(how, "side=client", TX, false, deadline);
	given_up(how, "side=server", RX, true, deadline);
	given_up(how, "side=server", RX, false, deadline);
	given_up(how, "side=server", TX, false, deadline);
	given_up(how, "side=client", RX, false, deadline);
}

TEST_LIMIT_EACH_TRANSPORT(held_cancel, 180, given_up_each, false)
TEST_LIMIT_EACH_TRANSPORT(held_deadline, 180, given_up_each, true)

/* -- rejected messages ------------------------------------------------------------------ */

#define DENIED	0xdeadULL
#define NR	10
#define BAD	5

/* Message BAD of NR is the one that the rule denies. */
static uint64_t tag_of(unsigned int i)
{
	return i == BAD ? DENIED : i;
}

struct ends {
	bool replied;			/* the client has its REPLY */
	unsigned int told;		/* times that the server learned of the end */
	uint16_t told_status;
	unsigned int come;
	unsigned int sent[NR];
	uint16_t sent_status[NR];
	unsigned int nr_sent;
	bool late;			/* so was the server's REPLY */
};

#define ANSWER	0xa0

static void rejected_event(struct side *side, const struct mrpc_cqe *cqe, struct ends *e)
{
	char detail[MRPC_MAX_DETAIL + 1];
	unsigned int i = cqe->user_data == DENIED ? BAD : cqe->user_data;

	switch (cqe->type) {
	case MRPC_CQE_SENT:
		if (cqe->user_data == ANSWER) {
			CHECK_MSG(!e->late && cqe->status == MRPC_CANCELLED, "a SENT of the REPLY");
			e->late = true;
			break;
		}
		CHECK_MSG(i < NR && !e->sent[i]++, "a SENT of %u", i);
		e->sent_status[i] = cqe->status;
		e->nr_sent++;
		break;
	case MRPC_CQE_REPLY:
		CHECK_MSG(!e->replied, "a second REPLY");
		e->replied = true;
		CHECK_MSG(cqe->status == MRPC_ABORTED, "status %u", cqe->status);
		raw_detail(&side->s, cqe, detail, sizeof(detail));
		CHECK_MSG(strstr(detail, "rejected") || !strcmp(detail, "not this one"), "'%s'",
			  detail);
		raw_done(&side->s, cqe);
		break;
	case MRPC_CQE_MESSAGE:
		if (cqe->status) {
			CHECK(side == &server);
			e->told++;
			e->told_status = cqe->status;
			break;
		}
		CHECK_MSG(!(side == &server ? e->told : e->replied), "a message behind the end");
		CHECK_MSG(e->come < BAD, "a message comes that follows the one which was denied");
		CHECK(raw_is_blob(raw_msg(&side->s, cqe), cqe->msg_len, e->come, 50 * e->come));
		e->come++;
		raw_done(&side->s, cqe);
		break;
	default:
		CHECK_MSG(false, "a completion of type %u, status %u", cqe->type, cqe->status);
	}
}

static void rejected_run(struct ends *e)
{
	struct mrpc_cqe cqe;
	unsigned int i;

	run_sides();
	raw_enter(&client.qp, 1, RAW_MS);
	for (i = 0; i < nr_sides; i++)
		while (raw_reap(&sides[i]->qp, &cqe))
			rejected_event(sides[i], &cqe, e);
}

/*
 * An engine rejects a message in the middle of a stream. @answered: the server's application has
 * submitted its REPLY at once behind its messages.
 */
static void rejected(const char *how, const char *words, bool to_server, bool answered)
{
	struct side *from = to_server ? &client : &server;
	bool at_client = strstr(words, "client");
	struct mrpc_sqe sqe[NR], answer = {
		.op = MRPC_OP_REPLY, .flags = MRPC_SQE_COPY, .user_data = ANSWER,
	};
	uint64_t up, down, until;
	struct ends e = { 0 };
	struct op_rules r;
	unsigned int i;

	begin_clean(how);
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_ABORTED, "not this one");
	op_cond_range(&r, MRPC_COND_FIELD, "tag", DENIED, DENIED);
	op_must_add("acl", words, &r);
	up = open_call(CHAT, 7, 0);
	down = requested(CHAT);
	for (i = 0; i < NR; i++) {
		sqe[i] = message(from, to_server ? up : down, tag_of(i), 50 * i);
		sqe[i].flags = MRPC_SQE_COPY;
		CHECK(raw_push(&from->qp, &sqe[i]));
	}
	answer.conn = server.conn;
	answer.call = down;
	if (answered)
		CHECK(raw_push(&server.qp, &answer));
	raw_enter(&from->qp, 0, 0);
	for (i = 0; i < NR; i++)
		raw_free(&from->s, sqe[i].root);

	until = raw_now() + WAIT * raw_patience();
	while (!e.replied || e.nr_sent < NR || (!answered && !e.told)) {
		CHECK_MSG(raw_now() < until, "the client %s its end, the server %s, %u SENTs",
			  e.replied ? "has" : "lacks", e.told ? "too" : "does not", e.nr_sent);
		rejected_run(&e);
	}
	for (i = 0; i < 20; i++)
		rejected_run(&e);
	CHECK_EQ(e.told, !answered || e.late);
	/* A CANCEL has no status. */
	CHECK_MSG(!e.told || e.told_status == MRPC_ABORTED ||
		  (at_client && e.told_status == MRPC_CANCELLED), "the server learns status %u",
		  e.told_status);
	if (at_client == to_server)	/* at the sender: it is not sent, nor is any behind it */
		for (i = BAD; i < NR; i++)
			CHECK_EQ(e.sent_status[i], MRPC_CANCELLED);
	CHECK_EQ(op_counter("acl", "denied"), 1);

	chats_all(2, 60);
	if (!answered) {	/* this comes too late */
		send_one(&server, down, 5, 10, MRPC_SQE_COPY);
		sent(&server, 5, MRPC_CANCELLED);
	}
	end_clean();
}

static void rejected_up(const char *how)
{
	rejected(how, "side=client", true, false);
	rejected(how, "side=server", true, false);
}

static void rejected_down(const char *how)
{
	rejected(how, "side=server replies=1", false, false);
	rejected(how, "side=client replies=1", false, false);
}

static void rejected_answered(const char *how)
{
	rejected(how, "side=server replies=1", false, true);
	rejected(how, "side=client replies=1", false, true);
}

TEST_EACH_TRANSPORT(rejected_up, rejected_up)
TEST_GRPC(rejected_up, rejected_up)
TEST_EACH_TRANSPORT(rejected_down, rejected_down)
TEST_GRPC(rejected_down, rejected_down)
TEST_EACH_TRANSPORT(rejected_answered, rejected_answered)
TEST_GRPC(rejected_answered, rejected_answered)

/* -- changes under messages ------------------------------------------------------------- */

#define ROUNDS	6

struct changer {
	bool transport;		/* the transport changes, too */
	bool done;
	unsigned int bad;
	unsigned int changes;
};

static struct changer changer;

static void did(const char *what, int err, const struct op_change *c)
{
	if (err || c->leaked || c->failed) {
		NOTE("%s: %d, %s, %u lost", what, err, op_why, c->leaked);
		changer.bad++;
	}
	changer.changes++;
	raw_sleep(2 * RAW_MS);
}

#define DO_ADD(type, words, rules)	did("add " type " " words, op_add(type, words, rules, &c), &c)
#define DO_SET(name, words)		did("set " name " " words, op_set(name, words, NULL, &c), &c)
#define DO_DEL(name)			did("del " name, op_del(name, &c), &c)

static void *change(void *arg)
{
	struct op_change c = { 0 };
	struct op_rules r;
	unsigned int i;

	(void)arg;
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_ABORTED, "not this one");
	op_cond_range(&r, MRPC_COND_FIELD, "tag", DENIED << 32, DENIED << 32);
	if (changer.transport)
		DO_ADD("tcp", "name=up version=1", NULL);
	for (i = 0; i < ROUNDS && !changer.bad; i++) {
		DO_ADD("null", "version=1", NULL);
		DO_ADD("fault", "delay_percent=3000 delay=1000000", NULL);
		if (changer.transport)
			DO_SET("up", "type=tcp version=2 checksum=1");
		DO_SET("null", "type=null version=2");
		DO_ADD("acl", "replies=1", &r);
		if (changer.transport)
			DO_SET("up", "checksum=0");
		DO_DEL("fault");
		DO_SET("null", "type=null version=1");
		if (changer.transport)
			DO_SET("up", "type=tcp version=1");
		DO_DEL("null");
		DO_DEL("acl");
	}
	if (changer.transport)
		DO_DEL("up");
	__atomic_store_n(&changer.done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool changes_done(void)
{
	return __atomic_load_n(&changer.done, __ATOMIC_ACQUIRE);
}

#define STREAMS	3

/* Messages go on until all changes are made: at least 200 each way. */
static void changed(const char *how, bool transport)
{
	unsigned int i;
	pthread_t t;

	begin_clean(how);
	changer = (struct changer){ .transport = transport };
	chats_open(STREAMS, CHAT_ENDLESS);
	CHECK(!pthread_create(&t, NULL, change, NULL));
	chats_run(changes_done);
	pthread_join(t, NULL);
	CHECK_EQ(changer.bad, 0);
	for (i = 0; i < STREAMS; i++) {
		struct chat *c = &chats[i];
		uint32_t nr = c->to_server.pushed > c->to_client.pushed ? c->to_server.pushed :
			      c->to_client.pushed;

		c->nr = nr < 200 ? 200 : nr + 1;
	}
	chats_run(chats_over);
	NOTE("%u changes under %u messages", changer.changes, STREAMS * chats[0].nr);
	end_clean();
}

TEST_LIMIT_EACH_TRANSPORT(changed, 180, changed, false)
TEST_LIMIT_GRPC(changed, 180, changed, false)

TEST_LIMIT(changed_transport, 180)
{
	changed("tcp4", true);
}
