// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Handshakes of libmrpc-tls: client and server against each other, up to the keys for the kernel.
 */
#include <netinet/in.h>

#include "ktls.h"
#include "tls_ends.h"

#define DAY	86400

static const char *const old_priority = "NORMAL:-VERS-ALL:+VERS-TLS1.2";

static struct ktls_keys sent[2], received[2];	/* of the last two ends that were done */
static unsigned int installed;

int __real_ktls_install(int fd, const struct ktls_keys *tx, const struct ktls_keys *rx, char *why,
			size_t size);
int __wrap_ktls_install(int fd, const struct ktls_keys *tx, const struct ktls_keys *rx, char *why,
			size_t size);

int __wrap_ktls_install(int fd, const struct ktls_keys *tx, const struct ktls_keys *rx,
			UNUSED char *why, UNUSED size_t size)
{
	CHECK(fd >= 0);
	sent[installed % 2] = *tx;
	received[installed % 2] = *rx;
	installed++;
	return 0;
}

static __attribute__((__constructor__)) void make_certs(void)
{
	static const struct cert_opts all[] = {
		{ .name = "ca", .cn = "the authority" },
		{ .name = "stranger", .cn = "another authority" },
		{ .name = "server", .issuer = "ca", .cn = "server", .dns = "kv.example" },
		{ .name = "by-ip", .issuer = "ca", .cn = "by-ip", .ip = "127.0.0.1" },
		{ .name = "expired", .issuer = "ca", .cn = "x", .dns = "kv.example",
		  .from = -2 * DAY, .until = -DAY },
		{ .name = "early", .issuer = "ca", .cn = "x", .dns = "kv.example",
		  .from = DAY, .until = 2 * DAY },
		{ .name = "for-clients", .issuer = "ca", .cn = "x", .dns = "kv.example",
		  .purpose = GNUTLS_KP_TLS_WWW_CLIENT },
		{ .name = "client", .issuer = "ca", .cn = "client", .dns = "client.example",
		  .uri = "spiffe://example/ns/a/sa/b" },
		{ .name = "foreign", .issuer = "stranger", .cn = "client" },
		{ .name = "odd", .issuer = "ca", .cn = "a\\b\303\244" },
		{ .name = "nameless", .issuer = "ca" },
		{ .name = "long", .issuer = "ca", .uri = "spiffe://example/"
		  "0123456789012345678901234567890123456789012345678901234567890123456789"
		  "0123456789012345678901234567890123456789012345678901234567890123456789"
		  "0123456789012345678901234567890123456789012345678901234567890123456789"
		  "0123456789012345678901234567890123456789012345678901234567890123456789" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		certs_make(&all[i]);
	atexit(certs_remove);
}

/* -- what is to work -------------------------------------------------------------------------- */

static const struct {
	const char *cert;
	const char *name;	/* server_name */
	const char *host;
	const char *identity;
} good[] = {
	{ "server", NULL, "kv.example", "kv.example" },
	{ "server", NULL, "KV.example.", "kv.example" },
	{ "server", "kv.example", "127.0.0.1", "kv.example" },
	{ "by-ip", NULL, "127.0.0.1", "CN=by-ip" },
};

TEST(agreement)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		open_ends();
		set_end(0, client_tls("ca", NULL, good[i].name), "tcp", good[i].host);
		set_end(1, server_tls(good[i].cert, NULL), "tcp", "");
		run_ends();
		check_reasons(NULL, NULL);
		CHECK_STR(ends[0].secure->identity, good[i].identity);
		CHECK_EQ(ends[0].secure->identity_len, strlen(good[i].identity));
		CHECK_EQ(ends[1].secure->identity_len, 0);
		close_ends();
	}
}

TEST(mutual)
{
	open_ends();
	set_end(0, client_tls("ca", "client", NULL), "grpc", "kv.example");
	set_end(1, server_tls("server", "ca"), "grpc", "");
	run_ends();
	check_reasons(NULL, NULL);
	CHECK_STR(ends[1].secure->identity, "spiffe://example/ns/a/sa/b");
	close_ends();
}

/* Each end receives with the keys that the other one sends with, from the first record on. */
TEST(keys)
{
	static const u8 first[8];

	installed = 0;
	open_ends();
	set_end(0, client_tls("ca", NULL, NULL), "tcp", "kv.example");
	set_end(1, server_tls("server", NULL), "tcp", "");
	run_ends();
	check_reasons(NULL, NULL);
	close_ends();
	CHECK_EQ(installed, 2);
	CHECK_EQ(sent[0].info.version, TLS_1_3_VERSION);
	CHECK_EQ(sent[0].info.cipher_type, TLS_CIPHER_AES_GCM_128);
	CHECK_EQ(sent[0].len, sizeof(sent[0].aes_gcm_128));
	CHECK(!memcmp(&sent[0], &received[1], sizeof(sent[0])));
	CHECK(!memcmp(&sent[1], &received[0], sizeof(sent[0])));
	CHECK(memcmp(&sent[0], &sent[1], sizeof(sent[0])));
	CHECK(!memcmp(sent[0].aes_gcm_128.rec_seq, first, sizeof(first)));
	CHECK(!memcmp(sent[1].aes_gcm_128.rec_seq, first, sizeof(first)));
}

/* Ciphers that a peer prefers. */
TEST(ciphers)
{
	static const struct {
		const char *priority;
		u16 type;
	} ciphers[] = {
		{ "NORMAL:-CIPHER-ALL:+AES-256-GCM", TLS_CIPHER_AES_GCM_256 },
		{ "NORMAL:-CIPHER-ALL:+CHACHA20-POLY1305", TLS_CIPHER_CHACHA20_POLY1305 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ciphers); i++) {
		installed = 0;
		open_ends();
		raw_client(ciphers[i].priority, "mrpc");
		set_end(1, server_tls("server", NULL), "tcp", "");
		run_ends();
		check_reasons(NULL, NULL);
		CHECK_EQ(sent[0].info.cipher_type, ciphers[i].type);
		free_raw(0);
	}
}

/* -- what is to fail -------------------------------------------------------------------------- */

static const struct {
	const char *server;		/* certificate of the server */
	const char *client_ca;		/* whom the client trusts */
	const char *client_says;
	const char *server_says;
} bad_servers[] = {
	{ "by-ip", "ca", "the server's certificate is not valid: it is for 'CN=by-ip', not for "
			 "'kv.example'", "the peer refused our certificate" },
	{ "expired", "ca", "the server's certificate is not valid: it has expired (",
	  "the peer refused our certificate" },
	{ "early", "ca", "it is not valid yet (", "the peer refused our certificate" },
	{ "server", "stranger", "its issuer is not known (CA file /",
	  "the peer refused our certificate" },
	{ "for-clients", "ca", "it is not made for a server", "the peer refused our certificate" },
	{ "long", "ca", "it is for '", "" },
};

TEST(bad_server)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_servers); i++) {
		open_ends();
		set_end(0, client_tls(bad_servers[i].client_ca, NULL, NULL), "tcp", "kv.example");
		set_end(1, server_tls(bad_servers[i].server, NULL), "tcp", "");
		run_ends();
		check_reasons(bad_servers[i].client_says, bad_servers[i].server_says);
		CHECK_EQ(ends[0].err, -EKEYREJECTED);
		close_ends();
	}
}

/* A name that looks like an address is no address of the certificate. */
TEST(address_in_name)
{
	open_ends();
	set_end(0, client_tls("ca", NULL, NULL), "tcp", "127.0.0.2");
	set_end(1, server_tls("by-ip", NULL), "tcp", "");
	run_ends();
	check_reasons("not for '127.0.0.2'", "");
	close_ends();
}

static const struct {
	const char *cert;		/* of the client */
	const char *says;
} bad_clients[] = {
	{ NULL, "the client has no certificate" },
	{ "foreign", "the client's certificate is not valid: its issuer is not known" },
	{ "expired", "the client's certificate is not valid: it has expired" },
	{ "nameless", "the client's certificate has no name" },
	{ "long", "too long" },
};

/* In TLS 1.3 the client does not wait for what the server says of its certificate. */
TEST(bad_client)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_clients); i++) {
		open_ends();
		set_end(0, client_tls("ca", bad_clients[i].cert, NULL), "tcp", "kv.example");
		set_end(1, server_tls("server", "ca"), "tcp", "");
		run_ends();
		check_reasons(NULL, bad_clients[i].says);
		CHECK_EQ(ends[1].err, -EKEYREJECTED);
		close_ends();
	}
}

TEST(other_protocol)
{
	open_ends();
	set_end(0, client_tls("ca", NULL, NULL), "grpc", "kv.example");
	set_end(1, server_tls("server", NULL), "tcp", "");
	run_ends();
	check_reasons("the peer speaks TLS, but not for the protocol 'h2'",
		      "the client does not name the protocol 'mrpc'");
	close_ends();
}

TEST(no_protocol)
{
	open_ends();
	raw_client("NORMAL", NULL);
	set_end(1, server_tls("server", NULL), "grpc", "");
	run_ends();
	check_reasons(NULL, "the client does not name the protocol 'h2' (ALPN)");
	free_raw(0);
	open_ends();
	set_end(0, client_tls("ca", NULL, NULL), "grpc", "kv.example");
	raw_end(1, GNUTLS_SERVER, "NORMAL", NULL);
	run_ends();
	check_reasons("the server does not name the protocol 'h2' (ALPN)", NULL);
	free_raw(1);
}

TEST(older_version)
{
	open_ends();
	raw_client(old_priority, "mrpc");
	set_end(1, server_tls("server", NULL), "tcp", "");
	run_ends();
	check_reasons(NULL, "does it speak TLS 1.3?");
	free_raw(0);
	open_ends();
	set_end(0, client_tls("ca", NULL, NULL), "tcp", "kv.example");
	raw_end(1, GNUTLS_SERVER, old_priority, "mrpc");
	run_ends();
	check_reasons("does it speak TLS 1.3?", NULL);
	free_raw(1);
}

TEST(plaintext)
{
	static const char *const said[] = { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "MRPC", "hello" };
	char alert[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(said); i++) {
		open_ends();
		ends[0].plain = said[i];
		set_end(1, server_tls("server", NULL), "tcp", "");
		/* GnuTLS waits for what looks like the rest of a record. */
		step(&ends[0]);
		shutdown(ends[0].fd, SHUT_WR);
		run_ends();
		check_reasons(NULL, "the peer does not speak TLS");
		if (strlen(said[i]) > 5) {
			CHECK(read(ends[0].fd, alert, sizeof(alert)) > 0);
			CHECK_EQ(alert[0], 21);
		}
		close_ends();
	}
	open_ends();
	set_end(0, client_tls("ca", NULL, NULL), "tcp", "kv.example");
	ends[1].plain = "220 mail.example ESMTP\r\n";
	run_ends();
	check_reasons("the peer does not speak TLS", NULL);
	close_ends();
}

TEST(peer_leaves)
{
	open_ends();
	set_end(0, client_tls("ca", NULL, NULL), "tcp", "kv.example");
	shutdown(ends[1].fd, SHUT_RDWR);
	ends[1].err = 0;
	run_ends();
	check_reasons("does it speak TLS?", NULL);
	CHECK_EQ(ends[0].err, -ECONNRESET);
	close_ends();
}

/* -- names ------------------------------------------------------------------------------------ */

TEST(identities)
{
	static const struct {
		const char *cert;
		const char *is;
	} names[] = {
		{ "client", "spiffe://example/ns/a/sa/b" },
		{ "server", "kv.example" },
		{ "odd", "CN=a\\x5c\\x5cb\\xc3\\xa4" },
		{ "nameless", "" },
	};
	char buf[MRPC_IDENTITY_LEN];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		CHECK_EQ(certs_identity(names[i].cert, buf), strlen(names[i].is));
		CHECK_STR(buf, names[i].is);
	}
	CHECK_EQ(certs_identity("long", buf), -E2BIG);
}

/* -- configurations --------------------------------------------------------------------------- */

static void refuses(struct mrpc_tls *tls, int err, const char *why)
{
	CHECK(!tls);
	CHECK_EQ(errno, err);
	CHECK_MSG(strstr(mrpc_last_error(), why), "'%s'", mrpc_last_error());
}

TEST(options)
{
	struct mrpc_tls_opts opts = { .cert_file = cert_file("server") };

	refuses(mrpc_tls_client(&opts), EINVAL, "a certificate needs its key");
	refuses(mrpc_tls_server(&opts), EINVAL, "a certificate needs its key");
	opts.key_file = key_file("ca");
	refuses(mrpc_tls_server(&opts), EINVAL, "is not that of the certificate in");
	opts.key_file = "/nonexistent";
	refuses(mrpc_tls_server(&opts), ENOENT,
		"cannot read the key /nonexistent: No such file or directory");
	opts.key_file = key_file("server");
	opts.ca_file = cert_file("ca");
	refuses(mrpc_tls_server(&opts), EINVAL, "only if it requires");
	opts.ca_file = NULL;
	opts.require_client = true;
	refuses(mrpc_tls_server(&opts), EINVAL, "needs a CA file");
	refuses(mrpc_tls_client(&opts), EINVAL, "for servers");
	opts = (struct mrpc_tls_opts){ 0 };
	refuses(mrpc_tls_server(&opts), EINVAL, "needs a certificate");
	refuses(mrpc_tls_server(NULL), EINVAL, "needs a certificate");
	opts.ca_file = key_file("ca");
	refuses(mrpc_tls_client(&opts), EINVAL, "no certificate in PEM");
	opts.server_name = "";
	refuses(mrpc_tls_client(&opts), EINVAL, "server_name");
}

/* What is on disk while it is replaced may not fit together: all stays as it was. */
TEST(reload)
{
	struct mrpc_tls *server = server_tls("server", NULL);
	char moved[160], key[128];

	snprintf(key, sizeof(key), "%s", key_file("server"));
	snprintf(moved, sizeof(moved), "%s.moved", key);
	CHECK_EQ(mrpc_tls_reload(server), 0);
	CHECK_EQ(rename(key, moved), 0);
	CHECK_EQ(mrpc_tls_reload(server), -ENOENT);
	CHECK(strstr(mrpc_last_error(), "cannot read the key"));
	open_ends();
	set_end(0, client_tls("ca", NULL, NULL), "tcp", "kv.example");
	set_end(1, server, "tcp", "");
	CHECK_EQ(rename(moved, key), 0);
	run_ends();
	check_reasons(NULL, NULL);
	close_ends();
}

/* -- the kernel ------------------------------------------------------------------------------- */

static void tcp_pair(int fds[2])
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(sin);
	int fd = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0));

	CHECK_SYS(bind(fd, (void *)&sin, len));
	CHECK_SYS(listen(fd, 1));
	CHECK_SYS(getsockname(fd, (void *)&sin, &len));
	fds[0] = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0));
	CHECK_SYS(connect(fds[0], (void *)&sin, len));
	fds[1] = CHECK_SYS(accept(fd, NULL, NULL));
	close(fd);
}

/* A kernel with TLS carries bytes between the ends. For another one there is a clear error. */
TEST(kernel)
{
	char why[SECURE_WHY] = "", buf[16] = "";
	int fds[2], i, err = 0;

	open_ends();
	set_end(0, client_tls("ca", NULL, NULL), "tcp", "kv.example");
	set_end(1, server_tls("server", NULL), "tcp", "");
	run_ends();
	close_ends();
	tcp_pair(fds);
	for (i = 0; i < 2 && !err; i++)
		err = __real_ktls_install(fds[i], &sent[i], &received[i], why, sizeof(why));
	if (err) {
		CHECK_EQ(err, -EOPNOTSUPP);
		CHECK_MSG(strstr(why, "modprobe tls") || strstr(why, "cipher"), "%s", why);
	} else {
		CHECK_EQ(write(fds[0], "hello", 5), 5);
		CHECK_EQ(read(fds[1], buf, sizeof(buf)), 5);
		CHECK_STR(buf, "hello");
	}
	close(fds[0]);
	close(fds[1]);
}
