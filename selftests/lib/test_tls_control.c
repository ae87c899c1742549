// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/tls/control */
/* Records of TLS that are no data: what they mean, whole and in pieces. */
#include "lib/ds/types.h"
#include "lib/tls/control.h"
#include "rnd.h"
#include "tap.h"

#define TICKET	"\x04\0\0\x02xx"

struct row {
	u8 type;
	const char *bytes;
	u32 len;
	int ret;
	const char *why;	/* a part of the reason; NULL: none */
};

#define ROW(type, bytes, ret, why)	{ type, bytes, sizeof(bytes) - 1, ret, why }

static const struct row rows[] = {
	ROW(22, TICKET, 0, NULL),
	ROW(22, TICKET TICKET, 0, NULL),
	ROW(22, "\x04\0\0\0", 0, NULL),
	ROW(22, TICKET "\x18\0\0\x01\0", -EPROTO, "changed its keys"),
	ROW(22, "\x18\0\0\x01", -EPROTO, "changed its keys"),
	ROW(22, "\0\0\0\0", -EPROTO, "unexpected handshake"),
	ROW(22, "\x0d\0\0\0", -EPROTO, "unexpected handshake"),
	ROW(22, "", -EPROTO, "unexpected type"),
	ROW(21, "\x01\0", -ESHUTDOWN, NULL),
	ROW(21, "\x02\0", -ESHUTDOWN, NULL),
	ROW(21, "\x02\x2d", -EPROTO, "has expired"),
	ROW(21, "\x02\x30", -EPROTO, "does not know the issuer"),
	ROW(21, "\x02\x74", -EPROTO, "we gave none"),
	ROW(21, "\x02\xfe", -EPROTO, "with an alert"),
	ROW(21, "\x02", -EPROTO, "wrong length"),
	ROW(21, "\x02\0\0", -EPROTO, "wrong length"),
	ROW(21, "", -EPROTO, "wrong length"),
	ROW(20, "\x01", -EPROTO, "unexpected type"),
	ROW(24, "\x01\0\0", -EPROTO, "unexpected type"),
};

TEST(rows)
{
	const struct row *r;

	for (r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		struct mrpc_tls_control c = { 0 };
		const char *why = NULL;
		int ret = mrpc_tls_control(&c, r->type, (const u8 *)r->bytes, r->len, &why);

		CHECK_MSG(ret == r->ret, "row %td: %d", r - rows, ret);
		CHECK_MSG(!why == !r->why && (!why || strstr(why, r->why)), "row %td: %s", r - rows,
			  why ?: "no reason");
	}
}

/* An alert between the pieces of a handshake message is none. */
TEST(alert_inside)
{
	struct mrpc_tls_control c = { 0 };
	const char *why = NULL;

	CHECK_EQ(mrpc_tls_control(&c, 22, (const u8 *)TICKET, 5, &why), 0);
	CHECK_EQ(mrpc_tls_control(&c, 21, (const u8 *)"\x01\0", 2, &why), -EPROTO);
	memset(&c, 0, sizeof(c));
	CHECK_EQ(mrpc_tls_control(&c, 22, (const u8 *)TICKET, 2, &why), 0);
	CHECK_EQ(mrpc_tls_control(&c, 21, (const u8 *)"\x01\0", 2, &why), -EPROTO);
}

/* However tickets are cut, they are skipped, and what follows is found. */
TEST(pieces)
{
	static u8 bytes[1000];
	uint64_t r = 1;
	u32 round;

	for (round = 0; round < 2000; round++) {
		struct mrpc_tls_control c = { 0 };
		const char *why = NULL;
		u32 len = 0, at, n;
		int ret = 0;

		while (len < 600) {
			n = rnd_below(&r, 80);
			bytes[len++] = 4;
			bytes[len++] = 0;
			bytes[len++] = 0;
			bytes[len++] = n;
			memset(bytes + len, 24, n);
			len += n;
		}
		memcpy(bytes + len, "\x18\0\0\x01\0", 5);
		for (at = 0; at < len; at += n) {
			n = min_t(u32, 1 + rnd_below(&r, 100), len - at);
			ret = mrpc_tls_control(&c, 22, bytes + at, n, &why);
			CHECK_EQ(ret, 0);
		}
		CHECK_EQ(mrpc_tls_control(&c, 22, bytes + len, 4, &why), -EPROTO);
		CHECK(strstr(why, "changed its keys"));
	}
}
