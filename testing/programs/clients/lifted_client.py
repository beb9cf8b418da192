"""Statements given as text that come often, straight to one server and through Pando, which runs some of them prepared: whatever the numbers, and
whatever becomes of the tables behind Pando's back, columns, rows, tags and errors are the same."""

import os
import re

import psycopg

from cases import DATABASE, PORT, case, done, equal

# Where t_order's rows of an even and of an odd user stand.
PARTS = [(unit, f"t_order_{table}") for unit in (0, 1) for table in (0, 1)]
UNIT_PORTS = [int(port) for port in os.environ["UNIT_PORTS"].split()]


def connect(port, database):
    # Without preparing anything of its own: a statement without parameters is a simple query.
    return psycopg.connect(
        host="127.0.0.1", port=port, user="test", password="test", dbname=database, autocommit=True, connect_timeout=10,
        prepare_threshold=None,
    )


straight = connect(UNIT_PORTS[0], "direct")
through = connect(PORT, DATABASE)
units = [connect(port, f"ds_{unit}") for unit, port in enumerate(UNIT_PORTS)]

NUMBERS = ["0", "1", "2", "-1", "- 1", "007", "32768", "999999999", "1234567890", "2147483647", "2147483648", "-2147483648", "-2147483649",
           "9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "123456789012345678901234567890"]


def told(connection, sql):
    """Everything a client is told about one text, without the actual tables' names; a place in the text is one in the statement that was sent."""
    try:
        result = connection.execute(sql).pgresult
    except psycopg.Error as error:
        said = error.diag
        return re.sub(r"t_order_[01](_pkey)?\b", r"t_order\1", repr((said.sqlstate, said.message_primary, said.message_detail, said.message_hint, said.context)))
    columns = [(result.fname(i), result.ftype(i), result.fmod(i), result.fformat(i), result.ftablecol(i)) for i in range(result.nfields)]
    rows = [[result.get_value(row, i) for i in range(result.nfields)] for row in range(result.ntuples)]
    return repr((columns, sorted(rows, key=repr), result.command_status))


def same(sql, times=1):
    for _ in range(times):
        here, there = told(through, sql), told(straight, sql)
        if here != there:
            raise AssertionError(f"{sql}: expected {there}, got {here}")


def behind(sql):
    """A definition that Pando does not hear of; `t_order` stands for each part."""
    straight.execute(sql)
    for unit, table in PARTS:
        units[unit].execute(sql.replace("t_order", table))


def running():
    """What the storage units were last asked by Pando."""
    query = "select query from pg_stat_activity where application_name = 'pando' and datname = current_database()"
    return [row[0] for unit in units for row in unit.execute(query)]


@case
def create():
    same(
        "create table t_order (order_id bigint not null primary key, user_id int not null, small smallint, size numeric(12, 2), share real,"
        " weight double precision, note text, paid boolean, day date)"
    )
    for order in range(40):
        values = f"{order}, {order % 4}, {order % 3}, {order}.5, {order}, {order}, 'n{order}', true, '2024-02-29'"
        same(f"insert into t_order (order_id, user_id, small, size, share, weight, note, paid, day) values ({values})")


@case
def the_same_statement_twenty_times():
    for order in range(20):
        same(f"select * from t_order where order_id = {order} and user_id = {order % 4}")
        same(f"select note, 1 as one from t_order where user_id = {order % 4} and order_id = {order} and small < 2 order by 1")
        same(f"update t_order set small = small + {order}, weight = -{order} where order_id = {order} and user_id = {order % 4}")
        same(f"update t_order set size = {order} where order_id = {order} and user_id = {order % 4} and small in (1, {order})")
        same(f"delete from t_order where order_id = {order} and user_id = {order % 4} and weight >= {order}")
    asked = running()
    if not any("order_id = $" in query for query in asked):
        raise AssertionError(f"nothing ran prepared: {asked}")


@case
def numbers_of_every_size_beside_columns_of_every_type():
    for column in ("order_id", "user_id", "small", "size", "share", "weight", "note", "paid", "day"):
        for number in NUMBERS:
            same(f"select * from t_order where order_id = 20 and user_id = 0 and {column} >= {number}", 2)
            same(f"select * from t_order where order_id = 20 and user_id = 0 and {column} in ({number}, 3)", 2)
            if column not in ("order_id", "user_id"):
                same(f"update t_order set {column} = {number} where order_id = 22 and user_id = 2")
                same(f"update t_order set {column} = {column} + {number} where order_id = 22 and user_id = 2")
        same("select * from t_order where order_id = 22 and user_id = 2", 2)


STRINGS = ["''", "' '", "'it''s'", "'trailing   '", "'too long for five'", "'ü€😀'", "'12'", "'true'", "'2024-02-29'", "'now'", "'$1'", r"'back\slash'",
           r"e'new\nline'", "'two'\n'strings'", "u&'\\00e9'"]


@case
def strings_into_columns_of_every_type():
    asked = []
    same("alter table t_order add column five char(5)")
    same("alter table t_order add column most varchar(5)")
    for column in ("note", "five", "most", "small", "size", "weight", "paid", "day"):
        for string in STRINGS:
            for _ in range(7 if string == STRINGS[0] else 2):
                same(f"update t_order set {column} = {string} where order_id = 22 and user_id = 2")
            same(f"select {column} from t_order where order_id = 22 and user_id = 2")
            same("begin")
            same(f"update t_order set {column} = {string}, small = 1 where order_id = 23 and user_id = 3", 2)
            same("rollback")
            same("delete from t_order where order_id = 41 and user_id = 1")
            same(f"insert into t_order (order_id, user_id, {column}) values (41, 1, {string})")
            asked += running()
            same(f"insert into t_order (order_id, user_id, {column}) values (41, 1, {string})")
            same("select * from t_order where order_id = 41 and user_id = 1")
    same("alter table t_order drop column five")
    same("alter table t_order drop column most")
    if not any("values ($1, $2, $3)" in query for query in asked):
        raise AssertionError(f"no insert ran prepared: {asked}")


@case
def values_that_a_column_does_not_take_fail_without_a_row():
    """A constant is cast when its statement is planned, whether there is a row for it or not."""
    same("create table t_small (id int primary key, counted serial, small smallint, amount numeric(5, 2), five char(5), most varchar(5), object oid)")
    for connection in (straight, *units):
        connection.execute("set log_parameter_max_length_on_error = -1")
    # Often enough for the plan that a server keeps on each of Pando's connections.
    for number in range(40):
        same(f"insert into t_small (id, small, amount, most) values ({number}, {number}, {number}, 'n{number}')")
        same(f"update t_small set small = {number}, amount = {number}, five = 'f{number}', most = 'm{number}' where id = {number}", 2)
        for value in (f"small = {number}", f"amount = {number}", f"five = 'f{number}'", f"most = 'm{number}'", f"object = {number}"):
            same(f"update t_small set {value} where id = {number}")
        same(f"select count(*) from t_small where id between 1 and {number} and object = {4000000000 + number}")
        same(f"select id from t_small where id = {number} and object = {4000000000 + number}")
    for value in ("small = 32768", "small = -32769", "amount = 1000", "amount = 999", "five = 'f12345'", "five = 'f1    '", "most = 'm12345'", "most = 'ü2345'", "object = 5000000000"):
        for row in (99, 3):
            same(f"update t_small set {value} where id = {row}")
            same("begin")
            same(f"update t_small set {value} where id = {row}")
            same("insert into t_small (id, small, amount, most) values (77, 7, 7, 'n7')")
            same("commit")
            same("select id, counted, small, amount, five, most, object from t_small where id > 0")
            same("delete from t_small where id = 77")
    for small, most in ((70000, "x"), (1, "n12345"), (70000, "n12345"), (1, "x")):
        same("delete from t_small where id = 50")
        same(f"insert into t_small (id, small, amount, most) values (50, {small}, 0, '{most}')")
        same("select id, counted from t_small where id = 50")
    same("select id from t_small where id = 99 and object = 5000000000")
    same("select count(*) from t_small where id between 1 and 9 and object = 5000000000")
    same("drop table t_small")


def until_it_ends(connection, statements):
    """A transaction that is repeated as long as it is told to; the answers, and how often that was."""
    for repeated in range(5):
        told(connection, "begin")
        answers = [told(connection, sql) for sql in statements]
        if not any("40001" in answer for answer in answers):
            return [*answers, told(connection, "commit")], repeated
        told(connection, "rollback")
    raise AssertionError(f"{statements} never ends: {answers}")


def same_in_the_end(statements, most):
    answers, repeated = until_it_ends(through, statements)
    equal(answers, until_it_ends(straight, statements)[0])
    if repeated > most:
        raise AssertionError(f"{statements} was to be repeated {repeated} times")


@case
def names_that_mean_several_things():
    for connection in (straight, units[0]):
        connection.execute("create schema one create table t_named (id int primary key, v date, w varchar(10))")
        connection.execute("create schema two create table t_named (id int primary key, v text, w varchar(20))")
        connection.execute("create table public.t_named (id int primary key, v text, w text, \"V\" date)")
        connection.execute("create table public.\"T_named\" (id int primary key, v json)")
        connection.execute("create function widen(kind text) returns int language plpgsql as $$ begin execute 'alter table t_named alter w type ' || kind; return 1; end $$")
    told(through, "refresh table metadata")
    for path in ("public", "one", "two", "two, public"):
        for row in range(10):
            same(f"set search_path to {path}")
            same("begin")
            same(f"insert into t_named (id, v, w) values ({row}, '2020-01-0{row % 9 + 1}', 'w{row}')")
            same(f"select id, v, w from t_named where id = {row}")
            same("commit")
    same("reset search_path")
    for row in range(20, 30):
        same_in_the_end([f"insert into t_named (id, \"V\") values ({row}, '2020-01-08')", f"select id, \"V\" from t_named where id = {row}"], 0)
        same_in_the_end([f"insert into \"T_named\" (id, v) values ({row}, '{{}}')"], 0)
        same_in_the_end([f"insert into t_named (id, v) values (1{row}, '2020-01-08')", f"select id, w from t_named where id = 1{row}"], 0)
    same_in_the_end(["set local search_path to one", "select id, w from t_named where id = 1", "set local search_path to two", "select id, w from t_named where id = 1"], 0)
    # What changes a type in the middle may be told so, but not for ever.
    for kind in ("varchar(30)", "varchar(40)", "varchar(50)"):
        same_in_the_end(["select id, w from t_named where id = 20", f"select widen('{kind}')", "select id, w from t_named where id = 20"], 2)
    for row in range(30, 40):
        same_in_the_end([f"insert into t_named (id, v) values ({row}, '2020-01-08')"], 0)
    for connection in (straight, units[0]):
        connection.execute("alter table t_named alter v type date using v::date")
    for row in range(40, 50):
        same_in_the_end([f"insert into t_named (id, v) values ({row}, '2020-01-08')", f"select id, v from t_named where id = {row}"], 2)
    for connection in (straight, units[0]):
        connection.execute("drop function widen")
        connection.execute("drop table public.t_named, public.\"T_named\"")
        connection.execute("drop schema one, two cascade")
    told(through, "refresh table metadata")


@case
def ranges_over_all_parts():
    asked = []
    for first in range(0, 24, 2):
        last = first + first % 7
        same(f"select order_id, note from t_order where order_id between {first} and {last}")
        same(f"select sum(order_id), count(*), min(note) from t_order where order_id between {first} and {last}")
        same(f"select distinct note from t_order where order_id between {first} and {last} order by note")
        same(f"select order_id, user_id from t_order where order_id >= {first} order by order_id limit 3")
        asked += running()
        same(f"select order_id, note from t_order where order_id between {first} and {last}")
        asked += running()
        same("begin isolation level repeatable read")
        same(f"select order_id, note from t_order where order_id between {first} and {last}", 2)
        same("commit")
    if not any("between $1 and $2" in query for query in asked):
        raise AssertionError(f"no range ran prepared: {asked}")


@case
def averages_of_single_precision():
    for order in range(20, 40):
        same(f"update t_order set share = {order * 1234567}.7 where order_id = {order} and user_id = {order % 4}")
    for _ in range(8):
        same("select avg(share) from t_order where order_id between 20 and 39")
        same("select avg(share) from t_order where (order_id between 20 and 38)")
        same("select avg(share), sum(share::float8) from t_order")


@case
def sharding_values_of_every_size():
    for number in NUMBERS:
        same(f"select note from t_order where order_id = {number} and user_id = 0", 2)
        same(f"select note from t_order where order_id = 20 and user_id = {number}", 2)


CHANGES = [
    "alter table t_order add column more int default 7",
    "alter table t_order alter column note type varchar(100)",
    "alter table t_order alter column small type int",
    "alter table t_order rename column paid to settled",
    "alter table t_order drop column day",
    "alter table t_order alter column user_id type bigint",
    "create index on t_order (small)",
    "analyze t_order",
]


def asked(order):
    return [
        f"select * from t_order where order_id = {order} and user_id = {order % 4}",
        f"select note, small from t_order where order_id = {order} and user_id = {order % 4}",
        f"update t_order set small = {order} where order_id = {order} and user_id = {order % 4}",
    ]


@case
def tables_changed_behind_pandos_back():
    for change in CHANGES:
        for order in range(20, 36):
            for sql in asked(order):
                same(sql)
        behind(change)
        for sql in asked(24):
            same(sql, 2)
        # Another change for each part that was not asked since.
        for order in (25, 26, 27):
            for sql in asked(order):
                same(sql)


@case
def tables_changed_between_statements_of_transactions():
    for change in (
        "alter table t_order add column last text",
        "alter table t_order alter column last type varchar(20)",
        "alter table t_order drop column last",
    ):
        for order in range(20, 36):
            for sql in asked(order):
                same(sql)
        behind(change)
        for order in range(20, 24):
            same("begin")
            for sql in asked(order):
                same(sql, 2)
            same(f"delete from t_order where order_id = {order} and user_id = {order % 4} and small < 0")
            same("rollback" if order % 2 else "commit")


def transaction(connection, order):
    """What a transaction is told: an update first, so that its query has something to lose."""
    answers = []
    for sql in ("begin", f"update t_order set weight = 5 where order_id = {order} and user_id = {order % 4}",
                f"select note, small from t_order where order_id = {order} and user_id = {order % 4}"):
        answers.append(told(connection, sql))
    told(connection, "rollback" if "40001" in answers[-1] else "commit")
    return answers


@case
def a_type_changed_behind_transactions_is_told_as_a_conflict():
    met = 0
    for change in ("alter table t_order alter column note type varchar(90)", "alter table t_order alter column note type text", "analyze t_order"):
        for order in [*range(20, 36)] * 2:
            answers = transaction(through, order)
            if "40001" in answers[-1]:
                met += 1
                answers = transaction(through, order)
            equal(answers, transaction(straight, order))
        behind(change)
    # What one connection meets is known to all of its unit.
    if not 1 <= met <= 4:
        raise AssertionError(f"{met} transactions were to be repeated")


@case
def errors_inside_transactions():
    for _ in range(8):
        for sql in (
            "update t_order set small = 3 where order_id = 20 and user_id = 0 and note = 5",
            "update t_order set nowhere = 3 where order_id = 20 and user_id = 0",
            "update t_order set small = 2147483648 where order_id = 20 and user_id = 0",
            "select nowhere from t_order where order_id = 20 and user_id = 0",
            "select note from t_order where order_id = 20 and user_id = 0 and note = 5",
            "insert into t_order (order_id, user_id, note) values (20, 0, 'there already')",
        ):
            same("begin")
            same("update t_order set weight = 5 where order_id = 20 and user_id = 0")
            same(sql)
            same("select note from t_order where order_id = 20 and user_id = 0")
            same("rollback")
        same("select * from t_order where order_id = 20 and user_id = 0")


@case
def a_table_dropped_and_made_anew():
    for sql in ("drop table t_order", "create table t_order (order_id bigint primary key, user_id int, note text, word text)"):
        behind(sql)
        for order in range(20, 28):
            same(f"select * from t_order where order_id = {order} and user_id = {order % 4}")
            same(f"select note from t_order where order_id = {order} and user_id = {order % 4}")
    for order in range(20, 40):
        same(f"insert into t_order (order_id, user_id, note) values ({order}, {order % 4}, 'a')")
        same(f"select * from t_order where order_id = {order} and user_id = {order % 4}", 2)


@case
def copy_lists_the_columns_it_is_routed_by():
    same("alter table t_order add column more int")
    same("delete from t_order")
    same("insert into t_order values (20, 0, 'a', 'b', 1)")
    # Known to Pando is another order than the one the units have by now.
    for sql in ("delete from t_order", "alter table t_order drop column user_id", "alter table t_order add column user_id int"):
        behind(sql)
    for statement, data in (("copy t_order from stdin", "61 3 4 5 6\n"), ("copy t_order from stdin (delimiter ',', format csv)", "63,3,4,5,6\n")):
        with through.cursor() as cursor, cursor.copy(statement) as copy:
            copy.write(data.replace(" ", "\t"))
    rows = units[1].execute("select order_id, user_id, note, word, more from t_order_1 order by 1").fetchall()
    equal(rows, [(61, 3, "4", "5", 6), (63, 3, "4", "5", 6)])


@case
def a_unit_that_says_much_gets_all_data():
    through.execute("create table t_loud (id int, word text)")
    unit = next(unit for unit in units if unit.execute("select to_regclass('t_loud')").fetchone()[0])
    unit.execute("create function shout() returns trigger language plpgsql as $$ begin raise notice '% %', new.id, repeat('x', 200); return new; end $$")
    unit.execute("create trigger shout before insert on t_loud for each row execute function shout()")
    with connect(PORT, DATABASE) as own:
        heard = []
        own.add_notice_handler(lambda notice: heard.append(notice.message_primary))
        with own.cursor() as cursor, cursor.copy("copy t_loud from stdin") as copy:
            for i in range(100_000):
                copy.write(f"{i}\t{'y' * 100}\n")
        if not 100 < len(heard) <= 100_000 or not heard[0].startswith("0 x"):
            raise AssertionError(f"heard {len(heard)} notices, first {heard[:1]}")
        # What is wrong is told, and the connection lives on.
        try:
            with own.cursor() as cursor, cursor.copy("copy t_loud from stdin") as copy:
                for i in range(100_000):
                    copy.write(f"{i}\t{'y' * 100}\n" if i != 40_000 else "no number\tx\n")
        except psycopg.errors.InvalidTextRepresentation:
            pass
        else:
            raise AssertionError("a word is no number")
        equal(own.execute("select count(*) from t_loud").fetchone(), (100_000,))
    through.execute("drop table t_loud")
    unit.execute("drop function shout")


@case
def drop():
    same("drop table t_order")


done()
