// SPDX-License-Identifier: GPL-2.0
/*
 * Reads JSON and texts, and writes what was understood: the other side of test/run.
 *
 * Input, any number of times: a line "FORMAT TYPE FLAGS LEN", FORMAT being "json" or "text", then
 * LEN bytes. Output for each: a line "ok LEN LEN" and the message in JSON and as text, or a line
 * "no LEN" and what mrpc_last_error() says. LEN is -1 for what has no form in JSON.
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
	return mrpc_from_text(msg, root, desc, text, len);
}

/* What is written is read again as the same. */
static void check_round_trip(struct mrpc_session *s, const struct mrpc_message_desc *desc,
			     const void *root, const char *format, const char *text)
{
	struct mrpc_msg again;
	char *back;

	if (read_message(&again, desc, s, format, text, strlen(text), 0)) {
		fprintf(stderr, "%s that was written is refused: %s\n%s\n", format,
			mrpc_last_error(), text);
		abort();
	}
	back = !strcmp(format, "json") ? mrpc_to_json(desc, again.root, again.root) :
					 mrpc_to_text(desc, again.root, again.root);
	if (!back || strcmp(back, text) ||
	    mrpc_msg_equal(desc, root, root, again.root, again.root) != 1) {
		fprintf(stderr, "%s comes back as another:\n%s\n%s\n", format, text, back);
		abort();
	}
	free(back);
	mrpc_msg_free(&again);
}

static void convert(struct mrpc_session *s, const struct mrpc_message_desc *desc,
		    const char *format, unsigned int flags, const char *text, size_t len)
{
	struct mrpc_msg msg;
	char *json, *plain;
	const char *why;

	if (read_message(&msg, desc, s, format, text, len, flags)) {
		why = mrpc_last_error();
		printf("no %zu\n%s", strlen(why), why);
		mrpc_msg_free(&msg);
		return;
	}
	json = mrpc_to_json(desc, msg.root, msg.root);
	plain = mrpc_to_text(desc, msg.root, msg.root);
	if (!plain)
		abort();
	printf("ok %zd %zu\n%s%s", json ? (ssize_t)strlen(json) : -1, strlen(plain), json ? json : "",
	       plain);
	if (json)
		check_round_trip(s, desc, msg.root, "json", json);
	check_round_trip(s, desc, msg.root, "text", plain);
	free(json);
	free(plain);
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
