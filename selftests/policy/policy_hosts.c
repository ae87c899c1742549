// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/policy/judge kmod/core/rpc */
/*
 * Policies between two hosts: what is denied does not get to the other's application, even
 * when the sending one changes it all the time. TOCTOU_SECONDS says how long each of the
 * tests with such a writer runs; 20 without.
 */
#include <sched.h>
#include <string.h>

#include "tap.h"
#include "hosts.h"
#include "operator.h"
#include "policies.h"
#include "raw.h"

#define ADDR	"tcp:" HOST_ADDR ":7000"
#define KEY_LEN	64

#define GOOD	0x64616f6c79617020	/* " payload" */
#define EVIL	0x21534944454e4544	/* "DENIEDS!" */
#define TENANT	0x5445434154534554

static struct host h;
static struct raw_pair p;
static struct policy ex;

/* -- the server's host ---------------------------------------------------------------- */

static uint64_t arrived, bad;

static bool holds(const void *msg, const struct test_Blob *blob, uint64_t word)
{
	return (blob->text.len >= 8 && !memcmp(msg + blob->text.off, &word, 8)) ||
	       (blob->data.len >= 8 && !memcmp(msg + blob->data.off, &word, 8));
}

static void check_denied(const struct mrpc_cqe *cqe, const void *msg)
{
	const struct test_All *all = msg;

	arrived++;
	if (cqe->method == RAW_ECHO_ALL)
		bad += all->f_bytes.len == 8 && !memcmp(msg + all->f_bytes.off, &(uint64_t){ EVIL }, 8);
	else
		bad += holds(msg, msg, EVIL);
}

static void check_stamp(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	arrived++;
	bad += ((const struct test_Blob *)msg)->tag != TENANT;
}

static unsigned int count(const struct raw *s, uint64_t word)
{
	const uint8_t *at = s->recv;
	unsigned int n = 0;

	while ((at = memmem(at, s->recv + s->recv_len - at, &word, 8))) {
		at += 8;
		n++;
	}
	return n;
}

/* Serves until it is told to stop; then nothing of what is denied has ever been there. */
static void server(const char *engine, const char *words, bool keep,
		   void (*seen)(const struct mrpc_cqe *, const void *))
{
	if (!host_new(&h))
		return;
	host_wait(&h);
	op_forget();
	raw_server_open(&p.srv, 32 << 20, 32 << 20);
	p.srv.keep = keep;
	p.srv.seen = seen;
	if (engine)
		op_must_add(engine, words, NULL);
	raw_server_start(&p.srv, "tcp:0.0.0.0:7000", 1);
	host_say(&h);
	host_wait(&h);
	NOTE("%llu requests came", (unsigned long long)arrived);
	CHECK(arrived);
	CHECK_EQ(bad, 0);
	CHECK_EQ(p.srv.bad, 0);
	if (keep)
		CHECK(count(&p.srv.s, GOOD));
	CHECK_EQ(count(&p.srv.s, EVIL), 0);
	if (engine)
		op_del_all();
	raw_server_stop(&p.srv);
	_exit(0);
}

/* -- the client's host ------------------------------------------------------------------- */

/* @path: the field that field_acl looks at, or NULL: the policy is stamp_tenant. */
static void begin(const char *path, bool at_server, bool keep)
{
	const char *name = path ? "field_acl" : "stamp_tenant";

	CHECK_SYS(unshare(CLONE_NEWNET));
	op_forget();
	policy_example(&ex, name);
	strcpy(policy_ops(&ex)->fields[0], path ?: "test.Blob:tag");
	policy_start(&ex);
	server(at_server ? name : NULL, "side=server", keep, path ? check_denied : check_stamp);
	host_join(&h);
	host_say(&h);
	host_wait(&h);
	if (!at_server)
		op_must_add(name, "side=client", NULL);
	raw_open(&p.c, 32 << 20, 32 << 20);
	p.conn = raw_connect(&p.c, ADDR);
	CHECK_MSG(p.conn > 0, "connect: %s", p.c.why);
}

static void end(void)
{
	raw_close(&p.c);
	op_del_all();
	host_end(&h);
	policy_close(&ex);
}

static void deny(void)
{
	char key[KEY_LEN] = "";
	uint8_t one = 1;

	memcpy(key, &(uint64_t){ EVIL }, 8);
	policy_map_set(&ex, "denied", key, &one);
}

static unsigned int call(uint32_t method, uint32_t root)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, method, root);
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	raw_done(&p.c, &cqe);
	return cqe.status;
}

/* Both words in messages of all sizes, in turns: their bytes, or their text. */
static void denied(const char *path, bool at_server)
{
	static const uint32_t sizes[] = { 100, 5000, 20000, 300000 };
	bool text = strstr(path, "text");
	struct test_Blob *blob;
	uint32_t root, i;

	begin(path, at_server, true);
	deny();
	for (i = 0; i < 40; i++) {
		uint64_t word = i % 2 ? EVIL : GOOD;

		root = raw_blob(&p.c, i, text ? sizes[i / 2 % 4] : 8, "eightlet");
		blob = (void *)(p.c.send + root);
		memcpy((uint8_t *)blob + (text ? blob->text.off : blob->data.off), &word, 8);
		CHECK_EQ(call(RAW_ACK, root), i % 2 ? MRPC_PERMISSION_DENIED : MRPC_OK);
		raw_free(&p.c, root);
	}
	end();
}

TEST(denied_text_at_client)
{
	denied("test.Blob:text", false);
}

TEST(denied_text_at_server)
{
	denied("test.Blob:text", true);
}

TEST(denied_bytes_at_client)
{
	denied("test.Blob:data", false);
}

TEST(denied_bytes_at_server)
{
	denied("test.Blob:data", true);
}

/* -- a concurrent writer -------------------------------------------------------------------- */

static uint64_t seconds(void)
{
	const char *text = getenv("TOCTOU_SECONDS");

	return (text && *text ? atoi(text) : 8) * RAW_S;
}

static volatile uint64_t *word;
static bool stop;

/* One word, then the other, for about as long as a call is looked at. */
static void *writer(void *arg)
{
	uint32_t i = 0, spin;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		*word = i++ % 2 ? EVIL : GOOD;
		for (spin = i * 2654435761U >> 20; spin; spin--)
			__asm__ __volatile__("" ::: "memory");
	}
	return NULL;
}

/* Calls @method with the message at @root while what is at @at changes. */
static void under_change(uint32_t method, uint32_t root, uint32_t at, bool stamped)
{
	uint64_t until = raw_now() + seconds();
	unsigned int tally[MRPC_STATUS_MAX + 1] = {};
	pthread_t thread;

	CHECK_EQ(at % 8, 0);
	word = (void *)(p.c.send + at);
	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	CHECK(!pthread_create(&thread, NULL, writer, NULL));
	while (raw_now() < until)
		tally[call(method, root)]++;
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	NOTE("%u calls went well, %u were denied", tally[MRPC_OK], tally[MRPC_PERMISSION_DENIED]);
	CHECK(tally[MRPC_OK]);
	CHECK(stamped || tally[MRPC_PERMISSION_DENIED]);
}

static void text_changes(bool at_server)
{
	uint32_t root, text;

	begin("test.Blob:text", at_server, false);
	deny();
	root = raw_alloc(&p.c, 4096);
	text = root + 1024;
	*(struct test_Blob *)(p.c.send + root) = (struct test_Blob){ .text = { 1024, 8 } };
	under_change(RAW_ACK, root, text, false);
	end();
}

TEST_LIMIT(writer_text_at_client, 600)
{
	text_changes(false);
}

TEST_LIMIT(writer_text_at_server, 600)
{
	text_changes(true);
}

/* A few bytes that are looked at, beside many that go by reference. */
static void bytes_change(bool at_server)
{
	uint32_t root, many = 60000 / 8;
	struct test_All *all;

	begin("test.All:f_bytes", at_server, false);
	deny();
	root = raw_alloc(&p.c, 4096 + 8 * many);
	all = (void *)(p.c.send + root);
	all->f_bytes = (typeof(all->f_bytes)){ 2048, 8 };
	all->r_double = (typeof(all->r_double)){ 4096, many };
	under_change(RAW_ECHO_ALL, root, root + 2048, false);
	end();
}

TEST_LIMIT(writer_bytes_at_client, 600)
{
	bytes_change(false);
}

TEST_LIMIT(writer_bytes_at_server, 600)
{
	bytes_change(true);
}

/* Whatever the application writes over it, the server reads the stamp. */
TEST_LIMIT(writer_stamp, 600)
{
	uint64_t tenant = TENANT;
	uint32_t root, uid = 0;

	begin(NULL, false, false);
	policy_map_set(&ex, "users", &uid, &tenant);
	root = raw_blob(&p.c, 1, 1000, NULL);
	under_change(RAW_ACK, root, root + offsetof(struct test_Blob, tag), true);
	end();
}
