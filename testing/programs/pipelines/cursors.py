"""Cursors and portals: the same thing to a server."""
from speech import BB, DP, DS, B, E, P, Q, S, X

SUM = Q("select sum(a), count(*) from t")

CASES = {
    "hold-after-a-rollback": [[Q("begin")], [Q("declare c cursor with hold for select id from t order by id")], [Q("rollback")], [Q("fetch 1 from c")]],
    "hold-after-a-failed-commit": [[Q("begin")], [Q("insert into u values (3, 1)")], [Q("declare c cursor with hold for select id from t order by id")], [Q("fetch 1 from c")],
                                   [Q("commit")], [Q("fetch 1 from c")], [Q("declare c cursor with hold for select 1")], [Q("fetch all from c")], [Q("select count(*) from u")]],
    "hold-after-a-failed-commit-of-both": [[Q("begin")], [Q("update t set a = 9")], [Q("insert into u values (3, 1)")], [Q("declare c cursor with hold for select id from t order by id")],
                                           [Q("commit")], [Q("fetch 1 from c")], [Q("select sum(a) from t")]],
    "hold-from-before-a-failed-commit": [[Q("declare c cursor with hold for select id from t order by id")], [Q("begin")], [Q("update t set a = 9")], [Q("insert into u values (3, 1)")],
                                         [Q("commit")], [Q("fetch 2 from c")], [Q("select sum(a) from t")]],
    "hold-after-a-commit": [[Q("begin")], [Q("update t set a = 9")], [Q("declare c cursor with hold for select id from t order by id")], [Q("commit")], [Q("fetch 2 from c")], [Q("begin")], [Q("rollback")],
                            [Q("fetch 2 from c")]],
    "hold-without-a-unit": [[Q("begin")], [Q("declare c cursor with hold for select 1")], [Q("commit")], [Q("fetch all from c")]],
    "constraints-alone": [[Q("set constraints all deferred")], [Q("SET /* x */ CONSTRAINTS ALL DEFERRED")], [X("set constraints all immediate"), S]],
    "constraints-comment": [[Q("begin")], [Q("SET /* x */ CONSTRAINTS /* y */ ALL DEFERRED")], [Q("set\n--x\nconstraints all deferred")], [Q("commit")]],
    # Back over what was read.
    "fetch-of-the-row-before": [[Q("begin")], [Q("declare c cursor for select id from t order by id")], [Q("fetch 0 from c")], [Q("fetch 2 from c")], [Q("fetch 0 from c")]],
    "move-to-the-row-before": [[Q("declare c cursor with hold for select id from t order by id")], [Q("fetch 2 from c")], [Q("move forward 0 from c")], [Q("fetch 1 from c")]],
    "fetch-backwards": [[Q("begin")], [Q("declare c scroll cursor for select id from t where id = 1")], [Q("fetch 1 from c")], [Q("fetch prior from c")], [Q("fetch all from c")],
                        [Q("fetch last from c")]],
    "fetch-backwards-refused": [[Q("begin")], [Q("declare c no scroll cursor for select id from t order by id")], [Q("fetch 3 from c")], [Q("fetch prior from c")]],
    "fetch-in-a-direction-that-is-none": [[Q("begin")], [Q("declare c scroll cursor for select id from t")], [Q("fetch sideways 1 from c")]],
    # BINARY says how rows come to who asks in no form of its own.
    "binary": [[Q("begin")], [Q("declare c binary cursor for select id, b from t order by id")], [Q("fetch 2 from c")], [X("fetch 1 from c"), S],
               [P("", "fetch 1 from c"), BB("", ""), DP(""), E(""), S]],
    "declared-in-binary-fetched-in-text": [[Q("begin")], [P("", "declare c scroll cursor for select id, b from t order by id"), BB("", ""), E(""), S], [Q("fetch 2 from c")],
                                           [P("", "fetch 1 from c"), BB("", ""), DP(""), E(""), S], [Q("fetch backward 2 from c")]],
    # The row that a cursor stands on.
    "current-of": [[Q("begin")], [Q("declare c cursor for select b, id from t where a >= 0 for update")], [Q("move 1 from c")], [X("update t set b = $1 where current of c", "new"), S],
                   [Q("select count(*) from t where b = 'new'")], [P("u", "update t set b = $1 where current of c returning b"), DS("u"), B("", "u", "newer"), DP(""), E(""), S],
                   [X("delete from t where current of c"), S], [SUM], [Q("update u set t_id = 1 where current of c")], [Q("rollback")], [SUM]],
    "current-of-none": [[Q("begin")], [P("", "delete from t where current of nope"), B("", ""), E(""), S]],
    "current-of-before-the-first": [[Q("begin")], [Q("declare c cursor for select * from t")], [Q("delete from t where current of c")]],
    # A portal of the protocol is a cursor to statements.
    "move-of-a-portal": [[Q("begin")], [P("s", "select id from t order by id"), B("p", "s"), E("p", 2), S], [Q("move forward 1 from p")], [E("p", 2), S], [Q("MOVE 2 p")], [E("p", 0), S],
                         [Q("move forward 1 p")], [E("p", 1), S], [Q("commit")]],
    "move-of-a-portal-that-has-not-run": [[Q("begin")], [P("s", "select id from t where id = 3"), B("p", "s"), S], [Q("move all in p")], [E("p", 1), S]],
    "move-of-a-portal-over-a-merge": [[Q("begin")], [P("s", "select a, count(*) from t group by a order by a"), B("p", "s"), S], [Q("move forward 2 p")], [E("p", 0), S]],
    "fetch-of-a-portal": [[Q("begin")], [P("s", "select id, b from t order by id"), B("p", "s"), E("p", 1), S], [Q("fetch 2 from p")], [Q("fetch all from p")], [Q("fetch next from p")]],
    "fetch-of-a-portal-that-has-not-run": [[Q("begin")], [P("s", "select id, b from t where id < 4 order by id"), B("p", "s"), S], [Q("fetch forward 2 from p")], [E("p", 0), S]],
    "portals-go-forward": [[Q("begin")], [P("s", "select id from t order by id"), B("p", "s"), E("p", 2), S], [Q("move backward 1 p")], [Q("move 1 p")]],
}
