// SPDX-License-Identifier: GPL-2.0
#ifndef __KERNEL__
#include <stdio.h>
#endif

#include "lib/group/operation.h"

static const char *const collectives[MRPC_NR_COLLECTIVES] = {
	[MRPC_ALLREDUCE] = "AllReduce",
	[MRPC_ALLGATHER] = "AllGather",
	[MRPC_REDUCE_SCATTER] = "ReduceScatter",
	[MRPC_BROADCAST] = "Broadcast",
	[MRPC_REDUCE] = "Reduce",
	[MRPC_GATHER] = "Gather",
	[MRPC_SCATTER] = "Scatter",
	[MRPC_ALLTOALL] = "AllToAll",
	[MRPC_BARRIER] = "Barrier",
};

static const char *const algorithms[MRPC_NR_ALGORITHMS] = {
	[MRPC_ALGORITHM_CHOSEN] = "a chosen algorithm",
	[MRPC_RING] = "ring",
	[MRPC_RECURSIVE] = "recursive",
	[MRPC_BINOMIAL] = "binomial",
	[MRPC_DIRECT] = "direct",
};

static const char *const elems[MRPC_NR_ELEMS] = {
	[MRPC_ELEM_I32] = "i32",
	[MRPC_ELEM_I64] = "i64",
	[MRPC_ELEM_U8] = "u8",
	[MRPC_ELEM_F32] = "f32",
	[MRPC_ELEM_F64] = "f64",
	[MRPC_ELEM_BF16] = "bf16",
	[MRPC_ELEM_F16] = "f16",
};

static const char *const reductions[MRPC_NR_REDUCE_OPS] = {
	[MRPC_REDUCE_SUM] = "sum",
	[MRPC_REDUCE_MIN] = "min",
	[MRPC_REDUCE_MAX] = "max",
	[MRPC_REDUCE_PROD] = "prod",
	[MRPC_REDUCE_AND] = "and",
	[MRPC_REDUCE_OR] = "or",
};

static const char *name_of(const char *const *names, u32 nr, u32 i)
{
	return i < nr ? names[i] : "unknown";
}

bool mrpc_collective_reduces(u32 collective)
{
	return collective == MRPC_ALLREDUCE || collective == MRPC_REDUCE_SCATTER ||
	       collective == MRPC_REDUCE;
}

bool mrpc_collective_has_root(u32 collective)
{
	return collective == MRPC_BROADCAST || collective == MRPC_REDUCE ||
	       collective == MRPC_GATHER || collective == MRPC_SCATTER;
}

const char *mrpc_collective_name(u32 collective)
{
	return name_of(collectives, MRPC_NR_COLLECTIVES, collective);
}

const char *mrpc_algorithm_name(u32 algorithm)
{
	return name_of(algorithms, MRPC_NR_ALGORITHMS, algorithm);
}

void mrpc_operation_encode(const struct mrpc_operation_form *form,
			   struct mrpc_wire_operation *wire)
{
	*wire = (struct mrpc_wire_operation){
		.key = cpu_to_le64(form->key),
		.count = cpu_to_le64(form->count),
		.ranks = cpu_to_le32(form->ranks),
		.rank = cpu_to_le32(form->rank),
		.root = cpu_to_le32(form->root),
		.chunk = cpu_to_le32(form->chunk),
		.collective = form->collective,
		.algorithm = form->algorithm,
		.elem = form->elem,
		.reduce = form->reduce,
		.strategy = cpu_to_le32(form->strategy),
	};
}

bool mrpc_sender_check(const struct mrpc_sender *says, const struct mrpc_sender *is, char *why,
		       size_t size)
{
	if (says->key != is->key)
		snprintf(why, size, "the connection to rank %u leads to another group", is->rank);
	else if (says->ranks != is->ranks)
		snprintf(why, size, "rank %u says that the group has %u ranks, this one %u",
			 is->rank, says->ranks, is->ranks);
	else if (says->rank != is->rank)
		snprintf(why, size, "the connection to rank %u leads to rank %u", is->rank,
			 says->rank);
	else
		return true;
	return false;
}

bool mrpc_operation_same_group(const struct mrpc_operation_form *ours, u32 peer,
			       const struct mrpc_wire_operation *wire, char *why, size_t size)
{
	const struct mrpc_sender is = { .key = ours->key, .ranks = ours->ranks, .rank = peer };
	const struct mrpc_sender says = {
		.key = le64_to_cpu(wire->key),
		.ranks = le32_to_cpu(wire->ranks),
		.rank = le32_to_cpu(wire->rank),
	};

	if (!mrpc_sender_check(&says, &is, why, size))
		return false;
	if (le32_to_cpu(wire->chunk) == ours->chunk)
		return true;
	snprintf(why, size, "rank %u sends chunks of %u bytes, this one of %u", peer,
		 le32_to_cpu(wire->chunk), ours->chunk);
	return false;
}

bool mrpc_operation_compare(const struct mrpc_operation_form *ours, u32 peer,
			    const struct mrpc_wire_operation *wire, char *why, size_t size)
{
	if (!mrpc_operation_same_group(ours, peer, wire, why, size))
		return false;
	if (wire->collective != ours->collective)
		snprintf(why, size, "rank %u does %s, this one %s", peer,
			 mrpc_collective_name(wire->collective),
			 mrpc_collective_name(ours->collective));
	else if (wire->elem != ours->elem)
		snprintf(why, size, "rank %u has elements of %s, this one of %s", peer,
			 name_of(elems, MRPC_NR_ELEMS, wire->elem),
			 name_of(elems, MRPC_NR_ELEMS, ours->elem));
	else if (le64_to_cpu(wire->count) != ours->count)
		snprintf(why, size, "rank %u has %llu elements, this one %llu", peer,
			 (unsigned long long)le64_to_cpu(wire->count),
			 (unsigned long long)ours->count);
	else if (wire->reduce != ours->reduce)
		snprintf(why, size, "rank %u reduces by %s, this one by %s", peer,
			 name_of(reductions, MRPC_NR_REDUCE_OPS, wire->reduce),
			 name_of(reductions, MRPC_NR_REDUCE_OPS, ours->reduce));
	else if (le32_to_cpu(wire->root) != ours->root)
		snprintf(why, size, "rank %u says that rank %u is the root, this one rank %u", peer,
			 le32_to_cpu(wire->root), ours->root);
	else if (le32_to_cpu(wire->strategy) != ours->strategy)
		snprintf(why, size, "rank %u uses strategy %u, this one %u", peer,
			 le32_to_cpu(wire->strategy), ours->strategy);
	/* Last: an algorithm that the kernel has chosen follows from the others. */
	else if (wire->algorithm != ours->algorithm)
		snprintf(why, size, "rank %u does %s by %s, this one by %s", peer,
			 mrpc_collective_name(ours->collective),
			 mrpc_algorithm_name(wire->algorithm),
			 mrpc_algorithm_name(ours->algorithm));
	else
		return true;
	return false;
}
