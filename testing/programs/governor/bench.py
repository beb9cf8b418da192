"""Debian's sysbench, as a client that must not see an error."""
import re
import subprocess

TABLES, ROWS = 2, 2000


def arguments(family, port, database="shop"):
    if family == "pg":
        driver = ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", f"--pgsql-port={port}", "--pgsql-user=root", "--pgsql-password=root",
                  f"--pgsql-db={database}"]
    else:
        driver = ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={port}", "--mysql-user=root", "--mysql-password=root",
                  f"--mysql-db={database}", "--mysql-ssl=off", "--mysql-ignore-errors=none"]
    return ["sysbench", *driver, "--rand-type=uniform", "--auto_inc=off", f"--tables={TABLES}", f"--table-size={ROWS}", "--db-ps-mode=auto"]


def sysbench(family, port, *words, within=120):
    """Runs it to its end; gives queries a second."""
    done = subprocess.run([*arguments(family, port), *words], capture_output=True, text=True, timeout=within)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and not re.search(r"FATAL|^ALERT|reconnects: +[1-9]", said, re.M), said[-1500:]
    rate = re.search(r"queries: .*\((.*) per sec", said)
    return rate[1] if rate else ""
