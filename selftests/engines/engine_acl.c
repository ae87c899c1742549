// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/acl kmod/rules kmod/lib/rule */
/*
 * The acl engine: which calls are allowed, at which end, and what the denied caller and the
 * server's application see.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "gen.h"
#include "load.h"
#include "operator.h"
#include "peer.h"
#include "raw_tls.h"

enum { ALLOW, DENY };

static struct raw_pair p;
static struct load l;
static struct op_rules r;

static void begin(const char *how)
{
	op_del_all();
	raw_pair(&p, how, 2);
}

static void end(void)
{
	op_del_all();
	raw_pair_end(&p);
}

/* Calls @method. Return: its status; and its detail if @detail is not NULL. */
static unsigned int call(uint32_t method, uint64_t tag, uint32_t len, const char *text,
			 char *detail)
{
	uint32_t root = raw_blob(&p.c, tag, len, text);
	struct mrpc_sqe sqe = raw_sqe(p.conn, method, root);
	struct mrpc_cqe cqe;

	if (detail)
		*detail = 0;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	if (detail && cqe.status)
		raw_detail(&p.c, &cqe, detail, MRPC_MAX_DETAIL + 1);
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
	return cqe.status;
}

static void deny_text(const char *text)
{
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_ABORTED, "not this one");
	op_cond_text(&r, MRPC_COND_FIELD, MRPC_MATCH_EQUAL, "text", text);
}

/* At either end, with small and large messages, over each transport. */
static void by_field(const char *how, const char *side)
{
	char detail[MRPC_MAX_DETAIL + 1], words[32];
	uint64_t before;
	uint32_t len;

	begin(how);
	deny_text("secret");
	snprintf(words, sizeof(words), "side=%s", side);
	op_must_add("acl", words, &r);
	for (len = 0; len <= 1000000; len = 10 * len + 100) {
		before = raw_server_requests(&p.srv);
		CHECK_EQ(call(RAW_ECHO, 1, len, "secret", detail), MRPC_ABORTED);
		CHECK_STR(detail, "not this one");
		CHECK_EQ(raw_server_requests(&p.srv), before);
		CHECK_EQ(call(RAW_ECHO, 2, len, "secre", NULL), MRPC_OK);
		CHECK_EQ(call(RAW_ECHO, 3, len, "secrets", NULL), MRPC_OK);
		CHECK_EQ(call(RAW_ECHO, 4, len, NULL, NULL), MRPC_OK);
		CHECK_EQ(raw_server_requests(&p.srv), before + 3);
	}
	CHECK_EQ(op_counter("acl", "denied"), 5);
	CHECK_EQ(op_counter("acl", "allowed"), 15);
	CHECK_EQ(op_counter("acl", "undecided"), 0);
	end();
}

TEST(by_field_client)
{
	by_field("tcp4", "client");
}

TEST(by_field_server)
{
	by_field("tcp4", "server");
}

TEST(by_field_loop)
{
	by_field("loop", "client");
	by_field("loop", "server");
}

static bool in_heap(const struct raw *s, const void *what, size_t len)
{
	return memmem(s->recv, s->recv_len, what, len);
}

/* Denied by text, and by the content of a byte field: the server never sees the message. */
static void never_seen(const char *how)
{
	static const char mark[] = "MARK-OF-WHAT-IS-DENIED";
	uint32_t sizes[] = { 100, 5000, 300000 }, i;
	uint8_t bytes[64];

	begin(how);
	p.srv.keep = true;	/* so that no request is overwritten */
	op_rules_begin(&r);
	op_rule(&r, DENY, 0, NULL);
	op_cond_text(&r, MRPC_COND_FIELD, MRPC_MATCH_PREFIX, "text", "MARK");
	op_rule(&r, DENY, 0, NULL);
	raw_fill(bytes, 77, sizeof(bytes));
	op_cond(&r, MRPC_COND_FIELD, MRPC_MATCH_PREFIX, "data", bytes, 8);
	op_must_add("acl", "side=server", &r);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK_EQ(call(RAW_ACK, 5, sizes[i], "other", NULL), MRPC_OK);
		CHECK_EQ(call(RAW_ACK, 6, sizes[i], mark, NULL), MRPC_PERMISSION_DENIED);
		CHECK_EQ(call(RAW_ACK, 77, sizes[i], "bytes", NULL), MRPC_PERMISSION_DENIED);
	}
	CHECK(!in_heap(&p.srv.s, mark, sizeof(mark) - 1));
	CHECK(!in_heap(&p.srv.s, bytes, sizeof(bytes)));
	raw_fill(bytes, 6, sizeof(bytes));
	CHECK(!in_heap(&p.srv.s, bytes, sizeof(bytes)));
	raw_fill(bytes, 5, sizeof(bytes));
	CHECK(in_heap(&p.srv.s, bytes, sizeof(bytes)));
	CHECK_EQ(op_counter("acl", "undecided"), 0);
	/* Without the engine the messages come through. */
	op_must_del("acl");
	CHECK_EQ(call(RAW_ACK, 77, 5000, mark, NULL), MRPC_OK);
	CHECK(in_heap(&p.srv.s, mark, sizeof(mark) - 1));
	raw_fill(bytes, 77, sizeof(bytes));
	CHECK(in_heap(&p.srv.s, bytes, sizeof(bytes)));
	end();
}

TEST(never_seen_tcp)
{
	never_seen("tcp4");
}

TEST(never_seen_loop)
{
	never_seen("loop");
}

/* Bytes by reference in the application's heap are copied and checked. The copy is sent. */
TEST(bytes_at_the_client)
{
	uint8_t bytes[8];

	begin("tcp4");
	raw_fill(bytes, 77, sizeof(bytes));
	op_rules_begin(&r);
	op_rule(&r, DENY, 0, NULL);
	op_cond(&r, MRPC_COND_FIELD, MRPC_MATCH_PREFIX, "data", bytes, 8);
	op_must_add("acl", "side=client", &r);
	CHECK_EQ(call(RAW_ECHO, 77, 300000, "x", NULL), MRPC_PERMISSION_DENIED);
	CHECK_EQ(call(RAW_ECHO, 78, 300000, "x", NULL), MRPC_OK);
	CHECK_EQ(call(RAW_ECHO, 77, 100, NULL, NULL), MRPC_PERMISSION_DENIED);
	CHECK_EQ(call(RAW_ECHO, 78, 100, NULL, NULL), MRPC_OK);
	CHECK_EQ(op_counter("acl", "undecided"), 0);
	/* Bytes beyond the copy limit are unknown, so the message does not pass. */
	CHECK_EQ(call(RAW_ACK, 78, 20 << 20, "x", NULL), MRPC_PERMISSION_DENIED);
	CHECK_EQ(op_counter("acl", "undecided"), 1);
	op_must_del("acl");
	CHECK_EQ(call(RAW_ACK, 78, 20 << 20, "x", NULL), MRPC_OK);
	end();
}

/*
 * The head of a message has come, and it waits elsewhere when the engine is added. The engine
 * looks at the message's bytes. It judges the message when they have come.
 */
TEST(half_received)
{
	static struct peer w;
	static u8 body[4096];
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	uint8_t bytes[8];
	u32 size, tag;

	begin("tcp4");
	peer_shake(&w, p.srv.s.port);
	raw_fill(bytes, 77, sizeof(bytes));
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_ABORTED, NULL);
	op_cond(&r, MRPC_COND_FIELD, MRPC_MATCH_PREFIX, "data", bytes, 8);
	for (tag = 77; tag <= 78; tag++) {
		op_must_add("null", "side=server", NULL);
		CHECK_EQ(op_pause("null", 2, true), 0);
		size = peer_blob(body, &len, tag, 3000, NULL);
		f = peer_call_frame(peer_id(&w, 0), RAW_ECHO, &len);
		CHECK(peer_send_frame(&w, &f, body, size - 1000));
		while (op_dir("null", true, MRPC_A_ENGINE_DIR_QUEUED) < 1)
			raw_sleep(RAW_MS);
		op_must_add("acl", "side=server before=null", &r);
		op_must_del("null");
		CHECK(peer_recv(&w, 200) < 0);
		CHECK(peer_send(&w, body + size - 1000, 1000));
		peer_expect(&w, MRPC_WIRE_REPLY);
		CHECK_EQ(w.frame.status, tag == 77 ? MRPC_ABORTED : MRPC_OK);
		CHECK_EQ(op_counter("acl", "undecided"), 0);
		op_must_del("acl");
	}
	peer_close(&w);
	end();
}

TEST(first_match_and_default)
{
	char detail[MRPC_MAX_DETAIL + 1];

	begin("tcp4");
	op_rules_begin(&r);
	op_rule(&r, ALLOW, 0, NULL);
	op_cond_text(&r, MRPC_COND_METHOD, MRPC_MATCH_EQUAL, NULL, "Echo");
	op_cond_range(&r, MRPC_COND_FIELD, "tag", 10, 20);
	op_rule(&r, DENY, 0, NULL);
	op_cond_text(&r, MRPC_COND_METHOD, MRPC_MATCH_PREFIX, NULL, "Ec");
	op_must_add("acl", "side=client", &r);
	CHECK_EQ(call(RAW_ECHO, 10, 5, NULL, NULL), MRPC_OK);
	CHECK_EQ(call(RAW_ECHO, 20, 5, NULL, NULL), MRPC_OK);
	CHECK_EQ(call(RAW_ECHO, 21, 5, NULL, detail), MRPC_PERMISSION_DENIED);
	CHECK_STR(detail, "denied by rule 2");
	CHECK_EQ(call(RAW_ACK, 21, 5, NULL, NULL), MRPC_OK);
	/* The same rules with another default are a change of the configuration. */
	op_must_set("acl", "default=deny", NULL);
	CHECK_EQ(call(RAW_ECHO, 10, 5, NULL, NULL), MRPC_OK);
	CHECK_EQ(call(RAW_ACK, 21, 5, NULL, detail), MRPC_PERMISSION_DENIED);
	CHECK_STR(detail, "no rule allows it");
	end();
}

/* Rules by the caller's user and address. */
TEST(by_caller)
{
	begin("tcp4");
	op_rules_begin(&r);
	op_rule(&r, ALLOW, 0, NULL);
	op_cond_range(&r, MRPC_COND_UID, NULL, 0, 0);
	op_cond_net(&r, "127.0.0.0", 8);
	op_must_add("acl", "default=deny", &r);
	CHECK_EQ(call(RAW_ECHO, 1, 5, NULL, NULL), MRPC_OK);
	op_rules_begin(&r);
	op_rule(&r, DENY, 0, NULL);
	op_cond_range(&r, MRPC_COND_UID, NULL, 1, 1000000);
	op_rule(&r, DENY, 0, NULL);
	op_cond_net(&r, "10.0.0.0", 8);
	op_rule(&r, ALLOW, 0, NULL);
	op_cond_net(&r, "127.0.0.1", 32);
	op_must_set("acl", "", &r);
	CHECK_EQ(call(RAW_ECHO, 1, 5, NULL, NULL), MRPC_OK);
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_UNAUTHENTICATED, NULL);
	op_cond_range(&r, MRPC_COND_PORT, NULL, 1, 65535);
	op_must_set("acl", "default=allow", &r);
	CHECK_EQ(call(RAW_ECHO, 1, 5, NULL, NULL), MRPC_UNAUTHENTICATED);
	end();
}

/* Rules by the peer's name, which only the server's end has. */
TEST(by_identity)
{
	begin("tls-tcp4");
	op_rules_begin(&r);
	op_rule(&r, ALLOW, 0, NULL);
	op_cond_text(&r, MRPC_COND_IDENTITY, MRPC_MATCH_PREFIX, NULL, "spiffe://test/");
	op_must_add("acl", "side=server default=deny", &r);
	CHECK_EQ(call(RAW_ECHO, 1, 5, NULL, NULL), MRPC_OK);
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_UNAUTHENTICATED, NULL);
	op_cond_text(&r, MRPC_COND_IDENTITY, MRPC_MATCH_EQUAL, NULL, RAW_TLS_IDENTITY);
	op_must_set("acl", "default=allow", &r);
	CHECK_EQ(call(RAW_ECHO, 1, 5, NULL, NULL), MRPC_UNAUTHENTICATED);
	op_must_del("acl");
	op_must_add("acl", "side=client default=allow", &r);
	CHECK_EQ(call(RAW_ECHO, 1, 5, NULL, NULL), MRPC_OK);
	end();
}

/* The server has replied, but the client never sees the reply. */
TEST(replies)
{
	static const char mark[] = "MARK-IN-THE-REPLY";
	uint64_t before;

	begin("tcp4");
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_DATA_LOSS, NULL);
	op_cond_range(&r, MRPC_COND_KIND, NULL, MRPC_RULE_REPLY, MRPC_RULE_REPLY);
	op_cond_text(&r, MRPC_COND_FIELD, MRPC_MATCH_PREFIX, "text", "MARK");
	op_must_add("acl", "side=client", &r);
	CHECK_EQ(call(RAW_ECHO, 1, 50, "MARK of another", NULL), MRPC_OK);
	op_must_set("acl", "replies=1", NULL);
	before = raw_server_requests(&p.srv);
	CHECK_EQ(call(RAW_ECHO, 1, 50, mark, NULL), MRPC_DATA_LOSS);
	CHECK_EQ(raw_server_requests(&p.srv), before + 1);
	CHECK(!in_heap(&p.c, mark, sizeof(mark) - 1));
	op_must_del("acl");
	op_must_add("acl", "side=server replies=1", &r);
	CHECK_EQ(call(RAW_ECHO, 1, 50, mark, NULL), MRPC_DATA_LOSS);
	CHECK(!in_heap(&p.c, mark, sizeof(mark) - 1));
	CHECK_EQ(call(RAW_ECHO, 1, 50, "else", NULL), MRPC_OK);
	end();
}

/* Rules change under load. Each call is judged by the old or by the new ones. */
TEST(change_under_load)
{
	unsigned int i;

	begin("tcp4");
	l.text = "mine";
	l.len = 3000;
	load_start(&l, &p.c, p.conn, 32);
	deny_text("yours");
	op_must_add("acl", "", &r);
	for (i = 0; i < 10; i++) {
		deny_text(i % 2 ? "theirs" : "hers");
		op_must_set("acl", "", &r);
		CHECK(load_more(&l, 40, 30000));
	}
	CHECK_EQ(load_failed(&l), 0);
	deny_text("mine");
	op_must_set("acl", "", &r);
	CHECK(load_more(&l, 300, 30000));
	CHECK(load_done(&l, MRPC_ABORTED) > 100);
	op_must_del("acl");
	CHECK(load_more(&l, 100, 30000));
	load_stop(&l);
	CHECK_EQ(load_except(&l, 1 << MRPC_OK | 1 << MRPC_ABORTED), 0);
	end();
}

/* Counters stay when connections end. */
TEST(counters_stay)
{
	begin("tcp4");
	deny_text("secret");
	op_must_add("acl", "side=client", &r);
	call(RAW_ECHO, 1, 5, "secret", NULL);
	call(RAW_ECHO, 1, 5, "other", NULL);
	op_must_set("acl", "default=deny", NULL);
	raw_pair_end(&p);
	raw_pair(&p, "loop", 1);
	call(RAW_ECHO, 1, 5, "other", NULL);
	raw_sleep(300 * RAW_MS * raw_scale());
	CHECK_EQ(op_counter("acl", "denied"), 2);
	CHECK_EQ(op_counter("acl", "allowed"), 1);
	end();
}

/* A set is edited while calls are judged by it. A large set costs no more. */
TEST_LIMIT(sets, 120)
{
	unsigned int i;
	uint64_t until;
	int err;

	begin("tcp4");
	op_keyset_del("blocked");
	CHECK_EQ(op_keyset_new("blocked", false), 0);
	CHECK_EQ(op_keyset_new("blocked", false), -EEXIST);
	CHECK_EQ(op_keyset_new("b l", false), -EINVAL);
	op_rules_begin(&r);
	op_rules_set(&r, "blocked");
	op_rule(&r, DENY, 0, NULL);
	op_cond_in(&r, "text", 0);
	op_must_add("acl", "side=server", &r);
	CHECK_EQ(op_keyset_del("blocked"), -EBUSY);
	CHECK(strstr(op_why, "1 engines"));
	CHECK_EQ(call(RAW_ECHO, 1, 5, "key-7", NULL), MRPC_OK);
	CHECK_EQ(op_keys("blocked", true, "key-%u", 0, 10), 0);
	CHECK_EQ(op_keys("blocked", true, "key-%u", 5, 15), 0);
	CHECK_EQ(op_keyset_keys("blocked"), 15);
	CHECK_EQ(call(RAW_ECHO, 1, 5, "key-7", NULL), MRPC_PERMISSION_DENIED);
	CHECK_EQ(call(RAW_ECHO, 1, 5, "key-15", NULL), MRPC_OK);
	CHECK_EQ(op_keys("blocked", false, "key-%u", 7, 8), 0);
	CHECK_EQ(call(RAW_ECHO, 1, 5, "key-7", NULL), MRPC_OK);
	/* The set grows many times. */
	l.text = "never-in-it";
	load_start(&l, &p.c, p.conn, 8);
	CHECK_EQ(op_keys("blocked", true, "key-%u", 0, 100000), 0);
	CHECK_EQ(op_keyset_keys("blocked"), 100000);
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	for (i = 0; i < 100000; i += 7919) {
		char key[32];

		snprintf(key, sizeof(key), "key-%u", i);
		CHECK_EQ(call(RAW_ECHO, 1, 5, key, NULL), MRPC_PERMISSION_DENIED);
		strcat(key, "x");
		CHECK_EQ(call(RAW_ECHO, 1, 5, key, NULL), MRPC_OK);
	}
	op_must_del("acl");
	/* Configurations are freed a little later. */
	until = raw_now() + 5 * RAW_S * raw_patience();
	while ((err = op_keyset_del("blocked")) == -EBUSY && raw_now() < until)
		raw_sleep(20 * RAW_MS);
	CHECK_EQ(err, 0);
	CHECK_EQ(op_keyset_del("blocked"), -ENOENT);
	end();
}

static void refused(int err, const char *why, const char *words)
{
	int got = op_add("acl", words, &r, NULL);

	CHECK_MSG(got == err, "%d, not %d: %s", got, err, op_why);
	CHECK_MSG(strstr(op_why, why), "'%s', not '%s'", op_why, why);
}

TEST(bad_input)
{
	op_del_all();
	deny_text("x");
	refused(-EINVAL, "default", "default=maybe");
	op_rule(&r, 7, 0, NULL);
	refused(-EINVAL, "rule 2: action 7; acl knows 0 (allow) and 1 (deny)", "");
	deny_text("x");
	op_rule_more(&r, 500000, 0);
	refused(-EINVAL, "rule 1: acl takes no share and no argument", "");
	op_rules_begin(&r);
	op_rule(&r, ALLOW, MRPC_ABORTED, NULL);
	refused(-EINVAL, "rule 1: allow takes no status and no detail", "");
	op_rules_begin(&r);
	op_rule(&r, DENY, 99, NULL);
	refused(-EINVAL, "rule 1", "");
	op_rules_begin(&r);
	op_rules_set(&r, "nobody");
	op_rule(&r, DENY, 0, NULL);
	op_cond_in(&r, "text", 0);
	refused(-ENOENT, "the rules refer to a set 'nobody', which there is not", "");
	deny_text("x");
	r.len -= 8;
	refused(-EINVAL, "the rules", "");
	r.buf[0] ^= 1;
	refused(-EINVAL, "the rules", "");
	/* A refused change leaves the old rules. */
	begin("loop");
	deny_text("x");
	op_must_add("acl", "", &r);
	op_rule(&r, 7, 0, NULL);
	CHECK_EQ(op_set("acl", "", &r, NULL), -EINVAL);
	CHECK_EQ(call(RAW_ECHO, 1, 5, "x", NULL), MRPC_ABORTED);
	end();
}

/* Limits of the schemas that the rules and the cache keep, and those of a pair. */
#define SCHEMAS_KEPT	(64 + 64 + RAW_SERVICES)

static void change_and_take_back(void)
{
	deny_text("another");
	op_must_set("acl", "percent=99", &r);
	CHECK_EQ(op_step("acl", 0, NULL), 0);
}

/* A client with a schema of its own comes once. The rules do not keep its schema for ever. */
static void strangers(void (*meanwhile)(void))
{
	begin("loop");
	deny_text("secret");
	op_must_add("acl", "", &r);
	raw_strangers(300, meanwhile);
	CHECK_MSG(raw_schemas(SCHEMAS_KEPT, 10000), "%lld schemas are left",
		  raw_file_number("/sys/class/misc/mrpc/schemas"));
	CHECK_EQ(call(RAW_ECHO, 1, 10, "secret", NULL), MRPC_ABORTED);
	CHECK_EQ(call(RAW_ECHO, 1, 10, "another", NULL), MRPC_OK);
	/* Schemas that the rules have dropped are bound again. */
	raw_pair_end(&p);
	raw_strangers(80, NULL);
	raw_pair(&p, "loop", 2);
	CHECK_EQ(call(RAW_ECHO, 1, 10, "secret", NULL), MRPC_ABORTED);
	CHECK_EQ(call(RAW_ECHO, 1, 10, "another", NULL), MRPC_OK);
	end();
}

TEST_LIMIT(strangers_come_and_go, 120)
{
	strangers(NULL);
}

TEST_LIMIT(strangers_and_changes, 180)
{
	strangers(change_and_take_back);
}

/* All engine types with rules drop such schemas. */
TEST_LIMIT(strangers_and_other_types, 180)
{
	static const char *const types[] = { "qos", "fault" };
	unsigned int i;

	op_del_all();
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		op_rules_begin(&r);
		op_rule(&r, 0, 0, NULL);
		op_cond_text(&r, MRPC_COND_FIELD, MRPC_MATCH_EQUAL, "text", "secret");
		op_must_add(types[i], "", &r);
		raw_strangers(300, NULL);
		CHECK_MSG(raw_schemas(SCHEMAS_KEPT, 10000), "%s: %lld schemas are left", types[i],
			  raw_file_number("/sys/class/misc/mrpc/schemas"));
		op_must_del(types[i]);
	}
}

/* Binds a schema with @nr methods of one type. */
static int bind_methods(struct raw *s, uint32_t nr)
{
	struct gen_schema *schema = calloc(1, sizeof(*schema));
	size_t len;
	uint8_t *binary;
	uint32_t i;
	int id;

	for (i = 0; i < nr; i++)
		gen_add_method(schema, 0, 0);
	gen_add_type(schema);
	gen_add_field(schema, 1, MRPC_KIND_UINT32, 0, MRPC_SCHEMA_NO_TYPE, MRPC_SCHEMA_NO_ONEOF);
	binary = gen_schema_binary(schema, &len);
	id = raw_bind(s, binary, len, NULL);
	free(binary);
	free(schema);
	return id;
}

/* One session serves and connects. Its thread does both while it waits. */
static int connect_methods(struct raw *s, uint32_t nr, const char *addr)
{
	struct mrpc_connect c;

	raw_open(s, 65536, 65536);
	c = raw_target(s, addr);
	memset(c.schemas, 0, sizeof(c.schemas));
	c.schemas[0] = bind_methods(s, nr);
	c.nr_schemas = 1;
	CHECK(raw_serve_at(s, &c) > 0);
	return raw_connect_to(s, &c);
}

/* Has "engine add" or "engine set" give the engine @nr rules of one condition each. Dies on failure. */
static void give_rules(const char *command, uint32_t nr)
{
	FILE *f = fopen("/tmp/many-rules", "w");
	char line[100];
	uint32_t i;

	CHECK(f);
	for (i = 0; i < nr; i++)
		fprintf(f, "deny if field f0 > %u\n", 1000 + i);
	CHECK_EQ(fclose(f), 0);
	snprintf(line, sizeof(line), "mrpc engine %s acl rules /tmp/many-rules", command);
	CHECK_EQ(system(line), 0);
	CHECK_EQ(unlink("/tmp/many-rules"), 0);
}

/* Rules times methods has a limit, so that a client's schema cannot cost minutes. */
TEST(too_many_for_a_schema)
{
	struct raw s;

	op_del_all();
	give_rules("add", 2048);
	CHECK(connect_methods(&s, 300, "loop:many") < 0);
	raw_close(&s);
	CHECK(connect_methods(&s, 200, "loop:less") > 0);
	raw_close(&s);
	op_must_del("acl");
}

static bool is_ready(struct raw *s, int conn)
{
	struct mrpc_conn_info info = { .size = sizeof(info), .conn = conn };

	return !raw_ioctl(s->fd, MRPC_IOC_CONN_INFO, &info) && info.state == MRPC_CONN_READY;
}

/* An application's schema does not decide which rules the operator may have. */
TEST(too_many_methods_for_new_rules)
{
	struct raw s[2];
	bool before;
	int conns[2];

	for (before = false;; before = true) {
		op_del_all();
		raw_pair(&p, "loop", 1);
		conns[0] = connect_methods(&s[0], 300, "loop:many");
		conns[1] = connect_methods(&s[1], 200, "loop:less");
		CHECK(conns[0] > 0 && conns[1] > 0);
		/* Schemas that have rules already are bound before anything is changed. */
		if (before)
			give_rules("add", 1);
		give_rules(before ? "set" : "add", 2048);
		CHECK(!is_ready(&s[0], conns[0]));
		CHECK(is_ready(&s[1], conns[1]));
		CHECK_EQ(call(RAW_ECHO, 1, 10, "fine", NULL), MRPC_OK);
		raw_close(&s[0]);
		raw_close(&s[1]);
		end();
		if (before)
			break;
	}
}
