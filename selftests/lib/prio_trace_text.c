// SPDX-License-Identifier: GPL-2.0
/* Traces of the prio transport: lines of text, and packets in them. See prio_trace.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "prio_trace.h"

#define HEX_LINE	32	/* bytes */

const char *trace_line(const char *text, char *line, u32 size)
{
	const char *end = strchr(text, '\n');
	u32 len;

	if (!end)
		return NULL;
	len = min_t(u32, end - text, size - 1);
	memcpy(line, text, len);
	line[len] = 0;
	return end + 1;
}

bool trace_word(const char *line, const char *key, char *word, u32 size)
{
	size_t len = strlen(key);
	const char *at = line;

	while ((at = strstr(at, key))) {
		if (at > line && at[-1] == ' ' && at[len] == '=') {
			snprintf(word, size, "%.*s", (int)strcspn(at + len + 1, " "), at + len + 1);
			return true;
		}
		at += len;
	}
	return false;
}

bool trace_number(const char *line, const char *key, u64 *value)
{
	char word[32], *end;

	if (!trace_word(line, key, word, sizeof(word)))
		return false;
	*value = strtoull(word, &end, 0);
	return end > word && !*end;
}

u32 trace_bytes(const char *digits, u8 *buf, u32 size)
{
	static const char hex[] = "0123456789abcdef";
	u32 n;

	for (n = 0; digits[2 * n] && digits[2 * n + 1]; n++) {
		const char *high = strchr(hex, digits[2 * n]);
		const char *low = strchr(hex, digits[2 * n + 1]);

		if (!high || !low || n == size)
			return 0;
		buf[n] = (high - hex) << 4 | (low - hex);
	}
	return digits[2 * n] ? 0 : n;
}

/* -- packets ------------------------------------------------------------------- */

static const char * const types[] = {
	[MRPC_PRIO_DATA] = "DATA",
	[MRPC_PRIO_CONTROL] = "CONTROL",
	[MRPC_PRIO_HELLO] = "HELLO",
	[MRPC_PRIO_COOKIE] = "COOKIE",
	[MRPC_PRIO_WELCOME] = "WELCOME",
	[MRPC_PRIO_RESET] = "RESET",
};

static const char * const kinds[] = { "OPEN", "REQUEST", "REPLY", "OTHER" };

static const char * const ops[] = {
	[MRPC_PRIO_GRANT] = "GRANT",
	[MRPC_PRIO_RESEND] = "RESEND",
	[MRPC_PRIO_ACK] = "ACK",
	[MRPC_PRIO_REFUSE] = "REFUSE",
	[MRPC_PRIO_BUSY] = "BUSY",
	[MRPC_PRIO_ABORT] = "ABORT",
	[MRPC_PRIO_PING] = "PING",
	[MRPC_PRIO_PONG] = "PONG",
};

static const char * const codes[] = {
	[MRPC_PRIO_LATER] = "LATER",
	[MRPC_PRIO_UNKNOWN] = "UNKNOWN",
	[MRPC_PRIO_TOO_BIG] = "TOO_BIG",
	[MRPC_PRIO_REJECTED] = "REJECTED",
};

static void show_flags(FILE *out, u8 flags)
{
	static const char * const names[] = { "CRC", "AGAIN", "URGE", "ECN" };
	const char *before = "";
	u32 i;

	fprintf(out, " flags=");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (flags & BIT(i)) {
			fprintf(out, "%s%s", before, names[i]);
			before = "+";
		}
	}
	if (!flags)
		fputc('0', out);
}

static void show_entry(FILE *out, const struct mrpc_prio_note *n)
{
	fprintf(out, "  entry op=%s msg=%llu from=%u to=%u class=%u code=%s\n", ops[n->op],
		(unsigned long long)n->msg, n->from, n->to, n->class,
		n->code ? codes[n->code] : "0");
}

static void show_header(FILE *out, const struct mrpc_prio_packet *p)
{
	fprintf(out, "  header type=%s", types[p->type]);
	show_flags(out, p->flags);
	fprintf(out, " priority=%u nr=%u to=0x%llx crc=0x%x from=0x%x\n", p->priority, p->nr,
		(unsigned long long)p->to, p->crc, p->from);
}

static void show_data(FILE *out, const struct mrpc_prio_packet *p)
{
	fprintf(out, "  data conn=%llu msg=%llu ack=%llu total=%u offset=%u unscheduled=%u kind=%s",
		(unsigned long long)p->conn, (unsigned long long)p->msg,
		(unsigned long long)p->ack, p->total, p->offset, p->unscheduled, kinds[p->kind]);
	fprintf(out, " behind=%u payload=%u\n", p->behind, p->len);
}

static void show_body(FILE *out, const struct mrpc_prio_packet *p)
{
	fprintf(out, "  body token=0x%llx cookie=0x%llx epoch=%u features=%u unscheduled=%u",
		(unsigned long long)p->token, (unsigned long long)p->cookie, p->epoch, p->features,
		p->budget);
	fprintf(out, " max_total=%u stamp=%llu\n", p->max_total, (unsigned long long)p->stamp);
}

static void show_fields(FILE *out, const struct mrpc_prio_packet *p)
{
	struct mrpc_prio_note note;
	u32 i;

	show_header(out, p);
	switch (p->type) {
	case MRPC_PRIO_DATA:
		show_data(out, p);
		break;
	case MRPC_PRIO_CONTROL:
		for (i = 0; i < p->nr; i++) {
			mrpc_prio_note_get(p, i, &note);
			show_entry(out, &note);
		}
		break;
	case MRPC_PRIO_RESET:
		break;
	default:
		show_body(out, p);
	}
}

/* A malformed one has no fields, and what follows it is not looked at. */
void trace_show_packet(FILE *out, const char *line, const u8 *buf, u32 len)
{
	struct mrpc_prio_packet p;
	u32 why, i, at = 0;

	fprintf(out, "%s len=%u\n", line, len);
	do {
		if (mrpc_prio_parse(buf + at, len - at, len - at, &p, &why)) {
			fprintf(out, "  malformed why=%s\n", mrpc_prio_drop_name(why));
			break;
		}
		show_fields(out, &p);
		at += p.size;
	} while (at < len);
	for (i = 0; i < len; i++)
		fprintf(out, "%s%02x%s", i % HEX_LINE ? "" : "  | ", buf[i],
			i % HEX_LINE == HEX_LINE - 1 || i == len - 1 ? "\n" : "");
}

/* -- parts of a trace ---------------------------------------------------------- */

void trace_filter(const char *text, char only, FILE *out)
{
	char line[4096];
	bool mine = false;

	while ((text = trace_line(text, line, sizeof(line)))) {
		if (line[0] != ' ')
			mine = (line[0] == only && line[1] == ' ') || !strncmp(line, "time ", 5);
		if (mine)
			fprintf(out, "%s\n", line);
	}
}
