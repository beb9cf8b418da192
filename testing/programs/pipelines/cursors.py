"""Cursors and portals: the same thing to a server."""
from speech import Q, S, X

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
}
