// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of the prio transport: see lib/prio/wire.h for the contract.
 */
#include "lib/prio/wire.h"

static const char * const drop_names[MRPC_PRIO_NR_DROPS] = {
	[MRPC_PRIO_DROP_SHORT]		= "short",
	[MRPC_PRIO_DROP_MAGIC]		= "magic",
	[MRPC_PRIO_DROP_VERSION]	= "version",
	[MRPC_PRIO_DROP_TYPE]		= "type",
	[MRPC_PRIO_DROP_FLAGS]		= "flags",
	[MRPC_PRIO_DROP_RESERVED]	= "reserved",
	[MRPC_PRIO_DROP_LENGTH]		= "length",
	[MRPC_PRIO_DROP_RANGE]		= "range",
	[MRPC_PRIO_DROP_CRC]		= "crc",
	[MRPC_PRIO_DROP_STRANGER]	= "stranger",
	[MRPC_PRIO_DROP_TOKEN]		= "token",
	[MRPC_PRIO_DROP_COOKIE]		= "cookie",
	[MRPC_PRIO_DROP_STATE]		= "state",
	[MRPC_PRIO_DROP_WINDOW]		= "window",
	[MRPC_PRIO_DROP_MISMATCH]	= "mismatch",
	[MRPC_PRIO_DROP_DUPLICATE]	= "duplicate",
	[MRPC_PRIO_DROP_UNGRANTED]	= "ungranted",
	[MRPC_PRIO_DROP_UNKNOWN]	= "unknown",
	[MRPC_PRIO_DROP_STALE]		= "stale",
	[MRPC_PRIO_DROP_LIMIT]		= "limit",
	[MRPC_PRIO_DROP_GAPS]		= "gaps",
	[MRPC_PRIO_DROP_MEMORY]		= "memory",
	[MRPC_PRIO_DROP_REFUSED]	= "refused",
};

const char *mrpc_prio_drop_name(u32 drop)
{
	return drop < MRPC_PRIO_NR_DROPS ? drop_names[drop] : NULL;
}

static int packet_refuse(u32 *why, u32 drop)
{
	*why = drop;
	return -EPROTO;
}

static bool type_is(u32 type, u32 types)
{
	return BIT(type) & types;
}

#define HANDSHAKE	(BIT(MRPC_PRIO_HELLO) | BIT(MRPC_PRIO_COOKIE) | BIT(MRPC_PRIO_WELCOME))
#define WITH_FROM	(BIT(MRPC_PRIO_DATA) | BIT(MRPC_PRIO_CONTROL))

static u32 type_flags(u32 type)
{
	switch (type) {
	case MRPC_PRIO_DATA:
		return MRPC_PRIO_CRC | MRPC_PRIO_AGAIN | MRPC_PRIO_URGE;
	case MRPC_PRIO_CONTROL:
		return MRPC_PRIO_CRC | MRPC_PRIO_ECN;
	default:
		return MRPC_PRIO_CRC;
	}
}

static int parse_header(const struct mrpc_prio_hdr *h, struct mrpc_prio_packet *p, u32 *why)
{
	p->type = h->type;
	p->flags = h->flags;
	p->priority = h->priority;
	p->nr = le16_to_cpu(h->nr);
	p->to = le64_to_cpu(h->to);
	p->crc = le32_to_cpu(h->crc);
	p->from = le32_to_cpu(h->from);
	if (le16_to_cpu(h->magic) != MRPC_PRIO_MAGIC)
		return packet_refuse(why, MRPC_PRIO_DROP_MAGIC);
	if (h->version != MRPC_PRIO_VERSION)
		return packet_refuse(why, MRPC_PRIO_DROP_VERSION);
	if (!p->type || p->type > MRPC_PRIO_TYPE_MAX)
		return packet_refuse(why, MRPC_PRIO_DROP_TYPE);
	if (p->flags & ~type_flags(p->type))
		return packet_refuse(why, MRPC_PRIO_DROP_FLAGS);
	if (!(p->flags & MRPC_PRIO_CRC) && (p->crc || !type_is(p->type, WITH_FROM)))
		return packet_refuse(why, MRPC_PRIO_DROP_FLAGS);
	if ((p->priority && p->type != MRPC_PRIO_DATA) ||
	    (p->nr && !type_is(p->type, WITH_FROM)) ||
	    (p->from && !type_is(p->type, WITH_FROM)))
		return packet_refuse(why, MRPC_PRIO_DROP_RESERVED);
	if (!p->to != (p->type == MRPC_PRIO_HELLO))
		return packet_refuse(why, MRPC_PRIO_DROP_RANGE);
	return 0;
}

static int parse_data(const u8 *buf, u32 len, struct mrpc_prio_packet *p, u32 *why)
{
	struct mrpc_prio_data d;

	if (len < sizeof(d))
		return packet_refuse(why, MRPC_PRIO_DROP_SHORT);
	memcpy(&d, buf, sizeof(d));
	p->len = p->nr ?: len - sizeof(d);
	p->size = sizeof(struct mrpc_prio_hdr) + sizeof(d) + p->len;
	p->conn = le64_to_cpu(d.conn);
	p->msg = le64_to_cpu(d.msg);
	p->ack = le64_to_cpu(d.ack);
	p->total = le32_to_cpu(d.total);
	p->offset = le32_to_cpu(d.offset);
	p->unscheduled = le32_to_cpu(d.unscheduled);
	p->kind = d.kind;
	p->behind = le16_to_cpu(d.behind);
	if (d.resv)
		return packet_refuse(why, MRPC_PRIO_DROP_RESERVED);
	if (p->kind > MRPC_PRIO_KIND_MAX)
		return packet_refuse(why, MRPC_PRIO_DROP_TYPE);
	if (!p->conn || !p->msg || p->msg > MRPC_PRIO_MAX_MSG || p->total > MRPC_PRIO_MAX_TOTAL ||
	    p->unscheduled > p->total || p->behind >= min_t(u64, p->msg, MRPC_PRIO_WINDOW))
		return packet_refuse(why, MRPC_PRIO_DROP_RANGE);
	if (p->offset > p->total || p->len > p->total - p->offset ||
	    (p->nr && (p->nr >= len - sizeof(d) ||
		       len > MRPC_PRIO_MAX_SHARED - sizeof(struct mrpc_prio_hdr))))
		return packet_refuse(why, MRPC_PRIO_DROP_LENGTH);
	return 0;
}

static int parse_note(const struct mrpc_prio_note *n, u32 *why)
{
	bool range = n->op == MRPC_PRIO_GRANT || n->op == MRPC_PRIO_RESEND;

	if (!n->op || n->op > MRPC_PRIO_OP_MAX)
		return packet_refuse(why, MRPC_PRIO_DROP_TYPE);
	if (n->op == MRPC_PRIO_REFUSE ? !n->code || n->code > MRPC_PRIO_REFUSAL_MAX : n->code)
		return packet_refuse(why, MRPC_PRIO_DROP_TYPE);
	if (n->class && n->op != MRPC_PRIO_GRANT)
		return packet_refuse(why, MRPC_PRIO_DROP_RESERVED);
	if (!range && n->op != MRPC_PRIO_ACK && (n->from || n->to))
		return packet_refuse(why, MRPC_PRIO_DROP_RESERVED);
	if (n->class >= MRPC_PRIO_CONTROL_CLASS ||
	    (range && (n->to > MRPC_PRIO_MAX_TOTAL || n->from > n->to)) ||
	    (n->op == MRPC_PRIO_RESEND && n->from == n->to))
		return packet_refuse(why, MRPC_PRIO_DROP_RANGE);
	if (!n->msg && n->op != MRPC_PRIO_PING && n->op != MRPC_PRIO_PONG)
		return packet_refuse(why, MRPC_PRIO_DROP_RANGE);
	return 0;
}

static int parse_control(const u8 *buf, u32 len, struct mrpc_prio_packet *p, u32 *why)
{
	struct mrpc_prio_note note;
	u32 i;

	if (!p->nr || p->nr > MRPC_PRIO_MAX_CONTROL)
		return packet_refuse(why, MRPC_PRIO_DROP_RANGE);
	if (len != p->nr * sizeof(struct mrpc_prio_entry))
		return packet_refuse(why, MRPC_PRIO_DROP_LENGTH);
	p->entries = buf;
	for (i = 0; i < p->nr; i++) {
		const u8 *e = buf + i * sizeof(struct mrpc_prio_entry);

		if (get_unaligned_le32(e + offsetof(struct mrpc_prio_entry, resv)))
			return packet_refuse(why, MRPC_PRIO_DROP_RESERVED);
		mrpc_prio_note_get(p, i, &note);
		if (parse_note(&note, why))
			return -EPROTO;
	}
	return 0;
}

static int parse_body(const u8 *buf, u32 len, struct mrpc_prio_packet *p, u32 *why)
{
	bool cookie = p->type == MRPC_PRIO_COOKIE, welcome = p->type == MRPC_PRIO_WELCOME;
	struct mrpc_prio_body b;

	if (len != sizeof(b))
		return packet_refuse(why, MRPC_PRIO_DROP_LENGTH);
	memcpy(&b, buf, sizeof(b));
	p->token = le64_to_cpu(b.token);
	p->cookie = le64_to_cpu(b.cookie);
	p->epoch = le32_to_cpu(b.epoch);
	p->features = le32_to_cpu(b.features);
	p->budget = le32_to_cpu(b.unscheduled);
	p->max_total = le32_to_cpu(b.max_total);
	p->stamp = le64_to_cpu(b.stamp);
	if ((cookie && (p->token || p->features || p->budget || p->max_total)) ||
	    (welcome && (p->cookie || p->epoch)))
		return packet_refuse(why, MRPC_PRIO_DROP_RESERVED);
	/* Unknown features are of a later version of the same packets: not wanted from us. */
	if (!cookie && !p->token)
		return packet_refuse(why, MRPC_PRIO_DROP_RANGE);
	return 0;
}

int mrpc_prio_parse(const void *buf, u32 linear, u32 len, struct mrpc_prio_packet *p, u32 *why)
{
	const u8 *rest = (const u8 *)buf + sizeof(struct mrpc_prio_hdr);
	struct mrpc_prio_hdr h;

	memset(p, 0, sizeof(*p));
	if (linear < sizeof(h) || len < linear)
		return packet_refuse(why, MRPC_PRIO_DROP_SHORT);
	memcpy(&h, buf, sizeof(h));
	if (parse_header(&h, p, why))
		return -EPROTO;
	p->size = len;
	len -= sizeof(h);
	linear -= sizeof(h);
	if (linear < (p->type == MRPC_PRIO_DATA ? sizeof(struct mrpc_prio_data) : len))
		return packet_refuse(why, MRPC_PRIO_DROP_SHORT);
	switch (p->type) {
	case MRPC_PRIO_DATA:
		return parse_data(rest, len, p, why);
	case MRPC_PRIO_CONTROL:
		return parse_control(rest, len, p, why);
	case MRPC_PRIO_RESET:
		return len ? packet_refuse(why, MRPC_PRIO_DROP_LENGTH) : 0;
	default:
		return parse_body(rest, len, p, why);
	}
}

/* Two headers of DATA: are they the same but for the offset, the upper half of its word? */
static bool heads_equal(const u8 *a, const u8 *b)
{
	u64 differ = 0;
	u32 i;

	static_assert(MRPC_PRIO_DATA_HDR % 8 == 0 && MRPC_PRIO_OFFSET_AT % 8 == 4);
	for (i = 0; i < MRPC_PRIO_DATA_HDR; i += 8) {
		u64 d = get_unaligned_le64(a + i) ^ get_unaligned_le64(b + i);

		differ |= i == MRPC_PRIO_OFFSET_AT - 4 ? (u32)d : d;
	}
	return !differ;
}

bool mrpc_prio_follows(const struct mrpc_prio_packet *p, const void *head, const void *next,
		       u32 at, u32 len)
{
	if (p->type != MRPC_PRIO_DATA || p->nr || p->flags & MRPC_PRIO_CRC || !p->len || !len ||
	    at > p->total - p->offset || len > p->total - p->offset - at)
		return false;
	return get_unaligned_le32((const u8 *)next + MRPC_PRIO_OFFSET_AT) == p->offset + at &&
	       heads_equal(head, next);
}

void mrpc_prio_note_get(const struct mrpc_prio_packet *p, u32 i, struct mrpc_prio_note *note)
{
	struct mrpc_prio_entry e;

	memcpy(&e, p->entries + i * sizeof(e), sizeof(e));
	note->msg = le64_to_cpu(e.msg);
	note->from = le32_to_cpu(e.from);
	note->to = le32_to_cpu(e.to);
	note->op = e.op;
	note->class = e.class;
	note->code = le16_to_cpu(e.code);
}

void mrpc_prio_note_put(const struct mrpc_prio_note *note, void *buf)
{
	struct mrpc_prio_entry e = {
		.msg = cpu_to_le64(note->msg),
		.from = cpu_to_le32(note->from),
		.to = cpu_to_le32(note->to),
		.op = note->op,
		.class = note->class,
		.code = cpu_to_le16(note->code),
	};

	memcpy(buf, &e, sizeof(e));
}

static u32 encode_data(const struct mrpc_prio_packet *p, u8 *buf)
{
	struct mrpc_prio_data d = {
		.conn = cpu_to_le64(p->conn),
		.msg = cpu_to_le64(p->msg),
		.ack = cpu_to_le64(p->ack),
		.total = cpu_to_le32(p->total),
		.offset = cpu_to_le32(p->offset),
		.unscheduled = cpu_to_le32(p->unscheduled),
		.kind = p->kind,
		.behind = cpu_to_le16(p->behind),
	};

	memcpy(buf, &d, sizeof(d));
	return sizeof(d);
}

static u32 encode_body(const struct mrpc_prio_packet *p, u8 *buf)
{
	struct mrpc_prio_body b = {
		.token = cpu_to_le64(p->token),
		.cookie = cpu_to_le64(p->cookie),
		.epoch = cpu_to_le32(p->epoch),
		.features = cpu_to_le32(p->features),
		.unscheduled = cpu_to_le32(p->budget),
		.max_total = cpu_to_le32(p->max_total),
		.stamp = cpu_to_le64(p->stamp),
	};

	memcpy(buf, &b, sizeof(b));
	return sizeof(b);
}

u32 mrpc_prio_encode(const struct mrpc_prio_packet *p, void *buf)
{
	struct mrpc_prio_hdr h = {
		.magic = cpu_to_le16(MRPC_PRIO_MAGIC),
		.version = MRPC_PRIO_VERSION,
		.type = p->type,
		.flags = p->flags,
		.priority = p->priority,
		.nr = cpu_to_le16(p->nr),
		.to = cpu_to_le64(p->to),
		.crc = cpu_to_le32(p->crc),
		.from = cpu_to_le32(p->from),
	};

	memcpy(buf, &h, sizeof(h));
	if (p->type == MRPC_PRIO_DATA)
		return sizeof(h) + encode_data(p, (u8 *)buf + sizeof(h));
	if (type_is(p->type, HANDSHAKE))
		return sizeof(h) + encode_body(p, (u8 *)buf + sizeof(h));
	return sizeof(h);
}
