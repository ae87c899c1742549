// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport on links that lose, duplicate, reorder and end, between hosts, and
 * what urgent messages wait for.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tap.h"
#include "hosts.h"
#include "load.h"
#include "operator.h"
#include "prio_wire.h"

static struct raw_pair p;
static struct load l, other;

static void restore_lo(void)
{
	if (system("tc qdisc del dev lo root 2>/dev/null; ip link set lo mtu 65536 up"))
		printf("# lo stays as it is\n");
}

/* lo with packets as on others, and with @qdisc. */
static void bend_lo(const char *module, const char *qdisc)
{
	char command[300];

	snprintf(command, sizeof(command), "modprobe -q %s; ip link set lo mtu 1500;"
		 "tc qdisc replace dev lo root %s", module, qdisc);
	if (system(command))
		SKIP("there is no %s here", module);
	atexit(restore_lo);
}

static void netem(const char *what)
{
	char qdisc[200];

	snprintf(qdisc, sizeof(qdisc), "netem limit 10000 %s", what);
	bend_lo("sch_netem", qdisc);
}

/* Calls of all sizes, each of which must be answered, once, with its own content. */
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

/* Packets become smaller and larger while messages are on their way. */
TEST_LIMIT(mtu, 180)
{
	static const unsigned int mtus[] = { 1500, 9000, 1280, 65536, 1400 };
	unsigned int i;

	atexit(restore_lo);
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

/* The link ends: calls do, too, and connections can be made again when it is back. */
TEST_LIMIT(blackhole, 120)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	uint64_t begin;
	unsigned int i;
	int conn;

	netem("delay 0");
	raw_pair(&p, "prio", 2);
	netem("loss 100%");
	begin = raw_now();
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 50000, NULL));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	CHECK(raw_now() - begin < 30 * RAW_S);
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

/* Nobody is at the port: known at once, not after a time. */
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

/* An address that all of the host's are: replies come from the one that was asked. */
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

/* -- what is urgent ----------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Median of urgent small calls beside large ones on the same connection, ns. */
static uint64_t urgent_beside_bulk(const char *how)
{
	static uint64_t took[21];
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	unsigned int i;

	raw_server_open(&p.srv, 32 << 20, 32 << 20);
	raw_open(&p.c, 32 << 20, 8 << 20);
	raw_pair_start(&p, how, 2);
	memset(&other, 0, sizeof(other));
	other.len = 1 << 20;
	other.ack = true;
	load_start(&other, &p.c, p.conn, 8);
	CHECK(load_more(&other, 3, 60000));
	for (i = 0; i < 21; i++) {
		uint64_t begin = raw_now();

		sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, i, 32, NULL));
		sqe.priority = 250;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		took[i] = raw_now() - begin;
		raw_done(&p.c, &cqe);
		raw_free(&p.c, sqe.root);
	}
	load_stop(&other);
	CHECK_EQ(load_failed(&other), 0);
	raw_pair_end(&p);
	qsort(took, 21, sizeof(took[0]), by_size);
	return took[10];
}

/* Half a second of line time is in a TCP connection's way; a few chunks are in prio's. */
TEST_LIMIT(urgent, 240)
{
	uint64_t tcp, prio;

	bend_lo("sch_tbf", "tbf rate 50mbit burst 20000 limit 4m");
	tcp = urgent_beside_bulk("tcp4");
	prio = urgent_beside_bulk("prio");
	NOTE("an urgent call takes %llu us over prio, %llu us over tcp: %.1f times",
	     (unsigned long long)prio / 1000, (unsigned long long)tcp / 1000,
	     (double)tcp / prio);
	CHECK(prio * 4 < tcp);
}

/* -- hostile packets ------------------------------------------------------------------------ */

/* Anything, beginning like a packet or not, does nothing to those who have connections. */
TEST_LIMIT(garbage, 120)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	uint8_t buf[1400];
	unsigned int i, k;
	int fd;

	raw_pair(&p, "prio", 1);
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
		sendto(fd, buf, len, 0, (void *)&sin, sizeof(sin));
	}
	CHECK(load_more(&l, 20, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(l.wrong, 0);
	close(fd);
	raw_pair_end(&p);
}
