// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Roots that are checked, with the module: this file, with its server, is compiled with MRPC_DEBUG.
 */
#include "aborts.h"
#include "guest_pair.h"

/* The handlers read requests, those that are answered later, too, and all must be right. */
static void right_roots(void)
{
	struct mrpc_result res;
	size_t i;

	for (i = 0; i < NR_LENS; i++) {
		call(i % 2 ? LATER : ECHO, lens[i], NULL, &res);
		check_echo(&res, lens[i]);
		mrpc_result_release(&res);
	}
}

static void call_with_item(const char *name, struct mrpc_result *res)
{
	struct mrpc_msg msg;
	struct guest_Request *req = build(&msg, ECHO, 10);

	guest_Item_set_name(&msg, guest_Request_alloc_items(&msg, req, 1), name);
	CHECK_EQ(guest_Echo_Say(conn, &msg, NULL, res), MRPC_OK);
}

static void wrong_roots(void)
{
	const struct guest_Reply *reply, *other;
	struct mrpc_result res, other_res;
	const struct guest_Item *item;

	call_with_item("first", &res);
	call_with_item("second", &other_res);
	reply = guest_Echo_Say_reply(&res);
	other = guest_Echo_Say_reply(&other_res);
	item = guest_Reply_items(reply, reply, 0);
	CHECK_STR(guest_Item_name(reply, item), "first");
	CHECK_ABORTS(guest_Item_name(other, item), "mrpc: guest_Item_name(): ");
	CHECK(strstr(aborts_said, "is the root of another message"));
	CHECK_ABORTS(guest_Reply_items(other, reply, 0), "is the root of another message");
	CHECK_ABORTS(guest_Item_name(item, item), "is no root of a message");
	mrpc_result_release(&res);
	CHECK_ABORTS(guest_Item_name(reply, item), "must not be read after its message was sent, freed or "
		     "released");
	CHECK_STR(guest_Item_name(other, guest_Reply_items(other, other, 0)), "second");
	mrpc_result_release(&other_res);
}

/* A message that was sent */
static void spent(void)
{
	struct mrpc_result res;
	struct mrpc_msg msg;
	struct guest_Request *req = build(&msg, ECHO, 10);

	CHECK(guest_Request_data(req, req, NULL) != NULL);
	CHECK_EQ(guest_Echo_Say(conn, &msg, NULL, &res), MRPC_OK);
	CHECK_ABORTS(guest_Request_data(req, req, NULL), "is in no message");
	mrpc_result_release(&res);
}

BOTH(right_roots)
BOTH(wrong_roots)
BOTH(spent)
