//! Variables by their older names.
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

#[cfg(test)]
mod tests {
    use super::*;

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
