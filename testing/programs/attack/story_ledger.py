"""The ledgers of transactions are nobody's but Pando's: whoever tries to reach them is refused, they are still there, transactions over several units go on
committing and rolling back, and nobody sees them: dumps end well, and lists leave them out."""
import os
import re
import shutil
import subprocess

from plain.house import ERRORS, GLOBAL, Pando, case, check, direct, has, reset, sharded, skip, sources

HINT = "/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds_0 */ "
USERS = GLOBAL.replace("  privilege:", "    - user: app@%\n      password: app\n  privilege:")

# Every attempt is an error of rights, for an administrator of Pando as for anybody.
POSTGRES = [
    "drop schema pando cascade",
    'drop schema if exists "pando" cascade',
    'drop schema U&"p\\0061ndo" cascade',
    "alter schema pando rename to mine",
    "grant all on schema pando to public",
    "grant all on all tables in schema pando to public",
    "comment on schema pando is 'x'",
    "drop table pando.decision",
    "truncate pando.unit",
    "alter table pando.unit add column x int",
    "alter table pando.unit set schema public",
    "select * from pando.unit",
    'select * from "pando" . "unit"',
    "insert into pando.decision values ('x', 'abort')",
    "update pando.unit set identity = 'x'",
    "delete from pando.decision",
    "lock table pando.decision",
    "vacuum pando.unit",
    "copy pando.unit to stdout",
    "copy (table pando.unit) to stdout",
    "create table mine (like pando.unit)",
    "create table mine as table pando.unit",
    "create table mine () inherits (pando.unit)",
    "create view mine as select * from pando.unit",
    "create rule mine as on insert to pando.unit do instead nothing",
    "create trigger mine before insert on pando.decision for each row execute function f()",
    "create publication mine for tables in schema pando",
    "set search_path = pando",
    "select set_config('search_path', 'pando', false)",
    "declare c cursor with hold for select * from pando.unit",
    "prepare p as select * from pando.unit",
    "explain analyze delete from pando.decision",
    "do $$ begin drop schema pando cascade; end $$",
    "do $$ begin execute 'drop schema pando cascade'; end $$",
    "create function mine() returns int language sql as 'delete from pando.decision; select 1'",
    "drop owned by current_user",
    "reassign owned by current_user to public",
    "select query_to_xml('select * from pando.unit', true, false, '')",
    "select table_to_xml('pando.unit', true, false, '')",
    "update pg_class set relname = 'x' where relname = 'unit'",
    "select 1; drop schema pando cascade",
]
MYSQL = [
    "drop table pando_unit",
    "drop table if exists `PANDO_UNIT`, pando_decision",
    "truncate pando_decision",
    "alter table pando_unit add column x int",
    "rename table pando_unit to mine",
    "select * from pando_unit",
    "select * from shop.`pando_unit`",
    "insert into pando_decision values ('x', 'abort', now())",
    "update pando_unit set identity = 'x'",
    "delete from pando_decision",
    "lock tables pando_decision write",
    "create table mine like pando_unit",
    "create table mine select * from pando_unit",
    "create view mine as select * from pando_unit",
    "create trigger mine before insert on pando_decision for each row set new.verdict = 'abort'",
    "create procedure mine() delete from pando_decision",
    "create procedure mine() begin prepare s from 'drop table pando_unit'; execute s; end",
    "prepare s from 'drop table pando_unit'",
    "show create table pando_unit",
    "describe pando_unit",
    "explain select * from pando_unit",
    "analyze table pando_unit",
    "flush tables pando_unit",
    "grant select on pando_unit to x",
]


def transact(client, kind, first):
    """One that commits and one that is rolled back, over both units."""
    client.query(f"set variable transaction_type = {kind}")
    for n, end in ((first, "commit"), (first + 2, "rollback")):
        client.query("begin")
        client.query(f"insert into t values ({n}, 'a'), ({n + 1}, 'b')")
        client.query(end)
    found = str(client.query(f"select count(*) from t where id >= {first} and id < {first + 4}"))
    assert "2" in found and "4" not in found, f"{kind} leaves {found}"


def ledgers(family):
    """How many tables of the ledgers are on the units."""
    query = ("select count(*) from information_schema.tables where table_schema = 'pando'" if family == "pg" else
             "select count(*) from information_schema.tables where table_schema = database() and table_name like 'pando\\_%'")
    return [str(direct(family, n).query(query)) for n in range(2)]


def refused(client, text):
    try:
        got = client.query(text)
    except ERRORS as error:
        return str(error.state) == "42501" or error.code in (1044, 1142), str(error)
    return False, f"answers {got}"


def attempts(family, pando):
    texts = POSTGRES if family == "pg" else MYSQL
    before = ledgers(family)
    for user in ("test", "app"):
        wrong = []
        for text in texts:
            for way in (text, HINT + text):
                client = pando.client(family, "shop", user=user, password=user)
                holds, told = refused(client, way)
                client.close()
                if not holds:
                    wrong.append(f"{way}: {told}")
        check(f"{family}-{user}-refused", not wrong, f"{len(wrong)} of {2 * len(texts)}:\n" + "\n".join(wrong), f"{2 * len(texts)} attempts")
    check(f"{family}-still-there", ledgers(family) == before, f"{before} became {ledgers(family)}")


def dump(family, pando):
    tool = "pg_dump" if family == "pg" else "mariadb-dump"
    if not shutil.which(tool):
        return skip(f"{family}-dump", f"no {tool}")
    if family == "pg":
        command = [tool, "-h", "127.0.0.1", "-p", str(pando.postgres), "-U", "test", "-d", "shop"]
    else:
        command = [tool, "--no-defaults", "--skip-ssl", "-h", "127.0.0.1", "-P", str(pando.mysql), "-u", "test", "-ptest",
                   "--single-transaction", "--routines", "--triggers", "--events", "shop"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "PGPASSWORD": "test"})
    told = done.stdout.lower()
    named = [line for line in told.splitlines() if re.search(r"pando[_.]|schema pando", line)]
    check(f"{family}-dump", done.returncode == 0 and not named and "create table" in told,
          f"ends with {done.returncode}: {done.stderr[-600:]}\n" + "\n".join(named)[:600])


def lists(family, pando):
    questions = ["select nspname from pg_namespace", "select relname from pg_class", "select schemaname, tablename from pg_tables",
                 "select attname, attrelid::regclass::text from pg_attribute", "select schema_name from information_schema.schemata",
                 "select table_schema, table_name from information_schema.tables", "select table_schema, column_name from information_schema.columns",
                 "select schemaname, indexname from pg_indexes", "select conrelid::regclass::text from pg_constraint",
                 "select indexrelid::regclass::text from pg_index", "select schemaname, relname from pg_stat_user_tables",
                 "select typname, typnamespace::regnamespace::text from pg_type"] if family == "pg" else [
                 "show tables", "show full tables", "show table status", "select table_name from information_schema.tables",
                 "select table_name, column_name from information_schema.columns", "select table_name from information_schema.statistics",
                 "select table_name from information_schema.key_column_usage", "select table_name from information_schema.table_constraints"]
    for number, question in enumerate(questions):
        with case(f"{family}-unseen-{number}", question):
            told = str(pando.client(family, "shop").query(question))
            assert "pando" not in told, f"{question} tells of a ledger"
    if family == "pg" and shutil.which("psql"):
        for command in ("\\dt *.*", "\\dn", "\\di *.*"):
            done = subprocess.run(["psql", "-X", "-h", "127.0.0.1", "-p", str(pando.postgres), "-U", "test", "-d", "shop", "-c", command],
                                  capture_output=True, text=True, timeout=60, env={**os.environ, "PGPASSWORD": "test"})
            check(f"pg-psql-{command[1:3]}", done.returncode == 0 and "pando" not in done.stdout,
                  f"{command} ends with {done.returncode}: {done.stderr[-300:]} " + "\n".join(x for x in done.stdout.splitlines() if "pando" in x)[:600])


def family(name):
    reset(name)
    # The sharded table `t`, and a single one beside it.
    pando = Pando({"global.yaml": USERS, "database-shop.yaml": "databaseName: shop\n" + sources(name) + sharded(["t"])})
    client = pando.client(name, "shop")
    client.query("create table t (id bigint primary key, v varchar(20))")
    with case(f"{name}-first"):
        transact(client, "XA", 10)
        transact(client, "BASE", 20)
    dump(name, pando)
    lists(name, pando)
    attempts(name, pando)
    with case(f"{name}-afterwards"):
        transact(client, "XA", 30)
        transact(client, "BASE", 40)
    pando.stop(f"{name}-stop")


def main():
    for name in ("pg", "mariadb", "mysql"):
        if not has(name):
            skip(f"ledger-{name}", "no server")
            continue
        with case(f"ledger-{name}", quiet=True):
            family(name)
