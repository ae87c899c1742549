/* SPDX-License-Identifier: GPL-2.0 */
/* What a file says with the options of mrpc/options.proto. */
#ifndef MRPCC_OPTIONS_H
#define MRPCC_OPTIONS_H

#include "model.h"

/* Fills in the priorities of a service's methods, and complains about what they cannot be. */
void options_of_service(struct service *service);

/*
 * The name in C of the message, enum or service @full_name: what its options @base, which are
 * at @path, say, or what the full name makes. @what: for complaints: "message".
 */
const char *options_cname(const struct file *file, const ProtobufCMessage *base, struct path path,
			  const char *what, const char *full_name);

#endif /* MRPCC_OPTIONS_H */
