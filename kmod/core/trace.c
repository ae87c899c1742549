// SPDX-License-Identifier: GPL-2.0
/* The tracepoints, for which core/trace.h wants one file that defines them. */
#define CREATE_TRACE_POINTS
#include "core/trace.h"
