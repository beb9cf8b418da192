//! What statements are called at their end.

use pando_sql::ast::{DefineAction, Kind, ObjectKind};

/// The command tag of a statement, for units whose protocol has none.
pub(in crate::session) fn tag(kind: &Kind) -> &'static str {
    match kind {
        Kind::Select(_) => "SELECT",
        Kind::Insert(insert) if insert.replace => "REPLACE",
        Kind::Insert(_) => "INSERT",
        Kind::Update(_) => "UPDATE",
        Kind::Delete(_) => "DELETE",
        Kind::Define(define) => define_tag(define.action, define.object),
        Kind::Set(_) => "SET",
        Kind::Show(_) => "SHOW",
        Kind::Use(_) => "USE",
        Kind::Explain { .. } => "EXPLAIN",
        Kind::Copy(_) => "COPY",
        Kind::Load(_) => "LOAD",
        Kind::Prepare { .. } => "PREPARE",
        Kind::Deallocate(_) => "DEALLOCATE",
        Kind::Lock(_) => "LOCK TABLE",
        Kind::Kill { .. } => "KILL",
        Kind::Transaction(_)
        | Kind::Execute { .. }
        | Kind::Cursor(_)
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_) => "",
        Kind::Administration | Kind::Utility { .. } | Kind::Empty | Kind::Opaque => "",
    }
}

fn define_tag(action: DefineAction, object: ObjectKind) -> &'static str {
    match (action, object) {
        (DefineAction::Create, ObjectKind::Table) => "CREATE TABLE",
        (DefineAction::Create, ObjectKind::Index) => "CREATE INDEX",
        (DefineAction::Create, ObjectKind::View) => "CREATE VIEW",
        (DefineAction::Create, _) => "CREATE",
        (DefineAction::Alter, ObjectKind::Table) => "ALTER TABLE",
        (DefineAction::Alter, _) => "ALTER",
        (DefineAction::Drop, ObjectKind::Table) => "DROP TABLE",
        (DefineAction::Drop, ObjectKind::Index) => "DROP INDEX",
        (DefineAction::Drop, ObjectKind::View) => "DROP VIEW",
        (DefineAction::Drop, _) => "DROP",
        (DefineAction::Truncate, _) => "TRUNCATE TABLE",
        (DefineAction::Rename, _) => "RENAME TABLE",
        (DefineAction::Comment, _) => "COMMENT",
    }
}
