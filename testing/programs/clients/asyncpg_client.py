"""asyncpg: binary parameters of every kind, its own reading of the catalogue, COPY, cursors, and a pool that resets its sessions."""

import asyncio
import datetime
import io

import asyncpg

from cases import DATABASE, PORT, case, done, equal, refused

loop = asyncio.new_event_loop()
LOGIN = dict(host="127.0.0.1", port=PORT, user="test", password="test", database=DATABASE)
db = loop.run_until_complete(asyncpg.connect(**LOGIN))
ROWS = [(i, i % 5, f"s{i % 3}", [f"t{i}", "x"], datetime.timedelta(days=i, seconds=1)) for i in range(1, 41)]


def run(work):
    return loop.run_until_complete(work)


def values(records):
    return [tuple(record) for record in records]


@case
def create():
    run(db.execute("create table t_order (order_id bigint primary key, user_id int not null, status text, tags text[], span interval)"))
    run(db.execute("create table t_log (id bigint primary key, line text)"))
    run(db.execute("create table t_alone (id int primary key, mood text)"))


@case
def executemany_with_arrays_and_intervals():
    run(db.executemany("insert into t_order values ($1, $2, $3, $4, $5)", ROWS))
    equal(values(run(db.fetch("select * from t_order order by order_id"))), ROWS)


@case
def an_array_as_parameter():
    wanted = [3, 4, 39, 400]
    equal(values(run(db.fetch("select order_id from t_order where order_id = any($1) order by 1", wanted))), [(3,), (4,), (39,)])
    equal(run(db.fetchval("select count(*) from t_order where tags @> $1", ["x"])), 40)


@case
def rows_that_a_limited_query_chooses():
    async def described():
        change = "update t_order set status = $1 where order_id = (select order_id from t_order where user_id = $2 order by order_id limit $3) returning order_id, tags"
        transaction = db.transaction()
        await transaction.start()
        ready = await db.prepare(change)
        equal([one.name for one in ready.get_parameters()], ["text", "int4", "int8"])
        equal(values(await ready.fetch("taken", 4, 1)), [(4, ["t4", "x"])])
        equal(values(await ready.fetch("taken", 5, 1)), [])
        await transaction.rollback()

    run(described())


@case
def a_type_of_its_own():
    run(db.execute("create type mood as enum ('good', 'bad')"))
    equal(run(db.fetchval("select $1::mood[]", ["bad", "good"])), ["bad", "good"])
    run(db.execute("drop type mood"))


@case
def settings_by_function():
    equal(values(run(db.fetch("select current_setting('work_mem') as old, set_config('work_mem', '128', false) as new"))), [("4MB", "128kB")])
    equal(run(db.fetchval("show work_mem")), "128kB")

    async def local():
        async with db.transaction():
            await db.fetchval("select set_config('work_mem', $1, true)", "256kB")
            return await db.fetchval("show work_mem")

    equal(run(local()), "256kB")
    equal(run(db.fetchval("show work_mem")), "128kB")
    refused(asyncpg.InvalidParameterValueError, lambda: run(db.fetchval("select set_config('work_mem', 'much', false)")), lambda e: True)
    run(db.reset())
    equal(run(db.fetchval("show work_mem")), "4MB")


@case
def names_of_relations_as_parameters():
    columns = "select attname from pg_attribute where attrelid = {}::regclass and attnum > 0 order by attnum"
    for name, expected in (("t_order", ["order_id", "user_id", "status", "tags", "span"]), ("t_alone", ["id", "mood"])):
        for form in ("$1", "$1::text"):
            equal([row[0] for row in run(db.fetch(columns.format(form), name))], expected)
    equal(run(db.fetchval("select $1::regclass::text", "t_order")), "t_order")
    equal(run(db.fetchval("select to_regclass($1)::text", "public.t_order")), "public.t_order".removeprefix("public."))
    equal(run(db.fetchval("select to_regclass($1)", "t_nothing")), None)
    equal(run(db.fetchval("select pg_total_relation_size($1) > 0", "t_alone")), True)
    equal(run(db.fetchval("select pg_table_size($1) > 0", "t_order")), True)
    refused(asyncpg.UndefinedTableError, lambda: run(db.fetchval("select $1::text::regclass", "t_nothing")), lambda e: True)


@case
def copy_in_binary():
    equal(run(db.copy_records_to_table("t_log", records=[(i, f"line {i}") for i in range(100)])), "COPY 100")
    more = [(i, i % 5, "copied") for i in range(100, 200)]
    equal(run(db.copy_records_to_table("t_order", records=more, columns=["order_id", "user_id", "status"])), "COPY 100")
    equal(run(db.fetchval("select count(*) from t_order where status = 'copied' and user_id = 3 and order_id = 103")), 1)


@case
def copy_out_binary_and_in_again():
    data = io.BytesIO()
    equal(run(db.copy_from_table("t_log", output=data, format="binary")), "COPY 100")
    run(db.execute("delete from t_log"))
    data.seek(0)
    equal(run(db.copy_to_table("t_log", source=data, format="binary")), "COPY 100")
    equal(values(run(db.fetch("select count(*), min(id), max(id) from t_log"))), [(100, 0, 99)])


@case
def copy_of_a_query():
    data = io.BytesIO()
    query = "select order_id, status from t_order where status <> 'copied' order by order_id desc limit 3"
    equal(run(db.copy_from_query(query, output=data, format="csv", header=True)), "COPY 3")
    equal(data.getvalue(), b"order_id,status\n40,s1\n39,s0\n38,s2\n")


@case
def a_cursor_inside_a_transaction():
    async def all_of_them():
        async with db.transaction():
            return [row[0] async for row in db.cursor("select order_id from t_order where status = $1 order by 1", "copied", prefetch=7)]

    equal(run(all_of_them()), list(range(100, 200)))


@case
def a_nested_transaction_is_a_savepoint():
    async def nested():
        async with db.transaction():
            try:
                async with db.transaction():
                    await db.execute("insert into t_order (order_id, user_id) values (1, 1)")
            except asyncpg.UniqueViolationError:
                pass
            await db.execute("delete from t_order where status = 'copied'")
        return await db.fetchval("select count(*) from t_order")

    equal(run(nested()), 40)


@case
def a_pool_that_resets_its_sessions():
    async def pooled():
        async with asyncpg.create_pool(**LOGIN, min_size=2, max_size=4) as pool:

            async def one(i):
                async with pool.acquire() as own:
                    await own.execute(f"set application_name = 'a{i}'")
                    return await own.fetchval("select status from t_order where order_id = $1 and user_id = $2", i, i % 5)

            return await asyncio.gather(*(one(i) for i in range(1, 21)))

    equal(run(pooled()), [f"s{i % 3}" for i in range(1, 21)])


@case
def a_parameter_keeps_the_type_it_was_told():
    # Its column becomes another one's, and the connection that had prepared the statement is at work for somebody else.
    async def told():
        other = await asyncpg.connect(**LOGIN)
        await other.execute("create table t_dict (id int primary key, size int)")
        insert = await db.prepare("insert into t_dict values ($1, $2)")
        await insert.fetch(1, 7)
        await other.execute("alter table t_dict alter column size type real")
        async with other.transaction():
            await other.execute("insert into t_dict values (3, 3)")
            await insert.fetch(2, 7)
        sizes = values(await other.fetch("select id, size from t_dict order by id"))
        await other.execute("drop table t_dict")
        await other.close()
        return sizes

    equal(run(told()), [(1, 7.0), (2, 7.0), (3, 3.0)])


@case
def a_statement_is_prepared_anew_when_its_columns_change():
    async def healed():
        other = await asyncpg.connect(**LOGIN)
        answers = []
        for change in ("alter column word type bigint using id", "add column more int", "rename column word to number"):
            await other.execute("create table t_dict (id bigint primary key, word text)")
            await other.execute("insert into t_dict values (1, 'a')")
            await db.fetch("select * from t_dict where id = $1", 1)
            held = await db.prepare("select word from t_dict where id = $1")
            await other.execute(f"alter table t_dict {change}")
            try:
                answers.append(values(await held.fetch(1)))
            except asyncpg.PostgresError as error:
                answers.append(error.sqlstate)
            # asyncpg prepares once more by itself when the server says that it has to.
            answers.append(values(await db.fetch("select * from t_dict where id = $1", 1)))
            await other.execute("drop table t_dict")
        await other.close()
        return answers

    equal(run(healed()), ["0A000", [(1, 1)], [("a",)], [(1, "a", None)], "42703", [(1, "a")]])


@case
def drop():
    for table in ("t_order", "t_log", "t_alone"):
        run(db.execute(f"drop table {table}"))


run(db.close())
done()
