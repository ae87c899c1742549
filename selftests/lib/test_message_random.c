// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/message kmod/lib/message/snapshot kmod/lib/message/message_walk */
/*
 * Snapshot and verification of random messages: against the model, changed, at the
 * limits, without memory, and in heaps that change meanwhile.
 */
#include <assert.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "gen.h"
#include "tap.h"

#define MAX_TOTAL	(64U << 20)

/* A message of a random schema, as a tree and in a heap. */
struct given {
	struct gen g;
	struct mrpc_schema_plan *plan;
	struct model_pool pool;
	struct model_msg *msg;
	struct gen_heap heap;
	struct mrpc_msg_src src;
	u32 root;
};

static void given_schema(struct given *t, u32 seed)
{
	*t = (struct given){ .g = gen_seeded(seed), .src = { gen_heap_at, &t->heap } };
	t->plan = gen_plan(&t->g);
}

/* About so many blocks. */
static void given_message(struct given *t, u32 type, u32 budget)
{
	t->msg = gen_message(&t->g, &t->pool, t->plan, type, budget);
	t->root = gen_heap_write(&t->g, &t->heap, t->plan, t->msg);
}

static void given_end(struct given *t)
{
	gen_heap_free(&t->heap);
	model_free(&t->pool);
	free(t->plan);
}

/* -- limits and failures --------------------------------------------------- */

TEST(largest_message)
{
	u32 seed, n = 0;

	for (seed = 0; seed < 300; seed++) {
		struct mrpc_msg_error err;
		struct mrpc_msg_len len;
		struct gen_buf b;
		struct given t;

		given_schema(&t, seed);
		given_message(&t, 0, 20);
		free(model_encode(t.plan, t.msg, &len));
		gen_buf_init(&b, mrpc_msg_total(&len));
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err), 0);
		b.buf.max_total--;
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err), -EMSGSIZE);
		n += b.buf.max_total > 100;
		gen_buf_free(&b);
		given_end(&t);
	}
	CHECK(n > 100);
}

TEST(growers_and_accesses_that_fail)
{
	u32 seed, failures = 0;

	for (seed = 0; seed < 100; seed++) {
		struct mrpc_msg_error err;
		struct gen_buf b;
		struct given t;
		char text[200];
		int ret;
		u32 i;

		given_schema(&t, seed);
		given_message(&t, 0, 10);
		for (i = 1; ; i++) {
			gen_buf_init(&b, MAX_TOTAL);
			b.fail_at = i;
			ret = mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err);
			gen_buf_free(&b);
			if (!ret)
				break;
			CHECK_EQ(ret, -ENOMEM);
			CHECK(strstr(err.what, "lack of memory"));
			CHECK(mrpc_msg_explain(t.plan, &err, text, sizeof(text)) > 0);
			failures++;
		}
		for (i = 1; ; i++) {
			gen_buf_init(&b, MAX_TOTAL);
			t.heap.accesses = 0;
			t.heap.fail_at = i;
			ret = mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err);
			gen_buf_free(&b);
			if (!ret)
				break;
			CHECK_EQ(ret, -EINVAL);
			CHECK_STR(err.what, "is outside the send heap");
			CHECK(err.type < t.plan->nr_types);
			failures++;
		}
		given_end(&t);
	}
	CHECK(failures > 1000);
}

/* -- against the model ----------------------------------------------------- */

TEST_LIMIT(random_messages, 120)
{
	u32 seed, blocks = 0;

	for (seed = 0; seed < 4000; seed++) {
		struct mrpc_msg_error err;
		struct mrpc_msg_len len;
		u8 *model, *wire, *head;
		struct gen_buf b;
		struct given t;
		const char *why;
		u32 type;
		int ret;

		given_schema(&t, seed);
		type = gen_below(&t.g, t.plan->nr_types);
		given_message(&t, type, gen_below(&t.g, 120));
		model = model_encode(t.plan, t.msg, &len);
		gen_buf_init(&b, MAX_TOTAL);
		ret = mrpc_msg_snapshot(t.plan, type, &t.src, t.root, &b.buf, &err);
		CHECK_MSG(!ret, "seed %u: %d, %s", seed, ret, err.what);
		CHECK_MSG(!memcmp(&len, &b.buf.len, sizeof(len)), "seed %u: lengths", seed);
		wire = gen_assemble(&b, &t.heap);
		CHECK_MSG(!memcmp(model, wire, mrpc_msg_total(&len)), "seed %u: bytes", seed);
		head = gen_head_copy(wire, &len);
		ret = mrpc_msg_verify(t.plan, type, head, &len, &err);
		CHECK_MSG(!ret, "seed %u: refused: %s", seed, err.what);
		CHECK_MSG(model_equal(t.plan, t.msg, model_decode(&t.pool, t.plan, type, wire, &len)),
			  "seed %u: the model reads something else", seed);
		why = gen_check_canonical(t.plan, type, head, &len);
		CHECK_MSG(!why, "seed %u: %s", seed, why);
		blocks += t.heap.accesses;
		free(head);
		free(wire);
		free(model);
		gen_buf_free(&b);
		given_end(&t);
	}
	CHECK(blocks > 100000);
}

/* A small message is copied with its byte section: the same bytes, and no block is left behind. */
TEST(copied_whole)
{
	u32 seed, whole = 0, recorded = 0;

	for (seed = 0; seed < 2000; seed++) {
		struct gen_buf parts, b;
		struct mrpc_msg_error err;
		struct given t;
		u8 *want, *got;
		u64 total;

		given_schema(&t, seed);
		given_message(&t, 0, 20);
		gen_buf_init(&parts, MAX_TOTAL);
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &parts.buf, &err), 0);
		total = mrpc_msg_total(&parts.buf.len);
		want = gen_assemble(&parts, &t.heap);
		gen_buf_init(&b, MAX_TOTAL);
		/* Exactly enough, or one byte too few. */
		b.buf.max_whole = total - seed % 2;
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err), 0);
		CHECK(!memcmp(&b.buf.len, &parts.buf.len, sizeof(b.buf.len)));
		CHECK_EQ(b.buf.nr_segs, seed % 2 ? parts.buf.nr_segs : 0);
		got = gen_assemble(&b, &t.heap);
		CHECK_MSG(!memcmp(got, want, total), "seed %u: bytes", seed);
		whole += parts.buf.nr_segs && !(seed % 2);
		recorded += parts.buf.nr_segs && seed % 2;
		free(want);
		free(got);
		gen_buf_free(&parts);
		gen_buf_free(&b);
		given_end(&t);
	}
	CHECK(whole > 500);
	CHECK(recorded > 500);
}

/* What lies near the root is reached without a call: a copy that ends where it says it does. */
TEST(near_the_root)
{
	u32 seed, saved = 0, asked = 0;

	for (seed = 0; seed < 1000; seed++) {
		struct gen_buf far, near;
		struct mrpc_msg_error err;
		u8 *copy, *a, *b;
		struct given t;
		u32 from, len, calls;

		given_schema(&t, seed);
		given_message(&t, 0, 40);
		gen_buf_init(&far, MAX_TOTAL);
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &far.buf, &err), 0);
		calls = t.heap.accesses;
		t.heap.accesses = 0;
		from = gen_below(&t.g, t.heap.size);
		len = 1 + gen_below(&t.g, t.heap.size - from);
		copy = malloc(len);
		assert(copy);
		memcpy(copy, t.heap.mem + from, len);
		t.src.near = copy;
		t.src.near_off = from;
		t.src.near_len = len;
		gen_buf_init(&near, MAX_TOTAL);
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &near.buf, &err), 0);
		asked += t.heap.accesses;
		saved += calls - t.heap.accesses;
		CHECK(!memcmp(&far.buf.len, &near.buf.len, sizeof(far.buf.len)));
		a = gen_assemble(&far, &t.heap);
		b = gen_assemble(&near, &t.heap);
		CHECK_MSG(!memcmp(a, b, mrpc_msg_total(&far.buf.len)), "seed %u: bytes", seed);
		free(a);
		free(b);
		free(copy);
		gen_buf_free(&far);
		gen_buf_free(&near);
		given_end(&t);
	}
	CHECK(saved > 1000);
	CHECK(asked > 1000);
}

/* Verifies; what is accepted must be canonical. Returns whether it was. */
static bool try_verify(const struct mrpc_schema_plan *plan, u32 type, const u8 *head,
		       const struct mrpc_msg_len *len, u32 seed)
{
	struct mrpc_msg_error err;
	const char *why;
	char text[300];

	if (mrpc_msg_verify(plan, type, head, len, &err)) {
		CHECK(err.what);
		CHECK(mrpc_msg_explain(plan, &err, text, sizeof(text)) > 0);
		return false;
	}
	why = gen_check_canonical(plan, type, head, len);
	CHECK_MSG(!why, "seed %u: accepted, but %s", seed, why);
	return true;
}

static const u8 interesting[] = { 0, 1, 2, 8, 0x7f, 0x80, 0xff };

TEST_LIMIT(changed_messages, 240)
{
	u32 seed, accepted = 0, refused = 0;

	for (seed = 0; seed < 100; seed++) {
		struct mrpc_msg_len len;
		u32 head_len, i, j;
		u8 *wire, *head;
		struct given t;

		given_schema(&t, seed);
		given_message(&t, 0, gen_below(&t.g, 12));
		wire = model_encode(t.plan, t.msg, &len);
		head = gen_head_copy(wire, &len);
		head_len = mrpc_msg_head_len(&len);
		CHECK(try_verify(t.plan, 0, head, &len, seed));
		for (i = 0; i < head_len; i++) {
			u8 was = head[i];

			/* Far into a long text a few will do. */
			if (i > 800 && !gen_chance(&t.g, 3))
				continue;
			for (j = 0; j < 5; j++) {
				head[i] = j < 3 ? was ^ (1 << gen_below(&t.g, 8)) :
				  interesting[gen_below(&t.g, ARRAY_SIZE(interesting))];
				if (head[i] == was)
					continue;
				if (try_verify(t.plan, 0, head, &len, seed))
					accepted++;
				else
					refused++;
			}
			head[i] = was;
		}
		free(head);
		free(wire);
		given_end(&t);
	}
	/* Scalars and text may change; most else may not. */
	CHECK(accepted > 1000);
	CHECK(refused > 1000);
}

/* Lengths that do not fit the message, with a head of exactly that size. */
TEST_LIMIT(changed_lengths, 120)
{
	static const int deltas[] = { -16, -9, -8, -7, -1, 1, 7, 8, 9, 16, 1024 };
	u32 seed, refused = 0;

	for (seed = 0; seed < 400; seed++) {
		struct mrpc_msg_len was, len;
		struct given t;
		u32 i, j, n;
		u8 *wire;

		given_schema(&t, seed);
		given_message(&t, 0, gen_below(&t.g, 12));
		wire = model_encode(t.plan, t.msg, &was);
		for (i = 0; i < 3; i++) {
			for (j = 0; j < ARRAY_SIZE(deltas); j++) {
				u32 *value;
				u8 *head;

				len = was;
				value = i == 0 ? &len.structs : i == 1 ? &len.text : &len.bytes;
				if (deltas[j] < 0 && *value < (u32)-deltas[j])
					continue;
				*value += deltas[j];
				n = min(mrpc_msg_head_len(&len), mrpc_msg_head_len(&was));
				head = calloc(1, mrpc_msg_head_len(&len) + !n);
				memcpy(head, wire, n);
				if (try_verify(t.plan, 0, head, &len, seed))
					CHECK_MSG(0, "seed %u: accepted with lengths %u %u %u",
						  seed, len.structs, len.text, len.bytes);
				refused++;
				free(head);
			}
		}
		free(wire);
		given_end(&t);
	}
	CHECK(refused > 5000);
}

/* -- a heap that changes --------------------------------------------------- */

/* At each access some bytes change, and the piece handed out before is gone. */
TEST_LIMIT(heap_changes_between_accesses, 120)
{
	u32 seed, good = 0, bad = 0, round;

	for (seed = 0; seed < 1500; seed++) {
		struct gen flip = gen_seeded(~seed);
		struct given t;

		given_schema(&t, seed);
		given_message(&t, 0, gen_below(&t.g, 30));
		t.heap.flip = &flip;
		for (round = 0; round < 6; round++) {
			struct mrpc_msg_error err;
			struct gen_buf b;
			u8 *head;

			gen_buf_init(&b, 1 << 20);
			if (mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err)) {
				bad++;
				gen_buf_free(&b);
				continue;
			}
			good++;
			head = gen_head_copy(b.buf.head, &b.buf.len);
			CHECK(try_verify(t.plan, 0, head, &b.buf.len, seed));
			free(head);
			free(gen_assemble(&b, &t.heap));
			gen_buf_free(&b);
		}
		given_end(&t);
	}
	CHECK(good > 1000);
	CHECK(bad > 100);
}

#ifdef __x86_64__

#define TRAP_FLAG	0x100	/* of EFLAGS: a signal after the next instruction */

/*
 * A heap that cannot be read: the signal for it lets one instruction do so, and the signal that
 * follows has the heap changed. So it changes after each load, and whatever is read twice is read
 * differently. It follows from the seed, and, as a copy's loads depend on where its memory lies,
 * from that: what has failed fails again, under setarch -R if not without.
 *
 * @mem: what the snapshot reads
 * @alias: the same memory, always writable
 * @good: what was there at first
 * @size: bytes of each
 * @at: the byte that is not as at first; @size: none
 * @read: offset of the latest load
 * @loads: how many there were
 * @g: what is changed, and to what
 */
static struct {
	u8 *mem;
	u8 *alias;
	const u8 *good;
	size_t size;
	size_t at;
	size_t read;
	u32 loads;
	struct gen g;
} stepped;

static void stepped_fault(int sig, siginfo_t *info, void *context)
{
	size_t off = (u8 *)info->si_addr - stepped.mem;
	ucontext_t *uc = context;

	if (off >= stepped.size) {
		signal(sig, SIG_DFL);	/* not ours: again, and for good */
		return;
	}
	stepped.read = off;
	mprotect(stepped.mem, stepped.size, PROT_READ);
	uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void stepped_mend(void)
{
	if (stepped.at < stepped.size)
		stepped.alias[stepped.at] = stepped.good[stepped.at];
	stepped.at = stepped.size;
}

/* Mostly what was read, or is near it; one byte at a time, so that there is something to read. */
static void stepped_trap(int sig, siginfo_t *info, void *context)
{
	size_t near = stepped.read + gen_below(&stepped.g, 32);
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	stepped.loads++;
	stepped_mend();
	if (gen_chance(&stepped.g, 50)) {
		stepped.at = gen_chance(&stepped.g, 80) && near < stepped.size ?
			     near : gen_below(&stepped.g, stepped.size);
		stepped.alias[stepped.at] = gen_u64(&stepped.g);
	}
	mprotect(stepped.mem, stepped.size, PROT_NONE);
}

static void stepped_begin(const struct gen_heap *heap, u32 seed)
{
	int fd = CHECK_SYS(memfd_create("heap", MFD_CLOEXEC));

	stepped.g = gen_seeded(~seed);
	stepped.good = heap->mem;
	stepped.size = heap->size;
	stepped.at = heap->size;
	CHECK_SYS(ftruncate(fd, heap->size));
	stepped.alias = CHECK_SYS(mmap(NULL, heap->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	memcpy(stepped.alias, heap->mem, heap->size);
	stepped.mem = CHECK_SYS(mmap(NULL, heap->size, PROT_NONE, MAP_SHARED, fd, 0));
	close(fd);
}

static void stepped_end(void)
{
	munmap(stepped.mem, stepped.size);
	munmap(stepped.alias, stepped.size);
}

/* Hands out the heap itself, as the module does. */
static const void *stepped_at(void *ctx, u64 off, u64 len)
{
	(void)ctx;
	if (off > stepped.size || len > stepped.size - off)
		return NULL;
	return stepped.mem + off;
}

/* After each instruction that reads it: whatever is taken is a message. */
TEST_LIMIT(heap_changes_during_accesses, 120)
{
	struct sigaction fault = { .sa_sigaction = stepped_fault, .sa_flags = SA_SIGINFO };
	struct sigaction trap = { .sa_sigaction = stepped_trap, .sa_flags = SA_SIGINFO };
	u32 seed, good = 0, bad = 0, round;

	CHECK_SYS(sigaction(SIGSEGV, &fault, NULL));
	CHECK_SYS(sigaction(SIGTRAP, &trap, NULL));
	stepped.loads = 0;
	for (seed = 0; seed < 200; seed++) {
		struct given t;

		given_schema(&t, seed);
		given_message(&t, 0, 30);
		t.src.at = stepped_at;
		stepped_begin(&t.heap, seed);
		for (round = 0; round < 20; round++) {
			struct mrpc_msg_error err;
			struct gen_buf b;
			int ret;

			stepped_mend();
			gen_buf_init(&b, 1 << 20);
			b.buf.head_cap = 4096;
			b.buf.head = malloc(b.buf.head_cap);
			ret = mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err);
			bad += !!ret;
			if (!ret) {
				good++;
				ret = mrpc_msg_verify(t.plan, 0, b.buf.head, &b.buf.len, &err);
				CHECK_MSG(!ret, "seed %u, round %u: %s", seed, round, err.what);
			}
			gen_buf_free(&b);
		}
		stepped_end();
		given_end(&t);
	}
	signal(SIGSEGV, SIG_DFL);
	signal(SIGTRAP, SIG_DFL);
	NOTE("%u loads, %u messages, %u refused", stepped.loads, good, bad);
	CHECK(stepped.loads > 10000);
	CHECK(good > 500);
	CHECK(bad > 500);
}

#else

TEST(heap_changes_during_accesses)
{
	SKIP("single steps are known of x86-64 only");
}

#endif /* __x86_64__ */
