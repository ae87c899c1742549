/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPCC_SLURP_H
#define MRPCC_SLURP_H

#include <stdbool.h>
#include <stdio.h>

#include "buf.h"

/* Everything up to the end of a stream. False with errno. */
static inline bool slurp(FILE *stream, struct buf *buf)
{
	char block[65536];
	size_t len;

	while ((len = fread(block, 1, sizeof(block), stream)))
		buf_add(buf, block, len);
	return !ferror(stream);
}

#endif /* MRPCC_SLURP_H */
