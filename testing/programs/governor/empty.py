"""From `pando serve` on an empty folder to a sharded database under load, by statements alone."""
import os
import subprocess

from plain import house
from plain.house import Pando, case, check, direct, has, port, reset, skip

from bench import ROWS, TABLES, sysbench

# Every algorithm that divides a table by itself: properties, a column's type, values, and how many actual tables that makes.
AUTO = {
    "mod": ('"sharding-count"="4"', "bigint", range(40), 4),
    "hash_mod": ('"sharding-count"="4"', "varchar(20)", [f"name {n}" for n in range(40)], 4),
    "volume_range": ('"range-lower"="10", "range-upper"="40", "sharding-volume"="10"', "bigint", range(0, 50), 5),
    "boundary_range": ('"sharding-ranges"="10,20,30"', "bigint", range(0, 40), 4),
    "auto_interval": ('"datetime-lower"="2026-01-01 00:00:00", "datetime-upper"="2026-01-04 00:00:00", "sharding-seconds"="86400"', "timestamp",
                      [f"2026-01-0{day} 12:00:00" for day in range(1, 6)], None),
}

# As the paper prints them (section V.A), the last parenthesis missing.
PAPER = [
    'CREATE SHARDING TABLE RULE t_user_h (\n  RESOURCES(ds0, ds1), SHARDING_COLUMN=uid,\n  TYPE(NAME=hash_mod,\n  PROPERTIES("sharding-count"=2));',
    'ALTER SHARDING TABLE RULE t_user_h (\n  RESOURCES(ds0, ds1), SHARDING_COLUMN=uid,\n  TYPE(NAME=hash_mod,\n  PROPERTIES("sharding-count"=2));',
    "SHOW SHARDING TABLE RULES;",
    "SET VARIABLE transaction_type = LOCAL;",
]


def run():
    for family in ("pg", "mariadb"):
        if has(family):
            with case(f"empty-{family}", quiet=True):
                of_family(family)
        else:
            skip(f"empty-{family}", "no server")


def units(family, names, databases=("ds_0", "ds_1")):
    parts = [f"{name}(HOST='127.0.0.1', PORT={port(family, n)}, DB={databases[n]}, USER=test, PASSWORD='test', "
             f"PROPERTIES('maxPoolSize'=30))" for n, name in enumerate(names)]
    return "REGISTER STORAGE UNIT " + ", ".join(parts)


def of_family(family):
    reset(family)
    pando = Pando(None, arguments=["--data", f"{house.work}/{family}"])
    first = pando.client(family, "postgres" if family == "pg" else "", user="root", password="root")
    first.query("CREATE DATABASE shop")
    first.close()
    client = pando.client(family, "shop", user="root", password="root")

    with case(f"empty-{family}-units"):
        client.query(units(family, ["ds_0", "ds_1"]))
        found = [row[0] for row in client.query("SHOW STORAGE UNITS")]
        assert found == ["ds_0", "ds_1"], found
    for name, (properties, kind, values, count) in AUTO.items():
        with case(f"empty-{family}-{name}"):
            auto(family, client, name, (properties, kind, list(values), count))
    with case(f"empty-{family}-binding-and-broadcast"):
        related(family, client)
    with case(f"empty-{family}-sysbench"):
        load(family, client, pando)
    with case(f"empty-{family}-definitions-follow"):
        follow(family, client)
    with case(f"empty-{family}-paper"):
        paper(family, client)
    with case(f"empty-{family}-refusals"):
        refusals(family, client)
    with case(f"empty-{family}-prepared"):
        prepared(family, pando)
    before = sorted(map(str, client.query("EXPORT DATABASE CONFIGURATION")))
    client.close()
    pando.stop(f"empty-{family}-stop")
    again = Pando(None, arguments=["--data", f"{house.work}/{family}"])
    client = again.client(family, "shop", user="root", password="root")
    check(f"empty-{family}-restart", sorted(map(str, client.query("EXPORT DATABASE CONFIGURATION"))) == before, "another configuration came back")
    with case(f"empty-{family}-rows-after-restart"):
        assert client.value("SELECT COUNT(*) FROM t_mod") == "40"
    client.close()
    again.stop(f"empty-{family}-stop-again")


def auto(family, client, name, described):
    properties, kind, values, count = described
    table = f"t_{name}"
    client.query(f'CREATE SHARDING TABLE RULE {table}(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=k, TYPE(NAME="{name}", PROPERTIES({properties})))')
    nodes = dict(client.query("SHOW SHARDING TABLE NODES"))[table].split(", ")
    assert count is None or len(nodes) == count, nodes
    client.query(f"CREATE TABLE {table} (k {kind} NOT NULL, v int)")
    for n, value in enumerate(values):
        client.query(f"INSERT INTO {table} (k, v) VALUES ('{value}', {n})")
    assert client.value(f"SELECT COUNT(*) FROM {table}") == str(len(values))
    for n, value in enumerate(values):
        assert client.value(f"SELECT v FROM {table} WHERE k = '{value}'") == str(n), value
    # Every row where the nodes say, and nowhere twice.
    held = []
    for node in nodes:
        unit, actual = node.split(".")
        straight = direct(family, int(unit[-1]))
        held.append(int(straight.value(f"SELECT COUNT(*) FROM {actual}")))
        straight.close()
    assert sum(held) == len(values) and sum(rows > 0 for rows in held) > 1, dict(zip(nodes, held))


def related(family, client):
    type_of = 'TYPE(NAME="mod", PROPERTIES("sharding-count"="4"))'
    client.query(f"CREATE SHARDING TABLE RULE t_order(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=order_id, {type_of}, "
                 f'KEY_GENERATE_STRATEGY(COLUMN=order_id, TYPE(NAME="snowflake"))), '
                 f"t_item(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=order_id, {type_of})")
    client.query("CREATE SHARDING TABLE REFERENCE RULE ref_0 (t_order, t_item)")
    client.query("CREATE BROADCAST TABLE RULE t_dict")
    client.query("CREATE TABLE t_order (order_id bigint PRIMARY KEY, note varchar(20))")
    client.query("CREATE TABLE t_item (item_id bigint PRIMARY KEY, order_id bigint, dict_id int)")
    client.query("CREATE TABLE t_dict (id int PRIMARY KEY, name varchar(20))")
    client.query("INSERT INTO t_dict VALUES (1, 'one'), (2, 'two')")
    for n in range(20):
        client.query(f"INSERT INTO t_order (note) VALUES ('n{n}')")
    keys = [row[0] for row in client.query("SELECT order_id FROM t_order ORDER BY note")]
    assert len(set(keys)) == 20, keys
    for n, key in enumerate(keys):
        client.query(f"INSERT INTO t_item VALUES ({n}, {key}, {n % 2 + 1})")
    joined = client.query("SELECT d.name, COUNT(*) FROM t_order o JOIN t_item i ON o.order_id = i.order_id JOIN t_dict d ON d.id = i.dict_id "
                          "GROUP BY d.name ORDER BY d.name")
    assert [tuple(row) for row in joined] == [("one", "10"), ("two", "10")], joined
    for n in range(2):
        straight = direct(family, n)
        assert straight.value("SELECT COUNT(*) FROM t_dict") == "2"
        straight.close()


def load(family, client, pando):
    rules = ", ".join(f'sbtest{n}(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=id, TYPE(NAME="mod", PROPERTIES("sharding-count"="6")))'
                      for n in range(1, TABLES + 1))
    client.query(f"CREATE SHARDING TABLE RULE {rules}")
    at = pando.port(family)
    sysbench(family, at, "oltp_read_write", "prepare")
    assert client.value("SELECT COUNT(*) FROM sbtest1") == str(ROWS)
    sysbench(family, at, "--threads=8", "--events=300", "--time=0", "--range_selects=on", "oltp_read_only", "run")
    sysbench(family, at, "--threads=8", "--events=300", "--time=0", "oltp_update_index", "run")
    assert client.value("SELECT COUNT(*) FROM sbtest1") == str(ROWS)
    sysbench(family, at, "oltp_read_write", "cleanup")


def follow(family, client):
    """ALTER, CREATE INDEX and DROP reach every actual table."""
    client.query("ALTER TABLE t_mod ADD COLUMN more int")
    client.query("CREATE INDEX t_mod_v ON t_mod (v)")
    client.query("UPDATE t_mod SET more = v + 1")
    assert client.value("SELECT SUM(more) FROM t_mod") == str(sum(range(1, 41)))
    client.query("DROP TABLE t_volume_range")
    for n in range(2):
        straight = direct(family, n)
        kind = "table_schema = DATABASE()" if family != "pg" else "table_schema = 'public'"
        left = straight.value(f"SELECT COUNT(*) FROM information_schema.tables WHERE {kind} AND table_name LIKE 't_volume_range%'")
        assert left == "0", left
        straight.close()


def paper(family, client):
    other = [text for text in client.query("SHOW STORAGE UNITS")]
    assert len(other) == 2
    client.query(units(family, ["ds0", "ds1"]))
    for text in PAPER:
        client.query(text)
    # Two tables, one in each unit, with no word about where.
    client.query("CREATE TABLE t_user_h (uid int, name varchar(20))")
    nodes = dict(client.query("SHOW SHARDING TABLE NODES"))["t_user_h"]
    assert nodes == "ds0.t_user_h_0, ds1.t_user_h_1", nodes
    rules = [row[0] for row in client.query("SHOW SHARDING TABLE RULES")]
    assert "t_user_h" in rules, rules


def refusals(family, client):
    """An error leaves nothing half done."""
    before = client.query("EXPORT DATABASE CONFIGURATION")
    wrong = {
        "REGISTER STORAGE UNIT bad(HOST='127.0.0.1', PORT=1, DB=x, USER=test, PASSWORD='test')": "cannot be used",
        units(family, ["other", "ds_0"]): "ds_0",
        'CREATE SHARDING TABLE RULE t_new(STORAGE_UNITS(ds_0, ds_9), SHARDING_COLUMN=k, TYPE(NAME="mod", PROPERTIES("sharding-count"="4")))': "ds_9",
        'CREATE SHARDING TABLE RULE t_new(STORAGE_UNITS(ds_0), SHARDING_COLUMN=k, TYPE(NAME="no_such", PROPERTIES("sharding-count"="4")))': "no_such",
        "CREATE BROADCAST TABLE RULE t_mod": "t_mod",
        "DROP SHARDING TABLE RULE t_nobody": "t_nobody",
        "UNREGISTER STORAGE UNIT ds_0": "ds_0",
        "SHOW SHARDING TABLE RULS": "RULS",
        'ALTER SHARDING TABLE RULE t_mod(STORAGE_UNITS(ds_0), SHARDING_COLUMN=k, TYPE(NAME="mod", PROPERTIES("sharding-count"="3")))': "row",
    }
    for text, part in wrong.items():
        try:
            client.query(text)
        except house.ERRORS as error:
            assert part in str(error), f"{text}: {error}"
        else:
            raise AssertionError(f"accepted: {text}")
    assert client.query("EXPORT DATABASE CONFIGURATION") == before
    client.query("BEGIN")
    try:
        client.query("CREATE BROADCAST TABLE RULE t_other")
        raise AssertionError("accepted inside a transaction")
    except house.ERRORS as error:
        assert "transaction" in str(error), error
    client.query("ROLLBACK")


def prepared(family, pando):
    """As drivers with server-side statements send it, and as people type it."""
    if family == "pg":
        line = ["psql", "-X", "-At", "-h", "127.0.0.1", "-p", str(pando.postgres), "-U", "root", "shop"]
        environment = {"PGPASSWORD": "root"}
        text = "SHOW BROADCAST TABLE RULES \\bind \\g\n" if psql_binds() else "SHOW BROADCAST TABLE RULES;\n"
    else:
        line = ["mariadb", "--no-defaults", "--skip-ssl", "-N", "-h", "127.0.0.1", "-P", str(pando.mysql), "-u", "root", "-proot", "shop"]
        environment = {}
        text = "PREPARE s FROM 'SHOW BROADCAST TABLE RULES'; EXECUTE s;\n"
    done = subprocess.run(line, input=text, capture_output=True, text=True, timeout=30, env={**os.environ, **environment})
    assert done.stdout == "t_dict\n", done.stdout + done.stderr


def psql_binds():
    version = subprocess.run(["psql", "--version"], capture_output=True, text=True).stdout
    return int(version.split()[2].split(".")[0]) >= 16
