/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Certificates for tests, in files of a directory that certs_remove() removes.
 */
#ifndef CERTS_H
#define CERTS_H

#include <time.h>

/**
 * struct cert_opts - a certificate
 * @name: of its files
 * @issuer: the name of an authority that was made before; NULL: it is one, and signs itself
 * @cn: common name of the subject; NULL: the subject is empty
 * @uri: an alternative name, or NULL
 * @dns: an alternative name, or NULL
 * @ip: an IPv4 address as alternative name, or NULL
 * @purpose: an OID, or NULL: any
 * @from: in seconds from now
 * @until: in seconds from now; 0: an hour
 */
struct cert_opts {
	const char *name;
	const char *issuer;
	const char *cn;
	const char *uri;
	const char *dns;
	const char *ip;
	const char *purpose;
	time_t from;
	time_t until;
};

void certs_make(const struct cert_opts *opts);

/* Paths of the files of a name. The text is valid until the 16th call from now. */
const char *cert_file(const char *name);
const char *key_file(const char *name);

/* The identity that libmrpc-tls finds in a certificate, or its error. */
int certs_identity(const char *name, char *buf);

void certs_remove(void);

#endif /* CERTS_H */
