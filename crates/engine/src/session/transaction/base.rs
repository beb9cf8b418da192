//! Transactions of type BASE: every change is committed on its storage unit at once, with images of its rows, by which
//! it is taken back if it must be.

use pando_base::{Concern, Field};
use pando_kernel::TransactionType;
use pando_kernel::error::{Error, Result};
use pando_kernel::session::TransactionState;
use pando_sql::ast::{Kind, Statement};

use crate::plan;

use crate::session::Session;
use crate::session::transaction::undo_list::Base;
use crate::session::transaction::{End, Work, units};

impl Work {
    pub(in crate::session) fn base(&self) -> &Base {
        &self.base
    }

    pub(in crate::session) fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    /// Whether a statement is one that a transaction of type BASE must be able to take back.
    ///
    /// # Errors
    /// `Refused` when it could not be.
    pub(in crate::session) fn is_for_base(&self, stmt: &Statement) -> Result<bool> {
        let inside = self.transaction.state() != TransactionState::Idle;
        if !inside || self.transaction.kind() != TransactionType::Base {
            return Ok(false);
        }
        Ok(pando_base::concern(stmt)? != Concern::Nothing)
    }
}

/// Whether a statement outside a transaction gets one of type BASE for itself: rows that others hold are to be heeded.
pub(in crate::session) fn changes_in_base(session: &Session, stmt: &Statement) -> bool {
    units::transaction_type(session) == TransactionType::Base
        && matches!(stmt.kind, Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_))
}

/// Refuses, outside a transaction too, changes that would overwrite rows that transactions of type BASE hold.
pub(in crate::session) fn refuse_unheeding(session: &Session, stmt: &Statement) -> Result<()> {
    if units::transaction_type(session) != TransactionType::Base {
        return Ok(());
    }
    let hides_changes =
        matches!(&stmt.kind, Kind::Select(_) | Kind::Explain { .. }) && plan::writes(&stmt.kind);
    if hides_changes || matches!(&stmt.kind, Kind::Utility { verb, .. } if verb == "MERGE") {
        pando_base::concern(stmt)?;
    }
    Ok(())
}

/// Whether what changes now is noted row by row: in a transaction of type BASE, or where one would begin.
pub(in crate::session) fn notes_rows(session: &Session) -> bool {
    let kind = match session.work.is_idle() {
        true => units::transaction_type(session),
        false => session.work.transaction.kind(),
    };
    kind == TransactionType::Base
}

/// Refuses what cannot be taken back, in a transaction of type BASE or where one would begin.
pub(in crate::session) fn refuse_in_base(session: &Session, what: &str) -> Result<()> {
    if !notes_rows(session) {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        format!("{what} cannot be taken back in a BASE transaction"),
        "use a LOCAL or XA transaction",
    ))
}

fn base_field(session: &Session) -> Result<Field> {
    // Others may wait for its rows, and have all connections of a unit.
    Ok(Field { is_awaited: true, ..session.place.engine().field(&*session.place.live()?) })
}

/// Takes back the open transaction's statements from a number on.
pub(in crate::session) async fn undo_in_base(session: &mut Session, from: u64) -> Result<()> {
    let field = base_field(session)?;
    let Some(global) = session.work.base.global.as_mut() else { return Ok(()) };
    global.rollback(&field, from).await?;
    global.forget(from);
    Ok(())
}

/// The client is gone: what its open transaction has committed on units is taken back behind it. What is under way
/// there at this moment is found by recovery.
pub(in crate::session) fn take_back_in_base(session: &mut Session) {
    let Some(global) = std::mem::take(&mut session.work.base).global else { return };
    let Ok(field) = base_field(session) else { return };
    session.place.runtime().spawn(Box::pin(async move {
        if let Err(error) = global.rollback(&field, 0).await {
            tracing::warn!(%error, "what a client has left is not taken back yet");
        }
    }));
}

/// Takes back what came after a savepoint.
pub(in crate::session) async fn return_in_base(session: &mut Session, name: &str) -> Result<()> {
    let found = session.work.base.savepoints.iter().rposition(|(known, _)| known == name);
    let Some((at, statement)) = found
        .and_then(|at| session.work.base.savepoints.get(at).map(|(_, statement)| (at, *statement)))
    else {
        return Ok(());
    };
    session.work.base.savepoints.truncate(at + 1);
    let undone = undo_in_base(session, statement + 1).await;
    if undone.is_err() {
        session.work.transaction.lose();
    }
    undone
}

/// Commits what the open transaction has done on its units, or takes it back.
///
/// # Errors
/// As [`Global::commit`] and [`Global::rollback`].
pub(in crate::session) async fn end_base(session: &mut Session, end: End) -> Result<()> {
    let Some(global) = std::mem::take(&mut session.work.base).global else { return Ok(()) };
    let field = base_field(session)?;
    match end == End::Commit && !session.work.transaction.is_doomed() {
        true => Box::pin(global.commit(&field)).await,
        false => Box::pin(global.rollback(&field, 0)).await,
    }
}
