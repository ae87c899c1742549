// SPDX-License-Identifier: GPL-2.0
/*
 * Policies in eBPF: what programs see, what becomes of their verdicts, and how they come
 * and go while calls pass them.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/wait.h>

#include "tap.h"
#include "load.h"
#include "operator.h"
#include "policies.h"
#include "bpf/probe.h"

#define OBJECTS	16

static struct raw_pair p;
static struct load l;

static struct policy probe;

static void order(uint32_t hook, struct probe_order o)
{
	policy_map_set(&probe, "orders", &hook, &o);
}

static struct probe_seen seen(uint32_t hook)
{
	struct probe_seen s;

	policy_map_get(&probe, "seen", &hook, &s);
	return s;
}

static void begin(const char *how, const char *words)
{
	op_del_all();
	raw_pair(&p, how, 2);
	policy_begin(&probe, "probe", "probe");
	op_must_add("probe", words, NULL);
}

static void end(void)
{
	op_del_all();
	raw_pair_end(&p);
	policy_close(&probe);
}

static char detail[MRPC_MAX_DETAIL + 1];

static unsigned int call_on(int conn, uint32_t method, uint64_t tag, uint32_t len,
			    const char *text)
{
	uint32_t root = raw_blob(&p.c, tag, len, text);
	struct mrpc_sqe sqe = raw_sqe(conn, method, root);
	struct mrpc_cqe cqe;

	*detail = 0;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	if (cqe.status)
		raw_detail(&p.c, &cqe, detail, sizeof(detail));
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
	return cqe.status;
}

static unsigned int call(uint32_t method, uint64_t tag, uint32_t len, const char *text)
{
	return call_on(p.conn, method, tag, len, text);
}

/* Policies that are detached go a moment later. */
static bool type_gone(const char *name)
{
	unsigned int i;

	for (i = 0; i < 5000 / 20 * raw_patience(); i++) {
		if (op_add(name, "name=there-is-none", NULL, NULL) == -ENOENT)
			return true;
		op_del("there-is-none", NULL);
		raw_sleep(20 * RAW_MS);
	}
	return false;
}

/* -- what programs see --------------------------------------------------------- */

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
	/* A field of another message. */
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
		CHECK(seen(PROBE_REQUEST_TX).age > 0);
		CHECK_EQ(op_counter("probe", "request_tx"), 1);
		CHECK_EQ(op_counter("probe", "reply_rx"), 1);
		CHECK_EQ(op_counter("probe", "runs"), 4);
		end();
	}
}

TEST_LIMIT(sees_tcp, 180)
{
	sees("tcp4");
}

TEST_LIMIT(sees_loop, 180)
{
	sees("loop");
}

TEST_LIMIT(sees_prio, 180)
{
	sees("prio");
}

/* All kinds of fields: present ones, those that are not, and in replies without a message. */
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
	struct mrpc_meta_entry e = { 5, 4 };
	struct probe_seen s;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t root, meta;

	begin("tcp4", "");
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_READ });
	order(PROBE_REQUEST_RX, (struct probe_order){ .does = PROBE_READ });
	root = raw_blob(&p.c, 1, 10, NULL);
	meta = raw_alloc(&p.c, 64);
	memcpy(p.c.send + meta, &e, sizeof(e));
	memcpy(p.c.send + meta + sizeof(e), "colorblue", 9);
	sqe = raw_sqe(p.conn, RAW_ECHO, root);
	sqe.meta = meta;
	sqe.meta_len = sizeof(e) + 9;
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

TEST(rejects_tcp)
{
	rejects("tcp4");
}

TEST(rejects_loop)
{
	rejects("loop");
}

TEST(rejects_prio)
{
	rejects("prio");
}

/* Many in one turn, more than there are places for details. */
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

/* Nonsense rejects; who goes on with it is thrown out. */
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
	for (i = 0; i < 20; i++)	/* good runs in between count for it */
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
	/* A better one takes its place. */
	policy_close(&probe);
	policy_begin(&probe, "probe", "probe");
	order(PROBE_REQUEST_TX, (struct probe_order){ .verdict = MRPC_POLICY_REJECT });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
	end();
}

/* Some are held, and others go past them. */
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
	/* More than there may be. */
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_HOLD, .value = 61 * RAW_S });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).did, -EINVAL);
	/* Those that it holds go on when it is removed. */
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

/* What was set is what arrives; what cannot be set is not. */
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
	/* Without a byte section: over loop it is the sender's memory that comes. */
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

/* What a message of another type does not have, and what a policy has not asked for. */
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
	CHECK_EQ(last_request.remaining_us, 0);
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_PRIORITY, .value = 256 });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).did, -EINVAL);
	order(PROBE_REQUEST_TX, (struct probe_order){
		.does = PROBE_DEADLINE, .value = 5 * RAW_S,
	});
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK(last_request.remaining_us > 0 && last_request.remaining_us <= 5000000);
	order(PROBE_REQUEST_TX, (struct probe_order){});
	order(PROBE_REPLY_RX, (struct probe_order){ .does = PROBE_DEADLINE, .value = RAW_S });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REPLY_RX).did, -EINVAL);
	/* What a policy at the server says, the server sees. */
	op_must_add("probe", "name=there side=server", NULL);
	order(PROBE_REQUEST_RX, (struct probe_order){ .does = PROBE_PRIORITY, .value = 77 });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(last_request.priority, 77);
	end();
}

/* Where a policy wants a request to go, as long as that replica is fit. */
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
	/* One that there is not, or that is gone: the engine decides. */
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

/* -- coming and going ------------------------------------------------------------- */

TEST(refuses_datapaths)
{
	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_begin(&probe, "probe", "probe");
	order(PROBE_INIT, (struct probe_order){ .verdict = -EACCES });
	CHECK_EQ(op_add("probe", "", NULL, NULL), -EACCES);
	CHECK_STR(op_why, "policy 'probe' refuses the datapath: error -13");
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	order(PROBE_INIT, (struct probe_order){});
	op_must_add("probe", "", NULL);
	CHECK_EQ(seen(PROBE_INIT).kind, MRPC_POLICY_NO_MESSAGE);
	CHECK_EQ(seen(PROBE_EXIT).runs, 0);
	op_must_del("probe");
	while (seen(PROBE_EXIT).runs < 2)	/* after a grace period */
		raw_sleep(RAW_MS);
	end();
}

TEST(ticks)
{
	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_begin(&probe, "probe", "probe");
	while (seen(PROBE_TICK).runs < 5)
		raw_sleep(RAW_MS);
	CHECK_EQ(seen(PROBE_TICK).datapath, 0);
	CHECK_EQ(seen(PROBE_TICK).generation, 1);
	end();
}

/* Each datapath has its own, and it stays when programs are replaced. */
TEST(storage)
{
	struct policy next;
	int other;

	begin("tcp4", "side=client");
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_STORE });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).stored, 2);
	other = p.conn;
	p.conn = raw_connect(&p.c, p.addr);
	CHECK(p.conn > 0);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).stored, 1);
	policy_open(&next, "probe", "probe");
	CHECK_EQ(bpf_map__reuse_fd(bpf_object__find_map_by_name(next.obj, "orders"),
				   policy_map_fd(&probe, "orders")), 0);
	CHECK_EQ(bpf_map__reuse_fd(bpf_object__find_map_by_name(next.obj, "seen"),
				   policy_map_fd(&probe, "seen")), 0);
	CHECK_EQ(policy_load(&next), 0);
	CHECK_EQ(bpf_link__update_map(probe.link, next.ops), 0);
	p.conn = other;
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).stored, 3);
	CHECK_EQ(seen(PROBE_REQUEST_TX).generation, 2);
	policy_close(&next);
	end();
}

/* Detached, what the operator has said happens; attached again it goes on. */
TEST(detached)
{
	int conn;

	begin("tcp4", "side=client");
	policy_detach(&probe);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_UNAVAILABLE);
	/* A new datapath gets a policy without a program only where all passes meanwhile. */
	CHECK(raw_connect(&p.c, p.addr) < 0);
	op_must_set("probe", "fallback=pass", NULL);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	conn = raw_connect(&p.c, p.addr);
	CHECK(conn > 0);
	CHECK_EQ(call_on(conn, RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(policy_attach(&probe), 0);
	order(PROBE_REQUEST_TX, (struct probe_order){ .verdict = MRPC_POLICY_REJECT });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
	CHECK_EQ(seen(PROBE_REQUEST_TX).generation, 2);
	CHECK_EQ(call_on(conn, RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
	/* What it reads of replies was prepared for, though there was nothing to read it. */
	order(PROBE_REQUEST_TX, (struct probe_order){ .verdict = MRPC_POLICY_PASS });
	order(PROBE_REPLY_RX, (struct probe_order){ .verdict = MRPC_POLICY_REJECT });
	CHECK_EQ(call_on(conn, RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
	op_must_del("probe");
	policy_detach(&probe);
	CHECK(type_gone("probe"));
	end();
}

/* Nobody has pinned it. */
TEST(owner_dies)
{
	pid_t pid;
	int status;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	pid = fork();
	if (!pid) {
		policy_begin(&probe, "probe", "probe");
		op_forget();
		op_must_add("probe", "side=client fallback=pass", NULL);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	while (op_counter("probe", "generation") < 0)
		raw_sleep(RAW_MS);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	op_must_del("probe");
	CHECK(type_gone("probe"));
	op_del_all();
	raw_pair_end(&p);
}

TEST(one_of_a_name)
{
	struct policy other;

	begin("tcp4", "");
	policy_open(&other, "probe", "probe");
	CHECK_EQ(policy_refused(&other), -EEXIST);
	/* Another version is another type, and so is another name. */
	policy_open(&other, "probe", "probe");
	policy_ops(&other)->version = 2;
	CHECK_EQ(policy_load(&other), 0);
	CHECK_EQ(policy_attach(&other), 0);
	op_must_set("probe", "type=probe version=2", NULL);
	CHECK_EQ(op_number("probe", MRPC_A_ENGINE_VERSION), 2);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	op_must_set("probe", "type=probe version=1", NULL);
	policy_close(&other);
	/* Native types have their names. */
	op_must_add("null", "", NULL);
	policy_open(&other, "probe", "empty");
	strcpy(policy_ops(&other)->name, "null");
	policy_ops(&other)->version = 2;
	CHECK_EQ(policy_refused(&other), -EEXIST);
	end();
}

/* What a policy may not say of itself. */
TEST(bad_declarations)
{
	static const char *const fields[] = { ":tag", "test.Blob:", "9x:tag", "a..b:c" };
	struct mrpc_policy_ops *ops;
	struct policy bad;
	uint32_t i;

	for (i = 0; i < 15; i++) {
		policy_open(&bad, "probe", "probe");
		ops = policy_ops(&bad);
		switch (i) {
		case 0: ops->name[0] = 0; break;
		case 1: strcpy(ops->name, "a b"); break;
		case 2: strcpy(ops->name, "Upper"); break;
		case 3: memset(ops->name, 'a', sizeof(ops->name)); break;
		case 4: ops->flags |= 1 << 10; break;
		case 5: ops->storage = MRPC_POLICY_STORAGE + 1; break;
		case 6: ops->budget = 1000000001; break;
		case 7: ops->period = 999999; break;
		case 8: ops->fields[3][0] = 0; break;	/* a gap */
		case 9: memset(ops->fields[0], 'a', sizeof(ops->fields[0])); break;
		case 10: strcpy(ops->counters[0], "no good"); break;
		default: strcpy(ops->fields[0], fields[i - 11]);
		}
		CHECK_MSG(policy_refused(&bad) == -EINVAL, "%u", i);
	}
	policy_open(&bad, "probe", "empty");
	policy_ops(&bad)->request_tx = NULL;	/* libbpf goes by this, too */
	CHECK_EQ(bpf_program__set_autoload(bpf_object__find_program_by_name(bad.obj, "nothing"),
					   false), 0);
	CHECK_EQ(policy_refused(&bad), -EINVAL);
}

/* A schema without a field: refused where it would be placed, naming both. */
TEST(fields_that_are_not)
{
	struct policy next;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_open(&probe, "probe", "probe");
	strcpy(policy_ops(&probe)->fields[PROBE_TAG], "test.Blob:tagg");
	CHECK_EQ(policy_load(&probe), 0);
	CHECK_EQ(policy_attach(&probe), 0);
	CHECK_EQ(op_add("probe", "", NULL, NULL), -EINVAL);
	CHECK_STR(op_why, "'test.Blob:tagg' is no field of a message of test.Types");
	CHECK_EQ(op_add("probe", "service=test.Bulk", NULL, NULL), -EINVAL);
	CHECK_STR(op_why, "'test.Blob:tagg' is no field of a message of test.Bulk");
	policy_close(&probe);
	/* Of the services in the scope, only those. */
	policy_begin(&probe, "stamp", "stamper");
	CHECK_EQ(op_add("stamper", "service=test.Types", NULL, NULL), -EINVAL);
	CHECK_STR(op_why, "'test.Blob:text' is no field of a message of test.Types");
	op_must_add("stamper", "service=test.Bulk", NULL);
	/* An update that wants more. */
	policy_open(&next, "stamp", "stamper");
	strcpy(policy_ops(&next)->fields[1], "test.Blob:texts");
	CHECK_EQ(policy_load(&next), 0);
	CHECK_EQ(bpf_link__update_map(probe.link, next.ops), -EINVAL);
	CHECK_EQ(call(RAW_ECHO, 1, 8, "12345678"), MRPC_OK);
	policy_close(&next);
	end();
}

/* New programs of a policy that has datapaths: they do what those were made for, or nothing. */
TEST(attached_to_what_there_is)
{
	struct policy next;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_begin(&probe, "probe", "empty");
	op_must_add("empty", "side=client fallback=pass", NULL);
	policy_detach(&probe);
	policy_open(&next, "probe", "probe");
	strcpy(policy_ops(&next)->name, "empty");
	policy_ops(&next)->storage = 0;
	CHECK_EQ(policy_refused(&next), -EINVAL);
	policy_open(&next, "probe", "empty");
	strcpy(policy_ops(&next)->fields[0], "test.Blob:tagg");
	CHECK_EQ(policy_load(&next), 0);
	CHECK_EQ(policy_attach(&next), 0);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_FAILED_PRECONDITION);
	CHECK_STR(detail, "the policy that judges it does not fit the connection");
	policy_close(&next);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(policy_attach(&probe), 0);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	end();
}

TEST(updates_refused)
{
	struct mrpc_policy_ops *ops;
	struct policy next;
	uint32_t i;

	begin("tcp4", "");
	for (i = 0; i < 3; i++) {
		policy_open(&next, "probe", "probe");
		ops = policy_ops(&next);
		if (!i)
			strcpy(ops->name, "other");
		else if (i == 1)
			ops->version = 7;
		else
			ops->storage = 24;
		CHECK_EQ(policy_load(&next), 0);
		CHECK_EQ(bpf_link__update_map(probe.link, next.ops), -EINVAL);
		policy_close(&next);
	}
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).generation, 1);
	end();
}

static uint64_t stamps_sent[OBJECTS];

/* One number, in both fields. */
static void check_stamp(const struct mrpc_cqe *cqe, const void *msg)
{
	const struct test_Blob *blob = msg;
	const char *text = (const char *)msg + blob->text.off;
	uint64_t number;
	char want[9];
	int i;

	(void)cqe;
	memcpy(&number, (const char *)msg + blob->data.off, sizeof(number));
	for (i = 0; i < 8; i++)
		want[i] = '0' + (number >> 4 * (7 - i) & 15);
	want[8] = 0;
	CHECK_MSG(number < OBJECTS && !strcmp(text, want), "%#llx with '%s'",
		  (unsigned long long)number, text);
	__atomic_fetch_add(&stamps_sent[number], 1, __ATOMIC_RELAXED);
}

static void open_stamp(struct policy *policy, uint64_t number, const struct policy *first)
{
	struct bpf_map *rodata;
	size_t size;

	policy_open(policy, "stamp", "stamper");
	rodata = bpf_object__find_map_by_name(policy->obj, ".rodata");
	*(uint64_t *)bpf_map__initial_value(rodata, &size) = number;
	if (first)
		CHECK_EQ(bpf_map__reuse_fd(bpf_object__find_map_by_name(policy->obj, "stamped"),
					   policy_map_fd(first, "stamped")), 0);
	CHECK_EQ(policy_load(policy), 0);
}

/*
 * A thousand replacements under load: nothing is lost or done twice, no call sees half a
 * policy, and the map stays.
 */
static void replaced(const char *how, unsigned int rounds)
{
	static struct policy all[OBJECTS];
	uint64_t stamped, sum = 0;
	uint32_t zero = 0, i;

	op_del_all();
	raw_pair(&p, how, 2);
	memset(stamps_sent, 0, sizeof(stamps_sent));
	p.srv.seen = check_stamp;
	for (i = 0; i < OBJECTS; i++)
		open_stamp(&all[i], i, i ? &all[0] : NULL);
	CHECK_EQ(policy_attach(&all[0]), 0);
	op_must_add("stamper", "side=client service=test.Bulk", NULL);
	l.text = "--------";
	l.ack = true;
	l.len = 8;
	load_start(&l, &p.c, p.conn, 32);
	for (i = 1; i < rounds; i++) {
		CHECK_EQ(bpf_link__update_map(all[0].link, all[i % OBJECTS].ops), 0);
		if (i % 50 == 0)
			CHECK(load_more(&l, 1, 30000));
	}
	CHECK(load_more(&l, 100, 60000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	policy_map_get(&all[0], "stamped", &zero, &stamped);
	CHECK_EQ(stamped, load_all(&l));
	for (i = 0; i < OBJECTS; i++) {
		CHECK(stamps_sent[i]);
		sum += stamps_sent[i];
	}
	CHECK_EQ(sum, stamped);
	CHECK_EQ(op_counter("stamper", "generation"), rounds);
	CHECK_EQ(op_counter("stamper", "fallbacks"), 0);
	NOTE("%u replacements, %llu calls", rounds, (unsigned long long)sum);
	op_del_all();
	for (i = 0; i < OBJECTS; i++)
		policy_close(&all[i]);
	raw_pair_end(&p);
}

TEST_LIMIT(replaced_tcp, 240)
{
	replaced("tcp4", 1000);
}

TEST_LIMIT(replaced_loop, 240)
{
	replaced("loop", 200);
}

TEST_LIMIT(replaced_prio, 240)
{
	replaced("prio", 200);
}

/* Attached and detached in a loop, under load, with the engine in place. */
TEST_LIMIT(churn, 200)
{
	unsigned int i;

	begin("tcp4", "fallback=pass");
	load_start(&l, &p.c, p.conn, 32);
	for (i = 0; i < 40; i++) {
		policy_detach(&probe);
		if (i % 3 == 0)
			CHECK(load_more(&l, 5, 30000));
		CHECK_EQ(policy_attach(&probe), 0);
		if (i % 3 == 1)
			CHECK(load_more(&l, 5, 30000));
		if (i % 10 == 9) {
			op_must_del("probe");
			op_must_add("probe", "fallback=pass", NULL);
		}
	}
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	end();
}

/* Slow work without end: thrown out, and the traffic recovers. */
TEST_LIMIT(too_slow, 200)
{
	struct pollfd fd = { .events = POLLIN };

	op_del_all();
	raw_pair(&p, "tcp4", 2);
	policy_open(&probe, "probe", "probe");
	policy_ops(&probe)->budget = 1000000;
	CHECK_EQ(policy_load(&probe), 0);
	CHECK_EQ(policy_attach(&probe), 0);
	op_must_add("probe", "side=client fallback=pass", NULL);
	load_start(&l, &p.c, p.conn, 8);
	CHECK(load_more(&l, 20, 30000));
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_SPIN, .value = 8000000 });
	fd.fd = bpf_link__fd(probe.link);
	CHECK_EQ(poll(&fd, 1, 60000 * raw_patience()), 1);
	CHECK(fd.revents & POLLHUP);
	CHECK_EQ(op_counter("probe", "evicted"), 1);
	CHECK(load_more(&l, 200, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK(op_counter("probe", "fallbacks") >= 100);
	end();
}

/* Two policies and a native engine, in a row. */
TEST(chained)
{
	struct policy stamp;

	begin("tcp4", "side=client");
	open_stamp(&stamp, 3, NULL);
	CHECK_EQ(policy_attach(&stamp), 0);
	op_must_add("stamper", "side=client service=test.Bulk before=probe", NULL);
	op_must_add("null", "side=client", NULL);
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_READ });
	CHECK_EQ(call(RAW_ECHO, 1, 8, "--------"), MRPC_OK);
	CHECK(!memcmp(seen(PROBE_REQUEST_TX).values[PROBE_DATA].data, "\3\0\0\0\0\0\0", 8));
	CHECK_STR(seen(PROBE_REQUEST_TX).values[PROBE_TEXT].data, "00000003");
	policy_close(&stamp);
	end();
}
