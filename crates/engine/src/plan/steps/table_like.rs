//! CREATE TABLE … LIKE a table that does not stand where the new one goes: what that one is defined like is asked
//! first.

use pando_kernel::feature::Context;
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, Statement};
use pando_sql::{Token, tokenize};

/// Such a statement, taken apart.
#[derive(Debug, Clone)]
pub struct TableLike {
    /// The statement up to the new table's name, and with it.
    pub(crate) head: String,
    /// The statement that tells how the other is defined.
    pub(crate) definition: String,
    /// The other table as the statement names it.
    pub(crate) other: String,
}

/// Takes such a statement apart; `None` where it says more, or the family has no way to tell how a table is defined.
pub(in crate::plan) fn take_apart(ctx: &Context<'_>, stmt: &Statement) -> Option<TableLike> {
    let Kind::Define(define) = &stmt.kind else { return None };
    let ([name], [other]) = (&define.names[..], &define.referenced[..]) else { return None };
    if !is_made(define) {
        return None;
    }
    let tokens = tokenize(&stmt.text, ctx.dialect.syntax()).ok()?;
    let word = |token: &Token| token.span.of(&stmt.text).to_ascii_uppercase();
    let between =
        |token: &&Token| name.span.end <= token.span.start && token.span.end <= other.span.start;
    let front: Vec<String> = tokens.list.iter().filter(between).map(word).collect();
    let behind: Vec<String> =
        tokens.list.iter().filter(|token| other.span.end <= token.span.start).map(word).collect();
    let front: Vec<&str> = front.iter().map(String::as_str).collect();
    let behind: Vec<&str> = behind.iter().map(String::as_str).collect();
    if !matches!((&front[..], &behind[..]), (["LIKE"], []) | (["(", "LIKE"], [")"])) {
        return None;
    }
    let other = other.span.of(&stmt.text).to_owned();
    Some(TableLike {
        head: stmt.text.get(..name.span.end as usize)?.to_owned(),
        definition: ctx.dialect.relations()?.query_tables()?.definitions().definition_of(&other)?,
        other,
    })
}

fn is_made(define: &Define) -> bool {
    define.action == DefineAction::Create
        && define.object == ObjectKind::Table
        && define.query.is_none()
        && define.columns.is_empty()
}
