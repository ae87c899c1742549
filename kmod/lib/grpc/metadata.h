/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metadata: between entries as applications have them (struct mrpc_meta_entry) and header fields.
 * The value of a key that ends in "-bin" is base64 in a field, and bytes in an entry. Any other
 * value is %x20-7E.
 */
#ifndef MRPC_LIB_GRPC_METADATA_H
#define MRPC_LIB_GRPC_METADATA_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"
#include "lib/grpc/out.h"

/* Room for a refusal of mrpc_grpc_admit(), with NUL: the longest key and a sentence. */
#define MRPC_GRPC_ADMIT_TEXT	384

/**
 * struct mrpc_grpc_meta - metadata being received
 * @buf: memory of the caller
 * @room: its bytes, at most MRPC_MAX_META
 * @len: bytes of entries
 * @dropped: fields that cannot be given to applications, up to U16_MAX
 * @full: an entry did not fit; it and what came later is lost. The call ends with
 *	RESOURCE_EXHAUSTED
 *
 * The caller sets @buf and @room; the rest is 0 before the first field. What is in @buf is always
 * valid for mrpc_meta_valid().
 */
struct mrpc_grpc_meta {
	u8 *buf;
	u32 room;
	u32 len;
	u16 dropped;
	bool full;
};

/**
 * mrpc_grpc_meta_hear() - take a field that is metadata
 * @m: metadata
 * @name: the field's name, without upper-case letters
 * @nlen: its bytes
 * @value: its value
 * @vlen: its bytes
 *
 * The parts of a "-bin" value that commas separate become one entry each. A field is dropped and
 * counted if its key or value is not one of gRPC's.
 */
void mrpc_grpc_meta_hear(struct mrpc_grpc_meta *m, const u8 *name, u32 nlen, const u8 *value,
			 u32 vlen);

/* mrpc_grpc_meta_drop() - count a field that is not given to the application */
void mrpc_grpc_meta_drop(struct mrpc_grpc_meta *m);

/**
 * mrpc_grpc_admit() - can fields carry this metadata of an application?
 * @meta: entries that mrpc_meta_valid() accepts
 * @len: their bytes
 * @reply: the application is a server
 * @why: gets a sentence with NUL that names the key and the reason
 * @size: its bytes, e.g. MRPC_GRPC_ADMIT_TEXT; a longer sentence is cut
 *
 * Return: 0 or -EINVAL.
 */
int mrpc_grpc_admit(const u8 *meta, u32 len, bool reply, char *why, u32 size);

/**
 * mrpc_grpc_put_meta() - put the fields of an application's metadata
 * @out: where
 * @meta: entries that mrpc_grpc_admit() accepts, in memory that no one else can write
 * @len: their bytes
 */
void mrpc_grpc_put_meta(struct mrpc_grpc_out *out, const u8 *meta, u32 len);

#endif /* MRPC_LIB_GRPC_METADATA_H */
