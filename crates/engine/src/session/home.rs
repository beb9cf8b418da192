//! Which databases a session sees, and where it stands before it has chosen one.

use std::borrow::Cow;
use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::presentation::{Asked, Holding};
use pando_kernel::session::{Login, TransactionState};
use pando_sql::ast::{Expr, Kind, Literal, Node, ObjectKind, Statement};
use pando_sql::{Edits, Span, Syntax, visit};

use crate::plan::writes;
use crate::snapshot::{LiveDatabase, Snapshot};

use super::Session;
use super::door::find;

/// The databases that can be used through the session's door by its user, in configuration order.
pub(super) fn visible(snapshot: &Snapshot, login: &Login) -> Arc<[String]> {
    let names = snapshot.databases.iter().map(|live| live.database.name.as_str());
    names
        .filter(|name| permitted(login, name) && find(snapshot, name, login).is_ok())
        .map(str::to_owned)
        .collect()
}

/// Whether the user may see a database of this name.
pub(super) fn permitted(login: &Login, name: &str) -> bool {
    let only = login.databases.as_ref();
    only.is_none_or(|only| only.iter().any(|own| own.eq_ignore_ascii_case(name)))
}

/// The database whose storage units answer what is asked before one is chosen: statements without tables, and those about the catalogue. Without any
/// storage unit it is nowhere, where the door's language is spoken all the same.
pub(super) fn home(
    snapshot: &Snapshot,
    login: &Login,
    visible: &[String],
) -> Option<Arc<LiveDatabase>> {
    let known = || visible.iter().filter_map(|name| find(snapshot, name, login).ok());
    known().find(|live| live.has_units()).or_else(|| match login.language.clone() {
        Some(language) => Some(Arc::new(LiveDatabase::nowhere(language))),
        None => known().next(),
    })
}

/// As [`stand`] for a user; what he may not see does not exist.
pub(super) fn move_to(
    (snapshot, login): (&Snapshot, &Login),
    name: &str,
    home: Option<Arc<LiveDatabase>>,
) -> Result<(Arc<LiveDatabase>, String)> {
    if permitted(login, name) {
        return stand(snapshot, (name, login), home);
    }
    own(name, home).ok_or_else(|| ErrorKind::UnknownDatabase(name.to_owned()).into())
}

/// Where a session stands whose current database has this name, and the name as it is told: a logical database, or one of the vendor's own, about which
/// the storage units of `home` answer.
pub(super) fn stand(
    snapshot: &Snapshot,
    (name, login): (&str, &Login),
    home: Option<Arc<LiveDatabase>>,
) -> Result<(Arc<LiveDatabase>, String)> {
    match find(snapshot, name, login) {
        Ok(live) => {
            let name = live.database.name.clone();
            Ok((live, name))
        }
        Err(error) if matches!(error.kind(), ErrorKind::UnknownDatabase(_)) => {
            own(name, home).ok_or(error)
        }
        Err(error) => Err(error),
    }
}

/// One of the vendor's own databases.
fn own(name: &str, home: Option<Arc<LiveDatabase>>) -> Option<(Arc<LiveDatabase>, String)> {
    let home = home?;
    let own = home.database.dialect.presentation()?.own_database(name)?.to_owned();
    Some((home, own))
}

impl Session {
    /// The current database, when it is one of the vendor's own.
    pub(super) fn own_database(&self) -> Option<&str> {
        let current = self.facts.database.as_deref()?;
        let live = self.live.as_ref()?;
        (live.database.name != current).then_some(current)
    }

    /// The statement with the current database in front of its tables, where that is one of the vendor's own: everything behind knows those by their
    /// whole names only.
    pub(super) fn placed(&self, stmt: Statement) -> Result<Statement> {
        let (Some(own), Some(dialect)) = (self.own_database(), self.dialect()) else {
            return Ok(stmt);
        };
        if dialect.default_schema().is_some() {
            self.refuse_in_own(own, &stmt)?;
            return Ok(stmt);
        }
        let known =
            |name| dialect.presentation().is_some_and(|shown| shown.holding(name).is_some());
        let mut edits = Edits::default();
        for table in visit::tables(&stmt.kind) {
            if let [only] = &table.name.parts[..]
                && !known(table.name)
            {
                edits.replace(Span::at(only.span.start), format!("{}.", dialect.quote(own)));
            }
        }
        if edits.is_empty() {
            return Ok(stmt);
        }
        pando_sql::parse(&edits.apply(&stmt.text), dialect.syntax())
            .map_err(super::run::syntax_error)
    }

    /// Refuses what is about tables, or changes anything, in one of the vendor's own databases that has none of either: the storage units that answer
    /// everything else there are those of another database.
    fn refuse_in_own(&self, own: &str, stmt: &Statement) -> Result<()> {
        let dialect = self.dialect();
        let presentation = dialect.as_ref().and_then(|dialect| dialect.presentation());
        let shared =
            |name| presentation.and_then(|shown| shown.holding(name)) == Some(Holding::Shared);
        let is_about_databases =
            matches!(&stmt.kind, Kind::Define(define) if define.object == ObjectKind::Database);
        let is_about_session = matches!(&stmt.kind, Kind::Utility { verb, .. } if
            verb.starts_with("DISCARD") || verb.starts_with("UNLISTEN"));
        let changes = writes(&stmt.kind) && !is_about_databases && !is_about_session;
        let names_one =
            presentation.is_some_and(|shown| matches!(shown.asked(stmt, &[]), Asked::Table(_)));
        let tables = visit::tables(&stmt.kind);
        if changes || names_one || tables.iter().any(|table| !shared(table.name)) {
            return Err(Error::refused(
                30001,
                format!("database `{own}` is there to log in to and has no tables"),
                "connect to a database of your own, or make one by CREATE DATABASE",
            ));
        }
        Ok(())
    }

    /// Refuses a statement about tables before a database is chosen.
    pub(super) fn refuse_without_database(&mut self, stmt: &Statement) -> Result<()> {
        if self.facts.database.is_some() {
            return Ok(());
        }
        let dialect = self.dialect();
        let presentation = dialect.as_ref().and_then(|dialect| dialect.presentation());
        self.names_tables |= visit::tables(&stmt.kind)
            .iter()
            .any(|table| presentation.is_none_or(|own| own.holding(table.name).is_none()));
        let needs_one = visit::tables(&stmt.kind).iter().any(|table| {
            presentation.is_none_or(|own| {
                own.holding(table.name).is_none() && own.database_part(&table.name.parts).is_none()
            })
        });
        if needs_one { Err(ErrorKind::NoDatabase.into()) } else { Ok(()) }
    }
}

/// Where a session stands while one statement is about another database.
#[derive(Debug)]
pub(super) struct Away {
    live: Option<Arc<LiveDatabase>>,
    database: Option<String>,
}

impl Session {
    /// Goes to another logical database for one statement whose tables all stand there. Only where nothing of it can be left behind: a transaction
    /// knows storage units by the names of one database.
    pub(super) fn leave(&mut self, stmt: &Statement) -> Result<Option<Away>> {
        let free = self.autocommit && self.transaction.state() == TransactionState::Idle;
        let Some(name) = self.elsewhere(stmt).filter(|_| free) else { return Ok(None) };
        let live = find(&self.snapshot, &name, &self.login)?;
        let database = self.facts_mut().database.replace(live.database.name.clone());
        let live = self.live.replace(live);
        Ok(Some(Away { live, database }))
    }

    /// Back to where the session was.
    pub(super) fn come_back(&mut self, away: Option<Away>) {
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
            visit::exprs(&stmt.kind, &mut |expr| {
                asked_databases(expr, (stmt, dialect.syntax()), &mut texts)
            });
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

/// The strings that a condition holds against a column of the catalogue which says in what database something stands.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn asked_databases<'a>(
    condition: &'a Expr,
    (stmt, syntax): (&'a Statement, &'a Syntax),
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
fn is_of_database(expr: &Expr) -> bool {
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

/// Statements that may be about another database than the current one. Definitions are not: what was read of the catalogue is forgotten with
/// them, and that is done for the current database.
fn moves(kind: &Kind) -> bool {
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
        | Kind::Administration
        | Kind::Utility { .. }
        | Kind::Empty
        | Kind::Opaque => false,
    }
}

/// `SHOW COLUMNS FROM table FROM database`: the table's own name says nothing.
fn is_show(kind: &Kind) -> bool {
    matches!(kind, Kind::Show(show) if show.database.is_some())
}
