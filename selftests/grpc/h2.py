# SPDX-License-Identifier: GPL-2.0
"""HTTP/2 by hand, for peers that break its rules: frames, and as much of HPACK as mrpc writes."""
import functools
import gzip
import socket
import struct
import time
import zlib

DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, PADDED, ACK = 1, 4, 8, 1
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
NO_ERROR, PROTOCOL, INTERNAL, FLOW, TIMEOUT, CLOSED, SIZE, REFUSED, CANCEL, COMPRESSION = range(10)
CALM = 11
WAIT = 15  # s for an answer: for busy machines

STATIC = [None] * 62
STATIC[1:17] = [(b":authority", b""), (b":method", b"GET"), (b":method", b"POST"), (b":path", b"/"),
                (b":path", b"/index.html"), (b":scheme", b"http"), (b":scheme", b"https"),
                (b":status", b"200"), (b":status", b"204"), (b":status", b"206"),
                (b":status", b"304"), (b":status", b"400"), (b":status", b"404"),
                (b":status", b"500"), (b"accept-charset", b""), (b"accept-encoding", b"gzip")]
STATIC[22] = (b"allow", b"")
STATIC[31] = (b"content-type", b"")
STATIC[58] = (b"user-agent", b"")


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    length = len(payload) if length is None else length
    return struct.pack(">I", length)[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def setting(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def window(stream, more):
    return frame(WINDOW, 0, stream, struct.pack(">I", more))


def reset(stream, code=CANCEL):
    return frame(RST, 0, stream, struct.pack(">I", code))


def goaway(last, code=NO_ERROR, text=b""):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, code) + text)


def integer(number, bits, first=0):
    most = (1 << bits) - 1
    if number < most:
        return bytes([first | number])
    out, number = bytes([first | most]), number - most
    while number > 127:
        out, number = out + bytes([128 | number & 127]), number >> 7
    return out + bytes([number])


def text(value):
    return integer(len(value), 7) + value


def literal(name, value, first=b"\0"):
    """A field, by default without a change of the table; b"\\x40" puts it there."""
    return first + text(name) + text(value)


def block(*fields):
    return b"".join(literal(*field) for field in fields)


def headers(stream, fields, end=False, flags=END_HEADERS):
    return frame(HEADERS, flags | (END_STREAM if end else 0), stream, fields)


def message(body=b"", flag=0, length=None):
    return struct.pack(">BI", flag, len(body) if length is None else length) + body


def packed(body, pack=gzip.compress):
    """A message that is compressed."""
    return message(pack(body), 1)


@functools.cache
def bomb(size, start=b""):
    """A compressed message: @start, and so many zeroes, MiB. One MiB is compressed, and repeated."""
    pack, zeroes = zlib.compressobj(wbits=-15), bytes(1 << 20)
    begin, part = (pack.compress(some) + pack.flush(zlib.Z_FULL_FLUSH)
                   for some in (start, zeroes))
    crc = functools.reduce(lambda crc, _: zlib.crc32(zeroes, crc), range(size), zlib.crc32(start))
    return message(gzip.compress(b"")[:10] + begin + part * size + pack.flush() +
                   struct.pack("<II", crc, len(start) + (size << 20)), 1)


def data(stream, content=b"", end=False):
    """DATA in frames of the usual size."""
    parts = [content[at:at + 16384] for at in range(0, len(content), 16384)] or [b""]
    return b"".join(frame(DATA, END_STREAM if end and i == len(parts) - 1 else 0, stream, part)
                    for i, part in enumerate(parts))


class Table:
    """What a peer without Huffman's code has put into its table."""

    def __init__(self):
        self.dynamic = []
        self.most = 4096

    def evict(self):
        while sum(len(name) + len(value) + 32 for name, value in self.dynamic) > self.most:
            self.dynamic.pop()

    def take(self, block, at, bits):
        number = block[at] & (1 << bits) - 1
        at += 1
        if number == (1 << bits) - 1:
            shift = 0
            while True:
                number += (block[at] & 127) << shift
                shift += 7
                at += 1
                if not block[at - 1] & 128:
                    break
        return number, at

    def string(self, block, at):
        assert not block[at] & 128, "Huffman's code"
        length, at = self.take(block, at, 7)
        return block[at:at + length], at + length

    def entry(self, index):
        return STATIC[index] if index < 62 else self.dynamic[index - 62]

    def decode(self, block):
        fields, at = [], 0
        while at < len(block):
            first = block[at]
            if first & 128:
                index, at = self.take(block, at, 7)
                fields.append(self.entry(index))
                continue
            if first & 224 == 32:
                self.most, at = self.take(block, at, 5)
                self.evict()
                continue
            index, at = self.take(block, at, 6 if first & 64 else 4)
            name, at = (self.entry(index)[0], at) if index else self.string(block, at)
            value, at = self.string(block, at)
            fields.append((name, value))
            if first & 64:
                self.dynamic.insert(0, (name, value))
                self.evict()
        return fields


class Link:
    """A connection, and what has come over it."""

    def __init__(self, sock):
        self.sock = sock
        self.sock.settimeout(0.2)
        self.buf = b""
        self.table = Table()
        self.closed = False
        self.goaway = None
        self.why = b""
        self.resets = {}
        self.fields = {}
        self.content = {}
        self.ended = set()
        self.pongs = 0
        self.acks = 0
        self.settled = False
        self.initial = self.window = 65535
        self.windows = {}

    def send(self, *parts):
        """The peer may have ended the connection, which is what it is asked about later."""
        try:
            self.sock.settimeout(WAIT)
            self.sock.sendall(b"".join(parts))
        except OSError:
            pass
        finally:
            self.sock.settimeout(0.2)

    def read(self):
        try:
            more = self.sock.recv(1 << 16)
        except TimeoutError:
            return
        except OSError:
            more = b""
        self.closed |= not more
        self.buf += more
        while len(self.buf) >= 9:
            length = int.from_bytes(self.buf[:3], "big")
            if len(self.buf) < 9 + length:
                return
            kind, flags, stream = struct.unpack(">BBI", self.buf[3:9])
            payload, self.buf = self.buf[9:9 + length], self.buf[9 + length:]
            self.hear(kind, flags, stream, payload)

    def hear(self, kind, flags, stream, payload):
        if kind == HEADERS:
            self.fields.setdefault(stream, {}).update(self.table.decode(payload))
        elif kind == DATA:
            self.content[stream] = self.content.get(stream, b"") + payload
        elif kind == RST:
            self.resets[stream] = struct.unpack(">I", payload)[0]
        elif kind == GOAWAY:
            self.goaway, self.why = struct.unpack(">I", payload[4:8])[0], payload[8:]
        elif kind == PING and flags & ACK:
            self.pongs += 1
        elif kind == SETTINGS:
            self.settled |= not flags & ACK
            self.acks += flags & ACK
            if not flags & ACK:
                self.hear_settings(payload)
        elif kind == WINDOW and not stream:
            self.window += struct.unpack(">I", payload)[0]
        elif kind == WINDOW:
            self.windows[stream] = self.windows.get(stream, 0) + struct.unpack(">I", payload)[0]
        if kind in (HEADERS, DATA) and flags & END_STREAM:
            self.ended.add(stream)

    def hear_settings(self, payload):
        for at in range(0, len(payload), 6):
            number, value = struct.unpack(">HI", payload[at:at + 6])
            if number == 4:
                self.initial = value
        self.send(frame(SETTINGS, ACK))

    def flow(self, stream, content, end=False, limit=True):
        """Sends DATA as far as the peer allows; not limit: beyond the window of the connection."""
        at = 0

        def room():
            most = self.initial + self.windows.get(stream, 0)
            return min(16384, most, self.window if limit else most)

        while at < len(content):
            if not self.wait(lambda: room() > 0):
                return
            part = content[at:at + room()]
            at += len(part)
            self.window -= len(part)
            self.windows[stream] = self.windows.get(stream, 0) - len(part)
            self.send(frame(DATA, END_STREAM if end and at == len(content) else 0, stream, part))

    def wait(self, reached, seconds=WAIT):
        until = time.monotonic() + seconds
        while not reached() and not self.closed and time.monotonic() < until:
            self.read()
        return reached()

    def status(self, stream):
        return self.fields.get(stream, {}).get(b"grpc-status")

    def close(self):
        self.sock.close()


def dial(port, settings=setting()):
    """A client's connection; settings None: not even a preface."""
    link = Link(socket.create_connection(("127.0.0.1", port), WAIT))
    if settings is not None:
        link.send(PREFACE, settings)
    return link
