// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ranks of groups, as the kernel knows them.
 */
#include <string.h>

#include "rank.h"

int rank_new(struct mrpc_session *session, u64 key, u32 ranks, u32 rank, u64 limit_us, u32 *id)
{
	char why[EXPLAIN_LEN] = "";
	struct mrpc_group_new arg = {
		.size = sizeof(arg),
		.key = key,
		.ranks = ranks,
		.rank = rank,
		.limit_us = limit_us,
		.explain = { .buf = (uintptr_t)why, .len = sizeof(why) },
	};
	int err = session_ioctl(session, MRPC_IOC_GROUP, &arg);

	if (err)
		return fail(-err, "cannot be rank %u of %u: %s", rank, ranks,
			    why[0] ? why : strerror(-err));
	*id = arg.id;
	return 0;
}

int rank_link(struct mrpc_session *session, u32 id, u32 to, u32 conn)
{
	char why[EXPLAIN_LEN] = "";
	struct mrpc_group_link arg = {
		.size = sizeof(arg),
		.group = id,
		.rank = to,
		.conn = conn,
		.explain = { .buf = (uintptr_t)why, .len = sizeof(why) },
	};
	int err = session_ioctl(session, MRPC_IOC_GROUP_LINK, &arg);

	return err ? fail(-err, "the connection to rank %u cannot be the group's: %s", to,
			  why[0] ? why : strerror(-err)) : 0;
}

void rank_end(struct mrpc_session *session, u32 id)
{
	struct mrpc_group_end arg = { .size = sizeof(arg), .group = id };

	session_ioctl(session, MRPC_IOC_GROUP_END, &arg);
}
