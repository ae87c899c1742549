/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loopback device as a link like others: with small packets, and a queueing discipline that
 * makes it slow or bad.
 */
#ifndef LO_H
#define LO_H

#include <stdbool.h>

/*
 * Gives lo a @qdisc, as tc calls it with its parameters, and the MTU of others; until the test
 * ends. Return: there is such a discipline here.
 */
bool lo_bend(const char *qdisc);
/* Makes lo again what it is by default. */
void lo_restore(void);

#endif /* LO_H */
