"""One driver configures a server that has no database at all, uses what it has made, and takes it away again."""

import asyncio
import os
import sys

from cases import FAMILY, PORT, case, done, equal

DRIVER = sys.argv[3]
NAME = "of_" + DRIVER.replace("-", "_")
HOST = {"host": "127.0.0.1", "port": PORT, "user": "test", "password": "test"}
PORTS = os.environ["UNITS"].split()
REGISTER = "REGISTER STORAGE UNIT " + ", ".join(
    f"ds_{n}(HOST='127.0.0.1', PORT={port}, DB='ds_{n}', USER='test', PASSWORD='test')" for n, port in enumerate(PORTS)
)
RULE = (
    "CREATE SHARDING TABLE RULE t_order(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=id,"
    " TYPE(NAME='hash_mod', PROPERTIES('sharding-count'='4')))"
)


class Driver:
    """A connection by a driver of the DB-API; `prepared` asks for a prepared statement where the driver has them."""

    def __init__(self, database):
        self.connection = self.connect(database)

    def connect(self, database):
        if DRIVER == "pymysql":
            import pymysql

            return pymysql.connect(**HOST, database=database, autocommit=True)
        if DRIVER.startswith("connector"):
            import mysql.connector

            pure = {"use_pure": DRIVER == "connector"}
            return mysql.connector.connect(**HOST, database=database, autocommit=True, **pure)
        import psycopg

        return psycopg.connect(**HOST, dbname=database or "postgres", autocommit=True)

    def run(self, sql, prepared=False):
        more = {"prepared": True} if prepared and DRIVER.startswith("connector") else {}
        cursor = self.connection.cursor(**more)
        if prepared and DRIVER == "psycopg":
            cursor.execute(sql, prepare=True)
        else:
            cursor.execute(sql)
        rows = [tuple(row) for row in cursor.fetchall()] if cursor.description else None
        cursor.close()
        return rows

    def close(self):
        self.connection.close()


class Alchemy(Driver):
    def connect(self, database):
        import sqlalchemy

        self.text = sqlalchemy.text
        kind = "postgresql+psycopg" if FAMILY == "pg" else "mysql+pymysql"
        name = database or ("postgres" if FAMILY == "pg" else "")
        engine = sqlalchemy.create_engine(
            f"{kind}://test:test@127.0.0.1:{PORT}/{name}", isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool
        )
        return engine.connect()

    def run(self, sql, prepared=False):
        result = self.connection.execute(self.text(sql))
        return [tuple(row) for row in result] if result.returns_rows else None


class Asyncpg(Driver):
    """Every statement of its own is prepared; what gives no rows goes as text, too."""

    def connect(self, database):
        import asyncpg

        self.loop = asyncio.new_event_loop()
        return self.loop.run_until_complete(asyncpg.connect(**HOST, database=database or "postgres"))

    def run(self, sql, prepared=True):
        if not prepared:
            return self.loop.run_until_complete(self.connection.execute(sql))
        return [tuple(row) for row in self.loop.run_until_complete(self.connection.fetch(sql))]

    def close(self):
        self.loop.run_until_complete(self.connection.close())


def entered(database=None):
    return {"asyncpg": Asyncpg, "sqlalchemy": Alchemy}.get(DRIVER, Driver)(database)


def named(work):
    work.__name__ = f"{DRIVER}_{work.__name__}"
    case(work)


@named
def a_server_without_a_database():
    client = entered()
    equal(client.run("SELECT 1"), [(1,)])
    client.run(f"CREATE DATABASE {NAME}")
    client.close()


@named
def a_database_without_storage_units():
    client = entered(NAME)
    equal(client.run("SELECT 1"), [(1,)])
    equal(client.run("SHOW STORAGE UNITS"), [])
    try:
        client.run("SELECT * FROM t_order")
    except Exception as error:
        equal("has no storage units" in str(error), True)
    else:
        raise AssertionError("a table was found where there is none")
    client.close()


@named
def units_rule_and_rows():
    client = entered(NAME)
    client.run(REGISTER, prepared=False)
    client.run(RULE, prepared=False)
    client.run("CREATE TABLE t_order (id int primary key, name varchar(20))", prepared=False)
    client.run("INSERT INTO t_order VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')", prepared=False)
    equal(client.run("SELECT id FROM t_order ORDER BY id"), [(1,), (2,), (3,), (4,)])
    client.close()


@named
def questions_are_prepared():
    client = entered(NAME)
    for _ in range(3):
        equal([row[0] for row in client.run("SHOW STORAGE UNITS", prepared=True)], ["ds_0", "ds_1"])
        equal([row[0] for row in client.run("SHOW SHARDING TABLE RULES", prepared=True)], ["t_order"])
    rows = client.run("SHOW TABLE METADATA t_order")
    equal([row[3] for row in rows if row[2] == "column"], ["id", "name"])
    client.close()


@named
def all_is_taken_away():
    client = entered(NAME)
    client.run("DROP TABLE t_order", prepared=False)
    client.run("DROP SHARDING TABLE RULE t_order", prepared=False)
    client.run("UNREGISTER STORAGE UNIT ds_0, ds_1", prepared=False)
    equal(client.run("SHOW STORAGE UNITS"), [])
    client.close()
    client = entered()
    client.run(f"DROP DATABASE {NAME}", prepared=False)
    client.close()


done()
