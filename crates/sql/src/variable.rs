//! Names of user variables: `@a`, `@'a'`, `@"a"` and `` @`a` `` are the same one.
//! <https://dev.mysql.com/doc/refman/8.0/en/user-variables.html>

use crate::literal::plain;
use crate::quotes::{body_of, undouble};
use crate::syntax::Syntax;

/// A user variable as its name is kept, with its `@`: in lower case, and between backticks where it needs quotes.
/// `None` for `@@` and what is no variable at all.
pub fn user_variable(raw: &str, syntax: &Syntax) -> Option<String> {
    user_name(raw, syntax).map(|name| variable_called(&name))
}

/// The same of a name without quotes, in lower case.
pub fn variable_called(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    match !name.is_empty() && name.chars().all(is_plain) {
        true => format!("@{name}"),
        false => format!("@`{}`", name.replace('`', "``")),
    }
}

/// What stands behind the `@`, without quotes, in lower case.
pub(crate) fn user_name(raw: &str, syntax: &Syntax) -> Option<String> {
    let written = raw.strip_prefix('@')?;
    let name = match written.chars().next()? {
        '@' => return None,
        '`' => undouble(body_of(written, 0), '`'),
        quote @ ('\'' | '"') => plain(body_of(written, 0), quote, syntax),
        _ => written.to_owned(),
    };
    Some(name.to_lowercase())
}
