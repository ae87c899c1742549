// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/policy */
/*
 * Policies in eBPF: what programs see, and the effect of their verdicts.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <netinet/in.h>

#include "tap.h"
#include "load.h"
#include "policy_probe.h"
#include "raw_tls.h"

static struct load l;

/* -- the view of programs ------------------------------------------------------ */

static void check_ctx(uint32_t hook, bool server, bool transmit, bool reply)
{
	struct probe_seen s = seen(hook);

	CHECK_EQ(s.runs, 1);
	CHECK(s.datapath);
	CHECK_EQ(s.kind, reply ? MRPC_POLICY_REPLY : MRPC_POLICY_REQUEST);
	CHECK_EQ(s.server, server);
	CHECK_EQ(s.transmit, transmit);
	CHECK_EQ(s.status, MRPC_OK);
	CHECK_EQ(s.uid, 0);
	CHECK_EQ((pid_t)s.pid, getpid());
	CHECK_EQ(s.method, test_Bulk_METHOD_Echo);
	CHECK_EQ(s.generation, 1);
	CHECK_STR(s.name, "test.Bulk/Echo");
	CHECK_EQ(s.name_ret, strlen(s.name));
	CHECK_EQ(s.meta_len, 0);
	CHECK_EQ(s.meta_ret, -ENOENT);
	CHECK_EQ(s.call, seen(PROBE_REQUEST_TX).call);
}

/* The peer's name; what does not fit is cut. */
static void check_identity(uint32_t hook, const char *name)
{
	struct probe_seen s = seen(hook);

	CHECK_EQ(s.identity_ret, strlen(name));
	CHECK(!strncmp(s.identity, name, sizeof(s.identity) - 1));
	CHECK_EQ(s.identity[sizeof(s.identity) - 1], 0);
}

static void check_blob(uint32_t hook, uint64_t tag, uint32_t len, const char *text)
{
	struct probe_seen s = seen(hook);
	const struct probe_value *v = s.values;
	uint8_t bytes[PROBE_TEXT_LEN];

	CHECK_EQ(s.size, raw_blob_size(len, text));
	CHECK_EQ(v[PROBE_TAG].num_ret, 0);
	CHECK_EQ(v[PROBE_TAG].num, tag);
	CHECK_EQ(v[PROBE_TAG].data_ret, -EINVAL);
	CHECK_EQ(v[PROBE_TEXT].num_ret, -EINVAL);
	CHECK_EQ(v[PROBE_TEXT].data_ret, strlen(text));
	CHECK(!strncmp(v[PROBE_TEXT].data, text, sizeof(v->data)));
	CHECK_EQ(v[PROBE_DATA].data_ret, len);
	raw_fill(bytes, tag, sizeof(bytes));
	if (len < sizeof(bytes))
		memset(bytes + len, 0, sizeof(bytes) - len);
	CHECK(!memcmp(v[PROBE_DATA].data, bytes, sizeof(bytes)));
	CHECK_EQ(v[PROBE_DATA_LEN].num_ret, 0);
	CHECK_EQ(v[PROBE_DATA_LEN].num, len);
	/* A field of another message type. */
	CHECK_EQ(v[PROBE_BOOL].num_ret, -ENOENT);
	CHECK_EQ(v[PROBE_BOOL].num, 0xdead);
	CHECK_EQ(v[PROBE_BOOL].has, 0);
	CHECK_EQ(v[PROBE_NAME].data_ret, -ENOENT);
}

static void sees(const char *how)
{
	static const uint32_t sizes[] = { 0, 20, 5000, 300000 };
	uint32_t i, hook;

	for (i = 0; i < 4; i++) {
		begin(how, "");
		for (hook = 0; hook < 4; hook++)
			order(hook, (struct probe_order){ .does = PROBE_READ });
		CHECK_EQ(call(RAW_ECHO, 77, sizes[i], "a text of some length"), MRPC_OK);
		check_ctx(PROBE_REQUEST_TX, false, true, false);
		check_ctx(PROBE_REQUEST_RX, true, false, false);
		check_ctx(PROBE_REPLY_TX, true, true, true);
		check_ctx(PROBE_REPLY_RX, false, false, true);
		for (hook = 0; hook < 4; hook++)
			check_blob(hook, 77, sizes[i], "a text of some length");
		CHECK_EQ(seen(PROBE_REQUEST_TX).peer_family, strcmp(how, "loop") ? AF_INET : 0);
		if (strcmp(how, "loop")) {
			CHECK_EQ(seen(PROBE_REQUEST_TX).peer_port, p.srv.s.port);
			CHECK(!memcmp(seen(PROBE_REQUEST_TX).peer, "\x7f\0\0\1", 4));
		}
		check_identity(PROBE_REQUEST_TX, "");
		check_identity(PROBE_REQUEST_RX, strstr(how, "tls") ? RAW_TLS_IDENTITY : "");
		CHECK(seen(PROBE_REQUEST_TX).age > 0);
		CHECK_EQ(op_counter("probe", "request_tx"), 1);
		CHECK_EQ(op_counter("probe", "reply_rx"), 1);
		CHECK_EQ(op_counter("probe", "runs"), 4);
		end();
	}
}

TEST_LIMIT_EACH_TRANSPORT(sees, 180, sees)
TEST_TLS(sees, sees)

/* All kinds of fields: present, absent, and in replies without a message. */
TEST(fields)
{
	const struct probe_value *v;
	struct probe_seen s;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t root, leaf, items, i;
	struct test_All *all;

	begin("tcp4", "side=client");
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_READ });
	root = raw_alloc(&p.c, sizeof(struct test_All));
	leaf = raw_alloc(&p.c, sizeof(struct test_Leaf));
	items = raw_alloc(&p.c, 3 * sizeof(int32_t));
	for (i = 0; i < 2; i++) {
		all = (void *)(p.c.send + root);
		if (i) {
			all->f_bool = 1;
			all->f_double = 1.5;
			test_All_set_o_int32(all, -7);
			((int32_t *)(p.c.send + items))[1] = -100;
			all->r_int32 = (typeof(all->r_int32)){ items - root, 3 };
			all->f_leaf = (typeof(all->f_leaf)){ leaf - root, 1 };
		}
		sqe = raw_sqe(p.conn, RAW_ECHO_ALL, root);
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
		s = seen(PROBE_REQUEST_TX);
		v = s.values;
		CHECK_STR(s.name, "test.Types/Echo");
		CHECK_EQ(v[PROBE_TAG].num_ret, -ENOENT);
		CHECK_EQ(v[PROBE_BOOL].num, i);
		CHECK_EQ(v[PROBE_BOOL].has, 1);
		CHECK_EQ(v[PROBE_DOUBLE].num, i ? 0x3ff8000000000000 : 0);
		CHECK_EQ(v[PROBE_OPTIONAL].num_ret, i ? 0 : -ENOENT);
		CHECK_EQ(v[PROBE_OPTIONAL].has, i);
		if (i)
			CHECK_EQ((int64_t)v[PROBE_OPTIONAL].num, -7);
		CHECK_EQ(v[PROBE_ITEM].num_ret, i ? 0 : -ENOENT);
		if (i)
			CHECK_EQ((int64_t)v[PROBE_ITEM].num, -100);
		CHECK_EQ(v[PROBE_LEAF].has, i);
		CHECK_EQ(v[PROBE_NAME].has, i);
		CHECK_EQ(v[PROBE_NAME].data_ret, i ? 0 : -ENOENT);
		CHECK_EQ(v[PROBE_ENTRY].num_ret, -ENOENT);
		CHECK_EQ(v[PROBE_COUNT].num_ret, 0);
		CHECK_EQ(v[PROBE_COUNT].num, 0);
	}
	/* A status without a message has no fields. */
	order(PROBE_REPLY_RX, (struct probe_order){ .does = PROBE_READ });
	CHECK_EQ(call(RAW_FAIL, MRPC_ABORTED, 0, "why"), MRPC_ABORTED);
	s = seen(PROBE_REPLY_RX);
	CHECK_EQ(s.status, MRPC_ABORTED);
	CHECK_EQ(s.values[PROBE_TAG].num_ret, -ENOENT);
	CHECK_EQ(s.values[PROBE_TEXT].has, 0);
	end();
}

TEST(metadata)
{
	struct probe_seen s;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t root, meta;

	begin("tcp4", "");
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_READ });
	order(PROBE_REQUEST_RX, (struct probe_order){ .does = PROBE_READ });
	root = raw_blob(&p.c, 1, 10, NULL);
	meta = raw_alloc(&p.c, 64);
	sqe = raw_sqe(p.conn, RAW_ECHO, root);
	sqe.meta = meta;
	sqe.meta_len = raw_put_meta(p.c.send + meta, "color", "blue", 4);
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	raw_done(&p.c, &cqe);
	s = seen(PROBE_REQUEST_TX);
	CHECK_EQ(s.meta_len, sqe.meta_len);
	CHECK_EQ(s.meta_ret, 4);
	CHECK_STR(s.meta, "blue");
	CHECK_STR(seen(PROBE_REQUEST_RX).meta, "blue");
	end();
}

/* -- verdicts -------------------------------------------------------------------- */

static void rejects(const char *how)
{
	static const char mark[] = "MARK-OF-WHAT-IS-REJECTED";
	uint32_t hook;

	begin(how, "");
	p.srv.keep = true;
	for (hook = 0; hook < 4; hook++) {
		uint64_t before = raw_server_requests(&p.srv);

		order(hook, (struct probe_order){
			.does = PROBE_STATUS, .status = MRPC_ABORTED,
			.verdict = MRPC_POLICY_REJECT,
		});
		CHECK_EQ(call(RAW_ECHO, 1, 3000, mark), MRPC_ABORTED);
		CHECK_STR(detail, "as the probe was told");
		CHECK_EQ(seen(hook).did, 0);
		CHECK_EQ(raw_server_requests(&p.srv), before + (hook >= PROBE_REPLY_TX));
		if (hook < PROBE_REPLY_TX)
			CHECK(!memmem(p.srv.s.recv, p.srv.s.recv_len, mark, sizeof(mark) - 1));
		CHECK(!memmem(p.c.recv, p.c.recv_len, mark, sizeof(mark) - 1));
		order(hook, (struct probe_order){ .verdict = MRPC_POLICY_REJECT });
		CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
		CHECK_STR(detail, "rejected by a policy");
		order(hook, (struct probe_order){});
		CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	}
	CHECK_EQ(op_counter("probe", "rejected"), 8);
	CHECK_EQ(op_counter("probe", "errors"), 0);
	end();
}

TEST_EACH_TRANSPORT(rejects, rejects)
TEST_GRPC(rejects, rejects)

/* Many rejects in one turn, more than there are places for details. */
TEST(rejects_many)
{
	begin("tcp4", "side=server");
	order(PROBE_REQUEST_RX, (struct probe_order){
		.does = PROBE_STATUS, .status = MRPC_ABORTED, .verdict = MRPC_POLICY_REJECT,
	});
	load_start(&l, &p.c, p.conn, 64);
	CHECK(load_until(&l, MRPC_ABORTED, 500, 30000));
	order(PROBE_REQUEST_RX, (struct probe_order){});
	CHECK(load_until(&l, MRPC_OK, 100, 30000));
	load_stop(&l);
	CHECK_EQ(load_except(&l, 1 << MRPC_OK | 1 << MRPC_ABORTED), 0);
	CHECK_STR(l.detail, "as the probe was told");
	end();
}

/* An invalid verdict rejects. A policy that repeats it is evicted. */
TEST(nonsense)
{
	static const int nonsense[] = { 3, -1, -13, 0x7fffffff };
	struct pollfd fd = { .events = POLLIN };
	uint32_t i;

	begin("tcp4", "side=client");
	for (i = 0; i < 3; i++) {
		order(PROBE_REQUEST_TX, (struct probe_order){
			.does = PROBE_STATUS, .status = MRPC_ABORTED, .verdict = nonsense[i],
		});
		CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
		CHECK_STR(detail, "rejected by a policy");
	}
	CHECK_EQ(op_counter("probe", "errors"), 3);
	order(PROBE_REQUEST_TX, (struct probe_order){ .verdict = nonsense[3] });
	for (i = 0; i < 20; i++)	/* good runs in between count in its favour */
		if (call(RAW_ECHO, 1, 3, NULL) == MRPC_UNAVAILABLE)
			break;
	CHECK_STR(detail, "the policy that judges it has no program");
	fd.fd = bpf_link__fd(probe.link);
	CHECK_EQ(poll(&fd, 1, 10000 * raw_patience()), 1);
	CHECK(fd.revents & POLLHUP);
	CHECK_EQ(op_counter("probe", "evicted"), 1);
	op_must_set("probe", "fallback=pass", NULL);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK(op_counter("probe", "fallbacks") >= 2);
	/* A correct policy takes its place. */
	policy_close(&probe);
	policy_begin(&probe, "probe", "probe");
	order(PROBE_REQUEST_TX, (struct probe_order){ .verdict = MRPC_POLICY_REJECT });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
	end();
}

/* Some messages are delayed, and others pass them. */
TEST(delays)
{
	uint64_t start;

	begin("tcp4", "side=client");
	order(PROBE_REQUEST_TX, (struct probe_order){
		.does = PROBE_HOLD, .value = 300 * RAW_MS, .verdict = MRPC_POLICY_DELAY,
		.only_method = test_Bulk_METHOD_Ack + 1,
	});
	start = raw_now();
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(call(RAW_ACK, 1, 3, NULL), MRPC_OK);
	CHECK(raw_now() - start >= 300 * RAW_MS);
	CHECK_EQ(op_counter("probe", "delayed"), 1);
	/* A longer delay than allowed. */
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_HOLD, .value = 61 * RAW_S });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).did, -EINVAL);
	/* Delayed messages go on when the policy is removed. */
	order(PROBE_REQUEST_TX, (struct probe_order){
		.does = PROBE_HOLD, .value = 50 * RAW_S, .verdict = MRPC_POLICY_DELAY,
	});
	load_start(&l, &p.c, p.conn, 16);
	CHECK(load_still(&l));
	CHECK_EQ(op_dir("probe", false, MRPC_A_ENGINE_DIR_KEPT), 16);
	op_must_del("probe");
	CHECK(load_more(&l, 50, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	end();
}

/* A value that was set arrives. Invalid values are refused. */
static void writes(const char *how, uint32_t hook, uint32_t len)
{
	struct probe_order o = { .does = PROBE_WRITE_TAG, .value = 0x123456789abcdef };
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	const struct test_Blob *blob;
	uint32_t root, step;

	begin(how, "");
	for (step = 0; step < 4; step++) {
		memcpy(o.text, step == 3 ? "\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8" : "NEW TEXT", 8);
		order(hook, o);
		root = raw_blob(&p.c, 5, len, step == 2 ? "longer text" : "old text");
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		blob = raw_msg(&p.c, &cqe);
		CHECK_EQ(blob->tag, step ? 5 : o.value);
		CHECK_STR((const char *)blob + blob->text.off, step == 1 ? "NEW TEXT" :
			  step == 2 ? "longer text" : "old text");
		CHECK_EQ(seen(hook).did, step == 2 ? -EMSGSIZE : step == 3 ? -EILSEQ : 0);
		raw_done(&p.c, &cqe);
		raw_free(&p.c, root);
		o.does = PROBE_WRITE_TEXT;
	}
	/* Without a byte section: over loop the sender's own memory arrives. */
	o.does = PROBE_WRITE_TAG;
	order(hook, o);
	root = raw_blob(&p.c, 5, 0, "old text");
	sqe = raw_sqe(p.conn, RAW_ECHO, root);
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	blob = raw_msg(&p.c, &cqe);
	CHECK_EQ(blob->tag, o.value);
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
	if (len == 8) {
		o.does = PROBE_WRITE_DATA;
		memcpy(o.text, "NEW DATA", 8);
		order(hook, o);
		root = raw_blob(&p.c, 5, len, NULL);
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		blob = raw_msg(&p.c, &cqe);
		CHECK(!memcmp((const char *)blob + blob->data.off, "NEW DATA", 8));
		raw_done(&p.c, &cqe);
		raw_free(&p.c, root);
	}
	end();
}

TEST_LIMIT(writes_requests, 180)
{
	writes("tcp4", PROBE_REQUEST_TX, 8);
	writes("tcp4", PROBE_REQUEST_RX, 8);
	writes("tcp4", PROBE_REQUEST_TX, 200000);
	writes("tcp4", PROBE_REQUEST_RX, 200000);
	writes("loop", PROBE_REQUEST_RX, 8);
}

TEST_LIMIT(writes_replies, 180)
{
	writes("tcp4", PROBE_REPLY_TX, 8);
	writes("tcp4", PROBE_REPLY_RX, 8);
	writes("loop", PROBE_REPLY_TX, 200000);
	writes("loop", PROBE_REPLY_RX, 200000);
}

/* Writes to a field that the message does not have, or that the policy has not declared. */
TEST(writes_refused)
{
	begin("tcp4", "side=client");
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_WRITE_BOOL, .value = 1 });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).did, -ENOENT);
	end();
	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_open(&probe, "probe", "probe");
	policy_ops(&probe)->flags = 0;
	CHECK_EQ(policy_load(&probe), 0);
	CHECK_EQ(policy_attach(&probe), 0);
	op_must_add("probe", "", NULL);
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_WRITE_TAG, .value = 1 });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).did, -EPERM);
	CHECK_EQ(seen(PROBE_REQUEST_TX).age, 0);
	end();
}

static struct mrpc_cqe last_request;

static void keep_request(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)msg;
	last_request = *cqe;
}

TEST(priority_and_deadline)
{
	begin("tcp4", "side=client");
	p.srv.seen = keep_request;
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_PRIORITY, .value = 201 });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(last_request.priority, 201);
	CHECK_EQ(last_request.deadline_ns, 0);
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_PRIORITY, .value = 256 });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).did, -EINVAL);
	order(PROBE_REQUEST_TX, (struct probe_order){
		.does = PROBE_DEADLINE, .value = 5 * RAW_S,
	});
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK(last_request.deadline_ns > raw_now() && last_request.deadline_ns <= raw_until(5 * RAW_S));
	order(PROBE_REQUEST_TX, (struct probe_order){});
	order(PROBE_REPLY_RX, (struct probe_order){ .does = PROBE_DEADLINE, .value = RAW_S });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REPLY_RX).did, -EINVAL);
	/* The server sees what a policy at the server has set. */
	op_must_add("probe", "name=there side=server", NULL);
	order(PROBE_REQUEST_RX, (struct probe_order){ .does = PROBE_PRIORITY, .value = 77 });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(last_request.priority, 77);
	end();
}

/* A policy names a replica for a request. It counts while that replica is fit. */
TEST(redirects)
{
	struct raw_server other;
	char words[128];
	unsigned int i;

	begin("tcp4", "side=client");
	raw_server(&other, "tcp:127.0.0.1:0", 1);
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_REPLICA });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).did, -ENOENT);
	snprintf(words, sizeof(words), "members=tcp:127.0.0.1:%u=1,tcp:127.0.0.1:%u=5",
		 p.srv.s.port, other.s.port);
	op_must_add("lb", words, NULL);
	for (i = 0; i < 2; i++) {
		order(PROBE_REQUEST_TX, (struct probe_order){
			.does = PROBE_REPLICA, .value = i,
		});
		do {	/* its link is being made */
			CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
		} while (!seen(PROBE_REQUEST_TX).replica.fit);
		CHECK_EQ(seen(PROBE_REQUEST_TX).did, 2);
		CHECK_EQ(seen(PROBE_REQUEST_TX).replica.weight, i ? 5 : 1);
	}
	for (i = 0; i < 40; i++) {
		uint64_t first = raw_server_requests(&p.srv), second = raw_server_requests(&other);

		order(PROBE_REQUEST_TX, (struct probe_order){
			.does = PROBE_REDIRECT, .value = i % 3 == 0,
		});
		CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
		CHECK_EQ(raw_server_requests(&p.srv), first + (i % 3 != 0));
		CHECK_EQ(raw_server_requests(&other), second + (i % 3 == 0));
	}
	/* A replica that does not exist, or is gone: the engine decides. */
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_REDIRECT, .value = 7 });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).did, 0);
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_REDIRECT, .value = 16 });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).did, -EINVAL);
	raw_server_stop(&other);
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_REDIRECT, .value = 1 });
	for (i = 0; call(RAW_ECHO, 1, 3, NULL) != MRPC_OK; i++)
		CHECK(i < 100);
	for (i = 0; i < 20; i++)
		CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	end();
}
