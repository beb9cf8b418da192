"""Tables made of queries over shards, and temporary tables that rows are brought to: whole or not at all, and nothing of them left."""
import subprocess
import tempfile

from plain.house import case, direct
from shop import FAMILIES, each, refused


def shell(family, pando, text, ends=0):
    """A client that sends bulk data. The session ends with it."""
    if family == "pg":
        command = ["psql", "-qtAX", "-v", "ON_ERROR_STOP=1", "-h127.0.0.1", f"-p{pando.port(family)}", "-Utest", "shop"]
    else:
        command = ["mariadb", "--no-defaults", "-N", "-h127.0.0.1", f"-P{pando.port(family)}", "-utest", "-ptest", "--skip-ssl", "--local-infile=1",
                   "--default-character-set=utf8mb4", "shop"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, env={"PGPASSWORD": "test", "PATH": "/usr/bin:/bin:/usr/local/bin"})
    assert (done.returncode != 0) == bool(ends), (done.returncode, done.stderr)
    return done.stdout.split() if not ends else done.stderr


def everywhere(family, name):
    """In how many of the databases a table of this name is."""
    count = 0
    for n in (0, 1):
        one = direct(family, n)
        place = "table_schema = current_schema()" if family == "pg" else "table_schema = database()"
        count += int(one.value(f"select count(*) from information_schema.tables where table_name like '{name}%' and {place}"))
        one.close()
    return count


def tables_whole_or_not(family, pando):
    """A table whose rows cannot all be written is not there, nor any part of it; and one that is being made is nobody else's in PostgreSQL."""
    client, other = pando.client(family, "shop"), pando.client(family, "shop")
    with case(f"{family}-a-table-of-a-failed-query-is-not-there"):
        # The third step fails: two rows of one key.
        twice = {"pg": "create table fresh as select id, 1 / (id - 5) as q from t",
                 "mariadb": "create table fresh (primary key (id)) select id % 4 as id from t",
                 "mysql": "create table fresh (primary key (id)) select id % 4 as id from t"}[family]
        error = refused(client, twice)
        assert "division by zero" in str(error) or "Duplicate entry" in str(error), error
        assert everywhere(family, "fresh") == 0
        refused(client, "select * from fresh")
        # Nothing of the probe and of the rows stays on a connection.
        assert client.value("select count(*) from t") == "8"
        client.query("create table fresh as select id, n from t where id > 2")
        assert other.value("select count(*) from fresh") == "5" and everywhere(family, "fresh") == 4
        client.query("drop table fresh")
    with case(f"{family}-chance-is-taken-once-for-each-row"):
        chance = "gen_random_uuid()" if family == "pg" else "md5(rand())"
        client.query(f"create table told as select id, {chance} as u from t")
        assert client.value("select count(distinct u) from told") == "8"
        client.query("drop table told")
    if family == "pg":
        with case("pg-a-table-is-shown-when-it-is-committed"):
            client.query("begin")
            client.query("create table fresh as select * from t")
            client.query("create table lone as select count(*) as c from fresh")
            refused(other, "select * from lone")
            refused(other, "select * from fresh")
            assert client.value("select c from lone") == "8"
            client.query("commit")
            assert other.value("select c from lone") == "8" and other.value("select count(*) from fresh") == "8"
            client.query("drop table fresh, lone")
    client.close()
    other.close()


def bulk_rows_in_a_temporary_table(family, pando):
    """The usual upsert of many rows: they are sent into a temporary table, and from there they go to their shards."""
    rows = [(id, id * 10) for id in range(4, 1200)]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file, case(f"{family}-bulk-upsert"):
        file.writelines(f"{id},{n}\n" for id, n in rows)
        file.flush()
        if family == "pg":
            text = ("create temp table up (like t including all);\n"
                    f"\\copy up from '{file.name}' with (format csv)\n"
                    "insert into t select * from up on conflict (id) do update set n = excluded.n;\n"
                    "create temp table none as select * from t where false;\n"
                    f"\\copy none (id, n) from '{file.name}' csv\n"
                    "\\copy none to /dev/null\n"
                    "begin;\n"
                    "create temp table inside (id bigint, n int) on commit drop;\n"
                    f"\\copy inside from '{file.name}' csv\n"
                    "update t set n = t.n + inside.n from inside where inside.id = t.id and t.id < 6;\n"
                    "commit;\n"
                    "select (select count(*) from none), (select count(*) from up), count(*), sum(n) from t;\n")
        else:
            load = f"load data local infile '{file.name}' into table {{}} fields terminated by ',';\n"
            text = ("create temporary table up like t;\n" + load.format("up") +
                    "insert into t select * from up on duplicate key update n = values(n);\n"
                    "create temporary table none as select * from t where false;\n" + load.format("none") +
                    "begin;\n"
                    "update t join none on none.id = t.id set t.n = t.n + none.n where t.id < 6;\n"
                    "commit;\n"
                    "select (select count(*) from none), (select count(*) from up), count(*), sum(n) from t;\n")
        # Temporary tables take no part in other types.
        told = shell(family, pando, "set variable transaction_type = LOCAL;\n" + text)
        whole = sum(n for _, n in rows) + 40 + 50
        told = told[-1].split("|") if family == "pg" else told[-4:]
        assert told == [str(len(rows)), str(len(rows)), "1200", str(whole)], (told, whole)
    with case(f"{family}-temporary-tables-end-with-their-session"):
        client = pando.client(family, "shop")
        for name in ("up", "none"):
            refused(client, f"select * from {name}")
        client.close()


def rows_beyond_memory(family, pando):
    """What would take more than the session may hold is refused, and no table is left."""
    with case(f"{family}-rows-that-are-too-many-leave-no-table"):
        client = pando.client(family, "shop")
        client.query("create table big (id bigint primary key, w varchar(2000))")
        for first in range(0, 4000, 500):
            client.query("insert into big (id, w) values " + ", ".join(f"({id}, '{'x' * 1000}')" for id in range(first, first + 500)))
        wide = "a.w || b.w" if family == "pg" else "concat(a.w, b.w)"
        refused(client, f"create table fresh as select a.id * 1000 + b.id as id, {wide} as w from big a join big b on b.id < 40")
        assert everywhere(family, "fresh") == 0
        client.query("create table fresh as select id, w from big")
        assert client.value("select count(*) from fresh") == "4000"
        client.query("drop table fresh")
        client.query("drop table big")
        client.close()


def main():
    each(FAMILIES, tables_whole_or_not, rows_beyond_memory)
    # MySQL's servers take no files of clients unless they are told to.
    each(["pg", "mariadb"], bulk_rows_in_a_temporary_table)
