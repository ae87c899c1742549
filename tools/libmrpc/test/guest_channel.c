// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Channels, with the module. Servers are processes of their own, which are killed, or stopped in
 * order, and started again.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "guest_servers.h"
#include "guest_grpc.h"

#define CALLERS	3

/* -- states ------------------------------------------------------------------------------ */

static void states(const char *address)
{
	struct mrpc_result res;
	double before;
	pid_t pid;

	open_channel(address, &hasty);
	CHECK_EQ(mrpc_channel_wait(channel, MRPC_CHANNEL_IDLE, 1000), -ETIME);
	CHECK_EQ(mrpc_conn_id(channel), 0);
	/* No server: the reason, at once. */
	CHECK_EQ(call(0, 0, &res), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(res.detail, address), "%s", res.detail);
	CHECK(res.local && res.unsent);
	becomes(MRPC_CHANNEL_TRANSIENT_FAILURE);
	/* A call that waits does so until its deadline, and says why there was no connection. */
	before = now();
	CHECK_EQ(call(MRPC_CALL_WAIT_READY, S / 5, &res), MRPC_DEADLINE_EXCEEDED);
	CHECK(now() - before >= 0.2);
	CHECK_MSG(strstr(res.detail, "no connection to") && strstr(res.detail, "cannot connect"),
		  "%s", res.detail);
	CHECK(res.unsent);

	pid = server_up(address);
	becomes(MRPC_CHANNEL_READY);
	CHECK(mrpc_conn_id(channel) != 0);
	must_work(0);
	/* A call that the server has got is not made again. */
	server_down(pid, SIGKILL);
	becomes(MRPC_CHANNEL_IDLE);
	CHECK_EQ(mrpc_channel_state(channel, true), MRPC_CHANNEL_CONNECTING);
	pid = server_up(address);
	must_work(MRPC_CALL_WAIT_READY);
	server_down(pid, SIGTERM);
	close_channel();
}

TEST(states_tcp)
{
	states(TCP);
}

TEST(states_loop)
{
	states(LOOP);
}

TEST(states_grpc)
{
	load_grpc();
	states(GRPC);
}

/* Parts of a target that cannot be reached cost an attempt, not the connection. */
TEST(target_list)
{
	pid_t pid = server_up(LOOP);

	open_channel("loop:nobody," LOOP, NULL);
	must_work(0);
	close_channel();
	open_channel("dns:///no.such.host.invalid:1," LOOP, NULL);
	must_work(0);
	close_channel();
	server_down(pid, SIGTERM);
}

TEST(is_no_connection)
{
	struct mrpc_conn_info info;
	struct mrpc_conn *conn;
	pid_t pid = server_up(LOOP);

	open_channel(LOOP, NULL);
	CHECK_EQ(mrpc_conn_query(channel, &info), -ENOTCONN);
	conn = mrpc_connect(session, LOOP, services, 1, NULL);
	CHECK(conn);
	CHECK_EQ(mrpc_channel_state(conn, false), -EINVAL);
	CHECK_EQ(mrpc_channel_wait(conn, 0, 0), -EINVAL);
	CHECK_STR(mrpc_last_error(), "it is a connection and no channel");
	CHECK(!mrpc_channel_open(session, "nonsense", services, 1, NULL));
	CHECK_EQ(errno, EINVAL);
	CHECK(!mrpc_channel_open(session, LOOP, services, 0, NULL));
	must_work(0);
	CHECK_EQ(mrpc_conn_query(channel, &info), 0);
	close_channel();
	server_down(pid, SIGTERM);
}

/* A session takes its channels along, in whatever state they are. */
TEST(ends_with_session)
{
	struct mrpc_result res;
	pid_t pid = server_up(LOOP);

	open_channel(LOOP, NULL);
	must_work(0);
	mrpc_session_close(session);
	server_down(pid, SIGTERM);

	open_channel(LOOP, NULL);
	CHECK_EQ(call(0, 0, &res), MRPC_UNAVAILABLE);
	mrpc_session_close(session);

	/* A child gives up its copy; the parent's goes on. Its thread sleeps during the fork. */
	open_channel(LOOP, NULL);
	CHECK_EQ(call(0, 0, &res), MRPC_UNAVAILABLE);
	pid = fork();
	if (!pid) {
		CHECK_EQ(call(0, 0, &res), MRPC_FAILED_PRECONDITION);
		CHECK_EQ(mrpc_channel_state(channel, true), -EPERM);
		mrpc_session_close(session);
		_exit(0);
	}
	server_down(pid, 0);
	pid = server_up(LOOP);
	must_work(MRPC_CALL_WAIT_READY);
	close_channel();
	server_down(pid, SIGTERM);
}

static void on_signal(int sig)
{
	(void)sig;
}

/* As any wait of a call, the wait for a connection ends with a signal. */
TEST(signal)
{
	const struct mrpc_channel_opts slow = { .backoff_us = 60 * S };
	struct sigaction sa = { .sa_handler = on_signal };
	struct mrpc_result res;

	open_channel(LOOP, &slow);
	CHECK_SYS(sigaction(SIGALRM, &sa, NULL));
	alarm(1);
	CHECK_EQ(call(MRPC_CALL_WAIT_READY, 0, &res), MRPC_CANCELLED);
	alarm(1);
	CHECK_EQ(mrpc_channel_wait(channel, MRPC_CHANNEL_TRANSIENT_FAILURE, -1), -EINTR);
	close_channel();
}

static void *wait_ready(void *arg)
{
	struct mrpc_result *res = arg;

	call(MRPC_CALL_WAIT_READY, 0, res);
	return NULL;
}

TEST(closed_while_waiting)
{
	struct mrpc_result res;
	pthread_t t;

	open_channel(LOOP, NULL);
	CHECK_EQ(pthread_create(&t, NULL, wait_ready, &res), 0);
	becomes(MRPC_CHANNEL_TRANSIENT_FAILURE);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	pthread_join(t, NULL);
	CHECK_EQ(res.status, MRPC_UNAVAILABLE);
	CHECK_STR(res.detail, "the channel was closed");
	mrpc_session_close(session);
}

/* -- several servers, and idleness --------------------------------------------------------- */

TEST(idle)
{
	const struct mrpc_channel_opts brief = { .idle_us = S / 5 };
	pid_t pid = server_up(TCP);
	struct mrpc_conn_info info;

	open_channel(TCP, &brief);
	must_work(0);
	becomes(MRPC_CHANNEL_IDLE);
	CHECK_EQ(mrpc_conn_query(channel, &info), -ENOTCONN);
	must_work(0);
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_READY);
	close_channel();
	server_down(pid, SIGTERM);
}

/* Both servers serve. When one drains no call is lost. It is used again when it is back. */
static void round_robin(const char *first, const char *second)
{
	const struct mrpc_channel_opts opts = {
		.backoff_us = S / 20, .backoff_max_us = S / 20,
		.service_config = "{\"loadBalancingConfig\":[{\"round_robin\":{}}]}",
	};
	pid_t one = server_up(first), two = server_up(second);
	char target[128];
	unsigned int i;

	snprintf(target, sizeof(target), "%s,%s", first, second);
	open_channel(target, &opts);
	for (i = 0; i < 20; i++)
		must_work(0);
	server_down(one, SIGTERM);
	for (i = 0; i < 20; i++)
		must_work(0);
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_READY);
	one = server_up(first);
	usleep(S / 5);
	server_down(two, SIGTERM);
	for (i = 0; i < 20; i++)
		must_work(0);
	close_channel();
	server_down(one, SIGTERM);
}

TEST(round_robin_tcp)
{
	round_robin(TCP, "tcp:127.0.0.1:7433");
}

TEST(round_robin_grpc)
{
	load_grpc();
	round_robin(GRPC, "grpc:127.0.0.1:7433");
}

/* -- asynchronous calls ------------------------------------------------------------------- */

struct ended {
	unsigned int nr;
	int status;
	bool unsent;
	char detail[256];
};

static void on_done(void *user, struct mrpc_result *res)
{
	struct ended *e = user;

	e->nr++;
	e->status = res->status;
	e->unsent = res->unsent;
	snprintf(e->detail, sizeof(e->detail), "%.255s", res->detail);
}

static int start(struct mrpc_qp *qp, struct ended *e, uint64_t timeout_us, mrpc_call_id *id)
{
	struct mrpc_call_opts opts = {
		.flags = MRPC_CALL_WAIT_READY, .timeout_us = timeout_us, .qp = qp,
	};
	struct mrpc_msg msg;

	request(&msg, 0);
	return mrpc_call_async(channel, &guest_Echo_service, guest_Echo_METHOD_Say, &msg, &opts,
			       on_done, e, id);
}

TEST(async_waits)
{
	struct ended first = { 0 }, late = { 0 }, given_up = { 0 };
	mrpc_call_id id;
	struct mrpc_qp *qp;
	pid_t pid;

	open_channel(LOOP, &hasty);
	qp = mrpc_qp_self(session);
	CHECK_EQ(start(qp, &first, 0, NULL), 0);
	CHECK_EQ(start(qp, &late, S / 5, NULL), 0);
	CHECK_EQ(start(qp, &given_up, 0, &id), 0);
	CHECK_EQ(mrpc_run(qp, S / 20), -ETIME);
	CHECK_EQ(mrpc_cancel(qp, id), 0);
	CHECK_EQ(mrpc_run(qp, S), 1);
	CHECK_EQ(given_up.status, MRPC_CANCELLED);
	CHECK_STR(given_up.detail, "cancelled by the application");
	CHECK_EQ(mrpc_cancel(qp, id), -ENOENT);
	CHECK_EQ(mrpc_run(qp, 5 * S), 1);
	CHECK_EQ(late.status, MRPC_DEADLINE_EXCEEDED);
	CHECK_MSG(late.unsent && strstr(late.detail, "no connection to " LOOP), "%s", late.detail);
	CHECK_EQ(mrpc_qp_in_flight(qp), 1);
	pid = server_up(LOOP);
	CHECK_EQ(mrpc_run(qp, 20 * S), 1);
	CHECK_MSG(!first.status, "%s", first.detail);
	/* Those that wait when their queue pair goes are dropped. */
	server_down(pid, SIGKILL);
	becomes(MRPC_CHANNEL_IDLE);
	CHECK_EQ(start(qp, &late, 0, NULL), 0);
	mrpc_qp_free(qp);
	CHECK_EQ(late.nr, 1);
	close_channel();
}

/* Sleeps on the descriptor, as an application with other descriptors does, until a call ends. */
static void sleep_until(struct mrpc_qp *qp, const struct ended *e)
{
	struct pollfd pfd = { .fd = mrpc_qp_fd(qp), .events = POLLIN };

	while (!e->nr) {
		CHECK_EQ(poll(&pfd, 1, 10000), 1);
		CHECK(mrpc_poll(qp) >= 0);
	}
}

static struct mrpc_qp *open_with_eventfd(const char *target, const struct mrpc_channel_opts *opts)
{
	struct mrpc_qp_opts qp_opts = { .flags = MRPC_QP_OPT_EVENTFD };
	struct mrpc_qp *qp;

	open_channel(target, opts);
	qp = mrpc_qp_new(session, &qp_opts);
	CHECK_MSG(qp, "%s", mrpc_last_error());
	return qp;
}

/* An application that sleeps on the descriptor is woken for a connection. */
TEST(eventfd)
{
	struct mrpc_qp *qp = open_with_eventfd(LOOP, &hasty);
	struct ended first = { 0 };
	pid_t pid;

	CHECK_EQ(start(qp, &first, 0, NULL), 0);
	pid = server_up(LOOP);
	sleep_until(qp, &first);
	CHECK_MSG(!first.status, "%s", first.detail);
	mrpc_qp_free(qp);
	close_channel();
	server_down(pid, SIGTERM);
}

/* And at its call's deadline, although the channel's next attempt is far away. */
TEST(eventfd_deadline)
{
	const struct mrpc_channel_opts slow = { .backoff_us = 60 * S };
	struct mrpc_qp *qp = open_with_eventfd(LOOP, &slow);
	struct ended late = { 0 };

	CHECK_EQ(start(qp, &late, S / 2, NULL), 0);
	sleep_until(qp, &late);
	CHECK_EQ(late.status, MRPC_DEADLINE_EXCEEDED);
	mrpc_qp_free(qp);
	close_channel();
}

/*
 * The same during an attempt: the peer takes the link and does not answer. The channel ends at once
 * all the same.
 */
TEST(eventfd_silent_server)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(7432),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	int one = 1, sock = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0));
	struct ended late = { 0 };
	struct mrpc_qp *qp;
	double before;

	CHECK_SYS(setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	CHECK_SYS(bind(sock, (struct sockaddr *)&addr, sizeof(addr)));
	CHECK_SYS(listen(sock, 8));
	qp = open_with_eventfd("tcp:127.0.0.1:7432", NULL);
	CHECK_EQ(start(qp, &late, S / 2, NULL), 0);
	sleep_until(qp, &late);
	CHECK_EQ(late.status, MRPC_DEADLINE_EXCEEDED);
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_CONNECTING);
	mrpc_qp_free(qp);
	before = now();
	close_channel();
	CHECK(now() - before < 10);
	close(sock);
}

/* -- servers that come and go under load ---------------------------------------------------- */

static bool stopping;
static unsigned int ok, lost, other;

static void count(const struct mrpc_result *res)
{
	if (!res->status)
		__atomic_add_fetch(&ok, 1, __ATOMIC_RELAXED);
	else if (res->status == MRPC_UNAVAILABLE && res->local && !res->unsent)
		__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
	else if (!__atomic_fetch_add(&other, 1, __ATOMIC_RELAXED))
		NOTE("%s: %s", mrpc_status_name(res->status), res->detail);
}

static void *call_sync(void *arg)
{
	struct mrpc_result res;

	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		call(MRPC_CALL_WAIT_READY, 0, &res);
		count(&res);
		mrpc_result_release(&res);
	}
	return arg;
}

static void count_done(void *user, struct mrpc_result *res)
{
	(void)user;
	count(res);
}

/* Eight calls at a time; every other one has its blocks read by the kernel until it is sent. */
static void *call_async(void *arg)
{
	struct mrpc_call_opts opts = { .flags = MRPC_CALL_WAIT_READY };
	struct mrpc_qp *qp = mrpc_qp_self(session);
	unsigned int i = 0;
	int nr;

	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		while (mrpc_qp_in_flight(qp) < 8) {
			struct mrpc_msg msg;
			struct guest_Request *req = guest_Request_new(&msg, session);

			guest_Request_set_text(&msg, req, "hello");
			if (i++ % 2)
				memset(guest_Request_alloc_data(&msg, req, 100000), 'x', 100000);
			CHECK_MSG(!mrpc_call_async(channel, &guest_Echo_service,
						   guest_Echo_METHOD_Say, &msg, &opts, count_done,
						   NULL, NULL), "%s", mrpc_last_error());
		}
		nr = mrpc_run(qp, 60 * S);
		CHECK_MSG(nr > 0, "%d: %s", nr, mrpc_last_error());
	}
	CHECK_EQ(mrpc_run_all(qp, 60 * S), 0);
	return arg;
}

/* A server that comes back is used again, and serves the calls that were not sent to another. */
static void restarts(const char *address, const struct mrpc_channel_opts *opts, int sig)
{
	const char *asked = getenv("CHANNEL_RESTARTS");
	unsigned int times = asked ? (unsigned int)atoi(asked) : RESTARTS;
	pid_t pid = server_up(address);
	pthread_t t[CALLERS + 1];
	unsigned int i, before;
	double until;

	stopping = false;
	ok = lost = other = 0;
	open_channel(address, opts);
	for (i = 0; i <= CALLERS; i++)
		CHECK_EQ(pthread_create(&t[i], NULL, i ? call_sync : call_async, NULL), 0);
	for (i = 0; i < times; i++) {
		before = __atomic_load_n(&ok, __ATOMIC_RELAXED);
		until = now() + 60;
		while (__atomic_load_n(&ok, __ATOMIC_RELAXED) < before + 20) {
			CHECK_MSG(now() < until, "no calls after %u restarts", i);
			usleep(1000);
		}
		server_down(pid, sig);
		pid = server_up(address);
	}
	stopping = true;
	for (i = 0; i <= CALLERS; i++)
		pthread_join(t[i], NULL);
	NOTE("%u restarts, %u calls, %u lost with their server", times, ok, lost);
	CHECK_EQ(other, 0);
	/* At most those that were under way. A server that ends in order answers them. */
	CHECK(lost <= (sig == SIGKILL && opts == &hasty ? times * (CALLERS + 8) : 0));
	close_channel();
	server_down(pid, SIGTERM);
}

#define RESTARTED(name, address, opts, sig)	\
	TEST_LIMIT(name, 240) { restarts(address, opts, sig); }

RESTARTED(kills_tcp, TCP, &hasty, SIGKILL)
RESTARTED(kills_loop, LOOP, &hasty, SIGKILL)
RESTARTED(kills_retried_tcp, TCP, &stubborn, SIGKILL)
RESTARTED(kills_retried_loop, LOOP, &stubborn, SIGKILL)
RESTARTED(drains_tcp, TCP, &hasty, SIGTERM)
RESTARTED(drains_loop, LOOP, &hasty, SIGTERM)

TEST_LIMIT(kills_grpc, 240)
{
	load_grpc();
	restarts(GRPC, &hasty, SIGKILL);
}

TEST_LIMIT(kills_retried_grpc, 240)
{
	load_grpc();
	restarts(GRPC, &stubborn, SIGKILL);
}

TEST_LIMIT(drains_grpc, 240)
{
	load_grpc();
	restarts(GRPC, &hasty, SIGTERM);
}
