"""No proxy: what everything else is compared with."""
from .base import System


class Direct(System):
    name = "direct"

    def start(self):
        self.port = self.server_port()
