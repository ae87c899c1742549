// SPDX-License-Identifier: GPL-2.0
/*
 * The policies of bpf/, one at a time; see examples.h.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "examples.h"
#include "operator.h"

struct raw_pair p;
struct policy ex;
char ex_detail[MRPC_MAX_DETAIL + 1];

void ex_begin(const char *name)
{
	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_example(&ex, name);
}

void ex_name_field(unsigned int field, const char *path)
{
	strcpy(policy_decl(&ex)->fields[field], path);
}

void ex_place(const char *words)
{
	policy_start(&ex);
	op_must_add(bpf_map__name(ex.ops), words, NULL);
}

void ex_end(void)
{
	op_del_all();
	raw_pair_end(&p);
	policy_close(&ex);
}

void ex_set(const char *map, uint32_t key, const void *value)
{
	policy_map_set(&ex, map, &key, value);
}

void ex_set_u32(const char *map, uint32_t key, uint32_t value)
{
	ex_set(map, key, &value);
}

const char *ex_key_of(const char *text)
{
	static char key[KEY_LEN];

	memset(key, 0, sizeof(key));
	memcpy(key, text, strnlen(text, sizeof(key)));
	return key;
}

unsigned int ex_call_as(struct raw *s, struct mrpc_sqe sqe, uint32_t len, const char *text)
{
	struct mrpc_cqe cqe;
	int err;

	sqe.root = raw_blob(s, sqe.root, len, text);
	*ex_detail = 0;
	err = raw_call(s, &sqe, &cqe);
	if (err)
		raw_die("a call: %s", strerror(-err));
	if (cqe.status)
		raw_detail(s, &cqe, ex_detail, sizeof(ex_detail));
	raw_done(s, &cqe);
	raw_free(s, sqe.root);
	return cqe.status;
}

unsigned int ex_call(uint32_t method, uint64_t tag, uint32_t len, const char *text)
{
	return ex_call_as(&p.c, raw_sqe(p.conn, method, tag), len, text);
}

unsigned int ex_call_for(uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, 1);

	sqe.timeout_us = timeout_us;
	return ex_call_as(&p.c, sqe, 10, NULL);
}

/* The system call is of this thread alone. */
int ex_as_user(struct raw *s, uid_t uid)
{
	int conn;

	if (syscall(SYS_setreuid, uid, -1))
		raw_die("no user %u", uid);
	raw_open(s, 32 << 20, 32 << 20);
	if (syscall(SYS_setreuid, 0, -1))
		raw_die("root no more");
	conn = raw_connect(s, p.addr);
	if (conn < 0)
		raw_die("connect: %s", s->why);
	return conn;
}

void ex_check_share(uint64_t n, uint64_t all, double percent)
{
	double want = all * percent / 100, dev = sqrt(want * (1 - percent / 100));

	printf("# %llu of %llu, %.1f +- %.1f expected\n", (unsigned long long)n,
	       (unsigned long long)all, want, 6 * dev);
	if (fabs(n - want) > 6 * dev)
		raw_die("the share is wrong");
}
