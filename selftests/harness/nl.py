# SPDX-License-Identifier: GPL-2.0
"""A client of the netlink family that shares no code with the mrpc command.

The numbers of uapi/linux/mrpc_netlink.h, which lies beside it, become its names.
"""
import ctypes, errno, fcntl, os, re, socket, struct, sys, time

header = os.path.dirname(os.path.abspath(__file__)) + '/mrpc_netlink.h'
for body in re.findall(r'^enum[^{;]*{(.*?)^}', open(header).read(), re.S | re.M):
    value = -1
    for name, number in re.findall(r'^\t(\w+)(?: = (\w+))?,', body, re.M):
        value = int(number, 0) if number else value + 1
        globals()[name] = value

class Refused(Exception):
    def __init__(self, code, message):
        self.code, self.message = code, message
        super().__init__(f'{errno.errorcode[code]}: {message}')

def attr(kind, data):
    if isinstance(data, int):
        data = struct.pack('I', data)
    raw = struct.pack('HH', 4 + len(data), kind) + data
    return raw + bytes(-len(raw) % 4)

def attrs(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from('HH', data)
        assert 4 <= length <= len(data), 'an attribute ends behind its message'
        found.setdefault(kind & 0x3fff, []).append(data[4:length])
        data = data[(length + 3) & ~3:]
    return found

def number(data):
    return int.from_bytes(data, sys.byteorder)

def text(data):
    assert data[-1] == 0
    return data[:-1].decode()

class Netlink:
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.socket.bind((0, 0))
        self.socket.setsockopt(270, 11, 1)      # NETLINK_EXT_ACK
        self.seq = 0
        reply, = self.ask(3, attr(2, b'mrpc\0'), family=16)
        self.family = number(reply[1][0])
        self.group = number(attrs(attrs(reply[7][0])[1][0])[2][0])

    def send(self, cmd, body=b'', flags=0, family=None):
        self.seq += 1
        raw = struct.pack('BBH', cmd, 1, 0) + body
        self.socket.send(struct.pack('IHHII', 16 + len(raw), family or self.family,
                                     1 | flags, self.seq, 0) + raw)

    def messages(self):
        data = self.socket.recv(1 << 20)
        while data:
            length, kind, flags = struct.unpack_from('IHH', data)
            yield kind, flags, data[16:length]
            data = data[(length + 3) & ~3:]

    def error(self, data, flags):
        code, = struct.unpack_from('i', data)
        if not code:
            return
        message = ''
        if flags & 0x200:                       # NLM_F_ACK_TLVS
            skip = 4 + ((number(data[4:8]) + 3) & ~3) if not flags & 0x100 else 20
            message = text(attrs(data[skip:]).get(1, [b'\0'])[0])
        raise Refused(-code, message)

    def ask(self, cmd, body=b'', flags=0, family=None):
        self.send(cmd, body, flags | 4, family)         # NLM_F_ACK: a command may answer nothing
        found = []
        while True:
            for kind, flags, data in self.messages():
                if kind == 2:
                    self.error(data, flags)
                    return found
                if kind == 3:
                    self.error(data, 0)
                    return found
                assert data[0] == cmd or family
                found.append(attrs(data[4:]))

    def dump(self, cmd, body=b''):
        return self.ask(cmd, body, 0x300)

    def listen(self):
        self.socket.setsockopt(270, 1, self.group)

    def refused(self, code, *args, **kwargs):
        try:
            self.ask(*args, **kwargs)
        except Refused as e:
            assert e.code == getattr(errno, code), f'{e} instead of {code}'
            return e.message
        assert False, f'not refused with {code}'

def session(name=b''):
    fd = os.open('/dev/mrpc', os.O_RDWR)
    setup = bytearray(struct.pack('IIQQ16sIIIIQ', 64, 0, 0, 0, name, 0, 0, 0, 0, 0))
    fcntl.ioctl(fd, 0xc040b900, setup)      # MRPC_IOC_SETUP
    return fd, struct.unpack_from('I', setup, 40)[0]
