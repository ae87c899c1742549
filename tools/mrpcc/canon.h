/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The canonical binary schema of a service (kmod/lib/message/schema.h has its format).
 */
#ifndef MRPCC_CANON_H
#define MRPCC_CANON_H

#include "model.h"

/**
 * struct canon - a service and the types that it uses
 * @name: of the service
 * @what: for complaints: "service kv.Store"
 * @file: for complaints
 * @path: for complaints
 * @methods: sorted by name
 * @nr_methods: how many
 * @types: in the order of the schema
 * @nr_types: how many
 * @nr_fields: of all types
 */
struct canon {
	const char *name;
	const char *what;
	const struct file *file;
	struct path path;
	const struct method *methods;
	size_t nr_methods;
	struct message **types;
	size_t nr_types;
	size_t nr_fields;
};

/* Finds the types of a service. False if it complained. */
bool canon_of_service(struct canon *canon, const struct service *service);

/* The same for a service that has one method, from @message to @message. */
bool canon_of_message(struct canon *canon, struct message *message);

/* Writes the binary schema. */
void canon_write(const struct canon *canon, struct buf *out);

#endif /* MRPCC_CANON_H */
