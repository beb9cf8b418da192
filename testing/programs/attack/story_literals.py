"""A string that happens to be the name of another logical database is a string: what is asked of the catalogue is asked of the session's own database."""
from plain.house import GLOBAL, Pando, check, has, reset, skip, sources

SINGLE = "rules:\n- !SINGLE\n  tables: [\"*.*\"]\n"
# `r` is also what PostgreSQL's clients compare `relkind` with.
OTHERS = ("orders", "r")


def main():
    for family in ("pg", "mariadb", "mysql"):
        if not has(family):
            skip(f"literals-{family}", "no server")
            continue
        reset(family, ("ds_0", "ds_1"))
        shop = "databaseName: shop\n" + sources(family, units=1) + SINGLE
        files = {"global.yaml": GLOBAL, "database-shop.yaml": shop}
        for name in OTHERS:
            files[f"database-{name}.yaml"] = shop.replace("databaseName: shop", f"databaseName: {name}").replace("/ds_0", "/ds_1")
        pando = Pando(files)
        client = pando.client(family, "shop")
        client.query("create table orders (id int primary key, a int, b int)")
        columns = client.value("select count(*) from information_schema.columns where table_name = 'orders'")
        check(f"literals-{family}-table", columns == "3", f"{columns} columns of a table whose name is another database's")
        if family == "pg":
            kinds = client.query("select relname from pg_catalog.pg_class where relkind in ('r', 'p') and relname = 'orders'")
            check("literals-pg-kind", [row[0] for row in kinds] == ["orders"], f"{kinds}")
        else:
            there = client.value("select count(*) from information_schema.tables where table_schema = 'orders'")
            here = client.value("select count(*) from information_schema.tables where 'shop' = binary table_schema")
            check(f"literals-{family}-database", (there, here) == ("0", "1"), f"{there} tables in `orders`, {here} in `shop`")
        client.close()
        pando.stop(f"literals-{family}-stop")
