"""What the programs in Python share: what they report, the storage units, and a running Pando.

`testing/run` gives PANDO_BIN and the services' ports. As in `lib.sh`, a program says `ok NAME`, `skipped NAME: why` and `FAILED NAME: why`,
goes on after a failure where the rest still means something, and ends with 1 if anything failed.
"""
import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from plain import mysql, postgres

PROGRAM = os.path.basename(os.path.dirname(os.path.abspath(sys.argv[0])))
BIN, SERVICES = os.environ.get("PANDO_BIN"), os.environ.get("SERVICES_DIR")
TESTING = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIENTS = {"pg": postgres.Client, "mariadb": mysql.Client, "mysql": mysql.Client}
ERRORS = (mysql.Error, postgres.Error)

failures = 0
running = []
_lock = threading.Lock()


def _say(text):
    with _lock:
        print(text, flush=True)


def say(text):
    _say(f"    {text}")


def ok(name, detail=""):
    _say(f"ok {PROGRAM}/{name}" + (f" ({detail})" if detail else ""))


def skip(name, why):
    _say(f"skipped {PROGRAM}/{name}: {why}")


def bad(name, why):
    global failures
    failures += 1
    _say(f"FAILED {PROGRAM}/{name}: {why}")


def check(name, holds, why, detail=""):
    if holds:
        ok(name, detail)
    else:
        bad(name, why)
    return bool(holds)


class case:
    """`with case("name"):` is ok unless something is raised in it. A `quiet` one says nothing when it is ok: it holds other cases."""

    def __init__(self, name, detail="", quiet=False):
        self.name, self.detail, self.quiet, self.failed = name, detail, quiet, False

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            if not self.quiet:
                ok(self.name, self.detail)
        elif issubclass(kind, (KeyboardInterrupt, SystemExit)):
            return False
        else:
            self.failed = True
            place = traceback.extract_tb(trace)[-1]
            bad(self.name, f"{kind.__name__}: {str(value)[:400]} (line {traceback.extract_tb(trace)[0].lineno}, {place.name})")
        return True


def finish():
    sys.stdout.flush()
    sys.exit(1 if failures else 0)


if not BIN or not SERVICES:
    sys.exit(f"run me with testing/run {PROGRAM}")
work = tempfile.mkdtemp(prefix=f"pando-{PROGRAM}.")


@atexit.register
def _clean():
    for pando in list(running):
        pando.kill()
    shutil.rmtree(work, ignore_errors=True)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))

# --- storage units -------------------------------------------------------------------------------------------------------


def server(family, n):
    """The name of the server with storage unit `n`: `pg1`, `mariadb2`; a family with one server has all units on it."""
    name = f"{family}{n + 1}"
    return name if os.environ.get(f"{name.upper()}_PORT") else f"{family}1"


def port(family, n):
    return int(os.environ.get(f"{server(family, n).upper()}_PORT") or 0)


def has(family):
    return bool(port(family, 0))


def url(family, n, database=None, more=""):
    database = database or f"ds_{n}"
    if family == "pg":
        return f"jdbc:postgresql://127.0.0.1:{port(family, n)}/{database}" + (f"?{more}" if more else "")
    return f"jdbc:mysql://127.0.0.1:{port(family, n)}/{database}?useSSL=false&allowPublicKeyRetrieval=true" + (f"&{more}" if more else "")


def direct(family, n, database=None, **more):
    """A connection straight to a storage unit."""
    return CLIENTS[family](port(family, n), database=database or f"ds_{n}", **more)


def reset(family, databases=("ds_0", "ds_1"), letters=""):
    """Empty databases, one per storage unit, whatever an earlier program left; `letters` says what character set they have."""
    for n, name in enumerate(databases):
        client = direct(family, n % 2, "test")
        if family == "pg":
            client.query(f"drop database if exists {name} with (force)")
        else:
            client.query("set lock_wait_timeout = 20")
            client.query(f"drop database if exists {name}")
        client.query(f"create database {name} {letters}")
        client.close()


def signal_server(name, what, **settings):
    """`kill`, `stop` or `start`, as testing/services/server does it; `settings` are its variables, as SERVICES_PREPARED."""
    environment = {**os.environ, **{key: str(value) for key, value in settings.items()}}
    subprocess.run([f"{TESTING}/services/server", SERVICES, name, what], check=True, timeout=90, env=environment)


# --- pando ---------------------------------------------------------------------------------------------------------------

GLOBAL = """mode:
  type: Standalone
authority:
  users:
    - user: test@%
      password: test
      admin: true
  privilege:
    type: ALL_PERMITTED
transaction:
  defaultType: """ + os.environ.get("TRANSACTION_TYPE", "LOCAL") + "\n"


def sources(family, units=2, **pool):
    """The `dataSources` of a configuration."""
    settings = {"maxPoolSize": 50, "minPoolSize": 1, **pool}
    text = "dataSources:\n"
    for n in range(units):
        text += f'  ds_{n}:\n    url: "{url(family, n)}"\n    username: test\n    password: test\n'
        text += "".join(f"    {key}: {value}\n" for key, value in settings.items())
    return text


def sharded(tables, databases=2, each=2):
    """A `!SHARDING` rule: every table by `id`, over `databases` units with `each` actual tables."""
    text = "rules:\n- !SHARDING\n  tables:\n"
    for table in tables:
        text += (f"    {table}:\n      actualDataNodes: ds_${{0..{databases - 1}}}.{table}_${{0..{each - 1}}}\n"
                 f"      databaseStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: by_unit}}}}\n"
                 f"      tableStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: {table}_by_table}}}}\n")
    text += f"  shardingAlgorithms:\n    by_unit: {{type: INLINE, props: {{algorithm-expression: \"ds_${{id % {databases}}}\"}}}}\n"
    for table in tables:
        text += (f"    {table}_by_table: {{type: INLINE, props: {{algorithm-expression: "
                 f"\"{table}_${{id.intdiv({databases}) % {each}}}\"}}}}\n")
    return text


class Pando:
    """A server on free ports, ended with the program at the latest."""

    def __init__(self, files, binary=None, arguments=(), patience=30, single=False, environment=None):
        """`files`: the configuration, text by file name, None for none at all; `single`: it is one file, not a folder of them."""
        self.folder = tempfile.mkdtemp(dir=work)
        for name, text in (files or {}).items():
            with open(f"{self.folder}/{name}", "w") as file:
                file.write(text)
        self.log = open(f"{self.folder}.log", "w+")
        began = time.monotonic()
        self.process = subprocess.Popen(
            [binary or BIN, "serve", *(["--config", f"{self.folder}/{name}" if single else self.folder] if files is not None else []),
             "--mysql", "127.0.0.1:0", "--postgres", "127.0.0.1:0", *arguments],
            cwd=self.folder, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        running.append(self)
        timer = threading.Timer(patience, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        self.started = time.monotonic() - began
        timer.cancel()
        found = re.fullmatch(r"ready mysql=\S+:(\d+) postgres=\S+:(\d+)\n", line)
        if not found:
            self.kill()
            raise RuntimeError(f"pando says {line!r} instead of ready:\n{self.said()}")
        self.mysql, self.postgres = int(found[1]), int(found[2])

    def port(self, family):
        return self.postgres if family == "pg" else self.mysql

    def client(self, family, database, **more):
        return CLIENTS[family](self.port(family), database=database, **more)

    def said(self, lines=25):
        with open(self.log.name) as log:
            return "".join(log.readlines()[-lines:])

    def alive(self):
        return self.process.poll() is None

    def resident(self):
        """Resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def allocated(self):
        """Resident memory in bytes that is no part of a file: of a debug build's code more or less is resident, as the cache has it."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1]) * 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self, name, within=15):
        """An orderly end, asked for with SIGTERM."""
        if not self.alive():
            return bad(name, f"pando had ended by itself with {self.process.returncode}:\n{self.said()}")
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()
            return bad(name, f"pando does not stop within {within} s:\n{self.said()}")
        self.kill()
        check(name, code == 0, f"pando ended with {code}:\n{self.said()}")

    def kill(self):
        if self in running:
            running.remove(self)
        if self.alive():
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Sampler:
    """Samples Pando's resident memory until stopped."""

    def __init__(self, pando, every=0.1):
        self.pando, self.every, self.points, self._stop = pando, every, [], threading.Event()
        self.began = time.monotonic()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self._stop.wait(self.every):
            try:
                self.points.append((time.monotonic() - self.began, self.pando.resident()))
            except (OSError, ValueError, IndexError):
                return

    def stop(self):
        self._stop.set()
        self.thread.join()
        return max((size for _, size in self.points), default=0)

    def curve(self, points=20):
        """Seconds and megabytes, thinned out; each point is the highest of its stretch."""
        if not self.points:
            return "no points"
        step = max(1, len(self.points) // points)
        parts = [self.points[at:at + step] for at in range(0, len(self.points), step)]
        return "  ".join(f"{part[-1][0]:.0f}s {max(size for _, size in part) / 1e6:.1f}" for part in parts)


class Probe:
    """An innocent session that asks a small question all the time, and the longest it had to wait."""

    def __init__(self, pando, family, database, sql, expected, pause=0.05):
        self.worst, self.asked, self.failed, self._stop = 0.0, 0, None, threading.Event()
        self.arguments = pando, family, database, sql, expected, pause
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        pando, family, database, sql, expected, pause = self.arguments
        try:
            client = pando.client(family, database, timeout=60)
            while not self._stop.wait(pause):
                began = time.monotonic()
                got = client.query(sql)
                self.worst = max(self.worst, time.monotonic() - began)
                self.asked += 1
                if got != expected:
                    raise RuntimeError(f"expected {expected}, got {got}")
            client.close()
        except Exception as error:
            self.failed = f"{type(error).__name__}: {error}"

    def stop(self, name, longest=5.0):
        self._stop.set()
        self.thread.join(70)
        if self.failed or self.thread.is_alive() or not self.asked:
            return bad(name, f"the innocent session noticed: {self.failed or 'it hangs'} after {self.asked} questions")
        check(name, self.worst < longest, f"the innocent session waited {self.worst:.1f} s",
              f"{self.asked} questions, the longest took {self.worst * 1000:.0f} ms")


def until(seconds, holds, every=0.1):
    """Waits for something to be so; false when it never is."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(every)
    return True
