#!/usr/bin/env python3
"""The engine by the library's C functions, and PyMySQL over its sockets."""
import ctypes
import os
import socket

import pymysql

pando = ctypes.CDLL(os.environ["PANDO_LIBRARY"])


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("path", ctypes.c_char_p), ("name", ctypes.c_char_p), ("text", ctypes.c_char_p),
                ("data", ctypes.c_char_p), ("modules", ctypes.c_char_p)]


pando.pando_open.argtypes = [ctypes.POINTER(Options), ctypes.POINTER(ctypes.c_void_p)]
pando.pando_open.restype = ctypes.c_void_p
pando.pando_protocol.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
pando.pando_socket.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)]
pando.pando_close.argtypes = [ctypes.c_void_p]
pando.pando_error_message.argtypes = [ctypes.c_void_p]
pando.pando_error_message.restype = ctypes.c_char_p
MYSQL = 1


class Engine:
    """The engine of a configuration: a path, or a text."""

    def __init__(self, path=None, text=None):
        error = ctypes.c_void_p()
        options = Options(size=ctypes.sizeof(Options), path=path and path.encode(), text=text and text.encode())
        self.number = pando.pando_open(ctypes.byref(options), ctypes.byref(error))
        assert self.number, pando.pando_error_message(error)

    def protocol(self, database):
        return pando.pando_protocol(self.number, database.encode())

    def connect(self, database="shop"):
        error = ctypes.c_void_p()
        number = pando.pando_socket(self.number, MYSQL, ctypes.byref(error))
        assert number >= 0, pando.pando_error_message(error)
        client = pymysql.connect(user="anybody", password="whatever", database=database, autocommit=True, defer_connect=True)
        client.connect(socket.socket(fileno=number))
        return client

    def close(self):
        pando.pando_close(self.number)


def rows(client, sql, values=None):
    with client.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
