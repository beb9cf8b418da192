"""Clients that append to lists and read them, and what they were told."""
import itertools
import json
import random
import threading
import time

from plain import house, mysql, postgres
from plain.units import LOST, choose, door, in_doubt

# A list is put aside after so many appends: longer ones cost time and tell no more.
APPENDS = 30
# Lists in use at a time. Where reads lock, more of them keep transactions from waiting for each other all the time.
IN_USE, IN_USE_LOCKED = 12, 48
# Rows of lists that nobody uses, from this id on: on small tables MariaDB reads and locks all rows for a few keys.
OTHERS, FIRST_OTHER = 1500, 1_000_000
# A run goes on for this many committed transactions, for so many seconds more.
ENOUGH, PATIENCE = 40, 20
# Transactions that are rolled back for no reason.
ABANDONED = 0.05
# Transactions whose operations come in any order; the others go by list, so that few of them wait for each other in a circle.
ANY_ORDER = 0.05
# Operations that are done behind a savepoint, half of them to be undone there.
SAVED = 0.2
# Operations that are no part of a transaction.
SINGLE = 0.1
# Answers to COMMIT, or to a change by itself, that say for certain that nothing was committed.
UNDONE = {"40001", "40P01", "25P02", "55P03", 1213, 1205, 1402, 1613, 1614}


def listed(keys):
    return "select id, v from lists where " + (f"id = {keys[0]}" if len(keys) == 1 else f"id in ({', '.join(map(str, keys))})")


def united(keys):
    return " union all ".join(f"select id, v from lists where id = {key}" for key in keys)


def joined(keys):
    names = "abc"[:len(keys)]
    where = " and ".join(f"{name}.id = {key}" for name, key in zip(names, keys))
    return f"select {', '.join(f'{name}.id, {name}.v' for name in names)} from {', '.join(f'lists {name}' for name in names)} where {where}"


# How several lists are read in one statement.
WAYS = (listed, united, joined)


class History:
    """One JSON line per transaction."""

    def __init__(self, name):
        self.name, self.lines, self.good, self.errors, self._lock = name, [], 0, {}, threading.Lock()

    def add(self, process, begin, outcome, ops):
        end = None if outcome == "unknown" else time.monotonic_ns()
        with self._lock:
            self.good += outcome == "ok"
            self.lines.append({"process": process, "begin": begin, "end": end, "outcome": outcome, "ops": ops})

    def failed(self, error):
        with self._lock:
            key = f"{type(error).__module__.split('.')[-1]} {getattr(error, 'code', '')} {str(error)[:100]}"
            self.errors[key] = self.errors.get(key, 0) + 1

    def count(self, outcome):
        return sum(line["outcome"] == outcome for line in self.lines)

    def write(self, path):
        with open(path, "w") as file:
            for line in self.lines:
                file.write(json.dumps(line) + "\n")

    def writes(self):
        """Without what was read on the way: who changed what before whom, as the lists at the end show it."""
        other = History(f"{self.name}-writes")
        for line in self.lines:
            ops = line["ops"] if line["process"] == Workload.LAST else [op for op in line["ops"] if op[0] == "append"]
            other.lines.append({**line, "ops": ops})
        return other

    def final(self):
        """The lists at the end hold what was told to be committed, once, and nothing that was told to be undone."""
        last = {}
        for line in self.lines:
            if line["process"] == Workload.LAST:
                last.update({op[1]: op[2] for op in line["ops"]})
        for line in self.lines:
            for op in line["ops"]:
                if op[0] != "append" or line["outcome"] == "unknown":
                    continue
                times = last.get(op[1], []).count(op[2])
                wanted = 1 if line["outcome"] == "ok" else 0
                assert times == wanted, f"{op[2]} is in list {op[1]} {times} times, and its transaction was told {line['outcome']}"


def fill(client, units):
    """An empty table, as far as the workload is concerned."""
    client.query("create table lists (id bigint primary key, v text)")
    for first in range(FIRST_OTHER, FIRST_OTHER + OTHERS, 500):
        client.query(f"insert into lists (id, v) values {', '.join(f'({row}, NULL)' for row in range(first, first + 500))}")
    client.close()
    for unit in units:
        unit.analyze("lists")


class Lists:
    """Which lists are in use, and the next value."""

    def __init__(self, count):
        self._lock = threading.Lock()
        self.next, self.values = itertools.count(), itertools.count(1)
        self.used = {next(self.next): 0 for _ in range(count)}

    def some(self, chance):
        with self._lock:
            return chance.choice(sorted(self.used))

    def append(self, chance):
        with self._lock:
            key = chance.choice(sorted(self.used))
            self.used[key] += 1
            if self.used[key] == APPENDS:
                del self.used[key]
                self.used[next(self.next)] = 0
            return key, next(self.values)

    def all(self):
        with self._lock:
            return range(max(self.used) + 1)


class Workload:
    """`kind` and `level` of all transactions; seconds, clients and seed of the run. Clients are dealt out to the instances and stay there, also to one that is killed."""

    # The process of the reads at the end.
    LAST = 1_000_000

    def __init__(self, pandos, units, what, size, history):
        self.pandos, self.units, self.history = pandos, units, history
        (self.kind, self.level), (self.seconds, self.clients, self.seed) = what, size
        self.lists, self.processes, self.broken = Lists(IN_USE_LOCKED if self.level == "serializable" else IN_USE), itertools.count(), []
        self.postgres = door(units) == "pg"

    def run(self):
        self.end = time.monotonic() + self.seconds
        # Not by the transactions that are judged: what they do not do to the end must not spoil the beginning.
        client = self.connect(0, "LOCAL")
        client.query(f"delete from lists where id < {FIRST_OTHER}")
        client.close()
        threads = [threading.Thread(target=self._work, args=(n,), daemon=True) for n in range(self.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self.seconds + PATIENCE + 60)
            assert not thread.is_alive(), "a client hangs"
        if self.broken:
            raise self.broken[0]
        # Whoever died has left some that are seen in part until they are finished by others.
        if self.kind == "XA":
            assert house.until(20, lambda: not in_doubt(self.units)), f"left in doubt: {in_doubt(self.units)}"
        self._last()

    def _last(self):
        client = self.connect(0)
        for key in self.lists.all():
            begin, ops = time.monotonic_ns(), []
            self._read(client, [key], ops)
            self.history.add(self.LAST, begin, "ok", ops)
        client.close()

    def connect(self, n, kind=None):
        client = self.pandos[n % len(self.pandos)].client(door(self.units), "shop", timeout=60)
        if self.postgres:
            client.query(f"set session characteristics as transaction isolation level {self.level}")
            client.query("set lock_timeout = '200ms'")
        else:
            client.query(f"set session transaction isolation level {self.level}")
            client.query("set innodb_lock_wait_timeout = 1")
        why = choose(client, kind or self.kind)
        assert not why, why
        return client

    def _work(self, n):
        chance, client, process = random.Random(self.seed * 1000 + n), None, next(self.processes)
        try:
            while self._goes_on():
                try:
                    client = client or self.connect(n)
                except LOST as error:
                    # An instance that was killed is away for a moment.
                    self.history.failed(error)
                    time.sleep(0.02)
                    continue
                if self._transaction(client, chance, process):
                    continue
                # Whoever does not know how it ended is somebody else from now on.
                process, client = next(self.processes), None
        except Exception as error:
            self.broken.append(error)

    def _goes_on(self):
        """Until the time is over, and a little longer where it was too short for anything."""
        now = time.monotonic()
        return now < self.end or (now < self.end + PATIENCE and self.history.good < ENOUGH)

    def _transaction(self, client, chance, process):
        """False when its connection is of no use any more."""
        if chance.random() < SINGLE:
            return self._single(client, chance, process)
        begin, ops = time.monotonic_ns(), []
        try:
            client.query("begin")
            for operation in self._plan(chance):
                if chance.random() < SAVED:
                    self._saved(client, chance, operation, ops)
                else:
                    self._operation(client, operation, ops)
        except LOST as error:
            self.history.failed(error)
            alive = isinstance(error, house.ERRORS) and self._rolled_back(client)
            self.history.add(process, begin, "fail", ops)
            return alive
        if chance.random() < ABANDONED:
            alive = self._rolled_back(client)
            self.history.add(process, begin, "fail", ops)
            return alive
        outcome, alive = self._committed(client)
        self.history.add(process, begin, outcome, ops)
        return alive

    def _single(self, client, chance, process):
        """An operation without a transaction. False when its connection is of no use any more."""
        begin, ops, outcome = time.monotonic_ns(), [], "ok"
        try:
            self._operation(client, chance.choice(self._plan(chance)), ops)
        except LOST as error:
            self.history.failed(error)
            outcome = "fail" if getattr(error, "code", None) in UNDONE else "unknown"
        self.history.add(process, begin, outcome, ops)
        return outcome != "unknown"

    def _saved(self, client, chance, operation, ops):
        """Behind a savepoint. What is undone there is told as a transaction of its own that was rolled back; what is read there was seen all the same. Servers themselves
        look anew, and let go of locks, where the savepoint was set before anything was read: only XA promises more."""
        begin, done = time.monotonic_ns(), []
        client.query("savepoint here")
        if chance.random() < 0.5:
            self._operation(client, operation, ops)
            client.query("release savepoint here")
            return
        try:
            self._operation(client, operation, done)
        finally:
            self.history.add(next(self.processes), begin, "fail", [op for op in done if op[0] == "append"])
        client.query("rollback to savepoint here")
        if self.kind == "XA":
            ops.extend(op for op in done if op[0] == "read")

    def _plan(self, chance):
        """Lists to append to, with the value, or to read, in the order in which it shall happen."""
        plan = []
        for _ in range(chance.randint(1, 4)):
            draw = chance.random()
            if draw < 0.5:
                key, value = self.lists.append(chance)
                plan.append(([key], value))
            else:
                # Several lists stand on several units, mostly.
                plan.append((sorted({self.lists.some(chance) for _ in range(1 if draw < 0.8 else 3)}), None))
        if chance.random() > ANY_ORDER:
            plan.sort(key=lambda operation: operation[0])
        return plan

    def _operation(self, client, operation, ops):
        keys, value = operation
        if value is None:
            return self._read(client, keys, ops)
        # Before it is sent: what is refused may have been done all the same, as far as the client can tell.
        ops.append(["append", keys[0], value])
        if self.postgres:
            again = f"on conflict (id) do update set v = lists.v || ',{value}'"
        else:
            again = f"on duplicate key update v = concat(v, ',{value}')"
        client.query(f"insert into lists (id, v) values ({keys[0]}, '{value}') {again}")

    @staticmethod
    def _read(client, keys, ops):
        text = listed(keys) if len(keys) == 1 else WAYS[sum(keys) % len(WAYS)](keys)
        rows = list(client.query(text))
        if text.startswith("select a") and not rows:
            # Which of them is not there a join does not tell.
            return
        # A join has several of them in a row.
        cells = [cell for row in rows for cell in row]
        found = {int(key): [int(value) for value in values.split(",")] for key, values in zip(cells[::2], cells[1::2])}
        ops.extend(["read", key, found.get(key, [])] for key in keys)

    @staticmethod
    def _rolled_back(client):
        try:
            client.query("rollback")
            return True
        except LOST:
            return False

    def _committed(self, client):
        try:
            client.query("commit")
        except LOST as error:
            self.history.failed(error)
            undone = getattr(error, "code", None) in UNDONE
            if not undone or not self._rolled_back(client):
                return ("fail" if undone else "unknown"), False
            return "fail", True
        # PostgreSQL answers so to COMMIT of a transaction that has failed.
        return ("fail" if getattr(client, "tag", "") == "ROLLBACK" else "ok"), True
