// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Certificates for tests, made with GnuTLS.
 */
#include <arpa/inet.h>
#include <gnutls/abstract.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certs.h"
#include "identity.h"

#define CERTS		32
#define PATHS		16

static char dir[] = "/tmp/libmrpc-certs-XXXXXX";
static bool made_dir;
static struct cert {
	char name[32];
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t key;
} certs[CERTS];
static unsigned int nr_certs;

static void must(int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "certs: %s\n", gnutls_strerror(ret));
	abort();
}

static const char *path_of(const char *name, const char *suffix)
{
	static char paths[PATHS][128];
	static unsigned int next;
	char *path = paths[next++ % PATHS];

	snprintf(path, sizeof(paths[0]), "%s/%s.%s", dir, name, suffix);
	return path;
}

const char *cert_file(const char *name)
{
	return path_of(name, "pem");
}

const char *key_file(const char *name)
{
	return path_of(name, "key");
}

static struct cert *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_certs; i++)
		if (!strcmp(certs[i].name, name))
			return &certs[i];
	abort();
}

static void write_file(const char *path, const gnutls_datum_t *data)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data->data, 1, data->size, f) != data->size || fclose(f))
		abort();
}

static void add_names(struct cert *c, const struct cert_opts *o)
{
	struct in_addr in;

	if (o->cn)
		must(gnutls_x509_crt_set_dn_by_oid(c->crt, GNUTLS_OID_X520_COMMON_NAME, 0, o->cn,
						   (unsigned int)strlen(o->cn)));
	if (o->dns)
		must(gnutls_x509_crt_set_subject_alt_name(c->crt, GNUTLS_SAN_DNSNAME, o->dns,
							  (unsigned int)strlen(o->dns),
							  GNUTLS_FSAN_APPEND));
	if (o->uri)
		must(gnutls_x509_crt_set_subject_alt_name(c->crt, GNUTLS_SAN_URI, o->uri,
							  (unsigned int)strlen(o->uri),
							  GNUTLS_FSAN_APPEND));
	if (o->ip && inet_pton(AF_INET, o->ip, &in) == 1)
		must(gnutls_x509_crt_set_subject_alt_name(c->crt, GNUTLS_SAN_IPADDRESS, &in,
							  sizeof(in), GNUTLS_FSAN_APPEND));
}

void certs_make(const struct cert_opts *o)
{
	struct cert *c = &certs[nr_certs++], *issuer;
	gnutls_datum_t pem;
	time_t now = time(NULL);

	if (nr_certs > CERTS || (!made_dir && !mkdtemp(dir)))
		abort();
	made_dir = true;
	snprintf(c->name, sizeof(c->name), "%s", o->name);
	must(gnutls_x509_privkey_init(&c->key));
	must(gnutls_x509_privkey_generate(c->key, GNUTLS_PK_ECDSA,
					  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
	must(gnutls_x509_crt_init(&c->crt));
	must(gnutls_x509_crt_set_version(c->crt, 3));
	must(gnutls_x509_crt_set_serial(c->crt, &nr_certs, 1));
	must(gnutls_x509_crt_set_activation_time(c->crt, now - 3600 + o->from));
	must(gnutls_x509_crt_set_expiration_time(c->crt, now + (o->until ? o->until : 3600)));
	must(gnutls_x509_crt_set_basic_constraints(c->crt, !o->issuer, -1));
	if (o->purpose)
		must(gnutls_x509_crt_set_key_purpose_oid(c->crt, o->purpose, 0));
	add_names(c, o);
	must(gnutls_x509_crt_set_key(c->crt, c->key));
	issuer = o->issuer ? find(o->issuer) : c;
	must(gnutls_x509_crt_sign2(c->crt, issuer->crt, issuer->key, GNUTLS_DIG_SHA256, 0));
	must(gnutls_x509_crt_export2(c->crt, GNUTLS_X509_FMT_PEM, &pem));
	write_file(cert_file(o->name), &pem);
	gnutls_free(pem.data);
	must(gnutls_x509_privkey_export2(c->key, GNUTLS_X509_FMT_PEM, &pem));
	write_file(key_file(o->name), &pem);
	gnutls_free(pem.data);
}

/* GnuTLS finds alternative names only in a certificate that was read. */
int certs_identity(const char *name, char *buf)
{
	gnutls_x509_crt_t crt;
	gnutls_datum_t der;
	int len;

	must(gnutls_x509_crt_export2(find(name)->crt, GNUTLS_X509_FMT_DER, &der));
	must(gnutls_x509_crt_init(&crt));
	must(gnutls_x509_crt_import(crt, &der, GNUTLS_X509_FMT_DER));
	gnutls_free(der.data);
	len = identity_of(crt, buf);
	gnutls_x509_crt_deinit(crt);
	return len;
}

void certs_remove(void)
{
	while (nr_certs) {
		struct cert *c = &certs[--nr_certs];

		unlink(cert_file(c->name));
		unlink(key_file(c->name));
		gnutls_x509_crt_deinit(c->crt);
		gnutls_x509_privkey_deinit(c->key);
	}
	if (made_dir)
		rmdir(dir);
}
