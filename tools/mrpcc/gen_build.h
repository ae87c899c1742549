/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that make a message. */
#ifndef MRPCC_GEN_BUILD_H
#define MRPCC_GEN_BUILD_H

#include "model.h"

void gen_builders(struct buf *out, const struct message *message);

#endif /* MRPCC_GEN_BUILD_H */
