"""Cursors that are not read to their end, and those that outlive their transaction."""
from plain.house import case, direct
from shop import each, refused


def abandoned(family, pando):
    """A cursor is closed long before its end, and the transaction goes on."""
    with case("pg-cursor-closed-early"):
        client = pando.client(family, "shop", timeout=20)
        client.query("create table big (id bigint primary key, pad text)")
        for unit in range(2):
            straight = direct(family, unit)
            for table in range(2):
                first = unit + 2 * table
                straight.query(f"insert into big_{table} select i, repeat('x', 500) from generate_series({first}, 39999, 4) i")
            straight.close()
        client.query("begin")
        client.query("update t set n = 3 where id in (1, 2)")
        client.query("declare c cursor for select * from big")
        assert len(client.query("fetch 3 from c")) == 3
        client.query("close c")
        client.query("update t set n = 4 where id in (1, 2)")
        client.query("commit")
        assert client.query("select n from t where id in (1, 2)") == [["4"], ["4"]]
        client.close()


def held(family, pando):
    """Cursors WITH HOLD: what they still have to give is in memory from the commit on, and has a bound."""
    with case("pg-held-cursor-goes-with-its-text"):
        client = pando.client(family, "shop")
        refused(client, "declare c cursor with hold for select id from t order by id; select 1 / 0")
        assert refused(client, "fetch 1 from c").code == "34000"
        client.query("declare c cursor with hold for select id from t order by id; select 1")
        assert client.query("fetch 2 from c") == [["0"], ["1"]]
        client.close()
    with case("pg-held-cursors-hold-no-connections"):
        client = pando.client(family, "shop")
        for number in range(30):
            client.query(f"declare c{number} cursor with hold for select id from t order by id")
        # A pool of ten serves others, too.
        others = [pando.client(family, "shop") for _ in range(10)]
        for other in others:
            other.query("begin")
            assert other.query("select count(*) from t") == [["8"]]
        assert client.query("fetch 3 from c29") == [["0"], ["1"], ["2"]]
        for other in others:
            other.close()
        client.close()
    with case("pg-held-cursor-of-a-snapshot"):
        client, other = pando.client(family, "shop"), pando.client(family, "shop")
        client.query("set session characteristics as transaction isolation level repeatable read")
        client.query("declare alone cursor with hold for select n from t order by id")
        client.query("begin")
        client.query("select count(*) from t")
        other.query("update t set n = 5")
        client.query("declare inside cursor with hold for select n from t order by id")
        assert client.query("fetch 1 from inside") == [["0"]]
        client.query("commit")
        for name, left in (("alone", 8), ("inside", 7)):
            assert client.query(f"fetch all from {name}") == [["0"]] * left, name
        other.query("update t set n = 0")
        for one in (client, other):
            one.close()
    with case("pg-held-cursor-outlives-a-failed-transaction"):
        client = pando.client(family, "shop")
        client.query("declare c cursor with hold for select id from t order by id")
        client.query("begin")
        client.query("declare d cursor with hold for select id from t order by id")
        refused(client, "select 1 / 0")
        assert refused(client, "fetch 1 from c").code == "25P02"
        client.query("rollback")
        assert client.query("fetch 1 from c") == [["0"]]
        assert refused(client, "fetch 1 from d").code == "34000"
        client.close()
    with case("pg-held-cursor-larger-than-the-memory-limit"):
        client = pando.client(family, "shop", timeout=60)
        many = "select repeat('x', 1000000) from generate_series(1, 300)"
        assert refused(client, f"declare c cursor with hold for {many}").code == "53200"
        client.query("begin")
        client.query("update t set n = 1 where id = 1")
        client.query(f"declare c cursor with hold for {many}")
        assert len(client.query("fetch 1 from c")) == 1
        assert refused(client, "commit").code == "53200"
        assert client.status == "I", client.status
        assert client.query("select n from t where id = 1") == [["0"]]
        assert refused(client, "fetch 1 from c").code == "34000"
        client.close()
    with case("pg-held-cursor-of-what-no-unit-answers"):
        client = pando.client(family, "shop")
        client.query("begin")
        error = refused(client, "declare c cursor for select set_config('app.tenant', 'b', true)")
        assert error.code == "0A000" and "no storage unit answers" in str(error), error
        client.close()


def main():
    each(["pg"], abandoned, held)
