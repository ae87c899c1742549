/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EGRESS_SCHEDULE_H
#define MRPC_EGRESS_SCHEDULE_H

#include <linux/types.h>

struct mrpc_domain;

bool mrpc_domain_look(struct mrpc_domain *d);
void mrpc_domain_settle(struct mrpc_domain *d) __must_hold(&d->lock);
void mrpc_domain_rank(struct mrpc_domain *d);
bool mrpc_domain_share(struct mrpc_domain *d, const void *self) __must_hold(&d->lock);
void mrpc_domain_pump(struct mrpc_domain *d);
void mrpc_domain_die(struct mrpc_domain *d);

/* Between the two */
void mrpc_domain_init(struct mrpc_domain *d);

#endif /* MRPC_EGRESS_SCHEDULE_H */
