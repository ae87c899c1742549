/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: messages on their way out. */
#ifndef MRPC_TRANSPORTS_PRIO_OUT_H
#define MRPC_TRANSPORTS_PRIO_OUT_H

#include "transports/prio/host.h"

#define PRIO_OUTS	4096	/* messages of a server that a client has not acknowledged */

struct prio_out *prio_out_new(gfp_t gfp);
bool prio_out_bye(struct prio_link *link, struct prio_out *out);
void prio_out_ended(struct prio_host *host);
void prio_out_free(struct prio_out *out);
void prio_out_sent(struct mrpc_prio_tx *core);
int prio_out_chunks(struct prio_host *host, const struct mrpc_prio_chunk *chunks, u32 nr,
		    struct socket *owner, u32 *size);
int prio_out_init(void);
void prio_out_exit(void);
void prio_out_add(struct prio_link *link, struct prio_out *out);
void prio_out_go(struct prio_out *out);
void prio_out_last(struct prio_link *link);
void prio_out_let_go(struct prio_out *out);
void prio_out_delete(struct prio_out *out);

#endif /* MRPC_TRANSPORTS_PRIO_OUT_H */
