// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/core/heap kmod/core/session kmod/app */
/*
 * Mappings: what may be mapped how, and what becomes of it in other processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "tap.h"
#include "raw.h"

#define RW	(PROT_READ | PROT_WRITE)
#define LEN	131072

static struct raw s;
static uint64_t send_off, recv_off, qp_off;
static uint32_t qp_len;

/* A session with a region of each kind and a queue pair, nothing mapped. */
static void begin(void)
{
	struct mrpc_qp_setup q = { .size = sizeof(q), .sq_entries = 8, .cq_entries = 16 };
	uint64_t base;

	memset(&s, 0, sizeof(s));
	s.fd = raw_device();
	CHECK_EQ(raw_setup(&s, 0, 0), 0);
	CHECK_EQ(raw_region(&s, MRPC_REGION_SEND, LEN, &base, &send_off), 0);
	CHECK_EQ(raw_region(&s, MRPC_REGION_RECV, LEN, &base, &recv_off), 0);
	CHECK_EQ(raw_ioctl(s.fd, MRPC_IOC_QP, &q), 0);
	qp_off = q.mmap_off;
	qp_len = q.mmap_len;
}

static void *map(uint64_t off, size_t len, int prot, int flags)
{
	return mmap(NULL, len, prot, flags, s.fd, off);
}

static void refused(uint64_t off, size_t len, int prot, int flags, int err)
{
	void *at = map(off, len, prot, flags);

	CHECK_MSG(at == MAP_FAILED && errno == err, "offset %#llx, %zu bytes, prot %d: %s",
		  (unsigned long long)off, len, prot, at == MAP_FAILED ? strerror(errno) : "mapped");
}

static void *mapped(uint64_t off, size_t len, int prot)
{
	void *at = map(off, len, prot, MAP_SHARED);

	CHECK_MSG(at != MAP_FAILED, "offset %#llx: %m", (unsigned long long)off);
	return at;
}

TEST(rules)
{
	unsigned int i;

	begin();
	for (i = 0; i < 3; i++) {
		uint64_t off = i == 0 ? send_off : i == 1 ? recv_off : qp_off;

		refused(off, 4096, PROT_READ, MAP_PRIVATE, EINVAL);
		refused(off, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, EINVAL);
		munmap(mapped(off, 4096, PROT_READ), 4096);
		munmap(mapped(off, 4096, PROT_NONE), 4096);
	}
	refused(recv_off, LEN, RW, MAP_SHARED, EACCES);
	refused(recv_off, LEN, PROT_WRITE, MAP_SHARED, EACCES);
	/* All of it and no more. */
	munmap(mapped(send_off, LEN, RW), LEN);
	munmap(mapped(send_off + LEN - 4096, 4096, RW), 4096);
	munmap(mapped(qp_off, qp_len, RW), qp_len);
	refused(send_off, LEN + 4096, RW, MAP_SHARED, EINVAL);
	refused(send_off + 4096, LEN, RW, MAP_SHARED, EINVAL);
	refused(send_off + LEN, 4096, RW, MAP_SHARED, EINVAL);
	refused(recv_off + LEN, 4096, PROT_READ, MAP_SHARED, EINVAL);
	refused(recv_off, LEN + 4096, PROT_READ, MAP_SHARED, EINVAL);
	refused(3ULL << 40, 4096, PROT_READ, MAP_SHARED, EINVAL);
	refused(1ULL << 43, 4096, PROT_READ, MAP_SHARED, EINVAL);
	refused((1ULL << 40) - 4096, 8192, PROT_READ, MAP_SHARED, EINVAL);
	raw_close(&s);
}

TEST(protection)
{
	void *recv, *send, *queue;

	begin();
	recv = mapped(recv_off, LEN, PROT_READ);
	send = mapped(send_off, LEN, RW);
	queue = mapped(qp_off, qp_len, RW);
	CHECK_EQ(mprotect(recv, 4096, RW), -1);
	CHECK_EQ(errno, EACCES);
	CHECK_EQ(mprotect(recv, LEN, PROT_WRITE), -1);
	CHECK_EQ(errno, EACCES);
	CHECK_EQ(mprotect(recv, 4096, PROT_READ | PROT_EXEC), -1);
	CHECK_EQ(errno, EACCES);
	CHECK_EQ(mprotect(send, 4096, PROT_READ | PROT_EXEC), -1);
	CHECK_EQ(errno, EACCES);
	CHECK_EQ(mprotect(queue, 4096, PROT_READ | PROT_EXEC), -1);
	CHECK_EQ(errno, EACCES);
	/* Less, and back, is all right where it was. */
	CHECK_SYS(mprotect(recv, 4096, PROT_NONE));
	CHECK_SYS(mprotect(recv, 4096, PROT_READ));
	CHECK_SYS(mprotect(send, 4096, PROT_READ));
	CHECK_SYS(mprotect(send, 4096, RW));
	raw_close(&s);
}

/* By no way into another's memory, not even root's. */
TEST(proc_mem)
{
	uint8_t *recv, byte = 1;
	struct iovec local = { &byte, 1 }, remote = { NULL, 1 };
	int fd;

	begin();
	recv = mapped(recv_off, LEN, PROT_READ);
	CHECK_EQ(recv[100], 0);
	fd = CHECK_SYS(open("/proc/self/mem", O_RDWR));
	CHECK_EQ(pwrite(fd, &byte, 1, (uintptr_t)recv + 100), -1);
	CHECK_EQ(recv[100], 0);
	remote.iov_base = recv + 100;
	CHECK_EQ(process_vm_writev(getpid(), &local, 1, &remote, 1, 0), -1);
	CHECK_EQ(recv[100], 0);
	/* The kernel does not write there for us, either. */
	CHECK_EQ(read(CHECK_SYS(open("/dev/zero", O_RDONLY)), recv + 100, 1), -1);
	CHECK_EQ(errno, EFAULT);
	close(fd);
	raw_close(&s);
}

TEST(remap)
{
	void *send, *recv, *queue, *moved;

	begin();
	send = mapped(send_off, LEN, RW);
	recv = mapped(recv_off, LEN, PROT_READ);
	queue = mapped(qp_off, qp_len, RW);
	CHECK(mremap(send, LEN, 2 * LEN, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(mremap(recv, LEN, LEN + 4096, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(mremap(queue, qp_len, qp_len + 4096, MREMAP_MAYMOVE) == MAP_FAILED);
	/* A duplicate of it is no more than it. */
	moved = mremap(recv, 0, LEN, MREMAP_MAYMOVE);
	if (moved != MAP_FAILED) {
		CHECK_EQ(mprotect(moved, LEN, RW), -1);
		munmap(moved, LEN);
	}
	moved = mremap(send, LEN, 65536, 0);
	CHECK(moved == send);
	memset(send, 1, 65536);
	raw_close(&s);
}

static sigjmp_buf fault;

static void on_fault(int sig)
{
	siglongjmp(fault, sig);
}

static int touch(volatile uint8_t *at, bool write)
{
	int sig = sigsetjmp(fault, 1);

	if (sig)
		return sig;
	if (write)
		*at = 1;
	else
		(void)*at;
	return 0;
}

/* A queue pair's mapping can be larger than it, or of none: SIGBUS, no more. */
TEST(beyond)
{
	uint8_t *queue, *none, *recv;

	begin();
	signal(SIGBUS, on_fault);
	signal(SIGSEGV, on_fault);
	queue = map(qp_off, qp_len + 8192, RW, MAP_SHARED);
	if (queue != MAP_FAILED) {
		CHECK_EQ(touch(queue, true), 0);
		CHECK_EQ(touch(queue + qp_len - 1, true), 0);
		CHECK_EQ(touch(queue + qp_len, false), SIGBUS);
	}
	none = map(qp_off + (1 << 24), 4096, RW, MAP_SHARED);
	if (none != MAP_FAILED)
		CHECK_EQ(touch(none, false), SIGBUS);
	recv = mapped(recv_off, LEN, PROT_READ);
	CHECK_EQ(touch(recv, false), 0);
	CHECK_EQ(touch(recv, true), SIGSEGV);
	raw_close(&s);
}

/* A forked child has the heaps and the file, not the queue pairs. */
TEST(forked)
{
	volatile uint8_t *send, *recv, *queue;
	int status, to[2];
	char c;
	pid_t pid;

	begin();
	send = mapped(send_off, LEN, RW);
	recv = mapped(recv_off, LEN, PROT_READ);
	queue = mapped(qp_off, qp_len, RW);
	send[0] = 7;
	CHECK_SYS(pipe(to));
	pid = CHECK_SYS(fork());
	if (!pid) {
		signal(SIGSEGV, on_fault);
		CHECK_EQ(send[0], 7);
		send[1] = 8;
		CHECK_EQ(recv[0], 0);
		CHECK_EQ(touch(recv, true), SIGSEGV);
		CHECK_EQ(touch(queue, false), SIGSEGV);
		CHECK_EQ(read(to[0], &c, 1), 1);
		/* The parent's is gone, this one still works. */
		CHECK_EQ(raw_file_number("/sys/class/misc/mrpc/sessions"), 1);
		CHECK_EQ(raw_region(&s, MRPC_REGION_SEND, 65536, &(uint64_t){ 0 },
				    &(uint64_t){ 0 }), 0);
		_exit(0);
	}
	while (send[1] != 8)
		raw_sleep(RAW_MS);
	munmap((void *)send, LEN);
	munmap((void *)recv, LEN);
	munmap((void *)queue, qp_len);
	close(s.fd);
	raw_sleep(100 * RAW_MS);
	CHECK_EQ(write(to[1], "x", 1), 1);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK(raw_sessions(0, 5000));
}

/* Any reference keeps it: a mapping alone, a descriptor on its way. */
TEST(last_reference)
{
	struct msghdr msg = { 0 };
	union {
		struct cmsghdr hdr;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { .hdr = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { "x", 1 };
	int pair[2];
	uint8_t *recv;

	begin();
	recv = mapped(recv_off, LEN, PROT_READ);
	close(s.fd);
	CHECK_EQ(recv[0], 0);
	CHECK_EQ(raw_file_number("/sys/class/misc/mrpc/sessions"), 1);
	munmap(recv, LEN);
	CHECK(raw_sessions(0, 5000));

	begin();
	CHECK_SYS(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	memcpy(CMSG_DATA(&control.hdr), &s.fd, sizeof(int));
	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	msg.msg_control = &control;
	msg.msg_controllen = sizeof(control);
	CHECK_EQ(sendmsg(pair[0], &msg, 0), 1);
	close(s.fd);
	raw_sleep(50 * RAW_MS);
	CHECK_EQ(raw_file_number("/sys/class/misc/mrpc/sessions"), 1);
	close(pair[0]);
	close(pair[1]);
	CHECK(raw_sessions(0, 5000));
}
