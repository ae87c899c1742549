/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all files of the library share. What a file implements is in its header. From the bottom
 * to the top: thread, error, clock, heap; roots; release; session; addr, target, watch, secure,
 * sock, msg, meta, result; types, text; protobuf_write; scratch; parse; put; protobuf_read; any;
 * parse_any; json, json_read, text_read, text_write; policy; config; dial, attempt; conn;
 * waiters; link; balance; channel; op; qp; timers; lot; retry, hedge; call; stream, replay,
 * stream_client, defer; request; first_byte, acceptor; server; protos; health, reflection; rank;
 * collective; meeting; group. A file calls what is in its own layer and below. What is above
 * registers itself: with a session to be freed, with a thread, with a queue pair, with a server.
 * libmrpc-tls, in tls/, is called by way of secure.h.
 */
#ifndef LIBMRPC_INTERNAL_H
#define LIBMRPC_INTERNAL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Only what the public header declares is visible outside the library. */
#pragma GCC visibility push(default)
#include "mrpc.h"
#pragma GCC visibility pop

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a)	(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define UNUSED		__attribute__((unused))
/* What is rare: inline it would take registers, which the usual way would have to save. */
#define RARE		__attribute__((noinline, cold))

#endif /* LIBMRPC_INTERNAL_H */
