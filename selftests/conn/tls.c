// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/app/adopt kmod/transports/sock_adopt kmod/transports/sock_tls kmod/lib/tls/control */
/*
 * Sockets that an application hands over, with and without TLS: what the kernel takes and refuses,
 * and what a peer can send between the records of data.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/tls.h>

#include "tap.h"
#include "peer.h"
#include "raw.h"
#include "raw_tls.h"

static struct raw_pair p;
static struct raw c;
static struct raw_qp qp;
static struct peer w;
static u64 call;

static struct mrpc_conn_info info(struct raw *s, uint32_t conn)
{
	struct mrpc_conn_info i = { .size = sizeof(i), .conn = conn };

	CHECK_EQ(raw_ioctl(s->fd, MRPC_IOC_CONN_INFO, &i), 0);
	return i;
}

static void echo(struct raw *s, int conn, uint32_t len)
{
	uint32_t root = raw_blob(s, len, len, NULL);
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_ECHO, root);
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(s, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(raw_is_blob(raw_msg(s, &cqe), cqe.msg_len, len, len));
	raw_done(s, &cqe);
	raw_free(s, root);
}

/* -- what is taken ----------------------------------------------------------------- */

/* Connects with @fd. Return: what the ioctl returns; @c says if it has taken the descriptor. */
static int adopt(struct raw *s, const char *transport, int fd, struct mrpc_connect *con)
{
	char addr[64];

	snprintf(addr, sizeof(addr), strcmp(transport, "loop") ? "%s:127.0.0.1:0" : "%s:x",
		 transport);
	*con = raw_target(s, addr);
	con->flags = MRPC_CONNECT_ADOPT;
	con->fd = fd;
	con->keepalive_us = RAW_HOUR_US;	/* no probe makes up for an event that is lost */
	s->why[0] = 0;
	return raw_ioctl(s->fd, MRPC_IOC_CONNECT, con);
}

/* The kernel does not take @fd, and says why in a sentence with @word. */
static void refused(const char *transport, int fd, int err, const char *word)
{
	struct mrpc_connect con;

	CHECK_EQ(adopt(&c, transport, fd, &con), err);
	CHECK_EQ(con.fd, fd);
	CHECK_MSG(strstr(c.why, word), "not '%s' but '%s'", word, c.why);
}

TEST(refusals)
{
	int fds[2], udp = socket(AF_INET, SOCK_DGRAM, 0), un[2], copy;
	struct mrpc_connect at = { 0 };

	raw_open(&c, 1 << 20, 1 << 20);
	refused("tcp", 999, -EBADF, "no such descriptor");
	refused("tcp", 0, -ENOTSOCK, "no socket");
	refused("tcp", udp, -EPROTOTYPE, "no TCP socket");
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, un));
	refused("tcp", un[0], -EPROTOTYPE, "no TCP socket");
	raw_addr(&at, "tcp:127.0.0.1:0");
	copy = raw_tls_listen(&at);
	refused("tcp", copy, -ENOTCONN, "not connected");
	close(copy);
	raw_tcp_pair(fds, false);
	refused("loop", fds[0], -EOPNOTSUPP, "takes no sockets");
	refused("prio", fds[0], -EOPNOTSUPP, "takes no sockets");
	copy = dup(fds[0]);
	refused("tcp", fds[0], -EBUSY, "other users");
	close(copy);
	raw_tls_on(fds[0], RAW_TLS_CLIENT, false, true);
	refused("tcp", fds[0], -EPROTONOSUPPORT, "both directions");
	close(fds[0]);
	close(fds[1]);
	raw_close(&c);
}

/* The socket of another network namespace. */
TEST(namespace)
{
	int fds[2], net = open("/proc/self/ns/net", O_RDONLY);

	raw_open(&c, 1 << 20, 1 << 20);
	CHECK(!unshare(CLONE_NEWNET));
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!setns(net, CLONE_NEWNET));
	refused("tcp", fds[0], -EXDEV, "network namespace");
	close(fds[0]);
	close(net);
	raw_close(&c);
}

/* What TLS still has to send waits as the application wanted it to. */
TEST(unsent)
{
	static char much[1 << 16];
	struct timeval soon = { .tv_usec = 10000 }, never = { 0 };
	int fds[2];

	raw_open(&c, 1 << 20, 1 << 20);
	raw_tcp_pair(fds, false);
	raw_tls_on(fds[0], RAW_TLS_CLIENT, true, true);
	CHECK(!setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon)));
	while (send(fds[0], much, sizeof(much), MSG_NOSIGNAL) == sizeof(much))
		;
	CHECK(!setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &never, sizeof(never)));
	refused("tcp", fds[0], -EPROTONOSUPPORT, "still something to send");
	close(fds[1]);
	close(fds[0]);
	raw_close(&c);
}

/* A peer's name that the kernel does not show. */
TEST(names)
{
	char name[MRPC_IDENTITY_LEN + 1] = "spiffe://x\n";
	struct mrpc_connect con;
	int fds[2];

	raw_open(&c, 1 << 20, 1 << 20);
	raw_tcp_pair(fds, false);
	con = raw_target(&c, "tcp:127.0.0.1:0");
	con.flags = MRPC_CONNECT_ADOPT;
	con.fd = fds[0];
	con.identity = (uintptr_t)name;
	con.identity_len = strlen(name);
	CHECK_EQ(raw_ioctl(c.fd, MRPC_IOC_CONNECT, &con), -EINVAL);
	CHECK_MSG(strstr(c.why, "byte 10"), "%s", c.why);
	con.identity_len = MRPC_IDENTITY_LEN;
	CHECK_EQ(raw_ioctl(c.fd, MRPC_IOC_CONNECT, &con), -ENAMETOOLONG);
	con.identity = 8;
	con.identity_len = 3;
	CHECK_EQ(raw_ioctl(c.fd, MRPC_IOC_CONNECT, &con), -EFAULT);
	CHECK_EQ(con.fd, fds[0]);
	/* Without the flag there is nothing to name. */
	con.flags = 0;
	con.fd = 0;
	CHECK_EQ(raw_ioctl(c.fd, MRPC_IOC_CONNECT, &con), -EINVAL);
	close(fds[0]);
	close(fds[1]);
	raw_close(&c);
}

/* The kernel has taken the descriptor, and the handshake with the peer fails: it stays closed. */
TEST(lost)
{
	struct mrpc_connect con;
	int fds[2];

	raw_open(&c, 1 << 20, 1 << 20);
	raw_tcp_pair(fds, false);
	close(fds[1]);
	CHECK(adopt(&c, "tcp", fds[0], &con) < 0);
	CHECK_EQ(con.fd, -1);
	CHECK(fcntl(fds[0], F_GETFD) < 0 && errno == EBADF);
	raw_close(&c);
}

static int give(uint32_t listener, int fd)
{
	struct mrpc_adopt a = {
		.size = sizeof(a), .listener = listener, .fd = fd,
		.explain = { .buf = (uintptr_t)c.why, .len = sizeof(c.why) },
	};
	int err = raw_ioctl(c.fd, MRPC_IOC_ADOPT, &a);

	CHECK_EQ(a.fd, err ? fd : -1);
	CHECK_EQ(!a.id, !!err);
	return err;
}

TEST(listeners)
{
	struct mrpc_connect at;
	int fds[2], id;

	raw_open(&c, 1 << 20, 1 << 20);
	raw_tcp_pair(fds, false);
	CHECK_EQ(give(77, fds[0]), -ENOENT);
	id = raw_serve(&c, "tcp:127.0.0.1:0");
	CHECK_EQ(give(id, fds[0]), -EINVAL);
	CHECK_MSG(strstr(c.why, "a socket of its own"), "%s", c.why);
	/* Of the wrong kind, and of a transport without sockets. */
	at = raw_target(&c, "tcp:127.0.0.1:0");
	at.flags = MRPC_CONNECT_ADOPT;
	at.fd = fds[0];
	CHECK_EQ(raw_ioctl(c.fd, MRPC_IOC_SERVE, &at), -EINVAL);
	CHECK_MSG(strstr(c.why, "does not listen"), "%s", c.why);
	at = raw_target(&c, "loop:tls");
	at.flags = MRPC_CONNECT_ADOPT;
	at.fd = -1;
	CHECK_EQ(raw_ioctl(c.fd, MRPC_IOC_SERVE, &at), -EOPNOTSUPP);
	at = raw_target(&c, "loop:tls");
	strcpy(at.transport, "tcp");
	at.flags = MRPC_CONNECT_ADOPT;
	at.fd = -1;
	CHECK_EQ(raw_ioctl(c.fd, MRPC_IOC_SERVE, &at), -EAFNOSUPPORT);
	/* A listener that has been closed. */
	at = raw_target(&c, "tcp:127.0.0.1:5");
	at.flags = MRPC_CONNECT_ADOPT;
	at.fd = -1;
	CHECK_EQ(raw_ioctl(c.fd, MRPC_IOC_SERVE, &at), 0);
	id = at.id;
	CHECK_EQ(raw_close_id(&c, id, 0, 0), 0);
	CHECK_EQ(give(id, fds[0]), -ENOENT);
	close(fds[0]);
	close(fds[1]);
	raw_close(&c);
}

/* A listening socket, as a service manager hands it over, with a connection that waits. */
TEST(activation)
{
	struct mrpc_connect at;
	int sock, fd;

	raw_server_open(&p.srv, 4 << 20, 4 << 20);
	raw_open(&p.c, 4 << 20, 4 << 20);
	at = raw_target(&p.srv.s, "tcp:127.0.0.1:0");
	sock = raw_tls_listen(&at);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!connect(fd, (void *)at.addr, at.addr_len));
	raw_server_start(&p.srv, "loop:activation", 1);	/* its threads */
	at.flags = MRPC_CONNECT_ADOPT;
	at.fd = sock;
	memset(at.addr, 0, sizeof(at.addr));
	CHECK_EQ(raw_ioctl(p.srv.s.fd, MRPC_IOC_SERVE, &at), 0);
	CHECK_EQ(at.fd, -1);
	snprintf(p.addr, sizeof(p.addr), "tcp:127.0.0.1:%u",
		 ntohs(((struct sockaddr_in *)at.addr)->sin_port));
	p.conn = raw_connect(&p.c, p.addr);
	CHECK_MSG(p.conn > 0, "%s", p.c.why);
	echo(&p.c, p.conn, 3000);
	close(fd);
	raw_pair_end(&p);
}

/* -- calls over it ------------------------------------------------------------------- */

static void calls(const char *how, bool tls)
{
	static const uint32_t lens[] = { 0, 1, 1000, 16383, 16384, 16385, 70000, 1 << 20 };
	struct mrpc_conn_info i;
	unsigned int k;

	if (strstr(how, "grpc"))
		raw_load("mrpc_grpc");
	raw_pair(&p, how, 2);
	i = info(&p.c, p.conn);
	CHECK_EQ(i.tls_version, tls ? TLS_1_3_VERSION : 0);
	CHECK_EQ(i.tls_cipher, tls ? TLS_CIPHER_AES_GCM_128 : 0);
	CHECK_EQ(i.identity[0], 0);
	CHECK(strstr(how, i.transport));
	for (k = 0; k < ARRAY_SIZE(lens); k++)
		echo(&p.c, p.conn, lens[k]);
	raw_pair_end(&p);
}

TEST(calls_clear) { calls("tcp4", false); }
TEST(calls_tcp) { calls("tls-tcp4", true); }
TEST(calls_ip6) { calls("tls-tcp6", true); }
TEST(calls_grpc) { calls("tls-grpc4", true); }

/* Many messages of many sizes at once, in both directions. */
static void load(const char *how)
{
	static struct raw_qp many;
	unsigned int i, replies = 0;
	struct mrpc_cqe cqe;

	raw_pair(&p, how, 2);
	raw_qp(&many, &p.c, 256, 1024, 0);
	for (i = 0; i < 200; i++)
		raw_push_blob(&many, &p, RAW_ECHO, i + 1, i % 7 ? i * 300 : i * 2000);
	raw_enter(&many, 0, 0);
	while (replies < 200) {
		CHECK(raw_next(&many, &cqe, 30 * RAW_S));
		if (cqe.type != MRPC_CQE_REPLY)
			continue;
		replies++;
		CHECK_EQ(cqe.status, MRPC_OK);
		i = cqe.user_data - 1;
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, i + 1,
				  i % 7 ? i * 300 : i * 2000));
		raw_done(&p.c, &cqe);
	}
	raw_pair_end(&p);
}

TEST(load_tcp) { load("tls-tcp4"); }

/* -- a peer by hand -------------------------------------------------------------------- */

static void *welcome(void *arg)
{
	(void)arg;
	peer_welcome(&w);
	return NULL;
}

static uint64_t records;	/* that the keys seem to have been used for */

/*
 * What the peer sends first, which its TLS cannot make: a record of data without content, and one
 * with a ticket. They are encrypted with the key of raw_tls.c.
 */
static const u8 first[] = {
	0x17, 0x03, 0x03, 0x00, 0x11, 0xbb, 0xe7, 0x8c, 0xff, 0x3a, 0x46, 0x59, 0xb7, 0x6f, 0x96,
	0xce, 0x33, 0x23, 0x01, 0x2d, 0xff, 0x30,
	0x17, 0x03, 0x03, 0x00, 0x16, 0x1e, 0xf3, 0x19, 0x76, 0xe7, 0x3c, 0x7f, 0x38, 0x95, 0x9d,
	0x23, 0x41, 0x30, 0xf0, 0xf0, 0x1a, 0x92, 0xee, 0x81, 0xcb, 0x1a, 0x95,
};
static uint32_t recv_len = 4 << 20;	/* bytes of the receive heap */
static uint64_t first_records;	/* how many of them it sends: none or both */

/* Connects over a socket pair to a peer that this test plays. Return: the connection. */
static int meet(void)
{
	struct mrpc_connect con;
	pthread_t t;
	int fds[2], room = 1 << 17;

	raw_open(&c, 4 << 20, recv_len);
	raw_qp(&qp, &c, 64, 256, 0);
	raw_tcp_pair(fds, false);
	/* The kernel's buffer for what is sent, so that it is soon full. */
	CHECK(!setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)));
	CHECK(!setsockopt(fds[1], SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	if (first_records)
		CHECK_EQ(send(fds[1], first, sizeof(first), 0), (ssize_t)sizeof(first));
	raw_tls_used(fds[0], RAW_TLS_CLIENT, records, records);
	raw_tls_used(fds[1], RAW_TLS_SERVER, records, records + first_records);
	memset(&w, 0, sizeof(w));
	w.fd = fds[1];
	CHECK(!pthread_create(&t, NULL, welcome, NULL));
	CHECK_MSG(!adopt(&c, "tcp", fds[0], &con), "%s", c.why);
	pthread_join(t, NULL);
	return con.id;
}

static void part(void)
{
	raw_close(&c);
	close(w.fd);
	CHECK(raw_sessions(0, 20000));
}

static void start(int conn)
{
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&c, 1, 100, NULL));

	sqe.user_data = 9;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	peer_expect(&w, MRPC_WIRE_CALL);
	call = w.frame.call_id;
}

/* Has what the peer sends meanwhile come in one packet. */
static void cork(int on)
{
	CHECK(!setsockopt(w.fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on)));
}

/* The call ends with a detail that has @word. */
static void ends(const char *word)
{
	char detail[MRPC_MAX_DETAIL + 1];
	struct mrpc_cqe cqe;

	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	raw_detail(&c, &cqe, detail, sizeof(detail));
	CHECK_MSG(strstr(detail, word), "not '%s' but '%s'", word, detail);
	raw_done(&c, &cqe);
}

/* Tickets of a server come between the records of data: whole, in pieces, and many. */
TEST(tickets)
{
	u8 ticket[4 + 300] = { 4, 0, 1, 44 }, two[2 * sizeof(ticket)];
	struct mrpc_cqe cqe;
	unsigned int i;

	start(meet());
	for (i = 0; i < 50; i++)
		CHECK_EQ(raw_tls_record(w.fd, 22, ticket, sizeof(ticket)), 0);
	CHECK(peer_send_control(&w, MRPC_WIRE_PING, 1));
	peer_expect(&w, MRPC_WIRE_PONG);
	for (i = 0; i < sizeof(ticket); i += 19)
		CHECK_EQ(raw_tls_record(w.fd, 22, ticket + i, i + 19 > sizeof(ticket) ?
					sizeof(ticket) - i : 19), 0);
	memcpy(two, ticket, sizeof(ticket));
	memcpy(two + sizeof(ticket), ticket, sizeof(ticket));
	CHECK_EQ(raw_tls_record(w.fd, 22, two, sizeof(two)), 0);
	CHECK(peer_reply(&w, call, 1, 100));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&c, &cqe);
	part();
}

/* A record of data without content is nothing, also before a ticket. */
TEST(empty_record)
{
	struct mrpc_cqe cqe;

	first_records = 2;
	start(meet());
	first_records = 0;
	CHECK(peer_reply(&w, call, 1, 100));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&c, &cqe);
	part();
}

/* A read ends before an alert that is there already: no other event comes for it. */
TEST(alert_behind_data)
{
	start(meet());
	cork(1);
	CHECK(peer_send_control(&w, MRPC_WIRE_PING, 1));
	CHECK_EQ(raw_tls_record(w.fd, 21, "\2\x74", 2), 0);
	cork(0);
	ends("we gave none");
	part();
}

/* Writes the frames of replies with tags 1 and 2, of @len bytes each, to @buf. Return: all bytes. */
static size_t two_replies(const u64 calls[2], u32 len, u8 *buf, size_t size)
{
	int fds[2], fd = w.fd, room = 1 << 20;
	ssize_t n;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	CHECK(!setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)));
	w.fd = fds[0];
	CHECK(peer_reply(&w, calls[0], 1, len));
	CHECK(peer_reply(&w, calls[1], 2, len));
	w.fd = fd;
	close(fds[0]);
	n = recv(fds[1], buf, size, MSG_WAITALL);
	CHECK(n > 0);
	close(fds[1]);
	return n;
}

/*
 * A read gets what TLS has decrypted already. What came behind that, while the heap had no room, is
 * read, too: no other event comes for it.
 */
TEST(records_behind_a_rest)
{
	static u8 buf[1 << 17];
	struct mrpc_cqe cqe[2];
	u64 calls[2];
	size_t n;
	int conn;

	recv_len = 65536;
	conn = meet();
	recv_len = 4 << 20;
	start(conn);
	calls[0] = call;
	start(conn);
	calls[1] = call;
	n = two_replies(calls, 40000, buf, sizeof(buf));
	/* The record that ends the first reply begins the second one. */
	CHECK(peer_send(&w, buf, 48000));
	raw_expect(&qp, &cqe[0], MRPC_CQE_REPLY, 10 * RAW_S);
	raw_sleep(200 * RAW_MS);
	CHECK(peer_send(&w, buf + 48000, n - 48000));
	raw_sleep(200 * RAW_MS);
	CHECK(!raw_ready(&qp));
	raw_done(&c, &cqe[0]);
	raw_expect(&qp, &cqe[1], MRPC_CQE_REPLY, 10 * RAW_S);
	CHECK(raw_is_blob(raw_msg(&c, &cqe[1]), cqe[1].msg_len, 2, 40000));
	part();
}

/* A peer that did not read for a while gets the rest as soon as it reads. */
TEST(slow_reader)
{
	struct mrpc_sqe sqe;
	unsigned int i;
	int conn = meet();

	for (i = 0; i < 4; i++) {
		sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&c, i, 900000, NULL));
		CHECK(raw_push(&qp, &sqe));
	}
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	raw_sleep(300 * RAW_MS);
	for (i = 0; i < 4; i++)
		peer_expect(&w, MRPC_WIRE_CALL);
	part();
}

static void record_ends(u8 type, const void *buf, u32 len, const char *word)
{
	start(meet());
	CHECK_EQ(raw_tls_record(w.fd, type, buf, len), 0);
	ends(word);
	part();
}

TEST(key_update) { record_ends(22, "\x18\0\0\1\0", 5, "changed its keys"); }
TEST(handshake) { record_ends(22, "\1\0\0\0", 4, "unexpected handshake"); }
TEST(alert) { record_ends(21, "\2\x74", 2, "we gave none"); }
TEST(alert_unknown) { record_ends(21, "\2\xff", 2, "with an alert"); }
TEST(alert_length) { record_ends(21, "\2", 1, "wrong length"); }
TEST(close_notify) { record_ends(21, "\1\0", 2, "closed the connection"); }
TEST(record_type) { record_ends(20, "\1", 1, "unexpected type"); }

/* Bytes beneath TLS that are no record of the peer. */
static void forged(const void *buf, size_t len)
{
	struct mrpc_connect con;
	int fds[2];

	raw_open(&c, 4 << 20, 4 << 20);
	raw_tcp_pair(fds, false);
	CHECK_EQ(send(fds[1], buf, len, 0), (ssize_t)len);
	raw_tls_on(fds[0], RAW_TLS_CLIENT, true, true);
	CHECK(adopt(&c, "tcp", fds[0], &con) < 0);
	CHECK_MSG(strstr(c.why, "cannot have sent"), "%s", c.why);
	close(fds[1]);
	raw_close(&c);
}

TEST(forged_tag)
{
	u8 record[5 + 40] = { 23, 3, 3, 0, 40 };

	forged(record, sizeof(record));
}

TEST(forged_header)
{
	forged("GET / HTTP/1.1\r\n\r\n", 18);
}

TEST(forged_length)
{
	u8 record[5 + 40] = { 23, 3, 3, 0xff, 0xff };

	forged(record, sizeof(record));
}

/* The end of this side is an alert, and then the end of the stream. */
TEST(says_goodbye)
{
	union {
		struct cmsghdr hdr;
		char space[CMSG_SPACE(1)];
	} cmsg;
	char buf[64];
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &cmsg,
		.msg_controllen = sizeof(cmsg),
	};
	int conn = meet();

	CHECK_EQ(raw_close_id(&c, conn, MRPC_CLOSE_DRAIN, 0), 0);
	peer_expect(&w, MRPC_WIRE_BYE);
	CHECK_EQ(recvmsg(w.fd, &msg, 0), 2);
	CHECK_EQ(*CMSG_DATA(&cmsg.hdr), 21);
	CHECK_EQ(buf[1], 0);
	msg.msg_controllen = sizeof(cmsg);
	CHECK_EQ(recvmsg(w.fd, &msg, 0), 0);
	part();
}

/*
 * When its key has encrypted enough, a connection takes no new calls at once, though no timer is due
 * for an hour. Those under way go on.
 */
TEST(worn)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	int conn;

	records = (1 << 24) - 1;
	conn = meet();
	records = 0;
	start(conn);
	raw_sleep(1500 * RAW_MS);	/* the timer of a new connection */
	CHECK_EQ(info(&c, conn).state, MRPC_CONN_READY);
	sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&c, 2, 1 << 14, NULL));
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	peer_expect(&w, MRPC_WIRE_CALL);
	peer_expect(&w, MRPC_WIRE_BYE);
	CHECK_EQ(info(&c, conn).state, MRPC_CONN_DRAINING);
	CHECK(peer_reply(&w, call, 1, 100));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&c, &cqe);
	part();
}

/* A process that dies, and a listener that goes, in the middle. */
TEST(ends_in_the_middle)
{
	raw_pair(&p, "tls-tcp4", 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	raw_push_blob(&qp, &p, RAW_ECHO, 1, 2 << 20);
	raw_push_blob(&qp, &p, RAW_HANG, 2, 2 << 20);
	raw_enter(&qp, 0, 0);
	raw_close(&p.c);
	raw_server_stop(&p.srv);
	CHECK(raw_sessions(0, 20000));
}
