"""Deadlocks over two units."""
from plain.background import Background
from plain.house import ERRORS, case, until
from shop import FAMILIES, MYSQLS, each, refused


def deadlock(family, pando):
    """The victim loses its whole transaction, also on the unit that knows of no deadlock."""
    with case(f"{family}-deadlock") as one:
        first, second = pando.client(family, "shop", timeout=20), pando.client(family, "shop", timeout=20)
        # Ids 1 and 5 are on unit 1, 0 and 2 on unit 0.
        first.query("begin")
        second.query("begin")
        first.query("update t set n = 10 where id = 0")
        second.query("update t set n = 20 where id = 2")
        first.query("update t set n = 10 where id = 1")
        second.query("update t set n = 20 where id = 5")
        waiting = Background(lambda: first.query("update t set n = 10 where id = 5"))
        assert not until(0.3, lambda: not waiting.thread.is_alive())
        closing = Background(lambda: second.query("update t set n = 20 where id = 1"))

        def failed(one):
            return not one.thread.is_alive() and isinstance(one.wait(10), ERRORS)

        # The other one may have gone on before anybody looks.
        assert until(10, lambda: failed(waiting) or failed(closing))
        # Both end: what the victim held is free.
        results = [waiting.wait(10), closing.wait(10)] if family != "pg" else None
        if family == "pg":
            victim, winner = (first, second) if failed(waiting) else (second, first)
            error = (waiting if victim is first else closing).wait(10)
            assert isinstance(error, ERRORS) and error.code == "40P01", repr(error)
            victim.query("rollback")
            (closing if victim is first else waiting).wait(10)
        else:
            assert sum(isinstance(result, ERRORS) for result in results) == 1, repr(results)
            victim, winner = (first, second) if isinstance(results[0], ERRORS) else (second, first)
            error = results[0] if victim is first else results[1]
            assert error.code == 1213, str(error)
        # Clients begin again after this error; the old transaction must not be committed with that.
        victim.query("begin")
        victim.query("commit")
        winner.query("rollback")
        one.detail = str(error)[:80]
        assert winner.query("select sum(n) from t") == [["0"]], "a part of the victim's transaction is there"
        first.close()
        second.close()


def victim_of_several(family, pando):
    """A statement changes two tables of a unit and is a deadlock's victim with the first of them: the second must not be changed outside the transaction,
    which MySQL has left by itself."""
    for name, ids in (("first", (4, 2)), ("last", (2, 4))):
        with case(f"{family}-victim-with-the-{name}-table"):
            heavy, light = pando.client(family, "shop", timeout=20), pando.client(family, "shop", timeout=20)
            # Ids 0 and 4 are in the same table of unit 0, 2 and 6 in the other one.
            meets, other = ids[0], (2 if ids[0] == 4 else 4)
            held = 0 if meets == 2 else 6
            heavy.query("begin")
            light.query("begin")
            # Who has changed more is not the victim.
            for _ in range(30):
                heavy.query(f"update t set n = n + 1 where id = {meets}")
            light.query(f"update t set n = n + 1 where id = {held}")
            waiting = Background(lambda: heavy.query(f"update t set n = n + 1 where id = {held}"))
            assert not until(0.3, lambda: not waiting.thread.is_alive())
            error = refused(light, f"update t set n = n + 1 where id in ({meets}, {other})")
            assert error.code == 1213, str(error)
            light.query("rollback")
            waiting.wait(10)
            heavy.query("rollback")
            assert heavy.query("select sum(n) from t") == [["0"]], heavy.query("select id, n from t order by id")
            heavy.close()
            light.close()


def main():
    each(FAMILIES, deadlock)
    each(MYSQLS, victim_of_several)
