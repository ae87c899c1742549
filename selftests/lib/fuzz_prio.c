// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/wire */
/*
 * The prio transport's packets: what is accepted must be encoded to the same bytes again; and what
 * follows another packet must be accepted as one that differs in nothing but the offset.
 */
#include "fuzz.h"
#include "lib/prio/wire.h"

/* The first half of @data is a packet; the second one says what could be behind it. */
static void fuzz_follows(const u8 *data, u32 len)
{
	struct mrpc_prio_packet p, next;
	u8 head[MRPC_PRIO_DATA_HDR];
	u32 why, at, more;

	if (mrpc_prio_parse(data, len / 2, len / 2, &p, &why) || p.type != MRPC_PRIO_DATA)
		return;
	/* What is equal but for one byte, which the payload chooses. */
	memcpy(head, data, sizeof(head));
	at = p.len + data[len - 1];
	mrpc_prio_set_offset(head, p.offset + at);
	head[data[len - 2] % sizeof(head)] ^= data[len - 3];
	more = len / 2 % 256;
	if (!mrpc_prio_follows(&p, data, head, at, more))
		return;
	check(!data[len - 3], "follows: with another header");
	check(!mrpc_prio_parse(head, sizeof(head), sizeof(head) + more, &next, &why),
	      "follows: malformed");
	check(next.offset == p.offset + at && next.len == more && !next.nr, "follows: elsewhere");
	next.offset = p.offset;
	next.len = p.len;
	next.size = p.size;
	check(!memcmp(&next, &p, sizeof(p)), "follows: another packet");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static u8 again[4096];
	struct mrpc_prio_packet p;
	struct mrpc_prio_note note;
	u32 why = MRPC_PRIO_NR_DROPS, n, i;

	if (len > sizeof(again))
		return 0;
	fuzz_follows(data, len);
	if (mrpc_prio_parse(data, len, len, &p, &why)) {
		check(mrpc_prio_drop_name(why), "parser: refused without a reason");
		return 0;
	}
	n = mrpc_prio_encode(&p, again);
	for (i = 0; p.type == MRPC_PRIO_CONTROL && i < p.nr; i++, n += sizeof(struct mrpc_prio_entry)) {
		mrpc_prio_note_get(&p, i, &note);
		mrpc_prio_note_put(&note, again + n);
	}
	check(n + (p.type == MRPC_PRIO_DATA ? p.len : 0) == p.size, "parser: another length");
	check(p.size == len || (p.type == MRPC_PRIO_DATA && p.nr && p.size < len),
	      "parser: what follows?");
	check(!memcmp(again, data, n), "parser: another encoding");
	return 0;
}
