// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: the module, and its settings.
 */
#include <linux/module.h>
#include <linux/pkt_sched.h>

#include "prio_host.h"

/* -- settings: parameters of the module, for all namespaces ------------------------------ */

static DEFINE_MUTEX(prio_settings_lock);
static struct mrpc_prio_rule prio_settings = MRPC_PRIO_RULE_DEFAULT;	/* under prio_settings_lock */

/* Of the network priorities, from the least. What is urgent goes before, what is bulk behind. */
static u8 prio_dscps[MRPC_PRIO_CLASSES] = { 8, 8, 0, 0, 16, 24, 32, 48 };
static uint prio_skb_priorities[MRPC_PRIO_CLASSES] = {
	TC_PRIO_BULK, TC_PRIO_BULK, TC_PRIO_BESTEFFORT, TC_PRIO_BESTEFFORT, TC_PRIO_BESTEFFORT,
	TC_PRIO_INTERACTIVE, TC_PRIO_INTERACTIVE, TC_PRIO_CONTROL,
};

/* prio_rule() - the settings as they are. Process context; may sleep. */
void prio_rule(struct mrpc_prio_rule *rule)
{
	mutex_lock(&prio_settings_lock);
	*rule = prio_settings;
	mutex_unlock(&prio_settings_lock);
}

/* prio_dscp() - what a network priority is in the IP header */
u8 prio_dscp(u32 class)
{
	return READ_ONCE(prio_dscps[class]) & 63;
}

/* prio_skb_priority() - and for queueing disciplines */
u32 prio_skb_priority(u32 class)
{
	return READ_ONCE(prio_skb_priorities[class]);
}

static int prio_setting_set(const char *text, const struct kernel_param *kp)
{
	u32 *field = kp->arg, value, before;
	int err = kstrtou32(text, 0, &value);

	if (err)
		return err;
	mutex_lock(&prio_settings_lock);
	before = *field;
	*field = value;
	if (!mrpc_prio_rule_ok(&prio_settings)) {
		*field = before;
		err = -EINVAL;
	}
	mutex_unlock(&prio_settings_lock);
	if (!err)
		prio_ports_apply();
	return err;
}

static int prio_setting_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%u\n", READ_ONCE(*(u32 *)kp->arg));
}

static const struct kernel_param_ops prio_setting_ops = {
	.set	= prio_setting_set,
	.get	= prio_setting_get,
};

#define PRIO_SETTING(name, doc)						\
	module_param_cb(name, &prio_setting_ops, &prio_settings.name, 0644);	\
	MODULE_PARM_DESC(name, doc)

PRIO_SETTING(chunk, "bytes of one turn of a message at most");
PRIO_SETTING(unscheduled, "bytes that each peer may send to here without a grant");
PRIO_SETTING(window, "bytes granted ahead of what has come, for each message");
PRIO_SETTING(outstanding, "bytes granted and not here, of all messages");
PRIO_SETTING(overcommit, "peers that are granted at a time, 1 to 64");
PRIO_SETTING(step, "a grant is for at least so many more bytes");
PRIO_SETTING(reorder, "bytes that come beyond a gap before it counts as lost");

static int prio_crc_set(const char *text, const struct kernel_param *kp)
{
	bool value;
	int err = kstrtobool(text, &value);

	if (err)
		return err;
	mutex_lock(&prio_settings_lock);
	prio_settings.crc = value;
	mutex_unlock(&prio_settings_lock);
	prio_ports_apply();
	return 0;
}

static const struct kernel_param_ops prio_crc_ops = {
	.set	= prio_crc_set,
	.get	= param_get_bool,
};

module_param_cb(crc, &prio_crc_ops, &prio_settings.crc, 0644);
MODULE_PARM_DESC(crc, "ask peers for checksums of all packets");

module_param_array_named(dscp, prio_dscps, byte, NULL, 0644);
MODULE_PARM_DESC(dscp, "DSCP of the eight network priorities, from the least");
module_param_array_named(skb_priority, prio_skb_priorities, uint, NULL, 0644);
MODULE_PARM_DESC(skb_priority, "packet priority of the eight network priorities, from the least");

/* -- the module -------------------------------------------------------------------------- */

static struct mrpc_transport_ops prio_ops = {
	.name		= "prio",
	.version	= 1,
	.owner		= THIS_MODULE,
	.connect	= prio_connect,
	.listen		= prio_listen,
	.waiting	= prio_waiting,
	.accept		= prio_accept,
	.unlisten	= prio_unlisten,
	.send		= prio_send,
	.recv		= prio_recv,
	.shutdown	= prio_shutdown,
	.release	= prio_release,
	.backlog	= prio_backlog,
	.slow		= prio_slow,
	.stats		= prio_stats,
};

static int __init prio_init(void)
{
	int err;

	err = prio_out_init();
	if (err)
		return err;
	err = prio_in_init();
	if (!err)
		err = mrpc_transport_register(&prio_ops);
	if (err) {
		prio_in_exit();
		prio_out_exit();
	}
	return err;
}

static void __exit prio_exit(void)
{
	mrpc_transport_unregister(&prio_ops);
	prio_ports_exit();
	prio_in_exit();
	prio_out_exit();
}

module_init(prio_init);
module_exit(prio_exit);
MODULE_ALIAS("mrpc-transport-prio");
MODULE_DESCRIPTION("mrpc over its own message transport");
MODULE_LICENSE("GPL");
