// SPDX-License-Identifier: GPL-2.0
/*
 * Are these paths what the kernel takes for paths? Paths as policies declare them come on
 * stdin, a line each; the arguments are binary schemas, of which one must have a path's type
 * as a request or reply.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/mrpc_policy.h>

#include "lib/message/field.h"
#include "lib/message/schema.h"

static u64 path_mem[MRPC_PATH_MAX_SIZE / 8 + 1];

static struct mrpc_schema_plan *read_plan(const char *file)
{
	static char binary[MRPC_SCHEMA_MAX_LEN + 1];
	struct mrpc_schema_error err = { 0 };
	struct mrpc_schema_plan *plan;
	FILE *in = fopen(file, "r");
	size_t len;
	s64 size;

	if (!in) {
		perror(file);
		exit(1);
	}
	len = fread(binary, 1, sizeof(binary), in);
	fclose(in);
	size = mrpc_schema_size(binary, len, &err);
	plan = size < 0 ? NULL : malloc(size);
	if (!plan || mrpc_schema_compile(binary, len, plan, size, &err)) {
		fprintf(stderr, "%s: %s\n", file, err.what);
		exit(1);
	}
	return plan;
}

/* Return: 1: it is a field of a message of that type; 0: there is no such type. */
static int try_type(const struct mrpc_schema_plan *plan, u32 type, const char *line)
{
	const char *name = plan->names + plan->types[type].name, *path = strchr(line, ':') + 1;
	struct mrpc_path_error err = { 0 };
	char says[300];

	if (strncmp(name, line, path - line - 1) || name[path - line - 1])
		return 0;
	if (!mrpc_field_compile(plan, type, path, strlen(path), (void *)path_mem,
				sizeof(path_mem), &err))
		return 1;
	mrpc_path_explain(plan, path, strlen(path), &err, says, sizeof(says));
	fprintf(stderr, "%s: %s\n", line, says);
	exit(1);
}

static int try_plan(const struct mrpc_schema_plan *plan, const char *line)
{
	u32 i;

	for (i = 0; i < plan->nr_methods; i++)
		if (try_type(plan, plan->methods[i].request, line) ||
		    try_type(plan, plan->methods[i].reply, line))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct mrpc_schema_plan *plans[16];
	static char line[2 * MRPC_POLICY_PATH];
	int nr = 0, i;

	for (i = 0; i < argc - 1; i++)
		plans[i] = read_plan(argv[i + 1]);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		for (i = 0; i < argc - 1 && !try_plan(plans[i], line); i++)
			;
		if (i == argc - 1 || strlen(line) >= MRPC_POLICY_PATH) {
			fprintf(stderr, "%s: %s\n", line, i == argc - 1 ?
				"no call has such a message" : "longer than a policy may declare");
			return 1;
		}
		nr++;
	}
	printf("%d\n", nr);
	return 0;
}
