"""Prepared statements that are copied to a mirror: `prepared.py pg|mariadb PORT`."""
import sys

family, port = sys.argv[1], int(sys.argv[2])

if family == "pg":
    import psycopg

    connection = psycopg.connect(host="127.0.0.1", port=port, user="test", password="test", dbname="shop", autocommit=True, prepare_threshold=0)
    for is_binary in (True, False):
        cursor = connection.cursor(binary=is_binary)
        mark = "%b" if is_binary else "%s"
        for n in range(0 if is_binary else 30, 30 if is_binary else 60):
            cursor.execute(f"insert into note (id, v) values ({mark}, {mark})", (n, -1))
            cursor.execute(f"update note set v = {mark} where id = {mark}", (2 * n, n))
            cursor.execute(f"select id, v from note where id = {mark}", (n,))
            assert cursor.fetchall() == [(n, 2 * n)], n
else:
    import mysql.connector

    connection = mysql.connector.connect(host="127.0.0.1", port=port, user="test", password="test", database="shop", autocommit=True, ssl_disabled=True)
    for is_prepared in (True, False):
        insert, update, select = (connection.cursor(prepared=is_prepared) for _ in range(3))
        for n in range(0 if is_prepared else 30, 30 if is_prepared else 60):
            insert.execute("insert into note (id, v) values (%s, %s)", (n, -1))
            update.execute("update note set v = %s where id = %s", (2 * n, n))
            select.execute("select id, v from note where id = %s", (n,))
            assert select.fetchall() == [(n, 2 * n)], n
connection.close()
