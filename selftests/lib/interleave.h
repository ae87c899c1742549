/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small model checker: runs a scenario of up to four threads in every
 * interleaving of their atomic operations, stores becoming visible in every
 * order that the kernel's memory model allows for one thread's stores to
 * different places. Loads are not reordered: test_threads.c is for those.
 *
 * A thread is a coroutine that is resumed for one operation at a time. The
 * search runs the scenario again from its start for every new schedule, and
 * cuts one off as soon as it reaches a state seen before: the watched memory,
 * the stores that wait, and for each thread a hash of everything that it has
 * read, on which alone it can have based what it does next. That is why a
 * scenario must tell by il_note() what it reads in another way than by the
 * operations of claim_native.h.
 *
 * To be included once, after the header under test, with MRPC_CLAIM_MODEL.
 */
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define IL_THREADS	4
#define IL_STACK	(64 * 1024)
#define IL_STORES	16
#define IL_DEPTH	1000
#define IL_PLACES	8

/**
 * struct il_scenario - what il_run() runs
 * @init: makes the initial state, before each run
 * @thread: the threads' functions
 * @end: checks the state in which no thread can go on; may call operations
 */
struct il_scenario {
	void (*init)(void);
	void (*thread[IL_THREADS])(void);
	void (*end)(void);
};

enum il_need {
	IL_ANY = 0,
	IL_DRAINED,	/* the thread's stores must be visible first */
	IL_COND,	/* until a condition holds */
	IL_DONE,
};

struct il_store {
	void *p;
	u64 v;
	u32 size;
	bool release;
};

struct il_thread {
	ucontext_t ctx;
	enum il_need need;
	bool (*cond)(void);
	u64 hash;
	u32 nr;
	struct il_store stores[IL_STORES];
};

struct il_place {
	void *p;
	size_t size;
};

/* Thread t either goes on (store < 0) or its store number @store becomes visible. */
struct il_action {
	int t;
	int store;
};

static struct {
	const struct il_scenario *s;
	struct il_thread threads[IL_THREADS];
	int nr_threads;
	int now;	/* the thread that runs, -1: none */
	ucontext_t sched;
	const char *failed;
	u32 depth;
	u32 prefix;
	u32 choice[IL_DEPTH];
	u32 nr_choices[IL_DEPTH];
	struct il_action trace[IL_DEPTH];
	struct il_place watched[IL_PLACES];
	struct il_place tracked[IL_PLACES];
	u32 nr_watched;
	u32 nr_tracked;
	u64 *seen;
	size_t nr_seen;
	size_t cap_seen;
	u64 runs;
} il = { .now = -1 };

static char il_stacks[IL_THREADS][IL_STACK] __attribute__((aligned(64)));

#define IL_STR2(x)	#x
#define IL_STR(x)	IL_STR2(x)
/* For use inside a scenario: a failure ends the run and is reported with its schedule. */
#define il_assert(cond) do {						\
	if (!(cond) && !il.failed)					\
		il.failed = __FILE__ ":" IL_STR(__LINE__) ": " #cond; \
} while (0)

static inline u64 il_mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ULL;
	return h ^ h >> 29;
}

/** il_watch() - memory that is part of the state; to be called in init */
static inline void il_watch(void *p, size_t size)
{
	il.watched[il.nr_watched++] = (struct il_place){ p, size };
}

/**
 * il_track() - memory whose loads and stores are operations of their own
 *
 * Loads and stores elsewhere are immediate, and cost no interleavings.
 */
static inline void il_track(void *p, size_t size)
{
	il.tracked[il.nr_tracked++] = (struct il_place){ p, size };
}

static bool il_is_tracked(const void *p)
{
	u32 i;

	for (i = 0; i < il.nr_tracked; i++)
		if ((const char *)p >= (char *)il.tracked[i].p &&
		    (const char *)p < (char *)il.tracked[i].p + il.tracked[i].size)
			return true;
	return false;
}

static u64 il_get(const void *p, size_t size)
{
	u64 v = 0;

	memcpy(&v, p, size);	/* little-endian, as types.h demands */
	return v;
}

/** il_note() - the thread has read @v */
static inline void il_note(u64 v)
{
	if (il.now >= 0)
		il.threads[il.now].hash = il_mix(il.threads[il.now].hash, v);
}

/**
 * il_forget() - from here on the thread does what @where and memory say
 *
 * @where stands for its program counter and all live local variables. Without
 * this, threads that only differ in how they got there count as different.
 */
static inline void il_forget(u64 where)
{
	if (il.now >= 0)
		il.threads[il.now].hash = il_mix(il.now + 1, where);
}

/* Gives control to the scheduler, until the thread may go on. */
static void il_stop(enum il_need need, bool (*cond)(void))
{
	struct il_thread *t;

	if (il.now < 0)
		return;
	t = &il.threads[il.now];
	t->need = need;
	t->cond = cond;
	swapcontext(&t->ctx, &il.sched);
	t->need = IL_ANY;
	il_note(need);
}

/** il_point() - other threads may run here */
static inline void il_point(void)
{
	il_stop(IL_ANY, NULL);
}

/** il_wait() - until @cond holds for the memory that all see */
static inline void il_wait(bool (*cond)(void))
{
	il_stop(IL_COND, cond);
}

/** il_done() - for the scenario's end: has thread @t returned? */
static inline bool il_done(int t)
{
	return il.threads[t].need == IL_DONE;
}

u64 mrpc_model_load(const void *p, size_t size)
{
	struct il_thread *t;
	u64 v;
	u32 i;

	if (il.now < 0)
		return il_get(p, size);
	t = &il.threads[il.now];
	if (il_is_tracked(p))
		il_stop(IL_ANY, NULL);
	v = il_get(p, size);
	for (i = 0; i < t->nr; i++)
		if (t->stores[i].p == p)
			v = t->stores[i].v;
	il_note(v);
	return v;
}

void mrpc_model_store(void *p, u64 v, size_t size, bool release)
{
	struct il_thread *t = &il.threads[il.now < 0 ? 0 : il.now];

	if (il.now < 0 || !il_is_tracked(p)) {
		memcpy(p, &v, size);
		return;
	}
	/* No point of its own: no other thread sees it before it leaves the buffer. */
	il_assert(t->nr < IL_STORES);
	if (t->nr < IL_STORES)
		t->stores[t->nr++] = (struct il_store){ p, v, size, release };
}

void mrpc_model_mb(void)
{
	il_stop(IL_DRAINED, NULL);
}

void mrpc_model_rmw(const void *p)
{
	il_stop(IL_DRAINED, NULL);
	il_note(il_get(p, 4));
}

static bool il_may_run(const struct il_thread *t)
{
	switch (t->need) {
	case IL_DRAINED:
		return !t->nr;
	case IL_COND:
		return t->cond();
	case IL_DONE:
		return false;
	default:
		return true;
	}
}

/* A release store waits for all before it, another for those to the same place. */
static bool il_may_flush(const struct il_thread *t, u32 store)
{
	u32 i;

	if (t->stores[store].release && store)
		return false;
	for (i = 0; i < store; i++)
		if (t->stores[i].p == t->stores[store].p)
			return false;
	return true;
}

static u32 il_actions(struct il_action *a)
{
	u32 nr = 0;
	int t;
	u32 i;

	for (t = 0; t < il.nr_threads; t++) {
		if (il_may_run(&il.threads[t]))
			a[nr++] = (struct il_action){ t, -1 };
		for (i = 0; i < il.threads[t].nr; i++)
			if (il_may_flush(&il.threads[t], i))
				a[nr++] = (struct il_action){ t, i };
	}
	return nr;
}

static void il_act(struct il_action a)
{
	struct il_thread *t = &il.threads[a.t];

	if (a.store < 0) {
		il.now = a.t;
		swapcontext(&il.sched, &t->ctx);
		il.now = -1;
		return;
	}
	memcpy(t->stores[a.store].p, &t->stores[a.store].v, t->stores[a.store].size);
	t->nr--;
	memmove(&t->stores[a.store], &t->stores[a.store + 1],
		(t->nr - a.store) * sizeof(t->stores[0]));
}

static void il_entry(void)
{
	struct il_thread *t = &il.threads[il.now];

	il_note(0); /* to have started is another state than not to have */
	il.s->thread[il.now]();
	t->need = IL_DONE;
	for (;;)
		swapcontext(&t->ctx, &il.sched);
}

static u64 il_state(void)
{
	u64 h = 1;
	u32 i, k;
	int t;

	for (i = 0; i < il.nr_watched; i++)
		for (k = 0; k < il.watched[i].size; k += 4)
			h = il_mix(h, il_get((char *)il.watched[i].p + k,
						   min_t(size_t, 4, il.watched[i].size - k)));
	for (t = 0; t < il.nr_threads; t++) {
		const struct il_thread *th = &il.threads[t];

		h = il_mix(h, th->hash);
		h = il_mix(h, th->need);
		h = il_mix(h, th->nr);
		for (i = 0; i < th->nr; i++) {
			h = il_mix(h, (uintptr_t)th->stores[i].p);
			h = il_mix(h, th->stores[i].v);
			h = il_mix(h, th->stores[i].release);
		}
	}
	return h ? h : 1;
}

static void il_seen_put(u64 h)
{
	size_t i = h & (il.cap_seen - 1);

	while (il.seen[i])
		i = (i + 1) & (il.cap_seen - 1);
	il.seen[i] = h;
	il.nr_seen++;
}

/* Return: true if the state was seen before. */
static bool il_seen(u64 h)
{
	size_t i;

	if (il.nr_seen * 2 >= il.cap_seen) {
		u64 *old = il.seen;
		size_t cap = il.cap_seen;

		il.cap_seen = cap ? cap * 2 : 1 << 14;
		il.seen = calloc(il.cap_seen, sizeof(u64));
		if (!il.seen)
			abort();
		il.nr_seen = 0;
		for (i = 0; i < cap; i++)
			if (old[i])
				il_seen_put(old[i]);
		free(old);
	}
	for (i = h & (il.cap_seen - 1); il.seen[i]; i = (i + 1) & (il.cap_seen - 1))
		if (il.seen[i] == h)
			return true;
	il_seen_put(h);
	return false;
}

static void il_start(void)
{
	int t;

	il.nr_watched = 0;
	il.nr_tracked = 0;
	il.nr_threads = 0;
	il.depth = 0;
	il.s->init();
	for (t = 0; t < IL_THREADS && il.s->thread[t]; t++) {
		struct il_thread *th = &il.threads[t];

		memset(th, 0, sizeof(*th));
		getcontext(&th->ctx);
		th->ctx.uc_stack.ss_sp = il_stacks[t];
		th->ctx.uc_stack.ss_size = IL_STACK;
		th->ctx.uc_link = NULL;
		makecontext(&th->ctx, il_entry, 0);
		th->hash = t + 1;
		il.nr_threads++;
	}
}

/* One run, by the choices of the prefix and then always the first. */
static void il_run_once(void)
{
	struct il_action acts[IL_THREADS * (IL_STORES + 1)];
	u32 nr;

	il.runs++;
	il_start();
	while ((nr = il_actions(acts)) > 0) {
		u32 d = il.depth;

		if (d == IL_DEPTH) {
			il.failed = "the scenario does not end";
			return;
		}
		if (d >= il.prefix) {
			il.choice[d] = 0;
			il.nr_choices[d] = nr;
		} else if (il.nr_choices[d] != nr) {
			il.failed = "the scenario is not deterministic";
			return;
		}
		il.trace[d] = acts[il.choice[d]];
		il.depth++;
		il_act(il.trace[d]);
		if (il.failed)
			return;
		if (il.depth >= il.prefix && il_seen(il_state()))
			return;
	}
	il.s->end();
}

/**
 * il_run() - explore a scenario completely
 *
 * Return: NULL, or what failed (printed with its schedule).
 */
static const char *il_run(const char *name, const struct il_scenario *s)
{
	u32 i;

	il.s = s;
	il.failed = NULL;
	il.prefix = 0;
	il.runs = 0;
	il.nr_seen = 0;
	il.cap_seen = 0;
	free(il.seen);
	il.seen = NULL;

	for (;;) {
		il_run_once();
		if (il.failed)
			break;
		while (il.depth && il.choice[il.depth - 1] + 1 ==
				      il.nr_choices[il.depth - 1])
			il.depth--;
		if (!il.depth)
			break;
		il.choice[il.depth - 1]++;
		il.prefix = il.depth;
	}

	printf("# %s: %zu states, %llu runs\n", name, il.nr_seen,
	       (unsigned long long)il.runs);
	if (il.failed) {
		printf("# %s\n# schedule (thread, or thread.store):", il.failed);
		for (i = 0; i < il.depth; i++)
			if (il.trace[i].store < 0)
				printf(" %d", il.trace[i].t);
			else
				printf(" %d.%d", il.trace[i].t, il.trace[i].store);
		printf("\n");
	}
	return il.failed;
}

#endif /* INTERLEAVE_H */
