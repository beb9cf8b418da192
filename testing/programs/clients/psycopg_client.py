"""psycopg 3: pipelines, server-side prepares, binary rows, COPY, cancel."""

import datetime
import threading
from decimal import Decimal

import psycopg

from cases import DATABASE, PORT, case, done, equal, refused

WHEN = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456)


def connect(**more):
    return psycopg.connect(
        host="127.0.0.1", port=PORT, user="test", password="test", dbname=DATABASE, connect_timeout=10, **more
    )


db = connect(autocommit=True)


def copied(query):
    with db.cursor() as cursor, cursor.copy(query) as copy:
        return b"".join(bytes(piece) for piece in copy).decode()


@case
def create():
    db.execute(
        "create table t_order (order_id bigint primary key, user_id int not null, status varchar(32),"
        " amount numeric(10,2), made timestamp, payload bytea, paid boolean)"
    )
    db.execute("create table t_log (id bigint primary key, line text)")
    db.execute("create table t_dict (id int primary key, word text)")


@case
def what_is_said_of_a_table_is_said_once():
    heard = []
    with connect(autocommit=True) as own:
        own.add_notice_handler(lambda notice: heard.append(notice.message_primary))
        own.execute("create table if not exists t_order (order_id bigint)")
        own.execute("alter table t_order drop column if exists nope")
        own.execute("drop table if exists t_nowhere")
    equal(heard, [
        'relation "t_order" already exists, skipping',
        'column "nope" of relation "t_order" does not exist, skipping',
        'table "t_nowhere" does not exist, skipping',
    ])


@case
def channels_tell_when_their_transaction_commits():
    with connect(autocommit=True) as one, connect() as other:
        heard = lambda count: [(told.channel, told.payload, told.pid == other.info.backend_pid) for told in one.notifies(timeout=5, stop_after=count)]
        one.execute("listen jobs")
        other.execute("select pg_notify(%s, %s)", ("jobs", "1"))
        equal(list(one.notifies(timeout=0.2)), [])
        other.commit()
        equal(heard(1), [("jobs", "1", True)])
        for prepare in (False, True):
            other.execute("select pg_notify('jobs', json_build_object('a', %s::int)::text), %s::int", (5, 6), prepare=prepare)
            other.execute("notify jobs, 'text'", prepare=prepare)
            other.commit()
            equal(heard(2), [("jobs", '{"a" : 5}', True), ("jobs", "text", True)])
        other.execute("notify jobs, 'never'")
        other.rollback()
        with one.pipeline():
            one.execute("listen more", prepare=True)
            one.execute("select pg_notify('more', 'pipe')")
        equal([(told.channel, told.payload) for told in one.notifies(timeout=5, stop_after=1)], [("more", "pipe")])
        equal(one.execute("select * from pg_listening_channels() where pg_listening_channels > %s order by 1", ("a",)).fetchall(), [("jobs",), ("more",)])


@case
def executemany_in_a_pipeline():
    rows = [(i, i % 7, f"s{i % 3}", Decimal(i) / 4, WHEN, bytes([i]), i % 2 == 0) for i in range(1, 101)]
    with db.cursor() as cursor:
        cursor.executemany("insert into t_order values (%s, %s, %s, %s, %s, %s, %s)", rows)
        equal(cursor.rowcount, 100)
    equal(db.execute("select * from t_order order by order_id").fetchall(), rows)


@case
def point_and_range():
    one = db.execute("select status from t_order where order_id = %s and user_id = %s", (10, 3)).fetchone()
    equal(one, ("s1",))
    page = db.execute("select order_id from t_order where order_id between 20 and 60 order by order_id desc limit 3 offset 2")
    equal(page.fetchall(), [(58,), (57,), (56,)])


@case
def aggregates():
    row = db.execute("select count(*), sum(amount), min(order_id), max(order_id), avg(amount) from t_order").fetchone()
    equal(row, (100, Decimal("1262.50"), 1, 100, Decimal("12.6250000000000000")))
    groups = db.execute("select status, count(*), sum(amount) from t_order group by status order by status")
    equal(groups.fetchall(), [("s0", 33, Decimal("420.75")), ("s1", 34, Decimal("429.25")), ("s2", 33, Decimal("412.50"))])


@case
def sums_that_are_no_numbers():
    spans = "select sum(made - '2024-01-01'), avg(made - '2024-01-01'), sum(amount::money)::numeric from t_order where order_id <= 2"
    equal(db.execute(spans).fetchone(), (2 * (WHEN - datetime.datetime(2024, 1, 1)), WHEN - datetime.datetime(2024, 1, 1), Decimal("0.75")))
    groups = db.execute("select status, sum(made - '2024-01-01') from t_order where order_id <= 3 group by status order by status")
    equal(groups.fetchall(), [(f"s{i}", WHEN - datetime.datetime(2024, 1, 1)) for i in range(3)])


@case
def aggregates_of_the_users_own():
    db.execute("create aggregate total_of(bigint) (sfunc = int8pl, stype = bigint, initcond = '0')")
    equal(db.execute("select total_of(order_id), total_of(user_id) + 1 from t_order").fetchone(), (5050, 298))
    equal(copied("copy (select total_of(order_id) from t_order) to stdout"), "5050\n")
    db.execute("drop aggregate total_of(bigint)")


@case
def errors_name_what_the_client_knows():
    db.execute("alter table t_order alter made set not null")
    db.execute("alter table t_order add constraint few check (amount < 1000)")
    told = {
        "insert into t_order (order_id, user_id, made) values (2, 2, now())": ("t_order", "t_order_pkey", 'duplicate key value violates unique constraint "t_order_pkey"'),
        "update t_order set amount = 5000": ("t_order", "few", 'new row for relation "t_order" violates check constraint "few"'),
        "update t_order set amount = 1, made = null": ("t_order", None, 'null value in column "made" of relation "t_order" violates not-null constraint'),
        "select t_order.nothing from t_order where order_id = 1 and user_id = 1": (None, None, "column t_order.nothing does not exist"),
        "alter table t_order add column status int": (None, None, 'column "status" of relation "t_order" already exists'),
        "insert into t_order values (1, 1, 'a', 1, now(), '', true, 8)": (None, None, "INSERT has more expressions than target columns"),
    }
    for sql, expected in told.items():
        for prepare in (False, True):
            try:
                db.execute(sql, prepare=prepare)
            except psycopg.Error as error:
                equal((error.diag.table_name, error.diag.constraint_name, error.diag.message_primary), expected)
            else:
                raise AssertionError(f"not refused: {sql}")
    db.execute("alter table t_order drop constraint few")
    db.execute("alter table t_order alter made drop not null")


@case
def parts_that_differ_are_no_one_answer():
    # A definition that fails where there are rows has been done where there are none, in a session of type BASE, which takes none back.
    db.execute("create table t_order_item (item_id bigint primary key, order_id bigint not null, user_id int not null)")
    db.execute("insert into t_order_item values (1, 1, 1)")
    with connect() as own:
        own.autocommit = True
        add = "alter table t_order_item add column more int not null"
        refused(psycopg.errors.NotNullViolation, lambda: own.execute(add), lambda e: True)
        equal(db.execute("select * from t_order_item").fetchall(), [(1, 1, 1)])
        own.execute("set variable transaction_type = BASE")
        refused(psycopg.errors.NotNullViolation, lambda: own.execute(add), lambda e: True)
    for prepare in (False, True):
        refused(psycopg.errors.FeatureNotSupported, lambda: db.execute("select * from t_order_item", prepare=prepare), lambda e: "columns" in str(e))
    equal(db.execute("select item_id from t_order_item").fetchall(), [(1,)])
    db.execute("drop table t_order_item")


@case
def prepared_on_the_server():
    for i in range(1, 31):
        row = db.execute("select user_id, amount from t_order where order_id = %s", (i,), prepare=True).fetchone()
        equal(row, (i % 7, Decimal(i) / 4))


@case
def binary_rows():
    with db.cursor(binary=True) as cursor:
        row = cursor.execute("select * from t_order where order_id = %s", (8,)).fetchone()
    equal(row, (8, 1, "s2", Decimal("2.00"), WHEN, b"\x08", True))


@case
def stream_row_by_row():
    with db.cursor() as cursor:
        ids = [row[0] for row in cursor.stream("select order_id from t_order order by order_id")]
    equal(ids, list(range(1, 101)))


@case
def commit_and_rollback():
    with connect() as own:
        own.execute("insert into t_order (order_id, user_id, status) values (201, 1, 'x'), (202, 2, 'x')")
        own.rollback()
        equal(own.execute("select count(*) from t_order where status = 'x'").fetchone(), (0,))
        own.execute("insert into t_order (order_id, user_id, status) values (201, 1, 'x'), (202, 2, 'x')")
        equal(db.execute("select count(*) from t_order where status = 'x'").fetchone(), (0,))
        own.commit()
        equal(db.execute("select count(*) from t_order where status = 'x'").fetchone(), (2,))


@case
def update_and_delete_count_over_all_shards():
    equal(db.execute("update t_order set status = 'y' where status = 'x'").rowcount, 2)
    equal(db.execute("delete from t_order where status = 'y'").rowcount, 2)


@case
def returning():
    row = db.execute("insert into t_order (order_id, user_id) values (301, 5) returning order_id, user_id").fetchone()
    equal(row, (301, 5))
    equal(db.execute("delete from t_order where order_id = 301 returning user_id").fetchall(), [(5,)])


@case
def merge_of_one_row():
    change = (
        "merge into {0} as t using (select cast(%s as int) id, cast(%s as text) v) as s on (t.{1} = s.id)"
        " when not matched then insert ({1}, {2}) values (s.id, s.v) when matched then update set {2} = s.v"
    )
    db.execute("create table alone (id int primary key, v text)")
    for table, key, column in (("t_dict", "id", "word"), ("t_log", "id", "line"), ("alone", "id", "v")):
        own = change.format(table, key, column)
        if table == "t_dict":
            refused(psycopg.errors.FeatureNotSupported, lambda: db.execute(own, (1, "x")), lambda e: "MERGE" in str(e))
            continue
        for prepare in (False, True):
            for id in (901, 902, 903):
                equal(db.execute(own, (id, f"{id} {prepare}"), prepare=prepare).statusmessage, "MERGE 1")
        equal(db.execute(f"select {key}, {column} from {table} order by 1").fetchall(), [(id, f"{id} True") for id in (901, 902, 903)])
        db.execute(f"delete from {table}")
    db.execute("drop table alone")


@case
def rows_that_a_limited_query_chooses():
    first = "(select order_id from t_order where user_id = %s order by order_id for update skip locked limit %s)"
    for prepare in (False, True):
        with connect() as own:
            # 3, 10 and 17 are the first of user 3.
            taken = own.execute(f"update t_order set status = %s where order_id in {first} and amount > %s returning order_id", ("taken", 3, 3, 1), prepare=prepare)
            equal(sorted(taken.fetchall()), [(10,), (17,)])
            equal(own.execute(f"with c as {first} delete from t_order using c where c.order_id = t_order.order_id and amount < %s", (3, 2, 1), prepare=prepare).rowcount, 1)
            equal(own.execute("select count(*), count(*) filter (where status = 'taken') from t_order").fetchone(), (99, 2))
            own.rollback()
    # NULL is no limit, and a number below zero none that there is.
    locking = "select order_id from t_order where order_id < 5 order by order_id limit %s for update"
    with connect() as own:
        equal([row[0] for row in own.execute(locking, (2,))], [1, 2])
        equal(len(own.execute(locking, (None,)).fetchall()), 4)
        refused(psycopg.errors.InvalidRowCountInLimitClause, lambda: own.execute(locking, (-1,)), lambda e: "negative" in str(e))
        own.rollback()


@case
def generated_keys():
    ids = [db.execute("insert into t_log (line) values (%s) returning id", (f"line {i}",)).fetchone()[0] for i in range(10)]
    equal(len(set(ids)), 10)
    equal(sorted(ids), ids)
    equal(db.execute("select line from t_log where id = %s", (ids[3],)).fetchone(), ("line 3",))


@case
def broadcast_counts_once():
    equal(db.execute("insert into t_dict values (1, 'one'), (2, 'two')").rowcount, 2)
    equal(db.execute("select count(*) from t_dict").fetchone(), (2,))


@case
def text_of_every_kind():
    for value in ("", "it's", 'a "b" \\ c', "日本語 – ñ 🐼", None):
        db.execute("update t_order set status = %s where order_id = 1", (value,))
        equal(db.execute("select status from t_order where order_id = 1").fetchone(), (value,))


@case
def errors_have_their_code_and_leave_the_connection_usable():
    refused(psycopg.errors.UniqueViolation, lambda: db.execute("insert into t_order (order_id, user_id) values (2, 2)"), lambda e: True)
    refused(psycopg.errors.SyntaxError, lambda: db.execute("selec 1"), lambda e: True)
    refused(psycopg.errors.UndefinedTable, lambda: db.execute("select * from nowhere"), lambda e: True)
    refused(psycopg.errors.NotNullViolation, lambda: db.execute("insert into t_dict (id) values (null)"), lambda e: True)
    equal(db.execute("select 1").fetchone(), (1,))


@case
def errors_stand_where_the_client_wrote_what_they_are_about():
    for query in (
        "select order_id, 'ü', ?issing from t_order where order_id = 1",
        "select order_id, ?issing from t_order",
        "select order_id from t_order order by ?issing limit 3",
        "select ?t_order.missing from t_order where order_id in (1, 2)",
        "select avg(user_id), ?issing from t_order group by 2",
        "select order_id from t_order where status ?> 1 order by order_id desc limit 4",
        "update t_order set status = ?issing",
        "insert into t_order (order_id, user_id, paid) values (1001, 1, true), (1002, 2, true), (1003, 3, ?'x')",
        "select ?issing",
        "select nowhere from t_order join ?nowhere using (order_id)",
        "?selec 1",
    ):
        at, query = query.index("?") + 1, query.replace("?issing", "missing").replace("?", "")
        for prepare in (False, True):
            refused(psycopg.Error, lambda: db.execute(query, prepare=prepare), lambda e: e.diag.statement_position == str(at))
    # In a text of several statements it counts from the first.
    several = "select 1; select order_id from t_order where order_id = 1 and missing; select 2"
    refused(psycopg.errors.UndefinedColumn, lambda: db.execute(several), lambda e: e.diag.statement_position == str(several.index("missing") + 1))


@case
def deallocate_forgets_what_parse_has_prepared():
    with connect() as own:
        # In a transaction, where an error would be the end of it; libpq before 17 has no Close, and psycopg says DEALLOCATE.
        own.prepare_threshold, own.prepared_max = 0, 2
        for number in range(6):
            equal(own.execute(f"select {number}, count(*) from t_order where order_id < %s", (number,)).fetchone()[0], number)
        for text in ("deallocate {}", "DEALLOCATE PREPARE {} ;"):
            own.pgconn.prepare(b"Named", b"select 1")
            equal(own.execute(text.format('"Named"')).statusmessage, "DEALLOCATE")
        refused(psycopg.errors.InvalidSqlStatementName, lambda: own.execute('deallocate "Named"'), lambda e: True)


@case
def what_programs_ask_when_they_connect():
    with connect(autocommit=True) as own:
        # Sequelize
        own.execute("set client_min_messages to warning; set time zone interval '+05:30' hour to minute")
        equal(own.execute("show timezone").fetchone(), ("<+05:30>-05:30",))
        equal(own.execute("select '2024-01-01 00:00:00+00'::timestamptz::text, count(*) from t_dict").fetchone()[0], "2024-01-01 05:30:00+05:30")
        # TypeORM
        for query in ("select * from current_database()", "select x from current_database() x", "select n from current_database() as x(n)"):
            equal(own.execute(query).fetchall(), [(DATABASE,)])
        equal(own.execute("select current_database from current_database() cross join (select 1) as one").fetchall(), [(DATABASE,)])


@case
def discard_says_what_it_forgets():
    for what, tag in (("plans", "PLANS"), ("sequences", "SEQUENCES"), ("temporary /* not all */", "TEMP"), ("temp", "TEMP"), ("all", "ALL")):
        equal(db.execute(f"discard {what}").statusmessage, f"DISCARD {tag}")
    refused(psycopg.errors.SyntaxError, lambda: db.execute("discard nothing"), lambda e: True)


@case
def a_failed_transaction_refuses_until_rollback():
    with connect() as own:
        refused(psycopg.errors.UniqueViolation, lambda: own.execute("insert into t_order (order_id, user_id) values (2, 2)"), lambda e: True)
        refused(psycopg.errors.InFailedSqlTransaction, lambda: own.execute("select count(*) from t_order"), lambda e: True)
        own.rollback()
        equal(own.execute("select count(*) from t_order").fetchone(), (100,))


@case
def copy_in_and_out():
    with db.cursor() as cursor:
        with cursor.copy("copy t_order (order_id, user_id, status) from stdin") as copy:
            for i in range(1000, 1100):
                copy.write_row((i, i % 5, "copied"))
        equal(db.execute("select count(*) from t_order where status = 'copied'").fetchone(), (100,))
    equal(db.execute("delete from t_order where status = 'copied'").rowcount, 100)


@case
def copy_of_queries_that_are_merged():
    head = "order_id,status\n"
    equal(copied("copy (select order_id, status from t_order order by order_id desc limit 2) to stdout csv header"), head + "100,s1\n99,s0\n")
    equal(copied("copy (select user_id % 2 as odd, count(*) from t_order group by 1 order by 1) to stdout"), "0\t57\n1\t43\n")
    equal(copied("copy (select distinct paid from t_order order by 1) to stdout (format csv, force_quote *)"), '"f"\n"t"\n')
    whole = copied("copy t_order (order_id, status) to stdout csv header")
    equal((whole.count("\n"), whole.count("order_id"), whole.startswith(head)), (101, 1, True))
    equal(copied("copy (select tablename from pg_tables where schemaname = 'public' order by 1) to stdout"), "t_dict\nt_log\nt_order\n")


@case
def a_copied_row_comes_alone():
    def rows(query, binary=False):
        with db.cursor() as cursor, cursor.copy(query) as copy:
            copy.set_types(["int8", "int8"])
            return [row if binary else tuple(int(field) for field in row) for row in copy.rows()]

    # Rows of several units as they are, and merged ones.
    equal(sorted(rows("copy (select order_id, user_id from t_order where order_id < 5) to stdout")), [(i, i % 7) for i in range(1, 5)])
    for query in ("select order_id, order_id + 1 from t_order order by 1 desc limit 3", "select order_id::int8, order_id::int8 + 1 from t_order where order_id in (98, 99, 100)"):
        for form, binary in (("", False), (" (format binary)", True)):
            equal(sorted(rows(f"copy ({query}) to stdout{form}", binary)), [(i, i + 1) for i in (98, 99, 100)])
    equal(rows("copy (select order_id::int8, 1::int8 from t_order where order_id < 0) to stdout (format binary)", True), [])


@case
def copy_writes_what_needs_care():
    text = 'a\tb"c\\d\n\x0b,'
    db.execute("update t_order set status = %s where order_id in (1, 2)", (text,))
    query = "select order_id, status, null as n, '' as e from t_order where order_id < 4 order by order_id"
    equal(copied(f"copy ({query}) to stdout"), "".join(f'{i}\ta\\tb"c\\\\d\\n\\v,\t\\N\t\n' for i in (1, 2)) + "3\ts0\t\\N\t\n")
    equal(copied(f"copy ({query}) to stdout csv"), "".join(f'{i},"a\tb""c\\d\n\x0b,",,""\n' for i in (1, 2)) + '3,s0,,""\n')
    db.execute("update t_order set status = 's' || order_id % 3 where order_id in (1, 2)")


@case
def copy_refuses_lines_with_too_few_or_too_many_fields():
    def of(line):
        def work():
            with db.cursor() as cursor, cursor.copy("copy t_log from stdin") as copy:
                copy.write("1\tx\n" + line)

        return work

    refused(psycopg.errors.BadCopyFileFormat, of("2\n"), lambda e: 'missing data for column "line"' in str(e))
    refused(psycopg.errors.BadCopyFileFormat, of("2\ty\tz\n"), lambda e: "extra data after last expected column" in str(e))
    equal(db.execute("select count(*) from t_log").fetchone(), (10,))


@case
def copy_into_a_broadcast_table_and_with_a_condition():
    with db.cursor() as cursor:
        with cursor.copy("copy t_dict from stdin (format csv, header match)") as copy:
            copy.write("id,word\n3,three\n4,four\n")
        equal(cursor.rowcount, 2)
        equal(db.execute("delete from t_dict where id > 2").rowcount, 2)
        with cursor.copy("copy t_log from stdin where id < 3") as copy:
            copy.write("1\ta\n2\tb\n3\tc\n4\td\n")
        equal(cursor.rowcount, 2)
    equal(db.execute("delete from t_log where id < 10").rowcount, 2)


@case
def copy_reads_fields_and_lines_as_the_server_does():
    def into(sql, data):
        with db.cursor() as cursor, cursor.copy(sql) as copy:
            copy.write(data)

    def there():
        # Each row by its own key: one on a wrong shard is not found.
        rows = [(i, db.execute("select status from t_order where order_id = %s and user_id = %s", (i, i % 4)).fetchone()) for i in range(500, 504)]
        equal(db.execute("delete from t_order where order_id >= 500").rowcount, 4)
        return {i: row and row[0] for i, row in rows}

    columns = "(order_id, user_id, status)"
    into(f"copy t_order {columns} from stdin", "50\\60\t\\60\ta\\x41\n5\\x301\t\\x31\t\\b\n502\t\\062\t\\101\n503\t\\063\t\\N\n")
    equal(there(), {500: "aA", 501: "\b", 502: "A", 503: None})
    text = "order_id,user_id,status\r\n500,0,a\r\n501,\"1\",\"b\nc\"\r\n502,2,\r\n503,3,\"\""
    into(f"copy t_order {columns} from stdin (format csv, header)", text)
    equal(there(), {500: "a", 501: "b\nc", 502: None, 503: ""})
    into(f"copy t_order {columns} from stdin (format csv, escape '\\')", '500,"0","a\\"\\n"\n501,1,"""b"\n502,2,\\\n503,"3",\n')
    equal(there(), {500: 'a"\\n', 501: "b", 502: "\\", 503: None})
    refused(
        psycopg.errors.FeatureNotSupported, lambda: into(f"copy t_order {columns} from stdin (default 'd')", ""), lambda e: "default" in str(e)
    )


@case
def copy_leaves_out_what_the_server_computes():
    db.execute("create table t_order_item (item_id int, twice int generated always as (item_id * 2) stored, order_id int, user_id int)")
    with db.cursor() as cursor:
        with cursor.copy("copy t_order_item from stdin") as copy:
            copy.write("".join(f"{i}\t{i % 3}\t{i % 5}\n" for i in range(30)))
        equal(cursor.rowcount, 30)
        with cursor.copy("copy t_order_item from stdin (format binary)") as copy:
            copy.set_types(["int4", "int4", "int4"])
            for i in range(30, 60):
                copy.write_row((i, i % 3, i % 5))
        equal(cursor.rowcount, 30)
    for i in (7, 37):
        found = db.execute("select twice from t_order_item where item_id = %s and order_id = %s and user_id = %s", (i, i % 3, i % 5))
        equal(found.fetchall(), [(2 * i,)])
    db.execute("drop table t_order_item")


@case
def copies_of_a_broadcast_table_do_not_drift():
    def copy(sql, data):
        with db.cursor() as cursor:
            with cursor.copy(sql) as copying:
                copying.write(data)
            return cursor.rowcount

    refused(psycopg.errors.FeatureNotSupported, lambda: db.execute("alter table t_dict add column n bigserial"), lambda e: "would number the rows" in str(e))
    refused(psycopg.errors.FeatureNotSupported, lambda: copy("copy t_dict from stdin where random() < 2", ""), lambda e: "`random`" in str(e))
    equal(copy("copy t_dict from stdin", "8\tx\n"), 1)
    db.execute("delete from t_dict where id = 8")


@case
def copy_leaves_nothing_behind():
    for condition, reason in (("pg_advisory_lock(1) is null", "call it in a statement of its own"), ("set_config('work_mem', '1MB', false) = '1MB'", "server connection")):
        refused(psycopg.errors.FeatureNotSupported, lambda: copied(f"copy t_log from stdin where {condition}"), lambda e: reason in str(e))


@case
def a_pipeline_of_many_statements():
    with connect(autocommit=True) as own, own.pipeline():
        cursors = [own.execute("select amount from t_order where order_id = %s", (i,)) for i in range(1, 51)]
        equal([cursor.fetchone()[0] for cursor in cursors], [Decimal(i) / 4 for i in range(1, 51)])


@case
def cancel_reaches_the_database():
    own = connect(autocommit=True)
    timer = threading.Timer(0.5, own.cancel)
    timer.start()
    refused(psycopg.errors.QueryCanceled, lambda: own.execute("select pg_sleep(60)"), lambda e: True)
    timer.join()
    equal(own.execute("select 1").fetchone(), (1,))
    own.close()


@case
def what_was_prepared_for_another_type_serves_nobody():
    db.execute("alter table t_log add at date")
    add = "insert into t_log (id, line, at) values (%s, 'dated', %s)"
    for i in (1, 2):
        db.execute(add, (i, "2024-01-01"), prepare=True)
    db.execute("alter table t_log alter at type timestamp")
    with connect(autocommit=True) as own:
        own.execute(add, (3, "2024-01-01 12:34:56"), prepare=True)
    kept = db.execute("select at from t_log where id = 3 and line = 'dated'").fetchall()
    db.execute("delete from t_log where line = 'dated'")
    db.execute("alter table t_log drop at")
    equal(kept, [(datetime.datetime(2024, 1, 1, 12, 34, 56),)])


@case
def types_that_prepare_names_are_heeded():
    db.execute("prepare half (numeric) as select 7 / $1")
    equal(db.execute("execute half (2)").fetchone(), (Decimal("3.5000000000000000"),))
    db.execute("prepare less (int, int) as select $1 < $2")
    equal(db.execute("execute less (9, 10)").fetchone(), (True,))
    equal(db.execute("execute less (9::int, 10)").fetchone(), (True,))
    refused(psycopg.errors.FeatureNotSupported, lambda: db.execute("execute less (9.7::numeric, 10)"), lambda e: "literals only" in str(e))
    refused(psycopg.errors.FeatureNotSupported, lambda: db.execute("prepare own (mood) as select $1"), lambda e: "mood" in str(e))
    db.execute("deallocate all")


@case
def wrong_password_is_refused():
    refused(
        psycopg.OperationalError,
        lambda: psycopg.connect(host="127.0.0.1", port=PORT, user="test", password="wrong", dbname=DATABASE),
        lambda e: "password authentication failed" in str(e),
    )


@case
def a_named_cursor_with_hold():
    ids = [row[0] for row in db.execute("select order_id from t_order order by 1").fetchall()]
    for binary in (False, True):
        with db.cursor("many", withhold=True, binary=binary) as cursor:
            cursor.itersize = 7
            cursor.execute("select order_id, amount from t_order where order_id >= %s order by order_id", (0,))
            first = cursor.fetchone()
            db.execute("update t_order set amount = amount + 1")
            equal([row[0] for row in (first, *cursor)], ids)
            db.execute("update t_order set amount = amount - 1")
    with db.transaction():
        kept = db.cursor("kept", withhold=True)
        kept.execute("select order_id from t_order order by order_id")
        equal(kept.fetchmany(2), [(id,) for id in ids[:2]])
    equal(kept.fetchall(), [(id,) for id in ids[2:]])
    kept.close()


@case
def a_fetch_is_prepared_before_its_cursor_is_declared():
    with connect() as own:
        own.execute("select 1")
        raw = own.pgconn
        prepared = raw.prepare(b"next", b"fetch 2 from later")
        equal((prepared.error_message, raw.describe_prepared(b"next").nfields), (b"", 0))
        for columns in (b"order_id", b"order_id, user_id"):
            own.execute(b"declare later cursor for select " + columns + b" from t_order order by order_id")
            rows = raw.exec_prepared(b"next", None)
            equal((rows.error_message, rows.nfields, rows.ntuples, rows.get_value(1, 0)), (b"", 1 + columns.count(b","), 2, b"2"))
            own.execute("close later")
        gone = raw.exec_prepared(b"next", None)
        equal(gone.error_field(psycopg.pq.DiagnosticField.SQLSTATE), b"34000")
        own.rollback()
        portal = raw.describe_portal(b"later")
        equal(portal.error_field(psycopg.pq.DiagnosticField.SQLSTATE), b"34000")


@case
def every_byte_is_a_char():
    raw = db.pgconn
    for byte in (b"a", b"\x80", b"\xff"):
        told = raw.exec_params(b'select $1::"char"', [byte], [18], [1], 1)
        equal((told.error_message, told.get_value(0, 0)), (b"", byte))


@case
def drop():
    for table in ("t_order", "t_log", "t_dict"):
        db.execute(f"drop table {table}")


db.close()
done()
