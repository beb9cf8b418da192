"""What time it is: one value in a statement on all storage units, and on PostgreSQL in a transaction, as on one server."""
from plain.house import case, direct
from plain.postgres import message
from shop import MYSQLS, each, refused


def one(client, where="true", column="at", table="fresh"):
    found = client.query(f"select count(distinct {column}), count(*) from {table} where {where}")
    assert found[0][0] == "1" and int(found[0][1]) > 0, (where, found)


def added(family, client, kind, now):
    """A new column has one time in the rows that are there, and another one in those that come."""
    with case(f"{family}-clock-added"):
        client.query(f"create table grown (id bigint primary key, v text)")
        client.query("insert into grown (id, v) values " + ", ".join(f"({id}, 'v')" for id in range(8)))
        for column, more in (("a", " not null"), ("b", f", add column c int default 7, add d {kind}")):
            client.query(f"alter table grown add column {column} {kind}{more}")
            one(client, column=column, table="grown")
        one(client, column="d", table="grown")
        client.query("insert into grown (id, v) values (9, 'later')")
        found = client.query(f"select count(*) from grown where id < 9 and a < b and b = d and b < {now} and c = 7")
        assert found == [["8"]], found
        before = client.query("select max(b) from grown where id < 9")[0][0]
        later = client.query(f"select count(*) from grown where id = 9 and a = b and a > '{before}'")
        assert later == [["1"]], later
        client.query("drop table grown")


def statements(family, pando):
    """Each leaves one time in all the rows that it writes."""
    client = pando.client(family, "shop")
    now, kind = ("now()", "timestamptz default now()") if family == "pg" else ("now(6)", "timestamp(6) default current_timestamp(6)")
    touched = "" if family == "pg" else " on update current_timestamp(6)"
    client.query(f"create table fresh (id bigint primary key, v text, at {kind}{touched})")
    client.query(f"create table copied (id bigint primary key, v text, at {kind})")
    rows = lambda start, more="": ", ".join(f"({id}, 'v'{more})" for id in range(start, start + 8))
    for name, sql, where in (
        ("default", f"insert into fresh (id, v) values {rows(0)}", "id < 8"),
        ("written", f"insert into fresh (id, v, at) values {rows(10, ', ' + now)}", "id between 10 and 17"),
        ("said", f"insert into fresh (id, v, at) values {rows(20, ', default')}", "id between 20 and 27"),
        ("unlisted", f"insert into fresh values {rows(30, ', default')}", "id between 30 and 37"),
        ("update", f"update fresh set at = {now}", "true"),
        ("update-default", "update fresh set at = default where id < 20", "id < 20"),
        ("insert-select", f"insert into fresh (id, v) select id + 100, v from fresh where id < 8", "id between 100 and 107"),
        ("insert-select-here", f"insert into fresh (id, v, at) select id + 4000, v, {now} from fresh where id < 8", "id between 4000 and 4007"),
        ("copied-default", f"insert into copied (id, v) values {rows(0)}", None),
        ("copied", f"insert into copied (id, v, at) values {rows(10, ', ' + now)}", None),
        ("copied-update", f"update copied set at = {now} where id < 4", None),
        ("upsert", f"insert into fresh (id, v) values {rows(0)} " + (
            f"on conflict (id) do update set at = {now}" if family == "pg" else f"on duplicate key update at = {now}"), "id < 8"),
        ("key", f"update fresh set id = id + 1001, at = {now} where id = 20", None),
    ):
        with case(f"{family}-clock-{name}"):
            client.query(sql)
            if where:
                one(client, where)
    added(family, client, kind, now)
    if family == "pg":
        with case("pg-clock-unlisted-short"):
            client.query(f"insert into fresh values {rows(40)}")
            one(client, "id between 40 and 47")
        with case("pg-clock-prepared"):
            client.query("prepare p (int) as update fresh set at = now() where id >= $1")
            for _ in range(7):
                client.query("execute p (0)")
            one(client)
            send = lambda sql, last: client.raw(message(b"P", b"\0" + sql + b"\0\0\0") + message(b"B", bytes(8)) + message(b"E", bytes(5)) + message(b"S"))
            for _ in range(3):
                send(b"update fresh set at = clock_timestamp() where id = 0; ".strip(b"; "), None)
                client.ready()
                send(b"update fresh set at = now(), v = current_date", None)
                client.ready()
                one(client)
        with case("pg-clock-returning"):
            found = client.query(f"insert into fresh (id, v) values {rows(50)} returning at = now(), at")
            assert len({row[1] for row in found}) == 1 and {row[0] for row in found} == {"t"}, found
    else:
        with case(f"{family}-clock-on-update"):
            client.query("update fresh set v = 'other'")
            one(client)
        with case(f"{family}-clock-trigger"):
            client.query("create table told (id bigint primary key, at timestamp(6) null)")
            for n in (0, 1):
                server = direct(family, n, f"ds_{n}")
                for table in (0, 1):
                    server.query(f"create trigger told_at_{table} before insert on told_{table} for each row set new.at = now(6)")
                server.close()
            fresh = pando.client(family, "shop")
            fresh.query("refresh table metadata")
            fresh.query("insert into told (id) values (0), (1), (2), (3)")
            one(fresh, table="told")
            fresh.close()
        with case(f"{family}-clock-goes-on"):
            client.query(f"update fresh set at = {now}")
            for _ in range(3):
                found = client.query("select (select max(at) from fresh where id = 1), now(6), sysdate(6) from fresh where id = 0")[0]
                assert found[0] < found[1] <= found[2], found
            client.query("begin")
            client.query(f"update fresh set at = {now}")
            found = client.query("select max(at), now(6) from fresh where id = 0")[0]
            assert found[0] < found[1], found
            client.query("commit")
        with case(f"{family}-clock-of-the-client"):
            client.query("set timestamp = 1000000000.5")
            client.query(f"update fresh set at = {now}")
            assert client.query("select count(*) from fresh where unix_timestamp(at) = 1000000000.5") == client.query("select count(*) from fresh")
            client.query("set timestamp = default")
            client.query(f"update fresh set at = {now}")
            assert client.query("select count(*) from fresh where unix_timestamp(at) < 1700000000") == [["0"]]
            one(client)
    with case(f"{family}-clock-copies-are-alike"):
        servers = [direct(family, n, f"ds_{n}") for n in (0, 1)]
        copies = [server.query("select id, at from copied order by id") for server in servers]
        assert copies[0] == copies[1] and len(copies[0]) == 16, copies
        for server in servers:
            server.close()
    client.close()


def transactions(family, pando):
    """PostgreSQL's have one time, which is that of BEGIN on whatever unit."""
    client = pando.client(family, "shop")
    client.query("create table fresh (id bigint primary key, v text, at timestamptz default now(), of timestamptz default statement_timestamp())")
    client.query("create table copied (id bigint primary key, at timestamptz default now())")
    for kind in ("LOCAL", "XA"):
        with case(f"pg-clock-transaction-{kind.lower()}"):
            client.query(f"set variable transaction_type = {kind}")
            for turn in range(3):
                client.query("delete from fresh")
                client.query("delete from copied")
                client.query("begin")
                client.query("select pg_sleep(0.01)")
                for id in range(4):
                    client.query(f"insert into fresh (id, v) values ({id}, 'a')")
                client.query("insert into fresh (id, v, at) values (4, 'b', now())")
                client.query("insert into copied (id) values (1)")
                client.query("savepoint s")
                client.query("insert into fresh values (5, 'c')")
                client.query("rollback to s")
                client.query("insert into fresh values (5, 'c')")
                one(client)
                one(client, column="of", where="id = 0")
                assert client.query("select count(distinct of) from fresh") == [["6"]]
                assert client.query("select count(*) from fresh where at = now() and of > now()") == [["6"]]
                assert client.query("select count(*) from copied where at = now()") == [["1"]]
                began = client.value("select now()")
                client.query("commit")
                assert client.query(f"select count(*) from fresh where at = '{began}'") == [["6"]], began
                assert client.value("select now()") > began
    client.query("set variable transaction_type = LOCAL")
    with case("pg-clock-alone-after-a-transaction"):
        client.query("insert into fresh (id, v) values (20, 'x')")
        assert client.query("select at > (select max(at) from fresh where id < 6) from fresh where id = 20") == [["t"]]
    with case("pg-clock-statements-of-one-text"):
        client.query("delete from fresh")
        client.query("insert into fresh (id, v) values (0, 'a'); insert into fresh (id, v) values (1, 'a'); update fresh set v = 'b' where at = now()")
        one(client, "v = 'b'")
        assert client.query("select count(*) from fresh where v = 'b'") == [["2"]]
    with case("pg-clock-zone"):
        for zone, hour in (("UTC", "00"), ("Asia/Tokyo", "09")):
            client.query(f"set time zone '{zone}'")
            client.query("begin")
            found = client.query("select to_char(localtimestamp, 'HH24') = to_char(now(), 'HH24'), current_date = now()::date, "
                                 "localtimestamp - (now() at time zone 'UTC') from fresh where id = 0")
            assert found == [["t", "t", f"{hour}:00:00"]], found
            client.query("rollback")
    with case("pg-clock-definitions-keep-it"):
        client.query("begin")
        client.query("create table told (id bigint primary key, at timestamptz default now())")
        client.query("commit")
        server = direct(family, 0, "ds_0")
        assert server.query("select distinct column_default from information_schema.columns where table_name like 'told%' and column_name = 'at'") == [["now()"]]
        server.close()
    client.close()


def base(family, pando):
    """Changes of type BASE, too, are told one time."""
    with case(f"{family}-clock-base"):
        client = pando.client(family, "shop")
        kind = "timestamptz default now()" if family == "pg" else "timestamp(6) default current_timestamp(6)"
        client.query(f"create table fresh (id bigint primary key, at {kind})")
        client.query("set variable transaction_type = BASE")
        client.query("begin")
        client.query("insert into fresh (id) values (0), (1), (2), (3)")
        one(client)
        client.query("update fresh set at = " + ("now() + interval '1 day'" if family == "pg" else "now(6) + interval 1 day"))
        one(client)
        client.query("commit")
        one(client)
        client.close()


def main():
    each(["pg", *MYSQLS], statements, base)
    each(["pg"], transactions)
