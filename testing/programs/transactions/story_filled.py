"""Bulk data that leaves out a counted or made key: each line gets one, and the counter goes on behind what lines bring."""
import subprocess
import tempfile

from plain.house import GLOBAL, case, has, sources
from shop import alone

RULES = """rules:
- !SHARDING
  tables:
    counted: {actualDataNodes: "ds_${0..1}.counted_${0..1}", databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: units}}, tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: counted}}}
    beside: {actualDataNodes: "ds_${0..1}.beside_${0..1}", databaseStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: units_by_k}}, tableStrategy: {standard: {shardingColumn: k, shardingAlgorithmName: beside}}}
    made: {actualDataNodes: "ds_${0..1}.made_${0..1}", databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: units}}, tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: made}}, keyGenerateStrategy: {column: id, keyGeneratorName: snow}}
  shardingAlgorithms:
    units: {type: INLINE, props: {algorithm-expression: "ds_${id % 2}"}}
    units_by_k: {type: INLINE, props: {algorithm-expression: "ds_${k % 2}"}}
    counted: {type: INLINE, props: {algorithm-expression: "counted_${id.intdiv(2) % 2}"}}
    beside: {type: INLINE, props: {algorithm-expression: "beside_${k.intdiv(2) % 2}"}}
    made: {type: INLINE, props: {algorithm-expression: "made_${id.intdiv(2) % 2}"}}
  keyGenerators: {snow: {type: SNOWFLAKE}}
"""
TABLES = {
    "mariadb": ("id bigint auto_increment primary key, v varchar(20)", "k int not null, id bigint not null auto_increment, key (id)", "id bigint primary key, v varchar(20)"),
    "pg": ("id bigserial primary key, v text", "k int, id serial", "id bigint primary key, v text"),
}


class Loader:
    """The family's own client, which sends a file."""

    def __init__(self, family, pando):
        self.family, self.port = family, pando.port(family)

    def load(self, table, columns, data, form=""):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            if self.family == "pg":
                text = f"\\copy {table} {columns} from '{file.name}' {form}"
                command = ["psql", "-X", "-q", f"postgresql://test:test@127.0.0.1:{self.port}/shop", "-c", text]
            else:
                text = f"load data local infile '{file.name}' into table {table} {form} {columns}; select last_insert_id()"
                command = ["mariadb", "--no-defaults", "-N", "-h127.0.0.1", f"-P{self.port}", "-utest", "-ptest", "--skip-ssl", "--local-infile=1", "shop", "-e", text]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.stdout.strip() if done.returncode == 0 else done.stderr


def told(family, client, loader):
    with case(f"{family}-lines-are-counted"):
        said = loader.load("counted", "(v)", b"a\nb\nc\nd\n")
        assert said == ("1" if family == "mariadb" else ""), said
        rows = client.query("SELECT id, v FROM counted ORDER BY id")
        assert [(int(id), v) for id, v in rows] == [(1, "a"), (2, "b"), (3, "c"), (4, "d")], rows
    with case(f"{family}-lines-are-counted-beside-the-key"):
        loader.load("beside", "(k)", b"1\n2\n3\n7")
        rows = client.query("SELECT k, id FROM beside ORDER BY id")
        assert [int(k) for k, _ in rows] == [1, 2, 3, 7] and len({id for _, id in rows}) == 4, rows
    with case(f"{family}-lines-in-quotes-are-counted"):
        form = "with (format csv, header)" if family == "pg" else "fields terminated by ',' enclosed by '\"' ignore 1 lines"
        said = loader.load("counted", "(v)", b"v\n\"x,1\"\ny\n", form)
        assert "ERROR" not in said, said
        assert {"x,1", "y"} <= {v for _, v in client.query("SELECT id, v FROM counted")}
    with case(f"{family}-keys-are-made-for-lines"):
        said = loader.load("made", "(v)", b"a\nb\nc\n")
        assert said in ("", "0"), said
        rows = client.query("SELECT id, v FROM made ORDER BY id")
        assert [v for _, v in rows] == ["a", "b", "c"] and all(int(id) > 1 << 40 for id, _ in rows), rows
        for id, v in rows:
            assert client.query(f"SELECT v FROM made WHERE id = {id}") == [[v]]


def brought(client, loader):
    with case("a-counter-goes-on-behind-what-lines-bring"):
        loader.load("beside", "(k, id)", b"1\t500\n2\t400\n3\t300\n")
        client.query("INSERT INTO beside (k) VALUES (4)")
        assert client.value("SELECT MAX(id) FROM beside") == "501"
    with case("lines-that-leave-a-number-to-a-shard-are-refused"):
        for data in (b"1\t\\N\n", b"1\t0\n", b"1\tabc\n"):
            said = loader.load("beside", "(k, id)", data)
            assert "30001" in said, said
        assert client.value("SELECT COUNT(*) FROM beside") == "8"


def binary(client, loader):
    with case("tuples-are-counted"):
        data = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0" + b"".join(b"\0\1\0\0\0\4" + n.to_bytes(4, "big") for n in (21, 22, 23)) + b"\xff\xff"
        said = loader.load("beside", "(k)", data, "with (format binary)")
        assert said == "", said
        rows = client.query("SELECT k, id FROM beside WHERE k > 20 ORDER BY id")
        assert [int(k) for k, _ in rows] == [21, 22, 23], rows


def main():
    for family, columns in TABLES.items():
        if not has(family):
            continue
        pando = alone(family, {"global.yaml": GLOBAL, "database-shop.yaml": "databaseName: shop\n" + sources(family) + RULES})
        client = pando.client(family, "shop")
        for table, own in zip(("counted", "beside", "made"), columns):
            client.query(f"CREATE TABLE {table} ({own})")
        loader = Loader(family, pando)
        told(family, client, loader)
        if family == "pg":
            binary(client, loader)
        else:
            brought(client, loader)
        pando.stop(f"filled-stop-{family}")
