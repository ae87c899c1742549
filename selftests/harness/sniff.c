// SPDX-License-Identifier: GPL-2.0
/*
 * Packets as they pass a device; see sniff.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "raw.h"
#include "sniff.h"

#define ROOM	(256 << 20)	/* bytes of packets that wait to be looked at */

static u8 frame[sizeof(struct virtio_net_hdr) + ETH_HLEN + 65536 + 40];

int sniff_open(const char *dev)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(dev),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int room = ROOM, on = 1;

	/* How it is segmented comes before each packet. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    bind(fd, (void *)&at, sizeof(at)))
		raw_die("no packets of %s: %m", dev);
	return fd;
}

/* All packets of the protocol that datagrams of @segment bytes have, of @len bytes together. */
static void sniff_parse(struct sniffed *s, const u8 *at, u32 len, u32 segment)
{
	struct mrpc_prio_packet p;
	const u8 *end = at + len;
	u32 i, why, left;

	for (; at < end; s->datagrams++) {
		for (left = min(segment, (u32)(end - at)); left; left -= p.size, at += p.size) {
			if (mrpc_prio_parse(at, left, left, &p, &why))
				raw_die("a packet is malformed: %s",
					mrpc_prio_drop_name(why));
			if (!s->nr++)
				s->first = p;
		}
	}
	for (i = 0; s->first.type == MRPC_PRIO_CONTROL && i < s->first.nr; i++)
		mrpc_prio_note_get(&s->first, i, &s->notes[i]);
}

/* Return: bytes of IP header, or 0: it is no packet from or to @port. */
static u32 sniff_ip(const u8 *ip, u32 len, u16 port, struct sniffed *s)
{
	const struct iphdr *h4 = (const void *)ip;
	const struct ip6_hdr *h6 = (const void *)ip;
	const struct udphdr *udp;
	u32 head;

	s->family = h4->version == 4 ? AF_INET : AF_INET6;
	head = s->family == AF_INET ? sizeof(*h4) : sizeof(*h6);
	if (len < head + sizeof(*udp) ||
	    (s->family == AF_INET ? h4->protocol : h6->ip6_nxt) != IPPROTO_UDP)
		return 0;
	s->tos = s->family == AF_INET ? h4->tos : ntohl(h6->ip6_flow) >> 20;
	udp = (const void *)(ip + head);
	return ntohs(udp->source) == port || ntohs(udp->dest) == port ? head : 0;
}

static bool sniff_packet(const u8 *buf, u32 len, u16 port, struct sniffed *s)
{
	const struct virtio_net_hdr *how = (const void *)buf;
	u32 heads = sizeof(*how) + ETH_HLEN, head, segment;

	memset(s, 0, sizeof(*s));
	if (len < heads + sizeof(struct iphdr))
		return false;
	s->len = len - heads;
	head = sniff_ip(buf + heads, s->len, port, s);
	if (!head)
		return false;
	head += sizeof(struct udphdr);
	segment = how->gso_type == VIRTIO_NET_HDR_GSO_NONE ? s->len - head : how->gso_size;
	s->largest = head + min(segment, s->len - head);
	sniff_parse(s, buf + heads + head, s->len - head, segment);
	return s->nr;
}

bool sniff_next(int fd, u16 port, struct sniffed *s)
{
	struct tpacket_stats stats;
	struct sockaddr_ll from;
	socklen_t size;
	ssize_t len;

	do {
		size = sizeof(from);
		len = recvfrom(fd, frame, sizeof(frame), 0, (void *)&from, &size);
		if (len < 0 && errno == EAGAIN)
			break;
		if (len < 0)
			raw_die("no packet: %m");
		if (!sniff_packet(frame, len, port, s))
			continue;
		s->leaves = from.sll_pkttype == PACKET_OUTGOING;
		return true;
	} while (true);
	size = sizeof(stats);
	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) || stats.tp_drops)
		raw_die("%u packets were not kept", stats.tp_drops);
	return false;
}
