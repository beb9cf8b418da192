"""Shadows in a cluster of two instances: a rule that one of them is told holds at the other, and rows of both that were written by both are counted."""
import os
import subprocess
import threading

from plain import house
from plain.house import ERRORS, TESTING, Pando, direct, reset, until, url

# Hexadecimal digits of the key that seals passwords; every instance has the same.
SECRET = {"PANDO_SECRET_KEY": "0123456789abcdef" * 4}


def rule(verb, mark):
    kinds = ", ".join(f"TYPE(NAME='VALUE_MATCH', PROPERTIES('operation'='{one}', 'column'='user_id', 'value'='{mark}'))" for one in ("insert", "update", "delete", "select"))
    return f"{verb} SHADOW RULE orders(SOURCE=ds, SHADOW=ds_shadow, t_order({kinds}, TYPE(NAME='SQL_HINT')))"


def held(family, database):
    unit = direct(family, 0 if database == "both_ds" else 1, database)
    rows = sorted(tuple(map(int, row)) for row in unit.query("select id, user_id, total from t_order"))
    unit.close()
    return rows


def member(family, port):
    text = ("mode:\n  type: Cluster\n  repository:\n    type: ZooKeeper\n    props:\n      namespace: shadow_" + family +
            f"\n      server-lists: \"127.0.0.1:{port}\"\n      timeToLiveSeconds: 4\n      operationTimeoutMilliseconds: 2000\n")
    return Pando({"global.yaml": text}, environment=SECRET)


class Writer(threading.Thread):
    """Writes rows of which every fifth has the mark, changes some, and keeps account."""

    def __init__(self, client, first, mark):
        super().__init__()
        self.client, self.first, self.mark, self.rows, self.failure = client, first, mark, {}, None

    def run(self):
        try:
            for n in range(100):
                id, user = self.first + n, self.mark if n % 5 == 0 else 1 + n % 12
                self.client.query(f"insert into t_order (id, user_id, total) values ({id}, {user}, 0)")
                self.client.query("begin")
                self.client.query(f"update t_order set total = {n} where id = {id} and user_id = {user}")
                found = self.client.query(f"select total from t_order where id = {id} and user_id = {user}")
                assert [int(row[0]) for row in found] == [n], (id, user, found)
                self.client.query("commit")
                self.rows[id] = (id, user, n)
        except (AssertionError, OSError, *ERRORS) as error:
            self.failure = error


def run(family):
    reset(family, ("both_ds", "both_shadow"))
    services = f"{house.work}/zookeeper-{family}"
    os.chmod(house.work, 0o755)
    try:
        subprocess.run([f"{TESTING}/services/up", services, "pg=0", "mariadb=0", "mysql=0", "zk=1"], check=True, capture_output=True, text=True)
        with open(f"{services}/env") as file:
            port = dict(line.split("=", 1) for line in file.read().split() if "=" in line)["ZK1_PORT"]
        told(family, [member(family, port), member(family, port)])
    finally:
        subprocess.run([f"{TESTING}/services/down", services], capture_output=True)


def told(family, members):
    client = lambda at, database="both": members[at].client(family, database, user="root", password="root", timeout=30)
    first = client(0, "postgres" if family == "pg" else "")
    first.query("create database both" if family == "pg" else "create database `both`")
    first.close()
    one = client(0)
    units = ", ".join(f"{name}(URL='{url(family, n, database)}', USER='test', PASSWORD='test')" for name, n, database in (("ds", 0, "both_ds"), ("ds_shadow", 1, "both_shadow")))
    one.query(f"register storage unit {units}")
    one.query(rule("create", 13))
    one.query("create table t_order (id int primary key, user_id int, total int)")

    def two_is_told(mark):
        try:
            two = client(1)
            rules = str(two.query("show shadow rules"))
            two.close()
            return f"{mark}" in rules
        except (OSError, *ERRORS):
            return False

    assert until(10, lambda: two_is_told(13)), "the second instance has not heard of the rule"
    expected = []
    for turn, mark in enumerate((13, 17)):
        if turn:
            # Told to the second, it holds at the first.
            two = client(1)
            two.query(rule("alter", mark))
            two.close()
            assert until(10, lambda: f"{mark}" in str(one.query("show shadow rules")))
        writers = [Writer(client(at), turn * 10_000 + at * 1_000 + 1, mark) for at in (0, 1)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
            assert writer.failure is None, writer.failure
            writer.client.close()
            expected += [(row, mark) for row in writer.rows.values()]
        shadow = sorted(row for row, mark in expected if row[1] == mark)
        assert held(family, "both_shadow") == shadow and len(shadow) == 40 * (turn + 1), (len(shadow), len(held(family, "both_shadow")))
        assert held(family, "both_ds") == sorted(row for row, mark in expected if row[1] != mark)
    one.close()
    for number, member in enumerate(members):
        member.stop(f"{family}-cluster-stop-{number}")
    return f"{len(expected)} rows, {sum(row[1] == mark for row, mark in expected)} of them shadows"
