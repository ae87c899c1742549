/* SPDX-License-Identifier: GPL-2.0 */
/* What only a header for policies in eBPF has. */
#ifndef MRPCC_GEN_BPF_H
#define MRPCC_GEN_BPF_H

#include "model.h"

/* Macros with the paths of fields. Files whose enums they are about become needed. */
void gen_bpf_paths(struct buf *out, const struct file *file);

#endif /* MRPCC_GEN_BPF_H */
