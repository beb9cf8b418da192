"""Messages of the extended protocol as a client puts them together, and what a server says to them, so that two servers can be compared."""
import struct

from plain.postgres import Error, fields, message, row


def Q(sql):
    return "Q", message(b"Q", sql.encode() + b"\0"), f"Q({sql!r})"


def P(name, sql, *types):
    body = name.encode() + b"\0" + sql.encode() + b"\0" + struct.pack(">h", len(types)) + b"".join(struct.pack(">i", one) for one in types)
    return "P", message(b"P", body), f"P({name!r}, {sql!r})"


def BB(portal, statement):
    """Bind without parameters that asks for rows in binary."""
    return "B", message(b"B", portal.encode() + b"\0" + statement.encode() + b"\0" + struct.pack(">hhhh", 0, 0, 1, 1)), f"BB({portal!r}, {statement!r})"


def B(portal, statement, *values):
    def cell(value):
        return struct.pack(">i", -1) if value is None else struct.pack(">i", len(str(value).encode())) + str(value).encode()
    body = portal.encode() + b"\0" + statement.encode() + b"\0" + struct.pack(">hh", 0, len(values)) + b"".join(map(cell, values)) + struct.pack(">h", 0)
    return "B", message(b"B", body), f"B({portal!r}, {statement!r}, {values!r})"


def DS(name):
    return "D", message(b"D", b"S" + name.encode() + b"\0"), f"DS({name!r})"


def DP(name):
    return "D", message(b"D", b"P" + name.encode() + b"\0"), f"DP({name!r})"


def E(portal, rows=0):
    return "E", message(b"E", portal.encode() + b"\0" + struct.pack(">i", rows)), f"E({portal!r}, {rows})"


def CS(name):
    return "C", message(b"C", b"S" + name.encode() + b"\0"), f"CS({name!r})"


def CP(name):
    return "C", message(b"C", b"P" + name.encode() + b"\0"), f"CP({name!r})"


H = "H", message(b"H"), "H"
S = "S", message(b"S"), "S"
# What follows is not sent before an error has been told.
HEARD = "!", b"", "HEARD"


def L(data):
    """CopyData."""
    return "d", message(b"d", data.encode()), f"L({data[:40]!r})"


DONE = "c", message(b"c"), "DONE"


def X(sql, *values, rows=0):
    """Parse, Bind, Describe and Execute of what has no names."""
    return [P("", sql), B("", "", *values), DP(""), E("", rows)]


def flat(messages):
    for one in messages:
        if isinstance(one, list):
            yield from flat(one)
        else:
            yield one


def told(tag, body):
    """One message as a line: what must be the same on both sides."""
    name = tag.decode()
    if name in "EN":
        found = fields(body)
        return f"{name} {found.get('S')} {found.get('C')}"
    if name == "C":
        return f"C {body[:-1].decode()}"
    if name == "Z":
        return f"Z {body.decode()}"
    if name == "D":
        return f"D {row(body)}"
    if name == "T":
        columns, at = [], 2
        for _ in range(struct.unpack_from(">h", body)[0]):
            end = body.index(b"\0", at)
            columns.append((body[at:end].decode(), struct.unpack_from(">i", body, end + 7)[0]))
            at = end + 19
        return f"T {columns}"
    if name == "t":
        return f"t {list(struct.unpack(f'>{(len(body) - 2) // 4}i', body[2:]))}"
    return name


def answers(client, messages):
    """What a server says to these messages, sent together, up to the last ReadyForQuery they ask for."""
    said, waiting, awaited = [], b"", 0
    try:
        for tag, data, _ in flat(messages):
            waiting += data
            awaited += tag in "QS"
            if tag == "!":
                client.raw(waiting)
                waiting = b""
                hear(client, said, "E")
        client.raw(waiting)
        for _ in range(awaited):
            hear(client, said, "Z")
    except EOFError:
        pass
    except (TimeoutError, ConnectionError) as error:
        said.append(type(error).__name__)
    return said


def hear(client, said, last):
    """Reads up to a message of this kind."""
    line = ""
    while not line.startswith(last):
        line = told(*client.read())
        said.append(line)
        if line.startswith("E FATAL"):
            raise EOFError


def settled(said):
    """Without what both sides may say or leave out before an error: Pando asks no unit at Bind, nor at Parse of what has no name, so that what only a unit
    finds wrong is told at Describe or Execute. Syntax is told at Parse."""
    out = []
    for line in said:
        if line.startswith("E ") and not line.endswith("42601"):
            while out and (out[-1] in "12nt" or out[-1].startswith(("T ", "t "))):
                out.pop()
        out.append(line)
    return out


def shown(messages):
    return "; ".join(text for _, _, text in flat(messages))
