// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of keys, and rules for engines; see operator.h.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "operator.h"
#include "operator_nl.h"

/* -- sets ------------------------------------------------------------------------- */

int op_keyset_new(const char *name, bool integers)
{
	op_request(MRPC_CMD_KEYSET_NEW, 0);
	op_put_text(MRPC_A_KEYSET_NAME, name);
	op_put_u32(MRPC_A_KEYSET_KIND, integers ? MRPC_KEYSET_KIND_INTEGER :
		   MRPC_KEYSET_KIND_TEXT);
	return op_ask();
}

int op_keyset_del(const char *name)
{
	op_request(MRPC_CMD_KEYSET_DEL, 0);
	op_put_text(MRPC_A_KEYSET_NAME, name);
	return op_ask();
}

int op_keys(const char *name, bool insert, const char *format, uint32_t from, uint32_t to)
{
	char key[128];
	int err = 0;

	while (from < to && !err) {
		op_request(insert ? MRPC_CMD_KEYSET_INSERT : MRPC_CMD_KEYSET_REMOVE, 0);
		op_put_text(MRPC_A_KEYSET_NAME, name);
		while (from < to && op.len < 32768) {
			snprintf(key, sizeof(key), format, from++);
			op_put(MRPC_A_KEYSET_KEY, key, strlen(key));
		}
		err = op_ask();
	}
	return err;
}

/* The last one of the dump: tests have one set at a time. */
int64_t op_keyset_keys(const char *name)
{
	const struct nlattr *nla;

	op_request(MRPC_CMD_KEYSET_GET, NLM_F_DUMP);
	if (op_ask())
		op_die("sets: %s", op_why);
	nla = op_find(op.buf, op.len, MRPC_A_KEYSET_NAME, NULL);
	if (!nla || strcmp((const char *)(nla + 1), name))
		return -1;
	return op_value(op_find(op.buf, op.len, MRPC_A_KEYSET_KEYS, NULL));
}

/* -- rules ------------------------------------------------------------------------ */

static void *op_rules_room(struct op_rules *r, const void *data, uint32_t len)
{
	uint8_t *at = r->buf + r->len;

	if (r->len + ALIGN(len, 8) > sizeof(r->buf))
		op_die("too many rules");
	memset(at, 0, ALIGN(len, 8));
	if (data)
		memcpy(at, data, len);
	r->len += ALIGN(len, 8);
	((struct mrpc_rules_hdr *)r->buf)->len = r->len;
	return at;
}

void op_rules_begin(struct op_rules *r)
{
	const struct mrpc_rules_hdr hdr = {
		.magic = MRPC_RULES_MAGIC,
		.version = MRPC_RULES_VERSION,
	};

	memset(r, 0, sizeof(*r));
	op_rules_room(r, &hdr, sizeof(hdr));
}

uint32_t op_rules_set(struct op_rules *r, const char *name)
{
	struct mrpc_rules_set set = { .name_len = strlen(name) };

	op_rules_room(r, &set, sizeof(set));
	op_rules_room(r, name, strlen(name));
	return ((struct mrpc_rules_hdr *)r->buf)->nr_sets++;
}

void op_rule(struct op_rules *r, uint32_t action, uint16_t status, const char *detail)
{
	struct mrpc_rule_rec rec = {
		.action = action,
		.share = MRPC_RULE_SHARE_ALL,
		.status = status,
		.detail_len = detail ? strlen(detail) : 0,
	};

	r->rule = r->len;
	op_rules_room(r, &rec, sizeof(rec));
	op_rules_room(r, detail, rec.detail_len);
	((struct mrpc_rules_hdr *)r->buf)->nr_rules++;
}

void op_rule_more(struct op_rules *r, uint32_t share, uint64_t arg)
{
	struct mrpc_rule_rec *rec = (void *)(r->buf + r->rule);

	rec->share = share;
	rec->arg = arg;
}

void op_cond(struct op_rules *r, uint8_t what, uint8_t match, const char *name, const void *value,
	     uint16_t len)
{
	struct mrpc_cond_rec rec = {
		.what = what,
		.op = match,
		.name_len = name ? strlen(name) : 0,
		.value_len = len,
	};

	((struct mrpc_rule_rec *)(r->buf + r->rule))->nr_conds++;
	op_rules_room(r, &rec, sizeof(rec));
	op_rules_room(r, name, rec.name_len);
	op_rules_room(r, value, len);
}

void op_cond_text(struct op_rules *r, uint8_t what, uint8_t match, const char *name,
		  const char *text)
{
	op_cond(r, what, match, name, text, strlen(text));
}

void op_cond_range(struct op_rules *r, uint8_t what, const char *name, uint64_t from, uint64_t to)
{
	const struct mrpc_cond_range range = {
		.from = from,
		.to = to,
		.flags = MRPC_RANGE_FROM | MRPC_RANGE_TO,
	};

	op_cond(r, what, MRPC_MATCH_RANGE, name, &range, sizeof(range));
}

void op_cond_in(struct op_rules *r, const char *name, uint32_t set)
{
	op_cond(r, MRPC_COND_FIELD, MRPC_MATCH_IN, name, &set, sizeof(set));
}

void op_cond_net(struct op_rules *r, const char *addr, uint8_t prefix)
{
	struct mrpc_cond_net net = { .prefix = prefix };

	net.version = strchr(addr, ':') ? 6 : 4;
	if (inet_pton(net.version == 6 ? AF_INET6 : AF_INET, addr, net.addr) != 1)
		op_die("'%s' is not an address", addr);
	op_cond(r, MRPC_COND_PEER, MRPC_MATCH_NET, NULL, &net, sizeof(net));
}
