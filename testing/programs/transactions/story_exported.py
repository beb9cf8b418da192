"""Snapshots that PostgreSQL's sessions pass on: over one storage unit as by one server, and by pg_dump's workers; refused where there are several."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from plain.house import GLOBAL, Pando, case, sharded, sources
from shop import each, refused

READ = "set transaction isolation level repeatable read, read only"


def exported_snapshots(family, pando):
    client = pando.client(family, "shop")
    with case("pg-a-snapshot-of-several-units-is-not-passed-on"):
        client.query("begin")
        client.query(READ)
        for text in ("select pg_export_snapshot()", "set transaction snapshot '00000003-0000001B-1'"):
            assert "storage unit" in str(refused(client, text)), text
            client.query("rollback")
            client.query("begin")
        client.query("rollback")
    # Its parts stand otherwise over one unit.
    client.query("drop table t")
    client.close()
    rules = sharded(["t"], databases=1)
    single = Pando({"global.yaml": GLOBAL, "database-shop.yaml": f"databaseName: shop\n{sources(family, units=1)}{rules}"})
    try:
        over_one(family, single)
    finally:
        single.kill()


def over_one(family, pando):
    owner, other, writer = (pando.client(family, "shop") for _ in range(3))
    rows = lambda client: int(client.value("select count(*) from t"))
    writer.query("create table t (id bigint primary key, n int)")
    before = rows(writer)
    with case("pg-a-snapshot-of-one-unit-is-passed-on"):
        owner.query("begin")
        owner.query(READ)
        name = owner.value("select pg_catalog.pg_export_snapshot()")
        writer.query("insert into t (id, n) values (1001, 1), (1002, 1), (1003, 1), (1004, 1)")
        other.query("begin")
        other.query(READ)
        other.query(f"set transaction snapshot '{name}'")
        assert rows(other) == rows(owner) == before, (rows(other), rows(owner), before)
        assert rows(writer) == before + 4
        for client in (owner, other):
            client.query("commit")
        assert rows(other) == before + 4
    with case("pg-a-snapshot-that-is-none-is-the-servers-to-refuse"):
        for begin, text, words in (
            (["begin", READ], "set transaction snapshot 'nonsense'", "invalid snapshot identifier"),
            (["begin"], f"set transaction snapshot '{name}'", "must have isolation level"),
            ([], f"set transaction snapshot '{name}'", "must have isolation level"),
            (["begin", READ, "select count(*) from t"], f"set transaction snapshot '{name}'", "before any query"),
        ):
            for step in begin:
                other.query(step)
            assert words in str(refused(other, text)), (begin, text)
            other.query("rollback")
    if shutil.which("pg_dump"):
        with case("pg-a-dump-by-two-at-once"), tempfile.TemporaryDirectory() as folder:
            to = pathlib.Path(folder) / "dump"
            words = ["pg_dump", "-h", "127.0.0.1", "-p", str(pando.port(family)), "-U", "test", "-j", "2", "-F", "d", "-f", str(to), "shop"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, env={**os.environ, "PGPASSWORD": "test"})
            assert done.returncode == 0, done.stderr
            listed = subprocess.run(["pg_restore", "-f", "-", str(to)], capture_output=True, text=True, timeout=60)
            assert f"COPY public.t (" in listed.stdout and "\n1004\t1\n" in listed.stdout, listed.stdout
    writer.query("drop table t")
    for client in (owner, other, writer):
        client.close()


def main():
    each(["pg"], exported_snapshots)
