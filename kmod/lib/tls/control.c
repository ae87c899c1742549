// SPDX-License-Identifier: GPL-2.0
#include "lib/tls/control.h"

/* Types of handshake messages: RFC 8446, section 4. */
#define TLS_NEW_SESSION_TICKET	4
#define TLS_KEY_UPDATE		24

/* Alerts that a peer sends after its own handshake: RFC 8446, section 6. */
static const struct {
	u8 code;
	const char *text;
} alerts[] = {
	{ 10, "TLS: the peer says that it got an unexpected message" },
	{ 20, "TLS: the peer says that it cannot decrypt a record" },
	{ 22, "TLS: the peer says that a record is too long" },
	{ 40, "TLS: the peer refuses the handshake" },
	{ 42, "TLS: the peer says that our certificate is broken" },
	{ 43, "TLS: the peer does not take our kind of certificate" },
	{ 44, "TLS: the peer says that our certificate is revoked" },
	{ 45, "TLS: the peer says that our certificate has expired" },
	{ 46, "TLS: the peer does not take our certificate" },
	{ 48, "TLS: the peer does not know the issuer of our certificate" },
	{ 49, "TLS: the peer denies access" },
	{ 51, "TLS: the peer cannot verify our signature" },
	{ 80, "TLS: the peer has an internal error" },
	{ 90, "TLS: the peer's user cancelled" },
	{ 116, "TLS: the peer wants a certificate, and we gave none" },
};

static int tls_alert(const u8 *buf, u32 len, const char **why)
{
	u32 i;

	if (len != MRPC_TLS_ALERT_LEN) {
		*why = "TLS: the peer sent an alert of a wrong length";
		return -EPROTO;
	}
	if (buf[1] == MRPC_TLS_CLOSE_NOTIFY)
		return -ESHUTDOWN;
	*why = "TLS: the peer ended the connection with an alert";
	for (i = 0; i < ARRAY_SIZE(alerts); i++)
		if (alerts[i].code == buf[1])
			*why = alerts[i].text;
	return -EPROTO;
}

static int tls_handshake_head(struct mrpc_tls_control *c, const char **why)
{
	c->have = 0;
	c->left = c->head[1] << 16 | c->head[2] << 8 | c->head[3];
	if (c->head[0] == TLS_NEW_SESSION_TICKET)
		return 0;
	if (c->head[0] == TLS_KEY_UPDATE)
		*why = "TLS: the peer changed its keys, which this kernel cannot follow";
	else
		*why = "TLS: the peer sent an unexpected handshake message";
	return -EPROTO;
}

static int tls_handshake(struct mrpc_tls_control *c, const u8 *buf, u32 len, const char **why)
{
	u32 n, at = 0;
	int err;

	while (at < len) {
		if (c->left) {
			n = min(c->left, len - at);
			c->left -= n;
			at += n;
			continue;
		}
		c->head[c->have++] = buf[at++];
		if (c->have < sizeof(c->head))
			continue;
		err = tls_handshake_head(c, why);
		if (err)
			return err;
	}
	return 0;
}

int mrpc_tls_control(struct mrpc_tls_control *c, u8 type, const u8 *buf, u32 len,
		     const char **why)
{
	if (type == MRPC_TLS_HANDSHAKE && len)
		return tls_handshake(c, buf, len, why);
	if (type == MRPC_TLS_ALERT && !c->have && !c->left)
		return tls_alert(buf, len, why);
	*why = "TLS: the peer sent a record of an unexpected type";
	return -EPROTO;
}
