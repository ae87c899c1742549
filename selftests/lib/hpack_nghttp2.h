/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPACK beside libnghttp2. Both decoders get the same blocks, and each encoder's blocks go through
 * the other's decoder. Both are driven by bytes, random ones or those of a fuzzer.
 *
 * Legitimate differences: integers of more than 5 bytes or from 2^28 on, a third size update at a
 * block's beginning, and the limits of MRPC_HPACK_MAX_* and MRPC_HPACK_END_*. The encoder of nghttp2
 * marks some fields as never indexed that the caller did not mark.
 */
#ifndef HPACK_NGHTTP2_H
#define HPACK_NGHTTP2_H

#include <nghttp2/nghttp2.h>

#include "hpack_sink.h"
#include "lib/http2/hpack_static.h"
#include "lib/http2/hpack_table.h"

#define HPACK_PAIR_BLOCK	60000	/* larger strings pass limits that only nghttp2 has */

/**
 * struct hpack_pair - two decoders of the same blocks
 * @nr: fields of the last block, as nghttp2 counts them
 * @list: their sizes
 */
struct hpack_pair {
	struct hpack_sink ours;
	nghttp2_hd_inflater *theirs;
	u32 nr;
	u64 list;
};

/* Bytes that say what is done; 0 when there are no more. */
struct hpack_script {
	const u8 *p;
	u32 len;
};

static inline u32 hpack_take(struct hpack_script *s, u32 bytes)
{
	u32 value = 0;

	for (; bytes && s->len; bytes--, s->len--)
		value = value << 8 | *s->p++;
	return value;
}

static inline const u8 *hpack_take_bytes(struct hpack_script *s, u32 *len)
{
	const u8 *p = s->p;

	*len = min(*len, s->len);
	s->p += *len;
	s->len -= *len;
	return p;
}

static inline void hpack_pair_init(struct hpack_pair *pair)
{
	hpack_sink_init(&pair->ours);
	nghttp2_hd_inflate_new(&pair->theirs);
}

static inline void hpack_pair_free(struct hpack_pair *pair)
{
	hpack_sink_free(&pair->ours);
	nghttp2_hd_inflate_del(pair->theirs);
}

/* Passes an integer. Return: it is one that only nghttp2 accepts. */
static inline bool hpack_odd_int(struct hpack_script *s, u32 prefix, u64 *value)
{
	u32 mask = (1U << prefix) - 1, bytes = 1;
	u8 byte;

	*value = hpack_take(s, 1) & mask;
	if (*value < mask)
		return false;
	do {
		byte = hpack_take(s, 1);
		*value += bytes < 9 ? (u64)(byte & 0x7f) << (7 * (bytes - 1)) : 0;
		bytes++;
	} while (byte & 0x80 && s->len);
	return bytes > 5 || *value >= 1U << 28;
}

/* Return: the block has something that only nghttp2 accepts. */
static inline bool hpack_odd(const u8 *in, u32 len)
{
	struct hpack_script s = { in, len };
	u32 updates = 0, strings;
	u64 value;

	while (s.len) {
		u8 first = *s.p;

		if (hpack_odd_int(&s, first & 0x80 ? 7 : first & 0x40 ? 6 : first & 0x20 ? 5 : 4,
				  &value))
			return true;
		if (!(first & 0xc0) && first & 0x20 && ++updates > 2)
			return true;
		strings = first & 0x80 || (first & 0x60) == 0x20 ? 0 : value ? 1 : 2;
		for (; strings && s.len; strings--) {
			u32 bytes;

			if (hpack_odd_int(&s, 7, &value))
				return true;
			bytes = min(value, (u64)s.len);
			hpack_take_bytes(&s, &bytes);
		}
	}
	return false;
}

static inline bool hpack_pair_same(const struct hpack_sink_field *f, const nghttp2_nv *nv)
{
	return f->nlen == nv->namelen && f->vlen == nv->valuelen &&
	       !memcmp(f->name, nv->name, f->nlen) && !memcmp(f->value, nv->value, f->vlen) &&
	       !(nv->flags & NGHTTP2_NV_FLAG_NO_INDEX) == !f->flags;
}

/* Decodes by nghttp2, and compares its fields with those that the other decoder found. */
static inline const char *hpack_pair_theirs(struct hpack_pair *pair, const u8 *in, u32 len,
					    bool *failed)
{
	const struct hpack_sink *ours = &pair->ours;
	int flags = 0;

	*failed = false;
	pair->nr = 0;
	pair->list = 0;
	while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
		nghttp2_nv nv;
		ssize_t used;

		flags = 0;
		used = nghttp2_hd_inflate_hd2(pair->theirs, &nv, &flags, in, len, 1);
		if (used < 0) {
			*failed = true;
			return NULL;
		}
		in += used;
		len -= used;
		if (!(flags & NGHTTP2_HD_INFLATE_EMIT))
			continue;
		if (pair->nr < ours->nr && !hpack_pair_same(&ours->fields[pair->nr], &nv))
			return "another field";
		pair->nr++;
		pair->list += nv.namelen + nv.valuelen + 32;
	}
	nghttp2_hd_inflate_end_headers(pair->theirs);
	return NULL;
}

static inline const char *hpack_pair_tables(struct hpack_pair *pair)
{
	const struct mrpc_hpack_table *t = &pair->ours.table;
	u8 text[MRPC_HPACK_TABLE_SIZE];
	u32 i;

	if (t->size != nghttp2_hd_inflate_get_dynamic_table_size(pair->theirs) ||
	    t->max != nghttp2_hd_inflate_get_max_dynamic_table_size(pair->theirs))
		return "another size of the table";
	if ((size_t)t->nr + MRPC_HPACK_STATIC !=
	    nghttp2_hd_inflate_get_num_table_entries(pair->theirs))
		return "another number of entries";
	for (i = 0; i < t->nr; i++) {
		const struct mrpc_hpack_slot *slot = mrpc_hpack_table_slot(t, i);
		const nghttp2_nv *nv = nghttp2_hd_inflate_get_table_entry(pair->theirs,
				MRPC_HPACK_STATIC + 1 + i);

		mrpc_hpack_table_read(t, slot->at, text, slot->nlen + slot->vlen);
		if (slot->nlen != nv->namelen || slot->vlen != nv->valuelen ||
		    memcmp(text, nv->name, slot->nlen) ||
		    memcmp(text + slot->nlen, nv->value, slot->vlen))
			return "another entry";
	}
	return NULL;
}

/**
 * hpack_pair_decode() - decode a block of at most HPACK_PAIR_BLOCK bytes by both
 * @ret: gets what mrpc_hpack_decode() returned
 * Return: what is different; NULL: nothing.
 */
static inline const char *hpack_pair_decode(struct hpack_pair *pair, const u8 *in, u32 len,
					    int *ret)
{
	const char *what;
	bool failed;

	*ret = hpack_sink_decode(&pair->ours, in, len);
	if (pair->ours.wrong)
		return "a field beside its place";
	what = hpack_pair_theirs(pair, in, len, &failed);
	if (what)
		return what;
	switch (*ret) {
	case 0:
		if (failed || pair->nr != pair->ours.nr)
			return "accepted";
		break;
	case -E2BIG:
		if (failed || (pair->nr <= MRPC_HPACK_MAX_FIELDS &&
			       pair->list <= MRPC_HPACK_MAX_LIST))
			return "too large";
		break;
	case -EMSGSIZE:
		return failed || pair->nr > MRPC_HPACK_END_FIELDS ||
		       pair->list > MRPC_HPACK_END_LIST ? NULL : "much too large";
	case -EBADMSG:
		return failed || hpack_odd(in, len) ? NULL : "refused";
	default:
		return "another error";
	}
	return hpack_pair_tables(pair);
}

/**
 * hpack_pair_blocks() - decode blocks: two bytes of length, the block, and so on
 * @accepted: gets the number of blocks that were accepted
 * Return: what is different; NULL: nothing.
 */
static inline const char *hpack_pair_blocks(const u8 *data, u32 data_len, u32 *accepted)
{
	struct hpack_script s = { data, data_len };
	const char *what = NULL;
	struct hpack_pair pair;
	int ret = 0;

	hpack_pair_init(&pair);
	while (s.len && !what && (!ret || ret == -E2BIG)) {
		u32 len = hpack_take(&s, 2) % HPACK_PAIR_BLOCK;
		const u8 *in = hpack_take_bytes(&s, &len);

		what = hpack_pair_decode(&pair, in, len, &ret);
		*accepted += !ret;
	}
	hpack_pair_free(&pair);
	return what;
}

/* Both encoders, each with the two decoders behind it. */
struct hpack_ends {
	struct mrpc_hpack_table ours;
	nghttp2_hd_deflater *theirs;
	struct hpack_pair behind_ours, behind_theirs;
	struct mrpc_hpack_field fields[MRPC_HPACK_MAX_FIELDS];
	nghttp2_nv nv[MRPC_HPACK_MAX_FIELDS];
	u32 nr;
};

/* nghttp2's encoder decides by itself that these are secrets. */
static inline bool hpack_ends_secret(const struct mrpc_hpack_field *f)
{
	return (f->nlen == 13 && !memcmp(f->name, "authorization", 13)) ||
	       (f->nlen == 6 && !memcmp(f->name, "cookie", 6));
}

static inline bool hpack_ends_same(const struct hpack_ends *e, const struct hpack_sink *s,
				   bool theirs)
{
	u32 i;

	for (i = 0; i < e->nr; i++) {
		const struct mrpc_hpack_field *f = &e->fields[i];
		const struct hpack_sink_field *g = &s->fields[i];

		if (f->nlen != g->nlen || f->vlen != g->vlen || memcmp(f->name, g->name, g->nlen) ||
		    memcmp(f->value, g->value, g->vlen) ||
		    ((f->mode == MRPC_HPACK_NEVER) != g->flags &&
		     !(theirs && hpack_ends_secret(f))))
			return false;
	}
	return e->nr == s->nr;
}

/* Writes the fields by both encoders. */
static inline const char *hpack_ends_block(struct hpack_ends *e)
{
	u64 room = mrpc_hpack_room(e->fields, e->nr);
	u8 *out = malloc(room);
	const char *what;
	int len, ret;

	len = mrpc_hpack_encode(&e->ours, e->fields, e->nr, out, room);
	what = len < 0 ? "not encoded" : hpack_pair_decode(&e->behind_ours, out, len, &ret);
	if (!what && ret != -E2BIG && (ret || !hpack_ends_same(e, &e->behind_ours.ours, false)))
		what = "ours is decoded to something else";
	free(out);
	if (what)
		return what;
	room = nghttp2_hd_deflate_bound(e->theirs, e->nv, e->nr);
	out = malloc(room);
	len = nghttp2_hd_deflate_hd(e->theirs, out, room, e->nv, e->nr);
	what = len < 0 ? "not deflated" : hpack_pair_decode(&e->behind_theirs, out, len, &ret);
	if (!what && ret != -E2BIG && (ret || !hpack_ends_same(e, &e->behind_theirs.ours, true)))
		what = "theirs is decoded to something else";
	free(out);
	e->nr = 0;
	return what;
}

/* Sets SETTINGS_HEADER_TABLE_SIZE of the peer. Ours never changes, nghttp2's table may shrink. */
static inline void hpack_ends_limit(struct hpack_ends *e, u32 limit)
{
	mrpc_hpack_encoder_limit(&e->ours, limit);
	nghttp2_hd_inflate_change_table_size(e->behind_ours.theirs, limit);
	nghttp2_hd_deflate_change_table_size(e->theirs, min(limit, (u32)MRPC_HPACK_TABLE_SIZE));
}

/* Takes a field from a small set of names, or a new one. */
static inline void hpack_ends_field(struct hpack_ends *e, struct hpack_script *s, u8 op)
{
	static const char *const names[] = {
		":path", "content-type", "grpc-timeout", "x", ":status", "user-agent", "", "trace-id",
	};
	struct mrpc_hpack_field *f = &e->fields[e->nr];

	f->mode = op % 3;
	f->name = names[op >> 5];
	f->nlen = strlen(f->name);
	if (op & 4) {
		f->nlen = hpack_take(s, 1);
		f->name = hpack_take_bytes(s, &f->nlen);
	}
	f->vlen = hpack_take(s, (op & 0x18) == 0x18 ? 2 : 1) % 8000;
	f->value = hpack_take_bytes(s, &f->vlen);
	e->nv[e->nr++] = (nghttp2_nv){
		(u8 *)f->name, (u8 *)f->value, f->nlen, f->vlen,
		f->mode == MRPC_HPACK_NEVER ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE,
	};
}

/**
 * hpack_ends_run() - encode fields, with changes of the table's size between blocks
 * @blocks: gets the number of blocks
 * Return: what is different; NULL: nothing.
 */
static inline const char *hpack_ends_run(const u8 *data, u32 len, u32 *blocks)
{
	struct hpack_ends *e = calloc(1, sizeof(*e));
	struct hpack_script s = { data, len };
	const char *what = NULL;

	mrpc_hpack_table_init(&e->ours);
	mrpc_hpack_table_give(&e->ours, malloc(MRPC_HPACK_TABLE_SIZE));
	nghttp2_hd_deflate_new(&e->theirs, MRPC_HPACK_TABLE_SIZE);
	hpack_pair_init(&e->behind_ours);
	hpack_pair_init(&e->behind_theirs);
	while (s.len && !what) {
		u8 op = hpack_take(&s, 1);

		if (op % 16 == 15 && !e->nr) {
			hpack_ends_limit(e, hpack_take(&s, 2));
		} else if (op % 16 >= 14 || e->nr == MRPC_HPACK_MAX_FIELDS) {
			what = hpack_ends_block(e);
			++*blocks;
		} else {
			hpack_ends_field(e, &s, op);
		}
	}
	if (!what)
		what = hpack_ends_block(e);
	nghttp2_hd_deflate_del(e->theirs);
	hpack_pair_free(&e->behind_ours);
	hpack_pair_free(&e->behind_theirs);
	free(e->ours.ring);
	free(e);
	return what;
}

#endif /* HPACK_NGHTTP2_H */
