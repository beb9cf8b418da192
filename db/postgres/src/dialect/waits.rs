//! How PostgreSQL tells who waits for whom.

use pando_kernel::error::{Error, Result, ServerError};
use pando_kernel::waits::{Server, Waits};
use pando_kernel::{ServerFunction, Value};

use super::Postgres;
use super::locks::FUNCTIONS;

/// `pg_locks` may be read by everybody, unlike what `pg_stat_activity` says of other users' waits. Blocked is who waits for a lock that is held, and who
/// stands behind another in its queue: <https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SESSION>
const WAITS: &str = "SELECT DISTINCT l.pid, b.pid FROM pg_catalog.pg_locks AS l, pg_catalog.unnest(pg_catalog.pg_blocking_pids(l.pid)) AS b(pid) \
     WHERE NOT l.granted AND b.pid > 0 LIMIT 4096";

/// A standby has its primary's identifier, but not its start.
const SERVER: &str = "SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()) || ' ' || \
     EXTRACT(epoch FROM pg_catalog.pg_postmaster_start_time()) || ' ' || pg_catalog.current_setting('port')";

impl Waits for Postgres {
    fn server_query(&self) -> &'static str {
        SERVER
    }

    fn read_server(&self, row: &[Value]) -> Result<Server> {
        let [Value::Text(name)] = row else {
            return Err(Error::internal("the server's name has another shape"));
        };
        Ok(Server { name: name.as_str().into(), waits: WAITS, untold: None })
    }

    fn server_functions(&self) -> &'static [ServerFunction] {
        &FUNCTIONS
    }

    /// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
    fn deadlock(&self) -> ServerError {
        ServerError {
            number: 0,
            sqlstate: "40P01".into(),
            message: "deadlock detected".into(),
            severity: "ERROR".into(),
            fields: Vec::new(),
        }
    }
}
