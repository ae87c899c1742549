/* SPDX-License-Identifier: MIT */
/* Calls of any method, from JSON to JSON. */
#ifndef JSON_CALL_H
#define JSON_CALL_H

#include <mrpc.h>

/*
 * Calls a method of kv.Store with a request in JSON, and prints the reply in JSON. Exits with a
 * message if that fails.
 */
void json_call(struct mrpc_session *session, struct mrpc_conn *conn, const char *method,
	       const char *request);

#endif /* JSON_CALL_H */
