"""What no MySQL client should send."""
import os
import random
import socket
import struct
import time

from plain import mysql
from plain.mysql import Client, Error, lenenc


def raw(pando):
    """Connected and greeted, nothing said."""
    return Client(pando.mysql, login=False, timeout=10)


def login(pando, **more):
    return Client(pando.mysql, database="shop", timeout=60, **more)


def refused(client, *codes):
    """The next packet is an error with one of these numbers."""
    packet = client.packet()
    assert packet[0] == 0xFF, f"expected an error, got {bytes(packet[:60])!r}"
    error = client.error(packet)
    assert not codes or (error.code, error.state) in codes or error.code in codes, f"expected {codes}, got {error}"
    return error


def done(client):
    """Nothing more is sent; the server may have closed before."""
    try:
        client.socket.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def ends(client):
    """The server closes the connection, whatever it says before."""
    try:
        while client.socket.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    client.socket.close()


def lives(client):
    """The same session goes on."""
    assert client.query("select id from t where id = 1") == [["1"]]
    client.close()


def frame(payload, sequence=0, length=None):
    return struct.pack("<I", len(payload) if length is None else length)[:3] + bytes([sequence]) + payload


def random_bytes(pando):
    """Instead of a login; half of them with a right header."""
    for seed in range(120):
        chance = random.Random(seed)
        client, noise = raw(pando), chance.randbytes(chance.randrange(1, 600))
        client.raw(frame(noise, 1) if seed % 2 else noise)
        done(client)
        ends(client)


def truncated_login(pando):
    client = raw(pando)
    whole = client.response("test", mysql.sha2("test", client.scramble), "shop", b"caching_sha2_password")
    client.socket.close()
    for cut in range(0, len(whole), 3):
        # The header tells the truth about what is left.
        client = raw(pando)
        client.raw(frame(whole[:cut], 1))
        packet = client.packet()
        assert packet[0] in (0xFF, 0xFE, 0x01), f"cut at {cut}: {bytes(packet[:40])!r}"
        if packet[0] == 0xFF:
            assert client.error(packet).code in (1043, 1045, 1835), f"cut at {cut}: {client.error(packet)}"
        client.socket.close()
        # The header lies, and nothing more comes.
        client = raw(pando)
        client.raw(frame(whole[:cut], 1, len(whole)))
        done(client)
        ends(client)


def lying_login(pando):
    for length in (0xFFFFFF, 1 << 20, (128 << 10) + 1):
        client = raw(pando)
        client.raw(frame(b"", 1, length))
        refused(client, (1153, "08S01"))
        ends(client)


def wrong_sequence(pando):
    client = raw(pando)
    client.raw(frame(client.response("test", b""), 7))
    refused(client, (1156, "08S01"))
    ends(client)
    client = login(pando)
    client.raw(frame(b"\x0e", 5))
    refused(client, (1156, "08S01"))
    ends(client)


def wrong_login(pando):
    cases = [("test", "wrong", "shop", (1045, "28000")), ("nobody", "test", "shop", (1045, "28000")), ("test", "", "shop", (1045, "28000")),
             ("", "", "", (1045, "28000")), ("test", "test", "nowhere", (1049, "42000")), ("t" * 300, "x", "", (1045, "28000")),
             ("test", "test", "n" * 5000, (1049, "42000"))]
    for user, password, database, expected in cases:
        try:
            Client(pando.mysql, user, password, database, timeout=10)
            raise AssertionError(f"`{user}` with `{password}` is let in")
        except Error as error:
            assert (error.code, error.state) == expected, f"{user}, {password}, {database[:20]}: {error}"


def wrong_answers(pando):
    """Authentication methods and answers that make no sense."""
    for plugin, answer in [(b"mysql_clear_password", b"test\0"), (b"no_such_plugin", b"x"), (b"\xff" * 40, b""), (b"caching_sha2_password", b"short"),
                           (b"caching_sha2_password", b"x" * 250), (b"mysql_native_password", b"y" * 20)]:
        client = raw(pando)
        client.sequence = 1
        client.send(client.response("test", answer, "shop", plugin))
        for _ in range(6):
            packet = client.packet()
            if packet[0] == 0xFF:
                assert client.error(packet).code in (1045, 1043, 1835, 1251, 2061), client.error(packet)
                break
            assert packet[0] in (0xFE, 0x01), f"{plugin!r} is let in"
            client.send(b"\x02" if len(packet) < 4 else b"nonsense" * 40)
        else:
            raise AssertionError(f"{plugin!r}: no end to the questions")
        ends(client)


def half_open(pando):
    silent = [socket.create_connection(("127.0.0.1", pando.mysql)) for _ in range(200)]
    lives(login(pando))
    for one in silent:
        one.close()


def byte_by_byte(pando):
    client = raw(pando)
    for byte in frame(client.response("test", mysql.sha2("test", client.scramble), "shop", b"caching_sha2_password"), 1):
        client.raw(bytes([byte]))
        time.sleep(0.001)
    while client.packet()[0] == 0x01:
        pass
    lives(client)


def unknown_commands(pando):
    client = login(pando)
    for code in (0x00, 0x05, 0x06, 0x0F, 0x12, 0x1D, 0x20, 0x7F, 0xFE, 0xFF):
        client.command(code, b"whatever")
        refused(client, (1047, "08S01"))
    lives(client)


def empty_command(pando):
    client = login(pando)
    client.raw(frame(b""))
    refused(client)
    ends(client)


def unknown_statements(pando):
    client = login(pando)
    client.command(0x17, struct.pack("<IBI", 4711, 0, 1))
    refused(client, (1243, "HY000"))
    client.command(0x1C, struct.pack("<II", 4711, 10))
    refused(client, (1243, "HY000"))
    client.command(0x1A, struct.pack("<I", 4711))
    refused(client, (1243, "HY000"))
    # These two have no answer, right or wrong.
    client.command(0x19, struct.pack("<I", 4711))
    client.command(0x18, struct.pack("<IH", 4711, 0) + b"data")
    lives(client)


def truncated_commands(pando):
    for command in (b"\x17", b"\x17\x01", b"\x1c\x01", b"\x1a", b"\x19\x01", b"\x18\x01\0", b"\x0c\x01", b"\x1b", b"\x11", b"\x11abc"):
        client = login(pando)
        client.raw(frame(command))
        refused(client, 1835, 1243, 1047, 1043, 1045, 1158)
        ends(client)


def broken_executions(pando):
    client = login(pando)
    statement, count = client.prepare("select id from t where id = ? and note = ?")
    assert count == 2
    head = struct.pack("<IBI", statement, 0, 1)
    bodies = [b"", b"\0", b"\0\1", b"\0\1\x08\0", b"\0\1\x08\0\xfd\0", b"\0\1\x08\0\xfd\0\1\0", b"\0\0", b"\0\1\x99\0\xfd\0" + b"\0" * 40,
              b"\0\1\x08\0\xfd\0" + b"\0" * 8 + b"\xfe" + b"\xff" * 8, b"\0\1\x08\0\xfd\0" + b"\0" * 8 + b"\xfd\xff\xff\xff",
              b"\0\1\x0c\0\xfd\0\x63" + b"\0" * 100, b"\0\1\xf6\0\xfd\0\x0b1e999999999\0", b"\0\1\xf6\0\xfd\0\x0c1e-999999999\0"]
    for body in bodies:
        client.command(0x17, head + body)
        packet = client.packet()
        assert packet[0] == 0xFF, f"{body!r} is taken: {bytes(packet[:40])!r}"
    # A right one still works afterwards.
    client.command(0x17, head + b"\0\1\x08\0\xfd\0" + struct.pack("<q", 1) + lenenc(3) + b"one")
    assert client.head() == 1
    while not client.ends(client.packet()):
        pass
    lives(client)


def long_data_storm(pando):
    """Pieces of a parameter beyond every limit: told when the statement runs, and not kept."""
    client = login(pando)
    statement, _ = client.prepare("select id from t where note = ?")
    piece = b"x" * (1 << 20)
    for _ in range(70):
        client.command(0x18, struct.pack("<IH", statement, 0) + piece)
    client.command(0x17, struct.pack("<IBI", statement, 0, 1) + b"\0\1\xfd\0")
    refused(client, (1153, "08S01"))
    lives(client)


def bad_texts(pando):
    client = login(pando)
    for text, codes in [(b"select 1\0", (1064,)), (b"select \xff\xfe from t", ()), (b"select '\xc3", ()), (b"", (1065,)), (b"\0", (1064,)),
                        (b"/*", (1064,)), (b"select 'abc", (1064,)), (b"select `abc", (1064,)), (b"select \"abc", (1064,)),
                        (b"/*!50000 " * 20000, (1064,)), (b"select" * 20000, ()), (b"/* SHARDINGSPHERE_HINT: x=y=z,,, */ select", ()),
                        (b"select id from t where id in (", (1064,)), (b"?" * 1000, (1064,)), (b"kill", (1064,)), (b"kill 99999999999999999999", ()),
                        (b"use nowhere", (1049,)), (b"select * from nowhere", (1146,)), (b"execute nothing", (1243,)), (b"deallocate prepare nothing", (1243,))]:
        client.command(3, text)
        packet = client.packet()
        assert packet[0] == 0xFF, f"{text[:40]!r} is taken: {bytes(packet[:40])!r}"
        error = client.error(packet)
        assert not codes or error.code in codes, f"{text[:40]!r}: expected {codes}, got {error}"
        assert len(error.message) < 5000, f"{text[:40]!r}: an error of {len(error.message)} bytes"
    client.command(2, b"nowhere")
    refused(client, (1049, "42000"))
    client.command(2, b"\xff\xff")
    refused(client, (1049, "42000"))
    client.command(4, b"nowhere\0")
    refused(client)
    client.command(0x0C, struct.pack("<I", 0xFFFFFFFF))
    refused(client, (1094, "HY000"))
    client.command(0x1B, b"\x09\0")
    refused(client, (1047, "08S01"))
    lives(client)


def many_placeholders(pando):
    client = login(pando)
    client.command(0x16, b"select id from t where id in (" + b"?," * 70000 + b"?)")
    refused(client, 1390)
    lives(client)


def oversized(pando):
    """Beyond 64 MiB: refused as soon as the length is known."""
    client = login(pando)
    try:
        client.raw(frame(b"\x03" + b"x" * 0xFFFFFE))
        for sequence in range(1, 5):
            client.raw(frame(b"x" * 0xFFFFFF, sequence))
    except (BrokenPipeError, ConnectionResetError):
        pass
    try:
        refused(client, (1153, "08S01"))
    except ConnectionError:
        # The rest of the statement was on its way when the server closed.
        pass
    ends(client)


def change_user(pando):
    client = login(pando)
    client.command(0x11, b"nobody\0\x14" + b"x" * 20 + b"shop\0\x2d\0mysql_native_password\0")
    packet = client.packet()
    if packet[0] == 0xFE:
        client.send(b"y" * 32)
        packet = client.packet()
    while packet[0] == 0x01:
        client.send(b"z" * 32)
        packet = client.packet()
    assert packet[0] == 0xFF and client.error(packet).code == 1045, bytes(packet[:60])
    ends(client)


def infile(pando):
    """The server asks for a file, and gets nonsense."""
    client = login(pando, capabilities=mysql.CAPABILITIES | 0x80)
    client.command(3, b"load data local infile '/x' into table t fields terminated by ','")
    packet = client.packet()
    assert packet[0] == 0xFB, bytes(packet[:60])
    client.send(os.urandom(5000))
    client.send(b"")
    packet = client.packet()
    assert packet[0] in (0xFF, 0x00), bytes(packet[:60])
    lives(client)


def random_commands(pando):
    for seed in range(150):
        chance = random.Random(seed)
        client = login(pando)
        for _ in range(4):
            code = chance.choice([2, 3, 4, 0x0C, 0x11, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, chance.randrange(256)])
            try:
                client.raw(frame(bytes([code]) + chance.randbytes(chance.randrange(60))))
            except (BrokenPipeError, ConnectionResetError):
                # The server has closed already: a command that cannot be read, or a wrong login, ends the connection.
                break
        done(client)
        ends(client)


CASES = [random_bytes, truncated_login, lying_login, wrong_sequence, wrong_login, wrong_answers, half_open, byte_by_byte, unknown_commands,
         empty_command, unknown_statements, truncated_commands, broken_executions, long_data_storm, bad_texts, many_placeholders, oversized,
         change_user, infile, random_commands]
