"""Rules that would put rows out of reach, or have them looked for in the wrong place: refused with the way that works, whichever way the rule comes."""
import base64
import json
import os
import re
import signal
import subprocess
import tempfile
import urllib.request

from plain import house
from plain.house import ERRORS, GLOBAL, Pando, case, direct, has, port, reset, skip, sources, until

AUTO = 'STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=id, TYPE(NAME="mod", PROPERTIES("sharding-count"="%d"))'
MANY = 20_000


def main():
    for family in ("pg", "mariadb"):
        if not has(family):
            skip(f"reach-{family}", "no server")
            continue
        with case(f"reach-{family}", quiet=True):
            by_statement(family)
        with case(f"reach-files-{family}", quiet=True):
            by_files(family)
    family = next((family for family in ("pg", "mariadb") if has(family)), None)
    if family:
        with case("reach-by-hand", quiet=True):
            by_hand(family)


def refused(client, text, *parts):
    try:
        client.query(text)
    except ERRORS as error:
        for part in parts:
            assert part in str(error), f"{text}: {error}"
        return str(error)
    raise AssertionError(f"accepted: {text}")


def units(family):
    parts = [f"ds_{n}(HOST='127.0.0.1', PORT={port(family, n)}, DB=ds_{n}, USER=test, PASSWORD='test', PROPERTIES('maxPoolSize'=10))"
             for n in range(2)]
    return "REGISTER STORAGE UNIT " + ", ".join(parts)


def many(table, first, rows, each=1000):
    for start in range(first, first + rows, each):
        yield f"INSERT INTO {table} VALUES " + ", ".join(f"({n}, 'n{n}')" for n in range(start, min(start + each, first + rows)))


def begin(family, name):
    reset(family)
    files = f"{house.work}/files-{family}"
    os.makedirs(files, exist_ok=True)
    pando = Pando(None, arguments=["--data", f"{house.work}/reach-{name}-{family}", "--files", files])
    first = pando.client(family, "postgres" if family == "pg" else "", user="root", password="root")
    first.query("CREATE DATABASE shop")
    first.close()
    client = pando.client(family, "shop", user="root", password="root")
    client.query(units(family))
    return pando, client


def by_statement(family):
    pando, client = begin(family, "statement")
    with case(f"reach-copies-that-are-none-{family}"):
        straight = direct(family, 1)
        straight.query("CREATE TABLE alone (id bigint primary key, name varchar(20))")
        straight.query("INSERT INTO alone VALUES (1, 'one')")
        group = 'CREATE READWRITE_SPLITTING RULE g(WRITE_STORAGE_UNIT=ds_0, READ_STORAGE_UNITS(ds_1), TYPE(NAME="random"))'
        refused(client, group, "no copy", "alone")
        assert client.value("SELECT name FROM alone") == "one"
        straight.query("DROP TABLE alone")
        straight.close()
        client.query(group)
        client.query("DROP READWRITE_SPLITTING RULE g")
    with case(f"reach-single-{family}"):
        client.query("CREATE TABLE items (id bigint primary key, name varchar(20))")
        for text in many("items", 0, MANY):
            client.query(text)
        refused(client, f"CREATE SHARDING TABLE RULE items({AUTO % 4})", "items", "more than 1000 rows", "INSERT")
        refused(client, 'CREATE SHARDING TABLE RULE items(DATANODES("ds_${0..1}.items"), DATABASE_STRATEGY(TYPE="standard", SHARDING_COLUMN=id, '
                'SHARDING_ALGORITHM(TYPE(NAME="inline", PROPERTIES("algorithm-expression"="ds_${id % 2}")))), TABLE_STRATEGY(TYPE="none"))', "items")
        refused(client, "CREATE BROADCAST TABLE RULE items", "items", "INSERT")
        assert client.value("SELECT COUNT(*) FROM items") == str(MANY)
        assert client.value("SELECT name FROM items WHERE id = 77") == "n77"
    with case(f"reach-the-way-that-works-{family}"):
        client.query("ALTER TABLE items RENAME TO items_old")
        client.query(f"CREATE SHARDING TABLE RULE items({AUTO % 4})")
        client.query("CREATE TABLE items (id bigint primary key, name varchar(20))")
        client.query("INSERT INTO items SELECT * FROM items_old")
        client.query("DROP TABLE items_old")
        assert client.value("SELECT COUNT(*) FROM items") == str(MANY)
        assert client.value("SELECT name FROM items WHERE id = 77") == "n77"
    with case(f"reach-altered-{family}"):
        refused(client, f"ALTER SHARDING TABLE RULE items({AUTO % 8})", "items", "more than 1000 rows")
        refused(client, "DROP SHARDING TABLE RULE items", "items", "more than 1000 rows", "DROP TABLE")
        refused(client, "ALTER SHARDING TABLE RULE items(STORAGE_UNITS(ds_1, ds_0), SHARDING_COLUMN=id, "
                'TYPE(NAME="mod", PROPERTIES("sharding-count"="4")))', "items")
        assert client.value("SELECT COUNT(*) FROM items") == str(MANY)
        # The same rule, written otherwise, is none that asks for anything.
        client.query(f"ALTER SHARDING TABLE RULE items({(AUTO % 4).replace('mod', 'MOD')})")
    with case(f"reach-parts-without-the-others-{family}"):
        client.query(f"CREATE SHARDING TABLE RULE parts({AUTO % 4})")
        client.query("CREATE TABLE parts (id bigint primary key, name varchar(20))")
        # Four empty parts are there: with eight in the rule every query would fail.
        refused(client, f"ALTER SHARDING TABLE RULE parts({AUTO % 8})", "4 of 8", "DROP TABLE")
        assert client.value("SELECT COUNT(*) FROM parts") == "0"
        client.query("DROP TABLE parts")
        client.query(f"ALTER SHARDING TABLE RULE parts({AUTO % 8})")
        client.query("CREATE TABLE parts (id bigint primary key, name varchar(20))")
        client.query("INSERT INTO parts VALUES (7, 'seven')")
        # With rows in four parts and four empty ones beside them it is rows that count.
        for n in range(8, 16):
            straight = direct(family, n % 2)
            straight.query(f"CREATE TABLE parts_{n} (id bigint primary key, name varchar(20))")
            straight.close()
        refused(client, f"ALTER SHARDING TABLE RULE parts({AUTO % 16})", "1 row")
        assert client.value("SELECT name FROM parts WHERE id = 7") == "seven"
    with case(f"reach-uncommitted-{family}"):
        client.query(f"CREATE SHARDING TABLE RULE open_rows({AUTO % 2})")
        client.query("CREATE TABLE open_rows (id bigint primary key, name varchar(20))")
        client.query("CREATE TABLE open_single (id bigint primary key, name varchar(20))")
        other = pando.client(family, "shop", user="root", password="root")
        other.query("BEGIN")
        other.query("INSERT INTO open_rows VALUES (1, 'one'), (2, 'two')")
        other.query("INSERT INTO open_single VALUES (1, 'one'), (2, 'two')")
        refused(client, f"ALTER SHARDING TABLE RULE open_rows({AUTO % 3})", "open_rows")
        refused(client, "DROP SHARDING TABLE RULE open_rows", "open_rows")
        refused(client, f"CREATE SHARDING TABLE RULE open_single({AUTO % 2})", "open_single")
        other.query("COMMIT")
        refused(client, f"ALTER SHARDING TABLE RULE open_rows({AUTO % 3})", "row")
        assert client.value("SELECT COUNT(*) FROM open_rows") == "2"
        assert client.value("SELECT COUNT(*) FROM open_single") == "2"
        other.close()
    with case(f"reach-adopted-{family}"):
        # Somebody has spread them already: rightly they are taken, wrongly not.
        for n in range(2):
            straight = direct(family, n)
            for name, ids in (("right", [n, n + 2, n + 4]), ("wrong", [n, n + 2, 5 - n])):
                straight.query(f"CREATE TABLE {name}_{n} (id bigint primary key, name varchar(20))")
                for number in ids:
                    straight.query(f"INSERT INTO {name}_{n} VALUES ({number}, 'n{number}')")
            straight.close()
        client.query("REFRESH TABLE METADATA")
        client.query(f"CREATE SHARDING TABLE RULE right({AUTO % 2})".replace(" right(", " `right`("))
        assert client.value('SELECT COUNT(*) FROM "right"' if family == "pg" else "SELECT COUNT(*) FROM `right`") == "6"
        refused(client, f"CREATE SHARDING TABLE RULE wrong({AUTO % 2})", "wrong_", "id = ")
    with case(f"reach-broadcast-{family}"):
        client.query("CREATE TABLE country (id bigint primary key, name varchar(20))")
        client.query("INSERT INTO country VALUES (1, 'one')")
        refused(client, "CREATE BROADCAST TABLE RULE country", "country")
        client.query("ALTER TABLE country RENAME TO country_old")
        client.query("CREATE BROADCAST TABLE RULE country")
        client.query("CREATE TABLE country (id bigint primary key, name varchar(20))")
        client.query("INSERT INTO country SELECT * FROM country_old")
        client.query("DROP TABLE country_old")
        refused(client, "DROP BROADCAST TABLE RULE country", "country", "LOAD SINGLE TABLE")
        refused(client, f"CREATE SHARDING TABLE RULE country({AUTO % 2})", "country")
        assert client.value("SELECT name FROM country") == "one"
        # A copy that differs is no copy.
        for n in range(2):
            straight = direct(family, n)
            for name in ("same", "other"):
                straight.query(f"CREATE TABLE {name} (id bigint primary key, name varchar(20))")
                straight.query(f"INSERT INTO {name} VALUES (1, '{'one' if name == 'same' else n}')")
            straight.close()
        client.query("CREATE BROADCAST TABLE RULE same")
        refused(client, "CREATE BROADCAST TABLE RULE other", "other")
    with case(f"reach-import-{family}"):
        by_import(family, pando, client)
    with case(f"reach-empties-are-free-{family}"):
        client.query(f"CREATE SHARDING TABLE RULE nothing({AUTO % 4})")
        client.query(f"ALTER SHARDING TABLE RULE nothing({AUTO % 8})")
        client.query("DROP SHARDING TABLE RULE nothing")
        client.query(f"CREATE SHARDING TABLE RULE again({AUTO % 4})")
        client.query("CREATE TABLE again (id bigint primary key, name varchar(20))")
        client.query("DROP TABLE again")
        client.query("DROP SHARDING TABLE RULE again")
    client.close()
    pando.stop(f"reach-stop-{family}")


def by_import(family, pando, client):
    """A document over a database whose tables stand otherwise, in a second logical database."""
    text = "databaseName: copy\n" + sources(family) + house.sharded(["items_of_import"])
    straight = direct(family, 0)
    straight.query("CREATE TABLE items_of_import (id bigint primary key, name varchar(20))")
    straight.query("INSERT INTO items_of_import VALUES (1, 'one')")
    straight.close()
    with tempfile.NamedTemporaryFile("w", dir=f"{house.work}/files-{family}", suffix=".yaml", delete=False) as file:
        file.write(text)
    name = os.path.basename(file.name)
    refused(client, f"IMPORT DATABASE CONFIGURATION FROM FILE '{name}'", "items_of_import", "1 row")
    straight = direct(family, 0)
    straight.query("DROP TABLE items_of_import")
    straight.close()
    client.query(f"IMPORT DATABASE CONFIGURATION FROM FILE '{name}'")


def files(family, tables, each=2):
    return {"global.yaml": GLOBAL, "database-shop.yaml": "databaseName: shop\n" + sources(family, maxPoolSize=10) + house.sharded(tables, each=each)}


def by_files(family):
    reset(family)
    straight = direct(family, 0)
    straight.query("CREATE TABLE hidden (id bigint primary key, name varchar(20))")
    straight.query("INSERT INTO hidden VALUES (1, 'one'), (2, 'two')")
    straight.close()
    pando = Pando(files(family, ["orders"], each=2))
    client = pando.client(family, "shop")
    client.query("CREATE TABLE orders (id bigint primary key, name varchar(20))")
    for text in many("orders", 0, 200):
        client.query(text)
    assert client.value("SELECT COUNT(*) FROM hidden") == "2"

    def reload(wanted, said):
        for name, text in wanted.items():
            with open(f"{pando.folder}/{name}", "w") as file:
                file.write(text)
        before = pando.said(400).count(said)
        pando.process.send_signal(signal.SIGHUP)
        assert until(30, lambda: pando.said(400).count(said) > before), pando.said()

    with case(f"reach-reload-{family}"):
        reload(files(family, ["orders", "hidden"]), "the old configuration stays")
        assert "hidden" in pando.said() and "2 rows" in pando.said(), pando.said()
        reload(files(family, ["orders"], each=3), "the old configuration stays")
        # The last one that was right is served, with every row.
        assert client.value("SELECT COUNT(*) FROM hidden") == "2"
        assert client.value("SELECT COUNT(*) FROM orders") == "200"
        assert client.value("SELECT name FROM orders WHERE id = 77") == "n77"
    with case(f"reach-reload-uncommitted-{family}"):
        other = pando.client(family, "shop")
        client.query("CREATE TABLE late (id bigint primary key, name varchar(20))")
        other.query("BEGIN")
        other.query("INSERT INTO late VALUES (1, 'one')")
        reload(files(family, ["orders", "late"]), "the old configuration stays")
        other.query("COMMIT")
        assert client.value("SELECT COUNT(*) FROM late") == "1"
        other.close()
    with case(f"reach-reload-to-other-servers-{family}"):
        for n in range(2):
            other = direct(family, n, "test")
            other.query(f"DROP DATABASE IF EXISTS elsewhere_{n}")
            other.query(f"CREATE DATABASE elsewhere_{n}")
            other.close()
        moved = files(family, ["orders"])
        moved["database-shop.yaml"] = re.sub(r"(127\.0\.0\.1:\d+)/ds_", r"\1/elsewhere_", moved["database-shop.yaml"])
        reload(moved, "the old configuration stays")
        assert client.value("SELECT COUNT(*) FROM orders") == "200"
    with case(f"reach-reload-of-what-is-right-{family}"):
        reload(files(family, ["orders", "fresh"]), "the configuration was read again")
        client.query("CREATE TABLE fresh (id bigint primary key, name varchar(20))")
        client.query("INSERT INTO fresh VALUES (1, 'one'), (2, 'two'), (3, 'three')")
        assert client.value("SELECT COUNT(*) FROM fresh") == "3"
    client.close()
    pando.stop(f"reach-reload-stop-{family}")
    with case(f"reach-start-{family}"):
        # A start cannot be refused for ever: the tables concerned answer with what is wrong, all others serve.
        for name in ("everywhere", "somewhere"):
            for n in range(2):
                straight = direct(family, n)
                straight.query(f"CREATE TABLE {name} (id bigint primary key, name varchar(20))")
                if n == 0 or name == "everywhere":
                    straight.query(f"INSERT INTO {name} VALUES (1, 'one')")
                straight.close()
        wrong = files(family, ["orders", "hidden", "fresh"], each=3)
        wrong["database-shop.yaml"] += "- !BROADCAST\n  tables: [everywhere, somewhere]\n"
        pando = Pando(wrong)
        client = pando.client(family, "shop")
        for text in ("SELECT COUNT(*) FROM orders", "SELECT * FROM orders WHERE id = 77", "INSERT INTO orders VALUES (1000, 'x')",
                     "DELETE FROM orders", "UPDATE orders SET name = 'y' WHERE id = 1", "SELECT o.id FROM late l JOIN orders o ON o.id = l.id"):
            refused(client, text, "orders", "id = ")
        refused(client, "SELECT * FROM hidden", "hidden", "ds_0")
        refused(client, "INSERT INTO hidden VALUES (3, 'three')", "hidden")
        refused(client, "SELECT * FROM somewhere", "somewhere", "ds_1")
        refused(client, "INSERT INTO somewhere VALUES (2, 'two')", "somewhere")
        assert client.value("SELECT COUNT(*) FROM everywhere") == "1"
        assert client.value("SELECT COUNT(*) FROM late") == "1"
        client.query("BEGIN")
        assert client.value("SELECT COUNT(*) FROM late") == "1"
        refused(client, "INSERT INTO hidden VALUES (3, 'three')", "hidden")
        client.query("ROLLBACK")
        client.close()
        pando.stop(f"reach-start-stop-{family}")
        counted = 0
        for n in range(2):
            straight = direct(family, n)
            for part in range(2):
                counted += int(straight.value(f"SELECT COUNT(*) FROM orders_{part}"))
            straight.close()
        assert counted == 200, counted
    with case(f"reach-start-right-again-{family}"):
        pando = Pando(files(family, ["orders", "fresh"]))
        client = pando.client(family, "shop")
        assert client.value("SELECT COUNT(*) FROM orders") == "200"
        assert client.value("SELECT COUNT(*) FROM fresh") == "3"
        assert client.value("SELECT COUNT(*) FROM hidden") == "2"
        client.close()
        pando.stop(f"reach-end-{family}")


class Etcd:
    """A server of its own, written to past Pando."""

    def __init__(self):
        self.folder = f"{house.work}/etcd"
        os.chmod(house.work, 0o755)
        up = subprocess.run([f"{house.TESTING}/services/up", self.folder, "pg=0", "mariadb=0", "mysql=0", "etcd=1"], capture_output=True, text=True)
        assert up.returncode == 0, up.stdout[-300:] + up.stderr[-300:]
        self.port = re.search(r"ETCD1_PORT=(\d+)", open(f"{self.folder}/env").read())[1]

    def call(self, name, **fields):
        body = json.dumps({key: base64.b64encode(value.encode()).decode() for key, value in fields.items()})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v3/kv/{name}", body.encode(), timeout=10) as answer:
            return json.load(answer)

    def entries(self):
        text = lambda coded: base64.b64decode(coded).decode(errors="replace")
        return {text(one["key"]): text(one.get("value", "")) for one in self.call("range", key="/", range_end="0").get("kvs", [])}

    def down(self):
        subprocess.run([f"{house.TESTING}/services/down", self.folder], capture_output=True)


def by_hand(family):
    """Somebody writes another rule into the repository: no check has seen it."""
    etcd = Etcd()
    try:
        reset(family)
        mode = ("mode:\n  type: Cluster\n  repository:\n    type: etcd\n    props:\n      namespace: by_hand\n"
                f"      server-lists: \"http://127.0.0.1:{etcd.port}\"\n      trustUnmarked: true\n")
        pando = Pando({"global.yaml": mode}, environment={"PANDO_SECRET_KEY": "0123456789abcdef" * 4})
        first = pando.client(family, "postgres" if family == "pg" else "", user="root", password="root")
        first.query("CREATE DATABASE shop")
        first.close()
        client = pando.client(family, "shop", user="root", password="root")
        client.query(units(family))
        client.query(f"CREATE SHARDING TABLE RULE items({AUTO % 4})")
        client.query("CREATE TABLE items (id bigint primary key, name varchar(20))")
        for text in many("items", 0, 100):
            client.query(text)
        with case("reach-by-hand-refused"):
            found = [(key, value) for key, value in etcd.entries().items() if "sharding-count" in value]
            assert len(found) == 1, found
            key, value = found[0]
            nodes = lambda: client.query("SHOW SHARDING TABLE NODES")[0][1].count(",") + 1
            etcd.call("put", key=key, value=value.replace("4", "3"))
            assert until(20, lambda: nodes() == 3), nodes()
            refused(client, "SELECT COUNT(*) FROM items", "items", "id = ")
            refused(client, "INSERT INTO items VALUES (1000, 'x')", "items")
            etcd.call("put", key=key, value=value)
            assert until(20, lambda: nodes() == 4), nodes()
            assert client.value("SELECT COUNT(*) FROM items") == "100"
        client.close()
        pando.stop("reach-by-hand-stop")
    finally:
        etcd.down()
