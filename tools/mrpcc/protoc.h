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
 * protoc_parse() - have protoc parse a file and all that it imports
 * @includes: directories for -I
 * @nr_includes: how many
 * @path: the file
 * @says: what is wrong with it
 *
 * Return: the files, @path's last; NULL if that failed.
 */
FileSetProto *protoc_parse(char **includes, size_t nr_includes, const char *path,
			   struct protoc_says *says);

#endif /* MRPCC_PROTOC_H */
