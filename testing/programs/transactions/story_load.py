"""LOAD DATA: taken back whole, and in the right letters."""
import subprocess
import tempfile

from plain.house import case, server, skip
from shop import each


def load(family, pando):
    """LOAD DATA that fails after some of its lines have gone to both units: the transaction goes on without any of them, as on one server."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file, case(f"{family}-load-data-takes-itself-back") as one:
        file.writelines(f"{id}\t{'7' * 9}\n" for id in range(1000, 80_000))
        file.write("80000\n")
        file.flush()
        counted = "select count(*) from t where id >= 900"
        texts = ["begin", "insert into t (id, n) values (900, 1)", f"load data local infile '{file.name}' into table t", counted, "commit", counted,
                 "delete from t where id >= 900"]
        command = ["mariadb", "--no-defaults", "-N", "-h127.0.0.1", f"-P{pando.port(family)}", "-utest", "-ptest", "--skip-ssl", "--local-infile=1", "--force", "shop"]
        done = subprocess.run(command, input="".join(f"{text};\n" for text in texts), capture_output=True, text=True, timeout=60)
        one.detail = done.stderr.strip().splitlines()[-1][:120]
        assert "ERROR" in done.stderr and done.stdout.split() == ["1", "1"], (done.stdout, done.stderr)
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file, case(f"{family}-load-data-tells-its-warnings"):
        # One is there already, one is no number.
        file.write("900\t1\n901\tx\n900\t2\n")
        file.flush()
        text = f"load data local infile '{file.name}' into table t; show warnings; delete from t where id >= 900"
        done = subprocess.run([*[word for word in command if word != "-N"], "-vv", "-e", text], capture_output=True, text=True, timeout=60)
        assert "Records: 3  Deleted: 0  Skipped: 1  Warnings: 2" in done.stdout, done.stdout
        assert done.stdout.count("Warning\t") == 2, done.stdout


def load_in_the_databases_letters(family, pando):
    """A file of no stated character set is in that of the database, also on a connection that was put back before, which is when servers forget it."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file, case(f"{family}-load-data-in-the-databases-letters"):
        file.write("1\tä€\n2\tß\n")
        file.flush()
        text = ("create table told (id bigint primary key, w varchar(9) character set utf8mb4); set names utf8mb4 collate utf8mb4_bin; "
                f"load data local infile '{file.name}' into table told; select hex(w) from told order by id; drop table told")
        command = ["mariadb", "--no-defaults", "-N", "-h127.0.0.1", f"-P{pando.port(family)}", "-utest", "-ptest", "--skip-ssl", "--local-infile=1", "shop", "-e", text]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.stdout.split() == ["C3A4E282AC", "C39F"], (done.stdout, done.stderr)


def main():
    each(["mariadb"], load, load_in_the_databases_letters)
