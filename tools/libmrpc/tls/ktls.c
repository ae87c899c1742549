// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Kernel TLS: the kernel gets the keys that a handshake has made.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "ktls.h"

#ifndef TCP_ULP
#define TCP_ULP		31
#endif
#ifndef SOL_TLS
#define SOL_TLS		282
#endif

static const char *cipher_name(const struct ktls_keys *k)
{
	switch (k->info.cipher_type) {
	case TLS_CIPHER_AES_GCM_128:
		return "AES-128-GCM";
	case TLS_CIPHER_AES_GCM_256:
		return "AES-256-GCM";
	default:
		return "CHACHA20-POLY1305";
	}
}

static int no_ulp(char *why, size_t size)
{
	int err = errno;

	if (err == ENOENT)
		snprintf(why, size, "this kernel has no TLS, or its module is not loaded: "
			 "modprobe tls");
	else if (err == ENOTCONN)
		snprintf(why, size, "the peer has closed the connection");
	else
		snprintf(why, size, "this kernel does not begin TLS: %s", strerror(err));
	return err == ENOENT ? -EOPNOTSUPP : -err;
}

int ktls_install(int fd, const struct ktls_keys *tx, const struct ktls_keys *rx, char *why,
		 size_t size)
{
	int err;

	if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")))
		return no_ulp(why, size);
	if (!setsockopt(fd, SOL_TLS, TLS_TX, tx, tx->len) &&
	    !setsockopt(fd, SOL_TLS, TLS_RX, rx, rx->len))
		return 0;
	err = errno;
	if (err == ENOENT || err == EINVAL || err == EOPNOTSUPP) {
		snprintf(why, size, "this kernel does not have the cipher %s for TLS 1.3: %s",
			 cipher_name(tx), strerror(err));
		return -EOPNOTSUPP;
	}
	snprintf(why, size, "this kernel does not take the keys of TLS: %s", strerror(err));
	return -err;
}
