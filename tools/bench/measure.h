/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmarks have in common, in C and C++: options, samples, threads and the
 * line of figures that each measurement prints.
 */
#ifndef _MEASURE_H
#define _MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct options - what to measure
 * @mode: first word of the command line
 * @address: second word; NULL if absent
 * @request: bytes of a request's payload
 * @reply: bytes of a reply's payload
 * @in_flight: calls in flight, of each thread
 * @threads: of the client, or of the server, each with a connection of its own
 * @conns: connections of each thread of mrpc's client, which calls take in turn
 * @calls: stop after so many calls; 0 for no limit. Each thread
 * @ms: stop after so many milliseconds; 0 for no limit
 * @warm: calls before the measurement. Each thread
 * @server: process whose context switches are counted too; 0 for none
 * @copy_threshold: as text; NULL to leave it alone
 * @engine: to place at the client; NULL for none, and requests without a key
 * @kinds: of memory are to be told apart
 * @together: messages of a stream may leave together
 * @certs: directory with ca.pem, server.pem and server.key; NULL: no TLS
 */
struct options {
	const char *mode;
	const char *address;
	size_t request;
	size_t reply;
	unsigned int in_flight;
	unsigned int threads;
	unsigned int conns;
	uint64_t calls;
	uint64_t ms;
	uint64_t warm;
	pid_t server;
	const char *copy_threshold;
	const char *engine;
	bool kinds;
	bool together;
	const char *certs;
};

/* Exits with @usage, and what all have in common, if something is wrong. */
void options_parse(struct options *o, int argc, char **argv, const char *usage);

/* Counts at one moment. */
struct snapshot {
	uint64_t ticks;
	uint64_t ns;
	uint64_t client_switches;
	uint64_t server_switches;
	uint64_t machine_switches;
	uint64_t machine_idle;	/* hundredths of a second, of all processors */
};

/* What one thread measures. It belongs to that thread until measure_run() has joined it. */
struct measure {
	const struct options *o;
	uint64_t *samples;	/* ticks from a call's start to its end */
	uint64_t nr;
	uint64_t max;
	uint64_t *batches;	/* ticks at the end of each batch of calls */
	uint64_t nr_batches;
	uint64_t batch;
	uint64_t warm;		/* calls until the measurement starts */
	struct snapshot start;
	struct snapshot end;
};

/*
 * The time stamp counter. Where virtual time counts instructions, a tick is an
 * instruction.
 */
static inline uint64_t ticks(void)
{
	return __builtin_ia32_rdtsc();
}

uint64_t now_ns(clockid_t clock);

/* Sum of the numbers in a file's lines that begin with one of two names; @other may be NULL. */
uint64_t read_counts(const char *path, const char *name, const char *other);

void measure_init(struct measure *m, const struct options *o);

/* A call that began at @began has ended. Return: whether to go on. */
bool measure_call(struct measure *m, uint64_t began);

/* Ends the measurement. */
void measure_end(struct measure *m);

/*
 * Runs @run in as many threads as @o says, and prints their figures. Each calls
 * measure_init() once connected, measure_call() after each call until it returns false,
 * and measure_end(). All threads begin to measure at the same time.
 */
void measure_run(const struct options *o, void (*run)(struct measure *m, const struct options *o));

/* Bytes of memory that the machine uses, page cache apart. */
uint64_t memory_used(void);

/* Prints what a connection takes at each end, after @before were used without @conns of them. */
void memory_report(uint64_t before, uint64_t conns);

#ifdef __cplusplus
}
#endif

#endif
