"""TCP relays in a process of their own, to stand between Pando and its storage units: they can stop forwarding while all sockets stay open, as a network does
that loses everything, and break connections.

Run as a program it takes the ports behind the relays as arguments, prints its own, and obeys lines on standard input: `hold N…`, `pass N…`, `cut N…`."""
import os
import socket
import subprocess
import sys
import threading


class Relays:
    """The process, seen from the test."""

    def __init__(self, ports):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), *map(str, ports)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ports = [int(word) for word in self.process.stdout.readline().split()]
        assert len(self.ports) == len(ports), "the relays do not start"

    def _tell(self, what, numbers):
        self.process.stdin.write(" ".join([what, *map(str, numbers)]) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n", "the relays have ended"

    def hold(self, numbers):
        """Nothing passes any more, in either direction; nothing is refused either."""
        self._tell("hold", numbers)

    def release(self, numbers):
        """What was held goes on, as after a partition in which nobody gave up."""
        self._tell("pass", numbers)

    def cut(self, numbers):
        """What was held is lost, its connections are reset, and new ones pass."""
        self._tell("cut", numbers)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Relay:
    def __init__(self, port):
        self.target, self.passing, self.pairs = port, threading.Event(), set()
        self.passing.set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            near, _ = self.listener.accept()
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near):
        # A connection that is begun while nothing passes is neither refused nor answered.
        self.passing.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self.target), timeout=10)
            far.settimeout(None)
        except OSError:
            return near.close()
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = (near, far)
        self.pairs.add(pair)
        threading.Thread(target=self._pump, args=(near, far, pair), daemon=True).start()
        self._pump(far, near, pair)

    def _pump(self, one, other, pair):
        try:
            while True:
                piece = one.recv(1 << 16)
                self.passing.wait()
                if not piece or pair not in self.pairs:
                    break
                other.sendall(piece)
        except OSError:
            pass
        self._close(pair)

    def _close(self, pair):
        self.pairs.discard(pair)
        for one in pair:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def cut(self):
        for pair in list(self.pairs):
            self._close(pair)
        self.passing.set()


def main(ports):
    relays = [Relay(port) for port in ports]
    print(*(relay.port for relay in relays), flush=True)
    for line in sys.stdin:
        what, *numbers = line.split()
        for relay in (relays[int(number)] for number in numbers):
            {"hold": relay.passing.clear, "pass": relay.passing.set, "cut": relay.cut}[what]()
        print("done", flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
