// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: its settings, which are parameters of the module, for all namespaces.
 */
#include <linux/module.h>
#include <linux/pkt_sched.h>

#include "lib/prio/prio.h"
#include "lib/prio/rule.h"
#include "lib/prio/wire.h"
#include "transports/prio/params.h"

static void (*prio_params_changed)(void);	/* after one of prio_settings has */
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

/**
 * struct prio_setting - a parameter that is a field of prio_settings
 * @field: the field
 * @size: of it, in bytes: 8, 4; 1 is a bool, or one of @names
 * @unit: what 1 is in the field
 * @names: of its values, or NULL
 */
struct prio_setting {
	void *field;
	u32 size;
	u32 unit;
	const char *const *names;
};

static const char *const prio_orders[MRPC_PRIO_NR_ORDERS] = {
	[MRPC_PRIO_SRPT] = "srpt",
	[MRPC_PRIO_FIFO] = "fifo",
	[MRPC_PRIO_FAIR] = "fair",
};

static int prio_setting_parse(const struct prio_setting *s, const char *text, u32 *value)
{
	bool yes;
	int ret;

	if (s->names) {
		ret = __sysfs_match_string(s->names, MRPC_PRIO_NR_ORDERS, text);
		*value = ret;
		return ret < 0 ? ret : 0;
	}
	if (s->size > 1)
		return kstrtou32(text, 0, value);
	ret = kstrtobool(text, &yes);
	*value = yes;
	return ret;
}

static u64 prio_setting_read(const struct prio_setting *s)
{
	switch (s->size) {
	case 1:
		return *(u8 *)s->field;
	case 4:
		return *(u32 *)s->field;
	default:
		return *(u64 *)s->field;
	}
}

static void prio_setting_write(const struct prio_setting *s, u64 value)
{
	switch (s->size) {
	case 1:
		*(u8 *)s->field = value;
		break;
	case 4:
		*(u32 *)s->field = value;
		break;
	default:
		*(u64 *)s->field = value;
	}
}

static int prio_setting_set(const char *text, const struct kernel_param *kp)
{
	const struct prio_setting *s = kp->arg;
	void (*changed)(void);
	u32 value;
	u64 before;
	int err = prio_setting_parse(s, text, &value);

	if (err)
		return err;
	mutex_lock(&prio_settings_lock);
	before = prio_setting_read(s);
	prio_setting_write(s, (u64)value * s->unit);
	if (!mrpc_prio_rule_ok(&prio_settings)) {
		prio_setting_write(s, before);
		err = -EINVAL;
	}
	mutex_unlock(&prio_settings_lock);
	changed = READ_ONCE(prio_params_changed);
	if (!err && changed)
		changed();
	return err;
}

static int prio_setting_get(char *text, const struct kernel_param *kp)
{
	const struct prio_setting *s = kp->arg;
	u64 value;

	mutex_lock(&prio_settings_lock);
	value = prio_setting_read(s);
	mutex_unlock(&prio_settings_lock);
	if (s->names)
		return sysfs_emit(text, "%s\n", s->names[value]);
	if (s->size == 1)
		return sysfs_emit(text, "%c\n", value ? 'Y' : 'N');
	return sysfs_emit(text, "%llu\n", div_u64(value, s->unit));
}

static const struct kernel_param_ops prio_setting_ops = {
	.set	= prio_setting_set,
	.get	= prio_setting_get,
};

#define PRIO_SETTING(name, unit_of, names_of, doc)					\
	static struct prio_setting prio_setting_##name = {				\
		.field = &prio_settings.name,						\
		.size = sizeof(prio_settings.name),					\
		.unit = unit_of,							\
		.names = names_of,							\
	};										\
	module_param_cb(name, &prio_setting_ops, &prio_setting_##name, 0644);		\
	MODULE_PARM_DESC(name, doc)

PRIO_SETTING(chunk, 1, NULL, "bytes of one turn of a message at most");
PRIO_SETTING(unscheduled, 1, NULL, "bytes that each peer may send to here without a grant");
PRIO_SETTING(window, 1, NULL, "bytes granted ahead of what has come, for each message");
PRIO_SETTING(proportional, 1, NULL, "instead: outstanding shared by what remains of each message");
PRIO_SETTING(outstanding, 1, NULL, "bytes granted and not here, of all messages");
PRIO_SETTING(overcommit, 1, NULL, "peers that are granted at a time, 1 to 64");
PRIO_SETTING(order, 1, prio_orders, "of messages of one priority: srpt, fifo or fair");
PRIO_SETTING(step, 1, NULL, "a grant is for at least so many more bytes");
PRIO_SETTING(reorder, 1, NULL, "bytes that come beyond a gap before it counts as lost");
PRIO_SETTING(max_rx, 1, NULL, "messages being received");
PRIO_SETTING(max_rx_peer, 1, NULL, "messages being received from one peer");
PRIO_SETTING(ack_delay, NSEC_PER_USEC, NULL, "us that an acknowledgement waits for a packet");
PRIO_SETTING(rto_min, NSEC_PER_USEC, NULL, "us until something is asked for again");
PRIO_SETTING(rto_max, NSEC_PER_USEC, NULL, "us between attempts at most");
PRIO_SETTING(silence, NSEC_PER_USEC, NULL, "us without a packet until a peer is given up");
PRIO_SETTING(crc, 1, NULL, "ask peers for checksums of all packets");

module_param_array_named(dscp, prio_dscps, byte, NULL, 0644);
MODULE_PARM_DESC(dscp, "DSCP of the eight network priorities, from the least");
module_param_array_named(skb_priority, prio_skb_priorities, uint, NULL, 0644);
MODULE_PARM_DESC(skb_priority, "packet priority of the eight network priorities, from the least");

/* prio_params_init() - @changed is called when settings have changed. Process context */
void prio_params_init(void (*changed)(void))
{
	WRITE_ONCE(prio_params_changed, changed);
}
