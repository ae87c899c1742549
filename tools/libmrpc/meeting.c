// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How ranks of a group find each other: see meeting.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First: what <mrpc.h> declares is visible outside the library. */
#include "clock.h"
#include "meeting.h"
#include "rank.h"

#include "mrpc/group/v1/group.mrpc.h"

#define MISSING_SHOWN	8		/* ranks that a sentence names */
#define TELL_NS		2000000000ULL	/* in which ranks learn that the meeting has failed */
#define ANSWER_US	5000000		/* that rank 0 has to answer after a rank's time is up */
#define JOIN_NS		50000000	/* from an attempt to join to the next */

const struct mrpc_service_desc *const meeting_service = &mrpc_group_v1_Group__service;

int meeting_init(struct meeting *m)
{
	m->seats = calloc(m->ranks, sizeof(*m->seats));
	if (!m->seats)
		return fail(ENOMEM, "out of memory");
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	m->status = MRPC_OK;
	return 0;
}

void meeting_destroy(struct meeting *m)
{
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
	free(m->seats);
}

/* Under the lock. */
static void fail_locked(struct meeting *m, int status, const char *fmt, va_list args)
{
	if (m->status != MRPC_OK)
		return;
	m->status = status;
	vsnprintf(m->why, sizeof(m->why), fmt, args);
	pthread_cond_broadcast(&m->changed);
}

/* Under the lock. */
static MRPC_PRINTF(3, 4) void fail_here(struct meeting *m, int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fail_locked(m, status, fmt, args);
	va_end(args);
}

void meeting_fail(struct meeting *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	pthread_mutex_lock(&m->lock);
	fail_locked(m, MRPC_ABORTED, fmt, args);
	pthread_mutex_unlock(&m->lock);
	va_end(args);
}

void meeting_set_group(struct meeting *m, u64 key, u32 group)
{
	pthread_mutex_lock(&m->lock);
	m->key = key;
	m->group = group;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

int meeting_check_attached(struct meeting *m)
{
	u32 attached, above = m->ranks - 1 - m->rank;

	pthread_mutex_lock(&m->lock);
	attached = m->attached;
	pthread_mutex_unlock(&m->lock);
	return attached == above ? 0 :
	       fail(EPROTO, "%u ranks say that they have connected to rank %u, and %u have", above,
		    m->rank, attached);
}

/* Under the lock. Return: false: the time is up. */
static bool wait_until(struct meeting *m, u64 until)
{
	struct timespec ts = {
		.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u),
	};

	if (clock_ns() >= until)
		return false;
	pthread_cond_clockwait(&m->changed, &m->lock, CLOCK_MONOTONIC, &ts);
	return true;
}

/* -- Join ------------------------------------------------------------------------------- */

/* Refuses a call, and remembers why: if a rank is missing, that may be the reason. Under the lock. */
static MRPC_PRINTF(4, 5) int refuse(struct meeting *m, struct mrpc_call *call, int status,
				    const char *fmt, ...)
{
	char why[MEETING_WHY / 2], peer[MRPC_ADDR_TEXT];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	mrpc_call_set_detail(call, "%s", why);
	snprintf(m->refused, sizeof(m->refused), "; a process at %s was refused: %s",
		 mrpc_call_peer(call, peer, sizeof(peer)), why);
	return status;
}

/* Has the rank of a seat come, and is it still there? Its process may have been started again. */
static bool is_taken(struct seat *seat)
{
	if (!seat->joined)
		return false;
	if (!seat->call || seat->ready || !mrpc_call_is_cancelled(seat->call))
		return true;
	if (mrpc_call_reply(seat->call, MRPC_CANCELLED))
		return true;
	seat->call = NULL;
	seat->joined = false;
	return false;
}

/* Under the lock. Return: MRPC_OK, or the status of a refusal. */
static int check_join(struct meeting *m, struct mrpc_call *call,
		      const struct mrpc_group_v1_JoinRequest_ *req)
{
	const char *address = mrpc_group_v1_JoinRequest__address(req, req);
	struct seat *seat;

	if (m->rank)
		return refuse(m, call, MRPC_FAILED_PRECONDITION,
			      "rank %u is here; ranks meet at rank 0", m->rank);
	if (strcmp(mrpc_group_v1_JoinRequest__token(req, req), m->token))
		return refuse(m, call, MRPC_PERMISSION_DENIED, "the token is not that of rank 0");
	if (req->ranks != m->ranks)
		return refuse(m, call, MRPC_INVALID_ARGUMENT,
			      "rank %u says that there are %u ranks, rank 0 says %u", req->rank,
			      req->ranks, m->ranks);
	if (!req->rank || req->rank >= m->ranks)
		return refuse(m, call, MRPC_INVALID_ARGUMENT,
			      "rank %u: ranks 1 to %u are expected", req->rank, m->ranks - 1);
	if (!*address || strlen(address) >= sizeof(seat->address))
		return refuse(m, call, MRPC_INVALID_ARGUMENT,
			      "rank %u has no address, or one of more than %zu bytes", req->rank,
			      sizeof(seat->address) - 1);
	if (is_taken(&m->seats[req->rank]))
		return refuse(m, call, MRPC_ALREADY_EXISTS, "rank %u is there already",
			      req->rank);
	return MRPC_OK;
}

/* Under the lock. */
static int join_locked(struct meeting *m, struct mrpc_call *call,
		       const struct mrpc_group_v1_JoinRequest_ *req)
{
	struct seat *seat;
	int status;

	/* It came too late for this meeting: there may be another one soon. */
	if (m->over || m->status != MRPC_OK) {
		mrpc_call_set_detail(call, "%s", m->status == MRPC_OK ? "a group is complete here" :
				     m->why);
		return MRPC_UNAVAILABLE;
	}
	status = check_join(m, call, req);
	if (status != MRPC_OK)
		return status;
	seat = &m->seats[req->rank];
	seat->joined = true;
	seat->until = until_us(req->wait_us);
	strcpy(seat->address, mrpc_group_v1_JoinRequest__address(req, req));
	seat->call = call;
	pthread_cond_broadcast(&m->changed);
	return MRPC_DEFER;
}

static int join(struct mrpc_call *call, const struct mrpc_group_v1_JoinRequest_ *req,
		UNUSED struct mrpc_group_v1_JoinReply_ *reply)
{
	struct meeting *m = mrpc_call_ctx(call);
	int status;

	pthread_mutex_lock(&m->lock);
	status = join_locked(m, call, req);
	pthread_mutex_unlock(&m->lock);
	return status;
}

/* -- Attach ------------------------------------------------------------------------------ */

/* Under the lock. */
static int attach_locked(struct meeting *m, struct mrpc_call *call,
			 const struct mrpc_group_v1_AttachRequest_ *req)
{
	/* A rank that has learnt the addresses first may be quicker than this one. */
	while (!m->group && m->status == MRPC_OK)
		if (!wait_until(m, m->until))
			break;
	if (!m->group || m->status != MRPC_OK) {
		mrpc_call_set_detail(call, "rank %u has given up", m->rank);
		return MRPC_UNAVAILABLE;
	}
	if (req->key != m->key) {
		mrpc_call_set_detail(call, "rank %u of another group is here", m->rank);
		return MRPC_PERMISSION_DENIED;
	}
	if (req->to != m->rank) {
		mrpc_call_set_detail(call, "rank %u is here, not rank %u", m->rank, req->to);
		return MRPC_INVALID_ARGUMENT;
	}
	if (req->rank <= m->rank || req->rank >= m->ranks) {
		mrpc_call_set_detail(call, "rank %u: ranks %u to %u connect to rank %u", req->rank,
				     m->rank + 1, m->ranks - 1, m->rank);
		return MRPC_INVALID_ARGUMENT;
	}
	if (rank_link(m->session, m->group, req->rank, mrpc_call_conn(call))) {
		mrpc_call_set_detail(call, "%s", mrpc_last_error());
		return MRPC_FAILED_PRECONDITION;
	}
	m->attached++;
	return MRPC_OK;
}

static int attach(struct mrpc_call *call, const struct mrpc_group_v1_AttachRequest_ *req,
		  UNUSED struct mrpc_group_v1_AttachReply_ *reply)
{
	struct meeting *m = mrpc_call_ctx(call);
	int status;

	pthread_mutex_lock(&m->lock);
	status = attach_locked(m, call, req);
	pthread_mutex_unlock(&m->lock);
	return status;
}

/* -- Ready ------------------------------------------------------------------------------- */

/* Under the lock. */
static int ready_locked(struct meeting *m, struct mrpc_call *call,
			const struct mrpc_group_v1_ReadyRequest_ *req)
{
	const char *failure = mrpc_group_v1_ReadyRequest__failure(req, req);
	struct seat *seat;

	if (m->rank || m->over || req->key != m->key || !req->rank || req->rank >= m->ranks ||
	    !m->seats[req->rank].joined || m->seats[req->rank].call) {
		mrpc_call_set_detail(call, "no rank %u has joined the group here", req->rank);
		return MRPC_PERMISSION_DENIED;
	}
	seat = &m->seats[req->rank];
	if (*failure)
		fail_here(m, MRPC_ABORTED, "rank %u: %s", req->rank, failure);
	if (m->status != MRPC_OK) {
		seat->told = true;
		pthread_cond_broadcast(&m->changed);
		mrpc_call_set_detail(call, "%s", m->why);
		return m->status;
	}
	seat->ready = true;
	seat->call = call;
	pthread_cond_broadcast(&m->changed);
	return MRPC_DEFER;
}

static int ready(struct mrpc_call *call, const struct mrpc_group_v1_ReadyRequest_ *req,
		 UNUSED struct mrpc_group_v1_ReadyReply_ *reply)
{
	struct meeting *m = mrpc_call_ctx(call);
	int status;

	pthread_mutex_lock(&m->lock);
	status = ready_locked(m, call, req);
	pthread_mutex_unlock(&m->lock);
	return status;
}

static const struct mrpc_group_v1_Group__ops ops = {
	.Join = join, .Attach = attach, .Ready = ready,
};
const void *const meeting_ops = &ops;

/* -- rank 0 ------------------------------------------------------------------------------- */

/* Names the ranks that have not come, or are not ready. Under the lock. */
static void name_missing(const struct meeting *m, bool ready, char *buf, size_t size)
{
	u32 i, nr = 0;
	size_t len = 0;

	buf[0] = '\0';
	for (i = 1; i < m->ranks; i++) {
		if (ready ? m->seats[i].ready : m->seats[i].joined)
			continue;
		if (nr++ < MISSING_SHOWN)
			len += (size_t)snprintf(buf + len, size - len, "%s%u", len ? ", " : "", i);
	}
	if (nr > MISSING_SHOWN)
		snprintf(buf + len, size - len, " and %u more", nr - MISSING_SHOWN);
}

/* Under the lock. */
static u32 count(const struct meeting *m, bool ready)
{
	u32 i, nr = 0;

	for (i = 1; i < m->ranks; i++)
		nr += ready ? m->seats[i].ready : m->seats[i].joined;
	return nr;
}

/* Have all come, or are ready? Those that have died while they waited do not count. Under the lock. */
static bool is_complete(struct meeting *m, bool ready)
{
	u32 i;

	if (count(m, ready) < m->ranks - 1)
		return false;
	for (i = 1; i < m->ranks && !ready; i++)
		if (!is_taken(&m->seats[i]))
			return false;
	return true;
}

/* When the first of the ranks that are there gives up. Under the lock. */
static u64 first_until(const struct meeting *m)
{
	u64 until = m->until;
	u32 i;

	for (i = 1; i < m->ranks; i++)
		if (m->seats[i].joined && m->seats[i].until < until)
			until = m->seats[i].until;
	return until;
}

static void wait_for(struct meeting *m, bool ready)
{
	char missing[MISSING_SHOWN * 12 + 32];

	pthread_mutex_lock(&m->lock);
	while (m->status == MRPC_OK && !is_complete(m, ready)) {
		if (wait_until(m, first_until(m)))
			continue;
		name_missing(m, ready, missing, sizeof(missing));
		fail_here(m, MRPC_DEADLINE_EXCEEDED, ready ?
			  "of %u ranks, these have not connected to the others in time: %s%s" :
			  "of %u ranks, these have not come in time: %s%s",
			  m->ranks, missing, m->refused);
	}
	pthread_mutex_unlock(&m->lock);
}

void meeting_wait_joined(struct meeting *m)
{
	wait_for(m, false);
}

void meeting_wait_ready(struct meeting *m)
{
	wait_for(m, true);
}

static void fill_join(const struct meeting *m, struct mrpc_call *call)
{
	struct mrpc_group_v1_JoinReply_ *reply = mrpc_call_reply_root(call);
	struct mrpc_msg *msg = mrpc_call_msg(call);
	u32 i;

	reply->key = m->key;
	mrpc_group_v1_JoinReply__alloc_addresses(msg, reply, m->ranks);
	for (i = 0; i < m->ranks; i++)
		mrpc_group_v1_JoinReply__set_addresses(msg, reply, i, m->seats[i].address);
}

/* Under the lock. */
static void answer(struct meeting *m, struct seat *seat)
{
	struct mrpc_call *call = seat->call;

	seat->told = m->status != MRPC_OK;
	if (seat->told)
		mrpc_call_set_detail(call, "%s", m->why);
	else if (!seat->ready)
		fill_join(m, call);
	/* Without memory the rank's time runs out. */
	if (!mrpc_call_reply(call, m->status) || !mrpc_call_reply(call, MRPC_RESOURCE_EXHAUSTED))
		seat->call = NULL;
}

static void answer_all(struct meeting *m)
{
	u32 i;

	for (i = 1; i < m->ranks; i++)
		if (m->seats[i].call)
			answer(m, &m->seats[i]);
}

void meeting_answer(struct meeting *m)
{
	pthread_mutex_lock(&m->lock);
	answer_all(m);
	pthread_mutex_unlock(&m->lock);
}

/* Under the lock. */
static bool all_told(const struct meeting *m)
{
	u32 i;

	for (i = 1; i < m->ranks; i++)
		if (m->seats[i].joined && !m->seats[i].told)
			return false;
	return true;
}

int meeting_end(struct meeting *m)
{
	u64 until = clock_ns() + TELL_NS;
	int err = 0;

	pthread_mutex_lock(&m->lock);
	answer_all(m);
	while (m->status != MRPC_OK && !all_told(m) && wait_until(m, until))
		;
	m->over = true;
	if (m->status != MRPC_OK)
		err = fail(errno_of_status(m->status), "%s", m->why);
	pthread_mutex_unlock(&m->lock);
	return err;
}

/* -- other ranks ---------------------------------------------------------------------------- */

/* What is left of the time, for a call: at least a little, so that the answer says what is wrong. */
static u64 time_left(const struct meeting *m)
{
	u64 now = clock_ns();

	return m->until > now ? (m->until - now) / 1000 + 1 : 1;
}

static int call_fails(const struct mrpc_result *res, const char *what)
{
	const char *why = res->detail[0] ? res->detail : mrpc_status_name(res->status);
	int err = errno_of_status(res->status);

	return what ? fail(err, "%s: %s", what, why) : fail(err, "%s", why);
}

static int take_addresses(struct meeting *m, const struct mrpc_group_v1_JoinReply_ *reply,
			  char (**addresses)[MRPC_ADDR_TEXT])
{
	const char *text;
	u32 i;

	if (reply->addresses.len != m->ranks)
		return fail(EPROTO, "rank 0 tells %u addresses of %u ranks", reply->addresses.len,
			    m->ranks);
	*addresses = calloc(m->ranks, sizeof(**addresses));
	if (!*addresses)
		return fail(ENOMEM, "out of memory");
	for (i = 0; i < m->ranks; i++) {
		text = mrpc_group_v1_JoinReply__addresses(reply, reply, i);
		if (snprintf((*addresses)[i], sizeof(**addresses), "%s", text) <
		    (int)sizeof(**addresses))
			continue;
		free(*addresses);
		return fail(EPROTO, "rank 0 tells an address of %zu bytes", strlen(text));
	}
	return 0;
}

/* Return: 0; -EAGAIN: rank 0 is busy with another group, or is lost; or another -errno. */
static int try_join(struct meeting *m, struct mrpc_conn *rank0, const char *address,
		    char (**addresses)[MRPC_ADDR_TEXT])
{
	struct mrpc_call_opts opts = {
		.flags = MRPC_CALL_WAIT_READY, .timeout_us = time_left(m) + ANSWER_US,
	};
	const struct mrpc_group_v1_JoinReply_ *reply;
	struct mrpc_group_v1_JoinRequest_ *req;
	struct mrpc_result res;
	struct mrpc_msg msg;
	int err;

	req = mrpc_group_v1_JoinRequest__new(&msg, m->session);
	if (!req)
		return fail(ENOMEM, "out of memory");
	mrpc_group_v1_JoinRequest__set_token(&msg, req, m->token);
	req->ranks = m->ranks;
	req->rank = m->rank;
	mrpc_group_v1_JoinRequest__set_address(&msg, req, address);
	req->wait_us = time_left(m);
	if (mrpc_group_v1_Group__Join(rank0, &msg, &opts, &res) == MRPC_OK) {
		reply = res.reply;
		m->key = reply->key;
		err = take_addresses(m, reply, addresses);
	} else {
		err = call_fails(&res, NULL);
		if (res.status == MRPC_UNAVAILABLE && clock_ns() < m->until)
			err = -EAGAIN;
	}
	mrpc_result_release(&res);
	return err;
}

int meeting_join(struct meeting *m, struct mrpc_conn *rank0, const char *address,
		 char (**addresses)[MRPC_ADDR_TEXT])
{
	static const struct timespec pause = { .tv_nsec = JOIN_NS };
	int err;

	while ((err = try_join(m, rank0, address, addresses)) == -EAGAIN)
		nanosleep(&pause, NULL);
	return err;
}

int meeting_attach(struct meeting *m, u32 to, struct mrpc_conn *conn)
{
	struct mrpc_call_opts opts = { .timeout_us = time_left(m) };
	struct mrpc_group_v1_AttachRequest_ *req;
	struct mrpc_result res;
	struct mrpc_msg msg;
	int err = 0;

	req = mrpc_group_v1_AttachRequest__new(&msg, m->session);
	if (!req)
		return fail(ENOMEM, "out of memory");
	req->key = m->key;
	req->rank = m->rank;
	req->to = to;
	if (mrpc_group_v1_Group__Attach(conn, &msg, &opts, &res) != MRPC_OK)
		err = call_fails(&res, "it does not take the connection");
	mrpc_result_release(&res);
	return err;
}

int meeting_ready(struct meeting *m, struct mrpc_conn *rank0, const char *failure)
{
	struct mrpc_call_opts opts = { .timeout_us = time_left(m) + ANSWER_US };
	struct mrpc_group_v1_ReadyRequest_ *req;
	struct mrpc_result res;
	struct mrpc_msg msg;
	int err = 0;

	req = mrpc_group_v1_ReadyRequest__new(&msg, m->session);
	if (!req)
		return fail(ENOMEM, "out of memory");
	req->key = m->key;
	req->rank = m->rank;
	mrpc_group_v1_ReadyRequest__set_failure(&msg, req, failure);
	if (mrpc_group_v1_Group__Ready(rank0, &msg, &opts, &res) != MRPC_OK)
		err = call_fails(&res, NULL);
	mrpc_result_release(&res);
	return err;
}
