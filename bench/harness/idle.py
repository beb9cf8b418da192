"""How much memory clients take that have asked one thing and are silent since, and what becomes of them when all ask at the same moment."""
import os
import sys
import time

from . import systems, tables
from .servers import UNITS

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testing", "programs"))

from plain import mysql, postgres  # noqa: E402

# Who has no pool has a connection to the server for every client: there is nothing to compare.
SYSTEMS = ("pgbouncer", "shardingsphere", "pando")
ERRORS = (OSError, EOFError, postgres.Error, mysql.Error)


def _client(system):
    kind = postgres.Client if system.family == "pg" else mysql.Client
    # A small buffer on our side: ten thousand of them stand in one process.
    return kind(system.port, database=system.database("ten"), timeout=60, receive_buffer=4096)


def _settled(process):
    """Resident bytes when they have stopped to fall: what only logins needed is given back a little later."""
    least = process.resident_bytes()
    for _ in range(20):
        time.sleep(0.25)
        now = process.resident_bytes()
        if now >= least:
            return now
        least = now
    return least


def _at_once(bench, system, clients):
    """All ask before anybody reads: seconds until the last has its answer, and the most connections that a server then has."""
    asked = [1 + n % bench.options.rows for n in range(len(clients))]
    system.process.forget_peak()
    began = time.monotonic()
    for client, id in zip(clients, asked):
        text = f"select id from sbtest1 where id = {id}"
        client.send_query(text) if system.family == "pg" else client.command(3, text.encode())
    for client, id in zip(clients, asked):
        rows = client.rows() if system.family == "pg" else list(client.rows(client.head()))
        if rows != [[str(id)]]:
            raise RuntimeError(f"{rows} in answer to {id}")
    seconds = time.monotonic() - began
    return {"clients": len(clients), "seconds": round(seconds, 2), "connections": max(_connections(bench, system.family)),
            "resident_bytes": system.process.peak_bytes()}


def _connections(bench, family):
    counted = {"pg": "select count(*) from pg_stat_activity where datname is not null and pid <> pg_backend_pid()",
               "mysql": "select count(*) from information_schema.processlist where command <> 'Daemon' and id <> connection_id()"}
    kind = postgres.Client if family == "pg" else mysql.Client
    for unit in range(UNITS):
        client = kind(bench.servers.port(family, unit), database="test")
        yield int(client.value(counted["pg" if family == "pg" else "mysql"]))
        client.close()


def _one(bench, family, name):
    system = systems.ALL[name](bench, family)
    entry, clients = {"family": family, "system": name, "resident_bytes": {}}, []
    try:
        system.start()
        entry["resident_bytes"]["0"] = _settled(system.process)
        for count in sorted(bench.options.clients):
            began = time.monotonic()
            while len(clients) < count:
                clients.append(_client(system))
                clients[-1].query(f"select c from sbtest1 where id = {1 + len(clients) % bench.options.rows}")
            entry["resident_bytes"][str(count)] = _settled(system.process)
            entry[f"seconds_to_{count}"] = round(time.monotonic() - began, 1)
        entry["at_once"] = _at_once(bench, system, clients)
    except (RuntimeError, *ERRORS) as error:
        entry["failed"] = f"with {len(clients)} clients: {error}"
    finally:
        for client in clients:
            client.socket.close()
        system.stop()
    return entry


def measure(bench, family):
    """One entry per system: resident bytes by the number of clients."""
    tables.create(bench.servers, family, bench.options.rows)
    for name in SYSTEMS:
        if name in bench.options.systems and family in systems.ALL[name].families:
            entry = _one(bench, family, name)
            print(f"{family} idle: {_words(entry)}", flush=True)
            yield entry


def _words(entry):
    sizes = ", ".join(f"{int(count):,} clients {size / 1e6:,.0f} MB" for count, size in entry["resident_bytes"].items())
    if once := entry.get("at_once"):
        sizes += (f"; all {once['clients']:,} at once answered in {once['seconds']} s over {once['connections']} connections to a server, "
                  f"{once['resident_bytes'] / 1e6:,.0f} MB at the most")
    return f"{entry['system']}: {sizes}" + (f"; failed {entry['failed']}" if "failed" in entry else "")


def table(entries, write=print):
    if entries:
        write("Resident memory with idle clients, each after one query")
        for entry in entries:
            write(f"  {entry['family']} {_words(entry)}")
