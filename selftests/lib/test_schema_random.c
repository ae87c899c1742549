// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/schema */
/* Random schemas for the verifier and compiler, whole, cut, and with each byte changed. */
#include "gen.h"
#include "tap.h"

TEST(random_schemas)
{
	u32 seed;

	for (seed = 0; seed < 3000; seed++) {
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_error err;
		struct mrpc_schema_plan *plan;
		const char *why;
		size_t len;
		u8 *buf = gen_schema(&g, &len);

		plan = gen_compile_exact(buf, len, &err);
		CHECK_MSG(plan, "seed %u: %s %u: %s", seed, err.table, err.index, err.what);
		why = gen_check_plan(buf, len, plan);
		CHECK_MSG(!why, "seed %u: %s", seed, why);
		free(plan);
		free(buf);
	}
}

/* Each method by its name, and no other; also not by a part of a name, or by more. */
TEST(methods_by_name)
{
	u32 seed, i;

	for (seed = 0; seed < 500; seed++) {
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_error err;
		struct mrpc_schema_plan *plan;
		size_t len;
		u8 *buf = gen_schema(&g, &len);

		plan = gen_compile_exact(buf, len, &err);
		for (i = 0; i < plan->nr_methods; i++) {
			const char *name = plan->names + plan->methods[i].name;
			size_t n = strlen(name);
			char more[MRPC_SCHEMA_MAX_NAME + 2];
			int found;

			CHECK_EQ(mrpc_schema_find_method(plan, name, n), i);
			CHECK_EQ(mrpc_schema_find_method(plan, name, n + 1), -ENOENT);
			found = mrpc_schema_find_method(plan, name, n - 1);
			CHECK(found < 0 || strlen(plan->names + plan->methods[found].name) == n - 1);
			memcpy(more, name, n);
			more[n] = '!';
			CHECK_EQ(mrpc_schema_find_method(plan, more, n + 1), -ENOENT);
			more[n - 1] = '~';
			CHECK_EQ(mrpc_schema_find_method(plan, more, n), -ENOENT);
		}
		CHECK_EQ(mrpc_schema_find_method(plan, "", 0), -ENOENT);
		CHECK_EQ(mrpc_schema_find_method(plan, "~", 1), -ENOENT);
		free(plan);
		free(buf);
	}
}

TEST(every_prefix_is_refused)
{
	u32 seed;

	for (seed = 0; seed < 30; seed++) {
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_error err;
		size_t len, cut;
		u8 *buf = gen_schema(&g, &len);

		for (cut = 0; cut < len; cut++) {
			__le32 claim = cpu_to_le32(cut);
			struct mrpc_schema_plan *plan;

			plan = gen_compile_exact(buf, cut, &err);
			CHECK_MSG(!plan, "seed %u, %zu of %zu bytes", seed, cut, len);
			/* Also with a header that admits it. */
			if (cut < sizeof(struct mrpc_schema_hdr))
				continue;
			memcpy(buf + offsetof(struct mrpc_schema_hdr, len), &claim, 4);
			plan = gen_compile_exact(buf, cut, &err);
			CHECK_MSG(!plan, "seed %u, %zu of %zu bytes", seed, cut, len);
			CHECK(err.what);
		}
		free(buf);
	}
}

/* A changed byte is refused, or it is content: then the plan says the same. */
TEST(every_byte_changed)
{
	u32 accepted = 0, seed;

	for (seed = 0; seed < 60; seed++) {
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_error err;
		size_t len, i;
		u8 *buf = gen_schema(&g, &len);

		for (i = 0; i < len; i++) {
			u8 was = buf[i];
			struct mrpc_schema_plan *plan;

			buf[i] ^= 1 + gen_below(&g, 255);
			plan = gen_compile_exact(buf, len, &err);
			if (plan) {
				const char *why = gen_check_plan(buf, len, plan);

				CHECK_MSG(!why, "seed %u, byte %zu: %s", seed, i, why);
				accepted++;
			}
			free(plan);
			buf[i] = was;
		}
		free(buf);
	}
	CHECK(accepted);
}
