/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_TLS_TLS_H
#define LIBMRPC_TLS_TLS_H

#include <pthread.h>

#include "creds.h"
#include "secure.h"

#define REFUSED_LEN	704	/* text of a refusal, with its NUL */

/**
 * struct tls - a configuration
 * @base: what libmrpc sees; the first member
 * @refs: references; atomic
 * @files: where the certificates are
 * @server_name: or NULL
 * @lock: protects what follows
 * @creds: what the files had
 * @refusals: peers without a connection
 * @refused: the last one of them
 */
struct tls {
	struct mrpc_tls base;
	u32 refs;
	struct creds_files files;
	char *server_name;
	pthread_mutex_t lock;
	struct creds *creds;
	u64 refusals;
	char refused[REFUSED_LEN];
};

void tls_get(struct tls *tls);
void tls_put(struct tls *tls);

/* What a new handshake uses: a reference. */
struct creds *tls_creds(struct tls *tls);

#endif /* LIBMRPC_TLS_TLS_H */
