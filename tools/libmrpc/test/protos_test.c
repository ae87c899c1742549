// SPDX-License-Identifier: LGPL-2.1-or-later
/* Looking into the descriptions of .proto files, as generated code has them. */
#include "../protos.h"
#include "grpc/health/v1/health.mrpc.h"
#include "grpc/reflection/v1/reflection.mrpc.h"
#include "guest.mrpc.h"
#include "tap.h"

static u32 load(const struct mrpc_service_desc *service, struct bytes *files, u32 max)
{
	struct bytes set = { service->protos, service->protos_len };
	u32 nr = 0;

	while (nr < max && protos_next(&set, &files[nr]))
		nr++;
	CHECK_EQ(set.len, 0);
	return nr;
}

static struct bytes load_one(const struct mrpc_service_desc *service)
{
	struct bytes files[2] = { { 0 } };

	CHECK_EQ(load(service, files, 2), 1);
	return files[0];
}

TEST(files_stand_behind_their_imports)
{
	static const char *const names[] = {
		"google/protobuf/empty.proto", "google/protobuf/descriptor.proto",
		"mrpc/options.proto", "guest.proto",
	};
	static const bool imports[4][4] = { [2] = { [1] = true }, [3] = { [0] = true, [2] = true } };
	struct bytes files[5] = { { 0 } };
	u32 i, j;

	CHECK_EQ(load(&guest_Echo_service, files, 5), 4);
	for (i = 0; i < 4; i++)
		for (j = 0; j < 4; j++) {
			CHECK_EQ(protos_is_named(files[i], names[j]), i == j);
			CHECK_EQ(protos_imports(files[i], files[j]), imports[i][j]);
		}
	CHECK(!protos_is_named(files[3], "guest.prot"));
	CHECK(!protos_is_named(files[3], ""));
	CHECK(protos_declares(files[1], "google.protobuf.FieldDescriptorProto.Type"));
	CHECK(protos_declares(files[1], "google.protobuf.FieldDescriptorProto.TYPE_BOOL"));
	CHECK(protos_declares(files[2], "mrpc.priority"));		/* an extension */
}

TEST(what_a_file_declares)
{
	static const char *const there[] = {
		"grpc.health.v1.Health", "grpc.health.v1.Health.Check", "grpc.health.v1.Health.Watch",
		"grpc.health.v1.HealthCheckRequest", "grpc.health.v1.HealthCheckRequest.service",
		"grpc.health.v1.HealthCheckResponse.ServingStatus",
		"grpc.health.v1.HealthCheckResponse.NOT_SERVING",
	};
	static const char *const not_there[] = {
		"", ".", "grpc", "grpc.health.v1", "grpc.health.v1.", "Health", ".grpc.health.v1.Health",
		"grpc.health.v1.Healt", "grpc.health.v1.Health.", "grpc.health.v1.Health.Checks",
		"grpc.health.v1.Health.Check.x", "grpc.health.v1.NOT_SERVING", "grpc.health.v2.Health",
		"grpc.health.v1.HealthCheckResponse.ServingStatus.NOT_SERVING",
	};
	struct bytes file = load_one(&grpc_health_v1_Health_service);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(there); i++)
		CHECK_MSG(protos_declares(file, there[i]), "%s", there[i]);
	for (i = 0; i < ARRAY_SIZE(not_there); i++)
		CHECK_MSG(!protos_declares(file, not_there[i]), "%s", not_there[i]);
	file = load_one(&grpc_reflection_v1_ServerReflection_service);
	CHECK(protos_declares(file, "grpc.reflection.v1.ServerReflectionRequest.message_request"));
}

/* Bytes that end early, or have wrong lengths, are read to their end and no further. */
TEST(cut_files)
{
	struct bytes file = load_one(&grpc_health_v1_Health_service);
	u8 *copy;
	size_t len;

	for (len = 0; len < file.len; len++) {
		struct bytes cut = { copy = malloc(len + 1), len };

		CHECK(copy != NULL);
		memcpy(copy, file.data, len);
		cut.data = memmove(copy + 1, copy, len);	/* it ends with the block */
		CHECK(!protos_declares(cut, "grpc.health.v1.Health.None"));
		free(copy);
	}
}
