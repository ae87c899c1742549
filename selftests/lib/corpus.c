// SPDX-License-Identifier: GPL-2.0
/*
 * Writes seeds for the fuzz targets below a directory: "corpus DIR". They are
 * valid input, from which a fuzzer finds the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

#include "fuzz_h2.h"
#include "fuzz_verify.h"
#include "gen.h"
#include "h2_conform.h"
#include "h2_text.h"
#include "proto.h"
#include "lib/group/operation.h"
#include "lib/message/handshake.h"
#include "paths.h"
#include "lib/prio/wire.h"
#include "lib/rule/rule.h"
#include "rules/text.h"
#include "lib/message/wire.h"

#define SEEDS	16

static const char *top;

static void put(const char *target, const char *name, u32 number, const void *a, size_t a_len,
		const void *b, size_t b_len)
{
	char path[4096];
	FILE *f;

	mkdir(top, 0777);
	snprintf(path, sizeof(path), "%s/%s", top, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s-%u", top, target, name, number);
	f = fopen(path, "w");
	if (!f || fwrite(a, 1, a_len, f) != a_len || fwrite(b, 1, b_len, f) != b_len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void put_message(u32 number)
{
	struct fuzz_verify_hdr hdr = { .mode = FUZZ_VERIFY, .seed = number };
	struct gen g = gen_seeded(number);
	struct mrpc_schema_plan *plan = gen_plan(&g);
	struct model_pool pool = { 0 };
	struct gen_heap heap = { 0 };
	struct mrpc_msg_len len;
	struct model_msg *msg;
	u8 *wire;

	do {
		model_free(&pool);
		gen_heap_free(&heap);
		pool = (struct model_pool){ 0 };
		hdr.type = gen_below(&g, plan->nr_types);
		msg = gen_message(&g, &pool, plan, hdr.type, 6);
		free(model_encode(plan, msg, &len));
		hdr.text = gen_heap_write(&g, &heap, plan, msg);
	} while (mrpc_msg_total(&len) > 1000 || heap.size > 3000);
	hdr.mode = FUZZ_HEAP;
	put("verify", "heap", number, &hdr, sizeof(hdr), heap.mem, heap.size);

	wire = model_encode(plan, msg, &len);
	hdr.mode = FUZZ_VERIFY;
	hdr.text = len.text;
	hdr.bytes = len.bytes;
	put("verify", "message", number, &hdr, sizeof(hdr), wire, mrpc_msg_head_len(&len));
	free(wire);
	gen_heap_free(&heap);
	model_free(&pool);
	free(plan);
}

static void put_protobuf(u32 number)
{
	struct gen g = gen_seeded(number);
	struct mrpc_schema_plan *plan = gen_plan(&g);
	struct proto_vary v = { .g = &g, .plan = plan, .merges = 4 };
	struct model_pool pool = { 0 };
	struct proto_bytes b, varied;
	struct mrpc_msg_len len;
	struct model_msg *msg;
	u8 hdr[2] = { number };
	u8 *wire;

	hdr[1] = gen_below(&g, plan->nr_types);
	msg = gen_message(&g, &pool, plan, hdr[1], 4);
	proto_season(&g, &pool, plan, msg);
	wire = model_encode(plan, msg, &len);
	b = proto_encode_wire(plan, hdr[1], wire, &len);
	varied = proto_vary(&v, hdr[1], b.p, b.len);
	if (varied.len < 1500)
		put("protobuf", "message", number, hdr, sizeof(hdr), varied.p, varied.len);
	free(varied.p);
	free(b.p);
	free(wire);
	model_free(&pool);
	free(plan);
}

static void put_path(u32 number)
{
	u8 hdr[3] = { number, 0, number };
	struct gen g = gen_seeded(number);
	struct model_pool pool = { 0 };
	struct mrpc_schema_plan *plan = gen_plan(&g);
	char text[256];

	g = gen_seeded(number);
	put("field", "path", number, hdr, sizeof(hdr), text,
	    path_random(&g, plan, 0, gen_message(&g, &pool, plan, 0, 10), text));
	model_free(&pool);
	free(plan);
}

static void put_schema(u32 number)
{
	struct gen g = gen_seeded(number);
	size_t len;
	u8 *schema = gen_schema(&g, &len);

	if (len < 1500)
		put("schema", "schema", number, schema, len, "", 0);
	free(schema);
}

static void put_rules(void)
{
	static const struct rule_verb deny[] = { { "deny", 1, 3, 0 }, { NULL } };
	static const char *const texts[] = {
		"deny status NOT_FOUND detail \"no\" if service t.S and method M000* and request",
		"deny if peer 10.0.0.0/8 and port 1-1024; deny if peer 2001:db8::/32 and uid > 1000",
		"deny if meta k = \"v\" and meta k in @a and meta l prefix \"x\" and size > 64K",
		"deny if field f0 = \"a\" and field f1 prefix \"b\" and field f2 in @a",
		"deny if field f0 -5-5 and field f1 >= 0.5; deny if field f2 true and field f3 present",
		"deny if field f0[1].f3[\"k\"]# < 7 and reply and cgroup 5\n# all others\ndeny",
	};
	struct rule_text_error err;
	size_t len;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		void *binary = rule_text_parse(texts[i], deny, &len, &err);

		put("rule", "text", i, "\1", 1, texts[i], strlen(texts[i]));
		put("rule", "binary", i, "\0", 1, binary, len);
		free(binary);
	}
}

/* A packet of each type, and a few messages each way with losses. */
static void put_prio(void)
{
	static const u8 events[] = "\x10\x20\x40\x40\x00\x40\x07"
		"\0\0\0\x50\7\x10\1\x10" "\1\0\0\x7f\4\x20\0\x10" "\0\5\0\x30\x30\xff"
		"\0\x0a\0\0\1\1\2\0\xff\0\0\x10";
	u8 buf[128] = { 0 };
	u32 type;

	for (type = MRPC_PRIO_DATA; type <= MRPC_PRIO_TYPE_MAX; type++) {
		struct mrpc_prio_packet p = {
			.type = type,
			.to = type != MRPC_PRIO_HELLO,
			.nr = type == MRPC_PRIO_CONTROL,
			.flags = type > MRPC_PRIO_CONTROL ? MRPC_PRIO_CRC : 0,
		};
		struct mrpc_prio_note note = { .op = MRPC_PRIO_GRANT, .msg = 1, .to = 2 };
		u32 len;

		if (type == MRPC_PRIO_DATA) {
			p.conn = 1;
			p.msg = 1;
			p.total = 2;
		} else if (type != MRPC_PRIO_COOKIE) {
			p.token = 1;
		}
		len = mrpc_prio_encode(&p, buf);
		if (p.nr)
			mrpc_prio_note_put(&note, buf + len);
		len += p.nr ? sizeof(struct mrpc_prio_entry) : 2 * (type == MRPC_PRIO_DATA);
		put("prio", "packet", type, "", 0, buf, len);
	}
	put("prio_events", "some", 0, "", 0, events, sizeof(events) - 1);
}

static void put_handshake(void)
{
	static const struct mrpc_frame frames[] = {
		{ .type = MRPC_WIRE_HELLO, .meta_len = 66 },
		{ .type = MRPC_WIRE_CALL, .flags = MRPC_WIRE_END | MRPC_WIRE_MSG, .call_id = 1,
		  .priority = 128, .method = 3, .meta_len = 9, .max_reply = 1 << 20,
		  .msg = { 16, 5, 8 }, .remaining_us = 5000 },
		{ .type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END | MRPC_WIRE_MSG, .call_id = 1,
		  .msg = { 8, 0, 0 } },
		{ .type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END, .status = MRPC_UNAVAILABLE,
		  .detail_len = 20 },
		{ .type = MRPC_WIRE_PING, .flags = MRPC_WIRE_CRC, .call_id = 9, .crc = 1 },
		{ .type = MRPC_WIRE_BYE },
		{ .type = MRPC_WIRE_FEATURES, .call_id = 2 },
		{ .type = MRPC_WIRE_FEATURES_ACK, .call_id = 2 },
		{ .type = MRPC_WIRE_MESSAGE, .flags = MRPC_WIRE_MSG, .call_id = 1, .msg_no = 2,
		  .msg = { 8, 0, 16 } },
		{ .type = MRPC_WIRE_CREDIT, .call_id = 1, .remaining_us = 1 << 20 },
		{ .type = MRPC_WIRE_CHUNK, .call_id = 1, .meta_len = MRPC_WIRE_CHUNK_BODY,
		  .msg = { .bytes = 4096 } },
		{ .type = MRPC_WIRE_CHUNK, .call_id = 1, .msg_no = 4,
		  .msg = { .bytes = MRPC_WIRE_CHUNK_BYTES } },
		{ .type = MRPC_WIRE_CHUNK, .status = MRPC_UNAVAILABLE, .detail_len = 30 },
	};
	/* Two ranks that do the same. */
	static const struct mrpc_operation_form form = {
		.key = 1, .count = 1000, .ranks = 4, .rank = 2, .chunk = MRPC_WIRE_CHUNK_BYTES,
		.collective = MRPC_REDUCE, .algorithm = MRPC_BINOMIAL, .elem = MRPC_ELEM_F32,
	};
	struct mrpc_wire_operation operation[2];
	/* Announced both ways, answered, taken back. */
	static const char features[] = "\x31\x10\x01\x04\x12\x03\x04\x02\x00\x01";
	static const char meta[] = "\3\0\4\0key\1\2\3\4\10\0\0\0trace-id";
	static const char text[] = "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f, and ASCII for long";
	struct mrpc_hello hello = {
		.version_min = 1, .version_max = 1, .nr_services = 2, .max_message = 1 << 26,
		.max_calls = 256, .identity_len = 3, .identity = (const u8 *)"abc",
	};
	u8 body[512];
	u32 i;

	hello.services[0].name = "kv.Store";
	hello.services[0].name_len = 8;
	hello.services[1].name = "echo.v1.Echo";
	hello.services[1].name_len = 12;
	put("handshake", "hello", 0, "\0", 1, body,
	    mrpc_hello_encode(&hello, body, sizeof(body)));
	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		struct mrpc_wire_hdr hdr;

		mrpc_wire_encode(&frames[i], &hdr);
		put("handshake", "header", i, "\1", 1, &hdr, sizeof(hdr));
	}
	put("handshake", "meta", 0, "\2", 1, meta, sizeof(meta) - 1);
	put("handshake", "text", 0, "\3", 1, text, sizeof(text) - 1);
	put("handshake", "features", 0, "\4", 1, features, sizeof(features) - 1);
	mrpc_operation_encode(&form, &operation[0]);
	operation[1] = operation[0];
	put("handshake", "operation", 0, "\6", 1, operation, sizeof(operation));
}

/* Blocks for the decoders, and fields for the encoders, of requests and replies. */
static void put_hpack(void)
{
	static const char request[] =
		"\0\0\x55\x83\x86\x44\x0f/kv.Store/Fetch\x41\x09localhost\x40\x02te\x08trailers"
		"\x5f\x10" "application/grpc\x7a\x04grpc\x00\x0cgrpc-timeout\x03" "10m"
		"\0\x07\x83\x86\xc2\xc1\xc0\xbf\xbe";
	static const char huffman[] =
		"\0\0\x11\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"
		"\0\x0c\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf"
		"\0\x05\x3f\xe1\x1f\xbe\x88";
	static const char fields[] =
		"\1\x00\x05/path\x20\x10" "application/grpc\x41\x03" "10m\x06\x06secret\x03xyz\x0e"
		"\x0f\x00\x64\x0f\x10\x00\x00\x05/path\x20\x10" "application/grpc\x0e";

	put("hpack", "request", 0, "", 0, request, sizeof(request) - 1);
	put("hpack", "huffman", 0, "", 0, huffman, sizeof(huffman) - 1);
	put("hpack", "fields", 0, "", 0, fields, sizeof(fields) - 1);
}

/* Each case of the table of conformance: streams are opened, then the peer says its frames. */
static void put_h2_case(const struct h2_case *c, u32 number)
{
	u8 head[64] = { c->client ? 0 : FUZZ_SERVER };
	u32 len = 1, n;
	u8 *in;

	if (!c->raw)
		head[0] |= FUZZ_BEGUN;
	if (number % 2)
		head[0] |= FUZZ_GREEDY;
	for (n = 0; c->open && c->open[n]; n++) {
		head[len++] = FUZZ_OPEN;
		head[len++] = c->open[n] == 'e';
	}
	n = h2_text(c->in, &in);
	/* The long ones show nothing that others do not. */
	if (n < 1000) {
		head[len++] = FUZZ_INPUT | n >> 8;
		head[len++] = n;
		put("h2", "case", number, head, len, in, n);
	}
	free(in);
}

static void put_h2(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(h2_cases); i++)
		put_h2_case(&h2_cases[i], i);
}

/* Fields: numbers in the lists of fuzz_grpc.c, of a name and of a value each. */
static void put_grpc(void)
{
	static const struct {
		const char *name;
		const char *input;
		u32 len;
	} seeds[] = {
#define SEED(name, input) { name, input, sizeof(input) - 1 }
		SEED("request", "\x00\x01\x00\x00\x00\x01\x01\x02\x02\x03\x03\x06\x06"
				"\x07\x07\x05\x05\x10\x0e\x16\x1b\x17\x13"),
		SEED("request", "\x00\x01\x00\x00\x16\x01\x01\x02\x02\x05\x05\x22name\x23value!"),
		SEED("response", "\x01\x01\x08\x04\x1c\x16\x1b\x0c\x04\x04\x05\x05\x16"
				 "\x1b\x0d\x0d\x0b\x0e\x0d\x0f\x12"),
		SEED("response", "\x01\x01\x0d\x04\x04\x05\x05\x0d\x0c"),
		SEED("meta", "\x02\x00\3\0\5\0keyvalue\5\0\2\0k-bin\1\2"),
		SEED("percent", "\x0b" "caf%C3%A9%E2%98%BA%"),
		SEED("base64", "\x0c" "AAECAw=="),
		SEED("timeout", "\x05" "99999999M"),
		SEED("path", "\x06/a.b.C/D"),
		SEED("prefix", "\x07\x02\x07\x01\x01\0\0\1\0"),
#undef SEED
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(seeds); i++)
		put("grpc", seeds[i].name, i, seeds[i].input, seeds[i].len, "", 0);
}

/* Compressed messages: gzip, then deflate, of all block types. */
static void put_inflate(void)
{
	static const int levels[] = { 0, 1, 6, 9 };
	u8 plain[1500], packed[2000], first;
	u32 i;

	for (i = 0; i < sizeof(plain); i++)
		plain[i] = i % 7 ? (u8)"mrpc"[i * i % 4] : i;
	for (i = 0; i < 4 * ARRAY_SIZE(levels); i++) {
		z_stream z = { .next_in = plain, .avail_in = i & 2 ? sizeof(plain) : 40,
			       .next_out = packed, .avail_out = sizeof(packed) };

		first = i & 1;
		if (deflateInit2(&z, levels[i / 4], Z_DEFLATED, MAX_WBITS + (first ? 16 : 0), 8,
				 i & 2 ? Z_DEFAULT_STRATEGY : Z_FIXED) != Z_OK ||
		    deflate(&z, Z_FINISH) != Z_STREAM_END || deflateEnd(&z) != Z_OK)
			exit(1);
		put("inflate", first ? "gzip" : "deflate", i, &first, 1, packed, z.total_out);
	}
}

int main(int argc, char **argv)
{
	u32 i;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIR\n", argv[0]);
		return 2;
	}
	top = argv[1];
	for (i = 0; i < SEEDS; i++) {
		put_message(i);
		put_path(i);
		put_protobuf(i);
		put_schema(i);
	}
	put_grpc();
	put_inflate();
	put_handshake();
	put_prio();
	put_rules();
	put_hpack();
	put_h2();
	return 0;
}
