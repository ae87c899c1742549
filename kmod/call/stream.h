/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_STREAM_H
#define MRPC_CALL_STREAM_H

#include <linux/types.h>

struct kvec;
struct mrpc_link;

/*
 * A byte stream to frames, for every transport that is one.
 */
struct mrpc_stream {
	u8 *buf;		/* unparsed input, or NULL: aligned to 8 */
	u32 cap;
	u32 start;		/* first unparsed byte, a multiple of 8 */
	u32 end;
	u32 ahead;		/* bytes to read beyond what is needed now */
	u64 skip;		/* bytes to throw away */
	u32 trailer;		/* bytes of a checksum behind the byte section */
	u32 sum;		/* of the byte section so far */
	bool have_frame;	/* the frame in the sink is decoded, its head not complete */
	bool checked;		/* the checksum of the head is right */
	bool too_big;		/* it is to be refused, not read */
};

typedef int (*mrpc_stream_read)(struct mrpc_link *link, struct kvec *vec, size_t nr, size_t len);

void mrpc_stream_free(struct mrpc_link *link, struct mrpc_stream *st);

/**
 * mrpc_stream_recv() - the receive loop of a stream transport
 * @link: the link
 * @st: its stream state
 * @read: read up to @len bytes into the @nr entries of @vec (kernel memory),
 *	which hold so many, without waiting; -EAGAIN: none there; 0: end of stream
 * @budget: frames
 *
 * Return: as mrpc_transport_ops.recv.
 */
int mrpc_stream_recv(struct mrpc_link *link, struct mrpc_stream *st,
		     mrpc_stream_read read, int budget);

#endif /* MRPC_CALL_STREAM_H */
