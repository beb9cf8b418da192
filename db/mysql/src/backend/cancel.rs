//! Asks the server to stop what another connection does.
//! <https://dev.mysql.com/doc/refman/8.0/en/kill.html>

use std::future::poll_fn;

use pando_kernel::backend::{CancelToken, Connector, Execution};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::{Error, ErrorKind, Event, Result};

use super::MySqlConnector;

/// Opens a connection of its own and says it there.
pub(super) async fn cancel(
    connector: &MySqlConnector,
    runtime: &SharedRuntime,
    token: CancelToken,
) -> Result<()> {
    let mut connection = connector.connect(runtime).await?;
    connection.start(Execution::Text(format!("KILL QUERY {}", token.id).into()))?;
    loop {
        match poll_fn(|cx| connection.poll_event(cx)).await {
            Ok(Event::Done) => return Ok(()),
            Ok(_) => {}
            // The statement, or its whole connection, ended in the meantime.
            Err(error) if is_gone(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// `ER_NO_SUCH_THREAD`.
fn is_gone(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Server(server) if server.number == 1094)
}
