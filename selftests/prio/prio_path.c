// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio/out kmod/lib/prio/path */
/*
 * The transport prio through a router. Beyond it the path is worse than the client's own link:
 * packets must be smaller, or fewer. The router reports that or does not.
 */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>

#include "tap.h"
#include "hosts.h"
#include "load.h"
#include "operator.h"
#include "prio_tells.h"
#include "sniff.h"

#define PORT		7000
#define SERVER		"10.9.2.1"
#define SERVER6		"fd09:2::1"
#define MTU		1500
#define FRAME		(MTU + 14)
#define PAYLOAD		(MTU - 20 - 8 - 64)	/* of a full packet */

static struct host router, h;
static struct raw_server srv;
static struct raw c;
static struct load l;
static int eye;

/* Counters of the server's host, read on request. The host ends when @end is set. */
static struct shared {
	bool end;
	int64_t shrinks;
	int64_t marks;
} *server;

/* -- the three of them ---------------------------------------------------------------------- */

static void router_host(void)
{
	host_wait(&router);
	exit(0);
}

static void server_host(void)
{
	op_forget();
	host_wait(&h);
	raw_server_open(&srv, 16 << 20, 16 << 20);
	raw_server_start(&srv, "prio:[::]:7000", 2);
	host_say(&h);
	for (host_wait(&h); !server->end; host_wait(&h)) {
		server->shrinks = counter("shrinks");
		server->marks = counter("marks");
		host_say(&h);
	}
	raw_server_stop(&srv);
	exit(0);
}

static void ask_server(void)
{
	host_say(&h);
	host_wait(&h);
}

/* Makes the link "veth0" of a namespace to the router, as the way to all other hosts. */
static void lay_link(pid_t pid, const char *dev, unsigned int net)
{
	host_sh("nsenter -t %d -n sh -c 'ip link add %s type veth peer name veth0 netns %d; "
		"ip addr add 10.9.%u.2/24 dev %s; ip addr add fd09:%u::2/64 dev %s nodad; "
		"ip link set %s up'", router.pid, dev, pid, net, dev, net, dev, dev);
	host_sh("nsenter -t %d -n sh -c 'ip addr add 10.9.%u.1/24 dev veth0; "
		"ip addr add fd09:%u::1/64 dev veth0 nodad; ip link set veth0 up; ip link set lo up; "
		"ip route add default via 10.9.%u.2; ip -6 route add default via fd09:%u::2'",
		pid, net, net, net, net);
}

static void begin(const char *addr)
{
	int conn;

	server = mmap(NULL, sizeof(*server), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	CHECK(server != MAP_FAILED);
	CHECK_SYS(unshare(CLONE_NEWNET));
	op_forget();
	if (host_new(&router))
		router_host();
	if (host_new(&h))
		server_host();
	lay_link(getpid(), "left", 1);
	lay_link(h.pid, "right", 2);
	host_sh("nsenter -t %d -n sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; "
		"echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'", router.pid);
	host_say(&h);
	host_wait(&h);
	eye = sniff_open("veth0");
	raw_open(&c, 16 << 20, 16 << 20);
	conn = raw_connect(&c, addr);
	CHECK_MSG(conn > 0, "%s: %s", addr, c.why);
	memset(&l, 0, sizeof(l));
	l.len = 30000;
	l.s = &c;
	l.conn = conn;
}

static void end(void)
{
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	close(eye);
	raw_close(&c);
	server->end = true;
	host_end(&h);
	host_end(&router);
}

/* -- packets that are too large ---------------------------------------------------------------- */

/* Limits the MTU of the router's routes to both sides; 0: that of its links. */
static void narrow(unsigned int mtu)
{
	static const char *const dev[] = { "left", "right" };
	unsigned int i, n;
	char lock[32] = "";

	if (mtu)
		snprintf(lock, sizeof(lock), "mtu lock %u", mtu);
	for (i = 0; i < 2; i++) {
		n = i + 1;
		host_sh("nsenter -t %d -n sh -c 'ip route replace 10.9.%u.0/24 dev %s "
			"proto kernel scope link src 10.9.%u.2 %s; "
			"ip -6 route replace fd09:%u::1/128 dev %s %s'", router.pid, n, dev[i], n,
			lock, n, dev[i], lock);
	}
}

/* Drops the router's own messages, but not those that it forwards. */
static void mute(void)
{
	host_sh("nsenter -t %d -n sh -c 'ip rule add pref 10 iif lo blackhole; "
		"ip -6 rule add pref 10 iif lo blackhole'", router.pid);
}

/* Makes an end soon forget what it was told of the path. */
static void forgetful(pid_t pid)
{
	host_sh("nsenter -t %d -n sh -c 'for i in 4 6; do "
		"echo 3 >/proc/sys/net/ipv$i/route/mtu_expires; done'", pid);
}

/* Bytes of the largest packet that has left since the last look. */
static u32 largest(void)
{
	struct sniffed s;
	u32 most = 0;

	while (sniff_next(eye, PORT, &s))
		if (s.leaves && s.largest > most)
			most = s.largest;
	return most;
}

/* Calls until the largest packets of some calls in a row are of @from to @to bytes. */
static void largest_becomes(u32 from, u32 to)
{
	uint64_t until = raw_now() + 15 * RAW_S * raw_patience();
	u32 most;

	do {
		CHECK(load_more(&l, 10, 30000));
		most = largest();
		CHECK_MSG(raw_now() < until, "packets have up to %u bytes, not %u to %u", most, from,
			  to);
	} while (most < from || most > to);
}

static void told(const char *addr)
{
	begin(addr);
	forgetful(getpid());
	forgetful(h.pid);
	load_start(&l, l.s, l.conn, 4);
	largest_becomes(1400, MTU);
	narrow(1280);
	largest_becomes(1200, 1280);
	CHECK(load_more(&l, 20, 30000));	/* it is forgotten, and told again */
	ask_server();
	CHECK_EQ(counter("shrinks"), 0);
	CHECK_EQ(server->shrinks, 0);
	narrow(0);
	largest_becomes(1400, MTU);
	CHECK(load_more(&l, 10, 30000));
	end();
}

/* The router reports that packets are too large. They become smaller at once, and larger again. */
TEST(told_too_large)
{
	told("prio:" SERVER ":7000");
}

TEST(told_too_large6)
{
	told("prio:[" SERVER6 "]:7000");
}

static void not_told(const char *addr)
{
	begin(addr);
	load_start(&l, l.s, l.conn, 4);
	largest_becomes(1400, MTU);
	mute();
	narrow(1280);
	CHECK(load_more(&l, 10, 60000));
	largest_becomes(1, 1280);
	CHECK(load_more(&l, 10, 60000));
	ask_server();
	NOTE("%lld and %lld times packets were found to be too large",
	     (long long)counter("shrinks"), (long long)server->shrinks);
	CHECK(counter("shrinks") >= 1);
	CHECK(server->shrinks >= 1);
	/* It tries again when the path changes; otherwise after ten minutes. */
	narrow(0);
	CHECK(load_more(&l, 10, 30000));
	CHECK(largest() <= 1280);
	host_sh("ip link set veth0 mtu 1490");
	largest_becomes(1400, 1490);
	end();
}

/* The router does not report it. Losses show it. */
TEST(not_told_too_large)
{
	not_told("prio:" SERVER ":7000");
}

TEST(not_told_too_large6)
{
	not_told("prio:[" SERVER6 "]:7000");
}

/* -- a line that is slower ------------------------------------------------------------------- */

static void restore_settings(void)
{
	raw_file_write(PARAMETER("rto_min"), "2000");
	raw_file_write(PARAMETER("rto_max"), "200000");
}

/*
 * The test counts bytes, not times. Timers are slow, so that a machine that stops for a while does
 * not repeat packets that are only late. Trains of segments are split before the router.
 */
static void begin_slow(void)
{
	if (system("modprobe -qa sch_tbf sch_red; modinfo sch_tbf sch_red >/dev/null"))
		SKIP("there is no tbf or no red here");
	begin("prio:" SERVER ":7000");
	atexit(restore_settings);
	CHECK(raw_file_write(PARAMETER("rto_max"), "1000000"));
	CHECK(raw_file_write(PARAMETER("rto_min"), "100000"));
	host_sh("ip link set veth0 gso_max_segs 1; "
		"tc qdisc add dev veth0 root tbf rate 100mbit burst 20000 limit 1m");
	l.len = 100000;
	l.ack = true;
}

/* Makes the router send to the server at 10 Mbit/s. It keeps @limit bytes, in @queue. */
static void slow_down(unsigned int limit, const char *queue)
{
	host_sh("nsenter -t %d -n sh -c 'tc qdisc del dev right root 2>/dev/null; "
		"tc qdisc add dev right root handle 1: tbf rate 10mbit burst 3100 limit %u; "
		"tc qdisc add dev right parent 1:1 handle 2: %s'", router.pid, limit, queue);
}

/* Packets that the router drops for lack of room are sent again, and little else is. */
TEST(rate)
{
	uint64_t dropped, again;

	begin_slow();
	slow_down(65536, "bfifo limit 65536");
	again = counter("resent");
	load_start(&l, l.s, l.conn, 4);
	CHECK(load_more(&l, 60, 60000));
	load_stop(&l);
	dropped = host_lost(router.pid, "right", "tbf");
	again = (counter("resent") - again) * FRAME / PAYLOAD;
	NOTE("%llu calls, %llu bytes dropped, %llu resent: %.2f", (unsigned long long)load_all(&l),
	     (unsigned long long)dropped, (unsigned long long)again, (double)again / dropped);
	CHECK(dropped > 65536);
	CHECK(again >= dropped / 2);
	CHECK(again <= dropped * 3 / 2);
	/* Repeats in vain are dropped, too. More gets through than is dropped. */
	CHECK(dropped < load_all(&l) * l.len);
	end();
}

/* -- congestion that is marked ---------------------------------------------------------------- */

#define SAMPLES	16

/* Number of CONTROL packets since the last look that report congestion. */
static unsigned int echoes(void)
{
	unsigned int nr = 0;
	struct sniffed s;

	while (sniff_next(eye, PORT, &s))
		nr += !s.leaves && s.first.type == MRPC_PRIO_CONTROL &&
		      s.first.flags & MRPC_PRIO_ECN;
	return nr;
}

/* Makes calls through a router with such a queue. Return: bytes in the queue, on average */
static uint64_t congest(const char *queue, int64_t *marks, unsigned int *told)
{
	uint64_t backlog = 0, dropped;
	unsigned int i;

	slow_down(131072, queue);
	CHECK(load_more(&l, 5, 60000));	/* until the ends know of it */
	ask_server();
	*marks = server->marks;
	dropped = host_queue(router.pid, "right", "tbf").dropped;
	echoes();
	for (i = 0; i < SAMPLES; i++) {
		raw_sleep(50 * RAW_MS);
		backlog += host_queue(router.pid, "right", "tbf").backlog;
	}
	CHECK(load_more(&l, 5, 60000));
	ask_server();
	*marks = server->marks - *marks;
	dropped = host_queue(router.pid, "right", "tbf").dropped - dropped;
	*told = echoes();
	backlog /= SAMPLES;
	NOTE("%.20s: %llu bytes wait, %llu packets dropped, %lld marked, said %u times", queue,
	     (unsigned long long)backlog, (unsigned long long)dropped, (long long)*marks, *told);
	return backlog;
}

/* If the queue marks packets before it is full, the sender makes it shorter. */
TEST(marks)
{
	uint64_t waits, waits_marked;
	unsigned int told;
	int64_t marks;

	begin_slow();
	load_start(&l, l.s, l.conn, 4);
	waits = congest("bfifo limit 131072", &marks, &told);
	CHECK_EQ(marks, 0);
	CHECK_EQ(told, 0);
	waits_marked = congest("red limit 131072 min 8000 max 24000 avpkt 1500 burst 10 "
			       "bandwidth 10mbit probability 1 ecn", &marks, &told);
	CHECK(marks > 0);
	CHECK(told > 0);
	CHECK(waits_marked < waits / 2);
	end();
}
