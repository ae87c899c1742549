// SPDX-License-Identifier: GPL-2.0
/*
 * metrics: number of calls of each method and status, time of their stages, and their sizes.
 *
 * It is not in the datapath. The core tells it of each call that has ended, with the time stamps of
 * the call. Histograms belong to the placement. So they outlive connections and changes of
 * configuration. Each processor has its own.
 */
#include <linux/bottom_half.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "core/engine.h"
#include "core/engine_count.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "lib/ds/hist.h"

enum {
	PARAM_PER_CONNECTION,
	PARAM_SERIES,
};

static const struct mrpc_param metrics_params[] = {
	[PARAM_PER_CONNECTION] = {
		.name	= "per_connection",
		.type	= MRPC_PARAM_BOOL,
		.doc	= "keep them for each connection, too",
	},
	[PARAM_SERIES] = {
		.name	= "series",
		.type	= MRPC_PARAM_U64,
		.doc	= "pairs of a method and a status that are kept apart",
		.min	= 1,
		.max	= 16384,
		.def	= 512,
	},
};

enum {
	HIST_SEND,	/* client: submitted to given to the link */
	HIST_WAIT,	/* client: from there to the reply's first byte */
	HIST_RECEIVE,	/* first byte to the application: of the reply, or the request */
	HIST_SERVE,	/* server: from there to the application's reply */
	HIST_TOTAL,
	HIST_REQUEST,
	HIST_REPLY,
	NR_HISTS,
};

static const char *const metrics_names[NR_HISTS] = {
	"send", "wait", "receive", "serve", "total", "request", "reply",
};

#define NR_STATUSES	(MRPC_STATUS_MAX + 1)

/* For allocations at the end of a call, see metrics_call_end(). */
#define METRICS_GFP	(GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT)

/* Memory for a service's needs per series, whether the service is called or not. */
#define METRICS_SERVICE_BYTES	16384

/* Histograms of a method and status: [processor * NR_HISTS + which], or NULL. */
struct metrics_cell {
	DECLARE_FLEX_ARRAY(struct mrpc_hist *, hist);
};

/**
 * struct metrics_service - a service at one side
 * @list: entry of metrics_store.services
 * @schema: a reference
 * @server: calls that were received
 * @nr_cells: methods times NR_STATUSES
 * @cell: [method * NR_STATUSES + status]; made by the first such call
 */
struct metrics_service {
	struct list_head list;
	struct mrpc_schema *schema;
	bool server;
	u32 nr_cells;
	struct metrics_cell *cell[] __counted_by(nr_cells);
};

/**
 * struct metrics_store - all counts of a placement, or of a connection
 * @ref: references
 * @lock: serialises additions to @services
 * @services: only grows, until the end; readers need no lock
 * @bytes: of @services and their schemas; under @lock
 * @nr_cells: of all services
 * @lost: calls that were not counted: too many services or series, or no memory
 */
struct metrics_store {
	struct kref ref;
	struct mutex lock;
	struct list_head services;
	u64 bytes;
	atomic_t nr_cells;
	atomic64_t lost;
};

/**
 * struct metrics_view - a connection's references into a store
 * @store: a reference
 * @services: in the connection's numbering; NULL: there were too many
 */
struct metrics_view {
	struct metrics_store *store;
	struct metrics_service *services[MRPC_MAX_SERVICES];
};

/**
 * struct metrics_group - a configuration
 * @store: a reference, taken over from the configuration before
 * @per_connection: also count for each connection
 * @series: maximum number of cells of a store
 */
struct metrics_group {
	struct metrics_store *store;
	bool per_connection;
	u32 series;
};

/**
 * struct metrics - an instance
 * @all: view of the placement's store
 * @own: view of the connection's store, or NULL; once made, it stays
 * @per_connection: count in @own
 * @series: maximum number of cells of a store
 */
struct metrics {
	struct metrics_view all;
	struct metrics_view *own;
	bool per_connection;
	u32 series;
};

/* -- the store ------------------------------------------------------------------- */

static struct metrics_store *metrics_store_new(void)
{
	struct metrics_store *store = kzalloc(sizeof(*store), GFP_KERNEL_ACCOUNT);

	if (!store)
		return NULL;
	kref_init(&store->ref);
	mutex_init(&store->lock);
	INIT_LIST_HEAD(&store->services);
	return store;
}

static void metrics_cell_free(struct metrics_cell *cell)
{
	u32 i;

	for (i = 0; i < nr_cpu_ids * NR_HISTS; i++)
		kfree(cell->hist[i]);
	kfree(cell);
}

static void metrics_store_free(struct kref *ref)
{
	struct metrics_store *store = container_of(ref, struct metrics_store, ref);
	struct metrics_service *s, *next;
	u32 i;

	list_for_each_entry_safe(s, next, &store->services, list) {
		for (i = 0; i < s->nr_cells; i++)
			if (s->cell[i])
				metrics_cell_free(s->cell[i]);
		mrpc_schema_put(s->schema);
		kvfree(s);
	}
	kfree(store);
}

static void metrics_store_put(struct metrics_store *store)
{
	kref_put(&store->ref, metrics_store_free);
}

/* Under @store->lock. */
static struct metrics_service *metrics_service_new(struct metrics_store *store,
						   struct mrpc_schema *schema, bool server)
{
	u32 nr = schema->plan->nr_methods * NR_STATUSES;
	struct metrics_service *s = kvzalloc(struct_size(s, cell, nr), GFP_KERNEL_ACCOUNT);

	if (!s)
		return ERR_PTR(-ENOMEM);
	mrpc_schema_get(schema);
	s->schema = schema;
	s->server = server;
	s->nr_cells = nr;
	list_add_tail_rcu(&s->list, &store->services);
	store->bytes += struct_size(s, cell, nr) + schema->size;
	return s;
}

/* Return: the service; NULL: @max series have no memory for more services; or an ERR_PTR. */
static struct metrics_service *metrics_service_get(struct metrics_store *store,
						   struct mrpc_schema *schema, bool server,
						   u32 max)
{
	struct metrics_service *s;

	mutex_lock(&store->lock);
	list_for_each_entry(s, &store->services, list)
		if (s->schema == schema && s->server == server)
			goto out;
	s = NULL;
	if (store->bytes < (u64)max * METRICS_SERVICE_BYTES)
		s = metrics_service_new(store, schema, server);
out:
	mutex_unlock(&store->lock);
	return s;
}

static int metrics_view_init(struct metrics_view *view, struct metrics_store *store,
			     const struct mrpc_engine *e, u32 max)
{
	struct metrics_service *s;
	u32 i;

	view->store = store;
	for (i = 0; i < e->offered->nr; i++) {
		s = metrics_service_get(store, e->offered->list[i].schema,
					e->requests == MRPC_RX, max);
		if (IS_ERR(s))
			return PTR_ERR(s);
		view->services[i] = s;
	}
	return 0;
}

/* The cell at @index, or NULL. A cell stays until the store ends. */
static struct metrics_cell *metrics_cell_at(const struct metrics_service *s, u32 index)
{
	return smp_load_acquire(&s->cell[index]);	/* pairs with the cmpxchg that put it */
}

static struct mrpc_hist *metrics_hist_at(const struct metrics_cell *cell, u32 cpu, u32 which)
{
	/* Pairs with the release in metrics_record(). */
	return smp_load_acquire(&cell->hist[cpu * NR_HISTS + which]);
}

/* -- recording ------------------------------------------------------------------- */

static struct metrics_cell *metrics_cell_get(struct metrics_store *store,
					     struct metrics_service *s, u32 index, u32 max)
{
	struct metrics_cell *cell = metrics_cell_at(s, index), *other;

	if (likely(cell))
		return cell;
	if (atomic_read(&store->nr_cells) >= max)
		return NULL;
	cell = kzalloc(struct_size(cell, hist, nr_cpu_ids * NR_HISTS), METRICS_GFP);
	if (!cell)
		return NULL;
	other = cmpxchg_release(&s->cell[index], NULL, cell);
	if (other) {
		kfree(cell);
		return other;
	}
	atomic_inc(&store->nr_cells);
	return cell;
}

/* Under local_bh_disable(): so only this context writes this processor's histograms. */
static bool metrics_record(struct metrics_cell *cell, u32 which, u64 value)
{
	struct mrpc_hist **slot = &cell->hist[smp_processor_id() * NR_HISTS + which];

	if (!*slot) {
		struct mrpc_hist *h = kzalloc(sizeof(*h), METRICS_GFP);

		if (!h)
			return false;
		smp_store_release(slot, h);	/* zeroed before a dump sees it */
	}
	mrpc_hist_record(*slot, value);
	return true;
}

static bool metrics_stage(struct metrics_cell *cell, u32 which, u64 from, u64 to)
{
	return !from || !to || metrics_record(cell, which, to > from ? to - from : 0);
}

static void metrics_count(struct metrics_view *view, const struct mrpc_call_end *end, u64 now,
			  u32 max)
{
	const struct mrpc_call *call = end->call;
	struct metrics_service *s = view->services[call->method >> 16];
	u64 submit = call->times.submit, transmit = READ_ONCE(call->times.transmit);
	u64 receive = READ_ONCE(call->times.receive), deliver = READ_ONCE(call->times.deliver);
	struct metrics_cell *cell = NULL;
	bool good;

	if (s)
		cell = metrics_cell_get(view->store, s,
					(call->method & 0xffff) * NR_STATUSES + end->status, max);
	if (!cell) {
		atomic64_inc(&view->store->lost);
		return;
	}
	local_bh_disable();
	good = metrics_record(cell, HIST_REQUEST, s->server ? end->received : end->sent);
	if (end->status == MRPC_OK)
		good &= metrics_record(cell, HIST_REPLY, s->server ? end->sent : end->received);
	good &= metrics_stage(cell, HIST_RECEIVE, receive, deliver);
	if (s->server) {
		good &= metrics_stage(cell, HIST_SERVE, deliver, now);
		good &= metrics_stage(cell, HIST_TOTAL, receive, now);
	} else {
		good &= metrics_stage(cell, HIST_SEND, submit, transmit);
		good &= metrics_stage(cell, HIST_WAIT, transmit, receive);
		good &= metrics_stage(cell, HIST_TOTAL, submit, now);
	}
	local_bh_enable();
	if (!good)
		atomic64_inc(&view->store->lost);
}

static void metrics_call_end(struct mrpc_engine *e, const struct mrpc_call_end *end)
{
	/* The call may end in any thread. Its session's group is charged for allocations here. */
	struct mem_cgroup *old = set_active_memcg(e->memcg);
	struct metrics *m = e->priv;
	u32 max = READ_ONCE(m->series);
	u64 now = ktime_get_ns();

	metrics_count(&m->all, end, now, max);
	/* Pairs with the release in metrics_apply(): if it is set, @own exists. */
	if (smp_load_acquire(&m->per_connection))
		metrics_count(m->own, end, now, max);
	set_active_memcg(old);
}

/* -- configuration --------------------------------------------------------------- */

static int metrics_group_create(struct mrpc_group *group, const struct mrpc_group *prev,
				struct netlink_ext_ack *extack)
{
	const struct metrics_group *old = prev ? prev->priv : NULL;
	struct metrics_group *g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);

	if (!g)
		return -ENOMEM;
	g->per_connection = group->values[PARAM_PER_CONNECTION].num;
	g->series = group->values[PARAM_SERIES].num;
	if (old) {
		g->store = old->store;
		kref_get(&g->store->ref);
	} else {
		g->store = metrics_store_new();
	}
	if (!g->store) {
		kfree(g);
		return -ENOMEM;
	}
	group->priv = g;
	return 0;
}

static void metrics_group_destroy(struct mrpc_group *group)
{
	struct metrics_group *g = group->priv;

	metrics_store_put(g->store);
	kfree(g);
}

static void metrics_view_free(struct metrics_view *view)
{
	if (view && view->store)
		metrics_store_put(view->store);
	kfree(view);
}

static int metrics_apply(struct metrics *m, const struct mrpc_engine *e,
			 const struct metrics_group *g)
{
	struct metrics_view *own;
	int err = -ENOMEM;

	if (g->per_connection && !m->own) {
		own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);
		if (!own)
			return -ENOMEM;
		own->store = metrics_store_new();
		if (own->store)
			err = metrics_view_init(own, own->store, e, g->series);
		if (err) {
			metrics_view_free(own);
			return err;
		}
		m->own = own;
	}
	/* A reader that sees it also sees @own. */
	smp_store_release(&m->per_connection, g->per_connection);
	WRITE_ONCE(m->series, g->series);
	return 0;
}

static void metrics_destroy(struct mrpc_engine *e)
{
	struct metrics *m = e->priv;

	metrics_view_free(m->own);
	metrics_store_put(m->all.store);
	kfree(m);
}

static int metrics_create(struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct metrics *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	const struct metrics_group *g = e->group->priv;
	int err;

	if (!m)
		return -ENOMEM;
	e->priv = m;
	kref_get(&g->store->ref);
	err = metrics_view_init(&m->all, g->store, e, g->series);
	if (!err)
		err = metrics_apply(m, e, g);
	if (err)
		metrics_destroy(e);
	return err;
}

/* All configurations of a placement share one store. */
static int metrics_configure(struct mrpc_engine *e, struct mrpc_group *group,
			     struct netlink_ext_ack *extack)
{
	return metrics_apply(e->priv, e, group->priv);
}

/* -- dumps ----------------------------------------------------------------------- */

static void metrics_merge(struct mrpc_hist *to, const struct metrics_cell *cell, u32 which)
{
	u32 cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		const struct mrpc_hist *h = metrics_hist_at(cell, cpu, which);

		if (h)
			mrpc_hist_merge(to, h);
	}
}

static const struct metrics_store *metrics_store_of(const struct mrpc_engine *e,
						    const struct mrpc_group *group)
{
	const struct metrics_group *g = group->priv;
	const struct metrics *m;

	if (!e)
		return g->store;
	m = e->priv;
	return m->per_connection ? m->own->store : NULL;
}

/**
 * struct metrics_sum - sums over a store
 * @latency: HIST_TOTAL
 * @size: scratch
 * @calls: by status
 */
struct metrics_sum {
	struct mrpc_hist latency;
	struct mrpc_hist size;
	u64 calls[NR_STATUSES];
};

static void metrics_add_up(struct metrics_sum *sum, const struct metrics_store *store)
{
	const struct metrics_service *s;
	u32 i;

	list_for_each_entry_rcu(s, &store->services, list, true) {
		for (i = 0; i < s->nr_cells; i++) {
			const struct metrics_cell *cell = metrics_cell_at(s, i);

			if (!cell)
				continue;
			metrics_merge(&sum->latency, cell, HIST_TOTAL);
			/* Each call has exactly one of these. */
			memset(&sum->size, 0, sizeof(sum->size));
			metrics_merge(&sum->size, cell, HIST_REQUEST);
			sum->calls[i % NR_STATUSES] += mrpc_hist_total(&sum->size);
		}
	}
}

static int metrics_put_calls(struct sk_buff *skb, const struct metrics_sum *sum,
			     const char *prefix)
{
	char name[32];
	u64 calls = 0;
	u32 i;

	for (i = 0; i < NR_STATUSES; i++)
		calls += sum->calls[i];
	snprintf(name, sizeof(name), "%scalls", prefix);
	if (mrpc_engine_put_u64(skb, name, calls))
		return -EMSGSIZE;
	for (i = 0; i < NR_STATUSES; i++) {
		snprintf(name, sizeof(name), "%sstatus_%u", prefix, i);
		if (sum->calls[i] && mrpc_engine_put_u64(skb, name, sum->calls[i]))
			return -EMSGSIZE;
	}
	return 0;
}

/* Puts values that make sense for one store only, because they cannot be added up. */
static int metrics_put_latency(struct sk_buff *skb, const struct metrics_sum *sum)
{
	u64 timed = mrpc_hist_total(&sum->latency);

	if (!timed)
		return 0;
	if (mrpc_engine_put_u64(skb, "latency_mean_ns", div64_u64(sum->latency.sum, timed)) ||
	    mrpc_engine_put_u64(skb, "latency_p50_ns", mrpc_hist_quantile(&sum->latency, 500000)) ||
	    mrpc_engine_put_u64(skb, "latency_p99_ns", mrpc_hist_quantile(&sum->latency, 990000)) ||
	    mrpc_engine_put_u64(skb, "latency_max_ns", sum->latency.max))
		return -EMSGSIZE;
	return 0;
}

static int metrics_dump(const struct mrpc_engine *e, const struct mrpc_group *group,
			struct sk_buff *skb)
{
	const struct metrics_store *store = metrics_store_of(e, group);
	struct metrics_sum *sum;
	int err;

	if (!store)
		return 0;
	sum = kzalloc(sizeof(*sum), GFP_KERNEL);
	if (!sum)
		return -ENOMEM;
	metrics_add_up(sum, store);
	if (e) {
		err = metrics_put_calls(skb, sum, "connection_");
	} else {
		err = metrics_put_calls(skb, sum, "") ?:
		      mrpc_engine_put_u64(skb, "uncounted", atomic64_read(&store->lost)) ?:
		      metrics_put_latency(skb, sum);
	}
	kfree(sum);
	return err;
}

/* Walks over series. The positions of a service: each cell's histograms, cell after cell. */
static int metrics_series(const struct mrpc_engine *e, const struct mrpc_group *group, u32 *pos,
			  struct mrpc_series *out)
{
	const struct metrics_store *store = metrics_store_of(e, group);
	const struct metrics_service *s;
	const struct metrics_cell *cell;
	u32 first = 0, at, index;

	if (!store)
		return -ENOENT;
	list_for_each_entry_rcu(s, &store->services, list, true) {
		for (; *pos - first < s->nr_cells * NR_HISTS; ++*pos) {
			at = (*pos - first) % NR_HISTS;
			index = (*pos - first) / NR_HISTS;
			cell = metrics_cell_at(s, index);
			if (!cell)
				continue;
			memset(&out->hist, 0, sizeof(out->hist));
			metrics_merge(&out->hist, cell, at);
			if (!mrpc_hist_total(&out->hist))
				continue;
			out->name = metrics_names[at];
			out->unit = at < HIST_REQUEST ? "ns" : "bytes";
			out->server = s->server;
			out->status = index % NR_STATUSES;
			out->plan = s->schema->plan;
			out->method = index / NR_STATUSES;
			++*pos;
			return 0;
		}
		first += s->nr_cells * NR_HISTS;
	}
	return -ENOENT;
}

static struct mrpc_engine_ops metrics_ops = {
	.name		= "metrics",
	.version	= 1,
	.oldest		= 1,
	.owner		= THIS_MODULE,
	.flags		= MRPC_ENGINE_TIMES,
	.params		= metrics_params,
	.nr_params	= ARRAY_SIZE(metrics_params),
	.doc		= "Counts calls by method and status, with times and sizes.",
	.group_create	= metrics_group_create,
	.group_destroy	= metrics_group_destroy,
	.create		= metrics_create,
	.destroy	= metrics_destroy,
	.configure	= metrics_configure,
	.call_end	= metrics_call_end,
	.dump		= metrics_dump,
	.series		= metrics_series,
};

module_mrpc_engine(metrics_ops);
MODULE_ALIAS_MRPC_ENGINE("metrics");
MODULE_ALIAS_MRPC_ENGINE("metrics-1");
MODULE_DESCRIPTION("mrpc engine that counts calls");
MODULE_LICENSE("GPL");
