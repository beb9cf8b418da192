//! Sequences that count columns of tables in several shards, by the names that one server would give them: definitions
//! of them, and queries of what they say, go to the first shard's own.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_sql::ast::{DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::{Edits, visit};

use crate::plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::run::find_out;

/// The name of a sequence that a statement alters.
pub(in crate::session) fn altered(stmt: &Statement) -> Option<&ObjectName> {
    let Kind::Define(define) = &stmt.kind else { return None };
    let alters = define.action == DefineAction::Alter && define.object == ObjectKind::Sequence;
    define.names.first().filter(|_| alters && define.on.is_none() && define.renamed_to.is_empty())
}

/// The name of a table that a query reads and that there is not: it may be a sequence's.
pub(in crate::session) fn missed<'a>(stmt: &'a Statement, error: &Error) -> Option<&'a ObjectName> {
    let ErrorKind::UnknownTable(key) = error.kind() else { return None };
    let mut tables = visit::tables(&stmt.kind).into_iter();
    matches!(stmt.kind, Kind::Select(_))
        .then(|| tables.find(|table| table.name.key() == *key))
        .flatten()
        .map(|table| table.name)
}

/// The statement about the first shard's sequence; `None` where no table has one of this name.
///
/// # Errors
/// What the units say.
pub(in crate::session) async fn renamed(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    name: &ObjectName,
) -> Result<Option<Statement>> {
    if live.database.units.len() < 2 || live.database.dialect.sequences().is_none() {
        return Ok(None);
    }
    session.work.refuse_if_failed()?;
    let key = name.key();
    let found = find_out::find_out_until(session, live, None, |ctx| {
        Ok(plan::sequence_calls::actual(ctx, &key))
    });
    let Some(actual) = found.await? else { return Ok(None) };
    let dialect = Arc::clone(&live.database.dialect);
    let mut edits = Edits::default();
    // The schema that it is written with is the shards', and a dump's session looks nowhere else.
    let Some(last) = name.parts.last() else { return Ok(None) };
    let mut written = dialect.quote(&actual.name);
    let has_alias = visit::tables(&stmt.kind).iter().any(|found| {
        found.name.span == name.span && found.table.is_some_and(|table| table.alias.is_some())
    });
    if matches!(stmt.kind, Kind::Select(_)) && !has_alias {
        let shown = if last.quoted { &last.value } else { &key };
        written = format!("{written} AS {}", dialect.quote(shown));
    }
    edits.replace(last.span, written);
    let text = edits.apply(&stmt.text);
    let mut renamed = pando_sql::parse(&text, dialect.syntax()).map_err(plan::unread)?;
    renamed.hints.push(("DATA_SOURCE_NAME".to_owned(), actual.home.to_string()));
    Ok(Some(renamed))
}
