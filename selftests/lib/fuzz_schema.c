// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/schema */
/*
 * The schema verifier and compiler. Input: a binary schema. One that compiles
 * must give the plan that a second computation gives, and messages of its types
 * must pass from a heap to a verified message.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gen.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	abort();
}

static void try_message(const struct mrpc_schema_plan *plan, u32 type, struct gen *g)
{
	struct model_pool pool = { 0 };
	struct model_msg *msg = gen_message(g, &pool, plan, type, 8);
	struct gen_heap heap = { 0 };
	const struct mrpc_msg_src src = { .at = gen_heap_at, .ctx = &heap };
	u32 root = gen_heap_write(g, &heap, plan, msg);
	struct mrpc_msg_error err;
	struct mrpc_msg_len len;
	u8 *model = model_encode(plan, msg, &len), *wire;
	struct gen_buf b;

	gen_buf_init(&b, MRPC_MAX_MESSAGE);
	if (mrpc_msg_snapshot(plan, type, &src, root, &b.buf, &err))
		fail("snapshot", err.what);
	wire = gen_assemble(&b, &heap);
	if (memcmp(&len, &b.buf.len, sizeof(len)) || memcmp(wire, model, mrpc_msg_total(&len)))
		fail("snapshot", "not what the model says");
	if (mrpc_msg_verify(plan, type, wire, &len, &err))
		fail("verify", err.what);
	free(wire);
	free(model);
	gen_buf_free(&b);
	gen_heap_free(&heap);
	model_free(&pool);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct mrpc_schema_error err = { NULL, NULL, 0, 0 };
	struct mrpc_schema_plan *plan = gen_compile(data, len, &err);
	struct gen g = gen_seeded(len);
	const char *why;
	u32 i;

	if (!plan) {
		if (!err.what || !err.table)
			fail("schema", "refused without a reason");
		return 0;
	}
	why = gen_check_plan(data, len, plan);
	if (why)
		fail("plan", why);
	for (i = 0; i < plan->nr_types && i < 4; i++)
		try_message(plan, i, &g);
	free(plan);
	return 0;
}
