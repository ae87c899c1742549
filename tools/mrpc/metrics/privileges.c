// SPDX-License-Identifier: GPL-2.0
/* Giving up the privileges that a service does not need. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/util.h"
#include "metrics/privileges.h"

#define NOBODY	65534

/* Becomes the unprivileged user. If it does not exist (user namespace), the user stays. */
static void become_nobody(void)
{
	if (setgroups(0, NULL) && errno != EPERM)
		fail("cannot leave the groups: %s", strerror(errno));
	if (setresgid(NOBODY, NOBODY, NOBODY) && errno != EINVAL)
		fail("cannot become the group nobody: %s", strerror(errno));
	if (setresuid(NOBODY, NOBODY, NOBODY) && errno != EINVAL)
		fail("cannot become the user nobody: %s", strerror(errno));
}

static void set_capabilities(uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	int i;

	for (i = 0; i < 2; i++)
		data[i] = (struct __user_cap_data_struct) {
			.effective = caps >> (32 * i), .permitted = caps >> (32 * i),
		};
	if (syscall(SYS_capset, &header, data))
		fail("cannot give up capabilities: %s", strerror(errno));
}

static uint64_t capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		fail("cannot read the capabilities: %s", strerror(errno));
	return data[0].permitted | (uint64_t)data[1].permitted << 32;
}

/**
 * keep_only() - give up all privileges but one
 * @capability: CAP_*, or -1 for none; kept if the process has it
 *
 * The superuser becomes the unprivileged user. The process cannot get a privilege back, not even
 * by exec.
 */
void keep_only(int capability)
{
	uint64_t keep = capability < 0 ? 0 : 1ULL << capability;
	int i;

	keep &= capabilities();
	/* Needs CAP_SETPCAP. Without it, exec cannot give a process what is not in its sets. */
	for (i = 0; i <= CAP_LAST_CAP; i++)
		prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		fail("cannot give up privileges: %s", strerror(errno));
	if (!geteuid())
		become_nobody();
	set_capabilities(keep);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
