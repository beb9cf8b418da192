"""A small MySQL client over a plain socket: right by default, and able to be wrong byte by byte."""
import hashlib
import socket
import struct

CAPABILITIES = (1 | 4 | 8 | 0x200 | 0x2000 | 0x8000 | 0x10000 | 0x20000 | 0x80000 | 0x1000000)
CONNECT_WITH_DB = 8
DEPRECATE_EOF = 0x1000000


class Error(Exception):
    """An ERR packet."""

    def __init__(self, code, state, message):
        super().__init__(f"{code} ({state}): {message}")
        self.code, self.state, self.message = code, state, message


def lenenc(number):
    if number < 251:
        return bytes([number])
    if number < 1 << 16:
        return b"\xfc" + struct.pack("<H", number)
    if number < 1 << 24:
        return b"\xfd" + struct.pack("<I", number)[:3]
    return b"\xfe" + struct.pack("<Q", number)


def read_lenenc(data, at):
    first = data[at]
    if first < 251:
        return first, at + 1
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(data[at + 1:at + 1 + size], "little"), at + 1 + size


def native(password, scramble):
    if not password:
        return b""
    one = hashlib.sha1(password.encode()).digest()
    mix = hashlib.sha1(scramble + hashlib.sha1(one).digest()).digest()
    return bytes(a ^ b for a, b in zip(one, mix))


def sha2(password, scramble):
    if not password:
        return b""
    one = hashlib.sha256(password.encode()).digest()
    mix = hashlib.sha256(hashlib.sha256(one).digest() + scramble).digest()
    return bytes(a ^ b for a, b in zip(one, mix))


ANSWERS = {b"mysql_native_password": native, b"caching_sha2_password": sha2}


class Client:
    """One connection. With `login=False` only the greeting is read, and the rest is up to the caller."""

    def __init__(self, port, user="test", password="test", database="", timeout=30, login=True,
                 capabilities=CAPABILITIES, receive_buffer=None):
        self.capabilities, self.sequence, self.buffer = capabilities, 0, bytearray()
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._greeting(self.packet())
        if login:
            self.login(user, password, database)

    def _greeting(self, packet):
        if packet[0] == 0xFF:
            raise self.error(packet)
        end = packet.index(0, 1)
        self.version = packet[1:end].decode()
        self.id = struct.unpack_from("<I", packet, end + 1)[0]
        at = end + 5
        self.scramble = bytes(packet[at:at + 8])
        # Filler, low capabilities, charset, status, high capabilities, length of the scramble, ten bytes of nothing.
        at += 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10
        self.scramble += bytes(packet[at:at + 12])
        self.plugin = bytes(packet[at + 13:]).split(b"\0")[0]

    def response(self, user, answer, database="", plugin=None):
        capabilities = self.capabilities & ~(0 if database else CONNECT_WITH_DB)
        return (struct.pack("<IIB23x", capabilities, 1 << 24, 45) + user.encode() + b"\0" + lenenc(len(answer)) + answer
                + (database.encode() + b"\0" if database else b"") + (plugin or self.plugin) + b"\0")

    def login(self, user, password, database=""):
        answer = ANSWERS[self.plugin](password, self.scramble)
        self.send(self.response(user, answer, database))
        while True:
            packet = self.packet()
            if packet[0] == 0xFE:
                plugin, _, scramble = bytes(packet[1:]).partition(b"\0")
                self.send(ANSWERS[plugin](password, scramble[:20]))
            elif packet[0] == 0x00:
                return
            elif packet[0] == 0xFF:
                raise self.error(packet)
            elif bytes(packet[:2]) == b"\x01\x04":
                # The password itself is wanted, encrypted; who has no RSA has a wrong answer for it.
                self.send(b"\x02")
                self.packet()
                self.send(bytes(256))
            elif bytes(packet[:2]) != b"\x01\x03":
                raise RuntimeError(f"login wants {bytes(packet[:40])!r}")

    # --- packets ---

    def send(self, payload):
        out = bytearray()
        while True:
            part, payload = payload[:0xFFFFFF], payload[0xFFFFFF:]
            out += struct.pack("<I", len(part))[:3] + bytes([self.sequence]) + part
            self.sequence = (self.sequence + 1) & 255
            if len(part) < 0xFFFFFF:
                break
        self.socket.sendall(out)

    def raw(self, data):
        self.socket.sendall(data)

    def fill(self):
        piece = self.socket.recv(1 << 18)
        if not piece:
            raise ConnectionError("the server closed the connection")
        self.buffer += piece

    def packet(self):
        whole = bytearray()
        while True:
            while len(self.buffer) < 4:
                self.fill()
            length = self.buffer[0] | self.buffer[1] << 8 | self.buffer[2] << 16
            self.sequence = (self.buffer[3] + 1) & 255
            while len(self.buffer) < 4 + length:
                self.fill()
            whole += self.buffer[4:4 + length]
            del self.buffer[:4 + length]
            if length < 0xFFFFFF:
                return whole

    def error(self, packet):
        code = struct.unpack_from("<H", packet, 1)[0]
        if packet[3:4] == b"#":
            return Error(code, packet[4:9].decode(), packet[9:].decode(errors="replace"))
        return Error(code, "", packet[3:].decode(errors="replace"))

    # --- commands ---

    def command(self, code, body=b""):
        self.sequence = 0
        self.send(bytes([code]) + body)

    def start(self, sql):
        """Sends a query and reads up to its columns: their number, or `None` when it gives no rows."""
        self.command(3, sql if isinstance(sql, bytes) else sql.encode())
        return self.head()

    def head(self):
        packet = self.packet()
        if packet[0] == 0xFF:
            raise self.error(packet)
        if packet[0] == 0x00:
            self.affected, _ = read_lenenc(packet, 1)
            return None
        columns, _ = read_lenenc(packet, 0)
        for _ in range(columns):
            self.packet()
        if not self.capabilities & DEPRECATE_EOF:
            self.packet()
        return columns

    def ends(self, packet):
        if packet[0] == 0xFF:
            raise self.error(packet)
        return packet[0] == 0xFE and len(packet) < 0xFFFFFF and (len(packet) < 9 or self.capabilities & DEPRECATE_EOF)

    def rows(self, columns):
        while True:
            packet = self.packet()
            if self.ends(packet):
                return
            at, row = 0, []
            for _ in range(columns):
                if packet[at] == 0xFB:
                    row.append(None)
                    at += 1
                else:
                    length, at = read_lenenc(packet, at)
                    row.append(packet[at:at + length].decode(errors="replace"))
                    at += length
            yield row

    def query(self, sql):
        columns = self.start(sql)
        return [] if columns is None else list(self.rows(columns))

    def value(self, sql):
        return self.query(sql)[0][0]

    def count_rows(self, chunk=1 << 16, each=None):
        """Passes over the rows of a reply that `start` began, `chunk` bytes a read; `each` sees every piece read."""
        rows, data = 0, self.buffer
        while True:
            at, size = 0, len(data)
            while size - at >= 4:
                length = data[at] | data[at + 1] << 8 | data[at + 2] << 16
                if size - at < 4 + length:
                    break
                first = data[at + 4] if length else 0
                if first == 0xFF:
                    raise self.error(data[at + 4:at + 4 + length])
                if first == 0xFE and length < 0xFFFFFF:
                    self.buffer = data[at + 4 + length:]
                    return rows
                rows += 1
                at += 4 + length
            del data[:at]
            piece = self.socket.recv(chunk)
            if not piece:
                raise ConnectionError("the server closed the connection")
            data += piece
            if each:
                each(len(piece))

    def prepare(self, sql):
        """The statement's number and how many parameters it takes."""
        self.command(0x16, sql.encode())
        packet = self.packet()
        if packet[0] == 0xFF:
            raise self.error(packet)
        statement, columns, parameters = struct.unpack_from("<IHH", packet, 1)
        for count in (parameters, columns):
            for _ in range(count):
                self.packet()
            if count and not self.capabilities & DEPRECATE_EOF:
                self.packet()
        return statement, parameters

    def reset_hard(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        try:
            self.command(1)
        except OSError:
            pass
        self.socket.close()
