/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of an asynchronous call, as its callback has it. Include after session.h. */
#ifndef TEST_ENDED_H
#define TEST_ENDED_H

#include <stdio.h>

struct ended {
	int nr;
	int status;
	bool same;		/* the reply is that to build(..., 1, 10000) */
	bool unsent;
	char detail[256];
};

static inline void on_done(void *user, struct mrpc_result *res)
{
	struct ended *e = user;

	e->nr++;
	e->status = res->status;
	e->unsent = res->unsent;
	e->same = res->status == MRPC_OK && matches(res->reply, 1, 10000);
	snprintf(e->detail, sizeof(e->detail), "%.255s", res->detail);
}

#endif /* TEST_ENDED_H */
