// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio */
/*
 * The vectors of the prio transport's protocol, Documentation/prio-vectors: they are what the
 * code does; their fields are where the document says, read by tables of its own; and each end of
 * them, fed what came to it, does again what it did.
 */
#include <sys/stat.h>

#include "prio_net.h"
#include "prio_scenes.h"
#include "tap.h"

/* Of the sources that this program was built from */
static const char *directory(void)
{
	static char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/../../Documentation/prio-vectors", SOURCE_DIR);
	CHECK_MSG(!stat(path, &st), "no %s", path);
	return path;
}

static char *read_file(const char *name)
{
	char path[4200], *text;
	long len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.txt", directory(), name);
	f = fopen(path, "r");
	CHECK_MSG(f, "%s: %m", path);
	fseek(f, 0, SEEK_END);
	len = ftell(f);
	rewind(f);
	text = calloc(1, len + 1);
	CHECK_EQ(fread(text, 1, len, f), len);
	fclose(f);
	return text;
}

/* They are equal, or the first line that is not is shown. */
static void check_text(const char *name, const char *is, const char *should)
{
	char a[4096], b[4096];
	u32 line = 0;

	while (strcmp(is, should)) {
		const char *next = trace_line(is, a, sizeof(a));
		const char *want = trace_line(should, b, sizeof(b));

		line++;
		CHECK_MSG(next && want && !strcmp(a, b), "%s, line %u: \"%s\" should be \"%s\"",
			  name, line, next ? a : "(end)", want ? b : "(end)");
		is = next;
		should = want;
	}
}

TEST(prio_vectors_are_what_the_code_does)
{
	u32 i;

	for (i = 0; i < nr_prio_scenes; i++) {
		char *file = read_file(prio_scenes[i].name);
		char *text = prio_scene_text(&prio_scenes[i]);

		check_text(prio_scenes[i].name, file, text);
		free(text);
		free(file);
	}
}

/* What @end does in @text, done again by it alone. */
static void replay(const char *name, const char *text, char end)
{
	char *again = NULL, *half = NULL;
	size_t len;
	FILE *f = open_memstream(&half, &len);
	struct trace *t;

	trace_filter(text, end, f);
	fclose(f);
	f = open_memstream(&again, &len);
	t = trace_new(f);
	CHECK(trace_replay(t, text, end));
	trace_free(t);
	fclose(f);
	check_text(name, again, half);
	CHECK(len > 100);
	free(again);
	free(half);
}

TEST(prio_vectors_replay)
{
	u32 i;

	for (i = 0; i < nr_prio_scenes; i++) {
		char *file = read_file(prio_scenes[i].name);

		replay(prio_scenes[i].name, file, 'A');
		replay(prio_scenes[i].name, file, 'B');
		free(file);
	}
}

/* -- fields, by the tables of prio-protocol.rst -------------------------------- */

struct field {
	const char *name;
	u32 offset;
	u32 bytes;
};

static const struct field header_fields[] = {
	{ "type", 3, 1 }, { "flags", 4, 1 }, { "priority", 5, 1 }, { "nr", 6, 2 }, { "to", 8, 8 },
	{ "crc", 16, 4 }, { "from", 20, 4 }, { }
};

static const struct field data_fields[] = {
	{ "conn", 24, 8 }, { "msg", 32, 8 }, { "ack", 40, 8 }, { "total", 48, 4 },
	{ "offset", 52, 4 }, { "unscheduled", 56, 4 }, { "kind", 60, 1 }, { "behind", 62, 2 }, { }
};

static const struct field entry_fields[] = {
	{ "msg", 0, 8 }, { "from", 8, 4 }, { "to", 12, 4 }, { "op", 16, 1 }, { "class", 17, 1 },
	{ "code", 18, 2 }, { }
};

static const struct field body_fields[] = {
	{ "token", 24, 8 }, { "cookie", 32, 8 }, { "epoch", 40, 4 }, { "features", 44, 4 },
	{ "unscheduled", 48, 4 }, { "max_total", 52, 4 }, { "stamp", 56, 8 }, { }
};

/* Names of values, which are unique, and how often each was met */
static struct name {
	const char *field;
	const char *name;
	u32 value;
	u32 met;
} names[] = {
	{ "type", "DATA", 1, 0 }, { "type", "CONTROL", 2, 0 }, { "type", "HELLO", 3, 0 },
	{ "type", "COOKIE", 4, 0 }, { "type", "WELCOME", 5, 0 }, { "type", "RESET", 6, 0 },
	{ "flags", "CRC", 1, 0 }, { "flags", "AGAIN", 2, 0 }, { "flags", "URGE", 4, 0 },
	{ "flags", "ECN", 8, 0 },
	{ "kind", "OPEN", 0, 0 }, { "kind", "REQUEST", 1, 0 }, { "kind", "REPLY", 2, 0 },
	{ "kind", "OTHER", 3, 0 },
	{ "op", "GRANT", 1, 0 }, { "op", "RESEND", 2, 0 }, { "op", "ACK", 3, 0 },
	{ "op", "REFUSE", 4, 0 }, { "op", "BUSY", 5, 0 }, { "op", "ABORT", 6, 0 },
	{ "op", "PING", 7, 0 }, { "op", "PONG", 8, 0 },
	{ "code", "LATER", 1, 0 }, { "code", "UNKNOWN", 2, 0 }, { "code", "TOO_BIG", 3, 0 },
	{ "code", "REJECTED", 4, 0 },
};

static u64 little_endian(const u8 *p, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

/* A number, or names joined by '+'. */
static u64 value_of(const char *field, const char *word)
{
	u64 value = 0;
	u32 i, len;

	if (*word >= '0' && *word <= '9')
		return strtoull(word, NULL, 0);
	for (; *word; word += len + (word[len] == '+')) {
		len = strcspn(word, "+");
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (!strcmp(names[i].field, field) && strlen(names[i].name) == len &&
			    !strncmp(names[i].name, word, len))
				break;
		CHECK_MSG(i < ARRAY_SIZE(names), "%s=%s", field, word);
		names[i].met++;
		value |= names[i].value;
	}
	return value;
}

static void check_fields(const char *line, const struct field *f, const u8 *at)
{
	char word[64];

	for (; f->name; f++) {
		CHECK_MSG(trace_word(line, f->name, word, sizeof(word)), "no %s: %s", f->name,
			  line);
		CHECK_MSG(little_endian(at + f->offset, f->bytes) == value_of(f->name, word),
			  "%s is not %s: %s", f->name, word, line);
	}
}

/* The lines of a packet behind its first, and its bytes */
struct shown {
	char lines[64][512];
	u32 nr_lines;
	u8 bytes[TRACE_PACKET] __attribute__((__aligned__(8)));
	u32 len;
};

static const char *read_packet(const char *text, struct shown *s)
{
	char line[4096];
	const char *next;

	s->nr_lines = 0;
	s->len = 0;
	while ((next = trace_line(text, line, sizeof(line))) && line[0] == ' ') {
		if (!strncmp(line, "  | ", 4))
			s->len += trace_bytes(line + 4, s->bytes + s->len, TRACE_PACKET - s->len);
		else
			snprintf(s->lines[s->nr_lines++ % 64], 512, "%.511s", line + 1);
		text = next;
	}
	return text;
}

static bool begins(const char *line, const char *word)
{
	return !strncmp(line, word, strlen(word));
}

static void check_sum(const u8 *packet, u32 len, const char *line)
{
	u8 copy[TRACE_PACKET] __attribute__((__aligned__(8)));

	memcpy(copy, packet, len);
	pnet_set_sum(copy, len);
	CHECK_MSG(line[0] == 'X' || !memcmp(copy, packet, len), "wrong sum: %s", line);
}

/* The packet at byte @at, of line @i on. Return: the line behind its own; @len: out: its bytes */
static u32 check_packet(const struct shown *s, u32 i, u32 at, u32 *len)
{
	const u8 *bytes = s->bytes + at;
	u64 payload = 0;

	*len = 24;
	check_fields(s->lines[i], header_fields, bytes);
	CHECK_EQ(little_endian(bytes, 2), 0x506d);
	CHECK_EQ(bytes[2], 1);
	for (i++; i < s->nr_lines && !begins(s->lines[i], " header ") &&
	     !begins(s->lines[i], " malformed "); i++) {
		const char *line = s->lines[i];

		if (begins(line, " data ")) {
			check_fields(line, data_fields, bytes);
			CHECK(trace_number(line, "payload", &payload));
			*len += 40;
		} else if (begins(line, " body ")) {
			check_fields(line, body_fields, bytes);
			*len += 40;
		} else {
			CHECK(begins(line, " entry "));
			check_fields(line, entry_fields, bytes + *len);
			*len += 24;
		}
	}
	*len += payload;
	return i;
}

/* @line: the first of it. Return: whether it has several packets */
static bool check_datagram(const struct shown *s, const char *line)
{
	u32 i = 0, at = 0, len, n;

	for (n = 0; i < s->nr_lines && !begins(s->lines[i], " malformed "); n++) {
		i = check_packet(s, i, at, &len);
		CHECK(at + len <= s->len);
		check_sum(s->bytes + at, len, line);
		at += len;
	}
	if (i == s->nr_lines)
		CHECK_EQ(at, s->len);
	return n > 1;
}

/* Return: datagrams. @several: out: those of several packets */
static u32 check_file(const char *text, u32 *several)
{
	static struct shown s;
	char line[4096];
	u32 n = 0;
	u64 len;

	while ((text = trace_line(text, line, sizeof(line)))) {
		if (strncmp(line + 1, " send ", 6))
			continue;
		text = read_packet(text, &s);
		CHECK(trace_number(line, "len", &len));
		CHECK_EQ(len, s.len);
		n++;
		*several += check_datagram(&s, line);
	}
	return n;
}

TEST(prio_vectors_have_the_fields_of_the_document)
{
	u32 i, several = 0;

	for (i = 0; i < nr_prio_scenes; i++) {
		char *file = read_file(prio_scenes[i].name);

		CHECK(check_file(file, &several) > 5);
		free(file);
	}
	CHECK(several);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		CHECK_MSG(names[i].met, "no vector has %s %s", names[i].field, names[i].name);
}

/* Every reason but the one that takes an allocation that fails. */
TEST(prio_vectors_have_every_reason)
{
	u32 i, why;

	for (why = 0; why < MRPC_PRIO_NR_DROPS; why++) {
		char line[64];
		bool found = why == MRPC_PRIO_DROP_MEMORY;

		snprintf(line, sizeof(line), " drop why=%s\n", mrpc_prio_drop_name(why));
		for (i = 0; i < nr_prio_scenes && !found; i++) {
			char *file = read_file(prio_scenes[i].name);

			found = strstr(file, line);
			free(file);
		}
		CHECK_MSG(found, "no vector is dropped with%s", line + 5);
	}
}

/* A packet that is malformed has the reason that it is shown with. */
TEST(prio_vectors_malformed)
{
	char *file = read_file("malformed"), line[4096], word[32];
	const char *text = file;
	u32 n = 0;

	while ((text = trace_line(text, line, sizeof(line)))) {
		if (strncmp(line, "  malformed", 11))
			continue;
		CHECK(trace_word(line, "why", word, sizeof(word)));
		while ((text = trace_line(text, line, sizeof(line))) && line[2] == '|')
			;
		CHECK(strstr(line, " take packet="));
		text = trace_line(text, line, sizeof(line));
		CHECK(text && strstr(line, " drop why="));
		CHECK_STR(strstr(line, "why=") + 4, word);
		n++;
	}
	CHECK(n >= 40);
	free(file);
}
