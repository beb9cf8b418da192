"""Statements given as text that come often, straight to one server and through Pando, which runs some of them prepared: whatever the numbers, and
whatever becomes of the tables behind Pando's back, columns, rows, counts, warnings and errors are the same."""

import os
import re

import pymysql

from cases import DATABASE, PORT, case, done

# Where t_order's rows of an even and of an odd user stand.
PARTS = [(unit, f"t_order_{table}") for unit in (0, 1) for table in (0, 1)]
UNIT_PORTS = [int(port) for port in os.environ["UNIT_PORTS"].split()]


def connect(port, database):
    # No conversions: every value is the text that the server has sent.
    return pymysql.connect(
        host="127.0.0.1", port=port, user="test", password="test", database=database, autocommit=True, connect_timeout=10, conv={},
    )


straight = connect(UNIT_PORTS[0], "direct")
through = connect(PORT, DATABASE)
units = [connect(port, f"ds_{unit}") for unit, port in enumerate(UNIT_PORTS)]

NUMBERS = ["0", "1", "2", "-1", "- 1", "007", "99", "32768", "20240229", "999999999", "2147483647", "2147483648", "-2147483648", "9007199254740993",
           "9223372036854775807", "9223372036854775808", "18446744073709551615", "123456789012345678901234567890"]
COLUMNS = "order_id user_id small wide size share weight note paid day moment made year bits code filled kind data".split()


def told(connection, sql):
    """Everything a client is told about one text, without the names of databases and actual tables."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(sql)
        except pymysql.Error as error:
            said = repr(error.args)
        else:
            # What the packets of definitions say, all but the database.
            fields = [(f.name, f.org_name, f.table_name, f.type_code, f.flags, f.length, f.charsetnr, f.scale) for f in getattr(cursor._result, 'fields', ())]
            said = repr((fields, sorted(cursor.fetchall(), key=repr), cursor.rowcount, cursor.lastrowid, cursor._result.warning_count))
            if cursor._result.warning_count:
                cursor.execute("show warnings")
                said += repr(cursor.fetchall())
    return re.sub(r"\b(direct|shop|ds_[01])\b", "db", re.sub(r"t_order_[01]\b", "t_order", said))


def same(sql, times=1):
    for _ in range(times):
        here, there = told(through, sql), told(straight, sql)
        if here != there:
            raise AssertionError(f"{sql}: expected {there}, got {here}")


def behind(sql):
    """A definition that Pando does not hear of; `t_order` stands for each part."""
    with straight.cursor() as cursor:
        cursor.execute(sql)
    for unit, table in PARTS:
        with units[unit].cursor() as cursor:
            cursor.execute(sql.replace("t_order", table))


def executions():
    """Statements that the storage units have run prepared until now."""
    total = 0
    for unit in units:
        with unit.cursor() as cursor:
            cursor.execute("show global status like 'Com_stmt_execute'")
            total += int(cursor.fetchone()[1])
    return total


@case
def create():
    same("drop table if exists t_order")
    same(
        "create table t_order (order_id bigint not null primary key, user_id int not null, small tinyint unsigned, wide bigint unsigned, size decimal(12, 2),"
        " share float, weight double, note varchar(40), paid boolean, day date, moment time(2), made datetime(3), year year, bits bit(9), code char(3),"
        " filled int(7) zerofill, kind enum('a', 'b'), data blob)"
    )
    for order in range(40):
        values = (f"{order}, {order % 4}, {order}, {order}, {order}.5, {order}, {order}, '0{order}', true, '2024-02-29', '12:13:14.50', '2024-02-29 01:02:03.004',"
                  f" {1990 + order}, {order}, 'c{order % 7}', {order}, 'b', x'00ff'")
        same(f"insert into t_order ({', '.join(COLUMNS)}) values ({values})")


@case
def the_same_statement_twenty_times():
    before = executions()
    for order in range(20):
        same(f"select order_id, small, wide, size, note, paid, day, moment, made, bits, code, kind, data from t_order where order_id = {order} and user_id = {order % 4}")
        same(f"select * from t_order where order_id = {order} and user_id = {order % 4}")
        same(f"select note, 1 as one from t_order where user_id = {order % 4} and order_id = {order} and small < 200 order by 1")
        same(f"update t_order set small = small + 1, weight = 5 where order_id = {order} and user_id = {order % 4}")
        same(f"update t_order set small = {order} where order_id = {order} and user_id = {order % 4} and wide in (1, {order})")
        same(f"delete from t_order where order_id = {order} and user_id = {order % 4} and small >= 250")
    if executions() - before < 20:
        raise AssertionError(f"only {executions() - before} ran prepared")


@case
def numbers_of_every_size_beside_columns_of_every_type():
    for mode in ("STRICT_TRANS_TABLES", ""):
        for connection in (straight, through):
            told(connection, f"set session sql_mode = '{mode}'")
        for column in COLUMNS:
            for number in NUMBERS:
                same(f"select note, wide from t_order where order_id = 20 and user_id = 0 and {column} >= {number}", 2)
                same(f"select note, wide from t_order where order_id = 20 and user_id = 0 and {column} in ({number}, 3)", 2)
                if column not in ("order_id", "user_id"):
                    same(f"update t_order set {column} = {number} where order_id = 22 and user_id = 2")
                    same(f"update t_order set {column} = {column} + {number} where order_id = 22 and user_id = 2")
                    same(f"update t_order set wide = wide - {number} where order_id = 22 and user_id = 2")
            same("select * from t_order where order_id = 22 and user_id = 2", 2)
    # What no strict mode would take again.
    same("update t_order set day = '2024-02-29', made = now() where order_id = 22 and user_id = 2")
    same("set session sql_mode = default")


@case
def aggregates_of_columns_of_every_type():
    before = executions()
    for order in range(20, 40):
        for column in COLUMNS:
            same(f"select min({column}), max({column}), count({column}), COUNT(*), Sum( wide ), avg(small) from t_order where order_id = {order} and user_id = {order % 4}")
        same(f"select sum(size), avg(size), sum(weight), avg(share) from t_order where order_id = {order} and user_id = {order % 4}")
        same(f"select max(note) from t_order where order_id = 99 and user_id = {order % 4}")
    if executions() - before < 20:
        raise AssertionError(f"only {executions() - before} ran prepared")


@case
def whole_numbers_that_are_inserted():
    for mode in ("STRICT_TRANS_TABLES", ""):
        before = executions()
        for connection in (straight, through):
            told(connection, f"set session sql_mode = '{mode}'")
        for column in COLUMNS[2:]:
            for number in NUMBERS:
                same("delete from t_order where order_id = 60 and user_id = 0")
                same(f"insert into t_order (order_id, user_id, {column}) values (60, 0, {number})", 2)
                same("select * from t_order where order_id = 60 and user_id = 0")
        if executions() - before < 20:
            raise AssertionError(f"only {executions() - before} ran prepared")
    same("delete from t_order where order_id = 60 and user_id = 0")
    same("set session sql_mode = default")


@case
def tables_whose_names_differ_by_case():
    for connection in (straight, units[0]):
        with connection.cursor() as cursor:
            cursor.execute("select @@lower_case_table_names")
            if cursor.fetchone()[0] != "0":
                return
            cursor.execute("create table t_named (id int primary key, k int)")
            cursor.execute("create table T_named (id int primary key, k year)")
            cursor.execute("insert into T_named values (1, 1970)")
    told(through, "refresh table metadata")
    for number in range(14):
        same(f"select id from t_named where id = 1 and k = {number}")
    for _ in range(10):
        same("select id from T_named where id between 1 and 3 and k = 70")
    for connection in (straight, units[0]):
        with connection.cursor() as cursor:
            cursor.execute("drop table t_named, T_named")
    told(through, "refresh table metadata")


@case
def sharding_values_of_every_size():
    for number in NUMBERS:
        same(f"select note from t_order where order_id = {number} and user_id = 0", 2)
        same(f"select note from t_order where order_id = 20 and user_id = {number}", 2)


CHANGES = [
    "alter table t_order add column more int default 7",
    "alter table t_order modify note varchar(100)",
    "alter table t_order modify small int",
    "alter table t_order modify small double",
    "alter table t_order change paid settled boolean",
    "alter table t_order drop column day",
    "alter table t_order modify user_id bigint",
    "create index i on t_order (small)",
    "analyze table t_order",
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
        for order in (24, 24, 25, 26, 27):
            for sql in asked(order):
                same(sql)


@case
def inside_transactions():
    before = executions()
    for order in range(20, 32):
        for last in ("commit", "rollback"):
            same("begin")
            for sql in asked(order):
                same(sql, 2)
            same(f"update t_order set nowhere = 3 where order_id = {order} and user_id = {order % 4}")
            same(f"delete from t_order where order_id = {order} and user_id = {order % 4} and wide < 3")
            same(last)
        same(asked(order)[0])
    if executions() - before < 20:
        raise AssertionError(f"only {executions() - before} ran prepared")


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
    same("drop table t_order")


done()
