"""Files by statements: only below the folder of `--files`, and no word of them in an error. What `--data` holds is its user's alone, and no log tells a password."""
import os
import stat
import string

from plain import house
from plain.house import ERRORS, GLOBAL, Pando, case, check, has, port, reset, skip, sources

SHADOW = "root:$6$hush4711:19000:0:99999:7:::\nnobody:*:19000::::::\n"
SECRET = "hush4711"


def main():
    family = next((family for family in ("pg", "mariadb") if has(family)), None)
    if not family:
        return skip("files", "no server")
    with case("files", quiet=True):
        files(family)
    with case("files-folder", quiet=True):
        folder(family)
    with case("files-logs", quiet=True):
        logs()


def outcome(client, text):
    try:
        return str(client.query(text))
    except ERRORS as error:
        return f"refused: {error}"


def statements(path):
    return [f"IMPORT DATABASE CONFIGURATION FROM FILE '{path}'", f"IMPORT METADATA FROM FILE '{path}'", f"CONVERT YAML CONFIGURATION FROM FILE '{path}'"]


def files(family):
    home = f"{house.work}/exfiltration"
    data, inside, outside = f"{home}/data", f"{home}/files", f"{home}/outside"
    for path in (inside, outside, f"{inside}/deeper"):
        os.makedirs(path)
    contents = {
        "shadow": SHADOW, "flow": "{" + SECRET + ": [1, 2", "tabs": f"a:\n\t{SECRET}: b\n", "anchor": f"a: *{SECRET}\n", "tag": f"!{SECRET} x: y\n",
        "unknown": f"databaseName: shop2\n{SECRET}: 1\n", "value": f"databaseName: shop2\ndataSources:\n  ds_0: {{url: \"{SECRET}\"}}\n",
        "rule": f"databaseName: shop2\nrules:\n- !SHARDING\n  tables: {{t: {{actualDataNodes: \"ds_0.{SECRET}\"}}}}\n",
        "number": f"databaseName: shop2\ndataSources:\n  ds_0: {{url: \"jdbc:sqlite:x.db\", maxPoolSize: {SECRET}}}\n", "json": '{"meta_data": {"' + SECRET + '": 1}}',
        "jsons": '{"meta_data": {"databases": {"x": "' + SECRET + ': 1"}, "props": "' + SECRET + '", "rules": ""}}', "binary": SECRET + "\udcff",
        "digits": SECRET * 8,
    }
    for name, text in contents.items():
        for place in (inside, outside):
            with open(f"{place}/{name}", "w", errors="surrogateescape") as file:
                file.write(text)
    os.symlink(f"{outside}/shadow", f"{inside}/link")
    os.symlink(outside, f"{inside}/out")
    os.mkfifo(f"{inside}/pipe")

    with case("files-off-until-told"):
        pando = Pando(None, arguments=["--data", data])
        client = entered(pando, family)
        for text in statements(f"{outside}/shadow") + statements("/etc/passwd") + [f"EXPORT METADATA TO FILE '{outside}/new'"]:
            got = outcome(client, text)
            assert got.startswith("refused") and "--files" in got and SECRET not in got and "root:" not in got, f"{text}: {got}"
        assert not os.path.exists(f"{outside}/new")
        client.close()
        pando.stop("files-off-stop")
    pando = Pando(None, arguments=["--data", data, "--files", inside])
    client = entered(pando, family)
    with case("files-only-below-the-folder"):
        key = open(f"{data}/secret.key").read().strip()
        ways = [f"{outside}/shadow", "/etc/passwd", "../outside/shadow", "deeper/../../outside/shadow", "link", "out/shadow", "/proc/self/environ", "/dev/zero", "",
                f"{inside}/../outside/shadow", "deeper", "pipe", ".", f"{data}/secret.key", "../data/secret.key", f"{inside}/../data/secret.key"]
        for path in ways:
            for text in statements(path) + [f"EXPORT METADATA TO FILE '{path}'", f"EXPORT DATABASE CONFIGURATION TO FILE '{path}'"]:
                got = outcome(client, text)
                assert got.startswith("refused"), f"{text}: {got}"
                assert SECRET not in got and "root:" not in got, f"{text}: {got}"
                assert not any(key[at:at + 6] in got for at in range(len(key) - 5)), f"{text}: {got}"
        assert open(f"{outside}/shadow").read() == SHADOW
    with case("files-no-word-of-them"):
        for name in contents:
            for text in statements(name) + statements(f"{inside}/{name}"):
                got = outcome(client, text)
                assert got.startswith("refused"), f"{text}: {got}"
                assert SECRET not in got, f"{text}: {got}"
            # Nothing of it was kept.
            client.query("CREATE BROADCAST TABLE RULE after_it")
            client.query("DROP BROADCAST TABLE RULE after_it")
        got = outcome(client, "IMPORT DATABASE CONFIGURATION FROM FILE 'unknown'")
        assert "line 2" in got, got
    with case("files-that-are-right"):
        client.query("EXPORT METADATA TO FILE 'deeper/out.json'")
        assert stat.S_IMODE(os.stat(f"{inside}/deeper/out.json").st_mode) == 0o600
        client.query(f"EXPORT DATABASE CONFIGURATION TO FILE '{inside}/shop.yaml'")
        got = outcome(client, f"EXPORT DATABASE CONFIGURATION TO FILE '{inside}/shop.yaml'")
        assert got.startswith("refused"), got
        client.query("CONVERT YAML CONFIGURATION FROM FILE 'shop.yaml'")
    client.close()
    pando.stop("files-stop")


def entered(pando, family):
    first = pando.client(family, "postgres" if family == "pg" else "", user="root", password="root")
    if "shop" not in {row[0] for row in first.query("SHOW DATABASES" if family != "pg" else "SELECT datname FROM pg_database")}:
        first.query("CREATE DATABASE shop")
    first.close()
    return pando.client(family, "shop", user="root", password="root")


def modes(folder):
    found = {"": stat.S_IMODE(os.stat(folder).st_mode)}
    for name in os.listdir(folder):
        found[name] = stat.S_IMODE(os.stat(f"{folder}/{name}").st_mode)
    return found


def folder(family):
    data = f"{house.work}/private"
    before = os.umask(0o000)
    try:
        with case("files-data-is-its-users-alone"):
            pando = Pando(None, arguments=["--data", data])
            client = entered(pando, family)
            client.query("REGISTER STORAGE UNIT ds_0(URL=\"jdbc:sqlite:ds_0.db\")")
            client.query("CREATE TABLE t (id int)")
            client.close()
            found = modes(data)
            assert found.pop("") == 0o700 and "secret.key" in found and "ds_0.db" in found, found
            assert all(mode & 0o077 == 0 for mode in found.values()), found
            pando.stop("files-data-stop")
        with case("files-data-of-earlier-versions"):
            os.chmod(data, 0o755)
            for name in os.listdir(data):
                os.chmod(f"{data}/{name}", 0o644)
            pando = Pando(None, arguments=["--data", data])
            found = modes(data)
            assert found.pop("") == 0o700 and all(mode & 0o077 == 0 for mode in found.values()), found
            pando.stop("files-data-again-stop")
        with case("files-and-data-stand-apart"):
            for wrong in (data, f"{data}/sub", house.work):
                os.makedirs(wrong, exist_ok=True)
                try:
                    pando = Pando(None, arguments=["--data", data, "--files", wrong], patience=10)
                except RuntimeError as error:
                    assert "--files" in str(error), error
                else:
                    pando.kill()
                    raise AssertionError(f"accepted: {wrong}")
    finally:
        os.umask(before)


# Whatever holds a secret: `@` stands for it.
TOLD = [
    "CREATE ROLE bob LOGIN PASSWORD @", "ALTER ROLE bob PASSWORD @", "CREATE USER bob IDENTIFIED BY @", "SET PASSWORD FOR bob = @", "ALTER USER bob IDENTIFIED BY @",
    "GRANT ALL ON *.* TO bob IDENTIFIED BY @", "CREATE SUBSCRIPTION s CONNECTION 'host=h password=hush4711' PUBLICATION p", "CHANGE MASTER TO MASTER_PASSWORD = @",
    "CREATE SERVER s FOREIGN DATA WRAPPER w OPTIONS (password @)", "CREATE USER MAPPING FOR bob SERVER s OPTIONS (user 'u', password @)", "SELECT dblink_connect('host=h password=hush4711')",
    "REGISTER STORAGE UNIT x(HOST='127.0.0.1', PORT=1, DB=d, USER=u, PASSWORD=@)", "ALTER STORAGE UNIT ds_0(URL='jdbc:mysql://u:hush4711@h:1/d', USER=u, PASSWORD=@)",
    "CREATE ENCRYPT RULE t(COLUMNS((NAME=c, CIPHER=d, ENCRYPT_ALGORITHM(TYPE(NAME='AES', PROPERTIES('aes-key-value'=@))))))", "IMPORT METADATA @",
    "SELECT 1 WHERE 'secret' = @", "CREATE ROLE bob LOGIN PASSWORD 'hush4711", "ALTER USR bob PASSWORD hush4711", "PREPARE p FROM \"CREATE USER b IDENTIFIED BY 'hush4711'\"",
    "DO $$ BEGIN EXECUTE 'CREATE ROLE b PASSWORD ''hush4711'''; END $$", "EXPLAIN SELECT pgp_sym_encrypt('x', @)", "FORMAT CREATE USER b IDENTIFIED BY @",
]


def logs():
    """Everything at the highest level, with sql-show, through both doors and in both protocols' ways."""
    for family in ("pg", "mariadb"):
        if not has(family):
            continue
        reset(family)
        pando = Pando({"global.yaml": GLOBAL + "props:\n  sql-show: true\n", "database-shop.yaml": "databaseName: shop\n" + sources(family, units=1)},
                      arguments=["--log", "trace"])
        client = pando.client(family, "shop")
        client.query("CREATE TABLE told (id int)")
        client.query("INSERT INTO told VALUES (4712)")
        for text in TOLD:
            for quoted in (f"'{SECRET}'", f"\"{SECRET}\"", f"$${SECRET}$$"):
                outcome(client, text.replace("@", quoted))
        client.close()
        with case(f"files-logs-tell-no-password-{family}"):
            with open(pando.log.name) as log:
                said = log.read()
            found = [line[:300] for line in said.splitlines() if SECRET in line]
            assert not found, found[:3]
            # What was said is what would have told it.
            assert "4712" in said, said[-2000:]
        # Roles that a server made.
        cleaner = house.direct(family, 0)
        outcome(cleaner, "DROP ROLE bob" if family == "pg" else "DROP USER bob")
        cleaner.close()
        pando.stop(f"files-logs-stop-{family}")
