"""Who one is, where the login's name is none of the servers': roles by SET ROLE and SET SESSION AUTHORIZATION, to oneself and to others."""
from plain.house import GLOBAL, Pando, case, sharded, sources
from shop import each, refused

LOGIN = GLOBAL.replace("  users:\n", "  users:\n    - user: keeper@%\n      password: test\n")

# A statement, and what `current_user` and `session_user` are behind it.
STEPS = [
    ("select 1", "keeper", "keeper"),
    ("set role keeper", "keeper", "keeper"),
    ("set role 'keeper'", "keeper", "keeper"),
    ("set session authorization keeper", "keeper", "keeper"),
    ("set role test", "test", "keeper"),
    ("set role keeper", "keeper", "keeper"),
    ("begin", "keeper", "keeper"),
    ("set local role keeper", "keeper", "keeper"),
    ("set local role test", "test", "keeper"),
    ("savepoint a", "test", "keeper"),
    ("set local role keeper", "keeper", "keeper"),
    ("rollback to a", "test", "keeper"),
    ("commit", "keeper", "keeper"),
    ("set session authorization pg_read_all_data", "pg_read_all_data", "pg_read_all_data"),
    ("set session authorization keeper", "keeper", "keeper"),
    ("set session authorization pg_read_all_data", "pg_read_all_data", "pg_read_all_data"),
    ("reset session authorization", "keeper", "keeper"),
]


def roles(family, pando):
    own = Pando({"global.yaml": LOGIN, "database-shop.yaml": f"databaseName: shop\n{sources(family)}{sharded(['t'])}"})
    try:
        client = own.client(family, "shop", user="keeper")
        for place, (step, current, session) in enumerate(STEPS):
            with case(f"pg-oneself-{place}"):
                client.query(step)
                told = client.query("select current_user, session_user")
                assert [tuple(row) for row in told] == [(current, session)], (step, told)
                rows = client.query("select id, current_user from t order by id")
                assert [tuple(row) for row in rows] == [(str(id), current) for id in range(8)], (step, rows)
        with case("pg-oneself-rights"):
            client.query("set role pg_read_all_data")
            assert refused(client, "delete from t").code == "42501"
            client.query("reset role")
            assert refused(client, "set role nobody_here").code == "22023"
            client.query("update t set n = n + 1")
        client.close()
    finally:
        own.kill()


def main():
    each(["pg"], roles)
