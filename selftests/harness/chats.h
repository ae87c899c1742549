/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chat streams with messages both ways, of one client with one or more servers. Each message is
 * checked: it comes once, in its turn, at the server that has its call. Include after tap.h.
 */
#ifndef CHATS_H
#define CHATS_H

#include "streams.h"

#ifndef CHATS		/* tests with more or with other messages define these first */
#define CHATS		64
#define CHAT_AHEAD	48	/* messages of one way without SENT: less than MRPC_STREAM_UNSENT */
#define CHAT_LARGE	20000	/* bytes of each tenth, so that credit runs out */
#endif
#define CHAT_RECENT	256	/* more than can be without SENT */
#define CHAT_ENDLESS	0xffffffffU
#define CHAT_REPLY	(1ULL << 63)	/* user_data of replies, and the number of the chat */

/**
 * struct way - the messages of one direction
 * @pushed: submitted
 * @come: delivered
 * @nr_sent: SENTs
 * @sent: for each of the last CHAT_RECENT messages: its SENT has come
 */
struct way {
	uint32_t pushed;
	uint32_t come;
	uint32_t nr_sent;
	uint8_t sent[CHAT_RECENT];
};

/**
 * struct chat - a call
 * @nr: messages each way; CHAT_ENDLESS: the test sets the number later
 * @may_fail: it may end with a status, before all have come
 * @link: the client's connection
 * @opened: @up is valid
 * @up: token at the client
 * @at: its server, which the first message tells; or NULL
 * @conn, @down: the connection and the token there
 * @over: the client's last message has come
 * @replied: the server has submitted its reply
 * @done: the call has ended at the client, with @status
 * @aborted: times that the server was told of its end, the last time with @why
 */
struct chat {
	uint32_t nr;
	bool may_fail;
	uint32_t link;
	bool opened;
	uint64_t up;
	struct side *at;
	uint32_t conn;
	uint64_t down;
	bool over;
	bool replied;
	bool done;
	uint16_t status;
	unsigned int aborted;
	uint16_t why;
	struct way to_server;
	struct way to_client;
};

static struct chat chats[CHATS];
static unsigned int nr_chats;
static unsigned int nr_requests;	/* delivered to servers since chats_open() */

static inline uint64_t chat_tag(unsigned int i, uint32_t seq)
{
	return (uint64_t)i << 32 | seq;
}

/* Each message has so many bytes more. */
static uint32_t chat_base;

static inline uint32_t chat_len(uint32_t seq)
{
	return chat_base + (seq % 10 == 9 ? CHAT_LARGE : seq % 300);
}

/* Begins @nr calls of @messages messages each way, over @links connections in turn. */
static inline void chats_open_over(const uint32_t *links, unsigned int nr_links, unsigned int nr,
				   uint32_t messages)
{
	struct mrpc_sqe sqe;
	unsigned int i;

	CHECK(nr <= CHATS);
	memset(chats, 0, sizeof(chats));
	nr_chats = nr;
	nr_requests = 0;
	client.replied = ~0ULL;
	for (i = 0; i < nr; i++) {
		chats[i].nr = messages;
		chats[i].link = links[i % nr_links];
		sqe = call_of(CHAT, i);
		sqe.conn = chats[i].link;
		push(&client, &sqe);
	}
}

static inline void chats_open(unsigned int nr, uint32_t messages)
{
	chats_open_over(&client.conn, 1, nr, messages);
}

/* Pushes a message of chat @i. Return: false: the queue is full. */
static inline bool chat_push(unsigned int i, struct side *side, struct way *way, uint8_t flags)
{
	struct chat *c = &chats[i];
	uint64_t tag = chat_tag(i, way->pushed);
	struct mrpc_sqe sqe = message(side, side == &client ? c->up : c->down, tag,
				      chat_len(way->pushed));
	uint64_t until;
	bool room;

	sqe.conn = side == &client ? c->link : c->conn;
	sqe.flags = flags | MRPC_SQE_COPY;
	room = raw_push(&side->qp, &sqe);
	raw_enter(&side->qp, 0, 0);
	until = raw_now() + WAIT * raw_patience();
	while (side->qp.pushed) {	/* completions take the room of its SENT */
		raw_set_aside(&side->qp);
		raw_enter(&side->qp, 0, 0);
		CHECK_MSG(raw_now() < until, "the completion queue is too small");
	}
	raw_free(&side->s, sqe.root);
	if (room)
		way->sent[way->pushed++ % CHAT_RECENT] = 0;
	return room;
}

/* Pushes what may go of a chat. */
static inline void chat_go(unsigned int i)
{
	struct chat *c = &chats[i];
	struct mrpc_sqe sqe = {
		.op = MRPC_OP_REPLY, .conn = c->conn, .call = c->down, .flags = MRPC_SQE_COPY,
		.user_data = CHAT_REPLY + i,
	};
	unsigned int turn;

	for (turn = 0; turn < 8; turn++) {
		if (c->opened && !c->done && c->to_server.pushed < c->nr &&
		    c->to_server.pushed - c->to_server.nr_sent < CHAT_AHEAD)
			chat_push(i, &client, &c->to_server,
				  c->to_server.pushed == c->nr - 1 ? MRPC_SQE_END : 0);
		if (c->at && !c->aborted && !c->done && c->to_client.pushed < c->nr &&
		    c->to_client.pushed - c->to_client.nr_sent < CHAT_AHEAD)
			chat_push(i, c->at, &c->to_client, 0);
	}
	if (!c->over || c->replied || c->to_client.pushed < c->nr || !raw_push(&c->at->qp, &sqe))
		return;
	raw_enter(&c->at->qp, 0, 0);
	c->replied = true;
}

static inline void chat_sent(const struct mrpc_cqe *cqe, bool up)
{
	uint32_t i = cqe->user_data >> 32, seq = cqe->user_data;
	struct way *way = up ? &chats[i % CHATS].to_server : &chats[i % CHATS].to_client;

	if (cqe->user_data & CHAT_REPLY) {	/* the reply came too late */
		i = cqe->user_data & ~CHAT_REPLY;
		CHECK_MSG(i < nr_chats && chats[i].may_fail, "chat %u: a late reply", i);
		return;
	}
	CHECK_MSG(i < nr_chats && seq < way->pushed && way->pushed - seq <= CHAT_RECENT,
		  "a SENT of %u, %u", i, seq);
	CHECK_MSG(!way->sent[seq % CHAT_RECENT]++, "chat %u: two SENTs of %u", i, seq);
	CHECK_MSG(cqe->status == MRPC_OK || (cqe->status == MRPC_CANCELLED && chats[i].may_fail),
		  "chat %u: the SENT of %u has status %u", i, seq, cqe->status);
	way->nr_sent++;
}

/* A message of chat @i has come. */
static inline void chat_take(struct side *side, unsigned int i, struct way *way,
			     const struct mrpc_cqe *cqe)
{
	const struct test_Blob *blob = raw_msg(&side->s, cqe);
	struct mrpc_sqe sqe = {
		.op = MRPC_OP_GRANT, .conn = cqe->conn, .call = cqe->call,
		.max_reply = cqe->msg_len + MRPC_STREAM_MESSAGE,
	};

	CHECK_MSG(blob->tag == chat_tag(i, way->come), "chat %u: message %llx, not %x", i,
		  (unsigned long long)blob->tag, way->come);
	CHECK_MSG(raw_is_blob(blob, cqe->msg_len, blob->tag, chat_len(way->come)),
		  "chat %u: message %u is not what was sent", i, way->come);
	way->come++;
	raw_done(&side->s, cqe);
	while (!raw_push(&side->qp, &sqe))
		raw_enter(&side->qp, 0, 0);
}

/* The chat whose server's end a completion is of; @nr_chats: none of its messages has come. */
static inline unsigned int chat_there(const struct side *side, const struct mrpc_cqe *cqe)
{
	unsigned int i;

	for (i = 0; i < nr_chats; i++)
		if (chats[i].at == side && chats[i].conn == cqe->conn && chats[i].down == cqe->call)
			break;
	return i;
}

static inline void chat_at_server(struct side *side, const struct mrpc_cqe *cqe)
{
	struct chat *c;
	unsigned int i;

	if (cqe->status != MRPC_OK) {
		i = chat_there(side, cqe);
		if (i == nr_chats)
			return;
		chats[i].aborted++;
		chats[i].why = cqe->status;
		CHECK_MSG(chats[i].may_fail, "chat %u: ends at the server with status %u", i,
			  cqe->status);
		CHECK_EQ(chats[i].aborted, 1);
		return;
	}
	if (!(cqe->flags & MRPC_CQE_BLOCK)) {
		/* Over gRPC's wire the end comes behind the last message. */
		i = chat_there(side, cqe);
		CHECK(i < nr_chats && !(cqe->flags & MRPC_CQE_MORE) && !chats[i].over);
		chats[i].over = true;
		CHECK_EQ(chats[i].to_server.come, chats[i].nr);
		return;
	}
	i = ((const struct test_Blob *)raw_msg(&side->s, cqe))->tag >> 32;
	CHECK_MSG(i < nr_chats, "a message of chat %u", i);
	c = &chats[i];
	if (!c->at) {
		c->at = side;
		c->conn = cqe->conn;
		c->down = cqe->call;
	}
	CHECK_MSG(c->at == side && c->conn == cqe->conn && c->down == cqe->call,
		  "chat %u: a message comes elsewhere than its first", i);
	CHECK_MSG(!c->over && !c->aborted, "chat %u: a message comes behind the last", i);
	chat_take(side, i, &c->to_server, cqe);
	c->over = !(cqe->flags & MRPC_CQE_MORE);
	if (c->over)
		CHECK_EQ(c->to_server.come, c->nr);
}

static inline void chat_ended(const struct mrpc_cqe *cqe)
{
	struct chat *c = &chats[cqe->user_data];
	char detail[MRPC_MAX_DETAIL + 1];

	CHECK(cqe->user_data < nr_chats);
	CHECK_MSG(!c->done, "a call ends twice");
	c->done = true;
	c->status = cqe->status;
	CHECK_MSG(c->may_fail || cqe->status == MRPC_OK, "chat %u: status %u: %s",
		  (unsigned int)cqe->user_data, cqe->status,
		  raw_detail(&client.s, cqe, detail, sizeof(detail)));
	if (cqe->status == MRPC_OK)
		CHECK_EQ(c->to_client.come, c->nr);
	raw_done(&client.s, cqe);
}

static inline void chat_event(struct side *side, const struct mrpc_cqe *cqe)
{
	unsigned int i = cqe->user_data;

	switch (cqe->type) {
	case MRPC_CQE_OPEN:
		CHECK(i < nr_chats && !chats[i].opened);
		chats[i].opened = true;
		chats[i].up = cqe->call;
		break;
	case MRPC_CQE_REQUEST:
		nr_requests++;
		break;
	case MRPC_CQE_SENT:
		chat_sent(cqe, side == &client);
		break;
	case MRPC_CQE_REPLY:
		chat_ended(cqe);
		break;
	case MRPC_CQE_MESSAGE:
		if (side != &client) {
			chat_at_server(side, cqe);
			break;
		}
		CHECK(i < nr_chats && cqe->status == MRPC_OK);
		CHECK_MSG(!chats[i].done, "chat %u: a message comes behind the reply", i);
		chat_take(side, i, &chats[i].to_client, cqe);
		break;
	default:
		CHECK_MSG(false, "a completion of type %u, status %u", cqe->type, cqe->status);
	}
}

/* Goes on with all chats, once. Return: how many completions came. */
static inline unsigned int chats_step(void)
{
	unsigned int i, n = 0;
	struct mrpc_cqe cqe;

	for (i = 0; i < nr_chats; i++)
		chat_go(i);
	run_sides();
	for (i = 0; i < nr_sides; i++) {
		while (raw_reap(&sides[i]->qp, &cqe)) {
			chat_event(sides[i], &cqe);
			n++;
		}
	}
	if (!n)
		raw_enter(&client.qp, 1, RAW_MS);
	return n;
}

/* Have all ended, and have all SENTs come? */
static inline bool chats_over(void)
{
	unsigned int i;

	for (i = 0; i < nr_chats; i++) {
		const struct chat *c = &chats[i];

		if (!c->done || c->to_server.nr_sent < c->to_server.pushed ||
		    c->to_client.nr_sent < c->to_client.pushed)
			return false;
	}
	return true;
}

/* Goes on until @until. Something must come at least every WAIT, and all of it in 3 WAIT. */
static inline void chats_run(bool (*until)(void))
{
	uint64_t last = raw_now(), limit = last + 3 * WAIT * raw_patience();
	const struct chat *c;
	unsigned int i;

	while (!until()) {
		if (chats_step())
			last = raw_now();
		if (raw_now() < limit && raw_now() < last + WAIT * raw_patience())
			continue;
		for (i = 0; i < nr_chats; i++) {
			c = &chats[i];
			if (!c->done)
				NOTE("chat %u of %u messages: pushed %u %u, sent %u %u, come %u %u", i, c->nr,
				     c->to_server.pushed, c->to_client.pushed, c->to_server.nr_sent,
				     c->to_client.nr_sent, c->to_server.come, c->to_client.come);
		}
		CHECK_MSG(false, "the streams do not come to it");
	}
}

/* Runs @nr chats to their ends. */
static inline void chats_all(unsigned int nr, uint32_t messages)
{
	chats_open(nr, messages);
	chats_run(chats_over);
	CHECK_EQ(nr_requests, nr);
}

#endif /* CHATS_H */
