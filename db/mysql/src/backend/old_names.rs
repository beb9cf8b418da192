//! Variables by their older names, and statements in their older form.
//!
//! The door says it is a MySQL 8, so clients ask for variables by the names that MySQL 8 gave them. MariaDB before 11.1
//! and MySQL before 5.7.20 know them by their old names only.

use pando_sql::{Edits, TokenKind, tokenize};

use crate::dialect::SYNTAX;

/// New name and old name.
const NAMES: [(&str, &str); 2] =
    [("transaction_isolation", "tx_isolation"), ("transaction_read_only", "tx_read_only")];

/// `ER_UNKNOWN_SYSTEM_VARIABLE`, upon which the old names are tried.
pub(super) const UNKNOWN_VARIABLE: u32 = 1193;

/// Whether the error that a server does not know a variable is about one that has an old name.
pub(super) fn is_new_name(message: &str) -> bool {
    NAMES.iter().any(|(new, _)| message.contains(new))
}

/// The statement with old names; `None` when it has no such variable.
pub(super) fn with_old_names(sql: &str) -> Option<String> {
    let tokens = tokenize(sql, &SYNTAX).ok()?;
    let sets = tokens.list.first().is_some_and(|token| {
        token.kind == TokenKind::Word && token.span.of(sql).eq_ignore_ascii_case("set")
    });
    let mut edits = Edits::default();
    for token in &tokens.list {
        let text = token.span.of(sql);
        // `@@session.name`, or `name` behind SET.
        let scoped = token.kind == TokenKind::Variable && text.starts_with("@@");
        let plain = sets && token.kind == TokenKind::Word;
        let name = text.rsplit(['.', '@']).next().unwrap_or(text);
        let known = NAMES.iter().find(|(new, _)| name.eq_ignore_ascii_case(new));
        if let Some((_, old)) = known.filter(|_| scoped || plain) {
            let scope = text.get(..text.len() - name.len()).unwrap_or_default();
            edits.replace(token.span, format!("{scope}{old}"));
        }
    }
    (!edits.is_empty()).then(|| edits.apply(sql))
}

/// `ER_PARSE_ERROR`, upon which the old form of an upsert is tried.
pub(super) const NOT_UNDERSTOOD: u32 = 1064;

/// `INSERT … VALUES (…) AS new ON DUPLICATE KEY UPDATE a = new.a`, which MySQL has since 8.0.19 and MariaDB has not, with `VALUES(a)` instead; `None`
/// when the statement is none.
pub(super) fn with_values(sql: &str) -> Option<String> {
    let tokens = tokenize(sql, &SYNTAX).ok()?;
    let words: Vec<&str> = tokens.list.iter().map(|token| token.span.of(sql)).collect();
    let is =
        |at: usize, word: &str| words.get(at).is_some_and(|own| own.eq_ignore_ascii_case(word));
    if !is(0, "insert") {
        return None;
    }
    let upsert = ["on", "duplicate", "key", "update"];
    let starts = |at: usize| upsert.iter().enumerate().all(|(i, word)| is(at + 2 + i, word));
    let at = (0..words.len()).find(|at| is(*at, "as") && starts(*at))?;
    let alias = words.get(at + 1)?.trim_matches('`');
    let mut edits = Edits::default();
    edits.replace(tokens.list.get(at)?.span.to(tokens.list.get(at + 1)?.span), "");
    for i in at + 6..words.len() {
        let owned = words[i].trim_matches('`').eq_ignore_ascii_case(alias) && is(i + 1, ".");
        if let Some(column) = words.get(i + 2).filter(|_| owned) {
            let span = tokens.list[i].span.to(tokens.list[i + 2].span);
            edits.replace(span, format!("VALUES({column})"));
        }
    }
    Some(edits.apply(sql))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_row_of_an_upsert_is_named_in_the_old_way() {
        let cases = [
            (
                "INSERT INTO `t` (`id`, `a`) VALUES (1, 'new.a') AS new ON DUPLICATE KEY UPDATE `a` = new.`a`, b = `new`.b + t.b",
                Some(
                    "INSERT INTO `t` (`id`, `a`) VALUES (1, 'new.a')  ON DUPLICATE KEY UPDATE `a` = VALUES(`a`), b = VALUES(b) + t.b",
                ),
            ),
            ("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a)", None),
            ("SELECT 1 AS new", None),
        ];
        for (sql, expected) in cases {
            assert_eq!(with_values(sql).as_deref(), expected, "{sql}");
        }
    }

    #[test]
    fn only_variables_are_renamed() {
        let cases = [
            (
                "SELECT @@session.transaction_isolation AS transaction_isolation, '@@transaction_isolation'",
                Some(
                    "SELECT @@session.tx_isolation AS transaction_isolation, '@@transaction_isolation'",
                ),
            ),
            ("SELECT @@TRANSACTION_READ_ONLY", Some("SELECT @@tx_read_only")),
            (
                "SET SESSION transaction_isolation = 'SERIALIZABLE'",
                Some("SET SESSION tx_isolation = 'SERIALIZABLE'"),
            ),
            ("SELECT transaction_isolation FROM t", None),
            ("SELECT @transaction_isolation", None),
            ("SELECT 'open", None),
        ];
        for (sql, expected) in cases {
            assert_eq!(with_old_names(sql).as_deref(), expected, "{sql}");
        }
    }
}
