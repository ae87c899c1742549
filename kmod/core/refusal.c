// SPDX-License-Identifier: GPL-2.0
/*
 * Refusals: a status and a sentence for every way in which a descriptor or a
 * message can be wrong.
 */
#include "core/heap.h"
#include "core/refusal.h"
#include "core/rpc.h"
#include "core/session.h"
#include "lib/message/message.h"
#include "lib/message/meta.h"
#include "lib/message/wire.h"

/**
 * mrpc_refuse() - note why
 * @r: where
 * @status: enum mrpc_status
 * @fmt: the sentence
 *
 * Return: -EINVAL, for the caller to return.
 */
int mrpc_refuse(struct mrpc_refusal *r, u16 status, const char *fmt, ...)
{
	va_list args;

	r->status = status;
	va_start(args, fmt);
	vscnprintf(r->detail, sizeof(r->detail), fmt, args);
	va_end(args);
	return -EINVAL;
}

/**
 * mrpc_refuse_link() - say why a transport made no link
 * @r: where
 * @why: what the transport says, or NULL
 * @err: the errno that it returned
 */
void mrpc_refuse_link(struct mrpc_refusal *r, const char *why, int err)
{
	static const struct {
		int err;
		const char *text;
	} texts[] = {
		{ -ECONNREFUSED, "connection refused by the peer" },
		{ -ECONNRESET, "connection reset by the peer" },
		{ -ETIMEDOUT, "no answer in time" },
		{ -EHOSTUNREACH, "no route to the host" },
		{ -ENETUNREACH, "no route to the network" },
		{ -ENETDOWN, "the network is down" },
		{ -EADDRINUSE, "the address is in use" },
		{ -EADDRNOTAVAIL, "this host does not have the address, or no port is free" },
		{ -EAFNOSUPPORT, "this kernel does not support the address family" },
		{ -EINVAL, "the address is not valid" },
		{ -EACCES, "permission denied" },
		{ -EPERM, "not permitted, perhaps by a packet filter" },
		{ -EALREADY, "something else has taken the socket" },
		{ -EINTR, "interrupted by a signal" },
		{ -ERESTARTSYS, "interrupted by a signal" },
		{ -ENOMEM, "no memory" },
		{ -ENOBUFS, "no memory" },
	};
	u32 i;

	for (i = 0; !why && i < ARRAY_SIZE(texts); i++)
		if (texts[i].err == err)
			why = texts[i].text;
	if (why)
		mrpc_refuse(r, MRPC_UNAVAILABLE, "%s", why);
	else
		mrpc_refuse(r, MRPC_UNAVAILABLE, "no link: error %d", -err);
}

/**
 * mrpc_refuse_meta() - copy metadata into an rpc, then check the copy
 * @session: whose send heap
 * @rpc: an rpc with room for it (mrpc_rpc_prefix())
 * @off: send heap offset
 * @len: bytes
 * @r: why not
 *
 * Return: 0 or -EINVAL.
 */
int mrpc_refuse_meta(struct mrpc_session *session, struct mrpc_rpc *rpc, u64 off, u32 len,
		     struct mrpc_refusal *r)
{
	const void *src = mrpc_heap_at(&session->send, off, len);
	u8 *to = rpc->data + sizeof(struct mrpc_wire_hdr);

	if (!src)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "metadata {off %llu, len %u} is outside the send heap", off, len);
	memcpy(to, src, len);
	if (mrpc_meta_valid(to, len) < 0)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "metadata of %u bytes is malformed", len);
	return 0;
}

/**
 * mrpc_refuse_message() - say why mrpc_rpc_snapshot() failed
 * @err: what it returned
 * @plan: its schema
 * @me: its error
 * @max: its limit
 * @copy: whether a whole copy was asked for
 * @r: where
 *
 * Return: -EINVAL.
 */
int mrpc_refuse_message(int err, const struct mrpc_schema_plan *plan,
			const struct mrpc_msg_error *me, u32 max, bool copy,
			struct mrpc_refusal *r)
{
	switch (err) {
	case -EMSGSIZE:
		if (copy && max > MRPC_MAX_COPY)
			return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
					   "the message exceeds %u bytes, the most that MRPC_SQE_COPY copies",
					   MRPC_MAX_COPY);
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
				   "the message exceeds %u bytes, the most that its receiver accepts",
				   max);
	case -EFBIG:
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
				   "the structures and text of the message exceed %u bytes",
				   MRPC_MAX_HEAD);
	case -EDQUOT:
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
				   "no room for the message: this user's sessions have all that max_heap allows");
	case -EINVAL:
		r->status = MRPC_INVALID_ARGUMENT;
		mrpc_msg_explain(plan, me, r->detail, sizeof(r->detail));
		return -EINVAL;
	default:
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "no memory for the message");
	}
}
