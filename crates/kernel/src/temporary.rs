//! A session's temporary tables: they stand on one connection of one storage unit, which serves this session alone as long as there is one.

use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::visit;

use crate::route::UnitName;

/// How a family tells which temporary tables a connection has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Not at all: what has been made and dropped is noted. No rollback takes that back.
    Noted,
    /// By a query whose rows are their names, as they are since a transaction may have ended.
    Asked(&'static str),
}

/// A session's temporary tables, as planning sees them.
#[derive(Debug, Clone)]
pub struct Temporaries {
    /// Where they stand, and where one goes that is about to be made.
    pub unit: UnitName,
    /// The logical database they belong to.
    pub database: String,
    /// A table's name may have its database in front.
    pub has_database_in_front: bool,
    /// What they are called.
    pub names: Vec<String>,
    /// Those that are gone with their connection, which nobody has been told of.
    pub lost: Vec<String>,
}

impl Temporaries {
    /// Whether a statement is about one of them, or about one that is to be made or dropped.
    pub fn concern(&self, stmt: &Statement) -> bool {
        let makes = matches!(&stmt.kind, Kind::Define(define) if is_temporary(define));
        makes || visit::tables(&stmt.kind).iter().any(|table| self.is_one(table.name))
    }

    /// Whether a name means one of them: it hides every other table of its name.
    pub fn is_one(&self, name: &ObjectName) -> bool {
        self.found(name, &self.names) || self.is_lost(name)
    }

    /// Whether a name means one that is gone.
    pub fn is_lost(&self, name: &ObjectName) -> bool {
        self.found(name, &self.lost)
    }

    fn found(&self, name: &ObjectName, names: &[String]) -> bool {
        let is_own = match &name.parts[..] {
            [_] => true,
            [.., schema, _] => {
                let in_front = &schema.value;
                self.has_database_in_front && in_front.eq_ignore_ascii_case(&self.database)
                    || is_their_schema(in_front)
            }
            [] => false,
        };
        is_own && names.iter().any(|known| *known == name.key())
    }
}

/// Whether a definition says itself that it is about a temporary table or view.
pub fn is_temporary(define: &Define) -> bool {
    let in_schema = |name: &ObjectName| match &name.parts[..] {
        [.., schema, _] => is_their_schema(&schema.value),
        [] | [_] => false,
    };
    let is_one = matches!(define.object, ObjectKind::Table | ObjectKind::View);
    is_one
        && matches!(define.action, DefineAction::Create | DefineAction::Drop)
        && (define.temporary || define.names.iter().any(in_schema))
}

/// Whether a definition is about a routine that its connection alone has, and only until it is reset.
pub fn is_temporary_routine(define: &Define) -> bool {
    let in_schema = |name: &ObjectName| match &name.parts[..] {
        [.., schema, _] => is_their_schema(&schema.value),
        [] | [_] => false,
    };
    define.object == ObjectKind::Routine && define.names.iter().any(in_schema)
}

/// PostgreSQL's schemas for them.
fn is_their_schema(name: &str) -> bool {
    name.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("pg_temp"))
}
