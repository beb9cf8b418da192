"""docs/bring-your-database.md, word by word: every block of statements is run where the page says."""
import os
import re
import subprocess

from plain import house
from plain.house import ERRORS, Pando, case, direct, has, port, reset, skip

PAGE = os.path.join(os.path.dirname(house.TESTING), "docs", "bring-your-database.md")
BLOCK = re.compile(r"<!-- (run|refused): (.+?) -->\n```(sql|sh)\n(.*?)```", re.S)
# What the last query of a block answers, by the query: the page's own example is small enough to be known.
ANSWERS = {
    "SELECT COUNT(*) FROM orders": [["5"]],
    "SELECT COUNT(*) FROM country": [["2"]],
    "SELECT page FROM visit WHERE id = 3": [["three"]],
    "SELECT c.name, SUM(o.amount) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.name ORDER BY c.name":
        [["Ada", "18"], ["Bob", "7"], ["Cleo", "9"], ["Dan", "11"]],
}


def main():
    with open(PAGE) as page:
        text = page.read()
    blocks = BLOCK.findall(text)
    with case("bring-every-block-is-run"):
        assert len(blocks) == text.count("```") // 2 and len(blocks) > 10, f"{len(blocks)} blocks are marked, {text.count('```') // 2} are there"
    for family in ("pg", "mariadb"):
        if not has(family):
            skip(f"bring-{family}", "no server")
            continue
        with case(f"bring-{family}"):
            of_family(family, blocks)


def here(family, text):
    """The page's servers, which are somebody else's, as those of this test."""
    def server(found):
        n = int(found[1]) - 1
        return f'HOST="127.0.0.1", PORT={port(family, n)}, DB="ds_{n}", USER="test", PASSWORD="test"'
    return re.sub(r'HOST="db(\d)", PORT=5432, DB="shop", USER="app", PASSWORD="secret"', server, text)


def of_family(family, blocks):
    reset(family)
    pando = Pando(None, arguments=["--data", f"{house.work}/bring-{family}"])
    asked = 0
    for what, where, language, text in blocks:
        if language == "sh":
            if where == f"shell {family}":
                shell(pando, here(family, text))
            continue
        client = connected(family, pando, where)
        for statement in filter(None, (part.strip() for part in here(family, text).split(";\n"))):
            try:
                rows = client.query(statement)
            except ERRORS as error:
                assert what == "refused", f"{statement}: {error}"
                assert "row" in str(error), f"{statement}: {error}"
            else:
                assert what == "run", f"accepted: {statement}"
                if statement in ANSWERS:
                    assert [list(row) for row in rows] == ANSWERS[statement], f"{statement}: {rows}"
                    asked += 1
        client.close()
    assert asked >= 8, asked
    pando.stop(f"bring-stop-{family}")


def connected(family, pando, where):
    if where.startswith("server "):
        return direct(family, int(where.split()[1]))
    database = "shop"
    if where != "pando":
        database = "postgres" if family == "pg" else ""
    return pando.client(family, database, user="root", password="root")


def shell(pando, text):
    text = text.replace("-h pando -p 5433", f"-h 127.0.0.1 -p {pando.postgres}").replace("-h pando -P 3307", f"-h 127.0.0.1 -P {pando.mysql}")
    text = text.replace("mariadb --skip-ssl", "mariadb --no-defaults --skip-ssl").replace("psql ", "psql -X -q -v ON_ERROR_STOP=1 ")
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=pando.folder, env={**os.environ, "PGPASSWORD": "root"},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{text}\n{done.stderr}"
