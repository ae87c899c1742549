# SPDX-License-Identifier: GPL-2.0
"""gRPC's own peer in tests of interoperability: Python's, with protobuf's messages.

stock.py serve PORT [STREAMS]   a server for interop.proto and test.proto's Types; it takes so many
                                calls of a connection at a time
stock.py call PORT [CASE...]    calls that do not stream
stock.py stream PORT [CASE...]  calls that stream
stock.py types PORT [SEED]      random messages with all kinds of fields, which must come back
"""
import concurrent.futures
import os
import random
import struct
import sys
import threading
import time

import grpc
import interop_pb2 as pb
import test_pb2

SERVICE = "/grpc.testing.TestService/"
ECHO_INITIAL = "x-grpc-test-echo-initial"
ECHO_TRAILING = "x-grpc-test-echo-trailing-bin"
SLEEP_MS = "x-test-sleep-ms"
FAIL_FIRST = "x-test-fail-first"
SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001f608\t\n"
TIMEOUT = 60  # s, of a call that should end well: for busy machines
# Of TLS, if it is wanted: the peer's authority, and the certificate and key of this end.
CA, CERT, KEY = (os.environ.get(name) for name in ("PEER_CA", "PEER_CERT", "PEER_KEY"))
OPTIONS = [("grpc.max_receive_message_length", 32 << 20), ("grpc.enable_http_proxy", 0)]


def payload(size):
    return pb.Payload(body=bytes(size))


def size_of(message):
    body = message.payload.body
    assert not body.strip(b"\0"), "the payload is not zeroes"
    return len(body)


# -- the server -----------------------------------------------------------------------------


def obey_metadata(context):
    """Does what the request's metadata asks for; False: the call has ended meanwhile."""
    metadata = dict(context.invocation_metadata())
    if ECHO_INITIAL in metadata:
        context.send_initial_metadata([(ECHO_INITIAL, metadata[ECHO_INITIAL])])
    if ECHO_TRAILING in metadata:
        context.set_trailing_metadata([(ECHO_TRAILING, metadata[ECHO_TRAILING])])
    if FAIL_FIRST in metadata:
        fail_first(context, metadata.get("grpc-previous-rpc-attempts", "0"),
                   *metadata[FAIL_FIRST].split())
    if SLEEP_MS in metadata:
        ended = threading.Event()
        if not context.add_callback(ended.set) or ended.wait(int(metadata[SLEEP_MS]) / 1000):
            print("a call has ended early", flush=True)
            return False
    return True


def fail_first(context, previous, number, pushback=None):
    """Fails so many attempts of a call; those before this one are @previous."""
    if int(previous) >= int(number):
        return
    if pushback:
        context.set_trailing_metadata([("grpc-retry-pushback-ms", pushback)])
    context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")


def obey_status(request, context):
    if request.response_status.code:
        context.set_code(grpc_code(request.response_status.code))
        context.set_details(request.response_status.message)
        return False
    return True


def grpc_code(number):
    return next(code for code in grpc.StatusCode if code.value[0] == number)


def empty_call(request, context):
    obey_metadata(context)
    return pb.Empty()


def obey_compression(wanted, context):
    """Has the next message compressed, or not."""
    if not wanted:
        context.disable_next_message_compression()


def unary_call(request, context):
    size_of(request)
    obey_metadata(context)
    if request.response_compressed.value:
        context.set_compression(grpc.Compression.Gzip)
    obey_status(request, context)
    return pb.SimpleResponse(payload=payload(request.response_size))


def responses(request, context):
    for asked in request.response_parameters:
        time.sleep(asked.interval_us / 1e6)
        obey_compression(asked.compressed.value, context)
        yield pb.StreamingOutputCallResponse(payload=payload(asked.size))


def output_call(request, context):
    obey_metadata(context)
    if any(asked.compressed.value for asked in request.response_parameters):
        context.set_compression(grpc.Compression.Gzip)
    yield from responses(request, context)
    obey_status(request, context)


def input_call(requests, context):
    obey_metadata(context)
    return pb.StreamingInputCallResponse(aggregated_payload_size=sum(map(size_of, requests)))


def duplex_call(requests, context):
    obey_metadata(context)
    for request in requests:
        size_of(request)
        yield from responses(request, context)
        if not obey_status(request, context):
            return


METHODS = {
    SERVICE + "EmptyCall": (grpc.unary_unary_rpc_method_handler, empty_call, pb.Empty),
    SERVICE + "UnaryCall": (grpc.unary_unary_rpc_method_handler, unary_call, pb.SimpleRequest),
    SERVICE + "StreamingOutputCall": (grpc.unary_stream_rpc_method_handler, output_call,
                                      pb.StreamingOutputCallRequest),
    SERVICE + "StreamingInputCall": (grpc.stream_unary_rpc_method_handler, input_call,
                                     pb.StreamingInputCallRequest),
    SERVICE + "FullDuplexCall": (grpc.stream_stream_rpc_method_handler, duplex_call,
                                 pb.StreamingOutputCallRequest),
    "/test.Types/Echo": (grpc.unary_unary_rpc_method_handler, lambda request, context: request,
                         test_pb2.All),
}


class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        if details.method not in METHODS:
            return None
        make, function, request = METHODS[details.method]
        return make(function, request_deserializer=request.FromString,
                    response_serializer=lambda reply: reply.SerializeToString())


def content(path):
    return open(path, "rb").read() if path else None


def new_server(address, streams=None):
    options = OPTIONS + [("grpc.max_concurrent_streams", int(streams))] if streams else OPTIONS
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(16), options=options)
    server.add_generic_rpc_handlers((Handler(),))
    if CERT:
        port = server.add_secure_port(address, grpc.ssl_server_credentials(
            [(content(KEY), content(CERT))], content(CA), require_client_auth=bool(CA)))
    else:
        port = server.add_insecure_port(address)
    assert port, address
    server.start()
    return server, port


def serve(port, streams=None):
    server, _ = new_server("127.0.0.1:" + port, streams)
    print("listening", flush=True)
    server.wait_for_termination()


# -- the client -----------------------------------------------------------------------------


def new_channel(port):
    address = "127.0.0.1:" + port
    if not CA:
        return grpc.insecure_channel(address, options=OPTIONS)
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(
        content(CA), content(KEY), content(CERT)), options=OPTIONS)


def method(channel, name, reply, kind="unary_unary", service=SERVICE):
    return getattr(channel, kind)(service + name, response_deserializer=reply.FromString,
                                  request_serializer=lambda request: request.SerializeToString())


def unary(channel):
    return method(channel, "UnaryCall", pb.SimpleResponse)


def large():
    return pb.SimpleRequest(response_size=314159, payload=payload(271828))


def fails(code, details, function, *args, **more):
    """The call must end so; details None: whatever it says."""
    try:
        function(*args, timeout=more.pop("timeout", TIMEOUT), **more)
    except grpc.RpcError as error:
        assert error.code() == code, (error.code(), error.details())
        assert details is None or error.details() == details, repr(error.details())
    else:
        raise AssertionError("the call went well")


def empty_unary(channel):
    assert method(channel, "EmptyCall", pb.Empty)(pb.Empty(), timeout=TIMEOUT) == pb.Empty()


def large_unary(channel):
    assert size_of(unary(channel)(large(), timeout=TIMEOUT)) == 314159


def custom_metadata(channel):
    sent = [(ECHO_INITIAL, "test_initial_metadata_value"),
            (ECHO_TRAILING, b"\xab\xab\xab\0\xff,=")]
    reply, call = unary(channel).with_call(large(), metadata=sent, timeout=TIMEOUT)
    assert size_of(reply) == 314159
    # An mrpc server has no initial metadata: all of it comes at the end.
    got = list(call.initial_metadata()) + list(call.trailing_metadata())
    for entry in sent:
        assert got.count(entry) == 1, (entry, got)


def status_code_and_message(channel):
    echo = pb.EchoStatus(code=2, message="test status message")
    fails(grpc.StatusCode.UNKNOWN, "test status message", unary(channel),
          pb.SimpleRequest(response_status=echo))


def special_status_message(channel):
    echo = pb.EchoStatus(code=2, message=SPECIAL)
    fails(grpc.StatusCode.UNKNOWN, SPECIAL, unary(channel), pb.SimpleRequest(response_status=echo))


def unimplemented_method(channel):
    fails(grpc.StatusCode.UNIMPLEMENTED, None, method(channel, "NoSuchCall", pb.Empty), pb.Empty())


def unimplemented_service(channel):
    fails(grpc.StatusCode.UNIMPLEMENTED, None,
          method(channel, "UnimplementedCall", pb.Empty, service="/grpc.testing.NoService/"),
          pb.Empty())


def timeout_on_sleeping_server(channel):
    for timeout in 0.001, 0.3:
        fails(grpc.StatusCode.DEADLINE_EXCEEDED, None, unary(channel), pb.SimpleRequest(),
              timeout=timeout, metadata=[(SLEEP_MS, "3000")])


def cancel_after_begin(channel):
    call = unary(channel).future(pb.SimpleRequest(), metadata=[(SLEEP_MS, "3000")])
    time.sleep(0.3)
    call.cancel()
    assert call.code() == grpc.StatusCode.CANCELLED, call.code()


def concurrent_large_unary(channel):
    calls = [unary(channel).future(large(), timeout=TIMEOUT) for _ in range(16)]
    for call in calls:
        assert size_of(call.result()) == 314159


def client_compressed_unary(channel):
    request = large()
    request.expect_compressed.value = True
    fails(grpc.StatusCode.INVALID_ARGUMENT, None, unary(channel), request)
    for how in grpc.Compression.Gzip, grpc.Compression.Deflate:
        assert size_of(unary(channel)(request, timeout=TIMEOUT, compression=how)) == 314159
    # What gets no smaller by it is not compressed.
    fails(grpc.StatusCode.INVALID_ARGUMENT, None, unary(channel),
          pb.SimpleRequest(expect_compressed=request.expect_compressed),
          compression=grpc.Compression.Gzip)


def server_compressed_unary(channel):
    for wanted in True, False:
        request = large()
        request.response_compressed.value = wanted
        assert size_of(unary(channel)(request, timeout=TIMEOUT)) == 314159


CASES = [empty_unary, large_unary, custom_metadata, status_code_and_message,
         special_status_message, unimplemented_method, unimplemented_service,
         timeout_on_sleeping_server, cancel_after_begin, concurrent_large_unary,
         client_compressed_unary, server_compressed_unary, empty_unary]


# -- streams --------------------------------------------------------------------------------

THERE, BACK = [27182, 8, 1828, 45904], [31415, 9, 2653, 58979]


def ask(*sizes, **more):
    asked = [pb.ResponseParameters(size=size) for size in sizes]
    return pb.StreamingOutputCallRequest(response_parameters=asked, **more)


def duplex(channel):
    return method(channel, "FullDuplexCall", pb.StreamingOutputCallResponse, "stream_stream")


def input_stream(channel):
    return method(channel, "StreamingInputCall", pb.StreamingInputCallResponse, "stream_unary")


class Requests:
    """The messages of a client, as they are given; None is the end."""

    def __init__(self):
        self.there = []
        self.changed = threading.Condition()

    def put(self, message):
        with self.changed:
            self.there.append(message)
            self.changed.notify()

    def __iter__(self):
        return self

    def __next__(self):
        with self.changed:
            while not self.there:
                self.changed.wait()
            message = self.there.pop(0)
        if message is None:
            raise StopIteration
        return message


def client_streaming(channel):
    reply = input_stream(channel)((pb.StreamingInputCallRequest(payload=payload(n)) for n in THERE),
                                  timeout=TIMEOUT)
    assert reply.aggregated_payload_size == 74922


def server_streaming(channel):
    call = method(channel, "StreamingOutputCall", pb.StreamingOutputCallResponse, "unary_stream")
    assert list(map(size_of, call(ask(*BACK), timeout=TIMEOUT))) == BACK


def ping_pong(channel):
    requests = Requests()
    replies = duplex(channel)(requests, timeout=TIMEOUT)
    for there, back in zip(THERE, BACK):
        requests.put(ask(back, payload=payload(there)))
        assert size_of(next(replies)) == back
    requests.put(None)
    assert not list(replies)


def empty_stream(channel):
    assert not list(duplex(channel)(iter(()), timeout=TIMEOUT))


def stream_cancel_after_begin(channel):
    requests = Requests()
    call = input_stream(channel).future(requests)
    time.sleep(0.3)
    call.cancel()
    requests.put(None)
    assert call.code() == grpc.StatusCode.CANCELLED, call.code()


def cancel_after_first_response(channel):
    requests = Requests()
    replies = duplex(channel)(requests)
    requests.put(ask(BACK[0], payload=payload(THERE[0])))
    assert size_of(next(replies)) == BACK[0]
    replies.cancel()
    requests.put(None)
    assert replies.code() == grpc.StatusCode.CANCELLED, replies.code()


def stream_timeout(channel):
    requests = Requests()
    fails(grpc.StatusCode.DEADLINE_EXCEEDED, None,
          lambda **more: list(duplex(channel)(requests, **more)), timeout=0.3)
    requests.put(None)


def stream_status(channel):
    echo = pb.EchoStatus(code=2, message="test status message")
    fails(grpc.StatusCode.UNKNOWN, "test status message",
          lambda **more: list(duplex(channel)(iter([ask(response_status=echo)]), **more)))


def client_compressed_streaming(channel):
    """Python's client compresses all messages of a call, or none."""
    def requests():
        for size in THERE:
            yield pb.StreamingInputCallRequest(payload=payload(size),
                                               expect_compressed=pb.BoolValue(value=size > 100))

    reply = input_stream(channel)(requests(), timeout=TIMEOUT, compression=grpc.Compression.Gzip)
    assert reply.aggregated_payload_size == 74922
    fails(grpc.StatusCode.INVALID_ARGUMENT, None, input_stream(channel), requests())


def server_compressed_streaming(channel):
    call = method(channel, "StreamingOutputCall", pb.StreamingOutputCallResponse, "unary_stream")
    request = ask(*BACK)
    for number, asked in enumerate(request.response_parameters):
        asked.compressed.value = number % 2 == 0
    assert list(map(size_of, call(request, timeout=TIMEOUT))) == BACK


STREAM_CASES = [client_streaming, server_streaming, ping_pong, empty_stream,
                stream_cancel_after_begin, cancel_after_first_response, stream_timeout,
                stream_status, client_compressed_streaming, server_compressed_streaming,
                ping_pong]


def run(cases, port, names):
    channel = new_channel(port)
    for case in cases:
        if not names or case.__name__ in names:
            print("#", case.__name__, flush=True)
            case(channel)
    print("# all done", flush=True)
    channel.close()


# -- all kinds of fields --------------------------------------------------------------------

KIND = test_pb2.All.DESCRIPTOR.fields[0]


def random_bits(rnd, bits):
    """Small, large and edge numbers alike."""
    return rnd.choice([0, 1, (1 << bits) - 1, 1 << bits - 1, rnd.getrandbits(rnd.randint(1, bits)),
                       rnd.getrandbits(bits)])


def signed(number, bits):
    return number - (1 << bits) if number >> bits - 1 else number


def random_float(rnd, letter):
    if rnd.random() < 0.3:
        return rnd.choice([0.0, -0.0, float("inf"), float("-inf"), 5e-324, 1e-45, 1.5])
    number = rnd.uniform(-1e6, 1e6)
    return struct.unpack(letter, struct.pack(letter, number))[0]


def random_text(rnd):
    return "".join(rnd.choice("ab\0\n\x7f\u00e9\u263a\uffff\U0001f608") for _ in
                   range(rnd.choice([0, 1, 5, 100])))


def random_value(rnd, field, depth):
    kind = field.type
    if kind in (KIND.TYPE_INT32, KIND.TYPE_SINT32, KIND.TYPE_SFIXED32):
        return signed(random_bits(rnd, 32), 32)
    if kind in (KIND.TYPE_INT64, KIND.TYPE_SINT64, KIND.TYPE_SFIXED64):
        return signed(random_bits(rnd, 64), 64)
    if kind in (KIND.TYPE_UINT32, KIND.TYPE_FIXED32):
        return random_bits(rnd, 32)
    if kind in (KIND.TYPE_UINT64, KIND.TYPE_FIXED64):
        return random_bits(rnd, 64)
    if kind == KIND.TYPE_ENUM:
        return rnd.choice([0, 1, 70000, 5, -1, -2 ** 31, 2 ** 31 - 1])
    if kind == KIND.TYPE_BOOL:
        return rnd.random() < 0.5
    if kind in (KIND.TYPE_DOUBLE, KIND.TYPE_FLOAT):
        return random_float(rnd, "d" if kind == KIND.TYPE_DOUBLE else "f")
    if kind == KIND.TYPE_STRING:
        return random_text(rnd)
    if kind == KIND.TYPE_BYTES:
        return rnd.randbytes(rnd.choice([0, 1, 7, 300, 600, 20000 if rnd.random() < 0.1 else 9]))
    raise AssertionError(field.name)


def is_map(field):
    return field.message_type and field.message_type.GetOptions().map_entry


def fill(rnd, message, share, depth=3, maps=True):
    """Sets a share of the fields."""
    for field in message.DESCRIPTOR.fields:
        if rnd.random() >= share or is_map(field) and not maps:
            continue
        at = getattr(message, field.name)
        repeated = field.label == field.LABEL_REPEATED
        several = rnd.choice([1, 2, 5, 40 if depth == 3 else 3])
        if is_map(field):
            key, value = field.message_type.fields
            for _ in range(several):
                name = random_value(rnd, key, depth)
                if value.message_type:
                    fill(rnd, at[name], 0.5, depth - 1)
                else:
                    at[name] = random_value(rnd, value, depth)
        elif field.message_type and not depth:
            continue
        elif field.message_type and repeated:
            for _ in range(min(several, 5)):
                fill(rnd, at.add(), share / 3, depth - 1, maps)
        elif field.message_type:
            at.SetInParent()
            fill(rnd, at, share / 3, depth - 1, maps)
        elif repeated:
            at.extend(random_value(rnd, field, depth) for _ in range(several))
        else:
            setattr(message, field.name, random_value(rnd, field, depth))


# A field, and a group of one, that All does not have.
UNKNOWN = [b"\xa0\x7d\x05", b"\xa2\x7d\x03abc", b"\xa3\x7d\x08\x01\xa4\x7d", b"\xa5\x7d1234"]


def wire(rnd):
    """Bytes that protobuf can parse: one message, or two that are to be merged."""
    message = test_pb2.All()
    fill(rnd, message, rnd.choice([0.1, 0.5, 1.0]))
    parts = [message.SerializeToString()]
    if rnd.random() < 0.3:
        more = test_pb2.All()
        fill(rnd, more, 0.1, 1, False)  # a key that comes twice is not the same for all peers
        parts.append(more.SerializeToString())
    if rnd.random() < 0.3:
        parts.append(rnd.choice(UNKNOWN))
        rnd.shuffle(parts)
    return b"".join(parts)


def canonical(data):
    message = test_pb2.All.FromString(data)
    message.DiscardUnknownFields()
    return message.SerializeToString(deterministic=True)


def types(port, seed=None, count=60):
    seed = int(seed) if seed else random.SystemRandom().getrandbits(32)
    print("# seed", seed, flush=True)
    rnd = random.Random(seed)
    channel = new_channel(port)
    echo = channel.unary_unary("/test.Types/Echo")
    total = 0
    for number in range(count):
        sent = wire(rnd)
        got = echo(sent, timeout=TIMEOUT)
        assert canonical(sent) == canonical(got), (number, sent.hex()[:2000], got.hex()[:2000])
        assert not len(test_pb2.All.FromString(got).UnknownFields())
        total += len(sent)
    print("#", count, "messages,", total, "bytes", flush=True)
    channel.close()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*sys.argv[2:])
    elif sys.argv[1] == "call":
        run(CASES, sys.argv[2], sys.argv[3:])
    elif sys.argv[1] == "stream":
        run(STREAM_CASES, sys.argv[2], sys.argv[3:])
    else:
        types(*sys.argv[2:])
