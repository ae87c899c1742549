// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Queue pairs: making them, submitting, waiting.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "msg.h"
#include "op.h"
#include "qp.h"

/* Limit of the time that a submission queue may stay full when nothing is in flight. */
#define STUCK_NS	1000000000u

/* Between looks at calls that wait for a connection of their channel. */
#define PARKED_NS	10000000u

/* -- making them ------------------------------------------------------------------ */

static int qp_init(struct mrpc_qp *qp)
{
	struct mrpc_qp_setup arg = {
		.size = sizeof(arg),
		.flags = qp->serve ? MRPC_QP_SERVE : 0,
		.sq_entries = qp->opts.sq_entries,
		.cq_entries = qp->opts.cq_entries,
		.eventfd = -1,
	};
	int err;

	qp->notes = calloc(qp->opts.sq_entries, sizeof(*qp->notes));
	if (!qp->notes)
		return -ENOMEM;
	if (qp->opts.flags & MRPC_QP_OPT_EVENTFD) {
		qp->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (qp->eventfd < 0)
			return -errno;
		arg.eventfd = qp->eventfd;
		arg.flags |= MRPC_QP_EVENTFD;
	}
	err = session_ioctl(qp->session, MRPC_IOC_QP, &arg);
	if (err)
		return err;
	qp->map = mmap(NULL, arg.mmap_len, PROT_READ | PROT_WRITE, MAP_SHARED, qp->session->fd,
		       (off_t)arg.mmap_off);
	if (qp->map == MAP_FAILED) {
		qp->map = NULL;
		return -errno;
	}
	qp->map_len = arg.mmap_len;
	qp->id = arg.qp;
	qp->ring.head = qp->map;
	qp->ring.sqes = (struct mrpc_sqe *)((u8 *)qp->map + arg.sq_off);
	qp->ring.cqes = (const struct mrpc_cqe *)((u8 *)qp->map + arg.cq_off);
	qp->ring.sq_mask = arg.sq_entries - 1;
	qp->ring.cq_mask = arg.cq_entries - 1;
	return 0;
}

void qp_add_stream(struct mrpc_qp *qp, struct op_stream *stream)
{
	stream->next = qp->streams;
	stream->prev = &qp->streams;
	if (stream->next)
		stream->next->prev = &stream->next;
	qp->streams = stream;
}

void qp_del_stream(struct op_stream *stream)
{
	*stream->prev = stream->next;
	if (stream->next)
		stream->next->prev = stream->prev;
}

void qp_add_event(struct op_stream *stream, struct mrpc_qp *qp)
{
	if (stream->has_event)
		return;
	stream->has_event = true;
	stream->next_event = NULL;
	*qp->events.last = stream;
	qp->events.last = &stream->next_event;
}

struct op_stream *qp_take_event(struct mrpc_qp *qp)
{
	struct op_stream *stream = qp->events.first;

	if (!stream)
		return NULL;
	qp->events.first = stream->next_event;
	if (!qp->events.first)
		qp->events.last = &qp->events.first;
	stream->has_event = false;
	return stream;
}

static void qp_destroy(struct mrpc_qp *qp)
{
	struct op_stream *stream;
	u32 i, j;

	for (i = 0; i < qp->nr_chunks; i++)
		for (j = 0; j < OPS_PER_CHUNK; j++)
			if (qp->chunks[i][j].retry)
				qp->chunks[i][j].retry->ops->free(&qp->chunks[i][j]);
	while ((stream = qp->streams)) {
		qp_del_stream(stream);
		stream->ops->free(stream);
	}
	/* A forked child does not have the mapping. */
	if (qp->map && !session_is_foreign(qp->session))
		munmap(qp->map, qp->map_len);
	if (qp->eventfd >= 0)
		close(qp->eventfd);
	for (i = 0; i < qp->nr_chunks; i++)
		free(qp->chunks[i]);
	free(qp->chunks);
	if (qp->serve)
		qp->serve->drop(qp);
	free(qp->notes);
	pthread_mutex_destroy(&qp->lock);
	free(qp);
}

static void qp_end(struct session_end *end)
{
	qp_destroy((struct mrpc_qp *)((u8 *)end - offsetof(struct mrpc_qp, end)));
}

static bool same_opts(const struct mrpc_qp_opts *a, const struct mrpc_qp_opts *b)
{
	return a->sq_entries == b->sq_entries && a->cq_entries == b->cq_entries &&
	       a->flags == b->flags;
}

/* The kernel's queue pairs live as long as the session. So the library reuses them. */
static struct mrpc_qp *idle_take(struct mrpc_session *session, const struct mrpc_qp_opts *opts,
				 const struct qp_serves *serve)
{
	struct mrpc_qp **p, *qp;

	pthread_mutex_lock(&session->lock);
	for (p = &session->idle_qps; (qp = *p); p = &qp->idle_next) {
		if (qp->serve == serve && same_opts(&qp->opts, opts)) {
			*p = qp->idle_next;
			break;
		}
	}
	pthread_mutex_unlock(&session->lock);
	return qp;
}

struct mrpc_qp *qp_create(struct mrpc_session *session, const struct mrpc_qp_opts *opts,
			  const struct qp_serves *serve)
{
	struct mrpc_qp_opts o = { 0 };
	struct mrpc_qp *qp;
	int err;

	if (opts)
		o = *opts;
	if (!o.sq_entries)
		o.sq_entries = QP_SQ_ENTRIES;
	if (!o.cq_entries)
		o.cq_entries = o.sq_entries <= 4096 ? 4 * o.sq_entries : 16384;

	qp = idle_take(session, &o, serve);
	if (qp)
		return qp;
	qp = calloc(1, sizeof(*qp));
	if (!qp) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	qp->session = session;
	qp->opts = o;
	qp->serve = serve;
	qp->eventfd = -1;
	qp->done.last = &qp->done.first;
	qp->events.last = &qp->events.first;
	qp->last_request = &qp->requests;
	pthread_mutex_init(&qp->lock, NULL);
	err = qp_init(qp);
	if (err) {
		qp_destroy(qp);
		fail(-err, "cannot create a queue pair of %u and %u entries: %s", o.sq_entries,
		     o.cq_entries, strerror(-err));
		return NULL;
	}
	session_at_end(session, &qp->end, qp_end);
	return qp;
}

/* Gives the queue pair back. Calls in flight end without a callback. */
void qp_retire(struct mrpc_qp *qp)
{
	struct mrpc_session *session = qp->session;
	struct op_stream *stream;
	struct op *op;
	u32 i, j;

	for (i = 0; i < qp->nr_chunks; i++) {
		for (j = 0; j < OPS_PER_CHUNK; j++) {
			op = &qp->chunks[i][j];
			op->done = NULL;
			if (op->retry)
				op->retry->ops->abandon(qp, op);
		}
	}
	/* From the start each time: others may end meanwhile. */
	stream = qp->streams;
	while (stream) {
		if (stream->abandoned) {
			stream = stream->next;
			continue;
		}
		stream->abandoned = true;
		stream->ops->abandon(stream);
		stream = qp->streams;
	}
	qp->in_flight = 0;
	qp->in_callback = false;	/* the thread may have ended in one */
	/* Submits now, not only when the next owner submits something. */
	qp_flush(qp);
	pthread_mutex_lock(&session->lock);
	qp->idle_next = session->idle_qps;
	session->idle_qps = qp;
	pthread_mutex_unlock(&session->lock);
}

struct mrpc_qp *mrpc_qp_new(struct mrpc_session *session, const struct mrpc_qp_opts *opts)
{
	return session_check(session) ? NULL : qp_create(session, opts, NULL);
}

void mrpc_qp_free(struct mrpc_qp *qp)
{
	struct tctx *t;

	if (!qp || session_is_foreign(qp->session))
		return;
	t = tctx_get(qp->session);
	if (t && t->qp == qp)
		t->qp = NULL;
	qp_retire(qp);
}

struct mrpc_qp *mrpc_qp_self(struct mrpc_session *session)
{
	struct tctx *t;

	if (session_check(session))
		return NULL;
	t = tctx_get(session);
	if (!t) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	if (!t->qp)
		qp_own(t, qp_create(session, NULL, NULL));
	return t->qp;
}

int mrpc_qp_fd(const struct mrpc_qp *qp)
{
	return qp->eventfd >= 0 ? qp->eventfd :
	       fail(ENOENT, "the queue pair was made without MRPC_QP_OPT_EVENTFD");
}

unsigned int mrpc_qp_in_flight(const struct mrpc_qp *qp)
{
	return qp->in_flight;
}

/* -- submitting --------------------------------------------------------------------- */

void qp_hold(struct mrpc_qp *qp)
{
	pthread_mutex_lock(&qp->lock);
	qp->held = true;
}

void qp_let_go(struct mrpc_qp *qp)
{
	qp->held = false;
	pthread_mutex_unlock(&qp->lock);
}

static __attribute__((noinline)) void collect_notes(struct mrpc_qp *qp)
{
	u32 head = ring_sq_head(&qp->ring), i;
	void **note;

	for (i = qp->note_head; i != head; i++) {
		note = &qp->notes[i & qp->ring.sq_mask];
		if (*note) {
			blocks_free(qp->session, *note);
			*note = NULL;
		}
	}
	qp->note_head = head;
}

/* Slots without the note of an entry that the kernel has taken. */
static u32 sq_room(const struct mrpc_qp *qp)
{
	return qp->ring.sq_mask + 1 - (qp->ring.sq_tail - qp->note_head);
}

/* With @serve: only the worker's thread calls it, and holds the lock: see worker_main(). */
static bool try_push(struct mrpc_qp *qp, const struct mrpc_sqe *sqe, void *blocks)
{
	u32 at;

	if (unlikely(!sq_room(qp))) {
		/* qp_enter() callers collect the notes; but the server's stop does not. */
		collect_notes(qp);
		if (!sq_room(qp))
			return false;
	}
	at = qp->ring.sq_tail & qp->ring.sq_mask;
	qp->ring.sqes[at] = *sqe;
	qp->notes[at] = blocks;
	ring_sq_publish(&qp->ring);
	return true;
}

int qp_push(struct mrpc_qp *qp, const struct mrpc_sqe *sqe, void *blocks)
{
	int err;

	while (!try_push(qp, sqe, blocks)) {
		err = qp_flush(qp);
		if (err)
			return err;
	}
	return 0;
}

bool qp_push_now(struct mrpc_qp *qp, const struct mrpc_sqe *sqe)
{
	if (try_push(qp, sqe, NULL))
		return true;
	qp_enter(qp, 0, 0);
	return try_push(qp, sqe, NULL);
}

int qp_make_room(struct mrpc_qp *qp, u32 nr)
{
	if (sq_room(qp) < nr)
		collect_notes(qp);
	return sq_room(qp) < nr ? qp_flush(qp) : 0;
}

bool qp_take_back(struct mrpc_qp *qp, u32 pos)
{
	static const struct mrpc_sqe nop = { .op = MRPC_OP_NOP };

	if ((s32)(ring_sq_head(&qp->ring) - pos) > 0)
		return false;
	qp->ring.sqes[pos & qp->ring.sq_mask] = nop;
	qp->notes[pos & qp->ring.sq_mask] = NULL;
	return true;
}

static bool qp_push_releases(struct mrpc_qp *qp, struct tctx *t)
{
	struct mrpc_sqe sqe;

	if (!qp->serve && !qp->in_flight)
		return false;
	memset(&sqe, 0, sizeof(sqe));
	sqe.op = MRPC_OP_RELEASE;
	sqe.nr = t->nr_release;
	memcpy(sqe.blocks, t->release, t->nr_release * sizeof(sqe.blocks[0]));
	if (!try_push(qp, &sqe, NULL))
		return false;
	t->nr_release = 0;
	t->release_bytes = 0;
	return true;
}

/* A worker's queue pair stays the server's, even if a handler ends the thread. */
static void qp_leave(struct mrpc_qp *qp)
{
	if (!qp->serve)
		qp_retire(qp);
	else if (qp->held)
		qp_let_go(qp);
}

void qp_own(struct tctx *t, struct mrpc_qp *qp)
{
	static const struct thread_qp_ops ops = {
		.leave = qp_leave,
		.harvest = qp_harvest,
		.push_releases = qp_push_releases,
	};

	t->qp = qp;
	t->qp_ops = &ops;
}

/* When a wait ends, so that parked calls can be looked at. */
static RARE u64 next_look(const struct mrpc_qp *qp, u64 until)
{
	u64 look = clock_ns() + PARKED_NS, time = qp->lot_ops->next_time(qp);

	if (time < look)
		look = time;
	return look < until ? look : until;
}

static int enter(struct mrpc_qp *qp, u32 min_complete, u64 until_ns, u32 flags)
{
	struct mrpc_enter arg = { .size = sizeof(arg), .qp = qp->id, .flags = flags };
	int err;

	arg.min_complete = min_complete;
	arg.to_submit = qp_pending(qp);
	if (!arg.to_submit && !min_complete && !ring_kernel_pending(&qp->ring))
		return 0;
	arg.until_ns = min_complete ? until_ns : 0;
	if (unlikely(qp->nr_parked) && min_complete)
		arg.until_ns = next_look(qp, until_ns);
	err = session_ioctl(qp->session, MRPC_IOC_ENTER, &arg);
	collect_notes(qp);
	return err;
}

int qp_enter(struct mrpc_qp *qp, u32 min_complete, u64 until_ns)
{
	return enter(qp, min_complete, until_ns, 0);
}

int qp_wait_message(struct mrpc_qp *qp)
{
	return enter(qp, 1, FOR_EVER, MRPC_ENTER_NOT_SENT);
}

bool is_temporary(int err)
{
	return err == -EINTR || err == -EBUSY || err == -EAGAIN || err == -ETIME;
}

/*
 * The kernel takes an entry only if its completion has room. So harvesting may be enough.
 * Otherwise something in flight must end first.
 */
int qp_flush(struct mrpc_qp *qp)
{
	u64 start = 0;
	u32 before;
	int err;

	for (;;) {
		before = qp_pending(qp);
		if (!before)
			return 0;
		err = qp_enter(qp, 0, 0);
		if (err && !is_temporary(err))
			return fail(-err, "cannot submit: %s", strerror(-err));
		qp_harvest(qp);
		if (qp_pending(qp) < before) {
			start = 0;
			continue;
		}
		if (!start)
			start = clock_ns();
		else if (!qp->in_flight && !qp->streams && clock_ns() - start > STUCK_NS)
			return fail(EBUSY, "the kernel does not take submissions");
		err = qp_enter(qp, 1, clock_ns() + STUCK_NS / 10);
		if (err && !is_temporary(err))
			return fail(-err, "cannot submit: %s", strerror(-err));
		qp_harvest(qp);
	}
}

int mrpc_submit(struct mrpc_qp *qp)
{
	int err = session_check(qp->session);

	return err ? err : qp_flush(qp);
}

/* -- waiting -------------------------------------------------------------------------- */

static int check_run(struct mrpc_qp *qp)
{
	int err = session_check(qp->session);

	if (err)
		return err;
	if (qp->in_callback)
		return fail(EDEADLK, "a callback cannot wait on its own queue pair");
	return 0;
}

int mrpc_poll(struct mrpc_qp *qp)
{
	int err = check_run(qp), nr = 0;
	u64 count;

	if (err)
		return err;
	if (qp->eventfd >= 0 && read(qp->eventfd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return fail(errno, "cannot read the eventfd: %s", strerror(errno));
	err = qp_enter(qp, 0, 0);
	if (err && !is_temporary(err))
		return fail(-err, "cannot submit: %s", strerror(-err));
	do {
		qp_harvest(qp);
		nr += qp_run_done(qp);
	} while (qp->eventfd >= 0 && !ring_cq_empty_for_sleep(&qp->ring));
	/* Submits what callbacks have started, for applications that sleep on the eventfd. */
	if (qp->eventfd >= 0) {
		err = qp_flush(qp);
		if (err)
			return err;
	}
	return nr;
}

int mrpc_run(struct mrpc_qp *qp, __s64 timeout_us)
{
	int err = check_run(qp), nr;
	u64 until = FOR_EVER;
	bool looks;
	u32 wait;

	if (err)
		return err;
	if (!timeout_us)
		return mrpc_poll(qp);
	for (;;) {
		wait = !qp->done.first && qp->in_flight;
		if (wait && timeout_us > 0) {
			if (until == FOR_EVER)
				until = until_us((u64)timeout_us);
			else if (clock_ns() >= until)
				return -ETIME;
		}
		err = 0;
		looks = qp->nr_parked;
		if (qp_pending(qp) || (wait && ring_cq_empty(&qp->ring)))
			err = qp_enter(qp, wait, until);
		qp_harvest(qp);
		nr = qp_run_done(qp);
		if (nr || !qp->in_flight)
			return nr;
		if (err == -ETIME && looks)
			continue;	/* that was not the caller's time limit */
		if (err && err != -EBUSY && err != -EAGAIN)
			return err == -EINTR || err == -ETIME ? err :
			       fail(-err, "cannot wait: %s", strerror(-err));
	}
}

int mrpc_run_all(struct mrpc_qp *qp, __s64 timeout_us)
{
	u64 start = timeout_us > 0 ? clock_ns() / 1000 : 0;
	s64 left = timeout_us;
	int nr;

	while (qp->in_flight) {
		nr = mrpc_run(qp, left);
		if (nr < 0)
			return nr;
		if (timeout_us < 0)
			continue;
		if (timeout_us > 0)
			left = timeout_us - (s64)(clock_ns() / 1000 - start);
		if (left <= 0 && qp->in_flight)
			return -ETIME;
	}
	return mrpc_submit(qp);
}

int mrpc_cancel(struct mrpc_qp *qp, mrpc_call_id id)
{
	struct mrpc_sqe sqe;
	struct op *op;
	int err = session_check(qp->session);

	if (err)
		return err;
	qp_harvest(qp);
	op = op_find(qp, id);
	if (!op || !(op->wait & OP_WAIT_END))
		return fail(ENOENT, "the call has ended");
	if (op->retry && op->retry->ops->cancel(qp, op))
		return qp_flush(qp);
	memset(&sqe, 0, sizeof(sqe));
	sqe.op = MRPC_OP_CANCEL;
	sqe.conn = op->conn;
	sqe.call = id;
	err = qp_push(qp, &sqe, NULL);
	return err ? err : qp_flush(qp);
}
