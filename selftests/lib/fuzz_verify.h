/* SPDX-License-Identifier: GPL-2.0 */
/* The input of fuzz_verify, for it and for the program that makes its seeds. */
#ifndef FUZZ_VERIFY_H
#define FUZZ_VERIFY_H

#include "lib/ds/types.h"

#define FUZZ_SCHEMAS	64

enum {
	FUZZ_VERIFY,
	FUZZ_HEAP,
	FUZZ_SCHEMA,
	FUZZ_MODE = 3,		/* mask; 3 is VERIFY too */
	FUZZ_ODD = 4,		/* VERIFY, SCHEMA: @odd is added to the struct section's
				 * length; HEAP: it changes at every access */
};

struct fuzz_verify_hdr {
	u8 mode;
	u8 seed;
	u8 type;
	u8 resv;
	u32 text;	/* HEAP: the root's offset */
	u32 bytes;
	u32 odd;	/* SCHEMA: length of the text section, too */
};

#endif /* FUZZ_VERIFY_H */
