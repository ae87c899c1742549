/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Channels: connections that come back. <mrpc.h> includes this.
 */
#ifndef _MRPC_CHANNEL_H
#define _MRPC_CHANNEL_H

#include <mrpc.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum mrpc_channel_state - what a channel is doing
 * @MRPC_CHANNEL_IDLE: it has no connection, and makes none until a call needs one
 * @MRPC_CHANNEL_CONNECTING: it makes one
 * @MRPC_CHANNEL_READY: it has one
 * @MRPC_CHANNEL_TRANSIENT_FAILURE: none could be made; the next attempt begins in a while
 * @MRPC_CHANNEL_SHUTDOWN: it was closed
 */
enum mrpc_channel_state {
	MRPC_CHANNEL_IDLE,
	MRPC_CHANNEL_CONNECTING,
	MRPC_CHANNEL_READY,
	MRPC_CHANNEL_TRANSIENT_FAILURE,
	MRPC_CHANNEL_SHUTDOWN,
};

/**
 * struct mrpc_channel_opts - how to make the connections of a channel
 * @timeout_us: limit of one attempt, over all addresses; 0 for 20 s
 * @backoff_us: from the begin of a failed attempt to that of the next; 0 for 1 s. Each failure
 *	makes it 1.6 times as long; up to a fifth is added or taken away at random
 * @backoff_max_us: its limit; 0 for 120 s
 * @keepalive_us: as in struct mrpc_conn_opts
 * @max_message: as in struct mrpc_conn_opts
 * @resv0: zero
 * @tls: as in struct mrpc_conn_opts; the channel keeps a reference
 * @service_config: NULL, or gRPC's service config in JSON, 64 KiB at most; the channel keeps none
 *	of it. See libmrpc(3) for what it can say
 * @idle_us: time without a call after which the channel closes its connections, and becomes idle;
 *	0 for 30 min, UINT64_MAX for ever, at least 1 ms. It takes up to a fourth longer
 * @resv: zero
 */
struct mrpc_channel_opts {
	__u64 timeout_us;
	__u64 backoff_us;
	__u64 backoff_max_us;
	__u64 keepalive_us;
	__u32 max_message;
	__u32 resv0;
	struct mrpc_tls *tls;
	const char *service_config;
	__u64 idle_us;
	__u64 resv[1];
};

/**
 * mrpc_channel_open() - make a channel to a server
 * @session: the session
 * @target: an address as for mrpc_connect(), or several, separated by commas: they are tried in
 *	order. gRPC's names "dns:///host:port", "ipv4:10.0.0.2:7000,10.0.0.3:7000" and
 *	"ipv6:[fd00::2]:7000" mean the transport tcp. "file:/etc/kv/servers" is a file with such a
 *	target in each line; the channel follows its changes
 * @services: what the peer must offer, with the same schema
 * @nr: how many, up to MRPC_MAX_SERVICES
 * @opts: or NULL
 *
 * A channel can be used wherever a connection can. The first call makes it connect. When its
 * connection ends, the next call makes it connect again; names are then looked up anew. A call that
 * provably was not sent is sent over the next connection, with the same deadline. Any other call
 * that was under way ends with MRPC_UNAVAILABLE, unless the service config has calls of its
 * method made again.
 *
 * While an attempt is under way, calls wait for it. After one has failed, calls fail with
 * MRPC_UNAVAILABLE and its reason; those with MRPC_CALL_WAIT_READY go on waiting, until their
 * deadline. mrpc_conn_close() ends a channel.
 *
 * Return: the channel, or NULL with errno: EINVAL: the target is none, or the service config is
 * wrong; ENOMEM. That the server cannot be reached is no error here.
 */
struct mrpc_conn *mrpc_channel_open(struct mrpc_session *session, const char *target,
				    const struct mrpc_service_desc *const services[],
				    unsigned int nr, const struct mrpc_channel_opts *opts);

/*
 * Returns its enum mrpc_channel_state. @connect: an idle one begins to connect. -EINVAL: it is a
 * connection and no channel. -EAGAIN: no thread can be started to connect.
 */
int mrpc_channel_state(struct mrpc_conn *channel, bool connect);

/**
 * mrpc_channel_wait() - wait until a channel has another state
 * @channel: the channel
 * @state: the state that was seen last
 * @timeout_us: limit of the wait; negative for none
 *
 * The loss of a connection that no call uses is noticed within 0.1 s.
 *
 * Return: the new enum mrpc_channel_state; -ETIME: @timeout_us has passed; -EINTR: a signal has
 * come, and its handler has no SA_RESTART; -EINVAL: it is a connection and no channel.
 */
int mrpc_channel_wait(struct mrpc_conn *channel, int state, __s64 timeout_us);

/**
 * mrpc_channel_why() - tell what keeps a channel from its connections
 * @channel: the channel
 * @buf: what is wrong with the file of the target, or why the latest attempt to connect has failed;
 *	"": neither
 * @size: its bytes
 *
 * Return: 0, -EINVAL: it is a connection and no channel.
 */
int mrpc_channel_why(struct mrpc_conn *channel, char *buf, size_t size);

/* "READY" for MRPC_CHANNEL_READY; "UNKNOWN" for what is no state. */
const char *mrpc_channel_state_name(int state);

#ifdef __cplusplus
}
#endif

#endif /* _MRPC_CHANNEL_H */
