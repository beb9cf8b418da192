"""TPC-H at a small scale: loaded straight and through Pando, and the 22 queries' answers compared."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import mysql.connector
import psycopg
import pymysql
from data import INDEXES, SCHEMA, Data, lines
from plain.house import GLOBAL, Pando, case, check, finish, has, port, reset, say, skip, sources, work
from queries import queries

SCALE = float(os.environ.get("TPCH_SCALE") or 0.002)
LEAST = 14
FAMILIES = (os.environ.get("FAMILIES") or "pg mariadb").split()
# Seconds after which a query is named as slow, and after which it is given up.
SLOW, PATIENCE = 5, 60
# The specification's keys, and two units with two tables each.
KEYS = {"orders": "o_orderkey", "lineitem": "l_orderkey", "customer": "c_custkey", "part": "p_partkey", "partsupp": "ps_partkey",
        "supplier": "s_suppkey"}
REFUSED = "0A000"
# Of a column's flags those about indexes; the rest is its type.
KEY_FLAGS = 2 | 4 | 8 | 1 << 14


def rules():
    text = "rules:\n- !SHARDING\n  tables:\n"
    for table, key in KEYS.items():
        text += (f"    {table}:\n      actualDataNodes: ds_${{0..1}}.{table}_${{0..1}}\n"
                 f"      databaseStrategy: {{standard: {{shardingColumn: {key}, shardingAlgorithmName: unit_by_{key}}}}}\n"
                 f"      tableStrategy: {{standard: {{shardingColumn: {key}, shardingAlgorithmName: table_by_{key}}}}}\n")
    text += '  bindingTables: ["orders,lineitem", "part,partsupp"]\n  shardingAlgorithms:\n'
    for table, key in KEYS.items():
        text += (f"    unit_by_{key}: {{type: INLINE, props: {{algorithm-expression: \"ds_${{{key} % 2}}\"}}}}\n"
                 f"    table_by_{key}: {{type: INLINE, props: {{algorithm-expression: \"{table}_${{{key}.intdiv(2) % 2}}\"}}}}\n")
    return text + "- !BROADCAST\n  tables: [nation, region]\n"


class Postgres:
    errors = psycopg.Error

    def __init__(self, at, database):
        self.db = psycopg.connect(host="127.0.0.1", port=at, user="test", password="test", dbname=database, autocommit=True, sslmode="disable")

    def run(self, sql):
        """Columns as names and types, and rows."""
        cursor = self.db.execute(sql)
        if cursor.description is None:
            return None, cursor.rowcount
        return self.shape(cursor), cursor.fetchall()

    def prepared(self, sql):
        """The same as a prepared statement with binary values."""
        cursor = self.db.cursor(binary=True)
        cursor.execute(sql, prepare=True)
        return self.shape(cursor), cursor.fetchall()

    @staticmethod
    def shape(cursor):
        return [(c.name, c.type_code, c.display_size, c.precision, c.scale) for c in cursor.description]

    def load(self, table, rows):
        with self.db.cursor() as cursor:
            with cursor.copy(f"copy {table} from stdin") as copy:
                copy.write(lines(rows))
            return cursor.rowcount

    @staticmethod
    def reason(error):
        return error.sqlstate, error.diag.message_primary or str(error)


class MySql:
    errors = pymysql.Error

    def __init__(self, at, database):
        self.at, self.database, self.other = at, database, None
        self.db = pymysql.connect(host="127.0.0.1", port=at, user="test", password="test", database=database, autocommit=True,
                                  charset="utf8mb4", local_infile=True, read_timeout=PATIENCE)

    def run(self, sql):
        with self.db.cursor() as cursor:
            cursor.execute(sql)
            if cursor.description is None:
                return None, cursor.rowcount
            flags = [(f.name, f.type_code, f.scale, f.charsetnr) for f in cursor._result.fields]
            return flags, list(cursor.fetchall())

    def prepared(self, sql):
        """The same as a prepared statement with binary values, by a driver that has them."""
        self.other = self.other or mysql.connector.connect(host="127.0.0.1", port=self.at, user="test", password="test", database=self.database,
                                                           use_pure=True, ssl_disabled=True, autocommit=True)
        with self.other.cursor(prepared=True) as cursor:
            cursor.execute(sql)
            return [(column[0], column[1], column[7] & ~KEY_FLAGS, column[8]) for column in cursor.description], cursor.fetchall()

    def load(self, table, rows):
        name = f"{work}/{table}.tsv"
        with open(name, "w") as file:
            file.write(lines(rows))
        return self.run(f"load data local infile '{name}' into table {table}")[1]

    @staticmethod
    def reason(error):
        code = error.args[0] if error.args else 0
        # The driver tells no SQLSTATE; our refusals have codes of their own.
        return (REFUSED if 20000 <= code < 40000 or code == 1235 else str(code)), str(error)


DRIVERS = {"pg": Postgres, "mariadb": MySql, "mysql": MySql}


def create(client):
    for table, (columns, key) in SCHEMA.items():
        client.run(f"create table {table} ({columns}, primary key ({key}))")
    for index in INDEXES:
        client.run(index)


def load(name, family, client, data):
    began = time.monotonic()
    create(client)
    for table, rows in data.tables.items():
        count = client.load(table, rows)
        assert count == len(rows), f"{count} of {len(rows)} rows went into `{table}`"
    say(f"{family}: {sum(map(len, data.tables.values()))} rows {name} in {time.monotonic() - began:.1f} s")


def analyze(family):
    for n in range(2):
        for database in (f"ds_{n}", "direct") if n == 0 else (f"ds_{n}",):
            client = DRIVERS[family](port(family, n), database)
            if family == "pg":
                client.run("vacuum analyze")
            else:
                for (table,) in client.run("show tables")[1]:
                    client.run(f"analyze table {table}")


def differ(expected, actual):
    """What the first difference of two answers is."""
    (columns, rows), (other_columns, other_rows) = expected, actual
    if columns != other_columns:
        return f"columns {columns} became {other_columns}"
    if len(rows) != len(other_rows):
        return f"{len(rows)} rows became {len(other_rows)}"
    for at, (row, other) in enumerate(zip(rows, other_rows)):
        for a, b in zip(row, other):
            if isinstance(a, float) and isinstance(b, float) and abs(a - b) <= 1e-9 * max(1.0, abs(a)):
                continue
            if type(a) is not type(b) or a != b or str(a) != str(b):
                return f"row {at}: {row} became {other}"
    return None


def timed(client, sql):
    began = time.monotonic()
    try:
        return client.run(sql), None, time.monotonic() - began
    except client.errors as error:
        return None, client.reason(error), time.monotonic() - began


def ask(family, number, sql, straight, client):
    """Whether a query was answered; a wrong answer is a failure, a refusal is not."""
    expected, error, before = timed(straight, sql)
    assert expected, f"the server itself says {error}"
    assert expected[1] and any(value is not None for value in expected[1][0]), "no rows: the query shows nothing"
    actual, refusal, took = timed(client, sql)
    name = f"{family}-query-{number}"
    if refusal:
        check(name, refusal[0] == REFUSED, f"neither answered nor refused: {refusal} after {took:.2f} s", f"refused: {refusal[1]}")
        return False
    why = differ(expected, actual)
    if not why:
        found = differ(straight.prepared(sql), client.prepared(sql))
        why = found and f"as a prepared statement: {found}"
    slow = ", slow" if took > SLOW else ""
    return check(name, not why, why, f"{len(expected[1])} rows, {before * 1000:.0f} ms straight, {took * 1000:.0f} ms through Pando{slow}")


def story(family, data):
    reset(family, ("ds_0", "ds_1"))
    reset(family, ("direct",))
    pando = Pando({"global.yaml": GLOBAL, "database-tpch.yaml": "databaseName: tpch\n" + sources(family) + rules()})
    straight, client = DRIVERS[family](port(family, 0), "direct"), DRIVERS[family](pando.port(family), "tpch")
    if family == "mysql":
        straight.run("set global local_infile = 1")
    load("straight", family, straight, data)
    load("through Pando", family, client, data)
    analyze(family)
    with case(f"{family}-loaded"):
        for table, rows in data.tables.items():
            for one in (straight, client):
                assert one.run(f"select count(*) from {table}")[1] == [(len(rows),)], table
    answered = 0
    for number, sql in queries(family, data.suppliers / 10_000).items():
        with case(f"{family}-query-{number}", quiet=True):
            answered += ask(family, number, sql, straight, client)
    check(f"{family}-answered", answered >= LEAST, f"answered {answered} of 22", f"answered {answered} of 22")
    pando.stop(f"{family}-stop")


def main():
    data = None
    for family in FAMILIES:
        if not has(family):
            skip(family, "no server")
            continue
        data = data or Data(SCALE)
        with case(f"{family}-tpch", quiet=True):
            story(family, data)
    finish()


main()
