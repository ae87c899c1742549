// SPDX-License-Identifier: GPL-2.0
/*
 * A peer of the transport prio, by hand; see stranger.h.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/udp.h>

#include "peer.h"
#include "stranger.h"

void stranger_new(struct stranger *s, int family, u16 port)
{
	static u64 tokens = 4711;
	struct sockaddr_in6 *to6 = (void *)&s->to;
	struct sockaddr_in *to = (void *)&s->to;

	*s = (struct stranger){
		.fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0),
		.token = tokens++,
	};
	if (s->fd < 0)
		raw_die("socket: %m");
	if (family == AF_INET)
		*to = (struct sockaddr_in){
			.sin_family = AF_INET, .sin_port = htons(port),
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		};
	else
		*to6 = (struct sockaddr_in6){
			.sin6_family = AF_INET6, .sin6_port = htons(port),
			.sin6_addr = IN6ADDR_LOOPBACK_INIT,
		};
	s->to_len = family == AF_INET ? sizeof(*to) : sizeof(*to6);
}

void stranger_close(struct stranger *s)
{
	close(s->fd);
	s->fd = -1;
}

/* -- trains ------------------------------------------------------------------------ */

void stranger_train(struct stranger_train *t, u32 segment)
{
	t->len = 0;
	t->nr = 0;
	t->segment = segment;
}

u8 *stranger_put(struct stranger_train *t, const struct mrpc_prio_packet *p, const u8 *message)
{
	u8 *at = t->buf + t->len;
	u32 len;

	if (t->len != t->nr * t->segment || t->len + t->segment > sizeof(t->buf))
		raw_die("no datagram can follow");
	len = mrpc_prio_encode(p, at);
	if (len + p->len > t->segment)
		raw_die("a datagram of %u bytes", len + p->len);
	memcpy(at + len, message + p->offset, p->len);
	len += p->len;
	if (p->flags & MRPC_PRIO_CRC)
		mrpc_prio_set_crc(at, ~peer_sum(~0U, at, len));
	t->len += len;
	t->nr++;
	return at;
}

/* One packet, of datagrams of @segment bytes each. */
static void stranger_packet(const struct stranger *s, const void *buf, u32 len, u32 segment)
{
	struct in_pktinfo info = { .ipi_spec_dst.s_addr = htonl(s->from) };
	char control[CMSG_SPACE(sizeof(info))] = "";
	struct iovec iov = { (void *)buf, len };
	struct msghdr msg = {
		.msg_name = (void *)&s->to, .msg_namelen = s->to_len,
		.msg_iov = &iov, .msg_iovlen = 1,
	};
	int size = len > segment ? segment : 0;
	struct cmsghdr *cmsg;

	if (s->from) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = IPPROTO_IP;
		cmsg->cmsg_type = IP_PKTINFO;
		cmsg->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
	}
	if (setsockopt(s->fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)))
		raw_die("segments of %d: %m", size);
	if (sendmsg(s->fd, &msg, 0) != (ssize_t)len)
		raw_die("%u bytes do not go: %m", len);
}

void stranger_send(const struct stranger *s, const struct stranger_train *t, bool singly)
{
	u32 at, n;

	if (!singly) {
		stranger_packet(s, t->buf, t->len, t->segment);
		return;
	}
	for (at = 0; at < t->len; at += n) {
		n = min(t->segment, t->len - at);
		stranger_packet(s, t->buf + at, n, n);
	}
}

/* -- handshakes -------------------------------------------------------------------- */

/* The next packet of @type. @buf: out: all of it; Return: its fields */
static struct mrpc_prio_packet stranger_hear(const struct stranger *s, u8 type, u8 *buf, u32 size)
{
	struct pollfd pfd = { .fd = s->fd, .events = POLLIN };
	struct mrpc_prio_packet p;
	ssize_t n;
	u32 why;

	do {
		if (poll(&pfd, 1, 10000 * raw_patience()) != 1)
			raw_die("no packet of type %u has come", type);
		n = recv(s->fd, buf, size, 0);
		if (n < 0 || mrpc_prio_parse(buf, n, n, &p, &why))
			raw_die("a packet of %zd bytes", n);
	} while (p.type != type);
	return p;
}

bool stranger_heard(const struct stranger *s, struct mrpc_prio_packet *p)
{
	u8 buf[2000];
	ssize_t n = recv(s->fd, buf, sizeof(buf), MSG_DONTWAIT);
	u32 why;

	return n >= 0 && !mrpc_prio_parse(buf, n, n, p, &why);
}

void stranger_say(const struct stranger *s, const struct mrpc_prio_note *note)
{
	const struct mrpc_prio_packet control = {
		.type = MRPC_PRIO_CONTROL, .to = s->remote, .from = s->token, .nr = 1,
	};
	u8 buf[sizeof(struct mrpc_prio_hdr) + sizeof(struct mrpc_prio_entry)];
	u32 len = mrpc_prio_encode(&control, buf);

	mrpc_prio_note_put(note, buf + len);
	stranger_packet(s, buf, sizeof(buf), sizeof(buf));
}

void stranger_leave(struct stranger *s)
{
	const struct mrpc_prio_packet reset = {
		.type = MRPC_PRIO_RESET, .flags = MRPC_PRIO_CRC, .to = s->token,
	};
	u8 buf[sizeof(struct mrpc_prio_hdr)];
	u32 len = mrpc_prio_encode(&reset, buf);

	mrpc_prio_set_crc(buf, ~peer_sum(~0U, buf, len));
	stranger_packet(s, buf, len, len);
	stranger_close(s);
}

struct mrpc_prio_packet stranger_ask(const struct stranger *s, u64 cookie, u32 epoch, u8 type)
{
	struct mrpc_prio_packet hello = {
		.type = MRPC_PRIO_HELLO, .flags = MRPC_PRIO_CRC, .token = s->token,
		.cookie = cookie, .epoch = epoch, .budget = 1 << 20, .max_total = 1 << 20,
	};
	u32 len;
	u8 buf[2000];

	len = mrpc_prio_encode(&hello, buf);
	mrpc_prio_set_crc(buf, ~peer_sum(~0U, buf, len));
	stranger_packet(s, buf, len, len);
	return stranger_hear(s, type, buf, sizeof(buf));
}

struct mrpc_prio_packet stranger_message(struct stranger *s, u8 kind, u32 total, u32 len)
{
	return (struct mrpc_prio_packet){
		.type = MRPC_PRIO_DATA,
		.priority = 128,
		.to = s->remote,
		.from = s->token,
		.conn = s->conn,
		.msg = ++s->msg,
		.total = total,
		.unscheduled = total,
		.len = len,
		.kind = kind,
	};
}

void stranger_connect(struct stranger *s)
{
	static struct stranger_train t;
	u8 message[sizeof(struct mrpc_wire_hdr) + MRPC_WIRE_MAX_HELLO] = { 0 };
	struct mrpc_frame f = { .type = MRPC_WIRE_HELLO };
	struct mrpc_wire_hdr hdr;
	const char *why;
	struct mrpc_prio_packet p;
	u8 buf[2000];
	u32 total;

	s->conn++;
	f.meta_len = peer_hello_body(message + sizeof(struct mrpc_wire_hdr));
	put_unaligned_le64(s->features, message + sizeof(struct mrpc_wire_hdr) +
			   offsetof(struct mrpc_hello_hdr, features));
	mrpc_wire_encode(&f, &hdr);
	memcpy(message, &hdr, sizeof(hdr));
	total = sizeof(struct mrpc_wire_hdr) + ALIGN(f.meta_len, 8);
	p = stranger_message(s, MRPC_PRIO_OPEN, total, total);
	stranger_train(&t, MRPC_PRIO_DATA_HDR + total);
	stranger_put(&t, &p, message);
	stranger_send(s, &t, true);
	do {	/* what others were answered is repeated */
		p = stranger_hear(s, MRPC_PRIO_DATA, buf, sizeof(buf));
	} while (p.conn != s->conn || p.to != s->token);
	s->answer = p.msg;
	memcpy(&hdr, buf + MRPC_PRIO_DATA_HDR, sizeof(hdr));
	if (mrpc_wire_decode(&hdr, MRPC_MAX_MESSAGE, &f, &why) || f.type != MRPC_WIRE_HELLO_ACK)
		raw_die("another answer to a HELLO, of type %u", f.type);
}

void stranger_associate(struct stranger *s)
{
	struct mrpc_prio_packet p = stranger_ask(s, 0, 0, MRPC_PRIO_COOKIE);

	s->remote = stranger_ask(s, p.cookie, p.epoch, MRPC_PRIO_WELCOME).token;
}

void stranger_meet(struct stranger *s)
{
	stranger_associate(s);
	stranger_connect(s);
}
