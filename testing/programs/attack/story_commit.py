"""No COMMIT that has lost rows answers without an error: on real servers, whose connections are ended by somebody else or by their own clock, just after a start and
later, after definitions, in every type; and with Pando's own tables removed behind it."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from plain import house, mysql, postgres, units as places
from plain.house import Pando, case, until
from plain.units import Unit, choose

ERRORS = (mysql.Error, postgres.Error)
# Of this class is what a client may run again.
AGAIN = ("40001", 1213)
SAVEPOINTS = 1100


class Shop:
    """Two units of a family, and a Pando that serves them."""

    def __init__(self, family):
        self.family, self.pg = family, family == "pg"
        self.units = [Unit(family, n) for n in range(2)]
        places.make(self.units)
        self.next, self.pando = 0, None

    def start(self):
        if self.pando:
            self.pando.kill()
        self.pando = Pando(places.config(self.units, ["goods"]))

    def client(self, kind="LOCAL"):
        client = self.pando.client(self.family, "shop", timeout=60)
        why = choose(client, kind)
        assert not why, why
        return client

    def fill(self):
        client = self.client()
        client.query("create table goods (id int primary key, v int)")
        client.close()

    def ids(self):
        """Two fresh ones, on both units."""
        self.next += 2
        return self.next, self.next + 1

    def there(self, ids):
        """How many of these rows there are, past Pando."""
        found = 0
        for unit in self.units:
            client = unit.direct()
            for n in range(2):
                found += int(client.value(f"select count(*) from goods_{n} where id in {ids}"))
            client.close()
        return found

    def connections(self, unit):
        """Those inside of transactions on a unit."""
        client = unit.direct("test")
        try:
            if self.pg:
                return client.query(f"select pid from pg_stat_activity where datname = '{unit.database}' and state like 'idle in transaction%'")
            return client.query("select t.trx_mysql_thread_id from information_schema.innodb_trx t join information_schema.processlist p "
                                f"on p.id = t.trx_mysql_thread_id where p.db = '{unit.database}'")
        finally:
            client.close()

    def end(self, unit):
        """Ends them, and waits until they are gone."""
        # MySQL tells of transactions as they were a tenth of a second ago.
        assert until(20, lambda: self.connections(unit)), "no connection is inside of a transaction"
        found = self.connections(unit)
        client = unit.direct("test")
        for (number,) in found:
            client.query(f"select pg_terminate_backend({number})" if self.pg else f"kill {number}")
        client.close()
        assert until(20, lambda: not self.connections(unit)), "its server goes on with it"

    def work(self, client):
        ids = self.ids()
        client.query("begin")
        for number in ids:
            client.query(f"insert into goods (id, v) values ({number}, 1)")
        return ids


def committed(client, sql="commit"):
    """None for a commit, else the error; a COMMIT that says ROLLBACK without one is what must not be."""
    try:
        client.query(sql)
    except ERRORS as error:
        return error
    assert getattr(client, "tag", "") != "ROLLBACK", "COMMIT answers ROLLBACK, and no error"
    return None


def lost(shop, kind, which, how):
    """The connection of one unit is ended before COMMIT."""
    client = shop.client(kind)
    ids = shop.work(client)
    if kind == "BASE":
        # It holds none between its statements.
        assert committed(client) is None and shop.there(ids) == 2
        return
    how(shop.units[which])
    error = committed(client)
    assert error is not None and error.code in AGAIN, f"COMMIT says {error}"
    assert shop.there(ids) == 0, "told to be rolled back, and there"
    client.close()
    # The same session's, and another's, go on.
    client = shop.client(kind)
    ids = shop.work(client)
    assert committed(client) is None and shop.there(ids) == 2
    client.close()


def losses(shop):
    for kind in ("LOCAL", "XA", "BASE"):
        for which in (0, 1):
            with case(f"commit-{shop.family}-{kind.lower()}-lost-cold-{which}"):
                shop.start()
                lost(shop, kind, which, shop.end)
            with case(f"commit-{shop.family}-{kind.lower()}-lost-warm-{which}"):
                lost(shop, kind, which, shop.end)
        with case(f"commit-{shop.family}-{kind.lower()}-lost-after-a-definition"):
            client = shop.client()
            client.query("create index goods_v on goods (v)")
            client.query("drop index goods_v" + ("" if shop.pg else " on goods"))
            client.close()
            lost(shop, kind, 1, shop.end)


def timeouts(shop):
    """PostgreSQL ends sessions that are idle in a transaction for too long by itself."""
    client = shop.units[1].direct("test")
    client.query(f"alter database {shop.units[1].database} set idle_in_transaction_session_timeout = '300ms'")
    client.close()
    for kind in ("LOCAL", "XA"):
        with case(f"commit-pg-{kind.lower()}-idle-for-too-long"):
            shop.start()
            client = shop.client(kind)
            ids = shop.work(client)
            assert until(20, lambda: not shop.connections(shop.units[1])), "its server waits for ever"
            error = committed(client)
            assert error is not None and error.code in AGAIN, f"COMMIT says {error}"
            assert shop.there(ids) == 0
            client.close()
    client = shop.units[1].direct("test")
    client.query(f"alter database {shop.units[1].database} reset idle_in_transaction_session_timeout")
    client.close()
    shop.start()


def told(shop):
    """Who has heard that the transaction has failed has its COMMIT end as on one server."""
    with case("commit-pg-of-a-failed-transaction-says-rollback"):
        client = shop.client()
        shop.work(client)
        try:
            client.query("select 1 / 0")
        except ERRORS:
            pass
        client.query("commit")
        assert client.tag == "ROLLBACK", client.tag
        client.close()


def savepoints(shop):
    """Units join a transaction that has more savepoints than wait on one connection."""
    for kind in ("LOCAL", "XA"):
        with case(f"commit-{shop.family}-{kind.lower()}-{SAVEPOINTS}-savepoints"):
            client = shop.client(kind)
            client.query("begin")
            for n in range(SAVEPOINTS):
                client.query(f"savepoint s{n}")
            first, second = shop.ids()
            client.query(f"insert into goods (id, v) values ({first}, 1)")
            client.query("savepoint behind")
            client.query(f"insert into goods (id, v) values ({second}, 1)")
            client.query("rollback to behind")
            client.query(f"insert into goods (id, v) values ({second}, 2)")
            assert committed(client) is None and shop.there((first, second)) == 2
            client.query("begin")
            for n in range(SAVEPOINTS):
                client.query(f"savepoint s{n}")
            ids = shop.ids()
            for number in ids:
                client.query(f"insert into goods (id, v) values ({number}, 1)")
            client.query(f"rollback to s{SAVEPOINTS - 2}")
            assert committed(client) is None and shop.there(ids) == 0
            client.close()


def without_ledger(shop, units, decisions_only=False):
    for unit in units:
        client = unit.direct()
        if shop.pg:
            client.query("drop table if exists pando.decision" if decisions_only else "drop schema if exists pando cascade")
        else:
            (rows,) = [client.query("show tables like 'pando%'")]
            for (table,) in rows:
                if table == "pando_decision" or not decisions_only:
                    client.query(f"drop table {table}")
        client.close()


def ledgers(shop):
    with case(f"commit-{shop.family}-a-new-ledger-has-a-new-identity"):
        before = [unit.identity() for unit in shop.units]
        client = shop.client("XA")
        ids = shop.work(client)
        without_ledger(shop, shop.units, decisions_only=True)
        error = committed(client)
        assert error is not None and error.code in AGAIN and shop.there(ids) == 0, f"COMMIT says {error}"
        ids = shop.work(client)
        assert committed(client) is None and shop.there(ids) == 2
        after = [unit.identity() for unit in shop.units]
        assert all(after) and not set(before) & set(after), f"{before} are still {after}"
        client.close()
    for which, names in (("both", (0, 1)), ("first", (0,)), ("second", (1,))):
        with case(f"commit-{shop.family}-xa-without-the-ledger-{which}"):
            client = shop.client("XA")
            ids = shop.work(client)
            without_ledger(shop, [shop.units[n] for n in names])
            error = committed(client)
            if which == "second":
                # It decides nothing, and is not asked.
                assert error is None and shop.there(ids) == 2, error
            else:
                assert error is not None and error.code in AGAIN and "own tables" in str(error), f"COMMIT says {error}"
                assert shop.there(ids) == 0
            assert not places.in_doubt(shop.units), "something is prepared"
            ids = shop.work(client)
            assert committed(client) is None and shop.there(ids) == 2
            client.close()
    with case(f"commit-{shop.family}-base-rollback-without-images"):
        client = shop.client("BASE")
        ids = shop.work(client)
        without_ledger(shop, shop.units)
        try:
            client.query("rollback")
            assert False, f"ROLLBACK is told, and {shop.there(ids)} rows are there"
        except ERRORS as error:
            assert "undo log" in str(error), error
    with case(f"commit-{shop.family}-base-rollback-of-images-made-anew"):
        client = shop.client("BASE")
        ids = shop.work(client)
        without_ledger(shop, shop.units)
        other = shop.client("BASE")
        shop.work(other)
        # It finds out, and the next makes the tables anew.
        assert committed(other) is not None
        shop.work(other)
        assert committed(other) is None
        try:
            client.query("rollback")
            assert False, f"ROLLBACK is told, and {shop.there(ids)} rows are there"
        except ERRORS as error:
            assert "undo log" in str(error), error
        client.close()
        other.close()
    with case(f"commit-{shop.family}-base-commit-without-the-ledger"):
        client = shop.client("BASE")
        ids = shop.work(client)
        without_ledger(shop, shop.units, decisions_only=True)
        error = committed(client)
        assert error is not None and error.code in AGAIN and "own tables" in str(error), f"COMMIT says {error}"
        assert shop.there(ids) == 0
        shop.work(client)
        without_ledger(shop, shop.units)
        error = committed(client)
        assert error is not None and "undo log" in str(error), f"COMMIT says {error}"
        ids = shop.work(client)
        assert committed(client) is None and shop.there(ids) == 2
        client.query("begin")
        client.query(f"update goods set v = 7 where id in {ids}")
        client.query("rollback")
        assert int(client.value(f"select count(*) from goods where id in {ids} and v = 7")) == 0
        client.close()


def main():
    for family in ("pg", "mariadb", "mysql"):
        if not house.has(family):
            house.skip(f"commit-{family}", "no server")
            continue
        with case(f"commit-{family}", quiet=True):
            shop = Shop(family)
            shop.start()
            shop.fill()
            began = time.monotonic()
            losses(shop)
            if shop.pg:
                timeouts(shop)
                told(shop)
            savepoints(shop)
            ledgers(shop)
            house.say(f"commit-{family}: {time.monotonic() - began:.0f} s")
            shop.pando.kill()
