#!/usr/bin/env python3
"""The engine inside of Python: app.py CONFIGURATION FAMILY"""
import sys
import threading

import pymysql

from engine import MYSQL, Engine, rows

configuration, family = sys.argv[1:]


def told(holds, name, detail=""):
    print(f"ok embed/{family}-{name}" if holds else f"FAILED embed/{family}-{name}: {detail}", flush=True)


engine = Engine(path=configuration)
connect = engine.connect
told(engine.protocol("shop") == MYSQL and engine.protocol("none") == 0, "protocol")
first, second = connect(), connect()
rows(first, "drop table if exists embed_t")
rows(first, "create table embed_t (id int primary key, v int, note varchar(60))")
with first.cursor() as cursor:
    cursor.executemany("insert into embed_t values (%s, %s, %s)", [(n, n * 100, "größe") for n in range(10)])
told(rows(second, "select sum(v), count(*), min(note) from embed_t") == ((4500, 10, "größe"),), "over-shards")

first.begin()
rows(first, "update embed_t set v = v + 1 where id = 3")
waits = threading.Thread(target=lambda: rows(second, "update embed_t set v = v + 1 where id = 3"))
waits.start()
held = rows(first, "select v from embed_t where id = 3")
first.commit()
waits.join(30)
told(held == ((301,),) and not waits.is_alive() and rows(first, "select v from embed_t where id = 3") == ((302,),), "locks")

wrong = []


def asks():
    client = connect()
    for n in range(50):
        found = rows(client, "select id from embed_t where id = %s", (n % 10,))
        if found != ((n % 10,),):
            wrong.append(found)
    client.close()


threads = [threading.Thread(target=asks) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join(60) for thread in threads]
told(not wrong, "threads", wrong[:3])

try:
    rows(first, "select nothing from embed_t")
    told(False, "errors", "no error")
except pymysql.err.OperationalError as unknown:
    told(unknown.args[0] == 1054, "errors", unknown)
rows(first, "drop table embed_t")
engine.close()
try:
    rows(second, "select 1")
    told(False, "a-session-ends-with-the-engine", "it goes on")
except pymysql.err.OperationalError as gone:
    told(True, "a-session-ends-with-the-engine", gone)
