"""sysbench: its command line, and what it says."""
import os
import re

from .tables import TABLES

LUA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lua")
# The lines between which all threads are at work.
MARKS = ("Threads started!", "SQL statistics:")
# What a bare PostgreSQL answers, too, to two transactions that delete one row and insert it again; sysbench repeats them.
TOLERATED = 0.02


def _connection(load):
    system = load.system
    database = system.database(load.scenario.layout)
    if system.family == "pg":
        return ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", f"--pgsql-port={system.port}", "--pgsql-user=test", "--pgsql-password=test",
                f"--pgsql-db={database}"]
    return ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={system.port}", "--mysql-user=test", "--mysql-password=test",
            f"--mysql-db={database}", f"--mysql-ssl={load.tls}"]


def command(load, rows, seconds):
    """Uniform keys: no row is hotter than another, and no cache is favoured."""
    tables = TABLES if load.system.several or load.system.halves else 1
    script = load.scenario.halves if load.system.halves else load.scenario.unit if load.system.part else load.scenario.script
    return ["sysbench", *_connection(load), f"--tables={tables}", f"--table-size={rows // tables}", "--auto_inc=off", "--rand-type=uniform", "--report-interval=0",
            f"--db-ps-mode={'auto' if load.mode == 'prepared' else 'disable'}", f"--threads={load.threads}", f"--time={seconds}", "--events=0",
            *load.scenario.options, script, "run"]


def environment(load):
    # sysbench has no option for libpq's TLS; no certificate of the user's is to be asked for or believed.
    return {"LUA_PATH": f"{LUA}/?.lua;/usr/share/sysbench/?.lua;;", "PGSSLMODE": "require" if load.tls == "on" else "disable",
            "PGSSLROOTCERT": "/nonexistent", "PGSSLCERT": "/nonexistent", "PGSSLKEY": "/nonexistent"}


def _figure(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise ValueError(f"sysbench says nothing like `{pattern}`: {text[-200:]}")
    return float(found[1])


def read(text, code, load):
    """The figures. Raises `ValueError`, which says why, for a run with errors."""
    fatal = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith(("FATAL:", "ALERT:"))]
    if code or fatal:
        # The second line often says more than the first.
        raise ValueError("; ".join(fatal[:2]) or f"sysbench ended with {code}: {text[-200:]}")
    events = _figure(r"transactions: +(\d+)", text)
    repeated, lost = _figure(r"ignored errors: +(\d+)", text), _figure(r"reconnects: +(\d+)", text)
    if not events:
        raise ValueError("not one transaction in time")
    if lost or repeated > max(2, events * TOLERATED):
        raise ValueError(f"{repeated:.0f} transactions failed and {lost:.0f} connections were lost, {events:.0f} transactions went well")
    rate = _figure(r"transactions: +\d+ +\(([\d.]+) per sec", text)
    besides = load.scenario.besides if load.system.halves else 0
    return {"queries": _figure(r"queries: +(\d+)", text) - besides * events, "qps": _figure(r"queries: +\d+ +\(([\d.]+) per sec", text) - besides * rate, "tps": rate,
            # A thread does one after the other: finer than the two digits sysbench prints.
            "latency_us": load.threads / rate * 1e6, "p95_ms": _figure(r"95th percentile: +([\d.]+)", text), "repeated": repeated}
