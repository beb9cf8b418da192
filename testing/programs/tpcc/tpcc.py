"""TPC-C through Pando: terminals run the five transactions at once, and then the twelve consistency conditions hold."""
import collections
import os
import random
import re
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import psycopg
import pymysql
from conditions import BALANCES, CONDITIONS, text
from load import DELIVERED, INDEXES, TABLES, WAREHOUSES, Rows, rules
from plain.house import GLOBAL, Pando, case, check, finish, has, ok, port, reset, say, skip, sources
from transactions import RolledBack, Terminal

TERMINALS, EACH = 8, int(os.environ.get("TPCC_TRANSACTIONS") or 60)
# The deck of clause 5.2.4.2.
DECK = ["new_order"] * 10 + ["payment"] * 10 + ["order_status", "delivery", "stock_level"]
TRIES = 20
FAMILIES = (os.environ.get("FAMILIES") or "pg mariadb").split()


class Postgres:
    errors = psycopg.Error

    def __init__(self, at, database):
        self.db = psycopg.connect(host="127.0.0.1", port=at, user="test", password="test", dbname=database, sslmode="disable",
                                  options="-c lock_timeout=10s")

    def rows(self, sql, values=None):
        return self.db.execute(sql, values).fetchall()

    def write(self, sql, values=None):
        return self.db.execute(sql, values).rowcount

    def fill(self, table, rows):
        with self.db.cursor() as cursor:
            with cursor.copy(f"copy {table} from stdin") as copy:
                for row in rows:
                    copy.write_row(row)

    @staticmethod
    def may_retry(error):
        # Serialization failure, deadlock, lock timeout.
        return error.sqlstate in ("40001", "40P01", "55P03")

    def one(self, sql, values=None):
        return only(self.rows(sql, values), sql, values)

    def commit(self):
        self.db.commit()

    def rollback(self):
        self.db.rollback()


class MySql:
    errors = pymysql.Error

    def __init__(self, at, database):
        self.db = pymysql.connect(host="127.0.0.1", port=at, user="test", password="test", database=database, charset="utf8mb4", read_timeout=60)
        # Otherwise a snapshot older than a lock would show a new order without its lines.
        self.write("set session transaction isolation level read committed")
        self.write("set session innodb_lock_wait_timeout = 10")

    def rows(self, sql, values=None):
        with self.db.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall())

    def write(self, sql, values=None):
        with self.db.cursor() as cursor:
            return cursor.execute(sql, values)

    def fill(self, table, rows):
        with self.db.cursor() as cursor:
            marks = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(f"insert into {table} values ({marks})", rows)

    @staticmethod
    def may_retry(error):
        return error.args and error.args[0] in (1205, 1213)

    def one(self, sql, values=None):
        return only(self.rows(sql, values), sql, values)

    def commit(self):
        self.db.commit()

    def rollback(self):
        self.db.rollback()


DRIVERS = {"pg": Postgres, "mariadb": MySql, "mysql": MySql}


def only(rows, sql, values):
    assert len(rows) == 1, f"{len(rows)} rows instead of one: {sql} {values}"
    return rows[0]


def load(family, client):
    began, count, chance = time.monotonic(), 0, Rows()
    for table, (columns, key, _) in TABLES.items():
        client.write(f"create table {table} ({columns}{f', primary key ({key})' if key else ''})")
    for index in INDEXES:
        client.write(index)
    client.commit()
    every = collections.defaultdict(list)
    every["item"] = chance.items()
    for w in range(1, WAREHOUSES + 1):
        for table, rows in chance.warehouse(w).items():
            every[table] += rows
    for table, rows in every.items():
        client.fill(table, rows)
        count += len(rows)
    client.commit()
    say(f"{family}: {count} rows in {time.monotonic() - began:.1f} s")


class Run:
    """What the terminals have done."""

    def __init__(self):
        self.lock = threading.Lock()
        self.done, self.seconds = collections.Counter(), collections.Counter()
        self.retries, self.rolled_back, self.errors, self.delivered = collections.Counter(), 0, [], collections.Counter()

    def terminal(self, family, at, number):
        try:
            client = DRIVERS[family](at, "tpcc")
            terminal, deck = Terminal(client, number % WAREHOUSES + 1, number), []
            for _ in range(EACH):
                if not deck:
                    deck = random.Random(terminal.chance.random()).sample(DECK, len(DECK))
                self.transaction(terminal, client, deck.pop())
        except Exception as error:
            with self.lock:
                self.errors.append(f"terminal {number}: {type(error).__name__}: {str(error)[:300]}")

    def transaction(self, terminal, client, name):
        began = time.monotonic()
        for _ in range(TRIES):
            try:
                result = getattr(terminal, name)()
                client.commit()
                with self.lock:
                    self.done[name] += 1
                    self.seconds[name] += time.monotonic() - began
                    if name == "delivery":
                        self.delivered.update(result)
                return
            except RolledBack:
                client.rollback()
                with self.lock:
                    self.rolled_back += 1
                return
            except client.errors as error:
                client.rollback()
                if not client.may_retry(error):
                    raise
                with self.lock:
                    self.retries[f"{name}: {str(error)[:60]}"] += 1
        raise RuntimeError(f"{name} given up after {TRIES} tries")


def transactions(family, pando):
    run, began = Run(), time.monotonic()
    threads = [threading.Thread(target=run.terminal, args=(family, pando.port(family), number), daemon=True) for number in range(TERMINALS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
    took = time.monotonic() - began
    means = ", ".join(f"{count} {name} of {1000 * run.seconds[name] / count:.0f} ms" for name, count in run.done.items())
    say(f"{family}: {means}; {run.rolled_back} new orders rolled back; tried again: {dict(run.retries) or 'never'}")
    whole = sum(run.done.values()) + run.rolled_back
    check(f"{family}-transactions", not run.errors and whole == TERMINALS * EACH,
          f"{whole} of {TERMINALS * EACH} done; {run.errors[:3]}", f"{whole} by {TERMINALS} terminals in {took:.1f} s")
    check(f"{family}-every-kind", len(run.done) == 5 and run.rolled_back > 0, f"only {sorted(run.done)} and {run.rolled_back} rollbacks were run")
    return run.delivered


# --- the conditions --------------------------------------------------------------------------------------------------------


def shards(family):
    """A client of each unit, with the ends of its tables' names."""
    return [(client, suffix) for n in range(2) for client in [DRIVERS[family](port(family, n), f"ds_{n}")] for suffix in ("_0", "_1")]


def on_shard(sql, suffix):
    """The statement over the actual tables."""
    names = "|".join(table for table, (_, _, key) in TABLES.items() if key)
    return re.sub(rf"\b(from|join) ({names})\b", rf"\1 \2{suffix}", sql)


def broken_on_shards(number, sql, places):
    if number != 10:
        return sum(client.rows(on_shard(sql, suffix))[0][0] for client, suffix in places)
    balance, bought, paid = (collections.Counter() for _ in range(3))
    for client, suffix in places:
        for part, sums in zip(BALANCES, (balance, bought, paid)):
            for w, d, c, amount in client.rows(on_shard(part, suffix)):
                sums[w, d, c] += amount
    assert len(balance) > 0
    return sum(balance[key] != bought[key] - paid[key] for key in balance)


def conditions(family, client, when, delivered):
    """Each condition through Pando, and straight on the shards."""
    places = shards(family)
    for number, (what, _) in CONDITIONS.items():
        with case(f"{family}-condition-{number}-{when}", what) as one:
            sql, began = text(number, DELIVERED, delivered), time.monotonic()
            (broken,) = client.one(sql)
            took = time.monotonic() - began
            client.rollback()
            straight = broken_on_shards(number, sql, places)
            assert broken == 0 and straight == 0, f"{what}: broken {broken} times through Pando, {straight} times on the shards"
            one.detail = f"{what}; {took * 1000:.0f} ms"
    for one in {one for one, _ in places}:
        one.db.close()


def notices(family, client):
    """The conditions can fail: a payment that nobody made breaks those about it, through Pando as on the shards."""
    client.write("update customer set c_balance = c_balance - 1 where c_w_id = 1 and c_d_id = 1 and c_id = 1")
    client.write("update warehouse set w_ytd = w_ytd + 1 where w_id = 2")
    found = {number: client.one(text(number, DELIVERED, {}))[0] for number in (1, 8, 10, 12)}
    client.rollback()
    check(f"{family}-conditions-notice", found == {1: 1, 8: 1, 10: 1, 12: 1}, f"broken rows found: {found}")


def story(family):
    reset(family)
    pando = Pando({"global.yaml": GLOBAL, "database-tpcc.yaml": "databaseName: tpcc\n" + sources(family) + rules()})
    client = DRIVERS[family](pando.port(family), "tpcc")
    load(family, client)
    ok(f"{family}-loaded")
    conditions(family, client, "at-first", {})
    notices(family, client)
    delivered = transactions(family, pando)
    conditions(family, client, "afterwards", delivered)
    client.db.close()
    pando.stop(f"{family}-stop")


def main():
    for family in FAMILIES:
        if not has(family):
            skip(family, "no server")
            continue
        with case(f"{family}-tpcc", quiet=True):
            story(family)
    finish()


main()
