// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Service configs: gRPC's document "service config", and its proto grpc.service_config in JSON.
 * Keys that this library does not know are ignored, as gRPC's clients do.
 */
#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "error.h"

#define SHOWN		60	/* bytes of a wrong value */
#define SECONDS_MAX	315576000000.0	/* of a google.protobuf.Duration */

/**
 * struct config_name - a name of a method, or of several
 * @next: in config.names
 * @config: index of what it has
 * @method: NULL: all methods of the service
 * @service: "": all services. The text of both follows
 */
struct config_name {
	struct config_name *next;
	u32 config;
	const char *method;
	char service[];
};

/**
 * struct node - a value, and where it is
 * @value: NULL: it is not there, or null
 * @path: "methodConfig[0].timeout"
 */
struct node {
	struct json_object *value;
	char path[128];
};

/* Return: -EINVAL. */
static int bad(const struct node *n, const char *why)
{
	return fail(EINVAL, "service config: %s%s%s, not %.*s", n->path, n->path[0] ? " " : "", why,
		    SHOWN, json_object_to_json_string_ext(n->value, JSON_C_TO_STRING_PLAIN));
}

static struct node member(const struct node *n, const char *key)
{
	struct node m = { NULL, "" };

	json_object_object_get_ex(n->value, key, &m.value);
	snprintf(m.path, sizeof(m.path), "%.90s%s%s", n->path, n->path[0] ? "." : "", key);
	return m;
}

static struct node element(const struct node *n, size_t i)
{
	struct node m = { .value = json_object_array_get_idx(n->value, i) };

	snprintf(m.path, sizeof(m.path), "%.90s[%zu]", n->path, i);
	return m;
}

/* Return: 1: it is there; 0: it is not; -EINVAL: it has another type. */
static int is(const struct node *n, enum json_type type, const char *what)
{
	if (!n->value)
		return 0;
	return json_object_is_type(n->value, type) ? 1 : bad(n, what);
}

/* As strtod(), whatever point the program's locale has. Without memory: not a number. */
static double decimal(const char *text, char **end)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
	double d = c ? strtod_l(text, end, c) : (double)NAN;

	if (c)
		freelocale(c);
	else if (end)
		*end = (char *)text;
	return d;
}

/* As is(). A number can be a string, as protobuf has it in JSON. */
static int number(const struct node *n, double *d, const char *what)
{
	const char *text, *c;
	char *end;

	if (!n->value)
		return 0;
	if (json_object_is_type(n->value, json_type_int) ||
	    json_object_is_type(n->value, json_type_double)) {
		*d = json_object_get_double(n->value);
		return isfinite(*d) ? 1 : bad(n, what);
	}
	if (!json_object_is_type(n->value, json_type_string))
		return bad(n, what);
	text = json_object_get_string(n->value);
	for (c = text; *c; c++)
		if (!strchr("0123456789.eE+-", *c))
			return bad(n, what);
	*d = decimal(text, &end);
	return *text && !*end && isfinite(*d) ? 1 : bad(n, what);
}

static int whole(const struct node *n, u32 min, u32 max, u32 *to, const char *what)
{
	double d;
	int ret = number(n, &d, what);

	if (ret <= 0)
		return ret;
	if (d < min || d > max || d != floor(d))
		return bad(n, what);
	*to = (u32)d;
	return 1;
}

/* "1.5s", in nanoseconds. As is(). */
static int duration_from(const struct node *n, bool zero, u64 *ns, const char *what)
{
	int ret = is(n, json_type_string, what);
	const char *text, *dot;
	size_t len, i;
	double d;

	if (ret <= 0)
		return ret;
	text = json_object_get_string(n->value);
	len = strlen(text);
	if (len < 2 || text[len - 1] != 's' || !isdigit((u8)text[0]))
		return bad(n, what);
	dot = memchr(text, '.', len);
	for (i = 0; i < len - 1; i++)
		if (!isdigit((u8)text[i]) && text + i != dot)
			return bad(n, what);
	if (dot && (len - 1 - (size_t)(dot - text) < 2 || len - 1 - (size_t)(dot - text) > 10))
		return bad(n, what);
	d = decimal(text, NULL);
	if ((!zero && !(d > 0)) || d > SECONDS_MAX)
		return bad(n, what);
	/* Longer than a program runs. */
	*ns = d < 4e9 ? (u64)(d * 1e9 + 0.5) : (u64)4000000000000000000;
	return 1;
}

static int duration(const struct node *n, u64 *ns)
{
	return duration_from(n, false, ns,
			     "must be a positive time in seconds such as \"1.5s\"");
}

static int need(int ret, const struct node *n)
{
	return ret ? ret : fail(EINVAL, "service config: %s is missing", n->path);
}

/* -- methodConfig --------------------------------------------------------------------------- */

static int status_code(const struct node *n, u32 *codes)
{
	static const char what[] = "must be a status such as \"UNAVAILABLE\"";
	u32 code;
	int ret;

	if (n->value && json_object_is_type(n->value, json_type_string)) {
		for (code = 1; code <= MRPC_UNAUTHENTICATED; code++)
			if (!strcasecmp(json_object_get_string(n->value), mrpc_status_name((int)code)))
				break;
		if (code > MRPC_UNAUTHENTICATED)
			return bad(n, what);
	} else {
		ret = n->value ? whole(n, 1, MRPC_UNAUTHENTICATED, &code, what) : bad(n, what);
		if (ret < 0)
			return ret;
	}
	*codes |= 1u << code;
	return 0;
}

/* As is(). */
static int status_codes(const struct node *n, u32 *codes)
{
	int ret = is(n, json_type_array, "must be an array of statuses");
	struct node code;
	size_t i;

	for (i = 0; ret > 0 && i < json_object_array_length(n->value); i++) {
		code = element(n, i);
		if (status_code(&code, codes))
			return -EINVAL;
	}
	return ret;
}

static int retry_codes(const struct node *n, u32 *codes)
{
	int ret = need(status_codes(n, codes), n);

	return ret > 0 && !*codes ? bad(n, "must name a status at least") : ret;
}

/* Of retries and of hedging. As is(). */
static int max_attempts(const struct node *n, u32 *to)
{
	struct node attempts = member(n, "maxAttempts");
	u32 nr = 0;
	int ret = need(whole(&attempts, 2, UINT32_MAX, &nr, "must be a whole number from 2"),
		       &attempts);

	*to = nr < ATTEMPTS_MAX ? nr : ATTEMPTS_MAX;
	return ret;
}

static int retry_policy(const struct node *n, struct retry_policy *to)
{
	struct node initial = member(n, "initialBackoff"), max = member(n, "maxBackoff");
	struct node by = member(n, "backoffMultiplier"), codes = member(n, "retryableStatusCodes");
	int ret = is(n, json_type_object, "must be an object");

	if (ret <= 0)
		return ret;
	if (max_attempts(n, &to->max_attempts) < 0 ||
	    need(duration(&initial, &to->initial_ns), &initial) < 0 ||
	    need(duration(&max, &to->max_ns), &max) < 0 ||
	    need(number(&by, &to->multiplier, "must be a number"), &by) < 0)
		return -EINVAL;
	if (to->multiplier <= 0)
		return bad(&by, "must be greater than 0");
	return retry_codes(&codes, &to->codes) < 0 ? -EINVAL : 0;
}

static int hedging_policy(const struct node *n, struct hedge_policy *to)
{
	struct node delay = member(n, "hedgingDelay"), codes = member(n, "nonFatalStatusCodes");
	int ret = is(n, json_type_object, "must be an object");

	if (ret <= 0)
		return ret;
	if (max_attempts(n, &to->max_attempts) < 0 ||
	    duration_from(&delay, true, &to->delay_ns,
			  "must be a time in seconds such as \"0.5s\"") < 0 ||
	    status_codes(&codes, &to->codes) < 0)
		return -EINVAL;
	return 0;
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int add_name(const struct node *n, struct config *config, u32 index)
{
	struct node service = member(n, "service"), method = member(n, "method");
	const char *s = "", *m = NULL;
	struct config_name *name;
	size_t len, mlen;

	if (!json_object_is_type(n->value, json_type_object))
		return bad(n, "must be an object");
	if (is(&service, json_type_string, "must be a string") < 0 ||
	    is(&method, json_type_string, "must be a string") < 0)
		return -EINVAL;
	if (service.value)
		s = json_object_get_string(service.value);
	if (method.value && json_object_get_string_len(method.value))
		m = json_object_get_string(method.value);
	if (m && !*s)
		return fail(EINVAL, "service config: %s has a method, so it must have a service",
			    n->path);
	for (name = config->names; name; name = name->next)
		if (!strcmp(name->service, s) && same(name->method, m))
			return bad(n, "must be a name that occurs once");
	len = strlen(s) + 1;
	mlen = m ? strlen(m) + 1 : 0;
	name = malloc(sizeof(*name) + len + mlen);
	if (!name)
		return fail(ENOMEM, "out of memory");
	memcpy(name->service, s, len);
	name->method = m ? memcpy(name->service + len, m, mlen) : NULL;
	name->config = index;
	name->next = config->names;
	config->names = name;
	return 0;
}

static int method_names(const struct node *n, struct config *config, u32 index)
{
	int ret = is(n, json_type_array, "must be an array");
	struct node name;
	size_t i;

	for (i = 0; ret > 0 && i < json_object_array_length(n->value); i++) {
		name = element(n, i);
		ret = add_name(&name, config, index) ? -errno : 1;
	}
	return ret < 0 ? ret : 0;
}

static int method_config(const struct node *n, struct config *config, u32 index)
{
	struct method_config *to = &config->methods[index];
	struct node names = member(n, "name"), timeout = member(n, "timeout");
	struct node wait = member(n, "waitForReady"), retry = member(n, "retryPolicy");
	struct node request = member(n, "maxRequestMessageBytes");
	struct node reply = member(n, "maxResponseMessageBytes");
	struct node hedging = member(n, "hedgingPolicy");
	static const char size[] = "must be a whole number below 2^32";
	u64 ns = 0;
	int err;

	to->max_request = UINT32_MAX;
	to->max_reply = UINT32_MAX;
	if (!json_object_is_type(n->value, json_type_object))
		return bad(n, "must be an object");
	err = method_names(&names, config, index);
	if (err)
		return err;
	if (hedging.value && retry.value)
		return fail(EINVAL, "service config: %s: the method has a retryPolicy, so it cannot "
			    "have this, too", hedging.path);
	if (is(&wait, json_type_boolean, "must be true or false") < 0 ||
	    duration(&timeout, &ns) < 0 ||
	    whole(&request, 0, UINT32_MAX, &to->max_request, size) < 0 ||
	    whole(&reply, 0, UINT32_MAX, &to->max_reply, size) < 0 ||
	    retry_policy(&retry, &to->retry) < 0 || hedging_policy(&hedging, &to->hedging) < 0)
		return -EINVAL;
	to->wait_ready = wait.value && json_object_get_boolean(wait.value);
	to->timeout_us = (ns + 999) / 1000;
	return 0;
}

static int method_configs(const struct node *n, struct config *config)
{
	int ret = is(n, json_type_array, "must be an array");
	struct node one;
	size_t nr, i;

	if (ret <= 0)
		return ret;
	nr = json_object_array_length(n->value);
	config->methods = calloc(nr ? nr : 1, sizeof(*config->methods));
	if (!config->methods)
		return fail(ENOMEM, "out of memory");
	config->nr_methods = (u32)nr;
	for (i = 0; i < nr; i++) {
		one = element(n, i);
		ret = method_config(&one, config, (u32)i);
		if (ret)
			return ret;
	}
	return 0;
}

/* -- the rest ------------------------------------------------------------------------------- */

static int retry_throttling(const struct node *n, struct throttle *to)
{
	struct node max = member(n, "maxTokens"), ratio = member(n, "tokenRatio");
	int ret = is(n, json_type_object, "must be an object");
	u32 tokens = 0;
	double by = 0;

	if (ret <= 0)
		return ret;
	if (need(whole(&max, 1, 1000, &tokens, "must be a whole number from 1 to 1000"), &max) < 0 ||
	    need(number(&ratio, &by, "must be a number"), &ratio) < 0)
		return -EINVAL;
	/* Three decimal places count. */
	if (by < 0.001)
		return bad(&ratio, "must be at least 0.001");
	to->max = tokens * 1000;
	to->ratio = by < tokens ? (u32)(by * 1000 + 1e-6) : to->max;
	to->tokens = to->max;
	return 0;
}

/* Return: 1: it is one that this library has; 0: it is none of them; -EINVAL. */
static int balancer(const struct node *n, const char *name, struct config *config)
{
	struct node shuffle = member(n, "shuffleAddressList");

	if (!strcasecmp(name, "round_robin")) {
		config->round_robin = true;
		return 1;
	}
	if (strcasecmp(name, "pick_first"))
		return 0;
	if (is(&shuffle, json_type_boolean, "must be true or false") < 0)
		return -EINVAL;
	if (shuffle.value && json_object_get_boolean(shuffle.value))
		return bad(&shuffle, "must be false, this library does not shuffle addresses");
	return 1;
}

/* The first one counts that this library has. */
static int balancing_config(const struct node *n, struct config *config)
{
	int ret = is(n, json_type_array, "must be an array"), has = 0;
	struct json_object_iterator it;
	struct node one, own;
	const char *name;
	size_t i;

	if (ret <= 0)
		return ret;
	for (i = 0; !has && i < json_object_array_length(n->value); i++) {
		one = element(n, i);
		if (!json_object_is_type(one.value, json_type_object) ||
		    json_object_object_length(one.value) != 1)
			return bad(&one, "must be an object with one key");
		it = json_object_iter_begin(one.value);
		name = json_object_iter_peek_name(&it);
		own = member(&one, name);
		if (!json_object_is_type(own.value, json_type_object))
			return bad(&own, "must be an object");
		has = balancer(&own, name, config);
	}
	return has ? has : bad(n, "must have pick_first or round_robin");
}

static int balancing(const struct node *root, struct config *config)
{
	struct node list = member(root, "loadBalancingConfig");
	struct node name = member(root, "loadBalancingPolicy");
	int ret = balancing_config(&list, config);

	if (ret)
		return ret < 0 ? ret : 0;
	ret = is(&name, json_type_string, "must be a string");
	if (ret <= 0)
		return ret;
	ret = balancer(&name, json_object_get_string(name.value), config);
	return ret ? 0 : bad(&name, "must be pick_first or round_robin");
}

static int read_root(const struct node *root, struct config *config)
{
	struct node methods = member(root, "methodConfig");
	struct node throttling = member(root, "retryThrottling");
	int err;

	if (!json_object_is_type(root->value, json_type_object))
		return bad(root, "it must be an object");
	err = method_configs(&methods, config);
	if (!err)
		err = retry_throttling(&throttling, &config->throttle);
	return err ? err : balancing(root, config);
}

int config_parse(const char *json, struct config *config)
{
	size_t len = json ? strnlen(json, CONFIG_MAX + 1) : 0;
	struct node root = { NULL, "" };
	enum json_tokener_error why;
	struct json_tokener *tok;
	int err;

	memset(config, 0, sizeof(*config));
	if (!json)
		return 0;
	if (len > CONFIG_MAX)
		return fail(EINVAL, "service config: it has more than %u bytes", CONFIG_MAX);
	tok = json_tokener_new();
	if (!tok)
		return fail(ENOMEM, "out of memory");
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	/* With its NUL: so a number knows that it has ended. */
	root.value = json_tokener_parse_ex(tok, json, (int)len + 1);
	why = json_tokener_get_error(tok);
	if (why != json_tokener_success)
		err = fail(EINVAL, "service config: no JSON: %s, at byte %zu",
			   json_tokener_error_desc(why), json_tokener_get_parse_end(tok));
	else
		err = read_root(&root, config);
	json_tokener_free(tok);
	json_object_put(root.value);
	if (err)
		config_end(config);
	return err;
}

void config_end(struct config *config)
{
	struct config_name *name;

	while ((name = config->names)) {
		config->names = name->next;
		free(name);
	}
	free(config->methods);
	memset(config, 0, sizeof(*config));
}

const struct method_config *config_find(const struct config *config, const char *service,
					const char *method)
{
	static const struct method_config none = { .max_request = UINT32_MAX,
						   .max_reply = UINT32_MAX };
	const struct config_name *name, *best = NULL;

	for (name = config->names; name; name = name->next) {
		if (*name->service && strcmp(name->service, service))
			continue;
		if (name->method && strcmp(name->method, method))
			continue;
		if (!best || (*name->service && !*best->service) || (name->method && !best->method))
			best = name;
	}
	return best ? &config->methods[best->config] : &none;
}
