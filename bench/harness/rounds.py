"""The order of the runs: in each round the systems take turns, so that a noisy moment of the machine meets all of them."""
import itertools
import random
import time

from . import systems, tables
from .load import Load, Refused, run
from .scenarios import ALL, IDLE
from .servers import Failed, sql
from .tables import DIRECT


def say(text):
    print(text, flush=True)


class Stage:
    """Scenarios that share running systems."""

    def __init__(self, bench, family, scenarios):
        self.bench, self.family, self.scenarios = bench, family, scenarios
        self.instances, self.refused = {}, {}
        # Tables that some run has changed since they were filled.
        self.changed = set()

    def _loads(self, options):
        """By block: what is compared with each other, and so runs next to each other."""
        for mode, block in itertools.product(options.modes, dict.fromkeys(s.at() for s in self.scenarios)):
            within = [s for s in self.scenarios if s.at() == block]
            for tls, threads in itertools.product(within[0].tls or options.tls, options.threads or within[0].threads):
                yield [Load(system, scenario, mode, threads, tls) for scenario in within for system in self._systems(scenario, tls)]

    def _systems(self, scenario, tls):
        for name in self.bench.options.systems:
            system = self.instances.get((name, scenario.variant if systems.ALL[name].shards else ()))
            if system and system.runs(scenario) and (tls == "off" or system.tls):
                yield system

    def start(self):
        for scenario in self.scenarios:
            for name in self.bench.options.systems:
                kind = systems.ALL[name]
                key = (name, scenario.variant if kind.shards else ())
                if key in self.instances or self.family not in kind.families or not kind.runs(scenario):
                    continue
                system = kind(self.bench, self.family, key[1])
                try:
                    system.start()
                except RuntimeError as error:
                    system.stop()
                    say(f"skipped {self.family} {name}: {error}")
                    # Asked for once, not for every scenario.
                    system = None
                self.instances[key] = system

    def stop(self):
        for system in self.instances.values():
            if system:
                system.stop()

    def compare(self):
        """Every system must give the answer that the bare server gives; one that does not is not timed. Who is asked for a part only has another."""
        for scenario in self.scenarios:
            expected = {}
            for tls in scenario.tls or self.bench.options.tls:
                for system in self._systems(scenario, tls):
                    if system.part:
                        continue
                    database = DIRECT if system.shards else system.database(scenario.layout)
                    if database not in expected:
                        expected[database] = sql(self.family, self.bench.servers.port(self.family, 0), database, scenario.check)
                    self._compare(system, scenario, tls, expected[database])

    def _compare(self, system, scenario, tls, expected):
        why = None
        try:
            answer = system.sql(scenario.layout, scenario.check, tls=tls)
            if answer != expected:
                why = f"answers {answer!r} instead of {expected!r}"
        except Failed as error:
            why = f"the check fails: {error}"
        self.refused[(system, scenario.name, tls)] = why

    def one(self, load, seconds):
        """A record: the figures, or why there are none."""
        record = {"family": self.family, "scenario": load.scenario.name, "mode": load.mode, "threads": load.threads, "tls": load.tls,
                  "system": load.system.name}
        why = self.refused.get((load.system, load.scenario.name, load.tls))
        try:
            if why:
                raise Refused(why)
            if load.system.process and not load.system.process.alive():
                raise Refused(f"has ended: {load.system.process.said(3)}")
            self._fill(load)
            record.update(run(self.bench, load, seconds))
        except (Refused, Failed, FileNotFoundError) as error:
            # Without its file in /proc a process has ended in the middle.
            record["failed"] = " ".join(str(error).split())
        return record

    def _fill(self, load):
        """Everybody begins with the same rows, who only reads them, too."""
        table = (load.system.holds(), load.scenario.layout, load.scenario.table)
        if table in self.changed:
            tables.refill(self.bench.servers, self.family, tables.pieces(*table), self.bench.options.rows)
            self.changed.discard(table)
        if load.scenario.writes:
            self.changed.add(table)

    def estimate(self):
        """Minutes: what a run takes besides its time is starting, logging in, and filling the tables."""
        options = self.bench.options
        loads = [load for block in self._loads(options) for load in block]
        runs = len(loads) * options.rounds * options.seconds + sum(options.warmup * load.system.warmth for load in loads)
        besides = sum(1.5 if load.scenario.writes else 0.5 for load in loads) * (options.rounds + 1)
        return (runs + besides) / 60

    def rounds(self):
        """Yields the records, with the number of their round; round 0 warms up and is not counted."""
        options = self.bench.options
        shuffled = random.Random(1)
        for number in range(0 if options.warmup else 1, options.rounds + 1):
            for loads in self._loads(options):
                shuffled.shuffle(loads)
                for load in loads:
                    record = self.one(load, options.seconds if number else options.warmup * load.system.warmth)
                    yield {**record, "round": number}


def stages(bench, family):
    chosen = [s for s in ALL if s.name in bench.options.scenarios and family in s.families]
    for name in dict.fromkeys(s.stage for s in chosen if s is not IDLE):
        yield Stage(bench, family, [s for s in chosen if s.stage == name])


def measure(bench, family, keep):
    """All rounds of a family; `keep` takes each record."""
    for stage in stages(bench, family):
        say(f"{family}: filling the tables")
        tables.create(bench.servers, family, bench.options.rows)
        try:
            stage.start()
            stage.compare()
            say(f"{family} {stage.scenarios[0].stage}: about {stage.estimate():.0f} minutes")
            began, last = time.monotonic(), None
            for record in stage.rounds():
                if record["round"] != last:
                    last = record["round"]
                    say(f"{family} {stage.scenarios[0].stage}: " + (f"round {last} of {bench.options.rounds}" if last else "warming up")
                        + f", {time.monotonic() - began:.0f} s")
                keep(record)
        finally:
            stage.stop()
