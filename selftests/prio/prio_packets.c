// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio/packet kmod/transports/prio/in kmod/lib/prio/wire */
/*
 * Packets of the transport prio on the network: their DSCP and ECN, the priority that queueing
 * disciplines see, and how much of a message one packet has. Also the checksums of prio.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tap.h"
#include "hosts.h"
#include "load.h"
#include "operator.h"
#include "prio_tells.h"
#include "sniff.h"

#define DSCPS		"8,8,0,0,16,24,32,48"
#define APART		"10,11,12,13,14,15,17,18"	/* one for each network priority */
#define PRIORITIES	"2,2,0,0,0,6,6,7"
#define ECT_0		2
#define CHUNK		16384U
#define SERVERS		4	/* addresses of one server: each is another peer */
#define BANDS		16
#define ALL_BUT_MEDIUM	0xdfU	/* network priorities, as bits */

static struct raw_server srv;
static struct raw c;
static struct load loads[SERVERS];
static int conns[SERVERS];
static int eye;

/* Packets that have left: datagrams by network priority, and payload of the largest packet. */
static struct seen {
	u64 datagrams[MRPC_PRIO_CLASSES];
	u32 most;
} seen;

/* Network priorities that were granted, as bits. */
static u8 granted;

/* A receiver has asked for bytes: those of a message without a grant have the lowest priority. */
static bool resent;

static u8 dscps[MRPC_PRIO_CLASSES];

static void parse_dscps(const char *text)
{
	unsigned int i;
	char *end;

	for (i = 0; i < MRPC_PRIO_CLASSES; i++, text = end + 1)
		dscps[i] = strtoul(text, &end, 10);
}

static void restore_settings(void)
{
	raw_file_write(PARAMETER("dscp"), DSCPS);
	raw_file_write(PARAMETER("skb_priority"), PRIORITIES);
	raw_file_write(PARAMETER("crc"), "N");
	raw_file_write(PARAMETER("chunk"), "16384");
}

static void text_is(const char *path, const char *text)
{
	char line[100] = "";
	FILE *f = fopen(path, "r");

	CHECK(f && fgets(line, sizeof(line), f));
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	CHECK_STR(line, text);
}

/* A server on lo of a new namespace, where nothing else sends. */
static void serve(unsigned int mtu)
{
	CHECK_SYS(unshare(CLONE_NEWNET));
	op_forget();
	host_sh("ip link set lo mtu %u up", mtu);
	atexit(restore_settings);
	raw_server_open(&srv, 16 << 20, 16 << 20);
	raw_server_start(&srv, "prio:[::]:0", 2);
	raw_open(&c, 16 << 20, 16 << 20);
	eye = sniff_open("lo");
}

static void begin(unsigned int mtu)
{
	char addr[64];
	unsigned int i;

	serve(mtu);
	for (i = 0; i < SERVERS; i++) {
		snprintf(addr, sizeof(addr), "prio:127.0.0.%u:%u", i + 1, srv.s.port);
		conns[i] = raw_connect(&c, addr);
		CHECK_MSG(conns[i] > 0, "%s: %s", addr, c.why);
	}
}

static void begin6(unsigned int mtu)
{
	char addr[64];

	begin(mtu);
	snprintf(addr, sizeof(addr), "prio:[::1]:%u", srv.s.port);
	conns[0] = raw_connect(&c, addr);
	CHECK_MSG(conns[0] > 0, "%s: %s", addr, c.why);
}

static void end(void)
{
	close(eye);
	raw_close(&c);
	raw_server_stop(&srv);
	CHECK_EQ(srv.bad, 0);
	restore_settings();
}

/* @nr calls of @len bytes, one after the other. */
static void calls(u32 len, unsigned int nr)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;

	while (nr--) {
		sqe = raw_sqe(conns[0], RAW_ECHO, raw_blob(&c, nr, len, NULL));
		CHECK_EQ(raw_call(&c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		CHECK(raw_is_blob(raw_msg(&c, &cqe), cqe.msg_len, nr, len));
		raw_done(&c, &cqe);
		raw_free(&c, sqe.root);
	}
}

/* Network priority that a packet should have by the protocol; -1: the granted one. */
static int class_of(const struct sniffed *s)
{
	const struct mrpc_prio_packet *p = &s->first;

	if (p->type != MRPC_PRIO_DATA)
		return MRPC_PRIO_CONTROL_CLASS;
	if (p->len && p->offset >= p->unscheduled)
		return -1;
	return p->total <= 200 ? 6 : p->total <= 1400 ? 5 : 4;
}

static void see_grants(const struct sniffed *s)
{
	u32 i;

	for (i = 0; s->first.type == MRPC_PRIO_CONTROL && i < s->first.nr; i++)
		if (s->notes[i].op == MRPC_PRIO_GRANT)
			granted |= 1 << s->notes[i].class;
		else if (s->notes[i].op == MRPC_PRIO_RESEND)
			resent = true;
}

/* Finds a granted class with the packet's DSCP; several may have the same. Return: that class */
static int scheduled_class(const struct sniffed *s)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		if ((granted & 1 << i || (!i && resent)) && dscps[i] == s->tos >> 2)
			return i;
	CHECK_MSG(false, "scheduled bytes have DSCP %u, granted are classes %x", s->tos >> 2, granted);
	return 0;
}

static void look_at(const struct sniffed *s, u32 chunk)
{
	u32 head = (s->family == AF_INET ? 20 : 40) + 8, payload;
	int class = class_of(s);

	see_grants(s);
	if (class < 0)
		class = scheduled_class(s);
	CHECK_MSG(s->tos >> 2 == dscps[class], "type %u, %u of %u bytes: DSCP %u, not %u",
		  s->first.type, s->first.offset, s->first.total, s->tos >> 2, dscps[class]);
	CHECK_EQ(s->tos & 3, s->first.type == MRPC_PRIO_DATA ? ECT_0 : 0);
	seen.datagrams[class] += s->datagrams;
	if (s->first.type != MRPC_PRIO_DATA)
		return;
	payload = s->len - head - s->nr * MRPC_PRIO_DATA_HDR;
	CHECK_MSG(payload <= chunk, "%u bytes of messages in a packet of %u", payload, s->len);
	if (payload > seen.most)
		seen.most = payload;
}

/* Handles all packets that have left since the last look. */
static void look(u32 chunk)
{
	struct sniffed s;

	memset(&seen, 0, sizeof(seen));
	while (sniff_next(eye, srv.s.port, &s))
		if (s.leaves)
			look_at(&s, chunk);
}

/* Sets a different DSCP for each network priority from now on. */
static void tell_apart(void)
{
	struct sniffed s;

	parse_dscps(DSCPS);
	look(CHUNK);
	CHECK(raw_file_write(PARAMETER("dscp"), APART));
	text_is(PARAMETER("dscp"), APART);
	parse_dscps(APART);
	raw_sleep(50 * RAW_MS * raw_patience());	/* the last acknowledgements */
	while (sniff_next(eye, srv.s.port, &s))
		;
}

/* -- DSCP and ECN -------------------------------------------------------------------------- */

/* A message of each size with a known network priority; then scheduled bytes. */
static void each_class(u32 mtu)
{
	static const struct {
		u32 len;
		int class;
	} sizes[] = { { 20, 6 }, { 1000, 5 }, { 5000, 4 } };
	unsigned int i, k;

	look(CHUNK);
	CHECK(seen.datagrams[MRPC_PRIO_CONTROL_CLASS]);	/* handshakes */
	for (i = 0; i < 3; i++) {
		calls(sizes[i].len, 5);
		look(CHUNK);
		/* Requests and replies only. */
		CHECK(seen.datagrams[sizes[i].class] >= 10);
		for (k = 0; k < MRPC_PRIO_CONTROL_CLASS; k++)
			CHECK_MSG(k == (unsigned int)sizes[i].class || !seen.datagrams[k],
				  "%u bytes: %llu packets of class %u", sizes[i].len,
				  (unsigned long long)seen.datagrams[k], k);
	}
	calls(1 << 20, 2);
	look(CHUNK);
	CHECK(seen.datagrams[4]);
	CHECK_EQ(granted, 1 << 3);	/* there is no other sender, so it is the first of all */
	CHECK(seen.datagrams[3] >= 2 * 2 * (1 << 20) / mtu * 3 / 4);
	CHECK_EQ(seen.most, CHUNK);
}

TEST(classes)
{
	begin(1500);
	text_is(PARAMETER("dscp"), DSCPS);
	parse_dscps(DSCPS);
	each_class(1500);
	end();
}

TEST(classes6)
{
	begin6(9000);
	parse_dscps(DSCPS);
	each_class(9000);
	end();
}

/* A setting applies at once. Large messages to several peers are granted in four classes. */
TEST(set_dscp)
{
	unsigned int i, all = 0;
	struct sniffed s;
	uint64_t until;

	begin(1500);
	tell_apart();
	for (i = 0; i < SERVERS; i++) {
		loads[i] = (struct load){ .len = 400000, .ack = true };
		load_start(&loads[i], &c, conns[i], 2);
	}
	until = raw_now() + 10 * RAW_S * raw_patience();
	/* Does not wait until none is left: one processor may send as fast as it looks. */
	memset(&seen, 0, sizeof(seen));
	do {
		CHECK_MSG(raw_now() < until, "classes %x were seen, not all of %x", all,
			  ALL_BUT_MEDIUM);
		if (!sniff_next(eye, srv.s.port, &s)) {
			raw_sleep(RAW_MS);
			continue;
		}
		if (s.leaves)
			look_at(&s, CHUNK);
		for (i = 0; i < MRPC_PRIO_CLASSES; i++)
			all |= (i != 5 && seen.datagrams[i]) << i;
	} while (all != ALL_BUT_MEDIUM);
	for (i = 0; i < SERVERS; i++) {
		load_stop(&loads[i]);
		CHECK_EQ(load_failed(&loads[i]), 0);
	}
	end();
}

/* -- chunks ---------------------------------------------------------------------------------- */

static void chunks(u32 mtu, u32 chunk)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", chunk);
	CHECK(raw_file_write(PARAMETER("chunk"), text));
	calls(300000, 3);
	look(chunk);
	CHECK_MSG(seen.most == chunk, "mtu %u, chunk %u: at most %u bytes in a packet", mtu, chunk,
		  seen.most);
}

/* No packet has more of a message than a chunk, segmented or not. */
TEST(chunk)
{
	static const u32 mtus[] = { 1500, 9000, 65536 };
	unsigned int i;

	begin(1500);
	parse_dscps(DSCPS);
	look(CHUNK);
	for (i = 0; i < 3; i++) {
		host_sh("ip link set lo mtu %u", mtus[i]);
		calls(300000, 1);	/* until the MTU is known */
		look(CHUNK);
		chunks(mtus[i], 4096);
		chunks(mtus[i], 16384);
	}
	end();
}

/* -- packet priority ------------------------------------------------------------------------- */

/* Number of packets that each band of the qdisc prio has sent. */
static void read_bands(u64 *bands)
{
	unsigned long long bytes, packets;
	unsigned int band = 0;
	char line[400];
	FILE *tc = popen("tc -s class show dev lo", "r");

	CHECK(tc);
	memset(bands, 0, BANDS * sizeof(*bands));
	while (fgets(line, sizeof(line), tc)) {
		if (sscanf(line, "class prio 1:%x", &band) == 1)
			continue;
		if (band && sscanf(line, " Sent %llu bytes %llu pkt", &bytes, &packets) == 2)
			bands[band - 1] = packets;
	}
	CHECK(!pclose(tc));
}

/*
 * Makes calls of all sizes over a qdisc with a band for each packet priority. Each band must have
 * the packets of the network priorities that @text assigns to it.
 */
static void bands_are(const char *text)
{
	u64 before[BANDS], bands[BANDS], want[BANDS] = {};
	unsigned int i, of[MRPC_PRIO_CLASSES];
	char *end;

	read_bands(before);
	look(CHUNK);
	calls(20, 5);
	calls(1000, 5);
	calls(5000, 5);
	calls(1 << 20, 1);
	raw_sleep(100 * RAW_MS * raw_patience());	/* the last acknowledgements */
	read_bands(bands);
	look(CHUNK);
	for (i = 0; i < MRPC_PRIO_CLASSES; i++, text = end + 1) {
		of[i] = strtoul(text, &end, 10);
		want[of[i]] += seen.datagrams[i];
	}
	for (i = 0; i < BANDS; i++)
		CHECK_MSG(bands[i] - before[i] == want[i], "priority %u: %llu packets, not %llu", i,
			  (unsigned long long)(bands[i] - before[i]), (unsigned long long)want[i]);
	for (i = 4; i < MRPC_PRIO_CLASSES; i++)
		CHECK(seen.datagrams[i]);
}

static void priorities(void)
{
	static const char other[] = "1,2,3,4,5,8,9,10";

	if (system("modprobe -q sch_prio; modinfo sch_prio >/dev/null"))
		SKIP("there is no prio qdisc here");
	host_sh("tc qdisc add dev lo root handle 1: prio bands 16 "
		"priomap 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
	tell_apart();
	text_is(PARAMETER("skb_priority"), PRIORITIES);
	bands_are(PRIORITIES);
	CHECK(raw_file_write(PARAMETER("skb_priority"), other));
	text_is(PARAMETER("skb_priority"), other);
	bands_are(other);
}

TEST(skb_priority)
{
	begin(1500);
	priorities();
	end();
}

TEST(skb_priority6)
{
	begin6(1500);
	priorities();
	end();
}

/* -- checksums ------------------------------------------------------------------------------- */

/*
 * Bits change on the way, and UDP's checksums with them, as if a router computed these anew. prio's
 * own checksums find it. No wrong byte arrives, and none is missing. (Over IPv6: all of 127.0.0.0/8
 * is this host. A spoofed packet from there would be answered with a RESET for a lost peer.)
 */
TEST_LIMIT(checksums, 180)
{
	static const u32 sizes[] = { 1, 1000, 5000, 40000, 300000 };
	char addr[64];
	unsigned int i;
	int64_t crc;

	if (system("modprobe -qa sch_netem sch_ingress act_csum cls_matchall; modinfo sch_netem "
		   "act_csum cls_matchall >/dev/null"))
		SKIP("there is no netem or no csum here");
	serve(1500);
	CHECK(raw_file_write(PARAMETER("crc"), "Y"));
	snprintf(addr, sizeof(addr), "prio:[::1]:%u", srv.s.port);
	conns[0] = raw_connect(&c, addr);
	CHECK_MSG(conns[0] > 0, "%s: %s", addr, c.why);
	host_sh("tc qdisc add dev lo clsact; "
		"tc filter add dev lo ingress matchall action csum udp");
	host_sh("tc qdisc add dev lo root netem limit 10000 corrupt 1%%");
	crc = op_transport("prio", MRPC_A_TRANSPORT_DROP, "crc");
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		loads[0] = (struct load){ .len = sizes[i] };
		load_start(&loads[0], &c, conns[0], 8);
		CHECK(load_more(&loads[0], 60, 60000));
		load_stop(&loads[0]);
		CHECK_MSG(!load_failed(&loads[0]), "a call has failed: %s", loads[0].detail);
		CHECK_EQ(loads[0].wrong, 0);
		CHECK_EQ(loads[0].reused, 0);
	}
	crc = op_transport("prio", MRPC_A_TRANSPORT_DROP, "crc") - crc;
	NOTE("%lld packets had a wrong checksum", (long long)crc);
	CHECK(crc > 0);
	end();
}
