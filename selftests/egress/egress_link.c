// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/egress kmod/transports/tcp/egress kmod/transports/prio/egress kmod/lib/egress.c */
/*
 * Egress domains and the link below them: what goes before urgent messages, the shares of tenants,
 * and the independence of connections. For the gain in latency, see egress_latency.c.
 */
#include <linux/inet_diag.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tap.h"
#include "lo.h"
#include "load.h"
#include "operator.h"
#include "prio_tells.h"
#include "peer.h"
#include "slow_link.h"

#define STRICT	"discipline=strict"

#define SET	MRPC_CMD_EGRESS_SET
#define DEL	MRPC_CMD_EGRESS_DEL

static struct raw_pair p;
static struct raw_qp qp;
static struct load l, other;

static void begin(void)
{
	op_del_all();
	op_egress(DEL, "lo", NULL);
}

/* The datapath of a connection of the client. Its session was opened after the server's. */
static struct op_queue client(const char *dev, int conn)
{
	static struct op_queue all[64];
	unsigned int nr = op_egress_queues(dev, all, 64), i, found = 0;

	for (i = 1; i < nr; i++)
		if (all[i].value[MRPC_A_EGRESS_QUEUE_SESSION] >
		    all[found].value[MRPC_A_EGRESS_QUEUE_SESSION])
			found = i;
	for (i = 0; i < nr; i++)
		if (all[i].value[MRPC_A_EGRESS_QUEUE_SESSION] ==
		    all[found].value[MRPC_A_EGRESS_QUEUE_SESSION] &&
		    all[i].value[MRPC_A_EGRESS_QUEUE_CONN] == conn)
			return all[i];
	raw_die("connection %d is in no domain", conn);
}

/* Makes urgent calls beside bulk ones over one slow link. @ahead: bytes that go before them. */
static void waits(const char *rule, int64_t *ahead)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	unsigned int i;

	op_must_egress(SET, "lo", rule);
	raw_pair(&p, "tcp4", 1);
	other.len = 32768;
	load_start(&other, &p.c, raw_connect(&p.c, p.addr), 16);
	load_start(&l, &p.c, raw_connect(&p.c, p.addr), 1);
	CHECK(load_more(&other, 5, 30000));
	load_stop(&l);
	for (i = 0; i < 20; i++) {
		sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, i, 32, NULL));
		sqe.priority = 250;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
		raw_free(&p.c, sqe.root);
	}
	*ahead = client("lo", p.conn).value[MRPC_A_EGRESS_QUEUE_AHEAD];
	load_stop(&other);
	CHECK_EQ(load_failed(&other), 0);
	raw_pair_end(&p);
}

TEST_LIMIT(one_chunk, 180)
{
	int64_t ahead = INT64_MAX;
	unsigned int i;

	begin();
	slow_lo();
	/* If the machine stops, a grant not taken for 10 ms is lost. So there are tries. */
	for (i = 0; i < 5 && ahead > 16384; i++) {
		waits(STRICT " chunk=16384 limit=32768", &ahead);
		op_must_egress(DEL, "lo", NULL);
	}
	NOTE("%lld bytes went before urgent messages while they waited", (long long)ahead);
	CHECK(ahead <= 16384);
}

/* -- shares ------------------------------------------------------------------------------- */

/* The bytes of the datapath of the only client that has this tenant. */
static int64_t tenant_sent(const char *tenant)
{
	static struct op_queue all[64];
	unsigned int nr = op_egress_queues("lo", all, 64), i;

	for (i = 0; i < nr; i++)
		if (!strcmp(all[i].tenant, tenant))
			return all[i].value[MRPC_A_EGRESS_QUEUE_SENT];
	raw_die("nobody is %s", tenant);
}

static void tenant_is(const char *name, const char *tenant, unsigned int weight, int conn)
{
	char words[100];

	snprintf(words, sizeof(words), "name=%s tenant=%s weight=%u datapath=%lld", name, tenant,
		 weight, (long long)client("lo", conn).value[MRPC_A_EGRESS_QUEUE_DATAPATH]);
	op_must_add("qos", words, NULL);
	CHECK_STR(client("lo", conn).tenant, tenant);
}

/* Bytes of each tenant while @pace makes 150 calls. */
static void tenants_share(const struct load *pace, int64_t *gold, int64_t *lead)
{
	int64_t from_gold = tenant_sent("gold"), from_lead = tenant_sent("lead");

	CHECK(load_more(pace, 150, 120000));
	*gold = tenant_sent("gold") - from_gold;
	*lead = tenant_sent("lead") - from_lead;
	NOTE("%lld and %lld bytes: %.2f to 1", (long long)*gold, (long long)*lead,
	     (double)*gold / *lead);
}

/* The tenant with more weight sends more: three to one, then the reverse, under load. */
static void shares_by_weight(void)
{
	int64_t gold, lead;

	CHECK(load_more(&l, 30, 60000));
	CHECK(load_more(&other, 10, 60000));
	tenants_share(&l, &gold, &lead);
	CHECK(gold > lead && gold < 5 * lead);
	op_must_set("a", "weight=100", NULL);
	op_must_set("b", "weight=300", NULL);
	CHECK(load_more(&l, 10, 60000));
	tenants_share(&other, &gold, &lead);
	CHECK(lead > gold && lead < 5 * gold);
	op_must_del("a");
	op_must_del("b");
}

static void end_loads(void)
{
	load_stop(&l);
	load_stop(&other);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(load_failed(&other), 0);
}

/*
 * Shares by weight, three to one. A datapath has one grant at a time. So on a machine that is late
 * by more than a chunk, one connection per tenant is not enough. Without weights, the tenant with
 * more waiting calls sends more.
 */
TEST_LIMIT(shares, 240)
{
	int second;

	begin();
	slow_lo();
	op_must_egress(SET, "lo", STRICT " fair=1");
	raw_pair(&p, "tcp4", 2);
	second = raw_connect(&p.c, p.addr);
	tenant_is("a", "gold", 300, p.conn);
	tenant_is("b", "lead", 100, second);
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_TENANTS), 3);	/* and the server's */
	l.len = other.len = 32768;
	l.ack = other.ack = true;
	load_start(&l, &p.c, p.conn, 16);
	load_start(&other, &p.c, second, 32);
	shares_by_weight();
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_TENANTS), 1);	/* this user */
	end_loads();
	raw_pair_end(&p);
	op_must_egress(DEL, "lo", NULL);
}

static struct raw_pair q;

/* A connection of tcp and one of prio share one link by weight, in both proportions. */
TEST_LIMIT(shares_prio, 240)
{
	begin();
	slow_lo();
	op_must_egress(SET, "lo", STRICT " fair=1");
	l.len = other.len = 32768;
	l.ack = other.ack = true;
	raw_pair(&p, "tcp4", 1);
	tenant_is("a", "gold", 300, p.conn);
	raw_pair(&q, "prio", 1);
	tenant_is("b", "lead", 100, q.conn);
	load_start(&l, &p.c, p.conn, 32);
	load_start(&other, &q.c, q.conn, 32);
	shares_by_weight();
	end_loads();
	raw_pair_end(&q);
	raw_pair_end(&p);
	op_must_egress(DEL, "lo", NULL);
}

/* -- bytes below ------------------------------------------------------------------------ */

/**
 * struct below - maximum amounts below the scheduler
 * @out: bytes that the domain counts as granted, or sent and not gone
 * @memory: memory that the transport's sockets report, bytes
 * @queued: bytes in the device's queue, with all headers
 */
struct below {
	int64_t out;
	int64_t memory;
	int64_t queued;
};

/* Sum of @part over the messages of a dump. */
static int64_t dump(int protocol, const void *ask, size_t len,
		    int64_t (*part)(const struct nlmsghdr *n))
{
	static char buf[32768] __attribute__((__aligned__(8)));
	static int fds[NETLINK_SOCK_DIAG + 1];
	const struct nlmsghdr *n;
	int64_t sum = 0;
	int left;

	if (!fds[protocol])
		fds[protocol] = CHECK_SYS(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
	CHECK_EQ(send(fds[protocol], ask, len, 0), len);
	for (;;) {
		left = CHECK_SYS(recv(fds[protocol], buf, sizeof(buf), 0));
		for (n = (const void *)buf; NLMSG_OK(n, left); n = NLMSG_NEXT(n, left)) {
			if (n->nlmsg_type == NLMSG_DONE)
				return sum;
			CHECK(n->nlmsg_type != NLMSG_ERROR);
			sum += part(n);
		}
	}
}

/* A socket's memory in queues and devices, and the data behind it; see below() of tcp. */
static int64_t below_of_socket(const struct nlmsghdr *n)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	const struct rtattr *a = (const void *)(m + 1);
	int len = n->nlmsg_len - NLMSG_LENGTH(sizeof(*m));
	int64_t queued = 0, unsent = 0;

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == INET_DIAG_SKMEMINFO)
			queued = ((const uint32_t *)RTA_DATA(a))[SK_MEMINFO_WMEM_ALLOC];
		else if (a->rta_type == INET_DIAG_INFO)
			unsent = ((const struct tcp_info *)RTA_DATA(a))->tcpi_notsent_bytes;
	}
	return queued ? queued + unsent : 0;
}

/* Sum over all TCP connections of this host, as the kernel reports it (ss -tm). */
static int64_t below_of_tcp(void)
{
	const struct {
		struct nlmsghdr n;
		struct inet_diag_req_v2 r;
	} ask = {
		.n = {
			.nlmsg_len = sizeof(ask), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.r = {
			.sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1) | 1 << (INET_DIAG_INFO - 1),
			.idiag_states = ~0U,
		},
	};

	return dump(NETLINK_SOCK_DIAG, &ask, sizeof(ask), below_of_socket);
}

/* Bytes in the discipline at the root of lo. */
static int64_t queue_of_lo(const struct nlmsghdr *n)
{
	const struct tcmsg *m = NLMSG_DATA(n);
	const struct rtattr *a = TCA_RTA(m);
	int len = TCA_PAYLOAD(n);

	if (m->tcm_ifindex != 1 || m->tcm_parent != TC_H_ROOT)
		return 0;
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (a->rta_type == TCA_STATS)
			return ((const struct tc_stats *)RTA_DATA(a))->backlog;
	return 0;
}

static int64_t queued_at_lo(void)
{
	const struct {
		struct nlmsghdr n;
		struct tcmsg m;
	} ask = {
		.n = {
			.nlmsg_len = sizeof(ask), .nlmsg_type = RTM_GETQDISC,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.m = { .tcm_family = AF_UNSPEC, .tcm_ifindex = 1 },
	};

	return dump(NETLINK_ROUTE, &ask, sizeof(ask), queue_of_lo);
}

static void most(int64_t *most, int64_t now)
{
	*most = now > *most ? now : *most;
}

/*
 * Maximum below while @nr connections send all the time. Messages have @len bytes, and 4 MiB of
 * them are in flight. @rule: of the domain, or NULL
 */
static struct below most_below(const char *how, const char *rule, unsigned int nr, uint32_t len)
{
	struct below b = {};
	unsigned int i;

	if (rule)
		op_must_egress(SET, "lo", rule);
	raw_server_open(&p.srv, 64 << 20, 32 << 20);
	raw_open(&p.c, 64 << 20, 8 << 20);
	raw_pair_start(&p, how, 2);
	bulk_start(&p, nr, len, (4 << 20) / nr / len);
	CHECK(load_more(&bulk[0], 2, 60000));
	for (i = 0; i < 500; i++) {
		most(&b.memory, strcmp(how, "prio") ? below_of_tcp() : gauge("below"));
		most(&b.queued, queued_at_lo());
		if (rule)
			most(&b.out, op_egress_number("lo", MRPC_A_EGRESS_OUT));
		raw_sleep(RAW_MS);
	}
	bulk_stop();
	raw_pair_end(&p);
	NOTE("%s, %u connections, %s: at most %lld bytes out, %lld queued at the device, %lld of "
	     "memory below", how, nr, rule ? "a domain" : "none", (long long)b.out,
	     (long long)b.queued, (long long)b.memory);
	if (rule) {
		/* Bytes still in the link count as out until they have gone. */
		for (i = 0; i < 500 && op_egress_number("lo", MRPC_A_EGRESS_OUT); i++)
			raw_sleep(10 * RAW_MS);
		CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_OUT), 0);
		op_must_egress(DEL, "lo", NULL);
	}
	return b;
}

#define CHUNK	16384
#define LIMIT	(2 * CHUNK)

/* A chunk with the headers of its packets, of 1500 bytes on the line. */
#define LINE	(CHUNK + CHUNK / 16)
/* A chunk as packets in the memory of either transport. */
#define CHUNK_PRIO	24576
#define CHUNK_TCP	20480
/* Allowance for a few packets without payload, and for packets of other messages. */
#define SMALL		16384

/* @late: number of owners that have not reported what they have sent */
static void check_below(const struct below *b, unsigned int late)
{
	CHECK(b->out > 0 && b->queued > 0 && b->memory > 0);
	CHECK(b->out <= LIMIT + late * CHUNK);
	CHECK(b->queued <= (2 + late) * LINE + SMALL);
}

/* If a machine stops, an owner is late with one chunk. */
TEST_LIMIT(below_prio, 240)
{
	struct below b;

	begin();
	slow_lo();
	b = most_below("prio", STRICT, 1, 1 << 20);
	check_below(&b, 1);
	CHECK(b.memory <= 2 * CHUNK_PRIO + SMALL);
	b = most_below("prio", STRICT, BULK, 256 << 10);
	check_below(&b, 1);
	most_below("prio", NULL, BULK, 256 << 10);
}

/*
 * Each connection is an owner of its own, and on a slow machine several can be late. The sum over
 * all sockets mixes different moments: bytes that have left one may be in another.
 */
TEST_LIMIT(below_tcp, 240)
{
	unsigned int late = raw_counted() ? 1 : 3;
	struct below b, without;

	begin();
	slow_lo();
	b = most_below("tcp4", STRICT, BULK, 256 << 10);
	check_below(&b, late);
	CHECK(b.memory <= (2 + late) * CHUNK_TCP + SMALL);
	without = most_below("tcp4", NULL, BULK, 256 << 10);
	CHECK(without.memory > 4 * b.memory && without.queued > 2 * b.queued);
}

/* Bytes of connection handshakes: such connections are in no domain yet. */
#define HANDSHAKES	4096

/* Lost bytes are sent again, by grants as all others. */
TEST_LIMIT(losses_prio, 180)
{
	int64_t sent, arrived, resent;

	begin();
	if (!lo_bend("netem limit 10000 loss 3%"))
		SKIP("there is no netem here");
	op_must_egress(SET, "lo", STRICT " fair=1");
	raw_pair(&p, "prio", 2);
	sent = op_egress_number("lo", MRPC_A_EGRESS_SENT);
	arrived = counter("data_bytes");
	resent = counter("resent");
	l.len = 300000;
	load_start(&l, &p.c, p.conn, 4);
	other.len = 3000;
	load_start(&other, &p.c, raw_connect(&p.c, p.addr), 8);
	CHECK(load_more(&l, 100, 120000));
	CHECK(load_more(&other, 300, 120000));
	end_loads();
	arrived = counter("data_bytes") - arrived;
	resent = counter("resent") - resent;
	sent = op_egress_number("lo", MRPC_A_EGRESS_SENT) - sent;
	NOTE("%lld bytes by grants: %lld arrived, %lld were resent", (long long)sent,
	     (long long)arrived, (long long)resent);
	CHECK(resent > HANDSHAKES);
	CHECK(sent + HANDSHAKES >= arrived + resent);
	raw_pair_end(&p);
	op_must_egress(DEL, "lo", NULL);
}

/* -- connections do not block each other ------------------------------------------------ */

static struct peer w;
static int listener;

static void *welcome(void *arg)
{
	(void)arg;
	if (!peer_accept(&w, listener, 10000))
		raw_die("nobody connects");
	peer_welcome(&w);
	return NULL;
}

/* Grants of the datapath that has much to send and no credit. Return: there is one. */
static bool stuck_grants(int64_t *grants)
{
	struct op_queue all[64];
	unsigned int nr = op_egress_queues("lo", all, 64), i;

	for (i = 0; i < nr; i++) {
		if (all[i].value[MRPC_A_EGRESS_QUEUE_LEFT] <= 1 << 16 ||
		    all[i].value[MRPC_A_EGRESS_QUEUE_CREDIT] ||
		    all[i].value[MRPC_A_EGRESS_QUEUE_BELOW])
			continue;
		*grants = all[i].value[MRPC_A_EGRESS_QUEUE_GRANTS];
		return true;
	}
	return false;
}

/* A peer does not read and has much under way. Other connections do not notice. */
TEST_LIMIT(stalled, 120)
{
	static struct load stuck;
	char addr[64];
	pthread_t thread;
	unsigned int i;
	int64_t wasted, before, grants = -1;
	bool settled = false;
	uint16_t port;
	int conn;

	begin();
	op_must_egress(SET, "lo", STRICT);
	raw_pair(&p, "tcp4", 1);
	listener = peer_listen(&port);
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", port);
	CHECK(!pthread_create(&thread, NULL, welcome, NULL));
	conn = raw_connect(&p.c, addr);
	CHECK(conn > 0);
	pthread_join(thread, NULL);
	stuck.len = 4 << 20;
	load_start(&stuck, &p.c, conn, 4);
	load_start(&l, &p.c, p.conn, 8);
	CHECK(load_more(&l, 200, 60000));
	/* Waits until its socket is full: then it has no more turns. */
	for (i = 0; i < 100 && !settled; i++) {
		CHECK(load_more(&l, 100, 60000));
		before = grants;
		settled = stuck_grants(&grants) && grants == before;
	}
	CHECK(settled);
	wasted = op_egress_number("lo", MRPC_A_EGRESS_WASTED);
	before = grants;
	CHECK(load_more(&l, 200, 60000));
	CHECK(stuck_grants(&grants));
	/* The peer's window may open once more. Other connections had hundreds of turns. */
	CHECK_MSG(grants <= before + 2, "%lld turns", (long long)(grants - before));
	CHECK(op_egress_number("lo", MRPC_A_EGRESS_WASTED) <= wasted + 20);
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	peer_reset(&w);
	load_stop(&stuck);
	close(listener);
	raw_pair_end(&p);
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_DATAPATHS), 0);
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_OUT), 0);
	op_must_egress(DEL, "lo", NULL);
}

/* A receiver with a full heap grants nothing. Its sender has no turns; others do not notice. */
TEST_LIMIT(stalled_prio, 120)
{
	int64_t grants = -1, before, datapath;
	struct op_queue all[64];
	unsigned int i, k, nr;

	begin();
	op_must_egress(SET, "lo", STRICT);
	raw_server_open(&p.srv, 1 << 20, 1 << 20);
	raw_open(&p.c, 48 << 20, 1 << 20);
	p.srv.keep = true;
	raw_pair_start(&p, "prio", 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	datapath = client("lo", p.conn).value[MRPC_A_EGRESS_QUEUE_DATAPATH];
	for (i = 0; i < 32; i++) {
		struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, i, 300000, NULL));

		CHECK(raw_push(&qp, &sqe));
		CHECK(raw_enter(&qp, 0, 0) >= 0);
	}
	raw_pair(&q, "prio", 1);
	l.len = 32768;
	load_start(&l, &q.c, q.conn, 8);
	for (i = 0; i < 100; i++) {
		CHECK(load_more(&l, 200, 60000));
		nr = op_egress_queues("lo", all, 64);
		for (k = 0; k < nr && all[k].value[MRPC_A_EGRESS_QUEUE_DATAPATH] != datapath; k++)
			;
		CHECK(k < nr);
		before = grants;
		grants = all[k].value[MRPC_A_EGRESS_QUEUE_GRANTS];
		if (grants == before && all[k].value[MRPC_A_EGRESS_QUEUE_LEFT] > 0 &&
		    !all[k].value[MRPC_A_EGRESS_QUEUE_CREDIT])
			break;
	}
	CHECK(i < 100);
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	raw_pair_end(&q);
	raw_close(&p.c);
	raw_server_stop(&p.srv);
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_OUT), 0);
	op_must_egress(DEL, "lo", NULL);
}

/* -- many ------------------------------------------------------------------------------------ */

#define MANY	1000

/* A datapath that has a message and no credit, and its number of grants. */
struct waiter {
	int64_t datapath;
	int64_t grants;
};

static unsigned int without_credit(struct waiter *all)
{
	static struct op_queue queues[4096];
	unsigned int nr = op_egress_queues("lo", queues, 4096), i, found = 0;

	for (i = 0; i < nr; i++) {
		if (queues[i].value[MRPC_A_EGRESS_QUEUE_LEFT] <= 0 ||
		    queues[i].value[MRPC_A_EGRESS_QUEUE_CREDIT])
			continue;
		all[found++] = (struct waiter){
			.datapath = queues[i].value[MRPC_A_EGRESS_QUEUE_DATAPATH],
			.grants = queues[i].value[MRPC_A_EGRESS_QUEUE_GRANTS],
		};
	}
	return found;
}

/* Return: datapaths that waited before and wait now. @turns: their grants in between. */
static unsigned int still_waiting(const struct waiter *before, unsigned int nr_before,
				  const struct waiter *now, unsigned int nr_now, int64_t *turns)
{
	unsigned int i, k, both = 0;

	*turns = 0;
	for (i = 0; i < nr_before; i++)
		for (k = 0; k < nr_now; k++)
			if (before[i].datapath == now[k].datapath) {
				*turns += now[k].grants - before[i].grants;
				both++;
			}
	return both;
}

/* A server does not read, and 1,000 connections wait for it. That costs no turn. */
TEST_LIMIT(without_credit, 300)
{
	static struct waiter first[4096], second[4096];
	unsigned int i, nr, both;
	int64_t turns, wasted;
	uint64_t until;

	begin();
	CHECK(raw_file_write("/proc/sys/net/ipv4/tcp_rmem", "4096 4096 4096"));
	op_must_egress(SET, "lo", STRICT " chunk=1024 limit=2048");
	raw_server_open(&p.srv, 1 << 20, 1 << 20);
	raw_open(&p.c, 48 << 20, 1 << 20);
	p.srv.keep = true;
	raw_pair_start(&p, "tcp4", 1);
	raw_qp(&qp, &p.c, 64, 4096, 0);
	for (i = 0; i < MANY; i++) {
		struct mrpc_sqe sqe = raw_sqe(i ? raw_connect(&p.c, p.addr) : p.conn, RAW_HANG,
					      raw_blob(&p.c, i, 32768, NULL));

		CHECK(raw_push(&qp, &sqe));
		CHECK(raw_enter(&qp, 0, 0) >= 0);
	}
	until = raw_now() + 60 * RAW_S * raw_scale();
	do {	/* until their sockets are full */
		nr = without_credit(first);
		raw_sleep(500 * RAW_MS);
		both = still_waiting(first, nr, second, without_credit(second), &turns);
	} while ((both < MANY * 9 / 10 || turns) && raw_now() < until);
	CHECK_MSG(both >= MANY * 9 / 10, "%u wait without credit", both);
	raw_file_write("/proc/sys/net/ipv4/tcp_rmem", "4096 131072 6291456");
	raw_pair(&q, "tcp4", 1);
	load_start(&l, &q.c, q.conn, 8);
	CHECK(load_more(&l, 50, 60000));
	nr = without_credit(first);
	wasted = op_egress_number("lo", MRPC_A_EGRESS_WASTED);
	CHECK(load_more(&l, 300, 60000));
	both = still_waiting(first, nr, second, without_credit(second), &turns);
	NOTE("%u datapaths without credit took %lld turns", both, (long long)turns);
	/* Sometimes the peer's window opens a little. No turn is wasted. */
	CHECK(both >= MANY * 8 / 10 && turns <= both / 10);
	CHECK(op_egress_number("lo", MRPC_A_EGRESS_WASTED) <= wasted + 30);
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	raw_pair_end(&q);
	raw_close(&p.c);
	raw_server_stop(&p.srv);
	op_must_egress(DEL, "lo", NULL);
}
