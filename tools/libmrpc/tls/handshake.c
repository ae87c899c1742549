// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Handshakes, of both sides: a state machine that does not wait. At its end the kernel gets the
 * keys, and GnuTLS has no further part in the connection.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "handshake.h"
#include "identity.h"
#include "keys.h"
#include "reason.h"
#include "tls.h"

/* What kernel TLS does, the fastest first. */
#define PRIORITY	"NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:" \
			"+CHACHA20-POLY1305:%SERVER_PRECEDENCE"

/*
 * What GnuTLS would send later on its own would not fit in between the kernel's records. A client
 * shows its certificate whatever authorities the server names, so that the server can say what is
 * wrong with it.
 */
#define FLAGS		(GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS | \
			 GNUTLS_NO_AUTO_REKEY | GNUTLS_FORCE_CLIENT_CERT)

#define RECORD_ALERT		21	/* first byte of a record of TLS */
#define RECORD_HANDSHAKE	22

static struct handshake *handshake_of(struct secure *s)
{
	return (struct handshake *)s;
}

static void add_verify(struct handshake *h, gnutls_vdata_types_t type, const void *data, size_t len)
{
	h->verify[h->nr_verify++] = (gnutls_typed_vdata_st){
		.type = type, .data = (void *)data, .size = (unsigned int)len,
	};
}

/*
 * An IP address must be among the certificate's addresses; the server is not told it. The interface
 * of a link-local one is this host's own name for it.
 */
static int want_name(struct handshake *h, const char *host)
{
	size_t len = strlen(host);

	if (len && host[len - 1] == '.')
		len--;
	if (strchr(host, ':'))
		len = strcspn(host, "%");
	snprintf(h->name, sizeof(h->name), "%.*s", (int)len, host);
	if (inet_pton(AF_INET, h->name, h->ip) == 1) {
		add_verify(h, GNUTLS_DT_IP_ADDRESS, h->ip, 4);
	} else if (inet_pton(AF_INET6, h->name, h->ip) == 1) {
		add_verify(h, GNUTLS_DT_IP_ADDRESS, h->ip, 16);
	} else {
		add_verify(h, GNUTLS_DT_DNS_HOSTNAME, h->name, 0);
		return gnutls_server_name_set(h->session, GNUTLS_NAME_DNS, h->name,
					      strlen(h->name));
	}
	return 0;
}

static int set_peer(struct handshake *h, bool server, const char *host)
{
	int ret = 0;

	if (server && !h->tls->files.trust)
		return 0;
	if (server) {
		gnutls_certificate_server_set_request(h->session, GNUTLS_CERT_REQUIRE);
		/* A client that does not find its authority in a list sends no certificate. */
		gnutls_certificate_send_x509_rdn_sequence(h->session, 1);
	} else {
		ret = want_name(h, h->tls->server_name ? h->tls->server_name : host);
	}
	add_verify(h, GNUTLS_DT_KEY_PURPOSE_OID,
		   server ? GNUTLS_KP_TLS_WWW_CLIENT : GNUTLS_KP_TLS_WWW_SERVER, 0);
	gnutls_session_set_verify_cert2(h->session, h->verify, h->nr_verify, 0);
	return ret;
}

/* Reads for GnuTLS. What the peer sends first tells more than GnuTLS's errors for what is no TLS. */
static ssize_t pull(gnutls_transport_ptr_t from, void *to, size_t len)
{
	struct handshake *h = from;
	ssize_t n = recv(h->base.fd, to, len, MSG_DONTWAIT);
	u8 first;

	if (n > 0 && !h->heard) {
		first = *(const u8 *)to;
		h->heard = true;
		h->plain = first != RECORD_ALERT && first != RECORD_HANDSHAKE;
	}
	return n;
}

/* What ALPN names. A listener for both transports takes either. */
static int set_protocols(struct handshake *h, const char *transport)
{
	static const gnutls_datum_t mrpc_and_h2[] = { { (u8 *)"mrpc", 4 }, { (u8 *)"h2", 2 } };
	const gnutls_datum_t *first = mrpc_and_h2;
	unsigned int nr = 1;

	if (!strcmp(transport, "grpc")) {
		h->protocol = "'h2'";
		first++;
	} else if (!strcmp(transport, ADDR_BOTH)) {
		h->protocol = "'mrpc' or 'h2'";
		nr = 2;
	} else {
		h->protocol = "'mrpc'";
	}
	return gnutls_alpn_set_protocols(h->session, first, nr, GNUTLS_ALPN_MANDATORY);
}

static int set_up(struct handshake *h, bool server, const char *transport, const char *host)
{
	int ret;

	ret = gnutls_init(&h->session, (server ? GNUTLS_SERVER : GNUTLS_CLIENT) | FLAGS);
	if (ret)
		return ret;
	gnutls_transport_set_ptr2(h->session, h, (gnutls_transport_ptr_t)(intptr_t)h->base.fd);
	gnutls_transport_set_pull_function(h->session, pull);
	ret = gnutls_priority_set_direct(h->session, PRIORITY, NULL);
	if (!ret)
		ret = gnutls_credentials_set(h->session, GNUTLS_CRD_CERTIFICATE, h->creds->cred);
	if (!ret)
		ret = set_protocols(h, transport);
	return ret ? ret : set_peer(h, server, host);
}

struct secure *handshake_begin(struct tls *tls, int fd, const char *transport, const char *host)
{
	struct handshake *h = calloc(1, sizeof(*h));
	int ret;

	if (!h)
		return NULL;
	h->base.ops = tls->base.ops;
	h->base.fd = fd;
	h->base.events = tls->base.server ? POLLIN : POLLOUT;
	tls_get(tls);
	h->tls = tls;
	h->creds = tls_creds(tls);
	ret = set_up(h, tls->base.server, transport, host);
	if (!ret)
		return &h->base;
	/* The first step says why. */
	snprintf(h->base.why, sizeof(h->base.why), "TLS cannot begin: %s", gnutls_strerror(ret));
	return &h->base;
}

static int failed(struct handshake *h, int err, const char *why)
{
	snprintf(h->base.why, sizeof(h->base.why), "%s", why);
	return err;
}

/* GnuTLS requires a protocol in common only if both sides name some. */
static int check_protocol(struct handshake *h)
{
	gnutls_datum_t chosen;

	if (!gnutls_alpn_get_selected_protocol(h->session, &chosen)) {
		h->base.http2 = chosen.size == 2 && !memcmp(chosen.data, "h2", 2);
		return 0;
	}
	snprintf(h->base.why, sizeof(h->base.why), "the %s does not name the protocol %s (ALPN)",
		 h->tls->base.server ? "client" : "server", h->protocol);
	return -EPROTO;
}

/* A certificate that was not asked for is not there. */
static int take_identity(struct handshake *h)
{
	bool server = h->tls->base.server;
	gnutls_x509_crt_t crt;
	int len;

	if (server && !h->tls->files.trust)
		return 0;
	crt = reason_peer_crt(h->session);
	if (!crt)
		return failed(h, -ENOMEM, "the peer's certificate cannot be read");
	len = identity_of(crt, h->base.identity);
	gnutls_x509_crt_deinit(crt);
	if (len == -E2BIG)
		return failed(h, -EKEYREJECTED, "the name in the peer's certificate is too long");
	if (len < 0)
		return failed(h, -EKEYREJECTED,
			      "the peer's certificate has names that cannot be read");
	if (!len && server)
		return failed(h, -EKEYREJECTED, "the client's certificate has no name");
	h->base.identity_len = (u32)len;
	return 0;
}

/* The peer ended the connection after the handshake. It may have said why. */
static int ask_why(struct handshake *h, int err)
{
	u8 byte;
	ssize_t ret = gnutls_record_recv(h->session, &byte, sizeof(byte));

	return ret < 0 && gnutls_error_is_fatal((int)ret) ? reason_fail(h, (int)ret) : err;
}

static int give_keys(struct handshake *h)
{
	struct ktls_keys tx, rx;
	int err;

	err = keys_of(h->session, false, &tx);
	if (!err)
		err = keys_of(h->session, true, &rx);
	if (!err)
		err = ktls_install(h->base.fd, &tx, &rx, h->base.why, sizeof(h->base.why));
	else
		failed(h, err, "the kernel does not take the keys of this cipher");
	explicit_bzero(&tx, sizeof(tx));
	explicit_bzero(&rx, sizeof(rx));
	return err == -ENOTCONN ? ask_why(h, err) : err;
}

/* Both sides have agreed on keys. The peer may still not be what it must be. */
static int finish(struct handshake *h)
{
	gnutls_alert_description_t alert = GNUTLS_A_NO_APPLICATION_PROTOCOL;
	int err = check_protocol(h);

	if (!err) {
		alert = GNUTLS_A_BAD_CERTIFICATE;
		err = take_identity(h);
	}
	if (err) {
		gnutls_alert_send(h->session, GNUTLS_AL_FATAL, alert);
		return err;
	}
	if (gnutls_record_check_pending(h->session))
		return failed(h, -EPROTO, "the TLS library has read more than the handshake");
	return give_keys(h);
}

int handshake_step(struct secure *s)
{
	struct handshake *h = handshake_of(s);
	int ret;

	if (s->why[0])
		return -EPROTO;
	do
		ret = gnutls_handshake(h->session);
	while (ret == GNUTLS_E_INTERRUPTED);
	if (!ret)
		return finish(h);
	if (ret == GNUTLS_E_AGAIN) {
		s->events = gnutls_record_get_direction(h->session) ? POLLOUT : POLLIN;
		return -EAGAIN;
	}
	return reason_fail(h, ret);
}

void handshake_end(struct secure *s)
{
	struct handshake *h = handshake_of(s);

	if (h->session)
		gnutls_deinit(h->session);
	creds_put(h->creds);
	tls_put(h->tls);
	free(h);
}
