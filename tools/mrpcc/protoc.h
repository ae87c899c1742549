/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPCC_PROTOC_H
#define MRPCC_PROTOC_H

#include "pb.h"

/**
 * protoc_parse() - have protoc parse a file and all that it imports
 * @includes: directories for -I
 * @nr_includes: how many
 * @path: the file
 *
 * protoc itself writes what is wrong with the file to stderr.
 *
 * Return: the files, @path's last; NULL if that failed (it was reported).
 */
FileSetProto *protoc_parse(char **includes, size_t nr_includes, const char *path);

#endif /* MRPCC_PROTOC_H */
