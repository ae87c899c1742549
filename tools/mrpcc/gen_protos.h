/* SPDX-License-Identifier: GPL-2.0 */
/* What protoc says of a .proto file, for a server's reflection. */
#ifndef MRPCC_GEN_PROTOS_H
#define MRPCC_GEN_PROTOS_H

#include "model.h"

/*
 * The file and all that it imports, as a FileDescriptorSet without comments. Nothing if the file has
 * no service.
 */
void gen_protos(struct buf *out, struct model *model, const struct file *file);

/* The members of the service's description that refer to it. */
void gen_protos_members(struct buf *out, const struct service *service);

#endif /* MRPCC_GEN_PROTOS_H */
