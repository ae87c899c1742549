// SPDX-License-Identifier: LGPL-2.1-or-later
/* Roots that are checked: this file is compiled with MRPC_DEBUG. */
#include "../roots.h"
#include "aborts.h"
#include "served.h"
#include "types.mrpc.h"

static bool watching_before_main;

__attribute__((constructor(65535))) static void look(void)
{
	watching_before_main = roots_watched;
}

TEST(watching_begins_before_main)
{
	CHECK(watching_before_main);
}

/* All blocks of a message: the first one, one that grows, one of its own, one that is attached. */
TEST(right_roots)
{
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg;
	struct t_Many *many = t_Many_new(&msg, s);
	struct t_Single *single = t_Many_alloc_single(&msg, many, 100);
	char *block = mrpc_alloc(s, 5000);
	u32 i;

	for (i = 0; i < 100; i++)
		t_Single_set_s(&msg, &single[i], "a string in it");
	t_Single_alloc_raw(&msg, &single[7], 100000);
	memset(block, 'x', 5000);
	mrpc_msg_attach(&msg, &single[8].s, block, 10, 4000, 4000);
	CHECK_EQ(mrpc_msg_error(&msg), 0);
	for (i = 0; i < 100; i++)
		CHECK(!memcmp(t_Single_s(many, t_Many_single(many, many, i)),
			      i == 8 ? "xxxx" : "a string in it", 4));
	CHECK(t_Single_raw(many, &single[7], NULL) != NULL);
	CHECK(t_Many_single(many, many, 100) == NULL);
	mrpc_msg_free(&msg);
	mrpc_session_close(s);
}

TEST(wrong_roots)
{
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg, other;
	struct t_Maps *maps = t_Maps_new(&msg, s), *others = t_Maps_new(&other, s), copy;
	struct t_Maps_ByStringEntry *e = t_Maps_alloc_by_string(&msg, maps, 1);
	char want[100];

	t_Maps_ByStringEntry_set_key(&msg, e, "key");
	snprintf(want, sizeof(want), "in the message with the root %p: that must be given", (void *)maps);
	CHECK_ABORTS(t_Maps_ByStringEntry_key(others, e), want);
	CHECK(strstr(aborts_said, "mrpc: t_Maps_ByStringEntry_key(): "));
	CHECK(strstr(aborts_said, "is the root of another message, and the structure at "));
	CHECK_ABORTS(t_Maps_by_string(others, maps, 0), want);
	CHECK_ABORTS(t_Maps_find_by_string(others, maps, "key"), want);
	CHECK_ABORTS(t_Maps_ByStringEntry_key(e, e), "is no root of a message, and the structure at ");
	CHECK(strstr(aborts_said, want));
	CHECK_ABORTS(mrpc_ref_str(e, e->key), "mrpc: mrpc_ref_str(): ");
	CHECK(t_Maps_by_string(maps, maps, 0) == e);
	copy = *maps;
	CHECK(t_Maps_by_string(maps, &copy, 0) == e);
	CHECK_ABORTS(t_Maps_by_string(&copy, &copy, 0), "is in no message");
	mrpc_msg_free(&msg);
	mrpc_msg_free(&other);
	mrpc_session_close(s);
}

TEST(freed_message)
{
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg;
	struct t_Single *single = t_Single_new(&msg, s);

	t_Single_set_s(&msg, single, "text");
	mrpc_msg_free(&msg);
	CHECK_ABORTS(t_Single_s(single, single), "mrpc: t_Single_s(): the structure at ");
	CHECK(strstr(aborts_said, "must not be read after its message was sent, freed or released"));

	single = t_Single_new(&msg, s);
	mrpc_session_close(s);
	CHECK_ABORTS(t_Single_s(single, single), "is in no message");
}

/* A message without a session is in ordinary memory. */
TEST(message_without_session)
{
	struct mrpc_msg msg;
	struct t_Single *single = t_Single_new(&msg, NULL);

	CHECK(t_Single_raw(single, single, NULL) == NULL);
	mrpc_msg_free(&msg);
	CHECK_ABORTS(t_Single_raw(single, single, NULL), "is in no message");
}

static int checked_echo(struct mrpc_call *call, const struct fake_msg *req, struct fake_msg *reply)
{
	mrpc_check_root(req, req, sizeof(*req), __func__);
	mrpc_check_root(reply, reply, sizeof(*reply), __func__);
	mrpc_msg_set_bytes(mrpc_call_msg(call), &reply->data, mrpc_ref_ptr(req, req->data),
			   req->data.len);
	reply->number = req->number;
	return MRPC_OK;
}

TEST(received_messages)
{
	static const struct test_ops ops = { .echo = checked_echo };
	struct mrpc_result first, second;
	const struct fake_msg *reply;
	struct test_server ts;
	struct client c;

	server_start_asleep(&ts, &ops, "loop:roots");
	client_start(&c, "loop:roots");
	CHECK_EQ(call(&c, TEST_ECHO, 1, 100, NULL, &first), 0);
	CHECK_EQ(call(&c, TEST_ECHO, 2, 100, NULL, &second), 0);
	reply = first.reply;
	CHECK(matches(reply, 1, 100));
	CHECK(matches(second.reply, 2, 100));
	CHECK_ABORTS(mrpc_check_root(second.reply, reply, sizeof(*reply), "f"), "is the root of another message");
	mrpc_result_release(&first);
	CHECK_ABORTS(matches(reply, 1, 100), "mrpc: mrpc_ref_ptr(): ");
	CHECK_ABORTS(mrpc_check_root(second.reply, reply, sizeof(*reply), "f"), "is in no message");
	CHECK(matches(second.reply, 2, 100));
	mrpc_result_release(&second);
	client_stop(&c);
	server_stop(&ts);
}

/* After a failure to remember a message nothing is said of any: it could be wrong. */
TEST(nothing_is_checked_unless_watched)
{
	struct t_Single single = { .b = true };

	roots_watched = false;
	mrpc_check_root(&single, &single, sizeof(single), __func__);
	roots_watched = true;
	CHECK_ABORTS(mrpc_check_root(&single, &single, sizeof(single), __func__), "is in no message");
}
