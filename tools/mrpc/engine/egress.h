/* SPDX-License-Identifier: GPL-2.0 */
/* Egress domains: which of the datapaths that leave by one device sends next. */
#ifndef MRPC_TOOL_ENGINE_EGRESS_H
#define MRPC_TOOL_ENGINE_EGRESS_H

struct args;
struct json_object;

int do_egress(struct args *args);
char *domain_words(const char *dev);
struct json_object *domain_find(struct json_object *array, const char *dev);

#endif /* MRPC_TOOL_ENGINE_EGRESS_H */
