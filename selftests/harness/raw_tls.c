// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/tls.h>

#include "raw_tls.h"

#ifndef SOL_TLS
#define SOL_TLS 282
#endif
#ifndef TCP_ULP
#define TCP_ULP 31
#endif

static void tls_on(int fd, enum raw_tls_end end, bool rx, bool tx, uint64_t received,
		   uint64_t sent)
{
	uint64_t seq[2];	/* as the keys */
	struct tls12_crypto_info_aes_gcm_128 key[2] = { 0 };	/* by the end that sends */
	int i;

	for (i = 0; i < 2; i++) {
		key[i].info.version = TLS_1_3_VERSION;
		key[i].info.cipher_type = TLS_CIPHER_AES_GCM_128;
		memset(key[i].key, 1 + i, sizeof(key[i].key));
		memset(key[i].salt, 3 + i, sizeof(key[i].salt));
		memset(key[i].iv, 5 + i, sizeof(key[i].iv));
		seq[i] = htobe64(i == (int)end ? sent : received);
		memcpy(key[i].rec_seq, &seq[i], sizeof(seq[i]));
	}
	if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")))
		raw_die("a socket has no TLS: %m");
	if (tx && setsockopt(fd, SOL_TLS, TLS_TX, &key[end], sizeof(key[end])))
		raw_die("TLS does not send: %m");
	if (rx && setsockopt(fd, SOL_TLS, TLS_RX, &key[!end], sizeof(key[!end])))
		raw_die("TLS does not receive: %m");
}

void raw_tls_on(int fd, enum raw_tls_end end, bool rx, bool tx)
{
	tls_on(fd, end, rx, tx, 0, 0);
}

void raw_tls_used(int fd, enum raw_tls_end end, uint64_t received, uint64_t sent)
{
	tls_on(fd, end, true, true, received, sent);
}

static int tcp_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		raw_die("a socket: %m");
	return fd;
}

void raw_tcp_pair(int fds[2], bool ip6)
{
	struct mrpc_connect c = { 0 };
	int sock;

	raw_addr(&c, ip6 ? "tcp:[::1]:0" : "tcp:127.0.0.1:0");
	sock = raw_tls_listen(&c);
	fds[0] = tcp_socket(ip6 ? AF_INET6 : AF_INET);
	if (connect(fds[0], (void *)c.addr, c.addr_len))
		raw_die("connect: %m");
	fds[1] = accept4(sock, NULL, NULL, SOCK_CLOEXEC);
	if (fds[1] < 0)
		raw_die("accept: %m");
	close(sock);
}

int raw_tls_record(int fd, uint8_t type, const void *buf, uint32_t len)
{
	union {
		struct cmsghdr hdr;
		char space[CMSG_SPACE(1)];
	} c = { .hdr = {
		.cmsg_level = SOL_TLS, .cmsg_type = TLS_SET_RECORD_TYPE, .cmsg_len = CMSG_LEN(1),
	} };
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c,
		.msg_controllen = sizeof(c),
	};

	*CMSG_DATA(&c.hdr) = type;
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int raw_tls_connect(const struct mrpc_connect *c)
{
	int fd = tcp_socket(((const struct sockaddr *)c->addr)->sa_family);

	if (connect(fd, (const void *)c->addr, c->addr_len)) {
		close(fd);
		return -errno;
	}
	raw_tls_on(fd, RAW_TLS_CLIENT, true, true);
	return fd;
}

int raw_tls_listen(struct mrpc_connect *c)
{
	int fd = tcp_socket(((struct sockaddr *)c->addr)->sa_family);
	socklen_t len = c->addr_len;

	if (bind(fd, (void *)c->addr, len) || listen(fd, 128) ||
	    getsockname(fd, (void *)c->addr, &len))
		raw_die("a listening socket: %m");
	return fd;
}

struct acceptor {
	int dev;
	int sock;
	uint32_t listener;
};

static void *acceptor_run(void *arg)
{
	struct acceptor *a = arg;
	int err = 0;

	while (err != -ENOENT && err != -EBADF && err != -ENXIO && err != -ENOTTY) {
		struct mrpc_adopt adopt = {
			.size = sizeof(adopt), .listener = a->listener,
			.identity = (uintptr_t)RAW_TLS_IDENTITY,
			.identity_len = strlen(RAW_TLS_IDENTITY),
		};

		adopt.fd = accept4(a->sock, NULL, NULL, SOCK_CLOEXEC);
		if (adopt.fd < 0)
			break;
		raw_tls_on(adopt.fd, RAW_TLS_SERVER, true, true);
		err = raw_ioctl(a->dev, MRPC_IOC_ADOPT, &adopt);
		if (adopt.fd != -1)
			close(adopt.fd);
	}
	close(a->sock);
	free(a);
	return NULL;
}

void raw_tls_accept(struct raw *s, int sock, uint32_t listener)
{
	struct acceptor *a = malloc(sizeof(*a));
	pthread_t thread;

	*a = (struct acceptor){ .dev = s->fd, .sock = sock, .listener = listener };
	if (pthread_create(&thread, NULL, acceptor_run, a) || pthread_detach(thread))
		raw_die("no thread to accept");
}
