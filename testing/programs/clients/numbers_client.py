"""Numbers of types and tables: one for each, those of the catalogue that is shown, whichever storage unit answers. Straight to the units first, so that their own numbers
differ."""

import asyncio
import enum
import os

import asyncpg
import psycopg
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.enum import EnumInfo, register_enum

from cases import DATABASE, PORT, case, done, equal

LOGIN = dict(host="127.0.0.1", port=PORT, user="test", password="test", dbname=DATABASE)
UNITS = [dict(LOGIN, port=int(port), dbname=f"ds_{at}") for at, port in enumerate(os.environ["UNIT_PORTS"].split())]
for at, unit in enumerate(UNITS):
    with psycopg.connect(**unit, autocommit=True) as direct:
        for number in range(3 * at):
            direct.execute(f"create table taken_{number} (id int)")
            direct.execute(f"drop table taken_{number}")

db = psycopg.connect(**LOGIN, autocommit=True)
USERS = range(1, 5)


class Mood(enum.Enum):
    sad = "sad"
    ok = "ok"


def number_of(name):
    return db.execute("select oid from pg_type where typname = %s", [name]).fetchone()[0]


def one(query, parameters=None, binary=False):
    return db.execute(query, parameters, binary=binary).fetchone()[0]


@case
def create():
    db.execute("create type mood as enum ('sad', 'ok')")
    db.execute("create type pair as (a int, m mood)")
    db.execute("create domain level as int check (value > 0)")
    db.execute("create table t_order (order_id bigint primary key, user_id int not null, m mood, p pair, l level, ms mood[], ps pair[])")
    db.execute("create table t_dict (id int primary key, m mood)")
    db.execute("create table t_alone (id int primary key, m mood)")
    for user in USERS:
        db.execute(f"insert into t_order values ({user * 10 + user // 2}, {user}, 'ok', (1, 'sad'), 3, '{{ok,sad}}', array[row(2, 'ok')::pair])")
    db.execute("insert into t_dict values (1, 'ok')")


@case
def types_have_the_numbers_of_the_catalogue():
    wanted = [number_of(name) for name in ("mood", "pair", "_mood", "_pair")]
    for user in USERS:
        told = db.execute(f"select m, p, ms, ps from t_order where user_id = {user}").description
        equal([column.type_code for column in told], wanted)
    told = db.execute("select m, p, ms, ps from t_order order by order_id").description
    equal([column.type_code for column in told], wanted)
    equal(db.execute("select m from t_dict").description[0].type_code, wanted[0])


@case
def tables_have_the_numbers_of_the_catalogue():
    table = one("select 't_order'::regclass::oid")
    equal(one("select relname from pg_class where oid = %s", [table]), "t_order")
    attributes = {name: number for name, number in db.execute("select attname, attnum from pg_attribute where attrelid = %s", [table])}
    queries = [f"select user_id, l from t_order where user_id = {user}" for user in USERS]
    for query in queries + ["select user_id, l from t_order order by order_id", "update t_order set l = 3 where user_id = 3 returning user_id, l"]:
        result = db.execute(query).pgresult
        equal([result.ftable(0), result.ftablecol(1)], [table, attributes["l"]])
    dict_table = one("select 't_dict'::regclass::oid")
    for _ in range(4):
        equal(db.execute("select id from t_dict").pgresult.ftable(0), dict_table)


@case
def tables_made_with_other_columns_first():
    for at, unit in enumerate(UNITS):
        with psycopg.connect(**unit, autocommit=True) as direct:
            for number in (0, 1):
                direct.execute(f"drop table if exists t_log_{number}")
            first = "gone int, " if at == 1 else ""
            direct.execute(f"create table t_log_{at} ({first}id bigint primary key, line text)")
            if first:
                direct.execute(f"alter table t_log_{at} drop column gone")
            direct.execute(f"create table t_log_{1 - at} (id bigint primary key, line text)")
    again = psycopg.connect(**LOGIN, autocommit=True)
    again.execute("refresh table metadata")
    table = again.execute("select 't_log'::regclass::oid").fetchone()[0]
    for key in (2, 3):
        result = again.execute(f"select line from t_log where id = {key}").pgresult
        equal((result.ftable(0), result.ftablecol(0)), (table, 2))
    again.close()


@case
def a_registered_enum_and_composite():
    with psycopg.connect(**LOGIN, autocommit=True) as own:
        register_enum(EnumInfo.fetch(own, "mood"), own, Mood)
        register_composite(CompositeInfo.fetch(own, "pair"), own)
        for binary in (False, True):
            for user in USERS:
                row = own.execute("select m, ms, p, ps from t_order where user_id = %s", [user], binary=binary).fetchone()
                equal(row[:2], (Mood.ok, [Mood.ok, Mood.sad]))
                equal((row[2].a, row[2].m, row[3][0].m), (1, Mood.sad, Mood.ok))
                found = own.execute("select order_id from t_order where user_id = %s and m = %s and ms = %s", [user, Mood.ok, [Mood.ok, Mood.sad]], binary=binary)
                equal(len(found.fetchall()), 1)
            rows = own.execute("select ms from t_order order by order_id", binary=binary).fetchall()
            equal(rows, [([Mood.ok, Mood.sad],)] * len(USERS))


@case
def parameters_of_types_that_users_have_made():
    for user in USERS:
        with db.cursor(binary=True) as cursor:
            cursor.execute("update t_order set m = %t where user_id = %s", ["sad", user])
            equal(cursor.rowcount, 1)
    equal(one("select count(*) from t_order where m = 'sad'"), len(USERS))


@case
def asyncpg_reads_and_writes_them():
    async def all_of_it():
        login = dict(host="127.0.0.1", port=PORT, user="test", password="test", database=DATABASE)
        own = await asyncpg.connect(**login)
        for user in USERS:
            row = await own.fetchrow("select m, ms, p, ps, l from t_order where user_id = $1", user)
            equal((row["m"], row["ms"], tuple(row["p"]), row["l"]), ("sad", ["ok", "sad"], (1, "sad"), 3))
            equal([tuple(pair) for pair in row["ps"]], [(2, "ok")])
            await own.execute("update t_order set ms = $1, p = $2, ps = $3, m = $4 where user_id = $5", ["sad", "sad"], (7, "ok"), [(8, "sad")], "ok", user)
            row = await own.fetchrow("select m, ms, p, ps from t_order where user_id = $1", user)
            equal((row["m"], row["ms"], tuple(row["p"]), [tuple(pair) for pair in row["ps"]]), ("ok", ["sad", "sad"], (7, "ok"), [(8, "sad")]))
            row = await own.fetchrow("select t, row(m, 1) as r from t_order t where user_id = $1", user)
            equal((row["t"]["m"], row["r"][0]), ("ok", "ok"))
        rows = await own.fetch("select ms, p, ps from t_order order by order_id")
        equal([tuple(row["p"]) for row in rows], [(7, "ok")] * len(USERS))
        await own.close()

    asyncio.new_event_loop().run_until_complete(all_of_it())


@case
def what_a_transaction_has_made():
    with psycopg.connect(**LOGIN) as own:
        own.execute("create type flag as enum ('on', 'off')")
        own.execute("alter table t_order add column f flag default 'on'")
        flag = own.execute("select oid from pg_type where typname = 'flag'").fetchone()[0]
        for user in USERS:
            equal(own.execute(f"select f from t_order where user_id = {user}").description[0].type_code, flag)
        own.rollback()


@case
def values_of_them_travel():
    db.execute("insert into t_order (order_id, user_id, m, p, ms, ps) select order_id + 100, user_id + 1, m, p, ms, ps from t_order where order_id < 100")
    rows = db.execute("select m, p, ms, ps from t_order where order_id > 100").fetchall()
    equal(len(set(map(str, rows))), 1)
    equal(len(rows), len(USERS))
    joined = "select a.m, b.ms, count(*) over () from t_order a join t_order b on a.m = b.m and a.order_id <> b.order_id order by a.order_id, b.order_id limit 1"
    equal(db.execute(joined).fetchone()[0], "ok")


@case
def a_dump_is_loaded_without_a_search_path():
    with psycopg.connect(**LOGIN) as own:
        own.execute("select set_config('search_path', '', false)")
        own.execute("truncate table public.t_log")
        own.execute("insert into public.t_dict values (5, 'sad')")
        with own.cursor().copy("copy public.t_dict from stdin") as copy:
            copy.write("6\tok\n")
        own.execute("delete from public.t_dict where id > 4")


@case
def the_catalogue_of_a_table_on_a_later_unit():
    with psycopg.connect(**UNITS[1], autocommit=True) as direct:
        direct.execute("create table t_later (id int primary key, m mood, ms mood[], l level)")
        direct.execute("insert into t_later values (1, 'ok', '{sad}', 7)")
    with psycopg.connect(**LOGIN, autocommit=True) as own:
        own.execute("refresh table metadata")
        moods = [number_of(name) for name in ("mood", "_mood", "level")]
        found = own.execute("select atttypid, format_type(atttypid, atttypmod), atttypid::regtype::text from pg_attribute where attrelid = 't_later'::regclass and attnum > 1 order by attnum")
        equal(found.fetchall(), list(zip(moods, ("mood", "mood[]", "level"), ("mood", "mood[]", "level"))))
        joined = own.execute("select c.relname, t.typname from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid where a.attname = 'm' and relkind = 'r' order by 1")
        equal(joined.fetchall(), [("t_alone", "mood"), ("t_dict", "mood"), ("t_later", "mood"), ("t_order", "mood")])
        result = own.execute("select m, ms, t_later from t_later")
        equal([column.type_code for column in result.description][:2], moods[:2])
        row_type = result.description[2].type_code
        equal(own.execute("select typname from pg_type where oid = %s", [row_type]).fetchall(), [("t_later",)])
        equal(own.execute("select typname from pg_type where oid = " + str(row_type)).fetchall(), [("t_later",)])
    with psycopg.connect(**UNITS[1], autocommit=True) as direct:
        direct.execute("drop table t_later")
    db.execute("refresh table metadata")


@case
def drop():
    for table in ("t_order", "t_dict", "t_alone", "t_log"):
        db.execute(f"drop table {table}")
    db.execute("drop domain level; drop type pair; drop type mood")


db.close()
done()
