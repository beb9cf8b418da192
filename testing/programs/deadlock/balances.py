"""Balances updated in random order by many at once, from Dike's deadlock tests: money goes between accounts of a few favourite rows, so cycles are many
and of every length. All of them end, the money stays, and no wait goes on when its cycle is closed."""
import os
import random
import re
import threading
import time

from plain.house import ERRORS, case, check, skip

from units import CODES, PATIENCE, UNITS, Client, door, drop, has, is_blind, mixes, start, unit

SECONDS = float(os.environ.get("DEADLOCK_SECONDS", 3))
THREADS = 16
ACCOUNTS = 60
BALANCE = 1000
#: A statement may wait for several others in turn, and they for victims. A cycle alone is broken within a second.
LONGEST = 4.0 * PATIENCE
#: So long at most nobody at all gets on: with so few favourites one cycle holds everybody up.
STANDSTILL = 1.5 * PATIENCE
#: Milliseconds that a cycle has stood when it is broken.
AGE = 900 * PATIENCE
KIND = os.environ.get("DEADLOCK_TYPE", "LOCAL")


class Mover:
    """Takes money from some accounts and gives it to others, each in a statement of its own and in whatever order."""

    def __init__(self, pando, mix, seed, shared, in_order=False):
        self.pando, self.mix, self.random, self.shared, self.in_order = pando, mix, random.Random(seed), shared, in_order
        self.commits = self.victims = 0
        self.longest, self.wrong = 0.0, []
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def account(self):
        # Zipf's law, roughly: account n is chosen as 1/(n+1).
        return min(int(ACCOUNTS ** self.random.random()), ACCOUNTS) - 1

    def _run(self):
        try:
            client = Client(self.pando, self.mix, timeout=30, kind=KIND)
            while time.monotonic() < self.shared["end"]:
                self.move(client)
            client.close()
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {error}")

    def move(self, client):
        accounts = sorted({self.account() for _ in range(self.random.choice((2, 2, 3, 4)))})
        if not self.in_order:
            self.random.shuffle(accounts)
        amounts = [self.random.randint(-9, 9) for _ in accounts[1:]]
        amounts.append(-sum(amounts))
        try:
            client.query("begin")
            for account, amount in zip(accounts, amounts):
                began = time.monotonic()
                try:
                    if self.random.random() < 0.2:
                        client.query(f"select n from t where id = {account} for update")
                    client.query(f"update t set n = n + {amount} where id = {account}")
                finally:
                    self.longest = max(self.longest, time.monotonic() - began)
            client.query("commit")
            self.commits += 1
            self.shared["last"].append(time.monotonic())
        except ERRORS as error:
            if error.code not in (CODES[door(self.mix)], "40P01", 1213):
                self.wrong.append(str(error)[:200])
            self.victims += 1
            client.query("rollback")


def fill(client, mix):
    client.query("create table t (id bigint primary key, n int)" + ("" if mix == "pg" else " engine=innodb"))
    client.query("insert into t (id, n) values " + ", ".join(f"({id}, {BALANCE})" for id in range(ACCOUNTS)))


def balances(mix):
    pando = start(mix)
    if mix == "pg":
        # Cycles within one server are its own, and it would wait a second before it looks for them.
        for n in range(UNITS):
            direct = unit(mix, n)
            direct.query(f"alter database deadlock_{n} set deadlock_timeout = '50ms'")
            direct.close()
    client = Client(pando, mix, timeout=30)
    fill(client, mix)
    shared = {"end": time.monotonic() + SECONDS, "last": []}
    movers = [Mover(pando, mix, seed, shared) for seed in range(THREADS)]
    for mover in movers:
        mover.thread.join(SECONDS + 60)
    with case(f"{mix}-balances-all-end") as one:
        assert not any(mover.thread.is_alive() for mover in movers), "somebody still waits"
        wrong = [text for mover in movers for text in mover.wrong]
        assert not wrong, f"{len(wrong)}: {wrong[:3]}"
        commits, victims = (sum(getattr(mover, what) for mover in movers) for what in ("commits", "victims"))
        assert commits > SECONDS * 5, f"{commits} commits, {victims} victims"
        one.detail = f"{commits} transactions, {victims} gave way"
    with case(f"{mix}-balances-money"):
        total = client.query("select sum(n), count(*) from t")
        assert [[str(cell) for cell in row] for row in total] == [[str(BALANCE * ACCOUNTS), str(ACCOUNTS)]], total
    moments = sorted(shared["last"])
    still = max((after - before for before, after in zip(moments, moments[1:])), default=SECONDS)
    longest = max(mover.longest for mover in movers)
    check(f"{mix}-balances-waits", longest < LONGEST and still < STANDSTILL,
          f"a statement took {longest:.2f} s, and for {still:.2f} s nobody got on",
          f"the longest statement took {longest:.2f} s, the longest pause of all {still:.2f} s")
    ages = [int(age) for age in re.findall(r"rolled back, after (\d+) ms", pando.said(1_000_000))]
    if not is_blind(mix):
        check(f"{mix}-balances-age", ages and max(ages) < AGE, f"cycles stood for {sorted(ages)[-5:]} ms",
              f"{len(ages)} cycles were {max(ages, default=0)} ms old at most")
    with case(f"{mix}-balances-in-order") as one:
        # The same without any cycle: whoever gives way does so in vain.
        shared = {"end": time.monotonic() + SECONDS / 2, "last": []}
        movers = [Mover(pando, mix, seed, shared, in_order=True) for seed in range(THREADS)]
        for mover in movers:
            mover.thread.join(SECONDS + 60)
        wrong = [text for mover in movers for text in mover.wrong]
        assert not wrong, f"{len(wrong)}: {wrong[:3]}"
        assert not any(mover.victims for mover in movers), sum(mover.victims for mover in movers)
        one.detail = f"{sum(mover.commits for mover in movers)} transactions, the longest statement took {max(mover.longest for mover in movers):.2f} s"
    client.close()
    pando.stop(f"{mix}-balances-stop")
    drop(mix)


def run():
    for mix in mixes("pg mariadb mixed"):
        if has(mix):
            balances(mix)
        else:
            skip(f"{mix}-balances", "no such server")
