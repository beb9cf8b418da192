"""UNIQUE of a table in several shards, without the sharding column: it holds on each shard alone, and clients are told so."""
from plain.house import case
from shop import FAMILIES, each, refused


def told(family, client):
    """What the last statement was warned of."""
    if family == "pg":
        notices, client.notices = [notice["M"] for notice in client.notices], []
        return notices
    return [row[2] for row in client.query("show warnings")]


def unique(family, pando):
    client = pando.client(family, "shop")
    with case(f"{family}-a-unique-of-each-shard-is-told"):
        for sql, columns in (("create table fresh (id bigint primary key, email varchar(20) unique, n int)", "email"),
                             ("create unique index fresh_n on fresh (n)", "n"),
                             ("alter table fresh add constraint fresh_both unique (n, email)", "n, email")):
            client.query(sql)
            said = told(family, client)
            assert said == [f"UNIQUE ({columns}) holds on each shard of `fresh` alone: it has not all sharding columns (id) in it"], said
        for sql in ("create unique index fresh_id on fresh (n, id)", "create index fresh_email on fresh (email)",
                    "create table moved (id bigint primary key, n int)", "alter table moved add constraint moved_id unique (id)",
                    "create table alone (id bigint primary key, email varchar(20) unique)"):
            client.query(sql)
            assert told(family, client) == [], sql
    if family == "pg":
        with case("an-upsert-by-what-each-shard-has-alone-is-refused"):
            client.query("insert into fresh (id, email) values (1, 'a@x')")
            upsert = "insert into fresh (id, email) values (2, 'a@x') on conflict"
            for sql in (f"{upsert} (email) do update set n = 1", f"{upsert} (email) do nothing",
                        "insert into fresh (id, email) select id + 1, email from fresh on conflict (email) do nothing"):
                assert refused(client, sql).code == "0A000", sql
            client.query(f"{upsert} (n, id) do update set n = 1")
            client.query(f"{upsert} on constraint fresh_pkey do nothing")
            client.query("insert into fresh (id, email) values (1, 'a@x') on conflict (id) do update set n = 3")
            assert client.query("select id, n from fresh order by id") == [["1", "3"], ["2", None]]
    client.close()


def main():
    each(FAMILIES, unique)
