/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPCC_DUMP_H
#define MRPCC_DUMP_H

#include "buf.h"

/* A binary schema, valid, as text for people: what it is about, and its hash. */
void dump_schema(struct buf *out, const struct buf *schema);

#endif /* MRPCC_DUMP_H */
