// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/change kmod/control/rollout kmod/change/link_version */
/*
 * Connections move from one transport to another and back while calls come. The lb engine does
 * it. Its one member is the same server over the other transport; its fallback is the connection's
 * own link.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tap.h"
#include "flow.h"
#include "lo.h"
#include "operator.h"
#include "prio_tells.h"

#define CONNS		1000
#define CALLS		256		/* of one connection, at most */
#define KEEPALIVE_US	120000000	/* so a link without calls sends nothing */

static struct raw_server srv;
static struct raw c;
static struct flow f;
static int conns[CONNS];
static char own[64], other[64];		/* addresses of the server */
static uint8_t runs[CONNS][CALLS];
static bool strange;			/* a request came that no client has made */

/* -- a server at two addresses, and its clients ----------------------------------------- */

static void seen(const struct mrpc_cqe *cqe, const void *msg)
{
	uint64_t tag = ((const struct test_Blob *)msg)->tag;
	uint32_t conn = tag >> FLOW_SEQ_BITS, seq = tag;

	(void)cqe;
	if (conn < CONNS && seq < CALLS)
		__atomic_add_fetch(&runs[conn][seq], 1, __ATOMIC_RELAXED);
	else
		strange = true;
}

static void serve_also(char *addr, size_t size, const char *transport, unsigned int port)
{
	snprintf(addr, size, "%s:127.0.0.1:%u", transport, port);
	CHECK_MSG(raw_serve(&srv.s, addr) > 0, "%s: %s", addr, srv.s.why);
	snprintf(addr, size, "%s:127.0.0.1:%u", transport, srv.s.port);
}

static void begin_server(const char *from)
{
	op_del_all();
	memset(runs, 0, sizeof(runs));
	raw_server_open(&srv, 48 << 20, 48 << 20);
	srv.seen = seen;
	srv.keepalive_us = KEEPALIVE_US;
	snprintf(own, sizeof(own), "%s:127.0.0.1:0", from);
	raw_server_start(&srv, own, 2);
	snprintf(own, sizeof(own), "%s:127.0.0.1:%u", from, srv.s.port);
}

static void connect_all(unsigned int nr)
{
	struct mrpc_connect to;
	unsigned int i;

	raw_open(&c, 8 << 20, 48 << 20);
	for (i = 0; i < nr; i++) {
		to = raw_target(&c, own);
		to.keepalive_us = KEEPALIVE_US;
		conns[i] = raw_connect_to(&c, &to);
		CHECK_MSG(conns[i] > 0, "connection %u: %s", i, c.why);
	}
}

/* Mostly small sizes; some go by reference, and in several packets. */
static uint32_t any_size(struct flow *flow)
{
	double r = flow_random(flow);

	return r < 0.9 ? 100 + r * 2000 : 30000;
}

static void load(unsigned int nr, uint64_t gap)
{
	f = (struct flow){
		.s = &c, .conns = conns, .nr = nr, .method = RAW_ECHO, .size = any_size,
		.max_len = 30000, .gap = gap, .seed = 1 + raw_now(),
	};
	flow_start(&f);
}

static void begin(const char *from, const char *to, unsigned int nr, uint64_t gap)
{
	begin_server(from);
	serve_also(other, sizeof(other), to, 0);
	connect_all(nr);
	load(nr, gap);
}

static void end(void)
{
	op_del_all();
	raw_close(&c);
	raw_server_stop(&srv);
	CHECK_EQ(srv.bad + srv.errors, 0);
}

/* Each call has run once; a call that failed has run at most once. */
static void check_runs(void)
{
	uint64_t ran = 0, made = 0;
	uint32_t i, k;

	CHECK(!strange);
	for (i = 0; i < f.nr; i++) {
		CHECK(f.next[i] <= CALLS);
		made += f.next[i];
		for (k = 0; k < CALLS; k++) {
			CHECK_MSG(runs[i][k] <= (k < f.next[i]),
				  "call %u of connection %u, which has had %u, has run %u times", k, i,
				  f.next[i], runs[i][k]);
			ran += runs[i][k];
		}
	}
	CHECK_EQ(made, flow_all(&f));
	CHECK(ran <= made);
	CHECK(ran >= flow_done(&f, MRPC_OK));
}

/* No call is lost, and none runs twice. */
static void end_flow(void)
{
	flow_stop(&f);
	CHECK_MSG(flow_done(&f, MRPC_OK) == f.made, "of %llu calls %llu went well: %s",
		  (unsigned long long)f.made, (unsigned long long)flow_done(&f, MRPC_OK), f.detail);
	check_runs();
}

/* -- moving ------------------------------------------------------------------------------ */

static int64_t member(const char *what)
{
	char name[100];

	snprintf(name, sizeof(name), "%s/%s", other, what);
	return op_counter("move", name);
}

static void member_becomes(const char *what, int64_t value)
{
	uint64_t until = raw_now() + 30 * RAW_S * raw_patience();

	while (member(what) != value) {
		CHECK_MSG(raw_now() < until, "%s is %lld, not %lld", what,
			  (long long)member(what), (long long)value);
		raw_sleep(20 * RAW_MS);
	}
}

static void place(const char *more)
{
	char words[200];

	snprintf(words, sizeof(words), "name=move side=client members=%s fallback=own %s", other,
		 more);
	op_must_add("lb", words, NULL);
}

static void step(unsigned int percent, unsigned int calls)
{
	CHECK_EQ(op_step("move", percent, NULL), 0);
	CHECK(flow_more(&f, calls, 30000));
}

static void move_there(unsigned int calls)
{
	place("percent=20");
	CHECK(flow_more(&f, calls, 30000));
	step(40, calls);
	step(60, calls);
	step(80, calls);
	step(100, calls);
	member_becomes("linked", f.nr);
}

static void move_back(unsigned int calls)
{
	CHECK_EQ(op_del_some("move", 20, NULL), 0);
	CHECK(flow_more(&f, calls, 30000));
	step(40, calls);
	step(60, calls);
	step(80, calls);
	step(100, calls);
}

/* Segments that all TCP connections of this host have sent. */
static uint64_t segments(void)
{
	unsigned long long out = 0;
	FILE *snmp = fopen("/proc/net/snmp", "re");
	char line[512];

	CHECK(snmp);
	while (fgets(line, sizeof(line), snmp))
		if (sscanf(line, "Tcp: %*d %*d %*d %*d %*d %*d %*d %*d %*d %*u %llu", &out) == 1)
			break;
	fclose(snmp);
	CHECK(out);
	return out;
}

/* Checks which counters stay and which grow while calls go over one transport only. */
static void check_over(bool over_prio)
{
	uint64_t before_tcp, before_calls;
	int64_t before_prio;

	CHECK(flow_more(&f, 400, 60000));	/* earlier calls have ended */
	raw_sleep(300 * RAW_MS * raw_scale());	/* and their last acknowledgements */
	before_tcp = segments();
	before_prio = counter("data_bytes");
	before_calls = flow_all(&f);
	CHECK(flow_more(&f, 500, 60000));
	if (over_prio) {
		CHECK_EQ(segments(), before_tcp);
		CHECK(counter("data_bytes") - before_prio >=
		      (int64_t)(flow_all(&f) - before_calls - FLOW_SLOTS) * 100 + 500 * 2 * 100);
	} else {
		CHECK_EQ(counter("data_bytes"), before_prio);
		CHECK(segments() - before_tcp >= 500);
	}
}

static void there_and_back(const char *from, const char *to, unsigned int nr, uint64_t gap,
			   unsigned int rounds)
{
	bool to_prio = !strcmp(to, "prio");
	int64_t by_own;

	begin(from, to, nr, gap);
	CHECK(flow_more(&f, 300, 30000));
	while (rounds--) {
		move_there(200);
		CHECK_EQ(op_number("move", MRPC_A_ENGINE_DATAPATHS), nr);
		CHECK(flow_more(&f, 300, 30000));
		by_own = op_counter("move", "own");
		check_over(to_prio);
		CHECK_EQ(op_counter("move", "own"), by_own);
		CHECK_EQ(member("failures"), 0);
		move_back(200);
		CHECK(flow_more(&f, 300, 30000));
		check_over(!to_prio);
	}
	end_flow();
	end();
}

TEST_LIMIT(tcp_to_prio, 400)
{
	there_and_back("tcp", "prio", CONNS, 3 * RAW_MS, 3);
}

TEST_LIMIT(prio_to_tcp, 200)
{
	there_and_back("prio", "tcp", 100, 3 * RAW_MS, 2);
}

/* Moves under losses, one step after the other. */
TEST_LIMIT(with_losses, 300)
{
	unsigned int i;

	if (!lo_bend("netem limit 10000 loss 1% duplicate 1% delay 1ms 1ms"))
		SKIP("there is no netem here");
	begin("tcp", "prio", 100, 5 * RAW_MS);
	for (i = 0; i < 4; i++) {
		move_there(20);
		CHECK(flow_more(&f, 100, 60000));
		move_back(20);
	}
	end_flow();
	end();
}

/* -- failures during the move -------------------------------------------------------------- */

/* At first no server listens there, and calls stay on the old link. Then they move. */
TEST_LIMIT(nobody_there, 200)
{
	unsigned int port = raw_closed_port(SOCK_DGRAM);

	begin_server("tcp");
	snprintf(other, sizeof(other), "prio:127.0.0.1:%u", port);
	connect_all(50);
	load(50, 3 * RAW_MS);
	place("backoff=100000000");
	CHECK(flow_more(&f, 1000, 60000));
	CHECK_EQ(member("linked"), 0);
	CHECK(op_counter("move", "own") >= 900);
	serve_also(other, sizeof(other), "prio", port);
	member_becomes("linked", 50);
	member_becomes("ejected", 0);
	CHECK(flow_more(&f, 200, 30000));
	check_over(true);
	end_flow();
	end();
}

static int prio_listener;

static void *drain_prio(void *err)
{
	*(int *)err = raw_close_id(&srv.s, prio_listener, MRPC_CLOSE_DRAIN, 60000000);
	return NULL;
}

/* The server drains there: it finishes the calls that it has, and the rest moves back. */
TEST_LIMIT(drained_there, 200)
{
	pthread_t drain;
	int err = -1;

	begin_server("tcp");
	prio_listener = raw_serve(&srv.s, "prio:127.0.0.1:0");
	CHECK(prio_listener > 0);
	snprintf(other, sizeof(other), "prio:127.0.0.1:%u", srv.s.port);
	connect_all(100);
	load(100, 3 * RAW_MS);
	move_there(50);
	CHECK(!pthread_create(&drain, NULL, drain_prio, &err));
	member_becomes("linked", 0);
	pthread_join(drain, NULL);
	CHECK_EQ(err, 0);
	CHECK(flow_more(&f, 500, 30000));
	check_over(false);
	end_flow();
	end();
}

#define DOMAIN_CONNS	20

/* Waits until @want datapaths of the domain belong to @tenant. @moved: bytes that links sent. */
static void tenant_becomes(const char *tenant, unsigned int want, int64_t *moved)
{
	static struct op_queue all[8 * DOMAIN_CONNS];
	uint64_t until = raw_now() + 20 * RAW_S * raw_patience();
	unsigned int i, k, nr, got = 0;

	do {
		CHECK_MSG(raw_now() < until, "%u are of %s, not %u", got, tenant, want);
		raw_sleep(20 * RAW_MS);
		nr = op_egress_queues("lo", all, ARRAY_SIZE(all));
		for (i = got = *moved = 0; i < nr; i++) {
			if (strcmp(all[i].tenant, tenant))
				continue;
			got++;
			for (k = 0; k < DOMAIN_CONNS; k++)
				if (all[i].value[MRPC_A_EGRESS_QUEUE_CONN] == conns[k])
					break;
			if (k == DOMAIN_CONNS)
				*moved += all[i].value[MRPC_A_EGRESS_QUEUE_SENT];
		}
	} while (got != want);
}

/* The links of replicas have turns in an egress domain, as the tenant of their connection. */
static void in_domain(const char *from, const char *to)
{
	int64_t before, after;

	begin(from, to, DOMAIN_CONNS, 3 * RAW_MS);
	op_must_add("qos", "name=whose side=client tenant=movers", NULL);
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=strict fair=1");
	tenant_becomes("movers", DOMAIN_CONNS, &before);
	move_there(100);
	tenant_becomes("movers", 2 * DOMAIN_CONNS, &before);
	CHECK(flow_more(&f, 300, 30000));
	tenant_becomes("movers", 2 * DOMAIN_CONNS, &after);
	CHECK(after - before >= (300 - FLOW_SLOTS) * 100);
	/* The tenant changes, and the domain is deleted and made again. The links follow. */
	op_must_set("whose", "tenant=shakers", NULL);
	tenant_becomes("shakers", 2 * DOMAIN_CONNS, &before);
	CHECK(flow_more(&f, 100, 30000));
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	CHECK(flow_more(&f, 100, 30000));
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=strict");
	tenant_becomes("shakers", 2 * DOMAIN_CONNS, &before);
	CHECK(flow_more(&f, 300, 30000));
	tenant_becomes("shakers", 2 * DOMAIN_CONNS, &after);
	CHECK(after - before >= (300 - FLOW_SLOTS) * 100);
	move_back(100);
	tenant_becomes("shakers", DOMAIN_CONNS, &after);
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	end_flow();
	end();
}

TEST_LIMIT(in_domain_to_prio, 120)
{
	in_domain("tcp", "prio");
}

TEST_LIMIT(in_domain_to_tcp, 120)
{
	in_domain("prio", "tcp");
}

/* The module of a transport stays if the operator names it, or calls go over it. */
TEST_LIMIT(module_stays, 120)
{
	begin("tcp", "prio", 20, 3 * RAW_MS);
	place("");
	member_becomes("linked", 20);
	CHECK(raw_unload("mrpc_prio") < 0);
	CHECK(flow_more(&f, 200, 30000));
	op_must_del("move");
	end_flow();
	raw_close(&c);
	raw_server_stop(&srv);
	place("");
	CHECK(raw_unload("mrpc_prio") < 0);
	op_must_del("move");
	raw_must_unload("mrpc_prio");
}

static void kill_one(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
}

/* The client's process dies while it moves. The server keeps nothing of it. */
TEST_LIMIT(client_killed, 240)
{
	unsigned int round, i;
	uint64_t until, came;

	begin_server("tcp");
	serve_also(other, sizeof(other), "prio", 0);
	for (round = 0; round < 6; round++) {
		pid_t pid = CHECK_SYS(fork());

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			op_forget();
			connect_all(50);
			load(50, RAW_MS);
			for (;;)
				pause();
		}
		came = raw_server_requests(&srv);
		until = raw_now() + 30 * RAW_S * raw_patience();
		while (raw_server_requests(&srv) < came + 50) {
			CHECK_MSG(raw_now() < until, "round %u: no calls come", round);
			raw_sleep(RAW_MS);
		}
		place("percent=50");
		if (round % 2)
			CHECK_EQ(op_step("move", 100, NULL), 0);
		raw_sleep(round * 15 * RAW_MS);
		kill_one(pid);
		CHECK(raw_server_conns(&srv, 0, 20000));
		op_del_all();
	}
	CHECK(!strange);
	for (i = 0; i < CONNS * CALLS; i++)	/* each client starts with the same numbers */
		CHECK(((uint8_t *)runs)[i] <= 6);
	end();
}

/*
 * The server's process dies. Each call ends once, with an error. A new server at the same
 * addresses is another peer: the connections have ended with the first one.
 */
TEST_LIMIT(server_killed, 120)
{
	uint64_t until;
	pid_t pid;
	int port[2];

	CHECK_SYS(pipe(port));
	pid = CHECK_SYS(fork());
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		begin_server("tcp");
		serve_also(other, sizeof(other), "prio", 0);
		if (write(port[1], own, sizeof(own)) < 0 || write(port[1], other, sizeof(other)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	CHECK_EQ(read(port[0], own, sizeof(own)), sizeof(own));
	CHECK_EQ(read(port[0], other, sizeof(other)), sizeof(other));
	op_forget();
	connect_all(50);
	load(50, 2 * RAW_MS);
	move_there(30);
	kill_one(pid);
	until = raw_now() + 30 * RAW_S * raw_patience();
	while (!flow_done(&f, MRPC_UNAVAILABLE)) {
		CHECK(raw_now() < until);
		raw_sleep(RAW_MS);
	}
	CHECK(flow_more(&f, 100, 30000));
	flow_stop(&f);
	CHECK_EQ(flow_all(&f), f.made);
	CHECK_EQ(flow_done(&f, MRPC_OK) + flow_done(&f, MRPC_UNAVAILABLE), f.made);
	op_del_all();
	raw_close(&c);
}

/* -- effect on latency ----------------------------------------------------------------------- */

#define PACE_S		4
#define PACE_LEN	2000
#define PACE_RATE	20	/* Mbit/s */

static struct flow_sample samples[60000];

static uint32_t pace_size(struct flow *flow)
{
	(void)flow;
	return PACE_LEN;
}

/* Calls at 70 % of the line's capacity for such requests and replies. */
static void pace(void)
{
	uint64_t call_ns = 2 * (PACE_LEN + 200) * 8 * 1000ULL / PACE_RATE;

	f = (struct flow){
		.s = &c, .conns = conns, .nr = CONNS, .method = RAW_ECHO, .size = pace_size,
		.max_len = PACE_LEN, .gap = call_ns * 10 / 7, .seed = 7,
		.samples = samples, .max_samples = sizeof(samples) / sizeof(samples[0]),
	};
	flow_start(&f);
}

static int by_due(const void *a, const void *b)
{
	const struct flow_sample *x = a, *y = b;

	return x->due < y->due ? -1 : x->due > y->due;
}

/* Return: the worst second's P99, us. Prints each second's. */
static uint64_t worst_second(const char *what)
{
	char line[400] = "";
	uint64_t worst = 0, p99, from;
	unsigned int i = 0, k, n = 0;

	qsort(samples, f.nr_samples, sizeof(samples[0]), by_due);
	while (i < f.nr_samples) {
		from = samples[i].due;
		for (k = i; k < f.nr_samples && samples[k].due < from + RAW_S; k++)
			;
		flow_sort(samples + i, k - i);
		p99 = flow_quantile(samples + i, k - i, 0.99) / 1000;
		if (k - i >= 200) {	/* a whole second */
			n += snprintf(line + n, sizeof(line) - n, " %llu", (unsigned long long)p99);
			worst = p99 > worst ? p99 : worst;
		}
		i = k;
	}
	NOTE("%s: P99 of each second, us:%s; %u %% of the processors busy", what, line,
	     raw_busy_percent());
	return worst;
}

/* Prints what operators would see. It only checks that no call is lost. */
TEST_LIMIT(pace_of_calls, 300)
{
	uint64_t control, moved;

	if (!lo_bend("tbf rate 20mbit burst 20000 limit 4m"))
		SKIP("there is no tbf here");
	begin_server("tcp");
	serve_also(other, sizeof(other), "prio", 0);
	connect_all(CONNS);
	raw_busy_percent();
	pace();
	raw_sleep(2 * PACE_S * RAW_S);
	end_flow();
	control = worst_second("over tcp");
	memset(runs, 0, sizeof(runs));
	pace();
	raw_sleep(RAW_S);
	place("percent=5");
	for (unsigned int percent = 10; percent <= 100; percent += 5) {
		raw_sleep(PACE_S * RAW_S / 20);
		CHECK_EQ(op_step("move", percent, NULL), 0);
	}
	NOTE("%lld of %u have a link", (long long)member("linked"), CONNS);
	raw_sleep(2 * RAW_S);
	NOTE("over prio: %lld bytes, %lld of them again", (long long)counter("data_bytes"),
	     (long long)counter("resent"));
	CHECK_EQ(op_del_some("move", 5, NULL), 0);
	for (unsigned int percent = 10; percent <= 100; percent += 5) {
		raw_sleep(PACE_S * RAW_S / 20);
		CHECK_EQ(op_step("move", percent, NULL), 0);
	}
	raw_sleep(RAW_S);
	end_flow();
	moved = worst_second("there and back");
	NOTE("the worst second: %llu us, moving %llu us: %.2f times", (unsigned long long)control,
	     (unsigned long long)moved, (double)moved / control);
	end();
}
