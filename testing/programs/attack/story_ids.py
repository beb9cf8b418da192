"""Rows get their numbers from one counter for all shards and instances, while both instances are killed again and again: no number is given twice, and those of one
session ascend. Values that clients bring meet with nobody's numbers, and a table that is emptied begins anew everywhere."""
import random
import threading
import time

from plain.house import CLIENTS, ERRORS, GLOBAL, Pando, case, direct, has, reset, skip, sources

SECONDS, CLIENTS_EACH = 4, 10
RULES = """rules:
- !SHARDING
  tables:
    jobs:
      actualDataNodes: "ds_${0..1}.jobs_${0..1}"
      databaseStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: units}}
      tableStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: parts}}
    loads:
      actualDataNodes: "ds_0.loads_${0..1},ds_1.loads_${2..3}"
      tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: counted}}
  shardingAlgorithms:
    units: {type: INLINE, props: {algorithm-expression: "ds_${k % 2}"}}
    parts: {type: INLINE, props: {algorithm-expression: "jobs_${k.intdiv(2) % 2}"}}
    counted: {type: MOD, props: {sharding-count: 4}}
"""
TABLES = {
    "mariadb": ("CREATE TABLE jobs (k int not null, id bigint not null auto_increment, v int, key (id))",
                "CREATE TABLE loads (id bigint not null auto_increment primary key, v int)"),
    "pg": ("CREATE TABLE jobs (k int not null, id bigserial, v int)", "CREATE TABLE loads (id bigserial primary key, v int)"),
}


class Instances:
    def __init__(self, family):
        self.family = family
        self.files = {"global.yaml": GLOBAL, "database-shop.yaml": "databaseName: shop\n" + sources(family) + RULES}
        self.pandos = [Pando(self.files), Pando(self.files)]

    def client(self, at):
        return CLIENTS[self.family](self.pandos[at].port(self.family), database="shop")

    def strike(self, at):
        self.pandos[at].kill()
        self.pandos[at] = Pando(self.files)

    def end(self):
        for pando in self.pandos:
            pando.kill()


def insert(client, family, table, chance):
    """A statement of one or three rows; the first number that it was given."""
    rows = ", ".join(f"({chance.randrange(8)}, 0)" if table == "jobs" else "(0)" for _ in range(chance.choice((1, 1, 3))))
    text = f"INSERT INTO {table} ({'k, v' if table == 'jobs' else 'v'}) VALUES {rows}"
    if family == "pg":
        return int(client.query(text + " RETURNING id")[0][0])
    client.query(text)
    return int(client.value("SELECT LAST_INSERT_ID()"))


def work(instances, at, number, until, told):
    chance, client, session = random.Random(number), None, []
    while time.monotonic() < until:
        try:
            if client is None:
                client, session = instances.client(at), []
                told.append(session)
            table = chance.choice(("jobs", "loads"))
            session.append((table, insert(client, instances.family, table, chance)))
        except (OSError, EOFError, *ERRORS):
            client = None
            time.sleep(0.05)


def numbers(family, table):
    found = []
    for unit in range(2):
        client = direct(family, unit)
        for part in range(2):
            name = f"{table}_{part}" if table == "jobs" else f"{table}_{2 * unit + part}"
            found += [int(row[0]) for row in client.query(f"SELECT id FROM {name}")]
    return found


def killed(instances):
    family, told, until = instances.family, [], time.monotonic() + SECONDS
    threads = [threading.Thread(target=work, args=(instances, n % 2, n, until, told)) for n in range(2 * CLIENTS_EACH)]
    for thread in threads:
        thread.start()
    chance, strikes = random.Random(7), 0
    while time.monotonic() < until - 0.8:
        time.sleep(chance.uniform(0.3, 0.9))
        instances.strike(chance.randrange(2))
        strikes += 1
    for thread in threads:
        thread.join()
    with case(f"{family}-no-number-is-given-twice"):
        for table in ("jobs", "loads"):
            found = numbers(family, table)
            assert len(found) > 100 and strikes > 2, f"{len(found)} rows, {strikes} kills"
            twice = sorted(one for one in set(found) if found.count(one) > 1) if len(set(found)) < len(found) else []
            assert not twice, f"{table}: {twice[:5]} of {len(found)} rows"
    with case(f"{family}-numbers-of-a-session-ascend"):
        for session in told:
            for table in ("jobs", "loads"):
                own = [number for name, number in session if name == table]
                assert own == sorted(set(own)), f"{table}: {own}"


def brought(instances):
    """What a client of one instance brings lies where the other one has leased."""
    one, other = instances.client(0), instances.client(1)
    one.query("TRUNCATE TABLE jobs")
    other.query("INSERT INTO jobs (k, v) VALUES (1, 0)")
    with case("an-emptied-table-begins-anew-everywhere"):
        assert numbers("mariadb", "jobs") == [1], numbers("mariadb", "jobs")
    for n in range(100):
        other.query(f"INSERT INTO jobs (k, v) VALUES ({n}, 1)")
    last = max(numbers("mariadb", "jobs"))
    one.query(f"INSERT INTO jobs (k, id, v) VALUES (1, {last + 1}, 2), (2, {last + 3}, 2)")
    for n in range(5):
        other.query(f"INSERT INTO jobs (k, v) VALUES ({n}, 3)")
        one.query(f"INSERT INTO jobs (k, v) VALUES ({n}, 3)")
    with case("values-of-clients-meet-no-number-of-another-instance"):
        found = sorted(numbers("mariadb", "jobs"))
        assert len(set(found)) == len(found), found[-20:]
    other.query("ALTER TABLE jobs AUTO_INCREMENT = 100000")
    one.query("INSERT INTO jobs (k, v) VALUES (1, 4)")
    with case("a-counter-is-set-everywhere"):
        assert max(numbers("mariadb", "jobs")) == 100000, sorted(numbers("mariadb", "jobs"))[-5:]


def kept(instances):
    """A sequence whose numbers each connection keeps some of."""
    instances.client(0).query("CREATE SEQUENCE kept CACHE 10")
    told = [[] for _ in range(6)]

    def take(own):
        client = instances.client(0)
        for n in range(60):
            own.append(int(client.value("SELECT nextval('kept')")))

    threads = [threading.Thread(target=take, args=(own,)) for own in told]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with case("numbers-that-connections-keep-ascend-in-each-session"):
        for own in told:
            assert own == sorted(set(own)), own
        assert len({number for own in told for number in own}) == 360


def main():
    for family in ("mariadb", "pg"):
        if not has(family):
            skip(f"ids-{family}", "no server")
            continue
        reset(family)
        instances = Instances(family)
        try:
            client = instances.client(0)
            for text in TABLES[family]:
                client.query(text)
            killed(instances)
            brought(instances) if family == "mariadb" else kept(instances)
        finally:
            instances.end()
