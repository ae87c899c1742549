/* SPDX-License-Identifier: GPL-2.0 */
/* The field grpc-timeout: one to eight digits and a unit of HMSmun. */
#ifndef MRPC_LIB_GRPC_TIMEOUT_H
#define MRPC_LIB_GRPC_TIMEOUT_H

#include "lib/ds/types.h"

#define MRPC_GRPC_TIMEOUT_LEN	9	/* bytes of the longest value */

/**
 * mrpc_grpc_timeout_parse() - read a value of grpc-timeout
 * @text: the value
 * @len: its bytes
 * @us: time until the deadline in microseconds, rounded up; 0: there is no deadline, as in
 *	struct mrpc_frame
 *
 * A time that the core cannot hold in nanoseconds (over S64_MAX / 4) is no deadline.
 *
 * Return: 0; -EINVAL: @text is no timeout; -ETIME: the time is 0, so the deadline has passed.
 */
int mrpc_grpc_timeout_parse(const u8 *text, u32 len, u64 *us);

/**
 * mrpc_grpc_timeout_format() - write a value of grpc-timeout
 * @us: time until the deadline in microseconds
 * @out: gets the value, without NUL
 *
 * Microseconds as long as eight digits hold them, then m, S, M and H, rounded up.
 *
 * Return: bytes written.
 */
u32 mrpc_grpc_timeout_format(u64 us, u8 out[MRPC_GRPC_TIMEOUT_LEN]);

#endif /* MRPC_LIB_GRPC_TIMEOUT_H */
