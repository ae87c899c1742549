// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sessions, and messages under construction.
 */
#include <sys/wait.h>

#include "session.h"

static u64 used(struct mrpc_session *s)
{
	struct mrpc_heap_stats stats;

	heap_cache_flush(&s->send, &tctx_get(s)->cache);
	mrpc_send_heap_stats(s, &stats);
	return stats.used;
}

TEST(open_and_close)
{
	struct mrpc_session *s = open_session();

	CHECK(mrpc_session_id(s) > 0);
	CHECK_EQ(mrpc_session_setup(s)->version, MRPC_UAPI_VERSION);
	CHECK(mrpc_session_fd(s) >= 0);
	CHECK_EQ(used(s), 0);
	mrpc_session_close(s);
	mrpc_session_close(NULL);
}

TEST(open_fails_clearly)
{
	struct mrpc_session_opts opts = { .device = "/nonexistent/mrpc" };

	CHECK(!mrpc_session_open(&opts));
	CHECK_EQ(errno, ENOENT);
	CHECK_STR(mrpc_last_error(), "cannot open /nonexistent/mrpc: is the module mrpc loaded?");

	opts.device = fake_device();
	fake_fail(MRPC_IOC_SETUP, EMFILE, 1);
	CHECK(!mrpc_session_open(&opts));
	CHECK_EQ(errno, EMFILE);
	fake_fail(MRPC_IOC_REGION, ENOMEM, 1);
	CHECK(!mrpc_session_open(&opts));
	CHECK_EQ(errno, ENOMEM);
	unlink(opts.device);
}

TEST(receive_heap_grows)
{
	struct mrpc_session *s = open_with((struct mrpc_session_opts){ .recv_initial = 1 });
	u64 more = sizeof(void *) > 4 ? 300u << 20 : 100u << 20;

	CHECK_EQ(s->recv_size, 65536);
	CHECK_EQ(mrpc_session_grow_recv(s, more), 0);
	CHECK_EQ(s->recv_size, more + 65536);
	CHECK_EQ(mrpc_session_grow_recv(s, 3ull << 30), -ENOMEM);
	CHECK_EQ(mrpc_session_grow_recv(s, UINT64_MAX), -ENOMEM);
	CHECK_EQ(s->recv_size, more + 65536);
	mrpc_session_close(s);
}

TEST(small_message_is_one_block)
{
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg;
	struct fake_msg *root = build(&msg, s, 3, 100);

	CHECK_EQ((uintptr_t)root % 8, 0);
	CHECK(matches(root, 3, 100));
	CHECK_EQ(mrpc_msg_error(&msg), 0);
	CHECK(mrpc_msg_root(&msg) == root);
	CHECK(msg.total >= sizeof(*root) + 100 + 1);
	CHECK(*(void **)msg.blocks == NULL);
	mrpc_msg_free(&msg);
	mrpc_msg_free(&msg);
	CHECK_EQ(used(s), 0);
	mrpc_session_close(s);
}

TEST(fields)
{
	struct mrpc_session *s = open_session();
	struct { struct mrpc_ref str, sub, list, numbers, names, none; } *root;
	static const u64 numbers[] = { 1, 2, 3 };
	struct mrpc_ref *names;
	struct fake_msg *sub, *list;
	struct mrpc_msg msg;
	int i;

	root = mrpc_msg_new(&msg, s, sizeof(*root), 64);
	mrpc_msg_set_str(&msg, &root->str, "hello");
	CHECK_EQ(root->str.len, 5);
	CHECK(!memcmp(mrpc_ref_ptr(root, root->str), "hello", 5));
	mrpc_msg_set_strn(&msg, &root->str, "goodbye", 4);
	CHECK(!memcmp(mrpc_ref_ptr(root, root->str), "good", root->str.len));
	mrpc_msg_set_str(&msg, &root->none, NULL);
	CHECK(!mrpc_ref_ptr(root, root->none));
	CHECK_STR(mrpc_ref_str(root, root->none), "");
	mrpc_msg_set_bytes(&msg, &root->none, "x", 0);
	CHECK_EQ(root->none.off, 0);
	CHECK(!mrpc_msg_alloc_array(&msg, &root->none, 0, 8, 8));

	sub = mrpc_msg_alloc_struct(&msg, &root->sub, sizeof(*sub));
	CHECK_EQ(root->sub.len, 1);
	CHECK_EQ((uintptr_t)sub % 8, 0);
	CHECK_EQ(sub->number, 0);
	CHECK(mrpc_ref_mut(root, root->sub) == sub);

	list = mrpc_msg_alloc_array(&msg, &root->list, 1000, sizeof(*list), 8);
	CHECK_EQ(root->list.len, 1000);
	for (i = 0; i < 1000; i++) {
		CHECK_EQ(list[i].number, 0);
		mrpc_msg_set_str(&msg, &list[i].data, "element");
	}
	for (i = 0; i < 1000; i++)	/* relative to the root, wherever it is */
		CHECK(!memcmp(mrpc_ref_ptr(root, list[i].data), "element", 7));

	mrpc_msg_set_array(&msg, &root->numbers, numbers, 3, sizeof(u64));
	CHECK_EQ((uintptr_t)mrpc_ref_ptr(root, root->numbers) % 8, 0);
	CHECK_EQ(((const u64 *)mrpc_ref_ptr(root, root->numbers))[2], 3);
	names = mrpc_msg_alloc_array(&msg, &root->names, 2, sizeof(*names), 4);
	mrpc_msg_set_str(&msg, &names[1], "b");
	CHECK_EQ(*(const char *)mrpc_ref_ptr(root, names[1]), 'b');
	CHECK_EQ(mrpc_msg_error(&msg), 0);
	mrpc_msg_free(&msg);
	CHECK_EQ(used(s), 0);
	mrpc_session_close(s);
}

TEST(large_and_attached_fields)
{
	struct mrpc_session *s = open_session();
	struct { struct mrpc_ref a, b; } *root;
	struct mrpc_msg msg;
	u8 *block, *p;

	block = mrpc_alloc(s, 5 << 20);
	CHECK_EQ((uintptr_t)block % 4096, 0);
	memset(block, 0x5a, 5 << 20);
	root = mrpc_msg_new(&msg, s, sizeof(*root), 0);
	mrpc_msg_attach(&msg, &root->a, block, 100, 4 << 20, 4 << 20);
	CHECK(mrpc_ref_ptr(root, root->a) == block + 100);
	p = mrpc_msg_alloc_bytes(&msg, &root->b, 3 << 20);
	CHECK_EQ((uintptr_t)p % 4096, 0);
	memset(p, 1, 3 << 20);
	CHECK(msg.total > 7 << 20);
	CHECK(used(s) >= 8 << 20);
	mrpc_msg_free(&msg);
	CHECK_EQ(used(s), 0);

	block = mrpc_alloc(s, 100);
	mrpc_free(s, block);
	mrpc_free(s, NULL);
	CHECK_EQ(used(s), 0);
	mrpc_session_close(s);
}

/* Each reference is content of its own on the wire, whatever is added to it later. */
TEST(blocks_with_several_references)
{
	struct mrpc_session *s = open_session();
	struct { struct mrpc_ref a, b; } *root;
	struct fake_msg *sub;
	struct mrpc_msg msg;

	root = mrpc_msg_new(&msg, s, sizeof(*root), 0);
	sub = mrpc_msg_alloc_struct(&msg, &root->a, sizeof(*sub));
	CHECK(msg.total < 4096);
	mrpc_msg_set_ref(&msg, &root->b, sub, 0);
	mrpc_msg_set_ref(&msg, &root->b, NULL, 1);
	CHECK(msg.total < 4096);
	mrpc_msg_set_ref(&msg, &root->b, sub, 1);
	CHECK(mrpc_ref_ptr(root, root->b) == sub);
	mrpc_msg_alloc_bytes(&msg, &sub->data, 3 << 20);
	CHECK(msg.total >= 6 << 20);
	CHECK_EQ(mrpc_msg_error(&msg), 0);
	mrpc_msg_free(&msg);
	mrpc_session_close(s);
}

/* The builder's pointers stay good, and nothing leaks (ASan looks). */
TEST(heap_full)
{
	struct mrpc_session *s = open_with((struct mrpc_session_opts){ .send_limit = 1 << 20 });
	struct mrpc_msg first, msg;
	struct fake_msg *root, *list;
	struct { struct mrpc_ref list, sub; } *big;
	u8 *p;
	int i;

	root = build(&first, s, 1, 900000);
	CHECK_EQ(mrpc_msg_error(&first), 0);
	CHECK(matches(root, 1, 900000));

	root = build(&msg, s, 2, 500000);
	CHECK_EQ(mrpc_msg_error(&msg), -ENOMEM);
	CHECK_EQ(root->number, 2);
	CHECK(strstr(mrpc_last_error(), "the send heap has no room for 500000 bytes"));
	mrpc_msg_free(&msg);

	big = mrpc_msg_new(&msg, s, sizeof(*big), 0);
	list = mrpc_msg_alloc_array(&msg, &big->list, 100000, sizeof(*list), 8);
	for (i = 0; i < 100000; i++) {
		list[i].number = (u32)i;
		mrpc_msg_set_str(&msg, &list[i].data, "some text");
	}
	p = mrpc_alloc(s, 1000);
	mrpc_msg_attach(&msg, &big->sub, p, 0, 1000, 1000);
	CHECK_EQ(mrpc_msg_error(&msg), -ENOMEM);
	mrpc_msg_free(&msg);

	mrpc_msg_free(&first);
	CHECK_EQ(used(s), 0);
	mrpc_session_close(s);
}

TEST(too_large)
{
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg;
	struct fake_msg *root = mrpc_msg_new(&msg, s, sizeof(*root), 0);

	CHECK(!mrpc_msg_alloc_bytes(&msg, &root->data, (size_t)MRPC_MAX_MESSAGE + 1));
	CHECK_EQ(root->data.len, 0);
	CHECK_EQ(mrpc_msg_error(&msg), -EMSGSIZE);
	CHECK(!mrpc_msg_alloc_array(&msg, &root->data, SIZE_MAX / 4, 8, 8));
	mrpc_msg_free(&msg);
	mrpc_session_close(s);
}

static void *use_in_thread(void *arg)
{
	struct mrpc_session *s = arg;
	struct mrpc_msg msg;
	int i;

	for (i = 0; i < 1000; i++) {
		build(&msg, s, (u32)i, (u32)i * 3);
		mrpc_msg_free(&msg);
	}
	CHECK(mrpc_qp_self(s) != NULL);
	return NULL;
}

TEST(threads_that_end_return_everything)
{
	struct mrpc_session *s = open_session();
	pthread_t threads[4];
	int round, i;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < 4; i++)
			CHECK_EQ(pthread_create(&threads[i], NULL, use_in_thread, s), 0);
		for (i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	CHECK_EQ(used(s), 0);
	CHECK(s->idle_qps != NULL);
	mrpc_session_close(s);
}

static void *use_and_wait(void *arg)
{
	pthread_barrier_t *barrier = ((void **)arg)[0];

	use_in_thread(((void **)arg)[1]);
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

TEST(session_closed_before_its_threads_end)
{
	struct mrpc_session *s = open_session(), *other = open_session();
	pthread_barrier_t barrier;
	void *args[] = { &barrier, s };
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	CHECK_EQ(pthread_create(&thread, NULL, use_and_wait, args), 0);
	pthread_barrier_wait(&barrier);
	mrpc_session_close(s);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	use_in_thread(other);
	mrpc_session_close(other);
}

static int child(struct mrpc_session *s, struct mrpc_msg *parents)
{
	struct mrpc_session *mine;
	struct mrpc_msg msg;
	struct mrpc_qp *qp;

	if (mrpc_alloc(s, 100) || errno != EPERM)
		return 1;
	if (!strstr(mrpc_last_error(), "forked"))
		return 2;
	qp = mrpc_qp_self(s);
	if (qp || mrpc_session_grow_recv(s, 1) != -EPERM)
		return 3;
	build(&msg, s, 1, 10000);
	if (mrpc_msg_error(&msg) != -EPERM)
		return 4;
	mrpc_msg_free(&msg);
	mrpc_msg_free(parents);
	mine = open_session();
	build(&msg, mine, 1, 10000);
	if (mrpc_msg_error(&msg))
		return 5;
	mrpc_session_close(s);
	mrpc_msg_free(&msg);
	mrpc_session_close(mine);
	return 0;
}

TEST(fork_leaves_the_session_to_the_parent)
{
	struct mrpc_session *s = open_session();
	struct mrpc_msg msg;
	struct fake_msg *root;
	int status = -1;
	pid_t pid;

	CHECK(mrpc_qp_self(s) != NULL);
	root = build(&msg, s, 5, 5000);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(child(s, &msg));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK(matches(root, 5, 5000));
	mrpc_msg_free(&msg);
	CHECK_EQ(used(s), 0);
	mrpc_session_close(s);
}
