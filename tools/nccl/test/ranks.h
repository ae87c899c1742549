/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks of a communicator. Each is a child process. */
#ifndef TEST_NCCL_RANKS_H
#define TEST_NCCL_RANKS_H

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nccl.h"
#include "results.h"

#define RANKS	4

/**
 * struct rank - a rank of the test
 * @rank: which one
 * @ranks: how many there are
 * @id: where they meet
 * @comm: their communicator
 */
struct rank {
	int rank;
	int ranks;
	ncclUniqueId id;
	ncclComm_t comm;
};

/* Each of @nr ranks joins, calls @use and, unless it has set its communicator to NULL, leaves. */
static inline void run_ranks(int nr, void (*use)(struct rank *r))
{
	struct rank r = { .ranks = nr };
	int status, failed = 0;

	setenv("NCCL_SOCKET_IFNAME", "lo", 0);
	CHECK_OK(ncclGetUniqueId(&r.id));
	for (r.rank = 0; r.rank < nr; r.rank++) {
		if (CHECK_SYS(fork()))
			continue;
		CHECK_OK(ncclCommInitRank(&r.comm, nr, r.id, r.rank));
		use(&r);
		if (r.comm)
			CHECK_OK(ncclCommDestroy(r.comm));
		exit(0);
	}
	while (wait(&status) > 0)
		failed += status != 0;
	CHECK_EQ(failed, 0);
}

#endif /* TEST_NCCL_RANKS_H */
