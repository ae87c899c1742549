// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/protobuf/decode kmod/lib/protobuf/encode kmod/lib/protobuf/scan */
/*
 * The same messages in mrpc and in libprotobuf: what one encodes the other decodes, in whatever
 * encoding; and both refuse the same bytes.
 *
 * MESSAGES is how many schemas a test has, with MESSAGES_OF_ONE messages of each.
 */
#include "proto_both.h"
#include "tap.h"

#ifndef MESSAGES
#define MESSAGES	100
#endif
#define MESSAGES_OF_ONE	50

#define ARENA		(16U << 20)

struct given {
	struct gen g;
	struct mrpc_schema_plan *plan;
	struct proto_peer *peer;
	struct model_pool pool;
	struct model_msg *msg;
	u32 type;
	u8 *wire;
	struct mrpc_msg_len len;
	struct proto_bytes b;	/* our encoding */
};

static bool given_schema(struct given *t, u32 seed)
{
	*t = (struct given){ .g = gen_seeded(seed) };
	t->plan = gen_plan(&t->g);
	t->peer = proto_peer_new(t->plan);
	return t->peer;
}

static void given_schema_end(struct given *t)
{
	proto_peer_free(t->peer);
	free(t->plan);
}

/* False: not one that both can have. */
static bool given_message(struct given *t, u32 budget)
{
	bool fits;

	t->pool = (struct model_pool){ 0 };
	do
		t->type = gen_below(&t->g, t->plan->nr_types);
	while (t->plan->types[t->type].flags & MRPC_TYPE_MAP_ENTRY);
	t->msg = gen_message(&t->g, &t->pool, t->plan, t->type, gen_below(&t->g, budget));
	fits = proto_season(&t->g, &t->pool, t->plan, t->msg);
	t->wire = model_encode(t->plan, t->msg, &t->len);
	t->b = proto_encode_wire(t->plan, t->type, t->wire, &t->len);
	return fits;
}

static void given_message_end(struct given *t)
{
	free(t->b.p);
	free(t->wire);
	model_free(&t->pool);
}

static bool same(const struct proto_bytes *b, const void *p, size_t len)
{
	return b->len == len && !memcmp(b->p, p, len);
}

/* Is it the message? */
static void check_decodes(const struct given *t, const void *in, size_t len, u32 seed)
{
	struct proto_decoded d = proto_decode(t->plan, t->type, in, len, ARENA);

	CHECK_MSG(!d.ret, "seed %u: %d, %lld %s", seed, d.ret, (long long)d.err.off, d.err.what);
	CHECK_MSG(!memcmp(&d.len, &t->len, sizeof(d.len)), "seed %u: lengths", seed);
	CHECK_MSG(!memcmp(d.wire, t->wire, mrpc_msg_total(&d.len)), "seed %u: bytes", seed);
	free(d.wire);
}

static void check_message(struct given *t, u32 seed)
{
	struct proto_vary v = { .g = &t->g, .plan = t->plan, .merges = MRPC_PB_MAX_MERGES };
	struct proto_bytes varied;
	size_t len;
	void *p;

	p = proto_peer_encode(t->peer, t->msg, &len);
	CHECK_MSG(p && same(&t->b, p, len), "seed %u: its encoding is different", seed);
	check_decodes(t, p, len, seed);
	free(p);
	p = proto_peer_again(t->peer, t->type, t->b.p, t->b.len, &len);
	CHECK_MSG(p, "seed %u: it refuses our encoding", seed);
	CHECK_MSG(same(&t->b, p, len), "seed %u: it decodes something else", seed);
	free(p);

	varied = proto_vary(&v, t->type, t->b.p, t->b.len);
	check_decodes(t, varied.p, varied.len, seed);
	p = proto_peer_again(t->peer, t->type, varied.p, varied.len, &len);
	CHECK_MSG(p, "seed %u: it refuses another encoding", seed);
	CHECK_MSG(same(&t->b, p, len), "seed %u: it decodes another encoding differently", seed);
	free(p);
	free(varied.p);
}

TEST_LIMIT(same_messages, 60)
{
	u32 seed, i, messages = 0, refused = 0;

	for (seed = 0; seed < MESSAGES; seed++) {
		struct given t;

		refused += !given_schema(&t, seed);
		for (i = 0; t.peer && i < MESSAGES_OF_ONE; i++) {
			if (given_message(&t, gen_chance(&t.g, 10) ? 40 : 4)) {
				check_message(&t, seed);
				messages++;
			}
			given_message_end(&t);
		}
		given_schema_end(&t);
	}
	NOTE("%u messages; %u schemas refused", messages, refused);
	CHECK(messages > MESSAGES * MESSAGES_OF_ONE / 2);
}

/* -- what is not in order -------------------------------------------------- */

/* Changes some bytes, adds some, takes some away. */
static void spoil(struct gen *g, struct proto_bytes *b)
{
	u32 n = 1 + gen_below(g, 3), at, len;

	while (n-- && b->len) {
		at = gen_below(g, b->len);
		switch (gen_below(g, 5)) {
		case 0:
			b->len = at;
			break;
		case 1:
			len = 1 + gen_below(g, 12);
			proto_append(b, "\xff\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", len);
			memmove(b->p + at + len, b->p + at, b->len - len - at);
			memset(b->p + at, 0x80 | gen_below(g, 128), len);
			break;
		case 2:
			len = 1 + gen_below(g, min(b->len - at, (size_t)8));
			memmove(b->p + at, b->p + at + len, b->len - at - len);
			b->len -= len;
			break;
		default:
			b->p[at] = gen_chance(g, 50) ? gen_u64(g) : b->p[at] ^ 1U << gen_below(g, 8);
		}
	}
}

TEST_LIMIT(same_refusals, 60)
{
	u32 verdicts[PROTO_DIFFERENT + 1] = { 0 };
	u32 seed, i, j;

	for (seed = 0; seed < MESSAGES; seed++) {
		struct given t;

		given_schema(&t, seed);
		for (i = 0; t.peer && i < MESSAGES_OF_ONE; i++) {
			bool fits = given_message(&t, 4);
			struct proto_vary v = { .g = &t.g, .plan = t.plan, .merges = 8 };

			for (j = 0; fits && t.b.len < 1000 && j < 2; j++) {
				struct proto_bytes b = proto_vary(&v, t.type, t.b.p, t.b.len);
				enum proto_verdict verdict;
				const char *why;

				spoil(&t.g, &b);
				verdict = proto_both(t.plan, t.peer, t.type, b.p, b.len, ARENA, &why);
				CHECK_MSG(verdict != PROTO_DIFFERENT, "seed %u: %s", seed, why);
				verdicts[verdict]++;
				free(b.p);
			}
			given_message_end(&t);
		}
		given_schema_end(&t);
	}
	NOTE("%u accepted, %u refused, %u by mrpc only, %u by libprotobuf only",
	     verdicts[PROTO_ACCEPTED], verdicts[PROTO_REFUSED], verdicts[PROTO_BEYOND_LIMIT],
	     verdicts[PROTO_OLD_TEXT]);
	CHECK(verdicts[PROTO_ACCEPTED] > MESSAGES);
	CHECK(verdicts[PROTO_REFUSED] > MESSAGES);
}
