/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPCC_PROTOC_H
#define MRPCC_PROTOC_H

#include "buf.h"
#include "pb.h"

/**
 * struct protoc_says - what protoc said about a file, in lines
 * @errors: why it failed, and what to do about it
 * @warnings: what it would rather not see; no reason to fail
 */
struct protoc_says {
	struct buf errors;
	struct buf warnings;
};

/**
 * struct search - where files are looked for, in this order
 * @dirs: directories
 * @nr: how many
 */
struct search {
	char **dirs;
	size_t nr;
};

/* search_in() - the directories of -I, or else the current one; and mrpcc's own */
struct search search_in(char **includes, size_t nr_includes);

/* search_find() - the path of a file as protoc names it, or NULL: it comes with protoc */
const char *search_find(const struct search *search, const char *name);

/**
 * protoc_parse() - have protoc parse a file and all that it imports
 * @search: where to look
 * @path: the file
 * @says: what is wrong with it
 *
 * Return: the files, @path's last; NULL if that failed.
 */
FileSetProto *protoc_parse(const struct search *search, const char *path, struct protoc_says *says);

#endif /* MRPCC_PROTOC_H */
