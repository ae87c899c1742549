// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: sockets of the kernel's own, and those among them that packets belong to.
 *
 * They serve all users of a namespace, so they are made by a kernel thread: they are root's, in the
 * root cgroup and in no memory cgroup, whichever user came first.
 */
#include <linux/workqueue.h>
#include <net/sock.h>

#include "transports/prio/owner.h"

/**
 * struct prio_sock_work - a socket that is being made
 * @work: makes it
 * @net: its namespace
 * @family: AF_INET or AF_INET6
 * @sock: out
 * @err: out: 0 or a negative errno
 */
struct prio_sock_work {
	struct work_struct work;
	struct net *net;
	u16 family;
	struct socket *sock;
	int err;
};

static void prio_sock_make(struct work_struct *work)
{
	struct prio_sock_work *w = container_of(work, struct prio_sock_work, work);

	w->err = sock_create_kern(w->net, w->family, SOCK_DGRAM, IPPROTO_UDP, &w->sock);
}

/**
 * prio_sock_kern() - a UDP socket of the kernel's own
 * @net: its namespace
 * @family: AF_INET or AF_INET6
 * @sock: out
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int prio_sock_kern(struct net *net, u16 family, struct socket **sock)
{
	struct prio_sock_work w = { .net = net, .family = family };

	INIT_WORK_ONSTACK(&w.work, prio_sock_make);
	queue_work(system_unbound_wq, &w.work);
	flush_work(&w.work);
	destroy_work_on_stack(&w.work);
	*sock = w.sock;
	return w.err;
}

/* Softirq, or wherever a packet is freed. */
static void prio_write_space(struct sock *sk)
{
	struct prio_host *host;

	read_lock_bh(&sk->sk_callback_lock);
	host = sk->sk_user_data;
	smp_mb();	/* what has gone is counted; pairs with prio_pump_room() */
	if (host && READ_ONCE(host->wants_room))
		prio_pump_kick(host);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void prio_owner_hook(struct prio_host *host, struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	host->write_space = sk->sk_write_space;
	sk->sk_user_data = host;
	sk->sk_write_space = prio_write_space;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* Packets that are still under way keep the socket, and nothing of ours. */
static void prio_owner_unhook(struct prio_host *host, struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_write_space = host->write_space;
	write_unlock_bh(&sk->sk_callback_lock);
}

static int prio_owner_new(struct prio_host *host, struct socket **owner)
{
	return prio_sock_kern(host->net, AF_INET, owner);
}

static void prio_owner_free(struct socket *owner)
{
	if (owner)
		sock_release(owner);
}

/**
 * prio_owners_open() - the sockets of a new host that packets belong to
 * @host: the host; prio_owners_unhook() and prio_owners_free() follow, also after a failure
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int prio_owners_open(struct prio_host *host)
{
	int err;

	err = prio_owner_new(host, &host->gated) ?: prio_owner_new(host, &host->control) ?:
	      prio_owner_new(host, &host->other) ?: prio_owner_new(host, &host->owner);
	if (err)
		return err;
	prio_owner_hook(host, host->other->sk);
	prio_owner_hook(host, host->owner->sk);
	return 0;
}

/* prio_owners_unhook() - no packet that leaves kicks the host any more */
void prio_owners_unhook(struct prio_host *host)
{
	if (!host->owner)	/* the last one that was made */
		return;
	prio_owner_unhook(host, host->owner->sk);
	prio_owner_unhook(host, host->other->sk);
}

/* prio_owners_free() - of a host that is about to be freed. Context: process; may sleep */
void prio_owners_free(struct prio_host *host)
{
	prio_owner_free(host->owner);
	prio_owner_free(host->other);
	prio_owner_free(host->gated);
	prio_owner_free(host->control);
}
