/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_TLS_KTLS_H
#define LIBMRPC_TLS_KTLS_H

#include <linux/tls.h>
#include <sys/socket.h>

#include "internal.h"

/**
 * struct ktls_keys - one direction of a connection, as the kernel takes it
 * @info: which of the others it is
 * @len: bytes of it
 */
struct ktls_keys {
	union {
		struct tls_crypto_info info;
		struct tls12_crypto_info_aes_gcm_128 aes_gcm_128;
		struct tls12_crypto_info_aes_gcm_256 aes_gcm_256;
		struct tls12_crypto_info_chacha20_poly1305 chacha20_poly1305;
	};
	socklen_t len;
};

/*
 * Has the kernel encrypt and decrypt what goes over a socket from now on. @tx, @rx: the directions.
 * Return: 0, or -errno with a sentence in @why.
 */
int ktls_install(int fd, const struct ktls_keys *tx, const struct ktls_keys *rx, char *why,
		 size_t size);

#endif /* LIBMRPC_TLS_KTLS_H */
