// SPDX-License-Identifier: GPL-2.0
/*
 * The transport grpc: calls to and from peers that speak gRPC, over HTTP/2.
 *
 * The module has no alias: an administrator loads it where it is wanted, because it lets the kernel
 * parse a protocol of others.
 */
#include <linux/module.h>

#include "core/transport.h"
#include "lib/message/feature.h"
#include "transports/grpc/link.h"
#include "transports/grpc/pump.h"
#include "transports/grpc/receive.h"
#include "transports/sock_listen.h"

static struct mrpc_transport_ops grpc_ops = {
	.name		= "grpc",
	.version	= 1,
	.flags		= MRPC_TRANSPORT_FOREIGN,
	.features	= MRPC_FEATURE_STREAM,
	.owner		= THIS_MODULE,
	.connect	= grpc_connect,
	.adopt		= grpc_adopt,
	.listen		= mrpc_sock_listen,
	.listen_on	= mrpc_sock_listen_on,
	.waiting	= mrpc_sock_waiting,
	.accept		= grpc_accept,
	.unlisten	= mrpc_sock_unlisten,
	.send		= grpc_send,
	.pump		= grpc_pump,
	.recv		= grpc_recv,
	.shutdown	= grpc_shutdown,
	.busy		= grpc_busy,
	.release	= grpc_release,
	.backlog	= grpc_backlog,
};

module_mrpc_transport(grpc_ops);
MODULE_DESCRIPTION("mrpc to and from peers that speak gRPC");
MODULE_LICENSE("GPL");
