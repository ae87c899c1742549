/* SPDX-License-Identifier: GPL-2.0 */
/* What a file says with the options of mrpc/options.proto. */
#ifndef MRPCC_OPTIONS_H
#define MRPCC_OPTIONS_H

#include "model.h"

/* Fills in the priorities of a service's methods, and complains about what they cannot be. */
void options_of_service(struct service *service);

#endif /* MRPCC_OPTIONS_H */
