"""What sieges have in common: clients that note what they were told, what is on the storage units, and servers that are halted."""
import os
import signal
import struct
import threading

from plain import house, mysql, postgres, units as places
from plain.house import Pando, until
from plain.units import Unit, choose

ERRORS = (mysql.Error, postgres.Error)
GONE = ("57P01", 1053)


class Town:
    """Two units of a family with a sharded table `goods`, and a Pando in front of them."""

    def __init__(self, family, **more):
        self.family, self.more = family, more
        self.units = [Unit(family, n) for n in range(2)]
        places.make(self.units)
        self.begin()
        client = self.client()
        client.query("create table goods (id int primary key, v int)")
        client.close()

    def begin(self, **more):
        self.pando = Pando(places.config(self.units, ["goods", "big"]), **{**self.more, **more})

    def client(self, kind="LOCAL", timeout=60):
        client = self.pando.client(self.family, "shop", timeout=timeout)
        why = choose(client, kind)
        assert not why, why
        return client

    def rows(self):
        """The keys that are there, past Pando."""
        found = set()
        for unit in self.units:
            client = unit.direct()
            for n in range(2):
                found |= {int(key) for (key,) in client.query(f"select id from goods_{n}")}
            client.close()
        return found

    def holds(self, writers):
        """Nothing that was told is lost, no transaction of type XA is torn or stays in doubt."""
        assert until(20, lambda: not places.in_doubt(self.units)), f"in doubt: {places.in_doubt(self.units)}"
        there = self.rows()
        lost = {key for writer in writers for key in writer.told} - there
        assert not lost, f"{len(lost)} rows that were acknowledged are lost: {sorted(lost)[:5]}"
        whole = [writer for writer in writers if writer.kind == "XA" and writer.in_transactions]
        torn = [key for writer in whole for key in there if key // Writer.EACH == writer.number and key ^ 1 not in there]
        assert not torn, f"torn: {torn[:5]}"


class Writer(threading.Thread):
    """Writes pairs of rows, each pair over both units, and notes what it was told, until it is stopped or its connection is closed."""

    EACH = 1_000_000

    def __init__(self, town, number):
        super().__init__(daemon=True)
        self.town, self.number = town, number
        self.kind, self.is_prepared, self.in_transactions = ("LOCAL", "XA")[number % 2], number // 2 % 2, number // 4 % 2
        self.told, self.refused, self.end, self.is_stopped = set(), [], None, False
        self.start()

    def run(self):
        try:
            self.work(self.town.client(self.kind))
        except Exception as error:
            self.end = error

    def work(self, client):
        self.statement = None
        key = self.number * self.EACH
        while not self.is_stopped:
            key += 2
            try:
                self.pair(client, key)
            except ERRORS as error:
                if error.code in GONE:
                    raise
                self.refused.append(str(error))
                client.query("rollback")

    def pair(self, client, key):
        if not self.in_transactions:
            for one in (key, key + 1):
                self.insert(client, one)
                self.told.add(one)
            return
        client.query("begin")
        self.insert(client, key)
        self.insert(client, key + 1)
        client.query("commit")
        self.told |= {key, key + 1}

    def insert(self, client, key):
        if not self.is_prepared:
            client.query(f"insert into goods (id, v) values ({key}, 1)")
        elif self.town.family == "pg":
            text = str(key).encode()
            bind = b"\0\0" + struct.pack(">hhi", 0, 1, len(text)) + text + struct.pack(">h", 0)
            client.raw(postgres.message(b"P", b"\0insert into goods (id, v) values ($1, 1)\0\0\0") + postgres.message(b"B", bind)
                       + postgres.message(b"E", b"\0\0\0\0\0") + postgres.message(b"S"))
            client.rows()
        else:
            self.statement = self.statement or client.prepare("insert into goods (id, v) values (?, 1)")[0]
            client.command(0x17, struct.pack("<IBIBBBBq", self.statement, 0, 1, 0, 1, 8, 0, key))
            client.head()


def stopped(writers):
    for writer in writers:
        writer.is_stopped = True
    for writer in writers:
        writer.join(70)
    assert not any(writer.is_alive() for writer in writers), "a client waits for ever"


class halted:
    """A server of the tests, all its processes halted while the block runs."""

    def __init__(self, name):
        self.name = name

    def processes(self):
        parents, found = {}, set()
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                with open(f"/proc/{entry}/stat") as file:
                    parents[int(entry)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            place = f"{house.SERVICES}/{self.name}".encode()
            if any(place == word or place + b"/" in word for word in words) and int(entry) != os.getpid():
                found.add(int(entry))
        while more := {child for child, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def signal(self, what):
        for process in self.processes():
            try:
                os.kill(process, what)
            except ProcessLookupError:
                pass

    def __enter__(self):
        assert self.processes(), f"no process of {self.name}"
        self.signal(signal.SIGSTOP)

    def __exit__(self, *_):
        self.signal(signal.SIGCONT)
