// SPDX-License-Identifier: GPL-2.0
#include "lib/message/handshake.h"

#define HELLO_MAX_CALLS	65536
/* Before each service's name: hash, verdict, length of the name. */
#define HELLO_SERVICE	(MRPC_HASH_LEN + 3)

static_assert(sizeof(struct mrpc_hello_hdr) == 24);
/* The largest body fits in a frame. */
static_assert(sizeof(struct mrpc_hello_hdr) + MRPC_HELLO_MAX_IDENTITY +
	      MRPC_MAX_SERVICES * (HELLO_SERVICE + MRPC_SCHEMA_MAX_NAME) <= MRPC_WIRE_MAX_HELLO);

int mrpc_hello_encode(const struct mrpc_hello *hello, void *buf, size_t size)
{
	struct mrpc_hello_hdr hdr = {
		.version_min = hello->version_min,
		.version_max = hello->version_max,
		.nr_services = cpu_to_le16(hello->nr_services),
		.max_message = cpu_to_le32(hello->max_message),
		.features = cpu_to_le64(hello->features),
		.max_calls = cpu_to_le32(hello->max_calls),
		.status = cpu_to_le16(hello->status),
		.identity_len = cpu_to_le16(hello->identity_len),
	};
	size_t need = sizeof(hdr) + hello->identity_len;
	u8 *p = buf;
	u32 i;

	if (hello->nr_services > MRPC_MAX_SERVICES ||
	    hello->identity_len > MRPC_HELLO_MAX_IDENTITY)
		return -EMSGSIZE;
	for (i = 0; i < hello->nr_services; i++) {
		if (hello->services[i].name_len > MRPC_SCHEMA_MAX_NAME)
			return -EMSGSIZE;
		need += HELLO_SERVICE + hello->services[i].name_len;
	}
	if (need > size)
		return -EMSGSIZE;

	memcpy(p, &hdr, sizeof(hdr));
	p += sizeof(hdr);
	for (i = 0; i < hello->nr_services; i++) {
		const struct mrpc_hello_service *s = &hello->services[i];

		memcpy(p, s->hash, MRPC_HASH_LEN);
		p[MRPC_HASH_LEN] = s->verdict;
		put_unaligned_le16(s->name_len, p + MRPC_HASH_LEN + 1);
		memcpy(p + HELLO_SERVICE, s->name, s->name_len);
		p += HELLO_SERVICE + s->name_len;
	}
	if (hello->identity_len)
		memcpy(p, hello->identity, hello->identity_len);
	return need;
}

static int hello_refuse(const char **why, const char *what)
{
	*why = what;
	return -EPROTO;
}

static int hello_check(const struct mrpc_hello *hello, const char **why)
{
	if (!hello->version_min || hello->version_min > hello->version_max)
		return hello_refuse(why, "the hello's versions are not a range");
	if (!hello->nr_services || hello->nr_services > MRPC_MAX_SERVICES)
		return hello_refuse(why, "the hello's number of services is out of range");
	if (!hello->max_calls || hello->max_calls > HELLO_MAX_CALLS)
		return hello_refuse(why, "the hello's number of calls is out of range");
	if (hello->status > MRPC_STATUS_MAX)
		return hello_refuse(why, "the hello's status is unknown");
	if (hello->identity_len > MRPC_HELLO_MAX_IDENTITY)
		return hello_refuse(why, "the hello's identity is too long");
	return 0;
}

static bool hello_known(const struct mrpc_hello *hello, u32 n)
{
	const struct mrpc_hello_service *s = &hello->services[n];
	u32 i;

	for (i = 0; i < n; i++)
		if (hello->services[i].name_len == s->name_len &&
		    !memcmp(hello->services[i].name, s->name, s->name_len))
			return true;
	return false;
}

int mrpc_hello_decode(const void *buf, size_t len, struct mrpc_hello *hello, const char **why)
{
	struct mrpc_hello_hdr hdr;
	const u8 *p = buf;
	int ret;
	u32 i;

	if (len < sizeof(hdr))
		return hello_refuse(why, "the hello is shorter than its header");
	memcpy(&hdr, p, sizeof(hdr));
	p += sizeof(hdr);
	len -= sizeof(hdr);
	hello->version_min = hdr.version_min;
	hello->version_max = hdr.version_max;
	hello->nr_services = le16_to_cpu(hdr.nr_services);
	hello->max_message = le32_to_cpu(hdr.max_message);
	hello->features = le64_to_cpu(hdr.features);
	hello->max_calls = le32_to_cpu(hdr.max_calls);
	hello->status = le16_to_cpu(hdr.status);
	hello->identity_len = le16_to_cpu(hdr.identity_len);
	ret = hello_check(hello, why);
	if (ret)
		return ret;

	for (i = 0; i < hello->nr_services; i++) {
		struct mrpc_hello_service *s = &hello->services[i];

		if (len < HELLO_SERVICE)
			return hello_refuse(why, "the hello ends within a service");
		memcpy(s->hash, p, MRPC_HASH_LEN);
		s->verdict = p[MRPC_HASH_LEN];
		s->name_len = get_unaligned_le16(p + MRPC_HASH_LEN + 1);
		s->name = (const char *)p + HELLO_SERVICE;
		p += HELLO_SERVICE;
		len -= HELLO_SERVICE;
		if (s->verdict > MRPC_VERDICT_MAX)
			return hello_refuse(why, "a service's verdict is unknown");
		if (s->name_len > len)
			return hello_refuse(why, "the hello ends within a service's name");
		if (s->name_len > MRPC_SCHEMA_MAX_NAME ||
		    !mrpc_name_valid(s->name, s->name_len, true))
			return hello_refuse(why, "a service's name is not an identifier");
		if (hello_known(hello, i))
			return hello_refuse(why, "a service is listed twice");
		p += s->name_len;
		len -= s->name_len;
	}
	if (len != hello->identity_len)
		return hello_refuse(why, "the hello's length is not that of its parts");
	hello->identity = p;
	return 0;
}
