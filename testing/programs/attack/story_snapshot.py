"""A level holds, whoever's default it is: a transaction of type XA that believes it has REPEATABLE READ sees one state of all storage units, and READ COMMITTED is how to
go without. What is told of the level, and what holds, is one thing."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from plain import house, mysql, postgres, units as places
from plain.house import Pando, case
from plain.units import Unit, choose

ERRORS = (mysql.Error, postgres.Error)
SNAPSHOT = ("repeatable read", "serializable")


class Bank:
    def __init__(self, family):
        self.family, self.pg = family, family == "pg"
        self.units = [Unit(family, n) for n in range(2)]
        places.make(self.units)

    def start(self):
        self.pando = Pando(places.config(self.units, ["account"]))

    def client(self, kind="XA"):
        client = self.pando.client(self.family, "shop", timeout=60)
        why = choose(client, kind)
        assert not why, why
        return client

    def fill(self):
        client = self.client("LOCAL")
        client.query("create table account (id int primary key, v int)")
        client.query("insert into account (id, v) values (0, 0), (1, 0), (2, 0), (3, 0)")
        client.close()

    def level(self, client):
        """What the client is told that it has."""
        if self.pg:
            return client.value("show transaction_isolation")
        rows = client.query("show variables like 'transaction_isolation'") or client.query("show variables like 'tx_isolation'")
        return rows[0][1].replace("-", " ").lower()


def read(client, number):
    return int(client.value(f"select v from account where id = {number}"))


def seen(bank, client, begin, first):
    """What a transaction reads on both units, when another one commits in between on both."""
    client.query(begin)
    first(client)
    one = read(client, 0)
    writer = bank.client()
    writer.query("begin")
    writer.query("update account set v = v + 1 where id = 0")
    writer.query("update account set v = v + 1 where id = 1")
    writer.query("commit")
    writer.close()
    two = read(client, 1)
    again = read(client, 0)
    client.query("commit")
    return one, two, again


def agrees(bank, name, client, begin="begin", first=lambda client: None):
    with case(f"snapshot-{bank.family}-{name}") as said:
        client.query("begin")
        told = bank.level(client)
        client.query("commit")
        before, other, again = seen(bank, client, begin, first)
        said.detail = f"{told}: {before}, {other}, {again}"
        if told in SNAPSHOT:
            assert before == other == again, f"at {told} it reads {before} on one unit and then {other} on the other"
        else:
            assert (other, again) == (before + 1, before + 1), f"at {told} it reads {before}, {other}, {again}"
        return told


def told(bank, name, expected, *rest, **more):
    found = agrees(bank, name, *rest, **more)
    house.check(f"snapshot-{bank.family}-{name}-level", found == expected, f"it is told {found}")


def started_with(bank, level):
    """A client of PostgreSQL that names its level in the start-up packet."""
    client = postgres.Client(bank.pando.postgres, timeout=60, login=False)
    options = f"-c default_transaction_isolation={level}".replace("repeatable read", "repeatable\\ read")
    client.raw(postgres.startup({"user": "test", "database": "shop", "options": options}))
    client.authenticate("test", "test")
    client.ready()
    why = choose(client, "XA")
    assert not why, why
    return client


def of_servers(bank, default):
    """What servers, roles and databases begin with."""
    told(bank, "default", default, bank.client())
    told(bank, "default-changed-before", default, bank.client(), first=lambda client: client.query("update account set v = v + 1 where id = 2"))
    client = bank.client()
    client.query("set session characteristics as transaction isolation level read committed" if bank.pg
                 else "set session transaction isolation level read committed")
    told(bank, "without", "read committed", client)
    client.query("set default_transaction_isolation to default" if bank.pg else "set session transaction_isolation = default")
    if not bank.pg:
        told(bank, "back", default, client)
    client.close()
    if bank.pg:
        told(bank, "start-up-options", "repeatable read", started_with(bank, "repeatable read"))


def tells_no_torn_reads(bank):
    """One statement over both units, by itself, beside those who change both."""
    import threading
    stop, torn, reads = threading.Event(), [], 0

    def write():
        writer = bank.client()
        while not stop.is_set():
            writer.query("begin")
            writer.query("update account set v = v + 1 where id = 0")
            writer.query("update account set v = v + 1 where id = 1")
            writer.query("commit")

    level = None
    with case(f"snapshot-{bank.family}-alone") as said:
        reader = bank.client()
        level = bank.level(reader)
        one = bank.client()
        one.query("update account set v = 0")
        one.close()
        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        while reads < 300:
            values = [int(v) for (v,) in reader.query("select v from account where id in (0, 1)")]
            reads += 1
            if values[0] != values[1]:
                torn.append(values)
        stop.set()
        thread.join(60)
        said.detail = f"{len(torn)} of {reads} torn at {level}"
        assert not torn or level not in SNAPSHOT, f"{len(torn)} of {reads} reads at {level} are torn: {torn[:3]}"


def main():
    for family in ("pg", "mariadb", "mysql"):
        if not house.has(family):
            house.skip(f"snapshot-{family}", "no server")
            continue
        with case(f"snapshot-{family}", quiet=True):
            bank = Bank(family)
            bank.start()
            bank.fill()
            of_servers(bank, "read committed" if bank.pg else "repeatable read")
            tells_no_torn_reads(bank)
            bank.pando.kill()
            if bank.pg:
                for unit in bank.units:
                    client = unit.direct("test")
                    client.query(f"alter database {unit.database} set default_transaction_isolation = 'repeatable read'")
                    client.close()
                bank.start()
                told(bank, "of-the-database", "repeatable read", bank.client())
                tells_no_torn_reads(bank)
            else:
                clients = [unit.direct("test") for unit in bank.units]
                name = "transaction_isolation" if family == "mysql" else "tx_isolation"
                for client in clients:
                    client.query(f"set global {name} = 'READ-COMMITTED'")
                try:
                    bank.start()
                    told(bank, "of-the-server", "read committed", bank.client())
                finally:
                    for client in clients:
                        client.query(f"set global {name} = 'REPEATABLE-READ'")
                        client.close()
            bank.pando.kill()
