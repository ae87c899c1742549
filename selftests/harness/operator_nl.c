// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the kernel and their answers; see operator_nl.h.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "operator.h"
#include "operator_nl.h"

char op_why[512];

void op_die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("# operator: ");
	vprintf(fmt, args);
	putchar('\n');
	va_end(args);
	exit(1);
}

struct op_message op = { .fd = -1 };

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

void op_put(uint16_t attr, const void *data, uint32_t len)
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

void op_put_text(uint16_t attr, const char *text)
{
	op_put(attr, text, strlen(text) + 1);
}

void op_put_u32(uint16_t attr, uint32_t value)
{
	op_put(attr, &value, sizeof(value));
}

uint32_t op_nest(uint16_t attr)
{
	uint32_t at = op.len;

	op_put(attr | NLA_F_NESTED, NULL, 0);
	return at;
}

void op_nest_end(uint32_t at)
{
	((struct nlattr *)(op.buf + at))->nla_len = op.len - at;
}

const struct nlattr *op_find(const void *data, uint32_t len, unsigned int attr,
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

const struct nlattr *op_inside(const struct nlattr *nest, unsigned int attr)
{
	return op_find(nest + 1, nest->nla_len - NLA_HDRLEN, attr, NULL);
}

int64_t op_value(const struct nlattr *nla)
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

int op_ask_each(void (*each)(const void *attrs, uint32_t len, void *arg), void *arg)
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

int op_ask(void)
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

void op_request(uint8_t cmd, uint16_t flags)
{
	op_open();
	op_begin(op.family, cmd, flags);
}

int op_ask_name(uint8_t cmd, uint16_t attr, const char *name)
{
	op_request(cmd, 0);
	op_put_text(attr, name);
	return op_ask();
}

void op_put_pairs(const char *words, void (*put)(const char *key, const char *value))
{
	char copy[512], *word, *save, *value;

	snprintf(copy, sizeof(copy), "%s", words ?: "");
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		value = strchr(word, '=');
		if (!value)
			op_die("'%s' has no value", word);
		*value++ = 0;
		put(word, value);
	}
}

void op_put_key(const struct op_key *keys, unsigned int nr, const char *word, const char *value)
{
	uint64_t number = strtoull(value, NULL, 0);	/* of negative ones, too */
	unsigned int i;

	for (i = 0; i < nr && strcmp(keys[i].word, word); i++)
		;
	if (i == nr)
		op_die("there is no word '%s'", word);
	if (keys[i].len)
		op_put(keys[i].attr, &number, keys[i].len);
	else
		op_put_text(keys[i].attr, value);
}

void op_get(uint8_t cmd, uint16_t attr, const char *name)
{
	int err = op_ask_name(cmd, attr, name);

	if (err)
		op_die("command %u of '%s': %s: %s", cmd, name, strerror(-err), op_why);
}
