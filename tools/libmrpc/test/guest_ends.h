/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A server and a client with the module, two sessions of this process, for services that a test
 * adds itself. guest_pair.h has both ends with services of its own.
 */
#ifndef TEST_GUEST_ENDS_H
#define TEST_GUEST_ENDS_H

#include <pthread.h>

#include "guest.mrpc.h"
#include "tap.h"

static struct mrpc_session *serving, *session;
static struct mrpc_server *server;
static struct mrpc_conn *conn;
static pthread_t server_thread;
static char server_address[MRPC_ADDR_TEXT];

static inline void *server_main(void *workers)
{
	CHECK_EQ(mrpc_server_run(server, (unsigned int)(uintptr_t)workers), 0);
	return NULL;
}

/* Makes the server. The test then adds services to it. */
static inline void open_server(void)
{
	serving = mrpc_session_open(NULL);
	CHECK_MSG(serving, "%s", mrpc_last_error());
	server = mrpc_server_new(serving);
	CHECK_MSG(server, "%s", mrpc_last_error());
}

static inline void start_server(unsigned int workers)
{
	CHECK_EQ(pthread_create(&server_thread, NULL, server_main, (void *)(uintptr_t)workers), 0);
}

/* Has the server listen and run, and connects a client for @service. */
static inline void start_ends(const char *address, unsigned int workers,
			      const struct mrpc_service_desc *service)
{
	CHECK_MSG(!mrpc_server_listen(server, address, NULL), "%s", mrpc_last_error());
	mrpc_server_address(server, server_address, sizeof(server_address));
	start_server(workers);
	session = mrpc_session_open(NULL);
	CHECK_MSG(session, "%s", mrpc_last_error());
	conn = mrpc_connect(session, server_address, &service, 1, NULL);
	CHECK_MSG(conn, "%s", mrpc_last_error());
}

static inline void stop_server(void)
{
	mrpc_server_stop(server);
	pthread_join(server_thread, NULL);
}

static inline void end_ends(void)
{
	mrpc_session_close(session);
	stop_server();
	mrpc_session_close(serving);
}

#endif /* TEST_GUEST_ENDS_H */
