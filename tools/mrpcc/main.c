// SPDX-License-Identifier: GPL-2.0
/*
 * mrpcc: makes C from .proto files, for services that the mrpc kernel module
 * carries. Called protoc-gen-mrpc it is a plugin of protoc; called mrpcc it is a
 * command that runs protoc.
 */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compile.h"
#include "deps.h"
#include "dump.h"
#include "plugin.h"
#include "protoc.h"

#ifndef MRPC_VERSION
#define MRPC_VERSION "0.1"
#endif

static const char usage[] =
	"Usage: mrpcc [-I DIR]... --out=DIR [--bpf] FILE.proto...\n"
	"       mrpcc [-I DIR]... -M --out=DIR [--bpf] FILE.proto...\n"
	"       mrpcc [-I DIR]... --deps FILE.proto...\n"
	"       mrpcc [-I DIR]... --schema FILE.proto...\n"
	"       mrpcc [-I DIR]... --schema-out=FILE [--service=NAME] FILE.proto\n"
	"\n"
	"  -I, --proto_path=DIR   look for imports in DIR; several are searched in order\n"
	"  -o, --out=DIR          write C for each FILE.proto: FILE.mrpc.h and FILE.mrpc.c\n"
	"      --unary            leave out methods with streams\n"
	"      --bpf              write a header for policies in eBPF instead: FILE.mrpc.bpf.h\n"
	"  -d, --deps             list the imports that must be compiled as well, one on each line\n"
	"  -M                     write rules for make, outputs: inputs, and no code\n"
	"  -F FILE                write the rules of -M there, else to stdout; -MF FILE is both\n"
	"      --dependency_out=FILE  write code, and these rules to FILE\n"
	"  -s, --schema           show the schema and the hash of each service\n"
	"  -S, --schema-out=FILE  write the binary schema of a service ('-': stdout)\n"
	"      --service=NAME     which one, as \"package.Service\", if there are several\n"
	"  -h, --help             show this\n"
	"  -V, --version          show the version\n"
	"\n"
	"The same as a plugin: protoc --mrpc_out=DIR FILE.proto, or --mrpc_out=bpf,unary:DIR\n";

struct options {
	char **includes;
	size_t nr_includes;
	const char *out;
	const char *schema_out;
	const char *service;
	const char *rules_out;
	bool rules_only;
	bool deps;
	bool show;
	bool bpf;
	bool unary;
};

static __attribute__((noreturn)) void bad_usage(const char *why)
{
	fprintf(stderr, "mrpcc: %s; 'mrpcc --help' shows how to use it\n", why);
	exit(2);
}

static void parse_options(int argc, char **argv, struct options *options)
{
	enum { SERVICE = 256, BPF, UNARY, RULES };
	static const struct option longs[] = {
		{ "proto_path", required_argument, NULL, 'I' },
		{ "out", required_argument, NULL, 'o' },
		{ "bpf", no_argument, NULL, BPF },
		{ "unary", no_argument, NULL, UNARY },
		{ "deps", no_argument, NULL, 'd' },
		{ "dependency_out", required_argument, NULL, RULES },
		{ "schema", no_argument, NULL, 's' },
		{ "schema-out", required_argument, NULL, 'S' },
		{ "service", required_argument, NULL, SERVICE },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c, rules_by = 0;

	while ((c = getopt_long(argc, argv, "I:o:dMF:sS:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'I':
			options->includes = xrealloc(options->includes, options->nr_includes + 1,
						     sizeof(*options->includes));
			options->includes[options->nr_includes++] = optarg;
			break;
		case 'o':
			options->out = optarg;
			break;
		case 'd':
			options->deps = true;
			break;
		case 'M':
			options->rules_only = true;
			break;
		case 'F':
		case RULES:
			rules_by = c;
			options->rules_out = optarg;
			break;
		case 's':
			options->show = true;
			break;
		case 'S':
			options->schema_out = optarg;
			break;
		case BPF:
			options->bpf = true;
			break;
		case UNARY:
			options->unary = true;
			break;
		case SERVICE:
			options->service = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'V':
			puts("mrpcc " MRPC_VERSION);
			exit(0);
		default:
			exit(2);	/* getopt_long() has said why */
		}
	}
	if (!!options->out + options->deps + options->show + !!options->schema_out != 1)
		bad_usage("give one of --out, --deps, --schema and --schema-out");
	if ((options->rules_only || options->rules_out) && !options->out)
		bad_usage("-M and --dependency_out go with --out");
	if (options->rules_only ? rules_by == RULES : rules_by == 'F')
		bad_usage("-F goes with -M, which --dependency_out does not");
	if (options->bpf && !options->out)
		bad_usage("--bpf goes with --out");
	if (options->service && !options->schema_out)
		bad_usage("--service goes with --schema-out");
	if (optind == argc)
		bad_usage("which .proto file?");
	if (options->schema_out && optind + 1 < argc)
		bad_usage("--schema-out takes one .proto file");
}

/* -- writing ---------------------------------------------------------------------- */

static bool make_parents(const char *path)
{
	char *copy = xasprintf("%s", path), *p;

	for (p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) && errno != EEXIST) {
			fprintf(stderr, "mrpcc: cannot make %s: %s\n", copy, strerror(errno));
			return false;
		}
		*p = '/';
	}
	return true;
}

static bool write_file(const char *path, const struct buf *content)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "w") : stdout;
	bool ok = file && fwrite(buf_text(content), 1, content->len, file) == content->len;

	if (file && (file == stdout ? fflush(file) : fclose(file)))
		ok = false;
	if (!ok)
		fprintf(stderr, "mrpcc: cannot write %s: %s\n", path, strerror(errno));
	return ok;
}

static bool write_outputs(const char *dir, const struct outputs *outputs)
{
	size_t i;

	for (i = 0; i < outputs->nr; i++) {
		char *path = xasprintf("%s/%s", dir, outputs->files[i].name);

		if (!make_parents(path) || !write_file(path, &outputs->files[i].text))
			return false;
	}
	return true;
}

/* -- what to do with a file --------------------------------------------------------- */

static struct file *generated(struct model *model)
{
	size_t i;

	for (i = 0; !model->files[i].generate; i++)
		;
	return &model->files[i];
}

static bool show_schemas(struct model *model)
{
	struct file *file = generated(model);
	struct buf text = { 0 };
	size_t i;

	for (i = 0; i < file->nr_services; i++) {
		buf_printf(&text, "%s", i ? "\n" : "");
		dump_schema(&text, &file->services[i].schema);
	}
	if (!file->nr_services)
		fprintf(stderr, "mrpcc: %s has no service\n", file->proto->name);
	return write_file("-", &text);
}

static bool write_schema(struct model *model, const struct options *options)
{
	struct file *file = generated(model);
	struct service *found = NULL;
	size_t i;

	for (i = 0; i < file->nr_services; i++) {
		if (options->service && strcmp(file->services[i].full_name, options->service))
			continue;
		if (found) {
			fprintf(stderr, "mrpcc: %s has several services: choose with --service\n",
				file->proto->name);
			return false;
		}
		found = &file->services[i];
	}
	if (found)
		return write_file(options->schema_out, &found->schema);
	fprintf(stderr, "mrpcc: %s has no service %s\n", file->proto->name,
		options->service ? options->service : "");
	return false;
}

/**
 * struct results - what is collected over all files
 * @given: the files themselves
 * @deps: files that must be compiled, too
 * @rules: for make
 */
struct results {
	struct deps given;
	struct deps deps;
	struct buf rules;
};

static bool make(FileSetProto *set, const struct options *options, const struct search *search,
		 struct results *results)
{
	struct outputs outputs = { 0 };
	struct model *model;

	model = compile_model(set->file, set->n_file, &set->file[set->n_file - 1]->name, 1,
			      options->unary);
	if (!model || (options->out && !compile_code(model, options->bpf, &outputs))) {
		fputs(complaints(), stderr);
		forget_complaints();
		return false;
	}
	if (options->rules_only || options->rules_out)
		deps_rule(&results->rules, options->out, &outputs, set, search);
	if (options->out)
		return options->rules_only || write_outputs(options->out, &outputs);
	if (options->show)
		return show_schemas(model);
	return write_schema(model, options);
}

/* What made it fail is said before what is only worth a warning. */
static bool do_file(const char *path, const struct options *options, const struct search *search,
		    struct results *results)
{
	struct protoc_says says = { 0 };
	FileSetProto *set = protoc_parse(search, path, &says);
	bool ok = set;

	fputs(buf_text(&says.errors), stderr);
	if (ok && options->deps) {
		deps_add(&results->given, set->file[set->n_file - 1]->name);
		deps_needed(&results->deps, set, options->unary);
	} else if (ok) {
		ok = make(set, options, search, results);
	}
	fputs(buf_text(&says.warnings), stderr);
	return ok;
}

/* Paths where there are some: they can be given to mrpcc as well as to other commands. */
static void list_deps(const struct results *results, const struct search *search, struct buf *text)
{
	size_t i;

	for (i = 0; i < results->deps.nr; i++) {
		const char *name = results->deps.names[i];

		if (!deps_has(&results->given, name))
			buf_printf(text, "%s\n", search_find(search, name) ?: name);
	}
}

static bool write_results(const struct options *options, const struct search *search,
			  const struct results *results)
{
	struct buf text = { 0 };

	if (options->deps) {
		list_deps(results, search, &text);
		return write_file("-", &text);
	}
	if (options->rules_only || options->rules_out)
		return write_file(options->rules_out ?: "-", &results->rules);
	return true;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	struct results results = { 0 };
	struct search search;
	bool ok = true;

	if (argc && !strcmp(basename(argv[0]), "protoc-gen-mrpc"))
		return plugin_main();
	parse_options(argc, argv, &options);
	search = search_in(options.includes, options.nr_includes);
	for (; optind < argc; optind++)
		ok &= do_file(argv[optind], &options, &search, &results);
	return ok && write_results(&options, &search, &results) ? 0 : 1;
}
