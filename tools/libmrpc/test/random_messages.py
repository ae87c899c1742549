# SPDX-License-Identifier: GPL-2.0
"""Random messages, and random changes of texts."""
import struct

from google.protobuf import duration_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor import FieldDescriptor as F
from google.protobuf.message import DecodeError

INTEGERS = {
    F.TYPE_INT32: (-2**31, 2**31 - 1), F.TYPE_SINT32: (-2**31, 2**31 - 1),
    F.TYPE_SFIXED32: (-2**31, 2**31 - 1), F.TYPE_UINT32: (0, 2**32 - 1),
    F.TYPE_FIXED32: (0, 2**32 - 1), F.TYPE_INT64: (-2**63, 2**63 - 1),
    F.TYPE_SINT64: (-2**63, 2**63 - 1), F.TYPE_SFIXED64: (-2**63, 2**63 - 1),
    F.TYPE_UINT64: (0, 2**64 - 1), F.TYPE_FIXED64: (0, 2**64 - 1),
    F.TYPE_ENUM: (-2**31, 2**31 - 1),
}
# What a google.protobuf.Any can hold; callers add more.
PACKED = [duration_pb2.Duration, field_mask_pb2.FieldMask, struct_pb2.Struct, timestamp_pb2.Timestamp,
          wrappers_pb2.BytesValue, wrappers_pb2.DoubleValue, wrappers_pb2.UInt64Value]
CHARACTERS = "ab\"\\'/ \n\t\x00\x7f{}[]:,#é߿ࠀ￿\U00010000\U0010ffff"
DOUBLES = [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, 1.7976931348623157e308, 1e21, 123456789.125,
           float("inf"), float("-inf"), float("nan")]


def integer(rnd, low, high):
    near = rnd.choice([low, high, 0, rnd.randint(low, high)])
    return min(max(near + rnd.randint(-2, 2), low), high)


def real(rnd, is_float):
    if not is_float:
        return rnd.choice(DOUBLES + [rnd.uniform(-1e6, 1e6)])
    # Python refuses the largest float in the form that it writes it in.
    bits = rnd.choice([0, 0x80000000, 0x3f800000, 0x7f7ffffe, 1, 0x7f800000, 0xff800000,
                       0x7fc00000, rnd.randint(0, 0x7f7ffffe)])
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def scalar(rnd, field):
    if field.type == F.TYPE_BOOL:
        return rnd.random() < 0.5
    if field.type == F.TYPE_STRING:
        return "".join(rnd.choice(CHARACTERS) for _ in range(rnd.randint(0, 6)))
    if field.type == F.TYPE_BYTES:
        return bytes(rnd.randint(0, 255) for _ in range(rnd.randint(0, 6)))
    if field.type in (F.TYPE_FLOAT, F.TYPE_DOUBLE):
        return real(rnd, field.type == F.TYPE_FLOAT)
    if field.type == F.TYPE_ENUM and rnd.random() < 0.7:
        return rnd.choice(field.enum_type.values).number
    if field.type == F.TYPE_ENUM and field.enum_type.name == "NullValue":
        return 0
    return integer(rnd, *INTEGERS[field.type])


def fill_value(rnd, message, depth):
    kind = rnd.choice(["null", "number", "string", "bool"] + ["struct", "list"] * (depth < 4))
    if kind == "null":
        message.null_value = 0
    elif kind == "number":
        message.number_value = rnd.choice([0, -0.5, 1e100, rnd.uniform(-1, 1)])
    elif kind == "string":
        message.string_value = rnd.choice(["", "NaN", "x"])
    elif kind == "bool":
        message.bool_value = rnd.random() < 0.5
    elif kind == "struct":
        message.struct_value.SetInParent()
        fill(rnd, message.struct_value, depth + 1)
    else:
        message.list_value.SetInParent()
        fill(rnd, message.list_value, depth + 1)


def fill_any(rnd, message, depth):
    content = rnd.choice(PACKED)()
    fill(rnd, content, depth + 1)
    message.Pack(content, rnd.choice(["type.googleapis.com", "x.y.z"]), deterministic=True)


def fill_known(rnd, message, depth):
    """Returns False for what is no well-known type, or one that is filled as any other."""
    name = message.DESCRIPTOR.full_name
    if name == "google.protobuf.Timestamp":
        message.seconds = integer(rnd, -62135596800, 253402300799)
        message.nanos = rnd.choice([0, 1, 999999999, 500000000, 120000, rnd.randint(0, 999999999)])
    elif name == "google.protobuf.Duration":
        message.seconds = integer(rnd, -315576000000 + 1, 315576000000 - 1)
        message.nanos = rnd.choice([0, 1, 999999999, 500000000])
        message.nanos *= -1 if message.seconds < 0 else 1
    elif name == "google.protobuf.FieldMask":
        message.paths.extend(rnd.choice(["a", "a.foo_bar", "b_c_d.e", "x1"])
                             for _ in range(rnd.randint(0, 3)))
    elif name == "google.protobuf.Any":
        fill_any(rnd, message, depth)
    elif name == "google.protobuf.Value":
        fill_value(rnd, message, depth)
    else:
        return False
    return True


def fill_map(rnd, message, field, depth):
    values = getattr(message, field.name)
    key, value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
    for _ in range(rnd.randint(0, 3)):
        k = scalar(rnd, key)
        if value.type == F.TYPE_MESSAGE:
            fill(rnd, values[k], depth + 1)
        else:
            values[k] = scalar(rnd, value)


def is_map(field):
    return field.type == F.TYPE_MESSAGE and field.message_type.GetOptions().map_entry


def fill(rnd, message, depth=0):
    if fill_known(rnd, message, depth):
        return
    for field in message.DESCRIPTOR.fields:
        # Python writes null in an array of NullValue, but refuses to read it.
        if rnd.random() > 0.6 / (1 + depth) or field.name == "ns":
            continue
        if is_map(field):
            fill_map(rnd, message, field, depth)
        elif field.type == F.TYPE_MESSAGE and field.label == F.LABEL_REPEATED:
            for _ in range(rnd.randint(0, 3)):
                fill(rnd, getattr(message, field.name).add(), depth + 1)
        elif field.type == F.TYPE_MESSAGE:
            getattr(message, field.name).SetInParent()
            fill(rnd, getattr(message, field.name), depth + 1)
        elif field.label == F.LABEL_REPEATED:
            getattr(message, field.name).extend(scalar(rnd, field)
                                                for _ in range(rnd.randint(0, 4)))
        else:
            setattr(message, field.name, scalar(rnd, field))


def parts(message):
    """The message, and all messages in it."""
    yield message
    for field, value in message.ListFields():
        if is_map(field):
            if field.message_type.fields_by_name["value"].message_type:
                for entry in value.values():
                    yield from parts(entry)
        elif field.message_type:
            for part in value if field.label == F.LABEL_REPEATED else [value]:
                yield from parts(part)


def unpack(part, kind):
    try:
        return kind.FromString(part.value)
    except DecodeError:
        return kind()


def encode(message):
    """The bytes of a message that is equal, and the maps in what an Any holds have an order."""
    copy = type(message).FromString(message.SerializeToString())
    for part in parts(copy):
        if part.DESCRIPTOR.full_name == "google.protobuf.Any":
            for kind in PACKED:
                if part.Is(kind.DESCRIPTOR):
                    part.value = encode(unpack(part, kind))
    return copy.SerializeToString(deterministic=True)


def change(rnd, text, pieces):
    """A text, or bytes, with one to three small changes: a character goes, or one of @pieces comes."""
    for _ in range(rnd.randint(1, 3)):
        at, end = rnd.randint(0, len(text)), rnd.randint(0, 3)
        piece = rnd.choice([text[:0], rnd.choice(pieces), text[at:at + rnd.randint(1, 12)]])
        text = text[:at] + piece + text[at + end:]
    return text
