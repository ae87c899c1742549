// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: UDP datagrams to the network.
 *
 * A chunk leaves as one packet that is segmented as late as possible.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/sizes.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "core/memcopy.h"
#include "lib/prio/wire.h"
#include "transports/prio/packet.h"
#include "transports/prio/params.h"
#define PRIO_LINEAR	2048	/* packets beyond this are not in one piece of memory */
#define PRIO_PAGE_ORDER	3	/* of the pieces */
#define PRIO_HEADROOM	(LL_MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/**
 * prio_packet_new() - a packet to be filled and sent
 * @owner: the host's socket that it is to belong to
 * @len: bytes behind the UDP header
 * @class: network priority
 *
 * Until it has left the device it is @owner's. Context: any but hard interrupt.
 * Return: the packet, or NULL.
 */
struct sk_buff *prio_packet_new(struct socket *owner, u32 len, u32 class)
{
	struct sk_buff *skb;
	int err;

	if (len <= PRIO_LINEAR) {
		skb = alloc_skb(PRIO_HEADROOM + len, GFP_ATOMIC | __GFP_NOWARN);
		if (!skb)
			return NULL;
		skb_reserve(skb, PRIO_HEADROOM);
		skb_put(skb, len);
	} else {
		skb = alloc_skb_with_frags(PRIO_HEADROOM, len, PRIO_PAGE_ORDER, &err,
					   GFP_ATOMIC | __GFP_NOWARN);
		if (!skb)
			return NULL;
		skb_reserve(skb, PRIO_HEADROOM);
		skb->data_len = len;
		skb->len = len;
	}
	skb_set_owner_w(skb, owner->sk);
	skb->priority = prio_skb_priority(class);
	return skb;
}

/* prio_packet_put() - @len bytes from @data to @at */
void prio_packet_put(struct sk_buff *skb, u32 at, const void *data, u32 len)
{
	mrpc_block_to_skb(skb, at, data, len);
}

/* Segments have checksums of their own, made where they are made. */
static void prio_packet_segments(struct sk_buff *skb, u32 segment)
{
	skb_shinfo(skb)->gso_size = segment;
	skb_shinfo(skb)->gso_segs = DIV_ROUND_UP(skb->len, segment);
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) - sizeof(struct udphdr);
	skb->csum_offset = offsetof(struct udphdr, check);
}

/**
 * prio_packet_send() - let a packet go
 * @skb: from prio_packet_new(), filled
 * @path: addresses, both
 * @dst: the way, a reference that goes with it
 * @segment: bytes of each datagram but the last, if @skb has several; or 0
 * @class: network priority
 *
 * Data is ECN-capable, and finds out what the path takes. Context: softirq, no lock.
 */
void prio_packet_send(struct sk_buff *skb, const struct prio_path *path, struct dst_entry *dst,
		      u32 segment, u32 class)
{
	bool data = class != MRPC_PRIO_CONTROL_CLASS;
	u8 tos = prio_dscp(class) << 2 | (data ? INET_ECN_ECT_0 : INET_ECN_NOT_ECT);
	struct sock *sk = skb->sk;

	if (segment && segment < skb->len)
		prio_packet_segments(skb, segment);
	rcu_read_lock();
	if (path->family == AF_INET)
		udp_tunnel_xmit_skb(dst_rtable(dst), sk, skb, path->local.s6_addr32[0],
				    path->remote.s6_addr32[0], tos, ip4_dst_hoplimit(dst),
				    data ? htons(IP_DF) : 0, path->lport, path->rport, false, false);
	else
		udp_tunnel6_xmit_skb(dst, sk, skb, NULL, &path->local, &path->remote, tos,
				     ip6_dst_hoplimit(dst), 0, path->lport, path->rport, false);
	rcu_read_unlock();
}
