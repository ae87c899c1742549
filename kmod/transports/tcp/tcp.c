// SPDX-License-Identifier: GPL-2.0
/*
 * Version 1 of the TCP transport: what connections have unless an operator says
 * otherwise.
 */
#include "core/engine_type.h"
#include "core/transport.h"
#include "lib/message/feature.h"
#include "transports/tcp/tcp.h"

static struct mrpc_engine_ops mrpc_tcp_type = {
	MRPC_TCP_TYPE,
	.version	= 1,
	.doc		= "TCP, as every connection has it of itself",
};

static struct mrpc_transport_ops mrpc_tcp_ops = {
	MRPC_TCP_OPS,
	.version	= 1,
	.features	= MRPC_FEATURE_STREAM | MRPC_FEATURE_GROUP,
	.type		= &mrpc_tcp_type,
	.restore	= mrpc_tcp_restore,
};

module_mrpc_transport(mrpc_tcp_ops);
MODULE_ALIAS("mrpc-transport-tcp");
MODULE_ALIAS_MRPC_ENGINE("tcp");
MODULE_ALIAS_MRPC_ENGINE("tcp-1");
MODULE_DESCRIPTION("mrpc over TCP");
MODULE_LICENSE("GPL");
