"""Logins, on both sides, with real servers and real clients: TLS, certificates instead of passwords, logins bound to their TLS, and storage units that
are not what they say."""
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import time

from plain.house import GLOBAL, SERVICES, TESTING, Pando, case, direct, has, port, server, skip, until, work

from rogue_postgres import Between, Unit

SECRET = "s3cret-of-the-unit"
folder = pathlib.Path(work, "certificates")


def openssl(*arguments, stdin=""):
    subprocess.run(["openssl", *arguments], cwd=folder, input=stdin, text=True, check=True, capture_output=True)


def authority(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "9", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.pem", "-addext", "keyUsage=critical,keyCertSign")


def certificate(name, signer, subject, extensions):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", subject,
            "-keyout", f"{name}.key", "-out", f"{name}.csr")
    (folder / f"{name}.ext").write_text(extensions + "\n")
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{signer}.pem", "-CAkey", f"{signer}.key", "-CAcreateserial", "-days", "9",
            "-out", f"{name}.pem", "-extfile", f"{name}.ext")


def certificates():
    folder.mkdir()
    authority("ca")
    authority("stranger")
    certificate("server", "ca", "/CN=localhost", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    certificate("between", "stranger", "/CN=localhost", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    certificate("ann", "ca", "/O=Shop/CN=ann", "extendedKeyUsage=clientAuth")
    certificate("l_cert", "ca", "/O=Shop/CN=l_cert", "extendedKeyUsage=clientAuth")
    certificate("l_both", "ca", "/O=Shop/CN=l_both", "extendedKeyUsage=clientAuth")
    certificate("forged", "stranger", "/O=Shop/CN=ann", "extendedKeyUsage=clientAuth")
    openssl("pkcs8", "-topk8", "-nocrypt", "-in", "l_cert.key", "-outform", "DER", "-out", "l_cert.der")


def path(name):
    return str(folder / name)


USERS = """    - {user: ann@%, authenticationMethodName: by_certificate}
    - {user: both@%, password: pw, require: X509}
    - {user: subject@%, password: pw, requireSubject: /O=Shop/CN=ann, requireIssuer: /CN=ca}
    - {user: other@%, password: pw, requireSubject: /O=Shop/CN=other}
    - {user: tls@%, password: pw, require: SSL}
  authenticators:
    by_certificate: {type: CERTIFICATE}
"""
PRIVATE = GLOBAL.replace("  privilege:", USERS + "  privilege:")


def database(name, url, user, password):
    return {f"database-{name}.yaml": f"databaseName: {name}\ndataSources:\n  ds_0:\n    url: '{url}'\n    username: {user}\n    password: '{password}'\n"
            "    minPoolSize: 0\n"}


def serve(files):
    tls = ["--tls-certificate", path("server.pem"), "--tls-key", path("server.key"), "--tls-client-ca", path("ca.pem")]
    return Pando({"global.yaml": PRIVATE, **files}, arguments=tls)


# --- PostgreSQL as a storage unit ------------------------------------------------------------------------------------------

RULES = """hostnossl all l_clear 127.0.0.1/32 password
hostssl all l_scram 127.0.0.1/32 scram-sha-256
hostssl all l_cert 127.0.0.1/32 cert
hostssl all l_both 127.0.0.1/32 scram-sha-256 clientcert=verify-full
"""


class Postgres:
    """The first PostgreSQL server, with TLS and rules of its own for some users while this lasts."""

    def __enter__(self):
        self.data = pathlib.Path(SERVICES, server("pg", 0))
        self.rules = (self.data / "pg_hba.conf").read_text()
        owner = self.data.stat()
        for name in ("server.pem", "server.key", "ca.pem"):
            shutil.copy(path(name), self.data / f"logins-{name}")
            os.chown(self.data / f"logins-{name}", owner.st_uid, owner.st_gid)
            os.chmod(self.data / f"logins-{name}", 0o600)
        (self.data / "pg_hba.conf").write_text(RULES + self.rules)
        for name in ("l_clear", "l_scram", "l_cert", "l_both"):
            self.run(f"drop role if exists {name}", f"create role {name} login password '{SECRET}'")
        self.run("alter system set ssl_cert_file = 'logins-server.pem'", "alter system set ssl_key_file = 'logins-server.key'",
                 "alter system set ssl_ca_file = 'logins-ca.pem'", "alter system set ssl = on", "select pg_reload_conf()")
        if not until(20, lambda: direct("pg", 0).value("show ssl") == "on"):
            raise RuntimeError("the server does not turn its TLS on")
        return self

    def __exit__(self, *_):
        (self.data / "pg_hba.conf").write_text(self.rules)
        self.run(*(f"alter system reset {name}" for name in ("ssl", "ssl_cert_file", "ssl_key_file", "ssl_ca_file")), "select pg_reload_conf()")
        until(20, lambda: direct("pg", 0).value("show ssl") == "off")
        for name in ("l_clear", "l_scram", "l_cert", "l_both"):
            self.run(f"drop role {name}")

    def run(self, *statements):
        client = direct("pg", 0)
        for sql in statements:
            client.query(sql)
        client.close()


def to_postgres():
    """Name of a database, its URL's parameters, its user, and what comes of it: TLS or not, or a word of the error."""
    ca, own = f"sslrootcert={path('ca.pem')}", f"sslcert={path('l_cert.pem')}&sslkey={path('l_cert.key')}"
    both = f"sslcert={path('l_both.pem')}&sslkey={path('l_both.key')}"
    return [
        ("bound", "sslmode=require&channelBinding=require", "l_scram", "t"),
        ("unbound", "sslmode=require&channelBinding=disable", "l_scram", "t"),
        ("full", f"sslmode=verify-full&{ca}&requireAuth=scram-sha-256", "l_scram", "t"),
        ("own", f"sslmode=verify-ca&{ca}&{own}", "l_cert", "t"),
        ("both", f"sslmode=verify-full&{ca}&{both}&channel_binding=require", "l_both", "t"),
        ("allowed", "sslmode=disable&requireAuth=password", "l_clear", "f"),
        ("clear", "sslmode=disable", "l_clear", "without TLS"),
        ("unsecured", "sslmode=disable&channelBinding=require", "test", "channelBinding"),
        ("unknown", f"sslmode=verify-full&sslrootcert={path('stranger.pem')}", "l_scram", "certificate"),
        ("certless", "sslmode=require", "l_cert", "certificate"),
        ("der", f"sslmode=require&sslcert={path('l_cert.pem')}&sslkey={path('l_cert.der')}", "l_cert", "PEM"),
        ("mismatched", f"sslmode=require&sslcert={path('l_cert.pem')}&sslkey={path('l_both.key')}", "l_cert", "together"),
    ]


def units_of_postgres():
    with Postgres():
        files = {}
        for name, more, user, _ in to_postgres():
            password = "test" if user == "test" else SECRET if user != "l_cert" else ""
            files.update(database(name, f"jdbc:postgresql://127.0.0.1:{port('pg', 0)}/ds_0?{more}", user, password))
        pando = serve(files)
        for name, more, user, expected in to_postgres():
            with case(f"logins: unit {name}"):
                try:
                    client = pando.client("pg", name)
                    assert client.value("select 41 + 1") == "42"
                    got = direct("pg", 0).value(f"select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid) where usename = '{user}'")
                except Exception as error:
                    got = str(error)
                assert got == expected if len(expected) == 1 else expected in got, f"{more}: expected {expected}, got {got}"
                assert SECRET not in pando.said(1000)
        pando.stop("logins: units end")


def units_that_are_none():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path("between.pem"), path("between.key"))
    # What the unit does, its TLS, the URL's parameters, a word of the error, and whether a proof may be sent.
    rogues = [
        ("clear", None, "", "without TLS", False),
        ("clear", None, "sslmode=prefer", "without TLS", False),
        ("clear", context, "sslmode=require&requireAuth=scram-sha-256", "requireAuth", False),
        ("one_iteration", None, "", "4096", False),
        ("many_iterations", None, "", "iterations", False),
        ("wrong_signature", None, "", "secret is wrong", True),
        ("clear_after_scram", None, "", "order of the login", True),
        ("clear_after_scram", context, "sslmode=require", "order of the login", True),
        ("no_plus", context, "sslmode=require&channelBinding=require", "channelBinding", False),
        ("clear", context, "sslmode=require&channelBinding=require", "channelBinding", False),
    ]
    units = [Unit(what, tls) for what, tls, *_ in rogues]
    files = {"global.yaml": GLOBAL + "props: {health-check-interval-milliseconds: 0}\n"}
    for n, ((_, _, more, _, _), unit) in enumerate(zip(rogues, units)):
        files.update(database(f"r_{n}", f"jdbc:postgresql://127.0.0.1:{unit.port}/x?{more}", "app", SECRET))
    pando = Pando(files)
    for n, ((what, tls, more, expected, may_prove), unit) in enumerate(zip(rogues, units)):
        with case(f"logins: rogue {what} {'over TLS ' if tls else ''}{more}".strip()):
            before, began = cpu(pando), time.monotonic()
            try:
                got = pando.client("pg", f"r_{n}", timeout=60).query("select 1")
            except Exception as error:
                got = str(error)
            assert expected in str(got), f"expected {expected}, got {got}"
            assert unit.met > 0
            spent, took = cpu(pando) - before, time.monotonic() - began
            assert spent < 5, f"{spent:.1f} s of CPU in {took:.1f} s"
            until(5, lambda: unit.heard or not may_prove)
            assert SECRET.encode() not in unit.heard, "the password was sent"
            assert may_prove or b",p=" not in unit.heard, f"a proof was sent: {unit.heard}"
            assert SECRET not in pando.said(1000)
    pando.stop("logins: rogues end")


def cpu(pando):
    with open(f"/proc/{pando.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- MySQL as a storage unit -----------------------------------------------------------------------------------------------


def units_of_mysql():
    if not has("mysql"):
        return skip("logins: MySQL", "there is no MySQL")
    root = direct("mysql", 0)
    names = {"ssl_ca": "ca.pem", "ssl_cert": "server.pem", "ssl_key": "server.key"}
    before = {name: root.value(f"select @@global.{name}") for name in names}
    try:
        for name, file in names.items():
            root.query(f"set global {name} = '{path(file)}'")
        root.query("alter instance reload tls")
        root.query("drop user if exists l_cert")
        root.query(f"create user l_cert identified by '{SECRET}' require subject '/O=Shop/CN=l_cert' and issuer '/CN=ca'")
        root.query("grant all on ds_0.* to l_cert")
        own = f"sslCert={path('l_cert.pem')}&sslKey={path('l_cert.key')}"
        cases = [
            ("own", f"sslMode=VERIFY_CA&serverSslCert={path('ca.pem')}&{own}", "TLS"),
            ("certless", "sslMode=REQUIRED", "denied"),
            ("another", f"sslMode=REQUIRED&sslCert={path('l_both.pem')}&sslKey={path('l_both.key')}", "denied"),
        ]
        files = {}
        for name, more, _ in cases:
            files.update(database(name, f"jdbc:mysql://127.0.0.1:{port('mysql', 0)}/ds_0?{more}", "l_cert", SECRET))
        pando = serve(files)
        for name, more, expected in cases:
            with case(f"logins: MySQL unit {name}"):
                try:
                    got = str(pando.client("mysql", name).query("show status like 'Ssl_version'"))
                except Exception as error:
                    got = str(error)
                assert expected in got, f"{more}: expected {expected}, got {got}"
        pando.stop("logins: MySQL units end")
    finally:
        root.query("drop user if exists l_cert")
        for name, file in before.items():
            root.query(f"set global {name} = '{file}'" if file else f"set global {name} = default")
        root.query("alter instance reload tls")
        root.close()


# --- the page --------------------------------------------------------------------------------------------------------------


def page():
    """`docs/hardening.md` does what it says, as pasted."""
    text = pathlib.Path(TESTING, "../docs/hardening.md").read_text().split("## Logins and connections", 1)[1].split("\n## ")[0]
    certificates, start, settings, enter = re.findall(r"```(?:sh|yaml)\n(.*?)```", text, re.S)
    here = pathlib.Path(work, "page")
    here.mkdir()

    def shell(script, **environment):
        return subprocess.run(["bash", "-euc", script], cwd=here, env={**os.environ, "HOME": str(here), **environment}, capture_output=True, text=True, timeout=60)

    with case("logins: the page's certificates"):
        done = shell(certificates)
        assert done.returncode == 0, done.stderr
    options = [str(here / word) if word.endswith((".pem", ".key")) else word for word in start.split()[4:]]
    files = {"global.yaml": settings, **database("shop", f"jdbc:postgresql://127.0.0.1:{port('pg', 0)}/ds_0", "test", "test")}
    pando = Pando(files, arguments=options)
    by_psql, by_mariadb = enter.strip().splitlines()
    with case("logins: the page's psql"):
        done = shell(by_psql.replace("5433", str(pando.postgres)) + " -Atc 'select 41 + 1'")
        assert done.stdout == "42\n", done.stderr
    if has("mariadb"):
        files.update(database("shop", f"jdbc:mariadb://127.0.0.1:{port('mariadb', 0)}/ds_0?useSsl=false", "test", "test"))
        other = Pando(files, arguments=options)
        with case("logins: the page's mariadb"):
            done = shell(by_mariadb.replace("3307", str(other.mysql)) + " -BNe 'select 41 + 1'")
            assert done.stdout == "42\n", done.stderr
        other.stop("logins: the page's other end")
    pando.stop("logins: the page's end")


# --- clients ---------------------------------------------------------------------------------------------------------------


def run(*command, **environment):
    done = subprocess.run(command, env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment}, capture_output=True, text=True, timeout=60)
    return done.stdout.strip() if done.returncode == 0 else f"failed: {done.stderr.strip()}"


def psql(at, user, **more):
    options = {"host": "127.0.0.1", "port": at, "dbname": "shop", "user": user, "connect_timeout": 20, **more}
    return run("psql", "-XAtc", "select 41 + 1", " ".join(f"{name}={value}" for name, value in options.items()))


def mariadb(at, user, *more, password=None):
    given = [f"--password={password}"] if password is not None else []
    return run("mariadb", "--no-defaults", "-h127.0.0.1", f"-P{at}", f"-u{user}", *given, *more, "-BNe", "select 41 + 1", "house")


def clients():
    files = database("shop", f"jdbc:postgresql://127.0.0.1:{port('pg', 0)}/ds_0", "test", "test")
    if has("mariadb"):
        files.update(database("house", f"jdbc:mariadb://127.0.0.1:{port('mariadb', 0)}/ds_0?useSsl=false", "test", "test"))
    pando = serve(files)
    by_psql(pando)
    if has("mariadb"):
        by_mariadb(pando)
    else:
        skip("logins: mariadb", "there is no MariaDB")
    pando.stop("logins: doors end")


def by_psql(pando):
    own = {"sslcert": path("ann.pem"), "sslkey": path("ann.key")}
    forged = {"sslcert": path("forged.pem"), "sslkey": path("forged.key")}
    none = {"sslcert": "none"}
    bound = {"channel_binding": "require"}
    tls = {"sslmode": "require"}
    full = {"sslmode": "verify-full", "sslrootcert": path("ca.pem")}
    for name, user, more, enters in [
        ("binds", "test", {**tls, **bound, "password": "test"}, True),
        ("binds to a verified server", "test", {**full, **bound, "password": "test"}, True),
        ("binds, wrong password", "test", {**tls, **bound, "password": "no"}, False),
        ("does not bind", "test", {**tls, "channel_binding": "disable", "password": "test"}, True),
        ("cannot bind in clear", "test", {"sslmode": "disable", **bound, "password": "test"}, False),
        ("a certificate for a password", "ann", {**full, **own}, True),
        ("no certificate", "ann", {**tls, **none, "password": "pw"}, False),
        ("in clear", "ann", {"sslmode": "disable", "password": "pw"}, False),
        ("a forged certificate", "ann", {**tls, **forged}, False),
        ("somebody else's certificate", "test", {**tls, **own, "password": "no"}, False),
        ("both", "both", {**tls, **own, **bound, "password": "pw"}, True),
        ("both, wrong password", "both", {**tls, **own, "password": "no"}, False),
        ("both, no certificate", "both", {**tls, **none, "password": "pw"}, False),
        ("subject", "subject", {**tls, **own, "password": "pw"}, True),
        ("another subject", "other", {**tls, **own, "password": "pw"}, False),
        ("TLS", "tls", {**tls, **none, "password": "pw"}, True),
        ("no TLS", "tls", {"sslmode": "disable", "password": "pw"}, False),
    ]:
        with case(f"logins: psql {name}"):
            got = psql(pando.postgres, user, **more)
            assert got == "42" if enters else got.startswith("failed"), got
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path("between.pem"), path("between.key"))
    between = Between(pando.postgres, context)
    with case("logins: psql notices who stands between"):
        unbound = psql(between.port, "test", **tls, channel_binding="disable", password="test")
        assert unbound == "42", f"the go-between does not work: {unbound}"
        for binding in ("prefer", "require"):
            got = psql(between.port, "test", **tls, channel_binding=binding, password="test")
            assert "channel binding" in got and got.startswith("failed"), got


def by_mariadb(pando):
    ca = f"--ssl-ca={path('ca.pem')}"
    own = (ca, f"--ssl-cert={path('ann.pem')}", f"--ssl-key={path('ann.key')}")
    forged = (ca, f"--ssl-cert={path('forged.pem')}", f"--ssl-key={path('forged.key')}")
    for name, user, password, more, enters in [
        ("TLS", "test", "test", (ca,), True),
        ("a certificate for a password", "ann", None, own, True),
        ("a certificate for a password, with one", "ann", "whatever", own, True),
        ("no certificate", "ann", None, (ca,), False),
        ("in clear", "ann", None, ("--skip-ssl",), False),
        ("a forged certificate", "ann", None, forged, False),
        ("both", "both", "pw", own, True),
        ("both, wrong password", "both", "no", own, False),
        ("both, no certificate", "both", "pw", (ca,), False),
        ("subject", "subject", "pw", own, True),
        ("another subject", "other", "pw", own, False),
        ("no TLS", "tls", "pw", ("--skip-ssl",), False),
    ]:
        with case(f"logins: mariadb {name}"):
            got = mariadb(pando.mysql, user, *more, password=password)
            assert got == "42" if enters else got.startswith("failed"), got


def main():
    if not has("pg"):
        return skip("logins", "there is no PostgreSQL")
    certificates()
    units_that_are_none()
    units_of_postgres()
    units_of_mysql()
    clients()
    page()
