/* SPDX-License-Identifier: GPL-2.0 */
/* Short names for the structures that protobuf-c makes of descriptor.proto. */
#ifndef MRPCC_PB_H
#define MRPCC_PB_H

#include "google/protobuf/descriptor.pb-c.h"

typedef Google__Protobuf__FileDescriptorSet FileSetProto;
typedef Google__Protobuf__FileDescriptorProto FileProto;
typedef Google__Protobuf__DescriptorProto MessageProto;
typedef Google__Protobuf__FieldDescriptorProto FieldProto;
typedef Google__Protobuf__OneofDescriptorProto OneofProto;
typedef Google__Protobuf__EnumDescriptorProto EnumProto;
typedef Google__Protobuf__EnumValueDescriptorProto EnumValueProto;
typedef Google__Protobuf__ServiceDescriptorProto ServiceProto;
typedef Google__Protobuf__MethodDescriptorProto MethodProto;
typedef Google__Protobuf__SourceCodeInfo__Location LocationProto;

#define PB_TYPE(name)	GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_##name
#define PB_LABEL(name)	GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_##name

/* Numbers of the fields of descriptor.proto that make up locations' paths. */
enum {
	PB_FILE_PACKAGE = 2,
	PB_FILE_MESSAGE = 4,
	PB_FILE_ENUM = 5,
	PB_FILE_SERVICE = 6,
	PB_FILE_EXTENSION = 7,
	PB_FILE_SYNTAX = 12,
	PB_MESSAGE_FIELD = 2,
	PB_MESSAGE_NESTED = 3,
	PB_MESSAGE_ENUM = 4,
	PB_MESSAGE_EXTENSION_RANGE = 5,
	PB_MESSAGE_EXTENSION = 6,
	PB_MESSAGE_OPTIONS = 7,
	PB_MESSAGE_ONEOF = 8,
	PB_FIELD_LABEL = 4,
	PB_FIELD_TYPE = 5,
	PB_FIELD_TYPE_NAME = 6,
	PB_FIELD_DEFAULT = 7,
	PB_ENUM_VALUE = 2,
	PB_ENUM_OPTIONS = 3,
	PB_SERVICE_METHOD = 2,
	PB_SERVICE_OPTIONS = 3,
	PB_METHOD_REQUEST = 2,
	PB_METHOD_REPLY = 3,
	PB_METHOD_OPTIONS = 4,
};

#endif /* MRPCC_PB_H */
