"""What goes wrong while money is moved."""
import time

from plain.house import signal_server, until

FAULTS = ("pando-killed", "pando-killed-and-not-begun-again", "unit-killed", "unit-and-pando-killed", "partition-that-heals", "partition-that-breaks",
          "partition-of-everybody", "both-pandos-killed")


class Faults:
    """Strikes at a random instant of the work; when it returns, everything that may be back is back."""

    def __init__(self, bank, chance):
        self.bank, self.chance = bank, chance

    def strike(self, fault):
        # On a machine that has much else to do the instant comes later, or it would strike at nothing.
        before = self.bank.good
        until(10, lambda: self.bank.good >= before + 5, every=0.02)
        time.sleep(self.chance.uniform(0.05, 1.0))
        getattr(self, fault.replace("-", "_"))()

    def mend(self):
        """What a fault leaves away until it has been looked at."""
        for n, instance in enumerate(self.bank.instances):
            if not instance.alive():
                self.bank.begin(n)

    def _unit(self):
        return self.chance.choice(self.bank.units)

    def _pause(self, longest=1.0):
        time.sleep(self.chance.uniform(0.05, longest))

    def pando_killed(self):
        self.bank.kill(0)
        self._pause()
        self.bank.begin(0)

    def pando_killed_and_not_begun_again(self):
        self.bank.kill(0)

    def both_pandos_killed(self):
        self.bank.kill(0)
        self.bank.kill(1)
        self._pause()
        self.bank.begin(1)

    def unit_killed(self):
        server = self._unit().server
        signal_server(server, "kill")
        self._pause()
        signal_server(server, "start")

    def unit_and_pando_killed(self):
        server = self._unit().server
        for step in self.chance.sample((lambda: signal_server(server, "kill"), lambda: self.bank.kill(0)), 2):
            step()
            self._pause(0.2)
        signal_server(server, "start")

    def _partition(self, instances, end):
        unit = self._unit().n
        links = [self.bank.link(n, unit) for n in instances]
        self.bank.relays.hold(links)
        self._pause(3.0)
        end(links)

    def partition_that_heals(self):
        self._partition([0], self.bank.relays.release)

    def partition_that_breaks(self):
        self._partition([0], self.bank.relays.cut)

    def partition_of_everybody(self):
        self._partition([0, 1], self.chance.choice((self.bank.relays.release, self.bank.relays.cut)))
