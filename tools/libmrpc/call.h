/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_CALL_H
#define LIBMRPC_CALL_H

#include "conn.h"

struct retry_call;

/*
 * Fills the entry of a call but for its user_data and metadata. @msg: NULL if the client streams.
 * Return: the status; anything but MRPC_OK is in @res, too.
 */
int call_prepare(struct mrpc_sqe *sqe, const struct mrpc_conn *conn,
		 const struct mrpc_service_desc *service, u32 method, struct mrpc_msg *msg,
		 const struct mrpc_call_opts *opts, struct mrpc_result *res);

/* Bytes of metadata, with what attempts need. @call: NULL: it is over no channel. */
u32 call_meta_bytes(const struct mrpc_call_opts *opts, const struct retry_call *call);

/* Puts the metadata into @mem, so many bytes of the send heap; NULL: no room. Return: as above. */
int call_put_meta(struct mrpc_session *session, struct mrpc_sqe *sqe,
		  const struct mrpc_call_opts *opts, struct retry_call *call, void *mem,
		  struct mrpc_result *res);

#endif /* LIBMRPC_CALL_H */
