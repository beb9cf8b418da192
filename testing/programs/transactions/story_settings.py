"""What is set in a session or a transaction, and on which connections it is found again."""
from plain.background import Background
from plain.house import GLOBAL, Pando, case, direct, sharded, sources, until
from plain.postgres import message, startup
from shop import MYSQLS, each, refused


def settings(family, pando):
    """What is set in a PostgreSQL transaction goes with it, on the connections it had, for whoever has these next."""
    # On both units: `id = 0` and `id = 1`.
    told = lambda client, name="app.tenant": [client.value(f"select current_setting('{name}', true) from t where id = {id}") or "" for id in (0, 1)]
    for end in ("rollback", "failed", "text"):
        with case(f"pg-set-and-{end}"):
            client = pando.client(family, "shop")
            if end == "text":
                refused(client, "set app.tenant = 'b'; select n from t where id = 0; select n from t where id = 1; select 1/0")
            else:
                client.query("begin")
                client.query("select n from t where id = 0")
                client.query("set app.tenant = 'b'")
                client.query("select n from t where id = 1")
                if end == "failed":
                    refused(client, "select nothing from t")
                client.query("rollback")
            # The same again: its connections must not pass for those that have it.
            client.query("set app.tenant = 'b'")
            assert told(client) == ["b", "b"], told(client)
            client.close()
            other = pando.client(family, "shop")
            assert told(other) == ["", ""], told(other)
            other.close()
    with case("pg-set-and-commit"):
        client = pando.client(family, "shop")
        client.query("begin")
        client.query("select n from t where id = 0")
        client.query("set app.tenant = 'b'")
        client.query("commit")
        assert told(client) == ["b", "b"], told(client)
        client.close()
    with case("pg-reset-keeps-login-and-role"):
        client = pando.client(family, "shop", login=False)
        client.raw(startup({"user": "test", "database": "shop", "app.tenant": "login"}))
        client.authenticate("test", "test")
        client.ready()
        client.query("set app.tenant = 'b'")
        client.query("set role pg_read_all_data")
        for begin, end in ((None, None), ("begin", "commit")):
            for reset_one in ("reset all", "reset app.tenant"):
                if begin:
                    client.query(begin)
                client.query(reset_one)
                assert told(client) == ["login", "login"], told(client)
                assert client.value("show role") == "pg_read_all_data", client.value("show role")
                if end:
                    client.query(end)
                client.query("set app.tenant = 'b'")
        client.close()
    with case("pg-a-moment-is-read-anew"):
        # Without a name, so that only the unit's own statement could be kept.
        def moment():
            sql = b"select extract(epoch from '2024-01-01 00:00'::timestamptz)::bigint from t where id = 0"
            client.raw(message(b"P", b"\0" + sql + bytes(3)) + message(b"B", bytes(8)) + message(b"E", bytes(5)) + message(b"S"))
            return client.rows()[0][0]

        client = pando.client(family, "shop")
        for zone, expected in (("UTC", "1704067200"), ("America/New_York", "1704085200"), ("UTC", "1704067200")):
            client.query(f"set time zone '{zone}'")
            found = [moment() for _ in range(8)]
            assert set(found) == {expected}, (zone, found)
        client.close()
    with case("pg-into-a-temporary-table"):
        client = pando.client(family, "shop")
        client.query("set variable transaction_type = LOCAL")
        for into in ("temp x", "TEMPORARY TABLE x", "pg_temp.x"):
            for sql, rows in ((f"select n into {into} from t where id = 0", 1), (f"select 1 as a into {into} union select 2", 2)):
                client.query(sql)
                assert len(client.query("select * from x")) == rows, sql
                client.query("drop table x")
        client.query("select n into /* here */ temp x from t where id = 0")
        client.query("drop table x")
        for sql in ("explain analyze select n into temp x from t where id = 0", "explain (analyze) create temp table x as select n from t where id = 0"):
            assert "temporary table" in str(refused(client, sql)), sql
        client.close()
    with case("pg-set-and-rollback-to"):
        client = pando.client(family, "shop")
        client.query("begin")
        client.query("set app.tenant = 'a'")
        client.query("select n from t where id = 0")
        client.query("set local app.place = 'x'")
        client.query("savepoint s")
        client.query("set app.tenant = 'b'")
        client.query("set local app.place = 'y'")
        client.query("set app.other = 'o'")
        # The second unit joins here.
        assert (told(client), told(client, "app.place")) == (["b", "b"], ["y", "y"]), (told(client), told(client, "app.place"))
        for _ in range(2):
            client.query("rollback to s")
            found = told(client), told(client, "app.place"), told(client, "app.other")
            assert found == (["a", "a"], ["x", "x"], ["", ""]), found
        client.query("commit")
        assert (told(client), told(client, "app.place")) == (["a", "a"], ["", ""])
        client.close()


def refused_settings(family, pando):
    """A connection that has refused a setting does not serve the next statement as if it had taken it: the refusal comes each time."""

    def refuses(client, sql):
        error = refused(client, sql)
        assert error.code == "22023" and "only_here" in str(error), error

    first = direct(family, 0)
    first.query("create role only_here superuser")
    with case("pg-a-setting-refused-each-time-snapshot"):
        client, other = pando.client(family, "shop"), pando.client(family, "shop")
        try:
            client.query("set variable transaction_type = XA")
            client.query("set role only_here")
            for _ in range(3):
                client.query("begin isolation level repeatable read")
                refuses(client, "select n from t where id = 0")
                client.query("rollback")
            assert other.query("select n, current_user from t where id in (0, 1)") == [["0", "test"]] * 2
        finally:
            client.close()
            other.close()
    with case("pg-a-setting-refused-each-time-base"):
        # Whoever waits for the only connection has it before what has failed is taken back there, which would bring it to order.
        narrow = Pando({"global.yaml": GLOBAL, "database-shop.yaml": "databaseName: shop\n"
                        + sources(family, connectionTimeoutMilliseconds=30000, maxPoolSize=1) + sharded(["t"])})
        holder, changer, reader = (narrow.client(family, "shop", timeout=40) for _ in range(3))
        watcher = narrow.client("mysql", "")
        runs = lambda sql: any(sql in str(row) for row in watcher.query("show full processlist"))
        changer.query("set variable transaction_type = BASE")
        changer.query("update t set n = n where id = 1")
        for one in (changer, reader):
            one.query("set role only_here")
        holder.query("begin")
        holder.query("select n from t where id = 1")
        waiting = []
        for one, sql in ((changer, "update t set n = n + 1 where id = 1"), (reader, "select current_user from t where id = 1")):
            waiting.append(Background(lambda one=one, sql=sql: refuses(one, sql)))
            assert until(10, lambda: runs(sql)), f"`{sql}` does not run"
        holder.query("commit")
        assert [one.wait(20) for one in waiting] == [None, None], [str(one.result) for one in waiting]
        assert holder.query("select n, current_user from t where id = 1") == [["0", "test"]]
        narrow.kill()
    with case("pg-a-setting-refused-where-another-unit-is-not-had"):
        # It has the one unit's only connection, where the setting is not read yet, and waits for the other's for a second. Who waits for the one is more patient.
        patience = "connectionTimeoutMilliseconds: "
        head, _, tail = sources(family, connectionTimeoutMilliseconds=30000, maxPoolSize=1).rpartition(f"{patience}30000")
        narrow = Pando({"global.yaml": GLOBAL, "database-shop.yaml": f"databaseName: shop\n{head}{patience}1000{tail}" + sharded(["t"])})
        holder, changer, reader = (narrow.client(family, "shop", timeout=40) for _ in range(3))
        watcher = narrow.client("mysql", "")
        runs = lambda sql: any(sql in str(row) for row in watcher.query("show full processlist"))
        changer.query("set variable transaction_type = BASE")
        changer.query("update t set n = n")
        second = direct(family, 1)
        second.query("create role only_here superuser")
        for one in (changer, reader):
            one.query("set role only_here")
        # The role was judged on the first unit.
        first.query("alter role only_here rename to elsewhere")
        holder.query("select n from t where id = 0")
        holder.query("begin")
        holder.query("select n from t where id = 1")
        waiting = []
        for one, sql, way in ((changer, "update t set n = n + 1", refused), (reader, "select current_user, n from t where id = 0", refuses)):
            waiting.append(Background(lambda one=one, sql=sql, way=way: way(one, sql)))
            assert until(10, lambda: runs(sql)), f"`{sql}` does not run"
        changed, read = (one.wait(20) for one in waiting)
        assert (changed.code, read) == ("53300", None), (changed, read)
        holder.query("rollback")
        narrow.kill()
        first.query("alter role elsewhere rename to only_here")
        second.query("drop owned by only_here")
        second.query("drop role only_here")
        second.close()
    first.query("drop owned by only_here")
    first.query("drop role only_here")
    first.close()


def user_variables(family, pando):
    """A user variable has the value of the moment it was set, whatever connection tells it."""
    with case(f"{family}-user-variables-are-of-their-moment"):
        client, other = pando.client(family, "shop"), pando.client(family, "shop")
        client.query("set @t = current_timestamp, @n = -1, @s = 'now', @x = x'41'")
        first = client.query("select @t, @n, @s, @x")
        assert until(5, lambda: client.query("select cast(@t as datetime) < now()") == [["1"]])
        # Equal texts are not equal values.
        other.query("set @t = current_timestamp, @n = -1, @s = 'now', @x = x'41'")
        assert other.query("select @t, @n, @s, @x")[0][0] > first[0][0]
        assert client.query("select @t, @n, @s, @x") == first and first[0][1:] == ["-1", "now", "A"], first
        client.close()
        other.close()


def main():
    each(["pg"], settings, refused_settings)
    each(MYSQLS, user_variables)
