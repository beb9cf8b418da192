//! LOCK TABLES and UNLOCK TABLES.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_sql::ast::{ObjectName, Statement};
use pando_sql::{Span, tokenize, visit};

use crate::plan::{Planned, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::table_locks::{self, Share};
use crate::session::errors::{no_transaction, server_error};
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::reply::pull::piece;
use crate::session::run::{admission, on_units, planning, views};
use crate::session::settings::Settings;
use crate::session::transaction::commit;
use crate::session::transaction::table_locks::{LockedTable, MAX_TABLES};

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

/// Who locks, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
}

/// LOCK TABLES and UNLOCK TABLES of a session. Locks for reading are held on every storage unit that has one of the
/// tables. Those for writing are refused, but to a session that loads a dump: there they only make the server faster,
/// and keep nobody out of anything.
///
/// # Errors
/// `Refused` for WRITE; what the units say.
pub(in crate::session) async fn lock_tables(
    session: &mut Session,
    stmt: &Statement,
    tables: &[ObjectName],
) -> Result<()> {
    session.work.refuse_if_failed()?;
    if tables.is_empty() {
        unlock(session).await?;
        made::complete(session, "UNLOCK TABLES");
        return Ok(());
    }
    let entries = entries(session, stmt, tables)?;
    if session.settings.loads_a_dump() {
        session.outbox.warn("01000", "LOCK TABLES is not held while a dump is loaded");
        made::complete(session, "LOCK TABLES");
        return Ok(());
    }
    if entries.iter().any(|(_, mode)| *mode == Mode::Write) {
        return Err(Error::unsupported(
            30001,
            "LOCK TABLES … WRITE cannot be held across storage units",
            "use a transaction with SELECT … FOR UPDATE, or GET_LOCK",
        ));
    }
    let live = session.place.live()?;
    if !session.work.is_idle() {
        commit::commit_implicitly(session).await?;
    }
    table_locks::free(session).await?;
    let mut shares = Vec::new();
    for table in tables {
        gather(session, &live, table, &mut shares).await?;
    }
    let place = |share: &Share| live.database.units.iter().position(|unit| *unit == share.unit);
    shares.sort_by_key(place);
    let locked = entries.into_iter().map(|(table, _)| table).collect();
    table_locks::lock(session, &live, locked, &shares).await?;
    made::complete(session, "LOCK TABLES");
    Ok(())
}

/// Frees what is locked. Where something is, that commits.
///
/// # Errors
/// Whatever kept it from being committed; when a lock was lost before.
pub(in crate::session) async fn unlock(session: &mut Session) -> Result<()> {
    if session.work.table_locks().is_none() {
        return Ok(());
    }
    let committed = match session.work.is_idle() {
        true => Ok(()),
        false => commit::commit_implicitly(session).await,
    };
    table_locks::free(session).await.and(committed)
}

/// The tables as they are named, each with its mode.
///
/// # Errors
/// `Syntax` for what is no such list; `TooLarge`; 1066 where two are called the same.
fn entries(
    session: &Session,
    stmt: &Statement,
    tables: &[ObjectName],
) -> Result<Vec<(LockedTable, Mode)>> {
    if tables.len() > MAX_TABLES {
        return Err(ErrorKind::TooLarge(format!("LOCK TABLES of more than {MAX_TABLES}")).into());
    }
    let current = session.place.facts().database.clone().unwrap_or_default();
    let mut all: Vec<(LockedTable, Mode)> = Vec::with_capacity(tables.len());
    for (at, table) in tables.iter().enumerate() {
        let end = tables.get(at + 1).map_or(stmt.text.len(), |next| next.span.start as usize);
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        let behind = Span::new(table.span.end, end).of(&stmt.text);
        let (alias, mode) = read(session, behind)?;
        let Some(name) = table.parts.last() else { continue };
        let owner = table.parts.len().checked_sub(2).and_then(|at| table.parts.get(at));
        let one = LockedTable {
            database: owner.map_or(&current, |owner| &owner.value).clone(),
            table: name.value.clone(),
            called: alias.unwrap_or_else(|| name.value.clone()),
        };
        if all.iter().any(|(other, _)| other.called == one.called && other.database == one.database)
        {
            let message = format!("Not unique table/alias: '{}'", one.called);
            return Err(server_error(1066, "42000", &message));
        }
        all.push((one, mode));
    }
    Ok(all)
}

/// What stands behind a table: an alias, and for what it is locked.
fn read(session: &Session, behind: &str) -> Result<(Option<String>, Mode)> {
    let tokens = tokenize(behind, session.place.syntax()?).map_err(crate::plan::unread)?;
    let texts = tokens.list.iter().map(|token| token.span.of(behind));
    let mut words: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    if words.last().is_some_and(|word| matches!(*word, "," | ";")) {
        words.pop();
    }
    let is =
        |at: usize, word: &str| words.get(at).is_some_and(|own| own.eq_ignore_ascii_case(word));
    let starts = |at: usize| {
        is(at, "read") || is(at, "write") || is(at, "low_priority") && is(at + 1, "write")
    };
    let (alias, at) = match () {
        () if starts(0) => (None, 0),
        () if is(0, "as") => (words.get(1), 2),
        () => (words.first(), 1),
    };
    let count = words.len().saturating_sub(at);
    let mode = match count {
        1 if is(at, "read") => Mode::Read,
        2 if is(at, "read") && is(at + 1, "local") => Mode::Read,
        1 if is(at, "write") => Mode::Write,
        2 if is(at, "low_priority") && is(at + 1, "write") => Mode::Write,
        2 if is(at, "write") && is(at + 1, "concurrent") => Mode::Write,
        _ => {
            let message = format!("unexpected `{}`", behind.trim());
            return Err(ErrorKind::Syntax { message, at: 0 }.into());
        }
    };
    let alias = alias.map(|word| match word.strip_prefix('`').and_then(|w| w.strip_suffix('`')) {
        Some(quoted) => quoted.replace("``", "`"),
        None => (*word).to_owned(),
    });
    Ok((alias, mode))
}

/// Adds what the storage units have of a table, or of the tables that a view is over.
async fn gather(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    table: &ObjectName,
    shares: &mut Vec<Share>,
) -> Result<()> {
    let dialect = Arc::clone(&live.database.dialect);
    let quoted: Vec<String> = table.parts.iter().map(|part| dialect.quote(&part.value)).collect();
    let name = quoted.join(".");
    let query = format!("SELECT 1 FROM {name}");
    let query = pando_sql::parse(&query, dialect.syntax()).map_err(crate::plan::unread)?;
    session.place.guard(&query)?;
    let names = match views::expanded(session, &query, &Given::default()).await? {
        None => vec![name],
        Some(text) => {
            let over = views::read(session, &text, &query)?;
            let tables = visit::tables(&over.kind);
            tables.iter().map(|one| one.name.span.of(&over.text).to_owned()).collect()
        }
    };
    for name in names {
        let text = format!("LOCK TABLES {name} READ");
        let one = pando_sql::parse(&text, dialect.syntax()).map_err(crate::plan::unread)?;
        admission::admit_by_table(session, live, &one).await?;
        let given = Given::default();
        let Planned::Run(plan) =
            planning::planned(session, live, &one, &given, Purpose::Run).await?
        else {
            return Err(Error::internal("LOCK TABLES is planned in steps"));
        };
        for unit in &plan.units {
            let Some(entry) = unit.sql.strip_prefix("LOCK TABLES ") else {
                return Err(Error::internal("LOCK TABLES is another statement on its unit"));
            };
            add(shares, &unit.target.unit, entry);
        }
    }
    Ok(())
}

fn add(shares: &mut Vec<Share>, unit: &UnitName, entry: &str) {
    match shares.iter_mut().find(|share| share.unit == *unit) {
        Some(share) if share.entries.iter().any(|known| known == entry) => {}
        Some(share) => share.entries.push(entry.to_owned()),
        None => shares.push(Share { unit: Arc::clone(unit), entries: vec![entry.to_owned()] }),
    }
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
