// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* There are other global variables. */
#define MORE_DATA
#include "keeper.bpf.c"
