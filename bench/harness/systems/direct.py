"""No proxy: what everything else is compared with."""
from .base import System


class Unit(System):
    """The first storage unit, asked for its part of a statement that goes to all tables: what nobody who needs its answer can be faster than."""
    name = "unit"
    part = True

    def start(self):
        self.port = self.server_port()


class Direct(System):
    name = "direct"

    def start(self):
        self.port = self.server_port()
