/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much opportunistic work there may be beside production work that shall not notice:
 * the controller of tgs.bpf.c, without anything of BPF, so that a test can run it
 * against a model.
 *
 * It follows TGS (Wu et al., NSDI 2023, algorithm 1), which looks at nothing but the rate
 * at which production work arrives, and departs from it where that would go wrong:
 *
 * - the cap has a floor: what is multiplied never gets up from zero;
 * - production that is faster than expected is no error;
 * - what production does alone is learnt anew, with opportunistic work at the floor, when
 *   it starts, when it is a fifth faster, now and then, and when it stays slower although
 *   opportunistic work is at the floor: then that is not in its way, production wants less;
 * - the cap grows only while it is used: unused it says nothing.
 *
 * Production must wait for its answers (closed loop): a client that calls at a fixed rate does
 * not arrive more slowly. Rates are in calls per 1000 s.
 */
#ifndef TGS_H
#define TGS_H

#define TGS_UNIT	1000000000000ULL	/* ns in 1000 s */
#define TGS_LEARN	8	/* steps */
#define TGS_STUCK	10	/* steps at the floor, before it learns anew */
#define TGS_AGAIN	300	/* steps, before it learns anew in any case */
#define TGS_GONE	8	/* steps without production, before there is no cap */
#define TGS_STALLED	200	/* the same, when it has calls without an answer */

enum tgs_state { TGS_ALONE, TGS_LEARNS, TGS_SLOW_START, TGS_STEADY };

/**
 * struct tgs - the controller
 * @cap: opportunistic calls that may pass, per 1000 s; 0: there is no cap
 * @rate: of production, smoothed
 * @used: of opportunistic calls that pass, smoothed
 * @want: what @rate is when nothing is in its way
 * @state: enum tgs_state
 * @steps: learning, or at the floor
 * @gone: steps without production
 * @age: steps since it has learnt
 * @back: the cap to go on with when it has learnt; 0: it begins at the floor
 */
struct tgs {
	__u64 cap;
	__u64 rate;
	__u64 used;
	__u64 want;
	__u32 state;
	__u32 steps;
	__u32 gone;
	__u32 age;
	__u64 back;
};

static inline void tgs_learn(struct tgs *s, __u64 floor, __u64 back)
{
	s->cap = floor;
	s->back = back;
	s->state = TGS_LEARNS;
	s->steps = 0;
	s->age = 0;
}

static inline void tgs_learnt(struct tgs *s)
{
	s->state = s->back ? TGS_STEADY : TGS_SLOW_START;
	if (s->back)
		s->cap = s->back;
	s->steps = 0;
}

static inline void tgs_raise(struct tgs *s, __u64 cap)
{
	if (s->used >= s->cap / 2)
		s->cap = cap;
}

/* @lack: thousandths of @want that production is short of */
static inline void tgs_regulate(struct tgs *s, __u64 floor, __u32 lack)
{
	if (s->state == TGS_SLOW_START && lack < 30) {
		tgs_raise(s, s->cap + s->cap / 2);
	} else if (s->state == TGS_SLOW_START) {
		s->cap = s->cap * 2 / 3;
		s->state = TGS_STEADY;
	} else if (lack < 30) {
		tgs_raise(s, s->cap + s->want / 40);
	} else if (lack <= 90) {
		s->cap = s->cap * 92 / 100;
	} else {
		s->cap /= 10;
		s->state = TGS_SLOW_START;
	}
	if (s->cap > floor || lack < 30)
		s->steps = 0;
	else if (++s->steps == TGS_STUCK)
		tgs_learn(s, floor, 0);
	if (s->cap < floor)
		s->cap = floor;
}

static inline void tgs_compare(struct tgs *s, __u64 floor)
{
	__u64 want = s->want;

	if (++s->age == TGS_AGAIN || s->rate > want + want / 5) {
		tgs_learn(s, floor, s->cap * 9 / 10);
	} else if (s->rate >= want) {
		s->want += (s->rate - want) / 8;
		tgs_regulate(s, floor, 0);
	} else {
		tgs_regulate(s, floor, (want - s->rate) * 1000 / want);
	}
}

/**
 * tgs_step() - what happened in the last @ns, and what shall be
 * @s: the controller; all zero at first
 * @floor: of its cap, not 0
 * @ns: since the last step, not 0
 * @arrived: production calls
 * @busy: some of those before have no answer yet
 * @passed: opportunistic calls
 */
static inline void tgs_step(struct tgs *s, __u64 floor, __u64 ns, __u64 arrived, int busy,
			    __u64 passed)
{
	s->rate = (s->rate + arrived * TGS_UNIT / ns) / 2;
	s->used = (s->used + passed * TGS_UNIT / ns) / 2;
	s->gone = arrived ? 0 : s->gone + 1;
	if (s->state == TGS_ALONE) {
		if (arrived)
			tgs_learn(s, floor, 0);
	} else if (s->gone >= (busy ? TGS_STALLED : TGS_GONE)) {
		s->cap = 0;
		s->state = TGS_ALONE;
	} else if (s->state == TGS_LEARNS) {
		s->want = s->rate;
		if (++s->steps == TGS_LEARN)
			tgs_learnt(s);
	} else {
		tgs_compare(s, floor);
	}
}

#endif /* TGS_H */
