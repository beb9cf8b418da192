"""A transaction that changes a table or a view and stays open: what does not concern it goes on for everybody else, as the views are what they were."""
import time

from plain.house import case
from shop import each

SOON = 8


def changing(family, pando):
    one, other = pando.client(family, "shop"), pando.client(family, "shop")
    one.query("create table plain (id int primary key, x int)")
    one.query("create table beside (id int primary key)")
    one.query("insert into beside values (1), (2)")
    one.query("create view over_plain as select id, x from plain")
    one.query("create view over_shards as select id, n from t")
    assert other.query("select count(*) from over_shards") == one.query("select count(*) from t")
    for text in ("alter table plain add column z int", "alter table t add column z int", "drop view over_plain", "drop view over_shards"):
        with case(f"pg-changing {text}"):
            one.query("begin")
            one.query(text)
            began = time.monotonic()
            assert other.query("select count(*) from beside") == [["2"]]
            other.query("insert into beside values (3)")
            other.query("delete from beside where id = 3")
            assert time.monotonic() - began < SOON, "it waited for who changes something else"
            one.query("rollback")
            assert other.query("select count(*) from over_shards") == one.query("select count(*) from t")
    one.query("drop view over_plain, over_shards")
    for client in (one, other):
        client.close()


def main():
    each(["pg"], changing)
