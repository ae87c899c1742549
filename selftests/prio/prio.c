// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio kmod/lib/prio */
/*
 * The prio transport between hosts on links that lose, duplicate, reorder and end, and the time
 * that urgent messages wait.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tap.h"
#include "hosts.h"
#include "lo.h"
#include "load.h"
#include "operator.h"
#include "prio_tells.h"
#include "lib/prio/wire.h"

static struct raw_pair p;
static struct load l, other;

static void bend_lo(const char *qdisc)
{
	if (!lo_bend(qdisc))
		SKIP("there is no '%s' here", qdisc);
}

static void netem(const char *what)
{
	char qdisc[200];

	snprintf(qdisc, sizeof(qdisc), "netem limit 10000 %s", what);
	bend_lo(qdisc);
}

/* Calls of all sizes. Each must be answered once, with its own content. */
static void all_sizes(const char *how, unsigned int nr)
{
	static const uint32_t sizes[] = { 1, 1000, 5000, 40000, 300000 };
	unsigned int i;

	raw_pair(&p, how, 2);
	other.len = 20000;
	load_start(&other, &p.c, p.conn, 8);
	for (i = 0; i < 5; i++) {
		memset(&l, 0, sizeof(l));
		l.len = sizes[i];
		load_start(&l, &p.c, p.conn, 8);
		CHECK(load_more(&l, nr, 60000));
		load_stop(&l);
		CHECK_EQ(load_failed(&l), 0);
		CHECK_EQ(l.wrong, 0);
		CHECK_EQ(l.reused, 0);
	}
	load_stop(&other);
	CHECK_EQ(load_failed(&other), 0);
	CHECK_EQ(other.wrong, 0);
	raw_pair_end(&p);
}

TEST_LIMIT(losses, 240)
{
	netem("loss 3%");
	all_sizes("prio", 60);
}

TEST_LIMIT(disorder, 240)
{
	netem("delay 2ms reorder 25% 50% duplicate 3%");
	all_sizes("prio6", 60);
}

TEST_LIMIT(everything, 240)
{
	netem("delay 1ms 1ms loss 2% duplicate 2% corrupt 1%");
	all_sizes("prio", 40);
}

/* The MTU becomes smaller and larger while messages are on their way. */
TEST_LIMIT(mtu, 180)
{
	static const unsigned int mtus[] = { 1500, 9000, 1280, 65536, 1400 };
	unsigned int i;

	atexit(lo_restore);
	raw_pair(&p, "prio6", 2);
	l.len = 200000;
	load_start(&l, &p.c, p.conn, 4);
	for (i = 0; i < 10; i++) {
		host_sh("ip link set lo mtu %u", mtus[i % 5]);
		CHECK(load_more(&l, 20, 30000));
	}
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(l.wrong, 0);
	raw_pair_end(&p);
}

/* The link ends, and calls end, too. When it is back, connections can be made again. */
TEST_LIMIT(blackhole, 120)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	struct raw_qp qp;
	uint64_t begin;
	unsigned int i;
	int conn;

	netem("delay 0");
	raw_pair(&p, "prio", 2);
	raw_qp(&qp, &p.c, 8, 16, 0);
	netem("loss 100%");
	begin = raw_now();
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 50000, NULL));
	sqe.timeout_us = 500000;	/* before the peer counts as silent */
	CHECK(raw_push(&qp, &sqe));
	CHECK(raw_next(&qp, &cqe, (500 + 500 * raw_patience()) * RAW_MS));
	CHECK_EQ(cqe.type, MRPC_CQE_REPLY);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	CHECK(raw_now() - begin >= 500 * RAW_MS);
	sqe.timeout_us = 0;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	CHECK(raw_now() - begin < 30 * RAW_S);
	raw_expect(&qp, &cqe, MRPC_CQE_SENT, RAW_S);	/* these blocks are not needed any more */
	conn = raw_connect(&p.c, p.addr);
	CHECK(conn == -ETIMEDOUT || conn == -ECONNRESET);
	netem("delay 0");
	for (i = 0; i < 20; i++) {
		conn = raw_connect(&p.c, p.addr);
		if (conn > 0)
			break;
		raw_sleep(500 * RAW_MS);
	}
	CHECK(conn > 0);
	sqe.conn = conn;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	raw_pair_end(&p);
}

/* There is no listener at the port. That is known at once, without a timeout. */
TEST(nobody)
{
	struct raw c = {};
	uint64_t begin;

	raw_open(&c, 1 << 20, 1 << 20);
	begin = raw_now();
	CHECK_EQ(raw_connect(&c, "prio:127.0.0.1:9"), -ECONNREFUSED);
	CHECK_STR(c.why, "connection refused by the peer");
	CHECK_EQ(raw_connect(&c, "prio:[::1]:9"), -ECONNREFUSED);
	CHECK_EQ(raw_connect(&c, "prio:127.0.0.1:0"), -EINVAL);
	CHECK(raw_now() - begin < 2 * RAW_S * raw_patience());
	raw_close(&c);
}

/* A listener on all addresses of the host replies from the address that was asked. */
TEST(any_address)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	char addr[64];
	int conn;

	raw_server(&p.srv, "prio:[::]:0", 1);
	raw_open(&p.c, 1 << 20, 1 << 20);
	snprintf(addr, sizeof(addr), "prio:127.0.0.7:%u", p.srv.s.port);
	conn = raw_connect(&p.c, addr);
	CHECK_MSG(conn > 0, "%s: %s", addr, p.c.why);
	sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&p.c, 1, 5000, NULL));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	snprintf(addr, sizeof(addr), "prio:[::1]:%u", p.srv.s.port);
	conn = raw_connect(&p.c, addr);
	CHECK_MSG(conn > 0, "%s: %s", addr, p.c.why);
	sqe.conn = conn;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	raw_pair_end(&p);
}

/* -- two hosts -------------------------------------------------------------------------- */

static struct host h;
static struct raw_server srv;

static void serve_there(const char *addr)
{
	if (!host_new(&h))
		return;
	host_wait(&h);
	raw_server(&srv, addr, 2);
	host_say(&h);
	host_wait(&h);
	raw_server_stop(&srv);
	exit(0);
}

static void between_hosts(const char *addr)
{
	static struct raw c;
	int conn;

	serve_there(addr);
	host_join(&h);
	host_say(&h);
	host_wait(&h);
	raw_open(&c, 8 << 20, 8 << 20);
	conn = raw_connect(&c, addr);
	CHECK_MSG(conn > 0, "%s: %s", addr, c.why);
	l.len = 100000;
	load_start(&l, &c, conn, 8);
	CHECK(load_more(&l, 200, 60000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(l.wrong, 0);
	raw_close(&c);
	host_end(&h);
}

TEST_LIMIT(hosts, 120)
{
	between_hosts("prio:" HOST_ADDR ":7000");
}

TEST_LIMIT(hosts6, 120)
{
	between_hosts("prio:[" HOST_ADDR6 "]:7000");
}

/* -- urgent messages ---------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#define LINE_MBIT	50
#define CHUNK_NS	(16384 * 8 * 1000ULL / LINE_MBIT)
#define CALLS		21
#define URGENT		64		/* bytes of an urgent call */
/* Memory of two chunks as packets, and of a few small packets. */
#define BELOW		(2 * 24576 + 4096)

/**
 * struct urgency - urgent small calls beside large ones on the same connection
 * @idle: median of such calls on an idle link, ns
 * @took: median beside large calls
 * @below: maximum of memory below prio, bytes
 */
struct urgency {
	uint64_t idle;
	uint64_t took;
	int64_t below;
};

/* Makes @nr urgent calls. Return: median, ns. @below: raised to the maximum below prio */
static uint64_t urgent_calls(unsigned int nr, int64_t *below)
{
	static uint64_t took[CALLS];
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	unsigned int i, k;
	int64_t now;

	for (i = 0; i < nr; i++) {
		uint64_t begin = raw_now();

		sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, i, URGENT, NULL));
		sqe.priority = 250;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		took[i] = raw_now() - begin;
		raw_done(&p.c, &cqe);
		raw_free(&p.c, sqe.root);
		for (k = 0; k < 5; k++) {
			now = gauge("below");
			*below = now > *below ? now : *below;
			raw_sleep(RAW_MS);
		}
	}
	qsort(took, nr, sizeof(took[0]), by_size);
	return took[nr / 2];
}

static struct urgency urgent_beside_bulk(const char *how, unsigned int nr)
{
	struct urgency u = {};

	raw_server_open(&p.srv, 32 << 20, 32 << 20);
	raw_open(&p.c, 32 << 20, 8 << 20);
	raw_pair_start(&p, how, 2);
	u.idle = urgent_calls(nr, &u.below);
	memset(&other, 0, sizeof(other));
	other.len = 1 << 20;
	other.ack = true;
	load_start(&other, &p.c, p.conn, 8);
	CHECK(load_more(&other, 3, 60000));
	raw_busy_percent();
	u.took = urgent_calls(nr, &u.below);
	NOTE("%s: an urgent call takes %llu us, %llu us with nothing beside it; %lld bytes of memory "
	     "below; processors %u %% busy", how, (unsigned long long)u.took / 1000,
	     (unsigned long long)u.idle / 1000, (long long)u.below, raw_busy_percent());
	load_stop(&other);
	CHECK_EQ(load_failed(&other), 0);
	raw_pair_end(&p);
	return u;
}

/*
 * On a TCP connection an urgent call waits for half a second of line time. On prio it waits for the
 * chunk being sent, the one behind it, and the packets on its way back: less than three chunks'
 * time. A busy host gets several attempts. A debug kernel does not keep the line busy.
 */
TEST_LIMIT(urgent, 240)
{
	struct urgency tcp, u;
	unsigned int tries = 0;

	op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	bend_lo("tbf rate 50mbit burst 20000 limit 4m");
	tcp = urgent_beside_bulk("tcp4", 5);
	do {
		u = urgent_beside_bulk("prio", CALLS);
		CHECK(u.below > 0 && u.below <= BELOW);
	} while (u.took > u.idle + 3 * CHUNK_NS && ++tries < raw_patience());
	CHECK(u.took <= u.idle + 3 * CHUNK_NS || raw_scale() > 1);
	CHECK(u.took * 20 <= tcp.took || raw_scale() > 1);
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=strict");
	u = urgent_beside_bulk("prio", CALLS);
	CHECK(u.took * 20 <= tcp.took || raw_scale() > 1);
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
}

/*
 * A device stops for a while. Bytes below it do not block other messages, and no longer count. When
 * they have left, no more is below than before, under load without a pause.
 */
TEST_LIMIT(device_stands_still, 120)
{
	int64_t most, below = 0;

	op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	bend_lo("tbf rate 50mbit burst 20000 limit 4m");
	raw_server_open(&p.srv, 32 << 20, 32 << 20);
	raw_open(&p.c, 32 << 20, 8 << 20);
	raw_pair_start(&p, "prio", 2);
	memset(&other, 0, sizeof(other));
	other.len = 1 << 20;
	other.ack = true;
	load_start(&other, &p.c, p.conn, 8);
	CHECK(load_more(&other, 3, 60000));
	CHECK(raw_file_write(PARAMETER("silence"), "30000000"));
	bend_lo("tbf rate 1kbit burst 20000 limit 4m");
	raw_sleep(1500 * RAW_MS);
	most = gauge("below");
	CHECK(most > 3 * BELOW);
	bend_lo("tbf rate 50mbit burst 20000 limit 4m");
	CHECK(load_more(&other, 3, 60000));
	urgent_calls(5, &below);
	NOTE("%lld bytes of memory were below, %lld are", (long long)most, (long long)below);
	CHECK(below > 0 && below <= BELOW);
	load_stop(&other);
	CHECK_EQ(load_failed(&other), 0);
	CHECK(raw_file_write(PARAMETER("silence"), "3000000"));
	raw_pair_end(&p);
}

/* -- counters for operators ------------------------------------------------------------------ */

/* Nothing is under way, so no memory is held. */
static bool becomes_idle(void)
{
	static const char *const names[] = {
		"messages_out", "messages_in", "gap_maps", "staged", "outstanding", "below",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!gauge_becomes(names[i], 0, 20000))
			return false;
	return true;
}

/* -- hostile packets ------------------------------------------------------------------------ */

/* Packets that were dropped, by reason. */
static void read_drops(int64_t *drops)
{
	unsigned int i;

	for (i = 0; i < MRPC_PRIO_NR_DROPS; i++)
		drops[i] = op_transport("prio", MRPC_A_TRANSPORT_DROP, mrpc_prio_drop_name(i));
}

/* The reason for which a random packet of a stranger is dropped. */
static unsigned int drop_of(const void *buf, size_t len)
{
	/* No header is longer than that of a packet with the maximum of entries. */
	size_t most = sizeof(struct mrpc_prio_hdr) +
		      MRPC_PRIO_MAX_CONTROL * sizeof(struct mrpc_prio_entry);
	struct mrpc_prio_packet packet;
	uint32_t why;

	if (mrpc_prio_parse(buf, len < most ? len : most, len, &packet, &why))
		return why;
	if (packet.flags & MRPC_PRIO_CRC)
		return MRPC_PRIO_DROP_CRC;
	return packet.type == MRPC_PRIO_HELLO ? MRPC_PRIO_DROP_COOKIE : MRPC_PRIO_DROP_STRANGER;
}

/*
 * Makes a packet that is right, except its sender and, mostly, one bit. Others may follow it, which
 * do not count then. Return: bytes of the datagram.
 */
static size_t nearly_right(uint8_t *buf)
{
	struct mrpc_prio_packet packet = { .type = MRPC_PRIO_DATA, .to = rand(), .from = rand() };
	struct mrpc_prio_note note = { .op = MRPC_PRIO_ACK, .msg = 1 };
	size_t len;

	if (rand() % 2) {
		packet.type = MRPC_PRIO_CONTROL;
		packet.nr = 1;
		len = mrpc_prio_encode(&packet, buf);
		mrpc_prio_note_put(&note, buf + len);
		len += sizeof(struct mrpc_prio_entry);
	} else {
		packet.conn = 1;
		packet.msg = 1;
		packet.total = 100;
		packet.nr = rand() % 2 ? packet.total : 0;
		len = mrpc_prio_encode(&packet, buf);
		memset(buf + len, 0, packet.total);
		len += packet.total;
		if (packet.nr) {
			memcpy(buf + len, buf, len);
			len *= 2;
		}
	}
	if (rand() % 4)
		buf[rand() % (len < MRPC_PRIO_DATA_HDR ? len : MRPC_PRIO_DATA_HDR)] ^= 1 << rand() % 8;
	return len;
}

/* Waits until exactly @want packets were dropped, for each reason that is wanted. */
static bool drops_become(const int64_t *want)
{
	uint64_t end = raw_now() + 10 * RAW_S * raw_patience();
	int64_t drops[MRPC_PRIO_NR_DROPS];
	unsigned int i;

	do {
		read_drops(drops);
		for (i = 0; i < MRPC_PRIO_NR_DROPS; i++)
			if (want[i] >= 0 && drops[i] != want[i])
				break;
		if (i == MRPC_PRIO_NR_DROPS)
			return true;
	} while (raw_now() < end);
	NOTE("%s: %lld were dropped, not %lld", mrpc_prio_drop_name(i), (long long)drops[i],
	     (long long)want[i]);
	return false;
}

/* Random packets, with or without a valid beginning, do not affect existing connections. */
TEST_LIMIT(garbage, 120)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int64_t want[MRPC_PRIO_NR_DROPS], peers;
	uint8_t buf[1400];
	unsigned int i, k;
	int fd;

	raw_pair(&p, "prio", 1);
	read_drops(want);
	/* The connection's own packets are dropped for these reasons, too. */
	for (i = MRPC_PRIO_DROP_TOKEN; i < MRPC_PRIO_NR_DROPS; i++)
		if (i != MRPC_PRIO_DROP_COOKIE)
			want[i] = -1;
	peers = gauge("peers");
	sin.sin_port = htons(p.srv.s.port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = CHECK_SYS(socket(AF_INET, SOCK_DGRAM, 0));
	l.len = 3000;
	load_start(&l, &p.c, p.conn, 4);
	srand(1);
	for (i = 0; i < 20000; i++) {
		size_t len = rand() % (i % 3 ? 120 : sizeof(buf));
		struct mrpc_prio_hdr *hdr = (void *)buf;

		for (k = 0; k < len; k++)
			buf[k] = rand();
		if (i % 4) {
			hdr->magic = cpu_to_le16(MRPC_PRIO_MAGIC);
			hdr->version = MRPC_PRIO_VERSION;
			hdr->type = rand() % (MRPC_PRIO_TYPE_MAX + 2);
			hdr->flags &= MRPC_PRIO_FLAGS;
		}
		if (i % 8 == 1)
			len = nearly_right(buf);
		sendto(fd, buf, len, 0, (void *)&sin, sizeof(sin));
		want[drop_of(buf, len)]++;
		/* Fewer packets than lo would hold back. */
		if (i % 250 == 249)
			CHECK(drops_become(want));
	}
	CHECK(gauge("peers") <= peers);	/* those of earlier tests may have been forgotten */
	CHECK(load_more(&l, 20, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(l.wrong, 0);
	close(fd);
	raw_pair_end(&p);
}

/* -- counters and gauges ---------------------------------------------------------------------- */

/* Makes @nr calls or some more, of @len bytes each. */
static void calls(uint32_t len, unsigned int nr)
{
	memset(&l, 0, sizeof(l));
	l.len = len;
	load_start(&l, &p.c, p.conn, 8);
	CHECK(load_more(&l, nr, 60000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
}

/* A namespace's counters grow with its calls. They stay when its last port is closed. */
TEST_LIMIT(counters, 120)
{
	int64_t bytes, packets, acks, grants, joined;

	/* The counters do not exist before prio is used in the namespace. */
	CHECK(gauge("peers") == -1 || gauge_becomes("peers", 0, 30000));
	raw_pair(&p, "prio", 2);
	CHECK_EQ(gauge("peers"), 2);
	CHECK_EQ(gauge("links"), 2);
	bytes = counter("data_bytes");
	packets = counter("packets");
	acks = counter("acks");
	grants = counter("grants");
	calls(300000, 20);
	/* The bytes go in both directions. */
	CHECK(counter("data_bytes") - bytes >= 2 * 20 * 300000);
	CHECK(counter("packets") - packets >= 2 * 20);
	CHECK(counter("acks") > acks);
	CHECK(counter("grants") > grants);
	joined = counter("joined");
	calls(100, 200);
	CHECK(counter("joined") > joined);
	CHECK(becomes_idle());
	CHECK_EQ(gauge("peers"), 2);
	bytes = counter("data_bytes");
	packets = counter("packets");
	raw_pair_end(&p);
	CHECK(gauge_becomes("peers", 0, 30000));	/* sooner than those of an open port */
	CHECK_EQ(counter("data_bytes"), bytes);
	CHECK(counter("packets") >= packets);
	raw_pair(&p, "prio", 2);
	calls(300000, 20);
	CHECK(counter("data_bytes") - bytes >= 2 * 20 * 300000);
	raw_pair_end(&p);
}

static void restore_settings(void)
{
	raw_file_write(PARAMETER("step"), "16384");
	raw_file_write(PARAMETER("silence"), "3000000");
	raw_file_write(PARAMETER("order"), "srpt");
	raw_file_write(PARAMETER("proportional"), "N");
}

static void parameter_read(const char *path, char *text, int len)
{
	FILE *f = fopen(path, "r");

	CHECK(f && fgets(text, len, f));
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
}

static void check_text(const char *path, const char *text)
{
	char got[32];

	parameter_read(path, got, sizeof(got));
	CHECK_MSG(!strcmp(got, text), "%s is '%s', not '%s'", path, got, text);
}

/* A setting applies at once, also to existing connections. */
TEST(settings)
{
	raw_pair(&p, "prio", 1);
	CHECK_EQ(op_transport("prio", MRPC_A_TRANSPORT_SETTING, "step"),
		 raw_file_number(PARAMETER("step")));
	atexit(restore_settings);
	CHECK(raw_file_write(PARAMETER("step"), "12345"));
	CHECK_EQ(op_transport("prio", MRPC_A_TRANSPORT_SETTING, "step"), 12345);
	CHECK(raw_file_write(PARAMETER("silence"), "5000000"));
	CHECK_EQ(op_transport("prio", MRPC_A_TRANSPORT_SETTING, "silence_ns"), 5000000000LL);
	check_text(PARAMETER("order"), "srpt");
	CHECK(raw_file_write(PARAMETER("order"), "fair"));
	check_text(PARAMETER("order"), "fair");
	CHECK(raw_file_write(PARAMETER("proportional"), "1"));
	check_text(PARAMETER("proportional"), "Y");
	calls(100000, 10);
	restore_settings();
	CHECK_EQ(op_transport("prio", MRPC_A_TRANSPORT_SETTING, "step"), 16384);
	check_text(PARAMETER("order"), "srpt");
	raw_pair_end(&p);
}

/* An invalid value, or one that does not fit the others, changes nothing. */
TEST(settings_that_do_not_fit)
{
	static const char *const bad[][2] = {
		{ "silence", "1999" },		/* less than rto_min */
		{ "rto_min", "199" },		/* ack_delay is more than half of it */
		{ "rto_max", "1999" },
		{ "ack_delay", "1001" },
		{ "overcommit", "0" },
		{ "overcommit", "65" },
		{ "max_rx", "0" },
		{ "max_rx_peer", "-1" },
		{ "order", "lifo" },
		{ "proportional", "maybe" },
		{ "window", "4294967296" },
	};
	char path[128], before[32];
	size_t i;

	raw_pair(&p, "prio", 1);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(path, sizeof(path), PARAMETER("%s"), bad[i][0]);
		parameter_read(path, before, sizeof(before));
		CHECK_MSG(!raw_file_write(path, bad[i][1]), "%s takes '%s'", bad[i][0], bad[i][1]);
		check_text(path, before);
	}
	raw_pair_end(&p);
}

/* Memory held because of lost packets is freed when they have come. */
TEST_LIMIT(losses_leave_nothing, 240)
{
	int64_t resends, resent;

	netem("loss 3%");
	raw_pair(&p, "prio", 2);
	resends = counter("resends");
	resent = counter("resent");
	calls(100000, 100);
	CHECK(counter("resends") > resends);
	CHECK(counter("resent") > resent);
	CHECK(becomes_idle());
	raw_pair_end(&p);
}
