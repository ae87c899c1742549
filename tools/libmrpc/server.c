// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Servers: listeners and worker threads.
 *
 * Each worker has a queue pair that takes requests. It waits in the ioctl that also submits its
 * replies. The thread that calls mrpc_server_run() serves no requests: it waits for the stop, so
 * that a signal handler can stop the server.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "acceptor.h"
#include "attempt.h"
#include "clock.h"
#include "conn.h"
#include "defer.h"
#include "first_byte.h"
#include "request.h"

#define WORKERS_MAX	60	/* queue pairs of a session, less some for other threads */
#define DRAIN_US	5000000

/* A worker collects at most so many replies, for at most so many ns, before it submits them. */
#define BATCH_MAX	16
#define BATCH_NS	50000

struct worker {
	struct mrpc_server *server;
	struct mrpc_qp *qp;
	pthread_t thread;
	int err;
};

/* Connections that have no end of their handshake are closed. */
static void stop_acceptors(struct mrpc_server *server)
{
	u32 i;

	for (i = 0; i < server->nr_listeners; i++) {
		acceptor_free(server->acceptors[i]);
		server->acceptors[i] = NULL;
	}
}

static void server_end(struct session_end *end)
{
	struct mrpc_server *server =
		(struct mrpc_server *)((u8 *)end - offsetof(struct mrpc_server, end));
	struct server_part *part;

	stop_acceptors(server);
	while ((part = server->parts)) {
		server->parts = part->next;
		part->free(part);
	}
	close(server->stop_fd);
	free(server);
}

struct mrpc_server *mrpc_server_new(struct mrpc_session *session)
{
	struct mrpc_server *server;

	if (session_check(session))
		return NULL;
	server = calloc(1, sizeof(*server));
	if (!server) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	server->session = session;
	server->drain_us = DRAIN_US;
	server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->stop_fd < 0) {
		fail(errno, "cannot create an eventfd: %s", strerror(errno));
		free(server);
		return NULL;
	}
	pthread_mutex_lock(&session->lock);
	if (session->server) {
		pthread_mutex_unlock(&session->lock);
		close(server->stop_fd);
		free(server);
		fail(EBUSY, "the session has a server already");
		return NULL;
	}
	session->server = server;
	pthread_mutex_unlock(&session->lock);
	session_at_end(session, &server->end, server_end);
	return server;
}

int mrpc_server_add(struct mrpc_server *server, const struct mrpc_service_desc *service,
		    const void *ops, void *ctx)
{
	u32 i, nr = server->nr_services;

	if (server->nr_listeners)
		return fail(EBUSY, "%s must be added before the server listens", service->name);
	if (nr == MRPC_MAX_SERVICES)
		return fail(E2BIG, "a server has at most %u services", MRPC_MAX_SERVICES);
	for (i = 0; i < nr; i++)
		if (!strcmp(server->services[i].desc->name, service->name))
			return fail(EEXIST, "the server has %s already", service->name);
	server->services[nr].desc = service;
	server->services[nr].ops = ops;
	server->services[nr].ctx = ctx;
	server->nr_services = nr + 1;
	return 0;
}

/* This process listens, makes the handshakes, and finds out which transport each client speaks. */
static int accept_here(struct mrpc_server *server, const char *address, struct mrpc_tls *tls,
		       struct mrpc_connect *arg, u32 *grpc)
{
	struct acceptor **acceptor = &server->acceptors[server->nr_listeners];
	int err, fd;

	err = secure_check(tls, true);
	if (!err)
		err = addr_check_secure(address);
	if (!err)
		err = attempt_serve(server->session, address, arg, &fd, grpc);
	if (err)
		return err;
	*acceptor = acceptor_new(server->session, tls, arg, *grpc ? *grpc : arg->id, fd);
	if (*acceptor)
		return 0;
	err = -errno;
	close(fd);
	session_close_id(server->session, arg->id, 0);
	if (*grpc)
		session_close_id(server->session, *grpc, 0);
	return err;
}

/* An address of both transports needs two of the kernel's listeners. */
static int check_listeners(const struct mrpc_server *server, bool both)
{
	if (server->nr_listeners + both >= SERVER_LISTENERS_MAX)
		return fail(E2BIG, "a server has at most %u listeners, and %s", SERVER_LISTENERS_MAX,
			    both ? "an address of " ADDR_BOTH " needs 2" : "has them");
	return 0;
}

int mrpc_server_listen(struct mrpc_server *server, const char *address,
		       const struct mrpc_conn_opts *opts)
{
	const struct mrpc_service_desc *services[MRPC_MAX_SERVICES];
	struct mrpc_tls *tls = opts ? opts->tls : NULL;
	bool both = addr_is_both(address);
	struct mrpc_connect arg = { 0 };
	u32 i, grpc = 0;
	int err;

	err = session_check(server->session);
	if (!err)
		err = check_listeners(server, both);
	if (err)
		return err;
	if (!server->nr_services)
		return fail(EINVAL, "the server has no services");
	for (i = 0; i < server->nr_services; i++)
		services[i] = server->services[i].desc;
	err = bind_services(server->session, services, server->nr_services, &arg);
	if (err)
		return err;
	if (opts) {
		arg.backlog = opts->backlog;
		arg.keepalive_us = opts->keepalive_us;
		arg.max_message = opts->max_message;
	}
	if (tls || both)
		err = accept_here(server, address, tls ? tls : &first_byte, &arg, &grpc);
	else
		err = attempt_serve(server->session, address, &arg, NULL, NULL);
	if (err)
		return err;
	server->listeners[server->nr_listeners++] = arg.id;
	if (grpc)
		server->listeners[server->nr_listeners++] = grpc;
	memcpy(server->transport, arg.transport, sizeof(server->transport));
	memcpy(server->address, arg.addr, sizeof(server->address));
	return 0;
}

const char *mrpc_server_address(const struct mrpc_server *server, char *buf, size_t size)
{
	return mrpc_addr_format(server->transport, server->address, buf, size);
}

__u64 mrpc_server_expired(const struct mrpc_server *server)
{
	return __atomic_load_n(&server->expired, __ATOMIC_RELAXED);
}

void mrpc_server_stop(struct mrpc_server *server)
{
	u64 one = 1;
	int saved = errno;

	/* Fails only if the server was already stopped very often. */
	if (write(server->stop_fd, &one, sizeof(one)) < 0)
		errno = saved;
}

/* -- workers ------------------------------------------------------------------------ */

static bool is_stopping(const struct mrpc_server *server)
{
	return __atomic_load_n(&server->stopping, __ATOMIC_ACQUIRE);
}

/* Serves one request, one event or one completion. False if there is none. */
static bool serve_next(struct mrpc_server *server, struct mrpc_qp *qp)
{
	struct mrpc_cqe cqe;

	if (defer_serve(qp) || request_serve_queued(server, qp))
		return true;
	if (!ring_cq_pop(&qp->ring, &cqe))
		return false;
	if (cqe.type == MRPC_CQE_REQUEST)
		request_serve(server, qp, &cqe);
	else
		qp_complete(qp, &cqe);
	return true;
}

/*
 * Serves all requests, and submits replies that have waited long enough. A handler or a callback
 * that submits also harvests the completion queue. So after each of them there can be more
 * queued requests and ended calls. None of either is left when the worker goes to sleep.
 */
static void serve_batch(struct worker *w)
{
	struct mrpc_server *server = w->server;
	struct mrpc_qp *qp = w->qp;
	u64 since = 0, now;
	u32 pending;

	if (unlikely(qp->nr_parked))
		qp_run_done(qp);
	while (serve_next(server, qp)) {
		qp_run_done(qp);

		/* The last reply is submitted with the wait, so the time is not needed. */
		if (!qp->requests && ring_cq_empty(&qp->ring))
			continue;
		pending = qp_pending(qp);
		if (!pending) {
			since = 0;
			continue;
		}
		now = clock_ns();
		if (!since)
			since = now;
		if (pending >= BATCH_MAX || now - since >= BATCH_NS) {
			qp_enter(qp, 0, 0);
			since = 0;
		}
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct mrpc_session *session = w->server->session;
	struct tctx *t = tctx_get(session);
	int err = 0;

	if (!t) {
		w->err = -ENOMEM;
		mrpc_server_stop(w->server);
		return NULL;
	}
	qp_own(t, w->qp);
	/* The stopping thread submits only during a wait. Else the worker sees @stopping. */
	qp_hold(w->qp);
	while (!is_stopping(w->server)) {
		qp_let_go(w->qp);
		err = qp_enter(w->qp, 1, FOR_EVER);
		qp_hold(w->qp);
		if (err && err != -EINTR && err != -EBUSY && err != -EAGAIN && err != -ETIME) {
			w->err = err;
			mrpc_server_stop(w->server);
			break;
		}
		serve_batch(w);
	}
	serve_batch(w);
	qp_flush(w->qp);
	qp_let_go(w->qp);
	t->qp = NULL;
	return NULL;
}

static void worker_wake(struct worker *w)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_NOP };
	struct mrpc_enter arg = { .size = sizeof(arg), .qp = w->qp->id };
	struct ring *ring = &w->qp->ring;
	struct mrpc_sqe *slot;

	/* If its submission queue is full, the worker does not sleep. */
	pthread_mutex_lock(&w->qp->lock);
	slot = ring_sq_slot(ring);
	if (slot) {	/* the note in this slot is still to be collected */
		*slot = sqe;
		ring_sq_publish(ring);
	}
	arg.to_submit = ring_sq_pending(ring);
	pthread_mutex_unlock(&w->qp->lock);
	/* A signal can interrupt it before the kernel has taken the entry. */
	while (session_ioctl(w->server->session, MRPC_IOC_ENTER, &arg) == -EINTR)
		;
}

static int start_workers(struct mrpc_server *server, struct worker *workers, u32 nr, u32 *started)
{
	u32 i;
	int err = 0;

	for (i = 0; i < nr; i++) {
		workers[i].server = server;
		workers[i].qp = qp_create(server->session, NULL, &request_serves);
		if (!workers[i].qp)
			return -errno;
	}
	for (i = 0; i < nr && !err; i++) {
		err = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
		if (!err)
			*started = i + 1;
	}
	return err ? fail(err, "cannot start %u worker threads: %s", nr, strerror(err)) : 0;
}

/* Accepts connections while all workers are inside handlers, with the queue pair of a worker. */
static void wait_for_stop(struct mrpc_server *server, struct mrpc_qp *qp)
{
	struct mrpc_enter accept = { .size = sizeof(accept), .qp = qp->id };
	struct pollfd fds[2] = {
		{ .fd = server->stop_fd, .events = POLLIN },
		{ .fd = server->session->fd, .events = POLLPRI },
	};
	u64 count;

	while (read(server->stop_fd, &count, sizeof(count)) < 0 && errno == EAGAIN) {
		if (poll(fds, 2, -1) > 0 && fds[1].revents & POLLPRI)
			session_ioctl(server->session, MRPC_IOC_ENTER, &accept);
	}
}

/* Refuses new calls from now on. Calls that have arrived are answered. */
static void close_listeners(struct mrpc_server *server)
{
	stop_acceptors(server);
	while (server->nr_listeners)
		session_close_id(server->session, server->listeners[--server->nr_listeners],
				 server->drain_us);
}

/* One worker for each processor, up to the limit of queue pairs. */
static u32 default_workers(void)
{
	cpu_set_t set;
	u32 nr;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	nr = (u32)CPU_COUNT(&set);
	return nr < WORKERS_MAX ? nr : WORKERS_MAX;
}

static void run_parts(struct mrpc_server *server, bool begins)
{
	struct server_part *part;

	for (part = server->parts; part; part = part->next)
		if (part->run)
			part->run(part, begins);
}

int mrpc_server_run(struct mrpc_server *server, unsigned int nr_threads)
{
	struct worker *workers;
	u32 started = 0, i;
	int err;

	err = session_check(server->session);
	if (err)
		return err;
	if (!server->nr_listeners)
		return fail(EINVAL, "the server does not listen anywhere");
	if (!nr_threads)
		nr_threads = default_workers();
	if (nr_threads > WORKERS_MAX)
		return fail(EINVAL, "a server has at most %u threads", WORKERS_MAX);
	workers = calloc(nr_threads, sizeof(*workers));
	if (!workers)
		return fail(ENOMEM, "out of memory");

	server->stopping = false;
	run_parts(server, true);
	err = start_workers(server, workers, nr_threads, &started);
	if (!err)
		wait_for_stop(server, workers[0].qp);
	run_parts(server, false);
	close_listeners(server);
	__atomic_store_n(&server->stopping, true, __ATOMIC_RELEASE);
	for (i = 0; i < started; i++)
		worker_wake(&workers[i]);
	for (i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < nr_threads; i++) {
		if (!workers[i].qp)
			continue;
		if (workers[i].err && !err)
			err = fail(-workers[i].err, "a worker thread failed: %s",
				   strerror(-workers[i].err));
		qp_retire(workers[i].qp);
	}
	free(workers);
	return err;
}

void mrpc_server_free(struct mrpc_server *server)
{
	struct mrpc_session *session;

	if (!server)
		return;
	session = server->session;
	if (!session_check(session)) {
		close_listeners(server);
		pthread_mutex_lock(&session->lock);
		session->server = NULL;
		pthread_mutex_unlock(&session->lock);
	} else {
		session->server = NULL;
	}
	session_forget_end(session, &server->end);
	server_end(&server->end);
}
