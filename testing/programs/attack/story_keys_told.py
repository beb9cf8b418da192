"""The key that is told of an INSERT whose keys Pando has made: the first, from which clients count on where the others follow it, else 0; never one that a shard has
counted by itself."""
from plain.house import GLOBAL, Pando, case, has, reset, skip, sources

RULES = """rules:
- !SHARDING
  tables:
    made:
      actualDataNodes: "ds_0.made_${0..1},ds_1.made_${2..3}"
      tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_4}}
      keyGenerateStrategy: {column: id, keyGeneratorName: snowflake}
  keyGenerators:
    snowflake: {type: SNOWFLAKE}
  shardingAlgorithms:
    by_4: {type: MOD, props: {sharding-count: 4}}
"""


def main():
    for family in ("mariadb", "mysql"):
        if not has(family):
            skip(f"keys-told-{family}", "no server")
            continue
        reset(family)
        pando = Pando({"global.yaml": GLOBAL, "database-shop.yaml": "databaseName: shop\n" + sources(family) + RULES})
        client = pando.client(family, "shop", timeout=60)
        client.query("CREATE TABLE made (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, n int)")
        with case(f"keys-told-{family}-first-of-rows-that-follow-or-none"):
            seen = {told(client, rows) for rows in (1, 3, 40, 6000, 12_000)}
            assert seen == {True, False}, f"not both kinds were met: {seen}"
        client.close()
        pando.stop(f"keys-told-{family}-stops")


def told(client, rows):
    """Inserts so many rows, and says whether their keys follow each other."""
    client.query("DELETE FROM made")
    client.query(f"INSERT INTO made (n) VALUES {', '.join(f'({n})' for n in range(rows))}")
    number = int(client.value("SELECT LAST_INSERT_ID()"))
    keys = [int(row[0]) for row in client.query("SELECT id FROM made ORDER BY n")]
    follow = all(key == keys[0] + n for n, key in enumerate(keys))
    assert number == (keys[0] if follow else 0), f"{rows} rows from {keys[0]}, which {'' if follow else 'do not '}follow: told {number}"
    return follow
