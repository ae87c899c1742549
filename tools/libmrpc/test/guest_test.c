// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The library with the module: runs where /dev/mrpc is. Connections and synchronous calls, over tcp
 * and over loop. For asynchronous calls, see guest_async.c.
 */
#include <errno.h>
#include <sys/wait.h>

#include "guest_pair.h"

extern const struct mrpc_service_desc *const stale_services[];

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

BOTH(sizes)
BOTH(structure)
BOTH(metadata_and_context)
BOTH(failures)
BOTH(other_service)
BOTH(priorities)
BOTH(attached)
BOTH(forked)
BOTH(heap_full)

TEST(sizes_tcp6)
{
	up("tcp:[::1]:0");
	sizes();
	down();
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
