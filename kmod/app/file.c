// SPDX-License-Identifier: GPL-2.0
/* The file operations of /dev/mrpc. */
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/vmalloc.h>

#include "app/call.h"
#include "app/ioctl.h"
#include "call/flow_rx.h"
#include "conn/accept.h"
#include "core/conn.h"
#include "core/heap.h"
#include "core/listener.h"
#include "core/notify.h"
#include "core/qp.h"
#include "core/session.h"
#include "core/user.h"
#include "exec/recv_free.h"
#include "group/member.h"

/* Offsets for mmap: the kind in the high bits, the heap offset or queue pair in the low bits. */
#define MRPC_MMAP_SHIFT		40
#define MRPC_MMAP_SEND		0
#define MRPC_MMAP_RECV		1
#define MRPC_MMAP_QP		2
#define MRPC_MMAP_QP_SHIFT	24

static int mrpc_open(struct inode *inode, struct file *file)
{
	struct mrpc_session *session = mrpc_session_new();

	if (IS_ERR(session))
		return PTR_ERR(session);
	file->private_data = session;
	return nonseekable_open(inode, file);
}

/*
 * The last file reference is gone, and so are all mappings and all threads in an ioctl. Nothing
 * here waits: connections end in their own work.
 */
static int mrpc_close(struct inode *inode, struct file *file)
{
	struct mrpc_session *session = file->private_data;
	struct mrpc_listener *l;
	struct mrpc_conn *conn;
	unsigned long id = 0;
	u32 i;

	mrpc_session_leave(session);
	mrpc_user_uncharge_session(session->user);
	xa_lock(&session->conns);
	WRITE_ONCE(session->closing, true);
	xa_unlock(&session->conns);
	for (i = 0; i < session->nr_qps; i++)
		mrpc_qp_end(session->qps[i]);
	mrpc_members_end(session);	/* before the connections: other ranks learn why */
	if (session->setup)	/* else no watcher was told of it */
		mrpc_notify_session(session, MRPC_EVENT_SESSION_CLOSE);
	while ((l = mrpc_listener_next(session, &id))) {
		mrpc_listener_close(l);
		mrpc_listener_put(l);
	}
	id = 0;
	while ((conn = mrpc_conn_next(session, &id))) {
		set_bit(MRPC_CONN_LEFT, &conn->flags);
		/* What other ranks were told a moment ago still arrives. */
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the session has ended", !conn->member);
		mrpc_conn_forget(conn);
		mrpc_conn_put(conn);
	}
	mrpc_parked_end(session);
	mrpc_session_put(session);
	return 0;
}

static long mrpc_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return mrpc_session_ioctl(file->private_data, cmd, (void __user *)arg);
}

static __poll_t mrpc_poll(struct file *file, poll_table *wait)
{
	struct mrpc_session *session = file->private_data;
	u32 nr = mrpc_qp_count(session), i;
	__poll_t events = 0;

	/* A thread that only accepts is not woken for each completion. */
	if (poll_requested_events(wait) & (EPOLLIN | EPOLLRDNORM))
		poll_wait(file, &session->poll_wait, wait);
	poll_wait(file, &session->accept_wait, wait);
	smp_mb();	/* pairs with the barrier after a post of a completion or a listing */
	if (!list_empty(&session->ready_listeners))
		events = EPOLLPRI;
	for (i = 0; i < nr; i++)
		if (mrpc_qp_ready(session->qps[i]) || mrpc_qp_says(session->qps[i]) ||
		    mrpc_flow_pulls(session->qps[i]))
			return events | EPOLLIN | EPOLLRDNORM;
	if (events || !list_empty(&session->pending))
		events |= EPOLLIN | EPOLLRDNORM;
	return events;
}

static vm_fault_t mrpc_send_fault(struct vm_fault *vmf)
{
	struct mrpc_session *session = vmf->vma->vm_private_data;
	u64 off = ((u64)vmf->pgoff << PAGE_SHIFT) & (BIT_ULL(MRPC_MMAP_SHIFT) - 1);

	return mrpc_heap_fault(&session->send, vmf, off);
}

static vm_fault_t mrpc_recv_fault(struct vm_fault *vmf)
{
	struct mrpc_session *session = vmf->vma->vm_private_data;
	u64 off = ((u64)vmf->pgoff << PAGE_SHIFT) & (BIT_ULL(MRPC_MMAP_SHIFT) - 1);

	return mrpc_heap_fault(&session->recv, vmf, off);
}

static vm_fault_t mrpc_qp_fault(struct vm_fault *vmf)
{
	struct mrpc_session *session = vmf->vma->vm_private_data;
	u64 off = ((u64)vmf->pgoff << PAGE_SHIFT) & (BIT_ULL(MRPC_MMAP_SHIFT) - 1);
	struct mrpc_qp *qp = mrpc_qp_find(session, off >> MRPC_MMAP_QP_SHIFT);

	off &= BIT_ULL(MRPC_MMAP_QP_SHIFT) - 1;
	if (!qp || off >= qp->mem_len)
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page(qp->mem + off);
	get_page(vmf->page);
	return 0;
}

/* The mapping holds the file, and the file the session. */
static const struct vm_operations_struct mrpc_send_vm_ops = { .fault = mrpc_send_fault };
static const struct vm_operations_struct mrpc_recv_vm_ops = { .fault = mrpc_recv_fault };
static const struct vm_operations_struct mrpc_qp_vm_ops = { .fault = mrpc_qp_fault };

static int mrpc_mmap(struct file *file, struct vm_area_struct *vma)
{
	u64 start = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 len = vma->vm_end - vma->vm_start;
	u64 off = start & (BIT_ULL(MRPC_MMAP_SHIFT) - 1);
	vm_flags_t flags = VM_DONTEXPAND | VM_DONTDUMP;
	struct mrpc_session *session = file->private_data;
	struct mrpc_qp *qp;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	switch (start >> MRPC_MMAP_SHIFT) {
	case MRPC_MMAP_SEND:
		if (!mrpc_heap_at(&session->send, off, len))
			return -EINVAL;
		vma->vm_ops = &mrpc_send_vm_ops;
		break;
	case MRPC_MMAP_RECV:
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		if (!mrpc_heap_at(&session->recv, off, len))
			return -EINVAL;
		/* A thread told of a block there waits for the mmap lock, then finds it. */
		if (mrpc_heap_mapped(&session->recv, off))
			mrpc_recv_freed(session);
		vm_flags_clear(vma, VM_MAYWRITE);
		vma->vm_ops = &mrpc_recv_vm_ops;
		break;
	case MRPC_MMAP_QP:
		qp = mrpc_qp_find(session, off >> MRPC_MMAP_QP_SHIFT);
		off &= BIT_ULL(MRPC_MMAP_QP_SHIFT) - 1;
		if (!qp || off >= qp->mem_len || len > qp->mem_len - off)
			return -EINVAL;
		flags |= VM_DONTCOPY;
		vma->vm_ops = &mrpc_qp_vm_ops;
		break;
	default:
		return -EINVAL;
	}
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, flags);
	vma->vm_private_data = session;
	return 0;
}

const struct file_operations mrpc_fops = {
	.owner		= THIS_MODULE,
	.open		= mrpc_open,
	.release	= mrpc_close,
	.unlocked_ioctl	= mrpc_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= mrpc_mmap,
	.poll		= mrpc_poll,
};
