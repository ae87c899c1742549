/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection with the policy probe on it, which does what a test orders and tells what it has
 * seen. Include after tap.h.
 */
#ifndef POLICY_PROBE_H
#define POLICY_PROBE_H

#include "operator.h"
#include "policies.h"
#include "bpf/probe.h"

static struct raw_pair p;
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

#endif /* POLICY_PROBE_H */
