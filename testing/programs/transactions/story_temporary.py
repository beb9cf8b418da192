"""Temporary tables whose connection is lost."""
from plain.house import case, direct
from shop import FAMILIES, each, refused


def temporary(family, pando):
    """A temporary table whose connection is lost is told of, and never taken for the table it hides; a session that is put back has none."""
    servers = [direct(family, n) for n in (0, 1)]

    def lose_connections():
        ask = ("select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()" if family == "pg" else
               "select id from information_schema.processlist where db = database() and id <> connection_id()")
        for one in servers:
            for (number,) in one.query(ask):
                one.query(f"select pg_terminate_backend({number})" if family == "pg" else f"kill {number}")

    for inside in (False, True):
        with case(f"{family}-a-lost-temporary-table-is-told{'-inside' if inside else ''}"):
            client, other = pando.client(family, "shop"), pando.client(family, "shop")
            if inside:
                # The other types take none into a transaction.
                client.query("set variable transaction_type = LOCAL")
            assert "hide a part" in str(refused(client, "create temporary table t_0 (id int)"))
            client.query("create temporary table t (only_here int)")
            client.query("insert into t values (1), (2)")
            if inside:
                client.query("begin")
                client.query("insert into t values (3)")
            assert client.value("select count(*) from t") == ("3" if inside else "2")
            assert other.value("select count(*) from t") == "8"
            lose_connections()
            refused(client, "select count(*) from t")
            if inside:
                client.query("rollback")
            for _ in range(2):
                assert "`t` is gone" in str(refused(client, "select count(*) from t"))
            refused(client, "drop table t")
            assert client.value("select count(*) from t") == "8"
            client.close()
            other.close()
    for one in servers:
        one.close()


def main():
    each(FAMILIES, temporary)
