"""Cycles through full pools: who has all of one unit's connections waits for another's, alone or by way of a row."""
import time

from plain.house import case, skip, until

from units import CODES, MIXES, PATIENCE, Client, door, drop, fill, finished, has, later, mixes, outcome, start, unit, values

#: Connections of a pool.
MOST = 3
#: Several cycles are broken one after the other.
SOON = 3 * PATIENCE


def judged(one, mix, works, began):
    """Some of these gave way, at most as many as the pool has connections, each with the vendor's own code. False when nobody had to: they came too late to meet."""
    results = [outcome(work, 15) for work in works]
    took = time.monotonic() - began
    codes = [error.code for error in results if error]
    assert set(codes) <= {CODES[door(mix)]} and len(codes) <= MOST, results
    assert took < SOON, f"{took:.2f} s"
    one.detail = f"{len(codes)} of {len(works)} gave way, {took:.2f} s"
    return bool(codes)


def under_way(mix, watcher, text):
    """Waits until as many sessions as a pool has connections are at this statement. PostgreSQL's clients cannot see it: some questions later they will be."""
    if door(mix) == "pg":
        for _ in range(20):
            watcher.query("select n from t where id = 2")
        return
    at = lambda: sum(text in str(row) for row in watcher.query("SHOW PROCESSLIST"))
    assert until(5, lambda: at() >= MOST), (f"`{text}` is not under way", watcher.query("SHOW PROCESSLIST"))


def arrived(mix, n, text, count):
    """Waits until so many sessions are at this statement on a unit itself: they have its connections, where one that Pando only lists may not yet have asked for one."""
    listed = {
        "pg": f"select count(*) from pg_stat_activity where datname = 'deadlock_{n}' and state = 'active' and pid <> pg_backend_pid() and query like '%{text}%'",
        "mariadb": f"select count(*) from information_schema.processlist where db = 'deadlock_{n}' and command in ('Query', 'Execute') and id <> connection_id() and info like '%{text}%'",
    }
    server = unit(mix, n)
    asked = listed["pg" if MIXES[mix][n] == "pg" else "mariadb"]
    assert until(5, lambda: int(server.query(asked)[0][0]) >= count), f"`{text}` has not arrived"
    server.close()


def met(attempt):
    """Tries until the cycle is closed: what makes it up are statements that are under way, which nobody holds there."""
    assert any(attempt() for _ in range(5)), "nobody ever had to give way"


def transactions(pando, mix):
    """Transactions that have all of one unit's connections and want one of another's, against others the other way round."""
    with case(f"{mix}-full-pools") as one:
        clients = [Client(pando, mix, timeout=30) for _ in range(2 * MOST)]
        for n, client in enumerate(clients):
            client.query("begin")
            client.query(f"select n from t where id = {n % 2}")
        began = time.monotonic()
        works = [later(client, f"select n from t where id = {(n + 1) % 2}", "commit") for n, client in enumerate(clients)]
        assert judged(one, mix, works, began), "nobody had to give way"
    finished(clients)


def statements(pando, mix, watcher):
    """Statements over all units that have one unit's connections and want another's, against transactions that have those. They give back what they have when
    they wait for long, so nobody needs to give way."""
    inside, outside = ([Client(pando, mix, timeout=30) for _ in range(MOST)] for _ in range(2))

    def attempt(one):
        for client in inside:
            client.query("rollback")
            client.query("begin")
            client.query("select n from t where id = 1")
        works = [later(client, "select count(*) from t") for client in outside]
        under_way(mix, watcher, "select count(*)")
        began = time.monotonic()
        works += [later(client, "select n from t where id = 0", "commit") for client in inside]
        return judged(one, mix, works, began)

    with case(f"{mix}-full-pools-of-statements") as one:
        attempt(one)
    finished([*inside, *outside])


def row(pando, mix, watcher):
    """One transaction has a row for which others wait, and these have the rest of the unit's connections."""
    first, *others = [Client(pando, mix, timeout=30) for _ in range(2 * MOST)]
    writers, readers = others[1:MOST], [others[0], *others[MOST:]]

    def attempt(one):
        first.query("begin")
        first.query("update t set n = n + 1 where id = 1")
        waiting = [later(client, "update t set n = n + 1 where id = 1") for client in writers]
        # A reader who came before them would find a connection, and be done.
        arrived(mix, 1, "update t", len(writers))
        works = [later(client, "select count(*) from t") for client in readers]
        under_way(mix, watcher, "select count(*)")
        began = time.monotonic()
        works.append(later(first, "update t set n = n + 1 where id = 0", "commit"))
        has_met = judged(one, mix, works, began)
        assert [outcome(work) for work in waiting] == [None] * len(waiting)
        assert values(pando, mix) == [(0, 1), (1, MOST)]
        return has_met

    with case(f"{mix}-full-pools-and-a-row") as one:
        attempt(one)
    finished([first, *others])


def base(pando, mix, watcher):
    """A transaction of type BASE has no connection between its statements, but a row for which all who have connections wait. To end it takes none of theirs."""
    first, *others = [Client(pando, mix, timeout=30, kind="BASE") for _ in range(MOST + 1)]

    def attempt(one, texts):
        first.query("begin")
        first.query("update t set n = n + 1 where id = 0")
        works = [later(client, "update t set n = n + 1 where id = 0") for client in others]
        under_way(mix, watcher, "where id = 0")
        began = time.monotonic()
        ended = later(first, *texts)
        has_met = judged(one, mix, works, began)
        assert outcome(ended) is None, outcome(ended)
        done = sum(outcome(work) is None for work in works)
        return has_met, done, values(pando, mix)

    with case(f"{mix}-full-pools-in-base-statement") as one:
        def statement():
            has_met, done, rows = attempt(one, ("update t set n = n + 1 where id = 3", "commit"))
            assert rows == [(0, done + 1), (3, 1)], rows
            return has_met
        met(statement)
    for end, count in (("commit", MOST + 1), ("rollback", MOST)):
        with case(f"{mix}-full-pools-in-base-{end}") as one:
            has_met, _, rows = attempt(one, (end,))
            assert not has_met and rows == [(0, count)], (one.detail, rows)
    finished([first, *others])


def taken_back(pando, mix, watcher):
    """Whose transaction of type BASE is ended to break a cycle needs a connection for that, and so does one whose client has gone: nobody else gives way."""
    for name in ("victim", "gone"):
        with case(f"{mix}-full-pools-in-base-{name}") as one:
            first, *others = [Client(pando, mix, timeout=30, kind="BASE") for _ in range(MOST + 1)]
            first.query("begin")
            first.query("update t set n = n + 1 where id = 0")
            for n, client in enumerate(others):
                client.query("begin")
                for _ in range(2):
                    client.query(f"update t set n = n + 1 where id = {3 * n + 1}")
            works = [later(client, "update t set n = n + 1 where id = 0", "commit") for client in others]
            under_way(mix, watcher, "where id = 0")
            began = time.monotonic()
            if name == "gone":
                first.close()
            else:
                error = outcome(later(first, "update t set n = n + 1 where id = 3"))
                assert error and error.code == CODES[door(mix)], error
            assert [outcome(work, 15) for work in works] == [None] * MOST, [work.result for work in works]
            took = time.monotonic() - began
            assert took < SOON, f"{took:.2f} s"
            one.detail = f"{took:.2f} s"
            finished(others if name == "gone" else [first, *others])
            assert values(pando, mix) == [(0, MOST)] + [(3 * n + 1, 2) for n in range(MOST)]


def run():
    for mix in mixes("pg mariadb"):
        if not has(mix):
            skip(f"{mix}-full-pools", "no such server")
            continue
        pando = start(mix, maxPoolSize=MOST, connectionTimeoutMilliseconds=20000)
        fill(pando, mix)
        transactions(pando, mix)
        watcher = Client(pando, mix)
        for part in (statements, row, base, taken_back):
            part(pando, mix, watcher)
        watcher.close()
        pando.stop(f"{mix}-full-pools-stop")
        drop(mix)
