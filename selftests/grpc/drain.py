# SPDX-License-Identifier: GPL-2.0
"""drain.py PORT PID: mrpc's server PID at PORT is told to end. Calls that it has begun to get, or that
come before it says that no more may come, are answered; later ones are ignored."""
import os
import signal
import struct
import sys

import h2
from h2 import data, frame, headers, message

FIELDS = h2.block((b":method", b"POST"), (b":scheme", b"http"), (b":authority", b"x"),
                  (b":path", b"/grpc.testing.TestService/UnaryCall"), (b"te", b"trailers"),
                  (b"content-type", b"application/grpc"))
SLEEPS = FIELDS + h2.block((b"x-test-sleep-ms", b"700"))
LAST = (1 << 31) - 1
EMPTY = data(1, message(), True)[9:]


def call(stream, fields=FIELDS):
    return headers(stream, fields) + frame(h2.DATA, h2.END_STREAM, stream, EMPTY)


class Link(h2.Link):
    """Keeps all GOAWAY frames, and does not answer a PING by itself."""

    def __init__(self, sock):
        super().__init__(sock)
        self.lasts, self.asked = [], None

    def hear(self, kind, flags, stream, payload):
        super().hear(kind, flags, stream, payload)
        if kind == h2.GOAWAY:
            self.lasts.append(struct.unpack(">I", payload[:4])[0])
        elif kind == h2.PING and not flags & h2.ACK:
            self.asked = payload


def main():
    link = Link(h2.dial(int(sys.argv[1])).sock)
    assert link.wait(lambda: link.settled)
    # One call runs, two have begun to come; of one of these the server has no message at all.
    link.send(call(1, SLEEPS), headers(3, FIELDS), frame(h2.DATA, 0, 3, b"\0\0\0"), headers(5, FIELDS))
    link.send(frame(h2.PING, 0, 0, b"12345678"))
    assert link.wait(lambda: link.pongs)
    os.kill(int(sys.argv[2]), signal.SIGTERM)
    assert link.wait(lambda: link.lasts and link.asked), (link.lasts, link.asked)
    assert link.lasts == [LAST], link.lasts
    link.send(call(7), frame(h2.PING, h2.ACK, 0, link.asked))
    assert link.wait(lambda: len(link.lasts) == 2), link.lasts
    assert link.lasts[1] == 7, link.lasts
    link.send(call(9), frame(h2.DATA, h2.END_STREAM, 3, b"\0\0"),
              frame(h2.DATA, h2.END_STREAM, 5, EMPTY))
    assert link.wait(lambda: link.ended >= {1, 3, 5, 7}), (link.ended, link.goaway)
    for stream in 1, 3, 5, 7:
        assert link.status(stream) == b"0", (stream, link.fields[stream])
    link.wait(lambda: link.closed)
    assert link.closed and not link.goaway and 9 not in link.fields, (link.goaway, link.fields)


main()
