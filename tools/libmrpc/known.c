// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Protobuf's well-known types, which a google.protobuf.Any can hold though no .proto of the program
 * imports them. Their code makes them known itself; here it is taken out of the archive.
 */
#include <stddef.h>

#include "any.h"

#include "google/protobuf/any.mrpc.h"
#include "google/protobuf/duration.mrpc.h"
#include "google/protobuf/empty.mrpc.h"
#include "google/protobuf/field_mask.mrpc.h"
#include "google/protobuf/struct.mrpc.h"
#include "google/protobuf/timestamp.mrpc.h"
#include "google/protobuf/wrappers.mrpc.h"

_Static_assert(sizeof(struct any) == sizeof(struct google_protobuf_Any) &&
	       offsetof(struct any, type_url) == offsetof(struct google_protobuf_Any, type_url) &&
	       offsetof(struct any, value) == offsetof(struct google_protobuf_Any, value),
	       "struct any is as mrpcc generates it");

/* One of each file */
__attribute__((used)) static const struct mrpc_message_desc *const known[] = {
	&google_protobuf_Any__desc, &google_protobuf_Duration__desc, &google_protobuf_Empty__desc,
	&google_protobuf_FieldMask__desc, &google_protobuf_Struct__desc,
	&google_protobuf_Timestamp__desc, &google_protobuf_Int64Value__desc,
};
