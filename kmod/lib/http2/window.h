/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows of HTTP/2's flow control, of a stream or a connection, in one direction.
 *
 * Not locked: the owner's lock protects each of them. Windows are signed and 64 bits wide, since a
 * change of SETTINGS can make the sender's negative.
 */
#ifndef MRPC_LIB_HTTP2_WINDOW_H
#define MRPC_LIB_HTTP2_WINDOW_H

#include "lib/http2/frame.h"

/**
 * struct mrpc_h2_window - the receiver's side
 * @left: bytes that the peer may still send
 * @credit: bytes consumed that the peer has not been told
 * @target: what @left is when all is consumed and told
 *
 * What has come and is not consumed is @target - @left - @credit.
 */
struct mrpc_h2_window {
	s64 left;
	s64 credit;
	s64 target;
};

/** mrpc_h2_window_init() - the peer may send @left bytes; it is to be told of more up to @target */
static inline void mrpc_h2_window_init(struct mrpc_h2_window *w, u32 left, u32 target)
{
	*w = (struct mrpc_h2_window){ .left = left, .target = max(left, target) };
	w->credit = w->target - left;
}

/** mrpc_h2_window_take() - @n bytes came. Return: false: they are more than the peer may send */
static inline bool mrpc_h2_window_take(struct mrpc_h2_window *w, u32 n)
{
	if (n > w->left)
		return false;
	w->left -= n;
	return true;
}

/** mrpc_h2_window_credit() - @n bytes are consumed; more than came count as what came */
static inline void mrpc_h2_window_credit(struct mrpc_h2_window *w, u32 n)
{
	w->credit += min_t(s64, n, w->target - w->left - w->credit);
}

/** mrpc_h2_window_grow() - raise the target to @target; a smaller one changes nothing */
static inline void mrpc_h2_window_grow(struct mrpc_h2_window *w, u32 target)
{
	s64 more = min_t(s64, target, MRPC_H2_MAX_WINDOW) - w->target;

	if (more <= 0)
		return;
	w->target += more;
	w->credit += more;
}

/**
 * mrpc_h2_window_due() - is it time for WINDOW_UPDATE?
 * @w: the window
 *
 * It is at a quarter of the window. It is also if the peer could stand still: less than a frame is
 * left to it, and the credit more than doubles that.
 *
 * Return: true: it is.
 */
static inline bool mrpc_h2_window_due(const struct mrpc_h2_window *w)
{
	if (w->credit >= w->target / 4)
		return w->credit;
	return w->left < MRPC_H2_MAX_FRAME && w->credit > w->left;
}

/** mrpc_h2_window_say() - Return: the increment for WINDOW_UPDATE, which counts as told */
static inline u32 mrpc_h2_window_say(struct mrpc_h2_window *w)
{
	u32 n = w->credit;

	w->left += n;
	w->credit = 0;
	return n;
}

/** mrpc_h2_window_open() - the sender's window grows. Return: false: beyond 2^31-1, unchanged */
static inline bool mrpc_h2_window_open(s64 *window, u32 n)
{
	if (*window + n > MRPC_H2_MAX_WINDOW)
		return false;
	*window += n;
	return true;
}

#endif /* MRPC_LIB_HTTP2_WINDOW_H */
