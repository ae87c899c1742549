/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc top: what happened between two moments. */
#ifndef MRPC_TOOL_TOP_RATES_H
#define MRPC_TOOL_TOP_RATES_H

struct json_object;
struct sample;

enum view { VIEW_CONNS, VIEW_SERVICES, VIEW_METHODS, NR_VIEWS };

struct json_object *rates_rows(const struct sample *from, const struct sample *to,
			       enum view view);
struct json_object *rates_sums(const struct sample *from, const struct sample *to);

#endif /* MRPC_TOOL_TOP_RATES_H */
