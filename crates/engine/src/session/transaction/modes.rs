//! Transaction modes out of the words of BEGIN and SET TRANSACTION.

use pando_kernel::Dialect;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::session::TransactionState;
use pando_sql::ast::Kind;
use pando_sql::visit;

use crate::plan;

use crate::session::errors::server_error;
use crate::session::transaction::Work;

/// The mode that makes the units look at their data when the transaction begins.
pub(in crate::session) const SNAPSHOT: &str = "WITH CONSISTENT SNAPSHOT";

const KNOWN: [&str; 10] = [
    "ISOLATION LEVEL SERIALIZABLE",
    "ISOLATION LEVEL REPEATABLE READ",
    "ISOLATION LEVEL READ COMMITTED",
    "ISOLATION LEVEL READ UNCOMMITTED",
    "READ ONLY",
    "READ WRITE",
    "DEFERRABLE",
    "NOT DEFERRABLE",
    SNAPSHOT,
    "",
];

impl Work {
    /// Modes of these kinds are the session's no longer.
    pub(in crate::session) fn overrule_modes(&mut self, kinds: &[&'static str]) {
        self.modes.session.retain(|mode| !kinds.contains(&kind(mode)));
    }

    /// Whether this is the one transaction that the modes of SET TRANSACTION are for: a statement of its own, if it is
    /// about tables.
    pub(in crate::session) fn uses_up_modes(&self, kind: &Kind) -> bool {
        !self.modes.next.is_empty() && !visit::tables(kind).is_empty()
    }

    /// Modes for the next transaction only, in the place of those that were said before.
    pub(in crate::session) fn say_next_modes(&mut self, modes: Vec<String>) {
        self.modes.next = modes;
    }

    /// A mode for all that the session begins, in the place of the one of its kind.
    pub(in crate::session) fn say_session_mode(&mut self, mode: String) {
        self.modes.session.retain(|known| kind(known) != kind(&mode));
        self.modes.session.push(mode);
    }

    /// Modes for the next transaction only.
    ///
    /// # Errors
    /// As MySQL says it: 1568 inside a transaction.
    pub(in crate::session) fn set_next_modes(&mut self, modes: Vec<String>) -> Result<()> {
        if self.transaction.state() != TransactionState::Idle {
            return Err(in_progress());
        }
        self.modes.next = completed(modes, &self.modes.next);
        Ok(())
    }
}

/// Modes with those of others whose kind they do not name.
pub(in crate::session) fn completed<'a>(
    own: Vec<String>,
    others: impl IntoIterator<Item = &'a String>,
) -> Vec<String> {
    let mut all = own;
    for mode in others {
        if !all.iter().any(|known| kind(known) == kind(mode)) {
            all.push(mode.clone());
        }
    }
    all
}

/// What a mode is about: the word it begins with, but for `NOT DEFERRABLE`.
pub(in crate::session) fn kind(mode: &str) -> &str {
    mode.trim_start_matches("NOT ").split(' ').next().unwrap_or("")
}

/// The kinds of modes whose default a variable is: setting it, or taking it back, overrules what SET SESSION
/// CHARACTERISTICS has said before.
pub(in crate::session) fn defaulted(name: &str) -> &'static [&'static str] {
    match name {
        "default_transaction_isolation" => &["ISOLATION"],
        "default_transaction_read_only" => &["READ"],
        "default_transaction_deferrable" => &["DEFERRABLE"],
        "all" => &["ISOLATION", "READ", "DEFERRABLE"],
        _ => &[],
    }
}

/// Whether a SET TRANSACTION is about all sessions of a server.
pub(in crate::session) fn is_global(text: &str) -> bool {
    let mut words = text.split_whitespace().skip(1);
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("global"))
}

/// Transaction modes out of their words: `ISOLATION`, `LEVEL`, `READ`, `COMMITTED`, `READ`, `ONLY` are two.
pub(in crate::session) fn modes(words: &[String]) -> Vec<String> {
    const STARTS: [&str; 5] = ["ISOLATION", "READ", "WITH", "NOT", "DEFERRABLE"];
    let mut modes: Vec<String> = Vec::new();
    for word in words {
        let begins = STARTS.contains(&word.as_str());
        match modes.last_mut() {
            Some(mode) if !begins || continues(mode, word) => {
                mode.push(' ');
                mode.push_str(word);
            }
            _ => modes.push(word.clone()),
        }
    }
    modes
}

/// Transaction modes out of their words, all of them known.
///
/// # Errors
/// As [`check`].
pub(in crate::session) fn known(words: &[String]) -> Result<Vec<String>> {
    let modes = modes(words);
    check(&modes)?;
    Ok(modes)
}

/// The mode that an assignment sets for the next transaction only: `@@transaction_isolation = …`, without a scope
/// (<https://dev.mysql.com/doc/refman/8.0/en/set-transaction.html>). `assigned` is the text before its value.
pub(in crate::session) fn next_mode(
    dialect: &dyn Dialect,
    assigned: &str,
    value: &str,
) -> Option<String> {
    let name = assigned.trim().strip_prefix("@@")?.trim_end_matches(['=', ':', ' ', '\t', '\n']);
    // Older servers' names.
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("tx_").map_or(name.clone(), |kind| format!("transaction_{kind}"));
    let value = plain(value);
    let is_it = |mode: &&&str| {
        let kept = dialect.mode_variable(mode);
        kept.is_some_and(|(known, text)| known == name && plain(&text) == value)
    };
    KNOWN.iter().find(is_it).map(|mode| (*mode).to_owned())
}

/// A variable's value without how it is written.
fn plain(value: &str) -> String {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    match plain.to_ascii_uppercase().as_str() {
        "ON" | "TRUE" => "1".to_owned(),
        "OFF" | "FALSE" => "0".to_owned(),
        other => other.to_owned(),
    }
}

pub(in crate::session) fn in_progress() -> Error {
    server_error(
        1568,
        "25001",
        "Transaction characteristics can't be changed while a transaction is in progress",
    )
}

/// Refuses what is no transaction mode: it would be sent to a unit with the first statement only.
///
/// # Errors
/// `Syntax`; `Refused` for a snapshot that another server's session has exported.
fn check(modes: &[String]) -> Result<()> {
    let Some(unknown) = modes.iter().find(|mode| !KNOWN.contains(&mode.as_str())) else {
        return Ok(());
    };
    if unknown.starts_with("SNAPSHOT") {
        return Err(snapshot_of_one());
    }
    let message = format!("`{unknown}` is no transaction mode");
    Err(ErrorKind::Syntax { message, at: 0 }.into())
}

/// The refusal of a snapshot that another server's session has exported.
pub(in crate::session) fn snapshot_of_one() -> Error {
    Error::unsupported(
        30001,
        "a snapshot belongs to one storage unit",
        "transactions of type XA at REPEATABLE READ see one snapshot of all units; pg_dump reads one without `-j`",
    )
}

/// Whether a word that could begin a mode goes on with this one.
fn continues(mode: &str, word: &str) -> bool {
    matches!(
        (mode, word),
        ("ISOLATION LEVEL" | "ISOLATION LEVEL REPEATABLE", "READ") | ("NOT", "DEFERRABLE")
    )
}

/// With autocommit off: whether a statement opens a transaction.
pub(in crate::session) fn opens_transaction(kind: &Kind) -> bool {
    plan::is_unread(kind)
        || !matches!(kind, Kind::Show(_) | Kind::Define(_) | Kind::Utility { .. } | Kind::Set(_))
}

#[cfg(test)]
mod tests {
    use super::modes;

    fn check(words: &str, expected: &[&str]) {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(modes(&words), expected);
    }

    #[test]
    fn what_is_no_mode_is_refused() {
        let modes = |words: &str| modes(&words.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(super::check(&modes("ISOLATION LEVEL READ COMMITTED READ ONLY")).is_ok());
        assert!(super::check(&modes("ISOLATION LEVEL NONSENSE")).is_err());
        assert!(super::check(&modes("SNAPSHOT X")).is_err());
    }

    #[test]
    fn a_mode_keeps_those_of_other_kinds() {
        let list = |modes: &[&str]| modes.iter().map(|mode| (*mode).to_owned()).collect::<Vec<_>>();
        let open = list(&["ISOLATION LEVEL SERIALIZABLE", "READ WRITE"]);
        let changed = super::completed(list(&["READ ONLY"]), &open);
        assert_eq!(changed, ["READ ONLY", "ISOLATION LEVEL SERIALIZABLE"]);
        let lowered = super::completed(list(&["ISOLATION LEVEL READ COMMITTED"]), &open);
        assert_eq!(lowered, ["ISOLATION LEVEL READ COMMITTED", "READ WRITE"]);
        let hasty = super::completed(list(&["NOT DEFERRABLE"]), &list(&["DEFERRABLE"]));
        assert_eq!(hasty, ["NOT DEFERRABLE"]);
    }

    #[test]
    fn words_fall_into_modes() {
        check(
            "ISOLATION LEVEL REPEATABLE READ READ ONLY",
            &["ISOLATION LEVEL REPEATABLE READ", "READ ONLY"],
        );
        check(
            "ISOLATION LEVEL READ COMMITTED READ WRITE",
            &["ISOLATION LEVEL READ COMMITTED", "READ WRITE"],
        );
        check("READ ONLY NOT DEFERRABLE", &["READ ONLY", "NOT DEFERRABLE"]);
        check("WITH CONSISTENT SNAPSHOT READ ONLY", &["WITH CONSISTENT SNAPSHOT", "READ ONLY"]);
        check(
            "ISOLATION LEVEL SERIALIZABLE DEFERRABLE",
            &["ISOLATION LEVEL SERIALIZABLE", "DEFERRABLE"],
        );
    }
}
