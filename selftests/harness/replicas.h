/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client whose calls the lb engine gives to replicas, which are servers of this process. Include
 * after tap.h.
 */
#ifndef REPLICAS_H
#define REPLICAS_H

#include <stdio.h>
#include <string.h>

#include "operator.h"
#include "raw.h"

#define REPLICAS	3
#define TAGS		300
#define RUNS		(1 << 20)

static struct raw_pair p;
static struct raw_server srv[REPLICAS];
static char addr[REPLICAS][64];
static const char *wire = "tcp";	/* the transport of replicas */
static char detail[MRPC_MAX_DETAIL + 1];
static int owner[TAGS];

/* Number of runs of each call of the load, in any process. */
static uint8_t *runs;

static inline void seen(unsigned int who, const void *msg)
{
	uint64_t tag = ((const struct test_Blob *)msg)->tag;

	if (tag < TAGS)
		__atomic_store_n(&owner[tag], who, __ATOMIC_RELEASE);
	if (runs)
		__atomic_add_fetch(&runs[(tag & ((1ULL << 48) - 1)) % RUNS], 1, __ATOMIC_RELAXED);
}

static inline void seen_0(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	seen(0, msg);
}

static inline void seen_1(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	seen(1, msg);
}

static inline void seen_2(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	seen(2, msg);
}

static void (*const seens[REPLICAS])(const struct mrpc_cqe *, const void *) = {
	seen_0, seen_1, seen_2
};

/* Starts replica @i; @port 0: a free port. */
static inline void serve(unsigned int i, unsigned int port)
{
	char at[64];

	snprintf(at, sizeof(at), "%s:127.0.0.1:%u", wire, port);
	raw_server_open(&srv[i], 32 << 20, 32 << 20);
	srv[i].seen = seens[i];
	raw_server_start(&srv[i], at, 2);
	snprintf(addr[i], sizeof(addr[i]), "%s:127.0.0.1:%u", wire, srv[i].s.port);
}

static inline void begin(const char *how)
{
	unsigned int i;

	op_del_all();
	raw_pair(&p, how, 2);
	for (i = 0; i < REPLICAS; i++)
		serve(i, 0);
}

static inline void end(void)
{
	unsigned int i;

	op_del_all();
	raw_pair_end(&p);
	for (i = 0; i < REPLICAS; i++)
		raw_server_stop(&srv[i]);
}

/* "members=A=w0,B=w1" of the replicas with a weight that is not negative. */
static inline const char *members(int w0, int w1, int w2)
{
	const int w[REPLICAS] = { w0, w1, w2 };
	static char text[256];
	unsigned int i, n;

	n = snprintf(text, sizeof(text), "members=");
	for (i = 0; i < REPLICAS; i++)
		if (w[i] >= 0)
			n += snprintf(text + n, sizeof(text) - n, "%s=%d,", addr[i], w[i]);
	text[n - 1] = 0;
	return text;
}

static inline const char *with(const char *more, int w0, int w1, int w2)
{
	static char text[400];

	snprintf(text, sizeof(text), "%s %s", members(w0, w1, w2), more);
	return text;
}

static inline int64_t counter(unsigned int i, const char *what)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", addr[i], what);
	return op_counter("lb", name);
}

/* Waits for a counter, because a value read while others run is momentary. */
static inline void wait_counter(unsigned int i, const char *what, int64_t value)
{
	uint64_t until = raw_now() + 20 * RAW_S * raw_scale();

	while (counter(i, what) != value) {
		CHECK_MSG(raw_now() < until, "%s/%s stays %lld, not %lld", addr[i], what,
			  (long long)counter(i, what), (long long)value);
		raw_sleep(5 * RAW_MS);
	}
}

static inline unsigned int call_for(uint32_t method, uint64_t tag, uint64_t timeout_us)
{
	uint32_t root = raw_blob(&p.c, tag, 40, "text");
	struct mrpc_sqe sqe = raw_sqe(p.conn, method, root);
	struct mrpc_cqe cqe;

	sqe.timeout_us = timeout_us;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	detail[0] = 0;
	if (cqe.status == MRPC_OK)
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, tag,
				  method == RAW_ECHO ? 40 : 0));
	else
		raw_detail(&p.c, &cqe, detail, sizeof(detail));
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
	return cqe.status;
}

static inline void echo(uint64_t tag)
{
	unsigned int status = call_for(RAW_ECHO, tag, 0);

	CHECK_MSG(status == MRPC_OK, "call %llu: status %u, %s", (unsigned long long)tag, status,
		  detail);
}

/* Waits for all links. They are made while calls wait, or go to replicas that have a link. */
static inline void link_all(unsigned int nr)
{
	unsigned int i;

	echo(RUNS - 1);
	for (i = 0; i < nr; i++)
		wait_counter(i, "linked", 1);
}

static inline uint64_t requests(unsigned int i)
{
	return raw_server_requests(&srv[i]);
}

static inline void check_near(uint64_t got, uint64_t want, uint64_t off)
{
	CHECK_MSG(got + off >= want && got <= want + off, "%llu, not %llu",
		  (unsigned long long)got, (unsigned long long)want);
}

static struct raw_qp qp;

static inline void push_hang(unsigned int nr)
{
	struct mrpc_sqe sqe;

	while (nr--) {
		sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 5000 + nr, 10, NULL));
		sqe.user_data = nr;
		sqe.flags = MRPC_SQE_COPY;
		CHECK(raw_push(&qp, &sqe));
	}
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
}

#endif /* REPLICAS_H */
