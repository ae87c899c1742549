/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPCC_SHA256_H
#define MRPCC_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN	32

void sha256(const void *data, size_t len, uint8_t hash[SHA256_LEN]);

#endif /* MRPCC_SHA256_H */
