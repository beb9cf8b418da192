"""Storage units of a program's own: databases with its name on the servers there are, of one family or of several."""
import os

from plain import house, mysql, postgres
from plain.house import CLIENTS, GLOBAL, PROGRAM

# Families of the units by the name of the system under test; MySQL has one server, so its units are two databases there.
SYSTEMS = {"pg": ["pg"] * 3, "mariadb": ["mariadb"] * 3, "mysql": ["mysql"] * 2, "mixed": ["mariadb", "mysql"]}


def servers(family):
    """The names of a family's servers that run."""
    names = (f"{family}{n}" for n in range(1, 10))
    return [name for name in names if os.environ.get(f"{name.upper()}_PORT")]


def systems():
    """Names and units of the systems that the running servers allow; SYSTEMS names some."""
    for name in os.environ.get("SYSTEMS", " ".join(SYSTEMS)).split():
        if all(servers(family) for family in SYSTEMS[name]):
            yield name, [Unit(family, n) for n, family in enumerate(SYSTEMS[name])]
        else:
            house.skip(name, "no server")


class Unit:
    """A database of its own; `port` is where Pando finds it, which a relay may change."""

    def __init__(self, family, n):
        names = servers(family)
        self.family, self.n, self.server = family, n, names[n % len(names)]
        self.name, self.database = f"ds_{n}", f"{PROGRAM}_{n}"
        self.real = self.port = int(os.environ[f"{self.server.upper()}_PORT"])

    def direct(self, database=None, **more):
        return CLIENTS[self.family](self.real, database=database or self.database, **more)

    def make(self):
        """An empty database. On MySQL no branch in doubt may hold locks in the old one: `make` sees to it."""
        client = self.direct("test", timeout=60)
        if self.family == "pg":
            client.query(f"drop database if exists {self.database} with (force)")
        else:
            client.query("set lock_wait_timeout = 20")
            client.query(f"drop database if exists {self.database}")
        client.query(f"create database {self.database}")
        client.close()

    def identity(self):
        """What Pando has called it; None where it has no ledger."""
        try:
            client = self.direct(timeout=20)
        except (mysql.Error, postgres.Error):
            return None
        try:
            return client.value("select identity from " + ("pando.unit" if self.family == "pg" else "pando_unit"))
        except (mysql.Error, postgres.Error, IndexError):
            return None
        finally:
            client.close()

    def in_doubt(self, identities):
        """The branches here that are prepared and not ended, as statements that roll them back. MySQL tells the whole server's: they are of transactions on which one of
        these has decided."""
        client = self.direct("test", timeout=10)
        try:
            if self.family == "pg":
                rows = client.query(f"select gid from pg_prepared_xacts where database = '{self.database}'")
                return [f"rollback prepared '{gid}'" for (gid,) in rows]
            rows = client.query("xa recover")
            return [f"xa rollback '{name[:int(length)]}','{name[int(length):]}',{kind}" for kind, length, _, name in rows
                    if any(identity in name for identity in identities)]
        finally:
            client.close()

    def analyze(self, table):
        """Tells MySQL and MariaDB how many rows the actual tables have: they take a scan, which locks all rows, for cheaper on small ones."""
        if self.family == "pg":
            return
        client = self.direct()
        for (name,) in client.query(f"show tables like '{table}%'"):
            client.query(f"analyze table {name}")
        client.close()

    def url(self):
        if self.family == "pg":
            return f"jdbc:postgresql://127.0.0.1:{self.port}/{self.database}"
        return f"jdbc:mysql://127.0.0.1:{self.port}/{self.database}?useSSL=false&allowPublicKeyRetrieval=true"


def in_doubt(units):
    """Of all of them, with their unit."""
    identities = [identity for identity in (unit.identity() for unit in units) if identity]
    return [(unit, text) for unit in units for text in unit.in_doubt(identities)]


def make(units):
    """Empty databases, whatever an earlier run left, branches in doubt included."""
    for unit, text in in_doubt(units):
        client = unit.direct()
        try:
            client.query(text)
        except (mysql.Error, postgres.Error) as error:
            # It has been ended meanwhile: by a Pando that was on its way out, or under the name of another unit of the same server.
            if error.code not in GONE:
                raise
        finally:
            client.close()
    for unit in units:
        unit.make()


def door(units):
    """Which of Pando's two doors the clients of these units use."""
    return "pg" if units[0].family == "pg" else "mariadb"


def config(units, tables, more="", head=GLOBAL, **pool):
    """Files of a Pando that serves the tables as database `shop`, sharded by `id`: unit `id % units`."""
    settings = {"maxPoolSize": 60, "minPoolSize": 1, "connectionTimeoutMilliseconds": 5000, **pool}
    text = "databaseName: shop\ndataSources:\n"
    for unit in units:
        text += f'  {unit.name}:\n    url: "{unit.url()}"\n    username: test\n    password: test\n'
        text += "".join(f"    {key}: {value}\n" for key, value in settings.items())
    return {"global.yaml": head + more, "database-shop.yaml": text + house.sharded(tables, databases=len(units), each=2)}


# What servers say of a prepared branch that is not there.
GONE = (1397, "42704")
LOST = (mysql.Error, postgres.Error, OSError, EOFError)


def choose(client, kind):
    """Makes a session's transactions LOCAL, XA or BASE; why not, if that is refused. LOCAL is what they are by themselves."""
    if kind == "LOCAL":
        return None
    try:
        client.query(f"SET VARIABLE transaction_type = {kind}")
    except (mysql.Error, postgres.Error) as error:
        return str(error)[:160]
    return None


def refused(pando, units, kind):
    """Why this Pando has no such transactions; None when it has."""
    client = pando.client(door(units), "shop", timeout=20)
    try:
        return choose(client, kind)
    finally:
        client.close()
