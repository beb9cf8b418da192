//! The transaction's connections at work, as a cancel sees them.

use pando_kernel::error::Result;

use crate::handle::Manner;

use crate::session::Session;

/// All the transaction's connections are about to work. To be followed by [`let_go`].
///
/// # Errors
/// `Cancelled` when that has been cancelled already.
pub(in crate::session) fn attend_transaction(session: &mut Session) -> Result<()> {
    let handle = session.place.handle();
    session.work.transaction.connections().try_for_each(|one| handle.runs_on(one, Manner::Ask))
}

/// Lets go of a statement's connections without giving them back, so that nothing is cancelled that they do from here
/// on.
pub(in crate::session) async fn let_go(session: &mut Session) {
    if session.place.handle().lets_go() {
        session.place.handle().settled(session.place.runtime()).await;
        session.work.transaction.taint();
        session.place.handle().overlook();
    }
}
