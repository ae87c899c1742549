/* SPDX-License-Identifier: GPL-2.0 */
/* A service: its client and server, and its description. */
#ifndef MRPCC_GEN_SERVICE_H
#define MRPCC_GEN_SERVICE_H

#include "model.h"

/* The enum of its methods, and the names that it takes. */
void gen_methods(struct buf *out, const struct service *service);
void take_method_names(const struct service *service);

void gen_service_header(struct buf *out, const struct service *service);
void gen_service_source(struct buf *out, const struct service *service);

#endif /* MRPCC_GEN_SERVICE_H */
