"""Groups of rows that are always changed together, who changes them and who looks."""
import random
import threading
import time

from plain.units import LOST, choose, door

GROUPS, ROWS = 8, 6
# Rows that nobody touches: on a small table MariaDB takes a scan, which locks all of it, for cheaper than looking up a list of keys.
OTHERS = 3000
# How a group is read: in one statement by itself, in one statement of a transaction, row by row in a transaction, and so with returns to a savepoint that was
# set before anything was read.
BEHIND = "behind a savepoint"
WAYS = ("alone", "together", "row by row", BEHIND)
LEVELS = ("repeatable read", "serializable")
# What servers of MySQL and MariaDB begin with, which is REPEATABLE READ: nobody sets it.
DEFAULT = "the default level"
# Reads that each way has to come to, and the seconds that are added for it.
FEW, PATIENCE = 3, 45


def fill(client, units):
    client.query("create table balances (id bigint primary key, ytd bigint not null)")
    for first in range(0, OTHERS, 500):
        client.query(f"insert into balances (id, ytd) values {', '.join(f'({row}, 0)' for row in range(first, first + 500))}")
    for unit in units:
        unit.analyze("balances")


def rows(group):
    """Consecutive ids lie on different units."""
    return list(range(group * ROWS, (group + 1) * ROWS))


class Groups:
    """Readers and writers of a kind of transactions, spread over the instances."""

    def __init__(self, units, pandos, kind, clients, user=None):
        self.units, self.pandos, self.kind, self.clients, self.user = units, pandos, kind, clients, user or {}
        self.pg, self.lock = door(units) == "pg", threading.Lock()
        # With two instances there are too few readers for another one.
        self.levels = LEVELS if self.pg or len(pandos) > 1 else (DEFAULT, *LEVELS)
        self.told, self.torn, self.stale, self.errors = [0] * GROUPS, [], [], {}
        self.reads = self.writes = self.reads_at_first = 0
        # Reads, and torn ones of them, by how they were made: each of them has to be seen at work.
        self.broken, self.by_way = [], {f"{way} at {level}": [0, 0] for way in WAYS for level in self.levels}

    def run(self, seconds, until_torn=False):
        self.end, self.until_torn = time.monotonic() + seconds, until_torn
        self._start_from_what_is_there()
        work = [self._write, self._read] * self.clients
        threads = [threading.Thread(target=self._at_work, args=(what, n), daemon=True) for n, what in enumerate(work)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + PATIENCE + 60)
            assert not thread.is_alive(), "a client hangs"
        if self.broken:
            raise self.broken[0]

    def _start_from_what_is_there(self):
        client = self._connect(0, LEVELS[0])
        for group in range(GROUPS):
            client.query(f"update balances set ytd = 0 where {self._among(rows(group))}")
        client.close()

    def ways(self):
        return ", ".join(f"{torn} of {reads} {way}" for way, (reads, torn) in sorted(self.by_way.items()))

    def fewest(self):
        """Reads of the way that has come to the fewest. On PostgreSQL who returns behind its locks lets go of them, and gives way to the next writer nearly always."""
        gives_way = f"{BEHIND} at serializable" if self.pg else None
        return min(reads for way, (reads, _) in self.by_way.items() if way != gives_way)

    @staticmethod
    def _among(ids):
        return f"id in ({', '.join(map(str, ids))})"

    def _connect(self, n, level):
        client = self.pandos[n % len(self.pandos)].client(door(self.units), "shop", timeout=60, **self.user)
        if self.pg:
            client.query(f"set session characteristics as transaction isolation level {level}")
            client.query("set lock_timeout = '2s'")
        else:
            if level != DEFAULT:
                client.query(f"set session transaction isolation level {level}")
            client.query("set innodb_lock_wait_timeout = 2")
        why = choose(client, self.kind)
        assert not why, why
        return client

    def _at_work(self, what, n):
        chance, client = random.Random(n), None
        # Pairs of a writer and a reader go to one instance; levels change from pair to pair, and once more after all instances.
        pair = n // 2
        level = self.levels[pair // len(self.pandos) % len(self.levels)] if what == self._read else ("read committed", "repeatable read")[pair % 2]
        try:
            while self._goes_on():
                try:
                    client = client or self._connect(pair, level)
                    what(client, chance, (pair % len(self.pandos), level))
                except LOST as error:
                    client = self._after(client, error)
        except Exception as error:
            self.broken.append(error)

    def _goes_on(self):
        """Until the time is over, and longer where some way of reading has hardly come to its turn."""
        if self.until_torn:
            return time.monotonic() < self.end and not self.torn
        return time.monotonic() < self.end or (self.fewest() < FEW and time.monotonic() < self.end + PATIENCE)

    def _after(self, client, error):
        """The connection, if it is still of use."""
        key = str(error)[:100]
        with self.lock:
            self.errors[key] = self.errors.get(key, 0) + 1
        try:
            client.query("rollback")
            return client
        except (*LOST, AttributeError):
            return None

    def _write(self, client, chance, _who):
        group = chance.randrange(GROUPS)
        client.query("begin")
        # Whoever has the first row has the group: statements that go to several units at once would wait for each other in circles.
        first, *others = rows(group)
        for ids in [[first], others] if chance.random() < 0.5 else [[row] for row in rows(group)]:
            if chance.random() < 0.2:
                self._change_mind(client, ids)
            client.query(f"update balances set ytd = ytd + 10 where {self._among(ids)}")
        client.query("commit")
        if getattr(client, "tag", "") == "ROLLBACK":
            return
        with self.lock:
            self.writes += 1
            self.told[group] += 10

    def _change_mind(self, client, ids):
        """A change that is taken back within its transaction, which nobody may see."""
        client.query("savepoint here")
        client.query(f"update balances set ytd = ytd - 1 where {self._among(ids)}")
        client.query("rollback to here")

    def _read(self, client, chance, who):
        group, way = chance.randrange(GROUPS), chance.choice(WAYS)
        with self.lock:
            least = self.told[group]
        if way == "alone":
            values = self._values(client, rows(group))
        else:
            values = self._in_transaction(client, way, self._steps(group, way, who[1], chance))
        assert len(values) == ROWS, values
        with self.lock:
            self.reads += 1
            count = self.by_way[f"{way} at {who[1]}"]
            count[0] += 1
            witness = f"group {group} as {values}, read {way} at {who[1]} through instance {who[0]}"
            if len(set(values)) > 1:
                self.reads_at_first = self.reads_at_first or self.reads
                self.torn.append(witness)
                count[1] += 1
            elif values[0] < least:
                self.stale.append(f"{witness}, when {least} was told to be committed")

    def _in_transaction(self, client, way, steps):
        returns = way == BEHIND
        client.query("begin")
        if returns:
            client.query("savepoint here")
        values = []
        for ids in steps:
            values += self._values(client, ids)
            if returns:
                client.query("rollback to here")
        client.query("commit")
        return values

    def _steps(self, group, way, level, chance):
        """The ids that each statement reads. Readers that lock, tables on PostgreSQL, take the first row first, as writers do: who has written nothing gives way in every circle."""
        first, *others = rows(group)
        locks = level == "serializable"
        if way == "together":
            return [[first], others] if locks else [rows(group)]
        rest = chance.sample(others, len(others))
        return [[row] for row in ([first, *others] if locks else [*rest, first])]

    def _values(self, client, ids):
        return [int(row[0]) for row in client.query(f"select ytd from balances where {self._among(ids)}")]
