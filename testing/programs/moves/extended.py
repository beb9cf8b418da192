"""Prepared statements of both protocols, with parameters as text."""
import struct

from plain import mysql, postgres


def execute(client, sql, values):
    """Prepares, describes and runs a statement: its rows. What it affected is then in the client, as after a query."""
    return (_postgres if isinstance(client, postgres.Client) else _mysql)(client, sql, values)


def _text(value):
    return struct.pack(">i", -1) if value is None else struct.pack(">i", len(value.encode())) + value.encode()


def _postgres(client, sql, values):
    client.raw(
        postgres.message(b"P", b"\0" + sql.encode() + b"\0" + struct.pack(">h", 0)) + postgres.message(b"D", b"S\0") + postgres.message(b"S"))
    client.ready()
    bind = b"\0\0" + struct.pack(">hh", 0, len(values)) + b"".join(map(_text, values)) + struct.pack(">h", 0)
    client.raw(postgres.message(b"B", bind) + postgres.message(b"E", b"\0" + struct.pack(">i", 0)) + postgres.message(b"S"))
    return client.rows()


def _mysql(client, sql, values):
    statement, parameters = client.prepare(sql)
    if parameters != len(values):
        raise AssertionError(f"{parameters} parameters instead of {len(values)}")
    nulls = bytearray((len(values) + 7) // 8)
    for at, value in enumerate(values):
        if value is None:
            nulls[at // 8] |= 1 << at % 8
    types = b"".join(struct.pack("<BB", 0xFD, 0) for _ in values)
    data = b"".join(mysql.lenenc(len(value.encode())) + value.encode() for value in values if value is not None)
    body = struct.pack("<IBI", statement, 0, 1) + (bytes(nulls) + b"\1" + types + data if values else b"")
    client.command(0x17, body)
    if client.head() is not None:
        raise AssertionError("rows nobody asked for")
    return []
