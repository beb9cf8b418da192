"""A bank: accounts, transfers that are noted in the transaction that makes them, and what clients were told of each."""
import itertools
import os
import random
import threading
import time

from plain import house
from plain.house import ERRORS, Pando, check, until
from plain.relay import Relays
from plain.units import LOST, choose, config, door, in_doubt, make, refused

ACCOUNTS = 60
BALANCE = 1000
CLIENTS = int(os.environ.get("BANK_CLIENTS", "6"))
# Answers to COMMIT that say for certain that nothing was committed.
UNDONE = {"40001", "40P01", "25P02", 1213, 1205, 1402, 1613, 1614}
# How long a client waits for an answer before it gives its connection up.
PATIENCE = 20


class Bank:
    """Two instances of Pando, each with a relay of its own to each unit; instance `n` reaches unit `u` by relay `link(n, u)`."""

    def __init__(self, units, kind, seed, checked):
        self.units, self.kind, self.seed, self.checked = units, kind, seed, checked
        self.pg, self.total = door(units) == "pg", ACCOUNTS * BALANCE
        make(units)
        self.relays = Relays([unit.real for unit in units] * 2)
        self.instances = [None, None]
        for n in range(2):
            self.begin(n)
        self.ids, self.lock = itertools.count(1), threading.Lock()
        self.outcomes, self.errors, self.sums, self.torn, self.oddities = {}, {}, 0, [], []
        self.working, self.over, self.busy, self.good = threading.Event(), False, 0, 0
        self._fill()
        self.threads = [threading.Thread(target=self._client, args=(n,), daemon=True) for n in range(CLIENTS)]
        if checked:
            self.threads += [threading.Thread(target=self._auditor, args=(n,), daemon=True) for n in range(2)]
        for thread in self.threads:
            thread.start()

    @staticmethod
    def refused(units, kind):
        """Why there are no such transactions; None where there are."""
        make(units)
        pando = Pando(config(units, ["accounts", "transfers"]))
        try:
            return refused(pando, units, kind)
        finally:
            pando.kill()

    def link(self, instance, unit):
        return instance * len(self.units) + unit

    def begin(self, n):
        """Begins an instance, again or for the first time."""
        for unit in self.units:
            unit.port = self.relays.ports[self.link(n, unit.n)]
        try:
            self.instances[n] = Pando(config(self.units, ["accounts", "transfers"]))
        finally:
            for unit in self.units:
                unit.port = unit.real

    def kill(self, n):
        self.instances[n].process.kill()
        self.instances[n].process.wait()

    def connect(self, n):
        """To the instance, or to the other one when it is away."""
        instance = next((self.instances[(n + more) % 2] for more in range(2) if self.instances[(n + more) % 2].alive()), None)
        if instance is None:
            raise ConnectionError("no instance")
        client = instance.client(door(self.units), "shop", timeout=PATIENCE)
        if self.pg:
            client.query("set session characteristics as transaction isolation level repeatable read")
            client.query("set lock_timeout = '2s'")
        else:
            client.query("set session transaction isolation level repeatable read")
            client.query("set innodb_lock_wait_timeout = 2")
        why = choose(client, self.kind)
        assert not why, why
        return client

    def _fill(self):
        client = self.connect(0)
        client.query("create table accounts (id bigint primary key, balance bigint not null)")
        client.query("create table transfers (id bigint primary key, source bigint not null, target bigint not null, amount bigint not null)")
        for account in range(ACCOUNTS):
            client.query(f"insert into accounts (id, balance) values ({account}, {BALANCE})")
        client.close()

    # --- clients ---

    def go(self):
        self.working.set()

    def work(self, seconds):
        self.go()
        time.sleep(seconds)

    def rest(self):
        """Until nobody is in a transaction."""
        self.working.clear()
        assert until(3 * PATIENCE, lambda: self.busy == 0, every=0.02), "a client has had no answer for a minute"

    def _at_work(self, what, n):
        """Does `what` with a connection as long as there is work, and connects anew when it is lost."""
        client, place = None, n
        while not self.over:
            if not self.working.wait(0.05):
                continue
            with self.lock:
                self.busy += 1
            try:
                if not self.working.is_set():
                    continue
                client = client or self.connect(place)
                if not what(client):
                    client = None
            except LOST as error:
                self._failed(error)
                client, place = None, place + 1
                time.sleep(0.05)
            except Exception as error:
                self.oddities.append(f"{type(error).__name__}: {error}")
                client = None
            finally:
                with self.lock:
                    self.busy -= 1

    def _client(self, n):
        chance = random.Random(self.seed * 1000 + n)
        self._at_work(lambda client: self._transfer(client, chance), n)

    def _failed(self, error):
        key = f"{getattr(error, 'code', type(error).__name__)} {str(error)[:90]}"
        with self.lock:
            self.errors[key] = self.errors.get(key, 0) + 1

    def _transfer(self, client, chance):
        """False when its connection is of no use any more."""
        with self.lock:
            number = next(self.ids)
        source, target = chance.sample(range(ACCOUNTS), 2)
        amount = chance.randint(1, 20)
        # By account, so that two of them do not wait for each other.
        changes = sorted([(source, -amount), (target, amount)])
        outcome = "fail"
        try:
            client.query("begin")
            for account, change in changes:
                client.query(f"update accounts set balance = balance + {change} where id = {account}")
            client.query(f"insert into transfers (id, source, target, amount) values ({number}, {source}, {target}, {amount})")
            outcome = "unknown"
            client.query("commit")
            outcome = "fail" if getattr(client, "tag", "") == "ROLLBACK" else "ok"
        except LOST as error:
            self._failed(error)
            if outcome == "unknown" and getattr(error, "code", None) in UNDONE:
                outcome = "fail"
            return outcome == "fail" and self._rolled_back(client, error)
        finally:
            with self.lock:
                self.outcomes[number] = outcome
                self.good += outcome == "ok"
        return True

    @staticmethod
    def _rolled_back(client, error):
        if not isinstance(error, ERRORS):
            return False
        try:
            client.query("rollback")
            return True
        except LOST:
            return False

    def _auditor(self, n):
        """Adds up all accounts in one statement, whatever happens: alone, and in a transaction."""
        def audit(client):
            alone = self.sums % 2 == 0
            if not alone:
                client.query("begin")
            total = client.value("select sum(balance) from accounts")
            if not alone:
                client.query("commit")
            if int(total) != self.total:
                self.torn.append(f"{total} {'alone' if alone else 'in a transaction'}")
            self.sums += 1
            time.sleep(0.02)
            return True

        self._at_work(audit, n + 1)

    # --- what must hold ---

    def settled(self, longest, since):
        """Seconds from `since` until no branch is in doubt any more."""
        left = []

        def none():
            try:
                left[:] = in_doubt(self.units)
            except LOST as error:
                left[:] = [error]
            return not left

        assert until(max(0.5, since + longest - time.monotonic()), none), f"in doubt {longest:.0f} s after everything was back: {left[:5]}"
        return time.monotonic() - since

    def wrong(self):
        """What does not hold of the books, read through the second instance while nobody works; empty when all does."""
        client = None

        def read():
            nonlocal client
            try:
                client = client or self.connect(1)
                self.accounts = {int(key): int(value) for key, value in client.query("select id, balance from accounts")}
                self.transfers = {int(row[0]): tuple(map(int, row[1:])) for row in client.query("select id, source, target, amount from transfers")}
                return True
            except LOST as error:
                self._failed(error)
                client = None
                return False

        if not until(10, read):
            return f"the books cannot be read: {self.errors}"
        client.close()
        return self._judged()

    def _judged(self):
        total = sum(self.accounts.values())
        if total != self.total or len(self.accounts) != ACCOUNTS:
            return f"the sum is {total} instead of {self.total}, in {len(self.accounts)} accounts"
        expected = dict.fromkeys(range(ACCOUNTS), BALANCE)
        for source, target, amount in self.transfers.values():
            expected[source] -= amount
            expected[target] += amount
        odd = [account for account in expected if expected[account] != self.accounts[account]]
        if odd:
            return f"the balances of accounts {odd[:5]} are not what their transfers make"
        lost = [number for number, outcome in self.outcomes.items() if outcome == "ok" and number not in self.transfers]
        if lost:
            return f"{len(lost)} transfers were told to be committed and are not there: {lost[:5]}"
        undead = [number for number, outcome in self.outcomes.items() if outcome == "fail" and number in self.transfers]
        if undead:
            return f"{len(undead)} transfers were told to have failed and are there: {undead[:5]}"
        return "; ".join(self.oddities[:5])

    def told(self, name):
        outcomes = list(self.outcomes.values())
        good, failed = outcomes.count("ok"), outcomes.count("fail")
        there = sum(number in self.transfers for number, outcome in self.outcomes.items() if outcome == "unknown")
        unknown = len(outcomes) - good - failed
        check(f"{name}-transfers", good > 20, f"only {good} transfers: {self.errors}",
              f"{good} committed, {failed} failed, of {unknown} without an answer {there} are there")
        if self.checked:
            check(f"{name}-sums", self.sums > 20 and not self.torn,
                  f"{len(self.torn)} of {self.sums} snapshots have another sum than {self.total}: {self.torn[:4]}",
                  f"{self.sums} snapshots, all exact")
        for error, count in sorted(self.errors.items(), key=lambda item: -item[1])[:int(os.environ.get("BANK_ERRORS", "0"))]:
            house.say(f"{count} × {error}")

    def close(self):
        self.over = True
        self.working.set()
        for instance in self.instances:
            instance.kill()
        for thread in self.threads:
            thread.join(PATIENCE)
        self.relays.stop()
