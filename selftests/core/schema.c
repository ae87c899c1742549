// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/core/schema kmod/lib/message/schema kmod/call/handshake */
/*
 * The kernel's binding of schemas: what it refuses and how it says so, its cache, and what two
 * ends with different schemas are told.
 */
#include <errno.h>
#include <sys/mman.h>

#include "tap.h"
#include "raw.h"
#include "gen.h"

static struct raw s;

static struct mrpc_bind bind_ok(struct raw *session, const void *schema, u32 len)
{
	struct mrpc_bind b;
	int id = raw_bind(session, schema, len, &b);

	CHECK_MSG(id > 0, "%s: %s", strerror(-id), session->why);
	return b;
}

/* A schema that was never bound before. */
static u8 *fresh(size_t *len)
{
	static char name[64];
	struct gen_schema *g = calloc(1, sizeof(*g));
	u8 *binary;

	snprintf(name, sizeof(name), "t.S%llu", (unsigned long long)raw_now());
	g->service = name;
	gen_add_type(g);
	gen_add_field(g, 1, MRPC_KIND_UINT32, 0, MRPC_SCHEMA_NO_TYPE, MRPC_SCHEMA_NO_ONEOF);
	gen_add_method(g, 0, 0);
	binary = gen_schema_binary(g, len);
	free(g);
	return binary;
}

TEST(hit_and_miss)
{
	struct mrpc_bind first, again, other;
	struct raw s2;
	size_t len;
	u8 *schema = fresh(&len);

	raw_open(&s, 0, 0);
	first = bind_ok(&s, schema, len);
	CHECK_EQ(first.hit, 0);
	CHECK(first.bind_ns && first.bind_ns < RAW_S);
	again = bind_ok(&s, schema, len);
	CHECK_EQ(again.hit, 1);
	CHECK_EQ(again.id, first.id);
	CHECK(!memcmp(again.hash, first.hash, MRPC_HASH_LEN));
	raw_open(&s2, 0, 0);
	other = bind_ok(&s2, schema, len);
	CHECK_EQ(other.hit, 1);
	CHECK(!memcmp(other.hash, first.hash, MRPC_HASH_LEN));
	raw_close(&s);
	raw_close(&s2);
	CHECK(raw_sessions(0, 5000));
	/* No session has the schema any more, but it is still cached. */
	raw_open(&s, 0, 0);
	again = bind_ok(&s, schema, len);
	CHECK_EQ(again.hit, 1);
	NOTE("a miss took %llu us, a hit %llu us", (unsigned long long)first.bind_ns / 1000,
	     (unsigned long long)again.bind_ns / 1000);
	raw_close(&s);
	free(schema);
}

/* The kernel's verdict and reason are those of the native verifier. */
static unsigned int same_verdict(const u8 *schema, u32 len)
{
	struct mrpc_schema_error err = { 0 };
	struct mrpc_schema_plan *plan = gen_compile(schema, len, &err);
	int id = raw_bind(&s, schema, len, NULL);

	if (id == -EDQUOT) {
		raw_close(&s);
		raw_open(&s, 0, 0);
		id = raw_bind(&s, schema, len, NULL);
	}
	if (plan) {
		CHECK_MSG(id > 0, "%s: %s", strerror(-id), s.why);
	} else {
		CHECK_MSG(id == -EINVAL || id == -E2BIG, "%d instead of: %s", id, err.what);
		CHECK_MSG(strstr(s.why, err.what), "\"%s\" is not in \"%s\"", err.what, s.why);
	}
	free(plan);
	return id < 0;
}

TEST_LIMIT(damaged, 120)
{
	static const u8 flips[] = { 1, 0x20, 0x80, 0xff };
	u32 len = test_Types_service.schema_len, i, k, refused = 0, total = 0;
	u8 *copy = malloc(len);

	raw_open(&s, 0, 0);
	for (i = 0; i < len; i++) {
		for (k = 0; k < ARRAY_SIZE(flips); k++) {
			memcpy(copy, test_Types_service.schema, len);
			copy[i] ^= flips[k];
			refused += same_verdict(copy, len);
			total++;
		}
	}
	NOTE("%u of %u refused", refused, total);
	CHECK(refused > total / 2);
	raw_close(&s);
	free(copy);
}

TEST(truncated)
{
	u32 len = test_Types_service.schema_len, i;

	raw_open(&s, 0, 0);
	for (i = 1; i < len; i++)
		CHECK(same_verdict(test_Types_service.schema, i));
	raw_close(&s);
}

TEST(junk)
{
	struct gen g = gen_seeded(raw_now());
	u8 *buf = calloc(1, MRPC_SCHEMA_MAX_LEN);
	u32 i;

	NOTE("seed %llu", (unsigned long long)g.state);
	raw_open(&s, 0, 0);
	for (i = 0; i < 200; i++) {
		u32 len = 1 + gen_below(&g, i % 10 ? 500 : MRPC_SCHEMA_MAX_LEN);

		gen_bytes(&g, buf, len);
		if (i % 2)	/* valid for the first check */
			memcpy(buf, test_Types_service.schema, min(len, (u32)32));
		CHECK(same_verdict(buf, len));
	}
	raw_close(&s);
	free(buf);
}

TEST(lengths)
{
	u8 *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u32 len = test_Bulk_service.schema_len;
	u8 *big = calloc(1, MRPC_SCHEMA_MAX_LEN + 1);
	struct mrpc_bind b = { .size = sizeof(b) };

	raw_open(&s, 0, 0);
	CHECK_EQ(raw_bind(&s, big, 0, NULL), -E2BIG);
	CHECK(s.why[0]);
	CHECK_EQ(raw_bind(&s, big, MRPC_SCHEMA_MAX_LEN + 1, NULL), -E2BIG);
	CHECK(strstr(s.why, "262144"));
	CHECK_EQ(raw_bind(&s, big, ~0U, NULL), -E2BIG);
	CHECK_EQ(raw_bind(&s, big, MRPC_SCHEMA_MAX_LEN, NULL), -EINVAL);
	/* The schema ends where the memory ends; then it goes beyond. */
	CHECK_SYS(munmap(page + 4096, 4096));
	memcpy(page + 4096 - len, test_Bulk_service.schema, len);
	CHECK_EQ(raw_bind(&s, page + 4096 - len, len, NULL), s.ids[RAW_BULK]);
	CHECK_EQ(raw_bind(&s, page + 4096 - len + 1, len, NULL), -EFAULT);
	CHECK_EQ(raw_bind(&s, NULL, len, NULL), -EFAULT);
	b.schema = (uintptr_t)test_Bulk_service.schema;
	b.len = len;
	b.flags = 1;
	CHECK_EQ(raw_ioctl(s.fd, MRPC_IOC_BIND, &b), -EINVAL);
	b.flags = 0;
	b.resv = 1;
	CHECK_EQ(raw_ioctl(s.fd, MRPC_IOC_BIND, &b), -EINVAL);
	b.resv = 0;
	b.explain.resv = 1;
	CHECK_EQ(raw_ioctl(s.fd, MRPC_IOC_BIND, &b), -EINVAL);
	raw_close(&s);
	free(big);
}

/* One above each limit of a count. */
TEST(too_much)
{
	struct gen_schema *g;
	unsigned int which;
	size_t len;
	u32 i;

	raw_open(&s, 0, 0);
	for (which = 0; which < 3; which++) {
		u8 *schema;

		g = calloc(1, sizeof(*g));
		gen_add_type(g);
		if (which == 0) {
			for (i = 0; i <= MRPC_SCHEMA_MAX_METHODS; i++)
				gen_add_method(g, 0, 0);
		} else if (which == 1) {	/* a struct block of more than 32 KiB */
			gen_add_method(g, 0, 0);
			for (i = 1; i <= MRPC_SCHEMA_MAX_STRUCT / 8 + 1; i++)
				gen_add_field(g, i, MRPC_KIND_DOUBLE, 0, MRPC_SCHEMA_NO_TYPE,
					      MRPC_SCHEMA_NO_ONEOF);
		} else {
			gen_add_method(g, 0, 0);
			for (i = 1; i <= MRPC_SCHEMA_MAX_FIELDS + 1; i++)
				gen_add_field(g, i, MRPC_KIND_BOOL, 0, MRPC_SCHEMA_NO_TYPE,
					      MRPC_SCHEMA_NO_ONEOF);
		}
		schema = gen_schema_binary(g, &len);
		if (len > MRPC_SCHEMA_MAX_LEN)
			CHECK_EQ(raw_bind(&s, schema, len, NULL), -E2BIG);
		else
			CHECK(same_verdict(schema, len));
		free(schema);
		free(g);
	}
	raw_close(&s);
}

/* As many schemas as a session may have. After that the existing ones are still found. */
TEST(session_full)
{
	unsigned int i;
	u8 *schema;
	size_t len;
	int id;

	raw_open(&s, 0, 0);
	for (i = RAW_SERVICES; i < MRPC_MAX_SCHEMAS; i++) {
		schema = fresh(&len);
		CHECK_EQ(raw_bind(&s, schema, len, NULL), i + 1);
		free(schema);
	}
	schema = fresh(&len);
	CHECK_EQ(raw_bind(&s, schema, len, NULL), -EDQUOT);
	id = raw_bind(&s, test_Bulk_service.schema, test_Bulk_service.schema_len, NULL);
	CHECK_EQ(id, s.ids[RAW_BULK]);
	free(schema);
	raw_close(&s);
}

static void hex(char *to, const u8 *hash)
{
	unsigned int i;

	for (i = 0; i < MRPC_HASH_LEN; i++)
		sprintf(to + 2 * i, "%02x", hash[i]);
}

/* The client's program has another version of the schema than the server's. */
static void mismatch(const char *how)
{
	static struct raw_pair p;
	u32 len = test_Bulk_service.schema_len;
	char ours[2 * MRPC_HASH_LEN + 1], theirs[2 * MRPC_HASH_LEN + 1];
	u8 *copy = malloc(len);
	struct mrpc_connect c;
	struct mrpc_bind b;
	size_t other_len;
	u8 *other = fresh(&other_len);

	raw_pair(&p, how, 1);
	hex(theirs, bind_ok(&p.c, test_Bulk_service.schema, len).hash);
	memcpy(copy, test_Bulk_service.schema, len);
	copy[len - 2] ^= 1;	/* the last letter of the last field's name */
	b = bind_ok(&p.c, copy, len);
	hex(ours, b.hash);
	c = raw_target(&p.c, p.addr);
	c.schemas[RAW_BULK] = b.id;
	CHECK_EQ(raw_connect_to(&p.c, &c), -EPROTO);
	CHECK_MSG(strstr(p.c.why, "test.Bulk"), "not in: %s", p.c.why);
	CHECK_MSG(strstr(p.c.why, ours), "not in: %s", p.c.why);
	CHECK_MSG(strstr(p.c.why, theirs), "not in: %s", p.c.why);
	/* A service that the server does not have. */
	c = raw_target(&p.c, p.addr);
	c.schemas[RAW_TYPES] = bind_ok(&p.c, other, other_len).id;
	CHECK_EQ(raw_connect_to(&p.c, &c), -EPROTO);
	CHECK_MSG(strstr(p.c.why, "t.S"), "not in: %s", p.c.why);
	CHECK(raw_connect(&p.c, p.addr) > 0);
	CHECK(raw_server_conns(&p.srv, 2, 5000));
	raw_pair_end(&p);
	free(copy);
	free(other);
}

TEST_EACH_TRANSPORT(mismatch, mismatch)

/* Messages nest up to a limit. So a message cannot really contain itself. */
TEST(recursion)
{
	static struct raw_pair p;
	struct test_All *all;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	u32 root, depth, i;

	raw_pair(&p, "tcp4", 1);
	root = raw_alloc(&p.c, 100 * sizeof(*all));
	all = (void *)(p.c.send + root);
	for (depth = MRPC_MAX_DEPTH - 1; depth <= MRPC_MAX_DEPTH + 1; depth++) {
		for (i = 0; i < 100; i++)	/* relative to the root */
			all[i].f_all = (struct mrpc_ref){ (i + 1) * sizeof(*all), i + 1 < depth };
		sqe = raw_sqe(p.conn, RAW_ECHO_ALL, root);
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_MSG(cqe.status == (depth > MRPC_MAX_DEPTH ? MRPC_INVALID_ARGUMENT : MRPC_OK),
			  "depth %u: status %u", depth, cqe.status);
		raw_done(&p.c, &cqe);
	}
	all->f_all = (struct mrpc_ref){ 0, 1 };		/* itself */
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_INVALID_ARGUMENT);
	raw_done(&p.c, &cqe);
	raw_pair_end(&p);
}

static bool stop;

/* Binds the largest possible schemas, again and again. */
static void *bind_large(void *arg)
{
	static struct raw mine[2];
	unsigned long nr = (unsigned long)arg;
	char name[64];
	unsigned int n = 0, i;

	raw_open(&mine[nr], 0, 0);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		struct gen_schema *g = calloc(1, sizeof(*g));
		size_t len;
		u8 *schema;

		snprintf(name, sizeof(name), "t.L%lu_%llu", nr, (unsigned long long)raw_now());
		g->service = name;
		for (i = 0; i < 500; i++)
			gen_add_method(g, 0, 0);
		gen_add_type(g);
		for (i = 1; i < 1500; i++)
			gen_add_field(g, i, MRPC_KIND_STRING, 0, MRPC_SCHEMA_NO_TYPE,
				      MRPC_SCHEMA_NO_ONEOF);
		schema = gen_schema_binary(g, &len);
		if (raw_bind(&mine[nr], schema, len, NULL) == -EDQUOT) {
			raw_close(&mine[nr]);
			raw_open(&mine[nr], 0, 0);
		}
		free(schema);
		free(g);
		n++;
	}
	raw_close(&mine[nr]);
	NOTE("%u large schemas bound", n);
	return NULL;
}

TEST_LIMIT(others_go_on, 120)
{
	static struct raw_pair p;
	uint64_t start, took, worst = 0, until;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	pthread_t t[2];
	unsigned long i, n = 0;

	raw_pair(&p, "tcp4", 1);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&t[i], NULL, bind_large, (void *)i));
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 100, NULL));
	for (until = raw_now() + 5 * RAW_S; raw_now() < until; n++) {
		start = raw_now();
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
		took = raw_now() - start;
		if (took > worst)
			worst = took;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	NOTE("%lu calls, the slowest took %llu us", n, (unsigned long long)worst / 1000);
	/* If binding kept a processor or a lock from others, it would be all of this time. */
	CHECK(worst < 4 * RAW_S * raw_scale());
	raw_pair_end(&p);
}
