/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_LIB_MESSAGE_UTF8_H
#define MRPC_LIB_MESSAGE_UTF8_H

#include "lib/ds/types.h"

/**
 * mrpc_utf8_valid() - is this UTF-8 as protobuf understands it?
 * @s: bytes; NULs are allowed
 * @len: how many
 *
 * Refuses overlong forms, surrogates and values above 0x10ffff. ASCII runs
 * are checked eight bytes at a time.
 */
bool mrpc_utf8_valid(const void *s, size_t len);

#endif /* MRPC_LIB_MESSAGE_UTF8_H */
