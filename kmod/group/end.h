/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_END_H
#define MRPC_GROUP_END_H

#include <linux/types.h>

struct mrpc_member;
struct work_struct;

void __printf(3, 4) mrpc_member_fail(struct mrpc_member *m, u16 status, const char *fmt, ...);
void mrpc_member_quit(struct mrpc_member *m);
void mrpc_member_expect(struct mrpc_member *m);
void mrpc_member_end_work(struct work_struct *work);
void mrpc_member_close_work(struct work_struct *work);
void mrpc_member_limit_work(struct work_struct *work);

#endif /* MRPC_GROUP_END_H */
