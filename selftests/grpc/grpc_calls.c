// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/grpc kmod/lib/http2 kmod/lib/grpc kmod/lib/protobuf */
/*
 * Calls between two mrpc hosts over gRPC's wire: many at the same time, replies out of order, ends
 * of listeners and processes under load, engines that come and go. No call is lost or comes twice.
 */
#include <errno.h>
#include <sys/wait.h>

#include "tap.h"
#include "load.h"
#include "operator.h"
#include "raw.h"
#include "rnd.h"

#define HUNG		64
#define DENY		1	/* an acl engine's action */
#define BOUND		(20 * RAW_S)

static struct raw_pair p;
static struct raw_qp qp;

static void begin(unsigned int threads)
{
	raw_load("mrpc_grpc");
	op_del_all();
	raw_pair(&p, "grpc4", threads);
}

/* The pair's end leaves nothing that refers to the module. */
static void end(void)
{
	op_del_all();
	CHECK(raw_server_calls(&p.srv, 0, 5000));
	raw_pair_end(&p);
	raw_must_unload("mrpc_grpc");
}

/* -- sizes ------------------------------------------------------------------------- */

/* Around the smallest and the largest frame, the stage, the first windows, and a message's growth. */
static const uint32_t sizes[] = {
	0, 1, 100, 500, 512, 1000, 1024, 4080, 4096, 16370, 16384, 16400, 32768, 65500, 65536, 65600,
	262100, 262144, 262200, 1 << 20,
};

#define SIZES_CALLS	240

TEST(sizes)
{
	unsigned int started = 0, replies = 0, freed = 0, i;
	static uint32_t roots[SIZES_CALLS];
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;

	begin(2);
	raw_qp(&qp, &p.c, 64, 256, 0);
	while (replies < SIZES_CALLS || freed < SIZES_CALLS) {
		while (started < SIZES_CALLS && started - replies < HUNG) {
			roots[started] = raw_blob(&p.c, started, sizes[started % ARRAY_SIZE(sizes)],
						  started % 3 ? NULL : "text");
			sqe = raw_sqe(p.conn, RAW_ECHO, roots[started]);
			sqe.user_data = started++;
			CHECK(raw_push(&qp, &sqe));
		}
		CHECK(raw_next(&qp, &cqe, BOUND * raw_patience()));
		i = cqe.user_data;
		CHECK(i < started);
		if (cqe.type == MRPC_CQE_REPLY) {
			replies++;
			CHECK_MSG(cqe.status == MRPC_OK, "call %u: status %u", i, cqe.status);
			CHECK_MSG(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, i,
					      sizes[i % ARRAY_SIZE(sizes)]),
				  "%u bytes came back wrong", sizes[i % ARRAY_SIZE(sizes)]);
			raw_done(&p.c, &cqe);
		}
		if (cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED) {
			freed++;
			raw_free(&p.c, roots[i]);	/* dies if it is not the first time */
		}
	}
	CHECK_EQ(raw_server_requests(&p.srv), SIZES_CALLS);
	end();
}

/* -- compression ------------------------------------------------------------------- */

#define PACKED_CALLS	(2 * ARRAY_SIZE(sizes))
#define PACKED_SURELY	500	/* a blob with so many bytes that are no noise gets smaller */

static bool came_packed[PACKED_CALLS];

static void note_packed(const struct mrpc_cqe *cqe, const void *msg)
{
	const struct test_Blob *blob = msg;

	if (blob->tag < PACKED_CALLS)
		came_packed[blob->tag] = cqe->flags & MRPC_CQE_COMPRESSED;
}

/* Fills a blob with noise, which gets no smaller; or looks if it is filled so. */
static bool noise(struct test_Blob *blob, bool fill)
{
	uint64_t rnd = blob->tag + 1;
	uint8_t *p = (uint8_t *)blob + blob->data.off;
	uint32_t i;

	for (i = 0; i < blob->data.len; i++) {
		uint8_t byte = rnd_next(&rnd);

		if (fill)
			p[i] = byte;
		else if (p[i] != byte)
			return false;
	}
	return true;
}

/* All messages may be compressed, in both directions. Noise goes as it is. */
TEST(compressed)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	unsigned int i;

	begin(1);
	p.srv.seen = note_packed;
	p.srv.compress = true;
	raw_qp(&qp, &p.c, 16, 64, 0);
	for (i = 0; i < PACKED_CALLS; i++) {
		uint32_t size = sizes[i / 2], root = raw_blob(&p.c, i, size, NULL);
		bool packed;

		if (i % 2)
			noise((void *)(p.c.send + root), true);
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		sqe.flags = MRPC_SQE_COMPRESS;
		CHECK(raw_push(&qp, &sqe));
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, BOUND);
		CHECK_MSG(cqe.status == MRPC_OK, "%u bytes: status %u", size, cqe.status);
		packed = cqe.flags & MRPC_CQE_COMPRESSED;
		if (i % 2) {
			CHECK(noise((void *)raw_msg(&p.c, &cqe), false));
			CHECK_MSG(!packed && !came_packed[i], "%u bytes of noise", size);
		} else {
			CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, i, size));
			CHECK_MSG((packed && came_packed[i]) || size < PACKED_SURELY, "%u bytes", size);
		}
		raw_done(&p.c, &cqe);
		if (!(cqe.flags & MRPC_CQE_FREED))
			raw_expect(&qp, &cqe, MRPC_CQE_SENT, BOUND);
		raw_free(&p.c, root);
	}
	end();
}

/* -- order ------------------------------------------------------------------------- */

static uint64_t order[HUNG];
static unsigned int nr_order;

static void note_order(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	if (nr_order < HUNG)
		order[nr_order++] = ((const struct test_Blob *)msg)->tag;
}

/* The status tells a reply from those of other calls. */
static unsigned int status_of(uint64_t tag)
{
	return 1 + tag % MRPC_STATUS_MAX;
}

TEST(out_of_order)
{
	struct mrpc_cqe cqe;
	struct raw_qp sq;
	unsigned int i, n;
	bool seen[HUNG];

	begin(1);
	p.srv.seen = note_order;
	raw_qp(&qp, &p.c, HUNG, 4 * HUNG, 0);
	raw_qp(&sq, &p.srv.s, HUNG, 4 * HUNG, 0);
	for (n = 0; n < 4; n++) {
		nr_order = 0;
		p.srv.nr_hung = 0;
		memset(seen, false, sizeof(seen));
		for (i = 0; i < HUNG; i++)
			raw_push_blob(&qp, &p, RAW_HANG, i, i * 100);
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		CHECK(raw_server_hangs(&p.srv, HUNG));
		for (i = 0; i < HUNG; i++) {
			/* 1, 27, 61 and 63 have no divisor in common with 64. */
			unsigned int j = (i * (n == 0 ? 63 : n == 1 ? 27 : n == 2 ? 61 : 1) + n) % HUNG;

			raw_server_answer(&sq, &p.srv.hung[j], status_of(order[j]));
		}
		for (i = 0; i < HUNG; i++) {
			raw_expect(&qp, &cqe, MRPC_CQE_REPLY, BOUND);
			CHECK(cqe.user_data < HUNG && !seen[cqe.user_data]);
			seen[cqe.user_data] = true;
			CHECK_EQ(cqe.status, status_of(cqe.user_data));
			raw_done(&p.c, &cqe);
			raw_expect(&sq, &cqe, MRPC_CQE_SENT, BOUND);
			CHECK_EQ(cqe.status, MRPC_OK);
		}
	}
	end();
}

/* -- ends under load --------------------------------------------------------------- */

static void *drain(void *arg)
{
	*(int *)arg = raw_close_id(&p.srv.s, p.srv.listener, MRPC_CLOSE_DRAIN, 60000000);
	return NULL;
}

/* What the server has run is answered. What it has not run is said to be so. */
TEST(drain_under_load)
{
	static struct load l[3];
	unsigned int i, round;
	uint64_t ok, gone;
	pthread_t t;
	int err;

	for (round = 0; round < 4; round++) {
		begin(2);
		memset(l, 0, sizeof(l));
		for (i = 0; i < ARRAY_SIZE(l); i++) {
			l[i].len = i == 2 ? 60000 : 100;
			load_start(&l[i], &p.c, i ? raw_connect(&p.c, p.addr) : p.conn, 16);
		}
		for (i = 0; i < ARRAY_SIZE(l); i++)
			CHECK(load_more(&l[i], 50 + 40 * round, 20000));
		CHECK(!pthread_create(&t, NULL, drain, &err));
		for (i = 0; i < ARRAY_SIZE(l); i++)
			CHECK(load_until(&l[i], MRPC_UNAVAILABLE, 1, 20000));
		CHECK(!pthread_join(t, NULL));
		CHECK_EQ(err, 0);
		for (i = ok = gone = 0; i < ARRAY_SIZE(l); i++) {
			load_stop(&l[i]);
			ok += load_done(&l[i], MRPC_OK);
			gone += load_done(&l[i], MRPC_UNAVAILABLE);
			CHECK_MSG(load_all(&l[i]) == load_done(&l[i], MRPC_OK) +
				  load_done(&l[i], MRPC_UNAVAILABLE), "%s", l[i].detail);
		}
		NOTE("%llu calls well, %llu not run", (unsigned long long)ok,
		     (unsigned long long)gone);
		CHECK_EQ(ok, raw_server_requests(&p.srv));
		CHECK_EQ(raw_connect(&p.c, p.addr), -ECONNREFUSED);
		CHECK(raw_server_conns(&p.srv, 0, 5000));
		end();
	}
}

static void client_of(const char *addr)
{
	static struct raw c;
	static struct load l;

	raw_open(&c, 8 << 20, 8 << 20);
	l.len = 30000;
	load_start(&l, &c, raw_connect(&c, addr), 32);
	for (;;)
		pause();
}

/* Beside others whose processes are killed, a connection goes on, and theirs leave nothing. */
TEST(clients_killed)
{
	static struct load l;
	unsigned int i;
	int status;
	pid_t pid;

	begin(2);
	memset(&l, 0, sizeof(l));
	l.len = 1000;
	for (i = 0; i < 6; i++) {
		uint64_t before = raw_server_requests(&p.srv);
		uint64_t until = raw_now() + BOUND * raw_patience();

		pid = CHECK_SYS(fork());
		if (!pid) {
			client_of(p.addr);
			_exit(0);
		}
		while (raw_server_requests(&p.srv) < before + 20 * (i + 1)) {
			CHECK(raw_now() < until);
			raw_sleep(RAW_MS);
		}
		if (!i)
			load_start(&l, &p.c, p.conn, 8);	/* a process forks without threads */
		CHECK_SYS(kill(pid, SIGKILL));
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK(load_more(&l, 20, 20000));
	}
	CHECK(raw_server_conns(&p.srv, 1, 5000));
	load_stop(&l);
	CHECK_MSG(!load_failed(&l), "%s", l.detail);
	end();
}

/* -- engines ----------------------------------------------------------------------- */

static unsigned int call_text(const char *text)
{
	uint32_t root = raw_blob(&p.c, 1, 100, text);
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, root);
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
	return cqe.status;
}

/* Engines of both ends see fields, and come and go under load. */
static void engines_at(const char *side)
{
	static struct load l;
	struct op_rules r;
	char words[64];
	unsigned int i;

	begin(2);
	memset(&l, 0, sizeof(l));
	l.len = 2000;
	l.text = "good";
	load_start(&l, &p.c, p.conn, 32);
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_ABORTED, "not this one");
	op_cond_text(&r, MRPC_COND_FIELD, MRPC_MATCH_EQUAL, "text", "bad");
	for (i = 0; i < 4; i++) {
		snprintf(words, sizeof(words), "side=%s", side);
		op_must_add("acl", words, &r);
		CHECK_EQ(call_text("bad"), MRPC_ABORTED);
		CHECK(load_more(&l, 50, 20000));
		snprintf(words, sizeof(words), "version=1 side=%s", side);
		op_must_add("null", words, NULL);
		CHECK(load_more(&l, 50, 20000));
		snprintf(words, sizeof(words), "rate=100000 burst=1000 side=%s", side);
		op_must_add("ratelimit", words, NULL);
		CHECK(load_more(&l, 50, 20000));
		CHECK_EQ(call_text("bad"), MRPC_ABORTED);
		CHECK_EQ(call_text("fine"), MRPC_OK);
		op_must_set("null", "version=2", NULL);
		CHECK(load_more(&l, 50, 20000));
		op_must_del("acl");
		op_must_del("ratelimit");
		op_must_del("null");
		CHECK_EQ(call_text("bad"), MRPC_OK);
	}
	load_stop(&l);
	CHECK_MSG(!load_failed(&l), "%s", l.detail);
	end();
}

TEST(engines_client)
{
	engines_at("client");
}

TEST(engines_server)
{
	engines_at("server");
}

/* -- what gRPC's wire does not carry ----------------------------------------------- */

/* Metadata goes there and back, or the caller is told why it cannot. */
TEST(metadata)
{
	static const struct {
		const char *key;
		const char *value;
		unsigned int status;
	} cases[] = {
		{ "key", "value", MRPC_OK },
		{ "key.a-b_c", "", MRPC_OK },
		{ "key-bin", "\xff\x01\n", MRPC_OK },
		{ "key-bin", "", MRPC_OK },
		{ "key", "\xff", MRPC_INVALID_ARGUMENT },
		{ "key", "a\nb", MRPC_INVALID_ARGUMENT },
		{ "grpc-status", "0", MRPC_INVALID_ARGUMENT },
		{ "content-type", "text/html", MRPC_INVALID_ARGUMENT },
		{ "connection", "close", MRPC_INVALID_ARGUMENT },
		{ "te", "x", MRPC_INVALID_ARGUMENT },
	};
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	unsigned int i;
	uint32_t len;

	begin(1);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 10, NULL));
		sqe.meta = raw_alloc(&p.c, MRPC_MAX_META);
		len = raw_put_meta(p.c.send + sqe.meta, cases[i].key, cases[i].value,
				   strlen(cases[i].value));
		sqe.meta_len = len;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_MSG(cqe.status == cases[i].status, "%s: status %u", cases[i].key, cqe.status);
		CHECK_EQ(!!(cqe.flags & MRPC_CQE_LOCAL), cqe.status != MRPC_OK);
		if (cqe.status == MRPC_OK) {
			CHECK_EQ(cqe.meta_len, len);
			CHECK_MSG(!memcmp(raw_meta(&p.c, &cqe), p.c.send + sqe.meta, len), "%s",
				  cases[i].key);
		}
		raw_done(&p.c, &cqe);
		raw_free(&p.c, sqe.meta);
	}
	end();
}
