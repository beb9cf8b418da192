"""Definitions after which a row would be looked for where it is not: its sharding column gets another type, is computed, counted or stamped by the server, follows another
table's rows, or goes with its type. They are refused, whichever statement says it; what keeps all values goes through. Whatever was said, every row is found by its key."""
from plain.house import ERRORS, GLOBAL, Pando, case, has, reset, skip, sources

MANY = 24
# By the table's name: its algorithm, and for each family its key's type; the key of a row.
TABLES = {
    "whole": ("counted", {"pg": "bigint", "mariadb": "bigint"}, str),
    "small": ("counted", {"pg": "int", "mariadb": "int"}, str),
    "texts": ("hashed", {"pg": "varchar(20)", "mariadb": "varchar(20) collate utf8mb4_bin"}, lambda n: f"k{n}"),
    "hosts": ("groovy", {"pg": "int", "mariadb": "int"}, str),
    "exact": ("hashed", {"pg": "numeric(10,2)", "mariadb": "numeric(10,2)"}, lambda n: f"{n}.25"),
    "moments": ("months", {"pg": "timestamp", "mariadb": "datetime"}, lambda n: f"2026-{n % 12 + 1:02}-01 00:00:00"),
    "moods": ("hashed", {"pg": "mood", "mariadb": "enum('a','b','c') collate utf8mb4_bin"}, lambda n: "abc"[n % 3]),
    "parent": ("counted", {"pg": "int primary key", "mariadb": "int primary key"}, str),
    "child": ("counted", {"pg": "int", "mariadb": "int"}, str),
}
RULES = """rules:
- !SHARDING
  tables:
%s  bindingTables: ["parent,child"]
  shardingAlgorithms:
    hashed: {type: HASH_MOD, props: {sharding-count: 4}}
    groovy: {type: HASH_MOD, props: {sharding-count: 4, compatibility: shardingsphere}}
    counted: {type: MOD, props: {sharding-count: 4}}
    months:
      type: INTERVAL
      props:
        datetime-pattern: "yyyy-MM-dd HH:mm:ss"
        datetime-lower: "2026-01-01 00:00:00"
        datetime-upper: "2026-12-31 23:59:59"
        sharding-suffix-pattern: "yyyyMM"
        datetime-interval-amount: 1
        datetime-interval-unit: "MONTHS"
- !BROADCAST
  tables: [up]
- !SINGLE
  tables: ["*.*"]
"""
OTHER, STAMP = "not every value", "ON UPDATE"
# A statement, and what its refusal says; none where it is to go through.
SAID = {
    "pg": (
        ("ALTER TABLE small ALTER COLUMN k TYPE bigint", None),
        ("ALTER TABLE small ALTER k TYPE bigint USING k::bigint, ADD note text", None),
        ("ALTER TABLE texts ALTER k SET DATA TYPE varchar(40)", None),
        ("ALTER TABLE texts ALTER k TYPE text", None),
        ("ALTER TABLE exact ALTER k TYPE numeric(12,3)", None),
        ("ALTER TABLE whole ALTER k SET DEFAULT 5, ALTER v TYPE bigint USING v + 0", None),
        ("ALTER TABLE hosts ALTER COLUMN k TYPE text", OTHER),
        ("ALTER TABLE hosts ADD other int, ALTER \"k\" SET DATA TYPE text", OTHER),
        ("ALTER TABLE ONLY small ALTER COLUMN k TYPE bigint USING k + 1", "USING"),
        ("ALTER TABLE small ALTER COLUMN k TYPE int", OTHER),
        ("ALTER TABLE texts ALTER k TYPE varchar(2) USING left(k, 2)", "USING"),
        ("ALTER TABLE texts ALTER k TYPE text COLLATE \"C\"", "a collation of its own"),
        ("ALTER TABLE exact ALTER k TYPE numeric(10,1)", OTHER),
        ("ALTER TABLE moments ALTER k TYPE date", OTHER),
        ("ALTER TYPE mood RENAME VALUE 'a' TO 'z'", "moods"),
        ("ALTER TYPE mood ADD VALUE 'd'", None),
        ("DROP TYPE mood CASCADE", "moods"),
        ("DROP SCHEMA kept CASCADE", "moods"),
        ("ALTER TABLE small ADD FOREIGN KEY (k) REFERENCES up (k) ON UPDATE CASCADE", STAMP),
        ("ALTER TABLE small ADD CONSTRAINT f FOREIGN KEY (v, k) REFERENCES up (v, k) ON DELETE SET NULL", "ON DELETE SET NULL"),
        ("ALTER TABLE small ADD CONSTRAINT f FOREIGN KEY (k) REFERENCES up (k) ON DELETE CASCADE", None),
        ("ALTER TABLE child ADD FOREIGN KEY (k) REFERENCES parent (k) ON UPDATE CASCADE", None),
        ("CREATE TABLE computed (v int, k int GENERATED ALWAYS AS (v + 1) STORED)", "computed"),
        ("CREATE TABLE computed (k int REFERENCES up (k) ON UPDATE CASCADE, v int)", STAMP),
    ),
    "mariadb": (
        ("ALTER TABLE small MODIFY k bigint not null", None),
        ("ALTER TABLE small CHANGE COLUMN IF EXISTS k k bigint not null comment 'as', ADD note text", None),
        ("ALTER TABLE texts MODIFY k varchar(40) collate utf8mb4_bin", None),
        ("ALTER TABLE exact MODIFY COLUMN k numeric(12,3) FIRST", None),
        ("ALTER TABLE moods MODIFY k enum('a','b','c') collate utf8mb4_bin not null", None),
        ("ALTER TABLE whole ALTER k SET DEFAULT 5, MODIFY v varchar(20)", None),
        ("ALTER TABLE whole MODIFY k bigint not null auto_increment, add key (k)", "number"),
        ("ALTER TABLE small MODIFY k smallint not null", OTHER),
        ("ALTER TABLE small MODIFY k bigint GENERATED ALWAYS AS (v + 1) STORED", "computed"),
        ("ALTER TABLE hosts ADD other int, MODIFY k varchar(10)", OTHER),
        ("ALTER TABLE hosts CHANGE k k varchar(10)", OTHER),
        ("ALTER TABLE hosts CHANGE COLUMN IF EXISTS k other int", "renamed"),
        ("ALTER TABLE hosts RENAME COLUMN IF EXISTS k TO other", "renamed"),
        ("ALTER TABLE texts MODIFY k varchar(40)", "COLLATE utf8mb4_bin"),
        ("ALTER TABLE texts CONVERT TO CHARACTER SET latin1", "COLLATE utf8mb4_bin"),
        ("ALTER TABLE texts MODIFY k varbinary(80)", OTHER),
        ("ALTER TABLE exact MODIFY k numeric(10,1)", OTHER),
        ("ALTER TABLE moments MODIFY k date", OTHER),
        ("ALTER TABLE moments MODIFY k timestamp", OTHER),
        ("ALTER TABLE moments MODIFY k datetime not null default current_timestamp on update current_timestamp", STAMP),
        ("ALTER TABLE moods MODIFY k enum('b','a','c','A') collate utf8mb4_bin", OTHER),
        ("ALTER TABLE small ADD FOREIGN KEY (k) REFERENCES up (k) ON UPDATE CASCADE", STAMP),
        ("CREATE TABLE computed (k datetime on update now(), v int)", STAMP),
        ("CREATE TABLE computed (v int, k int AS (v + 1) STORED)", "computed"),
    ),
}


def rules():
    text = ""
    for name, (algorithm, _, _) in {**TABLES, "computed": ("counted", {}, str)}.items():
        nodes = f"ds_0.{name}_${{0..1}},ds_1.{name}_${{2..3}}"
        if algorithm == "months":
            nodes = f"ds_0.{name}_20260${{1..6}},ds_1.{name}_20260${{7..9}},ds_1.{name}_2026${{10..12}}"
        text += (f"    {name}:\n      actualDataNodes: \"{nodes}\"\n"
                 f"      tableStrategy: {{standard: {{shardingColumn: k, shardingAlgorithmName: {algorithm}}}}}\n")
    return RULES % text


def fill(client, family):
    client.query("CREATE TABLE up (k int primary key, v int, unique (v, k))")
    client.query("INSERT INTO up VALUES " + ", ".join(f"({n}, {n})" for n in range(MANY)))
    if family == "pg":
        client.query("CREATE TYPE mood AS ENUM ('a', 'b', 'c')")
        client.query("CREATE SCHEMA kept")
    for name, (_, types, key) in TABLES.items():
        client.query(f"CREATE TABLE {name} (k {types[family]}, v int)")
        client.query(f"INSERT INTO {name} (k, v) VALUES " + ", ".join(f"('{key(n)}', {n})" for n in range(MANY)))


def found(client, name):
    """Every row is where its key leads."""
    key = TABLES[name][2]
    assert int(client.value(f"SELECT COUNT(*) FROM {name}")) == MANY
    for n in range(MANY):
        rows = client.query(f"SELECT v FROM {name} WHERE k = '{key(n)}'")
        assert str(n) in {row[0] for row in rows}, f"{name}: the row {n} is not found by `{key(n)}`"
    for number, value in client.query(f"SELECT v, k FROM {name}"):
        rows = client.query(f"SELECT v FROM {name} WHERE k = '{value}'")
        assert number in {row[0] for row in rows}, f"{name}: the row {number} is not found by `{value}`"


def told(client, text, expected):
    try:
        client.query(text)
    except ERRORS as error:
        assert expected is not None, f"{text}: {error}"
        assert expected in str(error), f"{text}: {error}"
    else:
        assert expected is None, f"{text}: it is accepted"


def main():
    for family in ("pg", "mariadb"):
        if not has(family):
            skip(f"keys-{family}", "no server")
            continue
        reset(family)
        pando = Pando({"global.yaml": GLOBAL, "database-shop.yaml": "databaseName: shop\n" + sources(family) + rules()})
        client = pando.client(family, "shop")
        fill(client, family)
        for text, expected in SAID[family]:
            with case(f"keys-{family}: {text}"):
                told(client, text, expected)
                for name in TABLES:
                    found(client, name)
        client.close()
        pando.stop(f"keys-{family}-stop")
