/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stand-in for /dev/mrpc, so that the library can be tested without the
 * module: the device is an ordinary file, and ioctl() is wrapped. It knows one
 * type of message, and connects sessions of the same process.
 */
#ifndef FAKE_H
#define FAKE_H

#include <linux/mrpc.h>
#include <stdbool.h>

/* The one type, as request and as reply. */
struct fake_msg {
	struct mrpc_ref data;
	__u32 number;
	__u32 pad;
};

struct fake_stats {
	unsigned int enters;
	unsigned int sync_calls;
	unsigned int calls;
	unsigned int replies;
	unsigned int copies;		/* calls and replies with MRPC_SQE_COPY */
	unsigned int release_ioctls;
	unsigned int binds;
	unsigned int live_blocks;	/* of receive heaps */
	unsigned int silent;		/* attempts that are not answered, begun and not closed */
	unsigned int lookups;		/* of many.test */
	__u64 drained_us;		/* the latest time to drain of a connection; 0: none */
	unsigned int adopted;		/* sockets that were handed over */
	unsigned int adopted_grpc;	/* of these, to a listener for gRPC */
	char identity[MRPC_IDENTITY_LEN];	/* with the last one of them to a listener */
	char server[MRPC_IDENTITY_LEN];	/* with the last one of them to a client */
	unsigned int bad;		/* what a correct library does not do */
};

/* The path to give as mrpc_session_opts.device. */
const char *fake_device(void);

struct fake_stats fake_stats(void);
void fake_reset_stats(void);

/* The next so many ioctls of this command fail with @err. */
void fake_fail(unsigned long cmd, int err, int times);

/* Methods of this index and above stream. A connection that is closed ends their calls. */
#define FAKE_STREAMS	2

/* A message of a stream with this number is refused. */
#define FAKE_REFUSED	0xdead

/*
 * From now on the kernel still reads messages of streams, and their requests, that are not copied.
 * It finds at the end of this that none has changed.
 */
void fake_hold_sent(bool hold);

/* What sessions are told from now on; 4096 if never called. */
void fake_copy_threshold(__u32 bytes);

/* Calls that new connections take at a time from now on; 256 if never called. Sessions say 1024. */
void fake_max_calls(__u32 nr);

/* Largest number of submissions that one enter of a client takes; 0: all. */
void fake_take_at_most(unsigned int nr);

/*
 * The name "both.test" is ::1 and 127.0.0.1. An attempt over IPv6 is never answered. The name
 * "many.test" is 16 of 20 addresses, others each time, where no server is.
 */

/* How many processors there are from now on; 0: as many as there are. */
void fake_processors(int nr);

/* Waits until so many threads serve: the stand-in keeps no calls for one to come. */
void fake_wait_serving(int fd, __u32 threads);

#endif /* FAKE_H */
