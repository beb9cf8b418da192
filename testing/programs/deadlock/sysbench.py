"""Debian's sysbench, whose transactions lock rows of both units in random order: it stood still for ever where nobody looked for deadlocks."""
import os
import re
import shutil
import subprocess

from plain.house import GLOBAL, Pando, case, reset, skip, sharded, sources
from plain import house

from units import LONG

SECONDS = int(float(os.environ.get("DEADLOCK_SECONDS", 4)))
ROWS = int(os.environ.get("DEADLOCK_ROWS", 300))


def arguments(family, port):
    if family == "pg":
        driver = ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", f"--pgsql-port={port}", "--pgsql-user=test", "--pgsql-password=test", "--pgsql-db=shop"]
    else:
        driver = ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={port}", "--mysql-user=test", "--mysql-password=test",
                  "--mysql-db=shop", "--mysql-ssl=off"]
    return ["sysbench", *driver, "--tables=1", f"--table-size={ROWS}", "--auto_inc=off", "--rand-type=uniform"]


def run():
    for family in ("pg", "mariadb") if LONG else ("pg",):
        if not house.has(family) or not shutil.which("sysbench"):
            skip(f"{family}-sysbench", "no server, or no sysbench")
            continue
        reset(family)
        pando = Pando({"global.yaml": GLOBAL, "database-shop.yaml": "databaseName: shop\n" + sources(family) + sharded(["sbtest1"], 2, 2)})
        command = arguments(family, pando.port(family))
        with case(f"{family}-sysbench") as one:
            prepared = subprocess.run([*command, "oltp_read_write", "prepare"], capture_output=True, text=True, timeout=60)
            assert prepared.returncode == 0, prepared.stdout[-400:]
            ran = subprocess.run([*command, "--threads=8", f"--time={SECONDS}", "--report-interval=1", "oltp_read_write", "run"],
                                 capture_output=True, text=True, timeout=SECONDS + 60)
            assert ran.returncode == 0 and "FATAL" not in ran.stdout, ran.stdout[-600:]
            rates = [float(rate) for rate in re.findall(r"tps: ([0-9.]+)", ran.stdout)]
            errors = re.search(r"ignored errors: +(\d+)", ran.stdout)
            assert rates and all(rates), rates
            one.detail = f"{min(rates):.0f} to {max(rates):.0f} transactions a second, {errors[1]} gave way"
        pando.stop(f"{family}-sysbench-stop")
