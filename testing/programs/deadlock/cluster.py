"""Cycles between the transactions of two instances that share a repository: each sees half of them."""
import os
import shutil
import subprocess
import time

from plain import house
from plain.background import Background
from plain.house import GLOBAL, TESTING, Pando, bad, case, skip, until

from balances import ACCOUNTS, BALANCE, Mover, fill
from cycles import settled
from units import CODES, PATIENCE, Client, config, door, drop, empty, has, later, mixes, outcome

# Hexadecimal digits of the key that seals passwords; every instance has the same.
SECRET = {"PANDO_SECRET_KEY": "0123456789abcdef" * 4}
#: An instance tells of waits that have lasted, and looks less often while others look as well.
SOON = 2.0 * PATIENCE
#: Connections of a pool.
MOST = 6
SECONDS = float(os.environ.get("DEADLOCK_SECONDS", 3))


def member(mix, kind, port):
    name = {"zk": "ZooKeeper", "etcd": "etcd"}[kind]
    lists = f"127.0.0.1:{port}" if kind == "zk" else f"http://127.0.0.1:{port}"
    mode = ("mode:\n  type: Cluster\n  repository:\n    type: " + name + f"\n    props:\n      namespace: deadlock_{mix}\n      server-lists: \"{lists}\"\n")
    text = GLOBAL.replace("mode:\n  type: Standalone\n", mode)
    assert "Cluster" in text, text
    return Pando({"global.yaml": text, "database-shop.yaml": config(mix, ["t"], maxPoolSize=MOST)}, environment=SECRET)


def ring(mix, instances, type="LOCAL", statement="update t set n = n + 1 where id = {id}"):
    """Transactions at one instance after the other, in a ring over as many units."""
    count = 3
    clients = [Client(instances[n % len(instances)], mix, kind=type) for n in range(count)]
    for n, client in enumerate(clients):
        client.query("begin")
        client.query(statement.format(id=n))
    works = [Background(lambda client=client, n=n: client.query(statement.format(id=(n + 1) % count))) for n, client in enumerate(clients)]
    victim, took = settled(works, 15)
    assert outcome(works[victim]).code == CODES[door(mix)], outcome(works[victim])
    assert took < SOON, f"{took:.2f} s"
    for step in range(1, count):
        at = (victim - step) % count
        assert outcome(works[at]) is None, outcome(works[at])
        clients[at].query("commit")
    clients[victim].query("rollback")
    for client in clients:
        client.close()
    return took


def queue(mix, here, there):
    """One instance's transaction waits for a row of another's, which waits there for a connection; those who have them all wait for the first one's row. The
    first has written least and has to give way, of whose cycle its own instance sees but a part."""
    first, last, *others = [Client(instance, mix, timeout=30) for instance in (here, *[there] * (MOST + 1))]
    first.query("begin")
    first.query("update t set n = n + 1 where id = 0")
    last.query("begin")
    last.query("update t set n = n + 1 where id in (2, 5, 8)")
    for n, client in enumerate(others):
        client.query("begin")
        for _ in range(2):
            client.query(f"update t set n = n + 1 where id = {3 * n + 1}")
    works = [later(client, "update t set n = n + 1 where id = 0", "commit") for client in others]
    works.append(later(last, "select n from t where id = 1", "commit"))
    works.append(later(first, "update t set n = n + 1 where id = 2"))
    victim, took = settled(works, 15)
    assert victim == len(works) - 1 and outcome(works[victim]).code == CODES[door(mix)], [work.result for work in works]
    assert took < SOON, f"{took:.2f} s"
    assert [outcome(work) for work in works[:-1]] == [None] * (len(works) - 1)
    first.query("rollback")
    for client in (first, last, *others):
        client.close()
    return took


def between(mix, kind, port):
    empty(mix)
    instances = [member(mix, kind, port), member(mix, kind, port)]
    client = Client(instances[0], mix)
    nodes = lambda: len(instances[1].client(door(mix), "shop").query("SHOW COMPUTE NODES")) == 2
    assert until(15, nodes), "the instances do not see each other"
    fill(client, mix)
    client.query(f"update t set n = {BALANCE}")
    with case(f"{mix}-cluster-ring") as one:
        longest = max(ring(mix, instances) for _ in range(3))
        one.detail = f"{longest:.2f} s at most"
    with case(f"{mix}-cluster-ring-in-base") as one:
        longest = max(ring(mix, instances, "BASE") for _ in range(3))
        one.detail = f"{longest:.2f} s at most"
    with case(f"{mix}-cluster-full-pool") as one:
        one.detail = f"{queue(mix, *instances):.2f} s"
    client.query(f"update t set n = {BALANCE}")
    with case(f"{mix}-cluster-balances") as one:
        shared = {"end": time.monotonic() + SECONDS, "last": []}
        movers = [Mover(instances[seed % 2], mix, seed, shared) for seed in range(8)]
        for mover in movers:
            mover.thread.join(SECONDS + 60)
        assert not any(mover.thread.is_alive() for mover in movers), "somebody still waits"
        wrong = [text for mover in movers for text in mover.wrong]
        assert not wrong, f"{len(wrong)}: {wrong[:3]}"
        total = client.query("select sum(n), count(*) from t")
        assert [[str(cell) for cell in row] for row in total] == [[str(BALANCE * ACCOUNTS), str(ACCOUNTS)]], total
        commits, victims = (sum(getattr(mover, what) for mover in movers) for what in ("commits", "victims"))
        one.detail = f"{commits} transactions, {victims} gave way, the longest statement took {max(mover.longest for mover in movers):.2f} s"
    with case(f"{mix}-cluster-nothing-left"):
        # What an instance told of its waits goes with them.
        assert until(5, lambda: not told(kind, port, mix)), told(kind, port, mix)
    client.close()
    for n, instance in enumerate(instances):
        instance.stop(f"{mix}-cluster-stop-{n}")
    drop(mix)


def told(kind, port, mix):
    """What stands on the instances' board; known of etcd only."""
    if kind != "etcd" or not shutil.which("etcdctl"):
        return ""
    keys = subprocess.run(["etcdctl", f"--endpoints=http://127.0.0.1:{port}", "get", "", "--prefix", "--keys-only"], capture_output=True, text=True,
                          timeout=20, env={**os.environ, "ETCDCTL_API": "3"})
    return "\n".join(line for line in keys.stdout.splitlines() if "/waits/" in line)


def run():
    kind = os.environ.get("DEADLOCK_STORE", "etcd")
    tried = [mix for mix in mixes("pg") if has(mix)]
    if not tried:
        skip("cluster", "no server")
        return
    services = f"{house.work}/{kind}"
    os.chmod(house.work, 0o755)
    up = subprocess.run([f"{TESTING}/services/up", services, "pg=0", "mariadb=0", "mysql=0", f"{kind}=1"], capture_output=True, text=True)
    try:
        if up.returncode:
            bad("cluster", f"{kind} does not start: {up.stdout[-300:]}{up.stderr[-300:]}")
            return
        env = dict(line.split("=", 1) for line in open(f"{services}/env").read().split() if "=" in line)
        for mix in tried:
            with case(f"{mix}-cluster", quiet=True):
                between(mix, kind, env[f"{kind.upper()}1_PORT"])
    finally:
        subprocess.run([f"{TESTING}/services/down", services], capture_output=True)
        for pando in list(house.running):
            pando.kill()
