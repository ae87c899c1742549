// SPDX-License-Identifier: GPL-2.0
/*
 * Many peers of the prio transport: what one takes that has nothing to say, and that all of them
 * are forgotten.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tap.h"
#include "operator.h"
#include "peer.h"
#include "prio_wire.h"

#define PEERS	10000
#define PACKET	MRPC_PRIO_BODY_LEN

static struct raw_pair p;
static int fd;		/* of all of them: each is an address of lo */

static int64_t gauge(const char *name)
{
	return op_transport("prio", MRPC_A_TRANSPORT_GAUGE, name);
}

static void send_hello(unsigned int i, u64 cookie, u32 epoch)
{
	struct mrpc_prio_packet hello = {
		.type = MRPC_PRIO_HELLO, .flags = MRPC_PRIO_CRC, .token = 1000 + i,
		.cookie = cookie, .epoch = epoch, .budget = 10000, .max_total = 1 << 20,
	};
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(p.srv.s.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	char control[CMSG_SPACE(sizeof(struct in_pktinfo))] = "";
	u8 buf[PACKET];
	struct iovec iov = { buf, mrpc_prio_encode(&hello, buf) };
	struct msghdr msg = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct in_pktinfo info = { .ipi_spec_dst.s_addr = htonl(0x7f010000 + i) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	mrpc_prio_set_crc(buf, ~peer_sum(~0U, buf, iov.iov_len));
	cmsg->cmsg_level = IPPROTO_IP;
	cmsg->cmsg_type = IP_PKTINFO;
	cmsg->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
	CHECK_EQ(sendmsg(fd, &msg, 0), PACKET);
}

/* Dies if the answer is not of this type. */
static struct mrpc_prio_packet answer(u8 type)
{
	struct mrpc_prio_packet packet;
	u8 buf[2000];
	ssize_t n = recv(fd, buf, sizeof(buf), 0);
	u32 why;

	CHECK_MSG(n > 0, "no answer: %s", strerror(errno));
	CHECK_EQ(mrpc_prio_parse(buf, n, n, &packet, &why), 0);
	CHECK_EQ(packet.type, type);
	return packet;
}

/* The handshake of one end that will say nothing more. */
static void associate(unsigned int i)
{
	struct mrpc_prio_packet cookie;

	send_hello(i, 0, 0);
	cookie = answer(MRPC_PRIO_COOKIE);
	send_hello(i, cookie.cookie, cookie.epoch);
	answer(MRPC_PRIO_WELCOME);
}

static void strangers_begin(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct timeval patience = { .tv_sec = 2 * raw_patience() };

	fd = CHECK_SYS(socket(AF_INET, SOCK_DGRAM, 0));
	CHECK_SYS(bind(fd, (void *)&any, sizeof(any)));
	CHECK_SYS(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)));
}

/* An idle peer is its object, and its place among the others. */
TEST_LIMIT(idle, 200)
{
	long long before, took;
	unsigned int i;
	int64_t peers;

	raw_pair(&p, "prio", 1);
	strangers_begin();
	for (i = 0; i < 100; i++)	/* what is made once */
		associate(i);
	peers = gauge("peers");
	before = raw_meminfo("Slab");
	for (; i < 100 + PEERS; i++)
		associate(i);
	took = (raw_meminfo("Slab") - before) << 10;
	CHECK_EQ(gauge("peers"), peers + PEERS);
	CHECK_EQ(gauge("gap_maps"), 0);
	NOTE("%u idle peers take %lld bytes of slabs, %lld each", PEERS, took, took / PEERS);
	CHECK(took / PEERS <= 1024);
	/* Those that have a connection do not notice. */
	CHECK_EQ(gauge("links"), 2);
	close(fd);
	raw_pair_end(&p);
	raw_must_unload("mrpc_prio");
}
