// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Certificates and keys, as files have them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "creds.h"
#include "secure.h"

#define FILE_MAX	(16 << 20)	/* bytes */

/* Fills @data with the file's bytes, up to @size. Return: how many, or -errno. */
static ssize_t read_all(int fd, u8 *data, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = read(fd, data + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* @what: what the file is, for the error. 0 or -errno with the error set. */
static int load(const char *what, const char *path, gnutls_datum_t *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;
	ssize_t len;

	to->data = NULL;
	to->size = 0;
	if (fd < 0 || fstat(fd, &st))
		err = errno;
	else if (st.st_size > FILE_MAX)
		err = EFBIG;
	if (!err) {
		to->data = malloc((size_t)st.st_size + 1);
		len = to->data ? read_all(fd, to->data, (size_t)st.st_size) : -ENOMEM;
		if (len < 0)
			err = (int)-len;
		else
			to->size = (unsigned int)len;
	}
	if (fd >= 0)
		close(fd);
	return err ? mrpc_lib_fail(err, "cannot read the %s %s: %s", what, path, strerror(err)) : 0;
}

static void unload(gnutls_datum_t *data)
{
	if (data->data)
		explicit_bzero(data->data, data->size);
	free(data->data);
}

static int load_trust(gnutls_certificate_credentials_t cred, const char *path)
{
	gnutls_datum_t ca;
	int nr;

	if (!path) {
		nr = gnutls_certificate_set_x509_system_trust(cred);
		return nr > 0 ? 0 : mrpc_lib_fail(ENOENT, "the system has no CA certificates%s%s",
						  nr ? ": " : "", nr ? gnutls_strerror(nr) : "");
	}
	if (load("CA file", path, &ca)) {
		unload(&ca);
		return -errno;
	}
	nr = gnutls_certificate_set_x509_trust_mem(cred, &ca, GNUTLS_X509_FMT_PEM);
	unload(&ca);
	if (nr > 0)
		return 0;
	return mrpc_lib_fail(EINVAL, "the CA file %s has no certificate in PEM%s%s", path,
			     nr ? ": " : "", nr ? gnutls_strerror(nr) : "");
}

static int bad_own(const struct creds_files *files, int ret)
{
	if (ret == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return mrpc_lib_fail(EINVAL, "the key in %s is not that of the certificate in %s",
				     files->key, files->cert);
	if (ret == GNUTLS_E_MEMORY_ERROR)
		return mrpc_lib_fail(ENOMEM, "out of memory");
	return mrpc_lib_fail(EINVAL, "cannot use the certificate in %s with the key in %s: %s",
			     files->cert, files->key, gnutls_strerror(ret));
}

static int load_own(gnutls_certificate_credentials_t cred, const struct creds_files *files)
{
	gnutls_datum_t cert, key = { NULL, 0 };
	int ret, err;

	err = load("certificate", files->cert, &cert);
	if (!err)
		err = load("key", files->key, &key);
	if (!err) {
		ret = gnutls_certificate_set_x509_key_mem2(cred, &cert, &key,
							   GNUTLS_X509_FMT_PEM, NULL, 0);
		if (ret < 0)
			err = bad_own(files, ret);
	}
	unload(&cert);
	unload(&key);
	return err;
}

struct creds *creds_load(const struct creds_files *files)
{
	struct creds *creds = malloc(sizeof(*creds));
	int err = 0;

	if (!creds || gnutls_certificate_allocate_credentials(&creds->cred)) {
		free(creds);
		mrpc_lib_fail(ENOMEM, "out of memory");
		return NULL;
	}
	creds->refs = 1;
	if (files->trust)
		err = load_trust(creds->cred, files->ca);
	if (!err && files->cert)
		err = load_own(creds->cred, files);
	if (!err)
		return creds;
	creds_put(creds);
	errno = -err;
	return NULL;
}

void creds_get(struct creds *creds)
{
	__atomic_add_fetch(&creds->refs, 1, __ATOMIC_RELAXED);
}

void creds_put(struct creds *creds)
{
	if (__atomic_sub_fetch(&creds->refs, 1, __ATOMIC_ACQ_REL))
		return;
	gnutls_certificate_free_credentials(creds->cred);
	free(creds);
}
