// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/policy/registry kmod/policy/instance kmod/policy/class_judge */
/*
 * Policies in eBPF: attaching, replacing and detaching them, with and without calls; and what is
 * refused.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

#include "tap.h"
#include "load.h"
#include "policy_probe.h"

#define OBJECTS	16

static struct load l;

/* A detached policy goes a moment later. */
static bool type_gone(const char *name)
{
	unsigned int i;

	for (i = 0; i < 5000 / 20 * raw_patience(); i++) {
		if (op_add(name, "name=there-is-none", NULL, NULL) == -ENOENT)
			return true;
		op_del("there-is-none", NULL);
		raw_sleep(20 * RAW_MS);
	}
	return false;
}

TEST(refuses_datapaths)
{
	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_begin(&probe, "probe", "probe");
	order(PROBE_INIT, (struct probe_order){ .verdict = -EACCES });
	CHECK_EQ(op_add("probe", "", NULL, NULL), -EACCES);
	CHECK_STR(op_why, "policy 'probe' refuses the datapath: error -13");
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	order(PROBE_INIT, (struct probe_order){});
	op_must_add("probe", "", NULL);
	CHECK_EQ(seen(PROBE_INIT).kind, MRPC_POLICY_NO_MESSAGE);
	CHECK_EQ(seen(PROBE_EXIT).runs, 0);
	op_must_del("probe");
	while (seen(PROBE_EXIT).runs < 2)	/* after a grace period */
		raw_sleep(RAW_MS);
	end();
}

TEST(ticks)
{
	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_begin(&probe, "probe", "probe");
	while (seen(PROBE_TICK).runs < 5)
		raw_sleep(RAW_MS);
	CHECK_EQ(seen(PROBE_TICK).datapath, 0);
	CHECK_EQ(seen(PROBE_TICK).generation, 1);
	end();
}

/* Each datapath has its own storage. It stays when programs are replaced. */
TEST(storage)
{
	struct policy next;
	int other;

	begin("tcp4", "side=client");
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_STORE });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).stored, 2);
	other = p.conn;
	p.conn = raw_connect(&p.c, p.addr);
	CHECK(p.conn > 0);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).stored, 1);
	policy_open(&next, "probe", "probe");
	CHECK_EQ(bpf_map__reuse_fd(bpf_object__find_map_by_name(next.obj, "orders"),
				   policy_map_fd(&probe, "orders")), 0);
	CHECK_EQ(bpf_map__reuse_fd(bpf_object__find_map_by_name(next.obj, "seen"),
				   policy_map_fd(&probe, "seen")), 0);
	CHECK_EQ(policy_load(&next), 0);
	CHECK_EQ(bpf_link__update_map(probe.link, next.ops), 0);
	p.conn = other;
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).stored, 3);
	CHECK_EQ(seen(PROBE_REQUEST_TX).generation, 2);
	policy_close(&next);
	end();
}

/* While detached, the operator's fallback applies. Attached again, the policy works again. */
TEST(detached)
{
	int conn;

	begin("tcp4", "side=client");
	policy_detach(&probe);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_UNAVAILABLE);
	/* A new datapath gets a policy without a program only if the fallback is pass. */
	CHECK(raw_connect(&p.c, p.addr) < 0);
	op_must_set("probe", "fallback=pass", NULL);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	conn = raw_connect(&p.c, p.addr);
	CHECK(conn > 0);
	CHECK_EQ(call_on(conn, RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(policy_attach(&probe), 0);
	order(PROBE_REQUEST_TX, (struct probe_order){ .verdict = MRPC_POLICY_REJECT });
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
	CHECK_EQ(seen(PROBE_REQUEST_TX).generation, 2);
	CHECK_EQ(call_on(conn, RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
	/* The fields of replies were prepared, though no program was there to read them. */
	order(PROBE_REQUEST_TX, (struct probe_order){ .verdict = MRPC_POLICY_PASS });
	order(PROBE_REPLY_RX, (struct probe_order){ .verdict = MRPC_POLICY_REJECT });
	CHECK_EQ(call_on(conn, RAW_ECHO, 1, 3, NULL), MRPC_PERMISSION_DENIED);
	op_must_del("probe");
	policy_detach(&probe);
	CHECK(type_gone("probe"));
	end();
}

/* The policy was not pinned, and its owner dies. */
TEST(owner_dies)
{
	pid_t pid;
	int status;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	pid = fork();
	if (!pid) {
		policy_begin(&probe, "probe", "probe");
		op_forget();
		op_must_add("probe", "side=client fallback=pass", NULL);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	while (op_counter("probe", "generation") < 0)
		raw_sleep(RAW_MS);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	op_must_del("probe");
	CHECK(type_gone("probe"));
	op_del_all();
	raw_pair_end(&p);
}

TEST(one_of_a_name)
{
	struct policy other;

	begin("tcp4", "");
	policy_open(&other, "probe", "probe");
	CHECK_EQ(policy_refused(&other), -EEXIST);
	/* Another version is another type, and so is another name. */
	policy_open(&other, "probe", "probe");
	policy_ops(&other)->version = 2;
	CHECK_EQ(policy_load(&other), 0);
	CHECK_EQ(policy_attach(&other), 0);
	op_must_set("probe", "type=probe version=2", NULL);
	CHECK_EQ(op_number("probe", MRPC_A_ENGINE_VERSION), 2);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	op_must_set("probe", "type=probe version=1", NULL);
	policy_close(&other);
	/* The names of native types are taken. */
	op_must_add("null", "", NULL);
	policy_open(&other, "probe", "empty");
	strcpy(policy_ops(&other)->name, "null");
	policy_ops(&other)->version = 2;
	CHECK_EQ(policy_refused(&other), -EEXIST);
	end();
}

/* Declarations that are not allowed. */
TEST(bad_declarations)
{
	static const char *const fields[] = { ":tag", "test.Blob:", "9x:tag", "a..b:c" };
	struct mrpc_policy_ops *ops;
	struct policy bad;
	uint32_t i;

	for (i = 0; i < 15; i++) {
		policy_open(&bad, "probe", "probe");
		ops = policy_ops(&bad);
		switch (i) {
		case 0: ops->name[0] = 0; break;
		case 1: strcpy(ops->name, "a b"); break;
		case 2: strcpy(ops->name, "Upper"); break;
		case 3: memset(ops->name, 'a', sizeof(ops->name)); break;
		case 4: ops->flags |= 1 << 10; break;
		case 5: ops->storage = MRPC_POLICY_STORAGE + 1; break;
		case 6: ops->budget = 1000000001; break;
		case 7: ops->period = 999999; break;
		case 8: ops->fields[3][0] = 0; break;	/* a gap */
		case 9: memset(ops->fields[0], 'a', sizeof(ops->fields[0])); break;
		case 10: strcpy(ops->counters[0], "no good"); break;
		default: strcpy(ops->fields[0], fields[i - 11]);
		}
		CHECK_MSG(policy_refused(&bad) == -EINVAL, "%u", i);
	}
	policy_open(&bad, "probe", "empty");
	policy_ops(&bad)->request_tx = NULL;	/* libbpf goes by this, too */
	CHECK_EQ(bpf_program__set_autoload(bpf_object__find_program_by_name(bad.obj, "nothing"),
					   false), 0);
	CHECK_EQ(policy_refused(&bad), -EINVAL);
}

/* A field that the schema lacks is refused at placement; the error names both. */
TEST(fields_that_are_not)
{
	struct policy next;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_open(&probe, "probe", "probe");
	strcpy(policy_ops(&probe)->fields[PROBE_TAG], "test.Blob:tagg");
	CHECK_EQ(policy_load(&probe), 0);
	CHECK_EQ(policy_attach(&probe), 0);
	CHECK_EQ(op_add("probe", "", NULL, NULL), -EINVAL);
	CHECK_STR(op_why, "'test.Blob:tagg' is no field of a message of test.Types");
	CHECK_EQ(op_add("probe", "service=test.Bulk", NULL, NULL), -EINVAL);
	CHECK_STR(op_why, "'test.Blob:tagg' is no field of a message of test.Bulk");
	policy_close(&probe);
	/* A path as long as a policy may declare. */
	policy_open(&probe, "probe", "probe");
	memset(policy_ops(&probe)->fields[PROBE_TAG], 'a', MRPC_POLICY_PATH - 1);
	CHECK_EQ(policy_load(&probe), 0);
	CHECK_EQ(policy_attach(&probe), 0);
	CHECK_EQ(op_add("probe", "", NULL, NULL), -EINVAL);
	policy_close(&probe);
	/* Only the services in the scope matter. */
	policy_begin(&probe, "stamp", "stamper");
	CHECK_EQ(op_add("stamper", "service=test.Types", NULL, NULL), -EINVAL);
	CHECK_STR(op_why, "'test.Blob:text' is no field of a message of test.Types");
	op_must_add("stamper", "service=test.Bulk", NULL);
	/* An update that needs more fields. */
	policy_open(&next, "stamp", "stamper");
	strcpy(policy_ops(&next)->fields[1], "test.Blob:texts");
	CHECK_EQ(policy_load(&next), 0);
	CHECK_EQ(bpf_link__update_map(probe.link, next.ops), -EINVAL);
	CHECK_EQ(call(RAW_ECHO, 1, 8, "12345678"), MRPC_OK);
	policy_close(&next);
	end();
}

/* New programs for existing datapaths must fit what these were made for, or are refused. */
TEST(attached_to_what_there_is)
{
	struct policy next;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	policy_begin(&probe, "probe", "empty");
	op_must_add("empty", "side=client fallback=pass", NULL);
	policy_detach(&probe);
	policy_open(&next, "probe", "probe");
	strcpy(policy_ops(&next)->name, "empty");
	policy_ops(&next)->storage = 0;
	CHECK_EQ(policy_refused(&next), -EINVAL);
	policy_open(&next, "probe", "empty");
	strcpy(policy_ops(&next)->fields[0], "test.Blob:tagg");
	CHECK_EQ(policy_load(&next), 0);
	CHECK_EQ(policy_attach(&next), 0);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_FAILED_PRECONDITION);
	CHECK_STR(detail, "the policy that judges it does not fit the connection");
	policy_close(&next);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(policy_attach(&probe), 0);
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	end();
}

TEST(updates_refused)
{
	struct mrpc_policy_ops *ops;
	struct policy next;
	uint32_t i;

	begin("tcp4", "");
	for (i = 0; i < 3; i++) {
		policy_open(&next, "probe", "probe");
		ops = policy_ops(&next);
		if (!i)
			strcpy(ops->name, "other");
		else if (i == 1)
			ops->version = 7;
		else
			ops->storage = 24;
		CHECK_EQ(policy_load(&next), 0);
		CHECK_EQ(bpf_link__update_map(probe.link, next.ops), -EINVAL);
		policy_close(&next);
	}
	CHECK_EQ(call(RAW_ECHO, 1, 3, NULL), MRPC_OK);
	CHECK_EQ(seen(PROBE_REQUEST_TX).generation, 1);
	end();
}

static uint64_t stamps_sent[OBJECTS];

/* Checks that both fields have the same number. */
static void check_stamp(const struct mrpc_cqe *cqe, const void *msg)
{
	const struct test_Blob *blob = msg;
	const char *text = (const char *)msg + blob->text.off;
	uint64_t number;
	char want[9];
	int i;

	(void)cqe;
	memcpy(&number, (const char *)msg + blob->data.off, sizeof(number));
	for (i = 0; i < 8; i++)
		want[i] = '0' + (number >> 4 * (7 - i) & 15);
	want[8] = 0;
	CHECK_MSG(number < OBJECTS && !strcmp(text, want), "%#llx with '%s'",
		  (unsigned long long)number, text);
	__atomic_fetch_add(&stamps_sent[number], 1, __ATOMIC_RELAXED);
}

static void open_stamp(struct policy *policy, uint64_t number, const struct policy *first)
{
	struct bpf_map *rodata;
	size_t size;

	policy_open(policy, "stamp", "stamper");
	rodata = bpf_object__find_map_by_name(policy->obj, ".rodata");
	*(uint64_t *)bpf_map__initial_value(rodata, &size) = number;
	if (first)
		CHECK_EQ(bpf_map__reuse_fd(bpf_object__find_map_by_name(policy->obj, "stamped"),
					   policy_map_fd(first, "stamped")), 0);
	CHECK_EQ(policy_load(policy), 0);
}

/*
 * A thousand replacements under load. No call is lost or made twice, no call sees parts of two
 * policies, and the map stays.
 */
static void replaced(const char *how, unsigned int rounds)
{
	static struct policy all[OBJECTS];
	uint64_t stamped, sum = 0;
	uint32_t zero = 0, i;

	op_del_all();
	raw_pair(&p, how, 2);
	memset(stamps_sent, 0, sizeof(stamps_sent));
	p.srv.seen = check_stamp;
	for (i = 0; i < OBJECTS; i++)
		open_stamp(&all[i], i, i ? &all[0] : NULL);
	CHECK_EQ(policy_attach(&all[0]), 0);
	op_must_add("stamper", "side=client service=test.Bulk", NULL);
	l.text = "--------";
	l.ack = true;
	l.len = 8;
	load_start(&l, &p.c, p.conn, 32);
	for (i = 1; i < rounds; i++) {
		CHECK_EQ(bpf_link__update_map(all[0].link, all[i % OBJECTS].ops), 0);
		if (i % 50 == 0)
			CHECK(load_more(&l, 1, 30000));
	}
	CHECK(load_more(&l, 100, 60000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	policy_map_get(&all[0], "stamped", &zero, &stamped);
	CHECK_EQ(stamped, load_all(&l));
	for (i = 0; i < OBJECTS; i++) {
		CHECK(stamps_sent[i]);
		sum += stamps_sent[i];
	}
	CHECK_EQ(sum, stamped);
	CHECK_EQ(op_counter("stamper", "generation"), rounds);
	CHECK_EQ(op_counter("stamper", "fallbacks"), 0);
	NOTE("%u replacements, %llu calls", rounds, (unsigned long long)sum);
	op_del_all();
	for (i = 0; i < OBJECTS; i++)
		policy_close(&all[i]);
	raw_pair_end(&p);
}

TEST_LIMIT(replaced_tcp, 240)
{
	replaced("tcp4", 1000);
}

TEST_LIMIT(replaced_loop, 240)
{
	replaced("loop", 200);
}

TEST_LIMIT(replaced_prio, 240)
{
	replaced("prio", 200);
}

/* Attached and detached in a loop, under load, with the engine in place. */
TEST_LIMIT(churn, 200)
{
	unsigned int i;

	begin("tcp4", "fallback=pass");
	load_start(&l, &p.c, p.conn, 32);
	for (i = 0; i < 40; i++) {
		policy_detach(&probe);
		if (i % 3 == 0)
			CHECK(load_more(&l, 5, 30000));
		CHECK_EQ(policy_attach(&probe), 0);
		if (i % 3 == 1)
			CHECK(load_more(&l, 5, 30000));
		if (i % 10 == 9) {
			op_must_del("probe");
			op_must_add("probe", "fallback=pass", NULL);
		}
	}
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	end();
}

/* A policy that is slow all the time is evicted, and the traffic recovers. */
TEST_LIMIT(too_slow, 200)
{
	struct pollfd fd = { .events = POLLIN };

	op_del_all();
	raw_pair(&p, "tcp4", 2);
	policy_open(&probe, "probe", "probe");
	policy_ops(&probe)->budget = 1000000;
	CHECK_EQ(policy_load(&probe), 0);
	CHECK_EQ(policy_attach(&probe), 0);
	op_must_add("probe", "side=client fallback=pass", NULL);
	load_start(&l, &p.c, p.conn, 8);
	CHECK(load_more(&l, 20, 30000));
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_SPIN, .value = 8000000 });
	fd.fd = bpf_link__fd(probe.link);
	CHECK_EQ(poll(&fd, 1, 60000 * raw_patience()), 1);
	CHECK(fd.revents & POLLHUP);
	CHECK_EQ(op_counter("probe", "evicted"), 1);
	CHECK(load_more(&l, 200, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK(op_counter("probe", "fallbacks") >= 100);
	end();
}

/* Two policies and a native engine, one after the other. */
TEST(chained)
{
	struct policy stamp;

	begin("tcp4", "side=client");
	open_stamp(&stamp, 3, NULL);
	CHECK_EQ(policy_attach(&stamp), 0);
	op_must_add("stamper", "side=client service=test.Bulk before=probe", NULL);
	op_must_add("null", "side=client", NULL);
	order(PROBE_REQUEST_TX, (struct probe_order){ .does = PROBE_READ });
	CHECK_EQ(call(RAW_ECHO, 1, 8, "--------"), MRPC_OK);
	CHECK(!memcmp(seen(PROBE_REQUEST_TX).values[PROBE_DATA].data, "\3\0\0\0\0\0\0", 8));
	CHECK_STR(seen(PROBE_REQUEST_TX).values[PROBE_TEXT].data, "00000003");
	policy_close(&stamp);
	end();
}
