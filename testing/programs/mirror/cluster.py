"""A rule of a mirror in a cluster of two instances: each copies what its own clients send, and counts that."""
import os
import subprocess

from plain import house
from plain.house import TESTING, Pando, direct, reset, until, url

# Hexadecimal digits of the key that seals passwords; every instance has the same.
SECRET = {"PANDO_SECRET_KEY": "0123456789abcdef" * 4}


def member(family, port):
    text = ("mode:\n  type: Cluster\n  repository:\n    type: ZooKeeper\n    props:\n      namespace: mirror_" + family +
            f"\n      server-lists: \"127.0.0.1:{port}\"\n      timeToLiveSeconds: 4\n      operationTimeoutMilliseconds: 2000\n")
    return Pando({"global.yaml": text}, environment=SECRET)


def run(family):
    reset(family, ("both_0", "both_next"))
    services = f"{house.work}/zookeeper-{family}"
    os.chmod(house.work, 0o755)
    try:
        subprocess.run([f"{TESTING}/services/up", services, "pg=0", "mariadb=0", "mysql=0", "zk=1"], check=True, capture_output=True, text=True)
        with open(f"{services}/env") as file:
            port = dict(line.split("=", 1) for line in file.read().split() if "=" in line)["ZK1_PORT"]
        mirrored(family, [member(family, port), member(family, port)])
    finally:
        subprocess.run([f"{TESTING}/services/down", services], capture_output=True)


def counts(client):
    """Copied, waiting, equal, different, failed, dropped, passed over; nothing where the rule does not hold."""
    rows = client.query("show status from mirror rules")
    return [int(cell) for cell in rows[0][3:]] if rows else None


def settled(client, copied):
    assert until(20, lambda: counts(client)[:2] == [copied, 0]), counts(client)
    return counts(client)[2:]


def mirrored(family, members):
    client = lambda at, database="shop": members[at].client(family, database, user="root", password="root", timeout=60)
    first = client(0, "postgres" if family == "pg" else "")
    first.query("create database shop" if family == "pg" else "create database `shop`")
    first.close()
    one, two = client(0), client(1)
    at = {"ds_0": (0, "both_0"), "next": (1, "both_next")}
    units = ", ".join(f"{name}(URL='{url(family, n, database)}', USER='test', PASSWORD='test')" for name, (n, database) in at.items())
    one.query(f"register storage unit {units}")
    one.query("set default single table storage unit = ds_0")
    for n, database in at.values():
        unit = direct(family, n, database)
        unit.query("create table t (id int primary key, v int)")
        unit.query("insert into t values (1, 10), (2, 20)")
        unit.close()
    one.query("load single table *.*")
    one.query("create mirror rule m(source=ds_0, mirror=next, tables(t), copies=ALL)")
    # Made on the one, it holds on the other.
    assert counts(two) == counts(one) == [0] * 7, (counts(one), counts(two))
    for text in ("select v from t where id = 1", "update t set v = 11 where id = 1"):
        one.query(text)
    assert settled(one, 2) == [2, 0, 0, 0, 0]
    assert settled(two, 0) == [0, 0, 0, 0, 0], "an instance counts what another one has copied"
    for text in ("select v from t where id = 2", "delete from t where id = 2", "select count(*) from t"):
        two.query(text)
    assert settled(two, 3) == [3, 0, 0, 0, 0] and settled(one, 2) == [2, 0, 0, 0, 0]
    unit = direct(family, 1, "both_next")
    assert [[str(cell) for cell in row] for row in unit.query("select id, v from t")] == [["1", "11"]]
    # Changed on the other, it is changed on the one.
    two.query("alter mirror rule m(source=ds_0, mirror=next, tables(t), copies=READS)")
    one.query("update t set v = 12 where id = 1")
    one.query("select v from t where id = 1")
    assert until(20, lambda: counts(one)[1] == 0 and counts(one)[3] >= 1), counts(one)
    assert [[str(cell) for cell in row] for row in unit.query("select id, v from t")] == [["1", "11"]], "a change is copied"
    unit.close()
    # An instance that ends leaves the other with its own.
    before = counts(two)
    members[0].kill()
    two.query("select v from t where id = 1")
    assert until(20, lambda: counts(two)[0] == before[0] + 1 and counts(two)[1] == 0), (before, counts(two))
    two.query("drop mirror rule m")
    assert counts(two) is None
    members[1].stop(f"{family}-cluster-stop")
