// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A service of the same name with another schema; in a file of its own because
 * its generated names are the same, too.
 */
#define guest_Echo_service guest_stale_service
#define guest_Request__desc guest_stale_Request__desc
#define guest_Reply__desc guest_stale_Reply__desc
#include "guest_other.mrpc.c"

extern const struct mrpc_service_desc *const stale_services[];
const struct mrpc_service_desc *const stale_services[] = { &guest_stale_service };
