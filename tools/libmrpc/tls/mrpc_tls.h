/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmrpc-tls: TLS 1.3 for the transports tcp and grpc.
 *
 * The library makes the handshake, in the process, with GnuTLS. The kernel then encrypts and
 * decrypts. A client:
 *
 *	struct mrpc_tls_opts to = { .ca_file = "/etc/kv/ca.pem" };
 *	struct mrpc_tls *tls = mrpc_tls_client(&to);
 *	struct mrpc_conn_opts opts = { .tls = tls };
 *	struct mrpc_conn *c;
 *
 *	if (!tls || !(c = mrpc_connect(s, "tcp:kv.example:7000", services, 1, &opts)))
 *		errx(1, "%s", mrpc_last_error());
 *	mrpc_tls_free(tls);
 *
 * Functions fail as those of <mrpc.h> do.
 */
#ifndef _MRPC_TLS_H
#define _MRPC_TLS_H

#include <mrpc.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct mrpc_tls_opts - certificates of this side, and what the peer's must be
 * @ca_file: the authorities that are trusted to name peers, PEM. A client: NULL for those of the
 *	system. A server: with @require_client, else NULL
 * @cert_file: this side's certificate, and those that lead to the authority, PEM. A server needs
 *	it; a client may have it
 * @key_file: the key of the certificate, PEM, without a password
 * @server_name: a client: the name that the server's certificate must have, and that the server is
 *	told (SNI). NULL for the host of the address. The certificate must have an IP address among
 *	its names if this is one. A server: NULL
 * @require_client: a server: clients need a certificate that an authority of @ca_file has signed
 * @resv0: zero
 * @resv: zero
 */
struct mrpc_tls_opts {
	const char *ca_file;
	const char *cert_file;
	const char *key_file;
	const char *server_name;
	bool require_client;
	__u8 resv0[7];
	__u64 resv[4];
};

/**
 * mrpc_tls_client() - TLS for connections and channels
 * @opts: or NULL: the authorities of the system, and no certificate of this side
 *
 * The files are read now. The result goes into struct mrpc_conn_opts and struct mrpc_channel_opts,
 * of any session. Any thread may use it.
 *
 * Return: NULL with errno on failure.
 */
struct mrpc_tls *mrpc_tls_client(const struct mrpc_tls_opts *opts);

/**
 * mrpc_tls_server() - TLS for the listeners of servers
 * @opts: with certificate and key
 *
 * As mrpc_tls_client(), for mrpc_server_listen(). With an address for which TLS is given, the
 * server accepts no connection without it.
 *
 * Return: NULL with errno on failure.
 */
struct mrpc_tls *mrpc_tls_server(const struct mrpc_tls_opts *opts);

/**
 * mrpc_tls_reload() - read all files again
 * @tls: the configuration
 *
 * Handshakes that begin later use what the files have now. Connections stay as they are. Any thread
 * may call it.
 *
 * Return: 0; -errno: all is as before.
 */
int mrpc_tls_reload(struct mrpc_tls *tls);

/**
 * mrpc_tls_refusals() - how many peers of a server got no connection
 * @tls: of a server
 * @buf: where to put the last one's address and the reason, as "tcp:10.0.0.3:41000: the peer does
 *	not speak TLS"; "" if there is none
 * @size: bytes of @buf, which may be 0
 *
 * Return: their number, since mrpc_tls_server().
 */
__u64 mrpc_tls_refusals(struct mrpc_tls *tls, char *buf, size_t size);

/* Gives it up. Channels and listeners that use it keep it. NULL is allowed. */
void mrpc_tls_free(struct mrpc_tls *tls);

#ifdef __cplusplus
}
#endif

#endif /* _MRPC_TLS_H */
