/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions of this process. One is for the memory of ncclMemAlloc(), and for all communicators but
 * those that are created while another thread creates one: mrpc creates one group at a time in a
 * session.
 */
#ifndef MRPC_NCCL_SESSION_H
#define MRPC_NCCL_SESSION_H

#include <mrpc.h>

/* The session of the process, opened at the first use. NULL: mrpc_last_error() says why. */
struct mrpc_session *session_shared(void);

/*
 * A session where this thread may create a group; session_created() when that is over. NULL: as
 * above.
 */
struct mrpc_session *session_for_group(void);
void session_created(struct mrpc_session *session);

/* The communicator that session_for_group() was for is gone. */
void session_give(struct mrpc_session *session);

#endif /* MRPC_NCCL_SESSION_H */
