//! What a client says about its transaction: BEGIN, COMMIT, ROLLBACK, savepoints.

use pando_kernel::Dialect;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::request::CursorId;
use pando_sql::ast::Transaction;

use crate::variables::UNKNOWN;

use crate::session::Session;
use crate::session::connections::locks;
use crate::session::cursors::{close, settle};
use crate::session::errors::no_transaction;
use crate::session::reply::made;
use crate::session::reply::pull::finish;
use crate::session::statement::{change_modes, lock_tables, set_modes};
use crate::session::transaction::modes::known;
use crate::session::transaction::{Opened, attend, base, begin, commit, end, snapshot, units};

/// BEGIN, COMMIT, savepoints and what else is said about the transaction itself.
pub(in crate::session) async fn transaction_verb(
    session: &mut Session,
    verb: &Transaction,
) -> Result<()> {
    let dialect = session.place.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
    let dialect = dialect.as_ref();
    match verb {
        Transaction::Begin(words) => {
            units::ready_all(session).await?;
            begin_verb(session, known(words)?, dialect).await?;
        }
        Transaction::Commit { chain: false } => {
            commit_verb(session, After::Nothing, dialect).await?;
        }
        Transaction::Commit { chain: true } => commit_verb(session, After::Begin, dialect).await?,
        Transaction::Rollback { chain: false } => {
            rollback_verb(session, After::Nothing, dialect).await?;
        }
        Transaction::Rollback { chain: true } => {
            rollback_verb(session, After::Begin, dialect).await?;
        }
        Transaction::Savepoint(name) => {
            set_savepoint(session, &as_compared(&name.value, dialect), dialect).await?;
        }
        Transaction::Release(name) => {
            release_savepoint(session, &as_compared(&name.value, dialect), dialect).await?;
        }
        Transaction::RollbackTo(name) => {
            return_to_savepoint(session, &as_compared(&name.value, dialect), dialect).await?;
        }
        Transaction::Set { session: true, modes } => {
            set_modes::set_modes_for_all(session, modes).await?;
        }
        Transaction::Set { session: false, modes } => set_modes::set_modes(session, modes).await?,
        Transaction::TwoPhase => {
            return Err(Error::unsupported(
                30001,
                "two-phase verbs cannot be sent through Pando: they name one storage unit's own transaction",
                "use BEGIN and COMMIT: after SET VARIABLE transaction_type = 'XA' they commit on all storage units or on none",
            ));
        }
    }
    Ok(())
}

async fn set_savepoint(session: &mut Session, name: &str, dialect: &dyn Dialect) -> Result<()> {
    session.work.refuse_if_failed()?;
    if !session.work.is_in_block() && dialect.error_fails_transaction() {
        return Err(no_transaction("SAVEPOINT"));
    }
    if !session.work.autocommit() && session.work.is_idle() {
        units::ready_all(session).await?;
        begin::open(session, Opened::Client, Vec::new());
    }
    if session.work.is_in_block() {
        settle::settle_cursors(session).await?;
        attend::attend_transaction(session)?;
        let result = session.work.transaction_mut().savepoint(name, dialect).await;
        or_fail(session, result).await?;
        if !dialect.error_fails_transaction() {
            session.work.base_mut().gives_up(name);
        }
        session.work.base_mut().savepoint(name);
        if dialect.error_fails_transaction() {
            session.settings.mark(name, session.cursors.ids().collect());
        }
    }
    made::complete(session, "SAVEPOINT");
    Ok(())
}

async fn release_savepoint(session: &mut Session, name: &str, dialect: &dyn Dialect) -> Result<()> {
    session.work.refuse_if_failed()?;
    session.work.refuse_outside("RELEASE SAVEPOINT", name, dialect)?;
    settle::settle_cursors(session).await?;
    attend::attend_transaction(session)?;
    let result = session.work.transaction_mut().release(name, dialect).await;
    or_fail(session, result).await?;
    session.work.base_mut().release(name);
    if let Some(before) = session.settings.depth_of(name) {
        session.work.locks_mut().release(before);
        session.work.channels_mut().releases(before);
    }
    session.settings.unmark(name);
    let result = change_modes::tell_read_only_again(session).await;
    or_fail(session, result).await?;
    made::complete(session, "RELEASE");
    Ok(())
}

async fn return_to_savepoint(
    session: &mut Session,
    name: &str,
    dialect: &dyn Dialect,
) -> Result<()> {
    session.work.refuse_outside("ROLLBACK TO SAVEPOINT", name, dialect)?;
    close_cursors_behind(session, name).await;
    settle::settle_cursors(session).await?;
    attend::attend_transaction(session)?;
    session.work.forget_held_keys();
    session.work.gatherings_mut().forgoes();
    let result = session.work.transaction_mut().rollback_to(name, dialect).await;
    or_fail(session, result).await?;
    session.temporary.doubt_temporaries();
    if let Some(before) = session.settings.depth_of(name) {
        Box::pin(locks::free_behind(session, before)).await;
        session.work.channels_mut().returns(before);
    }
    let result = base::return_in_base(session, name).await;
    or_fail(session, result).await?;
    let result = match session.settings.return_to_mark(name, dialect) {
        Some(text) => Box::pin(tell_again(session, &text)).await,
        None => Ok(()),
    };
    or_fail(session, result).await?;
    let result = change_modes::tell_read_only_again(session).await;
    or_fail(session, result).await?;
    if session.work.has_definitions_of_its_own() {
        // What was defined behind the savepoint is no more, and what was prepared with it.
        session.place.live()?.forget_tables();
    }
    made::complete(session, "ROLLBACK");
    Ok(())
}

/// What follows on the end of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    /// The next one begins: AND CHAIN.
    Begin,
}

async fn commit_verb(session: &mut Session, after: After, dialect: &dyn Dialect) -> Result<()> {
    look_for_block(session, "COMMIT", after, dialect)?;
    let open = !session.work.is_idle();
    let modes = session.work.chained_modes();
    if after == After::Begin && !open {
        units::ready_all(session).await?;
    }
    let committed = if open { commit::commit(session).await? } else { true };
    if after == After::Begin {
        begin::open(session, Opened::Client, modes);
    }
    made::complete(session, if committed { "COMMIT" } else { "ROLLBACK" });
    Ok(())
}

async fn rollback_verb(session: &mut Session, after: After, dialect: &dyn Dialect) -> Result<()> {
    look_for_block(session, "ROLLBACK", after, dialect)?;
    let open = !session.work.is_idle();
    let modes = session.work.chained_modes();
    if after == After::Begin && !open {
        units::ready_all(session).await?;
    }
    if open {
        end::roll_back_with_cursors(session).await?;
    }
    if after == After::Begin {
        begin::open(session, Opened::Client, modes);
    }
    made::complete(session, "ROLLBACK");
    Ok(())
}

/// What a family that knows of transaction blocks says to the end of one that the client has not begun. What a text or
/// a pipeline has done so far ends with it all the same.
fn look_for_block(
    session: &mut Session,
    verb: &str,
    after: After,
    dialect: &dyn Dialect,
) -> Result<()> {
    if session.work.is_in_block() || !dialect.error_fails_transaction() {
        return Ok(());
    }
    if after == After::Begin {
        return Err(no_transaction(&format!("{verb} AND CHAIN")));
    }
    session.outbox.warn("25P01", "there is no transaction in progress");
    Ok(())
}

async fn begin_verb(
    session: &mut Session,
    modes: Vec<String>,
    dialect: &dyn Dialect,
) -> Result<()> {
    let open = !session.work.is_idle();
    if open && session.work.opened() == Opened::Pipeline {
        session.work.refuse_if_failed()?;
        if session.work.has_reached_none() {
            let modes = session.work.modes_for(modes);
            session.work.transaction_mut().set_modes(modes);
        } else {
            change_modes::alter(session, modes).await?;
        }
        // What was set in the text before BEGIN goes with the transaction.
        session.work.is_opened_for(Opened::Client);
    } else if open && dialect.error_fails_transaction() {
        session.work.refuse_if_failed()?;
        session.outbox.warn("25001", "there is already a transaction in progress");
        change_modes::alter(session, modes).await?;
    } else {
        snapshot::refuse_snapshot_in_base(session, &modes)?;
        Box::pin(lock_tables::unlock(session)).await?;
        if open {
            commit::commit_implicitly(session).await?;
        }
        begin::open_for_client(session, modes).await?;
    }
    made::complete(session, "BEGIN");
    Ok(())
}

async fn or_fail(session: &mut Session, result: Result<()>) -> Result<()> {
    attend::let_go(session).await;
    match result {
        Ok(()) => Ok(()),
        Err(error) => Err(finish::fail_statement(session, error).await),
    }
}

/// A savepoint's name as the family compares it.
fn as_compared(name: &str, dialect: &dyn Dialect) -> String {
    match dialect.error_fails_transaction() {
        true => name.to_owned(),
        false => name.to_lowercase(),
    }
}

/// Closes the cursors that were opened behind a savepoint, where the language says so.
async fn close_cursors_behind(session: &mut Session, name: &str) {
    let Some(older) = session.settings.open_at_mark(name) else { return };
    let newer: Vec<CursorId> = session.cursors.ids().filter(|id| !older.contains(id)).collect();
    for id in newer {
        close::close_cursor(session, id).await;
    }
}

/// Tells the transaction's units what is set, whatever they have been told before.
async fn tell_again(session: &mut Session, text: &str) -> Result<()> {
    session.work.transaction_mut().connections().for_each(|one| one.set_session_state(UNKNOWN));
    session.work.transaction_mut().run_everywhere(text).await
}
