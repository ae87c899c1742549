// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/field */
/*
 * Fields set by paths: mrpc_field_write(). Whatever is written, the message stays one that the
 * verifier takes, in its one encoding, and no byte changes but those of the field.
 */
#include <pthread.h>

#include "gen.h"
#include "paths.h"
#include "tap.h"

/**
 * struct message - to be written to
 * @plan: its schema
 * @type: of its root
 * @len: lengths of its sections
 * @head: in memory of just that size
 * @bytes: in memory of just that size
 * @was: both, as they were
 * @view: @head and @bytes
 */
struct message {
	const struct mrpc_schema_plan *plan;
	u32 type;
	struct mrpc_msg_len len;
	u8 *head;
	u8 *bytes;
	u8 *was;
	struct mrpc_view view;
};

static void message_begin(struct message *m, const struct mrpc_schema_plan *plan,
			  const struct model_msg *msg)
{
	m->plan = plan;
	m->type = msg->type;
	m->was = model_encode(plan, msg, &m->len);
	m->head = gen_head_copy(m->was, &m->len);
	m->bytes = malloc(m->len.bytes + !m->len.bytes);
	memcpy(m->bytes, m->was + mrpc_msg_head_len(&m->len), m->len.bytes);
	m->view = (struct mrpc_view){
		.head = m->head, .head_len = mrpc_msg_head_len(&m->len), .bytes = m->bytes,
	};
}

static void message_end(struct message *m)
{
	free(m->head);
	free(m->bytes);
	free(m->was);
}

static u8 message_at(const struct message *m, u64 i)
{
	return i < m->view.head_len ? m->head[i] : m->bytes[i - m->view.head_len];
}

static void message_keep(struct message *m)
{
	memcpy(m->was, m->head, m->view.head_len);
	memcpy(m->was + m->view.head_len, m->bytes, m->len.bytes);
}

static bool message_same(const struct message *m)
{
	return !memcmp(m->was, m->head, m->view.head_len) &&
	       !memcmp(m->was + m->view.head_len, m->bytes, m->len.bytes);
}

static void check_valid(const struct message *m, const char *text)
{
	struct mrpc_msg_error err = { 0 };
	const char *why;

	CHECK_MSG(!mrpc_msg_verify(m->plan, m->type, m->head, &m->len, &err), "%s: %s", text,
		  err.what);
	why = gen_check_canonical(m->plan, m->type, m->head, &m->len);
	CHECK_MSG(!why, "%s: %s", text, why);
}

/* What has changed lies within as many bytes as the field has. */
static void check_changes(const struct message *m, u32 size, const char *text)
{
	u64 total = mrpc_msg_total(&m->len), first = total, last = 0, i;

	for (i = 0; i < total; i++) {
		if (message_at(m, i) == m->was[i])
			continue;
		first = i < first ? i : first;
		last = i;
	}
	CHECK_MSG(first == total || last - first < size, "%s: bytes %llu to %llu changed", text,
		  (unsigned long long)first, (unsigned long long)last);
}

static u32 kind_of(const struct message *m, const struct mrpc_field_path *path)
{
	return m->plan->fields[path->field].kind;
}

static bool is_32(u32 kind)
{
	return kind < MRPC_KIND_INT64 && kind != MRPC_KIND_BOOL;
}

/* -- random values --------------------------------------------------------------- */

/* UTF-8 of a given length, of characters of one to four bytes. */
static void random_text(struct gen *g, u8 *to, u32 len)
{
	static const char *const some[] = { "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };

	while (len) {
		u32 n = gen_below(g, 5);

		if (n < 2 || n > len) {
			*to++ = gen_below(g, 128);
			len--;
			continue;
		}
		memcpy(to, some[n - 2], n);
		to += n;
		len -= n;
	}
}

/* @mem has room for what the field has now. Return: false: it cannot be set. */
static bool random_value(struct gen *g, const struct message *m,
			 const struct mrpc_field_path *path, const struct path_found *found,
			 u8 *mem, struct mrpc_field_value *value)
{
	*value = (struct mrpc_field_value){ .kind = path->kind };
	switch (path->kind) {
	case MRPC_VALUE_BOOL:
		value->u = gen_below(g, 2);
		return true;
	case MRPC_VALUE_INT:
		value->s = is_32(kind_of(m, path)) ? (s32)gen_u64(g) : (s64)gen_u64(g);
		return true;
	case MRPC_VALUE_UINT:
		value->u = is_32(kind_of(m, path)) ? (u32)gen_u64(g) : gen_u64(g);
		return true;
	case MRPC_VALUE_DOUBLE:
		value->bits = gen_u64(g);
		return kind_of(m, path) == MRPC_KIND_DOUBLE;
	case MRPC_VALUE_TEXT:
		random_text(g, mem, found->n);
		break;
	case MRPC_VALUE_BYTES:
		gen_bytes(g, mem, found->n);
		break;
	default:
		return false;
	}
	value->ptr = (char *)mem;
	value->len = found->n;
	return true;
}

static u32 value_size(const struct message *m, const struct mrpc_field_path *path,
		      const struct mrpc_field_value *value)
{
	if (path->kind == MRPC_VALUE_TEXT || path->kind == MRPC_VALUE_BYTES)
		return value->len;
	return path->kind == MRPC_VALUE_BOOL ? 1 : is_32(kind_of(m, path)) ? 4 : 8;
}

/* -- each path of a message --------------------------------------------------------- */

struct found_before {
	union path_mem mem;
	struct path_found found;
	int ret;
	char text[256];
};

static void check_refused(struct message *m, const struct found_before *f,
			  const struct mrpc_field_value *value, int want)
{
	int ret = mrpc_field_write(&f->mem.path, &m->view, value);

	CHECK_MSG(ret == want, "%s: %d, not %d", f->text, ret, want);
	CHECK_MSG(message_same(m), "%s: refused, but changed", f->text);
}

/* Values that the field cannot have. */
static void check_errors(struct message *m, const struct found_before *f, u8 *mem)
{
	const struct mrpc_field_path *path = &f->mem.path;
	struct mrpc_field_value value = { .kind = path->kind };

	switch (path->kind) {
	case MRPC_VALUE_BOOL:
		value.u = 2;
		check_refused(m, f, &value, -ERANGE);
		break;
	case MRPC_VALUE_INT:
	case MRPC_VALUE_UINT:
		if (!is_32(kind_of(m, path)))
			break;
		value.s = path->kind == MRPC_VALUE_INT ? -(s64)(1ULL << 31) - 1 : -1;
		check_refused(m, f, &value, -ERANGE);
		value.u = path->kind == MRPC_VALUE_INT ? 1ULL << 31 : 1ULL << 32;
		check_refused(m, f, &value, -ERANGE);
		break;
	case MRPC_VALUE_TEXT:
	case MRPC_VALUE_BYTES:
		memset(mem, 'x', f->found.n + 1);
		value.ptr = (char *)mem;
		value.len = f->found.n + 1;
		check_refused(m, f, &value, -EMSGSIZE);
		if (!f->found.n)
			break;
		value.len = f->found.n - 1;
		check_refused(m, f, &value, -EMSGSIZE);
		value.len = f->found.n;
		mem[f->found.n - 1] = 0xc3;
		if (path->kind == MRPC_VALUE_TEXT)
			check_refused(m, f, &value, -EILSEQ);
	}
}

static void check_written(const struct message *m, const struct found_before *f,
			  const struct mrpc_field_value *value)
{
	struct mrpc_field_value is;

	CHECK_EQ(mrpc_field_read(&f->mem.path, &m->view, &is), 0);
	CHECK_EQ(is.kind, value->kind);
	if (value->kind == MRPC_VALUE_TEXT || value->kind == MRPC_VALUE_BYTES)
		CHECK_MSG(is.len == value->len && !(is.len && memcmp(is.ptr, value->ptr, is.len)),
			  "%s", f->text);
	else
		CHECK_MSG(is.u == value->u, "%s: %#llx, not %#llx", f->text,
			  (unsigned long long)is.u, (unsigned long long)value->u);
}

/* Whether a field is there, and how long it is, is as before. */
static void check_shape(const struct message *m, const struct found_before *all, u32 nr)
{
	struct mrpc_field_value is;
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct found_before *f = &all[i];
		int ret = mrpc_field_read(&f->mem.path, &m->view, &is);

		CHECK_MSG(ret == f->ret, "%s: %d, was %d", f->text, ret, f->ret);
		if (!ret && (is.kind == MRPC_VALUE_TEXT || is.kind == MRPC_VALUE_BYTES))
			CHECK_MSG(is.len == f->found.n, "%s: another length", f->text);
	}
}

static const void *no_piece(const struct mrpc_view *view, u32 off, u32 len)
{
	static u64 piece;

	return off >= view->head_len && len <= sizeof(piece) ? &piece : NULL;
}

static bool write_one(struct gen *g, struct message *m, const struct found_before *f)
{
	struct mrpc_field_value value;
	u8 *mem = malloc(f->found.n + 1);
	bool can = random_value(g, m, &f->mem.path, &f->found, mem, &value);
	bool length = f->text[strlen(f->text) - 1] == '#';
	int ret;

	message_keep(m);
	if (!can || length) {
		ret = mrpc_field_write(&f->mem.path, &m->view, &value);
		CHECK_MSG(ret == -EINVAL || (ret == -ENOENT && f->ret == -ENOENT), "%s: %d",
			  f->text, ret);
		CHECK(message_same(m));
		free(mem);
		return false;
	}
	if (f->ret) {
		check_refused(m, f, &value, -ENOENT);
		free(mem);
		return false;
	}
	if (f->found.stored) {
		m->view.bytes = NULL;
		check_refused(m, f, &value, -ENODATA);
		m->view.piece = no_piece;	/* perhaps a copy */
		check_refused(m, f, &value, -ENODATA);
		m->view.piece = NULL;
		m->view.bytes = m->bytes;
	}
	CHECK_MSG(!mrpc_field_write(&f->mem.path, &m->view, &value), "%s", f->text);
	check_written(m, f, &value);
	check_changes(m, value_size(m, &f->mem.path, &value), f->text);
	check_valid(m, f->text);
	message_keep(m);
	check_errors(m, f, mem);
	free(mem);
	return true;
}

static u32 write_all(struct gen *g, struct message *m, const struct found_before *all, u32 nr)
{
	u32 written = 0, i;

	for (i = 0; i < nr; i++) {
		if (!write_one(g, m, &all[i]))
			continue;
		check_shape(m, all, nr);
		written++;
	}
	return written;
}

static u32 find_paths(struct gen *g, const struct message *m, const struct model_msg *msg,
		      struct found_before *all, u32 most)
{
	struct mrpc_path_error err;
	u32 nr;

	for (nr = 0; nr < most; nr++) {
		struct found_before *f = &all[nr];
		u32 len = path_random(g, m->plan, m->type, msg, f->text);

		f->text[len] = 0;
		if (!len)
			break;
		f->ret = path_follow(m->plan, m->type, msg, f->text, len, &f->found);
		CHECK_EQ(mrpc_field_compile(m->plan, m->type, f->text, len, &f->mem.path,
					    sizeof(f->mem), &err), 0);
	}
	return nr;
}

TEST_LIMIT(random_writes_to_random_messages, 180)
{
	static struct found_before all[40];
	u32 round, paths = 0, written = 0;

	for (round = 0; round < 1000; round++) {
		struct gen g = gen_seeded(round);
		struct model_pool pool = { 0 };
		struct mrpc_schema_plan *plan = gen_plan(&g);
		struct model_msg *msg;
		struct message m;
		u32 nr;

		msg = gen_message(&g, &pool, plan, gen_below(&g, plan->nr_types), 10);
		message_begin(&m, plan, msg);
		nr = find_paths(&g, &m, msg, all, 40);
		written += write_all(&g, &m, all, nr);
		paths += nr;
		message_end(&m);
		model_free(&pool);
		free(plan);
	}
	NOTE("%u paths, %u written", paths, written);
	CHECK(written > paths / 5);
}

/* -- by hand ------------------------------------------------------------------------ */

static const u8 numbers[] = {
	MRPC_KIND_BOOL, MRPC_KIND_INT32, MRPC_KIND_SINT32, MRPC_KIND_UINT32, MRPC_KIND_FIXED32,
	MRPC_KIND_SFIXED32, MRPC_KIND_ENUM, MRPC_KIND_INT64, MRPC_KIND_SINT64, MRPC_KIND_UINT64,
	MRPC_KIND_FIXED64, MRPC_KIND_SFIXED64, MRPC_KIND_FLOAT, MRPC_KIND_DOUBLE,
};

/* t.T0 of a kind: f0 one, f1 an optional one, f2 several, f3 one in a oneof with f4, a t.T0. */
static struct mrpc_schema_plan *plan_of(u8 kind)
{
	struct gen_schema *s = calloc(1, sizeof(*s));
	struct mrpc_schema_plan *plan;
	struct mrpc_schema_error err;
	size_t len;
	u8 *buf;

	gen_add_method(s, 0, 0);
	gen_add_type(s);
	gen_add_field(s, 1, kind, 0, NONE, ALONE);	/* f0 */
	gen_add_field(s, 2, kind, OPT, NONE, ALONE);	/* f1 */
	gen_add_field(s, 3, kind, REP, NONE, ALONE);	/* f2 */
	gen_add_field(s, 4, kind, 0, NONE, 0);		/* f3, or ... */
	gen_add_field(s, 5, MRPC_KIND_MESSAGE, 0, 0, 0);	/* f4 */
	buf = gen_schema_binary(s, &len);
	plan = gen_compile(buf, len, &err);
	CHECK_MSG(plan, "%s %u %s", err.table, err.index, err.what);
	free(buf);
	free(s);
	return plan;
}

/* With all of it there: three elements, the member of the oneof; text and bytes of 3. */
static struct model_msg *message_of(struct model_pool *pool, u8 kind)
{
	struct model_msg *msg = model_alloc(pool, sizeof(*msg));
	u32 i, k;

	msg->fields = model_alloc(pool, 5 * sizeof(*msg->fields));
	for (i = 0; i < 4; i++) {
		struct model_field *v = &msg->fields[i];

		v->present = true;
		v->n = i == 2 || kind >= MRPC_KIND_STRING ? 3 : 1;
		v->data = model_alloc(pool, 32);
		if (i != 2 || kind < MRPC_KIND_STRING)
			continue;
		v->items = model_alloc(pool, 3 * sizeof(*v->items));
		for (k = 0; k < 3; k++)
			v->items[k] = msg->fields[0];
	}
	return msg;
}

static int write_to(struct message *m, const char *text, const struct mrpc_field_value *value)
{
	struct mrpc_path_error err;
	union path_mem mem;

	CHECK_MSG(!mrpc_field_compile(m->plan, 0, text, strlen(text), &mem.path, sizeof(mem), &err),
		  "%s", text);
	return mrpc_field_write(&mem.path, &m->view, value);
}

static int write_number(struct message *m, const char *text, u64 u)
{
	struct mrpc_field_value value = { .u = u };

	return write_to(m, text, &value);
}

/* The least and the largest of each kind, and what is one beyond. */
TEST(numbers_have_their_ranges)
{
	static const char *const paths[] = { "f0", "f1", "f2[0]", "f2[2]", "f3" };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct mrpc_schema_plan *plan = plan_of(numbers[i]);
		bool wide = numbers[i] >= MRPC_KIND_INT64, is_float = numbers[i] == MRPC_KIND_FLOAT;
		struct model_pool pool = { 0 };
		struct message m;
		u64 low = 0, high;

		message_begin(&m, plan, message_of(&pool, numbers[i]));
		switch (numbers[i]) {
		case MRPC_KIND_BOOL:
			high = 1;
			break;
		case MRPC_KIND_UINT32:
		case MRPC_KIND_FIXED32:
			high = U32_MAX;
			break;
		default:
			high = wide ? ~0ULL : S32_MAX;
			low = wide ? 0 : -(1ULL << 31);
		}
		for (k = 0; k < ARRAY_SIZE(paths); k++) {
			CHECK_EQ(write_number(&m, paths[k], low), is_float ? -EINVAL : 0);
			CHECK_EQ(write_number(&m, paths[k], high), is_float ? -EINVAL : 0);
			if (!wide && !is_float) {
				CHECK_EQ(write_number(&m, paths[k], low - 1), -ERANGE);
				CHECK_EQ(write_number(&m, paths[k], high + 1), -ERANGE);
			}
			check_valid(&m, paths[k]);
		}
		CHECK_EQ(write_number(&m, "f2[3]", low), -ENOENT);
		CHECK_EQ(write_number(&m, "f4.f0", low), -ENOENT);
		CHECK_EQ(write_number(&m, "f2#", 3), -EINVAL);
		CHECK_EQ(write_number(&m, "f2", 3), -EINVAL);
		CHECK_EQ(write_number(&m, "f4", 0), -ENOENT);
		m.view.head = NULL;
		CHECK_EQ(write_number(&m, "f0", low), -ENOENT);
		message_end(&m);
		model_free(&pool);
		free(plan);
	}
}

static int write_data(struct message *m, const char *text, const char *data, u32 len)
{
	struct mrpc_field_value value = { .ptr = data, .len = len };

	return write_to(m, text, &value);
}

TEST(text_and_bytes_keep_their_length)
{
	static const char *const paths[] = { "f0", "f1", "f2[0]", "f2[2]", "f3" };
	static const u8 kinds[] = { MRPC_KIND_STRING, MRPC_KIND_BYTES };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct mrpc_schema_plan *plan = plan_of(kinds[i]);
		bool text = kinds[i] == MRPC_KIND_STRING;
		struct model_pool pool = { 0 };
		struct message m;

		message_begin(&m, plan, message_of(&pool, kinds[i]));
		for (k = 0; k < ARRAY_SIZE(paths); k++) {
			CHECK_EQ(write_data(&m, paths[k], "\xe2\x82\xac", 3), 0);
			CHECK_EQ(write_data(&m, paths[k], "a\0b", 3), 0);
			CHECK_EQ(write_data(&m, paths[k], "ab", 2), -EMSGSIZE);
			CHECK_EQ(write_data(&m, paths[k], "abcd", 4), -EMSGSIZE);
			CHECK_EQ(write_data(&m, paths[k], NULL, 0), -EMSGSIZE);
			CHECK_EQ(write_data(&m, paths[k], "ab\xc3", 3), text ? -EILSEQ : 0);
			CHECK_EQ(write_data(&m, paths[k], "\xed\xa0\x80", 3), text ? -EILSEQ : 0);
			check_valid(&m, paths[k]);
		}
		CHECK_EQ(write_number(&m, "f0#", 3), -EINVAL);
		m.view.bytes = NULL;
		CHECK_EQ(write_data(&m, "f2[1]", "abc", 3), text ? 0 : -ENODATA);
		message_end(&m);
		model_free(&pool);
		free(plan);
	}
}

/* What has no bytes can be set to none. */
TEST(nothing_can_be_set_to_nothing)
{
	static const u8 kinds[] = { MRPC_KIND_STRING, MRPC_KIND_BYTES };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct mrpc_schema_plan *plan = plan_of(kinds[i]);
		struct model_pool pool = { 0 };
		struct model_msg *msg = model_alloc(&pool, sizeof(*msg));
		struct message m;

		msg->fields = model_alloc(&pool, 5 * sizeof(*msg->fields));
		message_begin(&m, plan, msg);
		CHECK_EQ(write_data(&m, "f0", NULL, 0), 0);
		CHECK_EQ(write_data(&m, "f0", "a", 1), -EMSGSIZE);
		CHECK_EQ(write_data(&m, "f1", NULL, 0), -ENOENT);
		CHECK_EQ(write_data(&m, "f3", NULL, 0), -ENOENT);
		CHECK_EQ(write_data(&m, "f2", NULL, 0), -EINVAL);
		CHECK(message_same(&m));
		message_end(&m);
		model_free(&pool);
		free(plan);
	}
}

/* -- values that change while they are looked at ------------------------------------- */

#define CHANGING_LEN	4096

static char changing[CHANGING_LEN];
static bool changed_enough;

static void *change(void *arg)
{
	volatile char *last = &changing[CHANGING_LEN - 1];

	while (!__atomic_load_n(&changed_enough, __ATOMIC_RELAXED)) {
		*last = (char)0xff;
		*last = 'a';
	}
	return arg;
}

/* Whatever is there in the end is UTF-8. */
TEST_LIMIT(text_that_changes_meanwhile, 60)
{
	struct mrpc_schema_plan *plan = plan_of(MRPC_KIND_STRING);
	struct model_pool pool = { 0 };
	struct model_msg *msg = message_of(&pool, MRPC_KIND_STRING);
	u32 i, taken = 0, refused = 0;
	struct message m;
	pthread_t thread;
	int ret;

	memset(changing, 'a', sizeof(changing));
	msg->fields[0].n = CHANGING_LEN;
	msg->fields[0].data = model_alloc(&pool, CHANGING_LEN);
	memset(msg->fields[0].data, 'b', CHANGING_LEN);
	message_begin(&m, plan, msg);
	CHECK_EQ(pthread_create(&thread, NULL, change, NULL), 0);
	for (i = 0; i < 50000; i++) {
		struct mrpc_msg_error err;

		ret = write_data(&m, "f0", changing, CHANGING_LEN);
		if (ret != 0 && ret != -EILSEQ)
			break;
		taken += !ret;
		refused += !!ret;
		ret = mrpc_msg_verify(plan, 0, m.head, &m.len, &err);
		if (ret)
			break;
	}
	__atomic_store_n(&changed_enough, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK_EQ(i, 50000);
	NOTE("%u taken, %u refused", taken, refused);
	message_end(&m);
	model_free(&pool);
	free(plan);
}
