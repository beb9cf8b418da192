"""pgbouncer with transaction pooling."""
import os

from ..machine import free_port
from ..process import Process
from .base import System


class PgBouncer(System):
    name = "pgbouncer"
    families = ("pg",)

    def start(self):
        self.port = free_port()
        users = self.write("users.txt", '"test" "test"\n')
        path = self.write("pgbouncer.ini", f"""[databases]
* = host=127.0.0.1 port={self.server_port()}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = transaction
default_pool_size = {self.bench.options.pool}
max_client_conn = 12000
server_idle_timeout = 60
ignore_startup_parameters = extra_float_digits
client_tls_sslmode = allow
server_tls_sslmode = disable
client_tls_cert_file = {self.bench.certificate.file}
client_tls_key_file = {self.bench.certificate.key}
log_connections = 0
log_disconnections = 0
log_stats = 0
""")
        # It refuses to be root.
        user = ["-u", "nobody"] if os.getuid() == 0 else []
        self.process = Process(["pgbouncer", *user, path], self.log())
        self.wait()
