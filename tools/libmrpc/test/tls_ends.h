/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Both ends of a handshake: of libmrpc-tls, of GnuTLS alone, or of a peer without TLS.
 */
#ifndef TLS_ENDS_H
#define TLS_ENDS_H

#include <errno.h>
#include <gnutls/x509.h>
#include <sys/socket.h>

#include "certs.h"
#include "mrpc_tls.h"
#include "secure.h"
#include "tap.h"

/**
 * struct end - one end
 * @fd: its socket
 * @secure: of the library, or NULL
 * @raw: of GnuTLS alone, or NULL; without either the end sends nothing but @plain
 * @err: -EAGAIN, or how it has ended
 */
struct end {
	int fd;
	struct secure *secure;
	gnutls_session_t raw;
	const char *plain;
	int err;
};

static struct end ends[2];	/* client and server */

static struct mrpc_tls *client_tls(const char *ca, const char *cert, const char *name)
{
	struct mrpc_tls_opts opts = {
		.ca_file = cert_file(ca),
		.cert_file = cert ? cert_file(cert) : NULL,
		.key_file = cert ? key_file(cert) : NULL,
		.server_name = name,
	};
	struct mrpc_tls *tls = mrpc_tls_client(&opts);

	CHECK_MSG(tls, "%s", mrpc_last_error());
	return tls;
}

static struct mrpc_tls *server_tls(const char *cert, const char *ca)
{
	struct mrpc_tls_opts opts = {
		.ca_file = ca ? cert_file(ca) : NULL,
		.cert_file = cert_file(cert),
		.key_file = key_file(cert),
		.require_client = ca,
	};
	struct mrpc_tls *tls = mrpc_tls_server(&opts);

	CHECK_MSG(tls, "%s", mrpc_last_error());
	return tls;
}

static void open_ends(void)
{
	int fds[2], i;

	CHECK_SYS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
	memset(ends, 0, sizeof(ends));
	for (i = 0; i < 2; i++) {
		ends[i].fd = fds[i];
		ends[i].err = -EAGAIN;
	}
}

/* The configuration is the end's from now on. */
static void set_end(int i, struct mrpc_tls *tls, const char *transport, const char *host)
{
	ends[i].secure = tls->ops->begin(tls, ends[i].fd, transport, host);
	CHECK(ends[i].secure != NULL);
	mrpc_tls_free(tls);
}

static void step(struct end *e)
{
	int ret;

	if (e->secure) {
		e->err = e->secure->ops->step(e->secure);
	} else if (e->raw) {
		ret = gnutls_handshake(e->raw);
		e->err = ret == GNUTLS_E_AGAIN ? -EAGAIN : ret ? -EPROTO : 0;
		if (ret < 0 && gnutls_error_is_fatal(ret))
			gnutls_alert_send_appropriate(e->raw, ret);
	} else {
		e->err = write(e->fd, e->plain, strlen(e->plain)) < 0 ? -errno : 0;
	}
}

/* Has both go on in turn until each has ended. */
static void run_ends(void)
{
	int turn, i;

	for (turn = 0; turn < 100; turn++) {
		i = turn % 2;
		if (ends[i].err != -EAGAIN)
			continue;
		step(&ends[i]);
		if (ends[i].err && ends[i].err != -EAGAIN)
			shutdown(ends[i].fd, SHUT_WR);
	}
	CHECK(ends[0].err != -EAGAIN && ends[1].err != -EAGAIN);
}

static void close_ends(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (ends[i].secure)
			ends[i].secure->ops->end(ends[i].secure);
		if (ends[i].raw)
			gnutls_deinit(ends[i].raw);
		close(ends[i].fd);
	}
}

/* The client must be told @client, the server @server; NULL: it has no error, "": any. */
static void check_reasons(const char *client, const char *server)
{
	const char *want[2] = { client, server };
	int i;

	for (i = 0; i < 2; i++) {
		if (!ends[i].secure || (want[i] && !want[i][0]))
			continue;
		CHECK_MSG(!ends[i].err == !want[i], "end %d: %d: %s", i, ends[i].err,
			  ends[i].secure->why);
		CHECK_MSG(!want[i] || strstr(ends[i].secure->why, want[i]), "end %d says '%s'", i,
			  ends[i].secure->why);
	}
}

/* An end without the library. */
static void raw_end(int i, unsigned int flags, const char *priority, const char *protocol)
{
	gnutls_datum_t p = { (void *)protocol, protocol ? (unsigned int)strlen(protocol) : 0 };
	gnutls_certificate_credentials_t cred;

	CHECK(!gnutls_certificate_allocate_credentials(&cred));
	if (flags == GNUTLS_SERVER)
		CHECK(gnutls_certificate_set_x509_key_file(cred, cert_file("server"),
							   key_file("server"),
							   GNUTLS_X509_FMT_PEM) >= 0);
	CHECK(!gnutls_init(&ends[i].raw, flags | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL));
	gnutls_transport_set_int(ends[i].raw, ends[i].fd);
	CHECK(!gnutls_priority_set_direct(ends[i].raw, priority, NULL));
	CHECK(!gnutls_credentials_set(ends[i].raw, GNUTLS_CRD_CERTIFICATE, cred));
	gnutls_session_set_ptr(ends[i].raw, cred);
	if (protocol)
		gnutls_alpn_set_protocols(ends[i].raw, &p, 1, 0);
}

static void raw_client(const char *priority, const char *protocol)
{
	raw_end(0, GNUTLS_CLIENT, priority, protocol);
}

static void free_raw(int i)
{
	gnutls_certificate_free_credentials(gnutls_session_get_ptr(ends[i].raw));
	close_ends();
}

#endif /* TLS_ENDS_H */
