/* SPDX-License-Identifier: GPL-2.0 */
/* The link of a connection: what its transport knows of it, and what both ends have agreed. */
#ifndef MRPC_CORE_LINK_H
#define MRPC_CORE_LINK_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/socket.h>
#include <linux/types.h>

#include "lib/message/feature.h"

struct mrpc_receive;
struct mrpc_schema_plan;
struct mrpc_transport_ops;
struct net;

/**
 * struct mrpc_link - the link of a connection; embedded in struct mrpc_conn
 *
 * Its transport and change/link_version.c write it. A transport is given nothing else of a
 * connection, and calls the functions of the core that take a link.
 */
struct mrpc_link {
	/* Version 1 of the transport, a module reference: what the link goes back to. Immutable. */
	const struct mrpc_transport_ops *home;
	/*
	 * The version that the link has now, a module reference. Changes together with @priv:
	 * with both claims held, under mrpc_conn.lock.
	 */
	const struct mrpc_transport_ops *ops;
	/* The transport's state. Set before the connection is READY. */
	void *priv;
	/* What arrives over it. Immutable. */
	struct mrpc_receive *receive;
	/* The network namespace of its addresses, which the session keeps. Immutable. */
	struct net *net;
	/* True at the server's end. Immutable. */
	bool accepted;
	/* What it has agreed with its peer; struct mrpc_features says which claim owns what. */
	struct mrpc_features features;
	/*
	 * MRPC_FEATURE_* that the operator wants used in what is sent. Changes with both claims
	 * held, or before the connection is READY.
	 */
	u64 uses;
	/* Of these what the peer accepts. Transmit claim, or before the connection is READY. */
	u64 adds;
	/* When the peer was last heard, jiffies64. Receive claim; read anywhere. */
	u64 last_rx;
	/* The largest message that is accepted. Immutable once the connection can be found. */
	u32 max_message;
	/* ns of silence before a probe. Immutable once the connection can be found. */
	u64 keepalive;
	/*
	 * Packets with pages that the network stack copied, although the transport gave them by
	 * reference. Counted since the transport last tried: copying at once is cheaper then.
	 * Atomic.
	 */
	atomic_t copied;
	/*
	 * Messages that the transport has taken and not given to the network: a connection that
	 * drains waits for them. Atomic; mrpc_link_keep() and mrpc_link_unkeep().
	 */
	atomic_t kept;
	/*
	 * What ended the link first, a negative errno, or 0. The owner of either claim writes it,
	 * or the transport, which may know the cause before them: by cmpxchg().
	 */
	int err;
	/* What the transport knows of that beyond @err: a static sentence, or NULL. As @err. */
	const char *why;
	/*
	 * Of a socket that an application handed over: what it says that the peer's name is, or
	 * NULL; TLS's version and cipher, or 0. The connection frees @identity. Set before the
	 * connection can be found, then immutable.
	 */
	const char *identity;
	u16 identity_len;
	u16 tls_version;
	u16 tls_cipher;
	/* Its keys have encrypted what they may: it drains. Transmit claim; read anywhere. */
	bool worn;
	/* Addresses. Set with @priv, then immutable. */
	struct sockaddr_storage local;
	struct sockaddr_storage peer;
};

/**
 * mrpc_link_agreed() - what the operator wants or the peer accepts has changed
 * @link: the link; the caller owns the transmit claim, or the connection is not READY yet
 */
static inline void mrpc_link_agreed(struct mrpc_link *link)
{
	WRITE_ONCE(link->adds, link->features.may & link->uses);
}

/* The transport has taken something that it sends later. Before ops->send returns. */
static inline void mrpc_link_keep(struct mrpc_link *link)
{
	atomic_inc(&link->kept);
}

/* Since when the peer was not heard, ns. It may be heard just now. */
static inline u64 mrpc_link_silent(const struct mrpc_link *link)
{
	u64 heard = READ_ONCE(link->last_rx), now = get_jiffies_64();

	return now > heard ? jiffies64_to_nsecs(now - heard) : 0;
}

const struct mrpc_schema_plan *mrpc_link_service(struct mrpc_link *link, u32 i);
u32 mrpc_link_max_calls(struct mrpc_link *link);
void mrpc_link_unkeep(struct mrpc_link *link);
void mrpc_link_get(struct mrpc_link *link);
void mrpc_link_put(struct mrpc_link *link);

#endif /* MRPC_CORE_LINK_H */
