// SPDX-License-Identifier: GPL-2.0
/* Why a policy cannot be loaded: what the verifier and libbpf say, and that in plain words. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/util.h"
#include "nl/decode.h"
#include "policy/log.h"

/* What is said, and what it means: the first one that fits. */
static const struct {
	const char *text;
	const char *words;
} causes[] = {
	/* libbpf */
	{ "struct_ops init_kern",
	  "its struct of functions is not the kernel's: compile it with the header of the "
	  "module that is loaded" },
	{ "incompatible with kernel",
	  "a function takes other arguments in the kernel: compile it with the header of the "
	  "module that is loaded" },
	{ "not found in kernel or module BTFs",
	  "it calls a function that the kernel does not have: the name is misspelled, or the "
	  "module is older than the header" },
	{ "BTF is required", "it has no type information: compile it with -g" },
	/* the verifier */
	{ "GPL",
	  "programs must have a license that is compatible with the GPL: "
	  "char _license[] SEC(\"license\") = \"GPL\";" },
	{ "infinite loop", "it has a loop that need not end: give it a constant bound" },
	{ "BPF program is too large",
	  "it has a loop that takes too long, or whose end the verifier cannot see: give it a "
	  "small constant bound, or use bpf_loop()" },
	{ "back-edge",
	  "it has a loop whose end the verifier cannot see: give it a constant bound" },
	{ "jumps is too complex",
	  "it has a loop, or branches, that the verifier cannot follow to the end: give it a "
	  "small constant bound" },
	{ "Unreleased reference",
	  "it takes something, as a record of a ring buffer, that it does not give back on each "
	  "way to its end" },
	{ "reference leak",
	  "it takes something, as a record of a ring buffer, that it does not give back on each "
	  "way to its end" },
	{ "attach to unsupported member",
	  "a program is in a section 'struct_ops.s/...': programs of policies must not sleep, so "
	  "it must be 'struct_ops/...'" },
	{ "sleep", "it calls a function that may sleep, which programs of policies must not" },
	{ "len pair leads to invalid memory access",
	  "a size that it gives to a function is more than the buffer has, or has no bound: give "
	  "it sizeof(the buffer)" },
	{ "access to stack",
	  "it uses more of a buffer than there is, or a part that has no value yet: sizes must "
	  "be at most sizeof(the buffer)" },
	{ "to stack",
	  "it uses more of a buffer on its stack than there is: sizes must be at most "
	  "sizeof(the buffer)" },
	{ "from stack",
	  "it uses more of a buffer on its stack than there is, or a part that has no value yet" },
	{ "stack depth",
	  "it has more on its stack than 512 bytes: use a map, or bpf_mrpc_storage()" },
	{ "stack size",
	  "it has more on its stack than 512 bytes: use a map, or bpf_mrpc_storage()" },
	{ "invalid access to map value",
	  "it uses more of a map's value than there is: indexes must be checked against a "
	  "constant" },
	{ "invalid access to memory",
	  "it uses more of some memory than there is: indexes must be checked against a constant" },
	{ "unbounded memory access",
	  "a size or an index has no bound: check it against a constant" },
	{ "is outside of the allowed memory range",
	  "an index has no bound, or too large a one: check it against a constant" },
	{ "not a known "
	  "constant", "an argument must be a constant that is known when it is compiled" },
	{ "must be a known "
	  "constant", "an argument must be a constant that is known when it is compiled" },
	{ "_or_null", "it uses a pointer that may be NULL without looking first" },
	{ "const string", "a text that it gives to a function must be a literal, or constant" },
	{ "only read is supported",
	  "it writes where programs may only read: messages are changed with "
	  "bpf_mrpc_field_set_num() and the like" },
	{ "is not allowed", "it calls a function that programs of policies may not call" },
	{ "cannot use helper", "it calls a function that programs of policies may not call" },
	{ "unknown func",
	  "it calls a function that the kernel does not have, or not for policies" },
	{ "!read_ok", "it uses a variable that has no value yet" },
	{ "CO-RE "
	  "relocation", "it uses a member of a kernel's structure that this kernel does not have" },
	/* both */
	{ "Operation not permitted",
	  "this needs CAP_SYS_ADMIN in the initial user namespace" },
};

/* What @text means, or NULL. */
const char *explain_words(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (strstr(text, causes[i].text))
			return causes[i].words;
	return NULL;
}

/* Does a line of the log only say what the verifier looked at, not what it found? */
static bool is_trace(const char *line)
{
	static const char *const begins[] = {
		"processed ", "verification time ", "stack depth ", "max_states", "from ",
		"func#", "func '", "cur state:", "old state:", "mark_precise:", "propagating ",
		"regs=", "last_idx ", "parent ", "Live regs", "Global function",
		"Validating ", "caller", "callee", "returning from", "frame", "R", "; ",
		"to caller at", "reg type unsupported",
	};
	const char *end = line + strspn(line, "0123456789");
	size_t i;

	if (!*line || (end != line && *end == ':'))
		return true;
	/* "R0 invalid mem access" is a finding, "R0=0 R1=ctx()" or "R0_w=..." is not. */
	if (*line == 'R' && isdigit((unsigned char)line[1]))
		return line[2 + strspn(line + 2, "0123456789")] != ' ';
	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strcmp(begins[i], "R") && !strncmp(line, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* "; SOURCE @ FILE:LINE" as FILE:LINE: SOURCE */
static char *source_line(const char *line)
{
	char *clean = clean_text(line, strlen(line)), *at = NULL, *next = clean, *text;

	while ((next = strstr(next + 1, " @ ")))
		at = next;
	if (at)
		text = text_printf("%s: %.*s", at + 3, (int)(at - clean) - 2, clean + 2);
	else
		text = text_printf("%s", clean + 2);
	free(clean);
	return text;
}

/**
 * explain_log() - what matters in a log of the verifier
 * @log: the log
 * @source: out: the line of the source that it was at, or NULL; to be freed
 *
 * Return: what was found there, in one or two lines, to be freed.
 */
char *explain_log(const char *log, char **source)
{
	char *copy = text_printf("%s", log), *save, *line, *at = NULL, *text = NULL, *clean;
	char *found[2] = { NULL, NULL };
	size_t len = 0;
	FILE *out;
	int i;

	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "; ", 2)) {
			at = line;
		} else if (!is_trace(line)) {
			found[0] = found[1];
			found[1] = line;
		}
	}
	*source = at ? source_line(at) : NULL;
	out = open_text(&text, &len);
	for (i = 0; i < 2; i++) {
		if (!found[i])
			continue;
		clean = clean_text(found[i], strlen(found[i]));
		fprintf(out, "\n    %s", clean);
		free(clean);
	}
	fclose(out);
	free(copy);
	return text;
}
