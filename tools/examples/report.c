// SPDX-License-Identifier: MIT
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "report.h"

#define BAR_WIDTH	40
#define DRAW_NS		100000000u

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void draw(struct report *r, uint64_t now)
{
	static const char full[] = "########################################";
	size_t done = r->calls < r->expected ? r->calls : r->expected;
	int bar = (int)(done * BAR_WIDTH / r->expected);

	r->drawn_ns = now;
	fprintf(stderr, "\r%-6s %3u in flight [%.*s%*s] %3zu %%", r->name, r->in_flight, bar, full,
		BAR_WIDTH - bar, "", done * 100 / r->expected);
}

void report_start(struct report *r)
{
	r->start_ns = now_ns();
	if (r->progress)
		draw(r, r->start_ns);
}

void report_call(struct report *r, uint64_t latency_ns, uint64_t bytes, bool ok)
{
	if (r->calls == r->room) {
		r->room = r->room ? 2 * r->room : 8192;
		r->latency_ns = realloc(r->latency_ns, r->room * sizeof(*r->latency_ns));
		if (!r->latency_ns)
			err(1, NULL);
	}
	r->latency_ns[r->calls++] = latency_ns < UINT32_MAX ? (uint32_t)latency_ns : UINT32_MAX;
	r->bytes += bytes;
	r->errors += !ok;
	if (r->progress && r->calls % 16 == 0) {
		uint64_t now = now_ns();

		if (now - r->drawn_ns > DRAW_NS)
			draw(r, now);
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void report_end(struct report *r)
{
	r->end_ns = now_ns();
	if (r->progress) {
		draw(r, r->end_ns);
		fputc('\n', stderr);
	}
	qsort(r->latency_ns, r->calls, sizeof(*r->latency_ns), compare);
}

void report_print_head(void)
{
	printf("%-6s %9s %8s %6s %10s %11s %11s %12s\n", "", "in flight", "calls", "errors",
	       "calls/s", "median", "P99", "bytes");
}

void report_print(const struct report *r)
{
	double seconds = (double)(r->end_ns - r->start_ns) / 1e9;
	uint32_t median = 0, p99 = 0;

	if (r->calls) {
		median = r->latency_ns[r->calls / 2];
		p99 = r->latency_ns[r->calls - 1 - r->calls / 100];
	}
	printf("%-6s %9u %8zu %6zu %10.0f %8.1f us %8.1f us %12" PRIu64 "\n", r->name,
	       r->in_flight, r->calls, r->errors, (double)r->calls / seconds, median / 1e3,
	       p99 / 1e3, r->bytes);
	fflush(stdout);
}
