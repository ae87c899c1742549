// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The name by which a peer is known: that of its certificate.
 */
#include <errno.h>
#include <stdio.h>

#include "identity.h"

#define NAME_MAX_LEN	1024	/* bytes of an alternative name; one that is longer is refused */

size_t identity_escape(const void *text, size_t len, char *buf, size_t size)
{
	const u8 *p = text;
	size_t i, at = 0;

	for (i = 0; i < len; i++) {
		char piece[5] = { (char)p[i] };
		int n = 1;

		if (p[i] < ' ' || p[i] > '~' || p[i] == '\\')
			n = snprintf(piece, sizeof(piece), "\\x%02x", p[i]);
		if (at < size)
			snprintf(buf + at, size - at, "%s", piece);
		at += (size_t)n;
	}
	if (!len && size)
		buf[0] = '\0';
	return at;
}

static int escape_all(const void *text, size_t len, char buf[MRPC_IDENTITY_LEN])
{
	size_t n = identity_escape(text, len, buf, MRPC_IDENTITY_LEN);

	return n < MRPC_IDENTITY_LEN ? (int)n : -E2BIG;
}

/* The first alternative name of a type. Return: as identity_of(). */
static int alt_name(gnutls_x509_crt_t crt, gnutls_x509_subject_alt_name_t type,
		    char buf[MRPC_IDENTITY_LEN])
{
	char name[NAME_MAX_LEN];
	unsigned int i, found;
	size_t len;
	int ret;

	for (i = 0;; i++) {
		len = sizeof(name);
		found = 0;
		ret = gnutls_x509_crt_get_subject_alt_name2(crt, i, name, &len, &found, NULL);
		if (ret == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
			return 0;
		if (ret == GNUTLS_E_SHORT_MEMORY_BUFFER && found == type)
			return -E2BIG;
		if (ret >= 0 && found == type && len)
			return escape_all(name, len, buf);
		if (ret < 0 && ret != GNUTLS_E_SHORT_MEMORY_BUFFER &&
		    ret != GNUTLS_E_X509_UNKNOWN_SAN)
			return -EBADMSG;
	}
}

int identity_of(gnutls_x509_crt_t crt, char buf[MRPC_IDENTITY_LEN])
{
	gnutls_datum_t dn;
	int ret;

	buf[0] = '\0';
	ret = alt_name(crt, GNUTLS_SAN_URI, buf);
	if (!ret)
		ret = alt_name(crt, GNUTLS_SAN_DNSNAME, buf);
	if (ret)
		return ret;
	ret = gnutls_x509_crt_get_dn3(crt, &dn, 0);
	if (ret)
		return ret == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : 0;
	ret = escape_all(dn.data, dn.size, buf);
	gnutls_free(dn.data);
	return ret;
}
