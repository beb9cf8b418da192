"""HAProxy in TCP mode: it passes bytes on without looking at them, which is the least that any proxy must do."""
from ..machine import free_port
from ..process import Process
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
  server unit 127.0.0.1:{self.server_port()}
""")
        # -db: in the foreground and one process, with a thread for each core.
        self.process = Process(["haproxy", "-db", "-f", path], self.log())
        self.wait()


class HAProxyTables(HAProxy):
    """HAProxy in front of ten tables on one server, where all others that do not shard have one table with all rows: what many tables cost a server."""
    name = "haproxy_tables"
    several = True
