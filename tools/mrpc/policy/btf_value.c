// SPDX-License-Identifier: GPL-2.0
/*
 * Keys and values of maps, as their types say: a number, a text for an array of
 * characters, "member=value,..." for a struct. What has no type, or one that is none of
 * these, is given in hexadecimal: "hex:0a00".
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "cli/util.h"
#include "policy/btf_value.h"

/* Without typedef, const and volatile; NULL: there is no type. */
static const struct btf_type *plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf && id ? btf__type_by_id(btf, id) : NULL;

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* An array of characters or bytes: a text, with zeros behind it. */
static bool is_text(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_type *of = t && btf_is_array(t) ? plain(btf, btf_array(t)->type) : NULL;

	return of && btf_is_int(of) && of->size == 1;
}

static bool is_number(const struct btf_type *t)
{
	return t && (btf_is_int(t) || btf_is_any_enum(t)) && t->size <= 8;
}

/* -- from words -------------------------------------------------------------------- */

static void parse_hex(const char *word, uint8_t *data, size_t size)
{
	const char *hex = word + strlen("hex:");
	char byte[3] = "";
	size_t i;

	if (strlen(hex) != 2 * size || strspn(hex, "0123456789abcdefABCDEF") != 2 * size)
		usage("'%s' is not 'hex:' and %zu bytes of two digits each", word, size);
	for (i = 0; i < size; i++) {
		memcpy(byte, hex + 2 * i, 2);
		data[i] = strtoul(byte, NULL, 16);
	}
}

static void parse_number(const char *word, bool is_signed, void *data, size_t size)
{
	uint64_t most = size == 8 ? UINT64_MAX : (1ULL << 8 * size) - 1, value;
	bool negative = *word == '-';
	char *end;

	errno = 0;
	if (!strcmp(word, "true") || !strcmp(word, "false"))
		value = *word == 't';
	else if (!isdigit((unsigned char)word[negative]))
		usage("'%s' is not a number, true or false", word);
	else
		value = strtoull(word + negative, &end, 0);
	if (errno || (isdigit((unsigned char)word[negative]) && *end) || (negative && !is_signed) ||
	    value > (is_signed ? most / 2 + negative : most))
		usage("'%s' is no number of %zu bytes with%s a sign", word, size,
		      is_signed ? "" : "out");
	if (negative)
		value = -value;
	memcpy(data, &value, size);	/* little-endian, as the kernel's module is */
}

static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *t,
					    const char *name, size_t len)
{
	const struct btf_member *m = btf_members(t);
	int i;

	for (i = 0; i < btf_vlen(t); i++) {
		const char *is = btf__name_by_offset(btf, m[i].name_off);

		if (strlen(is) == len && !memcmp(is, name, len))
			return &m[i];
	}
	return NULL;
}

static const struct btf_member *need_member(const struct btf *btf, const struct btf_type *t,
					    const char *name, size_t len)
{
	const struct btf_member *m = find_member(btf, t, name, len);

	if (!m)
		usage("'%.*s' is not a member of struct %s", (int)len, name,
		      btf__name_by_offset(btf, t->name_off));
	if (m->offset % 8)
		usage("'%.*s' is no whole bytes of struct %s: give that as 'hex:...'", (int)len,
		      name, btf__name_by_offset(btf, t->name_off));
	return m;
}

static void parse_struct(const struct btf *btf, const struct btf_type *t, const char *word,
			 uint8_t *data)
{
	const struct btf_member *m;
	const char *equal, *end;
	char *value;

	for (; *word; word = *end ? end + 1 : end) {
		end = strchrnul(word, ',');
		equal = memchr(word, '=', end - word);
		if (!equal)
			usage("'%s' is not member=value,... of struct %s", word,
			      btf__name_by_offset(btf, t->name_off));
		m = need_member(btf, t, word, equal - word);
		value = text_printf("%.*s", (int)(end - equal - 1), equal + 1);
		btf_value_parse(btf, m->type, value, data + m->offset / 8,
				btf__resolve_size(btf, m->type));
		free(value);
	}
}

/**
 * btf_value_parse() - the bytes of a value
 * @btf: types, or NULL
 * @id: its type, or 0: it has none
 * @word: how an operator writes it
 * @data: gets the bytes
 * @size: how many
 *
 * Does not return if the word is none of the type.
 */
void btf_value_parse(const struct btf *btf, uint32_t id, const char *word, void *data, size_t size)
{
	const struct btf_type *t = plain(btf, id);

	memset(data, 0, size);
	if (!strncmp(word, "hex:", 4)) {
		parse_hex(word, data, size);
	} else if (is_text(btf, t)) {
		if (strlen(word) > size)
			usage("'%s' has %zu bytes, and at most %zu have room", word, strlen(word),
			      size);
		memcpy(data, word, strlen(word));
	} else if (is_number(t)) {
		parse_number(word, btf_is_int(t) && btf_int_encoding(t) & BTF_INT_SIGNED, data, size);
	} else if (t && btf_is_struct(t)) {
		parse_struct(btf, t, word, data);
	} else {
		usage("'%s': the map does not say how that is written: 'hex:' and %zu bytes of two digits each",
		      word, size);
	}
}

/* -- to words ------------------------------------------------------------------------ */

static void print_hex(FILE *out, const uint8_t *data, size_t size)
{
	size_t i;

	fputs("hex:", out);
	for (i = 0; i < size; i++)
		fprintf(out, "%02x", data[i]);
}

/* Return: whether it can be printed, and read again. */
static bool is_printable(const char *text, size_t size)
{
	size_t len = strnlen(text, size), i;

	for (i = 0; i < len; i++)
		if (!isprint((unsigned char)text[i]))
			return false;
	for (i = len; i < size; i++)
		if (text[i])
			return false;
	return true;
}

static void print_number(FILE *out, bool is_signed, const void *data, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, data, size);
	if (is_signed && size < 8 && value >> (8 * size - 1))
		value |= ~0ULL << 8 * size;
	if (is_signed)
		fprintf(out, "%lld", (long long)value);
	else
		fprintf(out, "%llu", (unsigned long long)value);
}

/* As btf_value_parse() takes it. */
void btf_value_print(FILE *out, const struct btf *btf, uint32_t id, const void *data, size_t size)
{
	const struct btf_type *t = plain(btf, id);
	const struct btf_member *m;
	int i;

	if (is_text(btf, t) && is_printable(data, size)) {
		fprintf(out, "%.*s", (int)size, (const char *)data);
	} else if (is_number(t)) {
		print_number(out, btf_is_int(t) && btf_int_encoding(t) & BTF_INT_SIGNED, data, size);
	} else if (t && btf_is_struct(t)) {
		for (i = 0, m = btf_members(t); i < btf_vlen(t); i++, m++) {
			fprintf(out, "%s%s=", i ? "," : "", btf__name_by_offset(btf, m->name_off));
			btf_value_print(out, btf, m->type, (const uint8_t *)data + m->offset / 8,
					btf__resolve_size(btf, m->type));
		}
	} else {
		print_hex(out, data, size);
	}
}
