"""Ways past the guard by another name: a table by its number, a function of the vendor's behind an operator or aggregate of one's own, a whole schema, what a storage
unit tells of itself behind a hint. And what such an operator leaves on a connection. What ordinary code says of tables of its own is let through."""
from plain.house import GLOBAL, ERRORS, Pando, case, check, direct, has, skip
from plain.postgres import Client as Postgres, startup
from story_guard import HINT, SECRET, attempt, setting


def told(client, text):
    """The answer or the error, as a text."""
    try:
        return str(client.query(text)), False
    except ERRORS as error:
        return str(error), True


def seen(family, pando, texts, hidden):
    """Which of these show what is hidden, or are answered at all where nothing tells whether they did harm."""
    shown = []
    for text in texts:
        answer, error = attempt(family, pando, lambda client: client.query(text))
        if error is None and (not hidden or any(word in answer for word in hidden)):
            shown.append(f"{text}: {answer[:200]}")
    return shown


# Nobody may have these.
MADE = [
    "create operator ### (rightarg = text, function = ts_stat)",
    "create operator public.~~~~ (leftarg = tsquery, rightarg = text, function = ts_rewrite)",
    "create aggregate runs(text) (sfunc = pg_catalog.ts_rewrite, stype = tsquery, initcond = 'a')",
    "create aggregate sets(text, bool) (sfunc = set_config, stype = text, initcond = 'search_path')",
    "do $$ begin create operator ### (rightarg = text, function = ts_stat); end $$",
    "alter function pg_catalog.ts_stat(text) rename to harmless",
    "create publication everything for all tables",
]

LEDGERS = [
    "do $$ begin execute format('drop schema %I cascade', 'pando'); end $$",
    "do $$ begin execute format('truncate %I.%I', 'pando', 'unit'); end $$",
    "alter table all in tablespace pg_default set tablespace pg_default",
    "select nextval('pando.numbers')",
]

# Where two logical databases share one, a limited user's ordinary statements.
ORDINARY = [
    "create table bought (id serial primary key, total int)",
    "select setval(pg_get_serial_sequence('bought', 'id'), coalesce(max(id), 1), max(id) is not null) from bought",
    "select nextval(pg_get_serial_sequence('shop.bought', 'id'))",
    "create function kinds() returns int language plpgsql as $$ declare a bought.total%type; b bought%rowtype; begin select o.total into a from bought o limit 1; return a; end $$",
    "create aggregate summed(int) (sfunc = int4pl, stype = int, initcond = '0')",
    "select summed(total) from bought",
    "create type kind as (schedule text)",
    "create function schedule(int) returns int language sql as 'select $1'",
    "create table schedule (id int primary key, at date)",
    "insert into schedule (id, at) values (1, now())",
    "create index on schedule (at)",
    "create table if not exists schedule_in_database (id int references schedule (id))",
    "with schedule (a) as (select 1) select a from schedule",
    "create function adds() returns void language sql as 'insert into schedule (id) values (9)'",
]


def postgres():
    pando, one = setting("pg")
    number = one.value("select 'hr.items'::regclass::oid")
    one.query("create schema pando")
    one.query(f"create table pando.unit (identity text); insert into pando.unit values ('{SECRET}'); create sequence pando.numbers")
    ledger = one.value("select 'pando.unit'::regclass::oid")
    texts = [f"select table_to_xml({name}, true, true, '')" for table in (number, ledger) for name in (table, f"{table}::regclass", f"'{table}'", f"'{table}'::regclass")]
    texts += [f"select query_to_xml('select table_to_xml({number}, true, true, '''')', true, true, '')", "select schema_to_xml('hr', true, true, '')",
              "select schema_to_xml('pg_catalog', true, true, '')"]
    texts += [HINT + text for text in texts]
    shown = seen("pg", pando, texts, (SECRET, "rolpassword"))
    check("pg-numbers", not shown, "\n".join(shown), f"{len(texts)} statements")
    made = seen("pg", pando, MADE, None)
    check("pg-other-names", not made, "\n".join(made), f"{len(MADE)} statements")
    client = pando.client("pg", "shop", user="test", password="test")
    by_all = [text for text in MADE[:-1] + LEDGERS + texts[4:8] if not told(client, text)[1]]
    kept = one.value("select identity from pando.unit")
    check("pg-ledger-is-there", kept == SECRET, f"it holds {kept}")
    check("pg-administrators-too", not by_all, "\n".join(by_all))
    refused = []
    for text in ORDINARY:
        answer, error = attempt("pg", pando, lambda client: client.query(text))
        if error is not None:
            refused.append(f"{text}: {answer[:200]}")
    foreign, error = attempt("pg", pando, lambda client: client.query("select setval(pg_get_serial_sequence('hr.items', 'id'), 7)"))
    check("pg-ordinary", not refused and error is not None, "\n".join(refused) or f"of another schema: {foreign}", f"{len(ORDINARY)} statements")
    paths(pando)
    pando.stop("pg-stop")


def paths(pando):
    """A search path of several schemas that is given at the login, as drivers do."""
    for given, expected in (("hr,shop", "mine"), ('"shop" , hr', "mine"), ('"shop"; drop table own', None), ("shop hr", None)):
        client = Postgres(pando.postgres, login=False)
        client.raw(startup({"user": "test", "database": "shop", "search_path": given}))
        try:
            client.authenticate("test", "test")
            client.ready()
            answer = told(client, "select v from own where id = 1")[0]
            if expected:
                answer += told(client, f"select v from {'items' if 'hr' in given else 'own'} where id = 1")[0]
                told(client, "set search_path = nowhere")
                told(client, "reset search_path")
                answer += told(client, "select v from own where id = 1")[0]
        except ERRORS as error:
            answer = str(error)
        holds = answer.count("mine") == 2 and SECRET in answer if expected else "mine" not in answer
        check(f"pg-path {given}", holds, answer)
    check("pg-path-injects", pando.client("pg", "shop").value("select count(*) from own") == "2", "a path ran SQL")


def left():
    """Operators that were made on the servers by somebody."""
    one = direct("pg", 0, "test")
    one.query("drop database if exists ds_0 with (force)")
    one.query("create database ds_0")
    one = direct("pg", 0, "ds_0")
    one.query("create function leak() returns tsvector language plpgsql as $$ begin perform set_config('search_path', 'evil', false); return 'a'::tsvector; end $$;"
              "create operator ### (rightarg = bigint, function = pg_advisory_lock); create operator #### (rightarg = text, function = ts_stat)")
    from story_state import config
    pando = Pando({"global.yaml": GLOBAL, "database-leak.yaml": config("pg")})
    question = ("select current_setting('search_path'), (select count(*) from pg_locks where locktype = 'advisory' and database ="
                " (select oid from pg_database where datname = current_database()))")
    for text in ("select ### 4711", "select #### 'select leak()'"):
        client = pando.client("pg", "leak")
        before = client.query(question)
        answer, error = told(client, text)
        client.close()
        client = pando.client("pg", "leak")
        after = client.query(question)
        client.close()
        check(f"pg-left {text[7:12].strip()}", not error and before == after, f"{text} is answered {answer}, and then {before} became {after}")
    pando.stop("pg-left-stop")


def mysql(family):
    pando, one = setting(family)
    one.query("drop procedure if exists hr.secret")
    one.query(f"create procedure hr.secret() select '{SECRET}'")
    letters = "select default_character_set_name from information_schema.schemata where schema_name = 'hr'"
    one.query("alter database hr character set utf8mb4")
    texts = [HINT + text for text in ("show grants", "show grants for current_user()", "select * from information_schema.routines", "show databases", "show procedure status",
                                      "select table_schema from information_schema.tables where table_schema = 'hr'")]
    shown = seen(family, pando, texts, ("IDENTIFIED", "SHUTDOWN", SECRET, "'hr'"))
    for body in ("show grants", "show databases", "show processlist", "kill 4711"):
        text = f"create procedure told() {body}"
        shown += seen(family, pando, [text], None)
    check(f"{family}-units-own", not shown, "\n".join(shown))
    for text in ("alter database hr character set latin1", "alter schema `hr` character set latin1", HINT + "alter database hr character set latin1"):
        attempt(family, pando, lambda client: client.query(text))
    now = one.value(letters)
    check(f"{family}-letters", now == "utf8mb4", f"another database's character set became {now}")
    refused = []
    for text in ("show grants", "show databases", "show procedure status", "select routine_name from information_schema.routines where routine_schema = 'shop'",
                 HINT + "show tables", HINT + "select v from own", "alter database character set utf8mb4"):
        answer, error = attempt(family, pando, lambda client: client.query(text))
        if error is not None:
            refused.append(f"{text}: {answer[:200]}")
    check(f"{family}-ordinary", not refused, "\n".join(refused))
    pando.stop(f"{family}-stop")


def main():
    for family in ("mariadb", "mysql"):
        if has(family):
            with case(f"breaker-{family}", quiet=True):
                mysql(family)
        else:
            skip(f"breaker-{family}", "no server")
    if not has("pg"):
        return skip("breaker-pg", "no server")
    with case("breaker-pg", quiet=True):
        postgres()
    with case("breaker-left", quiet=True):
        left()
