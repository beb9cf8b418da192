"""Statements of megabytes that Pando answers by itself: other clients hardly notice."""
import threading
import time

from plain.house import ERRORS, GLOBAL, Pando, case, check, has, reset, say, sharded, skip, sources

MILLIONS = 4_000_000


def main():
    for family in ("pg", "mariadb"):
        if not has(family):
            skip(f"patterns-{family}", "no server")
            continue
        with case(f"patterns-{family}", quiet=True):
            of_family(family)


def heavy(size):
    return {
        "help": "HELP DISTSQL LIKE '" + "%" * size + "'", "help-letters": "HELP DISTSQL LIKE '" + "%a" * (size // 2) + "b'", "variables": "SHOW DIST VARIABLES LIKE '" + "%a" * (size // 2) + "'",
        "units": "SHOW STORAGE UNITS LIKE '" + "_%" * (size // 2) + "'", "format": "FORMAT select " + "a1," * (size // 6) + "1", "parse": "PARSE select " + "a1," * (size // 6) + "1",
        "names": "CREATE BROADCAST TABLE RULE " + ",".join(f"t{n}" for n in range(min(size // 8, 90_000))), "nonsense": "SHOW SHARDING " + "x " * (size // 8),
        "alone": "SELECT '" + "a" * (size // 2) + "' LIKE '" + "%a" * (size // 4) + "b'",
    }


class Others:
    """Clients with a small question of their own, on every event loop; their times while something goes on."""

    def __init__(self, pando, family, count=8):
        self.times, self.failed, self.stopped = [], [], threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(pando, family), daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, pando, family):
        try:
            client = pando.client(family, "shop", timeout=120)
            while not self.stopped.wait(0.01):
                began = time.monotonic()
                client.query("SELECT name FROM orders WHERE id = 7")
                self.times.append(time.monotonic() - began)
            client.close()
        except Exception as error:
            self.failed.append(f"{type(error).__name__}: {error}")

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(130)
        assert not self.failed, self.failed
        times = sorted(self.times)
        return len(times), times[int(len(times) * 0.99)], times[-1]


def of_family(family):
    reset(family)
    config = {"global.yaml": GLOBAL, "database-shop.yaml": "databaseName: shop\n" + sources(family, maxPoolSize=12) + sharded(["orders"])}
    pando = Pando(config)
    client = pando.client(family, "shop", timeout=120)
    client.query("CREATE TABLE orders (id bigint primary key, name varchar(20))")
    client.query("INSERT INTO orders VALUES (7, 'seven')")
    for name, text in heavy(MILLIONS if family == "pg" else MILLIONS // 4).items():
        with case(f"patterns-{name}-{family}"):
            others = Others(pando, family)
            began, asked = time.monotonic(), 0
            # As often as fits into a moment: one blow is lost among a hundred answers.
            while asked < 3 and time.monotonic() - began < 4:
                try:
                    client.query(text)
                except ERRORS:
                    pass
                asked += 1
            took = time.monotonic() - began
            time.sleep(0.3)
            count, late, longest = others.stop()
            say(f"{name}: {asked} in {took:.2f} s; {count} answers meanwhile, p99 {late * 1000:.0f} ms, the longest {longest * 1000:.0f} ms")
            assert late < 1 and longest < 3, f"others waited {late:.2f} s (p99), {longest:.2f} s at most"
    client.close()
    pando.stop(f"patterns-stop-{family}")
