/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tests with the module share: a server and a client, two sessions of this process.
 */
#ifndef TEST_GUEST_PAIR_H
#define TEST_GUEST_PAIR_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include "guest.mrpc.h"
#include "tap.h"

#define MIB	(1u << 20)

#define SLEEP_US	1500000

#define WORKERS	3

enum what { ECHO, FAIL, SLEEP, LATER, ASK, BIG, PRIORITY, BUSY, UNTIL_CANCELLED };

static struct {
	struct mrpc_session *session;
	struct mrpc_server *server;
	pthread_t thread;
	int ret;
} srv;

static struct mrpc_session *session;
static struct mrpc_conn *conn;

static inline double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* -- the server ------------------------------------------------------------------------ */

static inline void copy_items(struct mrpc_call *call, const struct guest_Request *req,
			      struct guest_Reply *reply)
{
	struct mrpc_msg *msg = mrpc_call_msg(call);
	struct guest_Item *items;
	struct mrpc_ref *names;
	uint32_t i;

	items = guest_Reply_alloc_items(msg, reply, req->items.len);
	for (i = 0; i < req->items.len; i++) {
		const struct guest_Item *from = guest_Request_items(req, req, i), *child;

		guest_Item_set_name(msg, &items[i], guest_Item_name(req, from));
		mrpc_msg_set_array(msg, &items[i].numbers, mrpc_ref_ptr(req, from->numbers),
				   from->numbers.len, sizeof(uint32_t));
		child = mrpc_ref_ptr(req, from->child);
		if (child) {
			struct guest_Item *to = mrpc_msg_alloc_struct(msg, &items[i].child,
								      sizeof(*to));

			guest_Item_set_name(msg, to, guest_Item_name(req, child));
		}
	}
	names = mrpc_msg_alloc_array(msg, &reply->names, req->names.len, sizeof(*names), 4);
	for (i = 0; i < req->names.len; i++) {
		const struct mrpc_ref *from = mrpc_ref_ptr(req, req->names);

		mrpc_msg_set_str(msg, &names[i], mrpc_ref_str(req, from[i]));
	}
}

static inline void echo(struct mrpc_call *call, const struct guest_Request *req,
			struct guest_Reply *reply)
{
	struct mrpc_msg *msg = mrpc_call_msg(call);
	size_t len;
	const void *data = guest_Request_data(req, req, &len);

	guest_Reply_set_text(msg, reply, guest_Request_text(req, req));
	guest_Reply_set_data(msg, reply, data, len);
	copy_items(call, req, reply);
}

static inline void *answer_later(void *arg)
{
	struct mrpc_call *call = arg;

	usleep(20000);
	echo(call, mrpc_call_request(call), mrpc_call_reply_root(call));
	CHECK_EQ(mrpc_call_reply(call, MRPC_OK), 0);
	return NULL;
}

static inline int ask(struct mrpc_call *call, const struct guest_Request *req,
		      struct guest_Reply *reply)
{
	char peer[MRPC_ADDR_TEXT], text[256];
	const char *who;
	__u32 len;

	who = mrpc_call_meta_find(call, "who", &len);
	if (!who)
		len = 1;
	snprintf(text, sizeof(text), "%.*s %s %d %u %s", (int)len, who ? who : "?",
		 mrpc_call_remaining_us(call) < 5000000 ? "deadline" : "-",
		 (int)mrpc_call_priority(call), req->what, mrpc_call_method(call)->name);
	mrpc_call_peer(call, peer, sizeof(peer));
	CHECK_EQ(mrpc_call_add_meta(call, "peer", peer, strlen(peer)), 0);
	CHECK_EQ(mrpc_call_add_meta(call, "empty", NULL, 0), 0);
	guest_Reply_set_text(mrpc_call_msg(call), reply, text);
	return MRPC_OK;
}

/* Requests that keep their workers until a test lets them end. */
static sem_t begun, ends;

static inline int say(struct mrpc_call *call, const struct guest_Request *req,
		      struct guest_Reply *reply)
{
	pthread_t thread;

	switch (req->what) {
	case FAIL:
		mrpc_call_set_detail(call, "no '%s' here", guest_Request_text(req, req));
		mrpc_call_add_meta(call, "why", "so", 2);
		return MRPC_NOT_FOUND;
	case SLEEP:
		usleep(SLEEP_US);
		break;
	case LATER:
		if (pthread_create(&thread, NULL, answer_later, call))
			return MRPC_INTERNAL;
		pthread_detach(thread);
		return MRPC_DEFER;
	case ASK:
		return ask(call, req, reply);
	case BUSY:
		sem_post(&begun);
		sem_wait(&ends);
		return MRPC_OK;
	case UNTIL_CANCELLED:
		sem_post(&begun);
		while (!mrpc_call_is_cancelled(call))
			usleep(1000);
		sem_post(&ends);
		return MRPC_ABORTED;
	case BIG:
		memset(guest_Reply_alloc_data(mrpc_call_msg(call), reply, 4 * MIB), 'b', 4 * MIB);
		return MRPC_OK;
	}
	echo(call, req, reply);
	return MRPC_OK;
}

static inline int say_other(struct mrpc_call *call, const struct guest_Request *req,
			    struct guest_Reply *reply)
{
	(void)req;
	guest_Reply_set_text(mrpc_call_msg(call), reply, mrpc_call_ctx(call));
	return MRPC_OK;
}

static inline int tell_priority(struct mrpc_call *call, const struct guest_Request *req,
				struct guest_Reply *reply)
{
	char text[16];

	(void)req;
	snprintf(text, sizeof(text), "%u", mrpc_call_priority(call));
	guest_Reply_set_text(mrpc_call_msg(call), reply, text);
	return MRPC_OK;
}

static inline void *server_main(void *arg)
{
	(void)arg;
	srv.ret = mrpc_server_run(srv.server, WORKERS);
	return NULL;
}

static inline void up(const char *address)
{
	static const struct guest_Echo_ops echo_ops = { .Say = say };
	static const struct guest_Other_ops other_ops = {
		.Say = say_other, .Least = tell_priority, .Most = tell_priority,
	};
	static const struct mrpc_service_desc *const services[] = {
		&guest_Other_service, &guest_Echo_service,	/* not in the server's order */
	};
	char text[MRPC_ADDR_TEXT];

	signal(SIGPIPE, SIG_IGN);
	srv.session = mrpc_session_open(&(struct mrpc_session_opts){ .recv_initial = 64 * MIB });
	CHECK_MSG(srv.session, "%s", mrpc_last_error());
	srv.server = mrpc_server_new(srv.session);
	CHECK(srv.server != NULL);
	CHECK_EQ(guest_Echo_add(srv.server, &echo_ops, NULL), 0);
	CHECK_EQ(guest_Other_add(srv.server, &other_ops, "the other"), 0);
	CHECK_MSG(!mrpc_server_listen(srv.server, address, NULL), "%s", mrpc_last_error());
	CHECK_EQ(pthread_create(&srv.thread, NULL, server_main, NULL), 0);

	mrpc_server_address(srv.server, text, sizeof(text));
	session = mrpc_session_open(&(struct mrpc_session_opts){ .recv_initial = 64 * MIB });
	CHECK_MSG(session, "%s", mrpc_last_error());
	conn = mrpc_connect(session, text, services, 2, NULL);
	CHECK_MSG(conn, "%s", mrpc_last_error());
}

static inline void down(void)
{
	mrpc_session_close(session);
	mrpc_server_stop(srv.server);
	pthread_join(srv.thread, NULL);
	CHECK_EQ(srv.ret, 0);
	mrpc_session_close(srv.session);
}

static inline void fill(uint8_t *p, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(seed + i * 31 + (i >> 8) * 7);
}

static inline bool same(const uint8_t *p, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (uint8_t)(seed + i * 31 + (i >> 8) * 7))
			return false;
	return true;
}

static inline struct guest_Request *build(struct mrpc_msg *msg, enum what what, size_t len)
{
	struct guest_Request *req = guest_Request_new(msg, session);

	req->what = what;
	if (len)
		fill(guest_Request_alloc_data(msg, req, len), len, (uint32_t)len);
	return req;
}

static inline int call(enum what what, size_t len, const struct mrpc_call_opts *opts,
		       struct mrpc_result *res)
{
	struct mrpc_msg msg;

	build(&msg, what, len);
	return guest_Echo_Say(conn, &msg, opts, res);
}

static inline void check_echo(const struct mrpc_result *res, size_t len)
{
	const struct guest_Reply *reply = guest_Echo_Say_reply(res);
	size_t got;
	const void *data;

	CHECK_MSG(res->status == MRPC_OK, "%s: %s", mrpc_status_name(res->status), res->detail);
	data = guest_Reply_data(reply, reply, &got);
	CHECK_EQ(got, len);
	CHECK(same(data, got, (uint32_t)len));
}

/* -- for each transport ---------------------------------------------------------------- */

static const size_t lens[] = {
	0, 1, 7, 8, 100, 4000, 4096, 4100, 8192, 16384, 65535, 65536, 70000, 262144, MIB,
	3 * MIB + 5,
};

#define NR_LENS	(sizeof(lens) / sizeof(lens[0]))

#define BOTH(name)							\
	TEST(name##_tcp) { up("tcp:127.0.0.1:0"); name(); down(); }	\
	TEST(name##_loop) { up("loop:guest-" #name); name(); down(); }

#endif /* TEST_GUEST_PAIR_H */
