"""PyMySQL: the text protocol, with streaming and dictionaries."""

import datetime
import tempfile
from decimal import Decimal

import pymysql
import pymysql.cursors
import pymysql.err

from cases import DATABASE, PORT, case, done, equal, refused

WHEN = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456)


def connect(**more):
    more = {"autocommit": True, "charset": "utf8mb4", "password": "test"} | more
    return pymysql.connect(host="127.0.0.1", port=PORT, user="test", database=DATABASE, connect_timeout=10, **more)


db = connect()


def run(sql, values=None, own=None, kind=None):
    with (own or db).cursor(kind) as cursor:
        count = cursor.execute(sql, values)
        return list(cursor.fetchall()) if cursor.description else count


@case
def create():
    run(
        "create table t_order (order_id bigint primary key, user_id int not null, status varchar(32),"
        " amount decimal(10,2), made datetime(6), payload blob, paid boolean) default charset utf8mb4"
    )
    run("create table t_log (id bigint primary key, line varchar(50))")
    run("create table t_dict (id int primary key, word varchar(50))")


@case
def executemany_as_one_insert():
    rows = [(i, i % 7, f"s{i % 3}", Decimal(i) / 4, WHEN, bytes([i]), i % 2) for i in range(1, 101)]
    with db.cursor() as cursor:
        equal(cursor.executemany("insert into t_order values (%s, %s, %s, %s, %s, %s, %s)", rows), 100)
    equal(run("select * from t_order order by order_id"), rows)


@case
def point_and_range():
    equal(run("select status from t_order where order_id = %s and user_id = %s", (10, 3)), [("s1",)])
    page = run("select order_id from t_order where order_id between 20 and 60 order by order_id desc limit 2, 3")
    equal(page, [(58,), (57,), (56,)])


@case
def aggregates():
    rows = run("select count(*), sum(amount), min(order_id), max(order_id), avg(amount) from t_order")
    equal(rows, [(100, Decimal("1262.50"), 1, 100, Decimal("12.625000"))])
    groups = run("select status, count(*), sum(amount) from t_order group by status order by status")
    equal(groups, [("s0", 33, Decimal("420.75")), ("s1", 34, Decimal("429.25")), ("s2", 33, Decimal("412.50"))])


@case
def dictionaries_name_the_columns():
    rows = run("select order_id, user_id as who from t_order where order_id = 5", kind=pymysql.cursors.DictCursor)
    equal(rows, [{"order_id": 5, "who": 5}])


@case
def stream_row_by_row():
    with connect() as own, own.cursor(pymysql.cursors.SSCursor) as cursor:
        cursor.execute("select order_id from t_order order by order_id")
        equal([row[0] for row in cursor.fetchall_unbuffered()], list(range(1, 101)))


@case
def commit_and_rollback():
    with connect(autocommit=False) as own:
        run("insert into t_order (order_id, user_id, status) values (201, 1, 'x'), (202, 2, 'x')", own=own)
        own.rollback()
        equal(run("select count(*) from t_order where status = 'x'"), [(0,)])
        own.begin()
        run("insert into t_order (order_id, user_id, status) values (201, 1, 'x'), (202, 2, 'x')", own=own)
        equal(run("select count(*) from t_order where status = 'x'", own=own), [(2,)])
        equal(run("select count(*) from t_order where status = 'x'"), [(0,)])
        own.commit()
    equal(run("select count(*) from t_order where status = 'x'"), [(2,)])


@case
def update_and_delete_count_over_all_shards():
    equal(run("update t_order set status = 'y' where status = 'x'"), 2)
    equal(run("delete from t_order where status = 'y'"), 2)


@case
def generated_keys():
    ids = []
    for i in range(10):
        with db.cursor() as cursor:
            cursor.execute("insert into t_log (line) values (%s)", (f"line {i}",))
            ids.append(cursor.lastrowid)
    equal(len(set(ids)), 10)
    equal(sorted(ids), ids)
    equal(run("select line from t_log where id = %s", (ids[3],)), [("line 3",)])


@case
def broadcast_counts_once():
    equal(run("insert into t_dict values (1, 'one'), (2, 'two')"), 2)
    equal(run("select count(*) from t_dict"), [(2,)])


@case
def text_of_every_kind():
    for value in ("", "it's", 'a "b" \\ c', "日本語 – ñ 🐼", None):
        run("update t_order set status = %s where order_id = 1", (value,))
        equal(run("select status from t_order where order_id = 1"), [(value,)])


@case
def errors_have_their_code_and_leave_the_connection_usable():
    def code(number):
        return lambda error: error.args[0] == number

    refused(pymysql.err.IntegrityError, lambda: run("insert into t_order (order_id, user_id) values (2, 2)"), code(1062))
    refused(pymysql.err.ProgrammingError, lambda: run("selec 1"), code(1064))
    refused(pymysql.err.ProgrammingError, lambda: run("select * from nowhere"), code(1146))
    refused(pymysql.err.OperationalError, lambda: run("select nocolumn from t_order"), code(1054))
    equal(run("select 1"), [(1,)])


@case
def session_state_stays_with_the_session():
    run("set @mine = 41")
    equal(run("select @mine + 1"), [(42,)])
    db.ping(reconnect=False)
    db.select_db(DATABASE)
    equal(run("select database()"), [(DATABASE,)])


def takes_files():
    # MySQL's servers take none unless told.
    return run("select @@local_infile") == [(1,)]


@case
def load_data_reads_fields_and_lines_as_the_server_does():
    if not takes_files():
        return
    own = connect(local_infile=True)

    def load(data, options, columns="(order_id, user_id, status)", table="t_order"):
        with tempfile.NamedTemporaryFile("wb", suffix=".txt") as file:
            file.write(data.encode())
            file.flush()
            return run(f"load data local infile '{file.name}' into table {table} {options} {columns}", own=own)

    def there():
        # Each row by its own key: one on a wrong shard is not found.
        rows = [(i, run("select status from t_order where order_id = %s and user_id = %s", (i, i % 4))) for i in range(500, 504)]
        equal(run("delete from t_order where order_id >= 500"), 4)
        return {i: row and row[0][0] for i, row in rows}

    equal(load("500\t0\ta\\Z\n501\t1\t\\f\n502\t2\t\\N\n503\t3\tx\r\n", ""), 4)
    equal(there(), {500: "a\x1a", 501: "f", 502: None, 503: "x\r"})
    quoted = "fields terminated by ',' optionally enclosed by '\"' lines terminated by '\\r\\n'"
    data = '"id,user\r\n500,0,5" pipe\r\n501,"1","a""b,\r\nc"\r\n502,2,NULL\r\n503,3,"NULL"'
    equal(load(data, f"{quoted} ignore 1 lines"), 4)
    equal(there(), {500: '5" pipe', 501: 'a"b,\r\nc', 502: None, 503: "NULL"})
    data = "no line\n>>500,0,a\nnor this >>501,1,b\n>>502,2,c\n>>503,3,d\nat all"
    equal(load(data, "fields terminated by ',' lines starting by '>>'"), 4)
    equal(there(), {500: "a", 501: "b", 502: "c", 503: "d"})
    nothing = "would be set by several shards"
    refused(pymysql.err.Error, lambda: load("1\t1\n", "", "(id, @word)", "t_dict"), lambda error: nothing in str(error) or "connection" in str(error))
    own.close()


@case
def utf8_of_three_bytes_compares_by_the_collation_named():
    own = connect()
    for words, expected in (("utf8 collate utf8_general_ci", (1, 1, 1, 0)), ("'utf8' collate 'utf8_unicode_ci'", (1, 1, 1, 1)), ("utf8mb3 collate utf8mb3_bin", (0, 1, 0, 0))):
        run(f"set names {words}", own=own)
        equal(run("select 'ä' = 'a', 'a' = 'a ', 'a' = 'A', 'ß' = 'ss'", own=own), [expected])
    own.close()


@case
def copies_of_a_broadcast_table_do_not_drift():
    if not takes_files():
        return
    own = connect(local_infile=True)
    run("alter table t_dict modify id int auto_increment")
    for columns, data in (("(word)", "x\n"), ("", "0\tx\n"), ("", "\\N\tx\n"), ("", "9\tx\n")):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(data)
            file.flush()
            sql = f"load data local infile '{file.name}' into table t_dict {columns}"
            equal(run(sql, own=own), 1)
    # Every copy deletes the same rows.
    numbers = [number for (number,) in run("select id from t_dict where word = 'x'")]
    equal(len(set(numbers)), 4)
    for number in numbers:
        equal(run(f"delete from t_dict where id = {number}"), 1)
    own.close()


@case
def a_long_statement_is_whole():
    value = "x" * 3_000_000
    equal(run("select length(%s)", (value,)), [(3_000_000,)])


@case
def wrong_password_is_refused():
    refused(pymysql.err.OperationalError, lambda: connect(password="wrong"), lambda error: error.args[0] == 1045)


@case
def rows_found_are_counted_for_upserts_as_for_updates():
    found = connect(client_flag=pymysql.constants.CLIENT.FOUND_ROWS)
    upsert = "insert into t_{0} values {1} on duplicate key update {2} = values({2})"
    for table, column in (("log", "line"), ("dict", "word")):
        run(f"delete from t_{table}")
        for own, rows, count in (
            (db, "(1, 'a'), (2, 'b'), (3, 'c')", 3),
            (db, "(1, 'a'), (2, 'b')", 0),
            (found, "(1, 'a'), (2, 'b')", 2),
            (found, "(1, 'a'), (2, 'x'), (4, 'd')", 4),
            (db, "(1, 'b'), (2, 'x'), (5, 'd')", 3),
            (found, "(1, 'b')", 1),
            (found, "(1, 'c')", 2),
            (found, "(6, 'c')", 1),
        ):
            equal((table, rows, run(upsert.format(table, rows, column), own=own)), (table, rows, count))
    found.close()


@case
def drop():
    for table in ("t_order", "t_log", "t_dict"):
        run(f"drop table {table}")


db.close()
done()
