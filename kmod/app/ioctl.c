// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls: copy the argument in, check it, do it, copy the answer out.
 */
#include <linux/compat.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "app/adopt.h"
#include "app/call.h"
#include "app/close.h"
#include "app/connect.h"
#include "app/enter.h"
#include "app/ioctl.h"
#include "app/listen.h"
#include "call/server.h"
#include "core/conn.h"
#include "core/globals.h"
#include "core/heap.h"
#include "core/notify.h"
#include "core/qp.h"
#include "core/refusal.h"
#include "core/schema.h"
#include "core/session.h"
#include "core/user.h"
#include "exec/recv_free.h"
#include "group/link.h"
#include "group/member.h"
#include "lib/message/schema.h"

#define MRPC_DEFAULT_HEAP	(256ULL << 20)

/* Offsets for mmap, as session.c takes them apart. */
#define MRPC_MMAP_KIND(kind)	((u64)(kind) << 40)
#define MRPC_MMAP_QUEUE(id)	(MRPC_MMAP_KIND(2) | (u64)(id) << 24)

/*
 * Arguments start with their size. A larger one is accepted if what we do not
 * know is zero; a smaller one will be filled up with zeros as soon as there is
 * a second version of the structure.
 */
static int mrpc_copy_in_other(void *to, size_t known, const void __user *from, u32 size)
{
	if (size < known)	/* the first version of each is all there is */
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(to, known, from, size);
}

/* Inline, so that the compiler sees that @known bytes fit: else each copy is checked. */
static __always_inline int mrpc_copy_in(void *to, size_t known, const void __user *from)
{
	int err = 0;
	u32 size;

	if (get_user(size, (const u32 __user *)from))
		return -EFAULT;
	if (size != known)
		err = mrpc_copy_in_other(to, known, from, size);
	else if (copy_from_user(to, from, known))
		err = -EFAULT;
	*(u32 *)to = size;	/* it may have changed meanwhile */
	return err;
}

static int mrpc_copy_out(void __user *to, const void *from, size_t known)
{
	u32 size = *(const u32 *)from;

	return copy_to_user(to, from, min_t(size_t, size, known)) ? -EFAULT : 0;
}

static void mrpc_explain(const struct mrpc_explain *where, const struct mrpc_refusal *r)
{
	u32 len = min_t(u32, where->len, strnlen(r->detail, sizeof(r->detail) - 1) + 1);
	char end = 0;

	if (!where->buf || !len || !r->detail[0])
		return;
	/* The errno is the answer; a sentence that cannot be written is not. */
	if (copy_to_user(u64_to_user_ptr(where->buf), r->detail, len - 1) ||
	    copy_to_user(u64_to_user_ptr(where->buf) + len - 1, &end, 1))
		return;
}

static int mrpc_ioc_setup(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_setup s;
	int err;

	err = mrpc_copy_in(&s, sizeof(s), arg);
	if (err)
		return err;
	if (s.flags || s.send_limit > MRPC_MAX_HEAP || s.recv_limit > MRPC_MAX_HEAP)
		return -EINVAL;
	if (mutex_lock_killable(&session->making))
		return -EINTR;
	err = -EBUSY;
	if (session->setup)
		goto out;
	mrpc_heap_init(&session->send, MRPC_REGION_SEND, s.send_limit ?: MRPC_DEFAULT_HEAP);
	mrpc_heap_init(&session->recv, MRPC_REGION_RECV, s.recv_limit ?: MRPC_DEFAULT_HEAP);
	if (s.name[0])
		strscpy_pad(session->name, s.name, min(sizeof(session->name), sizeof(s.name)));
	s.send_limit = session->send.limit;
	s.recv_limit = session->recv.limit;
	s.session = session->id;
	s.version = MRPC_UAPI_VERSION;
	s.copy_threshold = READ_ONCE(mrpc_knobs.copy_threshold);
	s.max_calls = mrpc_max_calls();
	s.features = 0;
	err = mrpc_copy_out(arg, &s, sizeof(s));
	if (err)
		goto out;
	/* Pairs with the acquire in mrpc_session_ioctl(). */
	smp_store_release(&session->setup, true);
	mrpc_notify_session(session, MRPC_EVENT_SESSION_OPEN);
out:
	mutex_unlock(&session->making);
	return err;
}

/* Under session->making. The region is there only once the application knows where. */
static int mrpc_region_make(struct mrpc_session *session, struct mrpc_heap *heap,
			    struct mrpc_region_add *r, void __user *arg)
{
	struct mrpc_region *region;
	int err;

	err = mrpc_user_charge_memory(session, r->len);
	if (err)
		return err;
	region = mrpc_heap_region(heap, r->len);
	err = PTR_ERR_OR_ZERO(region);
	if (!err) {
		r->base = region->base;
		r->mmap_off = MRPC_MMAP_KIND(r->kind) | r->base;
		err = mrpc_copy_out(arg, r, sizeof(*r));
		if (err)
			mrpc_region_free(region);
	}
	if (err) {
		mrpc_user_uncharge_memory(session->user, r->len);
		return err;
	}
	mrpc_heap_publish(heap, region);
	return 0;
}

static int mrpc_ioc_region(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_region_add r;
	int err;

	err = mrpc_copy_in(&r, sizeof(r), arg);
	if (err)
		return err;
	if (r.kind > MRPC_REGION_RECV || r.flags || r.resv || r.len > MRPC_REGION_MAX)
		return -EINVAL;
	if (mutex_lock_killable(&session->making))
		return -EINTR;
	err = mrpc_region_make(session, r.kind == MRPC_REGION_SEND ? &session->send : &session->recv,
			       &r, arg);
	mutex_unlock(&session->making);
	return err;
}

static int mrpc_ioc_qp(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_qp_setup q;
	struct mrpc_qp *qp;
	int err;

	err = mrpc_copy_in(&q, sizeof(q), arg);
	if (err)
		return err;
	if (mutex_lock_killable(&session->making))
		return -EINTR;
	qp = mrpc_qp_create(session, &q);
	err = PTR_ERR_OR_ZERO(qp);
	if (err)
		goto out;
	q.mmap_off = MRPC_MMAP_QUEUE(q.qp);
	err = mrpc_copy_out(arg, &q, sizeof(q));
	if (err)
		mrpc_qp_destroy(qp);
	else
		mrpc_qp_publish(qp);
out:
	mutex_unlock(&session->making);
	return err;
}

static int mrpc_bind_id(struct mrpc_session *session, struct mrpc_schema *schema, u32 *id)
{
	int err = 0;
	u32 i;

	mutex_lock(&session->lock);
	for (i = 0; i < session->nr_schemas; i++)
		if (session->schemas[i] == schema)
			break;
	if (i < session->nr_schemas) {
		mrpc_schema_put(schema);
	} else if (i == MRPC_MAX_SCHEMAS ||
		   mrpc_user_charge_memory(session, schema->size)) {
		mrpc_schema_put(schema);
		err = -EDQUOT;
	} else {
		session->schemas[i] = schema;
		session->nr_schemas++;
	}
	mutex_unlock(&session->lock);
	*id = i + 1;
	return err;
}

static int mrpc_ioc_bind(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_schema_error why = {};
	struct mrpc_refusal r = {};
	struct mrpc_schema *schema;
	u64 start = ktime_get_ns();
	struct mrpc_bind b;
	void *buf;
	bool hit;
	int err;

	err = mrpc_copy_in(&b, sizeof(b), arg);
	if (err)
		return err;
	if (b.flags || b.resv || b.explain.resv)
		return -EINVAL;
	if (!b.len || b.len > MRPC_SCHEMA_MAX_LEN) {
		mrpc_refuse(&r, MRPC_INVALID_ARGUMENT, "a schema of %u bytes, 1 to %u are allowed",
			    b.len, MRPC_SCHEMA_MAX_LEN);
		mrpc_explain(&b.explain, &r);
		return -E2BIG;
	}
	buf = kvmalloc(b.len, GFP_KERNEL_ACCOUNT);
	if (!buf)
		return -ENOMEM;
	err = -EFAULT;
	if (copy_from_user(buf, u64_to_user_ptr(b.schema), b.len))
		goto out;
	schema = mrpc_schema_bind(buf, b.len, &hit, &why);
	if (IS_ERR(schema)) {
		err = PTR_ERR(schema);
		if (why.what)
			mrpc_refuse(&r, MRPC_INVALID_ARGUMENT, "%s %u: %s (%llu)", why.table,
				    why.index, why.what, why.value);
		mrpc_explain(&b.explain, &r);
		goto out;
	}
	memcpy(b.hash, schema->hash, sizeof(b.hash));
	b.hit = hit;
	err = mrpc_bind_id(session, schema, &b.id);
	if (err)
		goto out;
	b.bind_ns = ktime_get_ns() - start;
	err = mrpc_copy_out(arg, &b, sizeof(b));
out:
	kvfree(buf);
	return err;
}

static int mrpc_ioc_connect(struct mrpc_session *session, void __user *arg, bool serve)
{
	struct mrpc_connect *c = kmalloc(sizeof(*c), GFP_KERNEL);
	struct mrpc_refusal r;
	bool adopts;
	u32 known;
	int err;

	if (!c)
		return -ENOMEM;
	r.detail[0] = 0;
	err = mrpc_copy_in(c, sizeof(*c), arg);
	if (err)
		goto out;
	err = -EINVAL;
	adopts = c->flags & MRPC_CONNECT_ADOPT;
	if (c->flags & ~(MRPC_CONNECT_ADOPT | (serve ? 0 : MRPC_CONNECT_KEEP)) || c->max_calls ||
	    c->explain.resv || c->addr_len > MRPC_ADDR_LEN)
		goto out;
	/* A CONNECT that goes on has given its socket before. */
	if (adopts ? c->id && c->fd != -1 : c->fd)
		goto out;
	if ((serve || !adopts) && (c->identity || c->identity_len))
		goto out;
	if (strnlen(c->transport, sizeof(c->transport)) == sizeof(c->transport))
		goto out;
	if (c->nr_schemas < MRPC_MAX_SERVICES &&
	    memchr_inv(&c->schemas[c->nr_schemas], 0,
		       (MRPC_MAX_SERVICES - c->nr_schemas) * sizeof(c->schemas[0])))
		goto out;
	if (serve ? c->until_ns : c->backlog)
		goto out;
	/* An id that the application brings is one that it knows. */
	known = serve ? 0 : c->id;
	if (serve)
		err = mrpc_listener_serve(session, c, &r);
	else
		err = mrpc_conn_connect(session, c, &r);
	if (err)
		mrpc_explain(&c->explain, &r);
	if (!err || err == -EINTR || err == -ETIME) {
		int fault = mrpc_copy_out(arg, c, sizeof(*c));

		if (fault) {
			if (c->id != known)
				mrpc_conn_undo(session, c->id);
			err = fault;
		}
	} else if (adopts && c->fd == -1) {
		/* A descriptor that is gone must be known. */
		if (put_user(c->fd, &((struct mrpc_connect __user *)arg)->fd))
			err = -EFAULT;
	}
out:
	kfree(c);
	return err == -EINTR ? -ERESTARTSYS : err;
}

static int mrpc_ioc_adopt(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_refusal r;
	struct mrpc_adopt a;
	int err, fault;

	r.detail[0] = 0;
	err = mrpc_copy_in(&a, sizeof(a), arg);
	if (err)
		return err;
	if (a.flags || a.id || a.fd < 0 || a.explain.resv)
		return -EINVAL;
	err = mrpc_conn_adopt(session, &a, &r);
	if (err)
		mrpc_explain(&a.explain, &r);
	fault = mrpc_copy_out(arg, &a, sizeof(a));
	if (fault && !err) {
		mrpc_conn_undo(session, a.id);
		err = fault;
	}
	return err;
}

static int mrpc_ioc_close(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_close c;
	int err;

	err = mrpc_copy_in(&c, sizeof(c), arg);
	if (err)
		return err;
	if (c.flags & ~MRPC_CLOSE_DRAIN || c.resv)
		return -EINVAL;
	return mrpc_conn_end(session, &c);
}

static int mrpc_ioc_conn_info(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_conn_info i;
	int err;

	err = mrpc_copy_in(&i, sizeof(i), arg);
	if (err)
		return err;
	if (i.flags || i.resv)
		return -EINVAL;
	err = mrpc_conn_info(session, &i);
	return err ?: mrpc_copy_out(arg, &i, sizeof(i));
}

/* As set_user_sigmask(), which modules cannot call. */
static int mrpc_mask_signals(const struct mrpc_enter *e)
{
	void __user *mask = u64_to_user_ptr(e->sigmask);
	sigset_t set;

	if (in_compat_syscall()) {
		if (e->sigset_size != sizeof(compat_sigset_t))
			return -EINVAL;
		if (get_compat_sigset(&set, mask))
			return -EFAULT;
	} else {
		if (e->sigset_size != sizeof(set))
			return -EINVAL;
		if (copy_from_user(&set, mask, sizeof(set)))
			return -EFAULT;
	}
	current->saved_sigmask = current->blocked;
	set_restore_sigmask();
	sigdelsetmask(&set, sigmask(SIGKILL) | sigmask(SIGSTOP));
	return sigprocmask(SIG_SETMASK, &set, NULL);
}

/* After a signal its handler runs first, on the way out, under the mask. */
static void mrpc_unmask_signals(bool interrupted)
{
	if (!interrupted && test_and_clear_restore_sigmask())
		sigprocmask(SIG_SETMASK, &current->saved_sigmask, NULL);
}

static int mrpc_ioc_enter(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_enter e;
	int err;

	err = mrpc_copy_in(&e, sizeof(e), arg);
	if (err)
		return err;
	if (e.flags & ~MRPC_ENTER_NOT_SENT || e.resv || (e.sigset_size && !e.sigmask))
		return -EINVAL;
	if (e.sigmask) {
		err = mrpc_mask_signals(&e);
		if (err)
			return err;
	}
	err = mrpc_qp_enter(session, &e);
	/* As ppoll(): with a mask the signals that it lets in are waited for, too. */
	if (err == -EINTR)
		err = e.sigmask ? -ERESTARTNOHAND : -ERESTARTSYS;
	if (e.sigmask)
		mrpc_unmask_signals(err == -ERESTARTNOHAND);
	if (put_user(e.submitted, &((struct mrpc_enter __user *)arg)->submitted))
		return -EFAULT;
	return err;
}

static int mrpc_ioc_call(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_call_sync __user *to = arg;
	struct mrpc_call_sync c __uninitialized;
	u32 token;
	int err;

	err = mrpc_copy_in(&c, sizeof(c), arg);
	if (err)
		return err;
	token = c.token;
	err = mrpc_qp_call(session, &c);
	if (token != c.token && put_user(c.token, &to->token)) {
		/* Without its token the call would be lost. */
		c.flags = MRPC_CALL_CANCEL;
		if (c.token)
			err = mrpc_qp_call(session, &c);
		if (err)	/* there is no completion */
			return -EFAULT;
		goto fault;
	}
	if (err)
		return err;
	if (!copy_to_user(&to->cqe, &c.cqe, sizeof(c.cqe)))
		return 0;
fault:
	if (c.cqe.flags & MRPC_CQE_BLOCK)	/* of which the application does not know */
		mrpc_release(session, &c.cqe.block, 1);
	return -EFAULT;
}

static int mrpc_ioc_release(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_release r;
	int err;

	err = mrpc_copy_in(&r, sizeof(r), arg);
	if (err)
		return err;
	if (r.nr > MRPC_RELEASE_MAX || r.flags || r.resv ||
	    memchr_inv(&r.blocks[r.nr], 0, (MRPC_RELEASE_MAX - r.nr) * sizeof(r.blocks[0])))
		return -EINVAL;
	return mrpc_release(session, r.blocks, r.nr);
}

static int mrpc_ioc_request(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_request r;
	struct mrpc_conn *conn;
	bool open;
	int err;

	err = mrpc_copy_in(&r, sizeof(r), arg);
	if (err)
		return err;
	conn = mrpc_conn_find(session, r.conn);
	if (!conn)
		return -ENOENT;
	open = conn->link.accepted && mrpc_serve_is_open(conn, r.call);
	mrpc_conn_put(conn);
	return open ? 0 : -ENOENT;
}

static int mrpc_ioc_group(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_group_new g;
	struct mrpc_refusal r;
	int err;

	r.detail[0] = 0;
	err = mrpc_copy_in(&g, sizeof(g), arg);
	if (err)
		return err;
	if (g.flags || g.id || g.resv || g.explain.resv)
		return -EINVAL;
	err = mrpc_member_join(session, &g, &r);
	if (err) {
		mrpc_explain(&g.explain, &r);
		return err;
	}
	err = mrpc_copy_out(arg, &g, sizeof(g));
	if (err)	/* the application does not know of it */
		mrpc_member_leave(session, g.id);
	return err;
}

static int mrpc_ioc_group_link(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_group_link l;
	struct mrpc_refusal r;
	int err;

	r.detail[0] = 0;
	err = mrpc_copy_in(&l, sizeof(l), arg);
	if (err)
		return err;
	if (l.flags || l.resv || l.explain.resv)
		return -EINVAL;
	err = mrpc_member_link(session, &l, &r);
	if (err)
		mrpc_explain(&l.explain, &r);
	return err;
}

static int mrpc_ioc_group_end(struct mrpc_session *session, void __user *arg)
{
	struct mrpc_group_end e;
	int err;

	err = mrpc_copy_in(&e, sizeof(e), arg);
	return err ?: mrpc_member_leave(session, e.group);
}

/* An ioctl's number without the size, which its argument says itself. */
#define mrpc_ioc(cmd)	((cmd) & ~IOCSIZE_MASK)

/**
 * mrpc_session_ioctl() - every ioctl of /dev/mrpc
 * @session: the session
 * @cmd: MRPC_IOC_*
 * @arg: the argument
 *
 * Return: 0 or a negative errno; -ENXIO before MRPC_IOC_SETUP.
 */
long mrpc_session_ioctl(struct mrpc_session *session, unsigned int cmd, void __user *arg)
{
	u32 op = mrpc_ioc(cmd);

	if (op == mrpc_ioc(MRPC_IOC_SETUP))
		return mrpc_ioc_setup(session, arg);
	/* Acquire: pairs with the release in mrpc_ioc_setup(). */
	if (!smp_load_acquire(&session->setup))
		return _IOC_TYPE(cmd) == MRPC_IOC_MAGIC ? -ENXIO : -ENOTTY;
	switch (op) {
	case mrpc_ioc(MRPC_IOC_ENTER):
		return mrpc_ioc_enter(session, arg);
	case mrpc_ioc(MRPC_IOC_CALL):
		return mrpc_ioc_call(session, arg);
	case mrpc_ioc(MRPC_IOC_RELEASE):
		return mrpc_ioc_release(session, arg);
	case mrpc_ioc(MRPC_IOC_REGION):
		return mrpc_ioc_region(session, arg);
	case mrpc_ioc(MRPC_IOC_QP):
		return mrpc_ioc_qp(session, arg);
	case mrpc_ioc(MRPC_IOC_BIND):
		return mrpc_ioc_bind(session, arg);
	case mrpc_ioc(MRPC_IOC_CONNECT):
		return mrpc_ioc_connect(session, arg, false);
	case mrpc_ioc(MRPC_IOC_SERVE):
		return mrpc_ioc_connect(session, arg, true);
	case mrpc_ioc(MRPC_IOC_CLOSE):
		return mrpc_ioc_close(session, arg);
	case mrpc_ioc(MRPC_IOC_ADOPT):
		return mrpc_ioc_adopt(session, arg);
	case mrpc_ioc(MRPC_IOC_CONN_INFO):
		return mrpc_ioc_conn_info(session, arg);
	case mrpc_ioc(MRPC_IOC_REQUEST):
		return mrpc_ioc_request(session, arg);
	case mrpc_ioc(MRPC_IOC_GROUP):
		return mrpc_ioc_group(session, arg);
	case mrpc_ioc(MRPC_IOC_GROUP_LINK):
		return mrpc_ioc_group_link(session, arg);
	case mrpc_ioc(MRPC_IOC_GROUP_END):
		return mrpc_ioc_group_end(session, arg);
	default:
		return -ENOTTY;
	}
}
