/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stand-in's calls: what the submissions of a session do. */
#ifndef FAKE_CALLS_H
#define FAKE_CALLS_H

#include "fake_session.h"

int fake_enter(struct fsession *s, struct mrpc_enter *arg);
/* A connection of a client ends. */
void fake_end_streams(struct fsession *s, __u32 conn);
int fake_call(struct fsession *s, struct mrpc_call_sync *arg);
int fake_request(struct mrpc_request *arg);

#endif /* FAKE_CALLS_H */
