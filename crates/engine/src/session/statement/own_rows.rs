//! What a session has made under names and is shown as its own: on a storage unit these lists tell of the pool's
//! connections, whose statements are anybody's.

use std::sync::Arc;

use pando_kernel::dialect::Own;
use pando_kernel::error::{ErrorKind, Result};

use crate::session::Session;

/// Relations that list it. <https://www.postgresql.org/docs/current/view-pg-prepared-statements.html>
const LISTS: [&[u8]; 2] = [b"pg_prepared_statements", b"pg_cursors"];
/// Texts that are looked through for them; longer ones are taken to ask.
const LOOKED_THROUGH: usize = 64 << 10;
/// All texts that are shown together, in bytes: they travel in the statement.
const MAX_BYTES: usize = 16 << 20;

/// Notes what is there for a statement that asks for it.
///
/// # Errors
/// `TooLarge` when it is more than a statement can carry.
pub(in crate::session) fn show_own(session: &mut Session, text: &str) -> Result<()> {
    let is_asked = session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction())
        && (text.len() > LOOKED_THROUGH || LISTS.iter().any(|list| mentions(text, list)));
    if !is_asked {
        return Ok(());
    }
    let statements =
        session.memory.named().iter().map(|(name, one)| (name.to_owned(), one.clone()));
    let own = Own { statements: statements.collect(), cursors: session.cursors.own_cursors() };
    let of_statements = own.statements.iter().map(|(_, one)| match &one.from {
        Some(text) => text.len(),
        None => one.prepared.sql.len(),
    });
    let bytes: usize =
        of_statements.chain(own.cursors.iter().map(|cursor| cursor.text.len())).sum();
    if bytes > MAX_BYTES && text.len() <= LOOKED_THROUGH {
        let message = "the session's prepared statements are too long to be listed";
        return Err(ErrorKind::TooLarge(message.into()).into());
    }
    session.place.facts_mut().own = Arc::new(own);
    Ok(())
}

fn mentions(text: &str, word: &[u8]) -> bool {
    text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}
