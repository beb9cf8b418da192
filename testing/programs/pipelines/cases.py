"""What pipelines of messages were once answered wrongly. Each case is a list of steps; the messages of a step are sent together, and end with Sync or Query."""
from speech import CP, CS, DP, DS, B, E, H, P, Q, S, X

# A transaction at no unit, at one, and at both.
REACHED = {"no-unit": [], "one-unit": [[Q("update t set a = 9 where id = 1")]], "two-units": [[Q("update t set a = 9")]]}
# What is wrong with a statement by its text alone, and by what the tables are; on a server or with Pando in between.
WRONG = {"syntax": "selec 1", "syntax-later": "select from where", "no-table": "select * from nope", "no-column": "select nope from t where id = 1",
         "no-column-of-all": "select nope from t", "unterminated": "select 'x", "typed": "insert into t values (1, 'x', 'x')"}
SUM = Q("select sum(a), count(*) from t")

CASES = {}


def fails_transactions():
    for what, sql in WRONG.items():
        for reached, before in REACHED.items():
            opened = [[Q("begin")], *before]
            for how, step in {
                "text": [Q(sql)], "described": [P("s", sql), DS("s"), S], "whole": [X(sql), S],
            }.items():
                CASES[f"{what}-{how}-{reached}"] = [*opened, step, [Q("select 1")], [X("select 1"), S], [Q("commit")], [SUM]]
            CASES[f"{what}-savepoint-{reached}"] = [*opened, [Q("savepoint a")], [P("s", sql), DS("s"), S], [Q("rollback to a")], [Q("insert into t values (77, 1, 'x')")],
                                                    [Q("commit")], [SUM]]
            if what in ("syntax", "syntax-later", "unterminated"):
                CASES[f"{what}-parse-{reached}"] = [*opened, [P("", sql), S], [Q(sql)], [P("", sql), S], [Q("commit")], [SUM]]
            CASES[f"{what}-mixed-{reached}"] = [*opened, [Q(f"insert into t values (78, 1, 'x'); {sql}; select 1")], [Q("commit")], [SUM]]


fails_transactions()

for what, sql in WRONG.items():
    CASES[f"{what}-frees-the-name"] = [[P("s", sql), DS("s"), S], [P("s", "select 1"), DS("s"), S]]
    # What a server does not parse has no name, whoever asks for its description.
    CASES[f"{what}-frees-the-name-at-parse"] = [[P("s", sql), S], [P("s", "select 1"), B("", "s"), E(""), S]]
    CASES[f"{what}-frees-the-name-at-bind"] = [[P("s", sql), B("", "s"), E(""), S], [P("s", "select 1"), B("", "s"), E(""), S]]
    CASES[f"{what}-frees-the-name-in-a-transaction"] = [[Q("begin")], [P("s", sql), H, S], [Q("select 1")], [Q("rollback")], [P("s", "select 1"), B("", "s"), E(""), S]]
    CASES[f"{what}-in-a-pipeline"] = [[X("insert into t values (50, 1, 'x')"), P("s", sql), DS("s"), B("", "s"), E(""), S], [SUM]]

CASES |= {
    "parse-error-frees-the-name": [[P("s", "selec 1"), S], [P("s", "select 1"), B("", "s"), E(""), S]],
    "several-in-a-parse": [[P("s", "select 1; select 2"), S], [P("", "begin; select 1"), S], [P("", "select 1; selec 2"), S], [P("", "select 1;;"), B("", ""), E(""), S]],
    "parse-error-keeps-others": [[P("s", "select 1"), S], [P("s", "selec 1"), S], [B("", "s"), E(""), S]],
    # The unnamed statement is gone with the next Parse, even one that fails.
    "parse-error-drops-the-unnamed": [[P("", "select 1"), S], [P("", "selec 1"), S], [B("", ""), E(""), S]],
    "query-after-execute": [[X("insert into t values (60, 1, 'x')"), Q("select 1 / 0")], [S], [SUM]],
    "query-after-execute-well": [[X("insert into t values (60, 1, 'x')"), Q("select 1")], [S], [SUM]],
    "query-after-execute-on-both": [[X("update t set a = 100"), Q("select 1 / 0")], [S], [SUM]],
    "query-after-execute-syntax": [[X("update t set a = 100"), Q("selec 1")], [S], [SUM]],
    "query-after-execute-several": [[X("update t set a = 100"), Q("insert into t values (61, 1, 'x'); select 1 / 0")], [SUM]],
    "query-after-execute-begin": [[X("update t set a = 100"), Q("begin")], [Q("rollback")], [SUM]],
    "query-after-execute-rollback": [[X("update t set a = 100"), Q("rollback")], [S], [SUM]],
    "query-after-execute-commit": [[X("update t set a = 100"), Q("commit")], [S], [SUM]],
    "query-after-execute-read": [[X("update t set a = 100"), SUM], [S], [SUM]],
    "query-after-execute-empty": [[X("update t set a = 100"), Q("")], [X("update t set a = 101"), X("select 1 / 0"), S], [SUM]],
    "query-after-execute-in-a-transaction": [[Q("begin")], [X("update t set a = 100"), Q("select 1 / 0")], [Q("select 1")], [Q("commit")], [SUM]],
    "query-after-failed": [[X("update t set a = 100"), X("select 1 / 0"), P("", "select 1"), S], [SUM]],
    "query-after-parse": [[P("s", "select 1"), Q("select 2"), B("", "s"), E(""), S]],
    "query-drops-the-unnamed": [[P("", "select 1"), B("", ""), Q("select 2"), E(""), S], [B("", ""), S]],
    "query-keeps-portals": [[Q("begin")], [P("s", "select id from t order by id"), B("p", "s"), E("p", 2), Q("select 2"), E("p", 2), S], [Q("commit")]],
    "begin-in-a-pipeline": [[X("update t set a = 100"), X("begin"), X("select 1"), S], [Q("rollback")], [SUM]],
    "commit-in-a-pipeline": [[X("update t set a = 100"), X("commit"), X("select 1 / 0"), S], [SUM]],
    "rollback-in-a-pipeline": [[X("update t set a = 100"), X("rollback"), X("insert into t values (60, 1, 'x')"), S], [SUM]],
    "savepoint-in-a-pipeline": [[X("update t set a = 100"), X("savepoint a"), S], [SUM]],
    # What is not there.
    "describe-nothing": [[DS("nope"), S], [DP("nope"), S], [E("nope"), S], [B("", "nope"), S], [CS("nope"), CP("nope"), S], [DP(""), S], [E(""), S], [DS(""), S]],
    "describe-nothing-in-a-transaction": [[Q("begin")], [DS("nope"), S], [Q("rollback")], [Q("begin")], [DP("nope"), S], [Q("commit")]],
    "flush-before-sync": [[X("insert into t values (60, 1, 'x')"), H, X("selec 1"), H, X("select 1"), H, S], [SUM]],
    "limits": [[X("select id from t order by id", rows=3), E("", 3), E("", 0), E("", 0), S], [X("insert into t values (60, 1, 'x') returning id", rows=1), E("", 1), S]],
    "limits-exact": [[X("select id from t order by id", rows=12), E("", 1), E("", 1), S]],
    "empty": [[X(""), S], [Q("")], [Q(";")], [P("", ""), DS(""), B("", ""), E(""), E(""), S]],
    "begin-twice": [[X("begin"), S], [X("begin"), S], [X("commit"), S], [X("commit"), S], [X("rollback"), S]],
}
