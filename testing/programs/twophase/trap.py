"""A relay in front of a storage unit that waits for one request and does something about it."""
import re
import socket
import threading


class Trap:
    """Passes bytes on, until a request of a shape comes by."""

    def __init__(self, port, kind):
        self.target, self.kind, self.armed, self.lock = port, kind, None, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=50)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, shape, act, cut=True, after=None):
        """Waits for a request of this shape. `act` is given it and says whether it passes; then, after its replies, `after` is called, and the connection is
        cut without the replies if `cut`. Gives an event that is set when all is done."""
        sprung = threading.Event()
        with self.lock:
            self.armed = (re.compile(shape, re.S), act, cut, after, sprung)
        return sprung

    def clear(self):
        with self.lock:
            self.armed = None

    def _accept(self):
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.target))
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            replies = Replies(self.kind)
            threading.Thread(target=self._back, args=(far, near, replies), daemon=True).start()
            threading.Thread(target=self._forth, args=(near, far, replies), daemon=True).start()

    def _forth(self, near, far, replies):
        try:
            while piece := near.recv(1 << 16):
                with self.lock:
                    armed = self.armed if self.armed and self.armed[0].search(piece) else None
                    if armed:
                        self.armed = None
                if not armed:
                    far.sendall(piece)
                    continue
                _, act, cut, after, sprung = armed
                passes = act(piece)
                if cut:
                    replies.swallow()
                if passes:
                    far.sendall(piece)
                    if cut:
                        replies.come(self._requests(piece))
                if after:
                    after()
                if cut:
                    close(near, far)
                sprung.set()
        except OSError:
            pass
        close(near, far)

    def _requests(self, piece):
        """How many requests a piece holds. A piece is whole requests: nobody sends more before these are answered."""
        count, at = 0, 0
        while at < len(piece):
            length = int.from_bytes(piece[at + 1:at + 5], "big") + 1 if self.kind == "pg" else int.from_bytes(piece[at:at + 3], "little") + 4
            count, at = count + 1, at + length
        return count

    def _back(self, far, near, replies):
        try:
            while piece := far.recv(1 << 16):
                if replies.take(piece):
                    near.sendall(piece)
        except OSError:
            pass
        close(near, far)


class Replies:
    """Counts the ends of replies once nothing is passed on any more."""

    def __init__(self, kind):
        self.kind, self.swallows, self.seen, self.changed = kind, False, 0, threading.Condition()

    def swallow(self):
        with self.changed:
            self.swallows, self.seen = True, 0

    def take(self, piece):
        with self.changed:
            if not self.swallows:
                return True
            # PostgreSQL ends each with ReadyForQuery; what MySQL says to these requests is one packet each.
            if self.kind == "pg":
                self.seen += len(re.findall(rb"Z\0\0\0\x05[ITE]", piece))
            else:
                at = 0
                while at < len(piece):
                    self.seen, at = self.seen + 1, at + int.from_bytes(piece[at:at + 3], "little") + 4
            self.changed.notify_all()
            return False

    def come(self, count):
        with self.changed:
            self.changed.wait_for(lambda: self.seen >= count, timeout=10)


def close(*sockets):
    for one in sockets:
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        one.close()
