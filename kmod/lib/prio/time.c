// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: how long a packet and its answer take, and how much is under way meanwhile.
 */
#include "lib/prio/table.h"
#include "lib/prio/time.h"

#define WHILE_SHIFT	31	/* 2.1 s */
#define RTT_SHIFT	10
#define VAIN_APART	125000ULL	/* ns between two repeats in vain */

/* @way: how long a packet and its answer may take */
static u64 peer_timeout(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u64 way,
			u32 tries)
{
	u64 timeout = max(ep->rule.rto_min, way + ep->rule.ack_delay);

	tries = max_t(u32, tries, peer->late);
	return min(timeout << min_t(u32, tries, MRPC_PRIO_MAX_TRIES), ep->rule.rto_max);
}

/* Returns the time that the latest round trips suggest (RFC 6298). */
static u64 peer_way(const struct mrpc_prio_peer *peer)
{
	return peer->srtt + 4 * peer->rttvar;
}

/* Returns the time after which to check whether something is lost. */
u64 mrpc_prio_rto(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries)
{
	return peer_timeout(ep, peer, peer_way(peer), tries);
}

/*
 * Adds up to half of @rto, by a number that differs between associations. A message that was lost
 * twice was perhaps lost together with those that others sent at that time.
 */
static u64 peer_apart(const struct mrpc_prio_peer *peer, u64 rto)
{
	return rto + (rto / 2 * (peer->local & 1023) >> 10);
}

/* As mrpc_prio_rto(), for what is in no line. */
u64 mrpc_prio_rto_apart(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries)
{
	u64 rto = mrpc_prio_rto(ep, peer, tries);

	return tries ? peer_apart(peer, rto) : rto;
}

/*
 * As mrpc_prio_rto(), for a message of @peer whose repeats are in vain. Repeats in vain are worth so
 * many packets a second. All hosts have equal shares of that: a host with many messages, or with
 * many ports, delays only its own.
 */
u64 mrpc_prio_rto_vain(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries,
		       const struct mrpc_prio_vain *vain)
{
	u64 share = (u64)vain->hosts * vain->messages[peer->host];

	return peer_apart(peer, max(mrpc_prio_rto(ep, peer, tries), share * VAIN_APART));
}

/* Counts a message of @peer whose repeats are @in_vain, or counts it no more. @counts: it does. */
void mrpc_prio_vain_count(struct mrpc_prio_vain *vain, const struct mrpc_prio_peer *peer,
			  bool *counts, bool in_vain)
{
	u32 *messages = &vain->messages[peer->host];

	if (in_vain == *counts)
		return;
	*counts = in_vain;
	if (in_vain)
		vain->hosts += !(*messages)++;
	else
		vain->hosts -= !--*messages;
}

/*
 * Returns the time after which something without any other sign of loss counts as lost. A queue
 * that others fill grows between two messages by more than their round trips show. So allow the
 * longest round trip of the last seconds, and a quarter more.
 */
u64 mrpc_prio_pto(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries)
{
	u64 longest = (u64)max(peer->rtt_max, peer->rtt_max_before) << RTT_SHIFT;

	return peer_timeout(ep, peer, max(peer_way(peer), longest + longest / 4), tries);
}

/*
 * Notes that a message got no answer in time, @tries times now. The answer to a repeated message
 * tells nothing about the round trip. So all messages wait longer, until an answer comes to one that
 * was sent only once (RFC 6298, 5.5). Messages that are late together count once.
 */
void mrpc_prio_peer_late(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 tries,
			 u64 now)
{
	if (tries <= peer->late && now < peer->late_until)
		return;
	peer->late = min_t(u32, max_t(u32, tries, peer->late + 1), MRPC_PRIO_MAX_TRIES);
	peer->late_until = now + mrpc_prio_rto(ep, peer, 0);
}

static void peer_longest(struct mrpc_prio_peer *peer, u64 sample, u64 now)
{
	u32 this = now >> WHILE_SHIFT;

	if (this != peer->rtt_while) {
		peer->rtt_max_before = this - peer->rtt_while == 1 ? peer->rtt_max : 0;
		peer->rtt_max = 0;
		peer->rtt_while = this;
	}
	peer->rtt_max = max_t(u32, peer->rtt_max, (sample >> RTT_SHIFT) + 1);
}

/* Updates the smoothed round trip as TCP does (RFC 6298). */
void mrpc_prio_peer_rtt(struct mrpc_prio_peer *peer, u64 sample, u64 now)
{
	u64 off = sample > peer->srtt ? sample - peer->srtt : peer->srtt - sample;

	peer->late = 0;
	/* Do not trust a clock that is off by minutes. */
	sample = min_t(u64, sample, 1ULL << 36);
	peer_longest(peer, sample, now);
	if (!peer->srtt) {
		peer->srtt = max_t(u64, sample, 1);
		peer->rttvar = sample / 2;
		return;
	}
	peer->rttvar = peer->rttvar - peer->rttvar / 4 + min_t(u64, off, 1ULL << 36) / 4;
	peer->srtt = peer->srtt - peer->srtt / 8 + sample / 8;
}

static u64 peer_round(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer)
{
	return peer->srtt ? peer->srtt : ep->rule.rto_min;
}

/* Cuts @scale once per round trip: packets under way were sent before the last cut. */
void mrpc_prio_peer_cut(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u16 *scale,
			u64 *last, u64 now)
{
	if (*scale < MRPC_PRIO_SCALE && now - *last < peer_round(ep, peer))
		return;
	*scale = max(*scale / 2, MRPC_PRIO_MIN_SCALE);
	*last = now;
}

void mrpc_prio_peer_grow(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u16 *scale,
			 u64 *last, u64 now)
{
	u64 round = peer_round(ep, peer), rounds;

	if (*scale >= MRPC_PRIO_SCALE)
		return;
	rounds = div64_u64(now - *last, round);
	*last += rounds * round;
	*scale = min_t(u64, *scale + rounds * (MRPC_PRIO_SCALE / 16), MRPC_PRIO_SCALE);
}

void mrpc_prio_peer_arm(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	u64 when = peer->nr_acks ? min(peer->ack_due, peer->beat) : peer->beat;

	if (when == U64_MAX)
		mrpc_wheel_stop(&ep->timers, &peer->timer);
	else
		mrpc_wheel_arm(&ep->timers, &peer->timer, when);
}
