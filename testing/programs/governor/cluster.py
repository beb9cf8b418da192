"""Three instances on ZooKeeper, then on etcd, under load: rules change, an instance is killed, the repository goes away for 20 s."""
import os
import re
import subprocess
import threading
import time

from plain import house
from plain.house import ERRORS, TESTING, Pando, case, check, has, ok, reset, skip, until

from bench import ROWS, TABLES, arguments, sysbench
from empty import units

# Hexadecimal digits of the key that seals passwords; every instance has the same.
SECRET = {"PANDO_SECRET_KEY": "0123456789abcdef" * 4}
OUTAGE = int(os.environ.get("OUTAGE", "20"))
# From the statement's success to every instance's serving it.
SOON = 5.0


def goes_on(rates):
    """Whether a load never stood still for longer than a busy machine's noise: what waits for the repository does it for all of OUTAGE."""
    words = "".join("-" if rate else "0" for rate in rates)
    return "-" in words and "0" * 5 not in words


def run():
    family = next((family for family in ("pg", "mariadb") if has(family)), None)
    for kind in ("zk", "etcd"):
        name = {"zk": "zookeeper", "etcd": "etcd"}[kind]
        if not family:
            skip(f"cluster-{name}", "no server")
            continue
        services = f"{house.work}/{name}"
        os.chmod(house.work, 0o755)
        up = subprocess.run([f"{TESTING}/services/up", services, "pg=0", "mariadb=0", "mysql=0", f"{kind}=1"], capture_output=True, text=True)
        try:
            if up.returncode:
                house.bad(f"cluster-{name}", f"it does not start: {up.stdout[-300:]}{up.stderr[-300:]}")
                continue
            with case(f"cluster-{name}", quiet=True):
                Cluster(name, kind, services, family).run()
        finally:
            subprocess.run([f"{TESTING}/services/down", services], capture_output=True)
            for pando in list(house.running):
                pando.kill()


class Load:
    """A client that reads and writes all the time through one instance, and keeps account of what it was told. It connects anew when its connection
    breaks, and repeats what was refused because a connection broke; every other error counts."""

    def __init__(self, family, ports, first):
        self.family, self.ports, self.rows, self.wrong, self.done = family, ports, {}, [], 0
        self.first, self._stop = first, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        client, at, number = None, 0, self.first
        while not self._stop.is_set():
            try:
                if client is None:
                    port = self.ports[at % len(self.ports)]()
                    client = house.CLIENTS[self.family](port, database="shop", user="root", password="root", timeout=30)
                if number not in self.rows:
                    # What was not answered may have been done.
                    found = client.query(f"SELECT v FROM t_load WHERE k = {number}")
                    if not found:
                        client.query(f"INSERT INTO t_load (k, v) VALUES ({number}, {number * 3})")
                    self.rows[number] = number * 3
                    number += 1
                probe = self.first + (number * 7919) % (number - self.first)
                got = client.value(f"SELECT v FROM t_load WHERE k = {probe}")
                if got != str(self.rows[probe]):
                    self.wrong.append(f"k = {probe}: {got}")
                self.done += 1
            except (OSError, ConnectionError, EOFError):
                client, at = None, at + 1
                time.sleep(0.05)
            except ERRORS as error:
                if "57P01" in str(error) or "1053" in str(error):
                    client, at = None, at + 1
                else:
                    self.wrong.append(str(error)[:200])
                    client = None
                    time.sleep(0.05)

    def stop(self):
        self._stop.set()
        self.thread.join(60)


class Cluster:
    def __init__(self, name, kind, services, family):
        self.name, self.kind, self.services, self.family = name, kind, services, family
        env = dict(line.split("=", 1) for line in open(f"{services}/env").read().split() if "=" in line)
        self.port = env[f"{kind.upper()}1_PORT"]

    def member(self):
        kind = {"zk": "ZooKeeper", "etcd": "etcd"}[self.kind]
        lists = f"127.0.0.1:{self.port}" if self.kind == "zk" else f"http://127.0.0.1:{self.port}"
        text = ("mode:\n  type: Cluster\n  repository:\n    type: " + kind + "\n    props:\n      namespace: pando_" + self.family +
                f"\n      server-lists: \"{lists}\"\n      timeToLiveSeconds: 4\n      operationTimeoutMilliseconds: 2000\n")
        return Pando({"global.yaml": text}, environment=SECRET)

    def client(self, member, database="shop"):
        return member.client(self.family, database, user="root", password="root", timeout=30)

    def exports(self):
        texts = []
        for member in self.members:
            client = self.client(member)
            texts.append(client.value("EXPORT DATABASE CONFIGURATION"))
            client.close()
        return texts

    def told(self, text):
        """Runs a statement at the first instance, and says how long the last other one needed to show it."""
        client = self.client(self.members[0])
        client.query(text)
        began = time.monotonic()
        wanted = client.value("EXPORT DATABASE CONFIGURATION")
        client.close()
        agreed = until(20, lambda: set(self.exports()) == {wanted}, every=0.02)
        assert agreed, "the instances do not agree"
        return time.monotonic() - began

    def run(self):
        reset(self.family)
        self.members = [self.member()]
        first = self.client(self.members[0], "postgres" if self.family == "pg" else "")
        first.query("CREATE DATABASE shop")
        first.close()
        client = self.client(self.members[0])
        client.query(units(self.family, ["ds_0", "ds_1"]))
        rule = '(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN={}, TYPE(NAME="mod", PROPERTIES("sharding-count"="4")))'
        rules = ", ".join(f"sbtest{n}" + rule.format("id") for n in range(1, TABLES + 1))
        client.query(f"CREATE SHARDING TABLE RULE {rules}, t_load" + rule.format("k"))
        client.query("CREATE TABLE t_load (k int PRIMARY KEY, v int)")
        client.close()
        self.members += [self.member(), self.member()]
        with case(f"cluster-{self.name}-members"):
            assert until(10, lambda: len(self.nodes(0)) == 3), self.nodes(0)
            assert until(10, lambda: len({node[6] for node in self.nodes(1)} - {"-1"}) == 3), self.nodes(1)
        sysbench(self.family, self.members[0].port(self.family), "oltp_read_write", "prepare")
        loads = [Load(self.family, [lambda n=n: self.members[n].port(self.family), lambda: self.members[0].port(self.family)], 1 + n * 1_000_000)
                 for n in range(3)]
        # Debian's sysbench goes on through all of it, at an instance that nobody kills.
        steady = subprocess.Popen([*arguments(self.family, self.members[1].port(self.family)), "--threads=2", "--time=0", "--events=0",
                                   "--report-interval=1", "oltp_update_non_index", "run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            self.under_load()
        finally:
            ended = steady.poll()
            steady.terminate()
            said = steady.communicate()[0]
            for load in loads:
                load.stop()
        reports = [float(rate) for rate in re.findall(r"qps: ([0-9.]+)", said)]
        check(f"cluster-{self.name}-sysbench-all-the-time", ended is None and len(reports) > OUTAGE and goes_on(reports) and "FATAL" not in said,
              said[-600:], f"{len(reports)} s, from {min(reports, default=0):.0f} to {max(reports, default=0):.0f} queries/s")
        with case(f"cluster-{self.name}-rolling-restart"):
            self.rolling()
        wrong = [text for load in loads for text in load.wrong]
        check(f"cluster-{self.name}-answers", not wrong, f"{len(wrong)}: {wrong[:5]}", f"{sum(load.done for load in loads)} rounds")
        with case(f"cluster-{self.name}-rows"):
            client = self.client(self.members[2])
            rows = {int(k): int(v) for k, v in client.query("SELECT k, v FROM t_load")}
            told = {key: value for load in loads for key, value in load.rows.items()}
            missing = [key for key in told if rows.get(key) != told[key]]
            assert not missing, missing[:10]
            assert client.value("SELECT COUNT(*) FROM sbtest1") == str(ROWS)
            client.close()
        for n, member in enumerate(self.members):
            member.stop(f"cluster-{self.name}-stop-{n}")

    def under_load(self):
        name = f"cluster-{self.name}"
        with case(f"{name}-rule-changes"):
            slowest = max(self.told(text) for text in (
                "CREATE BROADCAST TABLE RULE t_dict", "CREATE SHARDING TABLE RULE t_new(STORAGE_UNITS(ds_0, ds_1), "
                'SHARDING_COLUMN=k, TYPE(NAME="hash_mod", PROPERTIES("sharding-count"="4")))', "DROP SHARDING TABLE RULE t_new"))
            assert slowest < SOON, f"{slowest:.2f} s"
            ok(f"{name}-soon", f"the last instance followed within {slowest:.2f} s, as far as three connections can tell")
        with case(f"{name}-sysbench"):
            sysbench(self.family, self.members[1].port(self.family), "--threads=4", "--events=200", "--time=0", "oltp_read_write", "run")
        with case(f"{name}-definitions"):
            self.definitions()
        with case(f"{name}-instance-killed"):
            self.members[2].kill()
            assert until(15, lambda: len(self.nodes(0)) == 2), self.nodes(0)
            client = self.client(self.members[0])
            client.query("CREATE BROADCAST TABLE RULE t_while_away")
            client.close()
            self.members[2] = self.member()
            assert until(10, lambda: len(set(self.exports())) == 1), "the instances do not agree"
            assert until(10, lambda: len(self.nodes(0)) == 3), self.nodes(0)
        with case(f"{name}-repository-away"):
            self.server("stop")
            began = time.monotonic()
            assert until(15, lambda: self.status(1) == "BEHIND"), self.nodes(1)
            client = self.client(self.members[1])
            try:
                client.query("CREATE BROADCAST TABLE RULE t_late")
                raise AssertionError("accepted without the repository")
            except ERRORS as error:
                assert "repository" in str(error), error
            client.close()
            time.sleep(max(0, OUTAGE - (time.monotonic() - began)))
            # Who comes in meanwhile is served as before.
            client = self.client(self.members[2])
            assert client.value("SELECT COUNT(*) FROM sbtest1") == str(ROWS)
            client.close()
            self.server("start")
            assert until(20, lambda: all(self.status(n) == "OK" for n in range(3))), [self.nodes(n) for n in range(3)]
            assert until(20, lambda: len(self.nodes(0)) == 3), self.nodes(0)
        with case(f"{name}-after-return"):
            self.told("CREATE BROADCAST TABLE RULE t_late")
            assert len(set(self.exports())) == 1
            assert len({node[6] for node in self.nodes(0)}) == 3, self.nodes(0)

    def definitions(self):
        """What one instance defines, the others know when it is told to be done: rows without column names go where they belong."""
        type_of = 'TYPE(NAME="mod", PROPERTIES("sharding-count"="4"))'
        self.told(f"CREATE SHARDING TABLE RULE t_def(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=k, {type_of})")
        clients = [self.client(member) for member in self.members]
        clients[0].query("CREATE TABLE t_def (k int, v int)")
        for n, client in enumerate(clients):
            client.query(f"INSERT INTO t_def VALUES ({n}, {100 + n})")
        for round in range(5):
            # The two columns change places.
            at, last = clients[round % 3], round % 2 == 0
            if self.family == "pg":
                # A sharding column cannot be dropped and added again.
                at.query("DROP TABLE t_def")
                at.query(f"CREATE TABLE t_def ({'v int, k int' if last else 'k int, v int'})")
            else:
                at.query("ALTER TABLE t_def MODIFY COLUMN k int " + ("AFTER v" if last else "FIRST"))
            for n, client in enumerate(clients):
                key = 1000 * (round + 1) + n
                values = (key + 7, key) if last else (key, key + 7)
                client.query(f"INSERT INTO t_def VALUES ({values[0]}, {values[1]})")
            for n in range(3):
                key = 1000 * (round + 1) + n
                found = [client.query(f"SELECT v FROM t_def WHERE k = {key}") for client in clients]
                assert all([tuple(row) for row in rows] == [(str(key + 7),)] for rows in found), (round, n, found)
        for client in clients:
            client.close()

    def rolling(self):
        """Every instance is ended and begun again, one after the other: clients who come again when their connection is closed see no error."""
        loads = [Load(self.family, [lambda n=n: self.members[n].port(self.family), lambda n=n: self.members[(n + 1) % 3].port(self.family)],
                      1 + (n + 3) * 1_000_000) for n in range(3)]
        for n in range(3):
            self.members[n].stop(f"cluster-{self.name}-rolling-stop-{n}")
            self.members[n] = self.member()
            assert until(10, lambda: len(self.nodes(n)) == 3), self.nodes(n)
        for load in loads:
            load.stop()
        wrong = [text for load in loads for text in load.wrong]
        assert not wrong, f"{len(wrong)}: {wrong[:5]}"
        assert all(load.done > 0 for load in loads), [load.done for load in loads]

    def server(self, what):
        subprocess.run([f"{TESTING}/services/server", self.services, f"{self.kind}1", what], check=True, timeout=90)

    def nodes(self, n):
        client = self.client(self.members[n])
        rows = client.query("SHOW COMPUTE NODES")
        client.close()
        return rows

    def status(self, n):
        client = self.client(self.members[n])
        row = client.query("SHOW COMPUTE NODE INFO")[0]
        client.close()
        return row[3]
