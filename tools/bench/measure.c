// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"

/*
 * The cost of a call is taken from batches, so that work which is done once for
 * several calls counts; and as a median, so that idle time does not.
 */
#define BATCH		32
#define MAX_SAMPLES	(1u << 20)

/* Instructions without effect that profile.c recognises. */
static inline void mark_start(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0, 'm', 'r', 'p', 1" ::: "memory");
}

static inline void mark_end(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0, 'm', 'r', 'p', 2" ::: "memory");
}

static const char common_usage[] =
	"\n"
	"  -s BYTES   of a request's payload (64)\n"
	"  -r BYTES   of a reply's payload (8)\n"
	"  -f NUMBER  of calls in flight, of each thread (1)\n"
	"  -j NUMBER  of threads (1)\n"
	"  -n CALLS   to measure (no limit)\n"
	"  -t MS      time to measure (no limit)\n"
	"  -w CALLS   before the measurement (100)\n"
	"  -m         collect: messages may leave together\n"
	"  -C DIRECTORY  of certificates: with TLS\n"
	"  -p PID     the server, whose context switches are to be counted too\n";

static void bad_usage(const char *usage)
{
	fputs(usage, stderr);
	fputs(common_usage, stderr);
	exit(2);
}

void options_parse(struct options *o, int argc, char **argv, const char *usage)
{
	int opt;

	*o = (struct options){
		.request = 64, .reply = 8, .in_flight = 1, .threads = 1, .conns = 1, .warm = 100,
	};
	while ((opt = getopt(argc, argv, "s:r:f:j:c:n:t:w:p:k:e:vmC:")) != -1) {
		switch (opt) {
		case 's':
			o->request = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			o->reply = strtoul(optarg, NULL, 0);
			break;
		case 'f':
			o->in_flight = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'j':
			o->threads = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'c':
			o->conns = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'n':
			o->calls = strtoull(optarg, NULL, 0);
			break;
		case 't':
			o->ms = strtoull(optarg, NULL, 0);
			break;
		case 'w':
			o->warm = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			o->server = (pid_t)strtol(optarg, NULL, 0);
			break;
		case 'k':
			o->copy_threshold = optarg;
			break;
		case 'e':
			o->engine = optarg;
			break;
		case 'm':
			o->together = true;
			break;
		case 'C':
			o->certs = optarg;
			break;
		case 'v':
			o->kinds = true;
			break;
		default:
			bad_usage(usage);
		}
	}
	if (optind == argc || argc - optind > 2 || !o->in_flight || !o->request ||
	    !o->threads || !o->conns)
		bad_usage(usage);
	o->mode = argv[optind];
	o->address = argv[optind + 1];
}

/* -- counts ------------------------------------------------------------------------ */

uint64_t read_counts(const char *path, const char *name, const char *other)
{
	uint64_t sum = 0;
	char line[4096];
	FILE *f;

	f = fopen(path, "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sum += strtoull(line + strlen(name), NULL, 10);
		else if (other && !strncmp(line, other, strlen(other)))
			sum += strtoull(line + strlen(other), NULL, 10);
	fclose(f);
	return sum;
}

/* Context switches of all threads of a process. */
static uint64_t process_switches(pid_t pid)
{
	struct dirent *entry;
	uint64_t sum = 0;
	char path[320];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		err(1, "%s", path);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, entry->d_name);
		sum += read_counts(path, "voluntary_ctxt_switches:",
				   "nonvoluntary_ctxt_switches:");
	}
	closedir(dir);
	return sum;
}

static uint64_t machine_idle(void)
{
	unsigned long long idle = 0;
	FILE *f = fopen("/proc/stat", "r");

	if (!f || fscanf(f, "cpu %*u %*u %*u %llu", &idle) != 1)
		errx(1, "/proc/stat is not understood");
	fclose(f);
	return idle;
}

uint64_t memory_used(void)
{
	return 1024 * (read_counts("/proc/meminfo", "MemTotal:", NULL) -
		       read_counts("/proc/meminfo", "MemFree:", NULL) -
		       read_counts("/proc/meminfo", "Cached:", "Buffers:"));
}

void memory_report(uint64_t before, uint64_t conns)
{
	uint64_t after = memory_used();

	if (!conns)
		errx(2, "how many connections?");
	printf("connections=%llu idle_bytes=%.0f\n", (unsigned long long)conns,
	       ((double)after - (double)before) / (double)conns / 2);
}

static void take_counts(struct snapshot *s, const struct options *o)
{
	s->client_switches = process_switches(getpid());
	s->server_switches = o->server ? process_switches(o->server) : 0;
	s->machine_switches = read_counts("/proc/stat", "ctxt ", NULL);
	s->machine_idle = machine_idle();
}

uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* -- a measurement ------------------------------------------------------------------ */

static pthread_barrier_t all_are_warm;

static void start(struct measure *m)
{
	if (m->o->threads > 1)
		pthread_barrier_wait(&all_are_warm);
	take_counts(&m->start, m->o);
	mark_start();
	m->start.ns = now_ns(CLOCK_MONOTONIC);
	m->start.ticks = ticks();
	m->batches[m->nr_batches++] = m->start.ticks;
}

void measure_init(struct measure *m, const struct options *o)
{
	memset(m, 0, sizeof(*m));
	m->o = o;
	/* Several in flight end in bursts. */
	m->batch = o->in_flight > 16 ? 2 * o->in_flight : BATCH;
	m->max = o->calls && o->calls < MAX_SAMPLES ? o->calls : MAX_SAMPLES;
	m->samples = malloc(m->max * sizeof(*m->samples));
	m->batches = malloc((m->max / BATCH + 2) * sizeof(*m->batches));
	if (!m->samples || !m->batches)
		err(1, "samples");
	/* No page faults later. */
	memset(m->samples, 0, m->max * sizeof(*m->samples));
	memset(m->batches, 0, (m->max / BATCH + 2) * sizeof(*m->batches));
	m->warm = o->warm;
	if (!m->warm)
		start(m);
}

bool measure_call(struct measure *m, uint64_t began)
{
	uint64_t now = ticks();

	if (m->warm) {
		if (!--m->warm)
			start(m);
		return true;
	}
	m->samples[m->nr++] = now - began;
	if (!(m->nr % m->batch))
		m->batches[m->nr_batches++] = now;
	if (m->nr == m->max)
		return false;
	if (!m->o->ms || m->nr % 8)
		return true;
	/* The coarse clock may be behind the start. */
	return now_ns(CLOCK_MONOTONIC_COARSE) < m->start.ns + m->o->ms * 1000000;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The smallest sample that @percent of them do not exceed. */
static uint64_t percentile(const uint64_t *sorted, uint64_t nr, uint64_t percent)
{
	return nr ? sorted[(nr * percent + 99) / 100 - 1] : 0;
}

void measure_end(struct measure *m)
{
	m->end.ticks = ticks();
	m->end.ns = now_ns(CLOCK_MONOTONIC);
	mark_end();
	take_counts(&m->end, m->o);
}

/* -- the figures -------------------------------------------------------------------- */

/* Ticks per call: a median over batches, or the mean if there are too few. */
static double cost(struct measure *m)
{
	uint64_t i;

	if (m->nr_batches < 4)
		return (double)(m->end.ticks - m->start.ticks) / (double)m->nr;
	for (i = 0; i + 1 < m->nr_batches; i++)
		m->batches[i] = m->batches[i + 1] - m->batches[i];
	qsort(m->batches, i, sizeof(*m->batches), compare);
	return (double)percentile(m->batches, i, 50) / (double)m->batch;
}

/* Makes one of several, which began and ended at about the same time. */
static void merge(struct measure *all, unsigned int nr)
{
	uint64_t calls = 0, *samples;
	unsigned int i;

	for (i = 0; i < nr; i++)
		calls += all[i].nr;
	samples = malloc((calls + 1) * sizeof(*samples));
	if (!samples)
		err(1, "samples");
	for (calls = 0, i = 0; i < nr; i++) {
		memcpy(samples + calls, all[i].samples, all[i].nr * sizeof(*samples));
		calls += all[i].nr;
		if (all[i].end.ns > all[0].end.ns)
			all[0].end = all[i].end;
	}
	free(all[0].samples);
	all[0].samples = samples;
	all[0].nr = calls;
	all[0].nr_batches = 0;
}

/* A process whose threads have ended counts fewer than before. */
static uint64_t since(uint64_t start, uint64_t end)
{
	return end > start ? end - start : 0;
}

static void report(struct measure *m)
{
	const struct snapshot *start = &m->start, *end = &m->end;
	double seconds, ns_per_tick, busy, calls = (double)m->nr;

	if (!m->nr)
		errx(1, "nothing was measured");
	seconds = (double)(end->ns - start->ns) / 1e9;
	ns_per_tick = (double)(end->ns - start->ns) / (double)(end->ticks - start->ticks);
	busy = seconds * (double)sysconf(_SC_NPROCESSORS_ONLN) -
		(double)(end->machine_idle - start->machine_idle) / (double)sysconf(_SC_CLK_TCK);
	qsort(m->samples, m->nr, sizeof(*m->samples), compare);
	printf("calls=%llu seconds=%.4f median_ns=%.0f p99_ns=%.0f rate=%.1f bytes_per_s=%.0f cost=%.1f",
	       (unsigned long long)m->nr, seconds,
	       (double)percentile(m->samples, m->nr, 50) * ns_per_tick,
	       (double)percentile(m->samples, m->nr, 99) * ns_per_tick, calls / seconds,
	       calls * (double)m->o->request / seconds, cost(m));
	printf(" busy_us=%.3f client_switches=%.3f server_switches=%.3f machine_switches=%.3f\n",
	       (busy > 0 ? busy : 0) * 1e6 / calls,
	       (double)since(start->client_switches, end->client_switches) / calls,
	       (double)since(start->server_switches, end->server_switches) / calls,
	       (double)since(start->machine_switches, end->machine_switches) / calls);
}

/* -- threads ------------------------------------------------------------------------ */

struct thread {
	pthread_t id;
	void (*run)(struct measure *m, const struct options *o);
	struct measure *m;
	const struct options *o;
};

static void *run_thread(void *arg)
{
	struct thread *t = arg;

	t->run(t->m, t->o);
	return NULL;
}

void measure_run(const struct options *o, void (*run)(struct measure *m, const struct options *o))
{
	unsigned int i, nr = o->threads;
	struct measure *all = calloc(nr, sizeof(*all));
	struct thread *threads = calloc(nr, sizeof(*threads));

	if (!all || !threads)
		err(1, "threads");
	pthread_barrier_init(&all_are_warm, NULL, nr);
	for (i = 0; i < nr; i++) {
		threads[i] = (struct thread){ .run = run, .m = &all[i], .o = o };
		if (i && pthread_create(&threads[i].id, NULL, run_thread, &threads[i]))
			errx(1, "a thread does not start");
	}
	run_thread(&threads[0]);
	for (i = 1; i < nr; i++)
		pthread_join(threads[i].id, NULL);
	if (nr > 1)
		merge(all, nr);
	report(&all[0]);
	for (i = 0; i < nr; i++) {
		free(all[i].samples);
		free(all[i].batches);
	}
	free(all);
	free(threads);
}
