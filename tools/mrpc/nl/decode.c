// SPDX-License-Identifier: GPL-2.0
/* From netlink attributes to JSON objects. */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <json-c/json.h>
#include <linux/mrpc.h>
#include <linux/mrpc_netlink.h>
#include <netlink/attr.h>

#include "cli/util.h"
#include "lib/message/utf8.h"
#include "nl/decode.h"
#include "nl/sets.h"

/**
 * clean_text() - text that cannot do harm to a terminal or to JSON
 * @text: bytes that an application may have chosen
 * @len: how many
 *
 * Return: UTF-8 without control characters; the caller frees it.
 */
char *clean_text(const char *text, size_t len)
{
	bool utf8 = mrpc_utf8_valid(text, len);
	char *clean = malloc(len + 1);
	size_t i;

	if (!clean)
		fail("out of memory");
	for (i = 0; i < len; i++) {
		unsigned char c = text[i];

		clean[i] = c < ' ' || c == 0x7f || (c >= 0x80 && !utf8) ? '?' : c;
		/* U+0080 to U+009f are control characters too. */
		if (utf8 && c == 0xc2 && i + 1 < len && (unsigned char)text[i + 1] < 0xa0) {
			clean[i] = '?';
			clean[++i] = '?';
		}
	}
	clean[len] = 0;
	return clean;
}

/* The kernel sends numbers of 32 or of 64 bits, as they need. */
static uint64_t number(const struct nlattr *nla)
{
	uint64_t v64 = 0;
	uint32_t v32;
	uint16_t v16;

	switch (nla_len(nla)) {
	case 2:
		memcpy(&v16, nla_data(nla), sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, nla_data(nla), sizeof(v32));
		return v32;
	case 8:
		memcpy(&v64, nla_data(nla), sizeof(v64));
		break;
	}
	return v64;
}

static struct json_object *text(const char *data, size_t len)
{
	char *clean = clean_text(data, len);
	struct json_object *object = json_object_new_string(clean);

	free(clean);
	return object;
}

static struct json_object *hex(const struct nlattr *nla)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *data = nla_data(nla);
	int i, len = nla_len(nla);
	struct json_object *object;
	char *text = malloc(2 * len + 1);

	if (!text)
		fail("out of memory");
	for (i = 0; i < len; i++) {
		text[2 * i] = digits[data[i] >> 4];
		text[2 * i + 1] = digits[data[i] & 15];
	}
	object = json_object_new_string_len(text, 2 * len);
	free(text);
	return object;
}

/* A number that has no name yet is shown as what it is. */
static struct json_object *name(uint64_t value, const char *const *names)
{
	uint64_t i;

	for (i = 0; names[i]; i++)
		if (i == value)
			return json_object_new_string(names[i]);
	return json_object_new_uint64(value);
}

static struct json_object *flags(uint64_t value, const char *const *names)
{
	struct json_object *array = json_object_new_array();
	int i;

	for (i = 0; names[i]; i++) {
		if (value & 1ULL << i)
			json_object_array_add(array, json_object_new_string(names[i]));
		value &= ~(1ULL << i);
	}
	if (value)
		json_object_array_add(array, json_object_new_uint64(value));
	return array;
}

static struct json_object *numbers(const struct nlattr *nla)
{
	struct json_object *array = json_object_new_array();
	const uint32_t *values = nla_data(nla);
	size_t i;

	for (i = 0; i < nla_len(nla) / sizeof(*values); i++)
		json_object_array_add(array, json_object_new_uint64(values[i]));
	return array;
}

/* A peer of IPv4 at a socket of IPv6 is shown, as rules take it, by its address of IPv4. */
static void ip6_text(const struct in6_addr *addr, char *ip, size_t size)
{
	if (IN6_IS_ADDR_V4MAPPED(addr))
		inet_ntop(AF_INET, &addr->s6_addr[12], ip, size);
	else
		inet_ntop(AF_INET6, addr, ip, size);
}

static struct json_object *address(const struct nlattr *nest)
{
	struct json_object *object = json_object_new_object();
	char ip[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE], device[IF_NAMESIZE];
	struct nlattr *nla;
	uint32_t scope = 0;
	int left;

	ip[0] = 0;
	nla_for_each_nested(nla, nest, left) {
		switch (nla_type(nla)) {
		case MRPC_A_ADDR_ADDR4:
			if (nla_len(nla) >= 4)
				inet_ntop(AF_INET, nla_data(nla), ip, sizeof(ip));
			break;
		case MRPC_A_ADDR_ADDR6:
			if (nla_len(nla) >= 16)
				ip6_text(nla_data(nla), ip, sizeof(ip));
			break;
		case MRPC_A_ADDR_SCOPE_ID:
			scope = number(nla);
			break;
		case MRPC_A_ADDR_NAME:
			json_object_object_add(object, "name",
					       text(nla_data(nla), nla_len(nla)));
			break;
		}
	}
	if (ip[0] && scope) {
		strcat(ip, "%");
		if (if_indextoname(scope, device))
			strcat(ip, device);
		else
			sprintf(ip + strlen(ip), "%u", scope);
	}
	if (ip[0])
		json_object_object_add(object, "ip", json_object_new_string(ip));
	nla_for_each_nested(nla, nest, left)
		if (nla_type(nla) == MRPC_A_ADDR_PORT)
			json_object_object_add(object, "port",
					       json_object_new_uint64(number(nla)));
	return object;
}

static struct json_object *value(const struct attr *attr, const struct nlattr *nla)
{
	switch (attr->kind) {
	case ATTR_NUMBER:
	case ATTR_BYTES:
	case ATTR_TIME:
		return json_object_new_uint64(number(nla));
	case ATTR_FLAG:
		return json_object_new_boolean(true);
	case ATTR_BOOL:
		return json_object_new_boolean(nla_len(nla) && *(const uint8_t *)nla_data(nla));
	case ATTR_WORDS:
	case ATTR_TEXT:
		return text(nla_data(nla), strnlen(nla_data(nla), nla_len(nla)));
	case ATTR_HASH:
	case ATTR_DATA:
		return hex(nla);
	case ATTR_NUMBERS:
		return numbers(nla);
	case ATTR_ENUM:
		return name(number(nla), attr->names);
	case ATTR_FLAGS:
		return flags(number(nla), attr->names);
	case ATTR_ADDR:
		return address(nla);
	case ATTR_NEST:
	case ATTR_LIST:
	case ATTR_MAP:
		return decode(attr->set, nla_data(nla), nla_len(nla));
	default:
		return NULL;
	}
}

/* What is already there of an attribute that comes several times, or @fresh. */
static struct json_object *several(struct json_object *object, const char *key,
				   struct json_object *(*fresh)(void))
{
	struct json_object *all;

	if (!json_object_object_get_ex(object, key, &all)) {
		all = fresh();
		json_object_object_add(object, key, all);
	}
	return all;
}

/*
 * A nest with a name: what else is in it stands under the name; if that is a
 * value only, the value itself. Long data come in pieces.
 */
static void add_named(struct json_object *map, struct json_object *object)
{
	struct json_object *name, *value, *old, *piece, *first;
	char *whole;

	if (!json_object_object_get_ex(object, "name", &name)) {
		json_object_put(object);
		return;
	}
	if (json_object_object_get_ex(map, json_object_get_string(name), &old) &&
	    json_object_object_get_ex(old, "data", &first) &&
	    json_object_object_get_ex(object, "data", &piece)) {
		whole = text_printf("%s%s", json_object_get_string(first),
				    json_object_get_string(piece));
		json_object_object_add(old, "data", json_object_new_string(whole));
		free(whole);
		json_object_put(object);
		return;
	}
	json_object_get(name);
	json_object_object_del(object, "name");
	if (json_object_object_get_ex(object, "value", &value)) {
		json_object_object_add(map, json_object_get_string(name), json_object_get(value));
		json_object_put(object);
	} else {
		json_object_object_add(map, json_object_get_string(name), object);
	}
	json_object_put(name);
}

/**
 * decode() - one object of the kernel
 * @set: what its attributes mean
 * @attrs: the first one
 * @len: bytes of all
 *
 * Attributes that a newer kernel has added are left out.
 * Return: the object; never NULL.
 */
struct json_object *decode(const struct set *set, const struct nlattr *attrs, int len)
{
	struct json_object *object = json_object_new_object();
	const struct nlattr *nla;
	int left, type;

	nla_for_each_attr(nla, (struct nlattr *)attrs, len, left) {
		const struct attr *attr;

		type = nla_type(nla);
		if (type > set->max || !set->attrs[type].key)
			continue;
		attr = &set->attrs[type];
		if (attr->kind == ATTR_LIST || attr->kind == ATTR_WORDS)
			json_object_array_add(several(object, attr->key, json_object_new_array),
					      value(attr, nla));
		else if (attr->kind == ATTR_MAP)
			add_named(several(object, attr->key, json_object_new_object),
				  value(attr, nla));
		else
			json_object_object_add(object, attr->key, value(attr, nla));
	}
	return object;
}
