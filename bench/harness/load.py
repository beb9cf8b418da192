"""One run of a load generator against one system."""
import dataclasses
import os
import signal
import subprocess
import threading

from . import pgbench, sysbench
from .process import Process


@dataclasses.dataclass
class Load:
    """What is asked of whom."""
    system: object
    scenario: object
    mode: str
    threads: int
    tls: str


class Watch:
    """The CPU time of the proxy between two lines of the load generator, so that logins are not part of it."""

    def __init__(self, process):
        self.process, self.spent, self._began = process, None, None

    def see(self, line, marks):
        if self.process and line.startswith(marks):
            if self._began is None:
                self._began = self.process.cpu_seconds()
            else:
                self.spent = self.process.cpu_seconds() - self._began


class Refused(Exception):
    """The run is not worth a figure, and why."""


def _output(bench, command, seconds, watch, marks, env):
    """What it prints and the code it ends with; it is killed a minute late."""
    process = Process(command, os.path.join(bench.work, "load.log"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                      # libmariadb finds its certificates in the current folder.
                      env={**os.environ, **env}, cwd=bench.certificate.folder)
    timer = threading.Timer(seconds + 60, lambda: os.killpg(process.pid, signal.SIGKILL))
    timer.start()
    lines = []
    try:
        for line in process.child.stdout:
            lines.append(line)
            watch.see(line, marks)
        return "".join(lines), process.child.wait()
    finally:
        timer.cancel()
        process.stop(patience=3)


def run(bench, load, seconds):
    """The figures of one run. Raises `Refused` for one with errors."""
    tool = pgbench if load.scenario.script.endswith(".sql") else sysbench
    watch = Watch(load.system.process)
    if watch.process:
        watch.process.forget_peak()
    text, code = _output(bench, tool.command(load, bench.options.rows, seconds), seconds, watch, tool.MARKS, tool.environment(load))
    try:
        figures = tool.read(text, code, load)
    except ValueError as error:
        raise Refused(str(error)) from None
    if watch.process:
        figures["peak_bytes"] = watch.process.peak_bytes()
        if watch.spent is not None:
            figures["cpu_us"] = watch.spent / figures["queries"] * 1e6
    return figures
