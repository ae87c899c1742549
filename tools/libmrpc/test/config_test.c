// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Service configs: what they say, and what is wrong with them.
 */
#include <errno.h>
#include <locale.h>

#include "config.h"
#include "error.h"
#include "tap.h"

#define RETRY(rest)	"{\"methodConfig\":[{\"retryPolicy\":{" rest "}}]}"
#define POLICY		"\"initialBackoff\":\"0.1s\",\"maxBackoff\":\"1s\",\"backoffMultiplier\":2," \
			"\"retryableStatusCodes\":[\"UNAVAILABLE\"]"
#define METHOD(rest)	"{\"methodConfig\":[{" rest "}]}"

static const char full[] =
	"{\"methodConfig\":["
	"{\"name\":[{}],\"timeout\":\"1.5s\",\"waitForReady\":true},"
	"{\"name\":[{\"service\":\"a.B\"},{\"service\":\"c.D\",\"method\":\"\"}],"
	" \"maxRequestMessageBytes\":10,\"maxResponseMessageBytes\":\"20\"},"
	"{\"name\":[{\"service\":\"a.B\",\"method\":\"M\"}],\"retryPolicy\":{\"maxAttempts\":9,"
	" \"initialBackoff\":\"0.1s\",\"maxBackoff\":\"1s\",\"backoffMultiplier\":1.5,"
	" \"retryableStatusCodes\":[\"UNAVAILABLE\",10]}}],"
	"\"retryThrottling\":{\"maxTokens\":10,\"tokenRatio\":0.1},"
	"\"loadBalancingPolicy\":\"pick_first\","
	"\"loadBalancingConfig\":[{\"xds\":{}},{\"round_robin\":{}},{\"pick_first\":{}}],"
	"\"healthCheckConfig\":{\"serviceName\":\"x\"}}";

TEST(full)
{
	const struct method_config *m;
	struct config c;

	CHECK_MSG(!config_parse(full, &c), "%s", mrpc_last_error());
	CHECK(c.round_robin);
	CHECK_EQ(c.throttle.max, 10000);
	CHECK_EQ(c.throttle.ratio, 100);
	CHECK_EQ(c.throttle.tokens, 10000);

	m = config_find(&c, "other.S", "M");
	CHECK(m->wait_ready);
	CHECK_EQ(m->timeout_us, 1500000);
	CHECK_EQ(m->max_request, UINT32_MAX);

	m = config_find(&c, "a.B", "Other");
	CHECK(!m->wait_ready);
	CHECK_EQ(m->timeout_us, 0);
	CHECK_EQ(m->max_request, 10);
	CHECK_EQ(m->max_reply, 20);
	CHECK_EQ(m->retry.max_attempts, 0);
	CHECK(config_find(&c, "c.D", "X") == m);

	m = config_find(&c, "a.B", "M");
	CHECK_EQ(m->max_request, UINT32_MAX);
	CHECK_EQ(m->retry.max_attempts, 5);
	CHECK_EQ(m->retry.initial_ns, 100000000);
	CHECK_EQ(m->retry.max_ns, 1000000000);
	CHECK(m->retry.multiplier == 1.5);
	CHECK_EQ(m->retry.codes, 1u << MRPC_UNAVAILABLE | 1u << MRPC_ABORTED);
	config_end(&c);
}

TEST(hedging)
{
	const struct hedge_policy *p;
	struct config c;

	CHECK_EQ(config_parse("{\"methodConfig\":[{\"name\":[{}],\"hedgingPolicy\":{"
			      "\"maxAttempts\":9,\"hedgingDelay\":\"0.25s\","
			      "\"nonFatalStatusCodes\":[\"UNAVAILABLE\",10]}},"
			      "{\"name\":[{\"service\":\"S\"}],\"hedgingPolicy\":{"
			      "\"maxAttempts\":2,\"hedgingDelay\":\"0s\"}}]}", &c), 0);
	p = &config_find(&c, "T", "M")->hedging;
	CHECK_EQ(p->max_attempts, 5);
	CHECK_EQ(p->delay_ns, 250000000);
	CHECK_EQ(p->codes, 1u << MRPC_UNAVAILABLE | 1u << MRPC_ABORTED);
	p = &config_find(&c, "S", "M")->hedging;
	CHECK_EQ(p->max_attempts, 2);
	CHECK_EQ(p->delay_ns, 0);
	CHECK_EQ(p->codes, 0);
	config_end(&c);
}

/* A program's locale, with another point, changes nothing. */
TEST(locale)
{
	if (setlocale(LC_ALL, "de_DE.UTF-8"))
		test_full();
	setlocale(LC_ALL, "C");
}

/* The most exact name counts, in whatever order they come. */
TEST(order)
{
	static const char *const orders[] = {
		"{\"methodConfig\":[{\"name\":[{}],\"timeout\":\"1s\"},"
		"{\"name\":[{\"service\":\"S\"}],\"timeout\":\"2s\"},"
		"{\"name\":[{\"service\":\"S\",\"method\":\"M\"}],\"timeout\":\"3s\"}]}",
		"{\"methodConfig\":[{\"name\":[{\"service\":\"S\",\"method\":\"M\"}],\"timeout\":\"3s\"},"
		"{\"name\":[{\"service\":\"S\"}],\"timeout\":\"2s\"},"
		"{\"name\":[{}],\"timeout\":\"1s\"}]}",
	};
	struct config c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		CHECK_MSG(!config_parse(orders[i], &c), "%s", mrpc_last_error());
		CHECK_EQ(config_find(&c, "T", "M")->timeout_us, 1000000);
		CHECK_EQ(config_find(&c, "S", "N")->timeout_us, 2000000);
		CHECK_EQ(config_find(&c, "S", "M")->timeout_us, 3000000);
		config_end(&c);
	}
}

TEST(empty)
{
	static const char *const configs[] = {
		NULL, "{}", "{\"methodConfig\":[]}", "{\"methodConfig\":null}",
		"{\"retryThrottling\":null}", METHOD(""), METHOD("\"name\":[],\"timeout\":null"),
	};
	struct config c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(configs); i++) {
		CHECK_MSG(!config_parse(configs[i], &c), "%s", mrpc_last_error());
		CHECK(!c.round_robin);
		CHECK_EQ(c.throttle.max, 0);
		CHECK_EQ(config_find(&c, "a.B", "M")->retry.max_attempts, 0);
		CHECK_EQ(config_find(&c, "a.B", "M")->max_reply, UINT32_MAX);
		config_end(&c);
	}
}

static const struct {
	const char *json;
	const char *why;	/* part of the reason */
} wrong[] = {
	{ "", "no JSON" },
	{ "{", "no JSON" },
	{ "{} x", "no JSON" },
	{ "{a:1}", "no JSON" },
	{ "[]", "it must be an object, not [" },
	{ "null", "it must be an object, not null" },
	{ "1", "it must be an object, not 1" },
	{ "{\"methodConfig\":{}}", "methodConfig must be an array, not {}" },
	{ "{\"methodConfig\":[1]}", "methodConfig[0] must be an object, not 1" },
	{ METHOD("\"name\":{}"), "methodConfig[0].name must be an array" },
	{ METHOD("\"name\":[null]"), "methodConfig[0].name[0] must be an object, not null" },
	{ METHOD("\"name\":[{\"service\":1}]"), "name[0].service must be a string, not 1" },
	{ METHOD("\"name\":[{\"method\":\"M\"}]"), "name[0] has a method, so it must have a service" },
	{ METHOD("\"name\":[{},{}]"), "name[1] must be a name that occurs once" },
	{ METHOD("\"name\":[{\"service\":\"S\"},{\"service\":\"S\",\"method\":\"\"}]"), "occurs once" },
	{ METHOD("\"waitForReady\":1"), "waitForReady must be true or false, not 1" },
	{ METHOD("\"timeout\":1"), "timeout must be a positive time in seconds" },
	{ METHOD("\"timeout\":\"1\""), "timeout must be a positive time" },
	{ METHOD("\"timeout\":\"0s\""), "timeout must be a positive time" },
	{ METHOD("\"timeout\":\"-1s\""), "timeout must be a positive time" },
	{ METHOD("\"timeout\":\"1.s\""), "timeout must be a positive time" },
	{ METHOD("\"timeout\":\"1.2.3s\""), "timeout must be a positive time" },
	{ METHOD("\"timeout\":\"0.1234567891s\""), "timeout must be a positive time" },
	{ METHOD("\"timeout\":\"1e3s\""), "timeout must be a positive time" },
	{ METHOD("\"timeout\":\"999999999999s\""), "timeout must be a positive time" },
	{ METHOD("\"maxRequestMessageBytes\":-1"), "maxRequestMessageBytes must be a whole number" },
	{ METHOD("\"maxResponseMessageBytes\":4294967296"), "must be a whole number below 2^32" },
	{ METHOD("\"maxResponseMessageBytes\":\"x\""), "must be a whole number below 2^32" },
	{ METHOD("\"hedgingPolicy\":{}"), "methodConfig[0].hedgingPolicy.maxAttempts is missing" },
	{ METHOD("\"hedgingPolicy\":{\"maxAttempts\":1}"), "maxAttempts must be a whole number from 2" },
	{ METHOD("\"hedgingPolicy\":{\"maxAttempts\":2,\"hedgingDelay\":\"-1s\"}"),
	  "hedgingDelay must be a time in seconds" },
	{ METHOD("\"hedgingPolicy\":{\"maxAttempts\":2,\"nonFatalStatusCodes\":[\"OK\"]}"),
	  "must be a status" },
	{ METHOD("\"hedgingPolicy\":{\"maxAttempts\":2},\"retryPolicy\":{}"), "has a retryPolicy" },
	{ RETRY(POLICY), "methodConfig[0].retryPolicy.maxAttempts is missing" },
	{ RETRY(POLICY ",\"maxAttempts\":1"), "maxAttempts must be a whole number from 2, not 1" },
	{ RETRY(POLICY ",\"maxAttempts\":2.5"), "maxAttempts must be a whole number" },
	{ RETRY(POLICY ",\"maxAttempts\":2,\"initialBackoff\":\"0s\""), "initialBackoff must be" },
	{ RETRY(POLICY ",\"maxAttempts\":2,\"maxBackoff\":null"), "maxBackoff is missing" },
	{ RETRY(POLICY ",\"maxAttempts\":2,\"backoffMultiplier\":0"), "must be greater than 0" },
	{ RETRY(POLICY ",\"maxAttempts\":2,\"backoffMultiplier\":\"inf\""), "must be a number" },
	{ RETRY(POLICY ",\"maxAttempts\":2,\"retryableStatusCodes\":[]"), "must name a status" },
	{ RETRY(POLICY ",\"maxAttempts\":2,\"retryableStatusCodes\":[\"OK\"]"), "[0] must be a status" },
	{ RETRY(POLICY ",\"maxAttempts\":2,\"retryableStatusCodes\":[0]"), "[0] must be a status" },
	{ RETRY(POLICY ",\"maxAttempts\":2,\"retryableStatusCodes\":[17]"), "[0] must be a status" },
	{ RETRY(POLICY ",\"maxAttempts\":2,\"retryableStatusCodes\":[null]"), "[0] must be a status" },
	{ "{\"retryThrottling\":{}}", "retryThrottling.maxTokens is missing" },
	{ "{\"retryThrottling\":{\"maxTokens\":0,\"tokenRatio\":1}}", "from 1 to 1000, not 0" },
	{ "{\"retryThrottling\":{\"maxTokens\":1001,\"tokenRatio\":1}}", "from 1 to 1000, not 1001" },
	{ "{\"retryThrottling\":{\"maxTokens\":1,\"tokenRatio\":0.0001}}", "must be at least 0.001" },
	{ "{\"loadBalancingPolicy\":\"xds\"}", "loadBalancingPolicy must be pick_first or round_robin" },
	{ "{\"loadBalancingConfig\":[]}", "loadBalancingConfig must have pick_first or round_robin" },
	{ "{\"loadBalancingConfig\":[{\"xds\":{}}]}", "must have pick_first or round_robin" },
	{ "{\"loadBalancingConfig\":[{}]}", "loadBalancingConfig[0] must be an object with one key" },
	{ "{\"loadBalancingConfig\":[{\"round_robin\":1}]}", "[0].round_robin must be an object" },
	{ "{\"loadBalancingConfig\":[{\"pick_first\":{\"shuffleAddressList\":true}}]}",
	  "loadBalancingConfig[0].pick_first.shuffleAddressList must be false" },
};

TEST(wrong)
{
	struct config c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		CHECK_MSG(config_parse(wrong[i].json, &c) == -EINVAL, "%s", wrong[i].json);
		CHECK_EQ(errno, EINVAL);
		CHECK_MSG(strstr(mrpc_last_error(), wrong[i].why), "%s: %s", wrong[i].json,
			  mrpc_last_error());
		CHECK(!c.names && !c.methods);
	}
}

TEST(too_long)
{
	char *json = malloc(CONFIG_MAX + 2);
	struct config c;

	CHECK(json != NULL);
	memset(json, ' ', CONFIG_MAX + 1);
	memcpy(json, "{}", 2);
	json[CONFIG_MAX] = '\0';
	CHECK_EQ(config_parse(json, &c), 0);
	json[CONFIG_MAX] = ' ';
	json[CONFIG_MAX + 1] = '\0';
	CHECK_EQ(config_parse(json, &c), -EINVAL);
	CHECK_STR(mrpc_last_error(), "service config: it has more than 65536 bytes");
	free(json);
}

/* Pieces of configs in any place: each ends well, or with a sentence. */
TEST(random)
{
	static const char *const pieces[] = {
		"null", "[]", "{}", "-1", "1e999", "\"\"", "\"1s\"", ",", "}", "]", "\"", "\\u0000",
		"99999999999999999999", "\"name\":", "true", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
	};
	char text[sizeof(full) + 64];
	unsigned int i, good = 0;
	struct config c;

	srandom(1);
	for (i = 0; i < 20000; i++) {
		const char *piece = pieces[(size_t)random() % ARRAY_SIZE(pieces)];
		size_t at = (size_t)random() % sizeof(full), cut = (size_t)random() % 20;

		if (at + cut > sizeof(full) - 1)
			cut = sizeof(full) - 1 - at;
		snprintf(text, sizeof(text), "%.*s%s%s", (int)at, full, piece, full + at + cut);
		if (config_parse(text, &c))
			CHECK(!strncmp(mrpc_last_error(), "service config: ", 16));
		else
			good++;
		config_find(&c, "a.B", "M");
		config_end(&c);
	}
	CHECK(good > 0);
}
