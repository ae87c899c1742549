// SPDX-License-Identifier: GPL-2.0
#define CRASH_VERSION 2
#include "engines/crash.c"
