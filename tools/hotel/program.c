// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cache.h"
#include "check.h"
#include "stock.h"

static const char usage[] =
	"Usage: %s SERVICE -l ADDRESS [-d SERVICE=ADDRESS]... [-m HOST:PORT]\n"
	"       %s load -d frontend=ADDRESS [-r RATE] [-t MS | -n REQUESTS] [-w MS]\n"
	"            [-s SEED]\n"
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
	"compares the answers with what they should be. status makes one search, and prints how\n"
	"it ended.\n"
	"\n"
	"  -r RATE             requests in a second (default 100)\n"
	"  -t MS               how long (default 2000)\n"
	"  -w MS               how long before, which does not count (default 0)\n"
	"  -s SEED             of the requests and their moments (default 1)\n"
	"  -n REQUESTS         how many: of load, instead of -t; of check (default 100)\n";

const char *const service_names[SERVICES] = {
	"frontend", "search", "geo", "rate", "profile", "recommendation", "reservation", "user",
};

/* Those that each calls. */
static const unsigned int calls[SERVICES] = {
	[FRONTEND] = 1U << SEARCH | 1U << PROFILE | 1U << RECOMMENDATION | 1U << RESERVATION |
		     1U << USER,
	[SEARCH] = 1U << GEO | 1U << RATE,
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
	int ret, i;

	if (!o->listen)
		errx(2, "where should %s listen?", service_names[o->service]);
	for (i = 0; i < SERVICES; i++)
		if (calls[o->service] & 1U << i && !o->addresses[i])
			errx(2, "%s calls %s: where is that?", service_names[o->service],
			     service_names[i]);
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

/**
 * struct command - what the command line asks for
 * @o: of a service
 * @memcached: of a service
 * @load: of load
 * @requests: of check
 * @mode: the word that is no option
 */
struct command {
	struct service_options o;
	const char *memcached;
	struct load_options load;
	unsigned int requests;
	const char *mode;
};

/* Return: whether @opt is known. */
static bool take_option(struct command *c, int opt)
{
	switch (opt) {
	case 'l':
		c->o.listen = optarg;
		return true;
	case 'd':
		take_address(&c->o, optarg);
		return true;
	case 'm':
		c->memcached = optarg;
		return true;
	case 'r':
		c->load.rate = take_number(optarg);
		return true;
	case 't':
		c->load.ns = (uint64_t)(take_number(optarg) * 1e6);
		return true;
	case 'w':
		c->load.warm_ns = (uint64_t)(take_number(optarg) * 1e6);
		return true;
	case 's':
		c->load.seed = (uint64_t)take_number(optarg);
		return true;
	case 'n':
		c->requests = (unsigned int)take_number(optarg);
		c->load.requests = c->requests;
		return true;
	default:
		return false;
	}
}

/* What needs a frontend. */
static int be_client(const struct peer *peer, const struct command *c)
{
	peer->connect(c->o.addresses[FRONTEND]);
	if (!strcmp(c->mode, "load"))
		return generate(peer, &c->load);
	if (!strcmp(c->mode, "check"))
		return !check_answers(peer, c->requests);
	check_status(peer);
	return 0;
}

static bool is_client(const char *mode)
{
	return !strcmp(mode, "load") || !strcmp(mode, "check") || !strcmp(mode, "status");
}

int program_main(int argc, char **argv, const struct peer *peer)
{
	struct command c = {
		.load = { .rate = 100, .ns = 2000000000, .seed = 1 },
		.requests = 100,
	};
	int opt, service;

	while ((opt = getopt(argc, argv, "l:d:m:r:t:w:s:n:")) != -1)
		if (!take_option(&c, opt))
			return usage_error(argv[0]);
	if (optind + 1 != argc || !(c.load.rate > 0))
		return usage_error(argv[0]);
	data_init();
	c.mode = argv[optind];
	service = service_of(c.mode, strlen(c.mode));
	if (service >= 0) {
		c.o.service = (enum service)service;
		return serve(peer, &c.o, c.memcached);
	}
	if (!is_client(c.mode) || !c.o.addresses[FRONTEND])
		return usage_error(argv[0]);
	return be_client(peer, &c);
}
