//! LOCK TABLES and UNLOCK TABLES.

use pando_kernel::error::{Error, Result};
use pando_sql::Span;
use pando_sql::ast::{ObjectName, Statement};

use crate::session::Session;
use crate::session::errors::no_transaction;
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::reply::pull::piece;
use crate::session::run::{admission, on_units, views};
use crate::session::settings::Settings;

/// What dumps switch off in their first lines, to load faster.
const CHECKS: [&str; 2] = ["foreign_key_checks", "unique_checks"];

impl Settings {
    fn loads_a_dump(&self) -> bool {
        CHECKS.iter().all(|name| {
            let known = self.variables().list().iter().find(|(known, _)| known == name);
            known.is_some_and(|(_, value)| {
                matches!(value.trim().to_ascii_lowercase().as_str(), "0" | "off" | "false")
            })
        })
    }
}

/// No lock is ever held, so UNLOCK TABLES is true at once. LOCK TABLES is refused, but to a session that loads a dump:
/// there it only makes the server faster, and keeps nobody out of anything.
pub(in crate::session) fn lock_tables(session: &mut Session, tables: &[ObjectName]) -> Result<()> {
    session.work.refuse_if_failed()?;
    if tables.is_empty() {
        made::complete(session, "UNLOCK TABLES");
        return Ok(());
    }
    if session.settings.loads_a_dump() {
        session.outbox.warn("01000", "LOCK TABLES is not held while a dump is loaded");
        made::complete(session, "LOCK TABLES");
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "LOCK TABLES cannot be held across storage units",
        "use a transaction with SELECT … FOR UPDATE; dump with --single-transaction",
    ))
}

/// LOCK TABLE of a language whose locks belong to the transaction: one table after the other, each wherever it stands.
/// False in others.
pub(in crate::session) async fn lock_in_transaction(
    session: &mut Session,
    stmt: &Statement,
    tables: &[ObjectName],
) -> Result<bool> {
    let Some(dialect) = session.place.dialect() else { return Ok(false) };
    let (Some(first), Some(last)) = (tables.first(), tables.last()) else { return Ok(false) };
    if !dialect.error_fails_transaction() {
        return Ok(false);
    }
    session.work.refuse_if_failed()?;
    if session.work.is_idle() {
        return Err(no_transaction("LOCK TABLE"));
    }
    views::expanded(session, stmt, &Given::default()).await?;
    let live = session.place.live()?;
    admission::admit_by_table(session, &live, stmt).await?;
    let before = Span::new(0, first.span.start).of(&stmt.text);
    let end = u32::try_from(stmt.text.len()).unwrap_or(u32::MAX);
    let behind = Span::new(last.span.end, end).of(&stmt.text);
    for table in tables {
        let text = format!("{before}{}{behind}", table.span.of(&stmt.text));
        let one = pando_sql::parse(&text, dialect.syntax()).map_err(crate::plan::unread)?;
        Box::pin(on_units::run_as_one(session, &one, Given::default())).await?;
        while piece::next_of_reply(session).await?.is_some() {}
    }
    made::complete(session, "LOCK TABLE");
    Ok(true)
}
