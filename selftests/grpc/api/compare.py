# SPDX-License-Identifier: GPL-2.0
"""compare.py PEER FOLDER [SEED]: random messages of the services in FOLDER (see prepare), sent both
ways between mrpc and gRPC for Python, and compared.

PEER is the program peer. For each method, mrpc calls a server of gRPC, and a client of gRPC calls
mrpc's server. Python fills each message. mrpc reads it as JSON or as text, and what it writes again
must be equal.
"""
import collections
import concurrent.futures
import os
import queue
import random
import subprocess
import sys
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "../../../tools/libmrpc/test"))
import random_messages  # pylint: disable=wrong-import-position # it is found there

MRPC, STOCK = 7600, 7601    # ports
TIMEOUT = 60
FIELDS_MAX = 300            # of one message
DEPTH_MAX = 6               # of messages that are filled at random
ROUNDS = 2                  # the first one fills all fields
KINDS = collections.Counter()


# -- random messages --------------------------------------------------------------------------


class Filler:
    def __init__(self, rnd, share):
        self.rnd = rnd
        self.share = share
        self.left = FIELDS_MAX

    def scalar(self, field):
        KINDS["enum" if field.type == F.TYPE_ENUM else field.type] += 1
        if field.type == F.TYPE_ENUM and field.enum_type.file.syntax != "proto3":
            return self.rnd.choice(field.enum_type.values).number
        return random_messages.scalar(self.rnd, field)

    def fill_map(self, message, field, depth):
        values = getattr(message, field.name)
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        for _ in range(self.rnd.randint(1, 3)):
            k = self.scalar(key)
            if value.type == F.TYPE_MESSAGE:
                self.fill(values[k], depth + 1)
            else:
                values[k] = self.scalar(value)

    def fill_field(self, message, field, depth):
        at = getattr(message, field.name)
        if random_messages.is_map(field):
            KINDS["map"] += 1
            self.fill_map(message, field, depth)
        elif field.label == F.LABEL_REPEATED and field.type == F.TYPE_MESSAGE:
            KINDS["repeated message"] += 1
            for _ in range(self.rnd.randint(1, 3)):
                self.fill(at.add(), depth + 1)
        elif field.label == F.LABEL_REPEATED:
            KINDS["repeated scalar"] += 1
            at.extend(self.scalar(field) for _ in range(self.rnd.randint(1, 4)))
        elif field.type in (F.TYPE_MESSAGE, F.TYPE_GROUP):
            KINDS["message"] += 1
            at.SetInParent()
            self.fill(at, depth + 1)
        else:
            setattr(message, field.name, self.scalar(field))
        KINDS["oneof"] += bool(field.containing_oneof)

    def fill(self, message, depth=0):
        if random_messages.fill_known(self.rnd, message, depth):
            return
        fields = list(message.DESCRIPTOR.fields)
        self.rnd.shuffle(fields)
        for field in fields:
            deep = field.message_type and depth >= DEPTH_MAX
            # Python writes null in an array of NullValue, but refuses to read it.
            nulls = field.enum_type and field.enum_type.name == "NullValue"
            if deep or nulls or self.left <= 0 or self.rnd.random() > self.share / (1 + depth / 2):
                continue
            self.left -= 1
            self.fill_field(message, field, depth)


def equal(one, other):
    """NaNs are equal, too."""
    return random_messages.encode(one) == random_messages.encode(other) or one == other


# -- a service ----------------------------------------------------------------------------------


class Method:
    def __init__(self, number, found, factory):
        self.number = number
        self.path = "/%s/%s" % (found.containing_service.full_name, found.name)
        self.request = factory.GetPrototype(found.input_type)
        self.reply = factory.GetPrototype(found.output_type)
        self.client_streams = self.server_streams = False


class Service:
    def __init__(self, folder, name):
        self.library = os.path.join(folder, name + ".so")
        self.pool = descriptor_pool.DescriptorPool()
        with open(os.path.join(folder, name + ".pb"), "rb") as content:
            files = descriptor_pb2.FileDescriptorSet.FromString(content.read()).file
        for file in files:
            self.pool.Add(file)
        factory = message_factory.MessageFactory(self.pool)
        found = self.pool.FindServiceByName(name)
        self.methods = []
        for method in sorted(found.methods, key=lambda method: method.name.encode()):
            self.methods.append(Method(len(self.methods), method, factory))
            proto = next(m for s in files[-1].service if s.name == found.name
                         for m in s.method if m.name == method.name)
            self.methods[-1].client_streams = proto.client_streaming
            self.methods[-1].server_streams = proto.server_streaming

    def random(self, rnd, kind, count, share):
        messages = [kind() for _ in range(count)]
        for message in messages:
            Filler(rnd, share).fill(message)
        return messages

    def text(self, rnd, message):
        """The message as mrpc is to read it: its format, and the text."""
        if rnd.random() < 0.6:
            return b"json", json_format.MessageToJson(message, descriptor_pool=self.pool).encode()
        return b"text", text_format.MessageToString(message, descriptor_pool=self.pool).encode()

    def parse(self, form, text, kind):
        if form == b"json":
            return json_format.Parse(text, kind(), descriptor_pool=self.pool)
        return text_format.Parse(text, kind(), descriptor_pool=self.pool)


class Peer:
    """The program of mrpc's end."""

    def __init__(self, program, what, service, port):
        self.service = service
        self.process = subprocess.Popen([program, what, service.library,
                                         "grpc:127.0.0.1:%d" % port],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def line(self):
        words = self.process.stdout.readline().split()
        assert words, "the peer has ended"
        return words

    def write(self, rnd, head, messages):
        self.process.stdin.write(head)
        for message in messages:
            form, text = self.service.text(rnd, message)
            COUNT[form] += 1
            self.process.stdin.write(b"%s %d\n%s" % (form, len(text), text))
        self.process.stdin.flush()

    def compare(self, expected):
        """Reads messages until a line "end", which it returns. They must be @expected."""
        texts = []
        while True:
            words = self.line()
            if words[0] == b"end":
                break
            texts.append((words[0], self.process.stdout.read(int(words[1]))))
        assert len(texts) == 2 * len(expected) or words[1] != b"0", (len(texts), len(expected))
        if words[1] != b"0":
            word = self.line()
            raise AssertionError("the call fails: %s %s" %
                                 (words[1], self.process.stdout.read(int(word[1]))))
        for number, (form, text) in enumerate(texts):
            message = expected[number // 2]
            assert form != b"none", "mrpc cannot write:\n%s" % message
            check(message, self.service.parse(form, text, type(message)), "mrpc's " + form.decode())
            COUNT["written as", form] += 1

    def end(self):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait(TIMEOUT)


COUNT = collections.Counter()


def check(expected, got, what):
    if not equal(expected, got):
        raise AssertionError("%s is another:\n%s\n-- not --\n%s" % (what, got, expected))
    COUNT["compared"] += 1


class Stock(grpc.GenericRpcHandler):
    """gRPC's server: it hands the requests over, and sends the replies that it is given."""

    def __init__(self):
        self.requests, self.replies = queue.Queue(), queue.Queue()
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4),
                                  options=[("grpc.enable_http_proxy", 0)])
        self.server.add_generic_rpc_handlers((self,))
        assert self.server.add_insecure_port("127.0.0.1:%d" % STOCK)
        self.server.start()

    def service(self, details):
        return grpc.stream_stream_rpc_method_handler(self.serve)

    def serve(self, requests, context):
        self.requests.put(list(requests))
        yield from self.replies.get(timeout=TIMEOUT)


def mrpc_calls(rnd, stock, client, method, requests, replies):
    stock.replies.put([reply.SerializeToString() for reply in replies])
    client.write(rnd, b"call %d %d\n" % (method.number, len(requests)), requests)
    client.compare(replies)
    got = stock.requests.get(timeout=TIMEOUT)
    assert len(got) == len(requests), (len(got), len(requests))
    for message, data in zip(requests, got):
        check(message, method.request.FromString(data), "the request of mrpc's client")
        COUNT["bytes"] += len(data)


def stock_calls(rnd, channel, server, method, requests, replies):
    call = channel.stream_stream(method.path)(
        iter([request.SerializeToString() for request in requests]), timeout=TIMEOUT)
    words = server.line()
    assert words == [b"call", b"%d" % method.number, b"0"], words
    server.compare(requests)
    server.write(rnd, b"reply %d\n" % len(replies), replies)
    got = list(call)
    assert len(got) == len(replies), (len(got), len(replies))
    for message, data in zip(replies, got):
        check(message, method.reply.FromString(data), "the reply of mrpc's server")
        COUNT["bytes"] += len(data)


def compare(rnd, program, stock, channel, service):
    server = Peer(program, "serve", service, MRPC)
    assert server.line() == [b"listening"]
    client = Peer(program, "call", service, STOCK)
    try:
        for method in service.methods:
            for share in [1.0, 0.5][:ROUNDS]:
                for calls, ends in ((mrpc_calls, (stock, client)), (stock_calls, (channel, server))):
                    requests = service.random(rnd, method.request, 1 + method.client_streams, share)
                    replies = service.random(rnd, method.reply, 1 + method.server_streams, share)
                    try:
                        calls(rnd, *ends, method, requests, replies)
                    except Exception as error:
                        raise AssertionError("%s, %s: %s" %
                                             (method.path, calls.__name__, error)) from error
                    COUNT["calls"] += 1
            COUNT["methods"] += 1
    finally:
        client.end()
        server.end()


def main(program, folder, seed=None):
    seed = int(seed) if seed else random.SystemRandom().getrandbits(32)
    print("# seed", seed, flush=True)
    names = open(os.path.join(folder, "services")).read().split()
    stock, failed, began = Stock(), 0, time.monotonic()
    assert names, "there are no services"
    for name in names:
        channel = grpc.insecure_channel("127.0.0.1:%d" % MRPC,
                                        options=[("grpc.enable_http_proxy", 0),
                                                 ("grpc.use_local_subchannel_pool", 1)])
        try:
            compare(random.Random("%d %s" % (seed, name)), program, stock, channel,
                    Service(folder, name))
        except AssertionError as error:
            failed += 1
            print("# %s: %s" % (name, str(error)[:3000]), flush=True)
            stock.requests, stock.replies = queue.Queue(), queue.Queue()
        channel.close()
    print("# %d services, %d failed; %d methods, %d calls; %d bytes; %d comparisons; "
          "read as JSON %d, as text %d; written as JSON %d, as text %d; %.0f s" %
          (len(names), failed, COUNT["methods"], COUNT["calls"], COUNT["bytes"], COUNT["compared"],
           COUNT[b"json"], COUNT[b"text"], COUNT["written as", b"json"],
           COUNT["written as", b"text"], time.monotonic() - began))
    print("# fields:", ", ".join("%s %d" % (KIND_NAMES.get(kind, kind), number)
                                 for kind, number in KINDS.most_common() if number))
    stock.server.stop(None)
    return failed != 0


KIND_NAMES = {getattr(F, name): name[len("TYPE_"):].lower() for name in dir(F)
              if name.startswith("TYPE_")}
sys.exit(main(*sys.argv[1:]))
