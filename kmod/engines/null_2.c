// SPDX-License-Identifier: GPL-2.0
#define NULL_VERSION 2
#include "engines/null.c"
