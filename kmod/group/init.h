/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_INIT_H
#define MRPC_GROUP_INIT_H

void mrpc_group_init(void);

#endif /* MRPC_GROUP_INIT_H */
