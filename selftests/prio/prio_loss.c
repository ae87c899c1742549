// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio kmod/lib/prio/tx_heard kmod/lib/prio/gaps */
/*
 * What the transport prio sends again on links that lose, repeat and reorder: about what was lost.
 * These are counts, not times: so its timers are slow, that a machine that stands still for a while
 * does not repeat what is only late.
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

#define MTU		1500
#define FRAME		(MTU + 14)
#define PAYLOAD		(MTU - 20 - 8 - 64)	/* of a full packet */
#define BYTES		100000			/* of a request, and of its reply */

static struct host h;
static struct raw_server srv;
static struct raw c;
static struct load l;

/* What the other host has counted, when it was asked; it ends if @end is set. */
static struct shared {
	bool end;
	int64_t resent;
	int64_t left;
} *other;

/* What is kept of messages that are under way. */
static int64_t left_here(void)
{
	return gauge("gap_maps") + gauge("messages_in") + gauge("messages_out");
}

static void other_host(void)
{
	op_forget();
	host_wait(&h);
	raw_server_open(&srv, 16 << 20, 16 << 20);
	raw_server_start(&srv, "prio:" HOST_ADDR ":7000", 2);
	host_say(&h);
	for (host_wait(&h); !other->end; host_wait(&h)) {
		other->resent = counter("resent");
		other->left = left_here();
		host_say(&h);
	}
	raw_server_stop(&srv);
	exit(0);
}

static void ask_other(void)
{
	host_say(&h);
	host_wait(&h);
}

/* Of both hosts, bytes on the line: with each packet's headers. */
static uint64_t resent(void)
{
	ask_other();
	return (uint64_t)(counter("resent") + other->resent) * FRAME / PAYLOAD;
}

static uint64_t lost(void)
{
	return host_lost(getpid(), "left", "netem") + host_lost(getpid(), "right", "netem");
}

/*
 * A switch between the hosts, which loses and so on in both directions. It is behind what queues: a
 * packet that overtakes others does not overtake a queue. Trains of segments end before it.
 */
static void bad_switch(const char *netem)
{
	static const char *const mine = "ip link set veth0 gso_max_segs 1; "
		"tc qdisc add dev veth0 root tbf rate 50mbit burst 3100 limit 1m";

	if (system("modprobe -q sch_netem; modprobe -q sch_tbf; modinfo sch_netem >/dev/null"))
		SKIP("there is no netem here");
	host_sh("ip link add switch type bridge; ip link set switch up; ip link set lo up");
	host_sh("ip link add left type veth peer name veth0; "
		"ip addr add 10.9.0.1/24 dev veth0; ip link set veth0 up");
	host_sh("ip link add right type veth peer name veth0 netns %d", h.pid);
	host_sh("nsenter -t %d -n sh -c 'ip addr add " HOST_ADDR "/24 dev veth0; "
		"ip link set veth0 up; ip link set lo up; %s'", h.pid, mine);
	host_sh("%s", mine);
	host_sh("for i in left right; do ip link set $i master switch up; "
		"tc qdisc add dev $i root netem limit 10000 %s; done", netem);
}

static void settings(const char *rto_min, const char *rto_max)
{
	CHECK(raw_file_write(PARAMETER("rto_max"), rto_max));
	CHECK(raw_file_write(PARAMETER("rto_min"), rto_min));
}

static void restore_settings(void)
{
	raw_file_write(PARAMETER("rto_min"), "2000");
	raw_file_write(PARAMETER("rto_max"), "200000");
}

static void hosts_begin(const char *netem)
{
	int conn;

	other = mmap(NULL, sizeof(*other), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	CHECK(other != MAP_FAILED);
	/* An endpoint that knows nothing of another test's other host. */
	CHECK_SYS(unshare(CLONE_NEWNET));
	if (host_new(&h))
		other_host();
	bad_switch(netem);
	host_say(&h);
	host_wait(&h);
	atexit(restore_settings);
	/* A busy host stops its machines for a third of a second: then nothing is late here. */
	settings("500000", "1000000");
	raw_open(&c, 16 << 20, 16 << 20);
	conn = raw_connect(&c, "prio:" HOST_ADDR ":7000");
	CHECK_MSG(conn > 0, "%s", c.why);
	l.len = BYTES;
	load_start(&l, &c, conn, 8);
}

/* All that was under way has ended; then nothing is kept of it, at either end. */
static void hosts_end(void)
{
	uint64_t end = raw_now() + 20 * RAW_S * raw_patience();

	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	for (ask_other(); left_here() || other->left; ask_other()) {
		CHECK_MSG(raw_now() < end, "%lld and %lld gap maps and messages are left",
			  (long long)left_here(), (long long)other->left);
		raw_sleep(20 * RAW_MS);
	}
	/* Both hosts are of this kernel. */
	CHECK_EQ(raw_slab_objects("mrpc_prio_gaps"), 0);
}

static void all_end(void)
{
	raw_close(&c);
	other->end = true;
	host_end(&h);
	host_sh("ip link del right 2>/dev/null; ip link del switch");
}

/* Calls until about @packets were lost: no more than half as much again was sent again. */
static void costs(const char *netem, unsigned int packets)
{
	uint64_t was_lost, again;

	hosts_begin(netem);
	do {
		CHECK(load_more(&l, 20, 60000));
		was_lost = lost();
	} while (was_lost < packets * FRAME);
	hosts_end();
	was_lost = lost();
	again = resent();
	NOTE("%s: %llu calls, %llu bytes lost, %llu resent: %.2f", netem,
	     (unsigned long long)load_all(&l), (unsigned long long)was_lost,
	     (unsigned long long)again, (double)again / was_lost);
	CHECK(again >= was_lost / 2);
	CHECK(again <= was_lost * 3 / 2);
	all_end();
}

TEST_LIMIT(few, 120)
{
	costs("loss 0.1%", 20);
}

TEST_LIMIT(many, 120)
{
	costs("loss 1%", 200);
}

TEST_LIMIT(disorder_too, 120)
{
	costs("delay 1ms reorder 5% 25% duplicate 0.5% loss 1%", 200);
}

/* What is only late, or comes twice, is not lost. */
TEST_LIMIT(disorder_only, 120)
{
	hosts_begin("delay 1ms reorder 5% 25% duplicate 0.5%");
	CHECK(load_more(&l, 200, 60000));
	hosts_end();
	CHECK_EQ(lost(), 0);
	CHECK_EQ(resent(), 0);
	all_end();
}
