// SPDX-License-Identifier: GPL-2.0
/* A second opinion about protobuf: see proto_peer.h. */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

/* Behind those of C++, which do not stand the macros. */
extern "C" {
#include "model.h"
#include "proto_peer.h"
}

namespace pb = google::protobuf;

struct proto_peer {
	const mrpc_schema_plan *plan;
	pb::DescriptorPool pool;
	pb::DynamicMessageFactory factory{&pool};
	std::vector<const pb::Descriptor *> types;
};

namespace {

/* Refusals are expected: no lines about them. */
class Silent : public pb::DescriptorPool::ErrorCollector {
	void AddError(const std::string &, const std::string &, const pb::Message *, ErrorLocation,
		      const std::string &) override
	{
	}
};

std::string type_name(unsigned int type)
{
	return "T" + std::to_string(type);
}

/* Where protobuf wants the type of a map's entries. */
std::string entry_name(const mrpc_field &f)
{
	return "F" + std::to_string(f.number) + "Entry";
}

pb::FieldDescriptorProto::Type proto_type(const mrpc_field &f)
{
	using proto = pb::FieldDescriptorProto;

	switch (f.kind) {
	case MRPC_KIND_BOOL:
		return proto::TYPE_BOOL;
	case MRPC_KIND_INT32:
		return proto::TYPE_INT32;
	case MRPC_KIND_SINT32:
		return proto::TYPE_SINT32;
	case MRPC_KIND_UINT32:
		return proto::TYPE_UINT32;
	case MRPC_KIND_FIXED32:
		return proto::TYPE_FIXED32;
	case MRPC_KIND_SFIXED32:
		return proto::TYPE_SFIXED32;
	case MRPC_KIND_FLOAT:
		return proto::TYPE_FLOAT;
	case MRPC_KIND_ENUM:
		return proto::TYPE_ENUM;
	case MRPC_KIND_INT64:
		return proto::TYPE_INT64;
	case MRPC_KIND_SINT64:
		return proto::TYPE_SINT64;
	case MRPC_KIND_UINT64:
		return proto::TYPE_UINT64;
	case MRPC_KIND_FIXED64:
		return proto::TYPE_FIXED64;
	case MRPC_KIND_SFIXED64:
		return proto::TYPE_SFIXED64;
	case MRPC_KIND_DOUBLE:
		return proto::TYPE_DOUBLE;
	case MRPC_KIND_STRING:
		return proto::TYPE_STRING;
	case MRPC_KIND_BYTES:
		return proto::TYPE_BYTES;
	default:
		return proto::TYPE_MESSAGE;
	}
}

/* Writes descriptors of a plan's types. */
class Describer {
public:
	Describer(const mrpc_schema_plan *plan) : plan(plan) {}

	/*
	 * The members of a oneof stand together. The oneofs that protobuf wants for optional fields
	 * come last.
	 */
	void type(unsigned int type, const std::string &name, pb::DescriptorProto *out)
	{
		const mrpc_type &t = plan->types[type];
		const mrpc_field *fields = plan->fields + t.first_field;

		out->set_name(name);
		if (t.flags & MRPC_TYPE_MAP_ENTRY)
			out->mutable_options()->set_map_entry(true);
		for (int i = 0; i < t.nr_fields; i++)
			if (fields[i].oneof == MRPC_SCHEMA_NO_ONEOF)
				field(t, fields[i], out);
		for (int oneof = 0; oneof < t.nr_oneofs; oneof++) {
			out->add_oneof_decl()->set_name("o" + std::to_string(oneof));
			for (int i = 0; i < t.nr_fields; i++)
				if (fields[i].oneof == oneof)
					field(t, fields[i], out)->set_oneof_index(oneof);
		}
		for (pb::FieldDescriptorProto &f : *out->mutable_field()) {
			if (!f.proto3_optional())
				continue;
			f.set_oneof_index(out->oneof_decl_size());
			out->add_oneof_decl()->set_name("_" + f.name());
		}
	}

private:
	const mrpc_schema_plan *plan;

	pb::FieldDescriptorProto *field(const mrpc_type &t, const mrpc_field &f,
					pb::DescriptorProto *out)
	{
		pb::FieldDescriptorProto *to = out->add_field();
		bool repeated = f.flags & MRPC_FIELD_REPEATED;

		to->set_name(!(t.flags & MRPC_TYPE_MAP_ENTRY) ? "f" + std::to_string(f.number) :
			     f.number == 1 ? "key" : "value");
		to->set_number(f.number);
		to->set_type(proto_type(f));
		to->set_label(repeated ? pb::FieldDescriptorProto::LABEL_REPEATED :
					 pb::FieldDescriptorProto::LABEL_OPTIONAL);
		if (repeated && f.kind < MRPC_KIND_STRING)
			to->mutable_options()->set_packed(f.flags & MRPC_FIELD_PACKED);
		if (f.flags & MRPC_FIELD_OPTIONAL)
			to->set_proto3_optional(true);
		if (f.kind == MRPC_KIND_ENUM)
			to->set_type_name(".t.E");
		if (f.kind == MRPC_KIND_MESSAGE)
			of_message(f, to, out);
		return to;
	}

	void of_message(const mrpc_field &f, pb::FieldDescriptorProto *to, pb::DescriptorProto *out)
	{
		if (plan->types[f.type].flags & MRPC_TYPE_MAP_ENTRY) {
			to->set_type_name(entry_name(f));
			type(f.type, entry_name(f), out->add_nested_type());
		} else {
			to->set_type_name(".t." + type_name(f.type));
		}
	}
};

/* Sets a message's fields by what a model has. */
class Filler {
public:
	Filler(const mrpc_schema_plan *plan) : plan(plan) {}

	void fill(const model_msg *from, pb::Message *to)
	{
		const mrpc_type &t = plan->types[from->type];

		for (int i = 0; i < t.nr_fields; i++)
			field(plan->fields[t.first_field + i], from->fields[i], to);
	}

private:
	const mrpc_schema_plan *plan;

	void field(const mrpc_field &f, const model_field &v, pb::Message *to)
	{
		const pb::FieldDescriptor *d = to->GetDescriptor()->FindFieldByNumber(f.number);
		bool repeated = f.flags & MRPC_FIELD_REPEATED;

		if (!v.present)
			return;
		for (unsigned int i = 0; i < (repeated ? v.n : 1); i++)
			value(repeated, d, v, i, to);
	}

	static std::string text(const model_field &v)
	{
		return std::string(reinterpret_cast<const char *>(v.data), v.n);
	}

	template <typename T> static T number(const model_field &v, unsigned int i)
	{
		T n;

		memcpy(&n, v.data + i * sizeof(n), sizeof(n));
		return n;
	}

#define SET(name, value) (repeated ? r->Add##name(to, d, value) : r->Set##name(to, d, value))
	void value(bool repeated, const pb::FieldDescriptor *d, const model_field &v, unsigned int i,
		   pb::Message *to)
	{
		const pb::Reflection *r = to->GetReflection();

		switch (d->cpp_type()) {
		case pb::FieldDescriptor::CPPTYPE_INT32:
			return SET(Int32, number<int32_t>(v, i));
		case pb::FieldDescriptor::CPPTYPE_INT64:
			return SET(Int64, number<int64_t>(v, i));
		case pb::FieldDescriptor::CPPTYPE_UINT32:
			return SET(UInt32, number<uint32_t>(v, i));
		case pb::FieldDescriptor::CPPTYPE_UINT64:
			return SET(UInt64, number<uint64_t>(v, i));
		case pb::FieldDescriptor::CPPTYPE_FLOAT:
			return SET(Float, number<float>(v, i));
		case pb::FieldDescriptor::CPPTYPE_DOUBLE:
			return SET(Double, number<double>(v, i));
		case pb::FieldDescriptor::CPPTYPE_BOOL:
			return SET(Bool, number<uint8_t>(v, i));
		case pb::FieldDescriptor::CPPTYPE_ENUM:
			return SET(EnumValue, number<int32_t>(v, i));
		case pb::FieldDescriptor::CPPTYPE_STRING:
			return SET(String, text(repeated ? v.items[i] : v));
		case pb::FieldDescriptor::CPPTYPE_MESSAGE:
			return fill(v.msgs[i], repeated ? r->AddMessage(to, d) :
							  r->MutableMessage(to, d));
		}
	}
#undef SET
};

void *copy_of(const std::string &s, size_t *len)
{
	void *p = malloc(s.size() + 1);

	memcpy(p, s.data(), s.size());
	*len = s.size();
	return p;
}

/* Message::DiscardUnknownFields() leaves those of map entries. */
void forget_unknown(pb::Message *msg)
{
	const pb::Reflection *r = msg->GetReflection();
	std::vector<const pb::FieldDescriptor *> fields;

	r->MutableUnknownFields(msg)->Clear();
	r->ListFields(*msg, &fields);
	for (const pb::FieldDescriptor *f : fields) {
		if (f->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE)
			continue;
		if (!f->is_repeated())
			forget_unknown(r->MutableMessage(msg, f));
		else
			for (int i = 0; i < r->FieldSize(*msg, f); i++)
				forget_unknown(r->MutableRepeatedMessage(msg, f, i));
	}
}

} // namespace

extern "C" struct proto_peer *proto_peer_new(const struct mrpc_schema_plan *plan)
{
	std::unique_ptr<proto_peer> peer(new proto_peer);
	pb::FileDescriptorProto file;
	Silent silent;

	peer->plan = plan;
	file.set_name("t.proto");
	file.set_package("t");
	file.set_syntax("proto3");
	file.add_enum_type()->set_name("E");
	file.mutable_enum_type(0)->add_value()->set_name("ZERO");
	file.mutable_enum_type(0)->mutable_value(0)->set_number(0);
	for (int i = 0; i < plan->nr_types; i++)
		if (!(plan->types[i].flags & MRPC_TYPE_MAP_ENTRY))
			Describer(plan).type(i, type_name(i), file.add_message_type());
	const pb::FileDescriptor *built = peer->pool.BuildFileCollectingErrors(file, &silent);

	if (!built)
		return nullptr;
	for (int i = 0; i < plan->nr_types; i++)
		peer->types.push_back(built->FindMessageTypeByName(type_name(i)));
	return peer.release();
}

extern "C" void proto_peer_free(struct proto_peer *peer)
{
	delete peer;
}

extern "C" void *proto_peer_encode(struct proto_peer *peer, const struct model_msg *msg, size_t *len)
{
	const pb::Descriptor *type = peer->types[msg->type];

	if (!type)
		return nullptr;
	std::unique_ptr<pb::Message> to(peer->factory.GetPrototype(type)->New());

	Filler(peer->plan).fill(msg, to.get());
	return copy_of(to->SerializePartialAsString(), len);
}

extern "C" void *proto_peer_again(struct proto_peer *peer, unsigned int type, const void *in,
				  size_t in_len, size_t *len)
{
	if (!peer->types[type])
		return nullptr;
	std::unique_ptr<pb::Message> msg(peer->factory.GetPrototype(peer->types[type])->New());

	pb::SetLogHandler(nullptr);	/* it has a line for each text that is not UTF-8 */
	if (!msg->ParsePartialFromArray(in, in_len))
		return nullptr;
	forget_unknown(msg.get());
	return copy_of(msg->SerializePartialAsString(), len);
}
