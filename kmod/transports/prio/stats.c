// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: what operators see of it in a network namespace.
 */
#include "core/transport.h"
#include "lib/prio/prio.h"
#include "transports/prio/port.h"
#include "transports/prio/stats.h"

/* A number in struct prio_look. */
struct prio_number {
	const char *name;
	u8 kind;	/* enum mrpc_stat_kind */
	u8 size;
	u16 offset;
};

#define PRIO_NUMBER(_kind, _name, _field) {				\
	.name	= (_name),						\
	.kind	= (_kind),						\
	.size	= sizeof_field(struct prio_look, _field),		\
	.offset	= offsetof(struct prio_look, _field),			\
}
#define PRIO_COUNTER(_name)	PRIO_NUMBER(MRPC_STAT_COUNTER, #_name, stats._name)
#define PRIO_GAUGE(_name)	PRIO_NUMBER(MRPC_STAT_GAUGE, #_name, _name)
#define PRIO_SETTING(_name)	PRIO_NUMBER(MRPC_STAT_SETTING, #_name, rule._name)
/* The protocol counts nanoseconds. */
#define PRIO_TIME(_name)	PRIO_NUMBER(MRPC_STAT_SETTING, #_name "_ns", rule._name)

static const struct prio_number prio_numbers[] = {
	PRIO_COUNTER(packets),
	PRIO_COUNTER(data_bytes),
	PRIO_COUNTER(resent),
	PRIO_COUNTER(resends),
	PRIO_COUNTER(grants),
	PRIO_COUNTER(acks),
	PRIO_COUNTER(timeouts),
	PRIO_COUNTER(wasted),
	PRIO_COUNTER(marks),
	PRIO_COUNTER(shrinks),
	PRIO_COUNTER(joined),
	PRIO_GAUGE(peers),
	PRIO_GAUGE(links),
	PRIO_GAUGE(messages_out),
	PRIO_GAUGE(messages_in),
	PRIO_GAUGE(gap_maps),
	PRIO_GAUGE(staged),
	PRIO_GAUGE(outstanding),
	PRIO_GAUGE(below),
	PRIO_SETTING(chunk),
	PRIO_SETTING(unscheduled),
	PRIO_SETTING(window),
	PRIO_SETTING(outstanding),
	PRIO_SETTING(overcommit),
	PRIO_SETTING(step),
	PRIO_SETTING(reorder),
	PRIO_SETTING(crc),
	PRIO_SETTING(proportional),
	PRIO_SETTING(max_rx),
	PRIO_SETTING(max_rx_peer),
	PRIO_TIME(ack_delay),
	PRIO_TIME(rto_min),
	PRIO_TIME(rto_max),
	PRIO_TIME(silence),
};

static u64 prio_number_of(const struct prio_look *look, const struct prio_number *n)
{
	const void *field = (const void *)look + n->offset;

	switch (n->size) {
	case 1:
		return *(const u8 *)field;
	case 4:
		return *(const u32 *)field;
	default:
		return *(const u64 *)field;
	}
}

/* prio_stats() - see struct mrpc_transport_ops */
int prio_stats(struct net *net, mrpc_stat_emit emit, void *ctx)
{
	struct prio_look look;
	int err = 0;
	u32 i;

	if (!prio_look(net, &look))
		return 0;
	for (i = 0; !err && i < ARRAY_SIZE(prio_numbers); i++)
		err = emit(ctx, prio_numbers[i].kind, prio_numbers[i].name,
			   prio_number_of(&look, &prio_numbers[i]));
	for (i = 0; !err && i < MRPC_PRIO_NR_DROPS; i++)
		err = emit(ctx, MRPC_STAT_DROP, mrpc_prio_drop_name(i), look.stats.drops[i]);
	return err;
}
