"""What procedures and blocks commit, and what they leave on their connections."""
from plain.house import case, direct, server
from shop import FAMILIES, MYSQLS, each, refused


def ended_parts(family, pando):
    """What a statement of MySQL commits by itself, on one unit or all of them."""
    hint = "/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds_0 */ "
    server = direct(family, 0)
    server.query("create procedure adds() insert into t_0 (id, n) values (910, 1)")
    server.query("create procedure ends() begin insert into t_0 (id, n) values (912, 1); commit; end")
    found = lambda client: [id for id, in client.query("select id from t where id >= 900 order by id")]
    kinds = ("LOCAL", "XA")
    for kind in kinds:
        client = pando.client(family, "shop")
        client.query(f"set variable transaction_type = {kind}")
        with case(f"{family}-call-without-autocommit-{kind}"):
            client.query("set autocommit = 0")
            client.query(hint + "call adds()")
            client.query("rollback")
            assert found(client) == [], found(client)
            client.query("rollback")
            client.query("set autocommit = 1")
        for text in ("flush status", *(("grant select on *.* to current_user()", hint + "reset query cache") if family == "mariadb" else ("flush tables",))):
            with case(f"{family}-{text.removeprefix(hint).split()[0]}-commits-{kind}"):
                client.query("begin")
                client.query("insert into t (id, n) values (900, 1)")
                client.query("insert into t (id, n) values (901, 1)")
                client.query(text)
                client.query("rollback")
                assert found(client) == ["900", "901"], found(client)
                client.query("delete from t where id >= 900")
        with case(f"{family}-a-procedure-ends-the-transaction-{kind}"):
            client.query("begin")
            client.query("insert into t (id, n) values (900, 1)")
            client.query(hint + "call ends()")
            client.query("insert into t (id, n) values (901, 1)")
            client.query("rollback")
            assert found(client) == ["900", "901", "912"], found(client)
            client.query("delete from t where id >= 900")
        with case(f"{family}-a-procedure-tears-the-transaction-{kind}"):
            client.query("begin")
            client.query("insert into t (id, n) values (900, 1)")
            client.query("insert into t (id, n) values (901, 1)")
            error = refused(client, hint + "call ends()")
            assert error.code == 1180, error
            client.query("insert into t (id, n) values (902, 1)")
            client.query("rollback")
            # On its own unit all that was there is committed, and nothing on the other.
            assert found(client) == ["900", "902", "912"], found(client)
            client.query("delete from t where id >= 900")
        client.close()
    with case(f"{family}-a-procedure-leaves-a-transaction-open"):
        server.query("create procedure opens() begin start transaction; insert into t_0 (id, n) values (914, 1); end")
        client = pando.client(family, "shop")
        assert refused(client, hint + "call opens()").code == 1180
        assert found(client) == [], found(client)
        client.close()
        server.query("drop procedure opens")
    server.query("drop procedure adds")
    server.query("drop procedure ends")
    server.close()


def left_behind(family, pando):
    """What a procedure or a block leaves on its connection is gone when that serves the next statement."""
    hint = "/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds_0 */ "
    server = direct(family, 0)
    if family == "pg":
        make = "create or replace procedure leaves() language plpgsql as $$ begin perform set_config('app.left', 'yes', false); end $$"
        told = f"{hint}select current_setting('app.left', true)"
    else:
        make = "create procedure leaves() set @left_behind = 'yes', session sort_buffer_size = 1234567"
        told = f"{hint}select @@session.sort_buffer_size"
    calls = {"call": "call leaves()", "block": "do $$ begin call leaves(); end $$" if family == "pg" else None,
             "in-transaction": "call leaves()", "and-set": "call leaves()", "opaque": "begin not atomic call leaves(); end" if family == "mariadb" else None}
    server.query(make)
    for name, call in calls.items():
        if call is None:
            continue
        with case(f"{family}-left-behind-{name}"):
            client = pando.client(family, "shop")
            # Of the pool's few connections every one is asked.
            clients = [pando.client(family, "shop") for _ in range(4)]
            before = client.value(told) or ""
            if name in ("in-transaction", "and-set"):
                client.query("begin")
            client.query(hint + call)
            if name == "and-set":
                for one in [client, *clients]:
                    one.query("set time zone 'UTC'" if family == "pg" else "set time_zone = '+00:00'")
            if name in ("in-transaction", "and-set"):
                client.query("commit")
            for one in [client, *clients]:
                assert (one.value(told) or "") == before, one.value(told)
            for one in [client, *clients]:
                one.close()
    server.query("drop procedure leaves" + ("()" if family == "pg" else ""))
    server.close()


def main():
    each(MYSQLS, ended_parts)
    each(FAMILIES, left_behind)
