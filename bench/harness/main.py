"""One measurement from beginning to end: build, servers, rounds, table, and everything stopped again."""
import datetime
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from . import machine, options, process, report, rounds, scenarios, tls
from .servers import Servers

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Bench:
    """What everybody needs to know."""

    def __init__(self, chosen):
        self.options = chosen
        self.work = tempfile.mkdtemp(prefix="pando-bench.")
        # pgbouncer runs as somebody else.
        os.chmod(self.work, 0o755)
        self.servers, self.pando = None, None
        self.tls_folder = os.path.join(self.work, "tls")
        self.certificate, self.key = tls.make(self.tls_folder)


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


def _measure(bench, records):
    for family in bench.options.families:
        if not bench.servers.has(family):
            print(f"skipped {family}: no server")
            continue
        rounds.measure(bench, family, records.append)


def main(arguments):
    chosen = options.read(arguments)
    if chosen.list:
        return _list()
    signal.signal(signal.SIGTERM, _interrupted)
    machine.raise_descriptors()
    about = {"began": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "options": vars(chosen), **machine.describe()}
    records, code, bench = [], 0, None
    try:
        subprocess.run([os.path.join(ROOT, "bench", "install")], check=True)
        bench = Bench(chosen)
        bench.pando = _binary(chosen)
        bench.servers = Servers(chosen.families, chosen.services)
        _measure(bench, records)
    except KeyboardInterrupt:
        print("\nstopped; what was measured until now:")
        code = 130
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        code = 1
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        process.stop_all()
        if bench:
            if bench.servers:
                bench.servers.stop()
            shutil.rmtree(bench.work, ignore_errors=True)
    _report(chosen, about, records)
    return code


def _report(chosen, about, records):
    entries = report.summarise(records)
    if not entries:
        return
    print()
    report.table(entries, chosen.systems)
    path = chosen.output or os.path.join(ROOT, "bench", "results", about["began"].replace(":", "").replace("+0000", "") + ".json")
    report.save(path, about, records, entries, [])
    print(f"\n{about['cores']} cores, {chosen.rounds} rounds of {chosen.seconds} s, load {about['load_at_start']} at the start, "
          f"{machine.load():.2f} at the end; {os.path.relpath(path)}")
