/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a collective operation is, as ranks tell it each other with the first chunk. Each rank
 * compares it with its own, so that ranks that disagree learn it before they use a byte.
 */
#ifndef MRPC_LIB_GROUP_OPERATION_H
#define MRPC_LIB_GROUP_OPERATION_H

#include <linux/mrpc.h>

#include "lib/ds/types.h"
#include "lib/message/wire.h"

/**
 * struct mrpc_wire_operation - the body of an operation's first chunk
 * @key: of the group
 * @count: as in struct mrpc_sqe
 * @ranks: of the group
 * @rank: of the sender
 * @root: as in struct mrpc_sqe
 * @chunk: bytes of a chunk at most
 * @collective: enum mrpc_collective
 * @algorithm: enum mrpc_algorithm
 * @elem: enum mrpc_elem
 * @reduce: enum mrpc_reduce_op
 * @strategy: the version of the group's strategy (change.h)
 */
struct mrpc_wire_operation {
	__le64 key;
	__le64 count;
	__le32 ranks;
	__le32 rank;
	__le32 root;
	__le32 chunk;
	u8 collective;
	u8 algorithm;
	u8 elem;
	u8 reduce;
	__le32 strategy;
};

static_assert(sizeof(struct mrpc_wire_operation) == MRPC_WIRE_CHUNK_BODY);

/** struct mrpc_operation_form - the same in the byte order of the host */
struct mrpc_operation_form {
	u64 key;
	u64 count;
	u32 ranks;
	u32 rank;
	u32 root;
	u32 chunk;
	u8 collective;
	u8 algorithm;
	u8 elem;
	u8 reduce;
	u32 strategy;
};

/** mrpc_operation_encode() - write the body that a rank sends */
void mrpc_operation_encode(const struct mrpc_operation_form *form,
			   struct mrpc_wire_operation *wire);

/**
 * struct mrpc_sender - which rank of which group has sent something
 * @key: of the group
 * @ranks: of the group
 * @rank: of the sender
 */
struct mrpc_sender {
	u64 key;
	u32 ranks;
	u32 rank;
};

/**
 * mrpc_sender_check() - check that a peer is the rank, and of the group, that it should be
 * @says: what it says
 * @is: the own group, and the rank that the connection is to
 * @why: out: a sentence that says how they differ, @size bytes
 *
 * Return: true: it is.
 */
bool mrpc_sender_check(const struct mrpc_sender *says, const struct mrpc_sender *is, char *why,
		       size_t size);

/**
 * mrpc_operation_same_group() - check that a peer is the rank, and of the group, that it should be
 * @ours: of this rank; what the operation is does not matter
 * @peer: the rank that the connection is to
 * @wire: what has come over it
 * @why: out: a sentence that says how they differ, @size bytes
 *
 * Return: true: it is.
 */
bool mrpc_operation_same_group(const struct mrpc_operation_form *ours, u32 peer,
			       const struct mrpc_wire_operation *wire, char *why, size_t size);

/**
 * mrpc_operation_compare() - compare what a peer does with what this rank does, and the group
 * @ours: of this rank
 * @peer: the rank that the connection is to
 * @wire: what has come over it
 * @why: out: a sentence that says how they differ, @size bytes
 *
 * Return: true: they are the same.
 */
bool mrpc_operation_compare(const struct mrpc_operation_form *ours, u32 peer,
			    const struct mrpc_wire_operation *wire, char *why, size_t size);

/** mrpc_collective_reduces() - whether it has a reduction; @collective: any number */
bool mrpc_collective_reduces(u32 collective);

/** mrpc_collective_has_root() - whether one rank is its root; @collective: any number */
bool mrpc_collective_has_root(u32 collective);

/** mrpc_collective_name() - "AllReduce" and so on; @collective: any number */
const char *mrpc_collective_name(u32 collective);

/** mrpc_algorithm_name() - "ring" and so on; @algorithm: any number */
const char *mrpc_algorithm_name(u32 algorithm);

#endif /* MRPC_LIB_GROUP_OPERATION_H */
