//! How transactions begin: for the client, or for what the session does as one.

use pando_kernel::error::Result;
use pando_sql::ast::Kind;

use crate::plan;

use crate::session::Session;
use crate::session::connections::everywhere;
use crate::session::given::Run;
use crate::session::transaction::modes::opens_transaction;
use crate::session::transaction::touched::Touched;
use crate::session::transaction::{
    Opened, attend, base, definition, end, serializable, snapshot, units,
};

/// Opens a transaction, with the modes that its opener names and those that are set for it.
pub(in crate::session) fn open(session: &mut Session, opened: Opened, modes: Vec<String>) {
    let modes = session.work.modes_for(modes);
    session.work.transaction.begin(modes, units::course(session));
    session.work.opened = opened;
    match opened {
        Opened::Client | Opened::Pipeline => {
            session.work.touched = Touched::Nothing;
            session.work.names_tables = false;
            session.settings.transaction_begins();
            session.work.modes.at_begin.clone_from(&session.work.modes.session);
        }
        // They set nothing that a rollback would have to take back.
        Opened::Statement | Opened::Steps => {}
    }
}

/// Opens a transaction for the client, which may have asked for a snapshot of this moment.
pub(in crate::session) async fn open_for_client(
    session: &mut Session,
    modes: Vec<String>,
) -> Result<()> {
    open(session, Opened::Client, modes);
    match snapshot::looks_at_once(session) {
        true => Box::pin(look_at_once(session)).await,
        false => Ok(()),
    }
}

/// Lets all units look at their data now, in place of each with its first statement. Where one cannot, no transaction
/// is open.
///
/// # Errors
/// What a unit says to it.
pub(in crate::session) async fn look_at_once(session: &mut Session) -> Result<()> {
    let live = session.place.live()?;
    let looked = everywhere::open_everywhere(session, &live).await;
    attend::let_go(session).await;
    if looked.is_err() {
        let _ = end::roll_back_with_cursors(session).await;
    }
    looked
}

/// Several statements of one request form one transaction where the language says so.
pub(in crate::session) fn open_pipeline(session: &mut Session) {
    let together = session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction());
    if together && session.work.autocommit && session.work.is_idle() {
        open(session, Opened::Pipeline, Vec::new());
    }
}

/// Opens what a statement that runs as several needs, unless a transaction is open: the client's where autocommit is
/// off, else one that ends with it.
pub(in crate::session) fn open_if_idle(session: &mut Session, opened: Opened) {
    if session.work.is_idle() {
        let opened = if session.work.autocommit { opened } else { Opened::Client };
        open(session, opened, Vec::new());
    }
}

/// Opens the transaction that a statement outside of any needs: the client's where autocommit is off, or one that ends
/// with it. None where its units do without.
///
/// # Errors
/// `TransactionState` for a change in a session that only reads; what a unit says that cannot take part.
pub(in crate::session) async fn open_for(session: &mut Session, run: Run<'_>) -> Result<()> {
    if !session.work.is_idle() {
        return Ok(());
    }
    base::refuse_unheeding(session, run.stmt)?;
    if !session.work.autocommit && opens_transaction(&run.stmt.kind) {
        Box::pin(units::ready_all(session)).await?;
        open(session, Opened::Client, Vec::new());
        return Ok(());
    }
    if run.plan.writes {
        session.work.refuse_if_read_only()?;
    }
    if let Some(modes) = modes_alone(session, run) {
        open(session, Opened::Statement, modes);
    }
    Ok(())
}

/// The modes of a transaction of the statement's own, where it needs one.
fn modes_alone(session: &Session, run: Run<'_>) -> Option<Vec<String>> {
    let Run { live, stmt, plan } = run;
    let is_definition = is_definition(&stmt.kind);
    let is_one_of_several =
        plan.units.len() > 1 && (!is_definition || definition::is_taken_back(session, live, stmt));
    let locks = || serializable::locks_alone(session, live);
    if plan.writes && (is_one_of_several || locks()) || base::changes_in_base(session, stmt) {
        return Some(Vec::new());
    }
    if snapshot::reads_as_one(session, plan) {
        // A snapshot is enough, and waits for nobody.
        let only_reads = locks() && !plan::may_write(&stmt.kind);
        return Some(if only_reads { vec!["READ ONLY".to_owned()] } else { Vec::new() });
    }
    let uses_up_modes = !is_definition && session.work.uses_up_modes(&stmt.kind);
    uses_up_modes.then(Vec::new)
}

fn is_definition(kind: &Kind) -> bool {
    matches!(kind, Kind::Define(_) | Kind::Utility { .. } | Kind::Opaque)
}
