// SPDX-License-Identifier: GPL-2.0
/* Covers: bpf kmod/policy/kfunc */
/*
 * The policy of bpf/ that only observes, and mrpc-sample, which prints what it sees.
 */
#include <signal.h>
#include <string.h>

#include "tap.h"
#include "examples.h"
#include "load.h"
#include "operator.h"
#include "../bpf/sample.h"

static struct load l;

/* -- sample ---------------------------------------------------------------------------------- */

static unsigned int nr_samples, places[4];
static struct sample first;

static int count_sample(void *ctx, void *data, size_t size)
{
	const struct sample *s = data;

	(void)ctx;
	CHECK_EQ(size, sizeof(*s));
	if (!nr_samples++)
		first = *s;
	places[2 * s->reply + s->server]++;
	return 0;
}

/* Number of calls that were followed at all four places. */
static unsigned int followed(struct ring_buffer *ring)
{
	unsigned int i;

	nr_samples = 0;
	memset(places, 0, sizeof(places));
	CHECK(ring_buffer__consume(ring) >= 0);
	for (i = 0; i < 4; i++)
		CHECK_EQ(places[i], nr_samples / 4);
	return nr_samples / 4;
}

TEST_LIMIT(sample, 200)
{
	struct ring_buffer *ring;
	unsigned int i;

	ex_begin("sample");
	ex_place("");
	ring = ring_buffer__new(policy_map_fd(&ex, "samples"), count_sample, NULL, NULL);
	CHECK(ring);
	CHECK_EQ(ex_call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(followed(ring), 0);
	ex_set_u32("config", 0, 1);
	CHECK_EQ(ex_call_for(50000000), MRPC_OK);
	CHECK_EQ(followed(ring), 1);
	CHECK_STR(first.method, "test.Bulk/Echo");
	CHECK_EQ(first.size, raw_blob_size(10, NULL));
	CHECK_EQ((pid_t)first.pid, getpid());
	CHECK_EQ(first.peer_port, p.srv.s.port);
	CHECK(first.transmit && !first.server && !first.reply);
	CHECK(first.left > 0 && first.left <= 50 * RAW_S);
	ex_set_u32("config", 0, 10);
	load_start(&l, &p.c, p.conn, 16);
	CHECK(load_more(&l, 2000, 120000));
	load_stop(&l);
	ex_check_share(followed(ring), load_all(&l), 10);
	CHECK_EQ(op_counter("sample", "lost"), 0);
	/* Without a reader, calls are not affected. */
	ex_set_u32("config", 0, 1);
	for (i = 0; i < 2500 && !op_counter("sample", "lost"); i++)
		CHECK_EQ(ex_call(RAW_ACK, 1, 3, NULL), MRPC_OK);
	CHECK(op_counter("sample", "lost") > 0);
	ring_buffer__free(ring);
	ex_end();
}

#define RING	"/sys/fs/bpf/mrpc-test-samples"

/* Reads up to a line that contains @what; it is in @line. */
static void read_line(FILE *in, char *line, size_t size, const char *what)
{
	do
		CHECK_MSG(fgets(line, size, in), "no line with '%s'", what);
	while (!strstr(line, what));
}

TEST(sample_reader)
{
	char command[600], line[600];
	FILE *in;
	pid_t pid;

	ex_begin("sample");
	ex_place("");
	ex_set_u32("config", 0, 1);
	unlink(RING);
	CHECK_EQ(bpf_map__pin(bpf_object__find_map_by_name(ex.obj, "samples"), RING), 0);
	CHECK_EQ(ex_call(RAW_FAIL, MRPC_ABORTED, 3, NULL), MRPC_ABORTED);
	snprintf(command, sizeof(command), "echo $$; exec %s/bpf/mrpc-sample " RING " 2>&1",
		 getenv("MRPC_BUILD"));
	in = popen(command, "r");
	CHECK(in && fgets(line, sizeof(line), in));
	pid = atoi(line);
	read_line(in, line, sizeof(line), "test.Bulk/Fail request-tx");
	CHECK_MSG(strstr(line, " peer=127.0.0.1:") && strstr(line, " uid=0 "), "%s", line);
	read_line(in, line, sizeof(line), "test.Bulk/Fail request-rx");
	read_line(in, line, sizeof(line), "test.Bulk/Fail reply-tx");
	read_line(in, line, sizeof(line), "test.Bulk/Fail reply-rx");
	CHECK_MSG(strstr(line, " status=10\n"), "%s", line);
	CHECK_SYS(kill(pid, SIGTERM));
	CHECK_EQ(pclose(in), 0);
	unlink(RING);
	snprintf(command, sizeof(command), "%s/bpf/mrpc-sample /sys/fs/bpf/none 2>&1",
		 getenv("MRPC_BUILD"));
	in = popen(command, "r");
	read_line(in, line, sizeof(line), "cannot open /sys/fs/bpf/none");
	CHECK(pclose(in));
	ex_end();
}
