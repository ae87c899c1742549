// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Groups: their ranks find each other, and give the connections to the kernel.
 *
 * While a group is created the session has a server, which serves mrpc.group.v1.Group in a thread of
 * its own. See meeting.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "clock.h"
#include "conn.h"
#include "group.h"
#include "meeting.h"
#include "rank.h"
#include "request.h"

#define TIMEOUT_US	60000000u
#define BACKOFF_US	50000u		/* between attempts to reach rank 0 */
#define BACKOFF_MAX_US	500000u
#define DRAIN_US	100000u		/* for calls of strangers: those of ranks are over by then */

/**
 * struct creation - a group that is being created
 * @group: it
 * @opts: the caller's
 * @address: where rank 0 listens
 * @meeting: with the other ranks
 * @server: serves the meeting, in @thread
 * @rank0: other ranks: the channel to rank 0
 * @listen: other ranks: where this one listens, as others connect to it
 */
struct creation {
	struct mrpc_group *group;
	const struct mrpc_group_opts *opts;
	const char *address;
	struct meeting meeting;
	struct mrpc_server *server;
	pthread_t thread;
	struct mrpc_conn *rank0;
	char listen[MRPC_ADDR_TEXT];
};

/* -- the server ------------------------------------------------------------------------- */

static void *serve(void *arg)
{
	struct creation *c = arg;

	if (mrpc_server_run(c->server, 1))
		meeting_fail(&c->meeting, "rank %u: %s", c->meeting.rank, mrpc_last_error());
	return NULL;
}

static int start_server(struct creation *c, const char *address)
{
	struct mrpc_conn_opts opts = { .tls = c->opts->server_tls };
	int err;

	c->server = mrpc_server_new(c->group->session);
	if (!c->server && errno == EBUSY)
		return fail(EBUSY, "another thread serves, or creates a group, in this session");
	if (!c->server)
		return -errno;
	c->server->drain_us = DRAIN_US;
	err = mrpc_server_add(c->server, meeting_service, meeting_ops, &c->meeting);
	if (!err)
		err = mrpc_server_listen(c->server, address, &opts);
	if (!err)
		err = thread_start(&c->thread, serve, c);
	if (err > 0)
		err = fail(err, "cannot start a thread: %s", strerror(err));
	if (err) {
		mrpc_server_free(c->server);
		c->server = NULL;
	}
	return err;
}

/* Connections that belong to the group stay. */
static void stop_server(struct creation *c)
{
	if (!c->server)
		return;
	mrpc_server_stop(c->server);
	pthread_join(c->thread, NULL);
	mrpc_server_free(c->server);
}

/* -- addresses -------------------------------------------------------------------------- */

/* Bytes of an address before its port, with the colon. */
static int host_len(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon ? (int)(colon + 1 - address) : 0;
}

/* Does it name a host that others can connect to: "tcp:[::1]:0" does, "tcp::0" does not. */
static bool has_host(const char *address)
{
	static const char *const any[] = { "::", ":0.0.0.0:", ":[::]:" };
	int len = host_len(address), tail;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(any); i++) {
		tail = (int)strlen(any[i]);
		if (len >= tail && !strncmp(address + len - tail, any[i], (size_t)tail))
			return false;
	}
	return len;
}

/* Where this rank listens: at the address by which it reaches rank 0, unless the caller says another. */
static int choose_address(const struct creation *c, char *buf, size_t size)
{
	struct mrpc_conn_info info;
	char local[MRPC_ADDR_TEXT];
	int err;

	if (!strncmp(c->address, "loop:", 5)) {
		snprintf(buf, size, "%s.%u", c->address, c->group->rank);
		return 0;
	}
	err = mrpc_conn_query(c->rank0, &info);
	if (err)
		return err;
	mrpc_addr_format(info.transport, info.local, local, sizeof(local));
	snprintf(buf, size, "%.*s0", host_len(local), local);
	return 0;
}

/* Listens, and finds out what others have to connect to. */
static int listen_here(struct creation *c)
{
	char chosen[MRPC_ADDR_TEXT + 16], got[MRPC_ADDR_TEXT];
	const char *wanted = c->opts->listen, *host;
	int err;

	err = choose_address(c, chosen, sizeof(chosen));
	if (err)
		return err;
	err = start_server(c, wanted ? wanted : chosen);
	if (err)
		return err;
	mrpc_server_address(c->server, got, sizeof(got));
	if (!strncmp(got, "loop:", 5)) {
		strcpy(c->listen, got);
		return 0;
	}
	host = wanted && has_host(wanted) ? wanted : chosen;
	if (!strncmp(host, "loop:", 5))
		return fail(EINVAL, "'%s' must name the host, because ranks meet over loop", wanted);
	if (snprintf(c->listen, sizeof(c->listen), "%.*s%s", host_len(host), host,
		     got + host_len(got)) >= (int)sizeof(c->listen))
		return fail(EINVAL, "the address '%s' is longer than %zu bytes", host,
			    sizeof(c->listen) - 1);
	return 0;
}

/* -- rank 0 ------------------------------------------------------------------------------ */

static int new_rank(struct creation *c, u64 key)
{
	struct mrpc_group *g = c->group;
	int err = rank_new(g->session, key, g->ranks, g->rank, c->opts->limit_us, &g->id);

	if (!err)
		meeting_set_group(&c->meeting, key, g->id);
	return err;
}

/* Tells the others that this rank has failed. */
static void fail_all(struct creation *c)
{
	meeting_fail(&c->meeting, "rank 0: %s", mrpc_last_error());
}

static int meet_at_rank0(struct creation *c)
{
	struct meeting *m = &c->meeting;
	u64 key;
	int err;

	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		return fail(EIO, "no random bytes");
	err = start_server(c, c->address);
	if (err)
		return err;
	if (new_rank(c, key))
		fail_all(c);
	meeting_wait_joined(m);
	meeting_answer(m);
	meeting_wait_ready(m);
	return meeting_end(m);
}

/* -- other ranks -------------------------------------------------------------------------- */

static int reach_rank0(struct creation *c)
{
	const struct mrpc_service_desc *services[] = { meeting_service };
	struct mrpc_channel_opts opts = {
		.backoff_us = BACKOFF_US, .backoff_max_us = BACKOFF_MAX_US,
		.tls = c->opts->client_tls,
	};
	char why[MEETING_WHY] = "";
	int state;
	u64 now;

	c->rank0 = mrpc_channel_open(c->group->session, c->address, services, 1, &opts);
	if (!c->rank0)
		return -errno;
	state = mrpc_channel_state(c->rank0, true);
	while (state >= 0 && state != MRPC_CHANNEL_READY) {
		now = clock_ns();
		if (now >= c->meeting.until) {
			mrpc_channel_why(c->rank0, why, sizeof(why));
			return fail(ETIMEDOUT, "rank 0 does not answer at %s%s%s", c->address,
				    why[0] ? ": " : "", why);
		}
		state = mrpc_channel_wait(c->rank0, state,
					  (s64)((c->meeting.until - now + 999) / 1000));
		if (state == -ETIME || state == -EINTR)
			state = mrpc_channel_state(c->rank0, true);
	}
	return state < 0 ? state : 0;
}

static int connect_to(struct creation *c, u32 rank, const char *address)
{
	const struct mrpc_service_desc *services[] = { meeting_service };
	struct mrpc_conn_opts opts = { .tls = c->opts->client_tls };
	struct mrpc_group *g = c->group;
	struct mrpc_conn *conn;
	u64 now = clock_ns();
	int err;

	if (now >= c->meeting.until)
		return fail(ETIMEDOUT, "no time is left");
	opts.timeout_us = (c->meeting.until - now + 999) / 1000;
	conn = mrpc_connect(g->session, address, services, 1, &opts);
	if (!conn)
		return -errno;
	err = rank_link(g->session, g->id, rank, mrpc_conn_id(conn));
	if (err) {
		session_close_id(g->session, mrpc_conn_id(conn), 0);
		conn_give(conn);
		return err;
	}
	err = meeting_attach(&c->meeting, rank, conn);
	conn_give(conn);
	return err;
}

/* Return: 0 or -errno, with the error set and in @why. */
static int connect_to_all(struct creation *c, char (*addresses)[MRPC_ADDR_TEXT], char *why,
			  size_t size)
{
	const char *address;
	u32 rank;
	int err;

	err = new_rank(c, c->meeting.key);
	if (err) {
		snprintf(why, size, "%s", mrpc_last_error());
		return err;
	}
	for (rank = 0; rank < c->group->rank; rank++) {
		address = rank ? addresses[rank] : c->address;
		err = connect_to(c, rank, address);
		if (!err)
			continue;
		snprintf(why, size, "rank %u at %s: %s", rank, address, mrpc_last_error());
		return fail(-err, "%s", why);
	}
	return 0;
}

static int meet_others(struct creation *c)
{
	char (*addresses)[MRPC_ADDR_TEXT], why[MEETING_WHY] = "";
	int err;

	err = reach_rank0(c);
	if (!err)
		err = listen_here(c);
	if (!err)
		err = meeting_join(&c->meeting, c->rank0, c->listen, &addresses);
	if (err)
		return err;
	connect_to_all(c, addresses, why, sizeof(why));
	free(addresses);
	/* Rank 0 tells all ranks of a failure, this one, too. */
	err = meeting_ready(&c->meeting, c->rank0, why);
	if (!why[0])
		return err;
	return fail(err ? -err : ECONNABORTED, "%s", why);
}

/* -- the interface ------------------------------------------------------------------------- */

static void group_free(struct session_end *end)
{
	free((u8 *)end - offsetof(struct mrpc_group, end));
}

static int meet(struct creation *c)
{
	struct meeting *m = &c->meeting;
	char why[MEETING_WHY];
	int err;

	err = meeting_init(m);
	if (err)
		return err;
	if (m->ranks == 1)
		err = new_rank(c, 0);
	else
		err = m->rank ? meet_others(c) : meet_at_rank0(c);
	if (!err)
		err = meeting_check_attached(m);
	snprintf(why, sizeof(why), "%s", mrpc_last_error());
	/* Handlers that wait for this rank give up. */
	if (err)
		meeting_fail(m, "rank %u has given up", m->rank);
	mrpc_conn_close(c->rank0, 0);
	stop_server(c);
	meeting_destroy(m);
	return err ? fail(-err, "%s", why) : 0;
}

static int check_args(const char *address, u32 ranks, u32 rank, const struct mrpc_group_opts *opts)
{
	if (ranks < 1 || ranks > MRPC_GROUP_RANKS)
		return fail(EINVAL, "a group has 1 to %u ranks, not %u", MRPC_GROUP_RANKS, ranks);
	if (rank >= ranks)
		return fail(EINVAL, "rank %u: the ranks of %u are 0 to %u", rank, ranks, ranks - 1);
	if (opts->token && strlen(opts->token) > MRPC_GROUP_TOKEN)
		return fail(EINVAL, "a token has at most %u bytes, not %zu", MRPC_GROUP_TOKEN,
			    strlen(opts->token));
	return address ? 0 : fail(EINVAL, "the address of rank 0 is missing");
}

struct mrpc_group *mrpc_group_create(struct mrpc_session *session, const char *address,
				     __u32 ranks, __u32 rank, const struct mrpc_group_opts *opts)
{
	static const struct mrpc_group_opts none;
	struct creation c = { .opts = opts ? opts : &none, .address = address };
	struct mrpc_group *g;
	int err;

	if (session_check(session) || check_args(address, ranks, rank, c.opts))
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	g->session = session;
	g->ranks = ranks;
	g->rank = rank;
	c.group = g;
	c.meeting.session = session;
	c.meeting.ranks = ranks;
	c.meeting.rank = rank;
	c.meeting.token = c.opts->token ? c.opts->token : "";
	c.meeting.until = until_us(c.opts->timeout_us ? c.opts->timeout_us : TIMEOUT_US);
	err = meet(&c);
	if (!err) {
		session_at_end(session, &g->end, group_free);
		return g;
	}
	if (g->id)
		rank_end(session, g->id);
	free(g);
	errno = -err;
	return NULL;
}

int mrpc_group_leave(struct mrpc_group *group)
{
	int status;

	if (!group)
		return MRPC_OK;
	status = mrpc_group_barrier(group);
	mrpc_group_abort(group);
	return status;
}

void mrpc_group_abort(struct mrpc_group *group)
{
	if (!group || session_check(group->session))
		return;
	session_forget_end(group->session, &group->end);
	rank_end(group->session, group->id);
	free(group);
}

__u32 mrpc_group_ranks(const struct mrpc_group *group)
{
	return group->ranks;
}

__u32 mrpc_group_rank(const struct mrpc_group *group)
{
	return group->rank;
}
