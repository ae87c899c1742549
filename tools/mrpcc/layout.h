/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of struct blocks, which the kernel's own schema compiler computes from
 * binary schemas: there is no second copy of that algorithm here.
 */
#ifndef MRPCC_LAYOUT_H
#define MRPCC_LAYOUT_H

#include "model.h"

/* The schemas of all services of the wanted files, and the layout of all their messages. */
void layout_model(struct model *model);

#endif /* MRPCC_LAYOUT_H */
