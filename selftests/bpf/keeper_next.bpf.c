// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Other programs and other variables: other words to the caller. */
#define DETAIL	"still out"
#define LIMIT	7
#include "keeper.bpf.c"
