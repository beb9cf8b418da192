"""What a stranger needs who reaches a repository: a ZooKeeper and an etcd of his own, which read, put and delete entries by path."""
import base64
import json
import os
import socket
import struct
import urllib.error
import urllib.request


class ZooKeeper:
    """A session with a ZooKeeper server, spoken to in its own protocol; `digest` is `user:password`."""

    KIND = "ZooKeeper"

    def __init__(self, namespace, digest=None):
        self.namespace, self.digest = f"/{namespace}", digest
        self._open()

    def _open(self):
        self.number = 0
        self.socket = socket.create_connection(("127.0.0.1", int(os.environ["ZK1_PORT"])), timeout=20)
        self._frame(struct.pack(">iqiq", 0, 0, 10000, 0) + self._text(bytes(16)))
        self._read()
        if self.digest:
            self._call(100, struct.pack(">i", 0) + self._text("digest") + self._text(self.digest), number=-4)

    lists = property(lambda self: f"127.0.0.1:{os.environ['ZK1_PORT']}")

    @staticmethod
    def _text(text):
        data = text if isinstance(text, bytes) else text.encode()
        return struct.pack(">i", len(data)) + data

    def _frame(self, body):
        self.socket.sendall(struct.pack(">i", len(body)) + body)

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("ZooKeeper closed the connection")
            data += piece
        return data

    def _read(self):
        return self._exactly(struct.unpack(">i", self._exactly(4))[0])

    def _call(self, kind, body, number=None):
        """The server's code and the reply. A session that was silent for some seconds has run out: another one is begun."""
        try:
            return self._ask(kind, body, number)
        except ConnectionError:
            self._open()
            return self._ask(kind, body, number)

    def _ask(self, kind, body, number):
        self.number += 1
        self._frame(struct.pack(">ii", self.number if number is None else number, kind) + body)
        reply = self._read()
        code = struct.unpack_from(">i", reply, 12)[0]
        return code, reply[16:]

    def get(self, path):
        """The value, `None` for a node without one; an `OSError` with the server's code where it must not be read."""
        code, body = self._call(4, self._text(self.namespace + path) + b"\0")
        if code:
            raise OSError(code, "ZooKeeper")
        length = struct.unpack_from(">i", body)[0]
        return None if length < 0 else body[4:4 + length]

    def children(self, path):
        code, body = self._call(8, self._text(self.namespace + path) + b"\0")
        if code:
            return []
        count, at, names = struct.unpack_from(">i", body)[0], 4, []
        for _ in range(count):
            length = struct.unpack_from(">i", body, at)[0]
            names.append(body[at + 4:at + 4 + length].decode())
            at += 4 + length
        return names

    def put(self, path, value):
        """Makes or changes a node, and its parents; the server's code, 0 when it took it."""
        value = value if isinstance(value, bytes) else value.encode()
        parts, code = path.strip("/").split("/"), 0
        for end in range(len(parts) + 1):
            node = self.namespace + "".join(f"/{part}" for part in parts[:end])
            scheme = struct.pack(">ii", 1, 31) + self._text("world") + self._text("anyone") + struct.pack(">i", 0)
            body = self._text(node) + (self._text(value) if end == len(parts) else struct.pack(">i", -1)) + scheme
            code, _ = self._call(1, body)
        if code == -110:
            code, _ = self._call(5, self._text(self.namespace + path) + self._text(value) + struct.pack(">i", -1))
        return code

    def delete(self, path):
        for name in self.children(path):
            self.delete(f"{path}/{name}")
        code, _ = self._call(2, self._text(self.namespace + path) + struct.pack(">i", -1))
        return code

    def tree(self, path=""):
        """Everything below a path, by path."""
        found = {}
        for name in self.children(path):
            try:
                value = self.get(f"{path}/{name}")
            except OSError:
                value = None
            if value is not None:
                found[f"{path}/{name}"] = value
            found.update(self.tree(f"{path}/{name}"))
        return found


class Etcd:
    """A client of an etcd server, through its HTTP gateway."""

    KIND = "etcd"

    def __init__(self, namespace):
        self.namespace = f"/{namespace}"

    lists = property(lambda self: f"http://127.0.0.1:{os.environ['ETCD1_PORT']}")

    def _call(self, what, **body):
        def coded(value):
            return base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()
        body = {name: coded(value) for name, value in body.items()}
        request = urllib.request.Request(f"{self.lists}/v3/{what}", json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as reply:
            return json.load(reply)

    def _below(self, path):
        start = (self.namespace + path).encode()
        return {"key": start, "range_end": start[:-1] + bytes([start[-1] + 1])}

    def put(self, path, value):
        try:
            self._call("kv/put", key=self.namespace + path, value=value)
        except urllib.error.HTTPError as error:
            return error.code
        return 0

    def delete(self, path):
        self._call("kv/deleterange", **self._below(path + "/"))
        self._call("kv/deleterange", key=self.namespace + path)
        return 0

    def tree(self, path=""):
        found = {}
        for pair in self._call("kv/range", **self._below(path + "/")).get("kvs", []):
            key = base64.b64decode(pair["key"]).decode()
            found[key[len(self.namespace):]] = base64.b64decode(pair.get("value", ""))
        return found
