/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules of an engine (acl, fault, qos, ...). Rules are a list, and the first one that matches
 * counts. A rule is an action and conditions that must all hold.
 *
 * Three forms:
 *  - the binary form, which the operator's command sends (struct mrpc_rules_hdr);
 *  - struct mrpc_rules: the verified form;
 *  - struct mrpc_rules_binding: the rules that can apply to one method of one schema, with the
 *    field paths compiled for it. A call is evaluated only against its method's binding, so
 *    rules of other methods cost nothing. A method to which no rule can apply has no binding
 *    (NULL), which costs a compare.
 *
 * Bindings are made when rules are set and when a connection with a new schema comes. Memory can
 * be allocated and waited for there. A call never makes a binding.
 */
#ifndef MRPC_LIB_RULE_RULE_H
#define MRPC_LIB_RULE_RULE_H

#include "lib/message/field.h"
#include "lib/ds/set.h"

#define MRPC_RULES_MAGIC	0x5252524d	/* "MRRR" */
#define MRPC_RULES_VERSION	1

#define MRPC_RULES_MAX_LEN	(1U << 20)
#define MRPC_RULES_MAX		4096	/* rules */
#define MRPC_RULES_MAX_SETS	64
#define MRPC_RULES_SET_NAME	127	/* bytes of a set's name */
#define MRPC_RULE_MAX_CONDS	16
#define MRPC_RULE_MAX_KEY	255	/* bytes of a metadata key */
#define MRPC_RULE_MAX_VALUE	1024	/* bytes of a condition's text */
#define MRPC_RULE_SHARE_ALL	1000000

/*
 * The binary form. All integers little-endian; everything is padded with zeros to
 * a multiple of 8:
 *
 *	struct mrpc_rules_hdr
 *	nr_sets times:	struct mrpc_rules_set, the name
 *	nr_rules times:	struct mrpc_rule_rec, the detail,
 *			nr_conds times: struct mrpc_cond_rec, the name, the value
 */
struct mrpc_rules_hdr {
	__le32 magic;
	__le16 version;
	__le16 flags;		/* zero */
	__le32 len;		/* bytes of all of it */
	__le16 nr_rules;
	__le16 nr_sets;
};

/* A set that rules refer to. Names are unique; every set is referred to. */
struct mrpc_rules_set {
	__le16 name_len;	/* 1 to MRPC_RULES_SET_NAME, [A-Za-z0-9_.-] */
	__le16 resv[3];
};

struct mrpc_rule_rec {
	__le32 action;		/* these four: as the engine understands them */
	__le32 share;		/* parts in a million to act on, 1 to SHARE_ALL */
	__le64 arg;
	__le16 status;		/* enum mrpc_status */
	__le16 detail_len;	/* at most MRPC_MAX_DETAIL; UTF-8 */
	__le16 nr_conds;	/* at most MRPC_RULE_MAX_CONDS; 0: always matches */
	__le16 resv;
};

enum mrpc_cond_what {		/* name; operators */
	MRPC_COND_SERVICE = 1,	/* -; EQUAL */
	MRPC_COND_METHOD,	/* -; EQUAL, PREFIX */
	MRPC_COND_PEER,		/* -; NET */
	MRPC_COND_PORT,		/* -; RANGE. The peer's */
	MRPC_COND_UID,		/* -; RANGE. Of the application on this host */
	MRPC_COND_CGROUP,	/* -; RANGE. The cgroup id of that application */
	MRPC_COND_KIND,		/* -; RANGE of enum mrpc_rule_kind */
	MRPC_COND_SIZE,		/* -; RANGE. Bytes of the message */
	MRPC_COND_META,		/* key; PRESENT, EQUAL, PREFIX, IN. Any entry with the key */
	MRPC_COND_FIELD,	/* path; PRESENT, EQUAL, PREFIX, RANGE, DOUBLES, IN */
	MRPC_COND_IDENTITY,	/* -; PRESENT, EQUAL, PREFIX, IN. The peer's verified name */
	MRPC_COND_MAX = MRPC_COND_IDENTITY,
};

enum mrpc_cond_op {		/* value */
	MRPC_MATCH_PRESENT = 1,	/* - */
	MRPC_MATCH_EQUAL,		/* bytes */
	MRPC_MATCH_PREFIX,		/* bytes */
	MRPC_MATCH_RANGE,		/* struct mrpc_cond_range: of integers */
	MRPC_MATCH_DOUBLES,	/* struct mrpc_cond_range: of doubles' bits */
	MRPC_MATCH_IN,		/* __le32: index of a set */
	MRPC_MATCH_NET,		/* struct mrpc_cond_net */
	MRPC_MATCH_MAX = MRPC_MATCH_NET,
};

struct mrpc_cond_rec {
	u8 what;		/* enum mrpc_cond_what */
	u8 op;			/* enum mrpc_cond_op */
	__le16 name_len;
	__le16 value_len;
	__le16 resv;
};

#define MRPC_RANGE_FROM		BIT(0)	/* has a lower end; else it is open */
#define MRPC_RANGE_TO		BIT(1)
#define MRPC_RANGE_FROM_NEG	BIT(2)	/* @from is negative: its two's complement */
#define MRPC_RANGE_TO_NEG	BIT(3)

/* Both ends are included. DOUBLES: binary64, not NaN, and no NEG flags. */
struct mrpc_cond_range {
	__le64 from;		/* zero if open */
	__le64 to;
	__le32 flags;
	__le32 resv;
};

/* Bits of the address behind the prefix are zero. */
struct mrpc_cond_net {
	u8 addr[16];		/* version 4: the first four */
	u8 version;		/* 4 or 6 */
	u8 prefix;		/* bits */
	u8 resv[6];
};

/**
 * struct mrpc_rule - one rule, for its engine
 * @action: this and the next three are from the binary form
 * @share: parts in a million
 * @arg: a number
 * @status: enum mrpc_status
 * @detail_len: bytes at @detail
 * @nr_conds: in the binary form
 * @first_cond: index in the set's conditions
 * @detail: text, not NUL-terminated
 */
struct mrpc_rule {
	u32 action;
	u32 share;
	u64 arg;
	u16 status;
	u16 detail_len;
	u16 nr_conds;
	u32 first_cond;
	const char *detail;
};

struct mrpc_cond;

/**
 * struct mrpc_rules - a verified set of rules, in one allocation
 * @nr_rules: how many
 * @nr_sets: sets referred to
 * @nr_conds: of all rules
 * @nr_paths: different paths of fields in @conds
 * @binary_len: bytes at @binary
 * @rules: in order
 * @conds: of all rules, in order
 * @paths: for each path, one condition that has it
 * @sets: the owner of the rules puts the sets here, with mrpc_rules_set_put()
 * @set_names: NUL-terminated
 * @binary: the binary form of these rules, for dumps
 *
 * Immutable, except @sets. Bindings point into it.
 */
struct mrpc_rules {
	u32 nr_rules;
	u32 nr_sets;
	u32 nr_conds;
	u32 nr_paths;
	u32 binary_len;
	const struct mrpc_rule *rules;
	const struct mrpc_cond *conds;
	const struct mrpc_cond **paths;
	const struct mrpc_set **sets;
	const char **set_names;
	const u8 *binary;
};

/**
 * struct mrpc_rules_error - why rules were refused
 * @what: a sentence without its subject, static
 * @rule: index, or U32_MAX: not about a single rule
 * @cond: index in the rule, or U32_MAX
 * @value: the offending value
 */
struct mrpc_rules_error {
	const char *what;
	u32 rule;
	u32 cond;
	u64 value;
};

/**
 * mrpc_rules_size() - memory that mrpc_rules_compile() needs
 * @buf: binary form, in memory that no one else can write
 * @len: its bytes
 * @err: filled on failure
 *
 * Return: bytes, -EINVAL, or -E2BIG (a limit).
 */
s64 mrpc_rules_size(const void *buf, size_t len, struct mrpc_rules_error *err);

/**
 * mrpc_rules_compile() - verify the binary form
 * @buf: binary form, as for mrpc_rules_size(); copied
 * @len: its bytes
 * @mem: mrpc_rules_size() bytes, aligned to 8; the rules are its start
 * @mem_len: its bytes
 * @err: filled on failure
 *
 * There are no sets at first: mrpc_rules_set_put() adds them. Field paths are only checked to be
 * at most MRPC_PATH_MAX_TEXT long: their meaning depends on the method.
 *
 * Return: 0, -EINVAL or -E2BIG.
 */
int mrpc_rules_compile(const void *buf, size_t len, void *mem, size_t mem_len,
		       struct mrpc_rules_error *err);

/**
 * mrpc_rules_set_put() - add a set to the rules, or replace it
 * @rules: the rules; may be in use
 * @index: below @nr_sets; its name is @set_names[index]
 * @set: the set, or NULL: conditions that refer to it are undecided
 *
 * Evaluations may still use the old set. The owner keeps it until they have all ended (RCU).
 */
void mrpc_rules_set_put(struct mrpc_rules *rules, u32 index, const struct mrpc_set *set);

/* -- binding ---------------------------------------------------------------- */

enum mrpc_rule_kind {
	MRPC_RULE_REQUEST = 0,
	MRPC_RULE_REPLY = 1,
};

/**
 * enum mrpc_rule_fit - whether a rule can apply to a message of a method
 * @MRPC_FIT: bound
 * @MRPC_FIT_NOT_MEANT: the rule names another service, method or kind
 * @MRPC_FIT_NO_FIELD: the message has no field of a path: the error says which
 * @MRPC_FIT_KIND: the message has the field, but it cannot be compared in this way: a number
 *	with a text, a range with values that a bool cannot have
 * @MRPC_FIT_BEHIND: an earlier rule always matches
 */
enum mrpc_rule_fit {
	MRPC_FIT,
	MRPC_FIT_NOT_MEANT,
	MRPC_FIT_NO_FIELD,
	MRPC_FIT_KIND,
	MRPC_FIT_BEHIND,
};

struct mrpc_rules_binding;
struct mrpc_rules_binder;

/**
 * mrpc_rules_binder_size() - temporary memory for binding rules to a schema
 * @rules: the rules
 */
size_t mrpc_rules_binder_size(const struct mrpc_rules *rules);

/**
 * mrpc_rules_binder_init() - begin to bind rules to the methods of a schema
 * @rules: the rules
 * @plan: the schema; both must outlive the binder
 * @mem: mrpc_rules_binder_size() bytes, aligned to 8
 *
 * The binder keeps the paths that it has compiled for the types of the last method. If the next
 * method has a type in common, its paths are not compiled again. The caller frees @mem to free
 * the binder.
 *
 * Return: the binder, which is @mem.
 */
struct mrpc_rules_binder *mrpc_rules_binder_init(const struct mrpc_rules *rules,
						 const struct mrpc_schema_plan *plan, void *mem);

/**
 * mrpc_rules_bind_size() - memory that mrpc_rules_bind() needs
 * @binder: the binder
 * @method: index of the method
 *
 * Time: compiling each path of the rules for two types, and walking over their conditions.
 *
 * Return: bytes, or 0: no rule can apply to the method, so its binding is NULL.
 */
size_t mrpc_rules_bind_size(struct mrpc_rules_binder *binder, u32 method);

/**
 * mrpc_rules_bind() - make the binding of a method
 * @binder: the binder; the method is that of the last mrpc_rules_bind_size()
 * @mem: as many bytes as that has returned, not 0, aligned to 8
 *
 * Omits rules that cannot match any call of the method, and conditions that always hold. A
 * binding is immutable and in one allocation. It needs the rules, but neither the schema nor the
 * binder.
 *
 * Return: @mem.
 */
struct mrpc_rules_binding *mrpc_rules_bind(struct mrpc_rules_binder *binder, void *mem);

/**
 * mrpc_rule_fits() - can a rule apply to a message of a method? If not, why?
 * @rules: the rules
 * @index: of the rule
 * @plan: the schema
 * @method: index of the method
 * @kind: enum mrpc_rule_kind
 * @scratch: MRPC_PATH_MAX_SIZE bytes, aligned to 8
 * @cond: out: index in the rule of the condition that can never hold
 * @err: out: filled with MRPC_FIT_NO_FIELD
 *
 * For the code that sets rules. A rule that fits nothing probably has a mistake in a name, and a
 * deny rule that never matches is a security hole. Does not return MRPC_FIT_BEHIND.
 *
 * Return: enum mrpc_rule_fit.
 */
u32 mrpc_rule_fits(const struct mrpc_rules *rules, u32 index,
		   const struct mrpc_schema_plan *plan, u32 method, u32 kind, void *scratch,
		   u32 *cond, struct mrpc_path_error *err);

/**
 * mrpc_rules_reads() - which content do the rules read?
 * @binding: of the method; may be NULL
 * @kind: enum mrpc_rule_kind
 * @index: from 0
 *
 * Return: the path of the @index'th field whose content is in the byte section, or NULL: no
 * more. mrpc_field_read() with this path says where the content is. So the caller can copy it
 * before it evaluates the rules.
 */
const struct mrpc_field_path *mrpc_rules_reads(const struct mrpc_rules_binding *binding, u32 kind,
					       u32 index);

/**
 * mrpc_rules_need_head() - does any rule read a field?
 * @binding: of the method; may be NULL
 * @kind: enum mrpc_rule_kind
 */
bool mrpc_rules_need_head(const struct mrpc_rules_binding *binding, u32 kind);

/* -- evaluation ------------------------------------------------------------- */

#define MRPC_RULE_NO_UID	(~0U)

/**
 * struct mrpc_rule_ctx - the message and call that conditions look at
 * @kind: enum mrpc_rule_kind
 * @uid: of the application on this host, or MRPC_RULE_NO_UID: unknown
 * @cgroup: id, or 0: unknown
 * @size: bytes of the message, 0 for none
 * @peer: struct sockaddr of the peer; any family. An address that is neither IPv4 nor IPv6 is
 *	in no network
 * @peer_len: its bytes; 0: unknown
 * @identity: the peer's name, as the application of this host has verified it
 * @identity_len: its bytes; 0: the peer has no name
 * @meta_len: bytes at @meta
 * @meta: metadata that mrpc_meta_valid() has accepted
 * @msg: the message: of the request or reply type of the binding's method
 *
 * A condition on something unknown is undecided.
 */
struct mrpc_rule_ctx {
	u32 kind;
	u32 uid;
	u64 cgroup;
	u64 size;
	const void *peer;
	u32 peer_len;
	u32 identity_len;
	const char *identity;
	u32 meta_len;
	const void *meta;
	const struct mrpc_view *msg;
};

/**
 * struct mrpc_rule_verdict - the result of an evaluation
 * @rule: the first rule that matches, or NULL
 * @undecided: the first earlier rule that could have matched, or NULL. Its conditions depend on
 *	something unknown or not at hand: content, a set, see struct mrpc_rule_ctx. An engine
 *	that must not let anything pass by mistake refuses the message then
 */
struct mrpc_rule_verdict {
	const struct mrpc_rule *rule;
	const struct mrpc_rule *undecided;
};

struct mrpc_rule_verdict mrpc_rules_eval_bound(const struct mrpc_rules_binding *binding,
					       const struct mrpc_rule_ctx *ctx);

#define MRPC_RULES_CACHED	8

/**
 * mrpc_rules_eval() - find the first rule that matches
 * @binding: of the method; may be NULL
 * @ctx: the message and the call
 *
 * A condition on an absent field or metadata key is false. No allocation, no lock. If sets can
 * be replaced, the caller is under RCU. Time: rules of the method times their conditions. The
 * first MRPC_RULES_CACHED different fields are each read once, for all rules. Stack: about 400
 * bytes.
 *
 * Return: no rule, or the first one that matches.
 */
static inline struct mrpc_rule_verdict mrpc_rules_eval(const struct mrpc_rules_binding *binding,
						       const struct mrpc_rule_ctx *ctx)
{
	if (!binding)
		return (struct mrpc_rule_verdict){ NULL, NULL };
	return mrpc_rules_eval_bound(binding, ctx);
}

#endif /* MRPC_LIB_RULE_RULE_H */
