/* SPDX-License-Identifier: GPL-2.0 */
/* Transports: those that are loaded, and what they count. */
#ifndef MRPC_TOOL_ENGINE_TRANSPORT_H
#define MRPC_TOOL_ENGINE_TRANSPORT_H

struct args;

int do_transport(struct args *args);

#endif /* MRPC_TOOL_ENGINE_TRANSPORT_H */
