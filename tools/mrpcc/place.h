/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where things stand in a .proto file, and what its comments say about them.
 * protoc records both by path: the field numbers and indexes that lead through
 * FileDescriptorProto to the thing.
 */
#ifndef MRPCC_PLACE_H
#define MRPCC_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "pb.h"

struct path {
	const int32_t *steps;
	size_t len;
};

/* One or two steps further; step b is left out when negative. */
struct path path_add(struct path base, int32_t a, int32_t b);

/**
 * struct places - the locations of one file, sorted by path
 * @file: its name
 * @sorted: locations
 * @nr: how many
 */
struct places {
	const char *file;
	LocationProto **sorted;
	size_t nr;
};

void places_init(struct places *places, const FileProto *proto);

/* The location of exactly this path, or NULL. */
const LocationProto *places_find(const struct places *places, struct path path);

/* Of the thing, else of what it is in, else of the file only. */
struct where places_where(const struct places *places, struct path path);

#endif /* MRPCC_PLACE_H */
