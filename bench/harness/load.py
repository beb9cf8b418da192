"""The load generators: one run of sysbench against one system, and what it says."""
import dataclasses
import os
import re
import signal
import subprocess
import threading

from .process import Process

# What a bare server answers to two transactions that delete one row and insert it again; sysbench repeats them.
TOLERATED = 0.02


@dataclasses.dataclass
class Load:
    """What is asked of whom."""
    system: object
    scenario: object
    mode: str
    threads: int
    tls: str


class Watch:
    """The CPU time of the proxy between two lines of the load generator: logins are not part of it."""

    def __init__(self, process):
        self.process, self.spent, self._began = process, None, None

    def began(self):
        if self.process:
            self._began = self.process.cpu_seconds()

    def ended(self):
        if self.process:
            self.spent = self.process.cpu_seconds() - self._began


class Refused(Exception):
    """The run is not worth a figure, and why."""


def _connection(load):
    system = load.system
    database = system.database(load.scenario.layout)
    if system.family == "pg":
        return ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", f"--pgsql-port={system.port}", "--pgsql-user=test", "--pgsql-password=test",
                f"--pgsql-db={database}"]
    return ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={system.port}", "--mysql-user=test", "--mysql-password=test",
            f"--mysql-db={database}", f"--mysql-ssl={load.tls}"]


def _command(load, rows, seconds):
    """Uniform keys: no row is hotter than another, and no cache is favoured."""
    return ["sysbench", *_connection(load), "--tables=1", f"--table-size={rows}", "--auto_inc=off", "--rand-type=uniform", "--report-interval=0",
            f"--db-ps-mode={'auto' if load.mode == 'prepared' else 'disable'}", f"--threads={load.threads}", f"--time={seconds}", "--events=0",
            *load.scenario.options, load.scenario.script, "run"]


def _environment(bench, load):
    lua = os.path.dirname(os.path.abspath(__file__)) + "/../lua"
    # sysbench asks libpq for nothing else about TLS, and libmariadb for three files in the current folder.
    return {**os.environ, "LUA_PATH": f"{lua}/?.lua;/usr/share/sysbench/?.lua;;", "PGSSLMODE": "require" if load.tls == "on" else "disable",
            "PGSSLROOTCERT": "/nonexistent", "PGSSLCERT": "/nonexistent", "PGSSLKEY": "/nonexistent"}


def _follow(lines, watch, kept):
    for line in lines:
        kept.append(line)
        if line.startswith("Threads started!"):
            watch.began()
        elif line.startswith("SQL statistics:"):
            watch.ended()


def _figure(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise Refused(f"sysbench says nothing like `{pattern}`")
    return float(found[1])


def _read(text, code, threads):
    fatal = re.search(r"^(?:FATAL|ALERT): *(.*)$", text, re.M)
    if code or fatal:
        # The second line often says more than the first.
        words = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith(("FATAL:", "ALERT:"))]
        raise Refused("; ".join(words[:2]) or f"sysbench ended with {code}")
    events = _figure(r"transactions: +(\d+)", text)
    retried, lost = _figure(r"ignored errors: +(\d+)", text), _figure(r"reconnects: +(\d+)", text)
    if lost or retried > max(2, events * TOLERATED):
        raise Refused(f"{retried:.0f} statements failed and {lost:.0f} connections were lost in {events:.0f} transactions")
    if not events:
        raise Refused("not one transaction in time")
    rate = _figure(r"transactions: +\d+ +\(([\d.]+) per sec", text)
    return {"queries": _figure(r"queries: +(\d+)", text), "qps": _figure(r"queries: +\d+ +\(([\d.]+) per sec", text), "tps": rate,
            # A thread does one after the other: finer than the two digits sysbench prints.
            "latency_us": threads / rate * 1e6, "p95_ms": _figure(r"95th percentile: +([\d.]+)", text), "retried": retried}


def run(bench, load, seconds):
    """The figures of one run. Raises `Refused` for one with errors."""
    watch = Watch(load.system.process)
    if watch.process:
        watch.process.forget_peak()
    kept = []
    sysbench = Process(_command(load, bench.options.rows, seconds), os.path.join(bench.work, "sysbench.log"), stdout=subprocess.PIPE,
                       text=True, env=_environment(bench, load), cwd=bench.tls_folder)
    timer = threading.Timer(seconds + 60, lambda: os.killpg(sysbench.pid, signal.SIGKILL))
    timer.start()
    try:
        _follow(sysbench.child.stdout, watch, kept)
        code = sysbench.child.wait()
    finally:
        timer.cancel()
        sysbench.stop(patience=3)
    figures = _read("".join(kept), code, load.threads)
    if watch.process:
        figures["cpu_us"] = watch.spent / figures["queries"] * 1e6
        figures["peak_bytes"] = watch.process.peak_bytes()
    return figures
