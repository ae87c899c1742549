// SPDX-License-Identifier: GPL-2.0
/*
 * A version of the TCP transport that fails on order, for tests of the core. It has no alias
 * without a version, so that it is never loaded by accident.
 */
#include "transports/tcp/link.c"
#include "transports/tcp/send.c"
#include "transports/tcp/egress.c"

enum { PARAM_FAIL };

static const struct mrpc_param mrpc_tcp_params[] = {
	[PARAM_FAIL] = {
		.name	= "fail",
		.type	= MRPC_PARAM_U64,
		.doc	= "so many links are taken over, and the next one is refused",
		.max	= U32_MAX,
		.def	= U32_MAX,
	},
};

static atomic64_t mrpc_tcp_left;

/* The configuration made last counts. */
static int mrpc_tcp_group(struct mrpc_group *g, const struct mrpc_group *prev,
			  struct netlink_ext_ack *extack)
{
	atomic64_set(&mrpc_tcp_left, g->values[PARAM_FAIL].num);
	return 0;
}

static void *mrpc_tcp_refuse(struct mrpc_link *link, const struct mrpc_transport_ops *from,
			     void *state, u64 uses, struct netlink_ext_ack *extack)
{
	if (atomic64_dec_return(&mrpc_tcp_left) >= 0)
		return mrpc_tcp_restore(link, from, state, uses, extack);
	NL_SET_ERR_MSG(extack, "tcp@90 fails to take over a link, as it was told");
	return ERR_PTR(-EIO);
}

static struct mrpc_engine_ops mrpc_tcp_type = {
	MRPC_TCP_TYPE,
	.version	= 90,
	.params		= mrpc_tcp_params,
	.nr_params	= ARRAY_SIZE(mrpc_tcp_params),
	.group_create	= mrpc_tcp_group,
	.doc		= "Fails on order, for tests.",
};

static struct mrpc_transport_ops mrpc_tcp_ops = {
	MRPC_TCP_OPS,
	.version	= 90,
	.type		= &mrpc_tcp_type,
	.restore	= mrpc_tcp_refuse,
};

module_mrpc_transport(mrpc_tcp_ops);
MODULE_ALIAS_MRPC_ENGINE("tcp-90");
MODULE_DESCRIPTION("mrpc over TCP that fails, for tests");
MODULE_LICENSE("GPL");
