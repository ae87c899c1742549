// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The service grpc.health.v1.Health.
 *
 * A call of Watch is deferred: it has no worker. The thread that changes a status sends it to each
 * call that watches. The lock orders these messages, and keeps the list.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* First: what <mrpc.h> declares is visible outside the library. */
#include "request.h"

#include "grpc/health/v1/health.mrpc.h"

/* Bytes of a service's name that Watch and the application give */
#define HEALTH_NAME_MAX		MRPC_NAME_LEN
#define HEALTH_SHOWN_NAME	255	/* bytes of one that a sentence shows */
#define HEALTH_WATCHES_MAX	1024	/* calls of Watch */

#define SERVICE_UNKNOWN		grpc_health_v1_HealthCheckResponse_SERVICE_UNKNOWN

/**
 * struct given - what the application has said of a service
 * @next: in health.given
 * @status: enum mrpc_health
 * @name: of the service
 */
struct given {
	struct given *next;
	int status;
	char name[];
};

/**
 * struct watch - a call of Watch
 * @next: in health.watches
 * @prev: what points to it there
 * @call: the call
 * @told: the status that was sent last
 * @name: of the service
 */
struct watch {
	struct watch *next;
	struct watch **prev;
	struct mrpc_call *call;
	int told;
	char name[];
};

/**
 * struct health - the service of a server
 * @part: of the server
 * @server: the server
 * @lock: for all that follows
 * @running: the server runs, and is not about to stop
 * @given: statuses of the application
 * @watches: calls
 * @nr_watches: how many
 */
struct health {
	struct server_part part;
	struct mrpc_server *server;
	pthread_mutex_t lock;
	bool running;
	struct given *given;
	struct watch *watches;
	u32 nr_watches;
};

/* -- statuses ------------------------------------------------------------------------------ */

static struct given *find_given(const struct health *h, const char *name)
{
	struct given *given = h->given;

	while (given && strcmp(given->name, name))
		given = given->next;
	return given;
}

static bool is_served(const struct mrpc_server *server, const char *name)
{
	u32 i;

	if (!*name)
		return true;
	for (i = 0; i < server->nr_services; i++)
		if (!strcmp(server->services[i].desc->name, name))
			return true;
	return false;
}

static int status_of(const struct health *h, const char *name)
{
	const struct given *given = find_given(h, name);

	if (!given && !is_served(h->server, name))
		return SERVICE_UNKNOWN;
	if (!h->running)
		return MRPC_HEALTH_NOT_SERVING;
	return given ? given->status : MRPC_HEALTH_SERVING;
}

/* -- calls that watch ------------------------------------------------------------------------ */

static struct watch *watch_new(struct health *h, struct mrpc_call *call, const char *name)
{
	struct watch *w = malloc(sizeof(*w) + strlen(name) + 1);

	if (!w)
		return NULL;
	w->call = call;
	w->told = -1;
	strcpy(w->name, name);
	w->next = h->watches;
	w->prev = &h->watches;
	if (w->next)
		w->next->prev = &w->next;
	h->watches = w;
	h->nr_watches++;
	return w;
}

static void watch_free(struct health *h, struct watch *w)
{
	*w->prev = w->next;
	if (w->next)
		w->next->prev = w->prev;
	h->nr_watches--;
	free(w);
}

/* Ends a call. If that fails, it stays until its caller goes. */
static void watch_end(struct health *h, struct watch *w, int status, const char *why)
{
	mrpc_call_set_detail(w->call, "%s", why);
	if (!mrpc_call_reply(w->call, status))
		watch_free(h, w);
}

/* Sends the present status, unless that was sent. Return: 0 or -errno. */
static int watch_tell(struct health *h, struct watch *w)
{
	struct grpc_health_v1_HealthCheckResponse *reply;
	int status = status_of(h, w->name), err;
	struct mrpc_msg msg;

	if (status == w->told)
		return 0;
	reply = grpc_health_v1_HealthCheckResponse_new(&msg, h->server->session);
	if (!reply)
		return -ENOMEM;
	reply->status = status;
	err = grpc_health_v1_Health_Watch_put(w->call, &msg, MRPC_STREAM_NOWAIT);
	mrpc_msg_free(&msg);
	if (!err)
		w->told = status;
	return err;
}

/* A status may have changed. @name: of this service; NULL: of all. */
static void tell_all(struct health *h, const char *name)
{
	struct watch *w, *next;

	for (w = h->watches; w; w = next) {
		next = w->next;
		if ((!name || !strcmp(w->name, name)) && watch_tell(h, w))
			watch_end(h, w, MRPC_RESOURCE_EXHAUSTED, "the client does not read");
	}
}

/* The call has ended, perhaps. Another thread may have ended it first, and then it is in no list. */
static void watch_event(struct mrpc_call *call)
{
	struct health *h = mrpc_call_ctx(call);
	struct watch *w;

	pthread_mutex_lock(&h->lock);
	for (w = h->watches; w && w->call != call; w = w->next)
		;
	if (w && mrpc_stream_status(mrpc_call_stream(call)))
		watch_end(h, w, MRPC_CANCELLED, "the call has ended");
	pthread_mutex_unlock(&h->lock);
}

/* -- the methods ------------------------------------------------------------------------------ */

static int check(struct mrpc_call *call, const struct grpc_health_v1_HealthCheckRequest *req,
		 struct grpc_health_v1_HealthCheckResponse *reply)
{
	const char *name = grpc_health_v1_HealthCheckRequest_service(req, req);
	struct health *h = mrpc_call_ctx(call);

	pthread_mutex_lock(&h->lock);
	reply->status = status_of(h, name);
	pthread_mutex_unlock(&h->lock);
	if (reply->status != SERVICE_UNKNOWN)
		return MRPC_OK;
	mrpc_call_set_detail(call, "the server has no service '%.*s'", HEALTH_SHOWN_NAME, name);
	return MRPC_NOT_FOUND;
}

/* Return: as of a handler. */
static int begin_watch(struct health *h, struct mrpc_call *call, const char *name)
{
	struct watch *w;

	if (h->nr_watches == HEALTH_WATCHES_MAX) {
		mrpc_call_set_detail(call, "%u calls of Watch are open, the most there may be",
				     HEALTH_WATCHES_MAX);
		return MRPC_RESOURCE_EXHAUSTED;
	}
	w = watch_new(h, call, name);
	if (w && !watch_tell(h, w) && h->running) {
		request_release(call);
		mrpc_call_on_event(call, watch_event);
		return MRPC_DEFER;
	}
	if (w)
		watch_free(h, w);
	if (h->running)
		return MRPC_RESOURCE_EXHAUSTED;
	mrpc_call_set_detail(call, "the server stops");
	return MRPC_UNAVAILABLE;
}

static int watch(struct mrpc_call *call, const struct grpc_health_v1_HealthCheckRequest *req)
{
	const char *name = grpc_health_v1_HealthCheckRequest_service(req, req);
	struct health *h = mrpc_call_ctx(call);
	int status;

	if (strlen(name) > HEALTH_NAME_MAX) {
		mrpc_call_set_detail(call, "the name has more than %u bytes", HEALTH_NAME_MAX);
		return MRPC_INVALID_ARGUMENT;
	}
	pthread_mutex_lock(&h->lock);
	status = begin_watch(h, call, name);
	pthread_mutex_unlock(&h->lock);
	return status;
}

/* -- the server ------------------------------------------------------------------------------ */

/* Calls that watch would keep the server from its end. */
static void health_run(struct server_part *part, bool begins)
{
	struct health *h = (struct health *)part;
	struct watch *w, *next;

	pthread_mutex_lock(&h->lock);
	h->running = begins;
	tell_all(h, NULL);
	for (w = h->watches; w && !begins; w = next) {
		next = w->next;
		watch_end(h, w, MRPC_UNAVAILABLE, "the server stops");
	}
	pthread_mutex_unlock(&h->lock);
}

static void health_free(struct server_part *part)
{
	struct health *h = (struct health *)part;
	struct given *given;

	while (h->watches)
		watch_free(h, h->watches);
	while ((given = h->given)) {
		h->given = given->next;
		free(given);
	}
	pthread_mutex_destroy(&h->lock);
	free(h);
}

int mrpc_server_add_health(struct mrpc_server *server)
{
	static const struct grpc_health_v1_Health_ops ops = { .Check = check, .Watch = watch };
	struct health *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return fail(ENOMEM, "out of memory");
	err = grpc_health_v1_Health_add(server, &ops, h);
	if (err) {
		free(h);
		return err;
	}
	pthread_mutex_init(&h->lock, NULL);
	h->server = server;
	h->part.run = health_run;
	h->part.free = health_free;
	server_add_part(server, &h->part);
	server->health = h;
	return 0;
}

static int set_given(struct health *h, const char *name, int status)
{
	struct given *given = find_given(h, name);

	if (!given) {
		given = malloc(sizeof(*given) + strlen(name) + 1);
		if (!given)
			return fail(ENOMEM, "out of memory");
		strcpy(given->name, name);
		given->next = h->given;
		h->given = given;
	}
	given->status = status;
	return 0;
}

int mrpc_health_set(struct mrpc_server *server, const char *service, enum mrpc_health status)
{
	struct health *h = server->health;
	int err;

	if (!h)
		return fail(EINVAL, "the server has no service grpc.health.v1.Health");
	if ((u32)status > MRPC_HEALTH_NOT_SERVING)
		return fail(EINVAL, "%d is no status of a service", (int)status);
	if (strlen(service) > HEALTH_NAME_MAX)
		return fail(EINVAL, "the name of a service has at most %u bytes", HEALTH_NAME_MAX);
	pthread_mutex_lock(&h->lock);
	err = set_given(h, service, (int)status);
	if (!err)
		tell_all(h, service);
	pthread_mutex_unlock(&h->lock);
	return err;
}
