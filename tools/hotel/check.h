/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HOTEL_CHECK_H
#define _HOTEL_CHECK_H

#include "program.h"

/*
 * Makes @nr requests of the workload and some that fail, of services that have just been
 * started, and compares the answers with what data.c says. Return: whether all are right;
 * those that are not are told of.
 */
bool check_answers(const struct peer *peer, unsigned int nr);

/* One search. Prints its status and detail. */
void check_status(const struct peer *peer);

#endif
