/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_APP_IOCTL_H
#define MRPC_APP_IOCTL_H

#include <linux/types.h>

struct mrpc_session;

/* ioctl.c */
long mrpc_session_ioctl(struct mrpc_session *session, unsigned int cmd, void __user *arg);

#endif /* MRPC_APP_IOCTL_H */
