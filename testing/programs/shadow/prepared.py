"""Prepared statements whose bound values say which environment they are for: `prepared.py pg|mariadb PORT`."""
import sys

family, port = sys.argv[1], int(sys.argv[2])


def users(n):
    return 13 if n % 5 == 0 else 1 + n % 9


if family == "pg":
    import psycopg

    connection = psycopg.connect(host="127.0.0.1", port=port, user="test", password="test", dbname="shop", autocommit=True, prepare_threshold=0)
    for is_binary in (True, False):
        cursor = connection.cursor(binary=is_binary)
        mark = "%b" if is_binary else "%s"
        for n in range(0 if is_binary else 30, 30 if is_binary else 60):
            cursor.execute(f"insert into note (id, user_id, v) values ({mark}, {mark}, {mark})", (n, users(n), -1))
            cursor.execute(f"update note set v = {mark} where id = {mark} and user_id = {mark}", (2 * n, n, users(n)))
            assert cursor.rowcount == 1, (n, cursor.rowcount)
            cursor.execute(f"select v from note where id = {mark} and user_id = {mark}", (n, users(n)))
            assert cursor.fetchall() == [(2 * n,)], n
else:
    import mysql.connector

    connection = mysql.connector.connect(host="127.0.0.1", port=port, user="test", password="test", database="shop", autocommit=True, ssl_disabled=True)
    for is_prepared in (True, False):
        insert, update, select = (connection.cursor(prepared=is_prepared) for _ in range(3))
        for n in range(0 if is_prepared else 30, 30 if is_prepared else 60):
            insert.execute("insert into note (id, user_id, v) values (%s, %s, %s)", (n, users(n), -1))
            update.execute("update note set v = %s where id = %s and user_id = %s", (2 * n, n, users(n)))
            assert update.rowcount == 1, (n, update.rowcount)
            select.execute("select v from note where id = %s and user_id = %s", (n, users(n)))
            assert select.fetchall() == [(2 * n,)], n
connection.close()
