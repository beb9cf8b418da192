"""What each of the stories begins with: a Pando over two databases, and the table `t` of eight rows alone."""
from plain import house
from plain.house import ERRORS, GLOBAL, Pando, case, has, reset, sharded, sources

FAMILIES = ("pg", "mariadb", "mysql")
MYSQLS = ("mariadb", "mysql")

# By family. Starting one over databases made anew takes longer than most stories.
pandos = {}


def each(families, *stories):
    """Tells the stories for each of the families that there are servers of."""
    for family in filter(has, families):
        for story in stories:
            with case(f"{family}-{story.__name__.replace('_', '-')}", quiet=True):
                tell(family, story)


def tell(family, story):
    """What is left by a story of which something has failed is not given to the next one: neither its Pando nor its databases."""
    failures = house.failures
    pando = pandos.pop(family, None) or start(family)
    try:
        fill(family, pando)
        story(family, pando)
    except BaseException:
        pando.kill()
        raise
    if house.failures > failures:
        pando.kill()
    else:
        pandos[family] = pando


def alone(family, files):
    """A Pando of one story's own, over databases made anew: one that other stories have left knows nothing of that, and goes."""
    known = pandos.pop(family, None)
    if known:
        known.kill()
    reset(family)
    return Pando(files)


def start(family):
    # MariaDB's own default is latin1.
    reset(family, letters="character set utf8mb4" if family == "mariadb" else "")
    pool = {"connectionTimeoutMilliseconds": 3000, "maxPoolSize": 10}
    rules = sharded(["t", "fresh", "big", "moved", "told", "grown"]) + "- !BROADCAST\n  tables: [copied]\n"
    return Pando({"global.yaml": GLOBAL, "database-shop.yaml": f"databaseName: shop\n{sources(family, **pool)}{rules}"})


def fill(family, pando):
    client = pando.client(family, "shop")
    for (table,) in client.query("select tablename from pg_tables where schemaname = 'public'" if family == "pg" else "show tables"):
        client.query(f"drop table {table}")
    client.query("create table t (id bigint primary key, n int)")
    client.query("insert into t (id, n) values " + ", ".join(f"({id}, 0)" for id in range(8)))
    client.close()


def stop():
    for family, pando in pandos.items():
        pando.stop(f"{family}-stop")


def refused(client, sql):
    """The error that a statement is refused with."""
    try:
        client.query(sql)
    except ERRORS as error:
        return error
    raise AssertionError(f"`{sql}` is not refused")
