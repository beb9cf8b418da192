"""One measurement from beginning to end: build, servers, rounds, table, and everything stopped again."""
import datetime
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from . import idle, machine, neighbours, options, process, report, rounds, scenarios, tls
from .servers import Failed, Servers

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Bench:
    """What everybody needs to know."""

    def __init__(self, chosen):
        self.options = chosen
        self.work = tempfile.mkdtemp(prefix="pando-bench.")
        # pgbouncer runs as somebody else.
        os.chmod(self.work, 0o755)
        self.servers = self.pando = None
        self.certificate = tls.Certificate(os.path.join(self.work, "tls"))


def _binary(chosen):
    if "pando" not in chosen.systems:
        return None
    if chosen.pando:
        if not os.access(chosen.pando, os.X_OK):
            raise RuntimeError(f"`{chosen.pando}` is not there")
        return os.path.abspath(chosen.pando)
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "pando"], cwd=ROOT, check=True)
    return os.path.join(os.environ.get("CARGO_TARGET_DIR") or os.path.join(ROOT, "target"), "release", "pando")


def _list():
    for scenario in scenarios.ALL:
        print(f"{scenario.name:24} {scenario.about}")


def _interrupted(*_):
    raise KeyboardInterrupt


def _measure(bench, results):
    for family in bench.options.families:
        if not bench.servers.has(family):
            print(f"skipped {family}: no server")
            continue
        rounds.measure(bench, family, results.keep)
        if scenarios.IDLE.name in bench.options.scenarios:
            for entry in idle.measure(bench, family):
                results.idle.append(entry)


def _close(bench):
    """Nothing stays behind, and a second Ctrl-C does not change that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    process.stop_all()
    if bench:
        if bench.servers:
            bench.servers.stop()
        shutil.rmtree(bench.work, ignore_errors=True)


def _report(chosen, results):
    entries = report.summarise(results.runs)
    if not entries and not results.idle:
        return
    print()
    if entries:
        report.table(entries, chosen.systems)
    idle.table(results.idle)
    results.save()
    print(f"\n{results.about['cores']} cores, {chosen.rounds} rounds of {chosen.seconds} s, load {results.about['load_at_start']} at the start, "
          f"{machine.load():.2f} at the end; {os.path.relpath(results.path)}")


def main(arguments):
    chosen = options.read(arguments)
    if chosen.list:
        return _list()
    for what in (signal.SIGINT, signal.SIGTERM):
        signal.signal(what, _interrupted)
    machine.raise_descriptors()
    now = datetime.datetime.now(datetime.timezone.utc)
    path = chosen.output or os.path.join(ROOT, "bench", "results", f"{now:%Y-%m-%dT%H%M%S}.json")
    results = report.Results(path, {"began": now.isoformat(timespec="seconds"), "options": vars(chosen), **machine.describe()})
    code, bench = 0, None
    try:
        subprocess.run([os.path.join(ROOT, "bench", "install")], check=True)
        bench = Bench(chosen)
        bench.pando = _binary(chosen)
        bench.servers = Servers(chosen.families, bench.certificate, chosen.services)
        if chosen.busy:
            neighbours.start(chosen.busy, bench.work)
        _measure(bench, results)
    except KeyboardInterrupt:
        print("\nstopped; what was measured until now:")
        code = 130
    except (RuntimeError, OSError, Failed, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        code = 1
    finally:
        _close(bench)
    _report(chosen, results)
    return code
