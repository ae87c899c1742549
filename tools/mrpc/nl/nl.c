// SPDX-License-Identifier: GPL-2.0
/* Generic netlink: requests, the kernel's explanations, events. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <json-c/json.h>
#include <linux/genetlink.h>
#include <linux/mrpc.h>
#include <linux/mrpc_netlink.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "cli/util.h"
#include "nl/body.h"
#include "nl/decode.h"
#include "nl/nl.h"
#include "nl/sets.h"

/**
 * enter_netns() - do everything from now on in another network namespace
 * @name: of "ip netns", or a path as /proc/PID/ns/net
 */
void enter_netns(const char *name)
{
	char *path = text_printf("%s%s", strchr(name, '/') ? "" : "/run/netns/", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("there is no network namespace '%s': %s: %s", name, path, strerror(errno));
	if (setns(fd, CLONE_NEWNET))
		fail("cannot enter the network namespace '%s': %s", name, strerror(errno));
	close(fd);
	free(path);
}

static const char no_permission[] =
	"not permitted: this needs CAP_NET_ADMIN in the user namespace that owns the "
	"network namespace";

static struct nl_sock *open_socket(void)
{
	struct nl_sock *sk = nl_socket_alloc();
	int one = 1, err;

	if (!sk)
		fail("out of memory");
	err = genl_connect(sk);
	if (err)
		fail("cannot open a netlink socket: %s", nl_geterror(err));
	/* Room for many objects, or a very large one, and errors in words. */
	nl_socket_set_msg_buf_size(sk, 65536);
	nl_socket_enable_msg_peek(sk);
	setsockopt(nl_socket_get_fd(sk), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl_socket_get_fd(sk), SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	return sk;
}

static int resolve_family(struct nl_sock *sk)
{
	int family = genl_ctrl_resolve(sk, MRPC_FAMILY_NAME);

	if (family < 0)
		fail("the kernel does not know mrpc; is the module loaded ('modprobe mrpc')?");
	return family;
}

/* -- requests --------------------------------------------------------------- */

struct request {
	const struct set *set;
	struct answer answer;
	void (*each)(const struct nlattr *attrs, int len, void *arg);
	void *arg;
	bool done;
};

static int got_object(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *hdr = genlmsg_hdr(nlmsg_hdr(msg));
	struct request *r = arg;

	if (r->each)
		r->each(genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0), r->arg);
	else
		json_object_array_add(r->answer.array, decode(r->set, genlmsg_attrdata(hdr, 0),
							      genlmsg_attrlen(hdr, 0)));
	return NL_OK;
}

/* The kernel's own words about error @err, which @attrs have, or errno's. */
static char *explain(int err, const struct nlattr *attrs, int len)
{
	const struct nlattr *msg = len > 0 ?
				   nla_find(attrs, len, NLMSGERR_ATTR_MSG) : NULL;

	if (msg)
		return clean_text(nla_data(msg), strnlen(nla_data(msg), nla_len(msg)));
	if (err == -EPERM)
		return text_printf("%s", no_permission);
	if (err == -EOPNOTSUPP)
		return text_printf("the kernel's mrpc module does not know this request: it is "
				   "older than this command");
	return text_printf("the kernel refused: %s", strerror(-err));
}

static int refused(struct request *r, int err, const struct nlattr *attrs, int len)
{
	r->answer.err = err;
	r->answer.why = explain(err, attrs, len);
	r->done = true;
	return NL_STOP;
}

/* The attributes behind an acknowledgement. Return: their bytes. */
static int ack_attrs(const struct nlmsghdr *hdr, const struct nlmsgerr *e,
		     const struct nlattr **attrs)
{
	int skip = sizeof(*e);

	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(e->msg.nlmsg_len) - sizeof(e->msg);
	*attrs = (const void *)((const char *)e + skip);
	return hdr->nlmsg_flags & NLM_F_ACK_TLVS ? nlmsg_datalen(hdr) - skip : 0;
}

/* It went well, but the kernel may have a warning. */
static int got_ack(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct request *r = arg;
	const struct nlattr *attrs;
	int len = ack_attrs(hdr, nlmsg_data(hdr), &attrs);
	char *text;

	if (len > 0 && nla_find(attrs, len, NLMSGERR_ATTR_MSG)) {
		text = explain(0, attrs, len);
		fprintf(stderr, "mrpc: warning: %s\n", text);
		free(text);
	}
	r->done = true;
	return NL_STOP;
}

/* The end of a dump; one that failed half-way says so here. */
static int got_end(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct request *r = arg;
	int err = 0, len = nlmsg_datalen(hdr);

	if (len >= (int)sizeof(err))
		memcpy(&err, nlmsg_data(hdr), sizeof(err));
	if (err < 0)
		return refused(r, err,
			       (void *)((char *)nlmsg_data(hdr) + NLMSG_ALIGN(sizeof(err))),
			       hdr->nlmsg_flags & NLM_F_ACK_TLVS ? len - (int)sizeof(err) : 0);
	r->done = true;
	return NL_STOP;
}

static int got_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	const struct nlattr *attrs;
	int len = ack_attrs((struct nlmsghdr *)((char *)e - NLMSG_HDRLEN), e, &attrs);

	(void)from;
	return refused(arg, e->error, attrs, len);
}

static struct nl_msg *make_request(struct nl_sock *sk, int cmd, bool dump,
				   const struct body *body)
{
	size_t len = body ? body->len : 0;
	struct nl_msg *msg = nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN + len + 64);
	int size = 2 * len + 65536;

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, resolve_family(sk), 0,
				 dump ? NLM_F_DUMP : 0, cmd, MRPC_FAMILY_VERSION) ||
	    (len && nlmsg_append(msg, body->data, len, 0)))
		fail("out of memory");
	/* What root may; others get what there is, and an error if that is not enough. */
	if (len > 65536)
		setsockopt(nl_socket_get_fd(sk), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	return msg;
}

/* Return: false: a dump whose parts may not fit together. */
static bool run_request(struct request *r, int cmd, bool dump, const struct body *body)
{
	struct nl_sock *sk = open_socket();
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	struct nl_msg *msg = make_request(sk, cmd, dump, body);
	int err;

	if (!cb)
		fail("out of memory");
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, got_object, r);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, got_ack, r);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, got_end, r);
	nl_cb_err(cb, NL_CB_CUSTOM, got_error, r);
	err = nl_send_auto(sk, msg);
	while (err >= 0 && !r->done) {
		err = nl_recvmsgs(sk, cb);
		if (err == -NLE_INTR)
			err = 0;
	}
	if (err < 0 && !r->done)
		fail("netlink: %s", nl_geterror(err));
	nlmsg_free(msg);
	nl_cb_put(cb);
	nl_socket_free(sk);
	return err != -NLE_DUMP_INTR;
}

/**
 * ask() - a request
 * @cmd: MRPC_CMD_*
 * @dump: of everything that the body selects
 * @set: what the answer's attributes mean
 * @body: attributes, or NULL
 *
 * Does not return if the kernel cannot be asked.
 */
struct answer ask(int cmd, bool dump, const struct set *set, const struct body *body)
{
	struct request r = { .set = set, .answer.array = json_object_new_array() };

	run_request(&r, cmd, dump, body);
	return r.answer;
}

/**
 * ask_each() - a dump of many small objects
 * @cmd: MRPC_CMD_*
 * @body: attributes
 * @each: called for each, with its attributes
 * @arg: for it
 *
 * Does not return if the kernel refuses.
 * Return: false: the objects changed meanwhile, and it has to be repeated.
 */
bool ask_each(int cmd, const struct body *body,
	      void (*each)(const struct nlattr *attrs, int len, void *arg), void *arg)
{
	struct request r = { .each = each, .arg = arg };
	bool whole = run_request(&r, cmd, true, body);

	if (r.answer.err)
		fail("%s", r.answer.why);
	return whole;
}

static struct json_object *must_ask(int cmd, bool dump, const struct set *set,
				    const struct body *body)
{
	struct answer a = ask(cmd, dump, set, body);

	if (a.err)
		fail("%s", a.why);
	return a.array;
}

/* One object, in an array; does not return if there is none. */
struct json_object *ask_one(int cmd, const struct set *set, const struct body *body)
{
	return must_ask(cmd, false, set, body);
}

/* The same, without the array. */
struct json_object *ask_object(int cmd, const struct set *set, const struct body *body)
{
	struct json_object *array = must_ask(cmd, false, set, body), *object;

	object = json_object_get(json_object_array_get_idx(array, 0));
	json_object_put(array);
	return object;
}

/* All objects that @body selects. Return: an array. */
struct json_object *ask_all(int cmd, const struct set *set, const struct body *body)
{
	return must_ask(cmd, true, set, body);
}

/* -- events ----------------------------------------------------------------- */

struct monitor {
	int (*event)(int cmd, const struct nlattr *attrs, int len);
	int family;
	bool gone;
	int stop;
};

static int got_event(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct genlmsghdr *genl = genlmsg_hdr(hdr);
	const struct nlattr *attrs = genlmsg_attrdata(genl, 0), *id;
	int len = genlmsg_attrlen(genl, 0);
	struct monitor *m = arg;

	if (hdr->nlmsg_type == m->family) {
		m->stop = m->event(genl->cmd, attrs, len);
	} else if (hdr->nlmsg_type == GENL_ID_CTRL && genl->cmd == CTRL_CMD_DELFAMILY) {
		id = nla_find(attrs, len, CTRL_ATTR_FAMILY_ID);
		m->gone = id && nla_get_u16(id) == m->family;
	}
	return NL_OK;
}

int listen_to(int (*event)(int cmd, const struct nlattr *attrs, int len))
{
	struct monitor m = { .event = event };
	struct nl_sock *sk = open_socket();
	int group, err;

	m.family = resolve_family(sk);
	group = genl_ctrl_resolve_grp(sk, MRPC_FAMILY_NAME, MRPC_MCGRP_EVENTS);
	if (group < 0)
		fail("the kernel's mrpc module has no events");
	err = nl_socket_add_membership(sk, group);
	if (err == -NLE_PERM || err == -NLE_NOACCESS)
		fail("%s", no_permission);
	if (err)
		fail("cannot listen to events: %s", nl_geterror(err));
	/* To notice that the module goes. */
	group = genl_ctrl_resolve_grp(sk, "nlctrl", "notify");
	if (group >= 0)
		nl_socket_add_membership(sk, group);
	nl_socket_set_buffer_size(sk, 1 << 20, 0);
	nl_socket_disable_seq_check(sk);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, got_event, &m);
	while (!m.stop && !m.gone) {
		err = nl_recvmsgs_default(sk);
		if (err == -NLE_NOMEM)		/* ENOBUFS: we were too slow */
			m.stop = event(0, NULL, 0);
		else if (err < 0 && err != -NLE_INTR)
			fail("netlink: %s", nl_geterror(err));
	}
	nl_socket_free(sk);
	if (m.gone)
		fail("the module was unloaded");
	return m.stop;
}
