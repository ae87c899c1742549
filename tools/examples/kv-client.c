// SPDX-License-Identifier: MIT
/*
 * kv-client: talks to kv-server, and loads it with package records.
 */
#include <err.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json-call.h"
#include "kv.mrpc.h"
#include "records.h"
#include "report.h"

#define RECORDS_DEFAULT	5000
#define RUNS_MAX	8

static struct mrpc_session *session;
static struct mrpc_conn *conn;
static bool progress;
static double min_seconds;
static unsigned long max_rate;	/* calls in a second, or 0 */
static unsigned int in_flight[RUNS_MAX] = { 1 };
static int nr_runs;

static void fail(const struct mrpc_result *res, const char *what)
{
	errx(1, "%s: %s%s%s", what, mrpc_status_name(res->status), res->detail[0] ? ": " : "",
	     res->detail);
}

/* -- one call at a time --------------------------------------------------------------- */

static int do_put(const char *key, const char *value)
{
	struct mrpc_result res;
	struct mrpc_msg msg;
	struct kv_PutRequest *req = kv_PutRequest_new(&msg, session);

	kv_PutRequest_set_key(&msg, req, key);
	kv_PutRequest_set_value(&msg, req, value, strlen(value));
	if (kv_Store_Put(conn, &msg, NULL, &res) != MRPC_OK)
		fail(&res, key);
	puts(kv_Store_Put_reply(&res)->replaced ? "replaced" : "stored");
	mrpc_result_release(&res);
	return 0;
}

static int do_get(const char *key)
{
	const struct kv_GetReply *reply;
	struct mrpc_result res;
	struct mrpc_msg msg;
	struct kv_GetRequest *req = kv_GetRequest_new(&msg, session);
	const void *value;
	size_t len;

	kv_GetRequest_set_key(&msg, req, key);
	if (kv_Store_Get(conn, &msg, NULL, &res) != MRPC_OK)
		fail(&res, key);
	reply = kv_Store_Get_reply(&res);
	value = kv_GetReply_value(reply, reply, &len);
	fwrite(value, 1, len, stdout);
	mrpc_result_release(&res);
	return 0;
}

static int do_delete(const char *key)
{
	struct mrpc_result res;
	struct mrpc_msg msg;
	struct kv_DeleteRequest *req = kv_DeleteRequest_new(&msg, session);

	kv_DeleteRequest_set_key(&msg, req, key);
	if (kv_Store_Delete(conn, &msg, NULL, &res) != MRPC_OK)
		fail(&res, key);
	mrpc_result_release(&res);
	return 0;
}

static int do_list(const char *prefix)
{
	const struct kv_ListReply *reply;
	struct mrpc_result res;
	struct mrpc_msg msg;
	struct kv_ListRequest *req = kv_ListRequest_new(&msg, session);
	size_t i;

	kv_ListRequest_set_prefix(&msg, req, prefix);
	if (kv_Store_List(conn, &msg, NULL, &res) != MRPC_OK)
		fail(&res, "list");
	reply = kv_Store_List_reply(&res);
	for (i = 0; i < reply->entries.len; i++) {
		const struct kv_Entry *e = kv_ListReply_entries(reply, reply, i);

		printf("%s\t%llu\n", kv_Entry_key(reply, e), (unsigned long long)e->size);
	}
	if (reply->more)
		puts("...");
	mrpc_result_release(&res);
	return 0;
}

/* -- many calls, some of them at a time --------------------------------------------------- */

enum kind { LOAD, VERIFY };

struct run {
	enum kind kind;
	const struct records *records;
	struct report report;
	size_t next;		/* record */
	unsigned int flying;
	uint64_t until_ns;
	bool complained;
};

struct one {
	struct run *run;
	const struct record *record;
	uint64_t start_ns;
};

/* SIGTERM is blocked with -d, so that it does not interrupt calls: it is only looked for. */
static bool was_told_to_stop(void)
{
	sigset_t set;

	return !sigpending(&set) && sigismember(&set, SIGTERM);
}

/* Whether there is something to do: each record once, and on until the time is over. */
static bool has_more(const struct run *run)
{
	return run->next < run->records->nr ||
	       (now_ns() < run->until_ns && !was_told_to_stop());
}

static bool is_right(struct run *run, const struct record *record, const struct mrpc_result *res)
{
	const struct kv_GetReply *reply;
	const void *value;
	size_t len;

	if (res->status != MRPC_OK) {
		if (!run->complained)
			warnx("%s: %s: %s", record->key, mrpc_status_name(res->status),
			      res->detail);
		run->complained = true;
		return false;
	}
	if (run->kind == LOAD)
		return true;
	reply = kv_Store_Get_reply(res);
	value = kv_GetReply_value(reply, reply, &len);
	if (len == record->len && !memcmp(value, record->value, len))
		return true;
	if (!run->complained)
		warnx("%s: %zu bytes came back that differ from the %zu stored", record->key, len,
		      record->len);
	run->complained = true;
	return false;
}

static void build(const struct run *run, const struct record *record, struct mrpc_msg *msg)
{
	struct kv_PutRequest *put;
	struct kv_GetRequest *get;

	if (run->kind == LOAD) {
		put = kv_PutRequest_new(msg, session);
		kv_PutRequest_set_key(msg, put, record->key);
		kv_PutRequest_set_value(msg, put, record->value, record->len);
	} else {
		get = kv_GetRequest_new(msg, session);
		kv_GetRequest_set_key(msg, get, record->key);
	}
}

/* Sleeps for as long as @nr calls take at the rate. */
static void pace(size_t nr)
{
	uint64_t wait;

	if (!max_rate)
		return;
	wait = nr * 1000000000 / max_rate;
	nanosleep(&(struct timespec){ wait / 1000000000, wait % 1000000000 }, NULL);
}

static void run_sync(struct run *run)
{
	const struct record *record;
	struct mrpc_result res;
	struct mrpc_msg msg;
	uint64_t start;

	while (has_more(run)) {
		record = &run->records->list[run->next++ % run->records->nr];
		start = now_ns();
		build(run, record, &msg);
		if (run->kind == LOAD)
			kv_Store_Put(conn, &msg, NULL, &res);
		else
			kv_Store_Get(conn, &msg, NULL, &res);
		report_call(&run->report, now_ns() - start, record->len,
			    is_right(run, record, &res));
		mrpc_result_release(&res);
		pace(1);
	}
}

static void on_done(void *user, struct mrpc_result *res);

static void start(struct one *one)
{
	struct run *run = one->run;
	struct mrpc_msg msg;
	int status;

	one->record = &run->records->list[run->next++ % run->records->nr];
	one->start_ns = now_ns();
	build(run, one->record, &msg);
	if (run->kind == LOAD)
		status = kv_Store_Put_async(conn, &msg, NULL, on_done, one, NULL);
	else
		status = kv_Store_Get_async(conn, &msg, NULL, on_done, one, NULL);
	if (status != MRPC_OK)
		errx(1, "%s: %s", one->record->key, mrpc_last_error());
	run->flying++;
}

static void on_done(void *user, struct mrpc_result *res)
{
	struct one *one = user;
	struct run *run = one->run;

	run->flying--;
	report_call(&run->report, now_ns() - one->start_ns, one->record->len,
		    is_right(run, one->record, res));
	if (has_more(run))
		start(one);
}

static void run_async(struct run *run, unsigned int nr)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct one *ones = calloc(nr, sizeof(*ones));
	size_t calls = 0;
	unsigned int i;

	if (!qp || !ones)
		errx(1, "%s", mrpc_last_error());
	for (i = 0; i < nr && has_more(run); i++) {
		ones[i].run = run;
		start(&ones[i]);
	}
	while (run->flying) {
		if (mrpc_run(qp, -1) < 0)
			errx(1, "%s", mrpc_last_error());
		pace(run->report.calls - calls);
		calls = run->report.calls;
	}
	free(ones);
}

static int do_records(enum kind kind, const char *file, size_t max)
{
	struct records records = records_read(file, max);
	struct report reports[RUNS_MAX];
	size_t errors = 0;
	int i;

	for (i = 0; i < nr_runs; i++) {
		struct run run = {
			.kind = kind,
			.records = &records,
			.report = {
				.name = kind == LOAD ? "load" : "verify",
				.in_flight = in_flight[i],
				.progress = progress,
				.expected = records.nr,
			},
		};

		run.until_ns = now_ns() + (uint64_t)(min_seconds * 1e9);
		report_start(&run.report);
		if (in_flight[i] == 1)
			run_sync(&run);
		else
			run_async(&run, in_flight[i]);
		report_end(&run.report);
		reports[i] = run.report;
		errors += run.report.errors;
	}
	report_print_head();
	for (i = 0; i < nr_runs; i++) {
		report_print(&reports[i]);
		free(reports[i].latency_ns);
	}
	records_free(&records);
	return errors ? 1 : 0;
}

/* -- the program ---------------------------------------------------------------------------- */

static void usage(FILE *out)
{
	fputs("Usage: kv-client [OPTION...] COMMAND\n"
	      "\n"
	      "  put KEY VALUE    store a value\n"
	      "  get KEY          print it\n"
	      "  delete KEY       forget it\n"
	      "  list [PREFIX]    print keys and the sizes of their values\n"
	      "  call METHOD JSON call Delete, Get, List or Put with a request in JSON, and print\n"
	      "                   the reply in JSON\n"
	      "  load FILE        store package records, as 'apt-cache dumpavail' prints them\n"
	      "                   (- is the standard input), by package name\n"
	      "  verify FILE      get them all back and compare every byte\n"
	      "\n"
	      "  -c ADDRESS       the server (default tcp:127.0.0.1:7000)\n"
	      "  -n N[,N...]      load, verify: calls in flight; several numbers are several runs\n"
	      "                   (default 1)\n"
	      "  -m NUMBER        load, verify: how many records (default 5000)\n"
	      "  -d SECONDS       load, verify: go on with the first record after the last until\n"
	      "                   so much time has passed, or SIGTERM comes\n"
	      "  -r RATE          load, verify: so many calls in a second at most\n"
	      "  --progress       show a progress bar even if there is no terminal\n"
	      "  -h               this text\n"
	      "\n"
	      "The exit status is 0 only if everything succeeded and matched.\n", out);
}

static void parse_runs(char *text)
{
	unsigned long value;
	char *end;

	do {
		value = strtoul(text, &end, 10);
		if (end == text || (*end && *end != ',') || value < 1 || value > 4096 ||
		    nr_runs == RUNS_MAX)
			errx(2, "-n takes up to %d numbers from 1 to 4096 with commas between",
			     RUNS_MAX);
		in_flight[nr_runs++] = (unsigned int)value;
		text = end + 1;
	} while (*end);
}

static int command(int argc, char **argv, size_t max)
{
	const char *cmd = argv[0];

	if (!strcmp(cmd, "put") && argc == 3)
		return do_put(argv[1], argv[2]);
	if (!strcmp(cmd, "get") && argc == 2)
		return do_get(argv[1]);
	if (!strcmp(cmd, "delete") && argc == 2)
		return do_delete(argv[1]);
	if (!strcmp(cmd, "list") && argc <= 2)
		return do_list(argc == 2 ? argv[1] : "");
	if (!strcmp(cmd, "call") && argc == 3) {
		json_call(session, conn, argv[1], argv[2]);
		return 0;
	}
	if (!strcmp(cmd, "load") && argc == 2)
		return do_records(LOAD, argv[1], max);
	if (!strcmp(cmd, "verify") && argc == 2)
		return do_records(VERIFY, argv[1], max);
	usage(stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct mrpc_service_desc *const services[] = { &kv_Store_service };
	static const struct option options[] = {
		{ "progress", no_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *address = "tcp:127.0.0.1:7000";
	size_t max = RECORDS_DEFAULT;
	int opt, ret;

	progress = isatty(STDERR_FILENO);
	while ((opt = getopt_long(argc, argv, "c:n:m:d:r:h", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			address = optarg;
			break;
		case 'n':
			parse_runs(optarg);
			break;
		case 'm':
			max = strtoul(optarg, NULL, 10);
			if (!max || max > 10000000)
				errx(2, "-m takes a number up to 10000000");
			break;
		case 'd':
			min_seconds = strtod(optarg, NULL);
			break;
		case 'r':
			max_rate = strtoul(optarg, NULL, 10);
			if (!max_rate || max_rate > 1000000)
				errx(2, "-r takes a number up to 1000000");
			break;
		case 'p':
			progress = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind == argc) {
		usage(stderr);
		return 2;
	}
	if (!nr_runs)
		nr_runs = 1;
	if (min_seconds > 0) {
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGTERM);
		sigprocmask(SIG_BLOCK, &set, NULL);
	}

	session = mrpc_session_open(&(struct mrpc_session_opts){ .name = "kv-client" });
	if (!session)
		errx(1, "%s", mrpc_last_error());
	conn = mrpc_connect(session, address, services, 1, NULL);
	if (!conn)
		errx(1, "%s", mrpc_last_error());
	ret = command(argc - optind, argv + optind, max);
	mrpc_session_close(session);
	return ret;
}
