// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/core/rpc kmod/lib/message/snapshot kmod/lib/message/message kmod/call */
/*
 * Messages of all types: random ones of test.All and of random schemas, laid out
 * as a careless application would, go to a server and back and are compared with
 * an independent encoding.
 */
#include <errno.h>

#include "tap.h"
#include "raw.h"
#include "gen.h"

static struct raw_pair p;

struct random_msg {
	u32 root;
	u32 block;
	u8 *wire;
	struct mrpc_msg_len len;
};

/* A random message in the client's send heap, and what must arrive of it. */
static struct random_msg make(struct gen *g, struct raw *s, const struct mrpc_schema_plan *plan,
			      u32 type, u32 budget)
{
	struct model_pool pool = { 0 };
	struct model_msg *msg = gen_message(g, &pool, plan, type, budget);
	struct gen_heap heap = { 0 };
	struct random_msg m;

	m.wire = model_encode(plan, msg, &m.len);
	m.root = gen_heap_write(g, &heap, plan, msg);
	m.block = raw_alloc(s, heap.used);
	memcpy(s->send + m.block, heap.mem, heap.used);
	m.root += m.block;
	gen_heap_free(&heap);
	model_free(&pool);
	return m;
}

static void unmake(struct raw *s, struct random_msg *m)
{
	raw_free(s, m->block);
	free(m->wire);
}

static void arrived(struct raw *s, const struct mrpc_cqe *cqe, const struct random_msg *m)
{
	CHECK_EQ(cqe->msg_len, mrpc_msg_total(&m->len));
	CHECK_MSG(!memcmp(raw_msg(s, cqe), m->wire, cqe->msg_len), "it is another message");
}

static void all_types(const char *how, unsigned int rounds)
{
	const struct mrpc_schema_plan *plan = raw_plan(RAW_TYPES);
	struct gen g = gen_seeded(raw_now());
	struct random_msg m;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	u64 bytes = 0;
	unsigned int i;

	NOTE("seed %llu", (unsigned long long)g.state);
	raw_pair(&p, how, 1);
	for (i = 0; i < rounds; i++) {
		m = make(&g, &p.c, plan, 0, 1 + gen_below(&g, i % 10 ? 30 : 1000));
		sqe = raw_sqe(p.conn, RAW_ECHO_ALL, m.root);
		if (mrpc_msg_total(&m.len) <= MRPC_MAX_COPY && gen_chance(&g, 30))
			sqe.flags = MRPC_SQE_COPY;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_MSG(cqe.status == MRPC_OK, "round %u: status %u", i, cqe.status);
		arrived(&p.c, &cqe, &m);
		bytes += cqe.msg_len;
		raw_done(&p.c, &cqe);
		unmake(&p.c, &m);
	}
	NOTE("%llu bytes", (unsigned long long)bytes);
	raw_pair_end(&p);
}

TEST_LIMIT(all_tcp, 120)
{
	all_types("tcp4", 300);
}

TEST_LIMIT(all_loop, 120)
{
	all_types("loop", 300);
}

/* Both ends in this thread: it serves what it has called. */
static void serve_one(struct raw *s, struct raw_qp *sq, const struct random_msg *m)
{
	struct mrpc_sqe reply = { .op = MRPC_OP_REPLY, .user_data = 1 };
	struct mrpc_cqe cqe;
	u32 root;

	raw_expect(sq, &cqe, MRPC_CQE_REQUEST, 5 * RAW_S);
	arrived(s, &cqe, m);
	root = raw_alloc(s, cqe.msg_len);
	memcpy(s->send + root, raw_msg(s, &cqe), cqe.msg_len);
	raw_done(s, &cqe);
	reply.conn = cqe.conn;
	reply.call = cqe.call;
	reply.root = root;
	CHECK(raw_push(sq, &reply));
	raw_expect(sq, &cqe, MRPC_CQE_SENT, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_free(s, root);
}

static void *accept_one(void *arg)
{
	raw_enter(arg, 1, 5 * RAW_S);
	return NULL;
}

/* A random schema: bound at both ends; its methods called where request and reply
 * are of the same type.
 */
static unsigned int random_schema(struct gen *g, const char *addr)
{
	struct mrpc_schema_error err;
	struct mrpc_schema_plan *plan;
	struct mrpc_connect c;
	struct raw_qp qp, sq;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	unsigned int calls = 0, i, n;
	struct raw a, b;
	int id, conn;
	pthread_t t;
	size_t len;
	char text[64];
	u8 *schema = gen_schema(g, &len);

	plan = gen_compile(schema, len, &err);
	CHECK(plan);
	raw_open(&a, 4 << 20, 4 << 20);
	raw_open(&b, 4 << 20, 4 << 20);
	raw_qp(&qp, &a, 4, 8, 0);
	raw_qp(&sq, &b, 4, 8, MRPC_QP_SERVE);
	c = raw_target(&b, addr);
	id = raw_bind(&b, schema, len, NULL);
	CHECK_MSG(id > 0, "bind: %s", b.why);
	c.nr_schemas = 1;
	c.schemas[0] = id;
	c.schemas[1] = 0;
	CHECK(raw_serve_at(&b, &c) > 0);
	snprintf(text, sizeof(text), "tcp:127.0.0.1:%u", b.port);
	id = raw_bind(&a, schema, len, NULL);
	c = raw_target(&a, strncmp(addr, "tcp", 3) ? addr : text);
	c.nr_schemas = 1;
	c.schemas[0] = id;
	c.schemas[1] = 0;
	CHECK(!pthread_create(&t, NULL, accept_one, &sq));
	conn = raw_connect_to(&a, &c);
	CHECK_MSG(conn > 0, "connect: %s", a.why);
	sqe = (struct mrpc_sqe){ .op = MRPC_OP_NOP };
	CHECK(raw_push(&sq, &sqe));	/* ends the thread's wait */
	raw_enter(&sq, 0, 0);
	pthread_join(t, NULL);
	raw_expect(&sq, &cqe, MRPC_CQE_NOP, RAW_S);

	for (i = 0; i < plan->nr_methods; i++) {
		const struct mrpc_method *m = &plan->methods[i];

		for (n = 0; m->request == m->reply && n < 5; n++, calls++) {
			struct random_msg msg = make(g, &a, plan, m->request, 1 + gen_below(g, 40));

			sqe = raw_sqe(conn, i, msg.root);
			CHECK(raw_push(&qp, &sqe));
			CHECK_EQ(raw_enter(&qp, 0, 0), 0);
			serve_one(&b, &sq, &msg);
			do {
				CHECK(raw_next(&qp, &cqe, 5 * RAW_S * raw_patience()));
			} while (cqe.type == MRPC_CQE_SENT);
			CHECK_EQ(cqe.status, MRPC_OK);
			arrived(&a, &cqe, &msg);
			raw_done(&a, &cqe);
			if (!(cqe.flags & MRPC_CQE_FREED))
				raw_expect(&qp, &cqe, MRPC_CQE_SENT, 5 * RAW_S);
			unmake(&a, &msg);
		}
	}
	raw_close(&a);
	raw_close(&b);
	free(plan);
	free(schema);
	return calls;
}

static void random_schemas(const char *addr)
{
	struct gen g = gen_seeded(raw_now());
	unsigned int calls = 0, i;

	NOTE("seed %llu", (unsigned long long)g.state);
	for (i = 0; i < 25; i++)
		calls += random_schema(&g, addr);
	NOTE("%u calls", calls);
	CHECK(calls);
	CHECK(raw_sessions(0, 5000));
}

TEST_LIMIT(random_tcp, 120)
{
	random_schemas("tcp:127.0.0.1:0");
}

TEST_LIMIT(random_loop, 120)
{
	random_schemas("loop:types");
}
