//! From SQLite's result codes to errors with an SQLSTATE.

use pando_kernel::{Error, ErrorKind, ServerError};
use rusqlite::ffi;

/// The storage unit's error of a statement SQLite refused. <https://www.sqlite.org/rescode.html>
pub(crate) fn server(error: &rusqlite::Error) -> Error {
    let message = message(error);
    let sqlstate = if let rusqlite::Error::SqliteFailure(code, _)
    | rusqlite::Error::SqlInputError { error: code, .. } = error
    {
        sqlstate(code.extended_code, &message)
    } else if matches!(error, rusqlite::Error::MultipleStatement | rusqlite::Error::NulError(_)) {
        "42601"
    } else if matches!(error, rusqlite::Error::Utf8Error(..)) {
        "22021"
    } else {
        // What is left means a wrong use of rusqlite's functions.
        "XX000"
    };
    refuse(sqlstate, message)
}

/// A storage unit's error with this SQLSTATE.
pub(crate) fn refuse(sqlstate: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Server(Box::new(ServerError {
        number: 0,
        sqlstate: sqlstate.to_owned(),
        message: message.into(),
        severity: "ERROR".to_owned(),
        fields: Vec::new(),
    })))
}

/// The statement was cancelled.
pub(crate) fn cancelled() -> Error {
    refuse("57014", "canceling statement due to user request")
}

/// The connection's thread or file is gone.
pub(crate) fn unavailable(path: &str, why: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable { unit: path.to_owned(), message: why.into() })
}

/// What SQLite says.
pub(crate) fn message(error: &rusqlite::Error) -> String {
    if let rusqlite::Error::SqliteFailure(_, Some(message))
    | rusqlite::Error::SqlInputError { msg: message, .. } = error
    {
        return message.clone();
    }
    if matches!(error, rusqlite::Error::MultipleStatement) {
        return "only one statement at a time is expected".to_owned();
    }
    error.to_string()
}

/// The extended code decides; where SQLite has one code for everything, its message does.
fn sqlstate(extended: i32, message: &str) -> &'static str {
    match extended {
        ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_ROWID => return "23505",
        ffi::SQLITE_CONSTRAINT_NOTNULL => return "23502",
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => return "23503",
        ffi::SQLITE_CONSTRAINT_CHECK => return "23514",
        ffi::SQLITE_CONSTRAINT_DATATYPE => return "42804",
        ffi::SQLITE_BUSY_SNAPSHOT => return "40001",
        _ => {}
    }
    match extended & 0xff {
        ffi::SQLITE_ERROR => by_message(message),
        ffi::SQLITE_CONSTRAINT => "23000",
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => "55P03",
        ffi::SQLITE_INTERRUPT => "57014",
        ffi::SQLITE_READONLY => "25006",
        ffi::SQLITE_AUTH | ffi::SQLITE_PERM => "42501",
        ffi::SQLITE_FULL => "53100",
        ffi::SQLITE_NOMEM => "53200",
        ffi::SQLITE_TOOBIG => "54000",
        ffi::SQLITE_MISMATCH => "42804",
        ffi::SQLITE_RANGE => "08P01",
        ffi::SQLITE_SCHEMA => "40001",
        ffi::SQLITE_IOERR | ffi::SQLITE_CANTOPEN => "58030",
        ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB => "XX001",
        _ => "XX000",
    }
}

fn by_message(message: &str) -> &'static str {
    const KNOWN: [(&str, &str); 23] = [
        ("no such table", "42P01"),
        ("no such view", "42P01"),
        ("no such index", "42704"),
        ("no such trigger", "42704"),
        ("no such column", "42703"),
        ("has no column named", "42703"),
        ("no such function", "42883"),
        ("wrong number of arguments", "42883"),
        ("no such savepoint", "3B001"),
        ("no such collation", "42704"),
        ("duplicate column name", "42701"),
        ("already another table or index", "42P07"),
        ("already exists", "42P07"),
        ("already an index", "42P07"),
        ("ambiguous column name", "42702"),
        ("within a transaction", "25001"),
        ("no transaction is active", "25P01"),
        ("syntax error", "42601"),
        ("incomplete input", "42601"),
        ("unrecognized token", "42601"),
        ("values were supplied", "42601"),
        ("values for", "42601"),
        ("integer overflow", "22003"),
    ];
    let known = KNOWN.iter().find(|(part, _)| message.contains(part));
    known.map_or("42000", |(_, sqlstate)| sqlstate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(setup: &str, sql: &str, expected: &str) {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(setup).unwrap();
        let error = connection.execute_batch(sql).unwrap_err();
        let error = server(&error);
        let ErrorKind::Server(sent) = error.kind() else { panic!("{error}") };
        assert_eq!(sent.sqlstate, expected, "{sql}: {}", sent.message);
    }

    #[test]
    fn sqlite_errors_have_the_sqlstate_other_databases_would_give() {
        let tables = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE, b INT CHECK (b > 0));
            CREATE TABLE c (t INT REFERENCES t(id)); PRAGMA foreign_keys = ON; INSERT INTO t VALUES (1, 'x', 1)";
        check(tables, "INSERT INTO t VALUES (1, 'y', 1)", "23505");
        check(tables, "INSERT INTO t VALUES (2, 'x', 1)", "23505");
        check(tables, "INSERT INTO t VALUES (2, NULL, 1)", "23502");
        check(tables, "INSERT INTO t VALUES (2, 'y', 0)", "23514");
        check(tables, "INSERT INTO c VALUES (9)", "23503");
        check(tables, "SELECT * FROM missing", "42P01");
        check(tables, "SELECT missing FROM t", "42703");
        check(tables, "INSERT INTO t (missing) VALUES (1)", "42703");
        check(tables, "SELECT missing(1)", "42883");
        check(tables, "SELEC 1", "42601");
        check(tables, "SELECT 'open", "42601");
        check(tables, "CREATE TABLE t (a INT)", "42P07");
        check(tables, "ALTER TABLE t ADD COLUMN a INT", "42701");
        check(tables, "SELECT id FROM t x, t y", "42702");
        check(tables, "COMMIT", "25P01");
        check(tables, "BEGIN; BEGIN", "25001");
        check(tables, "RELEASE x", "3B001");
        check(tables, "INSERT INTO t VALUES (1)", "42601");
    }
}
