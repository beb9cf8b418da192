//! A partition of a broadcast table, or a table that inherits from one, has rows of it: it stands where that stands.

use pando_kernel::error::{Error, Result};
use pando_sql::ast::{DefineAction, Kind, ObjectKind, Statement};

use crate::rule::Rule;

/// Refuses a table that would stand on one storage unit, and have rows of a broadcast table there.
///
/// # Errors
/// `Refused`.
pub(crate) fn check(rule: &Rule, stmt: &Statement) -> Result<()> {
    let Kind::Define(define) = &stmt.kind else { return Ok(()) };
    let makes = define.object == ObjectKind::Table
        && matches!(define.action, DefineAction::Create | DefineAction::Alter);
    let ours = |key: &str| rule.is_broadcast(key);
    let parent = define.referenced.iter().map(|name| name.key()).find(|key| ours(key));
    let (Some(parent), Some(name)) = (parent.filter(|_| makes), define.names.first()) else {
        return Ok(());
    };
    if ours(&name.key()) || !inherits(&stmt.text) {
        return Ok(());
    }
    let name = name.key();
    Err(Error::unsupported(
        30001,
        format!(
            "`{name}` would have rows of the broadcast table `{parent}` on one storage unit alone"
        ),
        format!("make `{name}` a broadcast table, too"),
    ))
}

fn inherits(text: &str) -> bool {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<String> = text
        .split(|c| !is_in_word(c))
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.windows(2).any(|pair| pair == ["partition", "of"])
        || words.iter().any(|word| word == "inherits" || word == "inherit")
}
