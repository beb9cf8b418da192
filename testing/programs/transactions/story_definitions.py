"""Definitions inside transactions."""
from plain.background import Background
from plain.house import case, direct, until
from plain.postgres import message
from shop import each, refused


def definitions(family, pando):
    """A definition and queries of the same table inside one transaction: they see it, nobody else does, and nobody waits for its locks."""
    client, other, third = (pando.client(family, "shop", timeout=10) for _ in range(3))
    servers = [direct(family, n) for n in (0, 1)]
    with case("pg-create-in-a-transaction"):
        client.query("begin")
        client.query("create table fresh (id bigint primary key, name text)")
        client.query("insert into fresh (id, name) values (1, 'a'), (2, 'b'), (3, 'c')")
        assert client.query("select * from fresh order by id") == [["1", "a"], ["2", "b"], ["3", "c"]]
        assert refused(other, "select * from fresh order by id").code == "42P01"
        client.query("rollback")
        assert refused(client, "select * from fresh order by id").code == "42P01"
    with case("pg-create-and-commit"):
        client.query("begin")
        client.query("create table fresh (id bigint primary key, name text)")
        client.query("insert into fresh (id, name) values (1, 'a'), (2, 'b')")
        client.query("commit")
        assert other.query("select * from fresh order by id") == [["1", "a"], ["2", "b"]]
    with case("pg-alter-in-a-transaction"):
        client.query("begin")
        client.query("alter table fresh add column age int default 7")
        assert client.query("select * from fresh order by id") == [["1", "a", "7"], ["2", "b", "7"]]
        client.query("insert into fresh values (3, 'c', 8)")
        client.query("alter table fresh drop column name")
        assert client.query("select * from fresh order by id") == [["1", "7"], ["2", "7"], ["3", "8"]]
        client.query("rollback")
        assert client.query("select * from fresh order by id") == [["1", "a"], ["2", "b"]]
        assert other.query("select * from fresh order by id") == [["1", "a"], ["2", "b"]]
    with case("pg-return-before-a-definition"):
        client.query("begin")
        client.query("create index fresh_name on fresh (name)")
        client.query("savepoint s")
        client.query("alter table fresh add column age int default 7")
        assert client.query("select * from fresh order by id") == [["1", "a", "7"], ["2", "b", "7"]]
        client.query("rollback to s")
        client.query("insert into fresh values (5, 'e')")
        assert client.query("select * from fresh order by id") == [["1", "a"], ["2", "b"], ["5", "e"]]
        client.query("rollback")
    with case("pg-two-tables-beside-a-definition"):
        client.query("begin")
        client.query("create index fresh_age on fresh (name)")
        assert client.query("select f.name from fresh f join t on f.id = t.id where f.id = 1 and t.id = 1") == [["a"]]
        assert client.query("select count(*) from fresh f, t where f.id = t.id") == [["2"]]
        client.query("rollback")
    with case("pg-columns-that-moved"):
        # The other's statement is planned with the columns as they were, and waits for the table.
        for change in ("drop column place", "add column more int"):
            other.query("create table moved (place int, id bigint primary key, n int)")
            other.query("insert into moved values (0, 6, 6), (0, 7, 7)")
            client.query("begin")
            client.query(f"alter table moved {change}")
            client.query("update moved set n = 5 where id = 6" if change.startswith("drop") else "update moved set more = 5 where id = 6")
            waiting = [Background(lambda: other.query("insert into moved values (11, 8)")),
                       Background(lambda: third.query("update moved set id = 9 where id = 6"))]
            assert until(5, lambda: any(int(one.value("select count(*) from pg_locks where not granted")) for one in servers))
            client.query("commit")
            for one in waiting:
                one.wait(10)
            # Whatever became of them, every row is found by its key, with what it had.
            kept = "n" if change.startswith("drop") else "more"
            for id, value in client.query(f"select id, {kept} from moved order by id"):
                assert client.query(f"select id, {kept} from moved where id = {id}") == [[id, value]], (change, id)
                assert id not in ("6", "9") or value == "5", (change, id, value)
            client.query("drop table moved")
    with case("pg-index-of-a-single-table"):
        client.query("create table alone (id bigint primary key, v int)")
        client.query("create index alone_v on alone (v)")
        client.query("begin")
        client.query("drop index alone_v")
        client.query("rollback")
        client.query("alter index alone_v rename to alone_w")
        client.query("drop index alone_w")
        client.query("drop table alone")
    with case("pg-names-that-are-not-those-told"):
        client.query("create table told (id bigint primary key, a int, b int)")
        client.query("insert into told values (1, 2, 3)")
        client.raw(message(b"P", b"names\0select * from told where id = 1\0" + bytes(2)) + message(b"D", b"Snames\0") + message(b"S"))
        assert not any(tag == b"E" for tag, _ in client.until_ready())
        other.query("alter table told drop column a, add column c int")
        client.raw(message(b"B", b"\0names\0" + bytes(6)) + message(b"E", bytes(5)) + message(b"S"))
        answers = client.until_ready()
        assert any(tag == b"E" and b"0A000" in body for tag, body in answers), answers
        client.query("drop table told")
    with case("pg-drop-in-a-transaction"):
        client.query("begin")
        client.query("drop table fresh")
        assert refused(client, "select * from fresh order by id").code == "42P01"
        client.query("rollback")
        assert client.query("select count(*) from fresh") == [["2"]]
    for one in (client, other, third, *servers):
        one.close()


def main():
    each(["pg"], definitions)
