// SPDX-License-Identifier: GPL-2.0
/*
 * Reads JSON, texts and protobuf's encoding, and writes what was understood: the other side of test/run.
 *
 * Input, any number of times: a line "FORMAT TYPE FLAGS LEN", FORMAT being "json", "text" or "bytes",
 * then LEN bytes. Output for each: a line "ok LEN LEN LEN ERROR" and the message in JSON, as text and
 * encoded, and, for ERROR bytes, why it has no form in JSON, its LEN then being 0; or a line "no LEN"
 * and what mrpc_last_error() says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "types.mrpc.h"

static const struct mrpc_message_desc *const types[] = {
	&t_Single__desc, &t_Many__desc, &t_Maps__desc, &t_Known__desc,
};

static const struct mrpc_message_desc *find_type(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(types[i]->name + strlen("t."), name))
			return types[i];
	abort();
}

static int read_message(struct mrpc_msg *msg, const struct mrpc_message_desc *desc,
			struct mrpc_session *s, const char *format, const char *text, size_t len,
			unsigned int flags)
{
	void *root = mrpc_msg_new(msg, s, desc->size, 0);

	if (!strcmp(format, "json"))
		return mrpc_from_json(msg, root, desc, text, len, flags);
	if (!strcmp(format, "bytes"))
		return mrpc_from_protobuf(msg, root, desc, text, len);
	return mrpc_from_text(msg, root, desc, text, len);
}

static char *write_message(const struct mrpc_message_desc *desc, const void *root, const char *format,
			   size_t *len)
{
	char *text;

	if (!strcmp(format, "bytes"))
		return mrpc_to_protobuf(desc, root, root, len);
	text = !strcmp(format, "json") ? mrpc_to_json(desc, root, root) : mrpc_to_text(desc, root, root);
	*len = text ? strlen(text) : 0;
	return text;
}

/*
 * What is written is read again as the same. JSON has not all that the bytes of an Any can have, and null
 * for all values of a NullValue. Bytes can have entries of a map with one key, which nothing else may.
 */
static void check_round_trip(struct mrpc_session *s, const struct mrpc_message_desc *desc,
			     const void *root, const char *format, const char *text, size_t len)
{
	bool loses = !strcmp(format, "json") && (strstr(text, "\"@type\"") || strstr(text, "null"));
	struct mrpc_msg again;
	size_t back_len;
	char *back;

	if (read_message(&again, desc, s, format, text, len, 0)) {
		if (strstr(mrpc_last_error(), "have the same key")) {
			mrpc_msg_free(&again);
			return;
		}
		fprintf(stderr, "%s that was written is refused: %s\n%s\n", format,
			mrpc_last_error(), text);
		abort();
	}
	back = write_message(desc, again.root, format, &back_len);
	if (!back || back_len != len || memcmp(back, text, len) ||
	    (!loses && mrpc_msg_equal(desc, root, root, again.root, again.root) != 1)) {
		fprintf(stderr, "%s comes back as another:\n%s\n%s\n", format, text, back);
		abort();
	}
	free(back);
	mrpc_msg_free(&again);
}

static void convert(struct mrpc_session *s, const struct mrpc_message_desc *desc,
		    const char *format, unsigned int flags, const char *text, size_t len)
{
	static const char *const formats[] = { "json", "text", "bytes" };
	const char *why = "";
	struct mrpc_msg msg;
	size_t lens[3], i;
	char *texts[3];

	if (read_message(&msg, desc, s, format, text, len, flags)) {
		why = mrpc_last_error();
		printf("no %zu\n%s", strlen(why), why);
		mrpc_msg_free(&msg);
		return;
	}
	for (i = 3; i-- > 0;)
		texts[i] = write_message(desc, msg.root, formats[i], &lens[i]);
	if (!texts[0])
		why = mrpc_last_error();
	printf("ok %zu %zu %zu %zu\n", lens[0], lens[1], lens[2], strlen(why));
	for (i = 0; i < 3; i++)
		if (texts[i])
			fwrite(texts[i], 1, lens[i], stdout);
	fputs(why, stdout);
	for (i = 0; i < 3; i++) {
		if (texts[i])
			check_round_trip(s, desc, msg.root, formats[i], texts[i], lens[i]);
		else if (i > 0)
			abort();
		free(texts[i]);
	}
	mrpc_msg_free(&msg);
}

int main(void)
{
	struct mrpc_session_opts opts = { .device = fake_device(), .send_limit = 4 << 20 };
	struct mrpc_session *s = mrpc_session_open(&opts);
	char format[8], type[16];
	unsigned int flags;
	size_t len;
	char *text;

	unlink(opts.device);
	if (!s)
		abort();
	while (scanf("%7s %15s %u %zu", format, type, &flags, &len) == 4) {
		getchar();
		/* Of just that size, so that nothing is read beyond its end. */
		text = malloc(len ? len : 1);
		if (fread(text, 1, len, stdin) != len)
			abort();
		convert(s, find_type(type), format, flags, text, len);
		fflush(stdout);
		free(text);
	}
	mrpc_session_close(s);
	return 0;
}
