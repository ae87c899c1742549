// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/protobuf/decode kmod/lib/protobuf/encode kmod/lib/protobuf/scan */
/*
 * Protobuf from a stranger. Input: a schema, a type, then the message's bytes.
 *
 * What the decoder and the snapshot take must be canonical, and must be the same message when it
 * was encoded and decoded again. libprotobuf must refuse the same bytes, or decode them to the
 * same message; but see enum proto_verdict.
 */
#include "fuzz.h"
#include "proto_both.h"

#define ARENA	(1U << 20)

static struct proto_peer *peer_of(const struct mrpc_schema_plan *plan, u32 seed)
{
	static struct proto_peer *peers[FUZZ_PLANS];
	static bool asked[FUZZ_PLANS];

	if (!asked[seed])
		peers[seed] = proto_peer_new(plan);
	asked[seed] = true;
	return peers[seed];
}

static void try_again(const struct mrpc_schema_plan *plan, u32 type, const struct proto_decoded *d)
{
	struct proto_bytes b = proto_encode_wire(plan, type, d->wire, &d->len);
	struct proto_decoded same = proto_decode(plan, type, b.p, b.len, MRPC_MAX_HEAD);
	u8 *head = gen_head_copy(d->wire, &d->len);

	check(!same.ret, "its encoding is refused");
	check(!memcmp(&same.len, &d->len, sizeof(d->len)), "its encoding has other lengths");
	check(!memcmp(same.wire, d->wire, mrpc_msg_total(&d->len)), "its encoding is different");
	check(!same.unknown, "its encoding has unknown fields");
	check(!gen_check_canonical(plan, type, head, &d->len), "it is not canonical");
	free(head);
	free(same.wire);
	free(b.p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	const struct mrpc_schema_plan *plan;
	struct proto_decoded d;
	struct proto_peer *peer;
	const char *why;
	char text[200];
	u32 seed, type;

	if (len < 2)
		return 0;
	seed = data[0] % FUZZ_PLANS;
	plan = fuzz_plan(seed, FUZZ_PLANS);
	type = data[1] % plan->nr_types;
	d = proto_decode(plan, type, data + 2, len - 2, ARENA);
	if (d.ret)
		check(mrpc_msg_explain(plan, &d.err, text, sizeof(text)) > 0, "an error without words");
	else
		try_again(plan, type, &d);
	free(d.wire);
	peer = peer_of(plan, seed);
	if (peer && !(plan->types[type].flags & MRPC_TYPE_MAP_ENTRY) &&
	    proto_both(plan, peer, type, data + 2, len - 2, ARENA, &why) == PROTO_DIFFERENT)
		check(false, why);
	return 0;
}
