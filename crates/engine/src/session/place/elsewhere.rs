//! One statement about another logical database than the one a session stands in.

use std::borrow::Cow;
use std::sync::Arc;

use pando_kernel::error::Result;
use pando_sql::ast::{Expr, Kind, Literal, Node, Statement};
use pando_sql::{Syntax, visit};

use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::place::Place;

/// Where a session stands while one statement is about another database.
#[derive(Debug)]
pub(in crate::session) struct Away {
    live: Option<Arc<LiveDatabase>>,
    database: Option<String>,
}

/// Goes to another logical database for one statement whose tables all stand there. Only where nothing of it can be
/// left behind: a transaction knows storage units by the names of one database.
pub(in crate::session) fn leave(session: &mut Session, stmt: &Statement) -> Result<Option<Away>> {
    let free = session.work.autocommit() && session.work.is_idle();
    let Some(name) = session.place.elsewhere(stmt).filter(|_| free) else { return Ok(None) };
    let there = session.place.find(&name)?;
    Ok(Some(session.place.go_to(&there)))
}

/// The strings that a condition of a statement holds against a column of the catalogue which says in what database
/// something stands.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(in crate::session) fn asked_databases<'a>(
    condition: &'a Expr,
    stmt: &'a Statement,
    syntax: &'a Syntax,
    found: &mut Vec<Cow<'a, str>>,
) {
    let text = |value: &'a Expr| string(value).map(Cow::Borrowed);
    match &condition.node {
        Node::Binary { left, right, .. } if is_of_database(left) => found.extend(text(right)),
        Node::Binary { left, right, .. } if is_of_database(right) => found.extend(text(left)),
        Node::Like { operand, pattern, .. } if is_of_database(operand) => {
            found.extend(text(pattern));
        }
        Node::InList { operand, list, .. } if is_of_database(operand) => {
            found.extend(list.values(&stmt.text, syntax).filter_map(|value| match value {
                Cow::Borrowed(value) => text(value),
                Cow::Owned(value) => string(&value).map(|text| text.to_owned().into()),
            }));
        }
        _ => {}
    }
}

fn string(value: &Expr) -> Option<&str> {
    let Node::Literal(Literal::Text(text)) = &value.node else { return None };
    Some(text)
}

/// Whether an expression is such a column, in whatever case or collation it is compared.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(in crate::session) fn is_of_database(expr: &Expr) -> bool {
    match &expr.node {
        Node::Column(name) => name.parts.last().is_some_and(|column| {
            let column = column.value.to_ascii_lowercase();
            column.ends_with("_schema") || matches!(column.as_str(), "schema_name" | "db")
        }),
        Node::Nested(inner) => is_of_database(inner),
        Node::Unary { operand, .. }
        | Node::Collate { operand, .. }
        | Node::Cast { operand, .. } => is_of_database(operand),
        Node::Function(call) => matches!(&call.arguments[..], [only] if is_of_database(only)),
        _ => false,
    }
}

/// Statements that may be about another database than the current one. Definitions are not: what was read of the
/// catalogue is forgotten with them, and that is done for the current database.
pub(in crate::session) fn moves(kind: &Kind) -> bool {
    match kind {
        Kind::Select(_)
        | Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Show(_)
        | Kind::Explain { .. } => true,
        Kind::Define(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Use(_)
        | Kind::Copy(_)
        | Kind::Load(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Utility { .. }
        | Kind::Empty
        | Kind::Opaque => false,
    }
}

/// `SHOW COLUMNS FROM table FROM database`: the table's own name says nothing.
pub(in crate::session) fn is_show(kind: &Kind) -> bool {
    matches!(kind, Kind::Show(show) if show.database.is_some())
}

impl Place {
    /// Stands in another database until it comes back.
    pub(in crate::session) fn go_to(&mut self, there: &Arc<LiveDatabase>) -> Away {
        let database = self.facts_mut().database.replace(there.database.name.clone());
        let live = self.live.replace(Arc::clone(there));
        Away { live, database }
    }

    /// Back to where the session was.
    pub(in crate::session) fn come_back(&mut self, away: Option<Away>) {
        if let Some(Away { live, database }) = away {
            self.live = live;
            self.facts_mut().database = database;
        }
    }

    /// The one other database a statement is about.
    fn elsewhere(&self, stmt: &Statement) -> Option<String> {
        let alone = self.facts.databases.len() < 2 && self.facts.database.is_some();
        if !moves(&stmt.kind) || alone && self.own_database().is_none() {
            return None;
        }
        let dialect = self.dialect()?;
        let presentation = dialect.presentation()?;
        let tables = visit::tables(&stmt.kind);
        let mut named: Vec<Cow<'_, str>> = Vec::new();
        for table in &tables {
            if let Some(database) = presentation.database_part(&table.name.parts) {
                named.push(database.value.as_str().into());
            } else if presentation.holding(table.name).is_none() && !is_show(&stmt.kind) {
                return None;
            }
        }
        if let Kind::Show(show) = &stmt.kind {
            named.extend(show.database.iter().map(|database| database.value.as_str().into()));
        }
        let mut texts = Vec::new();
        // Elsewhere the catalogue of one database tells of no other.
        if named.is_empty() && !tables.is_empty() && dialect.default_schema().is_none() {
            let syntax = dialect.syntax();
            visit::exprs(&stmt.kind, &mut |expr| asked_databases(expr, stmt, syntax, &mut texts));
            let known = |text: &Cow<'_, str>| {
                self.facts.databases.iter().any(|known| known.eq_ignore_ascii_case(text))
            };
            texts.retain(known);
        }
        let named = if named.is_empty() { texts } else { named };
        let first = named.first()?;
        let other = self.facts.databases.iter().find(|known| known.eq_ignore_ascii_case(first))?;
        let current = self.facts.database.as_deref().unwrap_or_default();
        let alone = named.iter().all(|name| name.eq_ignore_ascii_case(other));
        (alone && !other.eq_ignore_ascii_case(current)).then(|| other.clone())
    }
}
