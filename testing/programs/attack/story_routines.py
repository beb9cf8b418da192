"""Routines, triggers, events and sequences written with the database's name in front: the logical one's is left out, as no storage unit has it, and never means a
database of a server that happens to have it."""
from plain.house import ERRORS, GLOBAL, Pando, case, direct, has, reset, skip, sources

RULES = """rules:
- !SINGLE
  tables: ["*.*"]
  defaultDataSource: ds_0
"""
# What is said, and what a SELECT or CALL gives.
SAID = (
    ("create table shop.kept (id int primary key, note varchar(20))", None),
    ("create procedure shop.greet() do sleep(0)", None),
    ("call shop.greet()", None),
    ("call `shop`.`greet`()", None),
    ("call greet()", None),
    ("create function shop.twice(n int) returns int deterministic return n * 2", None),
    ("select shop.twice(21)", "42"),
    ("select `shop` . twice(21) + twice(0)", "42"),
    ("insert into shop.kept (id, note) values (shop.twice(1), 'a')", None),
    ("select id from kept where id = shop.twice(1)", "2"),
    ("create trigger shop.noted before insert on shop.kept for each row set new.note = 'noted'", None),
    ("insert into kept (id, note) values (3, 'b')", None),
    ("select note from kept where id = 3", "noted"),
    ("drop trigger shop.noted", None),
    ("create event shop.later on schedule at current_timestamp + interval 1 day do set @a = 1", None),
    ("alter event shop.later rename to shop.much_later", None),
    ("drop event shop.much_later", None),
    ("alter procedure shop.greet comment 'polite'", None),
    ("drop procedure if exists shop.greet", None),
    ("drop function shop.twice", None),
)
REFUSED = (
    "create procedure shop.greet() select count(*) from shop.kept",
    "create procedure elsewhere.greet() select 1",
    "drop function elsewhere.twice",
    "create trigger elsewhere.noted before insert on kept for each row set new.note = 'x'",
)


def main():
    for family in ("mariadb", "mysql"):
        if not has(family):
            skip(f"routines-{family}", "no server")
            continue
        for units in (1, 2):
            with case(f"routines-{family}-{units}", quiet=True):
                named(family, units)


def named(family, units):
    reset(family)
    # Not Pando's: its name is the logical database's by chance.
    for one in (direct(family, 0, "test"), direct(family, 1, "test")):
        one.query("drop database if exists shop")
        one.query("create database shop")
    pando = Pando({"global.yaml": GLOBAL, "database-shop.yaml": "databaseName: shop\n" + sources(family, units) + RULES})
    client = pando.client(family, "shop")
    for text, expected in SAID:
        if units > 1 and text.startswith("call"):
            continue
        rows = client.query(text)
        if expected is not None:
            assert str(rows[0][0]) == expected, f"{text}: {rows}"
    for text in REFUSED:
        try:
            client.query(text)
        except ERRORS:
            continue
        raise AssertionError(f"accepted: {text}")
    for one in (direct(family, 0, "test"), direct(family, 1, "test")):
        if not one.query("show databases like 'shop'"):
            continue
        for what in ("routines where routine_schema", "triggers where trigger_schema", "events where event_schema", "tables where table_schema"):
            count = one.value(f"select count(*) from information_schema.{what} = 'shop'")
            assert str(count) == "0", f"the foreign database has {count} {what}"
        one.query("drop database if exists shop")
    client.close()
    pando.stop(f"routines-{family}-{units}-stop")
