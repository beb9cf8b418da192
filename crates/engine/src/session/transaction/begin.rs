//! How transactions begin: for the client, or for what the session does as one.

use pando_kernel::error::Result;
use pando_kernel::session::TransactionState;

use crate::session::Session;
use crate::session::transaction::change_modes::Touched;
use crate::session::transaction::verbs::Opened;
use crate::session::transaction::{snapshot, units};

/// Opens a transaction for the client.
pub(in crate::session) fn begin(session: &mut Session, modes: Vec<String>) {
    let all = session.work.modes_for(modes);
    session.work.transaction.begin(all, units::course(session));
    session.work.touched = Touched::Nothing;
    session.work.names_tables = false;
    session.work.opened = Opened::Client;
    session.settings.at_begin = Some(session.settings.variables.clone());
    session.work.modes.at_begin.clone_from(&session.work.modes.session);
}

/// Opens a transaction for the client, which may have asked for a snapshot of this moment.
pub(in crate::session) async fn begin_at_once(
    session: &mut Session,
    modes: Vec<String>,
) -> Result<()> {
    begin(session, modes);
    match snapshot::looks_at_once(session) {
        true => Box::pin(snapshot::look_at_once(session)).await,
        false => Ok(()),
    }
}

/// Several statements of one request form one transaction where the language says so.
pub(in crate::session) fn open_pipeline(session: &mut Session) {
    let together = session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction());
    if together
        && session.work.autocommit
        && session.work.transaction.state() == TransactionState::Idle
    {
        let modes = session.work.modes_for(Vec::new());
        session.work.transaction.begin(modes, units::course(session));
        session.work.touched = crate::session::transaction::change_modes::Touched::Nothing;
        session.work.opened = Opened::Pipeline;
        session.settings.at_begin = Some(session.settings.variables.clone());
        session.work.modes.at_begin.clone_from(&session.work.modes.session);
    }
}

/// Opens a transaction that ends with the statement.
pub(in crate::session) fn open_for_statement(session: &mut Session, modes: Vec<String>) {
    let modes = session.work.modes_for(modes);
    session.work.transaction.begin(modes, units::course(session));
    session.work.opened = Opened::Statement;
}

/// All batches are one transaction.
pub(in crate::session) fn bulk_transaction(session: &mut Session) {
    if session.work.transaction.state() == pando_kernel::session::TransactionState::Idle {
        if session.work.autocommit {
            let modes = session.work.modes_for(Vec::new());
            session.work.transaction.begin(modes, units::course(session));
            session.work.opened = Opened::Statement;
        } else {
            begin(session, Vec::new());
        }
    }
    session.work.transaction.wrote_if_open();
}
