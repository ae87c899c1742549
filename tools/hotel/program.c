// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cache.h"
#include "check.h"
#include "stock.h"

static const char usage[] =
	"Usage: %s SERVICE -l ADDRESS [-d SERVICE=ADDRESS]... [-m HOST:PORT]\n"
	"       %s load -d frontend=ADDRESS [-r RATE] [-t MS] [-w MS] [-s SEED]\n"
	"       %s check -d frontend=ADDRESS [-n REQUESTS]\n"
	"       %s status -d frontend=ADDRESS\n"
	"\n"
	"SERVICE is one of frontend, search, geo, rate, profile, recommendation, reservation and\n"
	"user. It serves until SIGTERM. With SIGUSR1 it prints the latencies of the calls it has\n"
	"made of others since the last time.\n"
	"\n"
	"  -l ADDRESS          where it listens\n"
	"  -d SERVICE=ADDRESS  where one that it calls is\n"
	"  -m HOST:PORT        its memcached (default: none)\n"
	"\n"
	"load makes requests at random moments, and prints latencies, counted from when a request\n"
	"was due. check makes some of each kind, of services that have just been started, and\n"
	"compares the answers with what they should be. status makes one search, and prints how it\n"
	"ended.\n"
	"\n"
	"  -r RATE             requests in a second (default 100)\n"
	"  -t MS               how long (default 2000)\n"
	"  -w MS               how long before, which does not count (default 0)\n"
	"  -s SEED             of the requests and their moments (default 1)\n"
	"  -n REQUESTS         (default 100)\n";

const char *const service_names[SERVICES] = {
	"frontend", "search", "geo", "rate", "profile", "recommendation", "reservation", "user",
};

/* Of calls made of each. */
static struct histogram hops[SERVICES];

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void hop_ended(enum service service, uint64_t began)
{
	histogram_add(&hops[service], now_ns() - began);
}

void program_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* -- signals ------------------------------------------------------------------------ */

static sigset_t signals;

/* Calls that end meanwhile may be lost: the load has ended by then. */
static void report_hops(void)
{
	int i;

	for (i = 0; i < SERVICES; i++)
		if (hops[i].nr)
			histogram_print(&hops[i], service_names[i], stdout);
	memset(hops, 0, sizeof(hops));
	puts("reported");
	fflush(stdout);
}

static void *take_signals(void *arg)
{
	const struct peer *peer = arg;
	int sig;

	for (;;) {
		if (sigwait(&signals, &sig))
			continue;
		if (sig != SIGUSR1)
			break;
		report_hops();
	}
	peer->stop();
	return NULL;
}

static int serve(const struct peer *peer, const struct service_options *o, const char *memcached)
{
	pthread_t thread;
	int ret;

	if (!o->listen)
		errx(2, "where should %s listen?", service_names[o->service]);
	stock_init();
	cache_init(memcached);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	/* Before any other thread is there, so that all have them blocked. */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	ret = pthread_create(&thread, NULL, take_signals, (void *)peer);
	if (ret)
		errx(1, "a thread: %s", strerror(ret));
	peer->serve(o);
	return 0;
}

/* -- the command line --------------------------------------------------------------- */

static int service_of(const char *name, size_t len)
{
	int i;

	for (i = 0; i < SERVICES; i++)
		if (strlen(service_names[i]) == len && !memcmp(service_names[i], name, len))
			return i;
	return -1;
}

static void take_address(struct service_options *o, const char *text)
{
	const char *equals = strchr(text, '=');
	int service = equals ? service_of(text, (size_t)(equals - text)) : -1;

	if (service < 0)
		errx(2, "'%s' is not SERVICE=ADDRESS", text);
	o->addresses[service] = equals + 1;
}

static double take_number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (*end || !(value >= 0 && value <= 1e9))
		errx(2, "'%s' is no number, or too large", text);
	return value;
}

static int usage_error(const char *program)
{
	fprintf(stderr, usage, program, program, program, program);
	return 2;
}

static int generate(const struct peer *peer, const struct load_options *o)
{
	struct load_result *result = load_run(&peer->load, o);

	if (!result)
		errx(1, "no memory");
	load_print(result, stdout);
	fflush(stdout);
	/* Without waiting for calls that were given up. */
	_Exit(0);
}

int program_main(int argc, char **argv, const struct peer *peer)
{
	struct load_options load = { .rate = 100, .ns = 2000000000, .seed = 1 };
	const char *program = argv[0], *mode, *memcached = NULL;
	struct service_options o = { 0 };
	unsigned int requests = 100;
	int opt, service;

	while ((opt = getopt(argc, argv, "l:d:m:r:t:w:s:n:h")) != -1) {
		switch (opt) {
		case 'l': o.listen = optarg; break;
		case 'd': take_address(&o, optarg); break;
		case 'm': memcached = optarg; break;
		case 'r': load.rate = take_number(optarg); break;
		case 't': load.ns = (uint64_t)(take_number(optarg) * 1e6); break;
		case 'w': load.warm_ns = (uint64_t)(take_number(optarg) * 1e6); break;
		case 's': load.seed = (uint64_t)take_number(optarg); break;
		case 'n': requests = (unsigned int)take_number(optarg); break;
		case 'h': printf(usage, program, program, program, program); return 0;
		default: return usage_error(program);
		}
	}
	if (optind + 1 != argc || !(load.rate > 0))
		return usage_error(program);
	data_init();
	mode = argv[optind];
	service = service_of(mode, strlen(mode));
	if (service >= 0) {
		o.service = (enum service)service;
		return serve(peer, &o, memcached);
	}
	if (!o.addresses[FRONTEND])
		return usage_error(program);
	peer->connect(o.addresses[FRONTEND]);
	if (!strcmp(mode, "load"))
		return generate(peer, &load);
	if (!strcmp(mode, "check"))
		return !check_answers(peer, requests);
	if (strcmp(mode, "status"))
		return usage_error(program);
	check_status(peer);
	return 0;
}
