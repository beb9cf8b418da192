"""mysql-connector-python, in pure Python and over its C library: server-side prepares and binary rows."""

import datetime
from decimal import Decimal

import mysql.connector
from mysql.connector import errorcode, errors

from cases import DATABASE, PORT, case, done, equal, refused

WHEN = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456)


def connect(**more):
    more = {"use_pure": True, "ssl_disabled": True, "autocommit": True} | more
    return mysql.connector.connect(
        host="127.0.0.1", port=PORT, user="test", password="test", database=DATABASE, connection_timeout=10, **more
    )


pure = connect()
fast = connect(use_pure=False)


def run(db, sql, values=(), **how):
    with db.cursor(**how) as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else cursor.rowcount


@case
def create():
    run(
        pure,
        "create table t_order (order_id bigint primary key, user_id int not null, status varchar(32), amount decimal(10,2),"
        " made datetime(6), ratio double, payload blob, day date, small tinyint unsigned) default charset utf8mb4",
    )


def row(i):
    return (i, i % 7, f"s{i % 3}", Decimal(i) / 4, WHEN, i / 8, bytes([i]), WHEN.date(), i)


@case
def prepared_inserts():
    with pure.cursor(prepared=True) as cursor:
        for i in range(1, 51):
            cursor.execute("insert into t_order values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row(i))
            equal(cursor.rowcount, 1)


@case
def prepared_variables():
    with pure.cursor(prepared=True) as cursor:
        for number, text in ((5, "it's \\ é"), (Decimal("7.5"), "b"), (None, "")):
            cursor.execute("set @number = ?, @text = concat(?, 'x')", (number, text))
            cursor.execute("select @number, @text")
            equal([(value and Decimal(value), said) for value, said in cursor.fetchall()], [(number, text + "x")])


@case
def prepared_in_latin1():
    latin = connect(charset="latin1", collation="latin1_swedish_ci")
    row = (901, 1, "caf\u00e9", None, None, None, "\u00e9".encode(), None, None)
    with latin.cursor(prepared=True) as cursor:
        cursor.execute("insert into t_order values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        for _ in range(9):
            cursor.execute("select status, 'x\u00e9' from t_order where status = ? and user_id = ?", ("caf\u00e9", 1))
            equal(cursor.fetchall(), [("caf\u00e9", "x\u00e9")])
    # The column is UTF-8, and octets are octets.
    equal(run(pure, "select status, payload from t_order where order_id = 901"), [("caf\u00e9", b"\xc3\xa9")])
    equal(run(pure, "delete from t_order where order_id = 901"), 1)
    latin.close()


@case
def text_inserts_through_the_c_library():
    with fast.cursor() as cursor:
        cursor.executemany("insert into t_order values (%s, %s, %s, %s, %s, %s, %s, %s, %s)", [row(i) for i in range(51, 101)])
        equal(cursor.rowcount, 50)


@case
def binary_rows():
    for db in (pure, fast):
        rows = run(db, "select * from t_order where order_id <= %s order by order_id", (100,), prepared=True)
        equal([tuple(bytes(v) if isinstance(v, bytearray) else v for v in r) for r in rows], [row(i) for i in range(1, 101)])


@case
def prepared_again_and_again():
    with pure.cursor(prepared=True) as cursor:
        for i in range(1, 101):
            cursor.execute("select user_id, amount from t_order where order_id = ?", (i,))
            equal(cursor.fetchall(), [(i % 7, Decimal(i) / 4)])


@case
def prepared_changes_of_rows_that_a_limited_query_chooses():
    own = connect(autocommit=False)
    own.start_transaction()
    chosen = "(select order_id from (select order_id from t_order where user_id = ? order by order_id limit ?) x)"
    with own.cursor(prepared=True) as cursor:
        # 3, 10 and 17 are the first of user 3.
        cursor.execute(f"update t_order set status = ? where amount > ? and order_id in {chosen} and ratio < ?", ("taken", 1, 3, 3, 9))
        equal(cursor.rowcount, 2)
        cursor.execute(f"delete from t_order where order_id = {chosen}", (3, 1))
        equal(cursor.rowcount, 1)
    equal(run(own, "select order_id from t_order where status = 'taken' order by order_id"), [(10,), (17,)])
    own.rollback()
    own.close()


@case
def prepared_with_null():
    with pure.cursor(prepared=True) as cursor:
        cursor.execute("update t_order set status = ? where order_id = ?", (None, 9))
        cursor.execute("select status, order_id from t_order where order_id = ?", (9,))
        equal(cursor.fetchall(), [(None, 9)])


@case
def prepared_aggregates():
    rows = run(pure, "select count(*), sum(amount), max(made) from t_order where order_id > %s", (0,), prepared=True)
    equal(rows, [(100, Decimal("1262.50"), WHEN)])


@case
def commit_and_rollback():
    own = connect(autocommit=False)
    own.start_transaction()
    equal(run(own, "update t_order set status = 'x' where order_id in (1, 2, 3, 4)"), 4)
    own.rollback()
    equal(run(pure, "select count(*) from t_order where status = 'x'"), [(0,)])
    own.start_transaction()
    equal(run(own, "update t_order set status = 'x' where order_id in (1, 2, 3, 4)"), 4)
    own.commit()
    equal(run(pure, "select count(*) from t_order where status = 'x'"), [(4,)])
    own.close()


@case
def what_was_prepared_before_a_set_is_not_run_behind_it():
    own = connect(autocommit=False)
    third = "select order_id / 3 from t_order where order_id = %s"
    equal(run(own, third, (1,), prepared=True), [(Decimal("0.3333"),)])
    run(own, "set div_precision_increment = 10")
    equal(run(own, third, (1,), prepared=True), [(Decimal("0.3333333333"),)])
    own.commit()
    own.close()


@case
def reset_keeps_the_connection():
    run(pure, "set @mine = 1")
    pure.cmd_reset_connection()
    equal(run(pure, "select @mine"), [(None,)])
    equal(run(pure, "select count(*) from t_order"), [(100,)])


@case
def errors_have_their_code_and_leave_the_connection_usable():
    def code(number):
        return lambda error: error.errno == number

    duplicate = "insert into t_order (order_id, user_id) values (2, 2)"
    for db in (pure, fast):
        refused(errors.IntegrityError, lambda: run(db, duplicate), code(errorcode.ER_DUP_ENTRY))
        refused(errors.IntegrityError, lambda: run(db, duplicate, prepared=True), code(errorcode.ER_DUP_ENTRY))
        refused(errors.ProgrammingError, lambda: run(db, "select * from nowhere", prepared=True), code(errorcode.ER_NO_SUCH_TABLE))
        refused(errors.ProgrammingError, lambda: run(db, "selec 1"), code(errorcode.ER_PARSE_ERROR))
        equal(run(db, "select 1"), [(1,)])


@case
def drop():
    run(pure, "drop table t_order")


pure.close()
fast.close()
done()
