"""pgbench with a script of ours: its command line, and what it says."""
import glob
import re

# It does not say when its clients are in: the proxy's CPU time is sysbench's business.
MARKS = ("no such line",)


def command(load, rows, seconds):
    system = load.system
    # Debian has it beside the server, one for each version.
    program = sorted(glob.glob("/usr/lib/postgresql/*/bin/pgbench"))[-1]
    return [program, "-n", "-h", "127.0.0.1", "-p", str(system.port), "-U", "test", "-c", str(load.threads), "-j", str(min(load.threads, 2)),
            "-T", str(seconds), "-M", "prepared" if load.mode == "prepared" else "simple", "-D", f"rows={rows}", "-f", load.scenario.script,
            system.database(load.scenario.layout)]


def environment(load):
    return {"PGPASSWORD": "test", "PGSSLMODE": "require" if load.tls == "on" else "disable", "PGSSLROOTCERT": "/nonexistent",
            "PGSSLCERT": "/nonexistent", "PGSSLKEY": "/nonexistent"}


def _statements(script):
    with open(script) as file:
        return sum(line.rstrip().endswith(";") for line in file)


def read(text, code, load):
    """The figures. Raises `ValueError`, which says why, for a run with errors."""
    done = re.search(r"transactions actually processed: (\d+)", text)
    rate = re.search(r"^tps = ([\d.]+)", text, re.M)
    failed = re.search(r"number of failed transactions: (\d+)", text)
    wrong = re.search(r"^.*(?:ERROR|FATAL|aborted|error:).*$", text, re.M)
    if code or wrong or not done or not rate or int(done[1]) == 0 or (failed and int(failed[1])):
        raise ValueError(wrong[0] if wrong else f"pgbench ended with {code}: {text[-200:]}")
    each, tps = _statements(load.scenario.script), float(rate[1])
    return {"queries": int(done[1]) * each, "qps": tps * each, "tps": tps, "latency_us": load.threads / tps * 1e6}
