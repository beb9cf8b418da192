"""Isolation levels: what is told of them, as on one server."""
from plain.house import ERRORS, case, direct, server
from shop import FAMILIES, each

# What sets a level, and then asks for it. `LEVEL` is the variable as the family calls it.
LEVELS = {
    "pg": ([
        ["begin isolation level serializable"],
        ["begin isolation level serializable", "select count(*) from t"],
        ["begin isolation level serializable", "update t set n = n where id in (1, 2)", "commit and chain"],
        ["begin isolation level serializable", "update t set n = n where id in (1, 2)", "rollback and chain"],
        ["begin isolation level serializable", "select count(*) from t", "set transaction isolation level serializable"],
        ["begin isolation level serializable", "set transaction read only"],
        ["begin isolation level serializable read only", "select count(*) from t"],
        ["begin isolation level repeatable read", "select count(*) from t"],
        ["begin isolation level repeatable read", "set transaction read only", "select count(*) from t"],
        ["begin", "set transaction isolation level serializable"],
        ["begin", "set transaction isolation level repeatable read", "select count(*) from t"],
        ["begin isolation level serializable", "set transaction isolation level read committed"],
        ["set transaction isolation level serializable", "begin"],
        ["set session characteristics as transaction isolation level serializable"],
        ["set session characteristics as transaction isolation level serializable", "begin"],
        ["set session characteristics as transaction isolation level serializable", "begin isolation level read committed"],
        ["set default_transaction_isolation = 'serializable'"],
        ["set default_transaction_isolation = 'serializable'", "begin", "select count(*) from t"],
        ["set default_transaction_isolation = 'serializable'", "begin", "set default_transaction_isolation = 'read committed'"],
        ["set default_transaction_isolation = 'serializable'", "begin", "select n from t where id = 2", "reset default_transaction_isolation"],
        ["begin", "select n from t where id = 2", "set default_transaction_isolation = 'serializable'"],
        ["begin", "set session characteristics as transaction isolation level serializable"],
    ], [
        "show transaction_isolation", "show transaction isolation level", "show transaction_read_only",
        "select current_setting('transaction_isolation')", "select lower(pg_catalog.current_setting('TRANSACTION_ISOLATION'))",
        "select current_setting('transaction_isolation') from t where id = 1", "select distinct current_setting('transaction_isolation') from t",
    ]),
    "my": ([
        ["set transaction isolation level serializable"],
        ["set transaction isolation level serializable", "begin"],
        ["set transaction isolation level serializable", "begin", "select count(*) from t"],
        ["set transaction isolation level read committed", "begin", "update t set n = n where id in (1, 2)"],
        ["set session transaction isolation level serializable", "begin", "select count(*) from t"],
        ["set session transaction isolation level serializable", "set transaction isolation level read committed", "begin"],
        ["set LEVEL = 'SERIALIZABLE'", "begin"],
        ["set @@session.LEVEL = 'SERIALIZABLE'", "begin"],
        ["set @@LEVEL = 'SERIALIZABLE'"],
        ["set @@LEVEL = 'SERIALIZABLE'", "begin"],
        ["begin", "set transaction isolation level serializable"],
        ["begin", "set @@LEVEL = 'SERIALIZABLE'"],
        ["begin", "set session transaction isolation level serializable"],
        ["begin", "select n from t where id = 2", "set session transaction isolation level serializable"],
        ["start transaction read only"],
        ["set session transaction read only", "begin"],
    ], [
        "select @@LEVEL", "select @@session.LEVEL", "show variables like 'LEVEL'", "select @@LEVEL from t where id = 1",
    ]),
}


def levels(family, pando):
    """A client hears the level it has asked for, and the errors it has earned, as from one server."""
    starts, questions = LEVELS["pg" if family == "pg" else "my"]
    name = "tx_isolation" if family == "mariadb" else "transaction_isolation"
    straight = direct(family, 0, "direct")
    for sql in ("drop table if exists t", "create table t (id bigint primary key, n int)", "insert into t values (1, 0), (2, 0)"):
        straight.query(sql)
    straight.close()

    def hear(client, start, question):
        """The errors of the start, and the answer."""
        errors, answer = [], None
        for sql in (*start, question):
            try:
                answer = client.query(sql.replace("LEVEL", name))
            except ERRORS as error:
                errors.append(error.code)
        client.close()
        return errors, answer

    for start in starts:
        with case(f"{family}-level-{'-'.join('; '.join(start).replace('LEVEL', name).split())}"):
            for question in questions:
                expected = hear(direct(family, 0, "direct"), start, question)
                told = hear(pando.client(family, "shop", timeout=10), start, question)
                assert told == expected, f"{question}: {told} instead of {expected}"
    if family != "pg":
        with case(f"{family}-level-of-the-next-transaction-only"):
            client, other = pando.client(family, "shop", timeout=10), pando.client(family, "shop", timeout=10)
            client.query(f"set @@{name} = 'READ-COMMITTED'")
            for seen in ("1", "0"):
                client.query("begin")
                client.query("select n from t where id in (1, 2)")
                other.query("update t set n = 1 where id in (1, 2)")
                assert client.query("select n from t where id in (1, 2)") == [[seen], [seen]]
                client.query("commit")
                other.query("update t set n = 0 where id in (1, 2)")


def main():
    each(FAMILIES, levels)
