/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_CONFIG_H
#define LIBMRPC_CONFIG_H

#include "policy.h"

#define CONFIG_MAX	65536	/* bytes of a service config */

/**
 * struct method_config - what a service config says of a method
 * @wait_ready: its calls wait for a connection
 * @timeout_us: the longest a call may take; 0: no limit
 * @max_request: bytes of a request; UINT32_MAX: no limit
 * @max_reply: the same of a reply
 * @retry: when calls are made again
 * @hedging: when they are made several times at once; not both
 */
struct method_config {
	bool wait_ready;
	u64 timeout_us;
	u32 max_request;
	u32 max_reply;
	struct retry_policy retry;
	struct hedge_policy hedging;
};

struct config_name;

/**
 * struct config - a service config
 * @round_robin: calls go in turn over all addresses
 * @throttle: full of tokens
 * @nr_methods: how many @methods
 * @methods: the elements of "methodConfig"
 * @names: which methods they are for
 */
struct config {
	bool round_robin;
	struct throttle throttle;
	u32 nr_methods;
	struct method_config *methods;
	struct config_name *names;
};

/* Reads a service config in JSON; NULL: none. 0; -errno with the error set: it needs no end. */
int config_parse(const char *json, struct config *config);
void config_end(struct config *config);

/* What it says of a method: never NULL. */
const struct method_config *config_find(const struct config *config, const char *service,
					const char *method);

#endif /* LIBMRPC_CONFIG_H */
