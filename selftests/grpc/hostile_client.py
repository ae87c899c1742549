# SPDX-License-Identifier: GPL-2.0
"""hostile_client.py PORT: bytes that no good client of gRPC sends, to mrpc's server there.

For each case it is known what the server must do. Another connection makes a call after each.
"""
import gzip
import socket
import sys
import time
import zlib

import h2
from h2 import data, frame, headers, integer, literal, message, packed, setting, window

port = int(sys.argv[1])
UNARY = b"/grpc.testing.TestService/UnaryCall"
TYPES = b"/test.Types/Echo"


def request(path=UNARY, *more, method=b"POST", content=b"application/grpc"):
    return h2.block((b":method", method), (b":scheme", b"http"), (b":path", path),
                    (b":authority", b"x"), (b"te", b"trailers"), (b"content-type", content), *more)


GOOD = request()
OPEN = headers(1, GOOD)
CALL = OPEN + data(1, message(), True)
LATE = headers(1, request(UNARY, (b"x-test-sleep-ms", b"1500"))) + data(1, message(), True)
PING8 = frame(h2.PING, 0, 0, b"12345678")

# What the server must do. The connection goes on after all but the first.


def dies(code):
    def check(link):
        assert link.wait(lambda: link.goaway is not None and link.closed), \
            "no GOAWAY and end: goaway %s, closed %s" % (link.goaway, link.closed)
        assert link.goaway == code, "GOAWAY %d, not %d: %r" % (link.goaway, code, link.why)
    return check


def goes_on(link):
    """Another stream is served."""
    pongs = link.pongs
    link.send(PING8, headers(99, GOOD), data(99, message(), True))
    assert link.wait(lambda: link.pongs > pongs and link.status(99) is not None), \
        "the connection does not go on: goaway %s %r, closed %s, %s" % (
            link.goaway, link.why, link.closed, link.resets)
    assert link.status(99) == b"0", link.fields[99]


def resets(code, stream=1):
    def check(link):
        assert link.wait(lambda: stream in link.resets), \
            "no RST_STREAM: %s, goaway %s %r" % (link.fields, link.goaway, link.why)
        assert link.resets[stream] == code, (link.resets, code)
        goes_on(link)
    return check


def ends(status, stream=1):
    """With a status of gRPC."""
    def check(link):
        assert link.wait(lambda: stream in link.ended), \
            "no end: %s, goaway %s %r, %s" % (link.fields, link.goaway, link.why, link.resets)
        assert link.status(stream) == b"%d" % status, link.fields
        goes_on(link)
    return check


def http(status):
    def check(link):
        assert link.wait(lambda: 1 in link.ended), (link.goaway, link.resets)
        assert link.fields[1][b":status"] == b"%d" % status, link.fields
        goes_on(link)
    return check


def closes(link):
    """In whatever way."""
    assert link.wait(lambda: link.closed), "it stays open"


# What is sent: bytes behind the preface and SETTINGS, or a function.


def raw(content):
    """Instead of a preface."""
    return lambda: h2.Link(socket.create_connection(("127.0.0.1", port), h2.WAIT)), content


def begin(settings):
    return lambda: h2.dial(port, settings), b""


def flood(part, times=6000):
    """The answers are read meanwhile, so that the flood is not stopped for want of room."""
    def send(link):
        for _ in range(times // 200):
            link.send(part * 200)
            link.read()
            if link.goaway is not None:
                return
    return send


def rapid_reset(link):
    for stream in range(1, 20001, 2):
        link.send(headers(stream, GOOD), h2.reset(stream))
        if stream % 200 == 1:
            link.read()
        if link.goaway is not None or link.closed:
            return


def pings_unread(link):
    """Nothing is read. The server must stop, or end the connection: no send is awaited."""
    link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    link.sock.settimeout(1)
    try:
        for _ in range(2000):
            link.sock.sendall(PING8 * 100)
    except OSError:
        pass
    link.sock.settimeout(0.2)


def too_many(link):
    """Streams that are not complete: the last are more than the server allows."""
    for stream in range(1, 2 * 300, 2):
        link.send(headers(stream, GOOD))
    assert link.wait(lambda: len(link.resets) >= 44), len(link.resets)
    assert set(link.resets.values()) == {h2.REFUSED}
    link.send(*(h2.reset(stream) for stream in range(1, 2 * 256, 2)))


def zero_windows(link):
    """Replies of 100 kB, none of which may be sent. Nothing is read."""
    link.send(setting((4, 0)))
    for stream in range(1, 101, 2):
        link.send(headers(stream, GOOD), data(stream, message(b"\x10" + varint(100000)), True))
    time.sleep(0.5)


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([128 | number & 127]), number >> 7
    return out + bytes([number])


def over_the_window(link):
    """The first message is not complete, so those of others keep their part of the window."""
    assert link.wait(lambda: link.window > 65535)
    link.send(OPEN, data(1, message(b"x" * 10, length=1 << 20)), headers(3, GOOD))
    link.flow(3, message(bytes(9 << 20), length=32 << 20), limit=False)


def amplified(link):
    """A message that is small, and large in mrpc's form."""
    link.send(headers(1, request(TYPES)))
    link.flow(1, message(b"\xb2\x02\x00" * 300000), True)     # All.r_all


def coded(encoding, content, *more):
    """A request whose messages are compressed so."""
    return headers(1, request(UNARY, (b"grpc-encoding", encoding), *more)) + data(1, content, True)


ZEROES = b"\x1a\xe8\x07\x12\xe5\x07" + bytes(997)     # SimpleRequest.payload.body
# The listener accepts messages of 64 MiB.
BOMB = 65


def bombs(link):
    """Each is refused, and costs. The connection does not see the fourth."""
    for stream in 1, 3, 5, 7:
        link.send(headers(stream, request(UNARY, (b"grpc-encoding", b"gzip"))))
        link.flow(stream, h2.bomb(BOMB), True)
        link.wait(lambda: stream in link.ended or link.goaway is not None)


def unknown_bombs(link):
    """Messages that are fine, but for the server there is nothing in them: All has no field 2000."""
    content = h2.bomb(60, b"\x82\x7d" + varint(60 << 20))
    for stream in range(1, 17, 2):
        link.send(headers(stream, request(TYPES, (b"grpc-encoding", b"gzip"))))
        link.flow(stream, content, True)
        link.wait(lambda: stream in link.ended or link.goaway is not None)


def not_known(link):
    """The client is told what is known."""
    link.send(coded(b"snappy", message(b"x", 1)))
    ends(12)(link)
    assert link.fields[1][b"grpc-accept-encoding"] == b"identity,deflate,gzip", link.fields


def compressed(*accept):
    """A reply of 1000 zeroes that the server may compress; a client that takes @accept."""
    def ask(link):
        more = ((b"grpc-accept-encoding", b",".join(accept)),) if accept else ()
        link.send(headers(1, request(UNARY, *more)),
                  data(1, message(b"\x10\xe8\x07\x32\x02\x08\x01"), True))
        ends(0)(link)
        flag, content = link.content[1][0], link.content[1][5:]
        gives = b"gzip" in accept
        assert flag == gives, flag
        assert (b"grpc-encoding" in link.fields[1]) == gives, link.fields
        content = gzip.decompress(content) if gives else content
        assert content == b"\x0a\xeb\x07\x12\xe8\x07" + bytes(1000), content
    return ask


ECHO = b"x-grpc-test-echo-initial"


def same_bytes(link):
    """A block of indexes means what HPACK's table has: the same as before, or something else."""
    def call(stream, fields):
        link.send(headers(stream, fields), data(stream, message(), True))

    fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", UNARY), (b":authority", b"x"),
              (b"te", b"trailers"), (b"content-type", b"application/grpc"), (ECHO, b"1")]
    indexes = bytes(128 | 61 + number for number in range(len(fields), 0, -1))
    call(1, b"".join(literal(*field, b"\x40") for field in fields))
    for stream in 3, 5:
        call(stream, indexes)
    assert link.wait(lambda: link.ended >= {1, 3, 5}), (link.goaway, link.ended, link.resets)
    for stream in 1, 3, 5:
        assert link.fields[stream][ECHO] == b"1", link.fields
    call(7, GOOD + literal(ECHO, b"2", b"\x40"))
    call(9, indexes)        # without :method now
    assert link.wait(lambda: 7 in link.ended and 9 in link.resets), (link.ended, link.resets)
    assert link.fields[7][ECHO] == b"2" and link.resets[9] == h2.PROTOCOL, link.fields
    call(11, b"\x20" + GOOD)        # an empty table
    call(13, indexes)
    dies(h2.COMPRESSION)(link)


def small_table(link):
    """Answers do not refer to what the client has thrown away. It takes short blocks only."""
    link.send(setting((6, 110)))
    for number, size in enumerate((4096, 4096, 0, 0, 100, 4096)):
        if number and size != 4096 or number == 5:
            link.send(setting((1, size)))
        for stream in range(40 * number + 1, 40 * number + 9, 2):
            link.send(headers(stream, GOOD), data(stream, message(), True))
            assert link.wait(lambda: stream in link.ended), (link.goaway, link.resets)
            assert link.fields[stream] == {
                b":status": b"200", b"content-type": b"application/grpc", b"grpc-status": b"0",
            }, link.fields[stream]


def half_a_message(link):
    link.send(OPEN, data(1, message(b"x" * 100, length=1000)))
    link.sock.close()


def big_block(size):
    """Fields from the table: few bytes, a long list."""
    entry = literal(b"a" * 10, b"b" * 1000, b"\x40")
    return headers(1, GOOD + entry + b"\xbe" * (size // 1042), True)


def many_fields(count):
    return headers(1, GOOD + literal(b"a", b"b") * count, True)


DEEP = b""
for _ in range(300):
    DEEP = b"\x92\x01" + varint(len(DEEP)) + DEEP       # All.f_all
MERGED = message(b"\x92\x01\x02\x08\x00" * 200)

CASES = [
    ("random bytes", raw(bytes(range(256)) * 4), dies(h2.PROTOCOL)),
    ("a request of HTTP/1", raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), dies(h2.PROTOCOL)),
    ("a hello of TLS", raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(508)),
     dies(h2.PROTOCOL)),
    ("a preface with an end that is wrong", raw(h2.PREFACE[:-1] + b"x"), dies(h2.PROTOCOL)),
    ("an end inside the preface", raw(h2.PREFACE[:10]), lambda link: link.close()),
    ("no SETTINGS", begin(PING8), dies(h2.PROTOCOL)),
    ("SETTINGS of 5 bytes", frame(h2.SETTINGS, 0, 0, b"12345"), dies(h2.SIZE)),
    ("SETTINGS of a stream", frame(h2.SETTINGS, 0, 1), dies(h2.PROTOCOL)),
    ("an acknowledgement with content", frame(h2.SETTINGS, 1, 0, b"123456"), dies(h2.SIZE)),
    ("SETTINGS: a window of 2^31", setting((4, 1 << 31)), dies(h2.FLOW)),
    ("SETTINGS: frames of 100 bytes", setting((5, 100)), dies(h2.PROTOCOL)),
    ("SETTINGS: ENABLE_PUSH 2", setting((2, 2)), dies(h2.PROTOCOL)),
    ("SETTINGS with 1000 entries", setting(*[(99, 1)] * 1000), dies(h2.CALM)),
    ("DATA of an idle stream", data(1, b"x"), dies(h2.PROTOCOL)),
    ("DATA without a stream", data(0, b"x"), dies(h2.PROTOCOL)),
    ("DATA of a closed stream", CALL + data(1, b"x"), None),
    ("HEADERS of an even stream", headers(2, GOOD), dies(h2.PROTOCOL)),
    ("a stream id that goes backwards", headers(5, GOOD) + headers(3, GOOD), dies(h2.CLOSED)),
    ("a frame of 16385 bytes", frame(h2.DATA, 0, 1, b"", 16385), dies(h2.SIZE)),
    ("a frame of 2^24-1 bytes", OPEN + frame(h2.DATA, 0, 1, b"", (1 << 24) - 1), dies(h2.SIZE)),
    ("PING of 7 bytes", frame(h2.PING, 0, 0, b"1234567"), dies(h2.SIZE)),
    ("PING of a stream", frame(h2.PING, 0, 1, b"12345678"), dies(h2.PROTOCOL)),
    ("WINDOW_UPDATE of nothing", window(0, 0), dies(h2.PROTOCOL)),
    ("WINDOW_UPDATE of nothing for a stream", OPEN + window(1, 0), resets(h2.PROTOCOL)),
    ("WINDOW_UPDATE of an idle stream", window(1, 1), dies(h2.PROTOCOL)),
    ("a window above 2^31", window(0, (1 << 31) - 1), dies(h2.FLOW)),
    ("a stream's window above 2^31", OPEN + window(1, (1 << 31) - 1), resets(h2.FLOW)),
    ("SETTINGS that make a window too large",
     OPEN + window(1, 1 << 30) + setting((4, (1 << 31) - 1)), dies(h2.FLOW)),
    ("RST_STREAM of an idle stream", h2.reset(1), dies(h2.PROTOCOL)),
    ("RST_STREAM of 3 bytes", OPEN + frame(h2.RST, 0, 1, b"123"), dies(h2.SIZE)),
    ("PRIORITY of 4 bytes", OPEN + frame(h2.PRIORITY, 0, 1, b"1234"), resets(h2.SIZE)),
    ("PUSH_PROMISE", OPEN + frame(h2.PUSH, 4, 1, b"\0\0\0\2"), dies(h2.PROTOCOL)),
    ("CONTINUATION of nothing", frame(h2.CONTINUATION, 4, 1, b""), dies(h2.PROTOCOL)),
    ("CONTINUATION of another stream",
     headers(1, GOOD, flags=0) + frame(h2.CONTINUATION, 4, 3), dies(h2.PROTOCOL)),
    ("PING inside a header block", headers(1, GOOD, flags=0) + PING8, dies(h2.PROTOCOL)),
    ("CONTINUATION flood",
     headers(1, GOOD, flags=0) + frame(h2.CONTINUATION, 0, 1, b"") * 1000, dies(h2.CALM)),
    ("CONTINUATION with 64 KiB",
     headers(1, GOOD, flags=0) + frame(h2.CONTINUATION, 0, 1, b"\0" * 16000) * 4, dies(h2.CALM)),
    ("padding longer than its frame", OPEN + frame(h2.DATA, h2.PADDED, 1, b"\x05abc"),
     dies(h2.PROTOCOL)),
    ("HPACK: index 0", headers(1, b"\x80"), dies(h2.COMPRESSION)),
    ("HPACK: an index beyond the table", headers(1, b"\xff\x20"), dies(h2.COMPRESSION)),
    ("HPACK: a huge integer", headers(1, b"\xff" + b"\xff" * 20), dies(h2.COMPRESSION)),
    ("HPACK: a string beyond the block", headers(1, b"\0\x7fabc"), dies(h2.COMPRESSION)),
    ("HPACK: Huffman's EOS", headers(1, b"\0\x01a\x84\xff\xff\xff\xff"), dies(h2.COMPRESSION)),
    ("HPACK: a table larger than allowed", headers(1, integer(5000, 5, 32) + GOOD),
     dies(h2.COMPRESSION)),
    ("HPACK: 40 kB of fields", big_block(40000), ends(8)),
    ("HPACK: a bomb", big_block(8 << 20), dies(h2.CALM)),
    ("100 fields", many_fields(100), ends(8)),
    ("HPACK: the same bytes", same_bytes, None),
    ("HPACK: a small table", small_table, None),
    ("a name with a capital letter", headers(1, GOOD + literal(b"Abc", b"x")),
     resets(h2.PROTOCOL)),
    ("no :path", headers(1, h2.block((b":method", b"POST"), (b":scheme", b"http"))),
     resets(h2.PROTOCOL)),
    (":path twice", headers(1, literal(b":path", b"/a/b") + GOOD), resets(h2.PROTOCOL)),
    (":path behind other fields", headers(1, h2.block((b"te", b"trailers")) + GOOD),
     resets(h2.PROTOCOL)),
    ("connection: close", headers(1, GOOD + literal(b"connection", b"close")),
     resets(h2.PROTOCOL)),
    ("GET", headers(1, request(method=b"GET"), True), http(405)),
    ("text/html", headers(1, request(content=b"text/html"), True), http(415)),
    ("a path without a method", headers(1, request(b"/x")), ends(12)),
    ("a path of 10 kB", headers(1, request(b"/x/" + b"y" * 10000)), ends(12)),
    ("a bad grpc-timeout", headers(1, request(UNARY, (b"grpc-timeout", b"x"))), ends(13)),
    ("a deadline that has passed", headers(1, request(UNARY, (b"grpc-timeout", b"0S"))), ends(4)),
    ("no message", headers(1, GOOD, True), ends(12)),
    ("two messages", OPEN + data(1, message() + message(), True), ends(12)),
    ("an end inside a message", OPEN + data(1, message(b"x", length=10), True), ends(13)),
    ("an end inside a prefix", OPEN + data(1, b"\0\0", True), ends(13)),
    ("a message of 4 GiB", OPEN + data(1, message(b"x", length=0xffffffff)), ends(8)),
    ("a compressed message", OPEN + data(1, message(b"", 1), True), ends(13)),
    ("a compressed message, without a compression", coded(b"identity", packed(ZEROES)), ends(13)),
    ("gzip", coded(b"gzip", packed(ZEROES)), ends(0)),
    ("deflate", coded(b"deflate", packed(ZEROES, zlib.compress)), ends(0)),
    ("gzip that is not used", coded(b"gzip", message()), ends(0)),
    ("gzip that is deflate", coded(b"gzip", packed(ZEROES, zlib.compress)), ends(13)),
    ("deflate that is gzip", coded(b"deflate", packed(ZEROES)), ends(13)),
    ("gzip without its end", coded(b"gzip", packed(ZEROES, lambda body: gzip.compress(body)[:-1])),
     ends(13)),
    ("gzip, and more", coded(b"gzip", packed(ZEROES, lambda body: gzip.compress(body) + b"x")),
     ends(13)),
    ("gzip of nothing", coded(b"gzip", message(b"", 1)), ends(13)),
    ("gzip of another length",
     coded(b"gzip", packed(ZEROES, lambda body: gzip.compress(body)[:-4] + bytes(4))), ends(13)),
    ("gzip of no protobuf", coded(b"gzip", packed(bytes(10))), ends(13)),
    ("gzip, twice", coded(b"gzip", packed(ZEROES) + packed(ZEROES)), ends(12)),
    ("an encoding that is not known", not_known, None),
    ("an encoding that is not known, and not used", coded(b"snappy", message()), ends(0)),
    ("a bomb of gzip", lambda link: (link.send(headers(1, request(UNARY, (b"grpc-encoding", b"gzip")))),
                                     link.flow(1, h2.bomb(BOMB), True)), ends(8)),
    ("bombs of gzip", bombs, dies(h2.CALM)),
    ("bombs that nobody reads", unknown_bombs, dies(h2.CALM)),
    ("a reply that is not compressed: the client says nothing", compressed(), None),
    ("a reply that is not compressed: the client takes deflate", compressed(b"deflate"), None),
    ("a reply that is compressed", compressed(b"identity", b"gzip"), None),
    ("a flag that gRPC does not have", OPEN + data(1, message(b"", 2), True), ends(13)),
    ("no protobuf", OPEN + data(1, message(b"\xff\xff\xff"), True), ends(13)),
    ("a field longer than its message", OPEN + data(1, message(b"\x1a\x7fabc"), True), ends(13)),
    ("no UTF-8", headers(1, request(TYPES)) + data(1, message(b"\x72\x02\xc3\x28"), True),
     ends(13)),
    ("300 levels", headers(1, request(TYPES)) + data(1, message(DEEP), True), ends(13)),
    ("200 parts of one message", headers(1, request(TYPES)) + data(1, MERGED, True), ends(13)),
    ("small, but large in memory", amplified, ends(8)),
    ("another content-length", headers(1, request(UNARY, (b"content-length", b"7"))) +
     data(1, message(), True), resets(h2.PROTOCOL)),
    ("DATA behind the end", LATE + data(1, b"x"), resets(h2.CLOSED)),
    ("HEADERS behind the end", LATE + headers(1, GOOD, True), resets(h2.CLOSED)),
    ("trailers that are not the end", OPEN + headers(1, GOOD), resets(h2.PROTOCOL)),
    ("half a message, then the end", half_a_message, None),
    ("more than the window", over_the_window, dies(h2.FLOW)),
    ("more streams than allowed", too_many, None),
    ("rapid reset", rapid_reset, dies(h2.CALM)),
    ("SETTINGS flood", flood(setting()), dies(h2.CALM)),
    ("PING flood", flood(PING8), dies(h2.CALM)),
    ("PING flood, unread", pings_unread, None),
    ("PRIORITY flood", flood(frame(h2.PRIORITY, 0, 1, b"\0\0\0\0\1")), dies(h2.CALM)),
    ("a flood of an unknown type", flood(frame(200, 0, 0, b"x")), dies(h2.CALM)),
    ("WINDOW_UPDATE flood", flood(window(0, 1)), dies(h2.CALM)),
    ("a flood of empty DATA", (lambda: h2.dial(port, setting()),
                               lambda link: (link.send(OPEN), flood(data(1))(link))), dies(h2.CALM)),
    ("acknowledgements of nothing", flood(frame(h2.SETTINGS, 1)), dies(h2.CALM)),
    ("windows of zero, and no reading", zero_windows, None),
    ("GOAWAY, then a call", h2.goaway(0) + CALL, ends(0)),
]


def run(name, what, check, honest):
    opener, what = what if isinstance(what, tuple) else (lambda: h2.dial(port), what)
    link = opener()
    if callable(what):
        what(link)
    else:
        link.send(what)
    if check:
        check(link)
    link.close()
    honest.call(name)


class Honest:
    """A client that keeps to the rules: its connection must not suffer."""

    def __init__(self):
        self.link = h2.dial(port)
        self.stream = -1

    def call(self, after):
        self.stream += 2
        self.link.send(headers(self.stream, GOOD), data(self.stream, message(), True))
        assert self.link.wait(lambda: self.stream in self.link.ended), "after " + after
        assert self.link.status(self.stream) == b"0", (after, self.link.fields[self.stream])


def main():
    honest = Honest()
    # What must be ended for being slow is looked at when all else is done.
    silent, slow = h2.dial(port, None), h2.dial(port)
    slow.send(headers(1, GOOD, flags=0))
    bad = 0
    for name, what, check in CASES:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        began = time.monotonic()
        try:
            run(name, what, check, honest)
        except AssertionError as error:
            print("# %s: %s" % (name, str(error)[:500]), flush=True)
            bad += 1
        else:
            print("# %s: well, in %.1f s" % (name, time.monotonic() - began), flush=True)
    if not sys.argv[2:]:
        dies(h2.CALM)(slow)
        closes(silent)
    print("#", len(CASES), "cases,", bad, "bad", flush=True)
    sys.exit(bad != 0)


main()
