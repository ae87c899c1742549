// SPDX-License-Identifier: GPL-2.0
/*
 * The declared fields of a policy, in the schemas of connections.
 *
 * A declared field is "TYPE:PATH", or "PATH" for messages of all types. The datapaths with the same
 * schema share the compiled result. It is freed with the last of them.
 */
#include <linux/slab.h>

#include "core/schema.h"
#include "lib/message/field.h"
#include "lib/message/schema.h"
#include "policy/fields.h"
#include "policy/policy.h"
#include <linux/mm.h>

/* Return: the path; *@type: the text before it, of *@len bytes, or none. */
static const char *policy_field_path(const char *field, const char **type, u32 *len)
{
	const char *colon = strchr(field, ':');
	const char *bracket = strchr(field, '[');

	/* A colon in a map's key does not count. */
	if (!colon || (bracket && bracket < colon)) {
		*len = 0;
		return field;
	}
	*type = field;
	*len = colon - field;
	return colon + 1;
}

/**
 * mrpc_policy_check_fields() - are the declared fields well-formed, without a schema?
 * @decl: declaration of the policy being made
 *
 * Return: number of fields, or -EINVAL: a gap, no NUL, a type that is no name, no path.
 */
int mrpc_policy_check_fields(const struct mrpc_policy_decl *decl)
{
	const char *type, *path;
	int i, nr = 0;
	u32 len;

	for (i = 0; i < MRPC_POLICY_FIELDS; i++) {
		const char *field = decl->fields[i];

		if (!memchr(field, 0, MRPC_POLICY_PATH))
			return -EINVAL;
		if (!*field)
			continue;
		path = policy_field_path(field, &type, &len);
		if (nr != i || !*path || (path != field && !mrpc_name_valid(type, len, true)))
			return -EINVAL;
		nr++;
	}
	return nr;
}

static int policy_compile(struct mrpc_policy_paths *paths, u32 i, const char *text,
			  const struct mrpc_schema_plan *plan, u32 type,
			  struct mrpc_field_path *scratch)
{
	struct mrpc_path_error why;
	int err;

	err = mrpc_field_compile(plan, type, text, strlen(text), scratch, MRPC_PATH_MAX_SIZE, &why);
	if (err)
		return 0;	/* messages of this type do not have it */
	paths->path[i] = kmemdup(scratch, scratch->size, GFP_KERNEL_ACCOUNT);
	if (!paths->path[i])
		return -ENOMEM;
	paths->content |= scratch->content;
	return 1;
}

static void policy_paths_free(struct mrpc_policy_paths *paths)
{
	u32 i;

	for (i = 0; paths && i < MRPC_POLICY_FIELDS; i++)
		kfree(paths->path[i]);
	kfree(paths);
}

/* Binds the declared fields to messages of one type. */
static int policy_bind_type(const struct mrpc_policy_prog *prog, struct mrpc_policy_bound *b,
			    u32 type, struct mrpc_field_path *scratch)
{
	const struct mrpc_schema_plan *plan = b->schema->plan;
	const char *name = plan->names + plan->types[type].name, *want;
	struct mrpc_policy_paths *paths;
	u32 found = 0, len, i;
	int ret = 0;

	if (b->types[type])
		return 0;
	paths = kzalloc(sizeof(*paths), GFP_KERNEL_ACCOUNT);
	if (!paths)
		return -ENOMEM;
	for (i = 0; i < prog->nr_fields && ret >= 0; i++) {
		const char *path = policy_field_path(prog->decl->fields[i], &want, &len);

		if (len && (strncmp(name, want, len) || name[len]))
			continue;
		ret = policy_compile(paths, i, path, plan, type, scratch);
		if (ret > 0)
			found |= BIT(i);
	}
	if (ret < 0 || !found) {
		policy_paths_free(paths);
		return min(ret, 0);
	}
	b->found |= found;
	b->types[type] = paths;
	return 0;
}

static void policy_bound_free(struct mrpc_policy_bound *b)
{
	u32 i;

	for (i = 0; i < b->schema->plan->nr_types; i++)
		policy_paths_free(b->types[i]);
	mrpc_schema_put(b->schema);
	kvfree(b);
}

static struct mrpc_policy_bound *policy_bound_new(const struct mrpc_policy_prog *prog,
						  struct mrpc_schema *schema)
{
	const struct mrpc_schema_plan *plan = schema->plan;
	struct mrpc_field_path *scratch;
	struct mrpc_policy_bound *b;
	int err = 0;
	u32 i;

	scratch = kvmalloc(MRPC_PATH_MAX_SIZE, GFP_KERNEL);
	b = kvzalloc(struct_size(b, types, plan->nr_types), GFP_KERNEL_ACCOUNT);
	if (!scratch || !b) {
		kvfree(scratch);
		kvfree(b);
		return NULL;
	}
	mrpc_schema_get(schema);
	b->schema = schema;
	b->ref = 1;
	for (i = 0; prog->nr_fields && i < plan->nr_methods && !err; i++) {
		err = policy_bind_type(prog, b, plan->methods[i].request, scratch);
		if (!err)
			err = policy_bind_type(prog, b, plan->methods[i].reply, scratch);
		cond_resched();
	}
	kvfree(scratch);
	if (!err)
		return b;
	policy_bound_free(b);
	return NULL;
}

/* Under prog->lock. */
static struct mrpc_policy_bound *policy_bound_find(struct mrpc_policy_prog *prog,
						   const struct mrpc_schema *schema)
{
	struct mrpc_policy_bound *b;

	list_for_each_entry(b, &prog->bound, list) {
		if (b->schema == schema) {
			b->ref++;
			return b;
		}
	}
	return NULL;
}

/**
 * mrpc_policy_bind() - find a program's fields in a schema
 * @prog: the programs, referenced
 * @schema: the schema, referenced
 *
 * Two tasks that do so at the same time both compile, and one result is kept. So neither waits for
 * the other's allocations.
 *
 * Context: process; may sleep. Return: for mrpc_policy_unbind(); NULL: no memory.
 */
struct mrpc_policy_bound *mrpc_policy_bind(struct mrpc_policy_prog *prog,
					   struct mrpc_schema *schema)
{
	struct mrpc_policy_bound *b, *fresh;

	spin_lock(&prog->lock);
	b = policy_bound_find(prog, schema);
	spin_unlock(&prog->lock);
	if (b)
		return b;
	fresh = policy_bound_new(prog, schema);
	if (!fresh)
		return NULL;
	spin_lock(&prog->lock);
	b = policy_bound_find(prog, schema);
	if (!b) {
		list_add(&fresh->list, &prog->bound);
		prog->nr_bound++;
	}
	spin_unlock(&prog->lock);
	if (!b)
		return fresh;
	policy_bound_free(fresh);
	return b;
}

/**
 * mrpc_policy_unbind() - end of mrpc_policy_bind()
 * @prog: the programs
 * @b: the result, or NULL
 *
 * Context: process; may sleep.
 */
void mrpc_policy_unbind(struct mrpc_policy_prog *prog, struct mrpc_policy_bound *b)
{
	bool last;

	if (!b)
		return;
	spin_lock(&prog->lock);
	last = !--b->ref;
	if (last) {
		list_del(&b->list);
		prog->nr_bound--;
	}
	spin_unlock(&prog->lock);
	if (last)
		policy_bound_free(b);
}

/* Return: a declared field that no message of a schema has, or NULL. */
static const char *policy_lacks(const struct mrpc_policy_prog *prog,
				const struct mrpc_policy_bound *b)
{
	u32 missing = ~b->found;

	if (!prog->nr_fields || __ffs(missing) >= prog->nr_fields)
		return NULL;
	return prog->decl->fields[__ffs(missing)];
}

/* Return: a type of which only the next programs need more than the head, or NULL. */
static const char *policy_needs_more(const struct mrpc_policy_bound *next,
				     const struct mrpc_policy_bound *now)
{
	const struct mrpc_schema_plan *plan = now->schema->plan;
	u32 i;

	for (i = 0; i < plan->nr_types; i++)
		if (next->types[i] && next->types[i]->content &&
		    !(now->types[i] && now->types[i]->content))
			return plan->names + plan->types[i].name;
	return NULL;
}

/* Can @next replace @now in the schema of @b? @found: adds the fields that @next finds. */
static bool policy_follows(const struct mrpc_policy_prog *next, const struct mrpc_policy_prog *now,
			   const struct mrpc_policy_bound *b, u32 *found, char *why, size_t size)
{
	struct mrpc_policy_bound *tried = policy_bound_new(next, b->schema);
	const char *field, *type;

	if (!tried) {
		strscpy(why, "there is no memory", size);
		return false;
	}
	field = policy_lacks(next, tried);
	type = policy_needs_more(tried, b);
	*found |= tried->found;
	policy_bound_free(tried);
	if (field && !policy_lacks(now, b))
		scnprintf(why, size, "'%.40s' is no field of a message of %.40s", field,
			  mrpc_schema_service(b->schema->plan));
	else if (type)
		scnprintf(why, size, "it reads content of %.40s, which the one before did not", type);
	else
		return true;
	return false;
}

/* Gets references to everything that is bound. Return: their number; -ENOMEM. */
static int policy_bound_all(struct mrpc_policy_prog *prog, struct mrpc_policy_bound ***all)
{
	struct mrpc_policy_bound *b;
	u32 nr, i = 0;

	for (;;) {
		nr = READ_ONCE(prog->nr_bound);
		*all = kvmalloc_array(nr + 1, sizeof(**all), GFP_KERNEL);
		if (!*all)
			return -ENOMEM;
		spin_lock(&prog->lock);
		if (prog->nr_bound <= nr)
			break;
		spin_unlock(&prog->lock);
		kvfree(*all);
	}
	list_for_each_entry(b, &prog->bound, list) {
		b->ref++;
		(*all)[i++] = b;
	}
	spin_unlock(&prog->lock);
	return i;
}

/**
 * mrpc_policy_serves() - can programs replace others wherever those are in use?
 * @next: programs that are not in use yet
 * @now: programs
 * @why: out: why not, a sentence
 * @size: bytes at @why
 *
 * If the present programs found all of their fields in a schema, it must have all fields of the
 * next programs. Each field of the next ones must be in some schema. Content that is not copied for
 * the present ones is not copied for the next ones either. A datapath that comes meanwhile checks
 * by itself.
 *
 * Context: process; may sleep.
 */
bool mrpc_policy_serves(const struct mrpc_policy_prog *next, struct mrpc_policy_prog *now,
			char *why, size_t size)
{
	struct mrpc_policy_bound **all;
	bool serves = true;
	u32 found = 0;
	int nr, i;

	nr = policy_bound_all(now, &all);
	if (nr < 0) {
		strscpy(why, "there is no memory", size);
		return false;
	}
	for (i = 0; i < nr; i++) {
		serves = serves && policy_follows(next, now, all[i], &found, why, size);
		mrpc_policy_unbind(now, all[i]);
	}
	kvfree(all);
	for (i = 0; nr && serves && i < next->nr_fields; i++) {
		if (found & BIT(i))
			continue;
		scnprintf(why, size, "'%.40s' is no field of a message of any service",
			  next->decl->fields[i]);
		serves = false;
	}
	return serves;
}
