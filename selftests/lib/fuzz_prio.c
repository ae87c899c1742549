// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport's packets: what is accepted must be encoded to the same bytes again.
 */
#include "fuzz.h"
#include "prio_wire.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static u8 again[4096];
	struct mrpc_prio_packet p;
	struct mrpc_prio_note note;
	u32 why = MRPC_PRIO_NR_DROPS, n, i;

	if (len > sizeof(again))
		return 0;
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
