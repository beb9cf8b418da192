"""What is measured. A scenario is a workload on a layout of tables; adding one is adding an entry here."""
import dataclasses
import os

HERE = os.path.dirname(os.path.abspath(__file__))
LUA = os.path.join(HERE, "..", "lua")
STOCK = "/usr/share/sysbench"
MODES = ("text", "prepared")
THREADS = (1, 8, 32, 128)
RANGES_OFF, RANGES_ON = ("--range_selects=off",), ("--range_selects=on",)
SHARDING = ("pando", "shardingsphere")


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    # Lua for sysbench or statements for pgbench.
    script: str
    # `one` table on one storage unit; `ten` tables on two, as Pando and ShardingSphere see it. Who does not shard has one table on one server.
    layout: str = "one"
    table: str = "sbtest1"
    options: tuple = ()
    # Its tables are filled anew after it, whoever comes next.
    writes: bool = False
    # Where --threads does not say otherwise.
    threads: tuple = (32,)
    # With TLS between client and proxy, whatever --tls says.
    tls: tuple = ()
    # Scenarios of one stage share running systems; those of one block are shuffled together, as they are compared with each other.
    stage: str = "main"
    block: str = ""
    # How the systems that shard are configured for it: a pair of (setting, value).
    variant: tuple = ()
    families: tuple = ("pg", "mariadb", "mysql")
    # Empty: all of them.
    systems: tuple = ()
    # Whether clients that know of ten tables, and ask one with each statement, can run it, too.
    several: bool = False
    # Lua of clients that shard by themselves over two servers with five tables each; without it they can't run it.
    halves: str = ""
    # Statements of each of their transactions that a client of one database does not say: they are not counted.
    besides: int = 0
    # Lua that asks one storage unit for its part; without it `unit` can't run it.
    unit: str = ""
    # The answer must be the same through every system before any is timed.
    check: str = "select count(*), sum(k), min(id), max(id) from sbtest1"

    def at(self):
        return self.block or self.name


def stock(name):
    return f"{STOCK}/oltp_{name}.lua"


def own(name):
    return os.path.join(LUA, f"{name}.lua")


def pgbench(name):
    return os.path.join(HERE, "..", "pgbench", f"{name}.sql")


ONE = [
    Scenario("point_select", "one row by its key", stock("point_select"), threads=THREADS),
    Scenario("point_select_tls", "the same with TLS between client and proxy", stock("point_select"), tls=("on",)),
    Scenario("read_only", "10 point selects in a transaction", stock("read_only"), options=RANGES_OFF),
    Scenario("read_only_ranges", "the same and 4 range selects", stock("read_only"), options=RANGES_ON),
    Scenario("read_write", "10 point selects, 2 updates, delete and insert in a transaction", stock("read_write"), options=RANGES_OFF, writes=True),
    Scenario("read_write_ranges", "the same and 4 range selects", stock("read_write"), options=RANGES_ON, writes=True),
    Scenario("write_only", "2 updates, delete and insert in a transaction", stock("write_only"), writes=True),
    Scenario("update_index", "one row, its indexed column", stock("update_index"), writes=True),
    Scenario("update_non_index", "one row, a column without index", stock("update_non_index"), writes=True),
    Scenario("delete", "one row by its key, sometimes gone already", stock("delete"), writes=True),
]

TEN = [
    Scenario("ten_point_select", "one row by its key, which lies on one of ten tables", stock("point_select"), "ten", several=True),
    Scenario("ten_transaction", "begin, select, update, commit on one key: one shard", own("transaction"), "ten", writes=True),
    Scenario("ten_update_index", "update_index on one of ten tables", stock("update_index"), "ten", writes=True),
    Scenario("ten_update_non_index", "update_non_index on one of ten tables", stock("update_non_index"), "ten", writes=True),
    Scenario("ten_delete", "delete on one of ten tables", stock("delete"), "ten", writes=True),
    Scenario("ten_read_write", "read_write over ten tables: transactions on both units", stock("read_write"), "ten", options=RANGES_OFF, writes=True, threads=THREADS, several=True,
             halves=own("read_write_units"), besides=2),
    Scenario("ten_read_write_ranges", "the same and 4 range selects, each to all ten tables", stock("read_write"), "ten", options=RANGES_ON, writes=True,
             halves=own("read_write_units"), besides=6),
    Scenario("order_limit", "ORDER BY an indexed column LIMIT 10 over ten tables", own("order_limit"), "ten", threads=(1, 32), unit=own("order_limit_unit")),
    Scenario("aggregate", "COUNT, SUM, MIN, MAX and AVG over a range of all ten tables", own("aggregate"), "ten"),
    Scenario("range", "100 rows of a range of keys, from all ten tables", own("range"), "ten"),
]

JOIN_CHECK = "select count(*), sum(i.quantity) from {0}_order o join {0}_item i on o.order_id = i.order_id where o.order_id in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)"
JOINS = [
    Scenario(f"join_{kind}", about, own("join"), "ten", table=f"{kind}_order", options=(f"--kind={kind}",), block="join", check=JOIN_CHECK.format(kind))
    for kind, about in (("bound", "10 orders with their items, binding tables"), ("loose", "the same without the binding rule"))
]

MAX_CON = [
    Scenario(f"max_con_{n}", f"order_limit with max-connections-size-per-query {n}", own("order_limit"), "ten",
             # One after the other: the pools of all at once are more connections than a server has.
             stage=f"max_con_{n}", threads=(8,), variant=("max_con", n), systems=("direct", *SHARDING))
    for n in (1, 5, 10, 15, 20)
]

SPARSE_CHECK = "select c from sparse where id = 70003"
NODES = [
    Scenario(f"nodes_{n}", f"point select on a table of {n} data nodes, of which 10 are asked", own("sparse"), "ten", table="sparse", stage="nodes",
             block="nodes", variant=("nodes", n), systems=("direct", "pando"), check=SPARSE_CHECK)
    for n in (10, 10_000)
]

PGBENCH = [
    Scenario("pgbench_select", "pgbench: one row by its key, which lies on one of ten tables", pgbench("select"), "ten", families=("pg",)),
    Scenario("pgbench_transaction", "pgbench: ten_transaction", pgbench("transaction"), "ten", writes=True, families=("pg",)),
]

# Measured by harness/idle.py.
IDLE = Scenario("idle_clients", "resident memory with many clients that say nothing: --clients", "", stage="idle")

ALL = [*ONE, *TEN, *PGBENCH, *JOINS, *MAX_CON, *NODES, IDLE]
