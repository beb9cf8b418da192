"""Rows of a queue over both units, taken one by one."""
from plain.house import case, skip, until
from shop import FAMILIES, each, refused


def queue(family, pando):
    """A worker takes the first row of a queue over both units; whatever others do meanwhile, no row is taken twice and none is left."""
    first = "select id from t where n = 0 order by id limit 1"
    take = f"update t set n = {{}} where id = ({first} for update skip locked)" if family == "pg" else f"update t set n = {{}} where id in (select id from ({first} for update skip locked) x)"
    taken = lambda client: client.query("select id, n from t where n <> 0 order by id")
    with case(f"{family}-a-queue-gives-each-row-once"):
        one, other = pando.client(family, "shop"), pando.client(family, "shop")
        one.query("update t set n = 9 where id not in (0, 1)")
        one.query("begin")
        one.query(take.format(1))
        # The first row of the other unit is locked as well, until it is known whose it is.
        other.query(take.format(2))
        assert taken(one)[:1] == [["0", "1"]] and taken(other)[:1] == [["2", "9"]], (taken(one), taken(other))
        one.query("commit")
        other.query(take.format(2))
        other.query(take.format(3))
        assert taken(one)[:3] == [["0", "1"], ["1", "2"], ["2", "9"]], taken(one)
        one.query("update t set n = 0")
        one.close()
        other.close()
    with case(f"{family}-rows-are-chosen-as-their-level-says"):
        # The one has a snapshot. PostgreSQL changes no row that is another than in it, MySQL reads what is there now.
        choose = f"update t set n = {{}} where id = ({first})" if family == "pg" else f"update t set n = {{}} where id in (select id from ({first}) x)"
        one, other = pando.client(family, "shop"), pando.client(family, "shop")
        one.query("begin isolation level repeatable read" if family == "pg" else "start transaction")
        assert len(one.query("select id from t where n = 0")) == 8
        other.query(choose.format(1))
        if family == "pg":
            assert refused(one, choose.format(2)).code == "40001"
            one.query("rollback")
            assert taken(one) == [["0", "1"]], taken(one)
        else:
            one.query(choose.format(2))
            one.query("commit")
            assert taken(one) == [["0", "1"], ["1", "2"]], taken(one)
        one.close()
        other.close()


def main():
    each(FAMILIES, queue)
