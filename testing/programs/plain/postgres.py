"""A small PostgreSQL client over a plain socket: right by default, and able to be wrong byte by byte."""
import base64
import hashlib
import hmac
import os
import socket
import struct
import time


class Error(Exception):
    """An ErrorResponse."""

    def __init__(self, fields):
        super().__init__(f"{fields.get('S')} {fields.get('C')}: {fields.get('M')}")
        self.fields, self.state, self.message = fields, fields.get("C"), fields.get("M", "")
        self.code, self.severity = self.state, fields.get("S")


def message(tag, body=b""):
    return tag + struct.pack(">i", len(body) + 4) + body


def startup(parameters, protocol=0x30000):
    body = struct.pack(">i", protocol)
    for name, value in parameters.items():
        body += name.encode() + b"\0" + value.encode() + b"\0"
    body += b"\0"
    return struct.pack(">i", len(body) + 4) + body


def cancel(port, process, key, timeout=10):
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as one:
        one.sendall(struct.pack(">iii", 12 + len(key), 80877102, process) + key)
        while one.recv(100):
            pass


class Client:
    """One connection. With `login=False` nothing is sent, and the rest is up to the caller."""

    def __init__(self, port, user="test", password="test", database="test", timeout=30, login=True, receive_buffer=None):
        self.port, self.buffer, self.status, self.process, self.key = port, bytearray(), None, 0, b""
        self.notices = []
        # What channels have told: number of who told it, channel, payload.
        self.told = []
        self.settings = {}
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if login:
            self.login(user, password, database)

    def login(self, user, password, database):
        self.raw(startup({"user": user, "database": database}))
        self.authenticate(user, password)
        self.ready()

    def authenticate(self, user, password):
        while True:
            tag, body = self.read()
            if tag == b"E":
                raise Error(fields(body))
            if tag != b"R":
                raise RuntimeError(f"login got {tag!r}")
            kind = struct.unpack_from(">i", body)[0]
            if kind == 0:
                return
            if kind == 3:
                self.raw(message(b"p", password.encode() + b"\0"))
            elif kind == 5:
                inner = hashlib.md5(password.encode() + user.encode()).hexdigest()
                self.raw(message(b"p", b"md5" + hashlib.md5(inner.encode() + body[4:8]).hexdigest().encode() + b"\0"))
            elif kind == 10:
                self.bare = "n=,r=" + base64.b64encode(os.urandom(18)).decode()
                first = ("n,," + self.bare).encode()
                self.raw(message(b"p", b"SCRAM-SHA-256\0" + struct.pack(">i", len(first)) + first))
            elif kind == 11:
                self.raw(message(b"p", self.prove(password, body[4:].decode())))

    def prove(self, password, challenge):
        parts = dict(part.split("=", 1) for part in challenge.split(","))
        salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(parts["s"]), int(parts["i"]))
        key = hmac.digest(salted, b"Client Key", "sha256")
        unsigned = "c=biws,r=" + parts["r"]
        signed = ",".join([self.bare, challenge, unsigned]).encode()
        signature = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
        proof = bytes(a ^ b for a, b in zip(key, signature))
        return (unsigned + ",p=" + base64.b64encode(proof).decode()).encode()

    # --- messages ---

    def raw(self, data):
        self.socket.sendall(data)

    def fill(self):
        piece = self.socket.recv(1 << 18)
        if not piece:
            raise ConnectionError("the server closed the connection")
        self.buffer += piece

    def read(self):
        """The next message but notices, notifications and settings, which are kept, as tag and body."""
        while True:
            while len(self.buffer) < 5:
                self.fill()
            length = struct.unpack_from(">i", self.buffer, 1)[0]
            while len(self.buffer) < 1 + length:
                self.fill()
            tag, body = bytes(self.buffer[:1]), bytes(self.buffer[5:1 + length])
            del self.buffer[:1 + length]
            if tag == b"N":
                self.notices.append(fields(body))
            elif tag == b"A":
                channel, payload = body[4:-1].decode().split("\0")
                self.told.append((struct.unpack_from(">i", body)[0], channel, payload))
            elif tag == b"K":
                self.process, self.key = struct.unpack_from(">i", body)[0], body[4:]
            elif tag == b"S":
                name, value = body[:-1].decode().split("\0")
                self.settings[name] = value
            else:
                return tag, body

    def hear(self, count=1, patience=10):
        """The next notifications, of which so many are waited for, while nothing is asked; fewer when they do not come in time."""
        before = self.socket.gettimeout()
        end = time.monotonic() + patience
        try:
            while len(self.told) < count and time.monotonic() < end:
                self.socket.settimeout(max(end - time.monotonic(), 0.01))
                try:
                    tag, body = self.read_told()
                except TimeoutError:
                    break
                if tag == b"E":
                    raise Error(fields(body))
        finally:
            self.socket.settimeout(before)
        heard, self.told = self.told, []
        return heard

    def read_told(self):
        """As `read`, but it comes back with a notification, too."""
        known = len(self.told)
        while len(self.told) == known:
            while len(self.buffer) < 5:
                self.fill()
            if self.buffer[:1] != b"A":
                return self.read()
            length = struct.unpack_from(">i", self.buffer, 1)[0]
            while len(self.buffer) < 1 + length:
                self.fill()
            channel, payload = bytes(self.buffer[9:length]).decode().split("\0")
            self.told.append((struct.unpack_from(">i", self.buffer, 5)[0], channel, payload))
            del self.buffer[:1 + length]
        return b"A", b""

    def until_ready(self):
        """Every message up to ReadyForQuery, itself left out."""
        messages = []
        while True:
            tag, body = self.read()
            if tag == b"E" and fields(body).get("S") == "FATAL":
                # Nothing comes behind it.
                raise Error(fields(body))
            if tag == b"Z":
                self.status = body.decode()
                return messages
            messages.append((tag, body))

    def ready(self):
        """Up to ReadyForQuery; the first error on the way is raised behind it."""
        for tag, body in self.until_ready():
            if tag == b"E":
                raise Error(fields(body))

    # --- statements ---

    def send_query(self, sql):
        self.raw(message(b"Q", (sql if isinstance(sql, bytes) else sql.encode()) + b"\0"))

    def query(self, sql):
        """Rows as lists of texts; the tag of the last statement is then in `tag`."""
        self.send_query(sql)
        return self.rows()

    def rows(self):
        rows, error = [], None
        for tag, body in self.until_ready():
            if tag == b"D":
                rows.append(row(body))
            elif tag == b"C":
                self.tag = body[:-1].decode()
            elif tag == b"E":
                error = error or Error(fields(body))
        if error:
            raise error
        return rows

    def value(self, sql):
        return self.query(sql)[0][0]

    def start(self, sql):
        """Sends a query; `count_rows` then passes over its reply."""
        self.send_query(sql)

    def count_rows(self, chunk=1 << 16, each=None):
        """Passes over a reply up to ReadyForQuery, `chunk` bytes a read; `each` sees every piece read."""
        rows, data, error = 0, self.buffer, None
        while True:
            at, size = 0, len(data)
            while size - at >= 5:
                length = 1 + int.from_bytes(data[at + 1:at + 5], "big")
                if size - at < length:
                    break
                tag = data[at]
                if tag == 0x44:
                    rows += 1
                elif tag == 0x45:
                    error = Error(fields(bytes(data[at + 5:at + length])))
                    if error.severity != "ERROR":
                        raise error
                elif tag == 0x5A:
                    self.status = chr(data[at + 5])
                    self.buffer = data[at + length:]
                    if error:
                        raise error
                    return rows
                at += length
            del data[:at]
            piece = self.socket.recv(chunk)
            if not piece:
                raise error or ConnectionError("the server closed the connection")
            data += piece
            if each:
                each(len(piece))

    def cancel(self):
        cancel(self.port, self.process, self.key)

    def reset_hard(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        try:
            self.raw(message(b"X"))
        except OSError:
            pass
        self.socket.close()


def fields(body):
    found = {}
    for part in body.split(b"\0"):
        if part:
            found[chr(part[0])] = part[1:].decode(errors="replace")
    return found


def row(body):
    count, at, values = struct.unpack_from(">h", body)[0], 2, []
    for _ in range(count):
        length = struct.unpack_from(">i", body, at)[0]
        at += 4
        if length < 0:
            values.append(None)
        else:
            values.append(body[at:at + length].decode(errors="replace"))
            at += length
    return values
