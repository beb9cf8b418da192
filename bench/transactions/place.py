"""Servers, storage units, and a Pando that serves all types of transactions: sessions choose."""
import os
import re
import subprocess

from harness.process import Process
from harness.servers import SERVICES, Failed, sql

KINDS = ("LOCAL", "XA", "BASE")
COUNT = {"pg": 3, "mariadb": 3, "mysql": 1}
# What the scenarios of sysbench lie on, and what a transaction may touch.
FEW, UNITS = 2, 5
EACH = 5
# Connections to each unit that all but the scenario of few connections may have.
POOL, SMALL = 60, 8


class Place:
    """One family's servers; `served` says which types this Pando has."""

    def __init__(self, family, work, pando, chosen):
        self.family, self.folder, self.pando, self.rows = family, os.path.join(work, family), pando, chosen.rows
        self.types, self.served, self.processes = chosen.types, [], []

    def start(self):
        counts = [f"{family}={count if family == self.family else 0}" for family, count in COUNT.items()]
        done = subprocess.run([f"{SERVICES}/up", f"{self.folder}-servers", *counts], capture_output=True, text=True, start_new_session=True)
        if done.returncode:
            raise RuntimeError(f"the servers do not start: {done.stdout[-300:]}{done.stderr[-300:]}")
        with open(f"{self.folder}-servers/env") as env:
            ports = dict(line.strip().split("=", 1) for line in env)
        self.servers = [int(port) for name, port in sorted(ports.items()) if re.fullmatch(rf"{self.family.upper()}\d_PORT", name)]
        if not self.servers:
            print(f"skipped {self.family}: no server")
            return False
        self.fill()
        # Each pool has its own Pando, with the same rules.
        self.doors = {pool: self._begin(pool) for pool in (POOL, SMALL)}
        for kind in self.types:
            try:
                self._try(kind)
                self.served.append(kind)
            except Failed as error:
                print(f"skipped {self.family} {kind}: {' '.join(str(error).split())[:160]}")
        return True

    def _try(self, kind):
        """Types that are refused are refused when they are chosen or when a transaction begins."""
        text = f"SET VARIABLE transaction_type = {kind};\nbegin;\nupdate spread set k = k where id in (1, 2);\ncommit;\n"
        sql(self.family, self.doors[POOL], "many", text, patience=30)

    def stop(self):
        for process in self.processes:
            process.stop()
        subprocess.run([f"{SERVICES}/down", f"{self.folder}-servers"], capture_output=True, start_new_session=True)

    # --- rows ---

    def port(self, unit):
        return self.servers[unit % len(self.servers)]

    def fill(self):
        """`sbtest1` over two units with five tables each, `spread` over five units with one each. Every run finds them as the last one left them: no
        statement changes how many rows there are."""
        for unit in range(UNITS):
            port, name = self.port(unit), f"unit_{unit}"
            sql(self.family, port, "test", f"create database {name};")
            text = self._table("spread", f"mod(id, {UNITS}) = {unit}", UNITS * self.rows)
            if unit < FEW:
                tables = (self._table(f"sbtest1_{n}", f"mod(id, {FEW}) = {unit} and mod(id, {EACH}) = {n}", self.rows) for n in range(EACH))
                text += "".join(tables)
            sql(self.family, port, name, text)

    def _table(self, name, condition, last):
        columns = "id int not null primary key, k int not null default 0, c char(120) not null default '', pad char(60) not null default ''"
        digits = "(" + " union all ".join(f"select {n} d" for n in range(10)) + ")"
        places = len(str(last))
        numbers = (f"select {' + '.join(f'd{at}.d * {10 ** at}' for at in range(places))} as id from "
                   + ", ".join(f"{digits} d{at}" for at in range(places)))
        text = (f"create table {name} ({columns});\ninsert into {name} (id, k, c, pad) select id, id, 'c', 'pad' from ({numbers}) n "
                f"where id between 1 and {last} and {condition};\n")
        if name != "spread":
            text += f"create index k_{name} on {name} (k);\n"
        return text + (f"analyze {name};\n" if self.family == "pg" else f"analyze table {name};\n")

    # --- pando ---

    def _sources(self, units, pool):
        text = "dataSources:\n"
        for unit in range(units):
            address = f"127.0.0.1:{self.port(unit)}/unit_{unit}"
            url = f"jdbc:postgresql://{address}" if self.family == "pg" else f"jdbc:mysql://{address}?useSSL=false&allowPublicKeyRetrieval=true"
            text += (f"  ds_{unit}:\n    url: \"{url}\"\n    username: test\n    password: test\n    maxPoolSize: {pool}\n    minPoolSize: 1\n"
                     "    connectionTimeoutMilliseconds: 30000\n")
        return text

    def _begin(self, pool):
        folder = f"{self.folder}-{pool}"
        os.makedirs(folder)
        files = {
            "global.yaml": "mode:\n  type: Standalone\nauthority:\n  users:\n    - user: test@%\n      password: test\n      admin: true\n"
                           "  privilege:\n    type: ALL_PERMITTED\ntransaction:\n  defaultType: LOCAL\n",
            "database-few.yaml": "databaseName: few\n" + self._sources(FEW, pool) + "rules:\n- !SHARDING\n  tables:\n    sbtest1:\n"
                                 f"      actualDataNodes: ds_${{0..{FEW - 1}}}.sbtest1_${{0..{EACH - 1}}}\n"
                                 "      databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_unit}}\n"
                                 "      tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_table}}\n"
                                 f"  shardingAlgorithms:\n    by_unit: {{type: MOD, props: {{sharding-count: {FEW}}}}}\n"
                                 f"    by_table: {{type: MOD, props: {{sharding-count: {EACH}}}}}\n",
            "database-many.yaml": "databaseName: many\n" + self._sources(UNITS, pool) + "rules:\n- !SHARDING\n  tables:\n    spread:\n"
                                  f"      actualDataNodes: ds_${{0..{UNITS - 1}}}.spread\n"
                                  "      databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_unit}}\n"
                                  f"  shardingAlgorithms:\n    by_unit: {{type: MOD, props: {{sharding-count: {UNITS}}}}}\n",
        }
        for name, text in files.items():
            with open(f"{folder}/{name}", "w") as file:
                file.write(text)
        process = Process([self.pando, "serve", "--config", folder, "--mysql", "127.0.0.1:0", "--postgres", "127.0.0.1:0"], f"{folder}.log",
                          stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        found = re.fullmatch(r"ready mysql=\S+:(\d+) postgres=\S+:(\d+)\n", process.child.stdout.readline())
        if not found:
            raise RuntimeError(" ".join(process.said(3).split())[-200:])
        return int(found[2] if self.family == "pg" else found[1])
