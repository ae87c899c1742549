/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Channels, with the module, to servers that are processes of their own. These are killed, or
 * stopped in order, and started again.
 */
#ifndef TEST_GUEST_SERVERS_H
#define TEST_GUEST_SERVERS_H

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.mrpc.h"
#include "tap.h"

#define TCP	"tcp:127.0.0.1:7431"
#define LOOP	"loop:channel"
#define GRPC	"grpc:127.0.0.1:7431"
#define S	1000000

#define RESTARTS 5		/* or what CHANNEL_RESTARTS in the environment says */

static const struct mrpc_service_desc *const services[] = {
	&guest_Echo_service, &guest_Streams_service,
};

static struct mrpc_session *session;
static struct mrpc_conn *channel;

/* Attempts follow each other soon, so that a test does not wait for them. */
static const struct mrpc_channel_opts hasty = { .backoff_us = S / 20, .backoff_max_us = S / 10 };

/* The same; the channel makes calls again that lose their server. */
static const struct mrpc_channel_opts stubborn = {
	.backoff_us = S / 20, .backoff_max_us = S / 10,
	.service_config = "{\"methodConfig\":[{\"name\":[{}],\"waitForReady\":true,\"retryPolicy\":{"
		"\"maxAttempts\":5,\"initialBackoff\":\"0.01s\",\"maxBackoff\":\"1s\","
		"\"backoffMultiplier\":2,\"retryableStatusCodes\":[\"UNAVAILABLE\"]}}]}",
};

/* -- servers ---------------------------------------------------------------------------- */

static inline int say(struct mrpc_call *call, const struct guest_Request *req,
	       struct guest_Reply *reply)
{
	if (req->what)
		usleep(req->what);
	guest_Reply_set_text(mrpc_call_msg(call), reply, guest_Request_text(req, req));
	return MRPC_OK;
}

/* The text says how many messages have come. Their numbers must follow each other. */
static inline int collect(struct mrpc_call *call, struct guest_Reply *reply)
{
	const struct guest_Request *req;
	unsigned int nr = 0;
	char text[16];

	while ((req = guest_Streams_Collect_get(call)))
		if (req->what != nr++)
			return MRPC_DATA_LOSS;
	snprintf(text, sizeof(text), "%u", nr);
	guest_Reply_set_text(mrpc_call_msg(call), reply, text);
	return MRPC_OK;
}

static inline void *run_server(void *arg)
{
	return mrpc_server_run(arg, 2) ? arg : NULL;
}

/* Serves until SIGTERM, then ends in order. @ready: a descriptor that learns of its begin. */
static inline void serve(const char *address, int ready)
{
	static const struct guest_Streams_ops streams_ops = { .Collect = collect };
	static const struct guest_Echo_ops ops = { .Say = say };
	struct mrpc_session *s = mrpc_session_open(NULL);
	struct mrpc_server *server = s ? mrpc_server_new(s) : NULL;
	pthread_t thread;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (!server || guest_Echo_add(server, &ops, NULL) ||
	    guest_Streams_add(server, &streams_ops, NULL) ||
	    mrpc_server_listen(server, address, NULL) ||
	    pthread_create(&thread, NULL, run_server, server))
		_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	sigwait(&set, &sig);
	mrpc_server_stop(server);
	pthread_join(thread, NULL);
	mrpc_session_close(s);
	_exit(0);
}

/* The test forks while it has other threads. So a server is this program, executed anew. */
static __attribute__((__constructor__)) void be_server(void)
{
	const char *address = getenv("CHANNEL_SERVE"), *ready = getenv("CHANNEL_READY");

	if (address && ready)
		serve(address, atoi(ready));
}

static inline pid_t server_up(const char *address)
{
	char env_address[64], env_ready[32], byte;
	char *argv[] = { (char *)"server", NULL }, *env[] = { env_address, env_ready, NULL };
	int ready[2];
	pid_t pid;

	CHECK_SYS(pipe(ready));
	snprintf(env_address, sizeof(env_address), "CHANNEL_SERVE=%s", address);
	snprintf(env_ready, sizeof(env_ready), "CHANNEL_READY=%d", ready[1]);
	pid = fork();
	CHECK_SYS(pid);
	if (!pid) {
		execve("/proc/self/exe", argv, env);
		_exit(1);
	}
	close(ready[1]);
	CHECK_MSG(read(ready[0], &byte, 1) == 1, "the server does not listen at %s", address);
	close(ready[0]);
	return pid;
}

static inline void server_down(pid_t pid, int sig)
{
	int status;

	CHECK_SYS(kill(pid, sig));
	CHECK_SYS(waitpid(pid, &status, 0));
	CHECK(sig == SIGKILL ? WIFSIGNALED(status) : WIFEXITED(status) && !WEXITSTATUS(status));
}

/* -- clients ---------------------------------------------------------------------------- */

static inline double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static inline void open_channel(const char *target, const struct mrpc_channel_opts *opts)
{
	session = mrpc_session_open(NULL);
	CHECK_MSG(session, "%s", mrpc_last_error());
	channel = mrpc_channel_open(session, target, services, 2, opts);
	CHECK_MSG(channel, "%s", mrpc_last_error());
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_IDLE);
}

static inline void close_channel(void)
{
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	mrpc_session_close(session);
}

static inline void request(struct mrpc_msg *msg, unsigned int sleep_us)
{
	struct guest_Request *req = guest_Request_new(msg, session);

	req->what = sleep_us;
	guest_Request_set_text(msg, req, "hello");
}

static inline int call(unsigned int flags, uint64_t timeout_us, struct mrpc_result *res)
{
	struct mrpc_call_opts opts = { .flags = flags, .timeout_us = timeout_us };
	struct mrpc_msg msg;

	request(&msg, 0);
	return guest_Echo_Say(channel, &msg, &opts, res);
}

static inline void must_work(unsigned int flags)
{
	struct mrpc_result res;

	CHECK_MSG(!call(flags, 0, &res), "%s: %s", mrpc_status_name(res.status), res.detail);
	CHECK(!strcmp(guest_Reply_text(res.reply, guest_Echo_Say_reply(&res)), "hello"));
	mrpc_result_release(&res);
}

/* Waits until the channel is in a state; it goes there by itself. */
static inline void becomes(int state)
{
	double until = now() + 30;
	int is;

	while ((is = mrpc_channel_state(channel, false)) != state) {
		CHECK_MSG(now() < until, "the channel is %s, not %s", mrpc_channel_state_name(is),
			  mrpc_channel_state_name(state));
		mrpc_channel_wait(channel, is, S);
	}
}

#endif /* TEST_GUEST_SERVERS_H */
