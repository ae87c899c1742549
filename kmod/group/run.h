/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_RUN_H
#define MRPC_GROUP_RUN_H

struct mrpc_call;
struct mrpc_member;
struct mrpc_operation;
struct mrpc_operation_form;
struct work_struct;

void mrpc_member_run(struct mrpc_member *m);
void mrpc_member_run_work(struct work_struct *work);
void mrpc_member_sent(struct mrpc_call *call);
void mrpc_operation_describe(const struct mrpc_member *m, const struct mrpc_operation *op,
			     struct mrpc_operation_form *form);

#endif /* MRPC_GROUP_RUN_H */
