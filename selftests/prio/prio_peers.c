// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio/peers kmod/transports/prio/port kmod/lib/prio/peer */
/*
 * Many peers of the prio transport: the memory of an idle peer, forgetting all peers, and new
 * associations with peers that have restarted.
 */
#include <stdio.h>
#include <unistd.h>

#include "tap.h"
#include "load.h"
#include "operator.h"
#include "peer.h"
#include "prio_tells.h"
#include "stranger.h"

#define PEERS	10000
#define SERVERS	20
#define CLOSED	700	/* peers of a port; it forgets fewer at a time */
#define OTHERS	300

static struct raw_pair p;
static struct stranger all;	/* each stranger is an address of lo */

/* Makes an association with a stranger that then stays silent. */
static void associate(unsigned int i)
{
	struct stranger one = all;

	one.token = 1000 + i;
	one.from = 0x7f010000 + i;
	stranger_associate(&one);
}

/* An idle peer takes the memory of its object, and its place in the hash table. */
TEST_LIMIT(idle, 200)
{
	long long before, took;
	unsigned int i;
	int64_t peers;

	raw_pair(&p, "prio", 1);
	stranger_new(&all, AF_INET, p.srv.s.port);
	for (i = 0; i < 100; i++)	/* allocations that are made once */
		associate(i);
	peers = gauge("peers");
	before = raw_meminfo("Slab");
	for (; i < 100 + PEERS; i++)
		associate(i);
	took = (raw_meminfo("Slab") - before) << 10;
	CHECK_EQ(gauge("peers"), peers + PEERS);
	CHECK_EQ(gauge("gap_maps"), 0);
	NOTE("%u idle peers take %lld bytes of slabs, %lld each", PEERS, took, took / PEERS);
	CHECK(took / PEERS <= 1024 || raw_scale() > 1);	/* a debug kernel adds red zones */
	/* Peers with a connection do not notice. */
	CHECK_EQ(gauge("links"), 2);
	stranger_close(&all);
	raw_pair_end(&p);
	raw_must_unload("mrpc_prio");
}

/* -- peers that have left a gap ----------------------------------------------------------- */

#define EACH	100U		/* bytes of the first datagram of two */
#define BYTES	200U		/* of the Blob in a call */

static struct stranger each[PEERS];

/* Makes an association and a connection over it. Nothing is under way afterwards. */
static void meet(unsigned int i)
{
	struct mrpc_prio_note ack = { .op = MRPC_PRIO_ACK };
	struct stranger *s = &each[i];

	*s = all;
	s->token = 1000 + i;
	s->from = 0x7f010000 + i;
	stranger_meet(s);
	ack.msg = s->answer;
	stranger_say(s, &ack);
}

/* Sends one of the two datagrams of the peer's only call. */
static void send_half(struct stranger *s, bool second)
{
	static u8 message[sizeof(struct mrpc_wire_hdr) + BYTES + 512];
	static struct stranger_train t;
	struct mrpc_prio_packet packet;
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u32 total;

	total = sizeof(struct mrpc_wire_hdr) +
		peer_blob(message + sizeof(struct mrpc_wire_hdr), &len, 1, BYTES, NULL);
	f = peer_call_frame(1 << 16, RAW_ACK, &len);
	mrpc_wire_encode(&f, (void *)message);
	packet = stranger_message(s, MRPC_PRIO_REQUEST, total, EACH);
	s->msg--;	/* both are of one message */
	if (second) {
		packet.offset = EACH;
		packet.len = total - EACH;
	}
	stranger_train(&t, MRPC_PRIO_DATA_HDR + packet.len);
	stranger_put(&t, &packet, message);
	stranger_send(s, &t, true);
}

/* The peer forgets everything, and says so. The other peers use the same socket. */
static void forget(const struct stranger *s)
{
	struct stranger one = *s;

	one.fd = CHECK_SYS(dup(s->fd));
	stranger_leave(&one);
}

/* Many peers do not answer. All of them together are asked for little. */
static void check_asks(void)
{
	uint64_t begin, us;
	int64_t asks;

	raw_sleep(2 * RAW_S);
	begin = raw_now();
	asks = counter("resends");
	raw_sleep(3 * RAW_S);
	asks = counter("resends") - asks;
	us = (raw_now() - begin) / 1000;
	NOTE("%lld asks in %llu us", (long long)asks, (unsigned long long)us);
	CHECK((uint64_t)asks <= us / 125 + PEERS / 4);
}

/*
 * The maximum number of peers have each lost the first packet of a call. Each has a gap map. The
 * map is freed when the packet comes, or the peer goes. The endpoint's count is right.
 */
TEST_LIMIT(gaps, 400)
{
	uint64_t begin = raw_now(), until;
	unsigned int rounds, i;

	raw_server_open(&p.srv, 48 << 20, 48 << 20);
	raw_open(&p.c, 1 << 20, 1 << 20);
	p.srv.keepalive_us = RAW_HOUR_US;
	raw_pair_start(&p, "prio", 2);
	/* The strangers do not answer PINGs. */
	CHECK(raw_file_write(PARAMETER("silence"), "600000000"));
	stranger_new(&all, AF_INET, p.srv.s.port);
	for (i = 0; i < PEERS; i++)
		meet(i);
	NOTE("%u peers in %llu ms", i, (unsigned long long)((raw_now() - begin) / RAW_MS));
	CHECK(gauge("peers") >= PEERS);
	CHECK_EQ(raw_slab_objects("mrpc_prio_gaps"), 0);
	for (i = 0; i < PEERS; i++)
		send_half(&each[i], true);
	CHECK(gauge_becomes("gap_maps", PEERS, 20000));
	CHECK_EQ(raw_slab_objects("mrpc_prio_gaps"), PEERS);
	check_asks();
	until = raw_now() + 30 * RAW_S * raw_patience();
	for (rounds = 0; gauge("gap_maps") && raw_now() < until; rounds++) {
		/* A full socket loses some packets; a live peer would be asked again. */
		for (i = 0; i < PEERS; i++)
			if (i % 2)
				send_half(&each[i], false);
			else
				forget(&each[i]);
		raw_sleep(RAW_S);
	}
	NOTE("%u rounds, %lld packets found no memory", rounds,
	     (long long)op_transport("prio", MRPC_A_TRANSPORT_DROP, "memory"));
	CHECK_EQ(gauge("gap_maps"), 0);
	CHECK_EQ(raw_slab_objects("mrpc_prio_gaps"), 0);
	CHECK(gauge_becomes("messages_in", 0, 20000));
	CHECK_EQ(raw_server_requests(&p.srv), PEERS / 2);
	for (i = 1; i < PEERS; i += 2)
		forget(&each[i]);
	CHECK(raw_server_conns(&p.srv, 1, 60000));
	stranger_close(&all);
	CHECK(raw_file_write(PARAMETER("silence"), "3000000"));
	raw_pair_end(&p);
	raw_must_unload("mrpc_prio");
}

/* The peers of a closed port go with it, even if they are many. Those of other ports stay. */
TEST_LIMIT(closed_port, 120)
{
	static struct raw_server closed;
	static struct load l;
	unsigned int i;
	int64_t peers;

	raw_pair(&p, "prio", 1);
	stranger_new(&all, AF_INET, p.srv.s.port);
	for (i = 0; i < OTHERS; i++)
		associate(i);
	peers = gauge("peers");
	raw_server(&closed, "prio:127.0.0.1:0", 1);
	stranger_close(&all);
	stranger_new(&all, AF_INET, closed.s.port);
	for (; i < OTHERS + CLOSED; i++)
		associate(i);
	CHECK_EQ(gauge("peers"), peers + CLOSED);
	l.len = 20000;
	load_start(&l, &p.c, p.conn, 4);
	raw_server_stop(&closed);
	CHECK(gauge_becomes("peers", peers, 20000));
	CHECK(load_more(&l, 20, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(gauge("peers"), peers);
	stranger_close(&all);
	raw_pair_end(&p);
	raw_must_unload("mrpc_prio");
}

/* The same for an unused port, while peers come and go at other ports all the time. */
TEST_LIMIT(closed_port_beside_others, 120)
{
	static struct raw_server closed;
	unsigned int i, n;
	int64_t peers;

	raw_pair(&p, "prio", 1);
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	peers = gauge("peers");
	raw_server(&closed, "prio:127.0.0.1:0", 1);
	stranger_new(&all, AF_INET, closed.s.port);
	for (i = 0; i < OTHERS; i++)
		associate(i);
	CHECK_EQ(gauge("peers"), peers + OTHERS);
	raw_server_stop(&closed);
	for (n = 0; n < 100 * raw_patience() && gauge("peers") > peers; n++) {
		p.conn = raw_connect(&p.c, p.addr);
		CHECK_MSG(p.conn > 0, "%s: %s", p.addr, p.c.why);
		CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
		raw_sleep(100 * RAW_MS);
	}
	CHECK_EQ(gauge("peers"), peers);
	stranger_close(&all);
	raw_pair_end(&p);
	raw_must_unload("mrpc_prio");
}

/* One session that listens at many ports. */
static struct raw_server servers;

static void servers_start(unsigned int port)
{
	char addr[64];
	unsigned int i;

	for (i = 0; i < SERVERS; i++) {
		snprintf(addr, sizeof(addr), "prio:127.0.0.1:%u", port + i);
		if (!i)
			raw_server(&servers, addr, 1);
		else
			CHECK(raw_serve(&servers.s, addr) > 0);
	}
}

/* Connects to each, and disconnects. Return: number of connections made */
static unsigned int servers_are_there(struct raw *c, unsigned int port)
{
	unsigned int i, there = 0;
	char addr[64];
	int conn;

	for (i = 0; i < SERVERS; i++) {
		snprintf(addr, sizeof(addr), "prio:127.0.0.1:%u", port + i);
		conn = raw_connect(c, addr);
		if (conn > 0) {
			there++;
			raw_close_id(c, conn, 0, 0);
		} else {
			NOTE("%s: %s", addr, c->why);
		}
	}
	return there;
}

/* A server that restarted without connections is found again, also by a busy client. */
TEST_LIMIT(restarted_beside_load, 120)
{
	static struct load l;
	unsigned int port;
	int64_t peers;

	raw_pair(&p, "prio", 1);
	l.len = 100000;
	load_start(&l, &p.c, p.conn, 16);
	CHECK(load_more(&l, 20, 30000));
	peers = gauge("peers");
	port = 20000 + p.srv.s.port % 10000;	/* no port that others are given */
	servers_start(port);
	CHECK_EQ(servers_are_there(&p.c, port), SERVERS);
	raw_server_stop(&servers);
	/* The servers' peers go with their ports. The client keeps its own for a minute. */
	CHECK(gauge_becomes("peers", peers + SERVERS, 20000));
	servers_start(port);
	CHECK_EQ(servers_are_there(&p.c, port), SERVERS);
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	raw_server_stop(&servers);
	raw_pair_end(&p);
}
