// SPDX-License-Identifier: GPL-2.0
/*
 * Keys of sets, as text, as JSON and as attributes.
 *
 * Keys of a set of texts are any bytes; where they are written or read, a backslash
 * begins \\, \n, \r, \t or \xHH, so that a set that is shown can be loaded again. Those
 * of a set of integers are 64 bits: -1 and 18446744073709551615 are the same key.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/util.h"
#include "lib/ds/set.h"
#include "lib/message/utf8.h"
#include "nl/body.h"
#include "rules/keyset_keys.h"
#include "show/json.h"

/* -- keys as text -------------------------------------------------------------------- */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What follows a backslash. Return: how many characters that is, or 0: no such thing. */
static size_t unescape(const char *text, size_t len, char *to)
{
	static const char names[] = "\\nrt", values[] = "\\\n\r\t";
	const char *at = len && *text ? strchr(names, *text) : NULL;

	if (at) {
		*to = values[at - names];
		return 1;
	}
	if (len < 3 || *text != 'x' || hex_value(text[1]) < 0 || hex_value(text[2]) < 0)
		return 0;
	*to = hex_value(text[1]) << 4 | hex_value(text[2]);
	return 3;
}

/* Return: NULL, or what is wrong. */
static const char *put_text_key(struct body *keys, const char *text, size_t len)
{
	char key[MRPC_SET_MAX_KEY_LEN];
	size_t i, nr = 0, used;

	if (len && text[len - 1] == '\r')
		return "it ends in a carriage return; if that belongs to the key it is written \\r";
	for (i = 0; i < len; i++) {
		if (nr == sizeof(key))
			return "it is longer than 1024 bytes";
		if (text[i] != '\\') {
			key[nr++] = text[i];
			continue;
		}
		used = unescape(text + i + 1, len - i - 1, &key[nr++]);
		if (!used)
			return "a backslash must begin \\\\, \\n, \\r, \\t or \\xHH";
		i += used;
	}
	if (!nr)
		return "it is empty";
	body_put(keys, MRPC_A_KEYSET_KEY, key, nr);
	return NULL;
}

static const char *put_int_key(struct body *keys, const char *text, size_t len)
{
	static const char why[] = "it must be an integer of 64 bits, as 42, -1 or 0xff";
	char digits[32], *end;
	uint64_t value;

	if (!len || len >= sizeof(digits) || isspace((unsigned char)*text) || *text == '+')
		return why;
	memcpy(digits, text, len);
	digits[len] = 0;
	errno = 0;
	if (*digits == '-')
		value = strtoll(digits, &end, 10);
	else
		value = strtoull(digits, &end, strncmp(digits, "0x", 2) ? 10 : 16);
	if (errno || *end || end != digits + len)
		return why;
	body_u64(keys, MRPC_A_KEYSET_KEY, value);
	return NULL;
}

/**
 * key_put() - a key as people write it
 * @keys: gets it
 * @kind: MRPC_KEYSET_KIND_*
 * @text: the key
 * @len: its bytes
 *
 * Return: NULL, or what is wrong.
 */
const char *key_put(struct body *keys, uint32_t kind, const char *text, size_t len)
{
	return kind == MRPC_KEYSET_KIND_INTEGER ? put_int_key(keys, text, len) :
						  put_text_key(keys, text, len);
}

static void print_text_key(const char *key, size_t len)
{
	bool utf8 = mrpc_utf8_valid(key, len);
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = key[i];
		/* U+0080 to U+009f are control characters, too. */
		bool control = utf8 && c >= 0x80 && c < 0xa0 && i && (unsigned char)key[i - 1] == 0xc2;

		if (c == '\\')
			fputs("\\\\", stdout);
		else if (c < ' ' || c == 0x7f || (c >= 0x80 && !utf8) || control ||
			 (utf8 && c == 0xc2 && i + 1 < len && (unsigned char)key[i + 1] < 0xa0))
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('\n');
}

/* -- keys as JSON ------------------------------------------------------------------------ */

/* A text that is not UTF-8 is an object with its bytes in hexadecimal. */
struct json_object *key_json(uint32_t kind, const char *key, size_t len)
{
	struct json_object *object;
	uint64_t value;
	char *hex;
	size_t i;

	if (kind == MRPC_KEYSET_KIND_INTEGER && len == sizeof(value)) {
		memcpy(&value, key, sizeof(value));
		return json_object_new_uint64(value);
	}
	if (mrpc_utf8_valid(key, len))
		return json_object_new_string_len(key, len);
	hex = malloc(2 * len + 1);
	if (!hex)
		fail("out of memory");
	for (i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)key[i]);
	object = json_object_new_object();
	json_object_object_add(object, "hex", json_object_new_string(hex));
	free(hex);
	return object;
}

/* Return: false: that is no key of this kind. */
bool key_put_json(struct body *keys, uint32_t kind, struct json_object *value)
{
	const char *hex = string_at(value, "hex");
	char key[MRPC_SET_MAX_KEY_LEN];
	size_t i, len;

	if (kind == MRPC_KEYSET_KIND_INTEGER) {
		if (!json_object_is_type(value, json_type_int))
			return false;
		body_u64(keys, MRPC_A_KEYSET_KEY, json_object_get_uint64(value));
		return true;
	}
	if (json_object_is_type(value, json_type_string)) {
		len = json_object_get_string_len(value);
		if (!len || len > sizeof(key))
			return false;
		body_put(keys, MRPC_A_KEYSET_KEY, json_object_get_string(value), len);
		return true;
	}
	len = hex ? strlen(hex) / 2 : 0;
	if (!len || len > sizeof(key) || strlen(hex) % 2)
		return false;
	for (i = 0; i < len; i++) {
		if (hex_value(hex[2 * i]) < 0 || hex_value(hex[2 * i + 1]) < 0)
			return false;
		key[i] = hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1]);
	}
	body_put(keys, MRPC_A_KEYSET_KEY, key, len);
	return true;
}

/* A key on a line, as key_put() takes it. */
void key_print(uint32_t kind, const char *key, size_t len)
{
	uint64_t value;

	if (kind == MRPC_KEYSET_KIND_INTEGER && len == sizeof(value)) {
		memcpy(&value, key, sizeof(value));
		printf("%llu\n", (unsigned long long)value);
	} else {
		print_text_key(key, len);
	}
}

void key_print_json(uint32_t kind, const char *key, size_t len)
{
	struct json_object *object = key_json(kind, key, len);

	fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE), stdout);
	json_object_put(object);
}
