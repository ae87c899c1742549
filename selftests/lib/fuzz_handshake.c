// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/handshake kmod/lib/message/wire kmod/lib/message/meta kmod/lib/tls/control kmod/lib/group/operation */
/*
 * What a peer says before it is trusted with anything: the first byte chooses a
 * hello's body, a frame's header, metadata, text, what comes about features, TLS's records
 * without data, or the body of a chunk. What is accepted must be encoded to the same bytes again.
 */
#include <stdlib.h>
#include <stdio.h>

#include "lib/message/feature.h"
#include "fuzz.h"
#include "lib/group/operation.h"
#include "lib/message/handshake.h"
#include "lib/message/meta.h"
#include "lib/message/utf8.h"
#include "lib/message/wire.h"
#include "lib/tls/control.h"

static void fuzz_hello(const u8 *data, size_t len)
{
	static u8 again[MRPC_WIRE_MAX_HELLO];
	struct mrpc_hello hello;
	const char *why = NULL;
	int ret = mrpc_hello_decode(data, len, &hello, &why);

	if (ret) {
		check(ret == -EPROTO && why, "hello: refused without a reason");
		return;
	}
	ret = mrpc_hello_encode(&hello, again, sizeof(again));
	check(ret == (int)len && !memcmp(again, data, len), "hello: another encoding");
}

static void fuzz_header(const u8 *data, size_t len)
{
	struct mrpc_wire_hdr hdr, again;
	const char *why = NULL;
	struct mrpc_frame f;
	int ret;

	if (len < sizeof(hdr))
		return;
	memcpy(&hdr, data, sizeof(hdr));
	ret = mrpc_wire_decode(&hdr, 1 << 20, &f, &why);
	check(!ret == !why, "header: refused without a reason");
	if (ret && ret != -EMSGSIZE)
		return;
	mrpc_wire_encode(&f, &again);
	check(!memcmp(&hdr, &again, sizeof(hdr)), "header: another encoding");
	check(mrpc_frame_prefix(&f) <= MRPC_WIRE_MAX_HELLO + MRPC_MAX_META, "header: prefix");
	check(f.prefix == mrpc_frame_prefix(&f), "header: prefix kept");
	check(f.head_len == mrpc_msg_head_len(&f.msg), "header: head kept");
	check(mrpc_frame_msg_known(&f) == mrpc_msg_total(&f.msg), "header: message kept");
	check(mrpc_frame_head_known(&f) == mrpc_frame_head(&f), "header: prefix and head kept");
	check(mrpc_msg_total(&f.msg) <= (ret ? MRPC_MAX_MESSAGE : 1 << 20), "header: size");
}

static void fuzz_meta(const u8 *data, size_t len)
{
	int entries = mrpc_meta_valid(data, len), i;
	size_t at = 0;

	if (entries < 0)
		return;
	for (i = 0; i < entries; i++) {
		struct mrpc_meta_entry e;

		check(len - at >= sizeof(e), "metadata: an entry outside");
		memcpy(&e, data + at, sizeof(e));
		at += sizeof(e) + e.klen + e.vlen;
		check(at <= len && e.klen, "metadata: an entry outside");
	}
	check(at == len, "metadata: entries are left");
}

/* The same, character by character. */
static bool naive_utf8(const u8 *s, size_t len)
{
	size_t i, j;

	for (i = 0; i < len;) {
		u32 n = s[i] < 0x80 ? 1 : s[i] >> 5 == 6 ? 2 : s[i] >> 4 == 14 ? 3 :
			s[i] >> 3 == 30 ? 4 : 0;
		static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
		u32 code = n == 1 ? s[i] : s[i] & (0x7f >> n);

		if (!n || n > len - i)
			return false;
		for (j = 1; j < n; j++) {
			if (s[i + j] >> 6 != 2)
				return false;
			code = code << 6 | (s[i + j] & 0x3f);
		}
		if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return false;
		i += n;
	}
	return true;
}

/*
 * An end whose link changes while its peer says whatever it likes: what the peer was
 * told is accepted stays so until it has answered, and nothing is used that it did
 * not announce.
 */
static void fuzz_features(const u8 *data, size_t len)
{
	struct mrpc_features f = { .want = len ? data[0] & MRPC_FEATURES_LINK : 0 };
	u64 answer = 0, told;
	size_t i;

	if (len && data[0] & 1) {
		mrpc_features_choose(&f, data[0] >> 4);
	} else {
		told = mrpc_features_offer(&f);
		if (len && mrpc_features_chosen(&f, data[0] >> 4))
			return;
		check(!(f.said & ~told), "features: more than offered");
	}
	for (i = 1; i < len; i++) {
		u64 mask = data[i] >> 3;

		told = f.said | f.before;
		switch (data[i] & 7) {
		case 0:
			if (!mrpc_features_hear(&f, mask, &answer))
				check(f.heard != f.answered && !(answer & ~MRPC_FEATURES_LINK), "features: answer");
			break;
		case 1:
			if (f.heard == f.answered)
				break;
			mrpc_features_answer(&f, answer);
			mrpc_features_answered(&f);
			check(f.heard - f.answered < MRPC_FEATURES_OWED, "features: owed");
			break;
		case 2:
			if (!mrpc_features_ack(&f, mask))
				check(!(mask & ~f.said), "features: more than announced");
			break;
		case 3:
			f.want = mask & MRPC_FEATURES_LINK;
			break;
		default:
			if (!mrpc_features_due(&f))
				break;
			mrpc_features_announced(&f);
			check(mrpc_features_accept(&f, told) || !told, "features: withdrawn at once");
		}
		check(!(f.may & ~MRPC_FEATURES_LINK), "features: used");
	}
}

/* Records of TLS that are no data, in pieces: the first byte of each is its type, then its length. */
static void fuzz_tls(const u8 *data, size_t len)
{
	struct mrpc_tls_control c = { 0 };
	const char *why = NULL;
	int ret = 0;
	u32 n;

	while (!ret && len >= 2) {
		n = min_t(u32, data[1], len - 2);
		ret = mrpc_tls_control(&c, 20 + (data[0] & 7), data + 2, n, &why);
		check(ret == 0 || ret == -ESHUTDOWN || ret == -EPROTO, "TLS: another result");
		check((ret == -EPROTO) == !!why, "TLS: no reason, or one for nothing");
		check(c.have < sizeof(c.head) && c.left < 1 << 24, "TLS: the message under way");
		data += 2 + n;
		len -= 2 + n;
	}
}

/* The operation of one rank, and what another one says of its own: the same only if each byte is. */
static void fuzz_operation(const u8 *data, size_t len)
{
	struct mrpc_wire_operation wire[2];
	struct mrpc_operation_form form;
	char why[160] = "";
	bool same;

	if (len < sizeof(wire))
		return;
	memcpy(wire, data, sizeof(wire));
	form = (struct mrpc_operation_form){
		.key = le64_to_cpu(wire[0].key), .count = le64_to_cpu(wire[0].count),
		.ranks = le32_to_cpu(wire[0].ranks), .rank = le32_to_cpu(wire[0].rank),
		.root = le32_to_cpu(wire[0].root), .chunk = le32_to_cpu(wire[0].chunk),
		.collective = wire[0].collective, .algorithm = wire[0].algorithm,
		.elem = wire[0].elem, .reduce = wire[0].reduce,
	};
	same = mrpc_operation_compare(&form, form.rank, &wire[1], why, sizeof(why));
	check(same == !why[0], "operation: refused without a reason");
	check(strlen(why) < sizeof(why) - 1, "operation: a sentence is cut");
	mrpc_operation_encode(&form, &wire[0]);
	check(same == !memcmp(&wire[0], &wire[1], sizeof(wire[0])), "operation: another byte");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	u8 *copy;

	if (!len)
		return 0;
	/* A block of its own: the choice's byte shifts the rest. */
	copy = malloc(len);
	memcpy(copy, data + 1, len - 1);
	switch (data[0] & 7) {
	case 0:
		fuzz_hello(copy, len - 1);
		break;
	case 1:
		fuzz_header(copy, len - 1);
		break;
	case 2:
		fuzz_meta(copy, len - 1);
		break;
	case 4:
		fuzz_features(copy, len - 1);
		break;
	case 5:
		fuzz_tls(copy, len - 1);
		break;
	case 6:
		fuzz_operation(copy, len - 1);
		break;
	default:
		check(mrpc_utf8_valid(copy, len - 1) == naive_utf8(copy, len - 1), "UTF-8");
	}
	free(copy);
	return 0;
}
