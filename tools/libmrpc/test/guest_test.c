// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The library with the module: runs where /dev/mrpc is. Client and server are
 * two sessions of this process; over tcp and over loop.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.mrpc.h"
#include "tap.h"

#define MIB	(1u << 20)

#define SLEEP_US	1500000

#define WORKERS	3

enum what { ECHO, FAIL, SLEEP, LATER, ASK, BIG, PRIORITY, BUSY };

extern const struct mrpc_service_desc *const stale_services[];

static struct {
	struct mrpc_session *session;
	struct mrpc_server *server;
	pthread_t thread;
	int ret;
} srv;

static struct mrpc_session *session;
static struct mrpc_conn *conn;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* -- the server ------------------------------------------------------------------------ */

static void copy_items(struct mrpc_call *call, const struct guest_Request *req,
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

static void echo(struct mrpc_call *call, const struct guest_Request *req,
		 struct guest_Reply *reply)
{
	struct mrpc_msg *msg = mrpc_call_msg(call);
	size_t len;
	const void *data = guest_Request_data(req, req, &len);

	guest_Reply_set_text(msg, reply, guest_Request_text(req, req));
	guest_Reply_set_data(msg, reply, data, len);
	copy_items(call, req, reply);
}

static void *answer_later(void *arg)
{
	struct mrpc_call *call = arg;

	usleep(20000);
	echo(call, mrpc_call_request(call), mrpc_call_reply_root(call));
	CHECK_EQ(mrpc_call_reply(call, MRPC_OK), 0);
	return NULL;
}

static int ask(struct mrpc_call *call, const struct guest_Request *req,
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

static int say(struct mrpc_call *call, const struct guest_Request *req,
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
	case BIG:
		memset(guest_Reply_alloc_data(mrpc_call_msg(call), reply, 4 * MIB), 'b', 4 * MIB);
		return MRPC_OK;
	}
	echo(call, req, reply);
	return MRPC_OK;
}

static int say_other(struct mrpc_call *call, const struct guest_Request *req,
		     struct guest_Reply *reply)
{
	(void)req;
	guest_Reply_set_text(mrpc_call_msg(call), reply, mrpc_call_ctx(call));
	return MRPC_OK;
}

static int tell_priority(struct mrpc_call *call, const struct guest_Request *req,
			 struct guest_Reply *reply)
{
	char text[16];

	(void)req;
	snprintf(text, sizeof(text), "%u", mrpc_call_priority(call));
	guest_Reply_set_text(mrpc_call_msg(call), reply, text);
	return MRPC_OK;
}

static void *server_main(void *arg)
{
	(void)arg;
	srv.ret = mrpc_server_run(srv.server, WORKERS);
	return NULL;
}

static void up(const char *address)
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

static void down(void)
{
	mrpc_session_close(session);
	mrpc_server_stop(srv.server);
	pthread_join(srv.thread, NULL);
	CHECK_EQ(srv.ret, 0);
	mrpc_session_close(srv.session);
}

static void fill(uint8_t *p, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(seed + i * 31 + (i >> 8) * 7);
}

static bool same(const uint8_t *p, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (uint8_t)(seed + i * 31 + (i >> 8) * 7))
			return false;
	return true;
}

static struct guest_Request *build(struct mrpc_msg *msg, enum what what, size_t len)
{
	struct guest_Request *req = guest_Request_new(msg, session);

	req->what = what;
	if (len)
		fill(guest_Request_alloc_data(msg, req, len), len, (uint32_t)len);
	return req;
}

static int call(enum what what, size_t len, const struct mrpc_call_opts *opts,
		struct mrpc_result *res)
{
	struct mrpc_msg msg;

	build(&msg, what, len);
	return guest_Echo_Say(conn, &msg, opts, res);
}

static void check_echo(const struct mrpc_result *res, size_t len)
{
	const struct guest_Reply *reply = guest_Echo_Say_reply(res);
	size_t got;
	const void *data;

	CHECK_MSG(res->status == MRPC_OK, "%s: %s", mrpc_status_name(res->status), res->detail);
	data = guest_Reply_data(reply, reply, &got);
	CHECK_EQ(got, len);
	CHECK(same(data, got, (uint32_t)len));
}

/* -- the tests, for each transport --------------------------------------------------------- */

static const size_t lens[] = {
	0, 1, 7, 8, 100, 4000, 4096, 4100, 8192, 16384, 65535, 65536, 70000, 262144, MIB,
	3 * MIB + 5,
};

#define NR_LENS	(sizeof(lens) / sizeof(lens[0]))

static void sizes(void)
{
	struct mrpc_heap_stats stats;
	struct mrpc_result res;
	size_t i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < NR_LENS; i++) {
			call(ECHO, lens[i], NULL, &res);
			check_echo(&res, lens[i]);
			mrpc_result_release(&res);
		}
	}
	mrpc_send_heap_stats(session, &stats);
	CHECK(stats.used < 4 * MIB);
}

static void structure(void)
{
	const struct guest_Reply *reply;
	struct guest_Request *req;
	struct guest_Item *items, *child;
	struct mrpc_ref *names;
	struct mrpc_result res;
	struct mrpc_msg msg;
	uint32_t i, j;
	char name[32];

	req = build(&msg, ECHO, 10);
	guest_Request_set_text(&msg, req, "Grüße");
	items = guest_Request_alloc_items(&msg, req, 200);
	for (i = 0; i < 200; i++) {
		uint32_t *numbers;

		snprintf(name, sizeof(name), "item %u", i);
		guest_Item_set_name(&msg, &items[i], name);
		numbers = mrpc_msg_alloc_array(&msg, &items[i].numbers, i, 4, 4);
		for (j = 0; j < i; j++)
			numbers[j] = i * j;
		if (i % 3)
			continue;
		child = mrpc_msg_alloc_struct(&msg, &items[i].child, sizeof(*child));
		guest_Item_set_name(&msg, child, "child");
	}
	names = mrpc_msg_alloc_array(&msg, &req->names, 50, sizeof(*names), 4);
	for (i = 0; i < 50; i += 2)
		mrpc_msg_set_str(&msg, &names[i], "a name");
	CHECK_EQ(mrpc_msg_error(&msg), 0);
	guest_Echo_Say(conn, &msg, NULL, &res);
	check_echo(&res, 10);
	reply = guest_Echo_Say_reply(&res);
	CHECK_STR(guest_Reply_text(reply, reply), "Grüße");
	CHECK_EQ(reply->items.len, 200);
	for (i = 0; i < 200; i++) {
		const struct guest_Item *item = guest_Reply_items(reply, reply, i);
		const uint32_t *numbers = mrpc_ref_ptr(reply, item->numbers);
		const struct guest_Item *c = mrpc_ref_ptr(reply, item->child);

		snprintf(name, sizeof(name), "item %u", i);
		CHECK_STR(guest_Item_name(reply, item), name);
		CHECK_EQ(item->numbers.len, i);
		for (j = 0; j < i; j++)
			CHECK_EQ(numbers[j], i * j);
		CHECK_EQ(!c, i % 3 != 0);
		if (c)
			CHECK_STR(guest_Item_name(reply, c), "child");
	}
	CHECK_EQ(reply->names.len, 50);
	names = (struct mrpc_ref *)mrpc_ref_ptr(reply, reply->names);
	CHECK_STR(mrpc_ref_str(reply, names[2]), "a name");
	CHECK_STR(mrpc_ref_str(reply, names[3]), "");
	mrpc_result_release(&res);
}

static void metadata_and_context(void)
{
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = {
		.timeout_us = 4000000,
		.priority = 200,
		.flags = MRPC_CALL_PRIORITY | MRPC_CALL_TIMES,
		.meta = &meta,
	};
	const struct guest_Reply *reply;
	struct mrpc_conn_info info;
	struct mrpc_result res;
	__u32 len;

	mrpc_meta_add_str(&meta, "who", "tester");
	CHECK_EQ(call(ASK, 0, &opts, &res), MRPC_OK);
	reply = guest_Echo_Say_reply(&res);
	CHECK_STR(guest_Reply_text(reply, reply), "tester deadline 200 4 Say");
	CHECK(mrpc_meta_find(res.meta, res.meta_len, "peer", &len) && len);
	CHECK(mrpc_meta_find(res.meta, res.meta_len, "empty", &len) && !len);
	CHECK(res.times && res.times->submit);
	CHECK(res.times->submit <= res.times->marshal);
	CHECK(res.times->marshal <= res.times->receive);
	CHECK(res.times->receive <= res.times->deliver);
	/* A reply can be quicker than the return from the last send. */
	CHECK(!res.times->transmit || res.times->marshal <= res.times->transmit);
	mrpc_result_release(&res);
	CHECK_EQ(call(ASK, 0, NULL, &res), MRPC_OK);
	reply = guest_Echo_Say_reply(&res);
	CHECK_STR(guest_Reply_text(reply, reply), "? - 128 4 Say");
	CHECK(!res.times);
	mrpc_result_release(&res);
	mrpc_meta_free(&meta);

	CHECK_EQ(mrpc_conn_query(conn, &info), 0);
	CHECK_EQ(info.state, MRPC_CONN_READY);
	CHECK(!info.accepted);
}

static void failures(void)
{
	struct mrpc_call_opts limit = { .max_reply = 100000 };
	struct mrpc_call_opts soon = { .timeout_us = 50000 };
	struct guest_Request *req;
	struct mrpc_result res;
	struct mrpc_msg msg;
	double start;
	__u32 len;

	req = build(&msg, FAIL, 0);
	guest_Request_set_text(&msg, req, "thing");
	CHECK_EQ(guest_Echo_Say(conn, &msg, NULL, &res), MRPC_NOT_FOUND);
	CHECK_STR(res.detail, "no 'thing' here");
	CHECK(!res.local && !res.reply);
	CHECK(mrpc_meta_find(res.meta, res.meta_len, "why", &len) && len == 2);
	mrpc_result_release(&res);

	build(&msg, ECHO, 10);
	CHECK_EQ(guest_Echo_Nothing(conn, &msg, NULL, &res), MRPC_UNIMPLEMENTED);
	mrpc_result_release(&res);

	CHECK_EQ(call(BIG, 0, &limit, &res), MRPC_RESOURCE_EXHAUSTED);
	NOTE("%s", res.detail);
	mrpc_result_release(&res);

	start = now();
	CHECK_EQ(call(SLEEP, 0, &soon, &res), MRPC_DEADLINE_EXCEEDED);
	CHECK(now() - start < SLEEP_US / 1e6);
	NOTE("%s (local %d)", res.detail, res.local);
	mrpc_result_release(&res);

	/* Not UTF-8. */
	req = build(&msg, ECHO, 0);
	guest_Request_setn_text(&msg, req, "\xff\xfe", 2);
	CHECK_EQ(guest_Echo_Say(conn, &msg, NULL, &res), MRPC_INVALID_ARGUMENT);
	NOTE("%s", res.detail);
	mrpc_result_release(&res);

	CHECK_EQ(call(ECHO, 100, NULL, &res), MRPC_OK);
	check_echo(&res, 100);
	mrpc_result_release(&res);
}

static void other_service(void)
{
	const struct guest_Reply *reply;
	struct mrpc_result res;
	struct mrpc_msg msg;

	build(&msg, ECHO, 0);
	CHECK_EQ(guest_Other_Say(conn, &msg, NULL, &res), MRPC_OK);
	reply = guest_Other_Say_reply(&res);
	CHECK_STR(guest_Reply_text(reply, reply), "the other");
	mrpc_result_release(&res);
}

typedef int (*other_fn)(struct mrpc_conn *conn, struct mrpc_msg *msg,
			const struct mrpc_call_opts *opts, struct mrpc_result *res);

static void check_priority(other_fn fn, const struct mrpc_call_opts *opts, const char *arrives)
{
	const struct guest_Reply *reply;
	struct mrpc_result res;
	struct mrpc_msg msg;

	build(&msg, ECHO, 0);
	CHECK_EQ(fn(conn, &msg, opts, &res), MRPC_OK);
	reply = (const struct guest_Reply *)res.reply;
	CHECK_STR(guest_Reply_text(reply, reply), arrives);
	mrpc_result_release(&res);
}

/* The .proto's, unless the call says one. */
static void priorities(void)
{
	struct mrpc_call_opts opts = { .priority = 7 };

	check_priority(guest_Other_Least, NULL, "0");
	check_priority(guest_Other_Most, NULL, "255");
	check_priority(guest_Other_Most, &opts, "255");
	opts.flags = MRPC_CALL_PRIORITY;
	check_priority(guest_Other_Least, &opts, "7");
	check_priority(guest_Other_Most, &opts, "7");
	opts.priority = 0;
	check_priority(guest_Other_Most, &opts, "0");
}

struct tally {
	unsigned int done;
	unsigned int ok;
	unsigned int cancelled;
	size_t len;
};

static void on_done(void *user, struct mrpc_result *res)
{
	struct tally *t = user;
	const struct guest_Reply *reply = guest_Echo_Say_reply(res);
	size_t got;
	const void *data;

	t->done++;
	t->cancelled += res->status == MRPC_CANCELLED;
	if (res->status) {
		if (res->status != MRPC_CANCELLED)
			NOTE("%s: %s", mrpc_status_name(res->status), res->detail);
		return;
	}
	data = guest_Reply_data(reply, reply, &got);
	t->ok += got == t->len && same(data, got, (uint32_t)got);
}

static void start(enum what what, struct tally *t, const struct mrpc_call_opts *opts,
		  mrpc_call_id *id)
{
	struct mrpc_msg msg;

	build(&msg, what, t->len);
	CHECK_MSG(!guest_Echo_Say_async(conn, &msg, opts, on_done, t, id), "%s",
		  mrpc_last_error());
}

static void asynchronous(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	size_t i;
	int j;

	CHECK_MSG(qp, "%s", mrpc_last_error());
	for (i = 0; i < NR_LENS; i++) {
		struct tally t = { .len = lens[i] };
		int nr = lens[i] > 100000 ? 8 : 100;

		for (j = 0; j < nr; j++)
			start(ECHO, &t, NULL, NULL);
		CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
		CHECK_EQ(t.done, nr);
		CHECK_EQ(t.ok, nr);
	}
	CHECK_EQ(mrpc_qp_in_flight(qp), 0);
}

static void small_queue(void)
{
	struct mrpc_qp_opts qo = { .sq_entries = 2, .cq_entries = 4 };
	struct mrpc_call_opts opts = { 0 };
	size_t small[] = { 50, 50000 }, i;
	int j;

	opts.qp = mrpc_qp_new(session, &qo);
	CHECK_MSG(opts.qp, "%s", mrpc_last_error());
	for (i = 0; i < 2; i++) {
		struct tally t = { .len = small[i] };

		for (j = 0; j < 200; j++)
			start(ECHO, &t, &opts, NULL);
		CHECK_EQ(mrpc_run_all(opts.qp, 20000000), 0);
		CHECK_EQ(t.ok, 200);
	}
	mrpc_qp_free(opts.qp);
}

static void deferred(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = 100 }, big = { .len = 200000 };
	int i;

	for (i = 0; i < 20; i++) {
		start(LATER, &t, NULL, NULL);
		start(LATER, &big, NULL, NULL);
	}
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK_EQ(t.ok, 20);
	CHECK_EQ(big.ok, 20);
}

static void cancelled(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = 100 };
	mrpc_call_id id[4];
	double begin = now();
	int i;

	for (i = 0; i < 3; i++)
		start(SLEEP, &t, NULL, &id[i]);
	CHECK_EQ(mrpc_submit(qp), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(mrpc_cancel(qp, id[i]), 0);
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK(now() - begin < SLEEP_US / 1e6);
	CHECK_EQ(t.cancelled, 3);
	CHECK_EQ(mrpc_cancel(qp, id[0]), -ENOENT);
	start(ECHO, &t, NULL, &id[3]);
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK_EQ(mrpc_cancel(qp, id[3]), -ENOENT);
	CHECK_EQ(t.ok, 1);
	usleep(SLEEP_US + 100000);	/* the late replies find nothing, and harm nothing */
}

static void times_out_waiting(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = 100 };

	start(SLEEP, &t, NULL, NULL);
	CHECK_EQ(mrpc_run(qp, 50000), -ETIME);
	CHECK_EQ(mrpc_run(qp, -1), 1);
	CHECK_EQ(t.ok, 1);
}

static void eventfd(void)
{
	struct mrpc_qp_opts qo = { .flags = MRPC_QP_OPT_EVENTFD };
	struct mrpc_call_opts opts = { 0 };
	struct tally t = { .len = 100 };
	fd_set set;
	int i;

	opts.qp = mrpc_qp_new(session, &qo);
	CHECK_MSG(opts.qp, "%s", mrpc_last_error());
	for (i = 0; i < 200; i++) {
		start(ECHO, &t, &opts, NULL);
		CHECK_EQ(mrpc_submit(opts.qp), 0);
		while (t.done <= (unsigned int)i) {
			struct timeval limit = { .tv_sec = 10 };

			FD_ZERO(&set);
			FD_SET(mrpc_qp_fd(opts.qp), &set);
			CHECK_EQ(select(mrpc_qp_fd(opts.qp) + 1, &set, NULL, NULL, &limit), 1);
			CHECK(mrpc_poll(opts.qp) >= 0);
		}
	}
	CHECK_EQ(t.ok, 200);
	mrpc_qp_free(opts.qp);
}

static void attached(void)
{
	struct guest_Request *req;
	struct mrpc_result res;
	struct mrpc_msg msg;
	uint8_t *block = mrpc_alloc(session, 2 * MIB);

	fill(block + 123, MIB, MIB);
	req = build(&msg, ECHO, 0);
	guest_Request_attach_data(&msg, req, block, 123, MIB);
	guest_Echo_Say(conn, &msg, NULL, &res);
	check_echo(&res, MIB);
	mrpc_result_release(&res);
}

static void *caller(void *arg)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = (size_t)(uintptr_t)arg };
	struct mrpc_result res;
	int i;

	for (i = 0; i < 50; i++) {
		start(ECHO, &t, NULL, NULL);
		call(ECHO, t.len + (size_t)i, NULL, &res);
		check_echo(&res, t.len + (size_t)i);
		mrpc_result_release(&res);
	}
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK_EQ(t.ok, 50);
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];
	int round;
	uintptr_t i;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 4; i++)
			CHECK_EQ(pthread_create(&t[i], NULL, caller, (void *)(i * 3000)), 0);
		for (i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	}
}

static void forked(void)
{
	struct mrpc_result res;
	struct mrpc_msg msg;
	int status = -1;
	pid_t pid;

	CHECK(mrpc_qp_self(session) != NULL);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		build(&msg, ECHO, 10);
		status = guest_Echo_Say(conn, &msg, NULL, &res) == MRPC_FAILED_PRECONDITION &&
			 strstr(res.detail, "forked") ? 0 : 1;
		mrpc_session_close(session);
		mrpc_session_close(srv.session);
		_exit(status);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	call(ECHO, 1000, NULL, &res);
	check_echo(&res, 1000);
	mrpc_result_release(&res);
}

static void heap_full(void)
{
	struct mrpc_session *big = session;
	struct mrpc_session_opts so = { .send_limit = MIB, .recv_initial = MIB };
	static const struct mrpc_service_desc *const services[] = { &guest_Echo_service };
	struct mrpc_conn *was = conn;
	struct mrpc_result res;
	char text[MRPC_ADDR_TEXT];
	int i;

	session = mrpc_session_open(&so);
	mrpc_server_address(srv.server, text, sizeof(text));
	conn = mrpc_connect(session, text, services, 1, NULL);
	CHECK_MSG(conn, "%s", mrpc_last_error());
	CHECK_EQ(call(ECHO, 2 * MIB, NULL, &res), MRPC_RESOURCE_EXHAUSTED);
	CHECK_STR(res.detail, "the message does not fit in the send heap");
	mrpc_result_release(&res);
	CHECK_EQ(call(BIG, 0, NULL, &res), MRPC_RESOURCE_EXHAUSTED);
	NOTE("%s", res.detail);
	mrpc_result_release(&res);
	for (i = 0; i < 30; i++) {
		call(ECHO, 300000, NULL, &res);
		check_echo(&res, 300000);
		mrpc_result_release(&res);
	}
	mrpc_session_close(session);
	session = big;
	conn = was;
}

static void server_gone(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = 100 };
	struct mrpc_result res;
	int i;

	for (i = 0; i < 10; i++)
		start(ECHO, &t, NULL, NULL);
	CHECK_EQ(mrpc_submit(qp), 0);
	mrpc_server_stop(srv.server);
	pthread_join(srv.thread, NULL);
	CHECK_EQ(srv.ret, 0);
	mrpc_session_close(srv.session);
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK_EQ(t.done, 10);
	CHECK_EQ(call(ECHO, 10, NULL, &res), MRPC_UNAVAILABLE);
	NOTE("%u of 10 answered; then: %s", t.ok, res.detail);
	mrpc_result_release(&res);
	CHECK_EQ(mrpc_conn_close(conn, 0), 0);
	mrpc_session_close(session);
}

#define BOTH(name)							\
	TEST(name##_tcp) { up("tcp:127.0.0.1:0"); name(); down(); }	\
	TEST(name##_loop) { up("loop:guest-" #name); name(); down(); }

BOTH(sizes)
BOTH(structure)
BOTH(metadata_and_context)
BOTH(failures)
BOTH(other_service)
BOTH(priorities)
BOTH(asynchronous)
BOTH(small_queue)
BOTH(deferred)
BOTH(cancelled)
BOTH(times_out_waiting)
BOTH(eventfd)
BOTH(attached)
BOTH(threads)
BOTH(forked)
BOTH(heap_full)

TEST(sizes_tcp6)
{
	up("tcp:[::1]:0");
	sizes();
	down();
}

TEST(server_gone_tcp)
{
	up("tcp:127.0.0.1:0");
	server_gone();
}

TEST(server_gone_loop)
{
	up("loop:guest-test");
	server_gone();
}

TEST(connecting_fails_clearly)
{
	static const struct mrpc_service_desc *const services[] = { &guest_Echo_service };
	struct mrpc_session *s = mrpc_session_open(NULL);
	char text[MRPC_ADDR_TEXT];

	CHECK(!mrpc_connect(s, "tcp:127.0.0.1:1", services, 1, NULL));
	NOTE("%s", mrpc_last_error());
	CHECK_EQ(errno, ECONNREFUSED);
	CHECK(!mrpc_connect(s, "loop:nobody", services, 1, NULL));
	NOTE("%s", mrpc_last_error());
	CHECK(!mrpc_connect(s, "nonsense:127.0.0.1:1", services, 1, NULL));
	NOTE("%s", mrpc_last_error());
	up("tcp:127.0.0.1:0");
	mrpc_server_address(srv.server, text, sizeof(text));
	CHECK(!mrpc_connect(s, text, stale_services, 1, NULL));
	NOTE("%s", mrpc_last_error());
	CHECK(strstr(mrpc_last_error(), "guest.Echo"));
	down();
	mrpc_session_close(s);
}

TEST(binding_twice_is_quick)
{
	struct mrpc_session *s = mrpc_session_open(NULL), *again = mrpc_session_open(NULL);
	struct mrpc_bind_info first, second;

	CHECK(s && again);
	CHECK_EQ(mrpc_session_bind(s, &guest_Echo_service, &first), 0);
	CHECK_EQ(mrpc_session_bind(again, &guest_Echo_service, &second), 0);
	CHECK(!memcmp(first.hash, second.hash, sizeof(first.hash)));
	CHECK(second.hit);
	NOTE("miss %llu ns, hit %llu ns", (unsigned long long)first.bind_ns,
	     (unsigned long long)second.bind_ns);
	mrpc_session_close(s);
	mrpc_session_close(again);
}

static void ended(void *user, struct mrpc_result *res)
{
	(void)user;
	CHECK_EQ(res->status, MRPC_OK);
}

/* A client can connect while all workers are in handlers; what expires meanwhile is not served. */
static void busy_workers(const char *address)
{
	static const struct mrpc_service_desc *const services[] = { &guest_Echo_service };
	struct mrpc_conn_opts wait = { .timeout_us = 20000000 };
	struct mrpc_call_opts soon = { .timeout_us = 100000 };
	char text[MRPC_ADDR_TEXT];
	struct mrpc_conn *other;
	struct mrpc_msg msg;
	unsigned int i;

	sem_init(&begun, 0, 0);
	sem_init(&ends, 0, 0);
	up(address);
	for (i = 0; i < WORKERS; i++) {
		build(&msg, BUSY, 0);
		CHECK_EQ(guest_Echo_Say_async(conn, &msg, NULL, ended, NULL, NULL), 0);
	}
	CHECK_EQ(mrpc_submit(mrpc_qp_self(session)), 0);
	for (i = 0; i < WORKERS; i++)
		sem_wait(&begun);
	mrpc_server_address(srv.server, text, sizeof(text));
	other = mrpc_connect(session, text, services, 1, &wait);
	CHECK_MSG(other, "%s", mrpc_last_error());
	build(&msg, BUSY, 0);
	CHECK_EQ(guest_Echo_Say(other, &msg, &soon, NULL), MRPC_DEADLINE_EXCEEDED);
	/* At the server its time begins when it arrives, which is later on a busy host. */
	usleep(1000000);
	for (i = 0; i < WORKERS; i++)
		sem_post(&ends);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(session), 20000000), 0);
	CHECK_EQ(call(ECHO, 0, NULL, NULL), MRPC_OK);
	/* It may be another worker's than the last one's. */
	for (i = 0; i < 2000 && !mrpc_server_expired(srv.server); i++)
		usleep(10000);
	CHECK_EQ(mrpc_server_expired(srv.server), 1);
	CHECK_EQ(sem_trywait(&begun), -1);
	down();
}

TEST(busy_workers_tcp)
{
	busy_workers("tcp:127.0.0.1:0");
}

TEST(busy_workers_loop)
{
	busy_workers("loop:busy");
}

TEST(busy_workers_prio)
{
	busy_workers("prio:127.0.0.1:0");
}

/* Results that are never released: what ends says that the receive heap is full, and of what. */
TEST(nothing_is_released)
{
	struct mrpc_call_opts opts = { .timeout_us = 500000 };
	static const struct mrpc_service_desc *const services[] = { &guest_Echo_service };
	struct mrpc_session *whole;
	char text[MRPC_ADDR_TEXT];
	struct mrpc_result res;
	unsigned int i;

	up("loop:full");
	whole = session;
	session = mrpc_session_open(&(struct mrpc_session_opts){ .recv_initial = 65536 });
	CHECK_MSG(session, "%s", mrpc_last_error());
	conn = mrpc_connect(session, mrpc_server_address(srv.server, text, sizeof(text)), services,
			    1, NULL);
	CHECK_MSG(conn, "%s", mrpc_last_error());
	for (i = 0; i < 2000 && !call(ECHO, 1000, &opts, &res); i++)
		;
	CHECK_EQ(res.status, MRPC_DEADLINE_EXCEEDED);
	NOTE("%u calls, then: %s", i, res.detail);
	CHECK(i && strstr(res.detail, "receive heap of 65536 bytes is full"));
	mrpc_session_close(session);
	session = whole;
	down();
}
