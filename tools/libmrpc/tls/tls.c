// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Configurations of TLS: what an application makes once, and gives to connections and listeners.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "handshake.h"
#include "tls.h"

#pragma GCC visibility push(default)
#include "mrpc_tls.h"
#pragma GCC visibility pop

static struct tls *tls_of(struct mrpc_tls *base)
{
	return (struct tls *)base;
}

void tls_get(struct tls *tls)
{
	__atomic_add_fetch(&tls->refs, 1, __ATOMIC_RELAXED);
}

/* A forked child may do it, too, so this takes no lock. */
void tls_put(struct tls *tls)
{
	if (__atomic_sub_fetch(&tls->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (tls->creds)
		creds_put(tls->creds);
	free(tls->files.ca);
	free(tls->files.cert);
	free(tls->files.key);
	free(tls->server_name);
	pthread_mutex_destroy(&tls->lock);
	free(tls);
}

struct creds *tls_creds(struct tls *tls)
{
	struct creds *creds;

	pthread_mutex_lock(&tls->lock);
	creds = tls->creds;
	creds_get(creds);
	pthread_mutex_unlock(&tls->lock);
	return creds;
}

/* -- for libmrpc ------------------------------------------------------------------------------ */

static void get(struct mrpc_tls *base)
{
	tls_get(tls_of(base));
}

static void put(struct mrpc_tls *base)
{
	tls_put(tls_of(base));
}

static struct secure *begin(struct mrpc_tls *base, int fd, const char *transport,
			    const char *host)
{
	return handshake_begin(tls_of(base), fd, transport, host);
}

static void refused(struct mrpc_tls *base, const char *what)
{
	struct tls *tls = tls_of(base);

	pthread_mutex_lock(&tls->lock);
	tls->refusals++;
	snprintf(tls->refused, sizeof(tls->refused), "%s", what);
	pthread_mutex_unlock(&tls->lock);
}

static const struct secure_ops ops = {
	.version = SECURE_VERSION,
	.get = get,
	.put = put,
	.begin = begin,
	.step = handshake_step,
	.end = handshake_end,
	.refused = refused,
};

/* -- the interface ----------------------------------------------------------------------------- */

/* What would be ignored is refused: the application may rely on it. */
static int check(const struct mrpc_tls_opts *opts, bool server)
{
	size_t len = opts->server_name ? strlen(opts->server_name) : 1;

	if (!len || len >= HOST_MAX)
		return mrpc_lib_fail(EINVAL, "server_name must have 1 to %u bytes", HOST_MAX - 1);
	if (!opts->cert_file != !opts->key_file)
		return mrpc_lib_fail(EINVAL, "a certificate needs its key, and a key its "
				     "certificate");
	if (!server && opts->require_client)
		return mrpc_lib_fail(EINVAL, "require_client is for servers");
	if (!server)
		return 0;
	if (!opts->cert_file)
		return mrpc_lib_fail(EINVAL, "a server needs a certificate");
	if (opts->server_name)
		return mrpc_lib_fail(EINVAL, "server_name is for clients");
	if (opts->require_client && !opts->ca_file)
		return mrpc_lib_fail(EINVAL, "a server that requires certificates of clients needs "
				     "a CA file");
	if (opts->ca_file && !opts->require_client)
		return mrpc_lib_fail(EINVAL, "a server has a CA file only if it requires "
				     "certificates of clients");
	return 0;
}

static bool copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

static struct mrpc_tls *tls_new(const struct mrpc_tls_opts *opts, bool server)
{
	static const struct mrpc_tls_opts none;
	struct tls *tls;

	if (!opts)
		opts = &none;
	if (check(opts, server))
		return NULL;
	tls = calloc(1, sizeof(*tls));
	if (!tls) {
		mrpc_lib_fail(ENOMEM, "out of memory");
		return NULL;
	}
	tls->base.ops = &ops;
	tls->base.server = server;
	tls->refs = 1;
	pthread_mutex_init(&tls->lock, NULL);
	tls->files.trust = !server || opts->require_client;
	if (copy(&tls->files.ca, opts->ca_file) && copy(&tls->files.cert, opts->cert_file) &&
	    copy(&tls->files.key, opts->key_file) && copy(&tls->server_name, opts->server_name))
		tls->creds = creds_load(&tls->files);
	else
		mrpc_lib_fail(ENOMEM, "out of memory");
	if (tls->creds)
		return &tls->base;
	tls_put(tls);
	return NULL;
}

struct mrpc_tls *mrpc_tls_client(const struct mrpc_tls_opts *opts)
{
	return tls_new(opts, false);
}

struct mrpc_tls *mrpc_tls_server(const struct mrpc_tls_opts *opts)
{
	return tls_new(opts, true);
}

int mrpc_tls_reload(struct mrpc_tls *base)
{
	struct tls *tls = tls_of(base);
	struct creds *creds = creds_load(&tls->files), *old;

	if (!creds)
		return -errno;
	pthread_mutex_lock(&tls->lock);
	old = tls->creds;
	tls->creds = creds;
	pthread_mutex_unlock(&tls->lock);
	creds_put(old);
	return 0;
}

__u64 mrpc_tls_refusals(struct mrpc_tls *base, char *buf, size_t size)
{
	struct tls *tls = tls_of(base);
	u64 nr;

	pthread_mutex_lock(&tls->lock);
	nr = tls->refusals;
	if (size)
		snprintf(buf, size, "%s", tls->refused);
	pthread_mutex_unlock(&tls->lock);
	return nr;
}

void mrpc_tls_free(struct mrpc_tls *base)
{
	if (base)
		tls_put(tls_of(base));
}
