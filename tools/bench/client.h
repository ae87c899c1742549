/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the modes of mrpc_bench have in common: its session, connections, requests and replies.
 * What goes wrong ends the program.
 */
#ifndef _CLIENT_H
#define _CLIENT_H

#include <mrpc.h>

#include "bench.mrpc.h"
#include "measure.h"

/* Content that an application would not make anew for each call. */
#define CONTENT		4096

extern char content[CONTENT];

/* Of the server or the client, whose threads each have a queue pair of their own. */
extern struct mrpc_session *session;

struct mrpc_session *open_session(size_t send, size_t recv);

/* With a send heap for what @o says is in flight. */
void open_client_session(const struct options *o);

struct mrpc_conn *connect_one(const struct options *o);

/* TLS with the certificates in the directory that @o names, NULL without one. */
struct mrpc_tls *tls_of(const struct options *o, bool server);

/* As many as @o says. The caller frees the array; the connections end with the session. */
struct mrpc_conn **connect_all(const struct options *o);

/* A request of @len bytes, with a key if @o has an engine. */
void make_request(const struct options *o, size_t len, struct mrpc_msg *msg);

/* That a call has ended well, with a reply that is not empty. */
void check(struct mrpc_result *res);

/* Messages of a stream: what each costs. */
void run_stream(struct measure *m, const struct options *o);

/* Answers each message; reads all, and answers the last. */
int do_chat(struct mrpc_call *call);
int do_collect(struct mrpc_call *call, struct bench_Reply *reply);

/* Engines and all kinds of configuration change while calls run: what becomes of their rate. */
int timeline(const struct options *o);

/* Urgent small calls beside bulk: how long they take, and what of the bulk is left. */
int urgent(const struct options *o);

#endif
