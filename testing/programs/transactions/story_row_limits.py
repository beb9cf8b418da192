"""An Execute that asks for fewer rows than there are."""
from plain.house import ERRORS, case, direct
from plain.postgres import message
from shop import each


def row_limits(family, pando):
    """An Execute that asks for one row of a statement over both units: a change is done as a whole and committed, and no transaction is left open."""

    def one_row(client, sql):
        client.raw(message(b"P", b"\0" + sql.encode() + bytes(3)) + message(b"B", bytes(8)) + message(b"E", b"\0" + (1).to_bytes(4, "big")) + message(b"S"))
        messages = client.until_ready()
        assert [tag for tag, _ in messages] == [b"1", b"2", b"D", b"s"], messages

    def alone(client):
        client.notices.clear()
        client.query("begin")
        client.query("insert into t (id, n) values (900, 1)")
        client.query("rollback")
        assert not client.notices and not client.query("select id from t where id = 900"), client.notices

    change = "update t set n = n + 1 returning id"
    for kind in ("LOCAL", "XA", "BASE"):
        with case(f"pg-one-row-of-a-change-{kind}"):
            client, other = pando.client(family, "shop"), pando.client(family, "shop")
            total = lambda: int(other.value("select sum(n) from t"))
            before = total()
            client.query(f"set variable transaction_type = {kind}")
            one_row(client, change)
            assert client.status == "I" and total() == before + 8, (client.status, total())
            alone(client)
            client.query("begin")
            one_row(client, change)
            client.query("commit")
            assert total() == before + 16, total()
            client.query("begin")
            one_row(client, change)
            client.query("rollback")
            assert total() == before + 16, total()
            client.query("update t set n = n - 2")
            assert total() == before, total()
            client.close()
            other.close()
    servers = [direct(family, n) for n in (0, 1)]
    with case("pg-one-row-of-a-change-that-its-unit-does-not-commit"):
        servers[0].query("create table parent (id int primary key)")
        servers[0].query("alter table t_0 add constraint of_parent foreign key (n) references parent deferrable initially deferred not valid")
        for kind in ("LOCAL", "XA"):
            client = pando.client(family, "shop")
            client.query(f"set variable transaction_type = {kind}")
            client.raw(message(b"P", b"\0insert into t (id, n) values (900, 7) returning id\0" + bytes(2)) + message(b"B", bytes(8))
                       + message(b"E", b"\0" + (1).to_bytes(4, "big")) + message(b"S"))
            assert any(tag == b"E" for tag, _ in client.until_ready()) and client.status == "I"
            assert not client.query("select id from t where id = 900")
            client.close()
        servers[0].query("alter table t_0 drop constraint of_parent")
        servers[0].query("drop table parent")
    with case("pg-one-row-of-a-change-with-much-to-tell"):
        client = pando.client(family, "shop")
        one_row(client, "update t set n = n + 1 where id in (0, 4) returning repeat('x', 2000000)")
        assert client.query("select n from t where id in (0, 4)") == [["1"], ["1"]]
        client.query("update t set n = 0 where id in (0, 4)")
        client.close()
    with case("pg-one-row-of-a-change-inside-with"):
        client = pando.client(family, "shop")
        client.query("create table queue (id int primary key, v text)")
        client.query("insert into queue select g, repeat('x', 2000) from generate_series(1, 4000) g")
        one_row(client, "with d as (delete from queue returning *) select * from d")
        assert client.query("select count(*) from queue") == [["0"]]
        client.query("drop table queue")
        client.close()
    with case("pg-a-setting-that-only-one-unit-takes"):
        servers[0].query("create role only_here")
        servers[0].query("grant all on all tables in schema public to only_here")
        client = pando.client(family, "shop")
        for kind in ("LOCAL", "XA"):
            client.query(f"set variable transaction_type = {kind}")
            client.query("set role only_here")
            taken = []
            for key in range(900, 908):
                try:
                    client.query(f"insert into t (id, n) values ({key}, 7)")
                    taken.append([str(key)])
                except ERRORS:
                    pass
            client.query("reset role")
            assert 0 < len(taken) < 8, taken
            assert client.query("select id from t where n = 7 order by id") == taken
            client.query("delete from t where n = 7")
        client.close()
        servers[0].query("drop owned by only_here")
        servers[0].query("drop role only_here")
    with case("pg-columns-that-are-not-those-told"):
        client, other = pando.client(family, "shop"), pando.client(family, "shop")
        client.raw(message(b"P", b"told\0update t set n = n returning *\0" + bytes(2)) + message(b"D", b"Stold\0") + message(b"S"))
        assert not any(tag == b"E" for tag, _ in client.until_ready())
        other.query("alter table t add column more int")
        client.raw(message(b"B", b"\0told\0" + bytes(6)) + message(b"E", bytes(5)) + message(b"S"))
        assert any(tag == b"E" for tag, _ in client.until_ready()) and client.status == "I"
        # Nobody waits for what has failed.
        other.query("set lock_timeout = '2s'")
        other.query("update t set n = n")
        other.query("alter table t drop column more")
        for one in (client, other):
            one.close()
    for one in servers:
        one.close()
    with case("pg-one-row-of-a-snapshot"):
        client = pando.client(family, "shop")
        client.query("set variable transaction_type = XA")
        client.query("set session characteristics as transaction isolation level repeatable read")
        one_row(client, "select id from t")
        assert client.status == "I"
        alone(client)
        client.close()


def main():
    each(["pg"], row_limits)
