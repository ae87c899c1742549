// SPDX-License-Identifier: GPL-2.0
/* Comments of a .proto, carried over to C. */
#include <string.h>

#include "comment.h"

struct lines {
	char **line;
	size_t nr;
};

/* What would end a comment, or look like a second one in it. */
static char *harmless(const char *from, size_t len)
{
	struct buf out = { 0 };
	size_t i;

	for (i = 0; i < len; i++) {
		buf_add(&out, from + i, 1);
		if (i + 1 < len && ((from[i] == '*' && from[i + 1] == '/') ||
				    (from[i] == '/' && from[i + 1] == '*')))
			buf_add(&out, " ", 1);
	}
	return out.data ? out.data : xasprintf("%s", "");
}

/* None that is empty at the start of a comment. */
static void add_line(struct lines *lines, const char *text, size_t len)
{
	if (!len && !lines->nr)
		return;
	lines->line = xrealloc(lines->line, lines->nr + 1, sizeof(*lines->line));
	lines->line[lines->nr++] = harmless(text, len);
}

/* Splits, without the space after // and space at the ends of lines. */
static void add_lines(struct lines *lines, const char *text)
{
	while (text && *text) {
		size_t len = strcspn(text, "\n"), use = len, skip = *text == ' ' && len;

		while (use > skip && strchr(" \t\r\f\v", text[use - 1]))
			use--;
		add_line(lines, text + skip, use - skip);
		text += len + (text[len] == '\n');
	}
	while (lines->nr && !*lines->line[lines->nr - 1])
		lines->nr--;
}

static void write_comment(struct buf *out, const char *indent, const struct lines *lines)
{
	size_t i;

	if (!lines->nr)
		return;
	if (lines->nr == 1) {
		buf_printf(out, "%s/* %s */\n", indent, lines->line[0]);
		return;
	}
	buf_printf(out, "%s/*\n", indent);
	for (i = 0; i < lines->nr; i++)
		buf_printf(out, "%s *%s%s\n", indent, *lines->line[i] ? " " : "",
			   lines->line[i]);
	buf_printf(out, "%s */\n", indent);
}

static void add_location(struct lines *lines, const LocationProto *location)
{
	if (!location)
		return;
	add_lines(lines, location->leading_comments);
	if (lines->nr && location->trailing_comments)
		add_line(lines, "", 0);
	add_lines(lines, location->trailing_comments);
}

void gen_comment(struct buf *out, const char *indent, const struct file *file,
		 struct path path)
{
	struct lines lines = { 0 };

	add_location(&lines, places_find(&file->places, path));
	write_comment(out, indent, &lines);
}

void gen_file_comment(struct buf *out, const struct file *file)
{
	static const int32_t steps[] = { PB_FILE_SYNTAX, PB_FILE_PACKAGE };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		gen_comment(out, "", file, (struct path){ &steps[i], 1 });
}
