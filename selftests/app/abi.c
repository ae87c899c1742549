// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/app uapi/linux/mrpc.h kmod/core/session kmod/core/qp */
/*
 * The interface itself: layouts, sizes, pointers, order, permissions. The test is built for 64
 * and for 32 bits, which must agree.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tap.h"
#include "raw.h"
#include "rnd.h"

#define AT(type, field, offset) CHECK_EQ(offsetof(struct type, field), offset)

TEST(layout)
{
	CHECK_EQ(sizeof(struct mrpc_ref), 8);
	CHECK_EQ(sizeof(struct mrpc_meta_entry), 4);
	CHECK_EQ(sizeof(struct mrpc_sqe), 64);
	AT(mrpc_sqe, conn, 4);
	AT(mrpc_sqe, user_data, 8);
	AT(mrpc_sqe, call, 16);
	AT(mrpc_sqe, method, 24);
	AT(mrpc_sqe, root, 32);
	AT(mrpc_sqe, max_reply, 44);
	AT(mrpc_sqe, timeout_us, 48);
	AT(mrpc_sqe, detail_len, 60);
	AT(mrpc_sqe, blocks, 16);
	CHECK_EQ(sizeof(struct mrpc_cqe), 64);
	AT(mrpc_cqe, status, 10);
	AT(mrpc_cqe, call, 16);
	AT(mrpc_cqe, msg_len, 32);
	AT(mrpc_cqe, priority, 44);
	AT(mrpc_cqe, deadline_ns, 48);
	CHECK_EQ(sizeof(struct mrpc_times), 40);
	CHECK_EQ(sizeof(struct mrpc_qp_head), 320);
	AT(mrpc_qp_head, cq.head, 128);
	AT(mrpc_qp_head, cq.tail, 192);
	AT(mrpc_qp_head, flags, 256);
	CHECK_EQ(sizeof(struct mrpc_explain), 16);
	CHECK_EQ(sizeof(struct mrpc_setup), 64);
	AT(mrpc_setup, name, 24);
	AT(mrpc_setup, features, 56);
	CHECK_EQ(sizeof(struct mrpc_region_add), 40);
	AT(mrpc_region_add, mmap_off, 24);
	CHECK_EQ(sizeof(struct mrpc_qp_setup), 48);
	AT(mrpc_qp_setup, mmap_off, 24);
	CHECK_EQ(sizeof(struct mrpc_bind), 88);
	AT(mrpc_bind, hash, 24);
	AT(mrpc_bind, explain, 72);
	CHECK_EQ(sizeof(struct mrpc_connect), 352);
	AT(mrpc_connect, addr, 24);
	AT(mrpc_connect, schemas, 160);
	AT(mrpc_connect, until_ns, 288);
	AT(mrpc_connect, explain, 320);
	AT(mrpc_connect, identity, 336);
	CHECK_EQ(sizeof(struct mrpc_adopt), 48);
	CHECK_EQ(sizeof(struct mrpc_close), 24);
	CHECK_EQ(sizeof(struct mrpc_conn_info), 40 + MRPC_TRANSPORT_LEN + 2 * MRPC_ADDR_LEN +
		 MRPC_IDENTITY_LEN);
	CHECK_EQ(sizeof(struct mrpc_enter), 48);
	AT(mrpc_enter, submitted, 20);
	AT(mrpc_enter, sigmask, 32);
	CHECK_EQ(sizeof(struct mrpc_request), 16);
	AT(mrpc_request, call, 8);
	CHECK_EQ(sizeof(struct mrpc_call_sync), 144);
	AT(mrpc_call_sync, token, 136);
	AT(mrpc_call_sync, flags, 140);
	CHECK_EQ(sizeof(struct mrpc_release), 16 + 4 * MRPC_RELEASE_MAX);
}

static void round_trip(const char *how)
{
	static const uint32_t sizes[] = { 0, 100, 30000, 1 << 20 };
	static struct raw_pair p;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	struct raw_qp qp;
	uint32_t root, i;

	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 4, 8, 0);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		root = raw_blob(&p.c, i, sizes[i], "text");
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, i, sizes[i]));
		raw_done(&p.c, &cqe);
		CHECK(raw_push(&qp, &sqe));
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, i, sizes[i]));
		raw_done(&p.c, &cqe);
		if (!(cqe.flags & MRPC_CQE_FREED))
			raw_expect(&qp, &cqe, MRPC_CQE_SENT, 10 * RAW_S);
	}
	raw_pair_end(&p);
}

TEST(round_trip_tcp)
{
	round_trip("tcp4");
}

TEST(round_trip_loop)
{
	round_trip("loop");
}

/* A page for arguments. The mapping ends at its end. */
static uint8_t *edge_page(void)
{
	uint8_t *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK_SYS(munmap(p + 8192, 4096));
	return p;
}

static const struct ioctl_of {
	unsigned int cmd;
	uint32_t size;
	int ok;		/* the answer to zeros, once set up */
} ioctls[] = {
	{ MRPC_IOC_REGION, sizeof(struct mrpc_region_add), -EINVAL },
	{ MRPC_IOC_QP, sizeof(struct mrpc_qp_setup), -EINVAL },
	{ MRPC_IOC_BIND, sizeof(struct mrpc_bind), -E2BIG },
	{ MRPC_IOC_CONNECT, sizeof(struct mrpc_connect), -EPROTONOSUPPORT },
	{ MRPC_IOC_SERVE, sizeof(struct mrpc_connect), -EPROTONOSUPPORT },
	{ MRPC_IOC_CLOSE, sizeof(struct mrpc_close), -ENOENT },
	{ MRPC_IOC_CONN_INFO, sizeof(struct mrpc_conn_info), -ENOENT },
	{ MRPC_IOC_ENTER, sizeof(struct mrpc_enter), -EINVAL },
	{ MRPC_IOC_CALL, sizeof(struct mrpc_call_sync), -EINVAL },
	{ MRPC_IOC_RELEASE, sizeof(struct mrpc_release), 0 },
	{ MRPC_IOC_ADOPT, sizeof(struct mrpc_adopt), -ENOENT },
	{ MRPC_IOC_REQUEST, sizeof(struct mrpc_request), -ENOENT },
};

static int with_size(int fd, unsigned int cmd, void *arg, uint32_t size)
{
	memcpy(arg, &size, sizeof(size));
	return raw_ioctl(fd, cmd, arg);
}

TEST(size_field)
{
	uint8_t *page = edge_page();
	struct raw s;
	uint32_t i;

	raw_open(&s, 65536, 65536);
	for (i = 0; i < ARRAY_SIZE(ioctls); i++) {
		unsigned int cmd = ioctls[i].cmd;
		uint32_t size = ioctls[i].size;

		memset(page, 0, 8192);
		CHECK_EQ(with_size(s.fd, cmd, page, 0), -EINVAL);
		CHECK_EQ(with_size(s.fd, cmd, page, 7), -EINVAL);
		CHECK_EQ(with_size(s.fd, cmd, page, size - 1), -EINVAL);
		CHECK_EQ(with_size(s.fd, cmd, page, 4097), -E2BIG);
		CHECK_EQ(with_size(s.fd, cmd, page, 0xffffffff), -E2BIG);
		CHECK_EQ(with_size(s.fd, cmd, page, size), ioctls[i].ok);
		memset(page, 0, 8192);
		CHECK_EQ(with_size(s.fd, cmd, page, size + 8), ioctls[i].ok);
		memset(page, 0, 8192);
		CHECK_EQ(with_size(s.fd, cmd, page, 4096), ioctls[i].ok);
		memset(page, 0, 8192);
		page[size + 7] = 1;
		CHECK_EQ(with_size(s.fd, cmd, page, size + 8), -E2BIG);
		/* The kernel reads nothing beyond the given size. */
		CHECK_EQ(with_size(s.fd, cmd, page, size), ioctls[i].ok);
	}
	raw_close(&s);
}

TEST(pointers)
{
	uint8_t *page = edge_page();
	struct raw s;
	uint32_t i;

	raw_open(&s, 65536, 65536);
	for (i = 0; i < ARRAY_SIZE(ioctls); i++) {
		uint32_t size = ioctls[i].size;

		CHECK_EQ(raw_ioctl(s.fd, ioctls[i].cmd, NULL), -EFAULT);
		CHECK_EQ(raw_ioctl(s.fd, ioctls[i].cmd, (void *)1), -EFAULT);
		CHECK_EQ(raw_ioctl(s.fd, ioctls[i].cmd, page + 8192), -EFAULT);
		CHECK_EQ(raw_ioctl(s.fd, ioctls[i].cmd, (void *)(long)-4096), -EFAULT);
		/* The argument begins in the last page and ends behind it. */
		memset(page, 0, 8192);
		CHECK_EQ(with_size(s.fd, ioctls[i].cmd, page + 8192 - size + 4, size), -EFAULT);
		/* The argument at the very end of the page, then not aligned. */
		memset(page, 0, 8192);
		CHECK_EQ(with_size(s.fd, ioctls[i].cmd, page + 8192 - size, size), ioctls[i].ok);
		memset(page, 0, 8192);
		CHECK_EQ(with_size(s.fd, ioctls[i].cmd, page + 1, size), ioctls[i].ok);
	}
	raw_close(&s);
}

/* A number has direction and size. Any size is accepted, as the argument has its own. */
TEST(numbers)
{
	uint8_t page[4096];
	struct raw s;
	uint32_t i;

	raw_open(&s, 65536, 65536);
	for (i = 0; i < ARRAY_SIZE(ioctls); i++) {
		const struct ioctl_of *c = &ioctls[i];
		bool in = c->cmd == MRPC_IOC_CLOSE || c->cmd == MRPC_IOC_RELEASE ||
			  c->cmd == MRPC_IOC_REQUEST;
		unsigned int dir = in ? _IOC_WRITE : _IOC_READ | _IOC_WRITE;

		CHECK_EQ(_IOC_TYPE(c->cmd), MRPC_IOC_MAGIC);
		CHECK_EQ(_IOC_NR(c->cmd), i + 1);
		CHECK_EQ(_IOC_SIZE(c->cmd), c->size);
		CHECK_EQ(_IOC_DIR(c->cmd), dir);
		memset(page, 0, sizeof(page));
		CHECK_EQ(with_size(s.fd, _IOC(dir, MRPC_IOC_MAGIC, i + 1, c->size + 8), page,
				   c->size + 8), c->ok);
		CHECK_EQ(with_size(s.fd, _IOC(_IOC_READ, MRPC_IOC_MAGIC, i + 1, c->size), page,
				   c->size), -ENOTTY);
	}
	raw_close(&s);
}

/* Calls ioctl with @arg in memory that the kernel can read but not write. */
static int no_answer(int fd, unsigned int cmd, const void *arg, uint32_t size)
{
	uint8_t *page = edge_page();
	int err;

	memcpy(page, arg, size);
	CHECK_SYS(mprotect(page, 8192, PROT_READ));
	err = raw_ioctl(fd, cmd, page);
	CHECK_SYS(munmap(page, 8192));
	return err;
}

static bool is_left(const char *what, unsigned int nr)
{
	uint64_t until = raw_now() + 5 * RAW_S * raw_patience();
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/misc/mrpc/%s", what);
	do {
		if (raw_file_number(path) == nr)
			return true;
		raw_sleep(10 * RAW_MS);
	} while (raw_now() < until);
	return false;
}

/* If the kernel cannot return the result, it keeps no object. */
TEST(no_answer)
{
	struct mrpc_setup setup = { .size = sizeof(setup) };
	struct mrpc_region_add r = { .size = sizeof(r), .len = 65536 };
	struct mrpc_qp_setup q = { .size = sizeof(q), .sq_entries = 4, .cq_entries = 8 };
	struct mrpc_connect c;
	struct raw_server srv;
	struct raw s = { 0 };
	uint64_t base, off;
	int fd;

	fd = raw_device();
	CHECK_EQ(no_answer(fd, MRPC_IOC_SETUP, &setup, sizeof(setup)), -EFAULT);
	CHECK_EQ(no_answer(fd, MRPC_IOC_REGION, &r, sizeof(r)), -ENXIO);
	CHECK_EQ(raw_ioctl(fd, MRPC_IOC_SETUP, &setup), 0);
	close(fd);

	s.fd = raw_device();
	CHECK_EQ(raw_setup(&s, 65536, 65536), 0);
	for (r.kind = MRPC_REGION_SEND; r.kind <= MRPC_REGION_RECV; r.kind++) {
		CHECK_EQ(no_answer(s.fd, MRPC_IOC_REGION, &r, sizeof(r)), -EFAULT);
		CHECK_EQ(raw_region(&s, r.kind, 65536, &base, &off), 0);
		CHECK_EQ(base, 0);
	}
	CHECK_EQ(no_answer(s.fd, MRPC_IOC_QP, &q, sizeof(q)), -EFAULT);
	CHECK_EQ(raw_ioctl(s.fd, MRPC_IOC_QP, &q), 0);
	CHECK_EQ(q.qp, 0);
	close(s.fd);

	raw_server(&srv, "loop:no-answer", 1);
	raw_open(&s, 65536, 65536);
	CHECK(is_left("connections", 0) && is_left("listeners", 1));
	c = raw_target(&s, "loop:no-answer");
	CHECK_EQ(no_answer(s.fd, MRPC_IOC_CONNECT, &c, sizeof(c)), -EFAULT);
	CHECK(is_left("connections", 0));
	c = raw_target(&s, "loop:no-answer-either");
	CHECK_EQ(no_answer(s.fd, MRPC_IOC_SERVE, &c, sizeof(c)), -EFAULT);
	CHECK(is_left("listeners", 1));
	CHECK(raw_serve_at(&s, &c) > 0);
	raw_close(&s);
	raw_server_stop(&srv);
}

TEST(order)
{
	struct mrpc_setup setup = { .size = sizeof(setup), .name = "a-name" };
	uint8_t page[4096];
	uint32_t i;
	int fd;

	fd = raw_device();
	for (i = 0; i < ARRAY_SIZE(ioctls); i++) {
		memset(page, 0, sizeof(page));
		CHECK_EQ(with_size(fd, ioctls[i].cmd, page, ioctls[i].size), -ENXIO);
	}
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	CHECK_EQ(raw_ioctl(fd, _IO('x', 0), NULL), -ENOTTY);
	CHECK_EQ(raw_ioctl(fd, MRPC_IOC_SETUP, &setup), 0);
	CHECK_EQ(setup.version, MRPC_UAPI_VERSION);
	CHECK(setup.session && setup.copy_threshold && setup.max_calls);
	CHECK_EQ(setup.features, 0);
	CHECK_EQ(raw_ioctl(fd, MRPC_IOC_SETUP, &setup), -EBUSY);
	CHECK_EQ(raw_ioctl(fd, _IO('x', 0), NULL), -ENOTTY);
	CHECK_EQ(raw_ioctl(fd, _IO(MRPC_IOC_MAGIC, 11), NULL), -ENOTTY);
	CHECK_EQ(raw_ioctl(fd, _IO(MRPC_IOC_MAGIC, 255), NULL), -ENOTTY);
	CHECK_EQ(raw_ioctl(fd, _IO(MRPC_IOC_MAGIC, 1), page), -ENOTTY);
	CHECK_EQ(raw_ioctl(fd, _IOR(MRPC_IOC_MAGIC, 1, struct mrpc_region_add), page), -ENOTTY);
	close(fd);

	/* Arguments that SETUP refuses, and then some that it accepts. */
	fd = raw_device();
	setup = (struct mrpc_setup){ .size = sizeof(setup), .flags = 1 };
	CHECK_EQ(raw_ioctl(fd, MRPC_IOC_SETUP, &setup), -EINVAL);
	setup = (struct mrpc_setup){ .size = sizeof(setup), .send_limit = MRPC_MAX_HEAP + 1ULL };
	CHECK_EQ(raw_ioctl(fd, MRPC_IOC_SETUP, &setup), -EINVAL);
	setup = (struct mrpc_setup){ .size = sizeof(setup), .recv_limit = ~0ULL };
	CHECK_EQ(raw_ioctl(fd, MRPC_IOC_SETUP, &setup), -EINVAL);
	setup = (struct mrpc_setup){ .size = sizeof(setup) };
	memset(setup.name, 'n', sizeof(setup.name));	/* no NUL */
	CHECK_EQ(raw_ioctl(fd, MRPC_IOC_SETUP, &setup), 0);
	close(fd);
}

TEST(regions)
{
	static const uint64_t lens[] = { 0, 1, 4096, 65535, 65537, MRPC_REGION_MAX + 65536ULL,
					 1ULL << 32, ~0ULL, ~0ULL << 16 };
	uint64_t base, off;
	struct raw s = { 0 };
	uint32_t i;

	s.fd = raw_device();
	CHECK_EQ(raw_setup(&s, (MRPC_MAX_REGIONS + 6) * 65536, 65536 * 2), 0);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		CHECK_EQ(raw_region(&s, MRPC_REGION_SEND, lens[i], &base, &off), -EINVAL);
	CHECK_EQ(raw_region(&s, 2, 65536, &base, &off), -EINVAL);
	CHECK_EQ(raw_region(&s, ~0U, 65536, &base, &off), -EINVAL);
	CHECK_EQ(raw_region(&s, MRPC_REGION_RECV, 65536 * 3, &base, &off), -EDQUOT);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(raw_region(&s, MRPC_REGION_RECV, 65536, &base, &off), 0);
		CHECK_EQ(base, i * 65536);
	}
	CHECK_EQ(raw_region(&s, MRPC_REGION_RECV, 65536, &base, &off), -EDQUOT);
	for (i = 0; i < MRPC_MAX_REGIONS; i++) {
		CHECK_EQ(raw_region(&s, MRPC_REGION_SEND, 65536, &base, &off), 0);
		CHECK_EQ(base, i * 65536);
	}
	CHECK_EQ(raw_region(&s, MRPC_REGION_SEND, 65536, &base, &off), -EDQUOT);
	close(s.fd);
}

TEST(queue_pairs)
{
	static const struct {
		uint32_t sq, cq, flags, fd;
		int err;
	} cases[] = {
		{ 0, 2, 0, 0, -EINVAL }, { 3, 8, 0, 0, -EINVAL }, { 8, 8, 0, 0, -EINVAL },
		{ 8, 24, 0, 0, -EINVAL }, { 8192, 16384, 0, 0, -EINVAL },
		{ 4096, 32768, 0, 0, -EINVAL }, { 1, 1, 0, 0, -EINVAL }, { 1, 2, 4, 0, -EINVAL },
		{ 0x80000000, 0x80000000, 0, 0, -EINVAL }, { 1, 0x80000000, 0, 0, -EINVAL },
		{ 1, 2, MRPC_QP_EVENTFD, -1U, -EBADF }, { 1, 2, 0x80000000, 0, -EINVAL },
		{ 1, 2, 0, 0, 0 }, { 4096, 16384, MRPC_QP_SERVE, 0, 0 },
	};
	struct raw_qp qp;
	struct raw s;
	uint32_t i;
	int null;

	raw_open(&s, 65536, 65536);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_EQ(raw_qp_setup(&qp, &s, cases[i].sq, cases[i].cq, cases[i].flags,
				      cases[i].fd), cases[i].err);
	null = CHECK_SYS(open("/dev/null", O_RDWR));
	CHECK_EQ(raw_qp_setup(&qp, &s, 1, 2, MRPC_QP_EVENTFD, null), -EINVAL);
	for (i = 2; i < MRPC_MAX_QPS; i++)
		CHECK_EQ(raw_qp_setup(&qp, &s, 1, 2, 0, 0), 0);
	CHECK_EQ(qp.id, MRPC_MAX_QPS - 1);
	CHECK_EQ(raw_qp_setup(&qp, &s, 1, 2, 0, 0), -EDQUOT);
	raw_close(&s);
}

/* Only a process that may open the device gets in. */
TEST(permissions)
{
	struct stat st;
	pid_t pid;
	int status;

	CHECK_SYS(stat("/dev/mrpc", &st));
	CHECK(S_ISCHR(st.st_mode));
	CHECK_EQ(st.st_mode & 07777, 0660);
	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_SYS(setgroups(0, NULL));
		CHECK_SYS(setgid(65534));
		CHECK_SYS(setuid(65534));
		CHECK_EQ(open("/dev/mrpc", O_RDWR), -1);
		CHECK_EQ(errno, EACCES);
		CHECK_EQ(open("/dev/mrpc", O_RDONLY), -1);
		CHECK_EQ(errno, EACCES);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* A process that is not root, but in the device's group, can do everything. */
TEST(not_root)
{
	pid_t pid;
	int status;

	CHECK_SYS(chmod("/dev/mrpc", 0666));
	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_SYS(setgroups(0, NULL));
		CHECK_SYS(setgid(65534));
		CHECK_SYS(setuid(65534));
		round_trip("tcp4");
		round_trip("loop");
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_SYS(chmod("/dev/mrpc", 0660));
	CHECK_EQ(status, 0);
}

/* Random arguments, without those that would only take long or much memory. */
TEST(garbage)
{
	uint64_t rnd = raw_now() | 1, until = raw_now() + 8 * RAW_S;
	unsigned int cmd, i, n = 0, good = 0;
	union {
		struct mrpc_connect connect;
		struct mrpc_enter enter;
		struct mrpc_call_sync call;
		struct mrpc_close close;
		struct mrpc_region_add region;
		uint8_t bytes[512];
		uint32_t words[128];
	} a;
	struct raw_qp qp;
	struct raw s;

	NOTE("seed %llu", (unsigned long long)rnd);
	raw_open(&s, 65536, 65536);
	raw_qp(&qp, &s, 4, 8, MRPC_QP_SERVE);
	while (raw_now() < until) {
		cmd = rnd_below(&rnd, 12);
		for (i = 0; i < 128; i++)
			a.words[i] = rnd_next(&rnd) & (rnd_below(&rnd, 2) ? 0xff : ~0U) &
				     (rnd_below(&rnd, 3) ? 0 : ~0U);
		i = rnd_below(&rnd, 12);
		a.words[0] = i < ARRAY_SIZE(ioctls) ? ioctls[i].size : rnd_below(&rnd, 512);
		for (i = 0; cmd && i < ARRAY_SIZE(ioctls); i++)
			if (ioctls[i].cmd == _IO(MRPC_IOC_MAGIC, cmd) && rnd_below(&rnd, 8))
				a.words[0] = ioctls[i].size;
		switch (_IO(MRPC_IOC_MAGIC, cmd)) {
		case MRPC_IOC_CONNECT:
		case MRPC_IOC_SERVE:
			raw_addr(&a.connect, rnd_below(&rnd, 2) ? "loop:x" : "tcp:127.0.0.1:9");
			if (rnd_below(&rnd, 4) == 0)
				a.connect.addr[rnd_below(&rnd, MRPC_ADDR_LEN)] ^= 1 + rnd_below(&rnd, 255);
			a.connect.until_ns = raw_until(rnd_below(&rnd, 3 * RAW_MS));
			if (rnd_below(&rnd, 2)) {
				a.connect.flags = a.connect.max_calls = a.connect.explain.resv = 0;
				a.connect.nr_schemas = 1 + rnd_below(&rnd, 2);
				memcpy(a.connect.schemas, s.ids, sizeof(s.ids));
			}
			break;
		case MRPC_IOC_ENTER:
			a.enter.until_ns = raw_now() + a.enter.until_ns % (2 * RAW_MS);
			break;
		case MRPC_IOC_CALL:
			a.call.sqe.timeout_us = 1 + rnd_below(&rnd, 3000);
			break;
		case MRPC_IOC_CLOSE:
			a.close.timeout_us = 1 + rnd_below(&rnd, 3000);
			break;
		}
		good += !raw_ioctl(s.fd, _IO(MRPC_IOC_MAGIC, cmd), &a);
		n++;
	}
	NOTE("%u calls, %u of them succeeded", n, good);
	raw_close(&s);
	CHECK(raw_sessions(0, 10000));
	round_trip("loop");
}
