// SPDX-License-Identifier: LGPL-2.1-or-later
/* Message types by their names, protobuf's encoding, and what a google.protobuf.Any holds. */
#include <sys/mman.h>

#include "google/protobuf/any.mrpc.h"
#include "google/protobuf/duration.mrpc.h"
#include "session.h"
#include "types.mrpc.h"

static bool no_mmap;

void *__real_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off);

void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	if (no_mmap) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap64(addr, len, prot, flags, fd, off);
}

TEST(types_by_name)
{
	CHECK(mrpc_message_find("t.Single") == &t_Single__desc);
	CHECK(mrpc_message_find("t.Maps") == &t_Maps__desc);
	CHECK(mrpc_message_find("google.protobuf.Duration") == &google_protobuf_Duration__desc);
	CHECK(mrpc_message_find("google.protobuf.ListValue") != NULL);
	CHECK(!mrpc_message_find("t.Maps.ByStringEntry"));
	CHECK(!mrpc_message_find("Single"));
	CHECK(!mrpc_message_find(""));
}

/* As when a library with generated code is loaded, and when it goes. */
TEST(types_come_and_go)
{
	static const struct mrpc_message_desc single = { .name = "t.Single" }, own = { .name = "x.Own" };
	static const struct mrpc_message_desc *const messages[] = { &single, &own };
	static struct mrpc_file_desc file = { messages, 2, NULL }, other = { messages, 1, NULL };

	mrpc_file_add(&file);
	mrpc_file_add(&other);
	CHECK(mrpc_message_find("t.Single") == &single);
	CHECK(mrpc_message_find("x.Own") == &own);
	mrpc_file_remove(&file);
	CHECK(mrpc_message_find("t.Single") == &single);
	CHECK(!mrpc_message_find("x.Own"));
	mrpc_file_remove(&other);
	mrpc_file_remove(&other);
	CHECK(mrpc_message_find("t.Single") == &t_Single__desc);
}

static void pack_duration(struct mrpc_session *s, struct mrpc_msg *msg, struct t_Known *known)
{
	struct mrpc_msg other;
	struct google_protobuf_Duration *d = google_protobuf_Duration_new(&other, s);

	d->seconds = 7;
	CHECK_EQ(mrpc_any_pack(msg, t_Known_alloc_any(msg, known), &google_protobuf_Duration__desc, d, d), 0);
	mrpc_msg_free(&other);
}

TEST(packs_and_unpacks)
{
	static const char url[] = "type.googleapis.com/google.protobuf.Duration";
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg, other;
	struct t_Known *known = t_Known_new(&msg, s);
	const struct google_protobuf_Any *any;
	struct google_protobuf_Duration *d;
	struct t_Single *single;

	pack_duration(s, &msg, known);
	any = t_Known_any(known, known);
	CHECK_EQ(any->type_url.len, strlen(url));
	CHECK(!memcmp(google_protobuf_Any_type_url(known, any), url, strlen(url)));
	CHECK(mrpc_any_type(known, any) == &google_protobuf_Duration__desc);

	d = google_protobuf_Duration_new(&other, s);
	CHECK_EQ(mrpc_any_unpack(&other, d, &google_protobuf_Duration__desc, known, any), 0);
	CHECK_EQ(d->seconds, 7);
	mrpc_msg_free(&other);

	single = t_Single_new(&other, s);
	CHECK_EQ(mrpc_any_unpack(&other, single, &t_Single__desc, known, any), -EINVAL);
	CHECK_STR(mrpc_last_error(), "the google.protobuf.Any holds 'type.googleapis.com/"
		  "google.protobuf.Duration': it must hold a t.Single");
	CHECK_EQ(other.err, -EINVAL);
	mrpc_msg_free(&other);
	mrpc_msg_free(&msg);
	mrpc_session_close(s);
}

TEST(any_of_unknown_type)
{
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg;
	struct t_Known *known = t_Known_new(&msg, s);
	struct google_protobuf_Any *any = t_Known_alloc_any(&msg, known);

	CHECK(!mrpc_any_type(known, any));
	CHECK_STR(mrpc_last_error(), "'' is no type URL of a google.protobuf.Any: it must be as in "
		  "type.googleapis.com/pkg.Message");
	google_protobuf_Any_set_type_url(&msg, any, "x/y.Z");
	CHECK(!mrpc_any_type(known, any));
	CHECK_STR(mrpc_last_error(), "the type of 'x/y.Z', a google.protobuf.Any, is not known: the "
		  "program must be linked with what mrpcc makes of its .proto");
	CHECK(!mrpc_to_json(&t_Known__desc, known, known));
	CHECK_EQ(errno, EINVAL);
	mrpc_msg_free(&msg);
	mrpc_session_close(s);
}

/* A message that is being built can be in itself. */
TEST(endless_message_is_refused)
{
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg, other;
	struct t_Single *single = t_Single_new(&msg, s), *self = t_Single_alloc_self(&msg, single);
	struct t_Known *known = t_Known_new(&other, s);
	size_t len;

	mrpc_msg_set_ref(&msg, &self->self, self, 1);
	CHECK(!mrpc_to_protobuf(&t_Single__desc, single, single, &len));
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(mrpc_any_pack(&other, t_Known_alloc_any(&other, known), &t_Single__desc, single, single),
		 -EINVAL);
	CHECK_EQ(other.err, -EINVAL);
	mrpc_msg_free(&other);
	mrpc_msg_free(&msg);
	mrpc_session_close(s);
}

TEST(no_block_is_no_error_of_its_own)
{
	struct mrpc_session *s = open_session();
	struct t_Single single = { .b = true };
	struct mrpc_msg msg;

	t_Known_new(&msg, s);
	CHECK_EQ(mrpc_any_pack(&msg, NULL, &t_Single__desc, &single, &single), -ENOMEM);
	CHECK_EQ(mrpc_from_protobuf(&msg, NULL, &t_Single__desc, "", 0), -ENOMEM);
	mrpc_msg_free(&msg);
	mrpc_session_close(s);
}

TEST(empty_message_has_no_bytes)
{
	struct t_Single single = { .b = false };
	size_t len = 1;
	void *data = mrpc_to_protobuf(&t_Single__desc, &single, &single, &len);

	CHECK(data);
	CHECK_EQ(len, 0);
	free(data);
}

TEST(no_memory_for_content)
{
	static const char json[] = "{\"any\":{\"@type\":\"x/t.Single\"}}";
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg, other;
	struct t_Known *known = t_Known_new(&msg, s), *again = t_Known_new(&other, s);
	char *text;

	pack_duration(s, &msg, known);
	no_mmap = true;
	CHECK(!mrpc_to_json(&t_Known__desc, known, known));
	CHECK_EQ(errno, ENOMEM);
	CHECK_EQ(mrpc_from_json(&other, again, &t_Known__desc, json, strlen(json), 0), -ENOMEM);
	CHECK_STR(mrpc_last_error(), "there is no memory for what a google.protobuf.Any holds: 64 MiB must "
		  "be mapped");
	text = mrpc_to_text(&t_Known__desc, known, known);
	no_mmap = false;
	CHECK(text && strstr(text, "type_url: "));	/* in bytes */
	free(text);
	mrpc_msg_free(&other);
	mrpc_msg_free(&msg);
	mrpc_session_close(s);
}

