/* SPDX-License-Identifier: GPL-2.0 */
/* What a .proto needs: other files to be compiled, and the files that make is to watch. */
#ifndef MRPCC_DEPS_H
#define MRPCC_DEPS_H

#include "compile.h"
#include "pb.h"
#include "protoc.h"

/**
 * struct deps - files, each one once
 * @names: as protoc knows them
 * @nr: how many
 */
struct deps {
	const char **names;
	size_t nr;
};

/* deps_has() - is a file among them? */
bool deps_has(const struct deps *deps, const char *name);

/* comes_with_library() - is the code of a file in libmrpc? */
bool comes_with_library(const char *name);

/* deps_add() - add a file, unless it is there */
void deps_add(struct deps *deps, const char *name);

/**
 * deps_needed() - the imports without whose generated code that of a file does not compile or link
 * @deps: they are added, each after those that it needs itself
 * @set: of protoc: the file is the last
 * @unary: as for compile_model()
 *
 * What comes with libmrpc is left out, and what is imported only for its options.
 */
void deps_needed(struct deps *deps, const FileSetProto *set, bool unary);

/**
 * deps_rule() - write a rule for make
 * @out: gets it
 * @dir: where the generated files are
 * @outputs: the generated files
 * @set: of protoc: what they are made from
 * @search: where protoc has looked
 *
 * The rule has no recipe. Each import is a target of its own, too, so that make goes on when it has
 * been deleted. Files that come with protoc are left out.
 */
void deps_rule(struct buf *out, const char *dir, const struct outputs *outputs,
	       const FileSetProto *set, const struct search *search);

#endif /* MRPCC_DEPS_H */
