// SPDX-License-Identifier: GPL-2.0
/* Netlink messages: allocation and replies. */
#include "netlink/msg.h"
#include "netlink/netlink.h"

/* With @more bytes than are known to be enough. */
struct sk_buff *mrpc_nl_new(u32 more)
{
	return genlmsg_new(MRPC_NL_SIZE - GENL_HDRLEN - NLMSG_HDRLEN + more, GFP_KERNEL);
}

/* The answer is in @skb, or @err says why not. */
int mrpc_nl_reply(struct sk_buff *skb, struct genl_info *info, int err)
{
	if (!err)
		return genlmsg_reply(skb, info);
	nlmsg_free(skb);
	return err;
}
