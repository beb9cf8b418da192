//! What a session has made under names and is shown as its own: on a storage unit these lists tell of the pool's
//! connections, whose statements are anybody's.

use std::sync::Arc;

use pando_kernel::dialect::Own;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::{Named, Prepared};

use crate::session::Session;
use crate::session::run::describe;

/// Relations that list it. <https://www.postgresql.org/docs/current/view-pg-prepared-statements.html>
const LISTS: [&[u8]; 2] = [STATEMENTS, b"pg_cursors"];
const STATEMENTS: &[u8] = b"pg_prepared_statements";
/// Statements whose types are asked for when they are listed; of more the list tells none.
const MOST_ASKED: usize = 100;
/// Texts that are looked through for them; longer ones are taken to ask.
const LOOKED_THROUGH: usize = 64 << 10;
/// All texts that are shown together, in bytes: they travel in the statement.
const MAX_BYTES: usize = 16 << 20;

/// Notes what is there for a statement that asks for it.
///
/// # Errors
/// `TooLarge` when it is more than a statement can carry.
pub(in crate::session) async fn show_own(session: &mut Session, text: &str) -> Result<()> {
    let asks = |list: &[u8]| text.len() > LOOKED_THROUGH || mentions(text, list);
    let is_asked = session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction())
        && LISTS.iter().any(|list| asks(list));
    if !is_asked {
        return Ok(());
    }
    if text.len() <= LOOKED_THROUGH && asks(STATEMENTS) && session.work.is_idle() {
        Box::pin(find_types(session)).await;
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

/// Finds out the types of statements that nobody has asked for yet; of one that cannot be described any more none are told. Not inside a transaction, which that would end.
async fn find_types(session: &mut Session) {
    let is_open = |one: &&Named| one.prepared.has_open_types();
    let named = session.memory.named().iter().map(|(_, one)| one).filter(is_open);
    let open: Vec<Arc<Prepared>> =
        named.take(MOST_ASKED).map(|one| Arc::clone(&one.prepared)).collect();
    for prepared in open {
        match describe::describe_as_one(session, &prepared).await {
            Ok(description) => {
                let _ = prepared.description.set(description);
            }
            Err(error) => tracing::debug!(%error, "a prepared statement could not be described"),
        }
    }
}

fn mentions(text: &str, word: &[u8]) -> bool {
    text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}
