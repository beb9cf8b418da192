//! Definitions of a whole server, where storage units are databases of one.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::UnitName;
use pando_kernel::error::{ErrorKind, Result};
use pando_sql::ast::Statement;

use crate::plan::{self, Plan};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;

/// Lets each server be told once what is every database's of it: the second time it would be there already, or wait for
/// the first.
///
/// # Errors
/// What the units say.
pub(in crate::session) async fn tell_once(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    plan: &mut Plan,
) -> Result<()> {
    if !plan::may_tell_twice(live.database.dialect.syntax(), stmt, plan) {
        return Ok(());
    }
    let servers = match session.work.catalog(live).servers() {
        Some(servers) => servers,
        None => learn_servers(session, live).await?,
    };
    plan::tell_once(plan, &servers);
    Ok(())
}

/// Asks those that take the units' writes.
async fn learn_servers(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
) -> Result<Arc<HashMap<UnitName, Arc<str>>>> {
    let epoch = session.work.catalog(live).epoch();
    let mut servers: HashMap<UnitName, Arc<str>> = HashMap::new();
    for unit in &live.database.units {
        let Some(waits) = live.database.dialect.waits() else { break };
        let writer = plan::writer_of(&live.database, Arc::clone(unit));
        match ask::ask(session, live, &writer, waits.server_query()).await {
            Ok(rows) => {
                let row = rows.first().map(Vec::as_slice).unwrap_or_default();
                servers.insert(Arc::clone(unit), waits.read_server(row)?.name);
            }
            Err(error) if matches!(error.kind(), ErrorKind::Unavailable { .. }) => {
                return Err(error);
            }
            // One that may not say it is taken for a server by itself.
            Err(_) => {}
        }
    }
    let servers = Arc::new(servers);
    session.work.catalog(live).learn_servers(epoch, Arc::clone(&servers));
    Ok(servers)
}
