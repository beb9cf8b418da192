"""COPY FROM STDIN that fails: the client hears of it while it still sends, and what it sends on is passed over."""
from speech import DONE, HEARD, H, L, Q, S, X

# More than waits in Pando before a shard is told.
MANY = "".join(f"{n}\t1\t{'x' * 100}\n" for n in range(100, 12_000))
MORE = "".join(f"{n}\t1\t{'x' * 100}\n" for n in range(20_000, 32_000))
SUM = Q("select count(*) from t")
ALONE = Q("select count(*) from u")

CASES = {
    "one-unit": [[Q("copy u from stdin"), L("7\t1\n"), L("8\tx\n")], [L("9\t1\n"), DONE, ALONE]],
    "one-unit-later": [[Q("copy u from stdin"), *[L(f"{n}\t1\n") for n in range(100, 200)], L("8\tx\n"), L("9\t1\n")], [DONE, ALONE]],
    "one-unit-in-a-transaction": [[Q("begin")], [Q("copy u from stdin"), L("7\tx\n")], [L("9\t1\n"), DONE, Q("select 1")], [Q("commit")], [ALONE]],
    "one-unit-extended": [[X("copy u from stdin"), H, L("7\t1\n"), L("7\tx\n"), HEARD, L("7\tx\n"), S], [ALONE]],
    "one-unit-extended-done": [[X("copy u from stdin"), L("7\tx\n"), DONE, S], [ALONE]],
    "one-unit-extended-well": [[X("copy u from stdin"), L("7\t1\n"), DONE, S], [ALONE]],
    "all-shards": [[Q("copy t from stdin"), L(MANY), L("1\tx\tx\n"), L(MORE)], [L("9\t1\n"), DONE, SUM]],
    "all-shards-a-key": [[Q("copy t from stdin"), L("1\t1\tx\n"), L(MANY), L(MORE)], [DONE, SUM]],
    "all-shards-fields": [[Q("copy t from stdin"), L("1\t1\n"), L("2")], [DONE, SUM]],
    "all-shards-in-a-transaction": [[Q("begin")], [Q("copy t from stdin"), L("1\t1\tx\n"), L(MANY), L(MORE)], [DONE, Q("select 1")], [Q("commit")], [SUM]],
    "all-shards-extended": [[X("copy t from stdin"), L("1\t1\tx\n"), L(MANY), L(MORE), S], [SUM]],
    "all-shards-well": [[Q("copy t from stdin"), L(MANY), DONE], [SUM]],
}
CASES |= {
    # What a change returns, as lines.
    "of-a-change": [[Q("copy (insert into t values (50, 1, 'x') returning id, b) to stdout")], [Q("copy (update t set b = b || '!' where id = 50 returning *) to stdout (format csv, header)")],
                    [X("copy (delete from t where id = 50 returning *) to stdout with binary"), S], [Q("copy (delete from t where id = 999 returning id) to stdout")], [SUM]],
    "of-a-change-without-rows": [[Q("copy (delete from t where id = 5) to stdout")], [Q("copy (delete from nope returning *) to stdout")], [SUM]],
    "of-a-change-in-a-transaction": [[Q("begin")], [Q("copy (delete from t where a = 1 returning 1) to stdout")], [Q("rollback")], [SUM]],
}
CASES = {f"copy-{name}": steps for name, steps in CASES.items()}
