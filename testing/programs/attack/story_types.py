"""Types of parameters belong to what the names of a statement mean to the session that sends it: never to another session's temporary table, another schema's table, or
what a column was before somebody changed it behind Pando. Over a pool of one connection, so that all sessions meet on it."""
from pipelines.speech import B, DS, E, P, S, Q, X, answers
from plain.house import GLOBAL, Pando, check, direct, has, reset, skip, sources

# What is bound, and what a column of each type keeps of it.
MOMENT = "2001-01-01 12:34:56"
INSERT = "INSERT INTO d_t(col) VALUES ($1)"


def unnamed(client, value):
    return answers(client, [*X(INSERT, value), S])


def described(client, value):
    return answers(client, [P("", INSERT), DS(""), S]) + answers(client, [B("", "", value), E(""), S])


def named(client, value):
    said = answers(client, [P("s", INSERT), S])
    for _ in range(2):
        said += answers(client, [B("", "s", value), E(""), S])
    return said


def as_text(client, value):
    said = answers(client, [Q(f"PREPARE p AS {INSERT}")])
    for _ in range(2):
        said += answers(client, [Q(f"EXECUTE p('{value}')")])
    return said


WAYS = {"unnamed": unnamed, "described": described, "named": named, "as-text": as_text}


def kept(client, errors, name, value):
    found = {row[0] for row in client.query("SELECT col::text FROM d_t")}
    check(f"types-{name}", found == {value}, f"`{value}` was sent, {found or 'nothing'} is kept; {errors}")


def insert(pando, way, value, opening=()):
    """A session of its own."""
    client = pando.client("pg", "shop")
    for sql in opening:
        client.query(sql)
    said = WAYS[way](client, value)
    return client, [one for one in said if one.startswith("E ")]


def temporaries(pando, way):
    for kind, value in (("date", "2001-01-01"), ("timestamp", MOMENT), ("date", "2001-01-01"), ("text", MOMENT)):
        client, errors = insert(pando, way, value, [f"CREATE TEMPORARY TABLE d_t (col {kind})"])
        kept(client, errors, f"of-temporary-{kind}-{way}", value)
        client.query("DROP TABLE d_t")
        client.close()


def behind(pando, way):
    server = direct("pg", 0)
    for before, first, after, value in (("date", "2001-01-01", "timestamp", MOMENT), ("int", "7", "bigint", "5000000000"),
                                        ("int", "7", "text", "007"), ("float4", "1", "float8", "0.12345678901")):
        server.query("DROP TABLE IF EXISTS d_t")
        server.query(f"CREATE TABLE d_t (col {before})")
        for _ in range(3):
            client, _ = insert(pando, way, first)
            client.close()
        server.query(f"DELETE FROM d_t; ALTER TABLE d_t ALTER col TYPE {after} USING col::text::{after}")
        client, errors = insert(pando, way, value)
        kept(client, errors, f"{before}-to-{after}-behind-{way}", value)
        client.close()
    server.query("DROP TABLE d_t")
    server.close()


def schemas(pando, way):
    server = direct("pg", 0)
    server.query("CREATE SCHEMA IF NOT EXISTS a; CREATE TABLE IF NOT EXISTS a.d_t (col date); DELETE FROM a.d_t")
    server.query("CREATE SCHEMA IF NOT EXISTS b; CREATE TABLE IF NOT EXISTS b.d_t (col timestamp); DELETE FROM b.d_t")
    for schema, value in (("a", "2001-01-01"), ("a", "2001-01-01"), ("b", MOMENT), ("a", "2001-01-01")):
        client, errors = insert(pando, way, value, [f"SET search_path = {schema}"])
        kept(client, errors, f"by-search-path-{schema}-{way}", value)
        client.close()
    server.query("DROP SCHEMA a, b CASCADE")
    server.close()


def main():
    if not has("pg"):
        return skip("types", "no PostgreSQL server")
    reset("pg", ("ds_0",))
    shop = "databaseName: shop\n" + sources("pg", units=1, maxPoolSize=1) + "rules:\n- !SINGLE\n  tables: [\"*.*\"]\n"
    pando = Pando({"global.yaml": GLOBAL, "database-shop.yaml": shop})
    for way in WAYS:
        temporaries(pando, way)
        behind(pando, way)
        schemas(pando, way)
    pando.stop("types-stop")
