/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's attributes mean. */
#ifndef MRPC_TOOL_NL_SETS_H
#define MRPC_TOOL_NL_SETS_H

#include <stddef.h>

enum attr_kind {
	ATTR_NONE,
	ATTR_NUMBER,
	ATTR_BYTES,		/* a number of bytes */
	ATTR_TIME,		/* a number of nanoseconds */
	ATTR_TEXT,
	ATTR_HASH,
	ATTR_ENUM,
	ATTR_FLAGS,
	ATTR_ADDR,		/* a nest, of the set of addresses */
	ATTR_NEST,
	ATTR_LIST,		/* several nests */
	ATTR_MAP,		/* several nests with a name: an object of them */
	ATTR_FLAG,
	ATTR_BOOL,
	ATTR_WORDS,		/* several texts */
	ATTR_NUMBERS,		/* an array of u32 */
	ATTR_DATA,		/* bytes, in hexadecimal */
};

struct attr {
	const char *key;	/* in JSON */
	enum attr_kind kind;
	const struct set *set;		/* ADDR, NEST, LIST, MAP */
	const char *const *names;	/* ENUM, FLAGS */
};

struct set {
	int max;
	const struct attr *attrs;	/* by number, up to max */
};

extern const struct set set_session, set_qp, set_conn, set_service, set_schema, set_method,
			set_datapath, set_type, set_engine, set_queue, set_rpc, set_fault,
			set_param, set_series, set_runtime, set_keyset, set_egress,
			set_egress_queue, set_transport, set_stage, set_group,
			set_group_link, set_group_trace;

/* By enum mrpc_collective and enum mrpc_algorithm; NULL follows. */
extern const char *const group_collectives[];
extern const char *const group_algorithms[];

const struct attr *set_find(const struct set *set, const char *key, size_t len);

#endif /* MRPC_TOOL_NL_SETS_H */
