// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: the pump, which does the protocol's work.
 *
 * One context at a time pumps. It is a context that submits a message, or the softirq work after
 * packets came, the timer fired, or packets have left the device. Other contexts leave a note. The
 * pump makes and sends packets without the lock, but with bottom halves off. So a pumping context
 * must finish soon. If work is left again and again, for longer than a softirq may hold a
 * processor, a thread goes on, which the scheduler runs beside others.
 *
 * A chunk is sent only while at most one chunk is below, in the queueing discipline and the device.
 * No message can overtake what is there.
 */
#include <linux/delay.h>
#include <net/sock.h>

#include "core/rpc.h"
#include "lib/prio/prio.h"
#include "lib/prio/wire.h"
#include "transports/prio/egress.h"
#include "transports/prio/out.h"
#include "transports/prio/packet.h"
#include "transports/prio/peers.h"
#include "transports/prio/pump.h"

#define PRIO_ROUNDS	32	/* packets before other work has a turn */
#define PRIO_RETRY	NSEC_PER_MSEC	/* without memory for a packet */
#define PRIO_SHARE	2	/* jiffies of softirqs in a row */
#define PRIO_THREAD	16	/* jiffies that the thread stays at least */
#define PRIO_STUCK	(100 * NSEC_PER_MSEC)	/* packets that do not move then block no others */

static void prio_pump_work(struct work_struct *work)
{
	prio_pump_run(container_of(work, struct prio_host, pump));
}

static void prio_pump_thread(struct work_struct *work)
{
	prio_pump_run(container_of(work, struct prio_host, thread));
}

static enum hrtimer_restart prio_pump_timer(struct hrtimer *timer)
{
	struct prio_host *host = container_of(timer, struct prio_host, timer);

	WRITE_ONCE(host->timer_due, true);
	prio_pump_softirq(host);	/* arms it again, if it is needed */
	return HRTIMER_NORESTART;
}

/* prio_pump_init() - initialise the pump of a new host */
void prio_pump_init(struct prio_host *host)
{
	host->timer_at = U64_MAX;
	INIT_WORK(&host->pump, prio_pump_work);
	INIT_WORK(&host->thread, prio_pump_thread);
	hrtimer_init(&host->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	host->timer.function = prio_pump_timer;
}

/* Ends a turn and decides where the next one runs. @more: work is left */
static void prio_pump_share(struct prio_host *host, bool more)
{
	if (more && !host->more && !host->threaded)
		host->busy = jiffies;
	else if (more && !host->threaded && time_after(jiffies, host->busy + PRIO_SHARE))
		WRITE_ONCE(host->threaded, true);
	else if (!more && host->threaded && time_after(jiffies, host->busy + PRIO_THREAD))
		WRITE_ONCE(host->threaded, false);
	host->more = more;
}

/* -- packets: of the context that pumps ---------------------------------------------------- */

static void prio_pump_answers(struct prio_host *host, int *budget)
	__must_hold(&host->lock)
{
	struct dst_entry *dst;
	struct prio_path path;
	struct sk_buff *skb;

	while (*budget > 0 && (skb = __skb_dequeue(&host->answers))) {
		--*budget;
		spin_unlock(&host->lock);
		memcpy(&path, skb->cb, sizeof(path));
		dst = prio_path_route(host, &path);
		if (dst)
			prio_packet_send(skb, &path, dst, 0, MRPC_PRIO_CONTROL_CLASS);
		else
			kfree_skb(skb);
		spin_lock(&host->lock);
	}
}

static void prio_pump_control(struct prio_host *host, struct prio_peer *peer, u32 len)
{
	struct dst_entry *dst = prio_peer_route(host, peer);
	struct sk_buff *skb;

	if (!dst)
		return;
	skb = prio_packet_new(host->control, len, MRPC_PRIO_CONTROL_CLASS);
	if (!skb) {	/* the same as a lost packet */
		dst_release(dst);
		return;
	}
	if (mrpc_prio_has_crc(host->says))
		mrpc_prio_set_crc(host->says, ~mrpc_checksum(MRPC_CHECKSUM_INIT, host->says, len));
	prio_packet_put(skb, 0, host->says, len);
	prio_packet_send(skb, &peer->path, dst, 0, MRPC_PRIO_CONTROL_CLASS);
}

/* Sends packets without payload. Return: the time afterwards. */
static u64 prio_pump_controls(struct prio_host *host, u64 now, int *budget)
	__must_hold(&host->lock)
{
	struct mrpc_prio_peer *peer;
	u32 len;

	while (*budget > 0 && (len = mrpc_prio_control_next(&host->ep, now, host->says,
					     sizeof(host->says), &peer))) {
		--*budget;
		host->told = prio_peer_of(peer);
		spin_unlock(&host->lock);
		prio_pump_control(host, host->told, len);
		spin_lock(&host->lock);
		host->told = NULL;
		now = ktime_get_ns();	/* others may have had the lock */
	}
	return now;
}

/*
 * Bytes below. If they do not get less for long, they do not wait for the device: packets to a
 * neighbour that does not answer wait for seconds. Other packets must not wait for them, so these
 * bytes no longer count.
 *
 * If they leave after all, others are sent behind them, and the count does not show it. So from
 * then on the other socket owns new packets, as soon as it has no old ones left.
 */
static u32 prio_below(struct prio_host *host)
{
	u32 below = sk_wmem_alloc_get(host->owner->sk);

	host->stuck = min(host->stuck, below);
	if (host->stuck && !sk_wmem_alloc_get(host->other->sk)) {
		swap(host->owner, host->other);
		host->stuck = 0;
		return 0;
	}
	return below - host->stuck;
}

static bool prio_room(struct prio_host *host)
{
	u32 chunk = READ_ONCE(host->ep.rule.chunk);

	return prio_below(host) <= SKB_TRUESIZE(chunk + chunk / 8);
}

/* Is at most one chunk below? If not, write_space will kick. */
static bool prio_pump_room(struct prio_host *host, u64 now)
{
	if (prio_room(host)) {
		host->full_since = 0;
		return true;
	}
	WRITE_ONCE(host->wants_room, true);
	smp_mb();	/* before the second look; pairs with prio_write_space() */
	if (prio_room(host)) {
		WRITE_ONCE(host->wants_room, false);
		host->full_since = 0;
		return true;
	}
	if (!host->full_since || prio_below(host) != host->full_with) {
		host->full_since = now;
		host->full_with = prio_below(host);
	} else if (now - host->full_since >= PRIO_STUCK) {
		host->stuck += host->full_with;
		host->full_since = 0;
		return true;
	}
	return false;
}

/*
 * Sends data. What domains have granted is sent whatever is below: the domains limit that.
 * Return: false: there is no memory for packets.
 */
static bool prio_pump_data(struct prio_host *host, u64 now, int *budget)
	__must_hold(&host->lock)
{
	struct mrpc_prio_chunk *chunks = host->chunks;
	u32 size, nr, i;
	bool room, turn;
	int sent;

	WRITE_ONCE(host->wants_room, false);
	if (!mrpc_prio_tx_best(&host->ep))
		host->full_since = 0;
	for (;;) {
		room = mrpc_prio_tx_best(&host->ep) && prio_pump_room(host, now);
		if (!room && !prio_egress_waits(host, now))
			return true;
		if (--*budget < 0)
			return true;
		turn = prio_egress_turn(host, now, room, chunks, budget);
		if (!turn && !(room && mrpc_prio_tx_next(&host->ep, now, chunks)))
			continue;
		nr = turn ? 1 : mrpc_prio_tx_more(&host->ep, now, chunks, PRIO_TOGETHER);
		spin_unlock(&host->lock);
		sent = prio_out_chunks(host, chunks, nr, turn ? host->gated : host->owner, &size);
		spin_lock(&host->lock);
		now = ktime_get_ns();	/* others may have had the lock */
		for (i = 0; i < nr; i++)
			mrpc_prio_tx_sent(&host->ep, &chunks[i],
					  i && sent >= 0 ? chunks[i].len : max(sent, 0), sent >= 0,
					  now);
		if (turn)
			prio_egress_sent(host, chunks->tx, size ? sent : 0, size);
		for (i = 0; i < nr; i++)
			prio_out_sent(chunks[i].tx);
		if (sent < 0) {
			host->starved_until = now + PRIO_RETRY;
			return false;
		}
	}
}

/* Arms the timer. @late: more timers are due; the next pumping context handles them. */
static void prio_pump_arm(struct prio_host *host, bool late, bool starved)
{
	u64 at = late ? U64_MAX : mrpc_prio_deadline(&host->ep);

	/* The context that was kicked for the timer came while this one pumped, or will come. */
	if (READ_ONCE(host->timer_due)) {
		WRITE_ONCE(host->timer_due, false);
		host->timer_at = U64_MAX;
	}
	if (starved)
		at = min(at, ktime_get_ns() + PRIO_RETRY);
	if (host->full_since)
		at = min(at, host->full_since + PRIO_STUCK);
	/* A turn that was put off for lack of memory has no other event to wake it. */
	if (!list_empty_careful(&host->sender.turns))
		/* Not in the past: the timer's softirq would run it again, and not end. */
		at = min(at, max(host->starved_until, ktime_get_ns() + NSEC_PER_USEC));
	if (at >= host->timer_at)
		return;
	host->timer_at = at;
	hrtimer_start(&host->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/**
 * prio_pump_run() - do the protocol's work, unless another context does
 * @host: the host; a port, and so its user, keeps it
 *
 * Context: any but hard interrupt, no lock.
 */
void prio_pump_run(struct prio_host *host)
{
	/* Separate budgets: packets without payload must not keep data from leaving. */
	int budget = PRIO_ROUNDS, tell = PRIO_ROUNDS, strangers = PRIO_ROUNDS / 4;
	bool fine = true, late, more;
	u64 now;

	spin_lock_bh(&host->lock);
	host->again = true;
	if (host->pumping) {
		spin_unlock_bh(&host->lock);
		return;
	}
	host->pumping = true;
	do {
		host->again = false;
		prio_pump_answers(host, &strangers);
		now = ktime_get_ns();
		late = mrpc_prio_timeout(&host->ep, now);
		prio_settle(host);
		now = prio_pump_controls(host, now, &tell);
		fine = prio_pump_data(host, now, &budget);
		host->again |= budget <= 0 || tell <= 0;
	} while (host->again && budget > 0 && tell > 0 && fine && !late);
	prio_pump_arm(host, late, !fine);
	host->pumping = false;
	more = late || ((host->again || !skb_queue_empty(&host->answers)) && fine);
	prio_pump_share(host, more);
	if (more)
		prio_pump_kick(host);
	prio_unlock(host);
}

/**
 * prio_pump_softirq() - prio_pump_run() in softirq, unless a thread pumps
 * @host: the host
 */
void prio_pump_softirq(struct prio_host *host)
{
	if (READ_ONCE(host->threaded))
		prio_pump_kick(host);
	else
		prio_pump_run(host);
}

/**
 * prio_pump_stop() - wait for the pump to end, and keep all contexts from pumping
 * @host: the host, about to be freed
 *
 * Context: process; may sleep.
 */
void prio_pump_stop(struct prio_host *host)
{
	bool busy;

	do {
		spin_lock_bh(&host->lock);
		busy = host->pumping;
		host->pumping = true;
		spin_unlock_bh(&host->lock);
		if (busy)
			usleep_range(20, 100);
	} while (busy);
}
