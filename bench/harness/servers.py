"""The throw-away database servers of testing/services, and plain SQL to them or to a proxy."""
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SERVICES = os.path.join(HERE, "..", "..", "testing", "services")
# How many servers each family has.
COUNT = {"pg": 2, "mariadb": 2, "mysql": 1}
FAMILIES = tuple(COUNT)
# Every proxy keeps connections open while another one is measured.
CONNECTIONS = 1200
UNITS = 2


class Servers:
    """Started here and gone at the end, and able to speak TLS, unless `folder` names ones that run already: those are left as they are."""

    def __init__(self, families, certificate, folder=None):
        self.own = folder is None
        # Directly under /tmp unless told: the server's own user must be able to reach it.
        self.folder = folder or tempfile.mkdtemp(prefix="pando-bench-servers.")
        self.ports = {}
        if self.own:
            self._up(families, certificate)
        with open(f"{self.folder}/env") as env:
            for line in env:
                name, value = line.strip().split("=", 1)
                if name.endswith("_PORT"):
                    self.ports[name[:-5].lower()] = int(value)

        if self.own:
            self._postgres_tls(certificate)

    def _up(self, families, certificate):
        counts = [f"{family}={COUNT[family] if family in families else 0}" for family in COUNT]
        settings = {"SERVICES_CONNECTIONS": str(CONNECTIONS),
                    "SERVICES_INNODB_OPTIONS": f"--ssl-ca={certificate.file} --ssl-cert={certificate.file} --ssl-key={certificate.key}"}
        starting = subprocess.Popen([f"{SERVICES}/up", self.folder, *counts], start_new_session=True, env={**os.environ, **settings})
        try:
            if starting.wait():
                raise RuntimeError("the database servers do not start")
        except KeyboardInterrupt:
            # What it starts can only be stopped once it is there.
            starting.wait()
            self.stop()
            raise

    def _postgres_tls(self, certificate):
        """PostgreSQL takes a certificate while it runs."""
        for port in (self.ports[name] for name in self.ports if name.startswith("pg")):
            sql("pg", port, "test", f"alter system set ssl_cert_file = '{certificate.file}';\nalter system set ssl_key_file = '{certificate.key_of_postgres()}';\n"
                "alter system set ssl = on;\nselect pg_reload_conf();\n")

    def has(self, family):
        return f"{family}1" in self.ports

    def port(self, family, unit):
        """A family with one server has all storage units on it."""
        return self.ports.get(f"{family}{unit + 1}") or self.ports[f"{family}1"]

    def stop(self):
        if self.own:
            subprocess.run([f"{SERVICES}/down", self.folder], start_new_session=True)


class Failed(Exception):
    """A client program says that a statement failed."""


def sql(family, port, database, text, patience=300, certificate=None):
    """What psql or mariadb prints, without a heading and with tabs between columns. Several statements stand in one text. With a certificate it fails
    where there is no TLS, which sysbench with MySQL's protocol would not."""
    if family == "pg":
        command = ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(port), "-U", "test", "-d", database]
    else:
        tls = ["--ssl", f"--ssl-ca={certificate.file}", "--ssl-verify-server-cert"] if certificate else ["--skip-ssl"]
        command = ["mariadb", "--no-defaults", *tls, "--connect-timeout=10", "-N", "-B", "-h", "127.0.0.1", "-P", str(port), "-u", "test", "-ptest",
                   "-D", database]
    env = {**os.environ, "PGPASSWORD": "test", "PGCONNECT_TIMEOUT": "10", "PGSSLMODE": "require" if certificate else "disable",
           "PGSSLROOTCERT": "/nonexistent"}
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, env=env, timeout=patience, start_new_session=True)
    except subprocess.TimeoutExpired:
        raise Failed(f"no answer within {patience} s to: {text[:200]}") from None
    if done.returncode:
        raise Failed((done.stderr.strip() or f"ended with {done.returncode}")[:500])
    return done.stdout.strip()
