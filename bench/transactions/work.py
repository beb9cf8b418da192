"""What is run: sysbench's own read write and write only, and transactions that touch a given number of units."""
import dataclasses
import os
import subprocess
import types

from harness import sysbench
from place import POOL, SMALL

HERE = os.path.dirname(os.path.abspath(__file__))
TYPED = os.path.join(HERE, "lua", "typed.lua")
STOCK = "/usr/share/sysbench"


class Refused(Exception):
    """A run without a figure, and why."""


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    script: str
    database: str
    options: tuple = ()
    threads: int = 8
    # Connections that Pando may have to each unit.
    pool: int = POOL

    def run(self, place, kind, threads, seconds):
        system = types.SimpleNamespace(family=place.family, port=place.doors[self.pool], several=False, halves=False, part=False,
                                       database=lambda _layout: self.database)
        scenario = types.SimpleNamespace(layout=self.database, options=self.options, script=TYPED)
        load = types.SimpleNamespace(system=system, scenario=scenario, mode="text", threads=threads, tls="off")
        command = sysbench.command(load, place.rows, seconds)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, start_new_session=True,
                                  env={**os.environ, **sysbench.environment(load), "BENCH_SCRIPT": self.script, "BENCH_TYPE": kind})
            return sysbench.read(done.stdout + done.stderr, done.returncode, load)
        except (subprocess.TimeoutExpired, ValueError) as error:
            raise Refused(" ".join(str(error).split())[:300]) from None


def own(units, hold=0):
    return os.path.join(HERE, "lua", "units.lua"), (f"--touched={units}", f"--hold={hold}")


def reading(units):
    script, options = own(units)
    return Scenario(f"reads_{units}", f"one row read on each of {units} of five units, at the level that servers begin with", script, "many", (*options, "--reads=on"))


def touching(units):
    script, options = own(units)
    return Scenario(f"units_{units}", f"one row on each of {units} of five units", script, "many", options)


SCENARIOS = [
    Scenario("read_write", "sysbench: 10 point selects, 2 updates, delete and insert over two units", f"{STOCK}/oltp_read_write.lua", "few", ("--range_selects=off",)),
    Scenario("write_only", "sysbench: 2 updates, delete and insert over two units", f"{STOCK}/oltp_write_only.lua", "few"),
    *[touching(units) for units in (1, 2, 3, 5)],
    *[reading(units) for units in (1, 2)],
    Scenario("hold", "one row on each of two units, held for 60 ms, 32 clients over 8 connections to each unit", own(2, 60)[0], "many", own(2, 60)[1], 32, SMALL),
]
