"""What no PostgreSQL client should send."""
import random
import socket
import struct
import threading
import time

from plain import postgres
from plain.postgres import Client, Error, fields, message, startup


def raw(pando):
    return Client(pando.postgres, login=False, timeout=10)


def login(pando):
    return Client(pando.postgres, database="shop", timeout=60)


def refused(client, *states):
    """The next message is an error with one of these SQLSTATEs."""
    tag, body = client.read()
    assert tag == b"E", f"expected an error, got {tag!r} {body[:60]!r}"
    error = Error(fields(body))
    assert not states or error.state in states, f"expected {states}, got {error}"
    return error


def fatal(client, *states):
    """An error that ends the connection."""
    error = refused(client, *states)
    assert error.severity == "FATAL", f"expected a fatal error, got {error}"
    ends(client)


def done(client):
    """Nothing more is sent; the server may have closed before."""
    try:
        client.socket.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def ends(client):
    try:
        while client.socket.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    client.socket.close()


def lives(client):
    assert client.query("select id from t where id = 1") == [["1"]]
    client.close()


def stumbles(client, data, *states):
    """An error in the extended protocol: told once, then everything is passed over up to Sync."""
    client.raw(data + message(b"S"))
    told = [Error(fields(body)) for tag, body in client.until_ready() if tag == b"E"]
    assert len(told) == 1, f"{len(told)} errors: {told}"
    assert not states or told[0].state in states, f"expected {states}, got {told[0]}"


def random_bytes(pando):
    for seed in range(120):
        chance = random.Random(seed)
        client, noise = raw(pando), chance.randbytes(chance.randrange(1, 600))
        client.raw(struct.pack(">i", len(noise) + 4) + noise if seed % 2 else noise)
        done(client)
        ends(client)


def truncated_startup(pando):
    whole = startup({"user": "test", "database": "shop", "application_name": "x"})
    for cut in range(len(whole)):
        client = raw(pando)
        client.raw(whole[:cut])
        done(client)
        ends(client)
        if cut >= 9:
            client = raw(pando)
            client.raw(struct.pack(">i", cut) + whole[4:cut])
            tag, body = client.read()
            assert tag in (b"E", b"R"), f"cut at {cut}: {tag!r}"
            if tag == b"E":
                assert fields(body)["C"] in ("08P01", "28000", "28P01"), f"cut at {cut}: {fields(body)}"
            client.socket.close()


def lying_startup(pando):
    for length in (0, 3, 7, 10_001, 0x7FFFFFFF, -1, -0x80000000):
        client = raw(pando)
        client.raw(struct.pack(">i", length) + b"\0\3\0\0user\0test\0\0")
        # As a server: no word to whom does not speak this protocol.
        ends(client)


def wrong_startup(pando):
    for data, states in [(startup({"user": "test"}, 0x20000), ("0A000",)), (startup({"database": "shop"}), ("28000",)),
                         (startup({"user": "test", "database": "shop"}, 0x40000), ("0A000",)),
                         (struct.pack(">ii", 16, 0x30000) + b"user\0tes", ("08P01",)),
                         (startup({"user": "test", "replication": "true"}), ("0A000", "08P01", "08004"))]:
        client = raw(pando)
        client.raw(data)
        fatal(client, *states)
    # The server talks a newer minor version down.
    client = raw(pando)
    client.raw(startup({"user": "test", "database": "shop", "_pq_.future": "1"}, 0x30063))
    tag, _ = client.read()
    assert tag == b"v", tag
    client.authenticate("test", "test")
    client.ready()
    lives(client)


def wrong_login(pando):
    for user, password, database, state in [("test", "wrong", "shop", "28P01"), ("nobody", "test", "shop", "28P01"), ("test", "", "shop", "28P01"),
                                            ("test", "test", "nowhere", "3D000"), ("u" * 3000, "x", "shop", "28P01"), ("test", "test", "n" * 3000, "3D000")]:
        try:
            Client(pando.postgres, user, password, database, timeout=10)
            raise AssertionError(f"`{user}` with `{password}` is let in")
        except Error as error:
            assert error.state == state and error.severity == "FATAL", f"{user[:20]}, {password}, {database[:20]}: {error}"


def wrong_answers(pando):
    """Steps of the login that make no sense."""
    first = b"n,,n=,r=abcdefgh"
    initial = lambda name, data: message(b"p", name + b"\0" + struct.pack(">i", len(data)) + data)
    for data, states in [(initial(b"PLAIN", b"\0test\0test"), ()), (initial(b"SCRAM-SHA-256", b""), ()), (initial(b"SCRAM-SHA-256", b"\xff" * 50), ()),

                         (message(b"p", b"SCRAM-SHA-256\0" + struct.pack(">i", 1000) + first), ("08P01",)), (message(b"p"), ()),
                         (message(b"Q", b"select 1\0"), ("08P01",)), (b"p" + struct.pack(">i", 0x7FFFFFFF), ("08P01",)),
                         (b"p" + struct.pack(">i", 100_000) + b"x", ("08P01",)), (b"p" + struct.pack(">i", 2), ("08P01",))]:
        client = raw(pando)
        client.raw(startup({"user": "test", "database": "shop"}))
        assert client.read()[0] == b"R"
        client.raw(data)
        fatal(client, *states)
    for proof in (b"", b"c=biws,r=x,p=AAAA", b"c=biws,r=" + b"x" * 5000 + b",p=" + b"A" * 44, b"\0" * 100):
        client = raw(pando)
        client.raw(startup({"user": "test", "database": "shop"}))
        assert client.read()[0] == b"R"
        client.raw(initial(b"SCRAM-SHA-256", first))
        assert client.read()[0] == b"R"
        client.raw(message(b"p", proof))
        fatal(client)


def preludes(pando):
    """Requests for TLS and GSSAPI, too many of them, and what must not come behind one."""
    ssl, gss = struct.pack(">ii", 8, 80877103), struct.pack(">ii", 8, 80877104)
    client = raw(pando)
    for request in (ssl, gss):
        client.raw(request)
        assert client.socket.recv(1) == b"N"
    client.login("test", "test", "shop")
    lives(client)
    client = raw(pando)
    client.raw(ssl * 50)
    done(client)
    ends(client)
    client = raw(pando)
    client.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    ends(client)


def half_open(pando):
    silent = [socket.create_connection(("127.0.0.1", pando.postgres)) for _ in range(200)]
    lives(login(pando))
    for one in silent:
        one.close()


def byte_by_byte(pando):
    client = raw(pando)
    for byte in startup({"user": "test", "database": "shop"}):
        client.raw(bytes([byte]))
        time.sleep(0.001)
    client.authenticate("test", "test")
    client.ready()
    lives(client)


def wrong_cancel(pando):
    client = login(pando)
    answer = []
    asking = threading.Thread(target=lambda: answer.append(client.query("select pg_sleep(1), id from t where id = 1")))
    asking.start()
    time.sleep(0.2)
    right = client.key
    for process, key in [(client.process, b"\0\0\0\0"), (client.process, bytes(255 - b for b in right)), (client.process + 1, right), (0, right), (-1, right)]:
        postgres.cancel(pando.postgres, process, key)
    for size in (0, 1, 3, 5, 300):
        with socket.create_connection(("127.0.0.1", pando.postgres), timeout=10) as one:
            one.sendall(struct.pack(">iii", 12 + size, 80877102, client.process) + (right * 80)[:size])
            while one.recv(100):
                pass
    asking.join(10)
    assert answer and answer[0][0][1] == "1", f"a wrong cancel was obeyed: {answer}"
    lives(client)


def wrong_tags(pando):
    for tag in (b"\0", b"\xff", b"Z", b"R", b"1", b"p"):
        client = login(pando)
        client.raw(message(tag, b"body"))
        fatal(client, "08P01")
    client = login(pando)
    client.raw(message(b"F", struct.pack(">ihhh", 1, 0, 0, 0)))
    refused(client, "0A000")
    client.ready()
    lives(client)


def lying_lengths(pando):
    for tag, length in [(b"Q", 3), (b"Q", 0), (b"Q", -1), (b"Q", 0x7FFFFFFF), (b"Q", 1 << 30), (b"S", 20_000), (b"X", 20_000), (b"H", 1 << 20), (b"\xee", 1 << 29)]:
        client = login(pando)
        client.raw(tag + struct.pack(">i", length) + b"select 1\0")
        fatal(client, "08P01")
    # The promised bytes never come.
    client = login(pando)
    client.raw(b"Q" + struct.pack(">i", 1000) + b"select 1\0")
    done(client)
    ends(client)


def broken_extended(pando):
    client = login(pando)
    parse = message(b"P", b"\0select id from t where id = $1 and note = $2\0" + struct.pack(">h", 0))
    bind = lambda body: parse + message(b"B", b"\0\0" + body)
    short, value = struct.pack(">hh", 0, 2), lambda data: struct.pack(">i", len(data)) + data
    right = short + value(b"1") + value(b"one") + struct.pack(">h", 0)
    stumbles(client, bind(struct.pack(">hh", 0, 1) + value(b"1") + struct.pack(">h", 0)), "08P01")
    stumbles(client, bind(struct.pack(">hh", 0, 3) + value(b"1") * 3 + struct.pack(">h", 0)), "08P01")
    stumbles(client, bind(struct.pack(">hh", 0, -1)), "08P01")
    stumbles(client, bind(struct.pack(">hh", 0, 0x7FFF)), "08P01")
    stumbles(client, bind(short + struct.pack(">i", 1000) + b"1"), "08P01")
    stumbles(client, bind(short + struct.pack(">i", -2) + value(b"x") + struct.pack(">h", 0)), "08P01")
    stumbles(client, bind(struct.pack(">hh", 1, 7) + struct.pack(">h", 2) + value(b"1") * 2 + struct.pack(">h", 0)), "08P01", "22023")
    stumbles(client, bind(struct.pack(">hhhh", 3, 0, 0, 0) + struct.pack(">h", 2) + value(b"1") * 2 + struct.pack(">h", 0)), "08P01")
    stumbles(client, bind(right + b"more"), "08P01")
    stumbles(client, bind(short + value(b"x") + value(b"one") + struct.pack(">h", 0)) + message(b"E", b"\0" + struct.pack(">i", 0)), "22P02")
    # Three result formats for one column.
    stumbles(client, bind(short + value(b"1") + value(b"one") + struct.pack(">hhhh", 3, 0, 0, 0)) + message(b"E", b"\0" + struct.pack(">i", 0)), "08P01")
    # Binary formats with lengths that no int8 has.
    binary = struct.pack(">hhh", 2, 1, 0) + struct.pack(">h", 2) + value(b"123") + value(b"one") + struct.pack(">h", 0)
    stumbles(client, bind(binary) + message(b"E", b"\0" + struct.pack(">i", 0)), "22P03", "08P01")
    for name in (b"", b"nothing"):
        stumbles(client, message(b"E", b"nothing\0" + struct.pack(">i", 0)), "34000")
        stumbles(client, message(b"B", name + b"\0nothing\0" + struct.pack(">hhh", 0, 0, 0)), "26000")
        stumbles(client, message(b"D", b"Snothing\0"), "26000")
        stumbles(client, message(b"D", b"Pnothing\0"), "34000")
    stumbles(client, message(b"D", b"Xnothing\0"), "08P01")
    stumbles(client, message(b"C", b"X\0"), "08P01")
    stumbles(client, message(b"P", b"noend"), "08P01")
    stumbles(client, message(b"P", b"\0select 1\0" + struct.pack(">h", 5)), "08P01")
    stumbles(client, message(b"P", b"\0select 1; select 2\0" + struct.pack(">h", 0)), "42601")
    stumbles(client, message(b"P", b"\0select $99999\0" + struct.pack(">h", 0)))
    stumbles(client, message(b"P", b"\0select $4294967297\0" + struct.pack(">h", 0)))
    stumbles(client, message(b"P", b"twice\0select 1\0" + struct.pack(">h", 0)) * 2, "42P05")
    # Closing what is not there is fine.
    client.raw(message(b"C", b"Snothing\0") + message(b"C", b"Pnothing\0") + message(b"S"))
    assert [tag for tag, _ in client.until_ready()] == [b"3", b"3"]
    client.raw(bind(right) + message(b"E", b"\0" + struct.pack(">i", -5)) + message(b"S"))
    client.until_ready()
    lives(client)


def without_bind(pando):
    """Execute at once, before anything is parsed."""
    client = login(pando)
    stumbles(client, message(b"E", b"\0" + struct.pack(">i", 0)), "34000")
    stumbles(client, message(b"D", b"P\0"), "34000")
    lives(client)


def storms(pando):
    """A hundred thousand Syncs, answered one by one; then as many whose answers nobody reads."""
    client = login(pando)
    count, data = 100_000, message(b"S") * 1000
    sending = threading.Thread(target=lambda: [client.raw(data) for _ in range(count // 1000)])
    sending.start()
    for _ in range(count):
        assert client.until_ready() == []
    sending.join(30)
    lives(client)
    client = Client(pando.postgres, database="shop", timeout=3, receive_buffer=4096)
    before = pando.resident()
    for data in (message(b"S") * 10_000, message(b"H") * 10_000, message(b"Q", b"\0") * 10_000):
        try:
            for _ in range(300):
                client.raw(data)
        except TimeoutError:
            # The server has stopped reading: it must not keep what the client does not take.
            pass
    grown = pando.resident() - before
    assert grown < 64_000_000, f"{grown / 1e6:.0f} MB for answers that nobody reads"
    client.reset_hard()


def out_of_place(pando):
    client = login(pando)
    client.raw(message(b"d", b"1,one\n") + message(b"c") + message(b"f", b"why\0"))
    assert client.query("select id from t where id = 1") == [["1"]]
    lives(client)


def copies(pando):
    client = login(pando)
    before = client.value("select count(*) from t")

    def copy(data, *states):
        client.send_query("copy t (id, note) from stdin")
        assert client.read()[0] == b"G"
        client.raw(data)
        told = [Error(fields(body)) for tag, body in client.until_ready() if tag == b"E"]
        assert len(told) == 1 and (not states or told[0].state in states), f"{data[:30]!r}: expected {states}, got {told}"

    end = message(b"c")
    copy(message(b"d", b"1000\n") + end, "22P04", "22P02")
    copy(message(b"d", b"1000\tx\ty\tz\n") + end, "22P04", "22P02")
    copy(message(b"d", b"word\tx\n") + end, "22P02", "42804", "22023")
    copy(message(b"d", b"\xff\xfe\t\xff\n") + end, "22021", "22P02")
    copy(message(b"d", b"\\N\tx\n") + end)
    copy(message(b"d", b"1000\tx\n1001\ty\n") + message(b"f", b"changed my mind\0"), "57014")
    copy(message(b"d", b"1000\tgood\n") + message(b"d", b"bad\n") + end, "22P04", "22P02")
    copy(message(b"d", b"1000\tx\n") + message(b"Q", b"select 1\0"), "08P01")
    # Gone in the middle.
    other = login(pando)
    other.send_query("copy t (id, note) from stdin")
    assert other.read()[0] == b"G"
    other.raw(message(b"d", b"1000\tx\n1001\ty\n"))
    other.reset_hard()
    client.close()
    client = login(pando)
    assert client.value("select count(*) from t") == before, "a part of a broken COPY is there"
    lives(client)


def bad_texts(pando):
    client = login(pando)
    for text, states in [(b"select 1\0 and more", ("08P01",)), (b"select '\xff\xfe'", ("22021",)), (b"select \xc3", ("22021",)), (b"/*", ("42601",)),
                         (b"select 'abc", ("42601",)), (b"select \"abc", ("42601",)), (b"select $$abc", ("42601",)), (b"select e'\\", ("42601",)),
                         (b"select u&'\\zzzz'", ()), (b"select" * 20000, ("42601",)), (b"select \"\"", ("42601",)), (b"(" * 20000, ()),
                         (b"select * from nowhere", ("42P01",)), (b"execute nothing", ("26000",)), (b"deallocate nothing", ("26000",)),
                         (b"fetch from nothing", ("34000",)), (b"close nothing", ("34000",)), (b"release savepoint nothing", ("25P01", "3B001")),
                         (b"set nothing_such = 1", ("42704",)), (b"show nothing_such", ("42704",)), (b"copy nowhere from stdin", ("42P01",)),
                         (b"/* SHARDINGSPHERE_HINT: x=y=z,,, */ select from", ())]:
        client.send_query(text)
        told = [Error(fields(body)) for tag, body in client.until_ready() if tag == b"E"]
        assert len(told) == 1, f"{text[:40]!r}: {told}"
        assert not states or told[0].state in states, f"{text[:40]!r}: expected {states}, got {told[0]}"
        assert len(told[0].message) < 5000, f"{text[:40]!r}: an error of {len(told[0].message)} bytes"
    lives(client)


def oversized(pando):
    """Beyond 64 MiB: refused as soon as the length is known."""
    client = login(pando)
    client.raw(b"Q" + struct.pack(">i", (64 << 20) + 100) + b"select")
    fatal(client, "08P01", "54000")


def many_statements(pando):
    """Named statements without end: refused at some point, or kept within a bound."""
    client, before = login(pando), pando.resident()
    text = b"select id from t where note = '" + b"x" * 1000 + b"'"
    refusals = 0
    for start in range(0, 40_000, 1000):
        data = b"".join(message(b"P", b"s%d\0" % n + text + b"\0" + struct.pack(">h", 0)) for n in range(start, start + 1000))
        sending = threading.Thread(target=client.raw, args=(data + message(b"S"),))
        sending.start()
        refusals += sum(tag == b"E" for tag, _ in client.until_ready())
        sending.join(30)
    grown = pando.resident() - before
    assert refusals or grown < 400_000_000, f"{grown / 1e6:.0f} MB for statements of one client, and no refusal"
    lives(client)


def random_messages(pando):
    for seed in range(150):
        chance = random.Random(seed)
        client = login(pando)
        for _ in range(6):
            tag = chance.choice([b"Q", b"P", b"B", b"D", b"E", b"C", b"S", b"d", b"f", bytes([chance.randrange(256)])])
            body = chance.choice([chance.randbytes(chance.randrange(60)), b"\0" * chance.randrange(20), b"select 1\0\0\0", b"S\0", b"P\0"])
            try:
                client.raw(message(tag, body))
            except OSError:
                break
        done(client)
        ends(client)


CASES = [random_bytes, truncated_startup, lying_startup, wrong_startup, wrong_login, wrong_answers, preludes, half_open, byte_by_byte, wrong_cancel,
         wrong_tags, lying_lengths, broken_extended, without_bind, storms, out_of_place, copies, bad_texts, oversized, many_statements, random_messages]
