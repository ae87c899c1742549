/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What must abort, and say why: for code that is compiled with MRPC_DEBUG. */
#ifndef TEST_ABORTS_H
#define TEST_ABORTS_H

#include <signal.h>
#include <sys/mman.h>

#include "tap.h"

static sigjmp_buf aborts_end;
static char aborts_said[1024];

static inline void aborts_handler(int signal)
{
	(void)signal;
	siglongjmp(aborts_end, 1);
}

/* What stands on standard error from now on. Return: the old one, for aborts_read(). */
static inline int aborts_begin(void)
{
	int old = dup(2), file = memfd_create("stderr", 0);

	dup2(file, 2);
	close(file);
	signal(SIGABRT, aborts_handler);
	return old;
}

static inline const char *aborts_read(int old)
{
	ssize_t len = pread(2, aborts_said, sizeof(aborts_said) - 1, 0);

	signal(SIGABRT, SIG_DFL);
	aborts_said[len > 0 ? len : 0] = '\0';
	dup2(old, 2);
	close(old);
	return aborts_said;
}

#define CHECK_ABORTS(expression, want) do {				\
	int volatile aborts_old = aborts_begin();			\
	bool volatile aborts_did = true;				\
									\
	if (!sigsetjmp(aborts_end, 1)) {				\
		(void)(expression);					\
		aborts_did = false;					\
	}								\
	aborts_read(aborts_old);					\
	CHECK_MSG(aborts_did, "%s does not abort", #expression);	\
	CHECK_MSG(strstr(aborts_said, want), "it says: %s", aborts_said); \
} while (0)

#endif /* TEST_ABORTS_H */
