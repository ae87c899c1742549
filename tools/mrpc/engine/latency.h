/* SPDX-License-Identifier: GPL-2.0 */
/* Latencies, from the histograms of an engine of the type metrics. */
#ifndef MRPC_TOOL_ENGINE_LATENCY_H
#define MRPC_TOOL_ENGINE_LATENCY_H

struct json_object;

struct latency;

struct latency *latency_open(const char *rule, struct json_object *scope);
struct latency *latency_open_at(const char *rule, const char *where,
				struct json_object *(*series)(void *arg), void *arg);
char *latency_check(const char *rule);
void latency_free(struct latency *l);
char *latency_begin(struct latency *l);
void latency_step(struct latency *l);
char *latency_judge(struct latency *l);
char *latency_text(const struct latency *l);

#endif /* MRPC_TOOL_ENGINE_LATENCY_H */
