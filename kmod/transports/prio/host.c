// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: what follows whatever has been done under host->lock.
 */
#include <linux/list.h>

#include "core/call.h"
#include "lib/prio/prio.h"
#include "transports/prio/egress.h"
#include "transports/prio/in.h"
#include "transports/prio/out.h"
#include "transports/prio/peers.h"

/**
 * prio_settle() - see what has become of peers and messages
 * @host: the host; under its lock
 */
void prio_settle(struct prio_host *host)
{
	if (mrpc_prio_settled(&host->ep))
		return;
	prio_peer_events(host);
	prio_out_ended(host);
	prio_in_ended(host);
	prio_egress_settle(host);
}

/**
 * prio_unlock() - the end of whatever has been done under host->lock
 * @host: the host
 *
 * Gives back the messages that have ended, and what those have that are not sent any more.
 * Context: any but hard interrupt.
 */
void prio_unlock(struct prio_host *host)
	__releases(&host->lock)
{
	struct mrpc_call *call, *then;
	struct prio_out *out, *next;
	LIST_HEAD(ended);
	LIST_HEAD(freed);

	prio_settle(host);
	list_splice_init(&host->ended, &ended);
	list_splice_init(&host->freed, &freed);
	spin_unlock_bh(&host->lock);
	list_for_each_entry_safe(call, then, &freed, freed) {
		mrpc_call_sent_put(call);
		mrpc_call_put(call);
	}
	list_for_each_entry_safe(out, next, &ended, of_link)
		prio_out_free(out);
}
