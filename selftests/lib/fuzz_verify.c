// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/message kmod/lib/message/snapshot */
/*
 * The unmarshaller, and the snapshot. Input: struct fuzz_verify_hdr, then
 *
 * VERIFY: a message's head for the schema that @seed gives. What is accepted
 * must be canonical.
 *
 * HEAP: a send heap, in which the root is anywhere, of that schema. What the
 * snapshot takes must be accepted and canonical.
 *
 * SCHEMA: as VERIFY, with a binary schema of @text bytes before the head.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz_verify.h"
#include "gen.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	abort();
}

static void explain(const struct mrpc_schema_plan *plan, const struct mrpc_msg_error *err)
{
	char text[100];
	int len = mrpc_msg_explain(plan, err, text, sizeof(text));

	if (!err->what || len <= 0 || (size_t)len != strlen(text))
		fail("error", "without a sentence");
}

static void verify(const struct mrpc_schema_plan *plan, u32 type, const u8 *head,
		   const struct mrpc_msg_len *len)
{
	struct mrpc_msg_error err;
	const char *why;

	if (mrpc_msg_verify(plan, type, head, len, &err)) {
		explain(plan, &err);
		return;
	}
	if (len->bytes > 1 << 20)
		return;
	why = gen_check_canonical(plan, type, head, len);
	if (why)
		fail("accepted, but", why);
}

/* Lengths as claimed if they are nearly so; else what is there. */
static void fuzz_verify(const struct mrpc_schema_plan *plan, const struct fuzz_verify_hdr *hdr,
			const u8 *data, size_t len, u32 text)
{
	struct mrpc_msg_len lens = { .text = text % (len + 1), .bytes = hdr->bytes };
	u32 total = ALIGN(len, 8);
	u8 *head;

	lens.structs = total - min_t(u32, total, ALIGN(lens.text, 8));
	if (hdr->mode & FUZZ_ODD)
		lens.structs += hdr->odd;
	if (mrpc_msg_head_len(&lens) > 1 << 20)
		return;
	head = calloc(1, mrpc_msg_head_len(&lens) + 1);
	memcpy(head, data, min_t(u64, len, mrpc_msg_head_len(&lens)));
	/* The same in a block of its exact size. */
	{
		u8 *exact = gen_head_copy(head, &lens);

		verify(plan, hdr->type % plan->nr_types, exact, &lens);
		free(exact);
	}
	free(head);
}

static void fuzz_heap(const struct mrpc_schema_plan *plan, const struct fuzz_verify_hdr *hdr,
		      const u8 *data, size_t len)
{
	struct gen_heap heap = { .mem = malloc(len + 1), .size = len };
	const struct mrpc_msg_src src = { .at = gen_heap_at, .ctx = &heap };
	u32 type = hdr->type % plan->nr_types;
	struct gen flip = gen_seeded(hdr->bytes);
	struct mrpc_msg_error err;
	struct gen_buf b;
	int ret;

	memcpy(heap.mem, data, len);
	if (hdr->mode & FUZZ_ODD)
		heap.flip = &flip;
	gen_buf_init(&b, 1 << 16);
	ret = mrpc_msg_snapshot(plan, type, &src, hdr->text, &b.buf, &err);
	if (ret) {
		if (ret != -EINVAL && ret != -EMSGSIZE)
			fail("snapshot", "returned something else");
		explain(plan, &err);
	} else {
		if (mrpc_msg_total(&b.buf.len) > b.buf.max_total)
			fail("snapshot", "larger than allowed");
		if (mrpc_msg_verify(plan, type, b.buf.head, &b.buf.len, &err))
			fail("verify refuses a snapshot", err.what);
		verify(plan, type, b.buf.head, &b.buf.len);
		free(gen_assemble(&b, &heap));
	}
	gen_buf_free(&b);
	gen_heap_free(&heap);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static struct mrpc_schema_plan *plans[FUZZ_SCHEMAS];
	struct mrpc_schema_plan *plan;
	struct mrpc_schema_error err;
	struct fuzz_verify_hdr hdr;

	if (len < sizeof(hdr))
		return 0;
	memcpy(&hdr, data, sizeof(hdr));
	data += sizeof(hdr);
	len -= sizeof(hdr);

	if ((hdr.mode & FUZZ_MODE) == FUZZ_SCHEMA) {
		if (hdr.text > len)
			return 0;
		plan = gen_compile(data, hdr.text, &err);
		if (plan && plan->nr_types)
			fuzz_verify(plan, &hdr, data + hdr.text, len - hdr.text, hdr.odd);
		free(plan);
		return 0;
	}
	hdr.seed %= FUZZ_SCHEMAS;
	if (!plans[hdr.seed]) {
		struct gen g = gen_seeded(hdr.seed);

		plans[hdr.seed] = gen_plan(&g);
	}
	if ((hdr.mode & FUZZ_MODE) == FUZZ_HEAP)
		fuzz_heap(plans[hdr.seed], &hdr, data, len);
	else
		fuzz_verify(plans[hdr.seed], &hdr, data, len, hdr.text);
	return 0;
}
