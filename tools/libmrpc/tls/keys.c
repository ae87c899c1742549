// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The keys of a session after its handshake, in the kernel's form.
 */
#include <errno.h>
#include <string.h>

#include "keys.h"

#define NONCE_LEN	12	/* of each cipher of TLS 1.3 */
#define SALT_LEN	4	/* the kernel has that part of AES-GCM's nonce apart */
#define SEQ_LEN		8

/* Fills in the members of a crypto info whose nonce has a salt. */
#define FILL_GCM(to, type, key, nonce, seq)					\
	do {									\
		(to)->info.cipher_type = (type);				\
		memcpy((to)->salt, (nonce)->data, SALT_LEN);			\
		memcpy((to)->iv, (nonce)->data + SALT_LEN, NONCE_LEN - SALT_LEN); \
		memcpy((to)->key, (key)->data, sizeof((to)->key));		\
		memcpy((to)->rec_seq, (seq), SEQ_LEN);				\
	} while (0)

/* 0, or -EOPNOTSUPP: it is not a cipher that was asked for. */
static int fill(struct ktls_keys *k, gnutls_cipher_algorithm_t cipher, const gnutls_datum_t *nonce,
		const gnutls_datum_t *key, const u8 seq[SEQ_LEN])
{
	if (nonce->size != NONCE_LEN)
		return -EOPNOTSUPP;
	k->info.version = TLS_1_3_VERSION;
	if (cipher == GNUTLS_CIPHER_AES_128_GCM && key->size == sizeof(k->aes_gcm_128.key)) {
		FILL_GCM(&k->aes_gcm_128, TLS_CIPHER_AES_GCM_128, key, nonce, seq);
		k->len = sizeof(k->aes_gcm_128);
	} else if (cipher == GNUTLS_CIPHER_AES_256_GCM && key->size == sizeof(k->aes_gcm_256.key)) {
		FILL_GCM(&k->aes_gcm_256, TLS_CIPHER_AES_GCM_256, key, nonce, seq);
		k->len = sizeof(k->aes_gcm_256);
	} else if (cipher == GNUTLS_CIPHER_CHACHA20_POLY1305 &&
		   key->size == sizeof(k->chacha20_poly1305.key)) {
		k->info.cipher_type = TLS_CIPHER_CHACHA20_POLY1305;
		memcpy(k->chacha20_poly1305.iv, nonce->data, NONCE_LEN);
		memcpy(k->chacha20_poly1305.key, key->data, key->size);
		memcpy(k->chacha20_poly1305.rec_seq, seq, SEQ_LEN);
		k->len = sizeof(k->chacha20_poly1305);
	} else {
		return -EOPNOTSUPP;
	}
	return 0;
}

int keys_of(gnutls_session_t session, bool read, struct ktls_keys *k)
{
	gnutls_datum_t nonce, key;
	u8 seq[SEQ_LEN];

	memset(k, 0, sizeof(*k));
	if (gnutls_record_get_state(session, read, NULL, &nonce, &key, seq))
		return -EOPNOTSUPP;
	return fill(k, gnutls_cipher_get(session), &nonce, &key, seq);
}
