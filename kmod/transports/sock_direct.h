/* SPDX-License-Identifier: GPL-2.0 */
/* Reading and sending without the layers above TCP, where that is allowed. */
#ifndef MRPC_TRANSPORTS_SOCK_DIRECT_H
#define MRPC_TRANSPORTS_SOCK_DIRECT_H

#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/net.h>
#include <net/sock.h>

#include "core/engine_type.h"
#include "transports/sock_tls.h"

struct kvec;
struct msghdr;
struct proto;

/**
 * struct mrpc_sock_pass - permission of the LSM hook for one direction
 *
 * The hook decides by the socket, the credentials of the task that runs the datapath, and a policy
 * that may change. So a permission is valid for the same credentials until the next clock tick.
 *
 * @cred: the credentials, a reference; NULL: the hook has not been asked yet
 * @when: jiffies
 */
struct mrpc_sock_pass {
	const struct cred *cred;
	unsigned long when;
};

/**
 * struct mrpc_sock_direct - how the layers above TCP are left out, for one socket
 * @prot: the socket's protocol at its creation. If a BPF program has put it into a sockmap, it has
 *	another one, which must be used. Immutable
 * @pass: for each direction; owner of its claim
 */
struct mrpc_sock_direct {
	const struct proto *prot;
	struct mrpc_sock_pass pass[MRPC_DIRS];
};

static inline bool mrpc_sock_passed(const struct mrpc_sock_pass *pass)
{
	return pass->cred == current_cred() && time_before_eq(jiffies, pass->when);
}

/* Is it plain TCP, without another protocol on top? */
static inline bool mrpc_sock_plain(const struct socket *sock, const struct mrpc_sock_tls *tls,
				   const struct mrpc_sock_direct *d)
{
	return READ_ONCE(sock->sk->sk_prot) == d->prot && !tls->link;
}

int mrpc_sock_direct_read(struct socket *sock, struct mrpc_sock_tls *tls,
			  struct mrpc_sock_direct *d, struct kvec *vec, size_t nr, size_t len);
int mrpc_sock_direct_send(struct socket *sock, struct mrpc_sock_tls *tls,
			  struct mrpc_sock_direct *d, struct msghdr *msg);
void mrpc_sock_direct_end(struct mrpc_sock_direct *d);

#endif /* MRPC_TRANSPORTS_SOCK_DIRECT_H */
