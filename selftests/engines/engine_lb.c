// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/lb kmod/replica kmod/call/carry kmod/lib/balance */
/*
 * The lb engine: which replica gets a call, and which configurations are refused. For calls under
 * way when replicas come, go and fail, see engine_lb_calls.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tap.h"
#include "operator.h"
#include "replicas.h"

static void in_turn(void)
{
	uint64_t before[REPLICAS];
	unsigned int i;

	begin("tcp4");
	echo(1);
	op_must_add("lb", members(3, 2, 1), NULL);
	link_all(3);
	for (i = 0; i < REPLICAS; i++)
		before[i] = requests(i);
	for (i = 0; i < 120; i++)
		echo(2000 + i);
	for (i = 0; i < REPLICAS; i++) {
		check_near(requests(i) - before[i], 60 - 20 * i, 3);
		CHECK_EQ(counter(i, "picks"), requests(i));
		CHECK_EQ(counter(i, "weight"), 3 - i);
		CHECK_EQ(counter(i, "outstanding"), 0);
		CHECK_EQ(counter(i, "failures"), 0);
	}
	CHECK_EQ(raw_server_requests(&p.srv), 1);
	/* Without the engine the calls go to the server of the connection. */
	op_must_del("lb");
	for (i = 0; i < 10; i++)
		echo(3000 + i);
	CHECK_EQ(raw_server_requests(&p.srv), 11);
	for (i = 0; i < REPLICAS; i++)
		CHECK(raw_server_conns(&srv[i], 0, 10000));
	end();
}

TEST(in_turn)
{
	in_turn();
}

/* The replicas are servers of gRPC. */
TEST(in_turn_grpc)
{
	raw_load("mrpc_grpc");
	wire = "grpc";
	in_turn();
	wire = "tcp";
}

TEST(fewest_calls)
{
	begin("tcp4");
	op_must_add("lb", with("policy=least", 3, 1, -1), NULL);
	link_all(2);
	raw_qp(&qp, &p.c, 64, 256, 0);
	push_hang(8);
	CHECK(raw_server_hangs(&srv[0], 6));
	CHECK(raw_server_hangs(&srv[1], 2));
	CHECK_EQ(counter(0, "outstanding"), 6);
	CHECK_EQ(counter(1, "outstanding"), 2);
	end();
}

static void call_tags(void)
{
	unsigned int i;

	for (i = 0; i < TAGS; i++)
		owner[i] = -1;
	for (i = 0; i < TAGS; i++)
		echo(i);
}

TEST(by_field)
{
	int first[TAGS], had[REPLICAS] = { 0 };
	unsigned int i;
	int64_t before;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;

	begin("tcp4");
	op_must_add("lb", with("policy=hash field=tag", 1, 1, 1), NULL);
	link_all(3);
	call_tags();
	memcpy(first, owner, sizeof(first));
	for (i = 0; i < TAGS; i++) {
		CHECK(first[i] >= 0);
		had[first[i]]++;
	}
	for (i = 0; i < REPLICAS; i++)	/* six standard deviations are 50 */
		check_near(had[i], TAGS / 3, 50);
	call_tags();
	CHECK(!memcmp(first, owner, sizeof(first)));
	/* Only the calls of the removed replica move. All of them come back with it. */
	op_must_set("lb", members(1, -1, 1), NULL);
	CHECK(raw_server_conns(&srv[1], 0, 10000));
	call_tags();
	for (i = 0; i < TAGS; i++) {
		CHECK(owner[i] != 1);
		CHECK(first[i] == 1 || owner[i] == first[i]);
	}
	op_must_set("lb", members(1, 1, 1), NULL);
	wait_counter(1, "linked", 1);
	call_tags();
	CHECK(!memcmp(first, owner, sizeof(first)));
	CHECK_EQ(op_counter("lb", "unkeyed"), 0);
	/* A request of another service does not have the field. */
	sqe = raw_sqe(p.conn, RAW_ECHO_ALL, raw_alloc(&p.c, sizeof(struct test_All)));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	CHECK_EQ(op_counter("lb", "unkeyed"), 1);
	/* Counters do not belong to one configuration. */
	before = op_dir("lb", false, MRPC_A_ENGINE_DIR_RPCS);
	CHECK(before > 0);
	op_must_set("lb", "field=text", NULL);
	CHECK_EQ(op_counter("lb", "unkeyed"), 1);
	CHECK_EQ(op_dir("lb", false, MRPC_A_ENGINE_DIR_RPCS), before);
	end();
}

/* By the content of a byte field, which the engine has copied, and of a string. */
TEST(by_content)
{
	begin("tcp4");
	op_must_add("lb", with("policy=hash field=data", 1, 1, 1), NULL);
	link_all(3);
	call_tags();
	op_must_set("lb", "field=text", NULL);
	call_tags();	/* all calls have the same key */
	CHECK(owner[0] >= 0);
	for (unsigned int i = 1; i < TAGS; i++)
		CHECK_EQ(owner[i], owner[0]);
	CHECK_EQ(op_counter("lb", "unkeyed"), 0);
	end();
}

TEST(nobody_fit)
{
	char words[128];

	begin("tcp4");
	snprintf(words, sizeof(words), "members=tcp:127.0.0.1:%u backoff=60000000000",
		 raw_closed_port(SOCK_STREAM));
	op_must_add("lb", words, NULL);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(detail, "lb: none of its 1 replicas is fit: tcp:127.0.0.1:"), "%s", detail);
	CHECK_MSG(strstr(detail, "nobody serves this address"), "%s", detail);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	/* Its weight is 0, so it gets no call. */
	op_must_set("lb", members(0, -1, -1), NULL);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_EQ(requests(0), 0);
	op_must_set("lb", members(1, -1, -1), NULL);
	echo(1);
	op_must_set("lb", "members=loop:nobody-is-here", NULL);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(detail, "nobody serves this loop name"), "%s", detail);
	end();
}

/* A replica accepts the connection and is silent. Calls wait until their deadline. */
TEST(silent_replica)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0));
	socklen_t len = sizeof(sin);
	char words[128];

	begin("tcp4");
	CHECK_SYS(bind(fd, (void *)&sin, len));
	CHECK_SYS(listen(fd, 16));
	CHECK_SYS(getsockname(fd, (void *)&sin, &len));
	snprintf(words, sizeof(words), "members=tcp:127.0.0.1:%u", ntohs(sin.sin_port));
	op_must_add("lb", words, NULL);
	CHECK_EQ(call_for(RAW_ECHO, 1, 200000), MRPC_DEADLINE_EXCEEDED);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(detail, "the replica does not answer"), "%s", detail);
	close(fd);
	end();
}

/* A new engine takes over the links and counters of the one that it replaces. */
TEST(replaced)
{
	int64_t picks;

	begin("tcp4");
	op_must_add("lb", with("version=1", 1, 1, -1), NULL);
	link_all(2);
	picks = counter(0, "picks") + counter(1, "picks");
	op_must_set("lb", "type=lb version=2", NULL);
	CHECK_EQ(op_number("lb", MRPC_A_ENGINE_VERSION), 2);
	CHECK_EQ(counter(0, "picks") + counter(1, "picks"), picks);
	CHECK_EQ(counter(0, "linked"), 1);
	CHECK_EQ(counter(1, "linked"), 1);
	echo(1);
	CHECK_EQ(counter(0, "picks") + counter(1, "picks"), picks + 1);
	end();
}

/* Only the kernel can use the links. */
TEST(links_are_hidden)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	unsigned int id;

	begin("tcp4");
	op_must_add("lb", members(1, 1, 1), NULL);
	link_all(3);
	for (id = p.conn + 1; id < (unsigned int)p.conn + 6; id++) {
		struct mrpc_conn_info info = { .size = sizeof(info), .conn = id };

		CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CONN_INFO, &info), -ENOENT);
		CHECK_EQ(raw_close_id(&p.c, id, 0, 0), -ENOENT);
		sqe = raw_sqe(id, RAW_ECHO, raw_blob(&p.c, 1, 1, NULL));
		raw_call(&p.c, &sqe, &cqe);
		CHECK_EQ(cqe.status, MRPC_INVALID_ARGUMENT);
		raw_done(&p.c, &cqe);
	}
	end();
}

/* The links count as the user's connections. */
static void one_connection(void)
{
	raw_open(&p.c, 65536, 65536);
	p.conn = raw_connect(&p.c, p.addr);
	CHECK(p.conn > 0);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(detail, "this user has too many connections"), "%s", detail);
}

TEST(limited)
{
	int status;
	pid_t pid;

	begin("tcp4");
	op_must_add("lb", members(1, -1, -1), NULL);
	CHECK(raw_file_write(RAW_KNOBS "max_conns", "1"));
	CHECK_SYS(chmod("/dev/mrpc", 0666));
	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_SYS(setgid(65534));
		CHECK_SYS(setuid(65534));
		one_connection();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_SYS(chmod("/dev/mrpc", 0660));
	CHECK(raw_file_write(RAW_KNOBS "max_conns", "16384"));
	CHECK_EQ(status, 0);
	end();
}

/* An instance with nothing to do can be paused. It runs afterwards. */
TEST(held)
{
	begin("tcp4");
	op_must_add("lb", members(1, 1, -1), NULL);
	link_all(2);
	CHECK_EQ(op_pause("lb", 1, true), 0);
	CHECK_EQ(call_for(RAW_ECHO, 1, 200000), MRPC_DEADLINE_EXCEEDED);
	CHECK_EQ(op_pause("lb", 1, false), 0);
	echo(1);
	op_must_del("lb");
	echo(2);
	CHECK_EQ(raw_server_requests(&p.srv), 1);
	end();
}

/* -- refused configurations --------------------------------------------------------- */

static void refused(const char *words, const char *why)
{
	int err = op_add("lb", words, NULL, NULL);

	CHECK_MSG(err < 0 && strstr(op_why, why), "add lb %s: %d: '%s', not '%s'", words, err,
		  op_why, why);
}

TEST(bad_input)
{
	char many[400];
	unsigned int i, n;

	op_del_all();
	refused("", "'members'");
	refused("members=tcp", "'tcp' is no member: like tcp:10.0.0.1:7000");
	refused("members=tcp:10.0.0.1", "'tcp:10.0.0.1' is no member");
	refused("members=tcp:10.0.0.1:0", "is no member");
	refused("members=tcp:10.0.0.1:00", "is no member");
	refused("members=tcp:10.0.0.1:010", "is no member");
	refused("members=tcp:10.0.0.1:0x50", "is no member");
	refused("members=tcp:10.0.0.1:", "is no member");
	refused("members=tcp:10.0.0.1:70000", "is no member");
	refused("members=tcp:10.0.0.300:7", "is no member");
	refused("members=tcp:::1:7", "is no member");
	refused("members=tcp:1.2.3.4:5,,tcp:1.2.3.4:6", "'' is no member");
	refused("members=loop:", "'loop:' is no member");
	refused("members=carrier:1.2.3.4:5", "there is no transport 'carrier'");
	refused("members=tcp:1.2.3.4:5=x", "the weight 'x' must be 0 to 100");
	refused("members=tcp:1.2.3.4:5=101", "the weight '101' must be 0 to 100");
	refused("members=tcp:1.2.3.4:5,tcp:1.2.3.4:5=2", "'tcp:1.2.3.4:5' is there twice");
	refused("members=loop:a-name-that-is-longer-than-any-that-a-counter-can-have",
		"is too long: a member has at most 51 bytes");
	refused("members=tcp:1.2.3.4:5 policy=hash", "policy hash needs a field");
	refused("members=tcp:1.2.3.4:5 failures=0", "failures");
	refused("members=tcp:1.2.3.4:5 fallback=maybe", "fallback: 'maybe' is no choice");
	n = snprintf(many, sizeof(many), "members=");
	for (i = 0; i < 17; i++)
		n += snprintf(many + n, sizeof(many) - n, "%stcp:1.2.3.4:%u", i ? "," : "", 1 + i);
	refused(many, "more than 16 members");
	/* A refused change leaves nothing behind. */
	op_must_add("lb", "members=tcp:[::1]:7=0,tcp:1.2.3.4:7", NULL);
	CHECK(op_set("lb", "members=tcp", NULL, NULL) < 0);
	CHECK_EQ(op_counter("lb", "tcp:1.2.3.4:7/weight"), 1);
	CHECK_EQ(op_counter("lb", "tcp:[::1]:7/weight"), 0);
	op_must_del("lb");
}
