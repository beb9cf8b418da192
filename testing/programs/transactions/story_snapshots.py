"""What a statement or a transaction sees while others change it."""
from plain.background import Background
from plain.house import ERRORS, Pando, case, direct, server, until
from plain.postgres import message
from shop import FAMILIES, MYSQLS, each, refused


def one_state(family, pando):
    """XA at REPEATABLE READ and SERIALIZABLE: a statement of several reads sees one state, and a return to a savepoint forgets no lock that reads rely on."""
    # Locks on the tables' parts: Pando's own ledgers are waited for, too, at times.
    waiting = "select count(*) from pg_locks l join pg_class c on c.oid = l.relation where not l.granted and c.relname ~ '^(t|fresh)_[0-9]$'"
    servers = [direct(family, n) for n in (0, 1)]
    waits = lambda: any(int(one.value(waiting)) for one in servers)
    client, other = pando.client(family, "shop"), pando.client(family, "shop")
    for one in (client, other):
        one.query("set variable transaction_type = XA")
    with case("pg-an-assembled-query-sees-one-state"):
        other.query("create table fresh (id bigint primary key, n int)")
        other.query("insert into fresh (id, n) select id, n from t")
        client.query("set session characteristics as transaction isolation level repeatable read")
        # Whichever is read first: the other one is held up.
        for held in ("fresh", "t"):
            other.query("begin")
            other.query(f"lock table {held} in access exclusive mode")
            asks = Background(lambda: client.query("select (select sum(n) from t), (select sum(n) from fresh)"))
            assert until(10, waits), "nobody waits"
            other.query("update t set n = n + 1")
            other.query("update fresh set n = n + 1")
            other.query("commit")
            [[first, second]] = asks.wait(10)
            assert first == second, (held, first, second)
        other.query("update t set n = n - 2")
    for one in (client, other):
        one.query("set session characteristics as transaction isolation level serializable")
    with case("pg-a-lock-outlives-a-return-to-a-savepoint"):
        for names in (["s"], ["a", "b"], ["s", "s"]):
            client.query("begin")
            client.query("update t set n = n where id = 3")
            for name in names:
                client.query(f"savepoint {name}")
            client.query("select sum(n) from t")
            if names != ["s", "s"]:
                # The server itself would let go of it here.
                refused(client, "select n from nowhere")
            changes = Background(lambda: other.query("update t set n = n where id = 0"))
            assert until(10, waits), "the lock is gone"
            if names != ["s", "s"]:
                client.query(f"rollback to {names[0]}")
                assert until(10, waits), "the lock is gone"
            client.query("commit")
            assert changes.wait(10) == [], changes.result
    with case("pg-what-is-undone-behind-a-lock-is-undone"):
        for undone in ("rollback to a", "rollback to b", "release b"):
            client.query("begin")
            client.query("savepoint a")
            client.query("select sum(n) from t")
            client.query("savepoint b")
            client.query("select sum(n) from t where id = 1")
            client.query("update t set n = n + 1")
            client.query(undone)
            client.query("rollback to a")
            client.query("update t set n = n + 0")
            client.query("commit")
            assert other.value("select sum(n) from t") == "0", undone
    with case("pg-what-changes-in-other-ways-is-undone"):
        copied = message(b"d", b"90\t1\n91\t1\n92\t1\n93\t1\n") + message(b"c")
        for change in ("copy t from stdin", "select n into kept from t where id = 1"):
            client.query("begin")
            client.query("savepoint a")
            client.raw(message(b"Q", change.encode() + b"\0") + (copied if change.startswith("copy") else b""))
            client.ready()
            client.query("select sum(n) from t")
            client.query("select sum(n) from fresh where id = 1")
            try:
                client.query("rollback to a")
                client.query("commit")
            except ERRORS as error:
                assert error.code == "40001", error
                client.query("rollback")
            assert other.value("select count(*) from t") == "8", change
            assert all(one.value("select count(*) from pg_tables where tablename = 'kept'") == "0" for one in servers), change
    with case("pg-a-name-may-be-another-tables"):
        for one in servers:
            one.query("create schema b")
            one.query("create table b.t_0 (id bigint primary key, n int)")
            one.query("create table b.t_1 (id bigint primary key, n int)")
        held = "select count(*) from pg_locks l join pg_class c on c.oid = l.relation where l.mode = 'ShareLock' and c.relnamespace = 'b'::regnamespace"
        client.query("begin")
        client.query("select sum(n) from t")
        client.query("set local search_path = b")
        client.query("select sum(n) from t")
        assert all(int(one.value(held)) == 2 for one in servers), "not locked"
        client.query("rollback")
        client.query("begin")
        client.query("savepoint s")
        client.query("set local search_path = b")
        client.query("select sum(n) from t")
        assert refused(client, "rollback to s").code == "40001"
        client.query("rollback")
        for one in servers:
            one.query("drop schema b cascade")
    with case("pg-a-lock-behind-changes-is-taken-again"):
        client.query("begin")
        client.query("savepoint s")
        client.query("update t set n = n + 1")
        client.query("select sum(n) from fresh")
        client.query("rollback to s")
        changes = Background(lambda: other.query("update fresh set n = n where id = 1"))
        assert until(10, waits), "the lock is gone"
        client.query("commit")
        assert changes.wait(10) == [], changes.result
        assert other.value("select sum(n) from t") == "0"
    with case("pg-a-lock-that-is-not-had-leaves-its-savepoint"):
        other.query("begin")
        other.query("update fresh set n = n")
        client.query("begin")
        client.query("set local lock_timeout = 50")
        client.query("update t set n = n + 1 where id = 1")
        client.query("savepoint s")
        assert refused(client, "select sum(n) from fresh").code == "55P03"
        client.query("rollback to s")
        other.query("rollback")
        client.query("update t set n = n - 1 where id = 1")
        client.query("commit")
        assert other.value("select sum(n) from t") == "0"
    with case("pg-who-may-be-overtaken-is-told"):
        # By somebody who waits, or because the lock went with an error.
        for overtakes in (True, False):
            client.query("begin")
            client.query("savepoint s")
            client.query("update t set n = n")
            client.query("select sum(n) from fresh")
            if overtakes:
                changes = Background(lambda: other.query("update fresh set n = n where id = 2"))
                assert until(10, waits), "nobody waits"
            else:
                refused(client, "select 1 / n from t where id = 0")
            assert refused(client, "rollback to s").code == "40001"
            client.query("rollback")
            if overtakes:
                assert changes.wait(10) == [], changes.result
    for one in (client, other, *servers):
        one.close()


def look_behind_savepoint(family, pando):
    """XA at REPEATABLE READ: what was looked at behind a savepoint stays after the return to it. A server alone may look anew, but not each unit at its own moment."""
    with case(f"{family}-a-look-outlives-a-return-to-a-savepoint"):
        client, other = pando.client(family, "shop"), pando.client(family, "shop")
        for one in (client, other):
            one.query("set variable transaction_type = XA")
            if family == "pg":
                one.query("set session characteristics as transaction isolation level repeatable read")
            else:
                one.query("set session transaction isolation level repeatable read")
        wanted = "select id, n from t order by id"
        client.query("begin")
        client.query("savepoint s")
        before = client.query(wanted)
        client.query("rollback to savepoint s")
        # The first unit is looked at before the change, the others after it.
        first = client.query("select id, n from t where id = 0")
        other.query("update t set n = n + 1")
        assert client.query(wanted) == before and first == before[:1], (first, before, client.query(wanted))
        client.query("commit")
        for one in (client, other):
            one.close()


def snapshots(family, pando):
    """WITH CONSISTENT SNAPSHOT is of when it is said, on units that nobody has asked yet, too."""
    client, other = pando.client(family, "shop", timeout=10), pando.client(family, "shop", timeout=10)
    for kind in ("LOCAL", "XA"):
        with case(f"{family}-a-snapshot-is-of-its-moment-{kind}"):
            client.query(f"set variable transaction_type = {kind}")
            client.query("start transaction with consistent snapshot")
            client.query("savepoint s")
            other.query("update t set n = 1 where id in (1, 2)")
            for id in (1, 2):
                assert client.query(f"select n from t where id = {id}") == [["0"]], id
                client.query("rollback to s")
            client.query("commit and chain")
            assert client.query("select sum(n) from t") == [["2"]]
            client.query("rollback")
            other.query("update t set n = 0 where id in (1, 2)")
    with case(f"{family}-a-snapshot-in-base-is-refused"):
        client.query("set variable transaction_type = BASE")
        assert "no snapshot" in str(refused(client, "start transaction with consistent snapshot"))
    for one in (client, other):
        one.close()


def main():
    each(["pg"], one_state)
    each(FAMILIES, look_behind_savepoint)
    each(MYSQLS, snapshots)
