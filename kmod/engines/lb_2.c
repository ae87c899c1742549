// SPDX-License-Identifier: GPL-2.0
#define LB_VERSION 2
#include "engines/lb.c"
