// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: incoming UDP datagrams.
 *
 * Datagrams that came as segments of one packet are handled together. Each segment has a header.
 */
#include <linux/errqueue.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/sizes.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/udp.h>

#include "core/rpc.h"
#include "lib/prio/prio.h"
#include "lib/prio/wire.h"
#include "transports/prio/in.h"
#include "transports/prio/links.h"
#include "transports/prio/packet.h"
#include "transports/prio/peers.h"
#include "transports/prio/pump.h"
#include "transports/prio/receive.h"

#define PRIO_ANSWERS	256	/* answers to strangers that wait to be sent */
#define PRIO_ANSWERED	SZ_512K	/* memory of packets without payload below that stops answers */
/* The address that a cookie is valid for. */
struct prio_address {
	struct in6_addr remote;
	__be16 rport;
	__be16 lport;
	u32 scope;
	u32 family;
};

static_assert(sizeof(struct prio_address) <= MRPC_PRIO_MAX_ADDR);

/* Gets the addresses of a packet. */
static void prio_path_of(const struct sk_buff *skb, struct prio_path *path)
{
	const struct udphdr *uh = udp_hdr(skb);

	memset(path, 0, sizeof(*path));
	path->lport = uh->dest;
	path->rport = uh->source;
	if (skb->protocol == htons(ETH_P_IP)) {
		path->family = AF_INET;
		path->local.s6_addr32[0] = ip_hdr(skb)->daddr;
		path->remote.s6_addr32[0] = ip_hdr(skb)->saddr;
		return;
	}
	path->family = AF_INET6;
	path->local = ipv6_hdr(skb)->daddr;
	path->remote = ipv6_hdr(skb)->saddr;
	if (ipv6_addr_type(&path->remote) & IPV6_ADDR_LINKLOCAL)
		path->scope = inet6_iif(skb);
}

/* crc32c of @len bytes from @at, with the crc field taken as zero. */
static u32 prio_packet_crc(struct sk_buff *skb, u32 at, u32 len)
{
	u8 head[sizeof(struct mrpc_prio_hdr)];
	struct skb_seq_state st;
	u32 crc, done = 0, n;
	const u8 *data;

	skb_copy_bits(skb, at, head, sizeof(head));
	mrpc_prio_set_crc(head, 0);
	crc = mrpc_checksum(MRPC_CHECKSUM_INIT, head, sizeof(head));
	skb_prepare_seq_read(skb, at + sizeof(head), at + len, &st);
	/* It may return data beyond the end. It unmaps everything when it returns 0. */
	while ((n = skb_seq_read(done, &data, &st))) {
		if (done < len - sizeof(head))
			crc = mrpc_checksum(crc, data, min_t(u32, n, len - sizeof(head) - done));
		done += n;
	}
	return ~crc;
}

/**
 * struct prio_arrival - the packet that is being taken in
 * @port: the port where it came
 * @peer: its sender, or NULL
 * @path: its addresses
 * @bytes: the packet
 * @train: offset up to which each datagram, from the present one on, continues the one before. Not
 *	beyond the present one: that is not known yet
 * @ecn: it experienced congestion
 */
struct prio_arrival {
	struct prio_port *port;
	struct prio_peer *peer;
	struct prio_path path;
	struct prio_bytes bytes;
	u32 train;
	bool ecn;
};

static void prio_answer(struct prio_host *host, const struct prio_path *path,
			struct mrpc_prio_event *ev)
{
	struct sk_buff *skb;

	/* Limits also answers that wait for a neighbour whose address a stranger has forged. */
	if (skb_queue_len(&host->answers) >= PRIO_ANSWERS ||
	    sk_wmem_alloc_get(host->control->sk) >= PRIO_ANSWERED)
		return;
	skb = prio_packet_new(host->control, ev->answer_len, MRPC_PRIO_CONTROL_CLASS);
	if (!skb)
		return;
	if (mrpc_prio_has_crc(ev->answer))
		mrpc_prio_set_crc(ev->answer, ~mrpc_checksum(MRPC_CHECKSUM_INIT, ev->answer,
							     ev->answer_len));
	prio_packet_put(skb, 0, ev->answer, ev->answer_len);
	memcpy(skb->cb, path, sizeof(*path));
	__skb_queue_tail(&host->answers, skb);
}

/* Makes a peer of a stranger. Only a port with a listener accepts strangers. */
static void prio_stranger(struct prio_arrival *a, const struct mrpc_prio_packet *p, u64 now)
{
	struct prio_host *host = a->port->host;

	if (a->port->l)
		a->peer = prio_peer_new(a->port, &a->path);
	if (!a->peer) {
		mrpc_prio_count(&host->ep, a->port->l ? MRPC_PRIO_DROP_LIMIT :
				MRPC_PRIO_DROP_REFUSED);
		return;
	}
	mrpc_prio_welcome(&host->ep, &a->peer->core, PRIO_FIRST_PAYLOAD, p, now);
	a->peer->core.host = prio_path_host(host, &a->path);
}

static void prio_message(struct prio_arrival *a, struct mrpc_prio_event *ev,
			 const struct mrpc_prio_packet *p, u64 now)
{
	struct prio_link *link = prio_link_find(a->peer, p->conn);
	u32 code = MRPC_PRIO_UNKNOWN;

	ev->type = MRPC_PRIO_EVENT_NONE;
	if (!link && p->kind == MRPC_PRIO_OPEN)
		link = prio_link_arrives(a->peer, p->conn, &code);
	if (link)
		code = prio_in_begin(link, ev, p, now);
	if (code)
		mrpc_prio_refuse(&a->port->host->ep, &a->peer->core, p, code);
}

/*
 * Finds the datagrams behind the one at @at, which is @p alone, that continue it. A known train is
 * not checked again, so each datagram is compared once in any case.
 */
static void prio_train(struct prio_arrival *a, u32 at, const u8 *head, struct mrpc_prio_packet *p)
{
	u32 stride = a->bytes.stride, all = a->bytes.skb->len, end = a->train, n;
	u8 buf[MRPC_PRIO_DATA_HDR];
	const u8 *next;

	if (p->size != stride || p->len <= PRIO_FEW || p->total <= PRIO_SMALL)
		return;
	if (end <= at) {
		for (end = at + stride; end < all; end += n) {
			n = min(stride, all - end);
			if (n <= sizeof(buf))
				break;
			next = skb_header_pointer(a->bytes.skb, end, sizeof(buf), buf);
			if (!mrpc_prio_follows(p, head, next, (end - at) / stride * p->len,
					       n - sizeof(buf)))
				break;
		}
		a->train = end;
	}
	p->train = DIV_ROUND_UP(end - at, stride) - 1;
	p->train_len = end - at - stride - p->train * MRPC_PRIO_DATA_HDR;
}

/* Handles a well-formed packet of the protocol. Return: as prio_packet_take() */
static u32 prio_packet_judge(struct prio_arrival *a, u32 at, const struct mrpc_prio_packet *p)
{
	struct prio_host *host = a->port->host;
	struct mrpc_prio_event ev;
	struct prio_address addr = {
		.remote = a->path.remote,
		.rport = a->path.rport,
		.lport = a->path.lport,
		.scope = a->path.scope,
		.family = a->path.family,
	};
	u64 now = ktime_get_ns();

	mrpc_prio_receive(&host->ep, a->peer ? &a->peer->core : NULL, &addr, sizeof(addr), p,
			  a->ecn, now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_ANSWER) {
		prio_answer(host, &a->path, &ev);
		return 0;
	}
	if (ev.type == MRPC_PRIO_EVENT_PEER)
		prio_stranger(a, p, now);
	else if (ev.type == MRPC_PRIO_EVENT_MESSAGE)
		prio_message(a, &ev, p, now);
	if (ev.type == MRPC_PRIO_EVENT_DATA)
		prio_in_data(host, &ev, &a->bytes, at + MRPC_PRIO_DATA_HDR, now);
	return ev.packets > 1 ? min(ev.packets * p->size, a->bytes.skb->len - at) : p->size;
}

/*
 * Takes one packet of the protocol, the first of the @len bytes from @at on. Or it takes as many
 * datagrams, from this one on, as are handled as one.
 * Return: bytes taken. 0: the packet is malformed, or not of the peer's association; the rest of
 * the datagram does not count: an unknown sender gets one answer per datagram.
 */
static u32 prio_packet_take(struct prio_arrival *a, u32 at, u32 len)
{
	struct prio_host *host = a->port->host;
	u32 linear = min_t(u32, len, sizeof(host->heard)), why;
	struct mrpc_prio_packet p;
	const u8 *head;

	if (len >= sizeof(struct mrpc_prio_hdr)) {
		head = skb_header_pointer(a->bytes.skb, at, sizeof(struct mrpc_prio_hdr), host->heard);
		if (head[offsetof(struct mrpc_prio_hdr, type)] == MRPC_PRIO_DATA)
			linear = min_t(u32, len, MRPC_PRIO_DATA_HDR);
	}
	head = skb_header_pointer(a->bytes.skb, at, linear, host->heard);
	if (mrpc_prio_parse(head, linear, len, &p, &why)) {
		mrpc_prio_count(&host->ep, why);
		return 0;
	}
	if (p.flags & MRPC_PRIO_CRC && prio_packet_crc(a->bytes.skb, at, p.size) != p.crc) {
		mrpc_prio_count(&host->ep, MRPC_PRIO_DROP_CRC);
		return 0;
	}
	if (p.type == MRPC_PRIO_DATA)
		prio_train(a, at, head, &p);
	return prio_packet_judge(a, at, &p);
}

/*
 * Takes one datagram of those that have come as one packet: @len bytes from @at.
 * Return: bytes taken, those of further datagrams included.
 */
static u32 prio_datagram(struct prio_arrival *a, u32 at, u32 len)
{
	u32 done = 0, n;

	do {
		n = prio_packet_take(a, at + done, len - done);
		done += n;
	} while (n && done < len);
	return max(done, len);
}

/* Handles one packet. @skb: begins behind its UDP header. */
static void prio_packet_came(struct prio_port *port, struct sk_buff *skb)
{
	struct prio_arrival a = { .port = port, .bytes.skb = skb };
	struct prio_host *host = port->host;
	bool bad = udp_lib_checksum_complete(skb);
	u32 at = 0, len = skb->len;
	u8 tos;

	prio_path_of(skb, &a.path);
	tos = a.path.family == AF_INET ? ip_hdr(skb)->tos : ipv6_get_dsfield(ipv6_hdr(skb));
	a.ecn = INET_ECN_is_ce(tos);
	a.bytes.stride = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : max(len, 1U);
	/* It may wait for its reader, so it must not hold the device. */
	skb_dst_drop(skb);
	skb->dev = NULL;
	skb->next = NULL;
	if (skb->pkt_type != PACKET_HOST) {	/* multicast or broadcast: prio sends none */
		consume_skb(skb);
		return;
	}
	spin_lock_bh(&host->lock);
	a.peer = prio_peer_find(host, &a.path);
	do {
		if (bad) {
			mrpc_prio_count(&host->ep, MRPC_PRIO_DROP_CRC);
			at += a.bytes.stride;
		} else {
			at += prio_datagram(&a, at, min(a.bytes.stride, len - at));
		}
	} while (at < len);
	prio_unlock(host);
	if (!a.bytes.taken)
		consume_skb(skb);
}

/* Are there packets? The network stack calls prio_packets_came() after it adds one. */
static bool prio_packets_wait(const struct sock *sk)
{
	return !skb_queue_empty_lockless(&sk->sk_receive_queue) ||
	       !skb_queue_empty_lockless(&udp_sk(sk)->reader_queue);
}

/**
 * prio_packets_came() - sk_data_ready of a port
 * @sk: its socket
 *
 * Packets are not taken by the encapsulation hook of tunnels, because those never come as several
 * datagrams in one. Context: softirq.
 */
void prio_packets_came(struct sock *sk)
{
	struct prio_port *port;
	struct sk_buff *skb;
	int err;

	rcu_read_lock();
	port = rcu_dereference_sk_user_data(sk);
	while (port && prio_packets_wait(sk)) {
		skb = skb_recv_udp(sk, MSG_DONTWAIT, &err);
		if (skb)
			prio_packet_came(port, skb);
		else if (err == -EAGAIN)	/* otherwise an ICMP error came in between */
			break;
	}
	/* Not by a kick: the scheduler would first run the tasks that were woken. */
	if (port)
		prio_pump_softirq(port->host);
	rcu_read_unlock();
}

/* Ends what a packet asked for. @p: a packet of this end that never arrives. */
static void prio_packet_lost(struct prio_peer *peer, const struct mrpc_prio_packet *p)
{
	const struct mrpc_prio_peer *core = &peer->core;
	struct prio_link *link;

	if (p->type == MRPC_PRIO_HELLO && core->state == MRPC_PRIO_PEER_HELLO &&
	    p->token == core->local) {
		prio_peer_refused(peer);
	} else if (p->type == MRPC_PRIO_DATA && core->state == MRPC_PRIO_PEER_UP &&
		   p->to == core->remote) {
		link = prio_link_find(peer, p->conn);
		if (link && !link->token)
			prio_link_fail(link, -ECONNREFUSED);
	}
}

/*
 * The network reports that the destination of a packet has no listener. Any host can send such a
 * report. A report that quotes a 64-bit token comes from a host that saw the packet. So it is
 * trusted, for links that the peer does not know.
 */
static void prio_packet_refused(struct prio_port *port, struct sk_buff *skb)
{
	const struct sock_exterr_skb *serr = SKB_EXT_ERR(skb);
	const void *to = skb_network_header(skb) + serr->addr_offset;
	struct mrpc_prio_packet p;
	u8 buf[MRPC_PRIO_BODY_LEN];
	struct prio_peer *peer;
	struct prio_path path;
	const void *head;
	u32 why;

	if (serr->ee.ee_errno != ECONNREFUSED)
		return;
	head = skb_header_pointer(skb, 0, sizeof(buf), buf);
	if (!head || mrpc_prio_parse(head, sizeof(buf), sizeof(buf), &p, &why))
		return;
	memset(&path, 0, sizeof(path));
	path.lport = port->number;
	path.rport = serr->port;
	if (serr->ee.ee_origin == SO_EE_ORIGIN_ICMP) {
		path.family = AF_INET;
		memcpy(&path.remote, to, sizeof(__be32));
	} else if (serr->ee.ee_origin == SO_EE_ORIGIN_ICMP6) {
		path.family = AF_INET6;
		memcpy(&path.remote, to, sizeof(path.remote));
		if (ipv6_addr_type(&path.remote) & IPV6_ADDR_LINKLOCAL)
			path.scope = skb->skb_iif;
	}
	spin_lock_bh(&port->host->lock);
	peer = prio_peer_find(port->host, &path);
	if (peer)
		prio_packet_lost(peer, &p);
	prio_unlock(port->host);
}

/**
 * prio_errors_came() - sk_error_report of a port
 * @sk: its socket
 *
 * The routes already have the size for packets that were too big. Context: softirq.
 */
void prio_errors_came(struct sock *sk)
{
	struct prio_port *port;
	struct sk_buff *skb;

	rcu_read_lock();
	port = rcu_dereference_sk_user_data(sk);
	/* sock_dequeue_err_skb() would call this function for the next error. */
	while (port && (skb = skb_dequeue(&sk->sk_error_queue))) {
		prio_packet_refused(port, skb);
		consume_skb(skb);
	}
	rcu_read_unlock();
}
