//! What a client says about its transaction: BEGIN, COMMIT, ROLLBACK, savepoints.

use pando_kernel::Dialect;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::session::TransactionState;
use pando_sql::ast::Transaction;
use pando_transaction::no_savepoint;

use crate::session::Session;
use crate::session::cursors::portals;
use crate::session::errors::no_transaction;
use crate::session::reply::made;
use crate::session::run::finish;
use crate::session::settings::savepoints;
use crate::session::transaction::modes::{SNAPSHOT, known};
use crate::session::transaction::{
    End, Work, base, begin, change_modes, end, modes, snapshot, units,
};

/// Who opened the current transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Opened {
    /// The client, by BEGIN or with autocommit off.
    Client,
    /// The session, for one statement that writes to several units.
    Statement,
    /// The session, for one statement that runs as several.
    Steps,
    /// The session, for several statements of one request or pipeline.
    Pipeline,
}

impl Work {
    /// The modes of a transaction that AND CHAIN begins: those of the one before, which has left no snapshot. Where
    /// none was open, as only the MySQL family has it, one begins all the same.
    fn chained_modes(&self) -> Vec<String> {
        self.transaction.modes().iter().filter(|mode| *mode != SNAPSHOT).cloned().collect()
    }

    /// Whether a transaction is open that the client has begun.
    fn is_in_block(&self) -> bool {
        self.transaction.state() != TransactionState::Idle && self.opened != Opened::Pipeline
    }

    /// Refuses a verb about a savepoint where none can be.
    fn refuse_outside(&self, verb: &str, name: &str, dialect: &dyn Dialect) -> Result<()> {
        if self.is_in_block() {
            return Ok(());
        }
        let fails = dialect.error_fails_transaction();
        Err(if fails { no_transaction(verb) } else { no_savepoint(name, dialect) })
    }
}

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
            modes::set_modes_for_all(session, modes).await?;
        }
        Transaction::Set { session: false, modes } => modes::set_modes(session, modes).await?,
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
    if !session.work.autocommit && session.work.is_idle() {
        units::ready_all(session).await?;
        begin::open(session, Opened::Client, Vec::new());
    }
    if session.work.is_in_block() {
        portals::settle_cursors(session).await?;
        end::attend_transaction(session)?;
        let result = session.work.transaction.savepoint(name, dialect).await;
        or_fail(session, result).await?;
        if !dialect.error_fails_transaction() {
            session.work.base.gives_up(name);
        }
        session.work.base.savepoint(name);
        savepoints::mark(session, name);
    }
    made::complete(session, "SAVEPOINT");
    Ok(())
}

async fn release_savepoint(session: &mut Session, name: &str, dialect: &dyn Dialect) -> Result<()> {
    session.work.refuse_if_failed()?;
    session.work.refuse_outside("RELEASE SAVEPOINT", name, dialect)?;
    portals::settle_cursors(session).await?;
    end::attend_transaction(session)?;
    let result = session.work.transaction.release(name, dialect).await;
    or_fail(session, result).await?;
    session.work.base.release(name);
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
    savepoints::close_cursors_behind(session, name).await;
    portals::settle_cursors(session).await?;
    end::attend_transaction(session)?;
    let result = session.work.transaction.rollback_to(name, dialect).await;
    or_fail(session, result).await?;
    session.temporary.doubt_temporaries();
    let result = base::return_in_base(session, name).await;
    or_fail(session, result).await?;
    let result = Box::pin(savepoints::return_to_mark(session, name)).await;
    or_fail(session, result).await?;
    let result = change_modes::tell_read_only_again(session).await;
    or_fail(session, result).await?;
    if session.work.definitions.own.is_some() {
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
    let committed = if open { end::end_transaction(session, End::Commit).await? } else { true };
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
        end::end_transaction(session, End::RollBack).await?;
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
    if open && session.work.opened == Opened::Pipeline {
        session.work.refuse_if_failed()?;
        if session.work.has_reached_none() {
            let modes = session.work.modes_for(modes);
            session.work.transaction.set_modes(modes);
        } else {
            change_modes::alter(session, modes).await?;
        }
        // What was set in the text before BEGIN goes with the transaction.
        session.work.opened = Opened::Client;
    } else if open && dialect.error_fails_transaction() {
        session.work.refuse_if_failed()?;
        session.outbox.warn("25001", "there is already a transaction in progress");
        change_modes::alter(session, modes).await?;
    } else {
        snapshot::refuse_snapshot_in_base(session, &modes)?;
        if open {
            end::commit_implicitly(session).await?;
        }
        begin::open_for_client(session, modes).await?;
    }
    made::complete(session, "BEGIN");
    Ok(())
}

async fn or_fail(session: &mut Session, result: Result<()>) -> Result<()> {
    end::let_go(session).await;
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
