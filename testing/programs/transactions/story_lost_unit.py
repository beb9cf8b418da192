"""A unit that is lost before the commit."""
import os

from plain.background import Background
from plain.house import ERRORS, SERVICES, case, server, signal_server, skip, until
from shop import FAMILIES, each, refused


def kill(name):
    """Kills a server and waits until its sockets are closed, which they are when its last thread has ended."""
    with open(f"{SERVICES}/{name}.pid") as file:
        folder = f"/proc/{int(file.read())}"
    signal_server(name, "kill")

    def over():
        try:
            with open(f"{folder}/stat") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
            return state in "ZX" and len(os.listdir(f"{folder}/task")) == 1
        except OSError:
            return True

    assert until(5, over, every=0.01)


def lost_before_commit(family, pando):
    """A unit dies before COMMIT: nothing is committed anywhere, and the client is told that it may begin again."""
    if server(family, 0) == server(family, 1):
        return skip(f"{family}-lost-before-commit", "one server only")
    for name, ids in (("last", (2, 1)), ("first", (1, 2))):
        with case(f"{family}-lost-before-commit-{name}") as one:
            client = pando.client(family, "shop", timeout=20)
            client.query("begin")
            for id in ids:
                client.query(f"update t set n = 9 where id = {id}")
            kill(server(family, 1))
            try:
                error = Background(lambda: refused(client, "commit")).wait(5)
                assert isinstance(error, ERRORS), repr(error)
                assert error.code == ("40001" if family == "pg" else 1213), str(error)
                one.detail = str(error)[:120]
                assert client.query("select n from t where id = 2") == [["0"]], "a part of the transaction is there"
            finally:
                signal_server(server(family, 1), "start")
            assert until(5, lambda: client.query("select sum(n) from t") == [["0"]]), "a part of the transaction is there"
            client.close()


def main():
    each(FAMILIES, lost_before_commit)
