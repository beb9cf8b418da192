"""Drivers over a table with encrypted columns of every type and a plain one of the same: what they write, look for and read is the same.

typed_client.py pg|mariadb PORT: one line `ok NAME` for each driver, or its traceback."""
import asyncio
import datetime
import decimal
import sys
import traceback
import uuid

FAMILY, PORT = sys.argv[1], int(sys.argv[2])
COMMON = {"name": "Ada", "balance": decimal.Decimal("-12.50"), "born": datetime.date(1815, 12, 10), "visits": -7_000_000_000}
OWN = {
    "pg": {"seen": datetime.datetime(2024, 1, 5, 12, 0, 0, 123000), "ok": True, "ref": uuid.UUID(int=7)},
    "mariadb": {"seen": datetime.datetime(2024, 1, 5, 12, 0, 0, 123000), "ok": 1},
}
VALUES = {**COMMON, **OWN[FAMILY]}
NAMES = list(VALUES)


def same(what, plain, typed):
    assert plain == typed and [type(cell) for row in plain for cell in row] == [type(cell) for row in typed for cell in row], f"{what}: {plain} {typed}"


def by_dbapi(connection, mark="%s", **how):
    """PEP 249, one statement after the other on both tables."""
    cursor = connection.cursor(**how)

    def both(text, values=(), rows=True):
        found = []
        for table in ("plain", "typed"):
            cursor.execute(text.format(t=table), values)
            # The type of each column, whatever the driver makes of it.
            found.append(([tuple(row) for row in cursor.fetchall()], [(column[0], column[1]) for column in cursor.description]) if rows else None)
        if rows:
            same(text, found[0][0], found[1][0])
            assert found[0][1] == found[1][1], found
        return found[0][0] if rows else None

    both("delete from {t}", rows=False)
    marks = ", ".join([mark] * (len(NAMES) + 1))
    for n in range(3):
        both(f"insert into {{t}} (id, {', '.join(NAMES)}) values ({marks})", (n, *VALUES.values()), rows=False)
    both("insert into {t} (id) values (9)", rows=False)
    both(f"update {{t}} set visits = {mark} where id = 1", (5,), rows=False)
    rows = both(f"select id, {', '.join(NAMES)} from {{t}} order by id")
    assert rows[0] == (0, *VALUES.values()) and rows[3] == (9, *[None] * len(NAMES)), rows
    for name, value in VALUES.items():
        found = both(f"select id, {name} from {{t}} where {name} = {mark} order by id", (value,))
        assert len(found) == (2 if name == "visits" else 3), (name, found)
    both(f"select id from {{t}} where balance in ({mark}, {mark}) and born <> {mark} order by id", (decimal.Decimal("-12.5"), 3, datetime.date(2000, 1, 1)))
    both("select visits, count(*) from {t} where visits is not null group by visits order by 2")
    connection.commit()


async def by_asyncpg():
    import asyncpg

    connection = await asyncpg.connect(host="127.0.0.1", port=PORT, user="test", password="test", database="shop")
    for table in ("plain", "typed"):
        await connection.execute(f"delete from {table}")
        marks = ", ".join(f"${n + 1}" for n in range(len(NAMES) + 1))
        await connection.executemany(f"insert into {table} (id, {', '.join(NAMES)}) values ({marks})", [(n, *VALUES.values()) for n in range(3)])
    for name, value in VALUES.items():
        rows = [[tuple(row) for row in await connection.fetch(f"select id, {name} from {table} where {name} = $1 order by id", value)] for table in ("plain", "typed")]
        same(name, *rows)
        assert len(rows[0]) == 3, rows
    told = [[(one.name, one.type.name) for one in (await connection.prepare(f"select * from {table}")).get_attributes()] for table in ("plain", "typed")]
    assert told[0] == told[1], told
    taken = [[one.name for one in (await connection.prepare(f"insert into {table} values ({marks})")).get_parameters()] for table in ("plain", "typed")]
    assert taken[0] == taken[1], taken
    copied = [(7, *VALUES.values())]
    for table in ("plain", "typed"):
        await connection.copy_records_to_table(table, records=copied, columns=["id", *NAMES])
    rows = [[tuple(row) for row in await connection.fetch(f"select * from {table} where id = 7")] for table in ("plain", "typed")]
    same("binary COPY", *rows)
    await connection.close()


def by_psycopg():
    import psycopg

    for how in ({}, {"cursor_factory": psycopg.ClientCursor}):
        with psycopg.connect(host="127.0.0.1", port=PORT, user="test", password="test", dbname="shop", **how) as connection:
            by_dbapi(connection)
            if not how:
                by_dbapi(connection, binary=True)


def by_pymysql():
    import pymysql

    by_dbapi(pymysql.connect(host="127.0.0.1", port=PORT, user="test", password="test", database="shop"))


def by_connector():
    """MySQL's own driver, with binary prepared statements."""
    import mysql.connector

    connection = mysql.connector.connect(host="127.0.0.1", port=PORT, user="test", password="test", database="shop", use_pure=True, ssl_disabled=True)
    by_dbapi(connection, prepared=True)
    by_dbapi(connection)


DRIVERS = {"pg": {"psycopg": by_psycopg, "asyncpg": lambda: asyncio.run(by_asyncpg())}, "mariadb": {"pymysql": by_pymysql, "connector": by_connector}}
failed = 0
for driver, run in DRIVERS[FAMILY].items():
    try:
        run()
        print(f"ok {driver}")
    except Exception:
        failed += 1
        traceback.print_exc(file=sys.stdout)
sys.exit(failed)
