// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/calltable */
/*
 * The call tables against simple models, and against each other over a network
 * that loses, duplicates and reorders.
 */
#include "lib/message/calltable.h"
#include "rnd.h"
#include "tap.h"

/* Objects are recognised by their address. */
static char objects[1 << 20];

static void *object(u64 n)
{
	return &objects[n % sizeof(objects)];
}

/* -- each table by itself ------------------------------------------------- */

#define SLOTS	20

struct known {
	u64 id;
	void *call;
	enum mrpc_call_state state;
};

/* An id in use, one out of use, one never given, or one with a foreign slot. */
static u64 some_id(u64 *rnd, const struct known *k, u32 nr)
{
	u64 id = nr ? k[rnd_below(rnd, nr)].id : 0;

	switch (rnd_below(rnd, 8)) {
	case 0:
		return (u64)rnd_next(rnd) << 32 | rnd_next(rnd);
	case 1:
		return id + (1 << MRPC_CALL_SLOT_BITS);
	case 2:
		return id ^ rnd_below(rnd, 2 * SLOTS);
	case 3:
		return rnd_below(rnd, SLOTS);
	default:
		return id;
	}
}

TEST(calltable_random)
{
	static struct known known[4000];
	struct mrpc_call_slot *slots;
	struct mrpc_call_table t;
	u64 rnd = 1, id, last;
	u32 round, i, k, nr, pos;

	for (round = 0; round < 60; round++) {
		u32 size = rnd_below(&rnd, SLOTS + 1);
		u32 counts[3] = { 0 };

		slots = calloc(size ? size : 1, sizeof(*slots));
		CHECK(slots);
		mrpc_call_init(&t, slots, size);
		t.limit = rnd_below(&rnd, SLOTS + 1);
		size = min(size, t.limit);
		last = 0;
		nr = 0;
		for (i = 0; i < 4000; i++) {
			bool is_known = false;
			void *call;

			/* The latest ids, to have a good share in use. */
			u32 from = nr > 40 ? nr - 40 : 0;

			id = some_id(&rnd, known + from, nr - from);
			for (k = 0; k < nr && known[k].id != id; k++)
				;

			switch (rnd_below(&rnd, 4)) {
			case 0:
				call = object(i);
				id = mrpc_call_start(&t, call);
				CHECK_EQ(!!id, counts[MRPC_CALL_ACTIVE] +
					       counts[MRPC_CALL_ZOMBIE] < size);
				if (!id)
					break;
				CHECK(mrpc_call_seq(id) > mrpc_call_seq(last));
				CHECK(mrpc_call_slot(id) < size);
				for (k = 0; k < nr; k++)
					CHECK(known[k].state == MRPC_CALL_FREE ||
					      mrpc_call_slot(known[k].id) != mrpc_call_slot(id));
				known[nr++] = (struct known){ id, call, MRPC_CALL_ACTIVE };
				counts[MRPC_CALL_ACTIVE]++;
				last = id;
				break;
			case 1:
				call = mrpc_call_abandon(&t, id);
				if (k == nr || known[k].state != MRPC_CALL_ACTIVE) {
					CHECK(!call);
					break;
				}
				CHECK(call == known[k].call);
				known[k].state = MRPC_CALL_ZOMBIE;
				counts[MRPC_CALL_ACTIVE]--;
				counts[MRPC_CALL_ZOMBIE]++;
				break;
			case 2:
				call = mrpc_call_finish(&t, id, &is_known);
				CHECK_EQ(is_known, k < nr && known[k].state != MRPC_CALL_FREE);
				CHECK(call == (is_known && known[k].state == MRPC_CALL_ACTIVE ?
					       known[k].call : NULL));
				if (!is_known)
					break;
				counts[known[k].state]--;
				known[k].state = MRPC_CALL_FREE;
				break;
			default:
				call = k < nr && known[k].state == MRPC_CALL_ACTIVE ?
				       known[k].call : NULL;
				CHECK(mrpc_call_find(&t, id) == call);
				break;
			}
			CHECK_EQ(t.active, counts[MRPC_CALL_ACTIVE]);
			CHECK_EQ(t.zombies, counts[MRPC_CALL_ZOMBIE]);

			if (i % 16)
				continue;
			for (k = 0, pos = 0; (id = mrpc_call_next(&t, &pos)); k++) {
				CHECK(mrpc_call_find(&t, id));
				CHECK_EQ(pos, mrpc_call_slot(id) + 1);
			}
			CHECK_EQ(k, counts[MRPC_CALL_ACTIVE]);
		}
		free(slots);
	}
}

TEST(calltable_sequence_ends)
{
	struct mrpc_call_slot slots[2] = { 0 };
	struct mrpc_call_table t;

	mrpc_call_init(&t, slots, 2);
	t.seq = (1ULL << 48) - 2;
	CHECK_EQ(mrpc_call_seq(mrpc_call_start(&t, object(1))), (1ULL << 48) - 1);
	CHECK_EQ(mrpc_call_start(&t, object(2)), 0);
}

/* What is in a table stays there when it grows, and so do ids that were used. */
TEST(tables_grow)
{
	struct mrpc_call_slot *slots = calloc(2, sizeof(*slots)), *more = calloc(5, sizeof(*more));
	struct mrpc_serve_slot *serve = calloc(2, sizeof(*serve));
	struct mrpc_serve_slot *more_serve = calloc(5, sizeof(*more_serve));
	struct mrpc_serve_table st;
	struct mrpc_call_table t;
	u64 ids[5];
	bool known;
	u32 i;

	CHECK(slots && more && serve && more_serve);
	mrpc_call_init(&t, slots, 2);
	mrpc_serve_init(&st, serve, 2);
	t.limit = 4;
	st.limit = 4;
	for (i = 0; i < 2; i++) {
		ids[i] = mrpc_call_start(&t, object(i));
		CHECK_EQ(mrpc_serve_start(&st, ids[i], object(i)), 0);
	}
	CHECK(mrpc_call_finish(&t, ids[0], &known) == object(0));
	CHECK(mrpc_serve_end(&st, ids[0]) == object(0));
	ids[0] = mrpc_call_start(&t, object(0));
	CHECK_EQ(mrpc_serve_start(&st, ids[0], object(0)), 0);
	CHECK_EQ(mrpc_call_start(&t, object(2)), 0);
	CHECK_EQ(mrpc_serve_start(&st, 1 << MRPC_CALL_SLOT_BITS | 2, object(2)), -ERANGE);
	CHECK(mrpc_call_grow(&t, more, 5) == slots);
	CHECK(mrpc_serve_grow(&st, more_serve, 5) == serve);
	free(slots);
	free(serve);
	for (i = 2; i < 4; i++) {
		ids[i] = mrpc_call_start(&t, object(i));
		CHECK_EQ(mrpc_call_slot(ids[i]), i);
		CHECK_EQ(mrpc_serve_start(&st, ids[i], object(i)), 0);
	}
	/* There is a slot, but no leave to use it. */
	CHECK_EQ(mrpc_call_start(&t, object(4)), 0);
	for (i = 0; i < 4; i++) {
		CHECK(mrpc_call_find(&t, ids[i]) == object(i));
		CHECK(mrpc_serve_end(&st, ids[i]) == object(i));
		CHECK_EQ(mrpc_serve_start(&st, ids[i], object(i)), -EALREADY);
		CHECK(mrpc_call_finish(&t, ids[i], &known) == object(i));
	}
	CHECK_EQ(t.active, 0);
	CHECK_EQ(st.active, 0);
	free(more);
	free(more_serve);
}

TEST(calltable_largest)
{
	struct mrpc_call_slot *slots = calloc(MRPC_CALL_MAX_SLOTS, sizeof(*slots));
	struct mrpc_serve_slot *serve = calloc(MRPC_CALL_MAX_SLOTS, sizeof(*serve));
	struct mrpc_serve_table st;
	struct mrpc_call_table t;
	u64 id = 0;
	bool known;
	u32 i;

	CHECK(slots && serve);
	mrpc_call_init(&t, slots, U32_MAX);
	mrpc_serve_init(&st, serve, U32_MAX);
	for (i = 0; i < MRPC_CALL_MAX_SLOTS; i++) {
		id = mrpc_call_start(&t, object(i));
		CHECK_EQ(mrpc_call_slot(id), i);
		CHECK_EQ(mrpc_serve_start(&st, id, object(i)), 0);
	}
	CHECK_EQ(mrpc_call_start(&t, object(i)), 0);
	CHECK_EQ(st.active, MRPC_CALL_MAX_SLOTS);
	CHECK(mrpc_call_finish(&t, id, &known) == object(i - 1));
	CHECK(mrpc_serve_end(&st, id) == object(i - 1));
	CHECK_EQ(mrpc_call_slot(mrpc_call_start(&t, object(0))), i - 1);
	free(slots);
	free(serve);
}

/* A peer that sends whatever it likes. */
TEST(servetable_random)
{
	struct known seen[SLOTS];
	struct mrpc_serve_slot *slots;
	struct mrpc_serve_table t;
	u64 rnd = 2, id;
	u32 round, i, k, nr, pos, active;
	int ret, expect;

	for (round = 0; round < 60; round++) {
		nr = rnd_below(&rnd, SLOTS) + 1;
		slots = calloc(nr, sizeof(*slots));
		CHECK(slots);
		mrpc_serve_init(&t, slots, nr);
		memset(seen, 0, sizeof(seen));
		for (k = 0; k < nr; k++)
			seen[k].id = k;
		active = 0;
		for (i = 0; i < 4000; i++) {
			struct known *s;
			void *call;

			id = some_id(&rnd, seen, nr);
			k = mrpc_call_slot(id);
			s = k < nr ? &seen[k] : NULL;
			call = s && s->id == id ? s->call : NULL;

			switch (rnd_below(&rnd, 3)) {
			case 0:
				expect = !s ? -ERANGE : id <= s->id ? -EALREADY :
					 s->call ? -EBUSY : 0;
				ret = mrpc_serve_start(&t, id, object(i));
				CHECK_EQ(ret, expect);
				if (ret)
					break;
				s->id = id;
				s->call = object(i);
				active++;
				break;
			case 1:
				CHECK(mrpc_serve_end(&t, id) == call);
				if (!call)
					break;
				s->call = NULL;
				active--;
				break;
			default:
				CHECK(mrpc_serve_find(&t, id) == call);
				break;
			}
			CHECK_EQ(t.active, active);

			if (i % 16)
				continue;
			for (k = 0, pos = 0; (id = mrpc_serve_next(&t, &pos)); k++) {
				CHECK(mrpc_serve_find(&t, id));
				CHECK_EQ(pos, mrpc_call_slot(id) + 1);
			}
			CHECK_EQ(k, active);
		}
		free(slots);
	}
}

/* -- both, over a bad network --------------------------------------------- */

#define CALLS	3000
#define PACKETS	4000

enum packet_type {
	CALL,
	CANCEL,
	REPLY,
};

/*
 * A message on its way. One that was never delivered is sent again until it is,
 * as a transport does; one that was may come again at any later time.
 */
struct packet {
	enum packet_type type;
	u64 id;
	bool delivered;
};

struct sim_call {
	u64 id;
	u32 runs;		/* at the server */
	u32 replies;		/* made by the server */
	u32 completions;	/* at the caller */
	bool cancelled;
	bool active;
};

static struct {
	u64 rnd;
	struct mrpc_call_slot slots[SLOTS];
	struct mrpc_serve_slot serve_slots[SLOTS];
	struct mrpc_call_table ct;
	struct mrpc_serve_table st;
	struct packet net[PACKETS];
	u32 nr_net;
	struct sim_call calls[CALLS];
	u32 nr_calls;
	u32 duplicates;
	u32 late_cancels;
	u32 early_cancels;
	u32 aborted;
} sim;

static void sim_send(enum packet_type type, u64 id)
{
	u32 i = sim.nr_net;

	/* No room: the oldest echo, of what was delivered long ago, fades away. */
	if (i == PACKETS) {
		do
			i = rnd_below(&sim.rnd, PACKETS);
		while (!sim.net[i].delivered);
	} else {
		sim.nr_net++;
	}
	sim.net[i] = (struct packet){ .type = type, .id = id };
}

static struct sim_call *sim_call(u64 id)
{
	struct sim_call *c = mrpc_call_seq(id) ? &sim.calls[mrpc_call_seq(id) - 1] : NULL;

	CHECK(c && c->id == id);
	return c;
}

static void sim_complete(void *call)
{
	struct sim_call *c = call;

	CHECK(c->active);
	c->active = false;
	c->completions++;
}

static void sim_start(void)
{
	struct sim_call *c = &sim.calls[sim.nr_calls];
	u32 busy = sim.ct.active + sim.ct.zombies;

	if (sim.nr_calls == CALLS)
		return;
	c->id = mrpc_call_start(&sim.ct, c);
	CHECK_EQ(!!c->id, busy < sim.ct.limit);
	if (!c->id)
		return;
	sim.nr_calls++;
	c->active = true;
	sim_send(CALL, c->id);
}

/* The transport gives a CALL up: from now on it need not arrive, but may. */
static void sim_abort(u64 id)
{
	u32 i;

	for (i = 0; i < sim.nr_net; i++) {
		struct packet *p = &sim.net[i];

		if (p->type != CALL || p->id != id || p->delivered)
			continue;
		p->delivered = true;
		sim.aborted++;
	}
}

/* Deadline or cancel at the caller; often for calls that are long over. */
static void sim_abandon(void)
{
	struct sim_call *c;
	void *call;

	if (!sim.nr_calls)
		return;
	c = &sim.calls[sim.nr_calls - 1 - rnd_below(&sim.rnd, min(sim.nr_calls, 2U * SLOTS))];
	call = mrpc_call_abandon(&sim.ct, c->id);
	CHECK_EQ(!!call, c->active);
	if (!call)
		return;
	CHECK(call == c);
	sim_complete(call);
	if (rnd_below(&sim.rnd, 2))
		sim_abort(c->id);
	sim_send(CANCEL, c->id);
}

/* The serving application answers one of its requests. */
static void sim_reply(void)
{
	u32 pos = rnd_below(&sim.rnd, SLOTS);
	u64 id = mrpc_serve_next(&sim.st, &pos);
	struct sim_call *c;

	if (!id)
		return;
	c = mrpc_serve_end(&sim.st, id);
	CHECK(c && c->id == id);
	CHECK(!mrpc_serve_end(&sim.st, id));
	c->replies++;
	sim_send(REPLY, id);
}

static void server_receives(const struct packet *p)
{
	struct sim_call *c = sim_call(p->id);
	int ret = mrpc_serve_start(&sim.st, p->id, c);

	/* The caller keeps the rules. */
	CHECK(ret == 0 || ret == -EALREADY);
	if (p->type == CALL) {
		if (ret)
			sim.duplicates++;
		else
			c->runs++;
		return;
	}
	/* A cancel that overtakes its call takes its place: the call is then a duplicate. */
	if (!ret)
		sim.early_cancels++;
	else
		sim.late_cancels++;
	if (mrpc_serve_end(&sim.st, p->id)) {
		c->cancelled = true;
		c->replies++;
		sim_send(REPLY, p->id);
	}
}

static void caller_receives(const struct packet *p)
{
	struct sim_call *c = sim_call(p->id);
	bool known, first = !p->delivered;
	void *call = mrpc_call_finish(&sim.ct, p->id, &known);

	CHECK_EQ(known, first);
	if (!known)
		sim.duplicates++;
	CHECK(!call || call == c);
	if (call)
		sim_complete(call);
}

static void sim_deliver(void)
{
	struct packet *p, copy;

	if (!sim.nr_net)
		return;
	/* Mostly the newest, which is what moves things on; else any. */
	p = &sim.net[rnd_below(&sim.rnd, 2) ? rnd_below(&sim.rnd, sim.nr_net) :
		     sim.nr_net - 1 - rnd_below(&sim.rnd, min(sim.nr_net, 2U * SLOTS))];
	if (!rnd_below(&sim.rnd, 4))
		return;		/* lost, this time */
	copy = *p;
	p->delivered = true;
	if (copy.type == REPLY)
		caller_receives(&copy);
	else
		server_receives(&copy);
}

/* What is on its way arrives, what is served is answered. */
static void sim_drain(void)
{
	bool more;
	u32 i;

	do {
		more = sim.st.active;
		while (sim.st.active)
			sim_reply();
		for (i = 0; i < sim.nr_net; i++) {
			struct packet p = sim.net[i];

			sim.net[i].delivered = true;
			if (p.delivered)
				continue;
			more = true;
			if (p.type == REPLY)
				caller_receives(&p);
			else
				server_receives(&p);
		}
	} while (more);
}

static void sim_run(u32 seed, u32 caller_slots, u32 server_slots, bool dies)
{
	u32 steps, i, pos = 0;
	bool known;
	u64 id;

	memset(&sim, 0, sizeof(sim));
	sim.rnd = seed;
	mrpc_call_init(&sim.ct, sim.slots, caller_slots);
	mrpc_serve_init(&sim.st, sim.serve_slots, server_slots);
	sim.ct.limit = min(caller_slots, server_slots);

	steps = dies ? rnd_below(&sim.rnd, 20000) : 60000;
	for (i = 0; i < steps; i++) {
		switch (rnd_below(&sim.rnd, 8)) {
		case 0:
		case 1:
			sim_start();
			break;
		case 2:
			if (!rnd_below(&sim.rnd, 3))
				sim_abandon();
			break;
		case 3:
			sim_reply();
			break;
		default:
			sim_deliver();
			break;
		}
	}

	if (dies) {
		while ((id = mrpc_call_next(&sim.ct, &pos))) {
			void *call = mrpc_call_finish(&sim.ct, id, &known);

			CHECK(call && known);
			sim_complete(call);
		}
	} else {
		sim_drain();
		CHECK_EQ(sim.ct.zombies, 0);
		CHECK_EQ(sim.st.active, 0);
		for (i = 0; i < sim.ct.limit; i++)
			CHECK(mrpc_call_start(&sim.ct, object(i)));
		CHECK_EQ(mrpc_call_start(&sim.ct, object(i)), 0);
		sim.ct.active -= i;
	}
	CHECK_EQ(sim.ct.active, 0);

	for (i = 0; i < sim.nr_calls; i++) {
		const struct sim_call *c = &sim.calls[i];

		CHECK_EQ(c->completions, 1);
		CHECK(c->runs <= 1);
		CHECK(c->replies <= 1);
		if (!dies) {
			CHECK_EQ(c->replies, 1);
			CHECK(c->runs || c->cancelled);
		}
	}
}

TEST(calltable_bad_network)
{
	u32 seed, duplicates = 0, early = 0, late = 0, aborted = 0;

	for (seed = 1; seed <= 40; seed++) {
		sim_run(seed, 1 + seed % SLOTS, 1 + seed * 7 % SLOTS, false);
		CHECK(sim.nr_calls > 100);
		duplicates += sim.duplicates;
		early += sim.early_cancels;
		late += sim.late_cancels;
		aborted += sim.aborted;
	}
	/* The simulation did what it is for. */
	CHECK(duplicates > 10000);
	CHECK(early > 100);
	CHECK(late > 100);
	CHECK(aborted > 100);
}

TEST(calltable_connection_dies)
{
	u32 seed;

	for (seed = 1; seed <= 200; seed++)
		sim_run(seed, 1 + seed % SLOTS, 1 + seed * 7 % SLOTS, true);
}
