/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_TLS_CREDS_H
#define LIBMRPC_TLS_CREDS_H

#include <gnutls/gnutls.h>

#include "internal.h"

/**
 * struct creds_files - where certificates are
 * @ca: authorities; NULL: those of the system
 * @cert: this side's chain, or NULL
 * @key: its key, or NULL
 * @trust: authorities are needed
 */
struct creds_files {
	char *ca;
	char *cert;
	char *key;
	bool trust;
};

/**
 * struct creds - what the files had at one time
 * @refs: references; atomic
 * @cred: as GnuTLS has it
 */
struct creds {
	u32 refs;
	gnutls_certificate_credentials_t cred;
};

/* Reads the files. NULL: the error of libmrpc is set, and errno. */
struct creds *creds_load(const struct creds_files *files);
void creds_get(struct creds *creds);
void creds_put(struct creds *creds);

#endif /* LIBMRPC_TLS_CREDS_H */
