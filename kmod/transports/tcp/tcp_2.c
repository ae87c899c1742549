// SPDX-License-Identifier: GPL-2.0
/*
 * Version 2 of the TCP transport: checks the checksums of messages, and gives them to
 * those that it sends if the operator wants that and the peer checks them, too.
 */
#include "transports/tcp/link.c"
#include "transports/tcp/send.c"
#include "transports/tcp/egress.c"

enum { PARAM_CHECKSUM };

static const struct mrpc_param mrpc_tcp_params[] = {
	[PARAM_CHECKSUM] = {
		.name	= "checksum",
		.type	= MRPC_PARAM_BOOL,
		.doc	= "send each message with a CRC-32C, to peers that check it",
		.max	= 1,
	},
};

static u64 mrpc_tcp_uses(const struct mrpc_group *g)
{
	return g->values[PARAM_CHECKSUM].num ? MRPC_FEATURE_CRC : 0;
}

static struct mrpc_engine_ops mrpc_tcp_type = {
	MRPC_TCP_TYPE,
	.version	= 2,
	.params		= mrpc_tcp_params,
	.nr_params	= ARRAY_SIZE(mrpc_tcp_params),
	.doc		= "TCP with a checksum of each message",
};

static struct mrpc_transport_ops mrpc_tcp_ops = {
	MRPC_TCP_OPS,
	.version	= 2,
	.features	= MRPC_FEATURE_STREAM | MRPC_FEATURE_GROUP | MRPC_FEATURE_CRC,
	.type		= &mrpc_tcp_type,
	.uses		= mrpc_tcp_uses,
	.restore	= mrpc_tcp_restore,
};

module_mrpc_transport(mrpc_tcp_ops);
MODULE_ALIAS_MRPC_ENGINE("tcp");
MODULE_ALIAS_MRPC_ENGINE("tcp-2");
MODULE_DESCRIPTION("mrpc over TCP, with checksums");
MODULE_LICENSE("GPL");
