// SPDX-License-Identifier: GPL-2.0
/* Traces of the prio transport: the ends, and what happens to them. See prio_trace.h. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "prio_malloc.h"
#include "prio_net.h"
#include "prio_trace.h"

static const char * const statuses[] = {
	"DONE", "ABORTED", "REFUSED", "RESTARTED", "SILENT", "REMOVED"
};

static __attribute__((__noreturn__)) void bad(const char *line)
{
	fprintf(stderr, "prio trace: %s\n", line);
	abort();
}

static u32 content_sum(const u8 *p, u32 len)
{
	u32 sum = ~0U, i, k;

	for (i = 0; i < len; i++)
		for (sum ^= p[i], k = 0; k < 8; k++)
			sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78 : 0);
	return ~sum;
}

/* Of the packet that @buf begins with. */
static bool sum_ok(const u8 *buf, u32 len)
{
	u8 copy[TRACE_PACKET] __attribute__((__aligned__(8)));

	memcpy(copy, buf, len);
	pnet_set_sum(copy, len);
	return !memcmp(copy, buf, len);
}

/* -- what an end does ---------------------------------------------------------- */

static u32 packet_add(struct trace *t, const u8 *buf, u32 len, char from)
{
	struct trace_packet *p = &t->packets[++t->nr_packets];

	if (t->nr_packets > TRACE_PACKETS || len > TRACE_PACKET)
		bad("too many packets, or too long");
	memcpy(p->buf, buf, len);
	p->len = len;
	p->from = from;
	p->flies = from != 'X';
	return t->nr_packets;
}

/* @buf: a datagram; its packets have their sums */
static void show_sent(struct trace *t, struct trace_end *e, u8 *buf, u32 len, u32 class)
{
	char line[80];
	u32 nr;

	nr = packet_add(t, buf, len, e->name);
	snprintf(line, sizeof(line), "%c send packet=%u class=%u", e->name, nr, class);
	trace_show_packet(t->out, line, buf, len);
}

static void send_chunk(struct trace *t, struct trace_end *e, const struct mrpc_prio_chunk *c)
{
	const u8 *content = container_of(c->tx, struct trace_tx, tx)->content;
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8)));
	u32 at = 0, len;

	do {
		len = min(c->len - at, e->peer.payload);
		mrpc_prio_chunk_header(c, at, buf);
		memcpy(buf + MRPC_PRIO_DATA_HDR, content + c->offset + at, len);
		pnet_set_sum(buf, MRPC_PRIO_DATA_HDR + len);
		show_sent(t, e, buf, MRPC_PRIO_DATA_HDR + len, c->class);
		at += len;
	} while (at < c->len);
	mrpc_prio_tx_sent(&e->ep, c, c->len, true, t->now);
}

/* Several in one datagram. */
static void send_chunks(struct trace *t, struct trace_end *e, const struct mrpc_prio_chunk *c,
			u32 nr)
{
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8)));
	u32 len = 0, i;

	for (i = 0; i < nr; i++) {
		mrpc_prio_chunk_header(&c[i], 0, buf + len);
		memcpy(buf + len + MRPC_PRIO_DATA_HDR,
		       container_of(c[i].tx, struct trace_tx, tx)->content, c[i].len);
		pnet_set_sum(buf + len, MRPC_PRIO_DATA_HDR + c[i].len);
		len += MRPC_PRIO_DATA_HDR + c[i].len;
	}
	show_sent(t, e, buf, len, c->class);
	for (i = 0; i < nr; i++)
		mrpc_prio_tx_sent(&e->ep, &c[i], c[i].len, true, t->now);
}

static void show_ended(struct trace *t, struct trace_end *e)
{
	struct mrpc_prio_tx *tx;
	struct mrpc_prio_rx *rx;
	u32 i;

	for (i = 0; i < MRPC_PRIO_NR_DROPS; i++)
		for (; e->drops[i] < e->ep.stats.drops[i]; e->drops[i]++)
			fprintf(t->out, "%c drop why=%s\n", e->name, mrpc_prio_drop_name(i));
	if (mrpc_prio_peer_event(&e->ep)) {
		fprintf(t->out, "%c peer", e->name);
		if (e->peer.state == MRPC_PRIO_PEER_UP)
			fprintf(t->out, " up\n");
		else
			fprintf(t->out, " down status=%s\n", statuses[e->peer.status]);
	}
	while ((tx = mrpc_prio_tx_ended(&e->ep)))
		fprintf(t->out, "%c ended m=%td status=%s code=%u\n", e->name,
			container_of(tx, struct trace_tx, tx) - e->tx, statuses[tx->status],
			tx->status == MRPC_PRIO_REFUSED ? tx->code : 0);
	while ((rx = mrpc_prio_rx_ended(&e->ep)))
		fprintf(t->out, "%c gone msg=%llu status=%s\n", e->name,
			(unsigned long long)rx->msg, statuses[rx->status]);
}

/* Everything that it has to say, at once. */
static void end_flush(struct trace *t, struct trace_end *e)
{
	u32 size = MRPC_PRIO_DATA_HDR + e->payload, len;
	struct mrpc_prio_chunk chunks[TRACE_TOGETHER];
	struct mrpc_prio_peer *peer;
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8)));
	u32 nr;

	show_ended(t, e);
	if (e->answer_len) {
		pnet_set_sum(e->answer, e->answer_len);
		show_sent(t, e, e->answer, e->answer_len, MRPC_PRIO_CONTROL_CLASS);
	}
	e->answer_len = 0;
	while ((len = mrpc_prio_control_next(&e->ep, t->now, buf, max_t(u32, size, 400), &peer))) {
		pnet_set_sum(buf, len);
		show_sent(t, e, buf, len, MRPC_PRIO_CONTROL_CLASS);
	}
	while (mrpc_prio_tx_next(&e->ep, t->now, chunks)) {
		nr = mrpc_prio_tx_more(&e->ep, t->now, chunks, TRACE_TOGETHER);
		if (nr > 1)
			send_chunks(t, e, chunks, nr);
		else
			send_chunk(t, e, chunks);
	}
}

/* -- what comes to it ---------------------------------------------------------- */

static void end_place(struct trace *t, struct trace_end *e, const u8 *payload,
		      const struct mrpc_prio_event *ev)
{
	struct trace_rx *r;

	if (ev->type != MRPC_PRIO_EVENT_DATA)
		return;
	r = container_of(ev->rx, struct trace_rx, rx);
	memcpy(r->content + ev->offset, payload + ev->skip, ev->len);
	if (mrpc_prio_taken(&e->ep, ev, t->now))
		fprintf(t->out, "%c complete msg=%llu conn=%llu kind=%u priority=%u total=%u"
			" crc32c=0x%x\n", e->name, (unsigned long long)r->rx.msg,
			(unsigned long long)r->rx.conn, r->rx.kind, r->rx.priority, r->rx.total,
			content_sum(r->content, r->rx.total));
}

static void end_message(struct trace *t, struct trace_end *e, const u8 *payload,
			const struct mrpc_prio_packet *parsed, struct mrpc_prio_event *ev)
{
	struct trace_rx *r = &e->rx[e->nr_rx];

	if (e->refuse) {
		mrpc_prio_refuse(&e->ep, &e->peer, parsed, e->refuse);
		return;
	}
	if (e->nr_rx++ == TRACE_MESSAGES)
		bad("too many messages");
	free(r->content);
	r->content = calloc(1, parsed->total + 1);
	mrpc_prio_accept(&e->ep, &e->peer, &r->rx, parsed, e->limit, t->now, ev);
	end_place(t, e, payload, ev);
}

/* The first packet of @len bytes at @buf. Return: its bytes; 0: what follows does not count */
static u32 end_take_one(struct trace *t, struct trace_end *e, const u8 *buf, u32 len, bool ecn,
			char from)
{
	const u8 *payload = buf + MRPC_PRIO_DATA_HDR;
	bool known = e->there && (from == 'A' || from == 'B');
	struct mrpc_prio_packet parsed;
	struct mrpc_prio_event ev;
	u32 why;

	if (mrpc_prio_parse(buf, len, len, &parsed, &why)) {
		mrpc_prio_count(&e->ep, why);
		return 0;
	}
	if (!sum_ok(buf, parsed.size)) {
		mrpc_prio_count(&e->ep, MRPC_PRIO_DROP_CRC);
		return 0;
	}
	mrpc_prio_receive(&e->ep, known ? &e->peer : NULL, &from, 1, &parsed, ecn, t->now, &ev);
	switch (ev.type) {
	case MRPC_PRIO_EVENT_ANSWER:
		memcpy(e->answer, ev.answer, ev.answer_len);
		e->answer_len = ev.answer_len;
		return 0;
	case MRPC_PRIO_EVENT_PEER:
		mrpc_prio_welcome(&e->ep, &e->peer, e->payload, &parsed, t->now);
		e->there = true;
		break;
	case MRPC_PRIO_EVENT_MESSAGE:
		end_message(t, e, payload, &parsed, &ev);
		break;
	default:
		end_place(t, e, payload, &ev);
	}
	return parsed.size;
}

/* @from: whose address it has */
static void end_take(struct trace *t, struct trace_end *e, const struct trace_packet *p, bool ecn,
		     char from)
{
	u32 at = 0, n;

	do {
		n = end_take_one(t, e, p->buf + at, p->len - at, ecn, from);
		at += n;
	} while (n && at < p->len);
}

/* -- events -------------------------------------------------------------------- */

static u64 number(const char *line, const char *key, u64 otherwise)
{
	u64 value = otherwise;
	char word[8];

	if (trace_word(line, key, word, sizeof(word)) && !trace_number(line, key, &value))
		bad(line);
	return value;
}

/* Which of @nr, for a message of this end */
static u32 index_of(const char *line, const char *key, u32 nr)
{
	u64 i = number(line, key, nr);

	if (i >= nr)
		bad(line);
	return i;
}

static void end_stop(struct trace_end *e)
{
	u32 i;

	if (!e->started)
		return;
	if (e->there)
		mrpc_prio_peer_remove(&e->ep, &e->peer);
	while (mrpc_prio_tx_ended(&e->ep) || mrpc_prio_rx_ended(&e->ep))
		;
	mrpc_prio_fini(&e->ep);
	for (i = 0; i < TRACE_MESSAGES; i++) {
		free(e->tx[i].content);
		free(e->rx[i].content);
	}
}

/* A new incarnation; the same one has the same secret again. */
static void do_start(struct trace *t, struct trace_end *e, const char *line)
{
	u64 key[2] = { number(line, "secret", 0), 7 };
	struct mrpc_prio_rule r;
	char name = e->name;

	end_stop(e);
	memset(e, 0, sizeof(*e));
	e->name = name;
	e->started = true;
	e->limit = U32_MAX;
	mrpc_prio_rule_default(&r);
	e->payload = number(line, "payload", 128);
	r.chunk = number(line, "chunk", e->payload);
	r.step = number(line, "step", e->payload);
	r.unscheduled = number(line, "unscheduled", 4 * e->payload);
	r.window = number(line, "window", 4 * e->payload);
	r.outstanding = number(line, "outstanding", 8 * e->payload);
	r.reorder = number(line, "reorder", 2 * e->payload);
	r.overcommit = number(line, "overcommit", 1);
	r.crc = number(line, "crc", 0);
	r.max_total = number(line, "max_total", 1 << 20);
	r.max_rx_peer = number(line, "max_rx", 64);
	r.silence = number(line, "silence", r.silence);
	if (mrpc_prio_init(&e->ep, &r, &prio_malloc_ops, e, e->hash, TRACE_BUCKETS, key, t->now))
		bad(line);
	if (number(line, "knows", 0)) {
		mrpc_prio_peer_add(&e->ep, &e->peer, e->payload, t->now);
		e->there = true;
	}
}

static void do_submit(struct trace *t, struct trace_end *e, const char *line)
{
	u32 m = index_of(line, "m", TRACE_MESSAGES), total = number(line, "total", 0), i;
	struct trace_tx *x = &e->tx[m];
	char digits[2048];

	if (trace_word(line, "content", digits, sizeof(digits)))
		total = strlen(digits) / 2;
	else
		digits[0] = 0;
	free(x->content);
	x->content = malloc(total + 1);
	for (i = 0; i < total; i++)
		x->content[i] = 16 * m + i;
	if (digits[0] && trace_bytes(digits, x->content, total) != total)
		bad(line);
	x->tx.conn = number(line, "conn", 1);
	x->tx.total = total;
	x->tx.priority = number(line, "priority", 0);
	x->tx.kind = number(line, "kind", MRPC_PRIO_REQUEST);
	x->tx.urgent = number(line, "urgent", 0);
	if (!e->there || mrpc_prio_submit(&e->ep, &e->peer, &x->tx, t->now))
		bad(line);
}

static void do_policy(struct trace_end *e, const char *line)
{
	e->refuse = number(line, "refuse", 0);
	e->limit = number(line, "limit", U32_MAX);
}

static struct trace_rx *rx_of(struct trace_end *e, const char *line)
{
	u64 msg = number(line, "msg", 0);
	u32 i;

	for (i = 0; i < e->nr_rx; i++)
		if (e->rx[i].rx.msg == msg && e->rx[i].rx.state == MRPC_PRIO_RX_ACTIVE)
			return &e->rx[i];
	bad(line);
}

static void do_take(struct trace *t, struct trace_end *e, const char *line)
{
	struct trace_packet *p = &t->packets[index_of(line, "packet", TRACE_PACKETS + 1)];
	char from[2] = { e->name == 'A' ? 'B' : 'A', 0 };

	trace_word(line, "from", from, sizeof(from));
	p->flies = false;
	end_take(t, e, p, number(line, "ecn", 0), from[0]);
}

static void do_event(struct trace *t, struct trace_end *e, const char *line)
{
	const char *what = line + 2;
	size_t len = strcspn(what, " ");

#define IS(word) (len == strlen(word) && !strncmp(what, word, len))
	if (IS("start"))
		do_start(t, e, line);
	else if (IS("submit"))
		do_submit(t, e, line);
	else if (IS("take"))
		do_take(t, e, line);
	else if (IS("abort"))
		mrpc_prio_tx_abort(&e->ep, &e->tx[index_of(line, "m", TRACE_MESSAGES)].tx, t->now);
	else if (IS("reject"))
		mrpc_prio_rx_reject(&e->ep, &rx_of(e, line)->rx, t->now);
	else if (IS("want"))
		mrpc_prio_rx_limit(&e->ep, &rx_of(e, line)->rx, number(line, "limit", 0), t->now);
	else if (IS("policy"))
		do_policy(e, line);
	else if (IS("path"))
		mrpc_prio_peer_payload(&e->peer, number(line, "payload", 1));
	else
		bad(line);
#undef IS
	end_flush(t, e);
}

static void do_time(struct trace *t, const char *line)
{
	u32 i;

	t->now = strtoull(line + 5, NULL, 10);
	for (i = 0; i < 2; i++) {
		if (!t->end[i].started)
			continue;
		while (mrpc_prio_timeout(&t->end[i].ep, t->now))
			;
		end_flush(t, &t->end[i]);
	}
}

static void do_line(struct trace *t, const char *line)
{
	fprintf(t->out, "%s\n", line);
	if (!strncmp(line, "time ", 5))
		do_time(t, line);
	else if (line[0] == 'A' || line[0] == 'B')
		do_event(t, &t->end[line[0] - 'A'], line);
	else
		bad(line);
}

void trace_event(struct trace *t, const char *fmt, ...)
{
	char line[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	do_line(t, line);
}

void trace_say(struct trace *t, const char *text)
{
	fprintf(t->out, "%s%s\n", *text ? "# " : "", text);
}

u32 trace_forge(struct trace *t, const u8 *buf, u32 len)
{
	u8 copy[TRACE_PACKET] __attribute__((__aligned__(8)));
	char line[80];
	u32 nr;

	memcpy(copy, buf, len);
	nr = packet_add(t, copy, len, 'X');
	snprintf(line, sizeof(line), "X send packet=%u class=0", nr);
	trace_show_packet(t->out, line, copy, len);
	return nr;
}

/* -- once more ----------------------------------------------------------------- */

/* The packets of @text, as if they had all been sent. */
static bool read_packets(struct trace *t, const char *text)
{
	struct trace_packet *p = NULL;
	char line[4096];
	u64 nr;

	while ((text = trace_line(text, line, sizeof(line)))) {
		if (!strncmp(line + 1, " send ", 6)) {
			if (!trace_number(line, "packet", &nr) || nr != ++t->nr_packets ||
			    nr > TRACE_PACKETS)
				return false;
			p = &t->packets[nr];
			p->len = 0;
		} else if (p && !strncmp(line, "  | ", 4)) {
			u32 n = trace_bytes(line + 4, p->buf + p->len, TRACE_PACKET - p->len);

			if (!n)
				return false;
			p->len += n;
		}
	}
	return t->nr_packets;
}

/* Lines that say what happens, rather than what an end does about it */
static bool is_event(const char *line)
{
	static const char * const words[] = {
		"start ", "submit ", "take ", "abort ", "reject ", "want ", "policy ", "path "
	};
	u32 i;

	if (!strncmp(line, "time ", 5))
		return true;
	if ((line[0] != 'A' && line[0] != 'B') || line[1] != ' ')
		return false;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strncmp(line + 2, words[i], strlen(words[i])))
			return true;
	return false;
}

/*
 * An end numbers its packets as they are numbered in @text: before each event, from the
 * number of the next packet there.
 */
static void number_on(struct trace *t, const char *text, char only)
{
	char line[4096];
	u64 nr;

	while ((text = trace_line(text, line, sizeof(line)))) {
		if (line[0] == only && !strncmp(line + 1, " send ", 6) &&
		    trace_number(line, "packet", &nr)) {
			t->nr_packets = nr - 1;
			return;
		}
	}
}

bool trace_replay(struct trace *t, const char *text, char only)
{
	char line[4096];

	if (!read_packets(t, text))
		return false;
	while ((text = trace_line(text, line, sizeof(line)))) {
		bool mine = line[0] == only || line[0] == 't';

		if (!is_event(line) || !mine)
			continue;
		number_on(t, text, only);
		do_line(t, line);
	}
	return true;
}

struct trace *trace_new(FILE *out)
{
	struct trace *t = calloc(1, sizeof(*t));

	t->end[0].name = 'A';
	t->end[1].name = 'B';
	t->out = out;
	return t;
}

void trace_free(struct trace *t)
{
	end_stop(&t->end[0]);
	end_stop(&t->end[1]);
	free(t);
}
