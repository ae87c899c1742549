// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/grpc */
/*
 * What a peer says in header fields and prefixes. The first byte chooses what the rest is: the
 * fields of a request, blocks of a response, an application's metadata, one value, or prefixes.
 *
 * A field is a byte for the name, and one for the value. Each chooses a known one, or says how many
 * bytes of input follow. What is accepted must come through when it is sent on.
 */
#include "fuzz.h"
#include "grpc_fields.h"
#include "lib/grpc/prefix.h"
#include "lib/grpc/timeout.h"
#include "lib/message/meta.h"
#include "lib/message/utf8.h"

struct input {
	const u8 *data;
	size_t len;
};

static const char *const names[] = {
	":method", ":scheme", ":path", ":authority", ":status", "content-type", "te",
	"grpc-timeout", "grpc-encoding", "grpc-accept-encoding", "user-agent", "host",
	"content-length", "grpc-status", "grpc-message", "grpc-status-details-bin",
	"mrpc-schema", "mrpc-other", "grpc-other", "authority", "connection", "upgrade",
	"key", "key-bin", "-bin", "x", "authorization", "cookie", ":other", "a-bin",
	"grpc-retry-pushback-ms", "grpc-previous-rpc-attempts",
};

static const char *const values[] = {
	"POST", "http", "/a.b.C/D", "host:1", "200", "application/grpc", "trailers", "1S",
	"gzip", "identity,deflate,gzip", "5", "0", "16", "a%20b%", "00112233445566ff", "100",
	"404", "application/grpc+proto", "AAECAw", "AAECAw==,AA", "", "CONNECT", "GET", "0n",
	"99999999H", " blank", "\t", "text", "103",
};

static u8 take(struct input *in)
{
	if (!in->len)
		return 0;
	in->len--;
	return *in->data++;
}

static u32 take_bytes(struct input *in, u32 n, const u8 **p)
{
	n = min_t(size_t, n, in->len);
	*p = in->data;
	in->data += n;
	in->len -= n;
	return n;
}

static u32 take_text(struct input *in, const char *const *table, u32 nr, const u8 **p)
{
	u8 b = take(in);

	if (b < nr) {
		*p = (const u8 *)table[b];
		return strlen(table[b]);
	}
	if (b == 255)
		return take_bytes(in, take(in) << 8, p);
	return take_bytes(in, b - nr, p);
}

static void take_fields(struct input *in, struct fields *l, u32 nr)
{
	const u8 *name, *value;
	u32 nlen, vlen;

	while (in->len && nr-- && l->nr < FIELDS_MAX) {
		nlen = take_text(in, names, ARRAY_SIZE(names), &name);
		vlen = take_text(in, values, ARRAY_SIZE(values), &value);
		fields_put(l, name, nlen, value, vlen, MRPC_GRPC_INDEX);
	}
}

static struct fields list;

static struct mrpc_grpc_meta take_meta(struct input *in)
{
	u8 room = take(in);

	return fields_meta(room & 1 ? MRPC_MAX_META : room);
}

/* What a server got, a client sends on: it must come through. */
static void request_again(const struct mrpc_grpc_request *r)
{
	struct mrpc_grpc_call call = {
		.path = r->path, .authority = "a", .authority_len = 1, .accept = r->accept,
		.timeout_us = r->timeout_us, .schema = r->has_schema ? r->schema : NULL,
		.meta = r->meta->buf, .meta_len = r->meta->len,
	};
	struct mrpc_grpc_meta meta = fields_meta(MRPC_MAX_META);
	struct mrpc_grpc_out out = fields_out(&list);
	static struct mrpc_grpc_request again;
	char why[MRPC_GRPC_ADMIT_TEXT] = "";

	if (mrpc_grpc_admit(call.meta, call.meta_len, false, why, sizeof(why))) {
		check(why[0], "refused without a sentence");
		call.meta_len = 0;
	}
	check(!mrpc_grpc_put_request(&out, &call), "a request cannot be put");
	mrpc_grpc_request_begin(&again, &meta);
	fields_to_request(&list, &again);
	mrpc_grpc_request_end(&again, false);
	/* authority and user-agent come on top of what may fill all by itself. */
	if (!meta.full) {
		check(!again.verdict.kind, "a request of ours is refused");
		check(again.path.service_len == r->path.service_len &&
		      again.path.method_len == r->path.method_len &&
		      !memcmp(again.path.service, r->path.service, r->path.service_len) &&
		      !memcmp(again.path.method, r->path.method, r->path.method_len), "path");
		check(again.timeout_us >= r->timeout_us && !again.timeout_us == !r->timeout_us,
		      "timeout");
		check(again.has_schema == r->has_schema && again.accept == r->accept, "fields");
		check(meta.len >= call.meta_len &&
		      !memcmp(meta.buf + meta.len - call.meta_len, call.meta, call.meta_len),
		      "metadata has changed");
	}
	free(meta.buf);
}

static void fuzz_request(struct input *in)
{
	struct mrpc_grpc_meta meta = take_meta(in);
	static struct mrpc_grpc_request r;
	u8 flags = take(in);

	take_fields(in, &list, FIELDS_MAX);
	mrpc_grpc_request_begin(&r, &meta);
	fields_to_request(&list, &r);
	fields_clear(&list);
	mrpc_grpc_request_end(&r, flags & 1);
	check(!r.verdict.kind == !r.verdict.why, "a verdict without a reason");
	check(mrpc_meta_valid(meta.buf, meta.len) >= 0 && meta.len <= meta.room, "metadata");
	check(r.encoding <= MRPC_GRPC_ENCODING_UNKNOWN && r.accept < 8, "encodings");
	check(r.content_length >= -1, "content-length");
	if (!r.verdict.kind)
		request_again(&r);
	free(meta.buf);
}

static void fuzz_response(struct input *in)
{
	struct mrpc_grpc_meta meta = take_meta(in);
	static struct mrpc_grpc_answer_block b;
	struct mrpc_grpc_response r = { 0 };
	enum mrpc_grpc_answer what;

	do {
		u8 flags = take(in);
		bool head = r.http;

		take_fields(in, &list, flags >> 2);
		mrpc_grpc_answer_begin(&b, &r, &meta);
		fields_to_answer(&list, &b);
		fields_clear(&list);
		what = mrpc_grpc_answer_end(&b, flags & 1, flags & 2);
		check(mrpc_meta_valid(meta.buf, meta.len) >= 0 && meta.len <= meta.room, "meta");
		check(r.head_meta_len <= meta.len, "initial metadata");
		check(b.detail_len <= MRPC_MAX_DETAIL && mrpc_utf8_valid(b.detail, b.detail_len),
		      "detail");
		check(b.status <= MRPC_STATUS_MAX, "status");
		check(!head || what >= MRPC_GRPC_END, "two headers");
		check(what < MRPC_GRPC_REFUSED || (b.status && b.detail_len), "no reason");
	} while (what < MRPC_GRPC_END && in->len);
	free(meta.buf);
}

static void fuzz_meta(struct input *in)
{
	struct mrpc_grpc_meta meta = fields_meta(MRPC_MAX_META);
	struct mrpc_grpc_out out = fields_out(&list);
	char why[MRPC_GRPC_ADMIT_TEXT];
	bool reply = take(in) & 1;
	u32 i;

	if (mrpc_meta_valid(in->data, in->len) < 0 ||
	    mrpc_grpc_admit(in->data, in->len, reply, why, sizeof(why)))
		goto out;
	mrpc_grpc_put_meta(&out, in->data, in->len);
	check(!out.err, "metadata cannot be put");
	for (i = 0; i < list.nr; i++)
		mrpc_grpc_meta_hear(&meta, list.f[i].name, list.f[i].nlen, list.f[i].value,
				    list.f[i].vlen);
	check(!meta.dropped && !meta.full, "metadata is lost");
	check(meta.len == in->len && !memcmp(meta.buf, in->data, meta.len), "metadata differs");
out:
	free(meta.buf);
}

static void fuzz_percent(const u8 *data, size_t len, u32 room)
{
	u8 *out = malloc(room + 1), *encoded, *again = malloc(room + 1);
	u32 n = mrpc_grpc_percent_decode(data, len, out, room), n2, i;

	check(n <= room && mrpc_utf8_valid(out, n), "percent: not UTF-8");
	encoded = malloc(MRPC_GRPC_PERCENT_LEN(n) + 1);
	n2 = mrpc_grpc_percent_encode(out, n, encoded);
	check(n2 <= MRPC_GRPC_PERCENT_LEN(n), "percent: too long");
	for (i = 0; i < n2; i++)
		check(encoded[i] >= ' ' && encoded[i] <= '~', "percent: not printable");
	check(mrpc_grpc_percent_decode(encoded, n2, again, room) == n && !memcmp(out, again, n),
	      "percent: differs");
	free(encoded);
	free(again);
	free(out);
}

static void fuzz_base64(const u8 *data, size_t len, u32 room)
{
	u8 *out = malloc(room + 1), *encoded, *again = malloc(room + 1);
	int n = mrpc_grpc_base64_decode(data, len, out, room);

	if (n >= 0) {
		u32 digits = MRPC_GRPC_BASE64_LEN(n);

		check((u32)n <= room, "base64: too long");
		encoded = malloc(digits + 1);
		check(mrpc_grpc_base64_encode(out, n, encoded) == digits, "base64: length");
		/* All but the last digit's spare bits. */
		check(!digits || !memcmp(encoded, data, digits - 1), "base64: digits");
		check(mrpc_grpc_base64_decode(encoded, digits, again, room) == n &&
		      !memcmp(out, again, n), "base64: differs");
		free(encoded);
	}
	free(again);
	free(out);
}

static void fuzz_timeout(const u8 *data, size_t len)
{
	u8 text[MRPC_GRPC_TIMEOUT_LEN];
	u64 us = 0, again = 0;
	u32 n;

	if (mrpc_grpc_timeout_parse(data, len, &us))
		return;
	n = mrpc_grpc_timeout_format(us, text);
	check(n >= 2 && n <= sizeof(text), "timeout: length");
	if (us)
		check(!mrpc_grpc_timeout_parse(text, n, &again) && (!again || again >= us) &&
		      again - us <= us / 1000, "timeout: differs");
}

static void fuzz_path(const u8 *data, size_t len)
{
	struct mrpc_grpc_path path;
	char text[40];

	if (mrpc_grpc_path_split((const char *)data, len, &path))
		return;
	check(path.service_len + path.method_len + 2u == len && path.service_len &&
	      path.method_len && data[path.service_len + 1] == '/', "path");
	check(mrpc_grpc_path_unknown(&path, true, text, sizeof(text)) == strlen(text), "sentence");
}

static void fuzz_prefix(struct input *in)
{
	u8 encoding = take(in), accept = take(in) | MRPC_GRPC_ACCEPT_IDENTITY;
	u8 whole[MRPC_GRPC_PREFIX], piece = take(in) % 5 + 1;
	struct mrpc_grpc_prefix p = { 0 };
	struct mrpc_grpc_verdict v;
	u32 have = 0, n;

	if (in->len < sizeof(whole))
		return;
	while (!mrpc_grpc_prefix_whole(&p)) {
		n = min_t(u32, piece, in->len - have);
		have += mrpc_grpc_prefix_take(&p, in->data + have, n);
	}
	check(have == sizeof(whole), "prefix: bytes");
	mrpc_grpc_prefix_check(&p, 1 << 20, encoding & 3, accept, &v);
	check(!v.kind == !v.why, "prefix: no reason");
	if (v.kind)
		return;
	mrpc_grpc_prefix_write(whole, mrpc_grpc_prefix_compressed(&p), mrpc_grpc_prefix_len(&p));
	check(!memcmp(whole, in->data, sizeof(whole)), "prefix: differs");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct input in = { data, len };
	u8 mode = take(&in);

	switch (mode & 7) {
	case 0:
		fuzz_request(&in);
		break;
	case 1:
		fuzz_response(&in);
		break;
	case 2:
		fuzz_meta(&in);
		break;
	case 3:
		fuzz_percent(in.data, in.len, mode & 8 ? MRPC_MAX_DETAIL : mode >> 4);
		break;
	case 4:
		fuzz_base64(in.data, in.len, mode & 8 ? MRPC_MAX_META : mode >> 4);
		break;
	case 5:
		fuzz_timeout(in.data, in.len);
		break;
	case 6:
		fuzz_path(in.data, in.len);
		break;
	default:
		fuzz_prefix(&in);
	}
	fields_clear(&list);
	return 0;
}
