"""A client that writes rows of a table whose rows are being stored otherwise, and reads them again."""
import random
import threading

from plain.house import ERRORS

MARK = "Marked"
KEYS = ["base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "base64:ICECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]
WRITERS = 3


def rule(table, verb="CREATE", plain=True, keys=(0,)):
    """An encrypt rule: AES-GCM-SIV with an assisted column, AES, and a date."""
    listed = ",".join(f"{n + 1}={KEYS[n]}" for n in keys)
    gcm = f"TYPE(NAME='AES_GCM_SIV', PROPERTIES('keys'='{listed}', 'key-id'='{keys[-1] + 1}'))"
    mac = f"TYPE(NAME='HMAC_SHA256', PROPERTIES('key'='{KEYS[0]}'))"
    aes = "TYPE(NAME='AES', PROPERTIES('aes-key-value'='k'))"
    own = lambda name: f", PLAIN={name}" if plain else ""
    query = ", QUERY_WITH_CIPHER_COLUMN=false" if plain else ""
    return (f"{verb} ENCRYPT RULE {table}(COLUMNS("
            f"(NAME=phone{own('phone')}, CIPHER=phone_cipher, ASSISTED_QUERY=phone_mac, ENCRYPT_ALGORITHM({gcm}), ASSISTED_QUERY_ALGORITHM({mac})),"
            f"(NAME=born, DATA_TYPE='DATE'{own('born')}, CIPHER=born_cipher, ENCRYPT_ALGORITHM({aes}))){query})")


class Writer(threading.Thread):
    """Writes rows of its own and reads them again, and remembers what it has been told to be done."""

    def __init__(self, house, family, number, **login):
        super().__init__(daemon=True)
        self.house, self.family, self.number, self.login = house, family, number, login
        self.rows, self.wrong, self.ends, self.done = {}, None, False, 0
        self.random = random.Random(number)

    def run(self):
        client = None
        while not self.ends and not self.wrong:
            try:
                client = client or self.house.pando.client(self.family, "shop", timeout=60, **self.login)
                self.step(client)
            except ERRORS as error:
                # What was planned by a rule that is no more is to be repeated.
                if "40001" not in str(error) and "17011" not in str(error):
                    self.wrong = f"{error}"
                self.known(client)
            except OSError:
                client = None
                self.house.up.wait(60)
                self.known(None)

    def step(self, client):
        id = 100_000 + self.number + WRITERS * self.random.randrange(300)
        phone = self.random.choice([None, f"{MARK}{self.random.randrange(1 << 30)}"])
        born = f"{1950 + self.random.randrange(60)}-0{self.random.randrange(9) + 1}-1{self.random.randrange(9)}"
        self.unsure = id
        text = "null" if phone is None else f"'{phone}'"
        if id not in self.rows:
            client.query(f"insert into t (id, phone, born) values ({id}, {text}, '{born}')")
            self.rows[id] = (phone, born)
        elif self.random.random() < 0.2:
            client.query(f"delete from t where id = {id}")
            del self.rows[id]
        elif self.random.random() < 0.3:
            client.query("begin")
            client.query(f"update t set phone = {text} where id = {id}")
            client.query(f"update t set born = '{born}' where id = {id}")
            if self.random.random() < 0.5:
                client.query("commit")
                self.rows[id] = (phone, born)
            else:
                client.query("rollback")
        else:
            client.query(f"update t set phone = {text}, born = '{born}' where id = {id}")
            self.rows[id] = (phone, born)
        self.unsure = None
        self.done += 1
        got = client.query(f"select phone, born from t where id = {id}")
        expected = [self.rows[id]] if id in self.rows else []
        if [tuple(row) for row in got] != expected:
            self.wrong = f"row {id}: expected {expected}, got {got}"
        elif phone is not None and self.rows.get(id, (None,))[0] == phone:
            found = client.query(f"select id from t where phone = '{phone}'")
            if [str(id)] not in [[str(cell) for cell in row] for row in found]:
                self.wrong = f"row {id} is not found by its phone"

    def known(self, client):
        """Looks what became of the statement that was under way."""
        id, self.unsure = getattr(self, "unsure", None), None
        if id is None or self.wrong:
            return
        for _ in range(50):
            try:
                client = client or self.house.pando.client(self.family, "shop", timeout=60, **self.login)
                try:
                    client.query("rollback")
                except ERRORS:
                    pass
                rows = client.query(f"select phone, born from t where id = {id}")
                if rows:
                    self.rows[id] = tuple(rows[0])
                else:
                    self.rows.pop(id, None)
                return
            except ERRORS:
                self.house.up.wait(0.1)
            except OSError:
                client = None
                self.house.up.wait(60)
