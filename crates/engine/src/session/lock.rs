//! LOCK TABLES and UNLOCK TABLES.

use pando_kernel::error::{Error, Result};
use pando_sql::ast::ObjectName;

use super::Session;

/// What dumps switch off in their first lines, to load faster.
const CHECKS: [&str; 2] = ["foreign_key_checks", "unique_checks"];

impl Session {
    /// No lock is ever held, so UNLOCK TABLES is true at once. LOCK TABLES is refused, but to a session that loads a dump: there it only makes the
    /// server faster, and keeps nobody out of anything.
    pub(super) fn lock_tables(&mut self, tables: &[ObjectName]) -> Result<()> {
        self.refuse_if_failed(false)?;
        if tables.is_empty() {
            self.complete("UNLOCK TABLES");
            return Ok(());
        }
        if self.loads_a_dump() {
            self.warn("01000", "LOCK TABLES is not held while a dump is loaded");
            self.complete("LOCK TABLES");
            return Ok(());
        }
        Err(Error::refused(
            30001,
            "LOCK TABLES cannot be held across storage units",
            "use a transaction with SELECT … FOR UPDATE; dump with --single-transaction",
        ))
    }

    fn loads_a_dump(&self) -> bool {
        CHECKS.iter().all(|name| {
            let known = self.variables.list().iter().find(|(known, _)| known == name);
            known.is_some_and(|(_, value)| {
                matches!(value.trim().to_ascii_lowercase().as_str(), "0" | "off" | "false")
            })
        })
    }
}
