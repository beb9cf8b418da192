"""What all measured systems have in common."""
import os
import time

from ..servers import Failed, sql
from ..tables import DIRECT, HALVES, SEVERAL, UNIT


class System:
    """Started for one family of databases and one configuration (`variant`); `port` is where its clients connect."""

    name = ""
    families = ("pg", "mariadb", "mysql")
    # Whether it splits tables: the others pass on what they are told, to the first server, which has every table whole.
    shards = False
    # Whether its clients know of ten tables and choose one for each statement.
    several = False
    # Whether its clients know of two servers with five tables each, and ask one with each statement.
    halves = False
    # Whether its clients ask one storage unit, for its part of what all tables hold.
    part = False
    # Whether clients may use TLS towards it.
    tls = True
    # How many times as long as others it runs before its figures count.
    warmth = 1

    def __init__(self, bench, family, variant=()):
        self.bench, self.family, self.variant = bench, family, variant
        self.process, self.port = None, 0
        self.folder = os.path.join(bench.work, "-".join([self.name, family, *map(str, variant)]))
        os.makedirs(self.folder, exist_ok=True)
        os.chmod(self.folder, 0o755)

    def server_port(self):
        return self.bench.servers.port(self.family, 0)

    def log(self):
        return os.path.join(self.folder, "log")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def database(self, layout):
        if self.part:
            return UNIT
        return layout if self.shards else HALVES if self.halves else SEVERAL if self.several else DIRECT

    def holds(self):
        """How its tables lie on the servers, for `tables.pieces`."""
        return "split" if self.shards or self.part else "halves" if self.halves else "several" if self.several else "whole"

    @classmethod
    def runs(cls, scenario):
        if scenario.systems:
            return cls.name in scenario.systems
        if cls.halves or cls.part:
            return bool(scenario.halves if cls.halves else scenario.unit)
        return scenario.several or not cls.several

    def start(self):
        raise NotImplementedError

    def stop(self):
        if self.process:
            self.process.stop()
            self.process = None

    def sql(self, layout, text, patience=120, tls="off"):
        return sql(self.family, self.port, self.database(layout), text, patience, self.bench.certificate if tls == "on" else None)

    def wait(self, seconds=60):
        """Until it answers a client."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.sql("one", "select 1", 10)
            except Failed as error:
                if time.monotonic() > end or (self.process and not self.process.alive()):
                    raise RuntimeError(f"{self.name} does not answer: {error}\n{self.process.said() if self.process else ''}") from None
            time.sleep(0.1)
