// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

static const struct mrpc_service_desc *const peer_services[RAW_SERVICES] = {
	[RAW_BULK] = &test_Bulk_service,
	[RAW_TYPES] = &test_Types_service,
};

void peer_hash(unsigned int service, u8 *hash)
{
	static u8 known[RAW_SERVICES][MRPC_HASH_LEN];
	static bool have[RAW_SERVICES];
	struct mrpc_bind b;
	struct raw s;

	if (!have[service]) {
		raw_open(&s, 0, 0);
		if (raw_bind(&s, peer_services[service]->schema,
			     peer_services[service]->schema_len, &b) < 0)
			raw_die("bind: %s", s.why);
		memcpy(known[service], b.hash, MRPC_HASH_LEN);
		have[service] = true;
		raw_close(&s);
	}
	memcpy(hash, known[service], MRPC_HASH_LEN);
}

/* -- sockets ------------------------------------------------------------------ */

static struct sockaddr_in peer_loopback(u16 port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static void peer_init(struct peer *p, int fd)
{
	int one = 1;

	if (fd < 0)
		raw_die("socket: %m");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	p->fd = fd;
	p->seq = 0;
}

int peer_listen(u16 *port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in sin = peer_loopback(0);
	socklen_t len = sizeof(sin);

	if (fd < 0 || bind(fd, (void *)&sin, len) || listen(fd, 16) ||
	    getsockname(fd, (void *)&sin, &len))
		raw_die("a listening socket: %m");
	*port = ntohs(sin.sin_port);
	return fd;
}

bool peer_accept(struct peer *p, int listener, unsigned int ms)
{
	struct pollfd pfd = { .fd = listener, .events = POLLIN };

	if (poll(&pfd, 1, ms * raw_patience()) != 1)
		return false;
	peer_init(p, accept4(listener, NULL, NULL, SOCK_CLOEXEC));
	return true;
}

void peer_connect_small(struct peer *p, u16 port, int room)
{
	struct sockaddr_in sin = peer_loopback(port);

	peer_init(p, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	if (room && setsockopt(p->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)))
		raw_die("a receive buffer of %d bytes: %m", room);
	if (connect(p->fd, (void *)&sin, sizeof(sin)))
		raw_die("connect to port %u: %m", port);
}

void peer_connect(struct peer *p, u16 port)
{
	peer_connect_small(p, port, 0);
}

void peer_close(struct peer *p)
{
	close(p->fd);
	p->fd = -1;
}

void peer_reset(struct peer *p)
{
	struct linger linger = { .l_onoff = 1 };

	setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	peer_close(p);
}

bool peer_send(struct peer *p, const void *buf, size_t len)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLOUT };
	const u8 *at = buf;
	ssize_t n;

	while (len) {
		n = send(p->fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN) {
			if (poll(&pfd, 1, 10000 * raw_patience()) != 1)
				raw_die("%zu bytes do not go out", len);
			continue;
		}
		if (n < 0)
			return false;
		at += n;
		len -= n;
	}
	return true;
}

u32 peer_sum(u32 sum, const void *data, size_t len)
{
	const u8 *at = data;
	int bit;

	while (len--) {
		sum ^= *at++;
		for (bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78 : 0);
	}
	return sum;
}

static u32 peer_head_sum(const struct mrpc_wire_hdr *hdr, const struct mrpc_frame *f,
			 const void *body)
{
	struct mrpc_wire_hdr zero = *hdr;

	zero.crc = 0;
	return ~peer_sum(peer_sum(~0U, &zero, sizeof(zero)), body, mrpc_frame_head(f));
}

static bool peer_send_summed(struct peer *p, struct mrpc_frame f, const u8 *body, u32 len)
{
	struct mrpc_wire_trailer trailer = { 0 };
	u32 head = mrpc_frame_head(&f);
	struct mrpc_wire_hdr hdr;

	f.flags |= MRPC_WIRE_CRC;
	mrpc_wire_encode(&f, &hdr);
	hdr.crc = cpu_to_le32(peer_head_sum(&hdr, &f, body) ^ (p->spoil == PEER_HEAD));
	trailer.crc = cpu_to_le32(~peer_sum(~0U, body + head, len - head) ^
				  (p->spoil == PEER_BYTES));
	trailer.resv = cpu_to_le32(p->spoil == PEER_RESV);
	p->spoil = PEER_FINE;
	return peer_send(p, &hdr, sizeof(hdr)) && peer_send(p, body, len) &&
	       peer_send(p, &trailer, mrpc_frame_trailer(&f));
}

bool peer_send_frame(struct peer *p, const struct mrpc_frame *f, const void *body, u32 len)
{
	struct mrpc_wire_hdr hdr;

	if (p->sums && (f->type == MRPC_WIRE_CALL || f->type == MRPC_WIRE_REPLY))
		return peer_send_summed(p, *f, body, len);
	mrpc_wire_encode(f, &hdr);
	return peer_send(p, &hdr, sizeof(hdr)) && peer_send(p, body, len);
}

bool peer_send_control(struct peer *p, u8 type, u64 call_id)
{
	const struct mrpc_frame f = { .type = type, .call_id = call_id };

	return peer_send_frame(p, &f, NULL, 0);
}

/* 1: all of it; 0: end; -1: not even the first byte in @ms. */
static int peer_read(struct peer *p, void *buf, u32 len, unsigned int ms)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	u8 *at = buf;
	ssize_t n;

	while (len) {
		if (poll(&pfd, 1, ms * raw_scale()) != 1) {
			if (at == buf)
				return -1;
			raw_die("a frame does not end");
		}
		n = recv(p->fd, at, len, 0);
		if (n <= 0)
			return 0;
		at += n;
		len -= n;
		ms = 10000;
	}
	return 1;
}

static int peer_recv_trailer(struct peer *p)
{
	const u8 *bytes = p->body + mrpc_frame_head(&p->frame);
	struct mrpc_wire_trailer trailer;
	int n;

	n = peer_read(p, &trailer, sizeof(trailer), 10000);
	if (n == 1 && (trailer.resv ||
		       le32_to_cpu(trailer.crc) != ~peer_sum(~0U, bytes, p->frame.msg.bytes)))
		raw_die("the kernel sent a wrong checksum behind a message");
	return n;
}

int peer_recv(struct peer *p, unsigned int ms)
{
	struct mrpc_wire_hdr hdr;
	const char *why;
	int n;

	n = peer_read(p, &hdr, sizeof(hdr), ms);
	if (n <= 0)
		return n;
	if (mrpc_wire_decode(&hdr, MRPC_MAX_MESSAGE, &p->frame, &why))
		raw_die("the kernel sent a bad header: %s", why);
	p->body_len = mrpc_frame_head(&p->frame) + p->frame.msg.bytes;
	if (p->body_len > sizeof(p->body))
		raw_die("the kernel sent a frame of %u bytes", p->body_len);
	n = peer_read(p, p->body, p->body_len, 10000);
	if (n < 1 || !(p->frame.flags & MRPC_WIRE_CRC))
		return n;
	if (p->frame.crc != peer_head_sum(&hdr, &p->frame, p->body))
		raw_die("the kernel sent a wrong checksum in a header");
	return mrpc_frame_trailer(&p->frame) ? peer_recv_trailer(p) : 1;
}

void peer_expect(struct peer *p, u8 type)
{
	int n;

	do {
		n = peer_recv(p, 10000);
		if (n < 1)
			raw_die(n ? "nothing came instead of a frame of type %u" :
				"the stream ended instead of a frame of type %u", type);
		if (p->frame.type == MRPC_WIRE_PING && type != MRPC_WIRE_PING)
			peer_send_control(p, MRPC_WIRE_PONG, p->frame.call_id);
	} while (p->frame.type == MRPC_WIRE_PING && type != MRPC_WIRE_PING);
	if (p->frame.type != type)
		raw_die("a frame of type %u instead of %u, status %u", p->frame.type, type,
			p->frame.status);
}

int peer_end(struct peer *p)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	ssize_t n;

	do {
		if (poll(&pfd, 1, 5000 * raw_patience()) != 1)
			raw_die("the stream does not end");
		n = recv(p->fd, p->body, sizeof(p->body), 0);
	} while (n > 0);
	return n ? errno : 0;
}

bool peer_closed(struct peer *p, unsigned int ms)
{
	uint64_t end = raw_now() + ms * RAW_MS * raw_patience();
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	ssize_t n;

	for (;;) {
		uint64_t now = raw_now();

		if (now >= end || poll(&pfd, 1, (end - now) / RAW_MS + 1) != 1)
			return false;
		n = recv(p->fd, p->body, sizeof(p->body), 0);
		if (n <= 0)
			return true;
	}
}

/* -- handshake ------------------------------------------------------------------ */

u32 peer_hello_body(void *buf)
{
	struct mrpc_hello hello = {
		.version_min = MRPC_WIRE_VERSION,
		.version_max = MRPC_WIRE_VERSION,
		.nr_services = RAW_SERVICES,
		.max_message = 64 << 20,
		.max_calls = 256,
	};
	unsigned int i;
	int len;

	for (i = 0; i < RAW_SERVICES; i++) {
		peer_hash(i, hello.services[i].hash);
		hello.services[i].name = peer_services[i]->name;
		hello.services[i].name_len = strlen(peer_services[i]->name);
	}
	len = mrpc_hello_encode(&hello, buf, MRPC_WIRE_MAX_HELLO);
	if (len < 0)
		raw_die("a hello does not fit");
	return len;
}

static void peer_send_hello(struct peer *p, u8 type)
{
	u8 body[MRPC_WIRE_MAX_HELLO] = { 0 };
	const struct mrpc_frame f = {
		.type = type, .meta_len = peer_hello_body(body),
	};

	((struct mrpc_hello_hdr *)body)->features = cpu_to_le64(p->features);
	peer_send_frame(p, &f, body, ALIGN(f.meta_len, 8));
}

void peer_hello(struct peer *p)
{
	peer_send_hello(p, MRPC_WIRE_HELLO);
}

void peer_shake(struct peer *p, u16 port)
{
	peer_connect(p, port);
	peer_hello(p);
	peer_expect(p, MRPC_WIRE_HELLO_ACK);
}

void peer_welcome(struct peer *p)
{
	peer_expect(p, MRPC_WIRE_HELLO);
	peer_send_hello(p, MRPC_WIRE_HELLO_ACK);
}

/* -- calls ------------------------------------------------------------------------ */

u64 peer_id(struct peer *p, u16 slot)
{
	return ++p->seq << 16 | slot;
}

u32 peer_blob(void *buf, struct mrpc_msg_len *len, u64 tag, u32 data, const char *text)
{
	u32 text_len = text && *text ? strlen(text) + 1 : 0;
	struct test_Blob *blob = buf;
	u32 size;

	*len = (struct mrpc_msg_len){
		.structs = sizeof(*blob), .text = text_len, .bytes = ALIGN(data, 8),
	};
	size = mrpc_msg_total(len);
	memset(buf, 0, size);
	blob->tag = tag;
	if (text_len) {
		blob->text = (struct mrpc_ref){ len->structs, text_len - 1 };
		memcpy((u8 *)buf + len->structs, text, text_len);
	}
	if (data) {
		blob->data = (struct mrpc_ref){ mrpc_msg_head_len(len), data };
		raw_fill((u8 *)buf + mrpc_msg_head_len(len), tag, data);
	}
	return size;
}

struct mrpc_frame peer_call_frame(u64 id, u32 method, const struct mrpc_msg_len *len)
{
	return (struct mrpc_frame){
		.type = MRPC_WIRE_CALL,
		.flags = MRPC_WIRE_END | MRPC_WIRE_MSG,
		.call_id = id,
		.method = method,
		.priority = 128,
		.max_reply = 64 << 20,
		.msg = *len,
	};
}

bool peer_call(struct peer *p, u64 id, u32 method, u64 tag, u32 data)
{
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u8 *body = malloc(raw_blob_size(data, NULL));
	u32 size = peer_blob(body, &len, tag, data, NULL);
	bool ok;

	f = peer_call_frame(id, method, &len);
	ok = peer_send_frame(p, &f, body, size);
	free(body);
	return ok;
}

bool peer_reply(struct peer *p, u64 id, u64 tag, u32 data)
{
	struct mrpc_msg_len len;
	u8 *body = malloc(raw_blob_size(data, NULL));
	u32 size = peer_blob(body, &len, tag, data, NULL);
	const struct mrpc_frame f = {
		.type = MRPC_WIRE_REPLY,
		.flags = MRPC_WIRE_END | MRPC_WIRE_MSG,
		.call_id = id,
		.msg = len,
	};
	bool ok = peer_send_frame(p, &f, body, size);

	free(body);
	return ok;
}

void peer_echo(struct peer *p, u16 slot, u64 tag, u32 data)
{
	u64 id = peer_id(p, slot);

	if (!peer_call(p, id, RAW_ECHO, tag, data))
		raw_die("the call does not go out");
	peer_expect(p, MRPC_WIRE_REPLY);
	if (p->frame.call_id != id || p->frame.status ||
	    !raw_is_blob(p->body + mrpc_frame_prefix(&p->frame),
			 mrpc_msg_total(&p->frame.msg), tag, data))
		raw_die("a wrong reply: status %u", p->frame.status);
}
