"""Servers and go-betweens that are not what they say: a PostgreSQL storage unit that wants the password, and somebody who ends the TLS between a client and Pando."""
import base64
import os
import select
import socket
import ssl
import struct
import threading

from plain.postgres import message


def authentication(code, body=b""):
    return message(b"R", struct.pack(">i", code) + body)


class Peer:
    """A connection read message by message, all of it kept."""

    def __init__(self, stream):
        self.stream, self.heard = stream, b""

    def take(self, count):
        data = b""
        while len(data) < count:
            more = self.stream.recv(count - len(data))
            if not more:
                raise ConnectionError("gone")
            data += more
        return data

    def packet(self):
        return self.take(struct.unpack(">i", self.take(4))[0] - 4)

    def hear(self):
        tag = self.take(1)
        body = self.packet()
        self.heard += tag + body
        return body


class Listener:
    """Serves each connection in a thread of its own until the end of the program."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            stream, _ = self.socket.accept()
            threading.Thread(target=self.safely, args=(stream,), daemon=True).start()

    def safely(self, stream):
        try:
            with stream:
                self.serve(stream)
        except (OSError, ConnectionError, ValueError):
            pass


class Unit(Listener):
    """A storage unit that does `what`; `heard` is all that was said to it after the start-up."""

    def __init__(self, what, context=None):
        self.what, self.context, self.heard, self.met = what, context, b"", 0
        super().__init__()

    def serve(self, stream):
        peer = Peer(stream)
        first = peer.packet()
        if struct.unpack(">i", first[:4])[0] == 80877103:
            stream.sendall(b"S" if self.context else b"N")
            if self.context:
                stream = self.context.wrap_socket(stream, server_side=True)
                peer = Peer(stream)
            peer.packet()
        self.met += 1
        try:
            getattr(self, self.what)(peer)
            while True:
                peer.hear()
        finally:
            self.heard += peer.heard

    def clear(self, peer):
        peer.stream.sendall(authentication(3))

    def first(self, peer, iterations):
        """SCRAM up to the challenge."""
        peer.stream.sendall(authentication(10, b"SCRAM-SHA-256\0\0"))
        body = peer.hear()
        nonce = body[body.index(b"r=") + 2:].decode()
        salt = base64.b64encode(bytes(16)).decode()
        peer.stream.sendall(authentication(11, f"r={nonce}x,s={salt},i={iterations}".encode()))

    def one_iteration(self, peer):
        self.first(peer, 1)

    def many_iterations(self, peer):
        self.first(peer, 1 << 31)

    def wrong_signature(self, peer):
        self.first(peer, 4096)
        peer.hear()
        forged = base64.b64encode(os.urandom(32))
        peer.stream.sendall(authentication(12, b"v=" + forged) + authentication(0) + message(b"Z", b"I") * 2)

    def clear_after_scram(self, peer):
        self.first(peer, 4096)
        peer.hear()
        peer.stream.sendall(authentication(3))

    def no_plus(self, peer):
        self.first(peer, 4096)


class Between(Listener):
    """Ends a client's TLS with a certificate of its own, and speaks another one to the port behind."""

    def __init__(self, port, context):
        self.behind, self.context = port, context
        super().__init__()

    def serve(self, stream):
        request = Peer(stream).take(8)
        far = socket.create_connection(("127.0.0.1", self.behind))
        far.sendall(request)
        stream.sendall(far.recv(1))
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        far = trusting.wrap_socket(far)
        near = self.context.wrap_socket(stream, server_side=True)
        relay(near, far)
        near.close()
        far.close()


def relay(near, far):
    """Passes on what either side says, until one has ended. In one thread: two must not use one TLS connection."""
    near.setblocking(False)
    far.setblocking(False)
    try:
        while True:
            if not (near.pending() or far.pending()):
                select.select([near, far], [], [])
            for source, sink in ((near, far), (far, near)):
                try:
                    data = source.recv(1 << 16)
                except ssl.SSLWantReadError:
                    continue
                if not data:
                    return
                sink.setblocking(True)
                sink.sendall(data)
                sink.setblocking(False)
    except (OSError, ValueError):
        pass
