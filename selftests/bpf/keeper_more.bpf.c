// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A program more than the one before: an update must not. */
#define MORE
#include "keeper.bpf.c"
