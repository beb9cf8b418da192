"""`lastval` and `currval` behind an INSERT that a storage unit has counted: the session's own number, though connections are shared, inside of transactions and
outside, over several units and over one."""
import threading

from plain.house import ERRORS, GLOBAL, Pando, case, has, reset, sources
from shop import refused

ROUNDS, CLIENTS = 40, 6


def asked(client, table, n):
    """The numbers that a row was given, as drivers ask for them."""
    client.query(f"insert into {table} (n) values ({n})")
    last, current = client.value("select lastval()"), client.value(f"select currval('{table}_id_seq')")
    assert last == current, (last, current)
    assert client.value(f"select n from {table} where id = {last}") == str(n), last


def among_others(pando):
    failed = []

    def work(number):
        try:
            client = pando.client("pg", "shop")
            for at in range(ROUNDS):
                if at % 3:
                    client.query("begin")
                asked(client, "one", number * 1000 + at)
                if at % 3:
                    client.query("commit" if at % 3 == 1 else "rollback")
        except (AssertionError, *ERRORS) as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]


def told(units):
    reset("pg")
    pando = Pando({"global.yaml": GLOBAL, "database-shop.yaml": f"databaseName: shop\n{sources('pg', units, maxPoolSize=4)}"})
    client, other = pando.client("pg", "shop"), pando.client("pg", "shop")
    client.query("create table one (id bigserial primary key, n int)")
    client.query("create table noted (id int generated always as identity (start with 100), n int)")
    client.query("create function note() returns trigger language plpgsql as "
                 "$$ begin insert into noted (n) values (new.n); return null; end $$")
    with case(f"a-session-is-told-its-own-numbers-{units}"):
        for number in range(3):
            client.query(f"insert into one (n) values ({number})")
            other.query(f"insert into one (n) values ({number}), ({number})")
            assert client.value("select lastval()") == str(3 * number + 1)
            assert other.value("select currval('one_id_seq')") == str(3 * number + 3)
    with case(f"and-so-are-many-at-once-{units}"):
        among_others(pando)
    with case(f"nothing-is-told-of-rows-that-were-not-written-{units}"):
        other.query("insert into one (n) values (0)")
        client.query("insert into one (n) select 1 where false")
        try:
            said = client.value("select lastval()")
        except ERRORS as error:
            said = error.code
        assert said == "0A000", said
    with case(f"a-trigger-counts-behind-{units}"):
        client.query("create trigger noting after insert on one for each row execute function note()")
        for begin, end in (("select 1", "select 1"), ("begin", "commit")):
            client.query(begin)
            client.query("insert into one (n) values (7)")
            number, last = client.value("select currval('one_id_seq')"), client.value("select lastval()")
            assert client.value("select max(id) from one") == number and client.value("select max(id) from noted") == last
            client.query(end)
    if units == 1:
        with case("a-default-that-asks-another-sequence-is-not-taken-for-the-last"):
            client.query("create sequence numbers")
            client.query("create table other (id bigint default nextval('numbers'), n int)")
            assert client.value("select nextval('numbers')") == "1"
            client.query("insert into other (n) values (1)")
            assert client.value("select lastval()") == "2"
            assert refused(client, "select currval('numbers')").code == "0A000"
    pando.stop(f"last-numbers-stop-{units}")


def main():
    if has("pg"):
        told(1)
        told(2)
