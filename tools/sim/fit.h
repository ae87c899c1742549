/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_FIT_H
#define SIM_FIT_H

#include "workload.h"

/** sim_fit() - prints how far @w is from the table in @path; Return: 0, or 1: an error, printed */
int sim_fit(const char *path, const struct sim_workload *w);

#endif /* SIM_FIT_H */
