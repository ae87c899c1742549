// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of qemu (-plugin profile.so,out=FILE) that counts the instructions
 * which the machine executes between the two marks of measure.c, exactly. FILE
 * gets a section for each measurement, which begins with "measurement":
 *
 *	ADDRESS instructions N		of the block of code that begins there
 *	ADDRESS atomics N		of these, which lock memory or the bus
 *	ADDRESS from ADDRESS N		how often control came there from another
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

static const unsigned char mark[] = { 0x0f, 0x1f, 0x84, 0, 'm', 'r', 'p' };

struct edge {
	struct edge *next;
	const struct block *from;
	uint64_t count;
};

/*
 * Blocks of code: one for each address and length. They live as long as the
 * plugin, because translated code refers to them.
 */
struct block {
	struct block *next;
	struct edge *edges;
	uint64_t addr;
	uint64_t length;	/* instructions */
	uint64_t atomics;	/* of these */
	uint64_t count;		/* executions */
	bool thunk;
};

#define BUCKETS (1u << 16)

static struct block *blocks[BUCKETS];
static const struct block *last;
static bool counting;
static FILE *out;

static struct block *find_block(uint64_t addr, uint64_t length)
{
	struct block **bucket = &blocks[(addr ^ addr >> 16) % BUCKETS], *b;

	for (b = *bucket; b; b = b->next)
		if (b->addr == addr && b->length == length)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->addr = addr;
	b->length = length;
	b->next = *bucket;
	*bucket = b;
	return b;
}

static void on_block(unsigned int vcpu, void *user)
{
	struct block *b = user;
	struct edge *edge;

	(void)vcpu;
	if (!counting)
		return;
	b->count++;
	if (b->thunk)
		return;
	for (edge = b->edges; edge; edge = edge->next)
		if (edge->from == last)
			break;
	if (!edge) {
		edge = calloc(1, sizeof(*edge));
		if (!edge)
			abort();
		edge->from = last;
		edge->next = b->edges;
		b->edges = edge;
	}
	edge->count++;
	last = b;
}

static void on_start(unsigned int vcpu, void *user)
{
	(void)vcpu;
	last = user;
	counting = true;
}

static void print_block(struct block *b)
{
	struct edge *edge;

	if (b->count)
		fprintf(out, "%016" PRIx64 " instructions %" PRIu64 "\n", b->addr,
			b->count * b->length);
	if (b->count && b->atomics)
		fprintf(out, "%016" PRIx64 " atomics %" PRIu64 "\n", b->addr,
			b->count * b->atomics);
	for (edge = b->edges; edge; edge = edge->next) {
		if (edge->count)
			fprintf(out, "%016" PRIx64 " from %016" PRIx64 " %" PRIu64 "\n", b->addr,
				edge->from->addr, edge->count);
		edge->count = 0;
	}
	b->count = 0;
}

static void on_end(unsigned int vcpu, void *user)
{
	struct block *b;
	size_t i;

	(void)vcpu;
	(void)user;
	counting = false;
	fputs("measurement\n", out);
	for (i = 0; i < BUCKETS; i++)
		for (b = blocks[i]; b; b = b->next)
			print_block(b);
	fflush(out);
}

/*
 * Indirect calls of the kernel go through thunks (a jump, or a call that
 * overwrites its own return address): a call from there counts as
 * a call of the thunk's caller.
 */
static bool is_thunk(const struct qemu_plugin_tb *tb)
{
	const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, 0);
	const unsigned char *data = qemu_plugin_insn_data(insn);
	size_t size = qemu_plugin_insn_size(insn);

	if (qemu_plugin_tb_n_insns(tb) == 2)	/* mov %reg,(%rsp); ret */
		return size == 4 && (data[0] == 0x48 || data[0] == 0x4c) && data[1] == 0x89 &&
		       data[3] == 0x24;
	if (qemu_plugin_tb_n_insns(tb) != 1)
		return false;
	if (data[0] == 0xe8)			/* call over the next few bytes */
		return data[1] < 16 && !data[2] && !data[3] && !data[4];
	if (data[0] == 0x41)
		data++;
	return data[0] == 0xff && data[1] >= 0xe0 && data[1] <= 0xe7;	/* jmp *%reg */
}

/* With a lock prefix, or an exchange with memory, which needs none. */
static bool is_atomic(const unsigned char *data, size_t size)
{
	static const unsigned char prefixes[] = { 0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65 };
	size_t i;

	for (i = 0; i < size && data[i]; i++) {
		if (data[i] == 0xf0)
			return true;
		if (!memchr(prefixes, data[i], sizeof(prefixes)))
			break;
	}
	if (i < size && (data[i] & 0xf0) == 0x40)
		i++;
	return i + 1 < size && (data[i] & 0xfe) == 0x86 && data[i + 1] < 0xc0;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, nr = qemu_plugin_tb_n_insns(tb);
	struct block *b = find_block(qemu_plugin_tb_vaddr(tb), nr);
	struct qemu_plugin_insn *insn;
	const unsigned char *data;

	(void)id;
	b->thunk = is_thunk(tb);
	b->atomics = 0;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, b);
	for (i = 0; i < nr; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		data = qemu_plugin_insn_data(insn);
		b->atomics += is_atomic(data, qemu_plugin_insn_size(insn));
		if (qemu_plugin_insn_size(insn) != sizeof(mark) + 1 ||
		    memcmp(data, mark, sizeof(mark)))
			continue;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, data[7] == 1 ? on_start : on_end,
						       QEMU_PLUGIN_CB_NO_REGS, b);
	}
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fputs("profile: the argument is out=FILE\n", stderr);
		return -1;
	}
	out = fopen(argv[0] + 4, "w");
	if (!out) {
		perror(argv[0] + 4);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
