// SPDX-License-Identifier: GPL-2.0
/*
 * What an operator does to egress domains; see operator.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "operator.h"
#include "operator_nl.h"

static void op_put_egress(const char *word, const char *value)
{
	static const struct op_key keys[] = {
		{ "discipline", MRPC_A_EGRESS_DISCIPLINE, 0 },
		{ "fair", MRPC_A_EGRESS_FAIR, 1 },
		{ "paused", MRPC_A_EGRESS_PAUSED, 1 },
		{ "chunk", MRPC_A_EGRESS_CHUNK, 4 },
		{ "limit", MRPC_A_EGRESS_LIMIT, 4 },
		{ "rate", MRPC_A_EGRESS_RATE, 8 },
	};

	op_put_key(keys, ARRAY_SIZE(keys), word, value);
}

int op_egress(uint8_t cmd, const char *dev, const char *words)
{
	op_request(cmd, 0);
	op_put_text(MRPC_A_EGRESS_DEV, dev);
	op_put_pairs(words, op_put_egress);
	return op_ask();
}

void op_must_egress(uint8_t cmd, const char *dev, const char *words)
{
	int err = op_egress(cmd, dev, words);

	if (err)
		op_die("egress '%s' %s: %s: %s", dev, words ?: "", strerror(-err), op_why);
}

static void op_get_egress(const char *dev)
{
	op_get(MRPC_CMD_EGRESS_GET, MRPC_A_EGRESS_DEV, dev);
}

const char *op_egress_dev(const char *how)
{
	return strcmp(how, "loop") ? "lo" : "";
}

int64_t op_egress_number(const char *dev, unsigned int attr)
{
	op_get_egress(dev);
	return op_value(op_find(op.buf, op.len, attr, NULL));
}

bool op_egress_is(const char *dev, const char *discipline)
{
	const struct nlattr *nla;

	op_get_egress(dev);
	nla = op_find(op.buf, op.len, MRPC_A_EGRESS_DISCIPLINE, NULL);
	return nla && !strcmp((const char *)(nla + 1), discipline);
}

struct op_queues {
	struct op_queue *all;
	unsigned int nr;
	unsigned int cap;
};

static void op_queue(const void *attrs, uint32_t len, void *arg)
{
	struct op_queues *q = arg;
	struct op_queue *one = &q->all[q->nr];
	const struct nlattr *nla;
	unsigned int i;

	if (q->nr++ >= q->cap)
		return;
	memset(one, 0, sizeof(*one));
	for (i = 1; i <= MRPC_A_EGRESS_QUEUE_MAX; i++) {
		nla = op_find(attrs, len, i, NULL);
		if (i == MRPC_A_EGRESS_QUEUE_TENANT && nla)
			snprintf(one->tenant, sizeof(one->tenant), "%s", (const char *)(nla + 1));
		else if (i != MRPC_A_EGRESS_QUEUE_DEV)
			one->value[i] = op_value(nla);
	}
}

bool op_egress_reaches(const char *dev, unsigned int attr, int64_t least)
{
	time_t until = time(NULL) + 60;

	while (op_egress_number(dev, attr) < least) {
		if (time(NULL) > until)
			return false;
		usleep(1000);
	}
	return true;
}

unsigned int op_egress_queues(const char *dev, struct op_queue *all, unsigned int cap)
{
	struct op_queues q = { all, 0, cap };
	int err;

	op_request(MRPC_CMD_EGRESS_QUEUE_GET, NLM_F_DUMP);
	op_put_text(MRPC_A_EGRESS_QUEUE_DEV, dev);
	err = op_ask_each(op_queue, &q);
	if (err)
		op_die("queues of egress '%s': %s: %s", dev, strerror(-err), op_why);
	if (q.nr > cap)
		op_die("%u datapaths in egress '%s', room for %u", q.nr, dev, cap);
	return q.nr;
}

/* What went before the messages of a connection, or -1. */
static int64_t op_ahead(const struct op_queue *all, unsigned int nr, int conn)
{
	int64_t session = 0, ahead = -1;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const int64_t *value = all[i].value;

		if (value[MRPC_A_EGRESS_QUEUE_CONN] != conn ||
		    value[MRPC_A_EGRESS_QUEUE_SESSION] < session)
			continue;
		session = value[MRPC_A_EGRESS_QUEUE_SESSION];
		ahead = value[MRPC_A_EGRESS_QUEUE_AHEAD];
	}
	return ahead;
}

bool op_egress_went(const char *dev, const int *conns, unsigned int nr)
{
	struct op_queue all[32];
	unsigned int have = op_egress_queues(dev, all, 32), i;
	int64_t before = -1, ahead;

	for (i = 0; i < nr; i++) {
		ahead = op_ahead(all, have, conns[i]);
		if (ahead <= before)
			return false;
		before = ahead;
	}
	return true;
}
