// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a call runs through, built in one compilation unit, so that the compiler sees
 * through the calls between these files.
 */
#include "heap.c"
#include "thread.c"
#include "session.c"
#include "release.c"
#include "result.c"
#include "msg.c"
#include "op.c"
#include "qp.c"
#include "retry.c"
#include "call.c"
#include "stream.c"
#include "defer.c"
#include "request.c"
#include "server.c"
