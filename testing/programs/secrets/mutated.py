"""Statements on encrypted tables that are changed at random: whatever is let through leaves no value in the plain on a storage unit, nothing that cannot
be read again, and no value that is not found by what it is."""
import os
import random

from plain.house import ERRORS

TABLES = ("t", "single", "copied")
COUNT, SEED = int(os.environ.get("STATEMENTS", 2000)), int(os.environ.get("SEED", 11))

BEGINNINGS = (
    "insert into T ( id , phone , mail ) values ( N , 'V' , 'V' ) , ( N , null , default )",
    "insert into T ( id , mail , n ) select id + N , mail , n from T where phone = 'V'",
    "update T set phone = 'V' , n = 3 where mail = 'V'",
    "update T set mail = 'V' where id in ( select id from T u where u . phone = 'V' ) and n < 3",
    "update T set phone = default , mail = coalesce ( null , 'V' ) where id = N",
    "update T set mail = phone where id = N",
    "update T set phone = T . phone where mail <> 'V' or phone is null",
    "update T set phone = ( select d . phone from T d where d . id = N ) where id = N",
    "delete from T where phone = 'V' and mail in ( 'V' , 'V' )",
    "select id , phone p , mail from T where phone = 'V' or mail = 'V' and n between 1 and 3",
    "select u . phone , count(*) from T u where u . mail = 'V' group by u . phone having count(*) > 0",
    "select d . p from ( select phone as p , n from T union all select 'V' , 2 from T ) d where d . p = 'V'",
    "with w as ( select id , phone from T where phone = 'V' ) select w . phone from w where w . phone = 'V'",
    "select case when phone = 'V' then 'V' else mail end from T limit 3",
)
OWN = {
    "pg": ("insert into T ( id , phone ) values ( N , 'V' ) on conflict ( id ) do update set phone = excluded . phone , mail = 'V' returning phone",
           "update T set ( phone , mail ) = ( 'V' , 'V' ) where id = N returning *",
           "update T set phone = u . phone from T u where u . id = T . id and u . mail = 'V'",
           "delete from T using T u where u . id = T . id and u . phone = 'V' returning T . mail"),
    "mariadb": ("insert into T ( id , phone ) values ( N , 'V' ) on duplicate key update phone = values(phone) , mail = 'V'",
                "insert into T set id = N , phone = 'V' , mail = 'V'", "replace into T ( id , phone ) values ( N , 'V' )",
                "update T join T u on u . id = T . id set T . phone = u . phone , T . mail = 'V' where u . phone = 'V'"),
}
PIECES = ("'V'", "phone", "mail", "n", "id", "null", "default", "( 'V' )", "|| 'V'", "= 'V'", ", 'V'", "and phone = 'V'", "or mail = 'V'", "concat ( phone , 'V' )",
          "cast ( 'V' as char ( 9 ) )", "( select 'V' )", "( select phone from T where id = N )", "upper ( 'V' )", "coalesce ( phone , 'V' )", "not", "distinct", "limit 1", "as x", "T .")


def changed(chance, statement, others):
    """Up to three changes of a statement's words, mostly one."""
    words = statement.split()
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        at = chance.randrange(len(words))
        kind = chance.randrange(5)
        if kind == 0:
            words[at:at + 1] = []
        elif kind == 1:
            words.insert(at, chance.choice(PIECES))
        elif kind == 2:
            words[at] = chance.choice(PIECES)
        elif kind == 3:
            other = chance.choice(others).split()
            begin = chance.randrange(len(other))
            words[at:at + chance.randrange(3)] = other[begin:begin + chance.randint(1, 5)]
        else:
            words.insert(at, words[at])
        words = words or ["select", "1"]
    return " ".join(words)


def said(chance, mark, text):
    """The statement about one table, with values of the mark."""
    table = chance.choice(TABLES)
    meant = {"T": lambda: table, "'V'": lambda: f"'{mark}{chance.randrange(9)}'", "N": lambda: str(chance.randrange(60))}
    words = [meant[word]() if word in meant else word for word in text.split()]
    return " ".join(words)


def run(family, client, everything, mark):
    """How many statements were let through, of how many."""
    chance = random.Random(SEED)
    all_of_them = BEGINNINGS + OWN[family]
    for table in TABLES:
        client.query(f"delete from {table}")
    through, since = 0, []
    for number in range(COUNT):
        text = said(chance, mark, changed(chance, chance.choice(all_of_them), all_of_them))
        try:
            client.query(text)
            through += 1
            since.append(text)
            if os.environ.get("EACH") and text[:6] in ("insert", "update", "replac"):
                for table in TABLES:
                    read_again(client, table, since[-1:])
        except ERRORS:
            pass
        if number % 250 == 249:
            held = [line for line in everything(family).splitlines() if mark in line]
            assert not held, (held[:2], since)
            for table in TABLES:
                read_again(client, table, since)
            since = []
    return f"{through} of {COUNT} let through"


def read_again(client, table, since):
    try:
        rows = client.query(f"select id, phone, mail from {table}")
    except ERRORS as error:
        raise AssertionError((str(error), since)) from error
    for id, phone, mail in rows:
        for column, value in (("phone", phone), ("mail", mail)):
            if value is not None:
                quoted = str(value).replace("'", "''")
                found = client.query(f"select id from {table} where {column} = '{quoted}'")
                assert str(id) in [str(row[0]) for row in found], (table, id, column, value, since)
