//! Databases of the vendor's own, and statements before a database is chosen.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::presentation::{Asked, Holding, Presentation};
use pando_sql::ast::{Kind, ObjectKind, Statement};
use pando_sql::{Edits, Span, visit};

use crate::plan::writes;

use crate::session::Session;
use crate::session::place::Place;

/// Refuses a statement about tables before a database is chosen.
pub(in crate::session) fn refuse_without_database(
    session: &mut Session,
    stmt: &Statement,
) -> Result<()> {
    if session.place.facts.database.is_some() {
        return Ok(());
    }
    let dialect = session.place.dialect();
    let presentation = dialect.as_ref().and_then(|dialect| dialect.presentation());
    let is_table =
        |own: Option<&dyn Presentation>, name| own.is_none_or(|own| own.holding(name).is_none());
    if visit::tables(&stmt.kind).iter().any(|table| is_table(presentation, table.name)) {
        session.work.names_tables();
    }
    let needs_one = visit::tables(&stmt.kind).iter().any(|table| {
        presentation.is_none_or(|own| {
            own.holding(table.name).is_none() && own.database_part(&table.name.parts).is_none()
        })
    });
    if needs_one { Err(ErrorKind::NoDatabase.into()) } else { Ok(()) }
}

impl Place {
    /// The current database, when it is one of the vendor's own.
    pub(in crate::session) fn own_database(&self) -> Option<&str> {
        let current = self.facts.database.as_deref()?;
        let live = self.live.as_ref()?;
        (live.database.name != current).then_some(current)
    }

    /// The statement with the current database in front of its tables, where that is one of the vendor's own:
    /// everything behind knows those by their whole names only.
    pub(in crate::session) fn placed(&self, stmt: Statement) -> Result<Statement> {
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
        pando_sql::parse(&edits.apply(&stmt.text), dialect.syntax()).map_err(crate::plan::unread)
    }

    /// Refuses what is about tables, or changes anything, in one of the vendor's own databases that has none of either:
    /// the storage units that answer everything else there are those of another database.
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
            return Err(Error::unsupported(
                30001,
                format!("database `{own}` is there to log in to and has no tables"),
                "connect to a database of your own, or make one by CREATE DATABASE",
            ));
        }
        Ok(())
    }
}
