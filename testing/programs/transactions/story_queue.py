"""Rows of a queue over both units, taken one by one."""
import threading

from plain.house import ERRORS, case, skip, until
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
        # The first row of the other unit is not locked with it.
        other.query(take.format(2))
        assert taken(one)[:1] == [["0", "1"]] and taken(other)[:2] == [["1", "2"], ["2", "9"]], (taken(one), taken(other))
        one.query("commit")
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


def workers(family, pando):
    """Each query that locks the first rows locks as many as it gives, wherever they lie."""
    first = "select id, n from t where n = 0 order by id"
    with case(f"{family}-three-workers-with-three-jobs-get-one-each"):
        clients = [pando.client(family, "shop") for _ in range(4)]
        clients[0].query("update t set n = 9 where id > 2")
        for number, client in enumerate(clients):
            client.query("begin")
            got = client.query(f"{first} limit 1 for update skip locked")
            assert got == ([[str(number), "0"]] if number < 3 else []), (number, got)
        for client in clients:
            client.query("rollback")
        clients[0].query("update t set n = 0")
        one, other = clients[:2]
        one.query("begin")
        assert [row[0] for row in one.query(f"{first} limit 3 offset 1 for update")] == ["1", "2", "3"]
        other.query("begin")
        # What OFFSET leaves out is locked as well.
        assert [row[0] for row in other.query(f"{first} limit 2 for update skip locked")] == ["4", "5"]
        assert refused(one, f"{first} desc limit 3 for update nowait").code in ("55P03", 3572, 1205)
        one.query("rollback")
        assert [row[0] for row in one.query(f"{first} limit 9 for update skip locked")] == ["0", "1", "2", "3", "6", "7"]
        assert one.query(f"{first} limit 0 for update") == []
        other.query("rollback")
        for client in clients:
            client.close()
    with case(f"{family}-twenty-workers-leave-nothing-and-take-nothing-twice"):
        jobs, done = 100, []
        client = pando.client(family, "shop")
        client.query("create table fresh (id bigint primary key, n int)")
        client.query("insert into fresh (id, n) values " + ", ".join(f"({id}, 0)" for id in range(jobs)))

        def work():
            client = pando.client(family, "shop")
            while True:
                client.query("begin")
                try:
                    got = client.query("select id from fresh where n = 0 order by id limit 1 for update skip locked")
                except ERRORS:
                    # Each of the twenty has connections of both units, whose pools have ten.
                    client.query("rollback")
                    continue
                for (id,) in got:
                    client.query(f"update fresh set n = n + 1 where id = {id}")
                    done.append(id)
                client.query("commit")
                if not got:
                    return

        threads = [threading.Thread(target=work) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        client = pando.client(family, "shop")
        assert sorted(done, key=int) == [str(id) for id in range(jobs)], sorted(done, key=int)
        assert client.query("select count(*) from fresh where n <> 1") == [["0"]]


def copies(family, pando):
    """Rows of a broadcast table, of which a query that joins them with others locks one copy."""
    one, other = pando.client(family, "shop"), pando.client(family, "shop")
    one.query("create table copied (id bigint primary key, code varchar(9) not null unique)")
    one.query("insert into copied (id, code) values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    with case(f"{family}-a-row-that-is-locked-in-one-copy-is-passed-over"):
        for id in (1, 2):
            one.query("begin")
            assert one.query(f"select t.id from t join copied on copied.id = t.id where t.id = {id} for update") == [[str(id)]]
            other.query("begin")
            assert other.query(f"select id from copied where id = {id} for update skip locked") == []
            got = other.query("select id from copied order by id limit 2 for update skip locked")
            assert got == [[str(free)] for free in (1, 2, 3) if free != id], got
            other.query("rollback")
            one.query("rollback")
    with case(f"{family}-first-rows-of-copies-are-locked-behind-a-read"):
        one.query("begin")
        assert len(one.query("select id from copied")) == 4
        assert one.query("select id from copied where code = 'a' limit 21 for update") == [["1"]]
        other.query("begin")
        assert other.query("select id from copied order by id limit 2 for update skip locked") == [["2"], ["3"]]
        assert one.query("select id from copied order by id limit 2 for update skip locked") == [["1"], ["4"]]
        other.query("rollback")
        one.query("rollback")
    with case(f"{family}-what-copies-cannot-agree-on-is-refused"):
        for sql in ("select id from copied for update skip locked",
                    "select t.id from t join copied on copied.id = t.id where t.id = 1 for update skip locked"):
            assert refused(one, sql).code in ("0A000", 30001), sql
    one.close()
    other.close()


def main():
    each(FAMILIES, queue, workers, copies)
