// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Results of calls.
 */
#include <stdio.h>
#include <string.h>

#include "release.h"
#include "result.h"
#include "roots.h"

static RARE void say_full(const struct mrpc_session *session, struct mrpc_result *res)
{
	snprintf(res->detail, sizeof(res->detail), "%s, and the receive heap of %llu bytes is full of "
		 "results, or of requests, that were not released: mrpc_result_release() does it",
		 mrpc_status_name(res->status), (unsigned long long)session->recv_size);
}

void result_fill(struct mrpc_session *session, struct mrpc_result *res,
		 const struct mrpc_cqe *cqe)
{
	const u8 *p = session->recv + cqe->block;
	u32 len;

	memset(res, 0, offsetof(struct mrpc_result, detail) + 1);
	res->status = cqe->status;
	res->local = cqe->flags & MRPC_CQE_LOCAL;
	res->unsent = cqe->flags & MRPC_CQE_UNSENT;
	res->compressed = cqe->flags & MRPC_CQE_COMPRESSED;
	if (!(cqe->flags & MRPC_CQE_BLOCK)) {
		if (cqe->flags & MRPC_CQE_FULL)
			say_full(session, res);
		return;
	}
	res->session = session;
	res->block = cqe->block;
	res->flags = cqe->flags;
	res->reply_len = cqe->msg_len;
	if (cqe->msg_len)
		res->reply = p;
	if (unlikely(roots_watched) && cqe->msg_len)
		roots_begin(session, p, p, cqe->msg_len);
	p += ALIGN_UP(cqe->msg_len, 8u);
	res->meta_len = cqe->meta_len;
	if (cqe->meta_len)
		res->meta = p;
	p += ALIGN_UP(cqe->meta_len, 8u);
	len = cqe->detail_len < MRPC_MAX_DETAIL ? cqe->detail_len : MRPC_MAX_DETAIL;
	memcpy(res->detail, p, len);
	res->detail[len] = '\0';
	p += ALIGN_UP(cqe->detail_len, 8u);
	if (cqe->flags & MRPC_CQE_TIMES)
		res->times = (const struct mrpc_times *)p;
}

void result_fail(struct mrpc_result *res, int status, const char *fmt, ...)
{
	va_list args;

	memset(res, 0, offsetof(struct mrpc_result, detail) + 1);
	res->status = status;
	res->local = true;
	va_start(args, fmt);
	vsnprintf(res->detail, sizeof(res->detail), fmt, args);
	va_end(args);
}

void mrpc_result_release(struct mrpc_result *res)
{
	if (!(res->flags & MRPC_CQE_BLOCK))
		return;
	release_block(res->session, res->block, res->reply_len + res->meta_len);
	res->flags = 0;
	res->reply = NULL;
	res->meta = NULL;
	res->times = NULL;
}

void mrpc_result_move(struct mrpc_result *to, struct mrpc_result *from)
{
	*to = *from;
	from->flags = 0;
}
