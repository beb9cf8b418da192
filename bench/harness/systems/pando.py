"""Pando, a release build."""
import os
import re
import threading

from .. import topology
from ..process import Process
from .base import System


class Pando(System):
    name = "pando"
    shards = True

    def start(self):
        os.makedirs(f"{self.folder}/config", exist_ok=True)
        self.write("config/global.yaml", f"""mode:
  type: Standalone
authority:
  users:
    - user: {topology.USER}@%
      password: {topology.PASSWORD}
      admin: true
  privilege:
    type: ALL_PERMITTED
transaction:
  defaultType: LOCAL
props:
  max-connections-size-per-query: {topology.max_connections_per_query(self.variant)}
""")
        for name, text in topology.databases(self.bench.servers, self.family, self.variant, self._pool()).items():
            self.write(f"config/database-{name}.yaml", f"databaseName: {name}\n{text}")
        reading, writing = os.pipe()
        self.process = Process([self.bench.pando, "serve", "--config", f"{self.folder}/config", "--mysql", "127.0.0.1:0", "--postgres", "127.0.0.1:0",
                                "--tls-certificate", self.bench.certificate.file, "--tls-key", self.bench.certificate.key], self.log(), stdout=writing)
        os.close(writing)
        self.port = self._ready(reading)

    def _pool(self):
        """Where a statement may want many connections at once it has them."""
        return topology.ROOMY if topology.max_connections_per_query(self.variant) > 1 else self.bench.options.pool

    def _ready(self, reading):
        """Its one line says where it listens; it stays silent after that."""
        timer = threading.Timer(60, self.process.stop)
        timer.start()
        with os.fdopen(reading) as lines:
            line = lines.readline()
        timer.cancel()
        found = re.fullmatch(r"ready mysql=\S+:(\d+) postgres=\S+:(\d+)\n", line)
        if not found:
            raise RuntimeError(f"pando says {line!r} instead of ready:\n{self.process.said()}")
        return int(found[2] if self.family == "pg" else found[1])
