/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to the kernel over netlink, for the files operator*.c.
 */
#ifndef OPERATOR_NL_H
#define OPERATOR_NL_H

#include <stdint.h>

#include <linux/netlink.h>

/**
 * struct op_message - a request in the making; the answer takes its place
 * @fd: the socket, or -1
 * @family: number of the netlink family mrpc
 * @seq: of the last request
 * @len: bytes in @buf
 * @buf: the request with its headers, or the attributes of the last answer
 */
extern struct op_message {
	int fd;
	uint16_t family;
	uint32_t seq;
	uint32_t len;
	uint8_t buf[1 << 17] __attribute__((aligned(8)));
} op;

/* Ends the test. */
void op_die(const char *fmt, ...) __attribute__((__noreturn__, __format__(__printf__, 1, 2)));

/* Begins a request: MRPC_CMD_*, and flags beside NLM_F_REQUEST and NLM_F_ACK. */
void op_request(uint8_t cmd, uint16_t flags);
void op_put(uint16_t attr, const void *data, uint32_t len);
void op_put_text(uint16_t attr, const char *text);
void op_put_u32(uint16_t attr, uint32_t value);
/* Puts each of the words "key=value". */
void op_put_pairs(const char *words, void (*put)(const char *key, const char *value));
/**
 * struct op_key - a word that a command understands
 * @word: the word
 * @attr: its attribute
 * @len: bytes of the number; 0: it is a text
 */
struct op_key {
	const char *word;
	uint16_t attr;
	uint16_t len;
};

/* Puts the value of @word, which must be one of the keys. */
void op_put_key(const struct op_key *keys, unsigned int nr, const char *word, const char *value);
/* Begins a nest. Return: what op_nest_end() wants. */
uint32_t op_nest(uint16_t attr);
void op_nest_end(uint32_t at);

/* Sends the request, and leaves the last answer in @op. Return: 0 or -errno, and op_why. */
int op_ask(void);
/* The same; @each sees the attributes of all answers. */
int op_ask_each(void (*each)(const void *attrs, uint32_t len, void *arg), void *arg);
/* Asks for one thing by its name. */
int op_ask_name(uint8_t cmd, uint16_t attr, const char *name);
/* The same; it must exist. */
void op_get(uint8_t cmd, uint16_t attr, const char *name);

/* Finds an attribute, behind @after if that is given. Return: NULL: there is none. */
const struct nlattr *op_find(const void *data, uint32_t len, unsigned int attr,
			     const struct nlattr *after);
const struct nlattr *op_inside(const struct nlattr *nest, unsigned int attr);
/* The number in an attribute; -1 for NULL. */
int64_t op_value(const struct nlattr *nla);

#endif /* OPERATOR_NL_H */
