"""A user of one logical database, and what he could reach past it on real servers: another database of the same server that the units' user may read
(MySQL, MariaDB), another schema of the same database (PostgreSQL), the vendor's own secrets, files and programs. Every statement × every way in; what is
not his never shows and never changes. The same statements with a table of his own do their work."""
import struct

from plain.house import ERRORS, GLOBAL, Pando, case, check, direct, has, reset, skip, url

SECRET = "secret-of-hr-4711"
HINT = "/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds_0 */ "
USERS = GLOBAL.replace("  privilege:\n    type: ALL_PERMITTED", "    - user: ann@%\n      password: ann\n  privilege:\n    type: DATABASE_PERMITTED\n"
                       "    props: {user-database-mappings: \"test@%=*, ann@%=shop\"}")

# `{t}` is a table; a statement that reads shows its column `v`.
READS = [
    "select v from {t}",
    "select x.v from {t} x",
    "select (select max(v) from {t})",
    "select o.id, (select max(v) from {t}) from own o",
    "with c as (select v from {t}) select v from c",
    "select 'a' union all select v from {t}",
    "select d.v from (select v from {t}) d",
    "select v from own where id = 0 or exists (select 1 from {t} where v like 'secret%')",
    "select x.v from own o join {t} x on o.id = x.id",
]
CHANGES = [
    "insert into {t} values (9, 'changed')",
    "insert into own select id + 10, v from {t}",
    "insert into own values (19, (select max(v) from {t}))",
    "update {t} set v = 'changed' where id = 1",
    "update own set v = (select max(v) from {t}) where id = 2",
    "delete from {t} where id = 1",
    "truncate table {t}",
    "create table mine as select v from {t}",
    "create view mine_v as select v from {t}",
    "drop table {t}",
]
OF = {
    "pg": {
        "names": ["hr.items", '"hr"."items"', "hr . items", "hr/**/.items", 'U&"h\\0072".items'],
        "reads": READS + ["table {t}", "copy {t} to stdout", "copy (select v from {t}) to stdout", "select string_agg(v, ',') from only {t}",
                          "declare c cursor with hold for select v from {t}; fetch all c", "prepare p as select v from {t}; execute p",
                          "select query_to_xml('select v from {t}', true, false, '')",
                          "create or replace function f1() returns text language sql as 'select max(v) from {t}'; select f1()",
                          "create or replace function f2() returns text language plpgsql as $$ begin return (select max(v) from {t}); end $$; select f2()",
                          "set search_path = hr; select v from items", "select set_config('search_path', 'hr', false); select v from items"],
        "changes": CHANGES + ["copy {t} from stdin", "lock table {t}", "do $$ begin delete from {t}; end $$", "alter table {t} add column c int",
                              "create rule r as on insert to own do also delete from {t}", "drop schema hr cascade", "create sequence hr.s",
                              "grant all on {t} to public", "comment on table {t} is 'x'"],
        "never": ["select rolname, rolpassword from pg_authid", "select * from pg_shadow", "select pg_read_file('PG_VERSION')", "select pg_ls_dir('.')",
                  "copy own to program 'cat'", "copy own from '/etc/passwd'", "create extension dblink", "create extension postgres_fdw",
                  "create role r login", "alter system set work_mem = '1MB'", "do $$ begin execute 'drop table ' || 'own'; end $$"],
    },
    "mariadb": {
        "names": ["hr.items", "`hr`.`items`", "hr . items", "hr./**/items"],
        "reads": READS + ["describe {t}", "show columns from {t}", "explain select v from {t}", "prepare s from 'select v from {t}'; execute s"],
        "changes": CHANGES + ["replace into {t} values (1, 'changed')", "alter table {t} add column c int", "rename table {t} to mine2",
                              "create trigger tr before insert on own for each row insert into {t} values (9, 'changed')",
                              "create procedure p() delete from {t}", "create event e on schedule every 1 second do delete from {t}",
                              "create table mine3 like {t}", "lock tables {t} write", "create sequence hr.s", "drop database hr",
                              "grant all on {t} to test", "delete o from own o, {t} x"],
        "never": ["select user, authentication_string from mysql.user", "select * from mysql.db", "select load_file('/etc/passwd')",
                  "select 1 into outfile '/tmp/pando-guard'", "load data infile '/etc/passwd' into table own", "set global max_connections = 5",
                  "create user u", "grant all on *.* to u", "install plugin p soname 'x.so'", "shutdown", "use hr", "use mysql; select user from user",
                  "show binlog events", "select * from performance_schema.events_statements_history"],
    },
}
OF["mysql"] = OF["mariadb"]


def prepared(family, client, text):
    """By the protocol's own prepared statements."""
    if family != "pg":
        statement, _ = client.prepare(text)
        client.command(0x17, struct.pack("<IBI", statement, 0, 1))
        if client.head() is None:
            return []
        packets = []
        while not client.ends(packet := client.packet()):
            packets.append(packet.decode(errors="replace"))
        return packets
    parse = b"\0" + text.encode() + b"\0" + struct.pack(">h", 0)
    for tag, body in ((b"P", parse), (b"B", b"\0\0" + struct.pack(">hhh", 0, 0, 0)), (b"D", b"P\0"), (b"E", b"\0" + struct.pack(">i", 0)), (b"S", b"")):
        client.raw(tag + struct.pack(">i", len(body) + 4) + body)
    return client.rows()


def both(family, client, text):
    """Two statements in one text; what the second says counts."""
    rows = client.query("select 1; " + text)
    if family != "pg":
        columns = client.head()
        rows = [] if columns is None else list(client.rows(columns))
    return rows


def ways(family, text):
    single = ";" not in text.split("$$")[0]
    if not single and family != "pg":
        first, second = text.split("; ")
        yield "two", lambda client: (client.query(first), client.query(second))
        return
    yield "text", lambda client: client.query(text)
    if not single:
        return
    yield "hint", lambda client: client.query(HINT + text)
    yield "second", lambda client: both(family, client, text)
    yield "prepared", lambda client: prepared(family, client, text)
    yield "prepared hint", lambda client: prepared(family, client, HINT + text)
    if family == "pg" and text.startswith(("select", "with", "insert", "update", "delete")):
        yield "cursor", lambda client: client.query(f"begin; declare c cursor for {text}; fetch all from c")
        yield "explained", lambda client: client.query("explain analyze " + text)


def setting(family):
    """Two logical databases whose tables the same user of a server can reach."""
    if family == "pg":
        reset(family, ("ds_0",))
        one = direct(family, 0, "ds_0")
        for schema in ("shop", "hr"):
            one.query(f"create schema {schema}")
        tables, parts = ("shop.own", "hr.items"), (url(family, 0, "ds_0", "currentSchema=shop"), url(family, 0, "ds_0", "currentSchema=hr"))
    else:
        # Both on the first server, whatever `reset` does with a second one.
        one = direct(family, 0, "test")
        for name in ("shop_0", "hr"):
            one.query(f"drop database if exists {name}")
            one.query(f"create database {name}")
        tables, parts = ("shop_0.own", "hr.items"), (url(family, 0, "shop_0"), url(family, 0, "hr"))
    one.query(f"create table {tables[0]} (id int primary key, v varchar(40))")
    one.query(f"create table {tables[1]} (id int primary key, v varchar(40))")
    one.query(f"insert into {tables[0]} values (1, 'mine'), (2, 'too')")
    one.query(f"insert into {tables[1]} values (1, '{SECRET}')")
    files = {"global.yaml": USERS}
    for name, place in zip(("shop", "hr"), parts):
        files[f"database-{name}.yaml"] = (f"databaseName: {name}\ndataSources:\n  ds_0:\n    url: \"{place}\"\n    username: test\n    password: test\n"
                                          "rules:\n- !SINGLE\n  tables: [\"*.*\"]\n" if family != "pg" else
                                          f"databaseName: {name}\ndataSources:\n  ds_0:\n    url: \"{place}\"\n    username: test\n    password: test\n"
                                          "rules:\n- !SINGLE\n  tables: [\"*.*.*\"]\n")
    return Pando(files), one


def attempt(family, pando, run):
    """What the client is told, as one text."""
    client = pando.client(family, "shop", user="ann", password="ann")
    try:
        return str(run(client)), None
    except ERRORS as error:
        return str(error), error
    finally:
        client.close()


def story(family):
    own, (pando, one) = OF[family], setting(family)
    there = "select id, v from hr.items order by id"
    before = str(one.query(there))
    shown, changed, count = [], [], 0
    for template in own["reads"] + own["changes"]:
        names = own["names"] if template in READS[:2] else own["names"][:2]
        for text in {template.replace("{t}", name) for name in names}:
            for way, run in ways(family, text):
                count += 1
                told, error = attempt(family, pando, run)
                if SECRET in told:
                    shown.append(f"{way}: {text}: {told[:200]}")
                elif error is None and "copy" not in text:
                    changed.append(f"{way}: {text} is answered {told[:200]}")
                if template not in own["reads"]:
                    try:
                        now = str(one.query(there))
                    except ERRORS as gone:
                        now = str(gone)
                    if now != before:
                        changed.append(f"{way}: {text}: {before} became {now}")
                        return check(f"{family}-unchanged", False, "\n".join(changed))
    check(f"{family}-unseen", not shown, "\n".join(shown), f"{count} attempts")
    check(f"{family}-unchanged", not changed, f"{len(changed)}:\n" + "\n".join(changed[:40]))
    let = []
    for text in own["never"]:
        for way, run in list(ways(family, text))[:3]:
            told, error = attempt(family, pando, run)
            if error is None:
                let.append(f"{way}: {text}: {told[:200]}")
    check(f"{family}-servers", not let, "\n".join(let))
    # The control group: the same statements with a table of one's own.
    refused = []
    for template in READS + CHANGES[:6]:
        told, error = attempt(family, pando, lambda client: client.query(template.replace("{t}", "own")))
        # MySQL reads no table that it changes (1093), and rows are there from one statement to the next.
        if error is not None and "duplicate" not in told.lower() and error.code != 1093:
            refused.append(f"{template}: {told[:200]}")
    check(f"{family}-own", not refused, "\n".join(refused), f"{len(READS) + 6} statements")
    pando.stop(f"{family}-stop")


def main():
    for family in ("pg", "mariadb", "mysql"):
        if not has(family):
            skip(f"guard-{family}", "no server")
            continue
        with case(f"guard-{family}", quiet=True):
            story(family)
