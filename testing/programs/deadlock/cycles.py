"""Cycles made by hand: who is told what, what stands afterwards, and what must not be taken for a cycle."""
import time

from plain.background import Background
from plain.house import ERRORS, case, skip, until

from units import CODES, LONG, PATIENCE, Client, door, drop, fill, finished, has, is_blind, mixes, outcome, start, unit, values

#: A cycle is broken within a second of being closed, with half a one for a busy machine; a suspected one needs some more.
SOON, LATER = 1.5 * PATIENCE, 5.0 * PATIENCE


def settled(works, seconds=10):
    """Waits for one of several to fail; the position of that one, and the seconds that took."""
    began = time.monotonic()
    failed = lambda: [at for at, work in enumerate(works) if isinstance(work.result, Exception)]
    assert until(seconds, failed, every=0.005), "nobody gives way"
    return failed()[0], time.monotonic() - began


def ring(pando, mix, count, statement, wrote=(), kind="LOCAL"):
    """`count` transactions, each of which has row n and wants row n + 1, which is on another unit. Returns the clients, the victim's place and its error;
    all others have gone on."""
    clients = [Client(pando, mix, kind=kind) for _ in range(count)]
    for n, client in enumerate(clients):
        client.query("begin")
        client.query(statement.format(id=n))
        for id in wrote[n] if n < len(wrote) else ():
            client.query(f"update t set n = n + 1 where id = {id}")
    works = []
    for n, client in enumerate(clients):
        works.append(Background(lambda client=client, n=n: client.query(statement.format(id=(n + 1) % count))))
        # The one that closes the cycle comes last.
        time.sleep(0.12)
    victim, took = settled(works)
    took += 0.12
    error = outcome(works[victim])
    assert getattr(error, "code", None) == CODES[door(mix)], error
    assert took < (LATER if is_blind(mix) else SOON), f"{took:.2f} s"
    # Whoever waited for the victim goes on; once that one has committed, the next.
    for step in range(1, count):
        at = (victim - step) % count
        assert outcome(works[at]) is None, outcome(works[at])
        clients[at].query("commit")
    return clients, victim, error, took


def rings(pando, mix):
    update = "update t set n = n + 1 where id = {id}"
    with case(f"{mix}-two-sessions") as one:
        clients, victim, error, took = ring(pando, mix, 2, update)
        afterwards(clients[victim], mix)
        finished(clients)
        assert values(pando, mix) == [(0, 1), (1, 1)]
        one.detail = f"{took:.2f} s"
    with case(f"{mix}-three-sessions") as one:
        clients, victim, error, took = ring(pando, mix, 3, update)
        afterwards(clients[victim], mix)
        finished(clients)
        assert sorted(n for _, n in values(pando, mix)) == [1, 1, 2]
        one.detail = f"{took:.2f} s"
    with case(f"{mix}-in-two-phases") as one:
        clients, victim, error, took = ring(pando, mix, 3, update, kind="XA")
        afterwards(clients[victim], mix)
        finished(clients)
        assert sorted(n for _, n in values(pando, mix)) == [1, 1, 2]
        one.detail = f"{took:.2f} s"
    with case(f"{mix}-in-base") as one:
        # Rows are held in a table, and no server knows of the waits.
        clients, victim, error, took = ring(pando, mix, 3, update, kind="BASE")
        afterwards(clients[victim], mix)
        finished(clients)
        assert sorted(n for _, n in values(pando, mix)) == [1, 1, 2]
        one.detail = f"{took:.2f} s"
    with case(f"{mix}-for-update") as one:
        clients, victim, error, took = ring(pando, mix, 2, "select n from t where id = {id} for update")
        afterwards(clients[victim], mix)
        finished(clients)
        one.detail = f"{took:.2f} s"
    with case(f"{mix}-the-cheapest-gives-way"):
        # The first has written least, the last is the youngest.
        clients, victim, error, took = ring(pando, mix, 3, update, [(), (10, 11, 12), (20,)])
        assert victim == 0, victim
        finished(clients)
        values(pando, mix)


def afterwards(client, mix):
    """The victim's session: the whole transaction is gone, and the session goes on."""
    if mix == "pg":
        for sql in ("select n from t where id = 5", "savepoint s", "update t set n = 7 where id = 5"):
            assert refused(client, sql).code == "25P02", sql
        # As on one server, the end of a failed transaction is its rollback, whichever was asked for.
        client.query("commit")
    # On MySQL it is outside of a transaction: this commits by itself.
    client.query("update t set n = n + 0 where id = 5")
    client.query("begin")
    client.query("update t set n = n + 0 where id in (4, 5, 6)")
    client.query("rollback")


def refused(client, sql):
    try:
        client.query(sql)
    except ERRORS as error:
        return error
    raise AssertionError(f"`{sql}` is not refused")


def savepoints(pando, mix):
    """A savepoint does not bring a victim's transaction back: it is gone."""
    with case(f"{mix}-savepoint-of-a-victim"):
        first, second = Client(pando, mix), Client(pando, mix)
        first.query("begin")
        first.query("savepoint s")
        first.query("update t set n = 1 where id = 0")
        second.query("begin")
        second.query("update t set n = 2 where id in (1, 4, 7)")
        waiting = Background(lambda: second.query("update t set n = 2 where id = 0"))
        time.sleep(0.12)
        assert refused(first, "update t set n = 1 where id = 1").code == CODES[door(mix)]
        assert outcome(waiting) is None
        error = refused(first, "rollback to savepoint s")
        assert error.code == ("25P02" if mix == "pg" else 1305), error
        if mix == "pg":
            assert refused(first, "select 1").code == "25P02"
        first.query("rollback")
        second.query("commit")
        assert values(pando, mix) == [(0, 2), (1, 2), (4, 2), (7, 2)]
        finished([first, second])


def alone(pando, mix):
    """Statements that stand alone and write to several units, against transactions."""
    with case(f"{mix}-autocommit") as one:
        first, second = Client(pando, mix), Client(pando, mix)
        first.query("begin")
        first.query("update t set n = 1 where id in (2, 5, 8)")
        # It has rows of units 0 and 1, and waits on unit 2.
        waiting = Background(lambda: second.query("update t set n = 5 where id in (0, 1, 2)"))
        time.sleep(0.3)
        closing = Background(lambda: first.query("update t set n = 1 where id = 0"))
        victim, took = settled([waiting, closing])
        assert victim == 0, outcome(closing)
        assert outcome(waiting).code == CODES[door(mix)], outcome(waiting)
        assert took < SOON, f"{took:.2f} s"
        assert outcome(closing) is None
        first.query("commit")
        assert values(pando, mix) == [(0, 1), (2, 1), (5, 1), (8, 1)]
        # Its session is outside of a transaction.
        second.query("update t set n = 0 where id = 2")
        second.query("begin")
        second.query("rollback")
        finished([first, second])
        one.detail = f"{took:.2f} s"


def left_alone(pando, mix):
    """Waits that end by themselves, however long they are."""
    with case(f"{mix}-a-long-wait"):
        clients = [Client(pando, mix) for _ in range(3)]
        for n, client in enumerate(clients):
            client.query("begin")
            client.query(f"update t set n = n + 1 where id in ({6 + n * 3}, {7 + n * 3})")
        clients[0].query("update t set n = n + 1 where id in (0, 1)")
        # Not both of them rows of both units: the units may let them in in another order each, which would be a cycle.
        wanted = ("id in (0, 1)", "id = 0")
        works = [Background(lambda client=client, which=which: client.query(f"update t set n = n + 1 where {which}"))
                 for client, which in zip(clients[1:], wanted)]
        time.sleep(1.5)
        assert all(work.thread.is_alive() for work in works)
        clients[0].query("commit")
        for _ in range(2):
            assert until(5, lambda: any(not work.thread.is_alive() for work in works), every=0.01)
            done = next(at for at, work in enumerate(works) if not work.thread.is_alive())
            assert outcome(works[done]) is None
            clients[1 + done].query("commit")
            del works[done], clients[1 + done]
        assert values(pando, mix)[:2] == [(0, 3), (1, 2)]
        finished(clients)
    with case(f"{mix}-a-stranger-in-the-cycle") as one:
        # Straight at unit 0 somebody waits for the first and is waited for by the second.
        stranger, first, second = unit(mix, 0, timeout=20), Client(pando, mix), Client(pando, mix)
        stranger.query("begin")
        stranger.query("update t_0 set n = 1 where id = 3")
        first.query("begin")
        # One by one: for several of so few rows MariaDB reads, and locks, them all.
        for id in (0, 6, 9):
            first.query(f"update t set n = 1 where id = {id}")
        second.query("begin")
        second.query("update t set n = 2 where id = 1")
        theirs = Background(lambda: stranger.query("update t_0 set n = 1 where id = 0"))
        time.sleep(0.12)
        works = [Background(lambda: first.query("update t set n = 1 where id = 1"))]
        time.sleep(0.12)
        works.append(Background(lambda: second.query("update t set n = 2 where id = 3")))
        victim, took = settled(works)
        assert victim == 1 and outcome(works[1]).code == CODES[door(mix)], outcome(works[1])
        assert took < SOON, f"{took:.2f} s"
        assert outcome(works[0]) is None
        assert theirs.thread.is_alive()
        first.query("rollback")
        assert outcome(theirs) is None
        stranger.query("rollback")
        second.query("rollback")
        values(pando, mix)
        finished([stranger, first, second])
        one.detail = f"{took:.2f} s"


def shared(pando, mix):
    """Transactions that have only read have no number in MariaDB, and must not be taken for one another."""
    with case(f"{mix}-who-only-reads-blocks-nobody"):
        holder, reader, waiter = (Client(pando, mix) for _ in range(3))
        for client in (holder, reader, waiter):
            client.query("begin")
        holder.query("select n from t where id = 0 lock in share mode")
        reader.query("select n from t where id = 3")
        waiter.query("update t set n = 5 where id = 1")
        works = [Background(lambda: waiter.query("update t set n = 5 where id = 0"))]
        time.sleep(0.12)
        works.append(Background(lambda: reader.query("update t set n = 6 where id = 1")))
        # Longer than a suspicion takes.
        time.sleep(4)
        assert all(work.thread.is_alive() for work in works), [work.result for work in works]
        holder.query("commit")
        assert outcome(works[0]) is None
        waiter.query("commit")
        assert outcome(works[1]) is None
        reader.query("commit")
        assert values(pando, mix) == [(0, 5), (1, 6)]
        finished([holder, reader, waiter])
    with case(f"{mix}-a-cycle-over-a-shared-lock") as one:
        holder, second, reader = (Client(pando, mix) for _ in range(3))
        for client in (holder, second, reader):
            client.query("begin")
        holder.query("select n from t where id = 0 lock in share mode")
        second.query("update t set n = 5 where id = 6")
        second.query("update t set n = 5 where id = 1")
        theirs = Background(lambda: reader.query("select n from t where id = 6 lock in share mode"))
        time.sleep(0.12)
        works = [Background(lambda: second.query("update t set n = 5 where id = 0"))]
        time.sleep(0.12)
        works.append(Background(lambda: holder.query("update t set n = 6 where id = 1")))
        victim, took = settled(works)
        assert outcome(works[victim]).code == CODES[door(mix)], outcome(works[victim])
        assert took < LATER, f"{took:.2f} s"
        assert outcome(works[1 - victim]) is None
        for client in (holder, second):
            client.query("rollback")
        assert outcome(theirs) is None
        reader.query("rollback")
        values(pando, mix)
        finished([holder, second, reader])
        one.detail = f"{took:.2f} s"


#: Ends the connections by which Pando asks a server who waits for whom, and tells how many there were.
WATCH = ("select count(pg_terminate_backend(pid)) from pg_stat_activity where query like '%pg_blocking_pids%' and state = 'idle' and pid <> pg_backend_pid()")


def watch_ended(pando, mix):
    """Whoever ends the connections by which servers are watched, as a restart does, does not blind the watch."""
    with case(f"{mix}-after-the-watch-was-ended") as one:
        ended = 0
        for _ in range(2):
            clients, victim, error, took = ring(pando, mix, 2, "update t set n = n + 1 where id = {id}")
            clients[victim].query("rollback")
            finished(clients)
            for n in range(len(clients)):
                server = unit(mix, n)
                ended += int(server.query(WATCH)[0][0])
                server.close()
        assert ended, "no connection watches"
        values(pando, mix)
        one.detail = f"{ended} ended, then {took:.2f} s"


def counted(pando, mix):
    with case(f"{mix}-counted") as one:
        client = Client(pando, mix)
        counts = dict(client.query("SHOW TRANSACTION STATUS"))
        assert int(counts["deadlocks_broken"]) >= 5, counts
        one.detail = f"{counts['deadlocks_broken']} deadlocks broken"
        client.close()


def innocent(pando, mix):
    """Somebody who is not concerned notices nothing."""
    with case(f"{mix}-others-go-on"):
        other = Client(pando, mix)
        other.query("begin")
        other.query("update t set n = n + 1 where id in (15, 16, 17)")
        clients, victim, error, took = ring(pando, mix, 2, "update t set n = n + 1 where id = {id}")
        other.query("update t set n = n + 1 where id in (18, 19, 20)")
        other.query("commit")
        finished([*clients, other])
        assert values(pando, mix)[2:] == [(id, 1) for id in range(15, 21)]


def run():
    for mix in mixes("pg mariadb mysql mixed"):
        if not has(mix):
            skip(f"{mix}-cycles", "no such server")
            continue
        pando = start(mix)
        fill(pando, mix)
        rings(pando, mix)
        savepoints(pando, mix)
        if not is_blind(mix):
            alone(pando, mix)
            if LONG or mix != "mysql":
                left_alone(pando, mix)
                innocent(pando, mix)
        if mix == "mariadb":
            shared(pando, mix)
        if mix == "pg":
            watch_ended(pando, mix)
        counted(pando, mix)
        pando.stop(f"{mix}-cycles-stop")
        drop(mix)
