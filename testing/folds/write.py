#!/usr/bin/env python3
"""Writes a table of db/mysql/src/dialect/tables/folds: which texts a collation calls equal, as a server weighs them.

usage: write.py HOST PORT USER PASSWORD COLLATION CHARSET >TABLE   (by the `mariadb` client, with CLIENT_OPTIONS)

Each character's weights are asked for. What has one weight is written as the first letter in lower case that has it, what
has several as the letters of each, what has none as nothing. `db/mysql/tests/folding.rs` proves the table against servers.
"""

import collections
import os
import subprocess
import sys

HOST, PORT, USER, PASSWORD, COLLATION, CHARSET = sys.argv[1:]
DIGITS = "WITH d AS (SELECT 0 n" + "".join(f" UNION ALL SELECT {n}" for n in range(1, 16)) + ")"
POINTS = (
    f"({DIGITS} SELECT a.n*65536+b.n*4096+c.n*256+e.n*16+f.n cp FROM d a, d b, d c, d e, d f WHERE a.n < 3) x "
    "WHERE cp NOT BETWEEN 0xd800 AND 0xdfff"
)
LETTER = "CONVERT(UNHEX(LPAD(HEX(cp), 8, '0')) USING utf32)"
OWN = f"CONVERT({LETTER} USING {CHARSET})"
# Blocks in which characters may be weighed in pairs: those of ideographs, Hangul and private use have none.
PLAIN = [(0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0x12000, 0x15FFF), (0x17000, 0x18FFF), (0x1B000, 0x1BFFF)]


def ask(sql):
    client = ["mariadb", "-N", *os.environ.get("CLIENT_OPTIONS", "").split(), f"-h{HOST}", f"-P{PORT}", f"-u{USER}"]

    done = subprocess.run(client, input=sql, env={**os.environ, "MYSQL_PWD": PASSWORD}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return [line.split("\t") for line in done.stdout.splitlines()]


def weights():
    """Of each character there is in the character set, as a list of hexadecimal numbers."""
    same = f"{OWN} = CONVERT({LETTER} USING utf8mb4) COLLATE utf8mb4_bin" if CHARSET != "utf8mb4" else "1"
    rows = ask(f"SET NAMES utf8mb4; SELECT cp, {same}, HEX(WEIGHT_STRING({OWN} COLLATE {COLLATION})) FROM {POINTS}")
    return {int(cp): split(own) for cp, is_there, own in rows if is_there == "1"}


def split(text):
    if CHARSET == "latin1":
        return tuple(text[at : at + 2] for at in range(0, len(text), 2))
    words = [text[at : at + 4] for at in range(0, len(text), 4)]
    out = []
    while words:
        # Ideographs have two numbers that stand for one.
        is_pair = "_general_" not in COLLATION and "FB00" <= words[0] <= "FBFF"
        out.append("".join(words[: 2 if is_pair else 1]))
        words = words[2 if is_pair else 1 :]
    return tuple(out)


def pairs():
    """Characters whose weights are others where they stand together."""
    if "_general_" in COLLATION or CHARSET == "latin1":
        return []
    plain = " ".join(f"AND cp NOT BETWEEN {low} AND {high}" for low, high in PLAIN)
    rows = ask(
        f"SET NAMES utf8mb4; CREATE DATABASE IF NOT EXISTS folds; USE folds; DROP TABLE IF EXISTS letters; "
        f"CREATE TABLE letters (cp INT PRIMARY KEY, block INT, c VARCHAR(2) CHARACTER SET {CHARSET} COLLATE {COLLATION}, "
        "w VARBINARY(200), KEY (block)); "
        f"INSERT INTO letters SELECT cp, cp DIV 256, {OWN}, WEIGHT_STRING({OWN} COLLATE {COLLATION}) FROM {POINTS} "
        f"AND cp < 0x1f000 {plain}; "
        "SELECT a.cp, b.cp FROM letters a JOIN letters b ON a.block = b.block "
        "WHERE WEIGHT_STRING(CONCAT(a.c, b.c)) <> CONCAT(a.w, b.w); "
        # Marks that stand behind letters of any script.
        "SELECT a.cp, b.cp FROM letters a JOIN letters b ON b.block = 3 AND b.cp < 0x370 AND a.block <> 3 "
        "WHERE WEIGHT_STRING(CONCAT(a.c, b.c)) <> CONCAT(a.w, b.w); DROP DATABASE folds"
    )
    return [(int(first), int(second)) for first, second in rows]


def ranges(numbers):
    out = []
    for number in sorted(numbers):
        if out and out[-1][1] == number - 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ",".join(f"{low:x}-{high:x}" for low, high in out)


def folds(weighed):
    """Character to the letters that stand for its weights; those that stand for themselves are left out."""
    having = collections.defaultdict(list)
    for cp, own in weighed.items():
        if len(own) == 1:
            having[own[0]].append(cp)
    letter = {}
    for weight, cps in having.items():
        small = [cp for cp in cps if chr(cp).islower()]
        best = [cp for cp in small if cp < 128] or [cp for cp in cps if cp < 128] or small or cps
        letter[weight] = min(best)
    lost = {weight for own in weighed.values() for weight in own if weight not in letter}
    if lost:
        sys.exit(f"no character has only the weight {sorted(lost)[0]}")
    out = {cp: tuple(letter[weight] for weight in own) for cp, own in weighed.items()}
    return {cp: to for cp, to in out.items() if to != (cp,)}


def is_spelt(found):
    """Whether Hangul syllables have the weights of their letters."""

    def of(cp):
        return found.get(cp, (cp,))

    def spelt(at):
        last = at % 28
        return of(0x1100 + at // 588) + of(0x1161 + at % 588 // 28) + (of(0x11A7 + last) if last else ())

    return all(found.get(0xAC00 + at) == spelt(at) for at in range(11172))


def main():
    weighed = weights()
    found = folds(weighed)
    print(f"# {COLLATION}, written by testing/folds/write.py: `FIRST COUNT =LETTERS` folds each to these letters,")
    print("# `FIRST COUNT +LETTER` to it and those behind it; what is not listed stays. In hexadecimal numbers.")
    if CHARSET == "latin1":
        print(f"only {ranges(weighed)}")
    by_second = collections.defaultdict(set)
    for first, second in pairs():
        by_second[first].add(second)
    for first in sorted(by_second):
        print(f"pair {first:x} {ranges(by_second[first])}")
    if is_spelt(found):
        print("hangul")
        found = {cp: to for cp, to in found.items() if not 0xAC00 <= cp <= 0xD7A3}
    listed = sorted(found.items())
    at = 0
    while at < len(listed):
        cp, to = listed[at]
        same = next_ = at + 1
        while same < len(listed) and listed[same] == (cp + same - at, to):
            same += 1
        while len(to) == 1 and next_ < len(listed) and listed[next_] == (cp + next_ - at, (to[0] + next_ - at,)):
            next_ += 1
        end, sign = (same, "=") if same >= next_ else (next_, "+")
        print(f"{cp:x} {end - at:x} {sign}{','.join(f'{one:x}' for one in to)}")
        at = end


main()
