# SPDX-License-Identifier: GPL-2.0
"""health.py PORT PROTOS PID: gRPC's services for health and reflection of the server PID, as
gRPC's own client for Python sees them. PROTOS is a set of descriptors with these services."""
import os
import queue
import signal
import sys
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

TEST = "grpc.testing.TestService"
SERVING, NOT_SERVING, SERVICE_UNKNOWN = 1, 2, 3
NOT_FOUND, UNIMPLEMENTED = 5, 12
TIMEOUT = 20
CALLS_MAX = 64


class Types:
    """Message classes of files, each of which comes after its imports."""

    def __init__(self, files):
        self.pool = descriptor_pool.DescriptorPool()
        for file in files:
            self.pool.AddSerializedFile(file)
        self.factory = message_factory.MessageFactory(self.pool)

    def message(self, name):
        return self.factory.GetPrototype(self.pool.FindMessageTypeByName(name))

    def method(self, channel, name, kind="unary_unary"):
        """A method "package.Service.Method", and the class of its requests."""
        found = self.pool.FindMethodByName(name)
        reply = self.factory.GetPrototype(found.output_type)
        call = getattr(channel, kind)(
            "/%s/%s" % (found.containing_service.full_name, found.name),
            request_serializer=lambda request: request.SerializeToString(),
            response_deserializer=reply.FromString)
        return call, self.factory.GetPrototype(found.input_type)


def fails(code, call):
    try:
        call()
    except grpc.RpcError as error:
        assert error.code() == code, (error.code(), error.details())
    else:
        raise AssertionError("the call went well")


def set_health(channel, types, service, status):
    call, request = types.method(channel, TEST + ".EmptyCall")
    call(request(), timeout=TIMEOUT, metadata=[("x-test-health", "%s %d" % (service, status))])


# -- health -----------------------------------------------------------------------------------


def check(channel, types):
    call, request = types.method(channel, "grpc.health.v1.Health.Check")

    def status(service):
        return call(request(service=service), timeout=TIMEOUT).status

    for service in "", TEST, "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection":
        assert status(service) == SERVING, service
    fails(grpc.StatusCode.NOT_FOUND, lambda: status("no.Service"))
    set_health(channel, types, TEST, NOT_SERVING)
    set_health(channel, types, "a.Name", SERVING)
    assert status(TEST) == NOT_SERVING
    assert status("") == SERVING
    assert status("a.Name") == SERVING
    set_health(channel, types, TEST, SERVING)


def watch(channel, types, pid):
    call, request = types.method(channel, "grpc.health.v1.Health.Watch", "unary_stream")
    watches = [call(request(service=name), timeout=TIMEOUT) for name in ("", TEST, "b.Name")]

    def come(*statuses):
        got = [next(replies).status for replies in watches]
        assert got == list(statuses), got

    come(SERVING, SERVING, SERVICE_UNKNOWN)
    for status in NOT_SERVING, SERVING:
        set_health(channel, types, TEST, status)
        assert next(watches[1]).status == status
    set_health(channel, types, "b.Name", SERVING)
    assert next(watches[2]).status == SERVING
    begin = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    come(NOT_SERVING, NOT_SERVING, NOT_SERVING)
    for replies in watches:
        fails(grpc.StatusCode.UNAVAILABLE, lambda replies=replies: next(replies))
    assert time.monotonic() - begin < 4, "the server waits for its watchers"


# -- reflection -------------------------------------------------------------------------------


class Reflection:
    """A call of one version. Requests are given as keywords."""

    def __init__(self, channel, types, version="v1"):
        call, self.request = types.method(
            channel, "grpc.reflection.%s.ServerReflection.ServerReflectionInfo" % version,
            "stream_stream")
        self.requests = queue.Queue()
        self.replies = call(iter(self.requests.get, None), timeout=TIMEOUT)

    def send(self, **fields):
        request = self.request(**fields)
        self.requests.put(request)
        return request

    def ask(self, **fields):
        request = self.send(host="here", **fields)
        reply = next(self.replies)
        assert reply.valid_host == "here" and reply.original_request == request, reply
        return reply

    def files(self, **fields):
        """A file, then its imports."""
        return list(self.ask(**fields).file_descriptor_response.file_descriptor_proto)

    def error(self, **fields):
        return self.ask(**fields).error_response.error_code

    def end(self):
        self.requests.put(None)
        assert not list(self.replies)


def name_of(file):
    return descriptor_pb2.FileDescriptorProto.FromString(file).name


def call_reflected(channel, files):
    """Calls a method with types that only the server has told."""
    types = Types(reversed(files))
    call, request = types.method(channel, TEST + ".UnaryCall")
    reply = call(request(response_size=1000), timeout=TIMEOUT)
    assert reply.payload.body == bytes(1000)


def reflection_version(channel, types, version):
    reflection = Reflection(channel, types, version)
    listed = reflection.ask(list_services="").list_services_response.service
    assert sorted(service.name for service in listed) == [
        "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection", TEST, "test.Types"], listed
    files = reflection.files(file_containing_symbol=TEST)
    assert [name_of(file) for file in files] == ["interop.proto"]
    assert not descriptor_pb2.FileDescriptorProto.FromString(files[0]).HasField("source_code_info")
    call_reflected(channel, files)
    for symbol in TEST + ".UnaryCall", "grpc.testing.Payload", "grpc.testing.Payload.body":
        assert reflection.files(file_containing_symbol=symbol) == files
    assert reflection.files(file_by_filename="interop.proto") == files
    health = reflection.files(file_by_filename="grpc/health/v1/health.proto")
    assert Types(reversed(health)).message("grpc.health.v1.HealthCheckRequest")
    for symbol in "no.Symbol", TEST + ".NoCall", "grpc.testing", "":
        assert reflection.error(file_containing_symbol=symbol) == NOT_FOUND, symbol
    assert reflection.error(file_by_filename="no.proto") == NOT_FOUND
    extension = {"containing_type": "grpc.testing.Payload", "extension_number": 5}
    assert reflection.error(file_containing_extension=extension) == NOT_FOUND
    assert reflection.error(all_extension_numbers_of_type="grpc.testing.Payload") == UNIMPLEMENTED
    reflection.end()


def reflection(channel, types):
    reflection_version(channel, types, "v1")
    reflection_version(channel, types, "v1alpha")


def hostile(channel, types):
    """Requests that are not read, that are long, and calls beyond those that may be open."""
    busy = Reflection(channel, types)
    for _ in range(200):
        busy.send(file_containing_symbol=TEST)
    for _ in range(200):
        assert next(busy.replies).file_descriptor_response.file_descriptor_proto
    long = Reflection(channel, types)
    long.send(file_by_filename="x" * 5000)
    fails(grpc.StatusCode.INVALID_ARGUMENT, lambda: next(long.replies))
    calls = [busy] + [Reflection(channel, types) for _ in range(CALLS_MAX - 1)]
    for call in calls:
        call.ask(list_services="")
    more = Reflection(channel, types)
    fails(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: next(more.replies))
    for call in calls:
        call.end()
    last = Reflection(channel, types)
    last.ask(list_services="")
    last.end()
    for call in long, more:
        call.requests.put(None)


def main(port, protos, pid):
    with open(protos, "rb") as file:
        files = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
    types = Types(file.SerializeToString() for file in files)
    channel = grpc.insecure_channel("127.0.0.1:" + port, options=[("grpc.enable_http_proxy", 0)])
    for case in check, reflection, hostile:
        print("#", case.__name__, flush=True)
        case(channel, types)
    print("# watch", flush=True)
    watch(channel, types, int(pid))
    channel.close()


main(*sys.argv[1:])
