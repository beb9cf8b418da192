"""What one client can take of the others: long and deep statements of every kind, sockets that never log in, few open files, and conditions that a server
plans by pairs. Others go on being answered, memory stays in proportion, and what is too much is refused in the vendor's own words."""
import os
import socket
import threading
import time

from plain.house import ERRORS, GLOBAL, Pando, Probe, Sampler, case, direct, has, reset, say, sharded, skip, sources
from plain import postgres

MB = 1 << 20
# What the vendors say of a statement that is nested too deeply or is too long a chain: 54001, and ER_STACK_OVERRUN_NEED_MORE.
TOO_COMPLEX = {"pg": ("54001",), "mariadb": (1436,), "mysql": (1436,)}


def database(family, **pool):
    return {"global.yaml": GLOBAL, "database-big.yaml": "databaseName: big\n" + sources(family, **pool) + sharded(["t"])}


def tables(family):
    reset(family)
    for unit in range(2):
        client = direct(family, unit)
        for table in range(2):
            client.query(f"create table t_{table} (id bigint primary key, k bigint, c varchar(200))")
        client.close()


def answered(client, sql):
    """The error's code, or None."""
    try:
        client.query(sql)
    except ERRORS as error:
        return error.code
    return None


def prepared(client, family, sql):
    """The same through the other protocol."""
    if family != "pg":
        try:
            client.prepare(sql)
        except ERRORS as error:
            return error.code
        return None
    client.raw(postgres.message(b"P", b"\0" + sql.encode() + b"\0\0\0") + postgres.message(b"D", b"S\0") + postgres.message(b"S"))
    try:
        client.ready()
    except ERRORS as error:
        return error.code
    return None


# Statements nested or chained beyond what is read: each is an answer, never an end.
DEEP = {
    "parentheses": lambda n: "select " + "(" * n + "1" + ")" * n,
    "not": lambda n: "select " + "not " * n + "1",
    "minus": lambda n: "select " + "- " * n + "1",
    "case": lambda n: "select " + "case when 1 = 1 then " * n + "1" + " end" * n,
    "queries": lambda n: "select " + "(select " * n + "1" + ")" * n,
    "joins": lambda n: "select 1 from t" + "".join(f" join t t{i} on true" for i in range(n)),
    "differences": lambda n: "select 1" + " - 1" * n,
    "sums": lambda n: "select id" + " + 1" * n + " from t",
}


def deep(family, pando):
    """100,000 of each, as text and prepared, with the vendor's own error; and the session goes on."""
    for name, build in DEEP.items():
        with case(f"{family}-deep-{name}"):
            client, sql = pando.client(family, "big", timeout=120), build(100_000)
            text, other = answered(client, sql), prepared(client, family, sql)
            assert text in TOO_COMPLEX[family] and other in TOO_COMPLEX[family], f"answered with {text}, prepared with {other}"
            assert client.value("select 1") == "1"
            client.close()
    with case(f"{family}-comments"):
        client = pando.client(family, "big", timeout=120)
        nested = "select " + "/* " * 100_000 + " */" * (100_000 if family == "pg" else 1) + " 1"
        answered(client, nested)
        assert client.value("select 1") == "1"
        client.close()
    with case(f"{family}-long-and-fine"):
        client = pando.client(family, "big", timeout=120)
        numbers = ",".join(str(i) for i in range(30_000))
        assert client.value(f"select count(*) from t where id in ({numbers})") == "0"
        terms = " or ".join(f"k = {i}" for i in range(2_000))
        assert client.value(f"select count(*) from t where {terms}") == "0"
        client.close()


def lists(family, pando):
    """Long lists of constants go where their values stand, and find what they name."""
    with case(f"{family}-long-lists") as long:
        client = pando.client(family, "big", timeout=120)
        client.query("insert into t (id, k, c) values " + ",".join(f"({i}, {i % 10}, 'it''s {i}')" for i in range(100)))
        one_shard = ",".join(str(i * 4) for i in range(5_000))
        previewed = client.query(f"preview select id from t where id in ({one_shard})")
        assert len(previewed) == 1, [line[0] for line in previewed]
        assert client.value(f"select count(*) from t where id in ({one_shard})") == "25"
        many = ",".join(f"{-i}, + {i}" for i in range(10_000, 50, -1))
        assert client.value(f"select count(*) from t where id in ({many})") == "49"
        assert client.value(f"select count(*) from t where k not in ({many}, 3, null)") == "0"
        texts = ",".join(f"'it''s {i}'" for i in range(90, 30_000))
        assert client.value(f"select count(*) from t where c in ({texts})") == "10"
        # Anything but constants among them.
        assert client.value(f"select count(*) from t where id in ({many}, k)") == str(49 + 10)
        assert client.value(f"select sum(k) from t where id in ({many}, 5) and k in ({one_shard}, 5)") == "90"
        client.query(f"update t set c = 'x' where id in ({many})")
        assert client.value("select count(*) from t where c = 'x'") == "49"
        client.query(f"delete from t where id in ({one_shard}) or id in ({many})")
        left = int(client.value("select count(*) from t"))
        assert left == len([i for i in range(100) if i % 4 and i <= 50]), left
        client.query("delete from t")
        long.detail = f"of up to {len(texts) // 1000} KB"
        client.close()


def kept(family, pando):
    """Prepared statements of one client: up to 256 MiB, then the vendor's error for want of memory."""
    with case(f"{family}-prepared-statements-are-counted") as counted:
        client, code, number = pando.client(family, "big", timeout=120), None, 0
        while code is None and number < 20:
            text = f"select '{'x' * (12 * MB)}', {number}"
            code = prepared(client, family, text) if family != "pg" else answered(client, f"prepare p{number} as {text}")
            number += 1
        counted.detail = f"{number - 1} of 12 MB, then {code}"
        assert code in ("53200", 1041) and number > 5, f"{number}: {code}"
        assert client.value("select 1") == "1"
        client.close()
        assert client_again(pando, family) is None


def client_again(pando, family):
    """What was kept is given back with its session."""
    client = pando.client(family, "big", timeout=120)
    code = prepared(client, family, f"select '{'x' * (12 * MB)}'")
    client.close()
    return code


def rows(megabytes, first):
    """An INSERT of so many bytes, its rows for all shards, and how many they are."""
    pad, parts, size, i = "x" * 150, [], 0, first
    while size < megabytes * MB:
        parts.append(f"({i}, {i}, '{pad}')")
        size += len(parts[-1]) + 1
        i += 1
    return "insert into t (id, k, c) values " + ",".join(parts), len(parts)


def others_go_on(family, pando):
    """Eight clients ask small questions while one sends megabytes. Where it is planned on an event loop, half of them wait for all the time that takes."""
    innocent = pando.client(family, "big", timeout=120)
    sql, many = rows(8, 1_000_000)
    alone = time.monotonic()
    probes = [Probe(pando, family, "big", "select 1", [["1"]], pause=0.01) for _ in range(8)]
    idle, sampler = pando.resident(), Sampler(pando, every=0.05)
    with case(f"{family}-8-MB-of-rows"):
        client = pando.client(family, "big", timeout=300)
        client.query(sql)
        took, peak = time.monotonic() - alone, sampler.stop()
        assert client.value("select count(*) from t") == str(many)
        worst = sorted(probe.worst for probe in probes)
        say(f"{family}: 8 MB in {took:.1f} s, the others waited {worst[-1] * 1e3:.0f} ms at most, {(peak - idle) / MB:.0f} MB over idle")
        assert worst[-1] < max(0.5, took / 4), f"the others waited {worst[-1]:.2f} s of {took:.2f}"
        assert peak - idle < 12 * 8 * MB, f"{(peak - idle) / MB:.0f} MB for 8 MB of rows"
        client.query("delete from t where id >= 1000000")
        client.close()
    for number, probe in enumerate(probes):
        probe.stop(f"{family}-innocent-{number}", longest=5.0)
    innocent.close()


def too_long(family, pando):
    """A sum of 4 and of 16 MB: refused, at once and with memory that does not grow with it as trees would."""
    client, idle, sampler = pando.client(family, "big", timeout=120), pando.resident(), Sampler(pando, every=0.02)
    with case(f"{family}-sums-of-megabytes") as long:
        for megabytes in (4, 16):
            code = answered(client, "select id" + "+1" * (megabytes * MB // 2) + " from t")
            assert code in TOO_COMPLEX[family], f"{megabytes} MB: {code}"
        peak = sampler.stop()
        long.detail = f"at most {(peak - idle) / MB:.0f} MB over idle"
        assert peak - idle < 250 * MB, f"{(peak - idle) / MB:.0f} MB"
    client.close()


def unions(pando):
    """Conditions that PostgreSQL's planner goes over by pairs, if the unit's tables are read as a union: each table by itself is asked in a tenth of a second."""
    with case("pg-conditions-by-thousands") as many:
        client = pando.client("pg", "big", timeout=120)
        terms = " and ".join(f"k <> {i}" for i in range(2_000))
        began = time.monotonic()
        client.query(f"select id from t where {terms} order by id limit 5")
        many.detail = f"{time.monotonic() - began:.1f} s"
        preview = client.query(f"preview select id from t where {terms} order by id limit 5")
        assert len(preview) == 4 and not any("UNION" in line[1] for line in preview), f"{len(preview)} statements"
        few = client.query("preview select id from t where k <> 1 order by id limit 5")
        assert len(few) == 2 and all("UNION ALL" in line[1] for line in few), few
        client.close()


def silent(family):
    """128 files, 200 sockets that say nothing: clients log in beside them and work on all units; they are gone soon."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "few_files")
    pando = Pando(database(family), binary=script, environment={"FEW_FILES": "128"})
    port = pando.port(family)
    sockets, opened = [], time.monotonic()
    for _ in range(200):
        one = socket.socket()
        one.settimeout(5)
        try:
            one.connect(("127.0.0.1", port))
            sockets.append(one)
        except OSError:
            one.close()
    with case(f"{family}-few-files-and-silent-sockets") as few:
        clients = [pando.client(family, "big", timeout=30) for _ in range(8)]
        results = []

        def work(client):
            try:
                for _ in range(5):
                    client.query("select count(*) from t")
                results.append(None)
            except Exception as error:
                results.append(error)

        threads = [threading.Thread(target=work, args=(client,), daemon=True) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        failed = [error for error in results if error]
        few.detail = f"{pando.descriptors()} files open"
        assert len(results) == 8 and not failed, f"{8 - len(results)} hang, {len(failed)} failed: {failed[:1]}"
    with case(f"{family}-too-many-clients") as crowd:
        more, refused = [], None
        for _ in range(100):
            try:
                more.append(pando.client(family, "big", timeout=30))
            except ERRORS as error:
                refused = error
                break
        assert refused and refused.code in ("53300", 1040), f"{len(more)} let in, then {refused}"
        crowd.detail = f"{8 + len(more)} clients, then {refused.code}"
        # Those who are in can still reach every unit.
        for client in clients:
            client.query("select count(*) from t")
        for client in more + clients:
            client.close()
    with case(f"{family}-silent-sockets-end") as gone:
        for one in sockets:
            one.setblocking(True)
            one.settimeout(20)
            try:
                while one.recv(4096):
                    pass
            except ConnectionError:
                pass
        took = time.monotonic() - opened
        gone.detail = f"after {took:.0f} s"
        assert took < 25, f"a silent socket lives {took:.0f} s"
    for one in sockets:
        one.close()
    pando.stop(f"{family}-stop-with-few-files")


def main():
    for family in ("pg", "mariadb", "mysql"):
        if not has(family):
            skip(f"bounds-{family}", "no server")
            continue
        tables(family)
        pando = Pando(database(family))
        deep(family, pando)
        lists(family, pando)
        kept(family, pando)
        too_long(family, pando)
        others_go_on(family, pando)
        if family == "pg":
            unions(pando)
        pando.stop(f"{family}-stop")
        if family != "mysql":
            silent(family)
