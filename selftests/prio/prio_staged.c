// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio/in kmod/call/receive_staged kmod/lib/prio/rx */
/*
 * Packets that wait at a receiver of the transport prio have bounds in memory: per connection, per
 * accepted message, and per namespace. An honest sender gets what it needs. A dishonest one gets no
 * more than the bounds.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tap.h"
#include "hosts.h"
#include "load.h"
#include "prio_tells.h"
#include "peer.h"
#include "stranger.h"

#define KIB		1024LL
#define MIB		(1024 * KIB)
#define STAGED		(8 * MIB)	/* of a connection, for what waits to be accepted */
#define PLACING		(4 * MIB)	/* of a message */
#define STAGED_ALL	(256 * MIB)	/* of a namespace */
#define STAGED_FEW	(256 * KIB)	/* of a message or a connection, when that is used up */
#define PACKET		(96 * KIB)	/* more than the memory of any packet here */

#define HEAP		(40U << 20)

static struct raw_server srv;
static struct raw c;
static int conn;
static uint64_t keepalive_us;	/* of the server */
static struct stranger s;
static struct stranger_train t;

static void restore_settings(void)
{
	raw_file_write(PARAMETER("order"), "srpt");
	raw_file_write(PARAMETER("silence"), "3000000");
}

/* A server, and an honest client, on lo of a new namespace. */
static void begin(u32 heap)
{
	char addr[64];

	CHECK_SYS(unshare(CLONE_NEWNET));
	op_forget();
	host_sh("ip link set lo up");
	atexit(restore_settings);
	raw_server_open(&srv, heap, heap);
	srv.keepalive_us = keepalive_us;
	raw_server_start(&srv, "prio:127.0.0.1:0", 2);
	raw_open(&c, heap, heap);
	snprintf(addr, sizeof(addr), "prio:127.0.0.1:%u", srv.s.port);
	conn = raw_connect(&c, addr);
	CHECK_MSG(conn > 0, "%s: %s", addr, c.why);
}

static void end(void)
{
	raw_close(&c);
	raw_server_stop(&srv);
	CHECK_EQ(srv.bad, 0);
	restore_settings();
}

/* -- heads that are large -------------------------------------------------------------------- */

/* A text of @len bytes, its NUL included; texts are in a message's head. */
static char *text_of(u32 len)
{
	char *text = malloc(len);

	CHECK(text);
	memset(text, 'a', len - 1);
	text[len - 1] = '\0';
	return text;
}

/* A call that is all head, larger than what may wait on a connection. */
TEST_LIMIT(large_head, 120)
{
	static const u32 sizes[] = { 10 << 20, (16 << 20) - 4096, 1 << 20, 130000 };
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	unsigned int i;
	char *text;

	begin(HEAP);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		text = text_of(sizes[i]);
		sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&c, i, 70000, text));
		sqe.timeout_us = 20000000ULL * raw_patience();
		CHECK_EQ(raw_call(&c, &sqe, &cqe), 0);
		CHECK_MSG(cqe.status == MRPC_OK, "a head of %u bytes: status %u", sizes[i], cqe.status);
		CHECK(raw_is_blob(raw_msg(&c, &cqe), cqe.msg_len, i, 70000));
		raw_done(&c, &cqe);
		raw_free(&c, sqe.root);
		free(text);
	}
	CHECK(gauge_becomes("staged", 0, 2000));
	end();
}

/* Many at once: no call prevents all others from completing. */
static void heads(u32 len, unsigned int nr)
{
	struct load l = { .text = text_of(len) };

	load_start(&l, &c, conn, nr);
	CHECK(load_more(&l, 2 * nr, 60000));
	load_stop(&l);
	CHECK_MSG(!load_failed(&l), "%llu calls failed: %s", (unsigned long long)load_failed(&l),
		  l.detail);
	CHECK(gauge_becomes("staged", 0, 2000));
	free((char *)l.text);
}

TEST_LIMIT(several_heads, 240)
{
	begin(HEAP);
	CHECK(raw_file_write(PARAMETER("order"), "fair"));
	host_sh("ip link set lo mtu 1500");
	heads(1000000, 32);
	heads(120000, 200);
	end();
}

/* -- a stranger ------------------------------------------------------------------------------- */

#define EACH		1000U		/* bytes of a message in a datagram */
#define BYTES		130000U		/* in the Blob of a call, all of which is unscheduled */
#define LARGE		(1U << 20)	/* in the head of another one */
#define UNSCHEDULED	(128U << 10)
#define LOOKED_AT	66		/* datagrams of it until it is accepted */

static struct call {
	u8 message[sizeof(struct mrpc_wire_hdr) + LARGE + 512];
	struct mrpc_prio_packet p;
	u32 at;			/* bytes sent */
} calls[16];

static void meet(void)
{
	/* The stranger does not answer PINGs. */
	CHECK(raw_file_write(PARAMETER("silence"), "60000000"));
	stranger_new(&s, AF_INET, srv.s.port);
	stranger_meet(&s);
}

static void leave(void)
{
	stranger_leave(&s);
	CHECK(gauge_becomes("staged", 0, 5000));
	CHECK_EQ(gauge("messages_in"), 0);
}

/* @text: NULL: the call has BYTES instead */
static void call_new(struct call *call, u64 tag, const char *text)
{
	struct mrpc_msg_len len;
	struct mrpc_wire_hdr hdr;
	struct mrpc_frame f;
	u32 total;

	total = sizeof(hdr) + peer_blob(call->message + sizeof(hdr), &len, tag, text ? 0 : BYTES, text);
	f = peer_call_frame((tag + 1) << 16 | tag, RAW_ACK, &len);
	mrpc_wire_encode(&f, &hdr);
	memcpy(call->message, &hdr, sizeof(hdr));
	call->p = stranger_message(&s, MRPC_PRIO_REQUEST, total, EACH);
	call->p.unscheduled = min(total, UNSCHEDULED);
	call->at = 0;
}

/* The last message of the connection, which has no content. */
static void say_end(void)
{
	struct mrpc_prio_packet p = stranger_message(&s, MRPC_PRIO_OTHER, 0, 0);

	stranger_train(&t, MRPC_PRIO_DATA_HDR);
	stranger_put(&t, &p, (const u8 *)"");
	stranger_send(&s, &t, true);
}

/* Puts the next bytes of a call, at most @len, into the train as a datagram. */
static void put(struct call *call, u32 len)
{
	call->p.offset = call->at;
	call->p.len = min(len, call->p.total - call->at);
	stranger_put(&t, &call->p, call->message);
	call->at += call->p.len;
}

/* Sends all bytes of a call before @to, correctly. */
static void send_to(struct call *call, u32 to)
{
	while (call->at < to) {
		stranger_train(&t, MRPC_PRIO_DATA_HDR + EACH);
		put(call, EACH);
		stranger_send(&s, &t, true);
	}
}

/*
 * Sends @nr datagrams of @len bytes as one packet, in turn for each of @of calls. Each call has its
 * own reference to the packet, or its own copy.
 */
static void in_turn(unsigned int of, unsigned int nr, u32 len)
{
	unsigned int i;

	stranger_train(&t, MRPC_PRIO_DATA_HDR + len);
	for (i = 0; i < nr; i++)
		put(&calls[i % of], len);
	stranger_send(&s, &t, false);
}

/*
 * Makes accepted calls of which no bytes wait, the last possibly a moment later. It sends one at a
 * time: where little may wait, the bytes of two calls are too many.
 */
static void accepted(unsigned int nr)
{
	int64_t before = gauge("staged");
	unsigned int i;

	for (i = 0; i < nr; i++) {
		CHECK(gauge_becomes("staged", before, 2000));
		call_new(&calls[i], i, NULL);
		send_to(&calls[i], LOOKED_AT * EACH);
	}
}

/* The calls complete if all of each is sent often enough. */
static void complete(unsigned int nr)
{
	uint64_t until = raw_now() + 20 * RAW_S * raw_patience();
	u64 before = raw_server_requests(&srv);
	unsigned int i;

	do {
		CHECK(raw_now() < until);
		for (i = 0; i < nr; i++) {
			calls[i].at = 0;
			send_to(&calls[i], calls[i].p.total);
		}
		raw_sleep(100 * RAW_MS);
	} while (raw_server_requests(&srv) < before + nr);
}

#define CRUMBS		128		/* packets of one byte in a datagram */
#define NR_CRUMBLED	8

/* Packets of one byte are placed because of their memory, not because of their bytes. */
TEST_LIMIT(crumbs, 240)
{
	uint64_t until;
	unsigned int i;

	begin(4 << 20);
	meet();
	accepted(NR_CRUMBLED);
	CHECK(gauge_becomes("staged", 0, 2000));
	for (i = 0; i < 6000 * NR_CRUMBLED / CRUMBS; i++) {
		in_turn(NR_CRUMBLED, CRUMBS, 1);
		/* The claim owner may be late. */
		until = raw_now() + 5 * RAW_S * raw_patience();
		while (gauge("staged") >= NR_CRUMBLED * PLACING / 4) {
			CHECK_MSG(raw_now() < until, "%lld KiB wait", (long long)(gauge("staged") / KIB));
			raw_sleep(RAW_MS);
		}
	}
	complete(NR_CRUMBLED);
	leave();
	end();
}

#define NR_HELD		10		/* messages of a connection that cannot be accepted */
#define REFERENCES	120		/* to one packet: more than 8 MiB together */

/* Fills a connection's memory. The memory of a packet counts for each message in it. */
static void fill(void)
{
	unsigned int i;

	for (i = 0; i < NR_HELD; i++) {
		call_new(&calls[i], i, NULL);
		calls[i].at = EACH;	/* its header does not come */
	}
	for (i = 0; i < 3; i++)
		in_turn(NR_HELD, REFERENCES, 300);
}

TEST_LIMIT(of_a_connection, 120)
{
	int64_t drops;

	begin(4 << 20);
	meet();
	drops = op_transport("prio", MRPC_A_TRANSPORT_DROP, "memory");
	fill();
	NOTE("%lld KiB wait", (long long)(gauge("staged") / KIB));
	CHECK(gauge("staged") > STAGED);
	CHECK(gauge("staged") < STAGED + PLACING + 2 * PACKET);
	CHECK(op_transport("prio", MRPC_A_TRANSPORT_DROP, "memory") > drops);
	/* One message at a time still makes progress. */
	complete(NR_HELD);
	leave();
	end();
}

/* The connection still ends in order: the message that says so needs no memory. */
TEST_LIMIT(end_of_a_full_connection, 120)
{
	begin(4 << 20);
	meet();
	fill();
	CHECK(gauge("staged") > STAGED);
	say_end();
	CHECK(raw_server_conns(&srv, 1, 5000));
	leave();
	end();
}

#define LIVE_US	2000000ULL	/* keepalive: a message may take this and ten seconds */

/* While a large head comes, messages without room for that reason do not count as slow. */
TEST_LIMIT(behind_a_large_head, 120)
{
	char *text = text_of(LARGE);
	unsigned int i;

	keepalive_us = LIVE_US;
	begin(8 << 20);
	meet();
	call_new(&calls[0], 0, text);
	send_to(&calls[0], LOOKED_AT * EACH);
	call_new(&calls[1], 1, NULL);
	calls[1].at = EACH;	/* its header does not come for a while */
	send_to(&calls[1], 2 * EACH);
	for (i = 0; i < 40; i++) {
		raw_sleep(RAW_S / 2);
		if (i % 8 == 7)
			send_to(&calls[0], calls[0].at + LOOKED_AT * EACH);
		call_new(&calls[2], 2 + i, NULL);	/* shows that the peer is alive */
		send_to(&calls[2], calls[2].p.total);
	}
	CHECK(raw_server_conns(&srv, 2, 0) && !raw_server_conns(&srv, 1, 0));
	complete(2);
	leave();
	free(text);
	end();
}

/* An honest call, with bytes in its byte section, or in its head. */
static void honest(u32 len, const char *text)
{
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&c, 1, len, text));
	struct mrpc_cqe cqe;

	sqe.timeout_us = 10000000ULL * raw_patience();
	CHECK_EQ(raw_call(&c, &sqe, &cqe), 0);
	CHECK_MSG(cqe.status == MRPC_OK, "%u bytes: status %u", len, cqe.status);
	CHECK(raw_is_blob(raw_msg(&c, &cqe), cqe.msg_len, 1, len));
	raw_done(&c, &cqe);
	raw_free(&c, sqe.root);
}

#define NR_FULL		40

/* When others have used up the memory, a new connection gets little, which is enough. */
TEST_LIMIT(of_a_namespace, 240)
{
	char *text = text_of(1 << 20);
	int64_t before, drops;
	unsigned int i;

	begin(8 << 20);
	meet();
	for (i = 0; i < NR_FULL; i++) {
		fill();
		stranger_connect(&s);
	}
	NOTE("%lld KiB wait", (long long)(gauge("staged") / KIB));
	CHECK(gauge("staged") > STAGED_ALL);
	CHECK(gauge("staged") < STAGED_ALL + STAGED + PLACING +
	      (NR_FULL - STAGED_ALL / STAGED) * 2 * (STAGED_FEW + PACKET));
	honest(3000000, NULL);
	honest(1000, text);
	/* An accepted message gets no more memory. Its bytes are placed as they come. */
	before = gauge("staged");
	accepted(2);
	in_turn(2, CRUMBS, 1);
	CHECK(gauge_becomes("staged", before, 2000));
	drops = op_transport("prio", MRPC_A_TRANSPORT_DROP, "memory");
	in_turn(2, REFERENCES / 2, 300);
	drops = op_transport("prio", MRPC_A_TRANSPORT_DROP, "memory") - drops;
	NOTE("%lld of %d packets are dropped", (long long)drops, REFERENCES / 2);
	CHECK(drops > REFERENCES / 8);
	complete(2);
	leave();
	free(text);
	end();
}
