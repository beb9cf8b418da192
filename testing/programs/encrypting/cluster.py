"""A table that one instance of a cluster encrypts: after its end another one goes on with it, while clients of that one write."""
import os
import subprocess
import threading

from writer import MARK, Writer, rule

from plain import house
from plain.house import ERRORS, TESTING, Pando, direct, reset, until, url

# Hexadecimal digits of the key that seals passwords; every instance has the same.
SECRET = {"PANDO_SECRET_KEY": "0123456789abcdef" * 4}
ROWS = 3000


def member(family, port):
    text = ("mode:\n  type: Cluster\n  repository:\n    type: ZooKeeper\n    props:\n      namespace: encrypting_" + family +
            f"\n      server-lists: \"127.0.0.1:{port}\"\n      timeToLiveSeconds: 4\n      operationTimeoutMilliseconds: 2000\n")
    return Pando({"global.yaml": text}, environment=SECRET)


class At:
    """An instance, as writers look for it."""

    def __init__(self, pando):
        self.pando, self.up = pando, threading.Event()
        self.up.set()


def run(family):
    reset(family, ("both_0", "both_1"))
    services = f"{house.work}/zookeeper-{family}"
    os.chmod(house.work, 0o755)
    try:
        subprocess.run([f"{TESTING}/services/up", services, "pg=0", "mariadb=0", "mysql=0", "zk=1"], check=True, capture_output=True, text=True)
        with open(f"{services}/env") as file:
            port = dict(line.split("=", 1) for line in file.read().split() if "=" in line)["ZK1_PORT"]
        return encrypted(family, [member(family, port), member(family, port)])
    finally:
        subprocess.run([f"{TESTING}/services/down", services], capture_output=True)


def state(client):
    rows = [row for row in client.query("show status from encrypt tables") if row[0] == "t"]
    return rows[0] if rows else None


def at_stage(at, stage):
    """Whether an instance serves a stage; it may be about to lose its repository for a moment."""
    try:
        return state(at)[2] == stage
    except ERRORS:
        return False


def encrypted(family, members):
    client = lambda at, database="shop": members[at].client(family, database, user="root", password="root", timeout=60)
    first = client(0, "postgres" if family == "pg" else "")
    first.query("create database shop" if family == "pg" else "create database `shop`")
    first.close()
    one = client(0)
    own = "PROPERTIES('connectionTimeoutMilliseconds'='2000')"
    units = ", ".join(f"ds_{n}(URL='{url(family, n, f'both_{n}')}', USER='test', PASSWORD='test', {own})" for n in (0, 1))
    one.query(f"register storage unit {units}")
    one.query("create sharding table rule t(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=id, TYPE(NAME='hash_mod', PROPERTIES('sharding-count'='4')))")
    one.query("create table t (id int primary key, phone varchar(30), born date)")
    for begin in range(0, ROWS, 500):
        one.query("insert into t values " + ", ".join(f"({n}, '{MARK}{n}', '2000-01-01')" for n in range(begin, begin + 500)))
    writers = [Writer(At(members[1]), family, n, user="root", password="root") for n in (0, 1)]
    for writer in writers:
        writer.start()
    one.query(rule("t"))
    one.query("encrypt table t")
    assert until(60, lambda: at_stage(one, "ROWS"), every=0.05), state(one)
    members[0].kill()
    two = client(1)
    assert until(90, lambda: at_stage(two, "IN_STEP"), every=0.2), f"{state(two)}\n{members[1].said()}"
    two.query("alter encrypt table t read cipher")
    two.query("commit encrypt table t")
    for writer in writers:
        writer.ends = True
    for writer in writers:
        writer.join(60)
        assert not writer.wrong and writer.done > 20, (writer.wrong, writer.done)
    wanted = {n: (f"{MARK}{n}", "2000-01-01") for n in range(ROWS)}
    for writer in writers:
        wanted.update(writer.rows)
    told = {int(id): (phone, born) for id, phone, born in two.query("select id, phone, born from t")}
    assert told == wanted, [(id, wanted.get(id), told.get(id)) for id in wanted.keys() | told.keys() if wanted.get(id) != told.get(id)][:3]
    for n in (0, 1):
        unit = direct(family, n, f"both_{n}")
        tables = [name for name, in unit.query("select table_name from information_schema.tables where table_name like 't\\_%'" if family == "pg" else
                                               "select table_name from information_schema.tables where table_schema = database() and table_name like 't\\_%'")]
        assert len(tables) == 2 and not any(MARK in str(unit.query(f"select * from {table}")) for table in tables), tables
        unit.close()
    members[1].stop(f"{family}-cluster-stop")
    return f"{sum(writer.done for writer in writers)} changes"
