"""Texts of several statements: what each comes to, as on one server."""
from plain.house import ERRORS, case, direct
from shop import each, refused

# What is sent in texts, each of which may be of several statements. 0 is on one unit, 1 and 3 are in two tables of the other one.
ONE, TWO, THREE = (f"update t set n = n + {n} where id = {id}" for n, id in ((1, 0), (2, 1), (4, 3)))
TEXTS = [
    [f"begin; {ONE}; commit; {TWO}; {THREE}"],
    [f"begin; {ONE}; commit; {TWO}; select 1 / 0"],
    [f"begin; {ONE}; commit; {TWO}; select 1 / 0; {THREE}"],
    [f"begin; {ONE}; rollback; {TWO}; select 1 / 0"],
    [f"begin; {ONE}; rollback; {TWO}; {THREE}"],
    ["begin", f"{ONE}; commit; {TWO}; select 1 / 0"],
    ["begin", f"{ONE}; commit; {TWO}; {THREE}"],
    [f"{ONE}; commit; {TWO}; select 1 / 0"],
    [f"{ONE}; rollback; {TWO}; {THREE}"],
    [f"{ONE}; {TWO}; select 1 / 0"],
    [f"commit; {TWO}; select 1 / 0"],
    [f"begin; {ONE}; commit; {TWO}; begin; {THREE}", "rollback"],
    [f"begin; {ONE}; commit; {TWO}; begin; {THREE}; select 1 / 0", "commit"],
    [f"begin; {ONE}; commit; {TWO}; commit; {THREE}; select 1 / 0"],
    [f"begin; {ONE}; commit and chain; {TWO}; commit; {THREE}; select 1 / 0"],
    [f"begin; {ONE}; commit; {TWO}", "select 1 / 0"],
    [f"begin; {ONE}; commit; declare c cursor for select id from t order by id; {TWO}; fetch 3 from c"],
    [f"begin; {ONE}; commit; {TWO}; savepoint a; {THREE}"],
    [f"{ONE}; rollback to savepoint a; {TWO}"],
    ["begin; commit; lock table t"],
    [f"begin; {ONE}; commit; declare c cursor for select id from t"],
    ["lock table t"],
    ["commit and chain"],
    [f"{ONE}; commit and chain; {TWO}"],
    [f"{ONE}; rollback and chain; {TWO}"],
    # It is read as a whole before any of it runs.
    [f"begin; {ONE}; commit; {TWO}; update t"],
    [f"{ONE}; commit; update t set n =; {TWO}"],
    ["begin", f"{ONE}; commit; {TWO}; update t", "commit"],
    ["begin", ONE, f"{TWO}; select 'open", "commit"],
    [f"begin; {ONE}; commit; {TWO}; selec 1"],
    ["begin", ONE, f"rollback; selec 1; {TWO}", "commit"],
    ["begin", ONE, "selec 1", "commit"],
]


def text_heard(client, start):
    """For each text what it came to, with its warnings and where the transaction then stood; and all rows in the end."""
    heard = []
    for sql in start:
        client.notices.clear()
        try:
            came_to = client.query(sql)
        except ERRORS as error:
            came_to = error.code
        heard.append((came_to, [notice["C"] for notice in client.notices], client.status))
    rows = client.query("select id, n from t where n <> 0 order by id")
    client.query("rollback")
    client.query("update t set n = 0")
    client.close()
    return heard, rows


def texts(family, pando):
    """A text of several statements that fails is undone before its client hears of the error."""
    with case("pg-a-failed-text-lets-go-at-once"):
        client, other = pando.client(family, "shop", timeout=10), pando.client(family, "shop", timeout=5)
        error = refused(client, "update t set n = 6 where id = 1; update t set n = 6 where id = 2; select 1 / 0")
        assert error.code == "22012", error
        other.query("update t set n = n + 7 where id in (1, 2)")
        assert client.query("select n from t where id in (1, 2) order by id") == [["7"], ["7"]]
        other.query("update t set n = 0 where id in (1, 2)")
    for n, start in enumerate(TEXTS):
        with case(f"pg-text-{n}", detail="; ".join(start)):
            straight = direct(family, 0, "direct")
            straight.query("drop table if exists t")
            straight.query("create table t (id bigint primary key, n int)")
            straight.query("insert into t select id, 0 from generate_series(0, 7) as id")
            expected = text_heard(straight, start)
            told = text_heard(pando.client(family, "shop", timeout=10), start)
            assert told == expected, f"{told} instead of {expected}"
    with case("pg-what-is-no-mode"):
        for sql in ("begin isolation level nonsense", "set transaction snapshot 'x'"):
            refused(client, sql)
        assert client.query("select 1") == [["1"]]


def main():
    each(["pg"], texts)
