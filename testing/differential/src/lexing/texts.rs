//! Random texts that are queries more often than not, full of what ends strings, names and comments.

use crate::chance::Chance;
use crate::schema::Server;

/// What makes lexers stumble, wherever it stands.
const COMMON: [&str; 29] = [
    "'", "''", "\\", "\\'", "\"", "\"\"", "/*", "*/", "--", "-- ", "#", "\n", "\r", "\r\n", " ",
    "\t", "a", "x", "1", "0", ",", "+", "-", "é", "*", "/", "(", ")", ".",
];
const POSTGRES: [&str; 13] =
    ["$$", "$a$", "$", "E'", "e'", "U&'", "N'", "B'", "X'", "\\\\", "/*/", "'\n'", "' -- \n '"];
const MYSQL: [&str; 18] = [
    "`",
    "``",
    "/*!",
    "/*!50000 ",
    "/*!50700",
    "/*!80000 ",
    "/*!99999 ",
    "/*!999999 ",
    "/*!100100 ",
    "/*!080001 ",
    "/*M!",
    "/*M!100100 ",
    "/*M!120000 ",
    "/*+ ",
    "@",
    "x'",
    "n'",
    "\\\\",
];
/// What is read in a comment, a string or a name.
const BODIES: usize = 5;

/// One query.
pub(super) fn text(chance: &mut Chance, server: Server) -> String {
    let mut out = "SELECT ".to_owned();
    for at in 0..chance.between(1, 4) {
        if at > 0 {
            blank(chance, server, &mut out);
            out.push(',');
        }
        blank(chance, server, &mut out);
        item(chance, server, &mut out);
    }
    blank(chance, server, &mut out);
    match server {
        Server::Postgres => out.push_str(" FROM (SELECT 1 AS a, 2 AS x, 3 AS e, 4 AS b) t"),
        Server::MySql | Server::MariaDb => out.push_str(
            " FROM (SELECT 1 AS a, 2 AS x, 3 AS e, 4 AS b, 5 AS n, 6 AS `1`, 7 AS `1e5`, 8 AS `0X41`, 9 AS `1a`) t",
        ),
    }
    if chance.percent(20) {
        blank(chance, server, &mut out);
    }
    out
}

fn item(chance: &mut Chance, server: Server, out: &mut String) {
    if chance.percent(12) {
        for _ in 0..chance.between(1, 6) {
            out.push_str(piece(chance, server));
        }
        return;
    }
    operand(chance, server, out);
    while chance.percent(35) {
        let joins: &[&str] = match server {
            Server::Postgres => &["||", " || ", "=", "<", "<--\n", "\n", " ", "+", "-", "*", "/"],
            Server::MySql | Server::MariaDb => {
                &["+", "-", "--", "*", "/", " ", "\n", "", "=", "<=>", "--1-"]
            }
        };
        out.push_str(chance.pick(joins));
        blank(chance, server, out);
        operand(chance, server, out);
    }
}

fn operand(chance: &mut Chance, server: Server, out: &mut String) {
    if server == Server::Postgres { postgres(chance, out) } else { mysql(chance, server, out) }
}

fn postgres(chance: &mut Chance, out: &mut String) {
    let server = Server::Postgres;
    match chance.below(14) {
        0..=2 => pieces(chance, out, ("", "'", Escapes::Doubled)),
        3..=5 => {
            let prefix = chance.pick(&["E", "e"]);
            pieces(chance, out, (prefix, "'", Escapes::Both));
        }
        6 => {
            let prefix = chance.pick(&["U&", "u&", "N", "n"]);
            pieces(chance, out, (prefix, "'", Escapes::Doubled));
        }
        7 => {
            let prefix =
                chance.pick(&["B'01'", "X'1F'", "x'4'\n'1'", "B''", "X'1''2'", "b'1'\t'0'"]);
            out.push_str(prefix);
        }
        8 | 9 => {
            let tag = chance.pick(&["$$", "$a$", "$a$", "$é$", "$a1$"]);
            out.push_str(tag);
            body(chance, server, out, |_| true);
            out.push_str(tag);
        }
        10 => {
            let word = chance.pick(&["1", "1.5", "1.", ".5", "1e3", "12", "0"]);
            out.push_str(word);
        }
        11 => out.push_str(
            chance.pick(&["a", "t.a", "x", "t . x", "\"a\"", "\"x\"", "U&\"a\"", "t.\"e\""]),
        ),
        12 => {
            let word = chance.pick(&["a", "1"]);
            out.push_str(word);
            out.push_str(" AS ");
            quoted(chance, out, (server, '"'));
        }
        _ => out.push_str(chance.pick(&[
            "NULL",
            "a$b",
            "true",
            "length('a')",
            "(1)",
            "+1",
            "- 1",
            "-1",
        ])),
    }
}

fn mysql(chance: &mut Chance, server: Server, out: &mut String) {
    match chance.below(14) {
        0..=3 => pieces(chance, out, ("", "'", Escapes::Both)),
        4 | 5 => pieces(chance, out, ("", "\"", Escapes::Both)),
        6 => {
            let prefix = chance.pick(&["n", "N", "_utf8mb4", "_latin1 ", "_binary"]);
            pieces(chance, out, (prefix, "'", Escapes::Both));
        }
        7 => out.push_str(chance.pick(&[
            "x'41'",
            "X'4142'",
            "b'1000001'",
            "B''",
            "x'41''42'",
            "0x41",
            "0X41",
            "0b1",
            "0B1",
            "0x4",
            "x'4'",
            "0x41g",
        ])),
        8 => out.push_str(chance.pick(&[
            "1", "1.5", "1.", ".5", "1e3", "1e3x", "1e+3", "1ex", "12a", "0", "1..5", "1.e1", "1a",
            "t.1", "t.1e5", "t.1a",
        ])),
        9 => out.push_str(chance.pick(&[
            "a",
            "t.a",
            "x",
            "t . x",
            "`a`",
            "t.`x`",
            "t.x'4'",
            "t.n'b'",
            "t.x'\\''",
            "t.b\"1\"",
            "t .x'\\''",
            "\\N",
            "t.x\"a\\\"\"",
            "`t`.x'\\''",
        ])),
        10 => {
            out.push('@');
            if chance.percent(60) {
                let quote = chance.pick(&["'", "\""]);
                string(chance, out, (quote, Escapes::Both));
            } else {
                out.push_str(chance.pick(&["a", "a.b", "a$1", "@version", "`a b`"]));
            }
        }
        11 => {
            let word = chance.pick(&["a", "1", "'x'"]);
            out.push_str(word);
            out.push_str(" AS ");
            let quote = if chance.percent(70) { '`' } else { '"' };
            quoted(chance, out, (server, quote));
        }
        12 => executable(chance, server, out),
        _ => out.push_str(chance.pick(&[
            "NULL",
            "a$b",
            "true",
            "LENGTH('a')",
            "(1)",
            "+1",
            "- 1",
            "-1",
        ])),
    }
}

/// An operand, and something in a comment that some servers run.
fn executable(chance: &mut Chance, server: Server, out: &mut String) {
    out.push('1');
    out.push_str(chance.pick(&[
        "/*!",
        "/*! ",
        "/*!50000 ",
        "/*!50000",
        "/*!50699 ",
        "/*!50700 ",
        "/*!80000 ",
        "/*!80031 ",
        "/*!80032 ",
        "/*!99999 ",
        "/*!100100 ",
        "/*!101119 ",
        "/*!101120 ",
        "/*!080031 ",
        "/*!080031",
        "/*!999999 ",
        "/*M!",
        "/*M!100100 ",
        "/*M!50700 ",
        "/*M!120000 ",
        "/*!5000 ",
        "/*m! ",
        "/* !",
    ]));
    if chance.percent(70) {
        out.push_str(chance.pick(&[
            "+2",
            " + 'a'",
            ", 'b'",
            "+ /* c */ 3",
            " + /*!99999 x */ 4",
            "/*! + 5 */",
            " + `a`",
            "+\"2\"",
        ]));
    } else {
        body(chance, server, out, |_| true);
    }
    out.push_str("*/");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    Doubled,
    Both,
}

/// A string of one or more pieces.
fn pieces(chance: &mut Chance, out: &mut String, (prefix, quote, escapes): (&str, &str, Escapes)) {
    out.push_str(prefix);
    string(chance, out, (quote, escapes));
    while chance.percent(25) {
        out.push_str(chance.pick(&[
            "\n",
            " \r\t",
            " -- x'\n",
            "\n--\n",
            "--\r",
            " ",
            "",
            "\t",
            " /* \n */ ",
            "\n\u{c}",
        ]));
        string(chance, out, (quote, escapes));
    }
}

fn string(chance: &mut Chance, out: &mut String, (quote, escapes): (&str, Escapes)) {
    let is_careless = chance.percent(8);
    out.push_str(quote);
    for _ in 0..chance.below(BODIES) {
        let piece = chance.pick(&COMMON);
        let safe = match piece {
            "'" | "\"" if piece == quote => "''",
            "\\" if escapes == Escapes::Both => "\\\\",
            "\\'" if escapes == Escapes::Doubled => "\\",
            "''" | "\"\"" if !piece.starts_with(quote) => "z",
            other => other,
        };
        let safe = if safe == "''" { [quote, quote].concat() } else { safe.to_owned() };
        out.push_str(if is_careless { piece } else { &safe });
    }
    if escapes == Escapes::Both && chance.percent(25) {
        out.push_str(
            chance.pick(&["\\'", "\\\\", "\\n", "\\%", "\\z", "\\\"", "''", "\\\n", "\\061"]),
        );
    }
    out.push_str(quote);
}

fn quoted(chance: &mut Chance, out: &mut String, (server, quote): (Server, char)) {
    out.push(quote);
    out.push('q');
    body(chance, server, out, |piece| !piece.contains(quote));
    out.push('q');
    out.push(quote);
}

fn body(chance: &mut Chance, server: Server, out: &mut String, fits: impl Fn(&str) -> bool) {
    for _ in 0..chance.below(BODIES) {
        let piece = piece(chance, server);
        if fits(piece) || chance.percent(5) {
            out.push_str(piece);
        }
    }
}

/// White space, or what should count as such.
fn blank(chance: &mut Chance, server: Server, out: &mut String) {
    match chance.below(10) {
        0..=5 => out.push(' '),
        6 => out.push_str(chance.pick(&["\n", "\t", "\r", "\r\n", "\u{c}", ""])),
        7 => {
            out.push_str(chance.pick(&["/* ", "/*", "/*/", "/**"]));
            body(chance, server, out, |piece| !piece.contains(['*', '/']));
            out.push_str(chance.pick(&[" */", "*/", "**/"]));
        }
        8 => {
            let mark = match server {
                Server::Postgres => chance.pick(&["--", "-- "]),
                Server::MySql | Server::MariaDb => chance.pick(&["-- ", "#", "--\t", "--\r"]),
            };
            out.push_str(mark);
            body(chance, server, out, |piece| !piece.contains('\n'));
            out.push('\n');
        }
        _ if server == Server::Postgres => {
            out.push_str(chance.pick(&["/* /* ' */ */", "/* $$ */", "/*/**/*/"]))
        }
        _ => out.push_str(chance.pick(&[
            "/*!99999 ' /* \" */ */",
            "/*!50000 */",
            "/*!*/",
            "/*M!120000 ` */",
            "/*!99999*/",
            "/* /* */",
        ])),
    }
}

fn piece(chance: &mut Chance, server: Server) -> &'static str {
    let own: &[&'static str] = if server == Server::Postgres { &POSTGRES } else { &MYSQL };
    let list = if chance.percent(60) { &COMMON } else { own };
    chance.pick(list)
}
