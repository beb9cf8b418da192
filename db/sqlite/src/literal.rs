//! Literals.

use std::fmt::Write as _;

/// A string literal that is the same in every language: SQLite's parser stops at a NUL character, and a backslash is not a backslash everywhere.
pub(crate) fn text_literal(text: &str) -> String {
    if text.contains(['\0', '\\']) {
        return format!("CAST(X'{}' AS TEXT)", hex(text.as_bytes()));
    }
    format!("'{}'", text.replace('\'', "''"))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02X}");
        out
    })
}
