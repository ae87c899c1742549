// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/field.h"

#define NAME(text, id)	{ text, sizeof(text) - 1, id }

static const struct {
	char text[28];
	u8 len;
	u8 id;
} field_names[] = {
	NAME(":method", MRPC_GRPC_NAME_METHOD),
	NAME(":scheme", MRPC_GRPC_NAME_SCHEME),
	NAME(":path", MRPC_GRPC_NAME_PATH),
	NAME(":authority", MRPC_GRPC_NAME_AUTHORITY),
	NAME(":status", MRPC_GRPC_NAME_HTTP_STATUS),
	NAME("connection", MRPC_GRPC_NAME_CONNECTION),
	NAME("keep-alive", MRPC_GRPC_NAME_CONNECTION),
	NAME("proxy-connection", MRPC_GRPC_NAME_CONNECTION),
	NAME("transfer-encoding", MRPC_GRPC_NAME_CONNECTION),
	NAME("upgrade", MRPC_GRPC_NAME_CONNECTION),
	NAME("te", MRPC_GRPC_NAME_TE),
	NAME("host", MRPC_GRPC_NAME_HOST),
	NAME("content-type", MRPC_GRPC_NAME_CONTENT_TYPE),
	NAME("content-length", MRPC_GRPC_NAME_CONTENT_LENGTH),
	NAME("user-agent", MRPC_GRPC_NAME_USER_AGENT),
	NAME("authority", MRPC_GRPC_NAME_PLAIN_AUTHORITY),
	NAME("grpc-timeout", MRPC_GRPC_NAME_TIMEOUT),
	NAME("grpc-encoding", MRPC_GRPC_NAME_ENCODING),
	NAME("grpc-accept-encoding", MRPC_GRPC_NAME_ACCEPT),
	NAME("grpc-status", MRPC_GRPC_NAME_STATUS),
	NAME("grpc-message", MRPC_GRPC_NAME_MESSAGE),
	NAME("grpc-status-details-bin", MRPC_GRPC_NAME_DETAILS),
	NAME("grpc-previous-rpc-attempts", MRPC_GRPC_NAME_ATTEMPTS),
	NAME("grpc-retry-pushback-ms", MRPC_GRPC_NAME_PUSHBACK),
	NAME("mrpc-schema", MRPC_GRPC_NAME_SCHEMA),
};

static_assert(MRPC_GRPC_NAME_OTHER < 32);

enum mrpc_grpc_name mrpc_grpc_name_find(const u8 *name, u32 nlen)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(field_names); i++)
		if (nlen == field_names[i].len && !memcmp(name, field_names[i].text, nlen))
			return field_names[i].id;
	if (nlen && name[0] == ':')
		return MRPC_GRPC_NAME_PSEUDO;
	if (nlen >= 5 && !memcmp(name, "grpc-", 5))
		return MRPC_GRPC_NAME_GRPC;
	if (nlen >= 5 && !memcmp(name, "mrpc-", 5))
		return MRPC_GRPC_NAME_MRPC;
	return MRPC_GRPC_NAME_OTHER;
}

/* RFC 9113, 8.2.1: a colon only in front. */
static const char *field_name_fault(const u8 *name, u32 nlen)
{
	u32 i;

	if (!nlen)
		return "a field has no name";
	for (i = 0; i < nlen; i++) {
		u8 ch = name[i];

		if (ch >= 'A' && ch <= 'Z')
			return "a field's name has an upper-case letter";
		if (ch <= ' ' || ch >= 0x7f || (ch == ':' && i))
			return "a field's name has a character that names cannot have";
	}
	return NULL;
}

static bool field_blank(u8 ch)
{
	return ch == ' ' || ch == '\t';
}

static const char *field_value_fault(const u8 *value, u32 vlen)
{
	u32 i;

	for (i = 0; i < vlen; i++)
		if (!value[i] || value[i] == '\n' || value[i] == '\r')
			return "a field's value has a NUL or a line's end in it";
	if (vlen && (field_blank(value[0]) || field_blank(value[vlen - 1])))
		return "a field's value begins or ends with a blank";
	return NULL;
}

static const char *field_place_fault(const struct mrpc_grpc_block *b, enum mrpc_grpc_name id)
{
	if (id > MRPC_GRPC_NAME_PSEUDO)
		return NULL;
	if (b->trailers)
		return "trailers have a pseudo-header field";
	if (id == MRPC_GRPC_NAME_PSEUDO)
		return "a pseudo-header field is unknown";
	if (b->seen & BIT(id))
		return "a pseudo-header field comes twice";
	if (b->seen >> (MRPC_GRPC_NAME_PSEUDO + 1))
		return "a pseudo-header field comes behind another field";
	return NULL;
}

const char *mrpc_grpc_block_field(struct mrpc_grpc_block *b, const u8 *name, u32 nlen,
				  const u8 *value, u32 vlen, enum mrpc_grpc_name *id)
{
	const char *fault = field_name_fault(name, nlen);

	*id = mrpc_grpc_name_find(name, nlen);
	if (!fault)
		fault = field_value_fault(value, vlen);
	if (!fault)
		fault = field_place_fault(b, *id);
	if (!fault && *id == MRPC_GRPC_NAME_CONNECTION)
		fault = "a field is one of a connection";
	if (!fault && *id == MRPC_GRPC_NAME_TE && (vlen != 8 || memcmp(value, "trailers", 8)))
		fault = "te is not \"trailers\"";
	b->again = b->seen & BIT(*id);
	b->seen |= BIT(*id);
	return fault;
}

const u8 *mrpc_grpc_trim(const u8 *text, u32 len, u32 *trimmed)
{
	while (len && field_blank(*text)) {
		text++;
		len--;
	}
	while (len && field_blank(text[len - 1]))
		len--;
	*trimmed = len;
	return text;
}

bool mrpc_grpc_content_type(const u8 *value, u32 vlen)
{
	static const char grpc[] = "application/grpc", proto[] = "+proto";
	u32 len = sizeof(grpc) - 1, more = sizeof(proto) - 1;

	if (vlen < len || memcmp(value, grpc, len))
		return false;
	if (vlen - len >= more && !memcmp(value + len, proto, more))
		len += more;
	return vlen == len || value[len] == ';';
}

s64 mrpc_grpc_number(const u8 *text, u32 len, s64 max)
{
	s64 value = 0;
	u32 i;

	if (!len)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		value = value * 10 + (text[i] - '0');
		if (value > max)
			return -EINVAL;
	}
	return value;
}
