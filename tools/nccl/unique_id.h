/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is in an ncclUniqueId: text, with the address where rank 0 listens and a token. */
#ifndef MRPC_NCCL_UNIQUE_ID_H
#define MRPC_NCCL_UNIQUE_ID_H

#include "nccl.h"

#define TOKEN_TEXT	33	/* 16 bytes in hexadecimal digits, and the NUL */
#define ADDRESS_TEXT	81	/* "tcp:host:port", and the NUL */

/**
 * struct unique_id - the content of an ncclUniqueId
 * @token: "" for none
 * @address: where rank 0 listens
 */
struct unique_id {
	char token[TOKEN_TEXT];
	char address[ADDRESS_TEXT];
};

void unique_id_encode(ncclUniqueId *id, const struct unique_id *content);

/* ncclInvalidArgument, with the error set: no ncclGetUniqueId() of this library has made it. */
ncclResult_t unique_id_decode(const ncclUniqueId *id, struct unique_id *content);

#endif /* MRPC_NCCL_UNIQUE_ID_H */
