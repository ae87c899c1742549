/* SPDX-License-Identifier: GPL-2.0 */
/* What libmrpc knows messages and enums by. */
#ifndef MRPCC_GEN_DESC_H
#define MRPCC_GEN_DESC_H

#include "model.h"

void gen_enum_declaration(struct buf *out, const struct enumeration *enumeration);
void gen_message_declaration(struct buf *out, const struct message *message);
void gen_enum_desc(struct buf *out, const struct enumeration *enumeration);
void gen_message_desc(struct buf *out, const struct message *message);
void gen_file_desc(struct buf *out, const struct file *file);

#endif /* MRPCC_GEN_DESC_H */
