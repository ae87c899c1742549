/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of elements and reductions: which the kernel has, and what is done after it. */
#ifndef MRPC_NCCL_TYPES_H
#define MRPC_NCCL_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include <mrpc.h>

#include "nccl.h"

/* Bytes of an element; 0 if there is no such type. */
size_t type_size(ncclDataType_t type);

/* The kernel's type that has elements of this size, and the same sums and products. */
enum mrpc_elem type_elem(ncclDataType_t type);

/*
 * The kernel's reduction. ncclAvg is its sum: divide() follows. ncclInvalidArgument, with the error
 * set: there is no such reduction, or not of this type; @what is the function that needs it.
 */
ncclResult_t find_reduction(const char *what, ncclRedOp_t op, ncclDataType_t type,
			    enum mrpc_reduce_op *reduce);

/* Divides @count elements by @by. Floats are rounded to the nearest, integers towards zero. */
void divide(ncclDataType_t type, void *elements, size_t count, int by);

#endif /* MRPC_NCCL_TYPES_H */
