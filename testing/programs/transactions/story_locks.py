"""Locks of applications: one holder over all units and instances, freed with the client, its session or its transaction; deadlocks through them."""
import threading
import time

from plain.house import ERRORS, Pando, case, direct, server, signal_server, until
from shop import FAMILIES, MYSQLS, each, refused

# Over so many keys every unit is somebody's home.
KEYS = range(100, 112)


def advisory(family, pando):
    """`pg_advisory_lock` and its family."""
    one, other = pando.client(family, "shop"), pando.client(family, "shop")
    free = lambda client, key: client.value(f"select pg_try_advisory_lock({key})") == "t" and client.value(f"select pg_advisory_unlock({key})") == "t"
    with case(f"{family}-transactions-on-other-units-exclude-each-other"):
        for key in KEYS:
            one.query("begin")
            one.query(f"update t set n = n where id = 1; select pg_advisory_xact_lock({key})")
            other.query("begin")
            other.query("update t set n = n where id = 2")
            assert other.value(f"select pg_try_advisory_xact_lock({key})") == "f", key
            assert other.value(f"select pg_try_advisory_xact_lock_shared({key})") == "f", key
            assert other.value(f"select pg_try_advisory_xact_lock({key}, 1)") == "t", key
            one.query("commit")
            assert other.value(f"select pg_try_advisory_xact_lock({key})") == "t", key
            other.query("rollback")
            assert free(one, key), key
    with case(f"{family}-a-savepoint-gives-back-what-was-locked-behind-it"):
        one.query("begin")
        one.query("select pg_advisory_xact_lock(1)")
        one.query("savepoint a")
        one.query("select pg_advisory_xact_lock(2)")
        one.query("savepoint b")
        one.query("select pg_advisory_xact_lock(3)")
        one.query("release b")
        assert [free(other, key) for key in (1, 2, 3)] == [False, False, False]
        one.query("rollback to a")
        assert [free(other, key) for key in (1, 2, 3)] == [False, True, True]
        one.query("commit")
        assert free(other, 1)
    with case(f"{family}-a-failed-transaction-lets-go"):
        one.query("begin")
        one.query("select pg_advisory_xact_lock(5)")
        refused(one, "select 1 / 0")
        assert free(other, 5)
        one.query("rollback")
    with case(f"{family}-locks-of-the-session-outlive-its-transactions"):
        one.query("begin")
        for key in KEYS:
            one.query(f"select pg_advisory_lock({key})")
        one.query("rollback")
        assert not any(free(other, key) for key in KEYS)
        assert one.value("select pg_advisory_unlock(100)") == "t" and free(other, 100)
        one.query("select pg_advisory_unlock_all()")
        assert all(free(other, key) for key in KEYS)
        for leaves in ("discard all", None):
            for key in KEYS:
                one.query(f"select pg_advisory_lock({key})")
            assert not any(free(other, key) for key in KEYS)
            one.query(leaves) if leaves else one.close()
            assert until(5, lambda: all(free(other, key) for key in KEYS))
        one = pando.client(family, "shop")
    with case(f"{family}-who-waits-for-a-lock-gets-it"):
        one.query("select pg_advisory_lock(7)")
        other.query("set lock_timeout = 200")
        assert refused(other, "select pg_advisory_lock(7)").code == "55P03"
        other.query("reset lock_timeout")
        other.query("begin")
        other.query("set local statement_timeout = 200")
        assert refused(other, "select pg_advisory_xact_lock(7)").code == "57014"
        other.query("rollback")
        got = []
        waits = threading.Thread(target=lambda: got.append(other.query("select pg_advisory_lock(7)")))
        waits.start()
        time.sleep(0.3)
        assert not got
        one.query("select pg_advisory_unlock(7)")
        waits.join(5)
        assert got and not free(one, 7)
        other.query("select pg_advisory_unlock_all()")
    with case(f"{family}-deadlocks-through-locks-are-found"):
        deadlock(one, other, [f"select pg_advisory_xact_lock({key})" for key in KEYS], ("40P01",))
        row = "update t set n = n + 1 where id = 3"
        deadlock(one, other, [f"select pg_advisory_xact_lock({KEYS[0]})", row], ("40P01",))
        deadlock(one, other, [f"select pg_advisory_xact_lock({KEYS[1]})", row], ("40P01",))
    one.close()
    other.close()


def deadlock(one, other, texts, codes):
    """Two transactions lock the first and the last in turn: one of them hears of it."""
    first, last = texts[0], texts[-1]
    for client, text in ((one, first), (other, last)):
        client.query("begin")
        client.query(text)
    failed = []

    def cross(client, text):
        try:
            client.query(text)
        except ERRORS as error:
            failed.append(error.code)
            client.query("rollback")
            # What is locked by a name is not the transaction's.
            if codes == (1213,):
                client.query("do release_all_locks()")

    threads = [threading.Thread(target=cross, args=pair) for pair in ((one, last), (other, first))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(failed) == 1 and failed[0] in codes, failed
    one.query("rollback")
    other.query("rollback")


def named(family, pando):
    """`GET_LOCK` and its family."""
    one, other = pando.client(family, "shop"), pando.client(family, "shop")
    names = [f"lock {number}" for number in range(12)]
    get = lambda client, name, wait=0: client.value(f"select get_lock('{name}', {wait})")
    with case(f"{family}-a-name-is-locked-over-all-units"):
        for name in names:
            got = get(one, name), get(other, name.upper() if family == "mysql" else name)
            assert got == ("1", "0"), (name, got)
            assert other.value(f"select is_free_lock('{name}')") == "0"
            assert other.value(f"select is_used_lock('{name}')") == one.value("select connection_id()")
            assert one.value(f"select is_used_lock('{name}') = connection_id()") == "1"
            assert other.value(f"select release_lock('{name}')") == "0"
        assert one.value("select release_lock('lock 0')") == "1" and one.value("select release_lock('lock 0')") is None
        if family == "mysql":
            assert get(one, "Case") == "1" and one.value("select release_lock('cASE')") == "1" and get(other, "case") == "1"
            assert other.value("select release_lock('CASE')") == "1"
        assert get(one, "lock 1") == "1" and one.value("select release_lock('lock 1')") == "1"
        assert get(other, "lock 1") == "0" and get(other, "lock 0") == "1"
        freed = one.value("select release_all_locks()")
        assert freed == "11" and one.value("select release_all_locks()") == "0", freed
        assert [get(other, name) for name in names] == ["1"] * 12
        other.query("do release_all_locks()")
    with case(f"{family}-locks-of-names-go-with-their-session"):
        one.query("begin")
        one.query("update t set n = n where id = 1")
        one.query("do get_lock('a', 1)")
        one.query("rollback")
        assert get(other, "a") == "0"
        one.close()
        assert until(5, lambda: get(other, "a") == "1")
        one = pando.client(family, "shop")
        assert get(one, "a", 1) == "0"
        other.query("select release_lock('a')")
        assert get(one, "a", 1) == "1"
        one.query("do release_all_locks()")
    with case(f"{family}-deadlocks-through-names-are-found"):
        homes = {}
        for name in names:
            homes.setdefault(one.query(f"preview select get_lock('{name}', 60)")[0][0], name)
        first, last = [homes[unit] for unit in sorted(homes)]
        take = lambda name: f"select get_lock('{name}', 60)"
        row = "update t set n = n + 1 where id = 3"
        for texts in ([take(first), take(last)], [take(first), row], [row, take(last)]):
            began = time.monotonic()
            deadlock(one, other, texts, (1213,))
            assert time.monotonic() - began < 15, texts
            # As on one server whoever gave way keeps the names it had.
            for client in (one, other):
                client.query("do release_all_locks()")
    one.close()
    other.close()


def losses(family, pando):
    """Nobody who is gone holds anything: a client, an instance, a storage unit."""
    names = [f"lost {number}" for number in range(8)]
    is_pg = family == "pg"
    take = lambda client, at: client.value(f"select pg_try_advisory_lock({at})" if is_pg else f"select get_lock('{names[at]}', 0)") in ("t", "1")
    leave = lambda client: client.query("select pg_advisory_unlock_all()" if is_pg else "do release_all_locks()")
    all_free = lambda client: all([take(client, at) for at in range(8)])

    def freed_soon(client):
        """All can be had by somebody else."""
        def free():
            got = all_free(client)
            leave(client)
            return got
        return until(10, free)

    other = pando.client(family, "shop")
    with case(f"{family}-a-lost-client-holds-nothing"):
        one = pando.client(family, "shop")
        assert all_free(one) and not any(take(other, at) for at in range(8))
        one.reset_hard()
        assert freed_soon(other)
    with case(f"{family}-a-killed-instance-holds-nothing"):
        second = Pando({name: open(f"{pando.folder}/{name}").read() for name in ("global.yaml", "database-shop.yaml")})
        one = second.client(family, "shop")
        assert all_free(one) and not any(take(other, at) for at in range(8))
        second.process.kill()
        assert freed_soon(other)
        second.kill()
    # MySQL has both units on one server here.
    if server(family, 0) == server(family, 1):
        return
    with case(f"{family}-what-a-lost-unit-held-is-lost-and-told"):
        one = pando.client(family, "shop")
        if is_pg:
            one.query("begin")
            one.query("update t set n = 5 where id = 0")
            for at in range(8):
                one.query(f"select pg_advisory_xact_lock({at})")
        else:
            assert all_free(one)
        signal_server(server(family, 1), "kill")
        signal_server(server(family, 1), "start")
        assert until(20, lambda: direct(family, 1).value("select 1") == "1")
        if is_pg:
            # It must not commit what it no longer protects.
            error = refused(one, "commit")
            assert error.code.startswith("08") or error.code == "40001", error
            assert other.value("select n from t where id = 0") == "0"
        else:
            # A server's own client would have lost its session with it: here the names at the other unit are still its own.
            got = [take(other, at) for at in range(8)]
            assert any(got) and not all(got), got
            leave(other)
            leave(one)
        one.close()
        assert freed_soon(other)
    other.close()


def main():
    each(("pg",), advisory)
    each(MYSQLS, named)
    each(FAMILIES, losses)
