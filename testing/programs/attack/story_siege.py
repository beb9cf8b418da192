"""Pando under siege: stopped by signals under load, halted and continued, its units halted, short of memory, units taken away while transactions are in doubt, and
strangers at its repository."""
import os
import re
import signal
import socket
import subprocess
import threading
import time

from plain import house, units as places
from plain.house import GLOBAL, Pando, Probe, case, has, port, reset, server, skip, until
from plain.units import Unit

import strangers
from siege import ERRORS, GONE, Town, Writer, halted, stopped

SECRET = {"PANDO_SECRET_KEY": "0123456789abcdef" * 4}
ROWS = 40


def ended_by_a_signal(family):
    """Every client has an answer or hears why there is none; nothing told is lost."""
    with case(f"siege-{family}-terminated-under-load"):
        town = Town(family)
        # The first change over several units after a start, whose level no unit has told yet.
        town.client("XA").query("insert into goods (id, v) values (2, 1), (3, 1)")
        writers = [Writer(town, number) for number in range(1, 17)]
        assert until(20, lambda: all(writer.told or writer.end for writer in writers)), "a client does not come to work"
        town.pando.process.send_signal(signal.SIGTERM)
        assert town.pando.process.wait(35) == 0
        stopped(writers)
        silent = [str(writer.end) for writer in writers if getattr(writer.end, "code", None) not in GONE]
        assert not silent, f"{len(silent)} clients were not told: {silent[:3]}"
        refused = [text for writer in writers for text in writer.refused]
        assert not refused, refused[:3]
        town.pando.kill()
        town.begin()
        town.holds(writers)
    with case(f"siege-{family}-statements-ended-with-the-drain"):
        slow = "select pg_sleep(50)" if family == "pg" else "select sleep(50)"
        holder = town.units[0].direct()
        holder.query("begin")
        holder.query("update goods_0 set v = 2")
        heard = {}
        texts = [slow, "update goods set v = 3", slow]
        clients = [town.client(kind) for kind in ("LOCAL", "XA", "LOCAL")]
        clients[2].query("begin")
        threads = [threading.Thread(target=lambda n=n: heard.update({n: last_words(clients[n], texts[n])}), daemon=True) for n in range(3)]
        for thread in threads:
            thread.start()
        asker = town.client()
        process = "select count(*) from information_schema.processlist where info is not null" if family != "pg" else None
        if process:
            assert until(10, lambda: int(asker.value(process)) >= 3)
        else:
            activity = "select count(*) from pg_stat_activity where state = 'active' and (query like '%pg_sleep(50)%' or query like '%set v = 3%') and pid <> pg_backend_pid()"
            watcher = [unit.direct("test") for unit in town.units]
            assert until(10, lambda: sum(int(one.value(activity)) for one in watcher) >= 3)
        town.pando.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        town.pando.process.send_signal(signal.SIGTERM)
        assert town.pando.process.wait(15) == 0
        for thread in threads:
            thread.join(20)
        wrong = {n: told for n, told in heard.items() if told[0] not in ("57014", 1317, 1053, "57P01") or told[-1] not in GONE}
        assert len(heard) == 3 and not wrong, heard
        holder.close()


def last_words(client, text):
    """The codes of what a client hears until its connection is closed."""
    codes = []
    for sql in (text, "select 1"):
        try:
            client.query(sql)
            codes.append(None)
        except ERRORS as error:
            codes.append(error.code)
            if error.code in GONE:
                break
        except OSError as error:
            return [str(error)]
    return codes


def halts(family):
    """Pando itself stands still, then the server of one unit."""
    with case(f"siege-{family}-pando-halted"):
        town = Town(family)
        writers = [Writer(town, number) for number in range(1, 9)]
        assert until(20, lambda: all(writer.told for writer in writers))
        town.pando.process.send_signal(signal.SIGSTOP)
        time.sleep(2)
        before = sum(len(writer.told) for writer in writers)
        town.pando.process.send_signal(signal.SIGCONT)
        assert until(20, lambda: sum(len(writer.told) for writer in writers) > before + 50), "nobody goes on"
        stopped(writers)
        assert not [writer.end for writer in writers if writer.end], [str(writer.end) for writer in writers]
        town.holds(writers)
    if server(family, 0) == server(family, 1):
        return skip(f"siege-{family}-unit-halted", "one server has both units")
    with case(f"siege-{family}-unit-halted"):
        writers = [Writer(town, number) for number in range(21, 29)]
        assert until(20, lambda: all(writer.told for writer in writers))
        probe = Probe(town.pando, family, "shop", "select count(*) from goods where id = 0", [["0"]])
        with halted(server(family, 1)):
            time.sleep(2.5)
            client = town.client("XA")
            client.query("insert into goods (id, v) values (2, 1)")
            client.close()
        before = {writer: len(writer.told) for writer in writers}
        assert until(30, lambda: all(len(writer.told) > before[writer] or writer.end for writer in writers)), "a client waits for ever"
        probe.stop(f"siege-{family}-the-others-go-on", 2.0)
        stopped(writers)
        town.holds(writers)
    town.pando.stop(f"siege-{family}-stop")


def short_of_memory(family):
    """A process that may have 300 MB is asked for much more."""
    with case(f"siege-{family}-short-of-memory"):
        limited = f"{house.work}/limited-{family}"
        with open(limited, "w") as file:
            file.write(f'#!/bin/sh\nulimit -d {300 << 10}\nexec "{house.BIN}" "$@"\n')
        os.chmod(limited, 0o755)
        town = Town(family, binary=limited)
        client = town.client()
        client.query("create table big (id int primary key, v varchar(2000))")
        client.close()
        for unit in town.units:
            direct = unit.direct()
            for n in range(2):
                values = f"select 2 * (2 * i + {n}) + {unit.n}, repeat('0123456789abcdef', 120) from "
                direct.query(f"insert into big_{n} " + values + ("generate_series(0, 20000) i" if family == "pg" else "(select seq as i from seq_0_to_20000) s"))
            direct.close()
        writers = [Writer(town, number) for number in (5, 7, 13)]
        assert until(20, lambda: all(writer.told for writer in writers))
        heard = []
        sorts = [threading.Thread(target=lambda: heard.append(sort(town)), daemon=True) for _ in range(4)]
        for thread in sorts:
            thread.start()
        for thread in sorts:
            thread.join(40)
        assert len(heard) == 4, "a client waits for ever"
        stopped(writers)
        ended = town.pando.process.poll()
        house.say(f"short of memory: pando {'goes on' if ended is None else f'ended with {ended}'}, clients heard {heard}")
        town.pando.kill()
        town.begin(binary=None)
        town.holds(writers)
        town.pando.stop(f"siege-{family}-short-of-memory-stop")


def sort(town):
    try:
        client = town.client(timeout=35)
        return len(client.query("select id, v, row_number() over (order by v, id desc) from big"))
    except (*ERRORS, OSError) as error:
        return str(error)[:60]


class Doubt:
    """A branch on the second unit whose decision somebody holds open on the first one."""

    def __init__(self, family, units, key=11):
        self.units, self.identities = units, [unit.identity() for unit in units]
        self.name = f"pando-{self.identities[0]}-siege-{int(time.time() * 1000):x}-1"
        ledger = "pando.decision" if family == "pg" else "pando_decision"
        self.holder = units[0].direct()
        self.holder.query("begin")
        self.holder.query(f"insert into {ledger} (global, verdict) values ('{self.name}', 'commit')")
        client, change = units[1].direct(), f"insert into goods_0 values ({key}, 9)"
        branch = f"'{self.name}','1',1"
        texts = ["begin", change, f"prepare transaction '{self.name}/1'"] if family == "pg" else \
            [f"xa start {branch}", change, f"xa end {branch}", f"xa prepare {branch}"]
        for text in texts:
            client.query(text)
        client.socket.close()

    def is_open(self):
        return bool(self.units[1].in_doubt(self.identities))


def units_taken_away(family, repository=None):
    """DROP DATABASE and a reload without the units wait for transactions in doubt, or are refused."""
    units = [Unit(family, n) for n in range(2)]
    places.make(units)
    files = places.config(units, ["goods"])
    other = f'databaseName: other\ndataSources:\n  ds_0:\n    url: "{house.url(family, 0, "test")}"\n    username: test\n    password: test\n'
    files["database-other.yaml"] = other
    pando = Pando(files, arguments=["--data", f"{house.work}/doubt-{family}"])
    fill(pando, family)
    with case(f"siege-{family}-dropped-in-doubt"):
        doubt = Doubt(family, units)
        client = pando.client(family, "other", timeout=60)
        try:
            client.query("DROP DATABASE shop")
            raise AssertionError("a database goes while a transaction is in doubt there")
        except ERRORS as error:
            assert error.code in (17014, "55006") and doubt.name in str(error) and "RESOLVE" in str(error), error
        shown = client.query("SHOW IN DOUBT TRANSACTIONS")
        assert any(doubt.name in row for row in shown), shown
        doubt.holder.query("commit")
        client.query("DROP DATABASE shop")
        assert not doubt.is_open() and "11" in str(units[1].direct().query("select id from goods_0"))
    with case(f"siege-{family}-left-behind-after-the-drop"):
        # A transaction that began before the drop, and leaves a branch behind it.
        client.query("CREATE DATABASE spare")
        client = pando.client(family, "spare", timeout=60)
        client.query(registration(family, units))
        client.query("set variable transaction_type = XA")
        client.query("begin")
        client.query("select 1")
        other = pando.client(family, "other", timeout=60)
        other.query("DROP DATABASE spare")
        doubt = Doubt(family, units, key=15)
        doubt.holder.query("commit")
        assert until(15, lambda: not doubt.is_open()), "it stays in doubt for ever"
        client.close()
    pando.stop(f"siege-{family}-dropped-stop")
    with case(f"siege-{family}-reloaded-in-doubt"):
        places.make(units)
        pando = Pando(files)
        fill(pando, family)
        doubt = Doubt(family, units)
        os.remove(f"{pando.folder}/database-shop.yaml")
        pando.process.send_signal(signal.SIGHUP)
        assert until(20, lambda: "the old configuration stays" in pando.said(40)), pando.said(40)
        assert doubt.name in pando.said(40)
        doubt.holder.query("commit")
        assert until(15, lambda: not doubt.is_open()), "it stays in doubt"
        pando.process.send_signal(signal.SIGHUP)
        assert until(20, lambda: "the configuration was read again" in pando.said(40)), pando.said(40)
    pando.stop(f"siege-{family}-reloaded-stop")


def registration(family, units):
    return "REGISTER STORAGE UNIT " + ", ".join(
        f"{unit.name}(HOST='127.0.0.1', PORT={unit.real}, DB={unit.database}, USER=test, PASSWORD='test')" for unit in units)


def fill(pando, family):
    client = pando.client(family, "shop")
    client.query("create table goods (id int primary key, v int)")
    client.query("set variable transaction_type = XA")
    for text in ("begin", "insert into goods values (2, 1), (3, 1)", "commit"):
        client.query(text)
    client.close()


USERS = """authority:
  users:
    - {user: root@%, password: root-hush, admin: true}
    - {user: app@%, password: app-hush}
"""


def member(place, props="", secret=None):
    text = (f'mode:\n  type: Cluster\n  repository:\n    type: {place.KIND}\n    props:\n      namespace: {place.namespace[1:]}\n      server-lists: "{place.lists}"\n'
            f"      timeToLiveSeconds: 4\n      operationTimeoutMilliseconds: 2000\n{props}{USERS}")
    return Pando({"global.yaml": text}, environment=SECRET if secret is None else secret)


def boss(pando, family, database="shop"):
    return pando.client(family, database, user="root", password="root-hush", timeout=60)


def status(pando, family):
    client = boss(pando, family)
    found = client.query("SHOW COMPUTE NODE INFO")[0][3]
    client.close()
    return found


def found_shop(pando, family):
    client = boss(pando, family, "postgres" if family == "pg" else "")
    client.query("CREATE DATABASE shop")
    client.close()
    client = boss(pando, family)
    client.query("REGISTER STORAGE UNIT " + ", ".join(
        f"ds_{n}(HOST='127.0.0.1', PORT={port(family, n)}, DB=ds_{n}, USER=test, PASSWORD='test')" for n in range(2)))
    client.query('CREATE SHARDING TABLE RULE t(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=id, TYPE(NAME="mod", PROPERTIES("sharding-count"="4")))')
    client.query("create table t (id int primary key, v int)")
    client.query("insert into t values " + ", ".join(f"({n}, {n * 3})" for n in range(ROWS)))
    return client


UNITS = "/metadata/shop/data_sources/units/ds_1"
ALGORITHM = "/metadata/shop/rules/sharding/sharding_algorithms/t_mod"


def attempts(place, good):
    version = good["/version"].decode()
    admin = good["/rules/authority"] + b"  -\n    user: evil@%\n    password: evil\n    admin: true\n"
    return {
        "rubbish": lambda: place.put(ALGORITHM, b"\xff\0]{"),
        "a-huge-entry": lambda: place.put("/metadata/shop/rules/sharding/auto_tables/x", b"a: " + b"[" * 900_000),
        "another-rule": lambda: place.put(ALGORITHM, "type: mod\nprops:\n  sharding-count: 3\n"),
        "another-server": lambda: place.put(UNITS, good[UNITS].replace(str(port_of(good[UNITS])).encode(), b"1")),
        "an-administrator": lambda: place.put("/rules/authority", admin),
        "no-users": lambda: place.delete("/rules/authority"),
        "another-database": lambda: place.put("/metadata/evil", b""),
        "an-older-version": lambda: place.put("/version", "1 somebody"),
        "a-huge-version": lambda: place.put("/version", "18446744073709551615 somebody"),
        "a-pending-change": lambda: place.put("/version", f"{version.split()[0]} x f 99999999999"),
        "no-version": lambda: place.delete("/version"),
        "nothing": lambda: [place.delete(path) for path in good],
    }


def port_of(entry):
    return re.search(rb"127\.0\.0\.1:(\d+)", entry)[1].decode()


def strangers_at(place, family):
    name = place.KIND.lower()
    reset(family)
    pando = member(place)
    client = found_shop(pando, family)
    good = {path: value for path, value in place.tree().items() if not path.startswith(("/nodes", "/reservation"))}
    with case(f"siege-{name}-no-secrets"):
        text = b"".join(place.tree().values())
        assert b"hush" not in text and b"password: test" not in text, "a password is readable"
        app = pando.client(family, "shop", user="app", password="app-hush")
        assert "hush" not in str(app.query("SHOW COMPUTE NODE MODE"))
    for what, act in attempts(place, good).items():
        with case(f"siege-{name}-{what}"):
            act()
            assert until(10, lambda: status(pando, family) == "BEHIND", 0.05), status(pando, family)
            right(client)
            denied(pando, family, "evil")
            denied(pando, family, "root")
            if what in ("an-administrator", "another-rule", "no-version"):
                refused_start(place)
        restore(place, good)
        assert until(15, lambda: status(pando, family) == "OK", 0.05), pando.said(3)
    with case(f"siege-{name}-afterwards"):
        client.query("CREATE BROADCAST TABLE RULE later")
        other = member(place)
        right(boss(other, family))
        other.stop(f"siege-{name}-second-stop")
        # What was right once, put back with its mark.
        restore(place, good)
        assert until(10, lambda: status(pando, family) == "BEHIND", 0.05)
        right(client)
    pando.stop(f"siege-{name}-stop")


def right(client):
    rows = {int(key): int(value) for key, value in client.query("select id, v from t")}
    assert rows == {n: n * 3 for n in range(ROWS)}, rows
    assert client.query("select v from t where id = 7") == [["21"]]


def denied(pando, family, user):
    try:
        pando.client(family, "shop", user=user, password=user)
        raise AssertionError(f"{user} is let in")
    except ERRORS as error:
        assert error.code in ("28P01", 1045), error


def refused_start(place):
    try:
        member(place)
    except RuntimeError as error:
        assert "somebody else has changed" in str(error) or "is not Pando's" in str(error), error
        return
    raise AssertionError("an instance begins with it")


def restore(place, good):
    now = place.tree()
    for path in now:
        if path not in good and not path.startswith(("/nodes", "/reservation")):
            place.delete(path)
    for path, value in good.items():
        if now.get(path) != value:
            place.put(path, value)


def with_a_digest(family):
    """Nodes of a ZooKeeper user are nobody else's."""
    with case("siege-zookeeper-digest"):
        place = strangers.ZooKeeper(f"digest_{os.getpid()}")
        pando = member(place, '      digest: "pando:digest-hush"\n')
        client = boss(pando, family, "postgres" if family == "pg" else "")
        client.query("CREATE DATABASE shop")
        assert "digest-hush" not in str(client.query("SHOW COMPUTE NODE MODE"))
        assert place.tree() == {} and place.put("/rules/authority", "users: []") != 0 and place.put("/version", "1 x") != 0
        own = strangers.ZooKeeper(place.namespace[1:], "pando:digest-hush")
        assert "/version" in own.tree()
        pando.stop("siege-zookeeper-digest-stop")


class Clear(threading.Thread):
    """A server that has no TLS, and notes what it is sent all the same."""

    def __init__(self, family):
        super().__init__(daemon=True)
        self.family, self.heard = family, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            client, _ = self.listener.accept()
            client.settimeout(3)
            try:
                if self.family == "pg":
                    self.heard.append(client.recv(1000))
                    client.sendall(b"N")
                else:
                    body = (b"\x0a5.7.0\0" + b"\1\0\0\0" + b"12345678\0" + b"\xff\xf7" + b"\x21\2\0" + b"\x0f\0" + b"\x15" + bytes(10)
                            + b"123456789012\0mysql_native_password\0")
                    client.sendall(len(body).to_bytes(3, "little") + b"\0" + body)
                while piece := client.recv(1000):
                    self.heard.append(piece)
            except OSError:
                pass
            client.close()


def no_way_back(family):
    """A unit for which TLS is required is told nothing without it."""
    with case(f"siege-{family}-tls-required"):
        clear = Clear(family)
        url = f"jdbc:postgresql://127.0.0.1:{clear.port}/x?sslmode=require" if family == "pg" else f"jdbc:mysql://127.0.0.1:{clear.port}/x?sslMode=REQUIRED"
        pando = Pando({"global.yaml": GLOBAL}, arguments=["--data", f"{house.work}/tls-{family}"])
        client = pando.client(family, "postgres" if family == "pg" else "")
        client.query("CREATE DATABASE shop")
        client = pando.client(family, "shop")
        try:
            client.query(f"REGISTER STORAGE UNIT ds_0(URL='{url}', USER=secretuser, PASSWORD='hush')")
            raise AssertionError("accepted without TLS")
        except ERRORS as error:
            assert "TLS" in str(error) or "SSL" in str(error), error
        request = b"\0\0\0\x08\x04\xd2\x16\x2f"
        assert all(piece == request for piece in clear.heard), clear.heard
        pando.stop(f"siege-{family}-tls-required-stop")


def of_family(family):
    for part in (ended_by_a_signal, halts, short_of_memory, units_taken_away, no_way_back):
        with case(f"siege-{family}-{part.__name__}", quiet=True):
            part(family)


def of_strangers(family):
    for variable, kind in (("ZK1_PORT", strangers.ZooKeeper), ("ETCD1_PORT", strangers.Etcd)):
        if variable not in os.environ:
            skip(f"siege-{kind.KIND.lower()}", "no server")
            continue
        with case(f"siege-{kind.KIND.lower()}", quiet=True):
            strangers_at(kind(f"siege_{os.getpid()}"), family)
    if "ZK1_PORT" in os.environ:
        with_a_digest(family)


def main():
    families = [family for family in ("pg", "mariadb") if has(family)]
    if not families:
        return skip("siege", "no server")
    # Most of it waits: the families and the strangers have a thread each.
    began, services = time.monotonic(), f"{house.work}/repositories"
    wanted = [kind for kind, variable in (("zk", "ZK1_PORT"), ("etcd", "ETCD1_PORT")) if variable not in os.environ]
    os.chmod(house.work, 0o755)
    up = subprocess.Popen([f"{house.TESTING}/services/up", services, "pg=0", "mariadb=0", "mysql=0", *(f"{kind}=1" for kind in wanted)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if wanted else None
    try:
        threads = [threading.Thread(target=of_family, args=(family,)) for family in families]
        for thread in threads:
            thread.start()
        if up and up.wait(120) == 0:
            with open(f"{services}/env") as file:
                os.environ.update(line.strip().split("=", 1) for line in file if re.match(r"(ZK|ETCD)1_PORT=", line))
        with case("siege-repositories", quiet=True):
            of_strangers(families[0])
        for thread in threads:
            thread.join()
    finally:
        if up:
            up.wait()
            subprocess.run([f"{house.TESTING}/services/down", services], capture_output=True)
    house.say(f"siege: {time.monotonic() - began:.0f} s")
