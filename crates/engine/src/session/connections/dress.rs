//! Bringing a connection to the session's variables.

use pando_kernel::backend::Execution;
use pando_kernel::error::Result;
use pando_pool::Connection;
use pando_transaction::finish;

use crate::snapshot::LiveDatabase;
use crate::variables::{UNKNOWN, Variables};

use crate::session::Session;
use crate::session::transaction::attend;
use crate::session::transaction::temporary::TemporaryTables;

impl TemporaryTables {
    /// Queues what brings a connection to these variables; the one of temporary tables is never reset. Returns how many
    /// replies belong to that.
    pub(in crate::session) fn dress_in(
        &self,
        live: &LiveDatabase,
        connection: &mut Connection,
        variables: &Variables,
    ) -> Result<usize> {
        let wanted = variables.id();
        let worn = connection.session_state();
        if worn == wanted {
            return Ok(0);
        }
        connection.set_session_state(UNKNOWN);
        if self.has_temporaries(connection) {
            let text = self.dress_of_temporaries(live.database.dialect.as_ref(), variables);
            let queued = usize::from(text.is_some());
            if let Some(text) = text {
                connection.start(Execution::Text(text.into()))?;
            }
            connection.set_session_state(wanted);
            return Ok(queued);
        }
        let mut queued = 0;
        if worn != 0 || live.database.dialect.prepares().with_settings {
            connection.start(Execution::Reset)?;
            connection.set_told(None);
            queued += 1;
        }
        if wanted != 0 {
            let text = live.database.dialect.set_statement(variables.list());
            connection.start(Execution::Text(text.into()))?;
            queued += 1;
        }
        connection.set_session_state(wanted);
        Ok(queued)
    }
}

/// Tells a unit that has joined what [`enlist`] has left.
pub(in crate::session) async fn catch_up(
    session: &mut Session,
    connection: &mut Connection,
) -> Result<()> {
    let Some(dialect) = session.place.dialect() else { return Ok(()) };
    let texts = session.work.transaction().left_to_tell(session.settings.local(), dialect.as_ref());
    session.place.handle().taken(pando_transaction::catch_up(connection, &texts)).await
}

/// Waits until a connection wears what was queued for it. What changes something must not be sent before: the
/// storage unit would run it although it has refused a variable, and the client be told of the refusal.
pub(in crate::session) async fn await_dress(
    session: &mut Session,
    connection: &mut Connection,
    replies: usize,
) -> Result<()> {
    let dressing = async {
        let mut dressed = Ok(());
        for _ in 0..replies {
            dressed = dressed.and(finish(connection).await.map(drop));
        }
        dressed
    };
    let dressed = session.place.handle().taken(dressing).await;
    if dressed.is_err() {
        connection.set_session_state(UNKNOWN);
    }
    dressed
}

/// Brings the transaction's connections to the session's variables, where some were set for a statement alone. All of
/// them are at home.
///
/// # Errors
/// What a storage unit says of a value.
pub(in crate::session) async fn change_dress(session: &mut Session) -> Result<()> {
    let Some(dialect) = session.place.dialect() else { return Ok(()) };
    let Some(text) = session.settings.change_of_dress(dialect.as_ref()) else { return Ok(()) };
    attend::attend_transaction(session)?;
    session.settings.may_be_worn();
    // What was prepared meanwhile must serve nobody else.
    let connections = session.work.transaction_mut().connections();
    connections.for_each(|connection| connection.set_session_state(UNKNOWN));
    let changed = session.work.transaction_mut().run_everywhere(&text).await;
    attend::let_go(session).await;
    changed?;
    session.settings.are_worn();
    Ok(())
}

/// Brings a connection to the session's variables. Returns how many replies belong to that.
pub(in crate::session) fn dress(
    session: &Session,
    live: &LiveDatabase,
    connection: &mut Connection,
) -> Result<usize> {
    session.temporary.dress_in(live, connection, session.settings.variables())
}
