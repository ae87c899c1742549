// SPDX-License-Identifier: GPL-2.0
/* Covers: bpf kmod/policy */
/*
 * The policies of bpf/ that pass, reject, delay and mark. policy_order.c has those that order,
 * policy_sample.c the one that only observes, policy_hosts.c those that need two hosts.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tap.h"
#include "examples.h"
#include "load.h"
#include "operator.h"

static struct load l, other;

/* -- field_acl -------------------------------------------------------------------- */

static void deny(const char *text)
{
	uint8_t one = 1;

	policy_map_set(&ex, "denied", ex_key_of(text), &one);
}

static void allow(const char *text)
{
	CHECK_EQ(bpf_map_delete_elem(policy_map_fd(&ex, "denied"), ex_key_of(text)), 0);
}

static unsigned int say(const char *text)
{
	return ex_call(RAW_ECHO, 1, 100, text);
}

TEST(field_acl)
{
	static const char mark[] = "MARK-OF-WHAT-IS-DENIED";
	char text[KEY_LEN + 2];
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint64_t before;

	ex_begin("field_acl");
	ex_place("");
	p.srv.keep = true;
	CHECK_EQ(say("good"), MRPC_OK);
	deny(mark);
	before = raw_server_requests(&p.srv);
	CHECK_EQ(say(mark), MRPC_PERMISSION_DENIED);
	CHECK_STR(ex_detail, "the key is denied");
	CHECK_EQ(raw_server_requests(&p.srv), before);
	CHECK(!memmem(p.srv.s.recv, p.srv.s.recv_len, mark, sizeof(mark) - 1));
	allow(mark);
	CHECK_EQ(say(mark), MRPC_OK);
	/* The longest key. A longer text cannot be looked up, and does not pass. */
	memset(text, 'x', sizeof(text));
	text[KEY_LEN] = 0;
	CHECK_EQ(say(text), MRPC_OK);
	deny(text);
	CHECK_EQ(say(text), MRPC_PERMISSION_DENIED);
	allow(text);
	text[KEY_LEN] = 'x';
	text[KEY_LEN + 1] = 0;
	CHECK_EQ(say(text), MRPC_PERMISSION_DENIED);
	/* A message without the field is not concerned. */
	sqe = raw_sqe(p.conn, RAW_ECHO_ALL, raw_alloc(&p.c, sizeof(struct test_All)));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	CHECK_EQ(op_counter("field_acl", "denied"), 3);
	ex_end();
}

#define KEYS	1000000
#define BATCH	20000

static void million_key(char *key, uint32_t i)
{
	memset(key, 0, KEY_LEN);
	snprintf(key, KEY_LEN, "user-%u@example.org", i);
}

/* The map holds as many keys as it can, edited while calls pass. */
TEST_LIMIT(field_acl_million, 400)
{
	static char keys[BATCH][KEY_LEN];
	static uint8_t values[BATCH];
	uint32_t i, k, n;
	char key[KEY_LEN];

	ex_begin("field_acl");
	ex_place("side=client");
	l.text = "nobody";
	load_start(&l, &p.c, p.conn, 4);
	for (i = 0; i < KEYS; i += BATCH) {
		for (k = 0; k < BATCH; k++)
			million_key(keys[k], i + k);
		n = BATCH;
		CHECK_EQ(bpf_map_update_batch(policy_map_fd(&ex, "denied"), keys, values, &n,
					      NULL), 0);
		CHECK_EQ(n, BATCH);
	}
	for (i = 0; i < KEYS; i += KEYS / 100 - 1) {
		million_key(key, i);
		CHECK_EQ(say(key), MRPC_PERMISSION_DENIED);
		million_key(key, KEYS + i);
		CHECK_EQ(say(key), MRPC_OK);
	}
	million_key(key, KEYS);
	CHECK_EQ(bpf_map_update_elem(policy_map_fd(&ex, "denied"), key, values, 0), -E2BIG);
	million_key(key, KEYS / 2);
	allow(key);
	CHECK_EQ(say(key), MRPC_OK);
	million_key(key, KEYS);
	deny(key);
	CHECK_EQ(say(key), MRPC_PERMISSION_DENIED);
	CHECK(load_more(&l, 100, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	ex_end();
}

/* -- user_bucket ------------------------------------------------------------------- */

struct limit {
	uint32_t rate;
	uint32_t burst;
	uint32_t patience_ms;
};

static void limit(uint32_t uid, uint32_t rate, uint32_t burst, uint32_t patience_ms)
{
	ex_set("limits", uid, &(struct limit){ rate, burst, patience_ms });
}

/* Number of @nr calls that pass. The policy refuses the others. */
static unsigned int pass(struct raw *s, int conn, unsigned int nr)
{
	unsigned int i, passed = 0;

	for (i = 0; i < nr; i++) {
		if (ex_call_as(s, raw_sqe(conn, RAW_ECHO, i), 3, NULL) == MRPC_OK)
			passed++;
		else
			CHECK_STR(ex_detail, "this user makes too many calls");
	}
	return passed;
}

TEST_LIMIT(user_bucket, 200)
{
	static struct raw user;
	unsigned int passed;
	uint64_t start;
	int conn;

	ex_begin("user_bucket");
	ex_place("side=client");
	conn = ex_as_user(&user, 1000);
	CHECK_EQ(pass(&p.c, p.conn, 20), 20);		/* there is no limit */
	limit(0, 1, 7, 0);
	start = raw_now();
	CHECK_EQ(pass(&p.c, p.conn, 7), 7);
	passed = pass(&p.c, p.conn, 20);
	CHECK(passed <= (raw_now() - start) / RAW_S + 1);
	CHECK_EQ(pass(&user, conn, 20), 20);		/* not this user's */
	limit(~0U, 0, 5, 0);
	CHECK_EQ(pass(&user, conn, 20), 0);
	limit(1000, 1000000, 1000, 0);
	CHECK_EQ(pass(&user, conn, 20), 20);
	/* A new limit applies at once. Saved or spent tokens do not matter. */
	limit(0, 1000000, 1000, 0);
	raw_sleep(RAW_MS);
	CHECK_EQ(pass(&p.c, p.conn, 20), 20);
	/* A call that may wait is delayed. */
	limit(0, 5, 1, 10000);
	start = raw_now();
	CHECK_EQ(pass(&p.c, p.conn, 6), 6);
	CHECK(raw_now() - start >= RAW_S);
	CHECK(op_counter("user_bucket", "delayed") >= 3);
	CHECK(op_counter("user_bucket", "limited") > op_counter("user_bucket", "delayed"));
	raw_close(&user);
	ex_end();
}

/* Both processors use one bucket: it gives not one token more. */
TEST(user_bucket_shared)
{
	int second;

	ex_begin("user_bucket");
	ex_place("side=client");
	limit(0, 1, 500, 0);
	second = raw_connect(&p.c, p.addr);
	load_start(&l, &p.c, p.conn, 8);
	load_start(&other, &p.c, second, 8);
	CHECK(load_until(&l, MRPC_RESOURCE_EXHAUSTED, 50, 60000));
	CHECK(load_until(&other, MRPC_RESOURCE_EXHAUSTED, 50, 60000));
	load_stop(&l);
	load_stop(&other);
	NOTE("%llu calls passed", (unsigned long long)(load_done(&l, MRPC_OK) +
						       load_done(&other, MRPC_OK)));
	CHECK(load_done(&l, MRPC_OK) + load_done(&other, MRPC_OK) >= 500);
	CHECK(load_done(&l, MRPC_OK) + load_done(&other, MRPC_OK) < 500 + 200);
	ex_end();
}

/* Tag of the server's last request. */
static uint64_t last_tag;

static void keep(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	last_tag = ((const struct test_Blob *)msg)->tag;
}

/* -- stamp_tenant ----------------------------------------------------------------------- */

#define CGROUP	"/sys/fs/cgroup/mrpc-policy"

TEST(stamp_tenant)
{
	static struct raw user;
	uint64_t tenant = 77, cgroup;
	struct stat st;
	int conn;

	ex_begin("stamp_tenant");
	ex_name_field(0, "test.Blob:tag");
	ex_place("side=client");
	p.srv.seen = keep;
	CHECK_EQ(ex_call(RAW_ECHO, 5, 3, NULL), MRPC_PERMISSION_DENIED);
	CHECK_STR(ex_detail, "it is of no known tenant");
	ex_set("users", 0, &tenant);
	CHECK_EQ(ex_call(RAW_ECHO, 5, 3, NULL), MRPC_OK);
	CHECK_EQ(last_tag, 77);
	/* The cgroup has precedence over the user. */
	CHECK(!mkdir(CGROUP, 0755) || errno == EEXIST);
	CHECK_SYS(stat(CGROUP, &st));
	CHECK(raw_file_write(CGROUP "/cgroup.procs", "0"));
	conn = ex_as_user(&user, 0);
	CHECK(raw_file_write("/sys/fs/cgroup/cgroup.procs", "0"));
	CHECK_EQ(ex_call_as(&user, raw_sqe(conn, RAW_ECHO, 5), 3, NULL), MRPC_OK);
	CHECK_EQ(last_tag, 77);
	cgroup = st.st_ino;
	tenant = 1ULL << 40;
	policy_map_set(&ex, "cgroups", &cgroup, &tenant);
	CHECK_EQ(ex_call_as(&user, raw_sqe(conn, RAW_ECHO, 5), 3, NULL), MRPC_OK);
	CHECK_EQ(last_tag, 1ULL << 40);
	CHECK_EQ(ex_call(RAW_ECHO, 5, 3, NULL), MRPC_OK);
	CHECK_EQ(last_tag, 77);
	CHECK_EQ(op_counter("stamp_tenant", "stamped"), 4);
	CHECK_EQ(op_counter("stamp_tenant", "unknown"), 1);
	raw_close(&user);
	ex_end();
	CHECK_SYS(rmdir(CGROUP));
}

/* -- canary -------------------------------------------------------------------------------- */

struct rule {
	uint64_t canary;
	uint64_t others;
	uint32_t share;
	uint32_t gate;
};

static struct raw_server replica[2];

/* Until both replicas have a link, calls of one may go to the other. */
static void wait_linked(void)
{
	uint64_t until = raw_now() + 20 * RAW_S * raw_patience();
	char name[80];
	unsigned int i;

	CHECK_EQ(ex_call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "tcp:127.0.0.1:%u/linked", replica[i].s.port);
		while (op_counter("lb", name) != 1) {
			CHECK(raw_now() < until);
			raw_sleep(5 * RAW_MS);
		}
	}
}

/* Starts the replicas behind lb, and finds a number that goes to each by trying. */
static void find_ways(struct rule *r)
{
	char words[300];
	unsigned int i;
	uint64_t tag, before;

	for (i = 0; i < 2; i++)
		raw_server(&replica[i], "tcp:127.0.0.1:0", 1);
	snprintf(words, sizeof(words),
		 "side=client service=test.Bulk policy=hash field=tag members=tcp:127.0.0.1:%u,tcp:127.0.0.1:%u",
		 replica[0].s.port, replica[1].s.port);
	op_must_add("lb", words, NULL);
	wait_linked();
	r->canary = r->others = ~0ULL;
	for (tag = 0; r->canary == ~0ULL || r->others == ~0ULL; tag++) {
		before = raw_server_requests(&replica[0]);
		CHECK_EQ(ex_call(RAW_ECHO, tag, 3, NULL), MRPC_OK);
		if (raw_server_requests(&replica[0]) > before)
			r->canary = tag;
		else
			r->others = tag;
		CHECK(tag < 1000);
	}
}

/* Does a call with this key go to the canary? */
static bool to_canary(const char *key)
{
	uint64_t before = raw_server_requests(&replica[0]);

	CHECK_EQ(ex_call(RAW_ECHO, 12345, 3, key), MRPC_OK);
	return raw_server_requests(&replica[0]) > before;
}

TEST_LIMIT(canary, 240)
{
	unsigned int i, n = 0;
	struct rule r = {};
	uint8_t one = 1;
	char key[32];

	ex_begin("canary");
	ex_name_field(0, "test.Blob:text");
	ex_name_field(1, "test.Blob:tag");
	find_ways(&r);
	ex_place("side=client service=test.Bulk before=lb");
	r.share = 2000;
	ex_set("rule", 0, &r);
	for (i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		n += to_canary(key);
	}
	ex_check_share(n, 1000, 20);
	CHECK_EQ(op_counter("canary", "canary"), n);
	/* One key always goes one way. A listed key goes to the canary. */
	strcpy(key, "always the same");
	n = to_canary(key);
	for (i = 0; i < 20; i++)
		CHECK_EQ(to_canary(key), n);
	r.share = 0;
	ex_set("rule", 0, &r);
	CHECK(!to_canary(key));
	policy_map_set(&ex, "always", ex_key_of(key), &one);
	CHECK(to_canary(key));
	CHECK(!to_canary("another"));
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	ex_end();
	for (i = 0; i < 2; i++)
		raw_server_stop(&replica[i]);
}

TEST(canary_gate)
{
	struct rule r = { .canary = 7, .gate = 1 };

	ex_begin("canary");
	ex_name_field(0, "test.Blob:text");
	ex_name_field(1, "test.Blob:tag");
	ex_place("side=server service=test.Bulk");
	CHECK_EQ(ex_call(RAW_ECHO, 8, 3, NULL), MRPC_OK);
	ex_set("rule", 0, &r);
	CHECK_EQ(ex_call(RAW_ECHO, 7, 3, NULL), MRPC_OK);
	CHECK_EQ(ex_call(RAW_ECHO, 8, 3, NULL), MRPC_FAILED_PRECONDITION);
	CHECK_STR(ex_detail, "it is not for the canary");
	CHECK_EQ(raw_server_requests(&p.srv), 2);
	ex_end();
}

/* -- inject, shed --------------------------------------------------------------------------- */

struct fault {
	uint32_t aborted;
	uint32_t status;
	uint32_t delayed;
	uint32_t resv;
	uint64_t delay;
};

static void order_fault(const struct policy *policy, const char *method, struct fault f)
{
	policy_map_set(policy, "faults", ex_key_of(method), &f);
}

TEST_LIMIT(inject, 200)
{
	uint64_t all, start;

	ex_begin("inject");
	ex_place("side=client");
	order_fault(&ex, "test.Bulk/Echo", (struct fault){ .aborted = 2000, .status = MRPC_ABORTED });
	l.ack = false;
	load_start(&l, &p.c, p.conn, 16);
	CHECK(load_more(&l, 2000, 120000));
	load_stop(&l);
	all = load_all(&l);
	ex_check_share(load_done(&l, MRPC_ABORTED), all, 20);
	CHECK_EQ(load_except(&l, 1 << MRPC_OK | 1 << MRPC_ABORTED), 0);
	CHECK_STR(l.detail, "a fault that was ordered");
	CHECK_EQ(op_counter("inject", "aborted"), load_done(&l, MRPC_ABORTED));
	/* Other methods have the fault that is set for all. */
	CHECK_EQ(ex_call(RAW_ACK, 1, 3, NULL), MRPC_OK);
	order_fault(&ex, "", (struct fault){ .delayed = 10000, .delay = 200 * RAW_MS });
	start = raw_now();
	CHECK_EQ(ex_call(RAW_ACK, 1, 3, NULL), MRPC_OK);
	CHECK(raw_now() - start >= 200 * RAW_MS);
	CHECK_EQ(op_counter("inject", "late"), 1);
	ex_end();
}

struct shed {
	uint64_t age;
	uint64_t need;
};

/* Sheds a message that has waited too long in another engine. */
TEST(shed_by_age)
{
	struct policy slow;

	ex_begin("shed");
	policy_example(&slow, "inject");
	policy_start(&slow);
	op_must_add("inject", "side=client", NULL);
	ex_place("side=client after=inject");
	CHECK_EQ(ex_call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	ex_set("limits", 0, &(struct shed){ .age = 300 * RAW_MS * raw_patience() });
	CHECK_EQ(ex_call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	order_fault(&slow, "", (struct fault){
		.delayed = 10000, .delay = 301 * RAW_MS * raw_patience(),
	});
	CHECK_EQ(ex_call(RAW_ECHO, 1, 3, NULL), MRPC_UNAVAILABLE);
	CHECK_STR(ex_detail, "overload: it has waited too long");
	CHECK_EQ(raw_server_requests(&p.srv), 2);
	CHECK_EQ(op_counter("shed", "too_old"), 1);
	policy_close(&slow);
	ex_end();
}

TEST(shed_by_deadline)
{
	ex_begin("shed");
	ex_place("side=server");
	ex_set("limits", 0, &(struct shed){ .need = 100 * RAW_S });
	CHECK_EQ(ex_call_for(0), MRPC_OK);
	CHECK_EQ(ex_call_for(3600000000), MRPC_OK);
	CHECK_EQ(ex_call_for(99000000), MRPC_DEADLINE_EXCEEDED);
	CHECK_STR(ex_detail, "too little time is left");
	CHECK_EQ(raw_server_requests(&p.srv), 2);
	CHECK_EQ(op_counter("shed", "too_late"), 1);
	ex_end();
}
