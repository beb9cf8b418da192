"""The same statements straight to one server and through Pando: labels, rows, counts, keys, warnings and errors must agree."""

import os
import re

import pymysql
from pymysql.constants import CLIENT

from cases import DATABASE, FAMILY, PORT, case, done, equal

STRAIGHT = "direct"


def connect(port, database):
    return pymysql.connect(
        host="127.0.0.1", port=port, user="test", password="test", database=database, autocommit=True,
        connect_timeout=10, client_flag=CLIENT.MULTI_STATEMENTS,
    )


straight = connect(int(os.environ["STRAIGHT_PORT"]), STRAIGHT)
through = connect(PORT, DATABASE)


def told(connection, database, sql):
    """Everything a client is told about one text, with the database's name taken out. MySQL 8 warns of FOUND_ROWS() itself."""
    said = []
    with connection.cursor() as cursor:
        try:
            cursor.execute(sql.replace("{db}", database))
            more = True
            while more:
                labels = [column[0] for column in cursor.description or ()]
                result = cursor._result
                said.append((labels, list(cursor.fetchall()), cursor.rowcount, cursor.lastrowid, 0 if "found_rows" in sql else result.warning_count))
                more = cursor.nextset()
        except pymysql.Error as error:
            said.append(error.args)
    return re.sub(rf"(?<![a-z]){database}\b", "{{db}}", repr(said))


def same(*statements):
    for sql in statements:
        try:
            equal(told(through, DATABASE, sql), told(straight, STRAIGHT, sql))
        except AssertionError as error:
            raise AssertionError(f"{sql}: {error}") from None


@case
def create():
    same(
        "create table t_order (order_id bigint not null primary key, user_id int not null, status varchar(32), note text,"
        " key by_status (status), key both_of_them (user_id, status))",
        "create table t_order_item (item_id bigint not null primary key, order_id bigint not null, user_id int not null,"
        " constraint of_order foreign key (order_id) references t_order (order_id))",
        "create table t_dict (id int not null primary key, word varchar(20) unique)",
        "create table t_alone (id int not null auto_increment primary key, a int unique, b enum('x', 'y') default 'x', c blob)",
    )


@case
def counts_and_keys():
    same(
        "insert into t_order (order_id, user_id, status) values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 2, 'd')",
        "select row_count()",
        "select row_count()",
        "insert into t_dict values (1, 'one'), (2, 'two')",
        "select row_count(), last_insert_id()",
        "insert into t_alone (a) values (10), (20), (30)",
        "select last_insert_id(), row_count()",
        "insert into t_alone values (77, 40, 'y', 'c')",
        "select last_insert_id(), @@last_insert_id, @@identity",
        "insert into t_alone (a) values (20) on duplicate key update b = 'y', id = last_insert_id(id)",
        "select last_insert_id()",
        "insert into t_alone (a) values (50); select last_insert_id()",
        "update t_alone set c = 'd' where id > 1",
        "select row_count()",
        "update t_alone set c = 'd' where id > 1",
        "select row_count()",
        "update t_order set status = concat(status, '!') where order_id in (1, 2, 3)",
        "select row_count()",
        "replace into t_alone (id, a) values (77, 41)",
        "select row_count()",
        "delete from t_order where order_id = 4",
        "select row_count()",
        "select order_id from t_order order by order_id",
        "select found_rows()",
        "select order_id from t_order order by order_id limit 2",
        "select found_rows()",
        "select sql_calc_found_rows id from t_alone order by id limit 1",
        "select found_rows()",
        "truncate table t_alone",
        "select row_count()",
    )


@case
def warnings_and_errors():
    same(
        "insert into t_alone (a) values (1)",
        "insert ignore into t_alone (a) values (1)",
        "show warnings",
        "show count(*) warnings",
        "insert ignore into t_alone (a) values (1)",
        "select @@warning_count, @@error_count",
        "select cast('x' as signed), cast('y' as signed)",
        "show warnings limit 1",
        "show warnings limit 1, 1",
        "show errors",
        "insert into t_alone (a) values (1)",
        "show errors",
        "show count(*) errors",
        "select * from t_alone where nowhere = 1",
        "show warnings",
    )


@case
def shown_as_one_server_shows_it():
    same(
        "show tables like 't_o%'",
        "show full tables where Table_type = 'BASE TABLE'",
        "show columns from t_order",
        "show full columns from t_order_item like '%id'",
        "describe t_dict",
        "describe t_order status",
        "show index from t_order where Key_name = 'nothing'",
        "show create table t_order",
        "show create table t_order_item",
        "show create table t_dict",
        "show engines",
        "show variables like 'autocommit'",
        "show charset like 'utf8mb4'",
        "show collation like 'utf8mb4_bin'",
        "show triggers",
        "show open tables like 'nothing'",
        "show table status like 'nothing'" if FAMILY == "mysql" else "show tables like 'nothing'",
        "select TABLE_NAME from information_schema.tables where table_schema = '{db}' order by 1",
    )


@case
def the_catalogue_as_one_server_tells_it():
    own = "where table_schema = '{db}'"
    typed = [] if FAMILY == "mysql" else [f"select table_type, count(*) from information_schema.tables {own} group by table_type"]
    same(
        f"select table_name, Engine from information_schema.tables {own} order by table_name",
        f"select distinct t.Table_name from information_schema.columns t {own} order by t.table_name",
        f"select table_name, column_name from information_schema.table_constraints t left join information_schema.key_column_usage k"
        f" using (constraint_name, table_schema, table_name) {own} and t.constraint_type = 'PRIMARY KEY' order by table_name, ordinal_position",
        f"select table_name from information_schema.tables {own} and table_name in"
        f" (select table_name from information_schema.columns {own} and column_name = 'order_id') order by table_name",
        f"select table_name from information_schema.tables t {own} and exists (select 1 from information_schema.columns c"
        " where c.table_schema = t.table_schema and c.table_name = t.table_name and column_name = 'user_id') order by 1",
        f"select engine, count(*) from information_schema.tables {own} group by engine",
        f"select constraint_type, count(*) n from information_schema.table_constraints {own} group by constraint_type order by n, 1",
        f"select table_name as t from information_schema.tables {own} and table_name like 't\_o%' union select 'x' order by 1",
        *typed,
    )


@case
def maintenance_speaks_of_logic_tables():
    same(
        "analyze table t_order",
        "analyze table t_order, t_dict, t_alone",
        "check table t_order, t_alone",
        "check table t_order, nowhere",
        "optimize table t_order_item",
        "repair table t_order",
        "checksum table t_order",
        "checksum table t_dict, t_alone, t_order, t_order_item",
    )


@case
def session_modes_are_shown():
    name = "transaction" if FAMILY == "mysql" else "tx"
    shown = f"select @@{name}_isolation, @@session.{name}_read_only"
    same(
        "set session transaction isolation level read committed",
        shown,
        f"show variables like '{name}_isolation'",
        "begin",
        "select count(*) from t_order",
        "commit",
        "set session transaction isolation level serializable, read only",
        shown,
        "insert into t_alone (a) values (5)",
        "insert into t_order values (5, 5, 'e', null)",
        "set session transaction read write",
        "insert into t_order values (5, 5, 'e', null)",
        f"set @@session.{name}_isolation = 'REPEATABLE-READ'",
        shown,
        f"set {name}_read_only = 1",
        shown,
        f"set {name}_read_only = 0",
        "begin",
        "select count(*) from t_order",
        "set session transaction isolation level read uncommitted",
        shown,
        "set transaction isolation level serializable",
        "commit",
        shown,
        "set session transaction isolation level repeatable read",
    )


@case
def the_vendors_own_databases():
    same(
        "use information_schema",
        "select database()",
        "select TABLE_NAME from tables where table_schema = '{db}' order by 1",
        "select t.TABLE_NAME, COLUMN_NAME from tables t join columns c using (table_schema, table_name)"
        " where table_schema = '{db}' and ordinal_position = 1 order by 1",
        "show tables like 'TABLES'",
        "show tables from {db}",
        "select count(*) from {db}.t_order",
        "select 1 from dual",
        "select * from nowhere",
        "use mysql",
        "select count(*) > 0 from user",
        "use nowhere",
        "use {db}",
        "select count(*) from t_order",
    )
    for database in ("information_schema", "mysql", "performance_schema"):
        with connect(PORT, database) as own, own.cursor() as cursor:
            cursor.execute("select database()")
            equal(cursor.fetchall(), ((database,),))


@case
def an_analysing_procedure_never_answers_once_per_shard():
    if FAMILY == "mariadb":
        with through.cursor() as cursor:
            try:
                cursor.execute("select order_id from t_order procedure analyse()")
            except pymysql.Error:
                return
            equal([row[1:3] for row in cursor.fetchall()], [(b"1", b"5")])


@case
def errors_name_what_the_client_knows():
    same(
        "create table if not exists t_order (order_id bigint primary key)",
        "show warnings",
    )
    # Servers tell how many rows they copied for it.
    for connection, database in ((through, DATABASE), (straight, STRAIGHT)):
        told(connection, database, "alter table t_order add constraint few check (user_id < 1000)")
    same(
        "insert into t_order (order_id, user_id) values (900, 1)",
        "insert into t_order (order_id, user_id) values (900, 1)",
        "insert ignore into t_order (order_id, user_id) values (900, 1)",
        "show warnings",
        "insert into t_order (order_id, user_id) values (901, 5000)",
        "insert into t_order (order_id, user_id, nothing) values (903, 1, 1)",
        "insert into t_order values (904)",
        "select t_order.nothing from t_order where order_id = 900",
        "select o.nothing from t_order o where order_id = 900",
        "select * from t_order use index (nothing) where order_id = 900",
        "alter table t_order drop index nothing",
        "alter table t_order drop constraint nothing",
        "alter table t_order add column status int",
        "create index by_status on t_order (user_id)",
        "create table t_order (order_id bigint primary key)",
        "create table t_alone (id int primary key)",
        "delete from t_order where order_id = 900",
        "select * from t_nothing",
        "insert into t_nothing values (1)",
        "truncate t_nothing",
        "describe t_nothing",
        "show create table t_nothing",
        "alter table t_nothing add column a int",
    )
    for connection, database in ((through, DATABASE), (straight, STRAIGHT)):
        told(connection, database, "alter table t_order drop constraint few")


class Numbered(pymysql.connections.Connection):
    """A client that names a collation by its number at login, and by nothing else."""

    def __init__(self, number, port, database):
        self.number = number
        super().__init__(host="127.0.0.1", port=port, user="test", password="test", database=database, autocommit=True, connect_timeout=10, client_flag=CLIENT.MULTI_STATEMENTS)

    def _request_authentication(self):
        by_name = pymysql.connections.charset_by_name
        pymysql.connections.charset_by_name = lambda name: pymysql.charset.Charset(self.number, "utf8mb4", "", "")
        try:
            super()._request_authentication()
        finally:
            pymysql.connections.charset_by_name = by_name

    def set_character_set(self, charset, collation=None):
        pass


@case
def the_collation_of_the_login_and_what_takes_it_back():
    literals = "select 'ss' = 'ß', 'a' = 'á', 'a' = 'A', 'z' < 'å', 'a' = 'a '"
    compared = f"{literals}; set @v = 'a'; select @v = 'A', collation(@v); set @w = concat('a', 'b'); select collation(@w)"
    telling = ("select @@collation_connection", "select concat(@@character_set_client, @@character_set_connection, @@character_set_results)")
    settings = (
        "set names utf8mb4 collate utf8mb4_bin",
        "set names utf8mb4",
        "set collation_connection = 'utf8mb4_unicode_ci'",
        "set names 'utf8mb4'",
        "set names utf8mb4 collate utf8mb4_german2_ci",
        "set character_set_connection = utf8mb4",
        "set collation_connection = utf8mb4_bin",
        "set names utf8mb4",
        "begin",
        "set names utf8mb4 collate utf8mb4_bin",
        "commit",
        "begin",
        "set names utf8mb4",
        "rollback",
    )
    # MariaDB knows no 255, and takes its own default character set for it.
    for number in (45, 46, 224, 232, 33) + ((255,) if FAMILY == "mysql" else ()):
        told_so = () if number == 33 else telling
        behind = () if number == 33 else settings
        ends = [Numbered(number, port, database) for port, database in ((PORT, DATABASE), (int(os.environ["STRAIGHT_PORT"]), STRAIGHT))]
        try:
            for setting in (None, *behind):
                for sql in (*((setting,) if setting else ()), literals if number == 33 else compared, *(telling if setting else told_so)):
                    through_it, straight_to = (told(end, database, sql) for end, database in zip(ends, (DATABASE, STRAIGHT)))
                    equal((number, setting, sql, through_it), (number, setting, sql, straight_to))
            # MariaDB would go back to the collation of the login; the door tells to be MySQL and does what that does.
            if FAMILY != "mysql":
                continue
            for end in ends:
                end._execute_command(0x1F, b"")  # COM_RESET_CONNECTION
                end._read_ok_packet()
            for sql in (compared, *telling):
                through_it, straight_to = (told(end, database, sql) for end, database in zip(ends, (DATABASE, STRAIGHT)))
                equal((number, "reset", sql, through_it), (number, "reset", sql, straight_to))
        finally:
            for end in ends:
                end.close()


class Latin(pymysql.connections.Connection):
    """Speaks latin1 from the login on; says so once more, as drivers do, where it is asked to."""

    def __init__(self, port, database, repeats):
        self.repeats = repeats
        super().__init__(
            host="127.0.0.1", port=port, user="test", password="test", database=database, autocommit=True, charset="latin1",
        )

    def set_character_set(self, charset, collation=None):
        if self.repeats:
            super().set_character_set(charset, collation)


def answer(connection, sql):
    """Rows as the client reads them, or the error."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(sql)
            return [column[0] for column in cursor.description or ()], list(cursor.fetchall())
        except pymysql.Error as error:
            return error.args


@case
def a_client_of_latin1_reads_and_writes_its_letters():
    statements = (
        "insert into t_dict values (901, 'caf\u00e9'), (902, '5 \u20ac')",
        "insert into t_alone (id, a, c) values (901, 901, 'caf\u00e9')",
        "insert into t_order (order_id, user_id, status) values (901, 1, '\u00fcber'), (902, 2, '\u00c4'), (903, 3, 'z'), (904, 4, 'a')",
        "update t_order set status = concat(status, '\u00df') where order_id = 901",
        "select word as `m\u00f6t` from t_dict where word = 'caf\u00e9'",
        "select id, c, hex(c) from t_alone where a = 901",
        "select order_id, status from t_order where order_id > 900 order by status, order_id",
        "select status, count(*) from t_order where order_id > 900 group by status order by status",
        "select hex('\u00e9'), length('\u00e9'), 'a\u00e9' like '%\u00e9', '\u00e9', 'x\u00e9' 'y', 'a' '\u00e9', md5(concat('\u00e9', 'a'))",
        "select date_format('2020-01-01', '\u00e9%Y'), '\u00df' = 's', '\u00dc' = 'Y', strcmp('\u00fc', 'y'), collation('a'), hex(if(1, '\u00e9', 'a'))",
        "select @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection",
        "set @o = @@character_set_client, @l = '\u00e9'",
        "select @o, @l, hex(@l), @l = '\u00c9'",
        "set names utf8mb4",
        "set character_set_client = @o, character_set_results = latin1, collation_connection = latin1_bin",
        "select '\u00e9' = '\u00c9', hex('\u00e9')",
        "set names latin1",
        "show full columns from t_dict like '\u00e9'",
        "insert into t_alone (id, a, c) values (902, 902, concat('\u00e9', 'a')), (903, 903, '\u00e9' 'b')",
        "alter table t_alone add column d varbinary(9) not null default '\u00df'",
        "select id, hex(c), hex(d) from t_alone where id > 901 order by id",
        "alter table t_alone drop column d",
        "select `n\u00e4me` from t_order where order_id = 1",
        "select '\\'\u00e9', \"\u00e9\" /* \u00e9 */ -- \u00e9",
        "select concat(_ucs2 X'6F22', word) a from t_dict where id = 901",
        "select group_concat(word order by id separator '\u00e9') as '\u00fc' from t_dict where id > 900",
        "delete from t_order where status in ('\u00fcber\u00df', '\u00c4', 'z', 'a') and order_id > 900",
        "select count(*) from t_order where order_id > 900",
    )
    for repeats in (False, True):
        pair = [Latin(PORT, DATABASE, repeats), Latin(int(os.environ["STRAIGHT_PORT"]), STRAIGHT, repeats)]
        # What comes often runs prepared on a unit.
        often = [f"insert into t_alone (id, a, c) values ({n}, {n}, '\u00e9{n}')" for n in range(910, 940)]
        often += [f"select hex(c), c = '\u00e9{n}' from t_alone where id = {n}" for n in range(910, 940)]
        often += [f"insert into t_order (order_id, user_id, status) values ({n}, {n}, '\u00fc{n}')" for n in range(910, 940)]
        often += [f"select hex(status) from t_order where user_id = {n} and status = '\u00fc{n}'" for n in range(910, 940)]
        often += ["delete from t_order where order_id > 900"]
        for sql in (*statements, *often):
            ours, theirs = (repr(answer(connection, sql)) for connection in pair)
            ours = ours.replace(f"{DATABASE}.", f"{STRAIGHT}.")
            assert ours == theirs, f"{sql}: {ours} instead of {theirs}"
        # What was written is text to others.
        with through.cursor() as cursor:
            cursor.execute("select word from t_dict where id = 901")
            equal(cursor.fetchall(), (("caf\u00e9",),))
        equal([answer(connection, "show tables like '\u00e9'")[1] for connection in pair], [[], []])
        for connection in pair:
            connection._execute_command(0x1F, b"")  # COM_RESET_CONNECTION
            connection._read_ok_packet()
        # MySQL's own goes to the server's character set, MariaDB's to the login's, which the client's library still knows.
        if FAMILY != "mysql":
            sql = "select hex('\u00e9'), @@character_set_results, @@collation_connection"
            equal(answer(pair[0], sql), answer(pair[1], sql))
        equal(answer(pair[0], "select word from t_dict where id = 901")[1], [("caf\u00e9",)])
        for connection in pair:
            equal(answer(connection, "set names utf8mb4"), ([], []))
            connection.encoding = "utf8"
            rows = answer(connection, "select word, '\u6f22' a from t_dict where id = 901")
            equal(rows, (["word", "a"], [("caf\u00e9", "\u6f22")]))
        for connection in pair:
            connection.close()
        for connection in (through, straight):
            with connection.cursor() as cursor:
                cursor.execute("delete from t_dict where id > 900")
                cursor.execute("delete from t_alone where id > 900")


@case
def tables_that_are_locked_for_reading():
    same(
        "insert into t_order (order_id, user_id) values (601, 1), (602, 2), (603, 3), (604, 4)",
        "lock tables t_order read, t_dict as d read local, t_dict read",
        "select count(*) from t_order where order_id > 600",
        "select order_id from t_order where user_id = 1 and order_id > 600",
        "select count(*) from t_dict as d",
        "select count(*) from t_dict",
        "select count(*) from t_dict as e",
        "select count(*) from t_alone",
        "select count(*) from t_order as o",
        "select o.order_id from t_order, t_dict d, t_order o",
        "insert into t_dict values (605, 'x')",
        "update t_dict set word = 'y'",
        "delete from t_dict",
        "select * from t_dict where id = 1 for update",
        "truncate table t_dict",
        "insert into t_alone (a) values (1)",
        "select count(*) from information_schema.tables where table_name = 'nothing'",
        "unlock tables",
        "create temporary table passing (id int)",
        "lock tables t_dict read",
        "insert into passing values (1), (2)",
        "update passing set id = 3 where id = 1",
        "select id from passing order by id",
        "select id from t_alone",
        "drop temporary table passing",
        "unlock tables",
        "select count(*) from t_order as o where order_id > 600",
        "lock tables t_order read, t_order read",
        "lock tables t_order as a read, t_dict as a read",
        "lock tables nowhere read",
        "select count(*) from t_alone",
        "lock tables t_order read",
        "lock tables t_dict read",
        "select count(*) from t_order",
        "begin",
        "select count(*) from t_order where order_id > 600",
        "update t_order set status = 'l' where order_id = 601",
        "lock tables t_order read",
        "rollback",
        "select status from t_order where order_id = 601",
        "unlock tables",
        "select status from t_order where order_id = 601",
    )


@case
def who_writes_waits_for_tables_that_are_locked():
    for port, database in ((PORT, DATABASE), (int(os.environ["STRAIGHT_PORT"]), STRAIGHT)):
        reader, writer = connect(port, database), connect(port, database)
        said = []

        def write(id):
            try:
                with writer.cursor() as cursor:
                    cursor.execute(f"insert into t_order (order_id, user_id) values ({id}, {id})")
                    said.append("done")
            except pymysql.Error as error:
                said.append(error.args[0])

        with reader.cursor() as cursor, writer.cursor() as other:
            other.execute("set lock_wait_timeout = 1")
            cursor.execute("lock tables t_order read")
            for id in (701, 702, 703, 704):
                write(id)
            cursor.execute("select count(*) from t_order where order_id > 700")
            said.append(cursor.fetchone()[0])
            cursor.execute("unlock tables")
            write(701)
            cursor.execute("lock tables t_order read")
            reader.close()
            # The server may hear of it a moment later.
            other.execute("set lock_wait_timeout = 20")
            write(702)
            other.execute("delete from t_order where order_id > 600")
        equal(said, [1205, 1205, 1205, 1205, 0, "done", "done"])
        writer.close()


@case
def a_client_of_another_character_set_is_told_so():
    try:
        Numbered(28, PORT, DATABASE)
    except pymysql.Error as error:
        assert error.args[0] == 1115 and "utf8mb4 and latin1" in error.args[1], error.args
    else:
        raise AssertionError("gbk was let in")


@case
def drop():
    same("drop table t_order_item", "drop table t_order", "drop table t_dict", "drop table t_alone")


done()
