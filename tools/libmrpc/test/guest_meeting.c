// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How ranks of a group find each other, with the module, and what strangers do there.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "mrpc/group/v1/group.mrpc.h"
#include "guest_ranks.h"

/* -- meeting -------------------------------------------------------------------------------- */

TEST(in_any_order)
{
	prepare(4, TCP, reducing);
	ranks[0].delay_us = 400 * MS;
	ranks[3].delay_us = 600 * MS;
	all_work(4);
}

/* All say why, and which ones. */
static void check_missing(unsigned int nr, int err, const char *why)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!ranks[i].ranks)
			continue;
		CHECK(!ranks[i].group);
		CHECK_MSG(strstr(ranks[i].why, why), "rank %u: %s", i, ranks[i].why);
		CHECK_MSG(ranks[i].err == err, "rank %u: %s: %s", i, strerror(ranks[i].err),
			  ranks[i].why);
	}
}

static void run_some(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (ranks[i].ranks)
			rank_start(&ranks[i]);
	for (i = 0; i < nr; i++)
		if (ranks[i].ranks)
			rank_wait(&ranks[i]);
}

TEST(ranks_are_missing)
{
	prepare(5, TCP, NULL);
	ranks[1].ranks = 0;
	ranks[3].ranks = 0;
	/* The time of the one that waits least. */
	ranks[2].opts.timeout_us = S;
	run_some(5);
	check_missing(5, ETIMEDOUT, "of 5 ranks, these have not come in time: 1, 3");
	end_ranks(5);
}

TEST(rank_0_is_missing)
{
	prepare(3, TCP, NULL);
	ranks[0].ranks = 0;
	ranks[1].opts.timeout_us = 500 * MS;
	ranks[2].opts.timeout_us = 700 * MS;
	run_some(3);
	check_missing(3, ETIMEDOUT, "rank 0 does not answer at " TCP ": cannot connect to");
	end_ranks(3);
}

/* A process that is not as the others expect it is refused. The group is made without it. */
static void stranger_is_refused(int err, const char *why)
{
	unsigned int i;

	ranks[RANKS].address = TCP;
	ranks[RANKS].opts.timeout_us = 20 * S;
	ranks[2].delay_us = 800 * MS;
	for (i = 0; i < 3; i++)
		rank_start(&ranks[i]);
	usleep(300 * MS);
	rank_start(&ranks[RANKS]);
	rank_wait(&ranks[RANKS]);
	CHECK(!ranks[RANKS].group);
	CHECK_MSG(ranks[RANKS].err == err, "%s", ranks[RANKS].why);
	CHECK_MSG(strstr(ranks[RANKS].why, why), "%s", ranks[RANKS].why);
	for (i = 0; i < 3; i++)
		rank_wait(&ranks[i]);
	check_ranks(3);
	end_ranks(3);
	rank_end(&ranks[RANKS]);
}

TEST(a_rank_is_there_twice)
{
	prepare(3, TCP, reducing);
	ranks[RANKS].rank = 1;
	ranks[RANKS].ranks = 3;
	stranger_is_refused(EEXIST, "rank 1 is there already");
}

TEST(another_number_of_ranks)
{
	prepare(3, TCP, reducing);
	ranks[RANKS].rank = 2;
	ranks[RANKS].ranks = 4;
	stranger_is_refused(EINVAL, "rank 2 says that there are 4 ranks, rank 0 says 3");
}

TEST(another_token)
{
	unsigned int i;

	prepare(3, TCP, reducing);
	for (i = 0; i < 3; i++)
		ranks[i].opts.token = "job 7";
	ranks[RANKS].rank = 2;
	ranks[RANKS].ranks = 3;
	ranks[RANKS].opts.token = "job 8";
	stranger_is_refused(EACCES, "the token is not that of rank 0");
}

/* A refusal may be the reason for what is missing: ranks learn of it, too. */
TEST(refusals_are_told)
{
	prepare(3, TCP, NULL);
	ranks[0].opts.timeout_us = S;
	ranks[2].rank = 1;
	ranks[2].delay_us = 200 * MS;
	run_ranks(3);
	CHECK_EQ(ranks[2].err, EEXIST);
	CHECK_MSG(strstr(ranks[1].why, "these have not come in time: 2; a process at tcp:127.0.0.1:"),
		  "%s", ranks[1].why);
	CHECK_MSG(strstr(ranks[0].why, "was refused: rank 1 is there already"), "%s", ranks[0].why);
	end_ranks(3);
}

/* A rank that was killed while it waited comes again. */
TEST(a_rank_comes_again)
{
	struct mrpc_group_opts opts = { .timeout_us = 20 * S };
	unsigned int i;
	pid_t pid;

	pid = fork();
	CHECK_SYS(pid);
	if (!pid) {
		mrpc_group_create(mrpc_session_open(NULL), TCP, 3, 1, &opts);
		_exit(1);
	}
	prepare(3, TCP, reducing);
	rank_start(&ranks[0]);
	usleep(400 * MS);
	CHECK_SYS(kill(pid, SIGKILL));
	CHECK_SYS(waitpid(pid, NULL, 0));
	usleep(200 * MS);
	/* Now each number has been there once. */
	rank_start(&ranks[2]);
	usleep(300 * MS);
	rank_start(&ranks[1]);
	for (i = 0; i < 3; i++)
		rank_wait(&ranks[i]);
	check_ranks(3);
	end_ranks(3);
}

TEST(bad_arguments)
{
	struct mrpc_session *s = mrpc_session_open(NULL);
	struct mrpc_group_opts opts = { .timeout_us = 100 * MS };
	struct mrpc_server *server;

#define FAILS(err, why, ...) do {							\
		CHECK(!mrpc_group_create(__VA_ARGS__));				\
		CHECK_MSG(errno == (err), "%s", mrpc_last_error());		\
		CHECK_MSG(strstr(mrpc_last_error(), why), "%s", mrpc_last_error()); \
	} while (0)
	FAILS(EINVAL, "a group has 1 to 1024 ranks, not 0", s, TCP, 0, 0, NULL);
	FAILS(EINVAL, "a group has 1 to 1024 ranks, not 1025", s, TCP, 1025, 0, NULL);
	FAILS(EINVAL, "rank 3: the ranks of 3 are 0 to 2", s, TCP, 3, 3, NULL);
	FAILS(EINVAL, "the address of rank 0 is missing", s, NULL, 3, 0, NULL);
	FAILS(EINVAL, "'nowhere' is not an address", s, "nowhere", 3, 0, &opts);
	FAILS(EINVAL, "'nowhere' is not an address", s, "nowhere", 3, 1, &opts);
	opts.token = "12345678901234567890123456789012345678901234567890123456789012345";
	FAILS(EINVAL, "a token has at most 64 bytes, not 65", s, TCP, 3, 1, &opts);
	opts.token = NULL;
	server = mrpc_server_new(s);
	FAILS(EBUSY, "another thread serves, or creates a group, in this session", s, TCP, 3, 0, &opts);
	mrpc_server_free(server);
	FAILS(ETIMEDOUT, "these have not come in time: 1, 2", s, TCP, 3, 0, &opts);
	FAILS(ETIMEDOUT, "these have not come in time: 1, 2, 3, 4, 5, 6, 7, 8 and 11 more", s, TCP, 20,
	      0, &opts);
	CHECK_EQ(mrpc_group_leave(NULL), MRPC_OK);
	mrpc_group_abort(NULL);
	mrpc_session_close(s);
}

/* -- hostile ranks ---------------------------------------------------------------------------- */

static struct mrpc_conn *stranger(struct mrpc_session *s)
{
	const struct mrpc_service_desc *services[] = { &mrpc_group_v1_Group__service };
	struct mrpc_conn *conn = mrpc_connect(s, TCP, services, 1, NULL);

	CHECK_MSG(conn, "%s", mrpc_last_error());
	return conn;
}

/* Return: the status. */
static int join(struct mrpc_conn *conn, unsigned int nr, unsigned int rank, const char *address,
		struct mrpc_result *res)
{
	struct mrpc_group_v1_JoinRequest_ *req;
	struct mrpc_msg msg;

	req = mrpc_group_v1_JoinRequest__new(&msg, mrpc_conn_session(conn));
	req->ranks = nr;
	req->rank = rank;
	req->wait_us = 20 * S;
	mrpc_group_v1_JoinRequest__set_address(&msg, req, address);
	return mrpc_group_v1_Group__Join(conn, &msg, NULL, res);
}

static int attach(struct mrpc_conn *conn, uint64_t key, unsigned int rank, unsigned int to,
		  struct mrpc_result *res)
{
	struct mrpc_group_v1_AttachRequest_ *req;
	struct mrpc_msg msg;

	req = mrpc_group_v1_AttachRequest__new(&msg, mrpc_conn_session(conn));
	req->key = key;
	req->rank = rank;
	req->to = to;
	return mrpc_group_v1_Group__Attach(conn, &msg, NULL, res);
}

static int ready(struct mrpc_conn *conn, uint64_t key, unsigned int rank, struct mrpc_result *res)
{
	struct mrpc_group_v1_ReadyRequest_ *req;
	struct mrpc_msg msg;

	req = mrpc_group_v1_ReadyRequest__new(&msg, mrpc_conn_session(conn));
	req->key = key;
	req->rank = rank;
	return mrpc_group_v1_Group__Ready(conn, &msg, NULL, res);
}

#define ANSWER(call, expected, text) do {						\
		int status_ = call;							\
		CHECK_MSG(status_ == (expected), "%s: %s", mrpc_status_name(status_), res.detail); \
		CHECK_MSG(strstr(res.detail, text), "%s", res.detail);			\
		mrpc_result_release(&res);						\
	} while (0)

/* A socket that listens. Its connections say nothing until it is closed. @address: as text */
static int listen_silently(char *address, size_t size)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK_SYS(bind(fd, (struct sockaddr *)&in, sizeof(in)));
	CHECK_SYS(listen(fd, 8));
	CHECK_SYS(getsockname(fd, (struct sockaddr *)&in, &len));
	snprintf(address, size, "tcp:127.0.0.1:%u", ntohs(in.sin_port));
	return fd;
}

/* It joins as rank 1 and then does not what a rank does. Rank 2 waits in vain, and rank 0 says why. */
TEST(a_stranger_calls)
{
	struct mrpc_session *s = mrpc_session_open(NULL);
	const struct mrpc_group_v1_JoinReply_ *reply;
	struct mrpc_result res;
	struct mrpc_conn *conn;
	char name[200], silent[64];
	uint64_t key;
	int fd = listen_silently(silent, sizeof(silent));

	prepare(3, TCP, NULL);
	rank_start(&ranks[0]);
	usleep(300 * MS);
	conn = stranger(s);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ANSWER(join(conn, 3, 0, "x", &res), MRPC_INVALID_ARGUMENT, "rank 0: ranks 1 to 2 are expected");
	ANSWER(join(conn, 3, 3, "x", &res), MRPC_INVALID_ARGUMENT, "rank 3: ranks 1 to 2 are expected");
	ANSWER(join(conn, 3, 1, "", &res), MRPC_INVALID_ARGUMENT, "rank 1 has no address");
	ANSWER(join(conn, 3, 1, name, &res), MRPC_INVALID_ARGUMENT, "of more than 159 bytes");
	ANSWER(ready(conn, 0, 1, &res), MRPC_PERMISSION_DENIED, "no rank 1 has joined");
	ANSWER(attach(conn, 0, 1, 0, &res), MRPC_PERMISSION_DENIED, "rank 0 of another group is here");
	rank_start(&ranks[2]);
	CHECK_EQ(join(conn, 3, 1, silent, &res), MRPC_OK);
	reply = res.reply;
	key = reply->key;
	CHECK_EQ(reply->addresses.len, 3);
	mrpc_result_release(&res);
	ANSWER(ready(conn, key, 7, &res), MRPC_PERMISSION_DENIED, "no rank 7 has joined");
	ANSWER(attach(conn, key, 0, 0, &res), MRPC_INVALID_ARGUMENT, "ranks 1 to 2 connect to rank 0");
	ANSWER(attach(conn, key, 1, 2, &res), MRPC_INVALID_ARGUMENT, "rank 0 is here, not rank 2");
	ANSWER(attach(conn, key, 1, 0, &res), MRPC_OK, "");
	ANSWER(attach(conn, key, 1, 0, &res), MRPC_FAILED_PRECONDITION, "belongs to a group");
	close(fd);
	rank_wait(&ranks[2]);
	rank_wait(&ranks[0]);
	CHECK_EQ(ranks[0].err, ECONNABORTED);
	snprintf(name, sizeof(name), "rank 2: rank 1 at %s: cannot connect to", silent);
	CHECK_MSG(strstr(ranks[0].why, name), "%s", ranks[0].why);
	CHECK_MSG(strstr(ranks[2].why, name + strlen("rank 2: ")), "%s", ranks[2].why);
	end_ranks(3);
	mrpc_session_close(s);
}

static unsigned int handled;

static int handle(struct mrpc_call *call, const struct mrpc_group_v1_JoinRequest_ *req,
		  struct mrpc_group_v1_JoinReply_ *reply)
{
	(void)call;
	(void)req;
	(void)reply;
	handled++;
	return MRPC_OK;
}

static void *serve(void *server)
{
	CHECK_EQ(mrpc_server_run(server, 1), 0);
	return NULL;
}

/* A connection of a group carries no calls once the group is complete: another server may be there. */
TEST(a_rank_calls_afterwards)
{
	static const struct mrpc_group_v1_Group__ops ops = { .Join = handle };
	struct mrpc_session *s = mrpc_session_open(NULL);
	const struct mrpc_group_v1_JoinReply_ *reply;
	struct mrpc_server *server;
	struct mrpc_result res;
	struct mrpc_conn *conn;
	pthread_t thread;
	uint64_t key;

	prepare(2, TCP, NULL);
	rank_start(&ranks[0]);
	usleep(300 * MS);
	conn = stranger(s);
	CHECK_EQ(join(conn, 2, 1, "x", &res), MRPC_OK);
	reply = res.reply;
	key = reply->key;
	mrpc_result_release(&res);
	ANSWER(attach(conn, key, 1, 0, &res), MRPC_OK, "");
	ANSWER(ready(conn, key, 1, &res), MRPC_OK, "");
	rank_wait(&ranks[0]);
	CHECK_MSG(ranks[0].group, "%s", ranks[0].why);
	ANSWER(join(conn, 2, 1, "x", &res), MRPC_UNAVAILABLE, "the server has shut down");
	server = mrpc_server_new(ranks[0].session);
	CHECK_MSG(server, "%s", mrpc_last_error());
	CHECK_EQ(mrpc_server_add(server, &mrpc_group_v1_Group__service, &ops, NULL), 0);
	CHECK_EQ(mrpc_server_listen(server, TCP, NULL), 0);
	CHECK_EQ(pthread_create(&thread, NULL, serve, server), 0);
	ANSWER(join(conn, 2, 1, "x", &res), MRPC_UNAVAILABLE, "the server has shut down");
	CHECK_EQ(handled, 0);
	ANSWER(join(stranger(s), 2, 1, "x", &res), MRPC_OK, "");
	CHECK_EQ(handled, 1);
	mrpc_server_stop(server);
	pthread_join(thread, NULL);
	end_ranks(1);
	mrpc_session_close(s);
}

/* A rank says that it is ready, and has connected to no other. */
TEST(a_rank_lies)
{
	struct mrpc_session *s = mrpc_session_open(NULL);
	const struct mrpc_group_v1_JoinReply_ *reply;
	struct mrpc_result res;
	struct mrpc_conn *conn;
	uint64_t key;

	prepare(2, TCP, NULL);
	rank_start(&ranks[0]);
	usleep(300 * MS);
	conn = stranger(s);
	CHECK_EQ(join(conn, 2, 1, "x", &res), MRPC_OK);
	reply = res.reply;
	key = reply->key;
	mrpc_result_release(&res);
	ANSWER(ready(conn, key, 1, &res), MRPC_OK, "");
	rank_wait(&ranks[0]);
	CHECK_EQ(ranks[0].err, EPROTO);
	CHECK_MSG(strstr(ranks[0].why, "1 ranks say that they have connected to rank 0, and 0 have"), "%s",
		  ranks[0].why);
	end_ranks(2);
	mrpc_session_close(s);
}

/* One that has come, and does not go on, is named. */
TEST(a_rank_stops_half_way)
{
	struct mrpc_session *s = mrpc_session_open(NULL);
	struct mrpc_result res;
	struct mrpc_conn *conn;

	prepare(2, TCP, NULL);
	ranks[0].opts.timeout_us = S;
	rank_start(&ranks[0]);
	usleep(300 * MS);
	conn = stranger(s);
	CHECK_EQ(join(conn, 2, 1, "x", &res), MRPC_OK);
	mrpc_result_release(&res);
	rank_wait(&ranks[0]);
	CHECK_MSG(strstr(ranks[0].why, "these have not connected to the others in time: 1"), "%s",
		  ranks[0].why);
	CHECK_EQ(ranks[0].err, ETIMEDOUT);
	end_ranks(2);
	mrpc_session_close(s);
}

/* -- the session ------------------------------------------------------------------------------ */

/* A session has a server after its group was created. Its end leaves the group alone. */
static int serve_too(struct rank *r)
{
	const struct mrpc_service_desc *service = &mrpc_group_v1_Group__service;
	static const struct mrpc_group_v1_Group__ops ops = { 0 };
	struct mrpc_server *server = mrpc_server_new(r->session);

	CHECK_MSG(server, "%s", mrpc_last_error());
	CHECK_EQ(mrpc_server_add(server, service, &ops, NULL), 0);
	CHECK_EQ(mrpc_server_listen(server, "tcp:127.0.0.1:0", NULL), 0);
	mrpc_server_free(server);
	return reducing(r);
}

TEST(a_server_in_the_session)
{
	prepare(3, TCP, serve_too);
	all_work(3);
}

/* Two groups of the same sessions, one after the other, and both in use. */
TEST(two_groups)
{
	struct mrpc_group *first[3];
	unsigned int i;

	prepare(3, LOOP, reducing);
	for (i = 0; i < 3; i++)
		ranks[i].stays = true;
	run_ranks(3);
	check_ranks(3);
	for (i = 0; i < 3; i++)
		first[i] = ranks[i].group;
	run_ranks(3);
	check_ranks(3);
	for (i = 0; i < 3; i++)
		mrpc_group_abort(first[i]);
	end_ranks(3);
}

/* Where others connect is the caller's choice. */
TEST(a_rank_listens_elsewhere)
{
	prepare(3, TCP, reducing);
	ranks[1].opts.listen = "tcp:127.0.0.2:7460";
	ranks[2].opts.listen = "tcp:0.0.0.0:0";
	all_work(3);
}

static int reducing_twice(struct rank *r)
{
	int status = reducing(r);

	if (status == MRPC_OK)
		status = note(r, mrpc_group_leave(r->group));
	r->group = mrpc_group_create(r->session, r->address, r->ranks, r->rank, &r->opts);
	CHECK_MSG(r->group, "rank %u: %s", r->rank, mrpc_last_error());
	return status == MRPC_OK ? reducing(r) : status;
}

/* The next group meets where the former has met, at once. */
TEST(one_after_the_other)
{
	prepare(4, TCP, reducing_twice);
	all_work(4);
}

TEST(an_address_that_cannot_be_had)
{
	prepare(2, TCP, NULL);
	ranks[0].opts.timeout_us = 2 * S;
	ranks[1].opts.listen = "tcp:192.0.2.1:0";
	run_ranks(2);
	CHECK_MSG(strstr(ranks[1].why, "cannot listen at tcp:192.0.2.1:0: this host does not have"), "%s", ranks[1].why);
	CHECK_MSG(strstr(ranks[0].why, "these have not come in time: 1"), "%s", ranks[0].why);
	end_ranks(2);
}
