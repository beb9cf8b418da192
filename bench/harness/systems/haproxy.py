"""HAProxy in TCP mode: it passes bytes on without looking at them, which is the least that any proxy must do."""
from ..machine import free_port
from ..process import Process
from ..servers import UNITS
from .base import System


class HAProxy(System):
    name = "haproxy"

    def start(self):
        self.port = free_port()
        path = self.write("haproxy.cfg", f"""global
  maxconn 4000
defaults
  mode tcp
  timeout connect 10s
  timeout client 1h
  timeout server 1h
listen database
  bind 127.0.0.1:{self.port}
{self.servers()}
""")
        # -db: in the foreground and one process, with a thread for each core.
        self.process = Process(["haproxy", "-db", "-f", path], self.log())
        self.wait()

    def servers(self):
        return f"  server unit 127.0.0.1:{self.server_port()}"


class HAProxyTables(HAProxy):
    """HAProxy in front of ten tables on one server, where all others that do not shard have one table with all rows: what many tables cost a server."""
    name = "haproxy_tables"
    several = True


class HAProxyUnit(HAProxy):
    """HAProxy in front of the first storage unit, asked for its part of a statement that goes to all tables: the same with one hop."""
    name = "haproxy_unit"
    part = True


class HAProxyUnits(HAProxy):
    """HAProxy in front of two servers with five tables each, for clients that shard by themselves: what two servers cost with nobody between who thinks."""
    name = "haproxy_units"
    # MySQL has one server only.
    families = ("pg", "mariadb")
    halves = True

    def start(self):
        ports = {self.bench.servers.port(self.family, unit) for unit in range(UNITS)}
        if len(ports) < UNITS:
            raise RuntimeError(f"it needs {UNITS} servers")
        super().start()

    def servers(self):
        return "  balance roundrobin\n" + "\n".join(f"  server unit_{unit} 127.0.0.1:{self.bench.servers.port(self.family, unit)}" for unit in range(UNITS))
