# SPDX-License-Identifier: GPL-2.0
"""hostile_server.py PEER: answers that no good server of gRPC gives, to mrpc's client PEER.

For each case it is known what becomes of the call. PEER dials the addresses that it is told.
"""
import socket
import subprocess
import sys
import threading
import time

import h2
from h2 import END_STREAM, data, frame, headers, literal, message, packed, setting, window

PING8 = frame(h2.PING, 0, 0, b"12345678")
HEAD = h2.block((b":status", b"200"), (b"content-type", b"application/grpc"))
BEGIN = headers(1, HEAD)


def coded(encoding, content):
    """A reply whose messages are compressed so."""
    return headers(1, HEAD + literal(b"grpc-encoding", encoding)) + data(1, content) + trailers()


def trailers(status=b"0", *more):
    return headers(1, h2.block((b"grpc-status", status), *more), True)


def alone(*fields):
    """A response without content."""
    return headers(1, h2.block(*fields), True)


def http(status):
    return alone((b":status", status), (b"content-type", b"text/html"))


REPLY = BEGIN + data(1, message()) + trailers()
PROMISE = frame(h2.PUSH, 4, 1, b"\0\0\0\2")

# A case: its name; what is sent at once; what is sent when a request has come; how the call ends:
# a status, with "u" if it says that the call was not run, or "none": there is no connection. What
# follows a blank is part of the detail.
CASES = [
    ("a good reply", setting(), REPLY, "0"),
    ("the end at once", b"", None, "none"),
    ("HTTP/1", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", "none"),
    ("a banner", b"SSH-2.0-x\r\n" * 10, b"", "none"),
    ("no SETTINGS", PING8, b"", "none"),
    ("SETTINGS: ENABLE_PUSH 1", setting((2, 1)), b"", "none"),
    ("GOAWAY at once", setting() + h2.goaway(0), b"", "14u"),
    ("GOAWAY below the request", setting(), h2.goaway(0), "14u"),
    ("GOAWAY above it, and a reply", setting(), h2.goaway(1) + REPLY, "0"),
    ("the end after the request", setting(), None, "14"),
    ("the end inside a reply", setting(), (BEGIN + data(1, message(b"", length=5)), None), "14"),
    ("RST_STREAM: NO_ERROR", setting(), h2.reset(1, h2.NO_ERROR), "13"),
    ("RST_STREAM: INTERNAL_ERROR", setting(), h2.reset(1, h2.INTERNAL), "13"),
    ("RST_STREAM: REFUSED_STREAM", setting(), h2.reset(1, h2.REFUSED), "14u"),
    ("RST_STREAM: CANCEL", setting(), h2.reset(1, h2.CANCEL), "1"),
    ("RST_STREAM: ENHANCE_YOUR_CALM", setting(), h2.reset(1, h2.CALM), "8"),
    ("RST_STREAM: a number of its own", setting(), h2.reset(1, 0xdeadbeef), "13"),
    ("HTTP 404", setting(), http(b"404"), "12"),
    ("HTTP 503", setting(), http(b"503"), "14"),
    ("HTTP 200 and text/html", setting(),
     headers(1, h2.block((b":status", b"200"), (b"content-type", b"text/html"))) + data(1, b"x"),
     "2"),
    (":status of letters", setting(), alone((b":status", b"abc")), "13"),
    ("no :status", setting(), alone((b"content-type", b"application/grpc")), "13"),
    ("no grpc-status", setting(), BEGIN + data(1, message()) + headers(1, b"", True), "2"),
    ("grpc-status 99", setting(), BEGIN + trailers(b"99"), "2"),
    ("grpc-status of letters", setting(), BEGIN + trailers(b"x"), "2"),
    ("grpc-status 5, and a bad escape", setting(),
     BEGIN + trailers(b"5", (b"grpc-message", b"a%zz%4")), "5"),
    ("a capital letter", setting(), BEGIN + trailers(b"0", (b"Abc", b"x")), "13"),
    ("OK without a message", setting(), BEGIN + trailers(), "!0"),
    ("two messages", setting(), BEGIN + data(1, message() + message()) + trailers(), "12"),
    ("DATA before HEADERS", setting(), data(1, message()), "13 the server broke a rule"),
    ("a message of 4 GiB", setting(), BEGIN + data(1, message(b"x", length=0xffffffff)), "8"),
    ("a compressed message", setting(), BEGIN + data(1, message(b"", 1)), "13"),
    ("gzip", setting(), coded(b"gzip", packed(b"\x0a\x03\x12\x01\x00")), "0"),
    ("gzip that is none", setting(), coded(b"gzip", message(b"x", 1)), "13"),
    ("gzip of no protobuf", setting(), coded(b"gzip", packed(bytes(10))), "13"),
    ("gzip that becomes more than is accepted", setting(), coded(b"gzip", h2.bomb(65)), "8"),
    ("an encoding that is not known", setting(), coded(b"snappy", message(b"x", 1)), "12"),
    ("an end inside a message", setting(),
     BEGIN + frame(h2.DATA, END_STREAM, 1, message(b"", length=5)), "13"),
    ("trailers inside a message", setting(),
     BEGIN + data(1, message(b"x", length=5)) + trailers(), "!0"),
    ("no protobuf", setting(), BEGIN + data(1, message(b"\xff\xff")) + trailers(), "13"),
    ("trailers that are not the end", setting(),
     BEGIN + headers(1, h2.block((b"grpc-status", b"0"))), "13"),
    ("40 kB of fields", setting(),
     BEGIN + headers(1, literal(b"a", b"b" * 1000, b"\x40") + b"\xbe" * 40, True), "8"),
    ("a bomb", setting(),
     BEGIN + headers(1, literal(b"a", b"b" * 1000, b"\x40") + b"\xbe" * 9000, True), "14"),
    ("no HPACK", setting(), headers(1, b"\x80"), "14"),
    ("PUSH_PROMISE", setting(), PROMISE, "14"),
    ("HEADERS of an idle stream", setting(), headers(7, HEAD), "14"),
    ("HEADERS of the server's", setting(), headers(2, HEAD), "14"),
    ("DATA of an idle stream", setting(), data(7, b"x"), "14"),
    ("a frame of 16385 bytes", setting(), frame(h2.DATA, 0, 1, b"", 16385), "14"),
    ("a window above 2^31", setting(), window(0, (1 << 31) - 1) * 2, "14"),
    ("PING flood", setting(), PING8 * 6000, "14"),
    ("SETTINGS flood", setting(), setting() * 3000, "14"),
    ("100 Continue for ever", setting(), headers(1, h2.block((b":status", b"100"))) * 6000, "14"),
    ("empty CONTINUATION for ever", setting(),
     headers(1, HEAD, flags=0) + frame(h2.CONTINUATION, 0, 1) * 1000, "14"),
    ("no streams allowed", setting((3, 0)), b"", "4"),
    ("a window of zero", setting((4, 0)), b"", "4"),
    ("a good reply, again", setting(), REPLY, "0"),
]


def answer(sock, first, then):
    """Plays one case. The client's part is read all the time; its HEADERS is what is waited for."""
    link = h2.Link(sock)
    link.send(first)
    if then is None and not first:
        return link.close()
    # The preface is no frame.
    while len(link.buf) < len(h2.PREFACE) and not link.closed:
        try:
            more = sock.recv(len(h2.PREFACE) - len(link.buf))
        except TimeoutError:
            continue
        except OSError:
            break
        if not more:
            break
        link.buf += more
    if link.buf != h2.PREFACE:
        return link.close()
    link.buf = b""
    if link.wait(lambda: 1 in link.fields) and then is not None:
        for part in then if isinstance(then, tuple) else (then,):
            if part is None:
                return link.close()
            link.send(part)
    elif then is None:
        return link.close()
    link.wait(lambda: False)
    link.close()


def main():
    peer = subprocess.Popen([sys.argv[1], "dial"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)
    bad = 0
    for name, first, then, want in CASES:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        listener = socket.create_server(("127.0.0.1", 0))
        peer.stdin.write("grpc:127.0.0.1:%d\n" % listener.getsockname()[1])
        peer.stdin.flush()
        sock, _ = listener.accept()
        listener.close()
        began = time.monotonic()
        thread = threading.Thread(target=answer, args=(sock, first, then), daemon=True)
        thread.start()
        got = peer.stdout.readline().rstrip("\n").split(" ", 2)
        want, _, detail = want.partition(" ")
        well = len(got) > 1 and (got[1] != want[1:] if want[0] == "!" else got[1] == want)
        well = well and detail in " ".join(got[2:])
        bad += not well
        print("# %s: %s, not %s: %s" % (name, "well" if well else "WRONG", want, got[1:]) if not well
              else "# %s: %s, in %.1f s" % (name, got[1:], time.monotonic() - began), flush=True)
    peer.stdin.close()
    assert peer.wait(10) == 0
    print("#", len(CASES), "cases,", bad, "bad", flush=True)
    sys.exit(bad != 0)


main()
