/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sessions without a library: thin functions over /dev/mrpc. A function that a test may want to
 * see fail returns 0 or a negative errno. Other functions end the program on failure, with a line
 * that says where.
 */
#ifndef RAW_H
#define RAW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/mrpc.h>

#include "test.mrpc.h"
#include "lib/message/message.h"

#define RAW_BLOCKS	1024
/* Addresses reserved for a heap; a 32-bit program has few. */
#define RAW_HEAP_MAX	(sizeof(void *) > 4 ? 2U << 30 : 96U << 20)
#define RAW_HEAP_USUAL	(256U << 20)	/* without another limit */

#define RAW_S		1000000000ULL	/* ns */
#define RAW_MS		1000000ULL
#define RAW_HOUR_US	3600000000ULL	/* a keepalive longer than any test */

/* Services in the order in which all programs here bind and number them. */
enum { RAW_BULK, RAW_TYPES, RAW_SERVICES };

#define RAW_METHOD(service, method)	((service) << 16 | (method))
#define RAW_ACK		RAW_METHOD(RAW_BULK, test_Bulk_METHOD_Ack)
#define RAW_ECHO	RAW_METHOD(RAW_BULK, test_Bulk_METHOD_Echo)
#define RAW_FAIL	RAW_METHOD(RAW_BULK, test_Bulk_METHOD_Fail)
#define RAW_HANG	RAW_METHOD(RAW_BULK, test_Bulk_METHOD_Hang)
#define RAW_MAKE	RAW_METHOD(RAW_BULK, test_Bulk_METHOD_Make)
#define RAW_ECHO_ALL	RAW_METHOD(RAW_TYPES, test_Types_METHOD_Echo)

/* Prints where and why, then exits. */
#define raw_die(...)	raw_die_at(__FILE__, __LINE__, __VA_ARGS__)
__attribute__((__noreturn__, __format__(__printf__, 3, 4)))
void raw_die_at(const char *file, int line, const char *fmt, ...);

/* Factor for waits that are not measurements: greater on a slow kernel. */
unsigned int raw_scale(void);
/* Factor for limits of waits for what a quiet machine does at once: greater on a busy one. */
unsigned int raw_patience(void);
/* Does time count instructions (scripts/vm -i)? Then times do not depend on the host. */
bool raw_counted(void);
uint64_t raw_now(void);
/* The time in @ns from now; ~0: never. */
uint64_t raw_until(uint64_t ns);		/* CLOCK_MONOTONIC, ns */
void raw_sleep(uint64_t ns);

/* -- sessions -------------------------------------------------------------- */

struct raw_block {
	uint32_t off;
	uint32_t len;
};

/**
 * struct raw - a session
 * @fd: the device
 * @setup: result of MRPC_IOC_SETUP
 * @send: the send heap as mapped
 * @recv: the receive heap
 * @ids: schemas, by RAW_BULK and RAW_TYPES
 * @blocks: of the send heap, in order of offset; @lock protects them
 * @qps: mappings of queue pairs, which hold the session as the file does
 * @why: explanation of the last ioctl that failed, or ""
 * @port: of the last raw_serve() on tcp
 */
struct raw {
	int fd;
	struct mrpc_setup setup;
	uint8_t *send;
	uint8_t *recv;
	uint32_t send_len;
	uint32_t recv_len;
	uint32_t ids[RAW_SERVICES];
	pthread_mutex_t lock;
	struct raw_block blocks[RAW_BLOCKS];
	uint32_t nr_blocks;
	struct {
		void *at;
		size_t len;
	} qps[MRPC_MAX_QPS];
	uint32_t nr_qps;
	char why[1024];
	uint16_t port;
};

int raw_ioctl(int fd, unsigned int cmd, void *arg);	/* 0 or -errno */

/* Opens the device only. */
int raw_device(void);

/* Opens a session with one region of each kind (0: without) and both schemas bound. */
void raw_open(struct raw *s, uint32_t send_len, uint32_t recv_len);
void raw_close(struct raw *s);

int raw_setup(struct raw *s, uint64_t send_limit, uint64_t recv_limit);
int raw_region(struct raw *s, uint32_t kind, uint64_t len, uint64_t *base, uint64_t *off);
/* Maps a region behind the earlier ones; raw_grow() adds and maps one. */
void raw_map(struct raw *s, uint32_t kind, uint32_t len, uint64_t base, uint64_t off);
void raw_grow(struct raw *s, uint32_t kind, uint32_t len);
int raw_bind(struct raw *s, const void *schema, uint32_t len, struct mrpc_bind *out);

/*
 * Puts "tcp:1.2.3.4:5", "tcp:[::1]:5" or "loop:name" into an argument's address. "tls-tcp:" and
 * "tls-grpc:" are the transports tcp and grpc over a socket with TLS (raw_tls.h).
 */
void raw_addr(struct mrpc_connect *c, const char *text);

/* Makes an argument for both services. The others use it, changed or not: id or -errno. */
struct mrpc_connect raw_target(struct raw *s, const char *addr);
int raw_connect_to(struct raw *s, struct mrpc_connect *c);
int raw_serve_at(struct raw *s, struct mrpc_connect *c);
int raw_connect(struct raw *s, const char *addr);
/* Connects without keepalive, so that no probe sends or wakes anything. */
int raw_connect_quiet(struct raw *s, const char *addr);
int raw_serve(struct raw *s, const char *addr);
int raw_close_id(struct raw *s, uint32_t id, uint32_t flags, uint64_t timeout_us);

/* -- messages -------------------------------------------------------------- */

/* Allocates a block of the send heap, zeroed, aligned to 64; dies if there is no room. */
uint32_t raw_alloc(struct raw *s, uint32_t len);
bool raw_try_alloc(struct raw *s, uint32_t len, uint32_t *off);
void raw_free(struct raw *s, uint32_t off);

/* Makes a test.Blob with @len bytes of data that depend on @tag. */
bool raw_try_blob(struct raw *s, uint64_t tag, uint32_t len, const char *text, uint32_t *root);
uint32_t raw_blob(struct raw *s, uint64_t tag, uint32_t len, const char *text);
/* Bytes that such a Blob needs, and that its message has. */
uint32_t raw_blob_size(uint32_t len, const char *text);
void raw_fill(uint8_t *p, uint64_t tag, uint32_t len);
bool raw_filled(const uint8_t *p, uint64_t tag, uint32_t len);
/* Does the receive heap contain anything of a Blob with this tag? */
bool raw_visible(const struct raw *s, uint64_t tag);
/* Is a received message a Blob with this tag and length? */
bool raw_is_blob(const void *root, uint32_t msg_len, uint64_t tag, uint32_t len);

/* The plan of a service, compiled natively. */
const struct mrpc_schema_plan *raw_plan(unsigned int service);

/**
 * raw_verify() - may the kernel deliver this message in a receive heap?
 * Return: NULL, or what is wrong with it.
 */
const char *raw_verify(const struct mrpc_schema_plan *plan, uint32_t type, const void *root,
		       uint32_t msg_len);

/* Makes a CALL of @method with the message at @root. */
struct mrpc_sqe raw_sqe(uint32_t conn, uint32_t method, uint32_t root);
/* -EINTR: a handler without SA_RESTART has run, and the call was cancelled. */
int raw_call(struct raw *s, const struct mrpc_sqe *sqe, struct mrpc_cqe *cqe);
int raw_release(struct raw *s, uint32_t block);
/* Releases a completion's block, if it has one. */
void raw_done(struct raw *s, const struct mrpc_cqe *cqe);

/* The parts of a completion's block. */
const void *raw_msg(struct raw *s, const struct mrpc_cqe *cqe);
const void *raw_meta(struct raw *s, const struct mrpc_cqe *cqe);
/* Writes one entry of metadata. Return: its bytes. */
uint32_t raw_put_meta(void *at, const char *key, const void *value, uint16_t len);
const char *raw_detail(struct raw *s, const struct mrpc_cqe *cqe, char *buf, size_t size);
const struct mrpc_times *raw_times(struct raw *s, const struct mrpc_cqe *cqe);

/* -- queue pairs ------------------------------------------------------------ */

struct raw_qp {
	struct raw *s;
	uint32_t id;
	uint32_t sq_entries;
	uint32_t cq_entries;
	struct mrpc_qp_head *head;
	struct mrpc_sqe *sq;
	struct mrpc_cqe *cq;
	size_t len;
	uint32_t pushed;	/* and not yet taken by the kernel */
	uint32_t submitted;	/* by the last raw_enter() */
	uint32_t owed;		/* SENTs still to come for replies that were reaped */
	struct mrpc_cqe *aside;	/* taken off the queue to make room, see raw_set_aside() */
	uint32_t aside_first;
	uint32_t aside_nr;
};

int raw_qp_setup(struct raw_qp *qp, struct raw *s, uint32_t sq, uint32_t cq, uint32_t flags,
		 int eventfd);
void raw_qp(struct raw_qp *qp, struct raw *s, uint32_t sq, uint32_t cq, uint32_t flags);

/* Return: false: the queue is full. */
bool raw_push(struct raw_qp *qp, const struct mrpc_sqe *sqe);
bool raw_reap(struct raw_qp *qp, struct mrpc_cqe *cqe);
/* Takes all completions off the queue, for raw_reap() later: entries can wait for their room. */
void raw_set_aside(struct raw_qp *qp);
uint32_t raw_ready(struct raw_qp *qp);

/* Submits all that was pushed, and waits for @min completions, @ns at most. */
int raw_enter(struct raw_qp *qp, uint32_t min, uint64_t ns);

/* Submits, and waits for the next completion; false: none came. */
bool raw_next(struct raw_qp *qp, struct mrpc_cqe *cqe, uint64_t ns);
/*
 * Gets the next completion, of type @type; dies otherwise. If it expects a REPLY, it skips a SENT
 * that an earlier REPLY owes.
 */
void raw_expect(struct raw_qp *qp, struct mrpc_cqe *cqe, unsigned int type, uint64_t ns);
/* Dies unless the call completes once, its blocks come back, and nothing else comes before. */
void raw_ends(struct raw_qp *qp, uint64_t user_data, uint32_t status, uint64_t ns);

/* -- a server ---------------------------------------------------------------- */

#define RAW_THREADS	8
#define RAW_HUNG	4096

/**
 * struct raw_server - a session that serves both services of test.proto
 * @s: the session
 * @listener: id
 * @stop: set to end the threads
 * @requests: number of requests that came to each thread
 * @bad: number of requests that should not have been delivered
 * @errors: number of MRPC_CQE_ERROR
 * @late: replies that came too late: MRPC_CQE_SENT with MRPC_CANCELLED
 * @hung: requests to Hang without reply; under @lock
 * @busy_us: time that each request takes
 * @keep: do not give request blocks back
 * @copy: reply with MRPC_SQE_COPY
 * @seen: called with each request before it is answered, or NULL
 * @keepalive_us, @max_message: of the listener; set before raw_server_start()
 */
struct raw_server {
	struct raw s;
	int listener;
	bool stop;
	unsigned int nr;
	pthread_t threads[RAW_THREADS];
	struct raw_qp qps[RAW_THREADS];
	uint64_t requests[RAW_THREADS];
	uint64_t bad;
	uint64_t errors;
	uint64_t late;
	pthread_mutex_t lock;
	struct mrpc_cqe hung[RAW_HUNG];
	unsigned int nr_hung;
	unsigned int busy_us;
	bool keep;
	bool copy;
	bool compress;		/* replies, if the client takes that */
	void (*seen)(const struct mrpc_cqe *cqe, const void *msg);
	uint64_t keepalive_us;
	uint32_t max_message;
	uint32_t entries;	/* of each submission queue; 0: enough */
};

/* Starts a server at @addr, with @threads threads, each with a queue pair. */
void raw_server(struct raw_server *srv, const char *addr, unsigned int threads);
void raw_server_open(struct raw_server *srv, uint32_t send_len, uint32_t recv_len);
void raw_server_start(struct raw_server *srv, const char *addr, unsigned int threads);
void raw_server_stop(struct raw_server *srv);
uint64_t raw_server_requests(struct raw_server *srv);
struct mrpc_sqe raw_reply_to(const struct mrpc_cqe *request, uint32_t status);
/* Answers a hanging request with a status, from @qp of the server's session. */
void raw_server_answer(struct raw_qp *qp, const struct mrpc_cqe *request, uint32_t status);
/* Waits until the server has @nr accepted connections; false: more, after @ms. */
bool raw_server_conns(struct raw_server *srv, unsigned int nr, unsigned int ms);
/* Waits until these have at most @nr calls under way; false: more, after @ms. */
bool raw_server_calls(struct raw_server *srv, unsigned int nr, unsigned int ms);
/* Waits until the server's send heap is free again; false: not within @ms. */
bool raw_server_idle(struct raw_server *srv, unsigned int ms);
/* Waits until @nr requests hang; false: they did not come. */
bool raw_server_hangs(struct raw_server *srv, unsigned int nr);

/**
 * struct raw_pair - a server and a client in one process
 */
struct raw_pair {
	struct raw_server srv;
	struct raw c;
	int conn;
	char addr[64];
};

/* @how: "tcp4", "tcp6", "prio", "prio6", "grpc4", "tls-tcp4", "tls-grpc4" or "loop". */
void raw_pair(struct raw_pair *p, const char *how, unsigned int threads);
/* The same with an opened server and client. */
void raw_pair_start(struct raw_pair *p, const char *how, unsigned int threads);
/* Pushes a call over p->conn, of a blob with @tag, which is its user_data, too. */
void raw_push_blob(struct raw_qp *qp, struct raw_pair *p, uint32_t method, uint64_t tag,
		   uint32_t len);
/* Ends a pair. Dies if the server has seen anything wrong. */
void raw_pair_end(struct raw_pair *p);

/* Checks that the pair's connection still works: one call of 3000 bytes, in 10 s. */
void raw_pair_alive(struct raw_pair *p);
/* Ends a pair beside hostile peers: its connection still works, and it is the only one left. */
void raw_pair_end_alone(struct raw_pair *p);

/*
 * Opens sessions that connect and go, with @nr schemas that were never used before.
 * @meanwhile: called a few times while they are connected, or NULL.
 */
void raw_strangers(unsigned int nr, void (*meanwhile)(void));
/* Waits until the kernel has at most @nr schemas; false: more, after @ms. */
bool raw_schemas(long long nr, unsigned int ms);

/* -- surroundings ------------------------------------------------------------- */

/* The number in a file, or -1. */
long long raw_file_number(const char *path);
bool raw_file_write(const char *path, const char *text);
/* KiB, by a name of /proc/meminfo. */
long long raw_meminfo(const char *name);
/* Number of objects in use of a cache of the kernel's slab allocator. */
long long raw_slab_objects(const char *name);
/* A port of 127.0.0.1 without a listener; @type: SOCK_STREAM or SOCK_DGRAM. */
unsigned int raw_closed_port(int type);
/* How busy all processors were since the last call of this function. */
unsigned int raw_busy_percent(void);
/* Waits until /sys/class/misc/mrpc/sessions is @nr; false: not within @ms. */
bool raw_sessions(long long nr, unsigned int ms);

/* Loads a module of ours unless it is there: the transport grpc, which does not come on demand. */
void raw_load(const char *module);
/* Removes a module: 0 or -errno. raw_must_unload() waits until it can be removed. */
int raw_unload(const char *module);
void raw_must_unload(const char *module);

#define RAW_KNOBS	"/sys/module/mrpc/parameters/"

/* The tests TEST_tcp, TEST_loop and TEST_prio: RUN over each transport, with more arguments. */
#define TEST_EACH_TRANSPORT(test, run, ...)						\
	TEST_LIMIT_EACH_TRANSPORT(test, 0, run, ##__VA_ARGS__)
#define TEST_LIMIT_EACH_TRANSPORT(test, seconds, run, ...)				\
	TEST_LIMIT(test##_tcp, seconds) { run("tcp4", ##__VA_ARGS__); }			\
	TEST_LIMIT(test##_loop, seconds) { run("loop", ##__VA_ARGS__); }		\
	TEST_LIMIT(test##_prio, seconds) { run("prio", ##__VA_ARGS__); }

/* The test TEST_grpc, beside the former: for what gRPC's wire carries, too. */
#define TEST_GRPC(test, run, ...)	TEST_LIMIT_GRPC(test, 0, run, ##__VA_ARGS__)
#define TEST_LIMIT_GRPC(test, seconds, run, ...)					\
	TEST_LIMIT(test##_grpc, seconds)						\
	{										\
		raw_load("mrpc_grpc");							\
		run("grpc4", ##__VA_ARGS__);						\
	}

/* The test TEST_tls, beside these: for what goes through a socket in another way with TLS. */
#define TEST_TLS(test, run, ...)							\
	TEST(test##_tls) { run("tls-tcp4", ##__VA_ARGS__); }

#endif /* RAW_H */
