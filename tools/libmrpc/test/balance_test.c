// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Channels with several connections, and their idleness, against the stand-in.
 */
#include <signal.h>
#include <sys/wait.h>

#include "clock.h"
#include "conn.h"
#include "session.h"

#define SERVERS	3
#define ROBIN	"{\"loadBalancingConfig\":[{\"round_robin\":{}}]}"

static struct test_server servers[SERVERS];
static u32 served[SERVERS];
static bool is_up[SERVERS];
static u32 sleep_us;
static struct mrpc_session *session;
static struct mrpc_conn *channel;

static int serve(struct mrpc_call *call, const struct fake_msg *req, struct fake_msg *reply)
{
	if (sleep_us)
		usleep(sleep_us);
	__atomic_add_fetch((u32 *)mrpc_call_ctx(call), 1, __ATOMIC_RELAXED);
	return echo_handler(call, req, reply);
}

static const struct test_ops ops = { .echo = serve };

static void up(u32 i)
{
	char name[32];

	snprintf(name, sizeof(name), "loop:balance-%u", i);
	server_start(&servers[i], &ops, &served[i], name, 1);
	is_up[i] = true;
}

static void down(u32 i)
{
	server_stop(&servers[i]);
	is_up[i] = false;
}

static void begin(const char *target, const struct mrpc_channel_opts *opts)
{
	u32 i;

	sleep_us = 0;
	for (i = 0; i < SERVERS; i++)
		up(i);
	session = open_session();
	channel = mrpc_channel_open(session, target, test_services, 1, opts);
	CHECK_MSG(channel, "%s", mrpc_last_error());
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_IDLE);
}

static void end(void)
{
	u32 i;

	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	mrpc_session_close(session);
	for (i = 0; i < SERVERS; i++)
		if (is_up[i])
			down(i);
	CHECK_EQ(fake_stats().bad, 0);
}

static int call(struct mrpc_result *res)
{
	struct mrpc_call_opts opts = { .flags = MRPC_CALL_WAIT_READY, .timeout_us = 10000000 };
	struct mrpc_msg msg;

	build(&msg, session, 1, 10);
	return mrpc_call_sync(channel, &test_service, TEST_ECHO, &msg, &opts, res);
}

static void must_work(void)
{
	struct mrpc_result res;

	CHECK_MSG(!call(&res), "%s", res.detail);
	mrpc_result_release(&res);
}

/* Calls until each of the servers in @mask has served, and no other one does. */
static void served_by(u32 mask)
{
	u64 until = clock_ns() + 5000000000ull;
	u32 i, by;

	do {
		CHECK_MSG(clock_ns() < until, "calls go to other servers than 0x%x", mask);
		memset(served, 0, sizeof(served));
		for (i = 0; i < 6; i++)
			must_work();
		for (i = by = 0; i < SERVERS; i++)
			by |= (u32)!!served[i] << i;
		usleep(1000);
	} while (by != mask);
}

static const struct mrpc_channel_opts robin = {
	.service_config = ROBIN, .backoff_us = 20000, .backoff_max_us = 20000,
};

#define ALL_THREE	"loop:balance-0,loop:balance-1,loop:balance-2"

TEST(in_turn)
{
	u32 i;

	begin(ALL_THREE ",loop:balance-1", &robin);
	served_by(7);
	memset(served, 0, sizeof(served));
	for (i = 0; i < 30; i++)
		must_work();
	for (i = 0; i < SERVERS; i++)
		CHECK_EQ(served[i], 10);
	end();
}

TEST(pick_first)
{
	begin(ALL_THREE, NULL);
	served_by(1);
	end();
}

/* One that cannot be reached is left out, and comes back. The channel is ready if one is. */
TEST(one_is_down)
{
	struct mrpc_channel_opts opts = robin;

	opts.service_config = "{\"loadBalancingPolicy\":\"round_robin\"}";
	begin(ALL_THREE, &opts);
	down(1);
	served_by(5);
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_READY);
	up(1);
	served_by(7);
	end();
}

/* -- a file with the addresses ------------------------------------------------------------ */

static char path[] = "/tmp/balance-test-XXXXXX";

/* As an operator does: another file takes its place. */
static void write_file(const char *text)
{
	char other[sizeof(path) + 4];
	FILE *f;

	snprintf(other, sizeof(other), "%s.new", path);
	f = fopen(other, "w");
	CHECK(f && fputs(text, f) >= 0 && !fclose(f));
	CHECK_SYS(rename(other, path));
}

static void why_becomes(const char *part)
{
	u64 until = clock_ns() + 5000000000ull;
	char why[MRPC_MAX_DETAIL];

	do {
		CHECK(clock_ns() < until);
		usleep(10000);
		CHECK_EQ(mrpc_channel_why(channel, why, sizeof(why)), 0);
	} while (*part ? !strstr(why, part) : !!*why);
}

static void follows_file(const struct mrpc_channel_opts *opts, u32 all)
{
	char target[64];

	close(CHECK_SYS(mkstemp(strcpy(path, "/tmp/balance-test-XXXXXX"))));
	snprintf(target, sizeof(target), "file:%s", path);
	write_file("# all of them\nloop:balance-0\nloop:balance-1,loop:balance-2\n");
	begin(target, opts);
	served_by(all);
	write_file("loop:balance-2\n");
	served_by(4);
	/* Wrong ones change nothing. */
	write_file("loop:balance-1\nnonsense\n");
	why_becomes("line 2: 'nonsense' is not an address");
	served_by(4);
	CHECK_SYS(unlink(path));
	why_becomes("No such file");
	served_by(4);
	write_file("loop:balance-1\n");
	served_by(2);
	why_becomes("");
	/* Nor are they worse than none when it has to connect again. */
	write_file("");
	why_becomes("has no address");
	CHECK_EQ(session_close_id(session, mrpc_conn_id(channel), 0), 0);
	served_by(2);
	end();
	unlink(path);
}

TEST(file_round_robin)
{
	follows_file(&robin, 7);
}

TEST(file_pick_first)
{
	const struct mrpc_channel_opts opts = { .backoff_us = 20000, .backoff_max_us = 20000 };

	follows_file(&opts, 1);
}

/* Set by the test: the next change of a list of links forks in its midst. */
static bool forks;
static int child_status = -1;

void *__real_memmove(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len);

void *__wrap_memmove(void *to, const void *from, size_t len)
{
	sigset_t none;
	pid_t pid;

	if (!forks || len != 2 * sizeof(void *))
		return __real_memmove(to, from, len);
	forks = false;
	/* The first of two: now it is there twice. */
	memcpy(to, from, len / 2);
	pid = fork();
	if (!pid) {
		/* The sanitizer may not get as far as its report. Links' threads block signals. */
		sigemptyset(&none);
		pthread_sigmask(SIG_SETMASK, &none, NULL);
		alarm(10);
		mrpc_session_close(session);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &child_status, 0), pid);
	return __real_memmove(to, from, len);
}

/* A child that is forked then frees no link twice. */
TEST(fork_during_change)
{
	char target[64];

	close(CHECK_SYS(mkstemp(strcpy(path, "/tmp/balance-test-XXXXXX"))));
	snprintf(target, sizeof(target), "file:%s", path);
	write_file("loop:balance-0\nloop:balance-1\nloop:balance-2\n");
	begin(target, &robin);
	served_by(7);
	forks = true;
	write_file("loop:balance-1\nloop:balance-2\n");
	served_by(6);
	CHECK(!forks);
	CHECK_EQ(child_status, 0);
	end();
	unlink(path);
}

/* One that is wrong from the beginning is the reason of calls that fail. */
TEST(no_file)
{
	struct mrpc_call_opts opts = { 0 };
	struct mrpc_result res;
	struct mrpc_msg msg;

	begin("file:/no/such/file", NULL);
	build(&msg, session, 1, 10);
	CHECK_EQ(mrpc_call_sync(channel, &test_service, TEST_ECHO, &msg, &opts, &res),
		 MRPC_UNAVAILABLE);
	CHECK_STR(res.detail, "cannot read /no/such/file: No such file or directory");
	end();
}

/* A connection that is lost is made again, while calls go over the others. */
TEST(one_is_lost)
{
	u64 until;
	u32 id, i;

	begin(ALL_THREE, &robin);
	served_by(7);
	CHECK_EQ(session_close_id(session, mrpc_conn_id(channel), 0), 0);
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_READY);
	served_by(7);
	/* It needs no call for that. The stand-in gives its number again. */
	id = mrpc_conn_id(channel);
	CHECK_EQ(session_close_id(session, id, 0), 0);
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_READY);
	until = clock_ns() + 5000000000ull;
	while (mrpc_conn_id(channel) != id) {
		CHECK(clock_ns() < until);
		usleep(1000);
	}
	memset(served, 0, sizeof(served));
	for (i = 0; i < SERVERS; i++)
		must_work();
	for (i = 0; i < SERVERS; i++)
		CHECK_EQ(served[i], 1);
	end();
}

TEST(all_are_down)
{
	struct mrpc_call_opts opts = { 0 };
	struct mrpc_result res;
	struct mrpc_msg msg;
	u32 i;

	begin(ALL_THREE, &robin);
	for (i = 0; i < SERVERS; i++)
		down(i);
	build(&msg, session, 1, 10);
	CHECK_EQ(mrpc_call_sync(channel, &test_service, TEST_ECHO, &msg, &opts, &res),
		 MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(res.detail, "cannot connect to"), "%s", res.detail);
	CHECK(res.unsent);
	/* Attempts go on, and do not make it look better than it is. */
	for (i = 0; i < 50; i++) {
		CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_TRANSIENT_FAILURE);
		usleep(1000);
	}
	up(2);
	must_work();
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_READY);
	end();
}

TEST(closed_while_connecting)
{
	begin(ALL_THREE, &robin);
	CHECK_EQ(mrpc_channel_state(channel, true), MRPC_CHANNEL_CONNECTING);
	end();
	/* An attempt over IPv6 is never answered. */
	begin("tcp:both.test:1", &robin);
	CHECK_EQ(mrpc_channel_state(channel, true), MRPC_CHANNEL_CONNECTING);
	usleep(10000);
	end();
	CHECK_EQ(fake_stats().silent, 0);
}

/* A name with other addresses at each answer is not looked up for each of its connections. */
TEST(answers_that_vary)
{
	u64 before = clock_ns();
	unsigned int lookups;

	fake_reset_stats();
	begin("tcp:many.test:1", &robin);
	mrpc_channel_state(channel, true);
	usleep(100000);
	lookups = fake_stats().lookups;
	CHECK_MSG(lookups && lookups <= 2 + (clock_ns() - before) / 10000000, "%u", lookups);
	end();
}

/* All connections drain for as long as the application says. */
TEST(drains_for_ever)
{
	begin(ALL_THREE, &robin);
	served_by(7);
	CHECK_EQ(mrpc_conn_close(channel, UINT64_MAX), 0);
	CHECK(fake_stats().drained_us == UINT64_MAX);
	channel = mrpc_channel_open(session, ALL_THREE, test_services, 1, NULL);
	must_work();
	CHECK_EQ(mrpc_conn_close(channel, 1000000), 0);
	CHECK(fake_stats().drained_us && fake_stats().drained_us <= 1000000);
	channel = mrpc_channel_open(session, ALL_THREE, test_services, 1, NULL);
	must_work();
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	CHECK_EQ(fake_stats().drained_us, 0);
	channel = NULL;
	end();
}

/* -- idleness ------------------------------------------------------------------------------ */

static void becomes(int state)
{
	u64 until = clock_ns() + 5000000000ull;

	while (mrpc_channel_state(channel, false) != state) {
		CHECK_MSG(clock_ns() < until, "it is %s",
			  mrpc_channel_state_name(mrpc_channel_state(channel, false)));
		usleep(1000);
	}
}

static void idle(const char *config)
{
	struct mrpc_channel_opts opts = { .service_config = config, .idle_us = 100000 };
	u64 before;
	u32 i;

	begin(ALL_THREE, &opts);
	for (i = 0; i < 2; i++) {
		before = clock_ns();
		must_work();
		becomes(MRPC_CHANNEL_IDLE);
		CHECK(clock_ns() - before >= 90000000);
		CHECK_EQ(mrpc_conn_id(channel), 0);
		usleep(20000);
		CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_IDLE);
	}
	/* An application that asks for a connection gets it for as long. */
	before = clock_ns();
	mrpc_channel_state(channel, true);
	becomes(MRPC_CHANNEL_READY);
	becomes(MRPC_CHANNEL_IDLE);
	CHECK(clock_ns() - before >= 90000000);
	/* A call counts until its end. */
	must_work();
	sleep_us = 300000;
	must_work();
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_READY);
	end();
}

TEST(idle_pick_first)
{
	idle(NULL);
}

TEST(idle_round_robin)
{
	idle(ROBIN);
}

/* All connections come back, however short a while ago the names were looked up. */
TEST(idle_comes_back)
{
	struct mrpc_channel_opts opts = {
		.service_config = ROBIN, .idle_us = 300000, .backoff_us = 20000000,
	};

	begin(ALL_THREE, &opts);
	served_by(7);
	becomes(MRPC_CHANNEL_IDLE);
	served_by(7);
	end();
}

/* A channel that cannot connect gives up trying, too. */
TEST(idle_without_server)
{
	struct mrpc_channel_opts opts = {
		.idle_us = 100000, .backoff_us = 5000, .backoff_max_us = 5000,
	};

	begin("loop:nobody", &opts);
	mrpc_channel_state(channel, true);
	becomes(MRPC_CHANNEL_TRANSIENT_FAILURE);
	becomes(MRPC_CHANNEL_IDLE);
	end();
}
