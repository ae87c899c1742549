// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The map has other keys. */
#define KEY_LEN	32
#include "keeper.bpf.c"
