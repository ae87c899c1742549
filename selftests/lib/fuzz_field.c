// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/field kmod/lib/message/field_compile */
/*
 * Paths to fields. Input: a byte that chooses a schema, one that chooses a type, one that chooses a
 * message, and a path's text. A reference follows the path through a tree. It must accept the same
 * texts and find the same values. The value is written back, and then another value.
 */
#include "fuzz.h"
#include "paths.h"

#define SCHEMAS	64

/* A value that was read can be written. After any write, the message stays valid. */
static void write_field(const struct mrpc_schema_plan *plan, u32 type, struct gen *g, u8 *wire,
			const struct mrpc_msg_len *len, const struct mrpc_field_path *path)
{
	const struct mrpc_view view = {
		.head = wire, .head_len = mrpc_msg_head_len(len), .bytes = wire + view.head_len,
	};
	u8 *was = malloc(mrpc_msg_total(len)), *data = NULL;
	struct mrpc_field_value value, is;
	struct mrpc_msg_error err;
	int ret, again;

	memcpy(was, wire, mrpc_msg_total(len));
	ret = mrpc_field_read(path, &view, &value);
	if (!ret && (value.kind == MRPC_VALUE_TEXT || value.kind == MRPC_VALUE_BYTES)) {
		data = malloc(value.len + 1);
		memcpy(data, value.ptr, value.len);
		value.ptr = (char *)data;
	}
	if (!ret) {
		ret = mrpc_field_write(path, &view, &value);
		check(!ret || ret == -EINVAL, "what was read is refused");
		check(!memcmp(was, wire, mrpc_msg_total(len)), "what was read is not what is there");
		if (data)
			gen_bytes(g, data, value.len);
		else
			value.u = gen_u64(g) >> gen_below(g, 64);
		again = mrpc_field_write(path, &view, &value);
		check(!mrpc_msg_verify(plan, type, wire, len, &err), "not valid any more");
		check((ret == -EINVAL) == (again == -EINVAL), "depends on the value");
		if (!again) {
			check(!mrpc_field_read(path, &view, &is), "gone");
			check(data ? is.len == value.len && !memcmp(is.ptr, data, is.len) :
			      is.u == value.u, "not what was written");
		} else {
			check(!memcmp(was, wire, mrpc_msg_total(len)), "refused, but changed");
		}
	}
	free(data);
	free(was);
}

static void read_field(const struct mrpc_schema_plan *plan, u32 type, u32 seed, const char *text,
		       u32 len, const struct mrpc_field_path *path)
{
	struct gen g = gen_seeded(seed);
	struct model_pool pool = { 0 };
	struct model_msg *msg = gen_message(&g, &pool, plan, type, 10);
	struct mrpc_msg_len lens;
	u8 *wire = model_encode(plan, msg, &lens);
	struct mrpc_view view = { .head = wire, .head_len = mrpc_msg_head_len(&lens) };
	struct mrpc_field_value value;
	struct path_found found;
	int want = path_follow(plan, type, msg, text, len, &found), ret;

	check(path->kind == found.kind && path->content == found.content, "another kind");
	ret = mrpc_field_read(path, &view, &value);
	check(ret == (!want && found.stored ? -ENODATA : want), "head: another outcome");
	view.bytes = wire + view.head_len;
	check(mrpc_field_read(path, &view, &value) == want, "message: another outcome");
	if (want)
		;
	else if (found.kind == MRPC_VALUE_TEXT || found.kind == MRPC_VALUE_BYTES)
		check(value.len == found.n && !(found.n && memcmp(value.ptr, found.data, found.n)),
		      "another content");
	else if (found.kind != MRPC_VALUE_MESSAGE)
		check(value.u == found.u, "another number");
	write_field(plan, type, &g, wire, &lens, path);
	free(wire);
	model_free(&pool);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static u64 mem[MRPC_PATH_MAX_SIZE / 8 + 1];
	struct mrpc_field_path *path = (void *)mem;
	const struct mrpc_schema_plan *plan;
	struct mrpc_path_error err = { 0 };
	struct path_found found;
	char says[700], *text;
	int ret, want;
	u32 type;

	if (len < 3)
		return 0;
	plan = fuzz_plan(data[0], SCHEMAS);
	type = data[1] % plan->nr_types;
	len -= 3;
	text = malloc(len + !len);
	memcpy(text, data + 3, len);
	want = path_follow(plan, type, NULL, text, len, &found);
	ret = mrpc_field_compile(plan, type, text, len, path, sizeof(mem), &err);
	check((ret == -EINVAL) == (want == -EINVAL), "only one takes it for a path");
	if (ret) {
		check(ret == -EINVAL && err.what && err.pos + err.len <= len, "no reason");
		ret = mrpc_path_explain(plan, text, len, &err, says, sizeof(says));
		check(ret > 0 && ret < (int)sizeof(says), "no sentence");
	} else {
		check(path->size <= MRPC_PATH_MAX_SIZE, "too large");
		read_field(plan, type, data[2], text, len, path);
	}
	free(text);
	return 0;
}
