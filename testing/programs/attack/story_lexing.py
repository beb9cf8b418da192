"""What Pando reads is what the server reads: texts that would hide a statement, a condition or a COMMIT from one of the two. Each answer through Pando is
compared with that of the storage unit alone, or the text is refused."""
from pipelines.speech import DONE, Q, answers
from plain.house import ERRORS, GLOBAL, Pando, case, direct, has, reset, sharded, skip, sources

ROWS = 8
NOTES = ", ".join(f"({n}, 'n{n}')" for n in range(ROWS))
# `x` is what the comment would have to say to be run.
MARKS = ["", "50000", "50699", "50700", "80000", "80031", "80400", "99999", "999999", "100100", "101119", "120000", "080031", "5000"]


def serve(family, kind="LOCAL"):
    text = "databaseName: shop\n" + sources(family) + sharded(["t"])
    files = {"global.yaml": GLOBAL.replace("defaultType: LOCAL", f"defaultType: {kind}"), "database-shop.yaml": text}
    return Pando(files)


def filled(pando, family):
    client = pando.client(family, "shop")
    client.query("drop table if exists t")
    client.query("create table t (id int primary key, note varchar(40))")
    client.query(f"insert into t values {NOTES}")
    return client


def told(client, sql):
    """Rows, or that it failed."""
    try:
        return client.query(sql)
    except ERRORS:
        return "failed"


def alike(family, through, straight, texts):
    for name, sql in texts.items():
        with case(f"{family}-{name}", quiet=True):
            there, here = told(straight, sql), told(through, sql)
            if here != there:
                raise AssertionError(f"{sql!r}: {there} straight, {here} through Pando")


# --- MySQL and MariaDB ---------------------------------------------------------------------------------------------------


def mysql_comments(family, through, straight):
    """Which of them run is the server's to say, and what is in the others hides nothing."""
    def runs(mark):
        return told(straight, f"select 1 {mark} + 1 */")

    with case(f"{family}-version-comments"):
        for m in ("", "M"):
            for number in MARKS:
                mark = f"/*{m}!{number}"
                said = runs(mark)
                got = told(through, f"select 1 {mark} + 1 */")
                # Of a number of six digits with a blank behind servers of 8.0.32 to 8.0.x differ; those are refused.
                if got != said:
                    raise AssertionError(f"{mark}: {said} straight, {got} through Pando")
                if said == "failed":
                    continue
                rows = told(through, f"select count(*) from t {mark} where id = 1 */")
                wanted = [["1"]] if said == [["2"]] else [[str(ROWS)]]
                if rows != wanted:
                    raise AssertionError(f"{mark} where id = 1: {rows} through Pando instead of {wanted}")
    with case(f"{family}-quotes-in-skipped-comments"):
        # A lexer that reads the comment's content takes the condition behind it for a string.
        for quote in ("'", '"', "`"):
            sql = f"select count(*) from t where id = 1 /*!99999 {quote} */ or 1 = 1 /* {quote} */"
            if told(through, sql) != [[str(ROWS)]]:
                raise AssertionError(f"{sql}: {told(through, sql)}")
        # And one more comment inside.
        sql = "select count(*) from t where id = 1 /*!99999 /* */ and id = 2 */ or id = 3"
        if told(through, sql) != [["2"]]:
            raise AssertionError(f"{sql}: {told(through, sql)}")
    with case(f"{family}-writes-under-version-comments"):
        sql = "update t set note = 'x' /*!99999 where id = 1 */ where id = 2"
        through.query(sql)
        if through.query("select id from t where note = 'x'") != [["2"]]:
            raise AssertionError("other rows were changed")
        through.query("update t set note = 'n2' where id = 2")
    with case(f"{family}-prepared-version-comments"):
        statement = told(through, "prepare p from 'select count(*) from t /*!99999 where id = 1 */'")
        if statement == "failed" or through.query("execute p") != [[str(ROWS)]]:
            raise AssertionError("the prepared statement reads another condition")
    with case(f"{family}-unreadable-is-refused"):
        for sql in ("select 1 /*!50000", "select 1 /*!99999 /* */", "select 1 /* ", "select 'a", "select $$a$$", "select 1 /*+ x(`*/ `) */"):
            if told(through, sql) != "failed":
                raise AssertionError(f"{sql} was answered")


def mysql_texts(family, through, straight):
    alike(family, through, straight, {
        "carriage-return-in-a-comment": "select 1 -- \r + 1\n + 10",
        "carriage-return-behind-hash": "select 1 # \r + 1\n + 10",
        "names-behind-dots": "select t.x'\\'' from (select 1 as x) t",
        "quoted-variables": "select @'a\\'b', 5",
        "large-hex-prefix": "select 0X41 from (select 7 as `0X41`) t",
        "number-and-name": "select 1e5x",
        "two-strings": "select x'41''42'",
        "dashes-before-a-comment": "select 3--/*!50000 1 */",
        "point-behind-a-quoted-name": "select `t`.5 from (select 1 as `5`) t",
    })


def mysql_modes(family):
    """The server's own defaults decide nothing."""
    keeps = "STRICT_ALL_TABLES"
    modes = ["ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI"] + (["ORACLE"] if family == "mariadb" else [])
    one = direct(family, 0, "test")
    before = one.value("select @@global.sql_mode")
    try:
        for mode in modes:
            with case(f"{family}-server-default-{mode.lower()}"):
                one.query(f"set global sql_mode = '{mode},{keeps}'")
                pando = serve(family)
                through = filled(pando, family)
                for again in ("select 1", "set session sql_mode = default"):
                    through.query(again)
                    # The condition stands in a string for one reading and not for the other.
                    got = through.query("select 'a\\'', \"b\" from t where id = 1 or note = \"' or 1 = 1 -- \"")
                    if got != [["a'", "b"]]:
                        raise AssertionError(f"behind `{again}`: {got}")
                    shown = through.value("select @@sql_mode").split(",")
                    if mode in shown or keeps not in shown:
                        raise AssertionError(f"behind `{again}` the mode is {shown}")
                # Whoever has the connection next, too.
                through.close()
                for _ in range(3):
                    other = pando.client(family, "shop")
                    if other.query("select \"b\", 'a\\''") != [["b", "a'"]]:
                        raise AssertionError("the next session reads otherwise")
                    other.close()
                for asked in (f"set session sql_mode = '{mode}'", "set session sql_mode = @@global.sql_mode"):
                    other = pando.client(family, "shop")
                    if told(other, asked) != "failed":
                        # Whoever takes the mode is read by it.
                        text, expected = ("select 'a\\'", "a\\") if mode == "NO_BACKSLASH_ESCAPES" else ('select "id" from t where id = 1', "1")
                        if [[str(cell) for cell in row] for row in other.query(text)] != [[expected]]:
                            raise AssertionError(f"behind `{asked}` texts are read otherwise")
                    elif mode != "ORACLE" and mode in asked:
                        raise AssertionError(f"{asked} was refused")
                    other.close()
                pando.kill()
    finally:
        one.query(f"set global sql_mode = '{before}'")
        one.close()


# --- PostgreSQL ----------------------------------------------------------------------------------------------------------


def copied(client, sql):
    client.send_query(sql)
    messages = client.until_ready()
    if any(tag == b"E" for tag, _ in messages):
        return "failed"
    return b"".join(body for tag, body in messages if tag == b"d")


def postgres_hidden(kind):
    """A COMMIT that only the server would see takes a part of the transaction with it."""
    pando = serve("pg", kind)
    client = filled(pando, "pg")
    texts = {
        "continued-string": "select E'a'\n'\\''; commit; select '--'",
        "continued-behind-a-comment": "select E'a' -- x\n'\\''; commit; select '--'",
    }
    for name, sql in texts.items():
        with case(f"pg-{kind.lower()}-hidden-commit-{name}"):
            client.query("begin")
            client.query("insert into t values (100, 'a')")
            client.query("insert into t values (101, 'b')")
            told(client, sql)
            told(client, "rollback")
            other = pando.client("pg", "shop")
            left = other.value("select count(*) from t where id >= 100")
            if left not in ("0", "2"):
                raise AssertionError(f"{left} of 2 rows were committed")
            other.query("delete from t where id >= 100")
            other.close()
    pando.kill()


def postgres_texts(through, straight):
    alike("pg", through, straight, {
        "escapes-go-on": "select E'a'\n'\\'', 1 -- '",
        "unicode-goes-on": "select U&'d'\n'\\0061'",
        "carriage-return-ends-a-comment": "select 1 -- x\r + 1",
        "bits-in-pieces": "select X'4'\n'1'",
        "comments-in-comments": "select 1 /* /* ' */ ' */ + 1",
        "dollars-in-dollars": "select $a$ $b$ $a$",
        "no-parameter": "select $1",
    })


def postgres_copies(through):
    with case("pg-copy-options-in-every-spelling"):
        wanted = copied(through, "copy t to stdout (format binary)")
        if wanted == "failed" or wanted.count(b"PGCOPY") != 1 or not wanted.endswith(b"\xff\xff"):
            raise AssertionError(f"no binary stream: {wanted[:40]}")
        for value in ('"binary"', "'binary'", "E'bin\\x61ry'", "U&'bin\\0061ry'", "$$binary$$", "BINARY", 'U&"binar\\0079"'):
            for name in ("format", '"format"'):
                got = copied(through, f"copy t to stdout ({name} {value})")
                if sorted(got) != sorted(wanted):
                    raise AssertionError(f"{name} {value}: {got[:60]}")
        for value in ("'BINARY'", '"Binary"', "1", "x'62'"):
            if copied(through, f"copy t to stdout (format {value})") != "failed":
                raise AssertionError(f"{value} is no format")
        head = copied(through, "copy t to stdout (format csv, header)")
        for value in ("true", "'on'", '"on"', "1", "E'\\x6fn'", "TRUE"):
            got = copied(through, f"copy t to stdout (format csv, header {value})")
            if sorted(got.splitlines()) != sorted(head.splitlines()) or got.count(b"id,note") != 1:
                raise AssertionError(f"header {value}: {got}")
        if copied(through, "copy t to stdout (format csv, header 'no')") != "failed":
            raise AssertionError("`no` is no boolean of COPY")
    with case("pg-explain-options-in-every-spelling"):
        for option in ("analyze", '"analyze"', 'U&"\\0061nalyze"', "analyze 'on'", 'analyze "on"'):
            through.query("begin")
            told(through, f"explain ({option}) delete from t where id = 3")
            through.query("rollback")
            if through.value("select count(*) from t") != str(ROWS):
                raise AssertionError(f"explain ({option}) deleted outside the transaction")
    with case("pg-binary-cursor"):
        through.query("begin")
        if told(through, "declare c binary cursor for select id from t") == "failed":
            raise AssertionError("a BINARY cursor was not declared")
        through.query("rollback")


def postgres_empty_copies(through, straight):
    """Options and columns are judged where no line comes, too. The server says so before the data and Pando behind it."""
    with case("pg-copy-from-without-data-is-judged"):
        for rest in ("(format csv, format text)", "(format text, quote '\"')", "(format csv, force_quote *)", "(header, header)", "(null 'x', delimiter 'x')",
                     "(null E'a\\n')", "(format csv, quote ',', delimiter ',')", "(format csv, delimiter '\"')", "(delimiter 'a')", "(delimiter '')",
                     "(format csv, quote 'ab')", "(freeze)", "(freeze, freeze)", "(nonsense)", "(encoding 'utf8', encoding 'utf8')", "(escape '\"')",
                     "with csv binary", "with null 'x' delimiter 'x'", "where nope = 1", "where id > (select 1)", "(header match)",
                     "", "(format csv, header)", "(delimiter ';')"):
            said = [[line for line in answers(client, [Q(f"copy {table} from stdin {rest}"), DONE]) if line[:2] in ("E ", "C ")]
                    for client, table in ((through, "t"), (straight, "t_0"))]
            assert said[0] == said[1], f"{rest}: {said[0]}, and the server {said[1]}"
        for columns in ("(id, id)", "(nope)"):
            said = [[line for line in answers(client, [Q(f"copy {table} {columns} from stdin"), DONE]) if line[:2] in ("E ", "C ")]
                    for client, table in ((through, "t"), (straight, "t_0"))]
            assert said[0] == said[1], f"{columns}: {said[0]}, and the server {said[1]}"


def postgres_defaults():
    """Settings of the role and the database by which strings end elsewhere."""
    one = direct("pg", 0, "test")
    try:
        one.query("alter role test set standard_conforming_strings = off")
        one.query("alter database ds_1 set standard_conforming_strings = off")
        pando = serve("pg")
        with case("pg-role-and-database-defaults"):
            client = filled(pando, "pg")
            if client.value("show standard_conforming_strings") != "on":
                raise AssertionError("the unit's own default holds")
            for n in range(ROWS):
                # One string here; by the role's default a shorter one, and a DELETE behind it.
                got = told(client, f"select note, '\\''; delete from t; select ' from t where id = {n} --'")
                if got != [[f"n{n}", "\\'; delete from t; select "]]:
                    raise AssertionError(f"{got}")
            left = client.value("select count(*) from t")
            if left != str(ROWS):
                raise AssertionError(f"{left} of {ROWS} rows are left")
        pando.kill()
    finally:
        one.query("alter role test reset standard_conforming_strings")
        one.query("alter database ds_1 reset standard_conforming_strings")
        one.close()


def main():
    for family in ("mariadb", "mysql"):
        if not has(family):
            skip(f"{family}-lexing", "no server")
            continue
        reset(family)
        pando = serve(family)
        through, straight = filled(pando, family), direct(family, 0)
        mysql_comments(family, through, straight)
        with case(f"{family}-texts"):
            mysql_texts(family, through, straight)
        through.close()
        pando.kill()
        mysql_modes(family)
    if not has("pg"):
        return skip("pg-lexing", "no server")
    reset("pg")
    pando = serve("pg")
    through, straight = filled(pando, "pg"), direct("pg", 0)
    with case("pg-texts"):
        postgres_texts(through, straight)
    postgres_copies(through)
    postgres_empty_copies(through, straight)
    through.close()
    pando.kill()
    for kind in ("LOCAL", "XA"):
        postgres_hidden(kind)
    postgres_defaults()
