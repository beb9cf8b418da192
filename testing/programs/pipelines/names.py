"""Names of prepared statements, whichever way they were made, and what a session is shown of itself."""
from speech import CS, DP, DS, B, E, P, Q, S, X

SUM = Q("select sum(a), count(*) from t")
CASES = {
    # Names of statements belong to the session, whichever way they were made.
    "execute-of-a-parsed-one": [[P("s", "select id from t where id = $1", 20), S], [Q("execute s(3)")], [X("execute s(4)"), S], [Q("deallocate s")], [B("", "s", 1), S]],
    "execute-of-a-parsed-change": [[P("s", "insert into t values ($1, $2, $3)", 20, 23, 25), S], [Q("execute s(90, 1, 'x')")], [SUM]],
    "bind-of-a-prepared-one": [[Q("prepare s as select id from t where id = $1")], [DS("s"), B("", "s", 3), DP(""), E(""), S], [Q("deallocate s")], [DS("s"), S]],
    "bind-of-a-prepared-all": [[Q("prepare s(int) as select id from t where a = $1 order by id")], [B("", "s", 1), E("", 2), E("", 0), S], [Q("deallocate all")], [B("", "s", 1), S]],
    "close-of-a-prepared-one": [[Q("prepare s as select 1")], [CS("s"), S], [Q("execute s")]],
    "parse-of-a-prepared-name": [[Q("prepare s as select 1")], [P("s", "select 2"), S], [Q("execute s")]],
    "prepare-of-a-parsed-name": [[P("s", "select 2"), S], [Q("prepare s as select 1")], [Q("execute s")]],
    "deallocate-parsed": [[P("s", "select 2"), S], [Q("deallocate s")], [P("s", "select 1"), B("", "s"), E(""), S], [X("deallocate s"), S], [B("", "s"), S]],
    "deallocate-parsed-among-others": [[P("s", "select 2"), S], [Q("select 1; deallocate s")], [B("", "s"), S], [P("s", "select 2"), S], [Q("deallocate prepare s")], [B("", "s"), S]],
    "deallocate-all-parsed": [[P("s", "select 2"), S], [Q("deallocate all")], [B("", "s"), S], [P("s", "select 2"), S], [X("discard all"), S], [B("", "s"), S]],
    "deallocate-unknown": [[Q("deallocate nope")], [X("deallocate nope"), S], [Q("begin")], [Q("deallocate nope")], [Q("commit")]],
    "prepared-statements-shown": [[P("s", "select id from t where id = $1", 20), S], [Q("prepare z(int) as select id from t where a = $1")],
                                  [Q("select name, statement, from_sql from pg_prepared_statements order by name")], [X("select name from pg_prepared_statements where name = $1", "s"), S],
                                  [Q("select count(*) from pg_prepared_statements")], [Q("deallocate all")], [Q("select name from pg_prepared_statements")]],
    "prepared-types-shown": [[P("s", "select id from t where id = $1 and b = $2", 20, 25), DS("s"), S], [Q("prepare z(int) as select 1 from t where a = $1")],
                             [Q("select name, parameter_types, generic_plans >= 0, prepare_time between now() - interval '1 hour' and now() + interval '1 second' as fresh"
                                " from pg_catalog.pg_prepared_statements order by 1")],
                             [Q("select p.name, p.result_types from pg_prepared_statements p where p.name = 's'")],
                             [Q("select 1 from PG_PREPARED_STATEMENTS where name = 'z'")], [Q("copy (select name from pg_prepared_statements order by 1) to stdout")]],
    "cursors-shown": [[Q("begin")], [Q("declare c cursor for select id from t order by id")], [Q("declare d no scroll cursor with hold for select id from t where id = 1")],
                      [Q("select name, statement, is_holdable from pg_cursors where name <> '' order by name")], [Q("commit")],
                      [Q("select name, is_holdable from pg_cursors where name <> '' order by name")], [Q("close all")], [Q("select count(*) from pg_cursors where name <> ''")]],
}
