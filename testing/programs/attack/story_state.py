"""Sessions share connections, never state: every way to run code of one's own × everything that a session can hold × what the next session sees, over a pool of one.

Each pair is tried on the server itself first, so that what it cannot do at all is not counted for kept. Then one session does it through Pando, and another one, of the
same pool's only connection, looks."""
import struct

from plain.house import ERRORS, GLOBAL, Pando, bad, case, direct, has, ok, port, reset, skip, until
from plain.postgres import message

UNIT = "ds_0"


def config(family, user="test", password="test", size=1):
    kind, more, tables = ("postgresql", "", "*.*.*") if family == "pg" else ("mysql", "?useSSL=false&allowPublicKeyRetrieval=true", "*.*")
    return (f"databaseName: leak\ndataSources:\n  {UNIT}:\n    url: \"jdbc:{kind}://127.0.0.1:{port(family, 0)}/{UNIT}{more}\"\n"
            f"    username: {user}\n    password: {password}\n    maxPoolSize: {size}\n    minPoolSize: 1\nrules:\n- !SINGLE\n  tables: [\"{tables}\"]\n")


# --- PostgreSQL ----------------------------------------------------------------------------------------------------------

# What a session holds: what sets it (any statement), what sets it from where only queries may run, and a question whose answer is to be the same as before.
PG_STATES = {
    "search_path": ("set search_path = evil, public", "select set_config('search_path', 'evil, public', false)", "select current_setting('search_path') from plain limit 1"),
    "row_security": ("set row_security = off", "select set_config('row_security', 'off', false)", "select current_setting('row_security') from plain limit 1"),
    "strings": ("set standard_conforming_strings = off", "select set_config('standard_conforming_strings', 'off', false)",
                "select current_setting('standard_conforming_strings') from plain limit 1"),
    "timeout": ("set statement_timeout = 12345", "select set_config('statement_timeout', '12345', false)", "select current_setting('statement_timeout') from plain limit 1"),
    "read only": ("set default_transaction_read_only = on", "select set_config('default_transaction_read_only', 'on', false)",
                  "select current_setting('default_transaction_read_only') from plain limit 1"),
    "tenant": ("set app.tenant = 'other'", "select set_config('app.tenant', 'other', false)", "select coalesce(nullif(current_setting('app.tenant', true), ''), 'none') from plain limit 1"),
    "encoding": ("set client_encoding = latin1", "select set_config('client_encoding', 'LATIN1', false)", "select current_setting('client_encoding') from plain limit 1"),
    "role": ("set role leak_role", "select set_config('role', 'leak_role', false)", "select current_setting('role') from plain limit 1"),
    "advisory lock": (None, "select pg_advisory_lock(4711)", "select count(*) from pg_locks where locktype = 'advisory' and objid = 4711"),
    "listen": ("listen leak_channel", None, "select count(*) from pg_listening_channels()"),
    "temporary table": ("create temporary table plain (id int, a int)", None, "select count(*) from pg_class where relpersistence = 't' and relname = 'plain'"),
    "prepared statement": ("prepare leak_statement as select 1", None, "select count(*) from pg_prepared_statements where name = 'leak_statement'"),
    "cursor with hold": ("declare leak_cursor cursor with hold for select 1", None, "select count(*) from pg_cursors where name = 'leak_cursor'"),
    "sequence": (None, "select nextval('leak_sequence')", "select leak_last()"),
    "seed": (None, "select setseed(0.25)", "select random() = SEEDED from plain limit 1"),
}

PG_TABLES = """
create role leak_role; grant all on database ds_0 to leak_role;
create schema evil; create table leak_what (what text, quiet text); insert into leak_what values (null, null);
create table plain (id int primary key, a int); insert into plain values (1, 1), (2, 2); grant all on plain to public;
create sequence leak_sequence;
create function leak_last() returns bigint language plpgsql as $$ begin return lastval(); exception when others then return -1; end $$;
create function leak() returns int language plpgsql as $$ declare w text; begin select what into w from public.leak_what; if w is not null then execute w; end if; return 1; end $$;
create function leak_quiet(int) returns int language plpgsql immutable as $$ declare w text; begin select quiet into w from public.leak_what; if w is not null then execute w; end if; return $1; end $$;
create function leak_trigger() returns trigger language plpgsql as $$ begin perform public.leak(); return new; end $$;
create procedure leak_procedure() language plpgsql as $$ begin perform public.leak(); end $$;
create function leak_row(plain) returns int language sql as 'select public.leak()';
create function leak_step(int, int) returns int language sql as 'select public.leak() + $1'; create aggregate leak_sum(int) (sfunc = leak_step, stype = int, initcond = 0);
create type leak_mood as enum ('a', 'b'); create function upper(leak_mood) returns int language sql as 'select public.leak()';
create table triggered (id int, a int); create trigger t before insert or update on triggered for each row execute function leak_trigger();
create table ruled (id int, a int); create rule r as on insert to ruled do also select leak();
create view seen as select leak() as a; create view seen_through as select a from seen;
create table defaulted (id int, a int default leak()); create table generated_ (id int, a int generated always as (leak_quiet(id)) stored);
create table checked (id int check (leak_quiet(id) > 0)); create table indexed (id int); create index i on indexed (leak_quiet(id)); create index j on indexed (id) where leak_quiet(id) > 0;
create table parts (id int, a int) partition by range (id); create table part_1 partition of parts for values from (0) to (100000);
create trigger t before insert on part_1 for each row execute function leak_trigger();
create table parent (id int primary key); create table child (id int references parent on delete cascade); create trigger t before delete on child for each row execute function leak_trigger();
create table secured (id int, a int); alter table secured enable row level security; alter table secured force row level security; insert into secured values (1, 1);
create policy p on secured using (leak() = 1); grant all on secured, leak_what to public; grant usage on schema public, evil to public;
create function leak_policy() returns bigint language plpgsql as $$ begin set local role leak_role; return (select count(*) from public.secured); end $$;
create table switched (what text);
create function stamp() returns trigger language plpgsql as $$ begin new.a := coalesce(new.a, 0) + 1; return new; end $$;
create table stamped (id int, a int); create trigger t before insert or update on stamped for each row when (new.id >= 0) execute function stamp();
create function note() returns trigger language plpgsql as $$ begin insert into public.noted (a) values (new.id); return new; end $$;
create table noted (a int); create table noting (id int, a int); create trigger t after insert on noting for each row execute function note();
create function doubled(int) returns int language sql as 'select $1 * 2';
create function chain() returns trigger language plpgsql as $$ begin insert into public.triggered values (new.id, 1); return new; end $$;
create table chained (id int, a int); create trigger t after insert on chained for each row execute function chain();
create function look_at_it() returns int language plpgsql as $$ begin return (select a from public.seen_through); end $$;
create table asked (id int, a int); create trigger t before insert on asked for each row when (leak_quiet(new.id) > 0) execute function stamp();
create function leak_owned() returns int language sql security definer as 'select public.leak()';
create table window_1 (id int); create table window_2 (id int);
"""

# What stands in no statement: where there is one of these, every statement counts as running it. So they come last.
PG_ANYWHERE = """
create domain leak_domain as int check (leak_quiet(value) > 0); create table domained (id leak_domain);
create function leak_op(int, int) returns int language sql as 'select public.leak()'; create operator <@#> (leftarg = int, rightarg = int, function = leak_op);
create function leak_cast(leak_mood) returns int language sql as 'select public.leak()'; create cast (leak_mood as int) with function leak_cast(leak_mood);
"""

PG_WAYS_ANYWHERE = {
    "domain": ["insert into domained values (1)"],
    "domain cast": ["select 1::leak_domain"],
    "operator": ["select 1 <@#> 2"],
    "cast": ["select 'a'::leak_mood::int"],
}

PG_WAYS = {
    "select f()": ["select leak()"],
    "beside a table": ["select id, leak() from plain where id = 1"],
    "in a condition": ["select id from plain where a = leak()"],
    "sub-query": ["select (select max(x) from (select leak() as x) t) from plain"],
    "with": ["with w as materialized (select leak()) select * from w"],
    "order by": ["select id from plain order by leak(), id"],
    "function in from": ["select * from leak()"],
    "query_to_xml": ["select query_to_xml('select public.leak()', true, true, '')"],
    "ts_stat": ["select * from ts_stat('select to_tsvector(''simple'', public.leak()::text)')"],
    "table_to_xml": ["select table_to_xml('public.seen', true, true, '')"],
    "insert values": ["insert into plain values (100 + (select count(*) from plain)::int, leak())"],
    "insert select": ["insert into plain select 100 + count(*)::int, leak() from plain"],
    "update": ["update plain set a = leak() where id = 1"],
    "delete": ["delete from plain where id = 99 or leak() = 0"],
    "returning": ["update plain set a = a where id = 1 returning leak()"],
    "trigger": ["insert into triggered values (1, 1)"],
    "trigger on update": ["update triggered set a = 2"],
    "rule": ["insert into ruled values (1, 1)"],
    "view": ["select * from seen"],
    "view of a view": ["select * from seen_through"],
    "policy": ["select leak_policy()"],
    "default": ["insert into defaulted (id) values (1)"],
    "generated column": ["insert into generated_ (id) values (1)"],
    "check": ["insert into checked values (1)"],
    "index": ["insert into indexed values (1)"],
    "partition": ["insert into parts values (1, 1)"],
    "cascade": ["insert into parent values (1); insert into child values (1)", "delete from parent"],
    "do": ["do $$ begin perform leak(); end $$"],
    "call": ["call leak_procedure()"],
    "prepare": ["prepare leak_p as select leak()", "execute leak_p", "deallocate leak_p"],
    "cursor": ["begin", "declare leak_c cursor for select leak()", "fetch all from leak_c", "commit"],
    "transaction": ["begin", "select leak()", "select a from plain where id = 1", "commit"],
    "copy from": ["copy triggered from stdin"],
    "copy to": ["copy (select leak()) to stdout"],
    "explain analyze": ["explain analyze select leak()"],
    "aggregate": ["select leak_sum(id) from plain"],
    "a column that is a function": ["select p.leak_row from plain p limit 1"],
    "named like the vendor's": ["select upper('a'::leak_mood)"],
    "quoted": ["select \"leak\"() from plain"],
    "unicode name": ["select U&\"le\\0061k\"()"],
    "create table as": ["create table leak_made as select leak() as a", "drop table leak_made"],
    "extended": [("select leak() + $1::int", "1")],
    "distinct on": ["select distinct on (a) query_to_xml('select public.leak()', true, true, '')::text from plain"],
    "a trigger's table": ["insert into chained values (1, 1)"],
    "a function that reads a view": ["select look_at_it()"],
    "a trigger's condition": ["insert into asked values (1, 1)"],
    "security definer": ["select leak_owned()"],
}

# What is none of those: their connections are not reset.
HARMLESS = {
    "pg": ("insert into stamped values (1, 1)", "update stamped set a = 2 where id = 1", "insert into noting values (1, 1)", "select doubled(id) from plain where id = 1"),
    "my": ("insert into stamped values (1, 1)", "update stamped set a = 2 where id = 1", "insert into noting values (1, 1)", "select doubled(id) from plain where id = 1",
           "select * from quiet_view"),
}


def pg_run(client, steps):
    for step in steps:
        if isinstance(step, tuple):
            text, value = step
            client.raw(message(b"P", b"\0" + text.encode() + b"\0" + struct.pack(">h", 0))
                       + message(b"B", b"\0\0" + struct.pack(">hhi", 0, 1, len(value)) + value.encode() + struct.pack(">h", 0))
                       + message(b"E", b"\0" + struct.pack(">i", 0)) + message(b"S"))
            client.ready()
        elif step.startswith("copy") and "stdin" in step:
            client.send_query(step)
            tag, body = client.read()
            if tag == b"E":
                client.until_ready()
                raise ERRORS[1]({"M": "no copy"})
            client.raw(message(b"d", b"1\t1\n") + message(b"c"))
            client.ready()
        elif step.startswith("copy"):
            client.send_query(step)
            client.ready()
        else:
            client.query(step)


# --- MySQL and MariaDB ---------------------------------------------------------------------------------------------------

# What sets it inside a stored function, and the expression that shows it, which another stored function gives.
MARIADB_STATES = {
    "variable": ("set @leak = 7", "coalesce(@leak, 'none')"),
    "time zone": ("set session time_zone = '+03:00'", "@@session.time_zone"),
    "isolation": ("set session transaction isolation level read uncommitted", "@@session.tx_isolation"),
    "wait": ("set session lock_wait_timeout = 77", "@@session.lock_wait_timeout"),
    "select limit": ("set session sql_select_limit = 1", "@@session.sql_select_limit"),
    "buffer": ("set session sort_buffer_size = 1048576", "@@session.sort_buffer_size"),
    "step": ("set session auto_increment_increment = 7", "@@session.auto_increment_increment"),
    "read only": ("set session transaction read only", "@@session.tx_read_only"),
    "temporary table": ("create temporary table if not exists leak_temporary (id int)", "leak_temporary()"),
    "character set": ("set session character_set_results = latin1", "coalesce(@@session.character_set_results, 'null')"),
    "names": ("set session character_set_client = latin1", "@@session.character_set_client"),
    "lock": ("do get_lock('leak_lock', 1)", "coalesce(is_used_lock('leak_lock'), 0) <> 0"),
    "sequence of warnings": ("set session max_error_count = 3", "@@session.max_error_count"),
    "seed": ("set session rand_seed1 = 1, session rand_seed2 = 1", "rand() < 0.0000001"),
}

MYSQL_STATES = {state: (sets, shows.replace("tx_", "transaction_")) for state, (sets, shows) in MARIADB_STATES.items()}

MY_WAYS = {
    "select f()": ["select leak()"],
    "beside a table": ["select id, leak() from plain where id = 1"],
    "in a condition": ["select id from plain where a = leak()"],
    "order by": ["select id from plain order by leak(), id"],
    "qualified": [f"select {UNIT}.leak()"],
    "backticks": ["select `leak`() from plain"],
    "sub-query": ["select (select max(x) from (select leak() as x) t) from plain"],
    "insert values": ["insert into plain (a) values (leak())"],
    "insert select": ["insert into plain (a) select leak()"],
    "on duplicate key": ["insert into plain values (1, 1) on duplicate key update a = leak()"],
    "replace": ["replace into triggered values (1, 1)"],
    "update": ["update plain set a = leak() where id = 1"],
    "delete": ["delete from plain where id = 99999 or leak() = 0"],
    "trigger": ["insert into triggered (a) values (1)"],
    "trigger on update": ["update triggered set a = a + 1"],
    "trigger on delete": ["insert into triggered_2 values (1)", "delete from triggered_2"],
    "view": ["select * from seen"],
    "view of a view": ["select * from seen_through"],
    "call": ["call leak_procedure()"],
    "do": ["do leak()"],
    "set": ["set @elsewhere = leak()"],
    "prepare": ["prepare leak_p from 'select leak()'", "execute leak_p", "deallocate prepare leak_p"],
    "transaction": ["begin", "select leak()", "select a from plain where id = 1", "commit"],
    "rolled back": ["begin", "select leak()", "rollback"],
    "create table as": ["create table leak_made as select leak() as a", "drop table leak_made"],
    "explain": ["explain select * from (select leak() as a) t"],
    "bound": [("select leak() + 1",)],
    "a trigger's table": ["insert into chained values (1)"],
    "a function that reads a view": ["select look_at_it()"],
    "a view of such a function": ["select * from seen_by_it"],
}


def my_tables(client, states):
    client.query("create function leak_temporary() returns int begin declare n int default 0; declare exit handler for 1146 return -1; select count(*) into n from leak_temporary; return n; end")
    client.query("create table leak_what (what varchar(30))")
    client.query("insert into leak_what values ('')")
    client.query("create table plain (id int auto_increment primary key, a int)")
    client.query("insert into plain values (1, 1), (2, 2)")
    branches = "".join(f" if w = '{name}' then {text}; end if;" for name, (text, _) in states.items())
    client.query(f"create function leak() returns int begin declare w varchar(30); select what into w from leak_what;{branches} return 1; end")
    client.query("create procedure leak_procedure() begin declare x int; set x = leak(); end")
    client.query("create table triggered (id int auto_increment primary key, a int)")
    client.query("create table triggered_2 (id int)")
    for event, table in (("insert", "triggered"), ("update", "triggered"), ("delete", "triggered_2")):
        client.query(f"create trigger t_{event} before {event} on {table} for each row begin declare x int; set x = leak(); end")
    client.query("create view seen as select leak() as a")
    client.query("create view seen_through as select a from seen")
    client.query("create table chained (id int)")
    client.query("create trigger t_chained after insert on chained for each row insert into triggered (a) values (new.id)")
    client.query("create function look_at_it() returns int return (select a from seen_through)")
    client.query("create view seen_by_it as select look_at_it() as a")
    client.query("create table stamped (id int, a int)")
    client.query("create table noting (id int, a int)")
    client.query("create table noted (a int)")
    client.query("create function doubled(n int) returns int return n * 2")
    client.query("create trigger s_insert before insert on stamped for each row set new.a = doubled(coalesce(new.a, 0))")
    client.query("create trigger s_update before update on stamped for each row begin declare n int default 0; set n = old.a; if new.a > 7 then set new.a = n; end if; end")
    client.query("create trigger n_insert after insert on noting for each row insert into noted values (new.id)")
    client.query("create view quiet_view as select id, lower('A') as b from plain")
    client.query("create table numbered (id int auto_increment primary key, a int)")
    client.query("create function last_key() returns bigint return last_insert_id()")
    for at, (_, shown) in enumerate(states.values()):
        client.query(f"create function look_{at}() returns varchar(500) charset utf8mb4 return {shown}")


def my_run(client, steps):
    for step in steps:
        if isinstance(step, tuple):
            statement, _ = client.prepare(step[0])
            client.command(0x17, struct.pack("<IBI", statement, 0, 1))
            if client.head() is not None:
                client.count_rows()
        else:
            client.query(step)


# --- the story -----------------------------------------------------------------------------------------------------------


def does(run, client, steps):
    """Whether it could be done; a session is brought back to where it stands in no transaction."""
    try:
        run(client, steps)
        return True
    except ERRORS:
        try:
            client.query("rollback")
        except ERRORS:
            pass
        return False


def tried(family, run, choose, pairs, look):
    """Those of the pairs that leave something on the server's own session."""
    found, own = [], direct(family, 0, UNIT)
    for way, steps, state in pairs:
        before = look(own, state)
        choose(state)
        if does(run, own, steps) and look(own, state) != before:
            found.append((way, steps, state))
        if family == "pg":
            own.query("discard all")
            own.query("select setseed(0.5)")
        else:
            own.close()
            own = direct(family, 0, UNIT)
    own.close()
    choose(None)
    return found


def product(family, ways, states, run, choose, look):
    pando = Pando({"global.yaml": GLOBAL, "database-leak.yaml": config(family)})
    pairs = [(way, steps, state) for way, steps in ways.items() for state in states]
    able = tried(family, run, choose, pairs, look)
    attacker, victim = pando.client(family, "leak"), pando.client(family, "leak")
    leaks, done = [], 0
    for way, steps, state in able:
        before = look(victim, state)
        choose(state)
        # Often enough for its plan to be kept.
        done += sum(does(run, attacker, steps) for _ in range(3)) > 0
        choose(None)
        after = look(victim, state)
        if after != before:
            leaks.append(f"{way} / {state}: {before} became {after}")
            attacker.close(), victim.close(), pando.kill()
            pando = Pando({"global.yaml": GLOBAL, "database-leak.yaml": config(family)})
            attacker, victim = pando.client(family, "leak"), pando.client(family, "leak")
            if len(leaks) > 12:
                break
    tried_ways = len({way for way, _, _ in able})
    if leaks:
        bad(f"state {family}", f"{len(leaks)} of {len(able)} leaked: " + "; ".join(leaks[:12]))
    elif tried_ways < min(24, len(ways)) or done < len(able) * 2 // 3:
        bad(f"state {family}", f"the test shows nothing: {tried_ways} ways, {done} of {len(able)} pairs could be done")
    else:
        ok(f"state {family}", f"{tried_ways} ways, {len(able)} pairs, {done} done through Pando, none seen by the next session")
    return pando, attacker, victim


def answered(client, text):
    try:
        return client.query(text)
    except ERRORS as error:
        return f"error {error.code}"


def postgres():
    reset("pg", (UNIT,))
    own = direct("pg", 0, UNIT)
    own.query("drop owned by leak_role; drop role leak_role") if own.query("select 1 from pg_roles where rolname = 'leak_role'") else None
    own.query(PG_TABLES)
    seeded = own.query("select setseed(0.25); select random()")[-1][0]
    states = {**PG_STATES, "seed": (*PG_STATES["seed"][:2], PG_STATES["seed"][2].replace("SEEDED", seeded))}

    def choose(state):
        what, quiet, _ = states[state] if state else (None, None, None)
        own.query("update leak_what set what = {}, quiet = {}".format(*("null" if one is None else "$x$" + one + "$x$" for one in (what or quiet, quiet))))

    pando, attacker, victim = product("pg", PG_WAYS, states, pg_run, choose, lambda client, state: answered(client, states[state][2]))
    with case("pg: whose prepared statements were replaced"):
        for _ in range(8):
            victim.query("select a from plain where id = 1")
        own.query("update leak_what set what = $x$do $y$ declare n text; begin for n in select name from pg_prepared_statements loop execute 'deallocate ' || n; "
                  "execute 'prepare ' || n || ' (int) as select 666'; end loop; end $y$ $x$")
        attacker.query("select leak()")
        choose(None)
        got = [victim.query("select a from plain where id = 1") for _ in range(3)]
        if got != [got[0]] * 3 or got[0] == [["666"]]:
            raise RuntimeError(f"the next session reads {got}")
    with case("pg: a trigger made behind Pando is noticed"):
        attacker.query("create table switched_2 (id int)")
        for at in range(6):
            attacker.query(f"insert into switched_2 values ({at})")
        own.query("create trigger t before insert on switched_2 for each row execute function leak_trigger()")
        # What may have defined something has the catalogues looked at soon.
        attacker.query("select leak()")
        choose("tenant")

        def clean():
            attacker.query("insert into switched_2 values (1)")
            return victim.query(PG_STATES["tenant"][2]) == [["none"]]
        if not until(10, lambda: all(clean() for _ in range(5))):
            raise RuntimeError("it is not")
    with case("pg: inside a transaction it stays"):
        choose("tenant")
        attacker.query("begin")
        attacker.query("select leak()")
        seen = attacker.query(PG_STATES["tenant"][2])
        attacker.query("commit")
        if seen != [["other"]]:
            raise RuntimeError(f"{seen}")
    choose(None)
    attacker.close(), victim.close(), pando.kill()
    quiet()
    own.query(PG_ANYWHERE)
    pando, attacker, victim = product("pg", PG_WAYS_ANYWHERE, states, pg_run, choose, lambda client, state: answered(client, states[state][2]))
    own.close(), attacker.close(), victim.close(), pando.kill()


class Quiet:
    """The other direction: what leaves nothing costs no reset. And there is no moment between a function that makes a trigger and the reading of the catalogue in which anybody leaks."""

    def __init__(self, size):
        self.pando = Pando({"global.yaml": GLOBAL, "database-leak.yaml": config("pg", size=size)})
        self.own, self.client, self.other = direct("pg", 0, UNIT), self.pando.client("pg", "leak"), self.pando.client("pg", "leak")

    def last(self):
        return self.own.query(f"select query from pg_stat_activity where datname = '{UNIT}' and pid <> pg_backend_pid() and backend_type = 'client backend' "
                              "order by query_start desc limit 1")[0][0].lower()

    def settles(self, text):
        """Until nothing is in doubt, and the statement is one that leaves nothing."""
        def is_settled():
            self.client.query(text)
            return self.last().startswith("insert")
        if not until(10, is_settled):
            raise RuntimeError(f"behind {self.last()} every statement is in doubt for ever")

    def waiting(self, count):
        if not until(10, lambda: self.own.query("select count(*) from pg_locks where not granted") == [[str(count)]]):
            raise RuntimeError(f"{count} do not wait")

    def tenants(self):
        return [client.query(PG_STATES["tenant"][2])[0][0] for client in (self.client, self.other)]

    def close(self):
        self.own.close(), self.client.close(), self.other.close(), self.pando.kill()


def quiet():
    one = Quiet(1)
    with case("pg: bodies that only change rows cost no reset"):
        for text in HARMLESS["pg"]:
            for at in range(4):
                one.client.query(text)
                if at and not one.last().startswith(text[:12]):
                    raise RuntimeError(f"behind {text} the connection ran {one.last()}")
        one.client.query("insert into triggered values (1, 1)")
        if one.last().startswith("insert"):
            raise RuntimeError("the question shows nothing")
    one.own.query("update leak_what set what = $x$set app.tenant = 'other'$x$;"
                  "create function arm(t text) returns int language plpgsql as $$ begin "
                  "execute 'create or replace trigger t before insert on ' || t || ' for each row execute function leak_trigger()'; return 1; end $$;"
                  "create function disarm(t text) returns int language plpgsql as $$ begin execute 'drop trigger if exists t on ' || t; return 1; end $$")
    with case("pg: a trigger made by a function leaks at no moment"):
        for at in range(5):
            one.settles("insert into window_1 values (1)")
            one.client.query("select arm('window_1')")
            one.client.query("insert into window_1 values (1)")
            seen = one.tenants()
            one.client.query("select disarm('window_1')")
            if seen != ["none", "none"]:
                raise RuntimeError(f"{seen} in round {at}")
    one.close()
    two = Quiet(2)
    with case("pg: a trigger made while a statement waited leaks nothing"):
        for at in range(4):
            two.settles("insert into window_2 values (1)")
            two.own.query("begin")
            two.own.query("lock table window_2 in exclusive mode")
            two.other.send_query("select arm('window_2')")
            two.waiting(1)
            # It is behind the trigger in the queue, and both were sent by what was known before.
            two.client.send_query("insert into window_2 values (2)")
            two.waiting(2)
            two.own.query("commit")
            two.client.until_ready(), two.other.until_ready()
            seen = []
            for _ in range(4):
                two.client.query("begin"), two.other.query("begin")
                seen += two.tenants()
                two.client.query("commit"), two.other.query("commit")
            two.client.query("select disarm('window_2')")
            if seen != ["none"] * 8:
                raise RuntimeError(f"{seen} in round {at}")
    two.own.query("update leak_what set what = null")
    two.close()


def quiet_my(family, own):
    pando = Pando({"global.yaml": GLOBAL, "database-leak.yaml": config(family)})
    client, other = pando.client(family, "leak"), pando.client(family, "leak")

    def resets(text):
        def count():
            return int(own.query("show global status like 'Com_admin_commands'")[0][1])
        client.query(text)
        before = count()
        for _ in range(10):
            client.query(text)
        return count() - before

    with case(f"{family}: bodies that only change rows cost no reset"):
        for text in HARMLESS["my"]:
            if (often := resets(text)) > 3:
                raise RuntimeError(f"{text} has its connection reset {often} times")
        if (often := resets("insert into triggered (a) values (1)")) < 8:
            raise RuntimeError(f"{often}: the count shows nothing")
    with case(f"{family}: a function is told the last key of its own session"):
        for _ in range(3):
            client.query("insert into numbered (a) values (1)")
        mine = client.query("select last_insert_id()")
        for _ in range(3):
            got = other.query("select last_key()"), client.query("select last_key()")
            if got != ([["0"]], mine):
                raise RuntimeError(f"{got}, and the second session's is {mine}")
        other.query("insert into numbered (a) values (1)")
        if other.query("select last_key()") != other.query("select last_insert_id()") or client.query("select last_key()") != mine:
            raise RuntimeError("of who has a key of his own")
    client.close(), other.close(), pando.kill()


def tenants():
    """What the attack read: rows of another tenant, by a policy that goes by a setting."""
    reset("pg", (UNIT,))
    own = direct("pg", 0, UNIT)
    if own.query("select 1 from pg_roles where rolname = 'leak_app'"):
        own.query("drop owned by leak_app; drop role leak_app")
    own.query("create role leak_app login password 'leak_app'; grant all on schema public to leak_app")
    own.query("create table docs (id int primary key, tenant text, body text); insert into docs values (1, 'a', 'secret of a'), (2, 'b', 'secret of b');"
              "alter table docs enable row level security; alter table docs force row level security; create policy p on docs using (tenant = current_setting('app.tenant', true));"
              "create function be(name text) returns text language sql as $$ select set_config('app.tenant', name, false) $$;"
              "create function hold() returns int language plpgsql as $$ begin perform pg_advisory_lock(815), set_config('statement_timeout', '54321', false); return 1; end $$;"
              "create function holding() returns trigger language plpgsql as $$ begin perform hold(); return new; end $$; create table counted (a int); insert into counted values (1);"
              "create trigger t before update on counted for each row execute function holding();"
              "grant all on docs, counted to leak_app")
    pando = Pando({"global.yaml": GLOBAL, "database-leak.yaml": config("pg", "leak_app", "leak_app")})
    with case("pg: rows of another tenant"):
        first, second = pando.client("pg", "leak"), pando.client("pg", "leak")
        for text in ("select be('a')", "select query_to_xml('select set_config(''app.tenant'', ''a'', false)', true, true, '')"):
            for _ in range(4):
                first.query(text)
                if second.query("select body from docs"):
                    raise RuntimeError(f"after {text} the next session reads {second.query('select body from docs')}")
        # None of these functions can prepare statements: their connection is reset, and keeps what Pando has prepared.
        for text in ("select hold()", "with w as (update counted set a = a + 1 returning a) select a from w", "update counted set a = a + 1"):
            for _ in range(4):
                first.query(text)
                if second.query("select current_setting('statement_timeout'), (select count(*) from pg_locks where locktype = 'advisory') from counted") != [["0", "0"]]:
                    raise RuntimeError(f"after {text} the next session has its settings or locks")
        first.query("begin")
        first.query("select be('a')")
        if first.query("select body from docs") != [["secret of a"]]:
            raise RuntimeError("in its own transaction it reads nothing")
        first.query("commit")
        first.query("set app.tenant = 'b'")
        if first.query("select body from docs") != [["secret of b"]] or second.query("select body from docs"):
            raise RuntimeError("SET is not the session's alone")
        first.close(), second.close()
    own.close(), pando.kill()


def mysql(family):
    reset(family, (UNIT,))
    own = direct(family, 0, UNIT)
    states = MARIADB_STATES if family == "mariadb" else MYSQL_STATES
    my_tables(own, states)
    places = {state: at for at, state in enumerate(states)}

    def choose(state):
        own.query(f"update leak_what set what = '{state or ''}'")

    pando, attacker, victim = product(family, MY_WAYS, states, my_run, choose, lambda client, state: answered(client, f"select look_{places[state]}()"))
    attacker.close(), victim.close(), pando.kill()
    quiet_my(family, own)
    own.close()


def main():
    if has("pg"):
        postgres()
        tenants()
    else:
        skip("state pg", "no server")
    for family in ("mariadb", "mysql"):
        mysql(family) if has(family) else skip(f"state {family}", "no server")
