// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls of operations, and groups of calls; see group_calls.h.
 *
 * Calls that are done together begin in rounds. In a round as many begin as the kernel takes, and
 * as there is memory for copies of their buffers. Then the calling thread waits for all of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "group_calls.h"
#include "types.h"

/**
 * struct batch - calls that are done together
 * @first: list of them
 * @last: where the next one goes; NULL: @first is the place
 * @result: the error of the first call that failed, or ncclSuccess
 * @why: the sentence for it
 */
struct batch {
	struct call *first;
	struct call **last;
	ncclResult_t result;
	char why[ERROR_TEXT];
};

/* The group of calls of this thread. */
static __thread unsigned int depth;
static __thread struct batch group;

static ncclResult_t batch_add(struct batch *batch, const struct call *call)
{
	struct call *c = malloc(sizeof(*c));

	if (!c)
		return fail(ncclSystemError, "%s: out of memory", call->what);
	*c = *call;
	c->batch = batch;
	c->next = NULL;
	if (!batch->first)
		batch->last = &batch->first;
	*batch->last = c;
	batch->last = &c->next;
	return ncclSuccess;
}

/* The first failure counts. */
static void batch_fail(struct batch *batch, ncclResult_t result, const char *why)
{
	if (batch->result != ncclSuccess)
		return;
	batch->result = result;
	snprintf(batch->why, sizeof(batch->why), "%s", why);
}

static void call_fail(const struct call *c, ncclResult_t result, const char *why)
{
	fail(result, "%s: %s", c->what, why);
	batch_fail(c->batch, result, ncclGetLastError(NULL));
}

/* -- one call --------------------------------------------------------------------------------- */

static void end(struct call *c, int status, const char *why)
{
	struct buffers *b = &c->buffers;
	ncclResult_t result;

	if (status == MRPC_NOT_FOUND) {	/* an abort came before the kernel took it */
		status = MRPC_CANCELLED;
		why = "the communicator was aborted";
	}
	result = result_of_status(status);
	if (status == MRPC_OK && c->average && b->output_size)
		divide(c->type, b->kernel_output, b->output_size / type_size(c->type),
		       c->comm->ranks);
	buffers_close(c->comm->session, b, status == MRPC_OK);
	c->state = CALL_OVER;
	if (status == MRPC_OK)
		return;
	/* The group of mrpc is as it was after an operation that the kernel calls malformed. */
	if (status != MRPC_INVALID_ARGUMENT)
		comm_failed(c->comm, result);
	call_fail(c, result, why);
}

static void on_done(void *user, struct mrpc_result *res)
{
	struct call *c = user;

	if (c->state == CALL_BEGUN)
		end(c, res->status, res->detail[0] ? res->detail : mrpc_status_name(res->status));
}

/* Return: false: there is no memory for copies of its buffers. */
static bool begin(struct call *c)
{
	struct buffers *b = &c->buffers;
	const char *why;
	int status;

	if (!buffers_open(c->comm->session, b))
		return false;
	c->op.input = b->kernel_input;
	c->op.output = b->kernel_output;
	c->state = CALL_BEGUN;
	c->comm->begun++;
	status = comm_start(c->comm, &c->op, on_done, c, &why);
	if (status != MRPC_OK)
		end(c, status, why);
	return true;
}

static void wait_for(struct call *c)
{
	int err = 1;

	while (c->state == CALL_BEGUN && (err > 0 || err == -EINTR))
		err = mrpc_run(mrpc_qp_self(c->comm->session), -1);
	if (c->state != CALL_BEGUN)
		return;
	c->state = CALL_LOST;
	comm_failed(c->comm, ncclSystemError);
	call_fail(c, ncclSystemError, "its end cannot be waited for");
}

/* -- calls together --------------------------------------------------------------------------- */

/* Begins calls, in their order for each communicator. Return: how many. */
static unsigned int begin_round(struct batch *batch)
{
	unsigned int begun = 0;
	struct call *c;

	for (c = batch->first; c; c = c->next)
		c->comm->begun = 0;
	for (c = batch->first; c && batch->result == ncclSuccess; c = c->next) {
		if (c->state != CALL_WAITS || c->comm->begun == MRPC_GROUP_PENDING)
			continue;
		if (begin(c)) {
			begun++;
			continue;
		}
		if (!begun)
			call_fail(c, ncclSystemError, "no memory for copies of buffers");
		break;
	}
	return begun;
}

/* Gives the kernel all calls that have begun. A wait for one would give it those of one session. */
static void submit_all(const struct batch *batch)
{
	struct call *c;

	for (c = batch->first; c; c = c->next)
		if (c->state == CALL_BEGUN)
			mrpc_poll(mrpc_qp_self(c->comm->session));
}

static void run(struct batch *batch)
{
	struct call *c;

	while (begin_round(batch)) {
		submit_all(batch);
		for (c = batch->first; c; c = c->next)
			wait_for(c);
	}
}

/* Frees the calls. Return: the result, with the error set. */
static ncclResult_t batch_end(struct batch *batch)
{
	ncclResult_t result = batch->result;
	struct call *c, *next;

	for (c = batch->first; c; c = next) {
		next = c->next;
		/* The kernel still has a lost one. */
		if (c->state != CALL_LOST) {
			comm_put(c->comm);
			free(c);
		}
	}
	if (result != ncclSuccess)
		fail(result, "%s", batch->why);
	memset(batch, 0, sizeof(*batch));
	return result;
}

ncclResult_t call_run(const struct call *call)
{
	struct batch batch = { .result = ncclSuccess };
	ncclResult_t result = batch_add(&batch, call);

	if (result != ncclSuccess) {
		comm_put(call->comm);
		return result;
	}
	run(&batch);
	return batch_end(&batch);
}

ncclResult_t call_submit(const struct call *call)
{
	ncclResult_t result;

	if (!depth)
		return call_run(call);
	result = batch_add(&group, call);
	if (result == ncclSuccess)
		return result;
	comm_put(call->comm);
	return call_refused(result);
}

/* -- groups of calls -------------------------------------------------------------------------- */

ncclResult_t call_refused(ncclResult_t result)
{
	if (depth)
		batch_fail(&group, result, ncclGetLastError(NULL));
	return result;
}

bool call_is_queued(const char *what, const struct ncclComm *comm)
{
	const struct call *c;

	for (c = group.first; c && c->comm != comm; c = c->next)
		;
	if (c)
		fail(ncclInvalidUsage, "%s: the group of calls has a %s of the communicator", what,
		     c->what);
	return c;
}

ncclResult_t ncclGroupStart(void)
{
	depth++;
	return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
	if (!depth)
		return fail(ncclInvalidUsage,
			    "ncclGroupEnd: there was no ncclGroupStart() in this thread");
	if (--depth)
		return ncclSuccess;
	run(&group);
	return batch_end(&group);
}
