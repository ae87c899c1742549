// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: when ports without users and peers without connections are looked at.
 */
#include <linux/workqueue.h>

#include "transports/prio/reaper.h"

#define PRIO_PERIOD	(10 * HZ)	/* peers without connections are looked at */

/*
 * Both do the same, for all namespaces: now and then while there are hosts, and when a port has
 * lost its last user. Nothing puts off what is due.
 */
static struct delayed_work prio_reaper;
static struct delayed_work prio_closer;

/* prio_reaper_init() - @reap is what they do */
void prio_reaper_init(work_func_t reap)
{
	INIT_DELAYED_WORK(&prio_reaper, reap);
	INIT_DELAYED_WORK(&prio_closer, reap);
}

/* prio_reap_later() - there is a host: look at it in a while. Process context */
void prio_reap_later(void)
{
	schedule_delayed_work(&prio_reaper, PRIO_PERIOD);
}

/* prio_reap_soon() - a port without users may get some. Any context but hard interrupt */
void prio_reap_soon(void)
{
	schedule_delayed_work(&prio_closer, PRIO_GRACE);
}

/* prio_reaper_stop() - they do not run any more. Process context; may sleep */
void prio_reaper_stop(void)
{
	cancel_delayed_work_sync(&prio_closer);
	cancel_delayed_work_sync(&prio_reaper);
}

/* prio_ports_crowd() - there are many peers: see which can be forgotten. Softirq */
void prio_ports_crowd(void)
{
	mod_delayed_work(system_wq, &prio_reaper, 0);
}

/**
 * prio_port_put() - one user less
 * @port: the port
 *
 * Context: any but hard interrupt.
 */
void prio_port_put(struct prio_port *port)
{
	bool connects = port->connects;

	WRITE_ONCE(port->unused, jiffies);
	if (!atomic_dec_and_test(&port->users))
		return;
	if (connects)
		prio_reap_soon();
	else
		mod_delayed_work(system_wq, &prio_closer, 0);
}
