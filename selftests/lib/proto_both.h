/* SPDX-License-Identifier: GPL-2.0 */
/* The same bytes decoded by mrpc and by libprotobuf, for a test and a fuzz target. */
#ifndef PROTO_BOTH_H
#define PROTO_BOTH_H

#include <stdlib.h>

#include "lib/message/utf8.h"
#include "lib/protobuf/scan.h"
#include "proto.h"
#include "proto_peer.h"

enum proto_verdict {
	PROTO_ACCEPTED,
	PROTO_REFUSED,
	PROTO_BEYOND_LIMIT,	/* only mrpc refuses them, and says that it may */
	PROTO_OLD_TEXT,		/* only libprotobuf does, for text that a later value replaces */
	PROTO_DIFFERENT,	/* a fault */
};

/* What only mrpc refuses: it has limits, and does not drop bits of a tag. */
static inline bool proto_beyond_limit(const struct proto_decoded *d)
{
	static const char *const whats[] = {
		"is where a tag has more than 32 bits",
		"is where groups are nested too deeply",
		"is where messages are nested too deeply",
		"is nested too deeply",
		"is where too many fields occur again",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(whats); i++)
		if (!strcmp(d->err.what, whats[i]))
			return true;
	return d->ret == -EMSGSIZE || d->ret == -EFBIG;
}

/* Is all text UTF-8, also what does not count? The bytes are in order. */
static inline bool proto_text_valid(const struct mrpc_schema_plan *plan, u32 type, const u8 *in,
				    u32 len)
{
	const struct mrpc_type *t = &plan->types[type];
	u32 groups[MRPC_PB_MAX_GROUPS], pos = 0, i;
	struct mrpc_pb_token token;
	bool valid = true;

	while (valid && pos < len && !mrpc_pb_scan(in, &pos, len, groups, &token)) {
		for (i = 0; i < t->nr_fields && token.wire == MRPC_PB_LEN; i++) {
			const struct mrpc_field *f = &plan->fields[t->first_field + i];

			if (f->number != token.number)
				continue;
			if (f->kind == MRPC_KIND_STRING)
				valid = mrpc_utf8_valid(in + token.at, token.value);
			else if (f->kind == MRPC_KIND_MESSAGE)
				valid = proto_text_valid(plan, f->type, in + token.at, token.value);
		}
	}
	return valid;
}

/* *@why: for people, where one refuses the bytes or there is a fault. */
static inline enum proto_verdict proto_both(const struct mrpc_schema_plan *plan,
					    struct proto_peer *peer, u32 type, const u8 *in,
					    size_t in_len, u32 arena_max, const char **why)
{
	struct proto_decoded d = proto_decode(plan, type, in, in_len, arena_max);
	enum proto_verdict verdict = PROTO_ACCEPTED;
	size_t len;
	void *p = proto_peer_again(peer, type, in, in_len, &len);

	*why = d.err.what;
	if (d.ret) {
		verdict = !p ? PROTO_REFUSED :
			  proto_beyond_limit(&d) ? PROTO_BEYOND_LIMIT : PROTO_DIFFERENT;
	} else if (!p) {
		*why = "only libprotobuf refuses it";
		verdict = proto_text_valid(plan, type, in, in_len) ? PROTO_DIFFERENT :
			  PROTO_OLD_TEXT;
	} else {
		struct proto_bytes b = proto_encode_wire(plan, type, d.wire, &d.len);

		*why = "it is another message";
		if (b.len != len || memcmp(b.p, p, len))
			verdict = PROTO_DIFFERENT;
		free(b.p);
	}
	free(d.wire);
	free(p);
	return verdict;
}

#endif /* PROTO_BOTH_H */
