"""The tables, and how every server computes the same rows by itself.

The `direct` database holds each table whole. The storage units hold `sbtest1` whole on the first one (layout `one`) and, in ten actual tables, by
`id % 2` and `id % 5`, what layout `ten` calls `sbtest1`. The `several` database is on the first server and holds ten tables of a tenth of the rows, for
clients that know of ten tables. The `halves` database is on both servers and holds five of those, for clients that know of the servers, too. `sparse` has only ids whose node is one of the first ten, however many are configured.
"""
import dataclasses

from .servers import UNITS, sql

EACH = 5
DIRECT, SEVERAL, HALVES = "direct", "several", "halves"
# Of the first storage unit.
UNIT = "ds_0"
# How many tables the clients of `several` know.
TABLES = 10
# `sparse`: node `id % 10000`, of which only these are asked.
NODES, ASKED = 10_000, 10
ORDERS = 10_000
ITEMS_EACH = 3


@dataclasses.dataclass(frozen=True)
class Piece:
    """One real table: where it stands and which ids it has."""
    unit: int
    database: str
    name: str
    kind: str
    condition: str


def _split(kind, table, unit_of, table_of):
    return [Piece(unit, f"ds_{unit}", f"{kind}_{n}", table, f"{unit_of} = {unit} and {table_of} = {n}") for unit in range(UNITS) for n in range(EACH)]


def pieces(holds, layout, table):
    """The real tables behind `table` of a layout. `holds`: "split" for a system that shards; for one that passes bytes on "whole", or "several" if its
    clients know of ten tables, or "halves" if they know of two servers with five each."""
    kind = {"sbtest1": "rows", "sparse": "sparse", "bound_order": "order", "loose_order": "order", "bound_item": "item", "loose_item": "item"}[table]
    if holds == "several":
        return [Piece(0, SEVERAL, f"sbtest{n + 1}", "tenth", "1 = 1") for n in range(TABLES)]
    if holds == "halves":
        return [Piece(unit, HALVES, f"sbtest{n + 1}", "tenth", "1 = 1") for unit in range(UNITS) for n in range(TABLES // UNITS)]
    if holds == "whole":
        return [Piece(0, DIRECT, table, kind, "1 = 1")]
    if layout == "one":
        return [Piece(0, "ds_0", table, kind, "1 = 1")]
    if kind == "sparse":
        # `id / 2` on integers, which MySQL spells otherwise.
        return _split(table, kind, "mod(id, 2)", "mod((id - mod(id, 2)) / 2, 5)")
    key = "id" if kind == "rows" else "order_id"
    return _split(table, kind, f"mod({key}, 2)", f"mod({key}, 5)")


ALL = [("one", "sbtest1"), ("ten", "sbtest1"), ("ten", "sparse"), ("ten", "bound_order"), ("ten", "loose_order"), ("ten", "bound_item"), ("ten", "loose_item")]


def _numbers(family, last):
    """A relation `n` with the ids 1 to `last`."""
    if family == "pg":
        return f"(select id::bigint as id from generate_series(1, {last}) id) n"
    digit = "(" + " union all ".join(f"select {n} d" for n in range(10)) + ")"
    places = len(str(last - 1))
    total = " + ".join(f"d{at}.d * {10 ** at}" for at in range(places))
    crossed = ", ".join(f"{digit} d{at}" for at in range(places))
    return f"(select * from (select 1 + {total} as id from {crossed}) every where id <= {last}) n"


def _digits(family, column, length):
    """Text like sysbench's own: groups of eleven digits."""
    group = f"lpad({column}::text, 11, '0') || '-'" if family == "pg" else f"concat(lpad({column}, 11, '0'), '-')"
    return f"substr(repeat({group}, 10), 1, {length})"


def _create(family, piece):
    wide = "id int not null primary key, k int not null default 0, c char(120) not null default '', pad char(60) not null default ''"
    columns = {"rows": wide, "tenth": wide, "sparse": wide, "order": "order_id int not null primary key, note char(60) not null",
               "item": "item_id int not null primary key, order_id int not null, quantity int not null"}[piece.kind]
    index = {"rows": "k", "tenth": "k", "sparse": "k", "item": "order_id"}.get(piece.kind)
    text = f"create table {piece.name} ({columns})" + ("" if family == "pg" else " engine=innodb") + ";\n"
    return text + (f"create index by_{index}_{piece.name} on {piece.name} ({index});\n" if index else "")


def _fill(family, piece, rows):
    if piece.kind in ("rows", "tenth", "sparse"):
        if piece.kind == "tenth":
            rows //= TABLES
        numbers = _numbers(family, rows)
        if piece.kind == "sparse":
            # 1 to rows becomes 10 ids out of every 10,000.
            shifted = f"(id - 1 - mod(id - 1, {ASKED})) / {ASKED} * {NODES} + mod(id - 1, {ASKED})"
            numbers = f"(select cast({shifted} as {'bigint' if family == 'pg' else 'signed'}) as id from {numbers}) n"
        return (f"insert into {piece.name} (id, k, c, pad) select id, 1 + mod(id * 7919, {rows}), {_digits(family, 'id', 119)}, {_digits(family, 'id', 59)} "
                f"from {numbers} where {piece.condition};\n")
    if piece.kind == "order":
        return (f"insert into {piece.name} (order_id, note) select order_id, {_digits(family, 'order_id', 59)} "
                f"from (select id as order_id from {_numbers(family, ORDERS)}) o where {piece.condition};\n")
    return (f"insert into {piece.name} (item_id, order_id, quantity) select item_id, order_id, 1 + mod(item_id, 7) "
            f"from (select id as item_id, 1 + mod(id, {ORDERS}) as order_id from {_numbers(family, ORDERS * ITEMS_EACH)}) i where {piece.condition};\n")


def _settle(family, piece):
    return f"vacuum analyze {piece.name};\n" if family == "pg" else f"analyze table {piece.name};\n"


def _at(servers, family, parts, statement):
    """One client per database, for all of its tables."""
    places = {}
    for piece in parts:
        places.setdefault((piece.unit, piece.database), []).append(piece)
    for (unit, database), there in places.items():
        sql(family, servers.port(family, unit), database, "".join(statement(piece) for piece in there))


def create(servers, family, rows):
    """Empty databases, then all tables with their rows."""
    # One server for both units has no halves.
    halves = pieces("halves", "ten", "sbtest1") if servers.port(family, 0) != servers.port(family, 1) else []
    for unit, database in ((0, DIRECT), (0, SEVERAL), (0, "ds_0"), (1, "ds_1"), *sorted({(piece.unit, HALVES) for piece in halves})):
        force = " with (force)" if family == "pg" else ""
        sql(family, servers.port(family, unit), "test", f"drop database if exists {database}{force};\ncreate database {database};\n")
    if family == "pg":
        # Nothing may begin to work on a table while another system is measured; tables are vacuumed when they are filled.
        for unit in range(UNITS):
            sql(family, servers.port(family, unit), "test", "alter system set autovacuum = off;\nselect pg_reload_conf();\n")
    parts = {piece for layout, table in ALL for holds in ("whole", "split") for piece in pieces(holds, layout, table)}
    parts.update(pieces("several", "ten", "sbtest1"), halves)
    _at(servers, family, sorted(parts, key=repr), lambda piece: _create(family, piece) + _fill(family, piece, rows) + _settle(family, piece))


def refill(servers, family, parts, rows):
    """Back to the first state, so that every run of a workload that changes rows begins with the same ones."""
    _at(servers, family, parts, lambda piece: f"truncate table {piece.name};\n" + _fill(family, piece, rows) + _settle(family, piece))
