// SPDX-License-Identifier: GPL-2.0
/*
 * Choosing among replicas: see balance.h for what is promised.
 */
#include "lib/balance.h"
#include "lib/ds/siphash.h"

#define LOG_BITS	24	/* of the fraction of a logarithm */

/* All hosts use the same, so that they decide alike. */
static const u64 member_salt[2] = { 0x6d7270632d6c6230ULL, 0x7265706c69636173ULL };

u64 mrpc_member_key(const void *name, size_t len)
{
	return mrpc_siphash(name, len, member_salt);
}

/* -- health ------------------------------------------------------------------- */

void mrpc_member_give(struct mrpc_member *m)
{
	if (m->state == MRPC_MEMBER_EJECTED)
		m->state = MRPC_MEMBER_TRIAL;
	m->outstanding++;
	m->picks++;
}

void mrpc_member_take_back(struct mrpc_member *m)
{
	m->outstanding--;
}

void mrpc_member_good(struct mrpc_member *m)
{
	m->outstanding--;
	m->bad = 0;
	/* What was sent before the ejection says nothing of what came after it. */
	if (m->state == MRPC_MEMBER_EJECTED)
		return;
	m->ejections = 0;
	m->state = MRPC_MEMBER_OK;
}

static void member_eject(const struct mrpc_balance *b, struct mrpc_member *m, u64 now)
{
	m->state = MRPC_MEMBER_EJECTED;
	m->until = now + (b->backoff << min_t(u32, m->ejections, MRPC_BALANCE_DOUBLINGS));
	m->ejections++;
	m->bad = 0;
}

void mrpc_member_bad(const struct mrpc_balance *b, struct mrpc_member *m, u64 now)
{
	m->outstanding--;
	m->failures++;
	m->bad++;
	if (m->state == MRPC_MEMBER_EJECTED)
		return;
	if (m->state == MRPC_MEMBER_TRIAL || m->bad >= b->max_bad)
		member_eject(b, m, now);
	else
		m->state = MRPC_MEMBER_SUSPECT;
}

void mrpc_member_took(struct mrpc_member *m, u64 ns)
{
	ns = max_t(u64, ns, 1);
	if (!m->latency)
		m->latency = ns;
	else if (ns >= m->latency)
		m->latency += (ns - m->latency) / 8;
	else
		m->latency -= (m->latency - ns) / 8;
}

void mrpc_member_up(struct mrpc_member *m)
{
	m->linked = true;
	m->state = m->state == MRPC_MEMBER_NEW ? MRPC_MEMBER_OK : MRPC_MEMBER_TRIAL;
}

void mrpc_member_down(const struct mrpc_balance *b, struct mrpc_member *m, u64 now)
{
	bool same = m->linked && m->state == MRPC_MEMBER_EJECTED && now < m->until;

	m->linked = false;
	m->failures++;
	if (!same)	/* else its calls have told of it already */
		member_eject(b, m, now);
}

bool mrpc_member_fit(const struct mrpc_member *m, u64 now)
{
	if (!m->linked || !m->weight)
		return false;
	switch (m->state) {
	case MRPC_MEMBER_EJECTED:
		return now >= m->until && !m->outstanding;
	case MRPC_MEMBER_TRIAL:
		return !m->outstanding;
	default:
		return true;
	}
}

bool mrpc_balance_hope(const struct mrpc_balance *b)
{
	const struct mrpc_member *m;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		m = b->members[i];
		if (m->weight && (m->state == MRPC_MEMBER_NEW ||
				  (m->linked && m->state == MRPC_MEMBER_TRIAL)))
			return true;
	}
	return false;
}

u64 mrpc_balance_due(const struct mrpc_balance *b, u64 now)
{
	const struct mrpc_member *m;
	u64 due = 0;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		m = b->members[i];
		if (m->weight && m->linked && m->state == MRPC_MEMBER_EJECTED &&
		    m->until > now && (!due || m->until < due))
			due = m->until;
	}
	return due;
}

/* -- policies ------------------------------------------------------------------- */

/* Of the members in @among, whose turn it is. There is one. */
static int pick_in_turn(struct mrpc_balance *b, u32 among)
{
	struct mrpc_member *m;
	int best = -1;
	s64 total = 0;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		if (!(among & BIT(i)))
			continue;
		m = b->members[i];
		m->owed += m->weight;
		total += m->weight;
		if (best < 0 || m->owed > b->members[best]->owed)
			best = i;
	}
	b->members[best]->owed -= total;
	return best;
}

/* Of the members in @among, those with the fewest calls for their weight. */
static u32 least_of(const struct mrpc_balance *b, u32 among)
{
	const struct mrpc_member *m, *least = NULL;
	u32 found = 0, i;
	u64 mine, its;

	for (i = 0; i < b->nr; i++) {
		if (!(among & BIT(i)))
			continue;
		m = b->members[i];
		mine = least ? ((u64)m->outstanding + 1) * least->weight : 0;
		its = least ? ((u64)least->outstanding + 1) * m->weight : 1;
		if (mine < its) {
			least = m;
			found = 0;
		}
		if (mine <= its)
			found |= BIT(i);
	}
	return found;
}

/*
 * -log2 of @draw / 2^64, with LOG_BITS bits of fraction: by squaring, one bit
 * after the other. @draw is not 0.
 */
static u64 minus_log2(u64 draw)
{
	u32 whole = fls64(draw) - 1, bit;
	u64 x = (whole > 31 ? draw >> (whole - 31) : draw << (31 - whole)), log = whole;

	for (bit = 0; bit < LOG_BITS; bit++) {
		x = x * x >> 31;	/* in [1, 2) with 31 bits of fraction, squared */
		log <<= 1;
		if (x >> 32) {
			x >>= 1;
			log |= 1;
		}
	}
	return (64ULL << LOG_BITS) - log;
}

/* The smallest -log(draw) / weight: exponentially distributed, with the weight as rate. */
static int pick_by_key(const struct mrpc_balance *b, u32 among, u64 key)
{
	u64 pair[2] = { key }, log, best_log = 0;
	int best = -1;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		if (!(among & BIT(i)))
			continue;
		pair[1] = b->members[i]->key;
		log = minus_log2(mrpc_siphash(pair, sizeof(pair), member_salt) | 1);
		if (best < 0 || log * b->members[best]->weight <
				best_log * b->members[i]->weight) {
			best = i;
			best_log = log;
		}
	}
	return best;
}

int mrpc_balance_pick(struct mrpc_balance *b, u64 now, u32 skip, bool keyed, u64 key)
{
	u32 among = 0, i;

	for (i = 0; i < b->nr; i++)
		if (!(skip & BIT(i)) && mrpc_member_fit(b->members[i], now))
			among |= BIT(i);
	if (!among)
		return -1;
	if (b->policy == MRPC_BALANCE_HASH && keyed)
		return pick_by_key(b, among, key);
	if (b->policy == MRPC_BALANCE_LEAST)
		among = least_of(b, among);
	return pick_in_turn(b, among);
}

void mrpc_balance_spin(struct mrpc_balance *b, u32 seed)
{
	u32 among = 0, total = 0, i;

	for (i = 0; i < b->nr; i++) {
		if (b->members[i]->weight)
			among |= BIT(i);
		total += b->members[i]->weight;
	}
	if (!among)
		return;
	for (seed %= total; seed; seed--)
		pick_in_turn(b, among);
}
