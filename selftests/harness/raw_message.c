// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of the tests' raw sessions, and what the tests look at besides.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raw.h"

/* -- test.Blob ---------------------------------------------------------------- */

static uint32_t raw_text_len(const char *text)
{
	return text && *text ? strlen(text) + 1 : 0;
}

uint32_t raw_blob_size(uint32_t len, const char *text)
{
	return ALIGN(sizeof(struct test_Blob) + raw_text_len(text), 8) + ALIGN(len, 8);
}

static uint64_t raw_word(uint64_t tag, uint32_t i)
{
	return (tag + 1) * 0x9e3779b97f4a7c15ULL + i;
}

void raw_fill(uint8_t *p, uint64_t tag, uint32_t len)
{
	uint64_t word;
	uint32_t i;

	for (i = 0; len - i >= sizeof(word); i += sizeof(word)) {
		word = raw_word(tag, i);
		memcpy(p + i, &word, sizeof(word));
	}
	word = raw_word(tag, i);
	memcpy(p + i, &word, len - i);
}

bool raw_filled(const uint8_t *p, uint64_t tag, uint32_t len)
{
	uint64_t word, is;
	uint32_t i;

	for (i = 0; len - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&is, p + i, sizeof(is));
		if (is != raw_word(tag, i))
			return false;
	}
	word = raw_word(tag, i);
	return !memcmp(p + i, &word, len - i);
}

bool raw_try_blob(struct raw *s, uint64_t tag, uint32_t len, const char *text, uint32_t *root)
{
	uint32_t text_len = raw_text_len(text), at = sizeof(struct test_Blob);
	struct test_Blob *blob;

	if (len > s->send_len || !raw_try_alloc(s, raw_blob_size(len, text), root))
		return false;
	blob = (void *)(s->send + *root);
	blob->tag = tag;
	if (text_len) {
		blob->text = (struct mrpc_ref){ at, text_len - 1 };
		memcpy((uint8_t *)blob + at, text, text_len);
		at = ALIGN(at + text_len, 8);
	}
	if (len) {
		blob->data = (struct mrpc_ref){ at, len };
		raw_fill((uint8_t *)blob + at, tag, len);
	}
	return true;
}

uint32_t raw_blob(struct raw *s, uint64_t tag, uint32_t len, const char *text)
{
	uint32_t root;

	if (!raw_try_blob(s, tag, len, text, &root))
		raw_die("no room for a message with %u bytes", len);
	return root;
}

bool raw_is_blob(const void *root, uint32_t msg_len, uint64_t tag, uint32_t len)
{
	const struct test_Blob *blob = root;

	return msg_len >= sizeof(*blob) && blob->tag == tag && blob->data.len == len &&
	       (!len || (uint64_t)blob->data.off + len <= msg_len) &&
	       raw_filled((const uint8_t *)root + blob->data.off, tag, len);
}

/* -- verification --------------------------------------------------------------- */

static struct mrpc_schema_plan *raw_compile(const struct mrpc_service_desc *desc)
{
	struct mrpc_schema_error err = { 0 };
	s64 size = mrpc_schema_size(desc->schema, desc->schema_len, &err);
	void *mem = size > 0 ? calloc(1, size) : NULL;

	if (!mem || mrpc_schema_compile(desc->schema, desc->schema_len, mem, size, &err))
		raw_die("the schema of %s: %s", desc->name, err.what);
	return mem;
}

static struct mrpc_schema_plan *raw_plans[RAW_SERVICES];

static void raw_plans_make(void)
{
	raw_plans[RAW_BULK] = raw_compile(&test_Bulk_service);
	raw_plans[RAW_TYPES] = raw_compile(&test_Types_service);
}

const struct mrpc_schema_plan *raw_plan(unsigned int service)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, raw_plans_make);
	return raw_plans[service];
}

struct raw_view {
	const uint8_t *root;
	uint32_t len;
};

static const void *raw_view_at(void *ctx, u64 off, u64 len)
{
	const struct raw_view *v = ctx;

	return off <= v->len && len <= v->len - off ? v->root + off : NULL;
}

static int raw_grow_head(struct mrpc_msg_buf *buf, u32 need)
{
	u32 cap = max(need, 2 * buf->head_cap);

	buf->head = realloc(buf->head, cap);
	buf->head_cap = cap;
	return buf->head ? 0 : -ENOMEM;
}

static int raw_grow_segs(struct mrpc_msg_buf *buf, u32 need)
{
	u32 cap = max(need, 2 * buf->segs_cap);

	buf->segs = realloc(buf->segs, cap * sizeof(*buf->segs));
	buf->segs_cap = cap;
	return buf->segs ? 0 : -ENOMEM;
}

/*
 * A message has one encoding, but for the padding of byte blocks: so its head must
 * be its own snapshot's.
 */
static const char *raw_compare(const struct mrpc_msg_buf *buf, const struct raw_view *v)
{
	u64 at = mrpc_msg_head_len(&buf->len);
	u32 i;

	if (mrpc_msg_total(&buf->len) != v->len)
		return "its length is not that of its parts";
	if (memcmp(buf->head, v->root, at))
		return "its head is not canonical";
	for (i = 0; i < buf->nr_segs; i++) {
		if (buf->segs[i].src != at)
			return "a byte block is not in its place";
		at += ALIGN(buf->segs[i].len, 8);
	}
	return NULL;
}

const char *raw_verify(const struct mrpc_schema_plan *plan, uint32_t type, const void *root,
		       uint32_t msg_len)
{
	struct raw_view view = { root, msg_len };
	const struct mrpc_msg_src src = { .at = raw_view_at, .ctx = &view };
	struct mrpc_msg_buf buf = {
		.max_total = MRPC_MAX_MESSAGE,
		.grow_head = raw_grow_head,
		.grow_segs = raw_grow_segs,
	};
	struct mrpc_msg_error err;
	static __thread char why[512];
	const char *wrong;

	if (mrpc_msg_snapshot(plan, type, &src, 0, &buf, &err)) {
		mrpc_msg_explain(plan, &err, why, sizeof(why));
		wrong = why;
	} else {
		wrong = raw_compare(&buf, &view);
	}
	free(buf.head);
	free(buf.segs);
	return wrong;
}

/* -- surroundings ----------------------------------------------------------------- */

long long raw_file_number(const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? atoll(text) : -1;
}

bool raw_file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

long long raw_meminfo(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "re");
	size_t len = strlen(name);
	long long kib = -1;
	char line[128];

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && line[len] == ':')
			kib = atoll(line + len + 1);
	if (f)
		fclose(f);
	if (kib < 0)
		raw_die("/proc/meminfo has no %s", name);
	return kib;
}

long long raw_slab_objects(const char *name)
{
	char path[128], line[512], cache[64];
	long long objects = -1;
	FILE *f;

	/* Until then those that a processor holds back count as if they were in use. */
	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", name);
	if (!raw_file_write(path, "1"))
		raw_die("there is no slab cache %s", name);
	f = fopen("/proc/slabinfo", "re");
	while (f && objects < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %lld", cache, &objects) != 2 || strcmp(cache, name))
			objects = -1;
	if (f)
		fclose(f);
	if (objects < 0)
		raw_die("/proc/slabinfo has no %s", name);
	return objects;
}

unsigned int raw_closed_port(int type)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, type, 0);
	socklen_t len = sizeof(sin);

	if (fd < 0 || bind(fd, (void *)&sin, len) || getsockname(fd, (void *)&sin, &len))
		raw_die("no port: %m");
	close(fd);
	return ntohs(sin.sin_port);
}

bool raw_sessions(long long nr, unsigned int ms)
{
	uint64_t end = raw_now() + ms * RAW_MS * raw_patience();

	while (raw_file_number("/sys/class/misc/mrpc/sessions") != nr) {
		if (raw_now() > end)
			return false;
		raw_sleep(10 * RAW_MS);
	}
	return true;
}

void raw_load(const char *module)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.ko", getenv("MRPC_MODULES") ?: "", module);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		raw_die("%s: %s", path, strerror(errno));
	if (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)
		raw_die("%s: %s", path, strerror(errno));
	close(fd);
}

int raw_unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? -errno : 0;
}

void raw_must_unload(const char *module)
{
	uint64_t end = raw_now() + 5 * RAW_S * raw_patience();
	int err;

	if (!strcmp(module, "mrpc"))
		raw_unload("mrpc_prio");	/* if another test has had it loaded */
	while ((err = raw_unload(module))) {
		if (raw_now() > end)
			raw_die("%s stays: %s", module, strerror(-err));
		raw_sleep(10 * RAW_MS);
	}
}

uint32_t raw_put_meta(void *at, const char *key, const void *value, uint16_t len)
{
	struct mrpc_meta_entry e = { strlen(key), len };
	uint8_t *to = at;

	memcpy(to, &e, sizeof(e));
	memcpy(to + sizeof(e), key, e.klen);
	memcpy(to + sizeof(e) + e.klen, value, len);
	return sizeof(e) + e.klen + len;
}
