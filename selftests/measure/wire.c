// SPDX-License-Identifier: GPL-2.0
/*
 * Calls between hosts on shaped links, over tcp and over prio in turn: see usage(). Each host is a
 * process in its own network namespace. This process routes between them. (Over a bridge a packet
 * would stay its sender's until it arrives. Then the bytes below a host would include the
 * receiver's queue.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "flow.h"
#include "hosts.h"
#include "load.h"
#include "operator.h"
#include "prio_tells.h"
#include "series.h"
#include "w4.h"

#define HOSTS		8
#define PEERS		(HOSTS - 1)
#define STREAMS		4		/* connections to each other host, over each transport */
#define SAMPLES		20000		/* of one host in one run */
#define SHORT		1400		/* one packet */
#define LARGE		100000
#define BULK_LEN	LARGE		/* all calls of a host may end together, so not too large */
#define OUTSTANDING	"262144"	/* of PEERS messages at most */
#define LOAD		80		/* percent of each link */
#define OVERCOMMIT	PARAMETER("overcommit")

enum { TCP, PRIO, TRANSPORTS };

static const char *const transports[TRANSPORTS] = { "tcp", "prio" };

enum order { CONNECT, MIX, BULK, ECHO, PAIR, COUNT, END };

/**
 * struct result - the measurements of a host
 * @nr: number of @samples
 * @bytes: of requests that ended in time
 * @failed: calls that did not succeed
 * @why: detail of one of them
 * @resent: counter of prio: bytes of payload sent again
 * @gap_maps: gauge of prio
 * @base: shortest call on idle links, ns
 */
struct result {
	unsigned int nr;
	uint64_t bytes;
	uint64_t failed;
	char why[MRPC_MAX_DETAIL + 1];
	uint64_t resent;
	uint64_t gap_maps;
	uint64_t base;
	struct flow_sample samples[SAMPLES];
};

/* Orders for all hosts; written before the hosts are told. */
static struct shared {
	enum order order;
	unsigned int transport;
	unsigned int seconds;
	unsigned int mbit;
	uint64_t begin;
	struct result of[HOSTS];
} *shared;

static struct host hosts[HOSTS];
static unsigned int me;			/* in a host's process */
static struct raw_server srv;
static struct raw c;
static int conns[TRANSPORTS][PEERS * STREAMS];

static void usage(void)
{
	fputs("usage: wire mix | overcommit | loss [MBIT [SECONDS [ROUNDS]]]\n\n"
	      "mix         8 hosts call each other at random times; lengths are those of the\n"
	      "            workload W4, of at most 2.5 MB; 80 % of each link\n"
	      "overcommit  8 hosts keep a call of 100 KB to each other one under way, over tcp,\n"
	      "            and over prio with several degrees of overcommitment\n"
	      "loss        one host calls another one by a link that loses, repeats, reorders\n",
	      stderr);
	exit(2);
}

/* -- lengths ----------------------------------------------------------------------------- */

static uint32_t any_length(struct flow *f)
{
	return w4_length(flow_random(f) * 1000000);
}

/* Bytes on the line: each packet has 66 to 92 bytes of headers, over either transport. */
static double on_line(double len)
{
	return len + (1 + len / 1400) * 92;
}

/* -- a host ------------------------------------------------------------------------------ */

static void host_connect(void)
{
	unsigned int t, i, k, n;
	char addr[64];

	for (t = 0; t < TRANSPORTS; t++) {
		for (i = n = 0; i < HOSTS; i++) {
			snprintf(addr, sizeof(addr), "%s:10.8.%u.2:7000", transports[t], i + 1);
			for (k = 0; i != me && k < STREAMS; k++, n++) {
				conns[t][n] = raw_connect(&c, addr);
				if (conns[t][n] < 0)
					raw_die("%s: %s", addr, c.why);
			}
		}
	}
}

/* The shortest of some calls on idle links. */
static void host_echo(struct result *r)
{
	struct mrpc_sqe sqe = raw_sqe(conns[shared->transport][0], RAW_ACK,
				      raw_blob(&c, 1, 100, NULL));
	struct mrpc_cqe cqe;
	uint64_t begin;
	unsigned int i;

	r->base = UINT64_MAX;
	for (i = 0; i < 50; i++) {
		begin = raw_now();
		if (raw_call(&c, &sqe, &cqe) || cqe.status != MRPC_OK)
			raw_die("a call fails: status %u", cqe.status);
		if (raw_now() - begin < r->base)
			r->base = raw_now() - begin;
		raw_done(&c, &cqe);
	}
	raw_free(&c, sqe.root);
}

static void host_mix(struct result *r)
{
	double bytes_per_s = shared->mbit * 1e6 / 8 * LOAD / 100;
	uint64_t end = shared->begin + shared->seconds * RAW_S;
	struct flow *f = calloc(1, sizeof(*f));
	unsigned int i;

	f->s = &c;
	f->conns = conns[shared->transport];
	f->nr = PEERS * STREAMS;
	f->method = RAW_ACK;
	f->size = any_length;
	f->max_len = W4_LARGEST;
	f->gap = on_line(w4_mean()) / bytes_per_s * RAW_S;
	f->until = end;
	f->seed = 0x9e3779b97f4a7c15ULL * (me + 1);	/* the same over both transports */
	f->samples = r->samples;
	f->max_samples = SAMPLES;
	flow_start(f);
	flow_wait(f);
	r->nr = f->nr_samples;
	for (i = 0; i < r->nr; i++)
		if (r->samples[i].due + r->samples[i].took <= end)
			r->bytes += r->samples[i].len;
	r->failed = f->made - flow_done(f, MRPC_OK);
	memcpy(r->why, f->detail, sizeof(r->why));
	raw_free(&c, f->roots);
	raw_free(&c, f->data);
	free(f->next);
	free(f);
}

static uint64_t bulk_done(const struct load *l, unsigned int nr)
{
	uint64_t done = 0;

	while (nr--)
		done += load_done(&l[nr], MRPC_OK);
	return done;
}

/*
 * Keeps @in_flight calls under way on one connection to each of @nr other hosts. Calls that end in
 * the last @seconds count. The bytes of them sent before make up for bytes of unfinished calls.
 */
static void host_bulk(struct result *r, unsigned int nr, unsigned int in_flight)
{
	uint64_t begin = shared->begin + (1 + shared->seconds / 4) * RAW_S, done;
	struct load *l = calloc(nr, sizeof(*l));
	unsigned int i;

	for (i = 0; i < nr; i++) {
		l[i].len = BULK_LEN;
		l[i].ack = true;
		load_start(&l[i], &c, conns[shared->transport][i * STREAMS], in_flight);
	}
	raw_sleep(begin - raw_now());
	done = bulk_done(l, nr);
	raw_sleep(begin + shared->seconds * RAW_S - raw_now());
	r->bytes = (bulk_done(l, nr) - done) * BULK_LEN;
	for (i = 0; i < nr; i++) {
		load_stop(&l[i]);
		r->failed += load_failed(&l[i]);
		if (l[i].detail[0])
			memcpy(r->why, l[i].detail, sizeof(r->why));
	}
	free(l);
}

static int64_t prio(unsigned int attr, const char *name)
{
	return op_transport("prio", attr, name);
}

static void host_obey(enum order order)
{
	struct result *r = &shared->of[me];

	memset(r, 0, offsetof(struct result, samples));
	switch (order) {
	case CONNECT:
		host_connect();
		break;
	case MIX:
		host_mix(r);
		break;
	case BULK:
		host_bulk(r, PEERS, 1);
		break;
	case ECHO:
		if (!me)
			host_echo(r);
		break;
	case PAIR:
		if (!me)
			host_bulk(r, 1, 4);
		break;
	case COUNT:
		r->resent = prio(MRPC_A_TRANSPORT_COUNTER, "resent");
		r->gap_maps = prio(MRPC_A_TRANSPORT_GAUGE, "gap_maps");
		break;
	case END:
		break;
	}
}

static void host_run(struct host *h)
{
	char addr[64];

	op_forget();
	host_wait(h);		/* its link is there */
	raw_server_open(&srv, 4 << 20, 64 << 20);
	snprintf(addr, sizeof(addr), "tcp:10.8.%u.2:7000", me + 1);
	raw_server_start(&srv, addr, 1);
	snprintf(addr, sizeof(addr), "prio:10.8.%u.2:7000", me + 1);
	if (raw_serve(&srv.s, addr) < 0)
		raw_die("%s: %s", addr, srv.s.why);
	raw_open(&c, 16 << 20, 4 << 20);
	host_say(h);
	do {
		host_wait(h);
		host_obey(shared->order);
		host_say(h);
	} while (shared->order != END);
	raw_close(&c);
	raw_server_stop(&srv);
	exit(0);
}

/* -- all of them ------------------------------------------------------------------------- */

static void shape(unsigned int mbit)
{
	unsigned int i;

	for (i = 0; i < HOSTS; i++) {
		host_sh("tc qdisc replace dev h%u root handle 1: tbf rate %umbit burst 3100 "
			"limit 256k", i, mbit);
		host_sh("nsenter -t %d -n tc qdisc replace dev veth0 root handle 1: tbf "
			"rate %umbit burst 3100 limit 256k", hosts[i].pid, mbit);
	}
}

static void set(const char *parameter, const char *value)
{
	if (!raw_file_write(parameter, value))
		raw_die("%s does not take %s", parameter, value);
}

/* prio's defaults are for 10 Gbit/s. A whole round of grants must fit into the links' queues. */
static void settle(void)
{
	set(PARAMETER("chunk"), "4096");
	set(PARAMETER("step"), "4096");
	set(PARAMETER("reorder"), "16384");
	set(PARAMETER("unscheduled"), "16384");
	set(PARAMETER("window"), "32768");
	set(PARAMETER("outstanding"), OUTSTANDING);
	set(OVERCOMMIT, "4");
}

static void build(unsigned int mbit)
{
	unsigned int i;

	set("/proc/sys/net/ipv4/ip_forward", "1");
	for (i = 0; i < HOSTS; i++) {
		me = i;
		if (host_new(&hosts[i]))
			host_run(&hosts[i]);
		host_sh("ip link add h%u type veth peer name veth0 netns %d", i, hosts[i].pid);
		host_sh("ip addr add 10.8.%u.1/24 dev h%u; ip link set h%u up", i + 1, i, i);
		host_sh("nsenter -t %d -n sh -c 'ip addr add 10.8.%u.2/24 dev veth0; "
			"ip link set veth0 up; ip link set lo up; "
			"ip route add default via 10.8.%u.1'", hosts[i].pid, i + 1, i + 1);
	}
	shape(mbit);
	for (i = 0; i < HOSTS; i++) {
		host_say(&hosts[i]);
		host_wait(&hosts[i]);
	}
}

static void all_do(enum order order)
{
	unsigned int i;

	shared->order = order;
	shared->begin = raw_now();
	for (i = 0; i < HOSTS; i++)
		host_say(&hosts[i]);
	for (i = 0; i < HOSTS; i++)
		host_wait(&hosts[i]);
}

/* -- measurements -------------------------------------------------------------------------- */

static uint64_t base_ns(void)
{
	uint64_t base = UINT64_MAX;

	for (shared->transport = 0; shared->transport < TRANSPORTS; shared->transport++) {
		all_do(ECHO);
		printf("%-5s a call on idle links: %llu us\n", transports[shared->transport],
		       (unsigned long long)shared->of[0].base / 1000);
		if (shared->of[0].base < base)
			base = shared->of[0].base;
	}
	return base;
}

/*
 * Collects the calls of @from to @to bytes of all hosts. @took is in thousandths of the time of
 * such a call on idle links. Return: number of calls.
 */
static unsigned int slowdowns(struct flow_sample *all, uint64_t base, uint32_t from, uint32_t to)
{
	const struct flow_sample *s;
	unsigned int i, n = 0;

	for (i = 0; i < HOSTS; i++) {
		for (s = shared->of[i].samples; s < shared->of[i].samples + shared->of[i].nr; s++) {
			if (s->len < from || s->len > to)
				continue;
			all[n] = *s;
			all[n++].took = s->took * 1000 /
					(base + on_line(s->len) * 8000 / shared->mbit);
		}
	}
	flow_sort(all, n);
	return n;
}

static double mean_slowdown(const struct flow_sample *s, unsigned int n)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += s[i].took / 1000.0;
	return n ? sum / n : 0;
}

/*
 * Mbit/s of each host, of requests from LARGE on that ended in time. With @all: of all such
 * requests, until the last one has ended. Then the cost of delayed requests counts, too.
 */
static double large_mbit(bool all)
{
	uint64_t end = shared->begin + shared->seconds * RAW_S, last = end, bytes = 0;
	const struct flow_sample *s;
	unsigned int i;

	for (i = 0; i < HOSTS; i++) {
		for (s = shared->of[i].samples; s < shared->of[i].samples + shared->of[i].nr; s++) {
			if (s->len < LARGE || (!all && s->due + s->took > end))
				continue;
			bytes += s->len;
			if (s->due + s->took > last)
				last = s->due + s->took;
		}
	}
	return bytes * 8e3 / (all ? last - shared->begin : shared->seconds * RAW_S) / HOSTS;
}

static void say_failed(void)
{
	unsigned int i;

	for (i = 0; i < HOSTS; i++)
		if (shared->of[i].failed)
			printf("      host %u: %llu have failed: %s\n", i + 1,
			       (unsigned long long)shared->of[i].failed, shared->of[i].why);
}

static void mix_line(uint64_t base, unsigned int round, unsigned int busy)
{
	static struct flow_sample all[HOSTS * SAMPLES];
	uint64_t bytes = 0, failed = 0;
	unsigned int i, n, large;

	for (i = 0; i < HOSTS; i++) {
		bytes += shared->of[i].bytes;
		failed += shared->of[i].failed;
	}
	n = slowdowns(all, base, 0, SHORT);
	printf("%5u %-5s %6u %8.1f %8.1f", round, transports[shared->transport], n,
	       flow_quantile(all, n, 0.5) / 1000.0, flow_quantile(all, n, 0.99) / 1000.0);
	large = slowdowns(all, base, LARGE, W4_LARGEST);
	printf(" %6u %8.1f %8.1f %8.1f %6.2f %6.2f %6.2f %5u %4llu\n", large,
	       flow_quantile(all, large, 0.5) / 1000.0, mean_slowdown(all, large),
	       flow_quantile(all, large, 0.99) / 1000.0,
	       large_mbit(false), large_mbit(true), bytes * 8 / 1e6 / shared->seconds / HOSTS, busy,
	       (unsigned long long)failed);
	say_failed();
	fflush(stdout);
}

static void measure_mix(unsigned int rounds)
{
	static struct series large[TRANSPORTS];
	uint64_t base = base_ns();
	unsigned int round;

	printf("%u hosts, links of %u Mbit/s, load %u %%, %u s; slowdowns, Mbit/s of requests of a "
	       "host: large ones in time, large ones until all have ended, all in time\n",
	       HOSTS, shared->mbit, LOAD, shared->seconds);
	printf("round          short      p50      p99  large      p50     mean      p99  large  ended    "
	       "all busy%% fail\n");
	for (round = 1; round <= rounds; round++) {
		for (shared->transport = 0; shared->transport < TRANSPORTS; shared->transport++) {
			raw_busy_percent();
			all_do(MIX);
			mix_line(base, round, raw_busy_percent());
			series_add(&large[shared->transport], transports[shared->transport],
				   large_mbit(true));
		}
	}
	series_line(&large[PRIO], &large[TCP]);
}

/* Current sums over all hosts. */
static void count(uint64_t *resent, uint64_t *gap_maps)
{
	unsigned int i;

	all_do(COUNT);
	for (*resent = *gap_maps = i = 0; i < HOSTS; i++) {
		*resent += shared->of[i].resent;
		*gap_maps += shared->of[i].gap_maps;
	}
}

static void bulk_line(struct series *s, const char *what)
{
	uint64_t bytes = 0, failed = 0, before, resent, maps;
	unsigned int i, busy;

	count(&before, &maps);
	raw_busy_percent();
	all_do(BULK);
	busy = raw_busy_percent();
	for (i = 0; i < HOSTS; i++) {
		bytes += shared->of[i].bytes;
		failed += shared->of[i].failed;
	}
	series_add(s, what, bytes * 8 / 1e6 / shared->seconds / HOSTS);
	count(&resent, &maps);
	printf("%-20s %6.2f Mbit/s of each link, resent %5.1f %%, %u %% busy, %llu failed\n", what,
	       s->of[s->nr - 1], bytes ? 100.0 * (resent - before) / bytes : 0, busy,
	       (unsigned long long)failed);
	say_failed();
	fflush(stdout);
}

static void measure_overcommit(unsigned int rounds)
{
	static const char *const degrees[][2] = {
		{ "1", "prio, overcommit 1" }, { "2", "prio, overcommit 2" },
		{ "4", "prio, overcommit 4" }, { "8", "prio, overcommit 8" },
	};
	static struct series tcp, prio[4];
	unsigned int i;

	while (rounds--) {
		shared->transport = TCP;
		bulk_line(&tcp, "tcp");
		shared->transport = PRIO;
		for (i = 0; i < 4; i++) {
			set(OVERCOMMIT, degrees[i][0]);
			bulk_line(&prio[i], degrees[i][1]);
		}
	}
	for (i = 0; i < 4; i++)
		series_line(&prio[i], &tcp);
}

/* -- losses -------------------------------------------------------------------------------- */

#define PAYLOAD		(1500 - 28 - 64)	/* of prio's packets on such links */
#define FRAME		1514

/*
 * Makes the links to hosts 0 and 1 lose packets and so on, behind the senders' queues: a packet can
 * overtake others, but not a queue. Trains of segments are split before that.
 */
static void lossy(const char *netem)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		host_sh("nsenter -t %d -n ip link set veth0 gso_max_segs 1", hosts[i].pid);
		host_sh("tc qdisc del dev h%u root; tc qdisc add dev h%u root netem limit 10000 %s", i,
			i, netem);
	}
}

static void loss_line(const char *netem)
{
	uint64_t before, resent, maps, lost, failed;
	double mbit;

	count(&before, &maps);
	lossy(netem);
	all_do(PAIR);
	mbit = shared->of[0].bytes * 8 / 1e6 / shared->seconds;
	failed = shared->of[0].failed;
	printf("%-50s %-5s %6.2f Mbit/s", netem, transports[shared->transport], mbit);
	if (shared->transport == PRIO) {
		raw_sleep(500 * RAW_MS);
		lost = host_lost(getpid(), "h0", "netem") + host_lost(getpid(), "h1", "netem");
		count(&resent, &maps);
		resent = (resent - before) * FRAME / PAYLOAD;
		printf(", resent %8llu of %8llu lost: %.2f; gap maps %llu",
		       (unsigned long long)resent, (unsigned long long)lost,
		       lost ? (double)resent / lost : 0, (unsigned long long)maps);
	}
	printf("%s\n", failed ? "; CALLS HAVE FAILED" : "");
	fflush(stdout);
}

static void measure_loss(unsigned int rounds)
{
	static const char *const cases[] = {
		"loss 0%", "loss 0.01%", "loss 0.1%", "loss 1%",
		"delay 1ms reorder 5% 25% duplicate 0.5%",
		"delay 1ms reorder 5% 25% duplicate 0.5% loss 0.1%",
		"delay 1ms reorder 5% 25% duplicate 0.5% loss 1%",
	};
	unsigned int i;

	while (rounds--) {
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			for (shared->transport = 0; shared->transport < TRANSPORTS;
			     shared->transport++)
				loss_line(cases[i]);
		}
	}
}

static unsigned int number(int argc, char **argv, int i, unsigned int otherwise)
{
	unsigned int n = i < argc ? (unsigned int)atoi(argv[i]) : otherwise;

	if (!n || n > 10000)
		usage();
	return n;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned int rounds);
		unsigned int mbit;
		unsigned int seconds;
		unsigned int rounds;
	} modes[] = {
		{ "mix", measure_mix, 10, 40, 3 },
		{ "overcommit", measure_overcommit, 10, 12, 3 },
		{ "loss", measure_loss, 40, 8, 3 },
	};
	unsigned int i, rounds, status = 0;
	int died;

	for (i = 0; i < 3 && (argc < 2 || strcmp(argv[1], modes[i].name)); i++)
		;
	if (i == 3)
		usage();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		raw_die("no memory");
	shared->mbit = number(argc, argv, 2, modes[i].mbit);
	shared->seconds = number(argc, argv, 3, modes[i].seconds);
	rounds = number(argc, argv, 4, modes[i].rounds);
	if (rounds > SERIES_MAX)
		usage();
	build(shared->mbit);
	if (modes[i].run != measure_loss)
		settle();
	all_do(CONNECT);
	modes[i].run(rounds);
	all_do(END);
	while (wait(&died) > 0)
		status |= died;
	for (i = 0; i < HOSTS; i++)	/* else they go later, with their namespaces */
		host_sh("ip link del h%u 2>/dev/null || :", i);
	return status;
}
