//! Cursors that are closed, by their client or with their transaction.

use pando_kernel::request::CursorId;

use crate::session::Session;
use crate::session::connections::release;
use crate::session::cursors::declared::{Declared, Hold};
use crate::session::transaction::{End, Opened};

/// A transaction is rolled back, and cursors end with it, but for one that is its statement's own. Where servers keep
/// what a cursor has found, only those end that have more to find: that is not waited for.
pub(in crate::session) async fn part_for_rollback(session: &mut Session) {
    if session.work.opened() == Opened::Statement {
        return;
    }
    match are_kept(session) {
        true => close_at_work(session).await,
        false => close_unheld(session).await,
    }
}

/// Drops a cursor and gives its connections back.
pub(in crate::session) async fn close_cursor(session: &mut Session, id: CursorId) {
    session.cursors.declared.retain(|_, declared| declared.id() != id);
    if let Some(cursor) = session.cursors.portals.remove(&id) {
        let _ = release::resume(session, &cursor.reply);
        release::release_reply(session, cursor.reply).await;
    }
}

/// Drops every cursor.
pub(in crate::session) async fn close_cursors(session: &mut Session) {
    let all: Vec<CursorId> = session.cursors.ids().collect();
    for id in all {
        close_cursor(session, id).await;
    }
    session.cursors.declared.clear();
}

/// The transaction has ended so: what is WITH HOLD is held from now on, where it was committed, and gone where that has
/// failed.
pub(in crate::session) async fn hold_declared(session: &mut Session, ended: End) {
    match ended {
        End::Commit => {
            session.cursors.declared.values_mut().for_each(|one| one.hold = Hold::Held);
        }
        End::RollBack => close_unheld(session).await,
    }
}

/// Closes every cursor but those that are held since an earlier transaction.
pub(in crate::session) async fn close_unheld(session: &mut Session) {
    close_but(session, |declared| declared.hold == Hold::Held).await;
}

/// Closes every cursor that is not declared, or not to be kept.
pub(in crate::session) async fn close_but(
    session: &mut Session,
    is_kept: impl Fn(&Declared) -> bool,
) {
    session.cursors.declared.retain(|_, declared| is_kept(declared));
    let is_over = |id: &&CursorId| !session.cursors.declared.values().any(|one| one.id == **id);
    let over: Vec<CursorId> = session.cursors.portals.keys().filter(is_over).copied().collect();
    for id in over {
        close_cursor(session, id).await;
    }
}

/// Whether servers keep what a cursor has found when its transaction ends.
pub(in crate::session) fn are_kept(session: &Session) -> bool {
    session.place.dialect().is_some_and(|dialect| !dialect.error_fails_transaction())
}

/// Closes the cursors for which connections of the transaction still work.
pub(in crate::session) async fn close_at_work(session: &mut Session) {
    let unread = session
        .cursors
        .portals
        .values()
        .filter(|cursor| release::is_at_work(session, &cursor.reply));
    let unread: Vec<CursorId> = unread.map(|cursor| cursor.id).collect();
    for id in unread {
        close_cursor(session, id).await;
    }
}
