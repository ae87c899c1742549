// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stand-in's calls: what each submission does, and when a wait ends.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_calls.h"

#define CALLS		4096

struct fcall {
	bool used;
	struct fsession *client;
	int qp;
	__u32 conn;				/* -1: synchronous */
	__u64 user_data;
	__u64 token;
	__u64 cancelled;		/* the token of the latest one here that was cancelled */
	bool copy;
	bool streams;
	bool done;
	struct fsession *server;
	int server_qp;
	__u32 root;			/* if not copied: what must not change before its end */
	__u32 sum;
	struct mrpc_cqe cqe;
};

/* A message that the kernel still reads. */
struct held {
	struct fsession *s;
	int qp;
	__u64 user_data;
	__u32 root;
	__u32 sum;
};

static struct fcall calls[CALLS];
static struct held held[256];
static unsigned int nr_held;
static bool holds;
static __u64 nr_calls;		/* so far */
static _Atomic unsigned int take_at_most;

void fake_take_at_most(unsigned int nr)
{
	take_at_most = nr;
}

static int place(struct fsession *from, struct fsession *to, const struct mrpc_sqe *sqe,
		 bool with_msg, struct mrpc_cqe *cqe)
{
	const struct fake_msg *m = (const void *)(from->heap[0] + sqe->root);
	__u32 len = with_msg ? sizeof(*m) + m->data.len : 0, off;
	struct fake_msg *out;
	int slot;

	if (!len && !sqe->meta_len && !sqe->detail_len)
		return 0;
	slot = fake_slot_take(to, len + sqe->meta_len + sqe->detail_len + 32);
	if (slot < 0)
		return -ENOMEM;
	off = (__u32)slot * to->slot_size;
	if (with_msg) {
		if (sqe->root % 8 || sqe->root + (__s64)m->data.off < 0 ||
		    sqe->root + (__s64)m->data.off + m->data.len > (__s64)from->heap_len[0])
			fake_counts.bad++;
		if (sqe->flags & MRPC_SQE_COPY && len > MRPC_MAX_COPY)
			fake_counts.bad++;
		out = (void *)(to->heap[1] + off);
		*out = *m;
		if (m->data.len)
			out->data.off = sizeof(*out);
		memcpy(out + 1, (const char *)m + m->data.off, m->data.len);
	}
	cqe->block = off;
	cqe->flags |= MRPC_CQE_BLOCK;
	cqe->msg_len = len;
	cqe->meta_len = sqe->meta_len;
	cqe->detail_len = sqe->detail_len;
	off += (len + 7) & ~7u;
	memcpy(to->heap[1] + off, from->heap[0] + sqe->meta, sqe->meta_len);
	off += (sqe->meta_len + 7) & ~7u;
	memcpy(to->heap[1] + off, from->heap[0] + sqe->detail, sqe->detail_len);
	return 0;
}

static __u32 checksum(struct fsession *s, __u32 root)
{
	const struct fake_msg *m = (const void *)(s->heap[0] + root);
	const unsigned char *p = (const unsigned char *)m + m->data.off;
	__u32 sum = m->number, i;

	for (i = 0; i < m->data.len; i++)
		sum = sum * 31 + p[i];
	return sum;
}

static void hold(struct fsession *s, int q, __u64 user_data, __u32 root)
{
	if (nr_held == sizeof(held) / sizeof(held[0]))
		abort();
	held[nr_held++] = (struct held){ s, q, user_data, root, checksum(s, root) };
}

static void finish(struct fcall *c)
{
	struct mrpc_cqe sent = { .type = MRPC_CQE_SENT, .user_data = c->user_data };
	bool later = holds && c->streams && !c->copy;
	bool separately = later || (!c->copy && c->qp >= 0 && (c->user_data >> 32 & 1));

	if (!c->copy && checksum(c->client, c->root) != c->sum)
		fake_counts.bad++;
	if (later)
		hold(c->client, c->qp, c->user_data, c->root);

	c->cqe.type = MRPC_CQE_REPLY;
	c->cqe.user_data = c->user_data;
	if (!separately)
		c->cqe.flags |= MRPC_CQE_FREED;
	if (c->qp < 0) {
		c->done = true;
		pthread_cond_broadcast(&fake_changed);
		return;
	}
	/* In either order. */
	if (separately && !later && c->user_data & 1)
		fake_post(c->client, c->qp, &sent);
	fake_post(c->client, c->qp, &c->cqe);
	if (separately && !later && !(c->user_data & 1))
		fake_post(c->client, c->qp, &sent);
	c->client->qps[c->qp].reserved -= c->copy ? 1 : 2;
	c->used = false;
}

static __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * 1000000000 + (__u64)now.tv_nsec;
}

static void post_open(const struct fcall *c)
{
	struct mrpc_cqe open = { .type = MRPC_CQE_OPEN, .user_data = c->user_data,
				 .conn = c->conn, .call = c->token };

	fake_post(c->client, c->qp, &open);
}

static struct fcall *call_start(struct fsession *s, int q, const struct mrpc_sqe *sqe)
{
	struct mrpc_cqe cqe = { .type = MRPC_CQE_REQUEST, .method = sqe->method,
				.priority = sqe->priority };
	struct fsession *server = NULL;
	__u32 under_way = 0, i;
	struct fcall *c;
	int target = -1;

	for (c = calls; c < calls + CALLS; c++)
		under_way += c->used && c->client == s && c->conn == sqe->conn;
	for (c = calls; c < calls + CALLS && c->used; c++)
		;
	if (c == calls + CALLS)
		abort();
	*c = (struct fcall){ .cancelled = c->cancelled };
	c->used = true;
	c->client = s;
	c->qp = q;
	c->conn = sqe->conn;
	c->cqe.conn = sqe->conn;
	c->user_data = sqe->user_data;
	c->copy = sqe->flags & (MRPC_SQE_COPY | MRPC_SQE_STREAM);
	c->streams = (sqe->method & 0xffff) >= FAKE_STREAMS;
	c->root = sqe->root;
	if (!c->copy)
		c->sum = checksum(s, sqe->root);
	fake_counts.calls++;
	fake_counts.copies += sqe->flags & MRPC_SQE_COPY;
	if (sqe->conn >= 1 && sqe->conn <= CONNS && s->conns[sqe->conn - 1].used)
		server = s->conns[sqe->conn - 1].peer;
	for (i = 0; server && i < server->nr_qps && target < 0; i++)
		if (server->qps[(server->next_qp + i) % server->nr_qps].flags & MRPC_QP_SERVE)
			target = (int)((server->next_qp + i) % server->nr_qps);
	if (target < 0 || sqe->max_reply == 1) {
		c->cqe.status = MRPC_UNAVAILABLE;
		c->cqe.flags = server ? MRPC_CQE_LOCAL : MRPC_CQE_LOCAL | MRPC_CQE_UNSENT;
		finish(c);
		return c;
	}
	if (under_way >= s->conns[sqe->conn - 1].max_calls) {
		c->cqe.status = MRPC_RESOURCE_EXHAUSTED;
		c->cqe.flags = MRPC_CQE_LOCAL | MRPC_CQE_UNSENT;
		finish(c);
		return c;
	}
	server->next_qp = (__u32)target + 1;
	c->token = ++nr_calls * CALLS + (__u64)(c - calls);
	cqe.call = c->token;
	cqe.conn = sqe->conn;
	c->server = server;
	c->server_qp = target;
	if (sqe->timeout_us)
		cqe.deadline_ns = now_ns() + sqe->timeout_us * 1000;
	if (sqe->flags & MRPC_SQE_STREAM) {
		post_open(c);
		cqe.flags |= MRPC_CQE_MORE;
	}
	if (place(s, server, sqe, !(sqe->flags & MRPC_SQE_STREAM), &cqe)) {
		c->cqe.status = MRPC_RESOURCE_EXHAUSTED;
		finish(c);
		return c;
	}
	fake_post(server, target, &cqe);
	return c;
}

/* Its call was cancelled, and another one may be there now. */
static bool is_late(__u64 token)
{
	const struct fcall *c = &calls[token % CALLS];

	return c->cancelled >= token || (c->used && c->token > token);
}

int fake_request(struct mrpc_request *arg)
{
	const struct fcall *c = &calls[arg->call % CALLS];

	return c->used && c->token == arg->call && !is_late(arg->call) ? 0 : -ENOENT;
}

static void do_reply(struct fsession *s, int q, const struct mrpc_sqe *sqe)
{
	struct mrpc_cqe sent = { .type = MRPC_CQE_SENT, .user_data = sqe->user_data };
	struct fcall *c = &calls[sqe->call % CALLS];
	bool late;

	fake_counts.replies++;
	if (sqe->flags & MRPC_SQE_COPY)
		fake_counts.copies++;
	late = is_late(sqe->call);
	if (late)
		sent.status = MRPC_CANCELLED;
	if (late || !(sqe->flags & MRPC_SQE_COPY))
		fake_post(s, q, &sent);
	if (late)
		return;
	if (!c->used) {
		fake_counts.bad++;
		return;
	}
	c->cqe.status = (__u16)sqe->status;
	if (place(s, c->client, sqe, sqe->status == MRPC_OK && sqe->root, &c->cqe))
		c->cqe.status = MRPC_RESOURCE_EXHAUSTED;
	finish(c);
}

/* The client's end of a call says no more: its server learns it. */
static void give_up(struct fcall *c, __u16 status, __u8 flags)
{
	struct mrpc_cqe cqe = { .type = MRPC_CQE_MESSAGE, .flags = MRPC_CQE_LOCAL,
				.status = status, .conn = c->conn, .call = c->token };

	if (c->streams)
		fake_post(c->server, c->server_qp, &cqe);
	c->cancelled = c->token;
	c->cqe.status = status;
	c->cqe.flags |= flags;
	finish(c);
}

void fake_end_streams(struct fsession *s, __u32 conn)
{
	struct fcall *c;

	for (c = calls; c < calls + CALLS; c++)
		if (c->used && c->streams && c->client == s && c->conn == conn)
			give_up(c, MRPC_UNAVAILABLE, MRPC_CQE_LOCAL);
}

static void release_held(void)
{
	struct mrpc_cqe sent = { .type = MRPC_CQE_SENT };
	unsigned int i;

	for (i = 0; i < nr_held; i++) {
		if (checksum(held[i].s, held[i].root) != held[i].sum)
			fake_counts.bad++;
		sent.user_data = held[i].user_data;
		fake_post(held[i].s, held[i].qp, &sent);
	}
	nr_held = 0;
}

void fake_hold_sent(bool hold)
{
	pthread_mutex_lock(&fake_lock);
	holds = hold;
	if (!hold)
		release_held();
	pthread_mutex_unlock(&fake_lock);
}

static void do_send(struct fsession *s, int q, const struct mrpc_sqe *sqe)
{
	struct mrpc_cqe sent = { .type = MRPC_CQE_SENT, .user_data = sqe->user_data };
	struct mrpc_cqe cqe = { .type = MRPC_CQE_MESSAGE, .conn = sqe->conn, .call = sqe->call };
	struct fcall *c = &calls[sqe->call % CALLS];
	const struct fake_msg *m = (const void *)(s->heap[0] + sqe->root);
	bool empty = sqe->flags & MRPC_SQE_EMPTY, up = c->client == s;

	/* As text that is not UTF-8. */
	if (!empty && m->number == FAKE_REFUSED) {
		sent.type = MRPC_CQE_ERROR;
		sent.status = MRPC_INVALID_ARGUMENT;
	} else if (!c->used || c->token != sqe->call) {
		sent.status = MRPC_CANCELLED;
	} else {
		if (!(sqe->flags & MRPC_SQE_END))
			cqe.flags = MRPC_CQE_MORE;
		cqe.user_data = up ? 0 : c->user_data;
		if (place(s, up ? c->server : c->client, sqe, !empty, &cqe))
			abort();
		fake_post(up ? c->server : c->client, up ? c->server_qp : c->qp, &cqe);
		if (holds && !empty && !(sqe->flags & MRPC_SQE_COPY)) {
			hold(s, q, sqe->user_data, sqe->root);
			return;
		}
	}
	fake_post(s, q, &sent);
}

/* Another thread may have submitted what the caller wants to submit. */
static bool is_pending(const struct fqp *qp)
{
	return qp->head->sq.head != __atomic_load_n(&qp->head->sq.tail, __ATOMIC_ACQUIRE);
}

static bool has_room(const struct fqp *qp, const struct mrpc_sqe *sqe)
{
	__u32 used = qp->head->cq.tail -
		     __atomic_load_n(&qp->head->cq.head, __ATOMIC_ACQUIRE) + qp->reserved;
	__u32 need = sqe->op == MRPC_OP_RELEASE || sqe->op == MRPC_OP_GRANT ? 0 :
		     sqe->op == MRPC_OP_CALL && !(sqe->flags & MRPC_SQE_COPY) ? 2 : 1;

	return used + need <= qp->cq_entries;
}

static void submit(struct fsession *s, int q)
{
	struct fqp *qp = &s->qps[q];
	struct mrpc_cqe nop = { .type = MRPC_CQE_NOP };
	struct mrpc_sqe sqe;
	__u32 head = qp->head->sq.head, i;

	sqe = qp->sqes[head % qp->sq_entries];
	if (sqe.op == MRPC_OP_CALL)
		qp->reserved += sqe.flags & (MRPC_SQE_COPY | MRPC_SQE_STREAM) ? 1 : 2;
	__atomic_store_n(&qp->head->sq.head, head + 1, __ATOMIC_RELEASE);
	/* What was copied may be overwritten from now on; see call_sync(). */
	switch (sqe.op) {
	case MRPC_OP_NOP:
		fake_post(s, q, &nop);
		break;
	case MRPC_OP_CALL:
		call_start(s, q, &sqe);
		break;
	case MRPC_OP_REPLY:
		do_reply(s, q, &sqe);
		break;
	case MRPC_OP_CANCEL:
		for (i = 0; i < CALLS; i++) {
			if (calls[i].used && calls[i].client == s && calls[i].qp == q &&
			    calls[i].user_data == sqe.call) {
				give_up(&calls[i], MRPC_CANCELLED, 0);
			}
		}
		break;
	case MRPC_OP_SEND:
		do_send(s, q, &sqe);
		break;
	case MRPC_OP_GRANT:
		break;
	case MRPC_OP_RELEASE:
		for (i = 0; i < sqe.nr; i++)
			fake_slot_release(s, sqe.blocks[i]);
		break;
	default:
		fake_counts.bad++;
	}
}

int fake_enter(struct fsession *s, struct mrpc_enter *arg)
{
	struct fqp *qp = &s->qps[arg->qp];
	struct timespec until;
	__u32 most = take_at_most;

	if (!most || qp->flags & MRPC_QP_SERVE)
		most = UINT32_MAX;
	fake_counts.enters++;
	while (arg->submitted < arg->to_submit && arg->submitted < most && is_pending(qp) &&
	       has_room(qp, &qp->sqes[qp->head->sq.head % qp->sq_entries])) {
		submit(s, (int)arg->qp);
		arg->submitted++;
	}
	until.tv_sec = (time_t)(arg->until_ns / 1000000000);
	until.tv_nsec = (long)(arg->until_ns % 1000000000);
	while (qp->head->cq.tail - __atomic_load_n(&qp->head->cq.head, __ATOMIC_ACQUIRE) <
	       arg->min_complete) {
		if (arg->until_ns == UINT64_MAX)
			pthread_cond_wait(&fake_changed, &fake_lock);
		else if (pthread_cond_clockwait(&fake_changed, &fake_lock, CLOCK_MONOTONIC, &until))
			return -ETIME;
	}
	return 0;
}

int fake_call(struct fsession *s, struct mrpc_call_sync *arg)
{
	struct fcall *c;
	__u32 i;

	fake_counts.sync_calls++;
	for (i = 0; i < arg->nr; i++)
		fake_slot_release(s, arg->blocks[i]);
	c = call_start(s, -1, &arg->sqe);
	while (!c->done)
		pthread_cond_wait(&fake_changed, &fake_lock);
	arg->cqe = c->cqe;
	c->used = false;
	return 0;
}
