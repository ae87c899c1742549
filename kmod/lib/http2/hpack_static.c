// SPDX-License-Identifier: GPL-2.0
#include "lib/http2/hpack_static.h"

#define ENTRY(n, v)	{ n v, sizeof(n) - 1, sizeof(v) - 1 }

static const struct mrpc_hpack_entry entries[MRPC_HPACK_STATIC] = {
	ENTRY(":authority", ""),
	ENTRY(":method", "GET"),
	ENTRY(":method", "POST"),
	ENTRY(":path", "/"),
	ENTRY(":path", "/index.html"),
	ENTRY(":scheme", "http"),
	ENTRY(":scheme", "https"),
	ENTRY(":status", "200"),
	ENTRY(":status", "204"),
	ENTRY(":status", "206"),
	ENTRY(":status", "304"),
	ENTRY(":status", "400"),
	ENTRY(":status", "404"),
	ENTRY(":status", "500"),
	ENTRY("accept-charset", ""),
	ENTRY("accept-encoding", "gzip, deflate"),
	ENTRY("accept-language", ""),
	ENTRY("accept-ranges", ""),
	ENTRY("accept", ""),
	ENTRY("access-control-allow-origin", ""),
	ENTRY("age", ""),
	ENTRY("allow", ""),
	ENTRY("authorization", ""),
	ENTRY("cache-control", ""),
	ENTRY("content-disposition", ""),
	ENTRY("content-encoding", ""),
	ENTRY("content-language", ""),
	ENTRY("content-length", ""),
	ENTRY("content-location", ""),
	ENTRY("content-range", ""),
	ENTRY("content-type", ""),
	ENTRY("cookie", ""),
	ENTRY("date", ""),
	ENTRY("etag", ""),
	ENTRY("expect", ""),
	ENTRY("expires", ""),
	ENTRY("from", ""),
	ENTRY("host", ""),
	ENTRY("if-match", ""),
	ENTRY("if-modified-since", ""),
	ENTRY("if-none-match", ""),
	ENTRY("if-range", ""),
	ENTRY("if-unmodified-since", ""),
	ENTRY("last-modified", ""),
	ENTRY("link", ""),
	ENTRY("location", ""),
	ENTRY("max-forwards", ""),
	ENTRY("proxy-authenticate", ""),
	ENTRY("proxy-authorization", ""),
	ENTRY("range", ""),
	ENTRY("referer", ""),
	ENTRY("refresh", ""),
	ENTRY("retry-after", ""),
	ENTRY("server", ""),
	ENTRY("set-cookie", ""),
	ENTRY("strict-transport-security", ""),
	ENTRY("transfer-encoding", ""),
	ENTRY("user-agent", ""),
	ENTRY("vary", ""),
	ENTRY("via", ""),
	ENTRY("www-authenticate", ""),
};

const struct mrpc_hpack_entry *mrpc_hpack_static_get(u32 index)
{
	return &entries[index - 1];
}

#define MAX_NAME	27	/* the longest name */

/* The first entry of each name, by the length of the name; a 0 ends the list. */
static const u8 by_length[MAX_NAME + 1][7] = {
	[3] = { 21, 60 },
	[4] = { 33, 34, 37, 38, 45, 59 },
	[5] = { 4, 22, 50 },
	[6] = { 19, 32, 35, 54 },
	[7] = { 2, 6, 8, 36, 51, 52 },
	[8] = { 39, 42, 46 },
	[10] = { 1, 55, 58 },
	[11] = { 53 },
	[12] = { 31, 47 },
	[13] = { 18, 23, 24, 30, 41, 44 },
	[14] = { 15, 28 },
	[15] = { 16, 17 },
	[16] = { 26, 27, 29, 61 },
	[17] = { 40, 57 },
	[18] = { 48 },
	[19] = { 25, 43, 49 },
	[25] = { 56 },
	[27] = { 20 },
};

/* The first entry with a name; 0: none. */
static u32 hpack_find_name(const u8 *name, u32 nlen)
{
	const u8 *index;

	if (nlen > MAX_NAME)
		return 0;
	for (index = by_length[nlen]; *index; index++)
		if (!memcmp(name, entries[*index - 1].text, nlen))
			break;
	return *index;
}

u32 mrpc_hpack_static_find(const u8 *name, u32 nlen, const u8 *value, u32 vlen, bool *whole)
{
	u32 first = hpack_find_name(name, nlen), i;

	*whole = false;
	if (!first)
		return 0;
	/* Entries of one name stand together. */
	for (i = first; i <= MRPC_HPACK_STATIC; i++) {
		const struct mrpc_hpack_entry *e = mrpc_hpack_static_get(i);

		if (e->nlen != nlen || memcmp(name, e->text, nlen))
			break;
		if (e->vlen == vlen && !memcmp(value, e->text + nlen, vlen)) {
			*whole = true;
			return i;
		}
	}
	return first;
}
