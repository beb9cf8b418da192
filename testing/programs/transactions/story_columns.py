"""Actual tables whose columns stand in another order on another unit."""
from plain.house import case, direct
from shop import FAMILIES, each, refused


def unlike_parts(family, pando):
    """Actual tables whose columns stand in another order, after a definition by hand: no value stands under another's name."""
    with case(f"{family}-parts-with-columns-in-another-order"):
        client, one = pando.client(family, "shop"), direct(family, 1)
        client.query("create table told (id bigint primary key, a int, b int)")
        client.query("insert into told values (0, 2, 3), (1, 2, 3), (2, 2, 3), (3, 2, 3)")
        tables = "select table_name from information_schema.tables where table_name like 'told%'"
        for (name,) in one.query(tables + " and table_schema = 'ds_1'" if family != "pg" else tables):
            one.query(f"alter table {name} drop column a")
            one.query(f"alter table {name} add column a int default 2")
        rows = [[str(id), "2", "3"] for id in range(4)]
        assert client.query("select * from told where id in (0, 1) order by id") == rows[:2]
        assert client.query("select * from told order by id") == client.query("select id, a, b from told order by id") == rows
        assert sorted(client.query("select * from told")) == rows
        error = refused(client, "select * from told where id in (0, 1) for update")
        assert "column `a` and `b` in one place" in str(error), str(error)
        client.close()
        one.close()


def unlike_copies(family, pando):
    """Copies of a broadcast table whose columns stand in another order: an INSERT without a list stores the same in all of them."""
    with case(f"{family}-copies-with-columns-in-another-order"):
        client, one = pando.client(family, "shop"), direct(family, 1)
        client.query("create table copied (id bigint primary key, a int, b int)")
        client.query("insert into copied values (0, 2, 3)")
        one.query("alter table copied drop column a")
        one.query("alter table copied add column a int default 2")
        client.query("insert into copied values (1, 2, 3)")
        if family != "pg":
            client.query("insert into copied select id + 2, a, b from copied")
        else:
            client.query("insert into copied values (2, 2)")
        rows = client.query("select id, a, b from copied order by id")
        assert rows[1] == ["1", "2", "3"] and rows == one.query("select id, a, b from copied order by id"), rows
        client.close()
        one.close()


def main():
    each(FAMILIES, unlike_parts, unlike_copies)
