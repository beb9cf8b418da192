"""Savepoints over two units, and transactions that nobody has begun."""
from plain.house import case
from shop import FAMILIES, MYSQLS, each, refused


def savepoints(family, pando):
    client = pando.client(family, "shop", timeout=10)
    outside = "25P01" if family == "pg" else 1305
    unknown = "3B001" if family == "pg" else 1305
    with case(f"{family}-savepoint-verbs-outside-a-transaction"):
        for sql in ("release savepoint s", "rollback to savepoint s"):
            error = refused(client, sql)
            assert error.code == outside, f"{sql}: {error}"
        if family == "pg":
            assert refused(client, "savepoint s").code == outside
    with case(f"{family}-unknown-savepoints"):
        for sql in ("release savepoint s", "rollback to savepoint s"):
            client.query("begin")
            client.query("update t set n = 1 where id in (1, 2)")
            error = refused(client, sql)
            assert error.code == unknown, f"{sql}: {error}"
            client.query("rollback")
    with case(f"{family}-savepoints-over-two-units"):
        client.query("begin")
        client.query("update t set n = 1 where id = 1")
        client.query("savepoint s")
        client.query("update t set n = 1 where id = 2")
        client.query("rollback to savepoint s")
        client.query("release savepoint s")
        client.query("commit")
        assert client.query("select n from t where id in (1, 2) order by id") == [["1"], ["0"]]
    client.close()


def implicit(family, pando):
    """With autocommit off a change that reads other shards first opens a transaction like any other."""
    with case(f"{family}-an-assembled-change-without-autocommit"):
        client, other = pando.client(family, "shop"), pando.client(family, "shop")
        client.query("create table fresh (id bigint primary key, n int)")
        client.query("insert into fresh (id, n) values (1, 0), (2, 3), (3, 1)")
        # MySQL 8 lets no XA transaction use temporary tables.
        for kind in ("LOCAL", "XA") if family == "mariadb" else ("LOCAL",):
            client.query(f"set variable transaction_type = {kind}")
            client.query("set autocommit = 0")
            client.query("update t set n = 99 where id in (select n from fresh)")
            assert other.query("select id from t where n = 99") == []
            client.query("rollback")
            client.query("set autocommit = 1")
            assert other.query("select id from t where n = 99") == []
        for one in (client, other):
            one.close()
    with case(f"{family}-savepoints-whatever-their-case"):
        client = pando.client(family, "shop")
        for kind in ("LOCAL", "XA", "BASE"):
            client.query(f"set variable transaction_type = {kind}")
            client.query("begin")
            client.query("savepoint A")
            client.query("update t set n = 98 where id < 4")
            client.query("rollback to a")
            client.query("commit")
            assert client.query("select id from t where n = 98") == [], kind
        client.close()


def main():
    each(FAMILIES, savepoints)
    each(MYSQLS, implicit)
