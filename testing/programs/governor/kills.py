"""`kill -9` at random instants of a stream of changes: every restart has the state before or after, never one between."""
import os
import random
import threading
import time

from plain import house
from plain.house import Pando, bad, case, has, ok, reset, skip

from empty import units

ROUNDS = int(os.environ.get("KILLS", "200"))
# Tables of one statement: all of them or none.
TOGETHER = 5
RULE = '(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=k, TYPE(NAME="mod", PROPERTIES("sharding-count"="4")))'


def run():
    family = next((family for family in ("pg", "mariadb") if has(family)), None)
    if not family:
        return skip("kills", "no server")
    with case("kills", quiet=True):
        reset(family)
        of_family(family, random.Random(int(os.environ.get("SEED", "7"))))


def of_family(family, chance):
    data = f"{house.work}/kills"
    pando = Pando(None, arguments=["--data", data])
    client = pando.client(family, "postgres" if family == "pg" else "", user="root", password="root")
    client.query("CREATE DATABASE shop")
    client.close()
    client = pando.client(family, "shop", user="root", password="root")
    client.query(units(family, ["ds_0", "ds_1"]))
    # A machine that is busy needs longer for a change, and is killed in the middle of some all the same.
    began = time.monotonic()
    client.query(f"CREATE SHARDING TABLE RULE first{RULE}")
    client.query("DROP SHARDING TABLE RULE first")
    window = max(0.12, 3 * (time.monotonic() - began))
    client.close()
    expected, counts = set(), {"before": 0, "after": 0, "told": 0}
    for round in range(ROUNDS):
        told, asked = changes(family, pando, chance.uniform(0, window), (round, expected))
        pando.process.wait()
        pando.kill()
        pando = Pando(None, arguments=["--data", data])
        client = pando.client(family, "shop", user="root", password="root")
        found = [row[0] for row in client.query("SHOW SHARDING TABLE RULES")]
        client.close()
        groups = {}
        for name in found:
            groups.setdefault(name.rsplit("_", 1)[0], []).append(name)
        halves = [group for group, names in groups.items() if len(names) != TOGETHER]
        if halves:
            return bad("kills", f"round {round}: half a statement is there: {halves}")
        counts["told"] += len(told)
        for add, group in told:
            (expected.add if add else expected.discard)(group)
        now = set(groups)
        if now != expected and asked:
            add, group = asked
            (expected.add if add else expected.discard)(group)
            counts["after"] += 1
        else:
            counts["before"] += 1
        if now != expected:
            return bad("kills", f"round {round}: {now ^ expected} differ; asked last {asked}")
    if not counts["told"]:
        return bad("kills", "no change was ever made")
    pando.stop("kills-stop")
    ok("kills", f"{ROUNDS} kills, {counts['told']} changes told to be stored; the change under way was lost {counts['before']} times and there {counts['after']} times")


def changes(family, pando, after, state):
    """Changes until the process is killed: those told to be done, and the one that was not answered any more."""
    round, expected = state
    expected, told, asked, killed = set(expected), [], None, threading.Event()

    def kill():
        killed.set()
        pando.process.kill()

    client = pando.client(family, "shop", user="root", password="root")
    timer = threading.Timer(after, kill)
    timer.start()
    try:
        for step in range(10_000):
            if len(expected) > 4:
                group = sorted(expected)[step % len(expected)]
                asked = (False, group)
                text = "DROP SHARDING TABLE RULE " + ", ".join(f"{group}_{n}" for n in range(TOGETHER))
            else:
                group = f"r{round}s{step}"
                asked = (True, group)
                text = "CREATE SHARDING TABLE RULE " + ", ".join(f"{group}_{n}{RULE}" for n in range(TOGETHER))
            client.query(text)
            told.append(asked)
            (expected.add if asked[0] else expected.discard)(asked[1])
            asked = None
    except house.ERRORS as error:
        # Only the end of the process may interrupt.
        if not killed.is_set():
            timer.cancel()
            raise AssertionError(f"refused before the kill: {error}") from error
    except (OSError, ConnectionError, EOFError):
        pass
    timer.join()
    return told, asked
