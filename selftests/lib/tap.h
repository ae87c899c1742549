/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests in C that print TAP. A program is one file:
 *
 *	#include "tap.h"
 *
 *	TEST(adds)
 *	{
 *		CHECK_EQ(1 + 1, 2);
 *	}
 *
 *	TEST_LIMIT(adds_for_long, 300)	// seconds, for the runner
 *	{
 *		...
 *	}
 *
 * "prog" runs all tests, "prog NAME..." those, "prog --list" lists them. The
 * exit status is 0 only if all passed.
 *
 * A check that fails prints where and ends the test; in another thread it only
 * marks the test as failed, in a child process it exits.
 */
#ifndef TAP_H
#define TAP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tap_test {
	const char *name;
	void (*run)(void);
	unsigned int limit;
	struct tap_test *next;
};

static struct tap_test *tap_first, **tap_last = &tap_first;
static jmp_buf tap_end;
static bool tap_failed;
static char tap_skipped[256];
static pid_t tap_pid;
static __thread bool tap_main_thread;

#define TEST(test)	TEST_LIMIT(test, 0)
#define TEST_LIMIT(test, seconds)					\
	static void test_##test(void);					\
	static __attribute__((__constructor__)) void tap_add_##test(void) \
	{								\
		static struct tap_test t = { #test, test_##test, seconds, NULL }; \
									\
		*tap_last = &t;						\
		tap_last = &t.next;					\
	}								\
	static void test_##test(void)

/* One line for readers of the log. */
#define NOTE(...)	tap_say(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK_MSG(cond, ...)						\
	do {								\
		if (!(cond)) {						\
			tap_say(__FILE__, __LINE__, __VA_ARGS__);	\
			tap_fail();					\
		}							\
	} while (0)

#define CHECK(cond)	CHECK_MSG(cond, "%s", #cond)

/* Integers (and enums, bools, characters) only. */
#define CHECK_EQ(a, b)							\
	do {								\
		long long tap_a = (long long)(a), tap_b = (long long)(b); \
									\
		CHECK_MSG(tap_a == tap_b, "%s is %lld (%#llx), %s is %lld (%#llx)", \
			  #a, tap_a, tap_a, #b, tap_b, tap_b);		\
	} while (0)

#define CHECK_STR(a, b)							\
	do {								\
		const char *tap_a = (a), *tap_b = (b);			\
									\
		CHECK_MSG(tap_a && tap_b && !strcmp(tap_a, tap_b),	\
			  "%s is \"%s\", %s is \"%s\"", #a, tap_a ? tap_a : "(null)", \
			  #b, tap_b ? tap_b : "(null)");		\
	} while (0)

/* A call that must not return -1. */
#define CHECK_SYS(call)							\
	({								\
		__typeof__(call) tap_ret = (call);			\
									\
		CHECK_MSG(tap_ret != (__typeof__(tap_ret))-1, "%s: %m", #call); \
		tap_ret;						\
	})

/* Ends the test without a verdict; only in the test's own thread and process. */
#define SKIP(...)							\
	do {								\
		snprintf(tap_skipped, sizeof(tap_skipped), __VA_ARGS__); \
		longjmp(tap_end, 1);					\
	} while (0)

static __attribute__((__unused__, __format__(__printf__, 3, 4)))
void tap_say(const char *file, int line, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("# %s:%d: %s\n", file, line, text);
	fflush(stdout);
}

static __attribute__((__unused__)) void tap_fail(void)
{
	if (getpid() != tap_pid)
		_exit(1);
	__atomic_store_n(&tap_failed, true, __ATOMIC_RELAXED);
	if (tap_main_thread)
		longjmp(tap_end, 1);
}

static bool tap_run(const struct tap_test *t, unsigned int number)
{
	tap_failed = false;
	tap_skipped[0] = 0;
	if (!setjmp(tap_end))
		t->run();
	printf("%sok %u - %s%s%s\n", tap_failed ? "not " : "", number, t->name,
	       tap_skipped[0] ? " # SKIP " : "", tap_skipped);
	fflush(stdout);
	return !tap_failed;
}

static bool tap_wanted(const struct tap_test *t, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], t->name))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	bool list = argc == 2 && !strcmp(argv[1], "--list");
	unsigned int count = 0, failed = 0, number = 0;
	struct tap_test *t;

	tap_pid = getpid();
	tap_main_thread = true;
	for (t = tap_first; t; t = t->next) {
		count += tap_wanted(t, argc, argv);
		if (list && t->limit)
			printf("%s %u\n", t->name, t->limit);
		else if (list)
			printf("%s\n", t->name);
	}
	if (list)
		return 0;
	if (!count || (argc > 1 && count != (unsigned int)argc - 1)) {
		fprintf(stderr, "%s: no such test; --list lists them\n", argv[0]);
		return 2;
	}
	printf("1..%u\n", count);
	fflush(stdout);
	for (t = tap_first; t; t = t->next)
		if (tap_wanted(t, argc, argv))
			failed += !tap_run(t, ++number);
	return failed ? 1 : 0;
}

#endif /* TAP_H */
