// SPDX-License-Identifier: GPL-2.0
/*
 * What an operator does to engines; see operator.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "operator.h"

char op_why[512];

static __attribute__((__noreturn__, __format__(__printf__, 1, 2))) void op_die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("# operator: ");
	vprintf(fmt, args);
	putchar('\n');
	va_end(args);
	exit(1);
}

/* A request in the making; the answer takes its place. */
static struct {
	int fd;
	uint16_t family;
	uint32_t seq;
	uint32_t len;
	uint8_t buf[1 << 17] __attribute__((aligned(8)));
} op = { .fd = -1 };

/* -- messages ------------------------------------------------------------------ */

static void op_begin(uint16_t family, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *hdr = (void *)op.buf;
	struct genlmsghdr *genl = (void *)(hdr + 1);

	memset(op.buf, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	hdr->nlmsg_type = family;
	hdr->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	hdr->nlmsg_seq = ++op.seq;
	genl->cmd = cmd;
	genl->version = 1;
	op.len = NLMSG_HDRLEN + GENL_HDRLEN;
}

static void op_put(uint16_t attr, const void *data, uint32_t len)
{
	struct nlattr *nla = (void *)(op.buf + op.len);

	if (op.len + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(op.buf) || len > UINT16_MAX - NLA_HDRLEN)
		op_die("a request is too large");
	nla->nla_type = attr;
	nla->nla_len = NLA_HDRLEN + len;
	memset(nla + 1, 0, NLA_ALIGN(len));
	memcpy(nla + 1, data, len);
	op.len += NLA_HDRLEN + NLA_ALIGN(len);
}

static void op_put_text(uint16_t attr, const char *text)
{
	op_put(attr, text, strlen(text) + 1);
}

static void op_put_u32(uint16_t attr, uint32_t value)
{
	op_put(attr, &value, sizeof(value));
}

static uint32_t op_nest(uint16_t attr)
{
	uint32_t at = op.len;

	op_put(attr | NLA_F_NESTED, NULL, 0);
	return at;
}

static void op_nest_end(uint32_t at)
{
	((struct nlattr *)(op.buf + at))->nla_len = op.len - at;
}

static const struct nlattr *op_find(const void *data, uint32_t len, unsigned int attr,
				    const struct nlattr *after)
{
	const uint8_t *at = data, *end = at + len;

	while (at + NLA_HDRLEN <= end) {
		const struct nlattr *nla = (const void *)at;

		if ((nla->nla_type & NLA_TYPE_MASK) == attr && (!after || nla > after))
			return nla;
		at += NLA_ALIGN(nla->nla_len);
	}
	return NULL;
}

static const struct nlattr *op_inside(const struct nlattr *nest, unsigned int attr)
{
	return op_find(nest + 1, nest->nla_len - NLA_HDRLEN, attr, NULL);
}

static int64_t op_value(const struct nlattr *nla)
{
	uint64_t value = 0;

	if (!nla)
		return -1;
	memcpy(&value, nla + 1, nla->nla_len - NLA_HDRLEN);
	return value;
}

static void op_explain(const struct nlmsghdr *hdr)
{
	const struct nlmsgerr *err = NLMSG_DATA(hdr);
	const uint8_t *at = (const void *)(err + 1);
	const struct nlattr *nla;

	op_why[0] = 0;
	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		at += NLMSG_ALIGN(err->msg.nlmsg_len - sizeof(err->msg));
	nla = op_find(at, (const uint8_t *)hdr + hdr->nlmsg_len - at, NLMSGERR_ATTR_MSG, NULL);
	if (nla)
		snprintf(op_why, sizeof(op_why), "%s", (const char *)(nla + 1));
}

void op_forget(void)
{
	if (op.fd >= 0)
		close(op.fd);
	op.fd = -1;
}

/* The kernel had no memory for a request or its answer. The socket is of no more use. */
static int op_unheard(void)
{
	int err = -errno;

	if (err != -ENOBUFS && err != -ENOMEM)
		op_die("netlink: %s", strerror(errno));
	op_forget();
	op.len = 0;
	snprintf(op_why, sizeof(op_why), "%s", OP_UNHEARD);
	return err;
}

/*
 * Leaves the last answer's attributes at op.buf, of op.len bytes; @each sees those of
 * all answers.
 */
static int op_ask_each(void (*each)(const void *attrs, uint32_t len, void *arg), void *arg)
{
	static uint8_t in[1 << 17] __attribute__((aligned(8)));
	struct nlmsghdr *hdr = (void *)op.buf;
	ssize_t n;

	hdr->nlmsg_len = op.len;
	if (send(op.fd, op.buf, op.len, 0) != (ssize_t)op.len)
		return op_unheard();
	op.len = 0;
	for (;;) {
		n = recv(op.fd, in, sizeof(in), 0);
		if (n < 0)
			return op_unheard();
		for (hdr = (void *)in; NLMSG_OK(hdr, (size_t)n); hdr = NLMSG_NEXT(hdr, n)) {
			if (hdr->nlmsg_seq != op.seq)
				continue;
			if (hdr->nlmsg_type == NLMSG_ERROR) {
				op_explain(hdr);
				return ((struct nlmsgerr *)NLMSG_DATA(hdr))->error;
			}
			if (hdr->nlmsg_type == NLMSG_DONE)
				return 0;
			op.len = hdr->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
			memcpy(op.buf, (uint8_t *)hdr + NLMSG_HDRLEN + GENL_HDRLEN, op.len);
			if (each)
				each(op.buf, op.len, arg);
		}
	}
}

static int op_ask(void)
{
	return op_ask_each(NULL, NULL);
}

static void op_open(void)
{
	const struct nlattr *nla;
	int one = 1;

	if (op.fd >= 0)
		return;
	op.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (op.fd < 0 || setsockopt(op.fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)))
		op_die("netlink: %s", strerror(errno));
	op_begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	op_put_text(CTRL_ATTR_FAMILY_NAME, "mrpc");
	if (op_ask())
		op_die("there is no netlink family mrpc");
	nla = op_find(op.buf, op.len, CTRL_ATTR_FAMILY_ID, NULL);
	op.family = op_value(nla);
}

/* -- engines -------------------------------------------------------------------- */

/* Return: that @key is about the scope, and has been put. */
static bool op_put_scope(const char *key, const char *value)
{
	static const struct {
		const char *key;
		uint16_t attr;
	} keys[] = {
		{ "session", MRPC_A_SCOPE_SESSION }, { "pid", MRPC_A_SCOPE_PID },
		{ "uid", MRPC_A_SCOPE_UID }, { "datapath", MRPC_A_SCOPE_DATAPATH },
	};
	uint64_t cgroup;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!strcmp(key, keys[i].key)) {
			op_put_u32(keys[i].attr, strtoul(value, NULL, 0));
			return true;
		}
	}
	if (!strcmp(key, "cgroup")) {
		cgroup = strtoull(value, NULL, 0);
		op_put(MRPC_A_SCOPE_CGROUP, &cgroup, sizeof(cgroup));
	} else if (!strcmp(key, "side")) {
		op_put_u32(MRPC_A_SCOPE_SIDE, !strcmp(value, "client") ?
			   MRPC_SCOPE_SIDE_CLIENT : MRPC_SCOPE_SIDE_SERVER);
	} else if (!strcmp(key, "service")) {
		op_put_text(MRPC_A_SCOPE_SERVICE, value);
	} else {
		return false;
	}
	return true;
}

static bool op_put_place(const char *key, const char *value)
{
	if (!strcmp(key, "name"))
		op_put_text(MRPC_A_ENGINE_NAME, value);
	else if (!strcmp(key, "type"))
		op_put_text(MRPC_A_ENGINE_TYPE, value);
	else if (!strcmp(key, "before"))
		op_put_text(MRPC_A_ENGINE_BEFORE, value);
	else if (!strcmp(key, "after"))
		op_put_text(MRPC_A_ENGINE_AFTER, value);
	else if (!strcmp(key, "version"))
		op_put_u32(MRPC_A_ENGINE_VERSION, strtoul(value, NULL, 0));
	else if (!strcmp(key, "percent"))
		op_put_u32(MRPC_A_ENGINE_PERCENT, strtoul(value, NULL, 0));
	else
		return false;
	return true;
}

static void op_put_param(const char *key, const char *value)
{
	uint32_t nest = op_nest(MRPC_A_ENGINE_VALUE);
	uint64_t number;
	char *end;

	op_put_text(MRPC_A_VALUE_NAME, key);
	number = !strcmp(value, "unlimited") ? UINT64_MAX : strtoull(value, &end, 0);
	if (number != UINT64_MAX && (end == value || *end))
		op_put_text(MRPC_A_VALUE_TEXT, value);
	else
		op_put(MRPC_A_VALUE_NUM, &number, sizeof(number));
	op_nest_end(nest);
}

/* Those about the scope stand together: two rounds. */
static void op_put_words(const char *words, bool scope)
{
	char copy[512], *word, *save, *value;

	snprintf(copy, sizeof(copy), "%s", words ?: "");
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		uint32_t before = op.len;

		value = strchr(word, '=');
		if (!value)
			op_die("'%s' has no value", word);
		*value++ = 0;
		if (op_put_scope(word, value)) {
			if (!scope)
				op.len = before;
		} else if (!scope && !op_put_place(word, value)) {
			op_put_param(word, value);
		}
	}
}

static void op_put_all(const char *words, const struct op_rules *rules)
{
	uint32_t nest;

	op_put_words(words, false);
	nest = op_nest(MRPC_A_ENGINE_SCOPE);
	op_put_words(words, true);
	op_nest_end(nest);
	if (op.len == nest + NLA_HDRLEN)
		op.len = nest;
	if (!rules)
		return;
	nest = op_nest(MRPC_A_ENGINE_VALUE);
	op_put_text(MRPC_A_VALUE_NAME, "rules");
	op_put(MRPC_A_VALUE_DATA, rules->buf, rules->len);
	op_nest_end(nest);
}

static int op_do(struct op_change *change)
{
	int err = op_ask();
	const struct nlattr *nest = op_find(op.buf, op.len, MRPC_A_ENGINE_CHANGE, NULL);

	if (!change)
		return err;
	*change = (struct op_change){};
	if (!nest)
		return err;
	change->matched = op_value(op_inside(nest, MRPC_A_CHANGE_MATCHED));
	change->changed = op_value(op_inside(nest, MRPC_A_CHANGE_CHANGED));
	if (op_inside(nest, MRPC_A_CHANGE_FAILED))
		change->failed = op_value(op_inside(nest, MRPC_A_CHANGE_FAILED));
	change->leaked = op_value(op_inside(nest, MRPC_A_CHANGE_LEAKED));
	if (change->changed) {
		change->pause_p50 = op_value(op_inside(nest, MRPC_A_CHANGE_PAUSE_P50));
		change->pause_p99 = op_value(op_inside(nest, MRPC_A_CHANGE_PAUSE_P99));
		change->pause_max = op_value(op_inside(nest, MRPC_A_CHANGE_PAUSE_MAX));
	}
	change->rolled_back = op_inside(nest, MRPC_A_CHANGE_ROLLED_BACK);
	return err;
}

int op_add(const char *type, const char *words, const struct op_rules *rules,
	   struct op_change *change)
{
	op_open();
	op_begin(op.family, MRPC_CMD_ENGINE_ADD, 0);
	op_put_text(MRPC_A_ENGINE_TYPE, type);
	op_put_all(words, rules);
	return op_do(change);
}

int op_set(const char *name, const char *words, const struct op_rules *rules,
	   struct op_change *change)
{
	op_open();
	op_begin(op.family, MRPC_CMD_ENGINE_SET, 0);
	op_put_text(MRPC_A_ENGINE_NAME, name);
	op_put_all(words, rules);
	return op_do(change);
}

int op_del(const char *name, struct op_change *change)
{
	return op_del_some(name, 100, change);
}

int op_del_some(const char *name, unsigned int percent, struct op_change *change)
{
	op_open();
	op_begin(op.family, MRPC_CMD_ENGINE_DEL, 0);
	op_put_text(MRPC_A_ENGINE_NAME, name);
	if (percent != 100)
		op_put_u32(MRPC_A_ENGINE_PERCENT, percent);
	return op_do(change);
}

int op_step(const char *name, unsigned int percent, struct op_change *change)
{
	op_open();
	op_begin(op.family, MRPC_CMD_ENGINE_STEP, 0);
	op_put_text(MRPC_A_ENGINE_NAME, name);
	op_put_u32(MRPC_A_ENGINE_PERCENT, percent);
	return op_do(change);
}

int op_pause(const char *name, unsigned int dirs, bool paused)
{
	uint8_t value = paused;

	op_open();
	op_begin(op.family, MRPC_CMD_QUEUE_SET, 0);
	op_put_text(MRPC_A_QUEUE_ENGINE, name);
	op_put(MRPC_A_QUEUE_PAUSED, &value, sizeof(value));
	if (dirs != 3)
		op_put_u32(MRPC_A_QUEUE_DIR, dirs == 1 ? MRPC_QUEUE_DIR_TX : MRPC_QUEUE_DIR_RX);
	return op_ask();
}

int op_runtime_add(const char *name)
{
	op_open();
	op_begin(op.family, MRPC_CMD_RUNTIME_ADD, 0);
	op_put_text(MRPC_A_RUNTIME_NAME, name);
	return op_ask();
}

int op_runtime_del(const char *name)
{
	op_open();
	op_begin(op.family, MRPC_CMD_RUNTIME_DEL, 0);
	op_put_text(MRPC_A_RUNTIME_NAME, name);
	return op_ask();
}

void op_must_add(const char *type, const char *words, const struct op_rules *rules)
{
	int err = op_add(type, words, rules, NULL);

	if (err)
		op_die("add %s %s: %s: %s", type, words, strerror(-err), op_why);
}

void op_must_set(const char *name, const char *words, const struct op_rules *rules)
{
	int err = op_set(name, words, rules, NULL);

	if (err)
		op_die("set %s %s: %s: %s", name, words, strerror(-err), op_why);
}

void op_must_del(const char *name)
{
	int err = op_del(name, NULL);

	if (err)
		op_die("del %s: %s: %s", name, strerror(-err), op_why);
}

void op_del_all(void)
{
	char name[64];
	const struct nlattr *nla;

	op_open();
	for (;;) {
		op_begin(op.family, MRPC_CMD_ENGINE_GET, NLM_F_DUMP);
		if (op_ask())
			op_die("engines: %s", op_why);
		nla = op_find(op.buf, op.len, MRPC_A_ENGINE_NAME, NULL);
		if (!nla)
			return;
		snprintf(name, sizeof(name), "%s", (const char *)(nla + 1));
		if (op_del(name, NULL) == -EBUSY)	/* a change of it is in progress */
			op_step(name, 0, NULL);
	}
}

/* -- counters --------------------------------------------------------------------- */

/* Asks for one thing by its name. */
static int op_ask_name(uint8_t cmd, uint16_t attr, const char *name)
{
	op_open();
	op_begin(op.family, cmd, 0);
	op_put_text(attr, name);
	return op_ask();
}

bool op_has(const char *engine)
{
	return !op_ask_name(MRPC_CMD_ENGINE_GET, MRPC_A_ENGINE_NAME, engine);
}

bool op_has_runtime(const char *name)
{
	return !op_ask_name(MRPC_CMD_RUNTIME_GET, MRPC_A_RUNTIME_NAME, name);
}

bool op_has_egress(const char *dev)
{
	return !op_ask_name(MRPC_CMD_EGRESS_GET, MRPC_A_EGRESS_DEV, dev);
}

static void op_get(const char *name)
{
	int err = op_ask_name(MRPC_CMD_ENGINE_GET, MRPC_A_ENGINE_NAME, name);

	if (err)
		op_die("get %s: %s: %s", name, strerror(-err), op_why);
}

int64_t op_number(const char *name, unsigned int attr)
{
	op_get(name);
	return op_value(op_find(op.buf, op.len, attr, NULL));
}

int64_t op_session(uint32_t session, unsigned int nest, unsigned int attr)
{
	const struct nlattr *nla;

	op_open();
	op_begin(op.family, MRPC_CMD_SESSION_GET, 0);
	op_put_u32(MRPC_A_SESSION_ID, session);
	if (op_ask())
		return -1;
	nla = op_find(op.buf, op.len, nest ?: attr, NULL);
	return op_value(nest && nla ? op_inside(nla, attr) : nla);
}

int op_dump(uint8_t cmd, const char *name, uint32_t id)
{
	op_open();
	op_begin(op.family, cmd, NLM_F_DUMP);
	if (cmd == MRPC_CMD_METHOD_GET) {
		op_put_u32(MRPC_A_METHOD_SCHEMA, id);
	} else if (cmd == MRPC_CMD_SERIES_GET) {
		op_put_text(MRPC_A_SERIES_ENGINE, name);
	} else if (cmd == MRPC_CMD_KEY_GET) {
		op_put_text(MRPC_A_KEYSET_NAME, name);
	} else if (cmd == MRPC_CMD_EGRESS_QUEUE_GET) {
		op_put_text(MRPC_A_EGRESS_QUEUE_DEV, name);
	} else if (cmd == MRPC_CMD_RPC_GET) {
		op_put_u32(MRPC_A_RPC_DATAPATH, id);
		op_put_u32(MRPC_A_RPC_DIR, MRPC_QUEUE_DIR_TX);
		op_put_text(MRPC_A_RPC_ENGINE, name);
	}
	return op_ask();
}

int64_t op_any_schema(void)
{
	op_open();
	op_begin(op.family, MRPC_CMD_SCHEMA_GET, NLM_F_DUMP);
	return op_ask() ? -1 : op_value(op_find(op.buf, op.len, MRPC_A_SCHEMA_ID, NULL));
}

/* Leaves the attributes of a connection at op.buf; without it none. */
static void op_get_conn(uint32_t session, uint32_t conn)
{
	op_open();
	op_begin(op.family, MRPC_CMD_CONN_GET, 0);
	op_put_u32(MRPC_A_CONN_SESSION, session);
	op_put_u32(MRPC_A_CONN_ID, conn);
	if (op_ask())
		op.len = 0;
}

int64_t op_conn(uint32_t session, uint32_t conn, unsigned int attr)
{
	op_get_conn(session, conn);
	return op_value(op_find(op.buf, op.len, attr, NULL));
}

int64_t op_conn_stat(uint32_t session, uint32_t conn, unsigned int attr)
{
	const struct nlattr *nest;

	op_get_conn(session, conn);
	nest = op_find(op.buf, op.len, MRPC_A_CONN_STATS, NULL);
	return nest ? op_value(op_inside(nest, attr)) : -1;
}

/* Of the last answer, in which @attr is that of a number with a name. */
static int64_t op_named(unsigned int attr, const char *name)
{
	const struct nlattr *nla = NULL;

	while ((nla = op_find(op.buf, op.len, attr, nla)))
		if (!strcmp((const char *)(op_inside(nla, MRPC_A_COUNTER_NAME) + 1), name))
			return op_value(op_inside(nla, MRPC_A_COUNTER_VALUE));
	return -1;
}

int64_t op_counter(const char *name, const char *counter)
{
	op_get(name);
	return op_named(MRPC_A_ENGINE_COUNTER, counter);
}

int64_t op_dir(const char *name, bool rx, unsigned int attr)
{
	const struct nlattr *nest;

	op_get(name);
	nest = op_find(op.buf, op.len, rx ? MRPC_A_ENGINE_RX : MRPC_A_ENGINE_TX, NULL);
	return nest ? op_value(op_inside(nest, attr)) : -1;
}

/* -- runtimes --------------------------------------------------------------------- */

static void op_put_runtime(const char *key, const char *value)
{
	static const struct {
		const char *key;
		uint16_t attr;
		uint16_t len;
	} keys[] = {
		{ "nice", MRPC_A_RUNTIME_NICE, 4 },
		{ "fifo", MRPC_A_RUNTIME_FIFO, 1 },
		{ "busy", MRPC_A_RUNTIME_BUSY, 8 },
		{ "order", MRPC_A_RUNTIME_ORDER, 4 },
		{ "turn", MRPC_A_RUNTIME_TURN, 4 },
		{ "dedicated", MRPC_A_RUNTIME_DEDICATED, 1 },
	};
	uint64_t number = strtoll(value, NULL, 0);
	unsigned int i;

	if (!strcmp(key, "cpus")) {
		op_put_text(MRPC_A_RUNTIME_CPUS, value);
		return;
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].key, key))
			continue;
		op_put(keys[i].attr, &number, keys[i].len);
		return;
	}
	op_die("a runtime has no '%s'", key);
}

int op_runtime(uint8_t cmd, const char *name, const char *words)
{
	char copy[256], *word, *save, *value;

	op_open();
	op_begin(op.family, cmd, 0);
	op_put_text(MRPC_A_RUNTIME_NAME, name);
	snprintf(copy, sizeof(copy), "%s", words ?: "");
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		value = strchr(word, '=');
		if (!value)
			op_die("'%s' has no value", word);
		*value++ = 0;
		op_put_runtime(word, value);
	}
	return op_ask();
}

int64_t op_runtime_number(const char *name, unsigned int attr)
{
	int err = op_ask_name(MRPC_CMD_RUNTIME_GET, MRPC_A_RUNTIME_NAME, name);

	if (err)
		op_die("get runtime %s: %s: %s", name, strerror(-err), op_why);
	return op_value(op_find(op.buf, op.len, attr, NULL));
}

/* -- transports ------------------------------------------------------------------- */

int64_t op_transport(const char *name, unsigned int attr, const char *number)
{
	int err;

	op_open();
	op_begin(op.family, MRPC_CMD_TRANSPORT_GET, NLM_F_DUMP);
	op_put_text(MRPC_A_TRANSPORT_NAME, name);
	err = op_ask();
	if (err == -ENOENT)
		return -1;
	if (err)
		op_die("get transport %s: %s: %s", name, strerror(-err), op_why);
	return op_named(attr, number);
}

/* -- egress domains --------------------------------------------------------------- */

static void op_put_egress(const char *key, const char *value)
{
	static const struct {
		const char *key;
		uint16_t attr;
		uint16_t len;
	} keys[] = {
		{ "discipline", MRPC_A_EGRESS_DISCIPLINE, 0 },
		{ "fair", MRPC_A_EGRESS_FAIR, 1 },
		{ "paused", MRPC_A_EGRESS_PAUSED, 1 },
		{ "chunk", MRPC_A_EGRESS_CHUNK, 4 },
		{ "limit", MRPC_A_EGRESS_LIMIT, 4 },
		{ "rate", MRPC_A_EGRESS_RATE, 8 },
	};
	uint64_t number = strtoull(value, NULL, 0);
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].key, key))
			continue;
		if (keys[i].len)
			op_put(keys[i].attr, &number, keys[i].len);
		else
			op_put_text(keys[i].attr, value);
		return;
	}
	op_die("an egress domain has no '%s'", key);
}

int op_egress(uint8_t cmd, const char *dev, const char *words)
{
	char copy[256], *word, *save, *value;

	op_open();
	op_begin(op.family, cmd, 0);
	op_put_text(MRPC_A_EGRESS_DEV, dev);
	snprintf(copy, sizeof(copy), "%s", words ?: "");
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		value = strchr(word, '=');
		if (!value)
			op_die("'%s' has no value", word);
		*value++ = 0;
		op_put_egress(word, value);
	}
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
	int err = op_ask_name(MRPC_CMD_EGRESS_GET, MRPC_A_EGRESS_DEV, dev);

	if (err)
		op_die("get egress '%s': %s: %s", dev, strerror(-err), op_why);
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

	op_open();
	op_begin(op.family, MRPC_CMD_EGRESS_QUEUE_GET, NLM_F_DUMP);
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

struct op_all_rpcs {
	struct op_rpc *all;
	unsigned int nr;
	unsigned int cap;
};

static void op_rpc(const void *attrs, uint32_t len, void *arg)
{
	struct op_all_rpcs *r = arg;

	if (r->nr++ >= r->cap)
		return;
	r->all[r->nr - 1] = (struct op_rpc) {
		.index = op_value(op_find(attrs, len, MRPC_A_RPC_INDEX, NULL)),
		.call = op_value(op_find(attrs, len, MRPC_A_RPC_CALL_ID, NULL)),
		.flags = op_value(op_find(attrs, len, MRPC_A_RPC_FLAGS, NULL)),
	};
}

unsigned int op_rpcs(uint32_t datapath, const char *engine, bool rx, struct op_rpc *all,
		     unsigned int cap)
{
	struct op_all_rpcs r = { all, 0, cap };
	int err;

	op_open();
	op_begin(op.family, MRPC_CMD_RPC_GET, NLM_F_DUMP);
	op_put_u32(MRPC_A_RPC_DATAPATH, datapath);
	op_put_u32(MRPC_A_RPC_DIR, rx ? MRPC_QUEUE_DIR_RX : MRPC_QUEUE_DIR_TX);
	op_put_text(MRPC_A_RPC_ENGINE, engine);
	err = op_ask_each(op_rpc, &r);
	if (err)
		op_die("queue of '%s': %s: %s", engine, strerror(-err), op_why);
	if (r.nr > cap)
		op_die("%u messages in the queue of '%s', room for %u", r.nr, engine, cap);
	return r.nr;
}

/* -- sets ------------------------------------------------------------------------- */

int op_keyset_new(const char *name, bool integers)
{
	op_open();
	op_begin(op.family, MRPC_CMD_KEYSET_NEW, 0);
	op_put_text(MRPC_A_KEYSET_NAME, name);
	op_put_u32(MRPC_A_KEYSET_KIND, integers ? MRPC_KEYSET_KIND_INTEGER :
		   MRPC_KEYSET_KIND_TEXT);
	return op_ask();
}

int op_keyset_del(const char *name)
{
	op_open();
	op_begin(op.family, MRPC_CMD_KEYSET_DEL, 0);
	op_put_text(MRPC_A_KEYSET_NAME, name);
	return op_ask();
}

int op_keys(const char *name, bool insert, const char *format, uint32_t from, uint32_t to)
{
	char key[128];
	int err = 0;

	op_open();
	while (from < to && !err) {
		op_begin(op.family, insert ? MRPC_CMD_KEYSET_INSERT : MRPC_CMD_KEYSET_REMOVE, 0);
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

	op_open();
	op_begin(op.family, MRPC_CMD_KEYSET_GET, NLM_F_DUMP);
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
