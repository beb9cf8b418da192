"""Clients that speak another encoding than UTF8: the same bytes straight to one server and through Pando. What comes back, rows, names, errors,
notices, copied data and parameters that are told, has the same bytes, and what lies in the units is UTF8."""

import os
import re

from psycopg import pq

from cases import DATABASE, PORT, case, done, equal

STRAIGHT = int(os.environ["UNIT_PORTS"].split()[0])
ENCODINGS = ["LATIN1", "LATIN2", "LATIN9", "WIN1250", "WIN1251", "WIN1252", "KOI8R", "WIN866", "ISO_8859_7", "SQL_ASCII", "UTF8"]
# Of each encoding letters that it has.
LETTERS = {"LATIN2": "žščěř", "WIN1250": "žščěř", "WIN1251": "жук", "KOI8R": "жук", "WIN866": "жук", "ISO_8859_7": "αβγ", "LATIN9": "é€"}
PYTHON = {"LATIN1": "latin-1", "LATIN2": "iso8859-2", "LATIN9": "iso8859-15", "WIN1250": "cp1250", "WIN1251": "cp1251", "WIN1252": "cp1252",
          "KOI8R": "koi8-r", "WIN866": "cp866", "ISO_8859_7": "iso8859-7", "SQL_ASCII": "utf-8", "UTF8": "utf-8"}
FIELDS = [pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY, pq.DiagnosticField.MESSAGE_DETAIL,
          pq.DiagnosticField.MESSAGE_HINT, pq.DiagnosticField.STATEMENT_POSITION]


class Client:
    """One of the two: what it is told is kept, actual tables' names as the logic one's."""

    def __init__(self, port, database, encoding):
        text = f"host=127.0.0.1 port={port} user=test password=test dbname={database} connect_timeout=10"
        if encoding:
            text += f" client_encoding={encoding}"
        self.connection = pq.PGconn.connect(text.encode())
        if self.connection.status != pq.ConnStatus.OK:
            raise AssertionError(self.connection.error_message.decode(errors="replace"))
        self.said = []
        self.connection.notice_handler = lambda result: self.said.append(("notice", self.fields(result)))
        self.encoding()

    def fields(self, result):
        said = [result.error_field(field) for field in FIELDS]
        return [re.sub(rb"_[01](?=\b|_pkey)", b"", field) if field else field for field in said]

    def encoding(self):
        self.said.append(self.connection.parameter_status(b"client_encoding"))

    def note(self, result):
        columns = [(result.fname(i), result.ftype(i), result.fformat(i)) for i in range(result.nfields)]
        rows = [[result.get_value(row, i) for i in range(result.nfields)] for row in range(result.ntuples)]
        self.said.append((result.status, result.command_status, columns, rows, self.fields(result)))
        self.encoding()

    def run(self, text):
        self.note(self.connection.exec_(text))

    def bound(self, text, values, *, types=None, formats=None, result=0):
        self.note(self.connection.exec_params(text, values, types, formats, result))

    def prepared(self, name, text, values):
        self.note(self.connection.prepare(name, text))
        self.note(self.connection.describe_prepared(name))
        self.note(self.connection.exec_prepared(name, values))

    def copied_in(self, text, data):
        begun = self.connection.exec_(text)
        if begun.status != pq.ExecStatus.COPY_IN:
            return self.note(begun)
        for piece in data:
            self.connection.put_copy_data(piece)
        self.connection.put_copy_end()
        while result := self.connection.get_result():
            self.note(result)

    def copied_out(self, text):
        begun = self.connection.exec_(text)
        if begun.status != pq.ExecStatus.COPY_OUT:
            return self.note(begun)
        lines = []
        while True:
            count, line = self.connection.get_copy_data(0)
            if count < 0:
                break
            lines.append(bytes(line))
        while result := self.connection.get_result():
            self.note(result)
        self.said.append(sorted(lines))


def same(work, encoding=None):
    through, straight = Client(PORT, DATABASE, encoding), Client(STRAIGHT, "direct", encoding)
    for client in (through, straight):
        work(client)
        client.connection.finish()
    for here, there in zip(through.said, straight.said):
        if here != there:
            raise AssertionError(f"{encoding}: expected {there}, got {here}")
    equal(len(through.said), len(straight.said))
    return through.said


@case
def create():
    def work(client):
        client.run(b"create table t_order (order_id bigint primary key, user_id int not null, status varchar(32), note json)")
        client.run(b"create table t_alone (id int primary key, word text)")

    same(work)


@case
def texts_values_names_and_copies():
    for number, encoding in enumerate(ENCODINGS):
        word = LETTERS.get(encoding, "éüß").encode(PYTHON[encoding])

        def work(client):
            client.run(b"show client_encoding")
            client.run(b"select pg_client_encoding(), current_setting('client_encoding')")
            at = number * 100
            client.run(b"insert into t_order values (%d, 1, '%s'), (%d, 2, '%s%s')" % (at, word, at + 1, word, word))
            client.run(b"select status as \"%s\" from t_order where status like '%s%%' and order_id >= %d order by order_id" % (word, word, at))
            client.run(b"select status, length(status), '%s' from t_order where order_id = %d" % (word, at))
            client.bound(b"select $1::text as \"%s\", status from t_order where order_id = $2 and status = $1" % word, [word, b"%d" % at])
            client.bound(b"select $1, length($1)", [word], types=[25], formats=[1], result=1)
            client.bound(b"select order_id, status from t_order where order_id = $1 and user_id = 1", [at.to_bytes(8, "big")], types=[20], formats=[1], result=1)
            client.prepared(b"p" + word, b"select status from t_order where status = $1 and order_id = $2", [word, b"%d" % at])
            client.copied_in(b"copy t_order (order_id, user_id, status) from stdin", [b"%d\t1\t%s\n%d\t2\t%s\n" % (at + 2, word, at + 3, word)])
            client.copied_out(b"copy (select order_id, status from t_order where order_id >= %d) to stdout" % at)
            client.run(b"insert into t_order values (%d, 1, '%s')" % (at, word))
            client.run(b"select \"%s\" from t_order" % word)
            client.run(b"select * from \"%s\"" % word)
            client.run(b"do $$ begin raise notice '%s'; end $$" % word)
            client.run(b"insert into t_alone values (%d, '%s') returning word" % (at, word))

        same(work, encoding)
    same(lambda client: client.copied_out(b"copy t_order to stdout"), "UTF8")


@case
def every_byte_of_every_encoding():
    """What it means, and that the same byte comes back; or that it means nothing."""
    names = ([f"LATIN{number}" for number in range(1, 11)] + [f"ISO_8859_{number}" for number in range(5, 9)]
             + [f"WIN{number}" for number in range(1250, 1259)] + ["WIN866", "WIN874", "KOI8R", "KOI8U"])
    for encoding in names:
        def work(client):
            for byte in range(128, 256):
                client.run(b"select '%s', ascii('%s')" % (bytes([byte]), bytes([byte])))

        same(work, encoding)


@case
def what_lies_in_the_units_is_utf8():
    said = same(lambda client: client.run(b"select status, encode(convert_to(status, 'UTF8'), 'hex') from t_order where order_id in (201, 401) order by order_id"))
    rows = [row for told in said if isinstance(told, tuple) for row in told[3]]
    equal(rows, [["é€é€".encode(), "é€é€".encode().hex().encode()], ["жукжук".encode(), "жукжук".encode().hex().encode()]])


@case
def characters_without_an_equivalent():
    def work(client):
        client.run(b"select '\x81'")
        client.run(b"select chr(1078)")
        client.run(b"select order_id, status from t_order where order_id = 401")
        client.run(b"select 1 as n, chr(8364); select 2")
        client.bound(b"select $1::text", [b"\x81"])
        client.bound(b"select status from t_order where order_id = $1", [b"401"])
        client.prepared(b"bad", b"select '\x81'", [])
        client.copied_in(b"copy t_order (order_id, user_id, status) from stdin", [b"9000\t1\ta\n9001\t2\t\x81\n"])
        client.run(b"select count(*) from t_order where order_id >= 9000")
        client.copied_out(b"copy (select status from t_order where order_id = 401) to stdout")
        client.run(b"do $$ begin raise exception '%', chr(1078); end $$")
        client.run(b"begin")
        client.run(b"select chr(1078)")
        client.run(b"select 1")
        client.run(b"rollback")

    same(work, "WIN1252")


@case
def set_taken_back_and_set_again():
    def work(client):
        client.run(b"set client_encoding = 'latin1'")
        client.run(b"select '\xe9'; set client_encoding to utf8; select '\xe9'")
        client.run(b"set names 'iso-8859-15'")
        client.run(b"select '\xa4', pg_client_encoding()")
        client.run(b"reset client_encoding")
        client.run(b"show client_encoding")
        client.run(b"begin; set local client_encoding = 'LATIN1'; select '\xe9'")
        client.run(b"select chr(233), current_setting('client_encoding')")
        client.run(b"commit")
        client.run(b"select chr(233)")
        client.run(b"begin; set client_encoding = 'LATIN1'")
        client.run(b"select chr(233)")
        client.run(b"rollback")
        client.run(b"select chr(233)")
        client.run(b"begin; set client_encoding = 'LATIN1'; savepoint s; set client_encoding = 'LATIN9'")
        client.run(b"select chr(8364)")
        client.run(b"rollback to s")
        client.run(b"select chr(233)")
        client.run(b"commit")
        client.run(b"show client_encoding")
        client.run(b"select set_config('client_encoding', 'Windows-1252', false)")
        client.run(b"select chr(8364)")
        client.run(b"select set_config('client_encoding', 'koi8', true)")
        client.run(b"show client_encoding")
        client.run(b"discard all")
        client.run(b"select chr(233)")
        client.run(b"set names")
        client.run(b"set client_encoding = 'nothing'")
        client.run(b"set local client_encoding = 'LATIN1'")
        client.run(b"show client_encoding")

    for encoding in ("UTF8", "WIN1252"):
        same(work, encoding)


@case
def what_is_not_spoken_is_refused():
    client = Client(PORT, DATABASE, None)
    client.run("set client_encoding = 'SJIS'".encode())
    equal(client.said[-2][4][0], b"22023")
    client.run(b"set client_encoding = 'LATIN1'")
    client.bound(b"select array['a']", [], result=1)
    equal(client.said[-2][4][0], b"0A000")
    client.copied_out(b"copy t_alone to stdout with (encoding 'UTF8')")
    equal(client.said[-2][4][0], b"0A000")
    client.copied_out(b"copy t_alone to stdout with (format binary)")
    equal(client.said[-2][4][0], b"0A000")
    client.connection.finish()


@case
def drop():
    same(lambda client: (client.run(b"drop table t_order"), client.run(b"drop table t_alone")))


done()
