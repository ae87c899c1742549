/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that look at a message. */
#ifndef MRPCC_GEN_READ_H
#define MRPCC_GEN_READ_H

#include "model.h"

void gen_readers(struct buf *out, const struct message *message);

#endif /* MRPCC_GEN_READ_H */
