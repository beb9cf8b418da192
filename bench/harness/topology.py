"""The sharded databases that Pando and ShardingSphere serve: the same rules, spelled for either."""
from .servers import UNITS
from .tables import EACH, NODES

USER = PASSWORD = "test"
# A pool from which all clients have a connection of their own.
ROOMY = 140


def url(servers, family, unit):
    """Without TLS, as a direct client has it: servers offer it, and whoever was not told otherwise would take it on its own way to them."""
    address = f"127.0.0.1:{servers.port(family, unit)}/ds_{unit}"
    if family == "pg":
        return f"jdbc:postgresql://{address}?sslmode=disable"
    return f"jdbc:mysql://{address}?useSSL=false&allowPublicKeyRetrieval=true"


def _sources(servers, family, units, pool):
    text = "dataSources:\n"
    for unit in range(units):
        text += (f"  ds_{unit}:\n    url: \"{url(servers, family, unit)}\"\n    username: {USER}\n    password: {PASSWORD}\n"
                 f"    connectionTimeoutMilliseconds: 30000\n    idleTimeoutMilliseconds: 0\n    maxLifetimeMilliseconds: 1800000\n"
                 f"    maxPoolSize: {pool}\n    minPoolSize: 1\n")
    return text


def _table(name, key, each=EACH, table_algorithm="by_table", unit_algorithm="by_unit"):
    return (f"    {name}:\n      actualDataNodes: ds_${{0..{UNITS - 1}}}.{name}_${{0..{each - 1}}}\n"
            f"      databaseStrategy: {{standard: {{shardingColumn: {key}, shardingAlgorithmName: {unit_algorithm}}}}}\n"
            f"      tableStrategy: {{standard: {{shardingColumn: {key}, shardingAlgorithmName: {table_algorithm}}}}}\n")


def _one():
    return "rules:\n- !SHARDING\n  tables:\n    sbtest1:\n      actualDataNodes: ds_0.sbtest1\n"


def _ten():
    text = "rules:\n- !SHARDING\n  tables:\n" + _table("sbtest1", "id")
    for kind in ("bound", "loose"):
        text += _table(f"{kind}_order", "order_id") + _table(f"{kind}_item", "order_id")
    return text + (f"  bindingTables: [\"bound_order,bound_item\"]\n  shardingAlgorithms:\n"
                   f"    by_unit: {{type: MOD, props: {{sharding-count: {UNITS}}}}}\n    by_table: {{type: MOD, props: {{sharding-count: {EACH}}}}}\n")


def _nodes(count):
    each = count // UNITS
    assert count in (UNITS * EACH, NODES), "the rows of `sparse` lie on the same ten nodes only for these"
    return ("rules:\n- !SHARDING\n  tables:\n" + _table("sparse", "id", each)
            + f"  shardingAlgorithms:\n    by_unit: {{type: INLINE, props: {{algorithm-expression: \"ds_${{id % {UNITS}}}\"}}}}\n"
            f"    by_table: {{type: INLINE, props: {{algorithm-expression: \"sparse_${{id.intdiv({UNITS}) % {each}}}\"}}}}\n")


def databases(servers, family, variant, pool):
    """The text below `databaseName` or `schemaName`, by the database's name, which is the layout's."""
    if variant and variant[0] == "nodes":
        return {"ten": _sources(servers, family, UNITS, pool) + _nodes(variant[1])}
    return {"one": _sources(servers, family, 1, pool) + _one(), "ten": _sources(servers, family, UNITS, pool) + _ten()}


def max_connections_per_query(variant):
    return variant[1] if variant and variant[0] == "max_con" else 1
