"""LISTEN and NOTIFY: over all units and instances, when a transaction commits, in order, once; and what becomes of who listens when somebody is lost."""
import tempfile
import threading
import time

from plain.house import ERRORS, Pando, case, direct, port, server, signal_server, until, work
from shop import each, refused


class Straight:
    """One unit's server by itself, to which the same is told as to Pando."""

    def client(self, family, database, **more):
        return direct(family, 0, **more)


def texts(client, count=1, patience=10):
    """What a client hears, without who told it."""
    return [(channel, payload) for _, channel, payload in client.hear(count, patience)]


def none(client):
    """Whether nothing comes: what others had told by then comes with the answer to anything."""
    client.query("select 1")
    return client.hear(0, 0) == []


def story(pando, name):
    """What holds on one server."""
    one, other = pando.client("pg", "shop"), pando.client("pg", "shop")
    with case(f"{name}-who-listens-hears-what-is-told-from-then-on"):
        other.query("notify a, 'before'")
        one.query("listen a")
        assert one.tag == "LISTEN"
        assert none(one)
        other.query("notify a, 'first'")
        assert other.tag == "NOTIFY"
        assert texts(one) == [("a", "first")]
        other.query("notify a")
        assert texts(one) == [("a", "")]
        other.query("notify b, 'other channel'")
        assert none(one)
    with case(f"{name}-names-fold-and-payloads-are-any-text"):
        one.query('listen Abc; listen "Abc"')
        other.query("notify ABC, 'it''s'; notify \"Abc\", E'a\\nb'; notify abc, $$ü$$")
        assert texts(one, 3) == [("abc", "it's"), ("Abc", "a\nb"), ("abc", "ü")]
        long = "x" * 70
        one.query(f"listen {long}")
        other.query(f"notify {long}, '1'")
        assert texts(one) == [("x" * 63, "1")]
        one.query(f"unlisten {long}; unlisten abc; unlisten \"Abc\"")
        assert [row[0] for row in one.query("select pg_listening_channels()")] == ["a"]
    with case(f"{name}-what-cannot-be-told-is-an-error"):
        for sql, code in [
            ("select pg_notify('', 'x')", "22023"),
            (f"select pg_notify('{'x' * 64}', 'x')", "22023"),
            (f"select pg_notify('a', '{'x' * 8000}')", "22023"),
            (f"notify a, '{'x' * 8000}'", "22023"),
            ("select pg_notify(null, 'x')", "22023"),
            ("notify a, 1", "42601"),
            ("notify", "42601"),
            ("listen a b", "42601"),
            ("select pg_notify('a', 1)", "42883"),
            ("select pg_notify('a')", "42883"),
        ]:
            assert refused(other, sql).code == code, sql
        assert none(one)
        other.query(f"notify a, '{'x' * 7999}'")
        assert texts(one) == [("a", "x" * 7999)]
    with case(f"{name}-a-function-tells-as-well"):
        assert other.query("select pg_notify('a', 'x')") == [[""]]
        assert other.query("select 1 as n, pg_notify('a', 'y' || 2) as told, 3") == [["1", "", "3"]]
        other.query("select pg_notify('a', null)")
        other.query("select pg_notify('a', 'n' || i) from generate_series(1, 3) as i")
        assert texts(one, 6) == [("a", "x"), ("a", "y2"), ("a", ""), ("a", "n1"), ("a", "n2"), ("a", "n3")]
        refused(other, "select pg_notify('a', 'never'), 1 / 0")
        assert none(one)
    with case(f"{name}-a-transaction-tells-when-it-commits-and-once"):
        other.query("begin; notify a, '1'; notify a, '2'; notify a, '1'; select pg_notify('a', '2'); select pg_notify('a', '3')")
        assert none(one)
        other.query("commit")
        assert texts(one, 3) == [("a", "1"), ("a", "2"), ("a", "3")]
        other.query("begin; notify a, '4'; rollback")
        other.query("begin; notify a, '5'; savepoint s; notify a, '6'; savepoint r; notify a, '7'; release r; rollback to s; notify a, '8'; commit")
        other.query("begin; notify a, '9'")
        refused(other, "select 1 / 0")
        other.query("commit")
        assert other.tag == "ROLLBACK"
        assert texts(one, 2) == [("a", "5"), ("a", "8")] and none(one)
    with case(f"{name}-whoever-is-inside-a-transaction-hears-behind-it"):
        one.query("begin; select 1")
        other.query("notify a, 'while'")
        one.query("select 2")
        assert one.hear(1, 0.3) == []
        one.query("commit")
        assert [told[1:] for told in one.hear(0)] == [("a", "while")]
    with case(f"{name}-listen-and-unlisten-go-with-their-transaction"):
        one.query("begin; listen c; unlisten a")
        channels = lambda: sorted(row[0] for row in one.query("select * from pg_listening_channels()"))
        assert channels() == ["a"]
        one.query("rollback")
        other.query("notify a, '1'; notify c, '1'")
        assert texts(one) == [("a", "1")] and none(one)
        one.query("begin; listen c; savepoint s; listen d; unlisten a; rollback to s; commit")
        assert channels() == ["a", "c"]
        other.query("notify d, '2'; notify c, '2'; notify a, '2'")
        assert texts(one, 2) == [("c", "2"), ("a", "2")] and none(one)
        one.query("begin; listen e; notify e, 'own'; commit")
        assert texts(one) == [("e", "own")]
        one.query("unlisten *")
        assert channels() == [] and one.tag == "SELECT 0"
        other.query("notify a, '3'; notify c, '3'; notify e, '3'")
        assert none(one)
    with case(f"{name}-one-hears-oneself-before-the-next-request"):
        one.query("listen a")
        one.query("notify a, 'own'")
        assert one.hear(0) == [(one.process, "a", "own")]
        one.query("select pg_notify('a', 'too')")
        assert one.hear(0) == [(one.process, "a", "too")]
        other.query("notify a, 'others'")
        assert one.hear() == [(other.process, "a", "others")]
    with case(f"{name}-discard-all-and-the-end-of-a-session-unlisten"):
        one.query("discard all")
        assert one.query("select * from pg_listening_channels()") == []
        other.query("notify a, 'x'")
        assert none(one)
        one.query("listen a")
        one.close()
        for sql in ("notify a, 'nobody'", "listen a", "notify a, 'somebody'"):
            other.query(sql)
        assert texts(other) == [("a", "somebody")]
        other.close()


def straight_and_through(family, pando):
    story(Straight(), "straight")
    story(pando, "pando")


def with_the_data(family, pando):
    """Who hears of something is to see it, wherever it is."""
    listener, writer = pando.client(family, "shop"), pando.client(family, "shop")
    listener.query("listen jobs")
    with case("who-hears-of-rows-sees-them"):
        for number in range(40):
            writer.query("begin")
            for id in (number % 8, (number + 1) % 8):
                writer.query(f"update t set n = {number} where id = {id}")
                writer.query(f"notify jobs, '{id} {number}'")
            writer.query("commit")
            for _, _, told in listener.hear(2):
                id, n = told.split()
                assert listener.value(f"select n from t where id = {id}") == n, told
    # A server of PostgreSQL's does not prepare what it has been told to tell.
    writer.query("set variable transaction_type = LOCAL")
    with case("rows-of-shards-tell-once-each"):
        writer.query("select pg_notify('jobs', 'row ' || id) from t where id in (1, 2)")
        assert sorted(texts(listener, 2)) == [("jobs", "row 1"), ("jobs", "row 2")]
        assert none(listener)
        for sql in ("select pg_notify('jobs', 'row ' || id) from t order by id limit 2", "select distinct pg_notify('jobs', 'x') from t"):
            refused(writer, sql)
        assert none(listener)
        writer.query("update t set n = 1 where id = 5 returning pg_notify('jobs', 'changed ' || id)")
        assert texts(listener) == [("jobs", "changed 5")]
    with case("triggers-on-any-unit-are-heard"):
        for n in range(2):
            unit = direct(family, n)
            unit.query("""create or replace function tell() returns trigger language plpgsql as $$
                begin perform pg_notify('jobs', tg_op || ' ' || new.id); return new; end $$""")
            for part in range(2):
                unit.query(f"create trigger tell after update on t_{part} for each row execute function tell()")
            unit.close()
        writer.query("update t set n = 2 where id < 4")
        assert sorted(texts(listener, 4)) == [("jobs", f"UPDATE {id}") for id in range(4)]
        writer.query("begin; update t set n = 3 where id = 1; rollback")
        assert none(listener)
    listener.close()
    writer.close()


def many(family, pando):
    """1,000 for ten, over two instances."""
    with open(f"{pando.folder}/global.yaml") as one, open(f"{pando.folder}/database-shop.yaml") as two:
        second = Pando({"global.yaml": one.read(), "database-shop.yaml": two.read()})
    listeners = [(pando, second)[n % 2].client(family, "shop") for n in range(10)]
    tellers = [(pando, second)[n % 2].client(family, "shop") for n in range(4)]
    for listener in listeners:
        listener.query("listen many")

    def tell(at):
        for number in range(250):
            if number % 2:
                tellers[at].query(f"begin; update t set n = n + 1 where id = {at}; notify many, '{at} {number}'; commit")
            else:
                tellers[at].query(f"notify many, '{at} {number}'")

    with case("a-thousand-are-heard-by-ten-once-and-in-order"):
        began = time.monotonic()
        threads = [threading.Thread(target=tell, args=(at,)) for at in range(4)]
        [thread.start() for thread in threads]
        heard = [texts(listener, 1000, 60) for listener in listeners]
        [thread.join() for thread in threads]
        for one in heard:
            assert one == heard[0], "not the same order"
            for at in range(4):
                own = [int(told.split()[1]) for _, told in one if told.startswith(f"{at} ")]
                assert own == list(range(250)), (at, len(own))
        seconds = time.monotonic() - began
    with case("whose-it-is-is-told-where-it-is-known", f"{seconds:.1f} s"):
        listeners[0].query("listen own")
        listeners[1].query("listen own")
        tellers[0].query("notify own, 'x'")
        assert listeners[0].hear() == [(tellers[0].process, "own", "x")]
        assert listeners[1].hear() == [(0, "own", "x")], "a number of another instance is nobody's here"
    [client.close() for client in listeners + tellers]
    second.stop("second-instance-stop")


def losses(family, pando):
    """What becomes of who listens."""
    teller = pando.client(family, "shop")
    with case("a-lost-client-is-forgotten"):
        gone = pando.client(family, "shop")
        gone.query("listen lost")
        gone.reset_hard()
        stays = pando.client(family, "shop")
        stays.query("listen lost")
        teller.query("notify lost, 'x'")
        assert texts(stays) == [("lost", "x")]
    with case("who-listens-ends-with-the-connection-that-listens"):
        for n in range(2):
            stays = pando.client(family, "shop")
            stays.query("listen lost")
            busy = pando.client(family, "shop")
            busy.query("listen lost")
            busy.query("begin")
            bystander = pando.client(family, "shop")
            unit = direct(family, n)
            ended = unit.query("""select pg_terminate_backend(pid) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid() and state = 'idle' and query = 'LISTEN "lost"'""")
            assert ended == [["t"]], ended
            unit.close()
            for client in (stays, busy):
                try:
                    client.hear(1, 5)
                    raise AssertionError("it goes on as if it had heard everything")
                except Exception as error:
                    assert getattr(error, "code", None) == "57P01" and error.severity == "FATAL", repr(error)
            assert bystander.value("select 1") == "1" and teller.value("select 1") == "1"
            # And anew.
            again = pando.client(family, "shop")
            again.query("listen lost")
            teller.query(f"notify lost, 'again {n}'")
            assert texts(again) == [("lost", f"again {n}")]
            again.close()
    with case("more-than-may-wait-ends-the-session"):
        slow, quick = pando.client(family, "shop"), pando.client(family, "shop")
        slow.query("listen flood")
        slow.query("begin")
        quick.query("listen flood")
        for part in range(11):
            teller.query("begin; " + "; ".join(f"notify flood, '{part} {n}'" for n in range(1000)) + "; commit")
        assert len(quick.hear(11_000, 20)) == 11_000
        try:
            slow.hear(1, 5)
            raise AssertionError("it goes on")
        except Exception as error:
            assert getattr(error, "code", None) == "54000" and error.severity == "FATAL", repr(error)
        quick.close()
    with case("a-killed-instance-leaves-nobody-listening"):
        second = Pando({name: open(f"{pando.folder}/{name}").read() for name in ("global.yaml", "database-shop.yaml")})
        there, here = second.client(family, "shop"), pando.client(family, "shop")
        there.query("listen lost")
        here.query("listen lost")
        second.process.kill()
        teller.query("notify lost, 'x'")
        assert texts(here) == [("lost", "x")]
        here.close()
        second.kill()
    with case("nobody-listens-once-nobody-does"):
        idle = """select count(*) from pg_stat_activity where datname = current_database() and query ~* '^(un)?listen'"""
        counts = lambda: [int(direct(family, n).value(idle)) for n in range(2)]
        assert until(10, lambda: counts() == [0, 0]), counts()
    with case("a-lost-unit-is-told-to-who-listens-and-to-who-tells"):
        home = next(n for n in range(2) if direct(family, n).value("select count(*) from pg_stat_activity where datname = current_database() and query ilike '%pg_notify%' and pid <> pg_backend_pid()") != "0")
        listener = pando.client(family, "shop")
        listener.query("listen lost")
        signal_server(server(family, home), "kill")
        try:
            try:
                listener.hear(1, 15)
                raise AssertionError("it goes on as if it had heard everything")
            except Exception as error:
                assert getattr(error, "code", None) == "57P01" and error.severity == "FATAL", repr(error)
            listener = pando.client(family, "shop")
            assert refused(listener, "listen lost").code.startswith("08")
            assert refused(teller, "notify lost, 'x'").code.startswith("08")
            # What is committed elsewhere stays so, and whoever has committed it hears that nobody was told.
            teller.query(f"begin; update t set n = 77 where id = {1 - home}; notify lost, 'x'")
            teller.notices.clear()
            teller.query("commit")
            assert teller.tag == "COMMIT" and [notice["S"] for notice in teller.notices] == ["WARNING"], teller.notices
            assert teller.value(f"select n from t where id = {1 - home}") == "77"
        finally:
            signal_server(server(family, home), "start")
        def listens():
            try:
                listener.query("listen lost")
                teller.query("notify lost, 'back'")
                return True
            except ERRORS:
                return False
        assert until(20, listens)
        assert ("lost", "back") in texts(listener)
        listener.close()
    teller.close()


def changed_units(family, pando):
    """A change of the configuration ends nobody who listens, unless there are other units to listen to."""
    files = {name: open(f"{pando.folder}/{name}").read() for name in ("global.yaml", "database-shop.yaml")}
    own = Pando(files, arguments=("--data", tempfile.mkdtemp(dir=work)))
    listener, teller = own.client(family, "shop"), own.client(family, "shop")
    listener.query("listen rules")
    with case("other-rules-end-nobody"):
        teller.query("create broadcast table rule another")
        teller.query("notify rules, 'still'")
        assert texts(listener) == [("rules", "still")]
    with case("other-units-end-who-listens"):
        teller.query(f"register storage unit ds_2(host='127.0.0.1', port={port(family, 0)}, db=test, user=test, password='test')")
        try:
            listener.hear(1, 10)
            raise AssertionError("it goes on as if it heard the new unit")
        except Exception as error:
            assert getattr(error, "code", None) == "57P01" and error.severity == "FATAL", repr(error)
        listener = own.client(family, "shop")
        listener.query("listen rules")
        teller.query("notify rules, 'anew'")
        assert texts(listener) == [("rules", "anew")]
        unit = direct(family, 0, "test")
        unit.query("notify rules, 'by the new one'")
        unit.close()
        assert texts(listener) == [("rules", "by the new one")]
    own.stop("changed-units-stop")


def main():
    each(["pg"], straight_and_through, with_the_data, many, changed_units, losses)
