// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/flow kmod/call/flow_tx kmod/call/flow_rx kmod/core/flow kmod/core/session */
/*
 * A process is killed in the middle of a stream. The application at the other end learns it once,
 * and the kernel keeps nothing.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tap.h"
#include "streams.h"

#define LEN	1000

/* What a child tells. */
struct told {
	uint32_t port;
	uint32_t come;		/* messages */
};

static struct told *told;

enum state {
	RUNNING,	/* both send, and the readers grant */
	UNREAD,		/* no reader grants: the senders wait for credit */
	SAID_END,	/* the client has ended its messages */
	STATES,
};

static void forget(void)
{
	told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(told != MAP_FAILED);
	nr_sides = 0;
}

static void kill_it(pid_t pid)
{
	int status;

	CHECK_SYS(kill(pid, SIGKILL));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_MSG(WIFSIGNALED(status), "it had ended before, with status %x", status);
	munmap(told, 4096);
}

static void connect_to(const char *how, unsigned int port)
{
	struct mrpc_connect c;
	char addr[64];
	int id;

	snprintf(addr, sizeof(addr), "%s", address(how));
	if (strcmp(how, "loop"))
		snprintf(strrchr(addr, ':'), 16, ":%u", port);
	c = target(&client.s, addr);
	id = raw_connect_to(&client.s, &c);
	CHECK_MSG(id > 0, "connect: %s", client.s.why);
	client.conn = id;
}

/**
 * struct end - what an end does
 * @side: the end
 * @state: how it does it
 * @token: of the stream
 * @pushed: messages
 * @sent: their SENTs
 * @come: messages that have come
 * @ended: the call has ended, with @status: REPLY, or MESSAGE without MORE
 * @over: the client's END has come
 */
struct end {
	struct side *side;
	enum state state;
	uint64_t token;
	unsigned int pushed;
	unsigned int sent;
	unsigned int come;
	unsigned int ended;
	uint16_t status;
	bool over;
};

static void take(struct end *e, const struct mrpc_cqe *cqe)
{
	switch (cqe->type) {
	case MRPC_CQE_OPEN:
	case MRPC_CQE_REQUEST:
		e->token = cqe->call;
		e->side->conn = cqe->conn;
		break;
	case MRPC_CQE_SENT:
		CHECK_MSG(++e->sent <= e->pushed, "%u SENTs for %u messages", e->sent, e->pushed);
		break;
	case MRPC_CQE_REPLY:
		e->ended++;
		e->status = cqe->status;
		raw_done(&e->side->s, cqe);
		break;
	case MRPC_CQE_MESSAGE:
		if (cqe->status) {
			e->ended++;
			e->status = cqe->status;
			break;
		}
		CHECK_MSG(!e->ended, "a message comes behind the end");
		e->over = !(cqe->flags & MRPC_CQE_MORE);
		if (!(cqe->flags & MRPC_CQE_BLOCK))
			break;
		CHECK(raw_is_blob(raw_msg(&e->side->s, cqe), cqe->msg_len, e->come, LEN));
		e->come++;
		if (e->state == UNREAD)	/* its block stays where it is */
			break;
		grant(e->side, e->token, cqe->msg_len + MRPC_STREAM_MESSAGE);
		raw_done(&e->side->s, cqe);
		break;
	default:
		CHECK_MSG(false, "a completion of type %u, status %u", cqe->type, cqe->status);
	}
}

/* Sends if it may, and takes what has come. */
static void go(struct end *e, bool more)
{
	struct mrpc_cqe cqe;

	if (more && e->token && !e->ended && e->pushed - e->sent < 40) {
		send_one(e->side, e->token, e->pushed, LEN, MRPC_SQE_COPY);
		e->pushed++;
	}
	raw_enter(&e->side->qp, more ? 0 : 1, RAW_MS);
	while (raw_reap(&e->side->qp, &cqe))
		take(e, &cqe);
}

/* Does as its state says, for ever. */
static void __attribute__((__noreturn__)) be_client(const char *how, unsigned int port,
						    enum state state)
{
	struct end e = { .side = &client, .state = state };
	struct mrpc_sqe sqe;
	bool said = false;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	nr_sides = 0;
	open_side(&client, 8 << 20, 256, 0);
	connect_to(how, port);
	sqe = call_of(CHAT, 7);
	push(&client, &sqe);
	for (;;) {
		go(&e, !said);
		if (state != SAID_END || said || e.pushed < 20)
			continue;
		send_end(e.token);
		e.pushed++;
		said = true;
	}
}

static void __attribute__((__noreturn__)) be_server(const char *how, enum state state)
{
	struct end e = { .side = &server, .state = state };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	nr_sides = 0;
	open_side(&server, 8 << 20, 256, MRPC_QP_SERVE);
	serve_streams(&server, address(how));
	__atomic_store_n(&told->port, server.s.port ?: 1, __ATOMIC_RELEASE);
	for (;;) {
		go(&e, e.token);
		__atomic_store_n(&told->come, e.come, __ATOMIC_RELEASE);
	}
}

/* As far as the state lets the other end send. */
static bool enough(const struct end *e)
{
	if (e->state == UNREAD)
		return e->come * COST(LEN) >= MRPC_STREAM_WINDOW;
	return e->come >= 20 && (e->state != SAID_END || e->over);
}

static void must_go_on(uint64_t until, const struct end *e)
{
	CHECK_MSG(raw_now() < until, "%u pushed, %u sent, %u come, %u ends", e->pushed, e->sent,
		  e->come, e->ended);
}

/* The call of @e ends once, and each message has its SENT. */
static void learns(struct end *e)
{
	uint64_t until = raw_now() + WAIT * raw_patience();
	unsigned int i;

	while (!e->ended || e->sent < e->pushed) {
		must_go_on(until, e);
		go(e, false);
	}
	for (i = 0; i < 20; i++)
		go(e, false);
	CHECK_EQ(e->ended, 1);
	CHECK_MSG(e->status == MRPC_UNAVAILABLE, "status %u", e->status);
}

static void client_killed_in(const char *how, enum state state)
{
	struct end e = { .side = &server, .state = state };
	uint64_t until = raw_now() + WAIT * raw_patience();
	pid_t pid;

	forget();
	open_side(&server, 8 << 20, 256, MRPC_QP_SERVE);
	serve_streams(&server, address(how));
	pid = CHECK_SYS(fork());
	if (!pid)
		be_client(how, server.s.port, state);
	while (!enough(&e)) {
		must_go_on(until, &e);
		go(&e, e.token);
	}
	kill_it(pid);
	learns(&e);
	/* Its answer comes too late. */
	server.nr_aside = 0;
	reply(e.token, MRPC_OK, 0);
	CHECK_EQ(next(&server, MRPC_CQE_SENT).status, MRPC_CANCELLED);
	raw_close(&server.s);
	CHECK(raw_sessions(0, 10000));
}

static void client_killed(const char *how)
{
	enum state state;

	for (state = RUNNING; state < STATES; state++)
		client_killed_in(how, state);
}

TEST_EACH_TRANSPORT(client_killed, client_killed)
TEST_GRPC(client_killed, client_killed)
TEST_TLS(client_killed, client_killed)

static void server_killed_in(const char *how, enum state state)
{
	struct end e = { .side = &client, .state = state };
	uint64_t until = raw_now() + WAIT * raw_patience();
	struct mrpc_sqe sqe;
	pid_t pid;

	forget();
	pid = CHECK_SYS(fork());
	if (!pid)
		be_server(how, state);
	while (!__atomic_load_n(&told->port, __ATOMIC_ACQUIRE)) {
		CHECK_MSG(raw_now() < until, "the server does not begin");
		raw_sleep(RAW_MS);
	}
	open_side(&client, 8 << 20, 256, 0);
	connect_to(how, told->port);
	sqe = call_of(CHAT, 7);
	push(&client, &sqe);
	/* Both ends have had enough. */
	while (e.come < 20 || __atomic_load_n(&told->come, __ATOMIC_ACQUIRE) < 20 ||
	       (state == UNREAD && e.come * COST(LEN) < MRPC_STREAM_WINDOW)) {
		must_go_on(until, &e);
		go(&e, state != SAID_END || e.pushed < 20);
	}
	if (state == SAID_END) {
		send_end(e.token);
		e.pushed++;
		go(&e, false);
	}
	kill_it(pid);
	learns(&e);
	raw_close(&client.s);
	CHECK(raw_sessions(0, 10000));
}

static void server_killed(const char *how)
{
	enum state state;

	for (state = RUNNING; state < STATES; state++)
		server_killed_in(how, state);
}

TEST_EACH_TRANSPORT(server_killed, server_killed)
TEST_GRPC(server_killed, server_killed)
