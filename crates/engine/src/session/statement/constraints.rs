//! SET CONSTRAINTS: ALL is for every unit; of names each unit is told those that it has, and joins the transaction
//! for that.

use std::sync::Arc;

use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, Result};
use pando_kernel::{UnitName, Value};
use pando_sql::ast::Statement;
use pando_sql::{Span, Syntax, TokenKind, tokenize};
use pando_transaction::finish;

use crate::plan::writer_of;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::{ask, lend, release};
use crate::session::given::Aim;
use crate::session::reply::made;
use crate::session::statement::set;
use crate::session::statement::set::Holds;
use crate::session::transaction::base;

/// The tag of the verb.
const VERB: &str = "SET CONSTRAINTS";

/// Names one statement may set.
const MAX_NAMES: usize = 256;

/// A constraint's name.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    /// Its parts as the catalogue writes them.
    parts: Vec<String>,
    /// Where it stands in the text.
    span: Span,
}

/// SET CONSTRAINTS: ALL is for every unit of the transaction, those that join it later included, and names are for the
/// units that have them. False when the statement goes the usual way.
///
/// # Errors
/// `Refused` for constraints that have other names on the units; what a unit says of what it checks then.
pub(in crate::session) async fn set_constraints(
    session: &mut Session,
    stmt: &Statement,
) -> Result<bool> {
    session.work.refuse_if_failed()?;
    let live = session.place.live()?;
    // Behind SET and CONSTRAINTS.
    let tokens = pando_sql::tokenize(&stmt.text, live.database.dialect.syntax());
    let named = tokens.ok().and_then(|tokens| Some(tokens.list.get(2)?.span));
    if !named.is_some_and(|word| word.of(&stmt.text).eq_ignore_ascii_case("all")) {
        if live.database.units.len() < 2 {
            return Ok(false);
        }
        base::refuse_in_base(session, VERB)?;
        set_named(session, &live, stmt).await?;
        made::complete(session, VERB);
        return Ok(true);
    }
    if session.work.is_idle() {
        session.outbox.warn("25P01", "SET CONSTRAINTS can only be used in transaction blocks");
        made::complete(session, VERB);
        return Ok(true);
    }
    base::refuse_in_base(session, VERB)?;
    let variables = session.settings.variables().clone();
    set::apply(session, &stmt.text, Holds::InTransaction, variables).await?;
    made::complete(session, VERB);
    Ok(true)
}

/// Sets the constraints that a statement names, on the units that have them.
///
/// # Errors
/// `Refused` for one that no unit has by this name; what a unit says of what it checks then.
pub(in crate::session) async fn set_named(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
) -> Result<()> {
    let names = named(&stmt.text, live.database.dialect.syntax());
    let (names, mode) = names.ok_or_else(unreadable)?;
    let parts: Vec<Vec<String>> = names.iter().map(|name| name.parts.clone()).collect();
    let query = live.database.dialect.constraints_query(&parts).ok_or_else(unreadable)?;
    let mut told = Vec::new();
    let mut missing: Vec<usize> = (0..names.len()).collect();
    for unit in writers(live) {
        let mut here = Vec::new();
        for row in ask::ask(session, live, &unit, &query).await? {
            let [Value::Int(place), Value::Bool(is_part)] = row[..] else {
                return Err(Error::internal("a row of constraints has another shape"));
            };
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            if is_part {
                return Err(of_parts(names.get(place), &stmt.text));
            }
            here.push(place);
        }
        here.sort_unstable();
        missing.retain(|place| !here.contains(place));
        let spans = here.iter().filter_map(|place| names.get(*place));
        let list: Vec<&str> = spans.map(|name| name.span.of(&stmt.text)).collect();
        if !list.is_empty() {
            told.push((unit, format!("SET CONSTRAINTS {} {mode}", list.join(", "))));
        }
    }
    if let Some(place) = missing.first() {
        return Err(of_parts(names.get(*place), &stmt.text));
    }
    if session.work.is_idle() {
        session.outbox.warn("25P01", "SET CONSTRAINTS can only be used in transaction blocks");
        return Ok(());
    }
    for (unit, text) in told {
        set_on(session, live, &unit, text).await?;
    }
    Ok(())
}

/// The units that take writes, each once.
fn writers(live: &LiveDatabase) -> Vec<UnitName> {
    let mut writers = Vec::new();
    for unit in &live.database.units {
        let writer = writer_of(&live.database, Arc::clone(unit));
        if !writers.contains(&writer) {
            writers.push(writer);
        }
    }
    writers
}

/// Runs a text without rows on a unit of the transaction, which joins it now if it has not yet.
///
/// # Errors
/// What the unit says.
pub(in crate::session) async fn set_on(
    session: &mut Session,
    live: &LiveDatabase,
    unit: &UnitName,
    text: String,
) -> Result<()> {
    let (mut connection, swallow) = lend::enlisted(session, live, unit, Aim::Reads).await?;
    let mut result = Ok(());
    for _ in 0..swallow {
        result = result.and(finish(&mut connection).await.map(drop));
    }
    if result.is_ok() {
        result = connection.start(Execution::Text(text.into()));
    }
    if result.is_ok() {
        result = finish(&mut connection).await.map(drop);
    }
    release::release(session, connection).await;
    result
}

fn unreadable() -> Error {
    Error::unsupported(
        30001,
        "the names of these constraints cannot be read",
        "say SET CONSTRAINTS ALL, or one name after the other",
    )
}

/// The refusal of a constraint that has other names on the units, if it is there at all.
fn of_parts(name: Option<&Named>, text: &str) -> Error {
    let name = name.map_or("", |name| name.span.of(text));
    Error::unsupported(
        30001,
        format!(
            "no single table has a constraint {name}: those of sharded tables have other names on the units"
        ),
        "say SET CONSTRAINTS ALL",
    )
}

/// What SET CONSTRAINTS names, and how these are to be checked. `None` when the text has another form.
fn named<'a>(text: &'a str, syntax: &Syntax) -> Option<(Vec<Named>, &'a str)> {
    let tokens = tokenize(text, syntax).ok()?;
    let is_end = |kind: TokenKind, text: &str| kind == TokenKind::End || text == ";";
    let mut tokens: Vec<_> = tokens.list.iter().map(|one| (one.kind, one.span)).collect();
    while tokens.last().is_some_and(|(kind, span)| is_end(*kind, span.of(text))) {
        tokens.pop();
    }
    let (_, mode) = tokens.pop()?;
    let mode = mode.of(text);
    let is_mode = ["DEFERRED", "IMMEDIATE"].iter().any(|known| known.eq_ignore_ascii_case(mode));
    let lists = tokens.get(2..)?.split(|(_, span)| span.of(text) == ",");
    let names: Option<Vec<Named>> = lists.map(|name| one_name(name, text)).collect();
    names.filter(|names| is_mode && names.len() <= MAX_NAMES).map(|names| (names, mode))
}

fn one_name(tokens: &[(TokenKind, Span)], text: &str) -> Option<Named> {
    let parts = tokens.chunks(2).map(|pair| {
        let part = match pair.first()? {
            (TokenKind::Word, span) => span.of(text).to_ascii_lowercase(),
            (TokenKind::QuotedIdentifier, span) => {
                let inner = span.of(text).strip_prefix('"')?.strip_suffix('"')?;
                inner.replace("\"\"", "\"")
            }
            _ => return None,
        };
        match pair.get(1) {
            None => Some(part),
            Some((_, point)) => (point.of(text) == ".").then_some(part),
        }
    });
    let parts: Vec<String> = parts.collect::<Option<_>>()?;
    let is_whole = tokens.len() % 2 == 1 && parts.len() <= 3;
    let (first, last) = (tokens.first()?.1, tokens.last()?.1);
    is_whole.then_some(Named { parts, span: Span { start: first.start, end: last.end } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_the_catalogue_writes_them() {
        let read = |text: &'static str| {
            let (names, mode) = named(text, &pando_fake::STANDARD)?;
            let texts = names.iter().map(|name| (name.parts.join("|"), name.span.of(text)));
            Some((texts.collect::<Vec<_>>(), mode))
        };
        assert_eq!(
            read("set constraints A_b , public.\"C \"\"d\" deferred ;"),
            Some((
                vec![("a_b".to_owned(), "A_b"), ("public|C \"d".to_owned(), "public.\"C \"\"d\"")],
                "deferred"
            ))
        );
        for wrong in ["set constraints a", "set constraints a b immediate", "set constraints"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        for wrong in ["set constraints a, immediate", "set constraints a. immediate"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(read("set constraints a deferrable"), None);
    }
}
