// SPDX-License-Identifier: GPL-2.0
/* Covers: bpf kmod/policy/choose */
/*
 * The policies of bpf/ that choose among replicas: those of another host, and of this one.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "examples.h"
#include "hosts.h"
#include "load.h"
#include "operator.h"

#define REPLICAS	3
#define PORT		7001	/* of the first */

static struct host h;
static struct raw_server srv[REPLICAS];
static struct load l;

static uint64_t requests(unsigned int i)
{
	return raw_server_requests(&srv[i]);
}

static uint64_t all_requests(void)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < REPLICAS; i++)
		sum += requests(i);
	return sum;
}

/* "side=client members=... MORE" */
static const char *members(const char *host, const char *more)
{
	static char text[300];
	unsigned int i, n;

	n = snprintf(text, sizeof(text), "side=client service=test.Bulk members=");
	for (i = 0; i < REPLICAS; i++)
		n += snprintf(text + n, sizeof(text) - n, "%stcp:%s:%u", i ? "," : "", host,
			      srv[i].s.port ?: PORT + i);
	snprintf(text + n, sizeof(text) - n, " %s", more);
	return text;
}

static void wait_linked(const char *host)
{
	uint64_t until = raw_now() + 20 * RAW_S * raw_patience();
	char name[80];
	unsigned int i;

	CHECK_EQ(ex_call(RAW_ECHO, 1, 3, "text"), MRPC_OK);
	for (i = 0; i < REPLICAS; i++) {
		snprintf(name, sizeof(name), "tcp:%s:%u/linked", host, srv[i].s.port ?: PORT + i);
		while (op_counter("lb", name) != 1) {
			CHECK(raw_now() < until);
			raw_sleep(5 * RAW_MS);
		}
	}
}

/* -- over two hosts ------------------------------------------------------------------- */

/* The first one is slow, and gets far less than its third. */
static void serve_slowly(void)
{
	char at[64];
	unsigned int i;

	if (!host_new(&h))
		return;
	host_wait(&h);
	op_forget();
	for (i = 0; i < REPLICAS; i++) {
		snprintf(at, sizeof(at), "tcp:0.0.0.0:%u", PORT + i);
		raw_server_open(&srv[i], 32 << 20, 32 << 20);
		srv[i].busy_us = i ? 0 : 50000;
		raw_server_start(&srv[i], at, 1);
	}
	host_say(&h);
	host_wait(&h);
	for (i = 0; i < REPLICAS; i++) {
		NOTE("%llu requests came to %u", (unsigned long long)requests(i), i);
		CHECK(requests(i));
		CHECK_EQ(srv[i].bad, 0);
	}
	CHECK(requests(0) * 6 < all_requests());
	for (i = 0; i < REPLICAS; i++)
		raw_server_stop(&srv[i]);
	_exit(0);
}

TEST_LIMIT(p2c, 200)
{
	static struct raw_server own;

	CHECK_SYS(unshare(CLONE_NEWNET));
	op_forget();
	serve_slowly();
	host_join(&h);
	host_say(&h);
	host_wait(&h);
	policy_example(&ex, "p2c");
	policy_start(&ex);
	raw_server(&own, "loop:own", 1);
	raw_open(&p.c, 32 << 20, 32 << 20);
	p.conn = raw_connect(&p.c, "loop:own");
	CHECK_MSG(p.conn > 0, "connect: %s", p.c.why);
	op_must_add("lb", members(HOST_ADDR, "chooser=p2c"), NULL);
	wait_linked(HOST_ADDR);
	load_start(&l, &p.c, p.conn, 6);
	CHECK(load_more(&l, 600, 120000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(raw_server_requests(&own), 0);
	CHECK(op_counter("lb", "first"));
	CHECK(op_counter("lb", "second"));
	CHECK_EQ(op_counter("lb", "errors"), 0);
	CHECK_EQ(op_counter("lb", "unfit"), 0);
	raw_close(&p.c);
	op_del_all();
	raw_server_stop(&own);
	host_end(&h);
	policy_close(&ex);
}

/* -- affinity ------------------------------------------------------------------------------- */

/* Which replica gets a call with this key? */
static unsigned int owner_of(const char *key)
{
	uint64_t before[REPLICAS];
	unsigned int i;

	for (i = 0; i < REPLICAS; i++)
		before[i] = requests(i);
	CHECK_EQ(ex_call(RAW_ECHO, 1, 3, key), MRPC_OK);
	for (i = 0; i < REPLICAS && requests(i) == before[i]; i++)
		;
	CHECK(i < REPLICAS);
	return i;
}

TEST_LIMIT(affinity, 200)
{
	unsigned int i, owner, got[REPLICAS] = {};
	static struct raw_qp qp;
	struct mrpc_sqe sqe;
	char key[32];
	int64_t asked;

	ex_begin("affinity");
	ex_name_field(0, "test.Blob:text");
	policy_start(&ex);
	for (i = 0; i < REPLICAS; i++)
		raw_server(&srv[i], "tcp:127.0.0.1:0", 1);
	op_must_add("lb", members("127.0.0.1", "chooser=affinity"), NULL);
	wait_linked("127.0.0.1");
	asked = op_counter("lb", "first") + op_counter("lb", "other");
	for (i = 0; i < 150; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		owner = owner_of(key);
		got[owner]++;
		if (i % 10 == 0)
			CHECK_EQ(owner_of(key), owner);
	}
	for (i = 0; i < REPLICAS; i++) {
		NOTE("%u keys are of %u", got[i], i);
		CHECK(got[i] > 20);
	}
	CHECK_EQ(op_counter("lb", "other"), 0);
	/* A hot key: no more than half as much again as its share of what is under way. */
	owner = owner_of("hot");
	raw_qp(&qp, &p.c, 64, 256, 0);
	for (i = 0; i < 30; i++) {
		sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 5000 + i, 10, "hot"));
		sqe.user_data = i;
		sqe.flags = MRPC_SQE_COPY;
		CHECK(raw_push(&qp, &sqe));
	}
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(raw_server_hangs(&srv[owner], 15));
	CHECK_EQ(op_counter("lb", "no_key"), 0);
	CHECK_EQ(op_counter("lb", "first") + op_counter("lb", "other"), asked + 150 + 15 + 1 + 30);
	CHECK_EQ(op_counter("lb", "other"), 15);
	ex_end();
	for (i = 0; i < REPLICAS; i++)
		raw_server_stop(&srv[i]);
}
