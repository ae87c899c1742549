// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: verification, and what it shares with the snapshot; see message.h
 * for the contract and snapshot.c for the other side.
 */
#include "lib/message/message_walk.h"
#include "lib/message/utf8.h"

/* About a field's reference or value; the walk adds the type. */
int mrpc_msg_refuse(struct msg_walk *w, const struct mrpc_field *f, s64 off, u64 len,
		    const char *what)
{
	w->err->what = what;
	w->err->field = f ? f - w->plan->fields : U32_MAX;
	w->err->off = off;
	w->err->len = len;
	return -EINVAL;
}

int mrpc_msg_refuse_ref(struct msg_walk *w, const struct mrpc_field *f, struct mrpc_ref ref,
			const char *what)
{
	return mrpc_msg_refuse(w, f, ref.off, ref.len, what);
}

/* About a number in a block of type @type, or in the message (U32_MAX). */
int mrpc_msg_refuse_value(struct msg_walk *w, u32 type, s64 value, const char *what)
{
	w->err->type = type;
	return mrpc_msg_refuse(w, NULL, value, 0, what);
}

/* -- struct blocks --------------------------------------------------------- */

/* The member that a oneof's case in @block chooses; NULL: none, or unknown. */
const struct mrpc_field *mrpc_msg_member(const struct mrpc_schema_plan *plan,
					 const struct mrpc_type *t, const u8 *block,
					 u32 oneof)
{
	u32 number = msg_get_u32(block + t->oneof_offset + 4 * oneof);
	const struct mrpc_field *fields = plan->fields + t->first_field;
	u32 low = 0, high = number ? t->nr_fields : 0;

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (fields[mid].number == number)
			return fields[mid].oneof == oneof ? &fields[mid] : NULL;
		if (fields[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static u32 msg_place_size(const struct mrpc_field *f)
{
	return f->shape <= MRPC_SHAPE_BOOL ? f->elem_size : sizeof(struct mrpc_ref);
}

static bool msg_has(const u8 *block, u32 bit)
{
	return msg_get_u32(block + bit / 32 * 4) >> bit % 32 & 1;
}

/* Has bits without a field are zeroed (@fix) or must be zero. */
static int msg_tidy_has(struct msg_walk *w, const struct mrpc_type *t, u8 *block, bool fix)
{
	u8 *last = block + t->nr_has / 32 * 4;
	u32 has = msg_get_u32(last);
	u32 used = has & (BIT(t->nr_has % 32) - 1);

	if (fix)
		memcpy(last, &used, sizeof(used));
	else if (used != has)
		return mrpc_msg_refuse_value(w, t - w->plan->types, has,
					     "are has bits of which one has no field");
	return 0;
}

/*
 * Bytes that carry nothing are zeroed (@fix) or must be zero. The only place
 * where oneof cases are checked: a type with a oneof always comes here.
 */
int mrpc_msg_tidy_block(struct msg_walk *w, const struct mrpc_type *t, u32 at, bool fix)
{
	const struct mrpc_dead *d = w->plan->dead + t->first_dead;
	const struct mrpc_dead *end = d + t->nr_dead;
	u32 type = t - w->plan->types;
	u8 *block = w->head + at;

	if (t->nr_has % 32) {
		int ret = msg_tidy_has(w, t, block, fix);

		if (ret)
			return ret;
	}
	for (; d < end; d++) {
		u32 from = d->offset;
		u32 to = from + d->len;

		if (d->when == MRPC_DEAD_UNSET && msg_has(block, d->arg))
			continue;
		if (d->when == MRPC_DEAD_ONEOF) {
			u32 number = msg_get_u32(block + t->oneof_offset + 4 * d->arg);
			const struct mrpc_field *f = mrpc_msg_member(w->plan, t, block, d->arg);

			if (number && !f)
				return mrpc_msg_refuse_value(w, type, number,
							     "is a oneof's case without a field");
			from += f ? msg_place_size(f) : 0;
		}
		for (; from < to; from++) {
			if (fix)
				block[from] = 0;
			else if (block[from])
				return mrpc_msg_refuse_value(w, type, from,
							     "is where a byte is not zero");
		}
	}
	return 0;
}

/* -- verify ---------------------------------------------------------------- */

static int verify_absent(struct msg_walk *w, const struct mrpc_field *f, struct mrpc_ref ref)
{
	if (ref.off)
		return mrpc_msg_refuse_ref(w, f, ref, "is absent, but has an offset");
	return msg_check_absent(w, f, ref);
}

static int verify_bool(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	if (w->head[at] > 1)
		return mrpc_msg_refuse(w, f, w->head[at], 0, "is not 0 or 1");
	return 0;
}

/* The block of @len bytes that a reference names must be at the cursor. */
static __always_inline int verify_place(struct msg_walk *w, const struct mrpc_field *f,
					struct mrpc_ref ref, u64 len, const u32 *cursor, u32 end)
{
	if (unlikely((u32)ref.off != *cursor))
		return mrpc_msg_refuse_ref(w, f, ref, "is not where the block before it ends");
	if (unlikely(len > end - *cursor))
		return mrpc_msg_refuse_ref(w, f, ref, "runs beyond its section's end");
	return 0;
}

static __always_inline int verify_text(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	struct mrpc_ref ref = msg_get_ref(w->head + at);
	const u8 *text = w->head + w->text;
	int ret;

	if (!ref.len)
		return verify_absent(w, f, ref);
	ret = verify_place(w, f, ref, (u64)ref.len + 1, &w->text, w->text_end);
	if (ret)
		return ret;
	if (text[ref.len])
		return mrpc_msg_refuse_ref(w, f, ref, "is not followed by a NUL");
	if (!mrpc_utf8_valid(text, ref.len))
		return mrpc_msg_refuse_ref(w, f, ref, "is not UTF-8");
	w->text += ref.len + 1;
	return 0;
}

static __always_inline int verify_bytes(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	struct mrpc_ref ref = msg_get_ref(w->head + at);
	u64 len = msg_bytes_len(f, ref.len);
	int ret;

	if (!ref.len)
		return verify_absent(w, f, ref);
	ret = verify_place(w, f, ref, len, &w->bytes, w->bytes_end);
	if (ret)
		return ret;
	w->bytes += ALIGN(len, 8);
	return 0;
}

/* The bools at the end of the struct section so far, and their padding. */
static int verify_bools(struct msg_walk *w, const struct mrpc_field *f, struct mrpc_ref ref)
{
	u32 pos = ref.off;
	u32 i;

	for (i = 0; i < ref.len; i++, pos++)
		if (w->head[pos] > 1)
			return mrpc_msg_refuse_ref(w, f, ref, "has a bool that is not 0 or 1");
	for (; pos < w->structs; pos++)
		if (w->head[pos])
			return mrpc_msg_refuse_ref(w, f, ref, "has padding that is not zero");
	return 0;
}

static noinline int verify_block(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	struct mrpc_ref ref = msg_get_ref(w->head + at);
	u64 len = msg_structs_len(f, ref.len);
	u32 pos = w->structs;
	int ret;
	u32 i;

	if (!ref.len)
		return verify_absent(w, f, ref);
	if (f->shape == MRPC_SHAPE_MESSAGE && ref.len != 1)
		return mrpc_msg_refuse_ref(w, f, ref, "has a length other than 0 or 1");
	ret = verify_place(w, f, ref, len, &w->structs, w->structs_end);
	if (ret)
		return ret;
	w->structs += ALIGN(len, 8);

	switch (f->shape) {
	case MRPC_SHAPE_BOOLS:
		return verify_bools(w, f, ref);
	case MRPC_SHAPE_TEXTS:
		for (i = 0; i < ref.len && !ret; i++, pos += sizeof(ref))
			ret = verify_text(w, f, pos);
		return ret;
	case MRPC_SHAPE_BYTESS:
		for (i = 0; i < ref.len && !ret; i++, pos += sizeof(ref))
			ret = verify_bytes(w, f, pos);
		return ret;
	default:
		return msg_tidy(w, &w->plan->types[f->type], pos, ref.len, false);
	}
}

static __always_inline int verify_visit(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	switch (f->shape) {
	case MRPC_SHAPE_SCALAR:
		return 0;
	case MRPC_SHAPE_BOOL:
		return verify_bool(w, f, at);
	case MRPC_SHAPE_TEXT:
		return verify_text(w, f, at);
	case MRPC_SHAPE_BYTES:
	case MRPC_SHAPE_ARRAY:
		return verify_bytes(w, f, at);
	default:
		return verify_block(w, f, at);
	}
}

static noinline int verify_nested(struct msg_walk *w, const struct mrpc_type *t)
{
	return msg_walk_nested(w, t, verify_visit);
}

/* Behind text that does not end at a multiple of 8 are the last bytes of the head. */
static int verify_padding(struct msg_walk *w)
{
	u64 last;

	if (IS_ALIGNED(w->text, 8))
		return 0;
	last = get_unaligned_le64(w->head + ALIGN(w->text, 8) - 8) >> 8 * (w->text % 8);
	if (!last)
		return 0;
	return mrpc_msg_refuse_value(w, U32_MAX, w->text + __ffs64(last) / 8,
				     "is where padding is not zero");
}

/* The sections must end where the walk has ended. */
static int verify_end(struct msg_walk *w)
{
	if (w->structs != w->structs_end)
		return mrpc_msg_refuse_value(w, U32_MAX, w->structs,
					     "is where struct blocks end, not their section");
	if (w->text != w->text_end)
		return mrpc_msg_refuse_value(w, U32_MAX, w->text,
					     "is where text ends, not its section");
	if (w->bytes != w->bytes_end)
		return mrpc_msg_refuse_value(w, U32_MAX, w->bytes,
					     "is where byte blocks end, not their section");
	return verify_padding(w);
}

int mrpc_msg_verify(const struct mrpc_schema_plan *plan, u32 type, const void *head,
		    const struct mrpc_msg_len *len, struct mrpc_msg_error *err)
{
	struct msg_walk w __uninitialized;	/* written before it is read */
	const struct mrpc_type *t;
	int ret;

	w.plan = plan;
	w.err = err;
	w.head = (u8 *)head;	/* the walk writes only in the snapshot's visitors */
	msg_error_init(err);
	if (type >= plan->nr_types)
		return mrpc_msg_refuse_value(&w, U32_MAX, type, "is not a type of the schema");
	t = &plan->types[type];
	if (mrpc_msg_total(len) > MRPC_MAX_MESSAGE)
		return mrpc_msg_refuse_value(&w, U32_MAX, mrpc_msg_total(len),
					     "bytes are more than a message may have");
	if (!IS_ALIGNED(len->structs, 8) || len->structs < t->size)
		return mrpc_msg_refuse_value(&w, U32_MAX, len->structs,
					     "is no length of a struct section with this root");
	if (!IS_ALIGNED(len->bytes, 8))
		return mrpc_msg_refuse_value(&w, U32_MAX, len->bytes,
					     "is no length of a byte section");
	w.structs = t->size;
	w.structs_end = len->structs;
	w.text = len->structs;
	w.text_end = len->structs + len->text;
	w.bytes = mrpc_msg_head_len(len);
	w.bytes_end = w.bytes + len->bytes;

	ret = msg_tidy(&w, t, 0, 1, false);
	if (!ret)
		ret = t->plain ? msg_walk_plain(&w, t, verify_visit) : verify_nested(&w, t);
	if (!ret)
		ret = verify_end(&w);
	return ret;
}

/* -- explain --------------------------------------------------------------- */

struct msg_sentence {
	char *buf;
	size_t size;
	size_t len;
};

static void say(struct msg_sentence *s, const char *text)
{
	while (*text && s->len + 1 < s->size)
		s->buf[s->len++] = *text++;
}

/* In decimal, by subtraction: a 64-bit division is not for every machine. */
static void say_number(struct msg_sentence *s, u64 n)
{
	static const u64 tens[] = {
		10000000000000000000ULL, 1000000000000000000ULL, 100000000000000000ULL,
		10000000000000000ULL, 1000000000000000ULL, 100000000000000ULL,
		10000000000000ULL, 1000000000000ULL, 100000000000ULL, 10000000000ULL,
		1000000000ULL, 100000000ULL, 10000000ULL, 1000000ULL, 100000ULL, 10000ULL,
		1000ULL, 100ULL, 10ULL, 1ULL,
	};
	char digit[2] = "";
	bool started = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tens); i++) {
		digit[0] = '0';
		for (; n >= tens[i]; n -= tens[i])
			digit[0]++;
		started |= digit[0] != '0' || tens[i] == 1;
		if (started)
			say(s, digit);
	}
}

static void say_signed(struct msg_sentence *s, s64 n)
{
	if (n < 0)
		say(s, "-");
	say_number(s, n < 0 ? -(u64)n : (u64)n);
}

int mrpc_msg_explain(const struct mrpc_schema_plan *plan, const struct mrpc_msg_error *err,
		     char *buf, size_t size)
{
	struct msg_sentence s = { .buf = buf, .size = size };
	const struct mrpc_field *f = NULL;

	if (!size)
		return 0;
	if (err->field < plan->nr_fields)
		f = &plan->fields[err->field];
	say(&s, err->type < plan->nr_types ? plan->names + plan->types[err->type].name : "message");
	if (f) {
		say(&s, ".");
		say(&s, plan->names + f->name);
		say(&s, " (field ");
		say_number(&s, f->number);
		say(&s, ")");
	}
	say(&s, ": ");
	if (f && f->shape > MRPC_SHAPE_BOOL) {
		say(&s, "reference {off ");
		say_signed(&s, err->off);
		say(&s, ", len ");
		say_number(&s, err->len);
		say(&s, "}");
	} else {
		say_signed(&s, err->off);
	}
	say(&s, " ");
	say(&s, err->what ? err->what : "is in order");
	buf[s.len] = 0;
	return s.len;
}
