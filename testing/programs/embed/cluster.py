#!/usr/bin/env python3
"""One cluster of `pando serve` and of engines in applications: what one changes all follow. cluster.py FAMILY, run by `run`."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from engine import Engine, rows
from plain.house import TESTING, Pando, case, finish, port, reset, until, work

family = sys.argv[1]
services = tempfile.mkdtemp(dir=work)
up = subprocess.run([f"{TESTING}/services/up", services, "pg=0", "mariadb=0", "mysql=0", "zk=1"], capture_output=True, text=True)
assert up.returncode == 0, up.stderr
try:
    with open(f"{services}/env") as file:
        keeper = dict(line.strip().split("=", 1) for line in file if "=" in line)["ZK1_PORT"]
    os.environ["PANDO_SECRET_KEY"] = "0123456789abcdef" * 4
    mode = (f"mode:\n  type: Cluster\n  repository:\n    type: ZooKeeper\n    props:\n      namespace: pando_embed\n"
            f"      server-lists: \"127.0.0.1:{keeper}\"\n      timeToLiveSeconds: 4\n")
    reset(family)
    serve = Pando({"global.yaml": mode})
    admin = serve.client(family, "", user="root", password="root")
    admin.query("CREATE DATABASE shop")
    admin.close()
    admin = serve.client(family, "shop", user="root", password="root")
    parts = [f"ds_{n}(HOST='127.0.0.1', PORT={port(family, n)}, DB=ds_{n}, USER=test, PASSWORD='test')" for n in range(2)]
    admin.query("REGISTER STORAGE UNIT " + ", ".join(parts))
    engine = Engine(text=mode)
    with case("cluster-rules-are-followed"):
        admin.query('CREATE SHARDING TABLE RULE t(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=id, TYPE(NAME="mod", PROPERTIES("sharding-count"="4")))')
        client = engine.connect()
        rows(client, "create table t (id int primary key, v int)")
        rows(client, "insert into t values (1, 10), (2, 20), (3, 30), (4, 40)")
        assert admin.query("select sum(v) from t") == [["100"]]
    with case("cluster-rules-of-an-application-are-followed"):
        rows(client, "create broadcast table rule d")
        rows(client, "create table d (id int primary key)")
        assert until(10, lambda: admin.query("show broadcast table rules") == [["d"]]), admin.query("show broadcast table rules")
        admin.query("insert into d values (7)")
        assert rows(client, "select id from d") == ((7,),)
    with case("cluster-definitions-are-seen"):
        rows(client, "alter table t add column w int default 5")
        assert admin.query("select sum(w) from t") == [["20"]]
        admin.query("alter table t drop column w")
        assert len(rows(client, "select * from t")[0]) == 2
    with case("cluster-instances-are-listed") as listed:
        nodes = admin.query("SHOW COMPUTE NODES")
        kinds = sorted(node[1] for node in nodes)
        workers = {node[6] for node in nodes}
        assert kinds == ["JDBC", "PROXY"] and len(workers) == 2 and "-1" not in workers, nodes
        assert sorted(row[1] for row in rows(client, "SHOW COMPUTE NODES")) == kinds
        listed.detail = f"worker ids {sorted(workers)}"
    with case("cluster-an-application-says-good-bye"):
        engine.close()
        assert until(10, lambda: [node[1] for node in admin.query("SHOW COMPUTE NODES")] == ["PROXY"]), admin.query("SHOW COMPUTE NODES")
    admin.query("drop table t")
    admin.query("drop table d")
    admin.close()
    serve.stop("cluster-stop")
finally:
    subprocess.run([f"{TESTING}/services/down", services], capture_output=True)
finish()
