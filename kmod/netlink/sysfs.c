// SPDX-License-Identifier: GPL-2.0
/*
 * sysfs: what a person would cat, under the device /dev/mrpc belongs to
 * (/sys/class/misc/mrpc).
 *
 * One figure per file, of the reader's network namespace, summed when it is
 * read: nothing is counted twice for these files. The rest is netlink's.
 */
#include <linux/nsproxy.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "core/conn.h"
#include "core/net.h"
#include "core/schema.h"
#include "core/session.h"

struct mrpc_sums {
	u64 sessions;
	u64 queue_pairs;
	u64 connections;
	u64 listeners;
	u64 calls_active;
	u64 send_heap_bytes;
	u64 recv_heap_bytes;
	u64 recv_heap_used;
	u64 checksum_errors;
};

static void mrpc_sum_session(struct mrpc_session *session, struct mrpc_sums *s)
{
	struct mrpc_conn *conn;
	unsigned long id;
	void *entry;

	s->sessions++;
	s->queue_pairs += READ_ONCE(session->nr_qps);
	s->send_heap_bytes += READ_ONCE(session->send.len);
	s->recv_heap_bytes += READ_ONCE(session->recv.len);
	s->recv_heap_used += READ_ONCE(session->recv.used);
	/* The table's entries are freed by RCU. */
	rcu_read_lock();
	xa_for_each(&session->conns, id, entry) {
		if (xa_pointer_tag(entry)) {
			s->listeners++;
			continue;
		}
		conn = entry;
		s->connections++;
		if (!conn->replica)	/* what a link carries was counted where it was made */
			s->calls_active += mrpc_conn_active(conn);
	}
	rcu_read_unlock();
}

static struct mrpc_sums mrpc_sum(void)
{
	struct net *net = current->nsproxy->net_ns;
	struct mrpc_session *session;
	struct mrpc_sums s = {
		.checksum_errors = atomic64_read(&mrpc_net(net)->checksum_errors),
	};
	u32 after = 0;

	while ((session = mrpc_session_next(net, after))) {
		after = session->id;
		mrpc_sum_session(session, &s);
		mrpc_session_put(session);
		cond_resched();
	}
	return s;
}

#define MRPC_SUM_ATTR(_name)							\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr,	\
			    char *buf)						\
{										\
	return sysfs_emit(buf, "%llu\n", mrpc_sum()._name);			\
}										\
static DEVICE_ATTR_RO(_name)

MRPC_SUM_ATTR(sessions);

MRPC_SUM_ATTR(queue_pairs);

MRPC_SUM_ATTR(connections);

MRPC_SUM_ATTR(listeners);

MRPC_SUM_ATTR(calls_active);

MRPC_SUM_ATTR(send_heap_bytes);

MRPC_SUM_ATTR(recv_heap_bytes);

MRPC_SUM_ATTR(recv_heap_used);

MRPC_SUM_ATTR(checksum_errors);

/* The cache of compiled schemas is the host's, not a namespace's: root sees how many. */
static ssize_t schemas_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", mrpc_schema_count());
}

static DEVICE_ATTR_ADMIN_RO(schemas);

static ssize_t uapi_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", MRPC_UAPI_VERSION);
}

static DEVICE_ATTR_RO(uapi_version);

static struct attribute *mrpc_attrs[] = {
	&dev_attr_uapi_version.attr,
	&dev_attr_sessions.attr,
	&dev_attr_queue_pairs.attr,
	&dev_attr_connections.attr,
	&dev_attr_listeners.attr,
	&dev_attr_calls_active.attr,
	&dev_attr_send_heap_bytes.attr,
	&dev_attr_recv_heap_bytes.attr,
	&dev_attr_recv_heap_used.attr,
	&dev_attr_checksum_errors.attr,
	&dev_attr_schemas.attr,
	NULL,
};

static const struct attribute_group mrpc_group = {
	.attrs = mrpc_attrs,
};

const struct attribute_group *mrpc_groups[] = {
	&mrpc_group,
	NULL,
};
