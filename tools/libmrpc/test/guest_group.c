// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Groups with the module. Each rank is a thread of this process, with a session of its own.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mrpc/group/v1/group.mrpc.h"
#include "tap.h"

#define RANKS	16		/* the most */
#define MS	1000
#define S	1000000
#define TCP	"tcp:127.0.0.1:7451"
#define LOOP	"loop:group"
#define COUNT	1000

/**
 * struct rank - a rank of the test
 * @rank: which one; a test may say a wrong number
 * @ranks: how many there are
 * @address: where all meet
 * @opts: how it creates the group
 * @delay_us: before it does that
 * @session: its session; NULL: it opens one
 * @group: NULL: it was not created, with @err and @why
 * @use: what it does then. If that is OK, it leaves the group with the others, unless it @stays
 * @created: there was a group
 * @status: what @use has returned
 */
struct rank {
	unsigned int rank;
	unsigned int ranks;
	const char *address;
	struct mrpc_group_opts opts;
	unsigned int delay_us;
	struct mrpc_session *session;
	struct mrpc_group *group;
	int err;
	char why[600];
	int (*use)(struct rank *r);
	bool stays;
	bool created;
	int status;
	pthread_t thread;
};

static struct rank ranks[RANKS + 1];

static void use(struct rank *r)
{
	CHECK_EQ(mrpc_group_rank(r->group), r->rank);
	CHECK_EQ(mrpc_group_ranks(r->group), r->ranks);
	r->status = r->use(r);
	if (r->status != MRPC_OK || r->stays)
		return;
	r->status = mrpc_group_leave(r->group);
	r->group = NULL;
	if (r->status != MRPC_OK)
		snprintf(r->why, sizeof(r->why), "%s", mrpc_last_error());
}

static void *rank_main(void *arg)
{
	struct rank *r = arg;

	usleep(r->delay_us);
	if (!r->session)
		r->session = mrpc_session_open(NULL);
	CHECK_MSG(r->session, "%s", mrpc_last_error());
	r->group = mrpc_group_create(r->session, r->address, r->ranks, r->rank, &r->opts);
	r->err = errno;
	r->created = r->group;
	if (!r->group)
		snprintf(r->why, sizeof(r->why), "%s", mrpc_last_error());
	else if (r->use)
		use(r);
	return NULL;
}

static void rank_start(struct rank *r)
{
	CHECK_EQ(pthread_create(&r->thread, NULL, rank_main, r), 0);
}

static void rank_wait(struct rank *r)
{
	pthread_join(r->thread, NULL);
}

static void rank_end(struct rank *r)
{
	mrpc_group_abort(r->group);
	mrpc_session_close(r->session);
	r->group = NULL;
	r->session = NULL;
}

/* @nr ranks that meet at @address. Tests then change what they like. */
static void prepare(unsigned int nr, const char *address, int (*use)(struct rank *r))
{
	unsigned int i;

	memset(ranks, 0, sizeof(ranks));
	for (i = 0; i < nr; i++) {
		ranks[i].rank = i;
		ranks[i].ranks = nr;
		ranks[i].address = address;
		ranks[i].use = use;
		ranks[i].opts.timeout_us = 20 * S;
	}
}

static void run_ranks(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		rank_start(&ranks[i]);
	for (i = 0; i < nr; i++)
		rank_wait(&ranks[i]);
}

static void check_ranks(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		CHECK_MSG(ranks[i].created, "rank %u: %s", i, ranks[i].why);
		CHECK_MSG(ranks[i].status == MRPC_OK, "rank %u: %s: %s", i,
			  mrpc_status_name(ranks[i].status), ranks[i].why);
	}
}

static void end_ranks(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		rank_end(&ranks[i]);
}

static void all_work(unsigned int nr)
{
	run_ranks(nr);
	check_ranks(nr);
	end_ranks(nr);
}

/* -- operations -------------------------------------------------------------------------- */

/* The element @i of what rank @rank has. */
static int32_t elem_of(unsigned int rank, unsigned int i)
{
	return (int32_t)(rank * 1000003 + i * 7);
}

static int32_t sum_of(unsigned int n, unsigned int i)
{
	int32_t sum = 0;
	unsigned int rank;

	for (rank = 0; rank < n; rank++)
		sum = (int32_t)((uint32_t)sum + (uint32_t)elem_of(rank, i));
	return sum;
}

static int note(struct rank *r, int status)
{
	if (status != MRPC_OK)
		snprintf(r->why, sizeof(r->why), "%s", mrpc_last_error());
	return status;
}

/* Each rank has @blocks times COUNT elements. */
static int32_t *buffer(struct rank *r, unsigned int blocks, bool filled)
{
	int32_t *p = mrpc_alloc(r->session, blocks * COUNT * sizeof(*p));
	unsigned int i;

	CHECK_MSG(p, "%s", mrpc_last_error());
	for (i = 0; i < blocks * COUNT; i++)
		p[i] = filled ? elem_of(r->rank, i) : -1;
	return p;
}

static void check_blocks(const int32_t *p, unsigned int first, unsigned int nr,
			 unsigned int offset)
{
	unsigned int b, i;

	for (b = 0; b < nr; b++)
		for (i = 0; i < COUNT; i++)
			CHECK_EQ(p[b * COUNT + i], elem_of(first + b, offset + i));
}

static int reducing(struct rank *r)
{
	const enum mrpc_elem e = MRPC_ELEM_I32;
	const enum mrpc_reduce_op sum = MRPC_REDUCE_SUM;
	int32_t *in = buffer(r, r->ranks, true), *out = buffer(r, 1, false);
	bool root = r->rank == r->ranks - 1;
	unsigned int i;
	int status;

	status = mrpc_group_allreduce(r->group, in, out, COUNT, e, sum);
	for (i = 0; i < COUNT && status == MRPC_OK; i++)
		CHECK_EQ(out[i], sum_of(r->ranks, i));
	if (status == MRPC_OK)
		status = mrpc_group_reduce(r->group, in, root ? out : NULL, COUNT, e, sum,
					   r->ranks - 1);
	for (i = 0; i < COUNT && root && status == MRPC_OK; i++)
		CHECK_EQ(out[i], sum_of(r->ranks, i));
	if (status == MRPC_OK)
		status = mrpc_group_reduce_scatter(r->group, in, out, COUNT, e, sum);
	for (i = 0; i < COUNT && status == MRPC_OK; i++)
		CHECK_EQ(out[i], sum_of(r->ranks, r->rank * COUNT + i));
	mrpc_free(r->session, in);
	mrpc_free(r->session, out);
	return note(r, status);
}

static int copying(struct rank *r)
{
	const enum mrpc_elem e = MRPC_ELEM_I32;
	int32_t *in = buffer(r, r->ranks, true), *out = buffer(r, r->ranks, false);
	unsigned int root = r->ranks - 1, i;
	bool is_root = r->rank == root;
	int status;

	status = mrpc_group_allgather(r->group, in, out, COUNT, e);
	if (status == MRPC_OK)
		check_blocks(out, 0, r->ranks, 0);
	memset(out, 0xff, r->ranks * COUNT * sizeof(*out));
	if (status == MRPC_OK)
		status = mrpc_group_gather(r->group, in, is_root ? out : NULL, COUNT, e, root);
	if (is_root && status == MRPC_OK)
		check_blocks(out, 0, r->ranks, 0);
	if (status == MRPC_OK)
		status = mrpc_group_scatter(r->group, is_root ? in : NULL, out, COUNT, e, root);
	if (status == MRPC_OK)
		check_blocks(out, root, 1, r->rank * COUNT);
	if (status == MRPC_OK)
		status = mrpc_group_alltoall(r->group, in, out, COUNT, e);
	for (i = 0; i < r->ranks && status == MRPC_OK; i++)
		check_blocks(out + i * COUNT, i, 1, r->rank * COUNT);
	memcpy(out, in, COUNT * sizeof(*out));
	if (status == MRPC_OK)
		status = mrpc_group_broadcast(r->group, out, COUNT, e, 0);
	if (status == MRPC_OK)
		check_blocks(out, 0, 1, 0);
	if (status == MRPC_OK)
		status = mrpc_group_barrier(r->group);
	mrpc_free(r->session, in);
	mrpc_free(r->session, out);
	return note(r, status);
}

static int each(struct rank *r)
{
	int status = reducing(r);

	return status == MRPC_OK ? copying(r) : status;
}

TEST(each_operation_loop)
{
	prepare(4, LOOP, each);
	all_work(4);
}

TEST(each_operation_tcp)
{
	prepare(5, TCP, each);
	all_work(5);
}

TEST(one_rank)
{
	prepare(1, TCP, each);
	all_work(1);
}

TEST_LIMIT(sixteen_ranks, 0)
{
	prepare(16, LOOP, reducing);
	all_work(16);
}

/* -- asynchronous -------------------------------------------------------------------------- */

#define AHEAD	20

struct ahead {
	unsigned int ended;
	int status;
};

static void on_done(void *user, struct mrpc_result *res)
{
	struct ahead *a = user;

	a->ended++;
	if (res->status != MRPC_OK)
		a->status = res->status;
}

/* Several are under way: each sums the result of the one before. The last one waits by itself. */
static int several(struct rank *r)
{
	struct mrpc_group_op op = {
		.collective = MRPC_ALLREDUCE, .elem = MRPC_ELEM_I32, .count = 1,
		.flags = MRPC_GROUP_PRIORITY, .priority = 200,
	};
	struct mrpc_qp *own = mrpc_qp_new(r->session, NULL);
	struct ahead a = { .status = MRPC_OK };
	uint32_t expected = 1, *p = mrpc_alloc(r->session, sizeof(*p));
	unsigned int i;

	*p = 1;
	op.input = p;
	op.output = p;
	for (i = 0; i < AHEAD; i++) {
		op.algorithm = 1 + i % (MRPC_NR_ALGORITHMS - 1);
		op.qp = i % 2 ? own : NULL;
		CHECK_EQ(mrpc_group_start(r->group, &op, on_done, &a), MRPC_OK);
		CHECK_EQ(mrpc_submit(op.qp ? op.qp : mrpc_qp_self(r->session)), 0);
		expected *= r->ranks;
	}
	CHECK_EQ(mrpc_qp_in_flight(own), AHEAD / 2);
	CHECK_EQ(mrpc_group_barrier(r->group), MRPC_OK);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(r->session), 10 * S), 0);
	CHECK_EQ(mrpc_run_all(own, 10 * S), 0);
	CHECK_EQ(a.ended, AHEAD);
	CHECK_EQ(*p, expected);
	mrpc_qp_free(own);
	mrpc_free(r->session, p);
	return a.status;
}

TEST(several_are_under_way)
{
	prepare(3, TCP, several);
	all_work(3);
}

/* -- what bad input gets --------------------------------------------------------------------- */

static void refused(struct rank *r, struct mrpc_group_op op, const char *why)
{
	CHECK_EQ(mrpc_group_run(r->group, &op), MRPC_INVALID_ARGUMENT);
	CHECK_MSG(strstr(mrpc_last_error(), why), "%s", mrpc_last_error());
	CHECK_EQ(mrpc_group_start(r->group, &op, on_done, NULL), MRPC_INVALID_ARGUMENT);
}

/* What is refused here, or by the kernel, leaves the group as it was. */
static int bad(struct rank *r)
{
	int32_t *p = mrpc_alloc(r->session, 4 * COUNT), x;
	struct mrpc_group_op op = {
		.collective = MRPC_ALLREDUCE, .elem = MRPC_ELEM_I32, .count = 1, .input = p,
		.output = p,
	}, o;

#define REFUSED(field, value, why) do { o = op; o.field = value; refused(r, o, why); } while (0)
	REFUSED(input, &x, "is not memory of mrpc_alloc() of this session");
	REFUSED(output, &x, "the output at");
	REFUSED(input, NULL, "the input is missing: this rank needs one");
	REFUSED(output, NULL, "the output is missing");
	REFUSED(collective, MRPC_NR_COLLECTIVES, "no collective 9, at most 8");
	REFUSED(algorithm, MRPC_NR_ALGORITHMS, "no algorithm 5, at most 4");
	REFUSED(elem, MRPC_NR_ELEMS, "no type of elements 7, at most 6");
	REFUSED(reduce, MRPC_NR_REDUCE_OPS, "no reduction 6, at most 5");
	REFUSED(flags, 2, "must be 0x1, not 0x2");
	REFUSED(resv0, 1, "flags");
	REFUSED(resv[3], 1, "a reserved field");
	CHECK_EQ(mrpc_group_start(r->group, &op, NULL, NULL), MRPC_INVALID_ARGUMENT);
	CHECK_MSG(strstr(mrpc_last_error(), "needs a callback"), "%s", mrpc_last_error());
	/* Only the root has these. */
	o = op;
	o.collective = MRPC_BROADCAST;
	o.root = r->rank;
	o.input = NULL;
	refused(r, o, "the input is missing");
	o = op;
	o.collective = MRPC_GATHER;
	o.root = r->rank;
	o.output = NULL;
	refused(r, o, "the output is missing");
	o = op;
	o.flags = MRPC_GROUP_PRIORITY;
	o.priority = 256;
	refused(r, o, "priority 256, at most 255");
	o = op;
	o.qp = mrpc_qp_self(r->session);
	CHECK_EQ(mrpc_group_run(r->group, &o), MRPC_INVALID_ARGUMENT);
	/* The kernel refuses it. */
	o = op;
	o.collective = MRPC_BROADCAST;
	o.root = 7;
	CHECK_EQ(mrpc_group_run(r->group, &o), MRPC_INVALID_ARGUMENT);
	CHECK_MSG(strstr(mrpc_last_error(), "root 7, but there are 2 ranks"), "%s",
		  mrpc_last_error());
	return note(r, mrpc_group_barrier(r->group));
}

TEST(bad_operations)
{
	prepare(2, LOOP, bad);
	all_work(2);
}

static int differ(struct rank *r)
{
	int32_t *p = mrpc_alloc(r->session, 4 * COUNT);

	return note(r, mrpc_group_allreduce(r->group, p, p, r->rank ? 10 : 20, MRPC_ELEM_I32,
					    MRPC_REDUCE_SUM));
}

/* Each of them learns what differs, and that the group has ended. */
TEST(ranks_that_disagree)
{
	unsigned int i;

	prepare(2, TCP, differ);
	run_ranks(2);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(ranks[i].status, MRPC_FAILED_PRECONDITION);
		CHECK_MSG(strstr(ranks[i].why, "elements, this one"), "%s", ranks[i].why);
		CHECK(mrpc_group_barrier(ranks[i].group) != MRPC_OK);
		CHECK_MSG(strstr(mrpc_last_error(), "the group has ended"), "%s", mrpc_last_error());
	}
	end_ranks(2);
}

static int leave(struct rank *r)
{
	if (r->rank)
		return note(r, mrpc_group_barrier(r->group));
	usleep(50 * MS);
	mrpc_group_abort(r->group);
	r->group = NULL;
	return MRPC_OK;
}

TEST(a_rank_aborts)
{
	prepare(3, TCP, leave);
	ranks[0].stays = true;
	run_ranks(3);
	CHECK_EQ(ranks[1].status, MRPC_CANCELLED);
	CHECK_MSG(strstr(ranks[1].why, "rank 0"), "%s", ranks[1].why);
	CHECK_EQ(ranks[2].status, MRPC_CANCELLED);
	end_ranks(3);
}

static int leave_early(struct rank *r)
{
	if (r->rank)
		return MRPC_OK;
	usleep(50 * MS);
	return reducing(r);
}

/* All have to leave: one that goes on instead, and the others, learn that they disagree. */
TEST(a_rank_goes_on)
{
	unsigned int i;

	prepare(3, LOOP, leave_early);
	run_ranks(3);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(ranks[i].status, MRPC_FAILED_PRECONDITION);
		CHECK_MSG(strstr(ranks[i].why, "Barrier"), "rank %u: %s", i, ranks[i].why);
	}
	end_ranks(3);
}

/* -- meeting -------------------------------------------------------------------------------- */

TEST(in_any_order)
{
	prepare(4, TCP, each);
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

/* It joins as rank 1 and then does not what a rank does. Rank 2 waits in vain, and rank 0 says why. */
TEST(a_stranger_calls)
{
	struct mrpc_session *s = mrpc_session_open(NULL);
	const struct mrpc_group_v1_JoinReply_ *reply;
	struct mrpc_result res;
	struct mrpc_conn *conn;
	char name[200];
	uint64_t key;

	prepare(3, TCP, NULL);
	ranks[0].opts.timeout_us = 3 * S;
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
	CHECK_EQ(join(conn, 3, 1, "tcp:127.0.0.1:1", &res), MRPC_OK);
	reply = res.reply;
	key = reply->key;
	CHECK_EQ(reply->addresses.len, 3);
	mrpc_result_release(&res);
	ANSWER(ready(conn, key, 7, &res), MRPC_PERMISSION_DENIED, "no rank 7 has joined");
	ANSWER(attach(conn, key, 0, 0, &res), MRPC_INVALID_ARGUMENT, "ranks 1 to 2 connect to rank 0");
	ANSWER(attach(conn, key, 1, 2, &res), MRPC_INVALID_ARGUMENT, "rank 0 is here, not rank 2");
	ANSWER(attach(conn, key, 1, 0, &res), MRPC_OK, "");
	ANSWER(attach(conn, key, 1, 0, &res), MRPC_FAILED_PRECONDITION, "belongs to a group");
	rank_wait(&ranks[2]);
	rank_wait(&ranks[0]);
	CHECK_EQ(ranks[0].err, ECONNABORTED);
	CHECK_MSG(strstr(ranks[0].why, "rank 2: rank 1 at tcp:127.0.0.1:1: cannot connect to"), "%s",
		  ranks[0].why);
	CHECK_MSG(strstr(ranks[2].why, "rank 1 at tcp:127.0.0.1:1: cannot connect"), "%s",
		  ranks[2].why);
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
