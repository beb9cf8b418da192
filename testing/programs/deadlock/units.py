"""Databases over three storage units, of one family or of several."""
import os

from plain.background import Background
from plain.house import CLIENTS, GLOBAL, Pando, port, sharded

UNITS = 3
ROWS = 24
#: With DEADLOCK_SECONDS each part takes so long and all mixes are tried in all of them; without, what is enough for every day.
LONG = "DEADLOCK_SECONDS" in os.environ
#: What is asked is asked in the long form, alone on a machine. Every day a busy machine may take several times as long.
PATIENCE = 1 if LONG else 6
#: Which server each unit stands on.
MIXES = {
    "pg": ["pg", "pg", "pg"],
    "mariadb": ["mariadb", "mariadb", "mariadb"],
    "mysql": ["mysql", "mysql", "mysql"],
    "mixed": ["mariadb", "mysql", "mariadb"],
}
CODES = {"pg": "40P01", "mariadb": 1213, "mysql": 1213}


def door(mix):
    """The family that clients of a mix speak."""
    return "pg" if mix == "pg" else "mariadb"


def mixes(everyday):
    """Those to be tried, which `MIXES` may name."""
    return os.environ.get("MIXES", " ".join(MIXES) if LONG else everyday).split()


def has(mix):
    return all(port(family, n) for n, family in enumerate(MIXES[mix]))


def config(mix, tables, **pool):
    settings = {"maxPoolSize": 50, "minPoolSize": 1, **pool}
    text = "databaseName: shop\ndataSources:\n"
    for n, family in enumerate(MIXES[mix]):
        text += f'  ds_{n}:\n    url: "{url(family, n)}"\n    username: test\n    password: test\n'
        text += "".join(f"    {key}: {value}\n" for key, value in settings.items())
    return text + sharded(tables, UNITS, 1)


def url(family, n):
    if family == "pg":
        return f"jdbc:postgresql://127.0.0.1:{port(family, n)}/deadlock_{n}"
    return f"jdbc:mysql://127.0.0.1:{port(family, n)}/deadlock_{n}?useSSL=false&allowPublicKeyRetrieval=true"


def unit(mix, n, **more):
    """A connection straight to a unit."""
    family = MIXES[mix][n]
    return CLIENTS[family](port(family, n), database=f"deadlock_{n}", **more)


def empty(mix):
    for n, family in enumerate(MIXES[mix]):
        client = CLIENTS[family](port(family, n), database="test")
        if family == "pg":
            client.query(f"drop database if exists deadlock_{n} with (force)")
        else:
            client.query("set lock_wait_timeout = 20")
            client.query(f"drop database if exists deadlock_{n}")
        client.query(f"create database deadlock_{n}")
        client.close()


def drop(mix):
    for n, family in enumerate(MIXES[mix]):
        client = CLIENTS[family](port(family, n), database="test")
        client.query(f"drop database if exists deadlock_{n}" + (" with (force)" if family == "pg" else ""))
        client.close()


def start(mix, **pool):
    """A Pando over empty units."""
    empty(mix)
    return Pando({"global.yaml": GLOBAL, "database-shop.yaml": config(mix, ["t"], **pool)})


class Client:
    """A client of a mix's Pando, whose transactions are of this type."""

    def __init__(self, pando, mix, timeout=20, kind="LOCAL"):
        self.inner = pando.client(door(mix), "shop", timeout=timeout)
        self.query, self.close = self.inner.query, self.inner.close
        self.query(f"SET DIST VARIABLE transaction_type = '{kind}'")


def is_blind(mix):
    """Whether a server of this mix tells that somebody waits, but not for whom: cycles are then only suspected."""
    for n, family in enumerate(MIXES[mix]):
        if family == "mysql":
            client = CLIENTS[family](port(family, n), database="test")
            recorded = client.query("select @@performance_schema")
            client.close()
            if str(recorded[0][0]) != "1":
                return True
    return False


def fill(pando, mix):
    client = Client(pando, mix)
    client.query("create table t (id bigint primary key, n int)" + ("" if mix == "pg" else " engine=innodb"))
    client.query("insert into t (id, n) values " + ", ".join(f"({id}, 0)" for id in range(ROWS)))
    client.close()


def later(client, *texts):
    return Background(lambda: [client.query(text) for text in texts])


def outcome(work, seconds=10):
    """What a statement in the background came to: None, or the error."""
    result = work.wait(seconds)
    return result if isinstance(result, Exception) else None


def finished(clients):
    for client in clients:
        client.close()


def values(pando, mix):
    client = Client(pando, mix)
    rows = client.query("select id, n from t where n <> 0 order by id")
    client.query("update t set n = 0")
    client.close()
    return [(int(id), int(n)) for id, n in rows]
