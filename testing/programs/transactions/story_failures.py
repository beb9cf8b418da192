"""What fails, at the door or at a unit, and what is left of it."""
from plain.house import ERRORS, case, direct, until
from plain.postgres import message
from shop import FAMILIES, each, refused


def failed_at_the_door(family, pando):
    """What the door itself refuses fails the transaction like a statement: nothing in front of it is committed."""
    parse = lambda sql, name=b"": message(b"P", name + b"\0" + sql.encode() + bytes(3))
    insert = parse("insert into t (id, n) values (900, 1)") + message(b"B", bytes(8)) + message(b"E", bytes(5))
    wrong = {"parse": parse("select ("), "bind": message(b"B", b"\0nobody\0" + bytes(6)), "execute": message(b"E", b"nobody\0" + bytes(4)),
             "count": parse("select $1::int") + message(b"B", bytes(8)), "twice": parse("select 1", b"s") + parse("select 1", b"s")}
    for name, bad in wrong.items():
        with case(f"pg-door-refuses-{name}"):
            client = pando.client(family, "shop")
            client.raw(insert + bad + message(b"S"))
            assert any(tag == b"E" for tag, _ in client.until_ready()) and client.status == "I", client.status
            assert client.query("select id from t where id = 900") == []
            client.query("begin")
            client.query("insert into t (id, n) values (900, 1)")
            client.raw(bad + message(b"S"))
            assert any(tag == b"E" for tag, _ in client.until_ready()) and client.status == "E", client.status
            client.query("commit")
            assert client.query("select id from t where id = 900") == []
            client.close()
    with case("pg-discard-all-in-a-transaction"):
        client = pando.client(family, "shop")
        assert refused(client, "insert into t (id, n) values (900, 1); discard all").code == "25001"
        client.query("begin")
        assert refused(client, "discard all").code == "25001"
        assert refused(client, "select 1").code == "25P02"
        client.query("rollback")
        client.query("discard all")
        assert client.query("select id from t where id = 900") == []
        client.close()
    with case("pg-cursors-outlive-a-return-to-a-savepoint"):
        client = pando.client(family, "shop")
        client.query("begin")
        client.query("declare c cursor for select id from t order by id")
        assert client.query("fetch 2 from c") == [["0"], ["1"]]
        client.query("savepoint s")
        client.query("declare d cursor for select id from t order by id")
        refused(client, "selekt")
        client.query("rollback to s")
        assert client.query("fetch 2 from c") == [["2"], ["3"]]
        assert refused(client, "fetch 1 from d").code == "34000"
        client.query("rollback")
        client.close()
    with case("pg-modes-go-with-their-transaction"):
        client = pando.client(family, "shop")
        client.query("begin")
        client.query("set session characteristics as transaction read only")
        client.query("rollback")
        client.query("update t set n = n")
        client.close()
    with case("pg-a-change-that-runs-to-its-end-can-be-cancelled"):
        client, other = pando.client(family, "shop"), pando.client(family, "shop")
        other.query("begin")
        other.query("select n from t where id in (5, 6, 7) for update")
        # Some rows come, the others are waited for.
        client.raw(message(b"P", b"\0update t set n = n + 1 returning id\0" + bytes(2)) + message(b"B", bytes(8))
                   + message(b"E", b"\0" + (1).to_bytes(4, "big")) + message(b"S"))
        waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname like 'ds_%'"
        servers = [direct(family, n) for n in (0, 1)]
        assert until(10, lambda: all(int(one.value(waits)) for one in servers)), "nobody waits"
        client.cancel()
        try:
            client.ready()
            raise AssertionError("it was not cancelled")
        except ERRORS as error:
            assert error.code == "57014", error
        other.query("rollback")
        assert int(other.value("select sum(n) from t")) == 0
        for one in [client, other, *servers]:
            one.close()


def failed_lets_go(family, pando):
    """A failed transaction of PostgreSQL holds no locks, on no unit, but where it may return to a savepoint."""
    for kind in ("LOCAL", "XA"):
        with case(f"pg-failed-lets-go-{kind.lower()}"):
            client, other = pando.client(family, "shop", timeout=20), pando.client(family, "shop", timeout=20)
            client.query(f"set variable transaction_type = {kind}")
            other.query("set lock_timeout = '5s'")
            # Ids 1 and 5 are on unit 1, 0 and 2 on unit 0.
            for failing in ("insert into t values (1, 0)", "select n / 0 from t where id = 1", "select n from nowhere", "select lo_create(0)"):
                client.query("begin")
                client.query("update t set n = 7 where id = 0")
                refused(client, failing)
                other.query("update t set n = 8 where id = 0")
                assert refused(client, "select 1").code == "25P02"
                client.query("commit")
                assert other.query("select n from t where id = 0") == [["8"]]
                other.query("update t set n = 0 where id = 0")
            client.query("begin")
            client.query("update t set n = 7 where id = 0")
            client.query("savepoint s")
            refused(client, "insert into t values (1, 0)")
            other.query("set lock_timeout = '200ms'")
            assert refused(other, "update t set n = 8 where id = 0").code == "55P03"
            client.query("rollback to s")
            client.query("commit")
            assert other.query("select n from t where id = 0") == [["7"]]
            other.query("update t set n = 0 where id = 0")
            client.close()
            other.close()


def returning(family, pando):
    """A change that answers with rows and fails on one unit after these began to come: the transaction goes on without any of it."""
    for sql in ("insert into t (id, n) values (900, 1), (901, 1), (902, 1), (903, 1), (1, 1) returning id",
                "insert into t (id, n) values (900, 1), (901, 1), (902, 1), (903, 1), (0, 1) returning id"):
        with case(f"{family}-returning-takes-itself-back"):
            client = pando.client(family, "shop")
            client.query("begin")
            client.query("insert into t (id, n) values (899, 1)")
            assert refused(client, sql).code == 1062
            assert client.query("select id from t where id >= 899") == [["899"]]
            client.query("commit")
            assert client.query("select id from t where id >= 899") == [["899"]]
            client.query("delete from t where id >= 899")
            client.close()


def read_only(family, pando):
    with case(f"{family}-a-refused-change-does-not-fail-the-commit"):
        client = pando.client(family, "shop", timeout=10)
        client.query("begin read only" if family == "pg" else "start transaction read only")
        client.query("select sum(n) from t")
        refused(client, "update t set n = 1")
        client.query("commit")
        client.close()


def main():
    each(["pg"], failed_at_the_door, failed_lets_go)
    each(["mariadb"], returning)
    each(FAMILIES, read_only)
