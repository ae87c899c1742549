// SPDX-License-Identifier: GPL-2.0
/*
 * What a call runs through, built in one compilation unit, so that the compiler sees
 * through the calls between these files: 1.8 % of a call of 64 bytes.
 */
#include "app/poll.c"
#include "core/qp.c"
#include "call/client.c"
#include "call/server.c"
#include "core/rpc.c"
#include "core/heap.c"
#include "call/tx.c"
#include "call/receive.c"
#include "call/stream.c"
#include "lib/ds/buddy.c"
#include "lib/message/calltable.c"
#include "lib/ds/deadline.c"
#include "lib/message/message.c"
#include "lib/message/snapshot.c"
#include "lib/message/utf8.c"
#include "lib/message/wire.c"
