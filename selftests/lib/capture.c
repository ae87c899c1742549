// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a capture of a vector of the prio transport's protocol (Documentation/prio-vectors), as
 * it would be seen beside the sender: "capture 4|6 VECTOR OUT.pcap". UDP over IPv4 or IPv6 with
 * right checksums, link type "raw IP", nanoseconds. A packet that comes a second time, and one
 * of a third party, is there where it comes. The port of A is 50000, that of B 51000. Prints the
 * packets' numbers in the vector, in the order of the capture: those of a packet on one line.
 *
 * "capture 4|6 VECTOR OUT.pcap joined" makes one packet of those that one end sends at the same
 * time, if they are equally long but for the last, which may be shorter: as a host sees them that
 * has the network cut what it sends, and join what comes.
 */
#include <stdlib.h>
#include <string.h>

#include "prio_trace.h"

#define PORT_A		50000
#define PORT_B		51000
#define LINKTYPE_RAW	101
#define ECN_CAPABLE	2
#define ECN_EXPERIENCED	3
#define JOINED		60000	/* bytes at most */

/* A packet that is to be written. */
struct pending {
	u8 buf[JOINED];
	u32 datagrams;		/* 0: there is none */
	u32 len;
	u32 stride;
	u32 last;		/* bytes of the datagram that was added last */
	u32 ecn;
	char from;
	char to;
};

struct vector {
	struct {
		u8 buf[TRACE_PACKET];
		u32 len;
		u32 taken;
		bool marked;
		char from;
	} packets[TRACE_PACKETS + 1];
	struct pending pending;
	u64 now;
	bool ipv6;
	bool join;
	FILE *out;
};

static __attribute__((__noreturn__)) void die(const char *what)
{
	perror(what);
	exit(1);
}

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f || getdelim(&text, &size, 0, f) < 0)
		die(path);
	fclose(f);
	return text;
}

/* -- datagrams ----------------------------------------------------------------- */

static void put16(u8 *p, u32 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static u32 sum16(u32 sum, const u8 *p, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? p[i] : (u32)p[i] << 8;
	return sum;
}

static u32 fold(u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

/* 192.0.2.N or 2001:db8::N: A is 1, B 2, C 3 */
static u32 put_ip(const struct vector *v, u8 *ip, char from, char to, u32 udp_len, u32 ecn)
{
	static const u8 net4[] = { 192, 0, 2, 0 };
	static const u8 net6[16] = { 0x20, 0x01, 0x0d, 0xb8 };

	if (v->ipv6) {
		memset(ip, 0, 40);
		ip[0] = 0x60;
		ip[1] = ecn << 4;
		put16(ip + 4, udp_len);
		ip[6] = 17;
		ip[7] = 64;
		memcpy(ip + 8, net6, 16);
		memcpy(ip + 24, net6, 16);
		ip[23] = from - 'A' + 1;
		ip[39] = to - 'A' + 1;
		return 40;
	}
	memset(ip, 0, 20);
	ip[0] = 0x45;
	ip[1] = ecn;
	put16(ip + 2, 20 + udp_len);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, net4, 4);
	memcpy(ip + 16, net4, 4);
	ip[15] = from - 'A' + 1;
	ip[19] = to - 'A' + 1;
	put16(ip + 10, fold(sum16(0, ip, 20)));
	return 20;
}

static void put_udp(const struct vector *v, const u8 *ip, u8 *udp, char from, char to, u32 len)
{
	u32 sum;

	put16(udp, from == 'B' ? PORT_B : PORT_A);
	put16(udp + 2, to == 'B' ? PORT_B : PORT_A);
	put16(udp + 4, len);
	put16(udp + 6, 0);
	sum = v->ipv6 ? sum16(0, ip + 8, 32) : sum16(0, ip + 12, 8);
	sum = fold(sum16(sum, udp, len) + 17 + len);
	put16(udp + 6, sum ? sum : 0xffff);
}

static void write_pending(struct vector *v)
{
	u32 len = v->pending.len, udp_len = 8 + len, ip_len, record[4];
	char from = v->pending.from, to = v->pending.to;
	u8 buf[JOINED + 48];

	if (!v->pending.datagrams)
		return;
	ip_len = put_ip(v, buf, from, to, udp_len, v->pending.ecn);
	memcpy(buf + ip_len + 8, v->pending.buf, len);
	put_udp(v, buf, buf + ip_len, from, to, udp_len);
	record[0] = v->now / 1000000000;
	record[1] = v->now % 1000000000;
	record[2] = ip_len + udp_len;
	record[3] = record[2];
	fwrite(record, sizeof(record), 1, v->out);
	fwrite(buf, record[2], 1, v->out);
	printf("\n");
	v->pending.datagrams = 0;
}

/* What no end made would not have come with others. */
static bool joins(const struct vector *v, u32 nr, u32 ecn, char from)
{
	const struct pending *p = &v->pending;
	u32 len = v->packets[nr].len;

	return v->join && v->packets[nr].from != 'X' && p->datagrams && p->from == from &&
	       p->ecn == ecn && p->last == p->stride && len <= p->stride &&
	       p->len + len <= JOINED;
}

static void write_packet(struct vector *v, u32 nr, char from, char to)
{
	const u8 *buf = v->packets[nr].buf;
	u32 len = v->packets[nr].len;
	bool data = len > 3 && buf[3] == MRPC_PRIO_DATA;
	u32 ecn = v->packets[nr].marked ? ECN_EXPERIENCED : data ? ECN_CAPABLE : 0;
	struct pending *p = &v->pending;

	if (joins(v, nr, ecn, from)) {
		printf(" ");
	} else {
		write_pending(v);
		p->stride = len;
		p->len = 0;
	}
	p->datagrams++;
	memcpy(p->buf + p->len, buf, len);
	p->len += len;
	p->last = v->packets[nr].from == 'X' ? 0 : len;
	p->ecn = ecn;
	p->from = from;
	p->to = to;
	printf("%u", nr);
}

/* -- the vector ---------------------------------------------------------------- */

static u32 packet_of(const char *line)
{
	u64 nr;

	if (!trace_number(line, "packet", &nr) || !nr || nr > TRACE_PACKETS) {
		fprintf(stderr, "%s\n", line);
		exit(1);
	}
	return nr;
}

/* What each packet is, and whether it is marked on its way */
static void read_packets(struct vector *v, const char *text)
{
	char line[4096];
	u32 nr = 0;
	u64 ecn;

	while ((text = trace_line(text, line, sizeof(line)))) {
		if (!strncmp(line + 1, " send ", 6)) {
			nr = packet_of(line);
			v->packets[nr].from = line[0];
		} else if (!strncmp(line + 1, " take ", 6)) {
			if (trace_number(line, "ecn", &ecn) && ecn)
				v->packets[packet_of(line)].marked = true;
		} else if (nr && !strncmp(line, "  | ", 4)) {
			v->packets[nr].len += trace_bytes(line + 4,
							  v->packets[nr].buf + v->packets[nr].len,
							  TRACE_PACKET - v->packets[nr].len);
		}
	}
}

static void write_packets(struct vector *v, const char *text)
{
	char line[4096], from[2];
	u32 nr;

	while ((text = trace_line(text, line, sizeof(line)))) {
		if (!strncmp(line, "time ", 5)) {
			write_pending(v);
			v->now = strtoull(line + 5, NULL, 10);
		}
		if (line[0] != 'X' && !strncmp(line + 1, " send ", 6))
			write_packet(v, packet_of(line), line[0], line[0] == 'A' ? 'B' : 'A');
		if (strncmp(line + 1, " take ", 6))
			continue;
		nr = packet_of(line);
		from[0] = line[0] == 'A' ? 'B' : 'A';
		trace_word(line, "from", from, sizeof(from));
		if (v->packets[nr].taken++ || v->packets[nr].from == 'X')
			write_packet(v, nr, from[0], line[0]);
	}
	write_pending(v);
}

int main(int argc, char **argv)
{
	static const u32 magic = 0xa1b23c4d, zone[2], snap = 65535, link = LINKTYPE_RAW;
	static const u16 version[2] = { 2, 4 };
	static struct vector v;
	char *text;

	if (argc != 4 && (argc != 5 || strcmp(argv[4], "joined"))) {
		fprintf(stderr, "usage: %s 4|6 VECTOR OUT.pcap [joined]\n", argv[0]);
		return 2;
	}
	v.join = argc == 5;
	v.ipv6 = argv[1][0] == '6';
	text = read_all(argv[2]);
	v.out = fopen(argv[3], "w");
	if (!v.out)
		die(argv[3]);
	fwrite(&magic, sizeof(magic), 1, v.out);
	fwrite(version, sizeof(version), 1, v.out);
	fwrite(zone, sizeof(zone), 1, v.out);
	fwrite(&snap, sizeof(snap), 1, v.out);
	fwrite(&link, sizeof(link), 1, v.out);
	read_packets(&v, text);
	write_packets(&v, text);
	free(text);
	if (fclose(v.out))
		die(argv[3]);
	return 0;
}
