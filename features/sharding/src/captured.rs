//! Names of a statement that are those of actual tables: `FROM users AS users_1`, which SQLAlchemy writes, where `users_1` is a part of `users`. In the statement for that
//! part they would catch what is meant for the table.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::Fold;
use pando_sql::ast::{Ident, Kind, Statement};
use pando_sql::visit::Names;

use crate::rule::Rule;
use crate::table::Table;

/// Whether a table is called as a part of one of the statement's sharded tables, so that these have to keep their logic names. The same for all of its targets: their texts
/// differ in actual names only.
///
/// # Errors
/// `Refused` where that does not help: a common table expression stands in the way of the actual table itself, and not every DELETE takes an alias.
pub(crate) fn captured(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    names: &Names<'_>,
) -> Result<bool> {
    let mut tables: Vec<&Table> = Vec::new();
    for occurrence in &names.tables {
        if let Some(table) = rule.table(&occurrence.name.key())
            && !tables.iter().any(|known| known.logic() == table.logic())
        {
            tables.push(table);
        }
    }
    let is_part = |label: &&&Ident| tables.iter().any(|table| has_part(table, &label.value));
    if let Some(label) = names.ctes.iter().find(|label| is_part(label)) {
        return Err(refused(label));
    }
    let Some(alias) = names.labels.iter().find(|label| is_part(label)) else { return Ok(false) };
    let takes_none = matches!(stmt.kind, Kind::Delete(_) | Kind::Insert(_));
    match ctx.dialect.syntax().fold == Fold::Keep && takes_none {
        true => Err(refused(alias)),
        false => Ok(true),
    }
}

/// Whether the table has an actual table of this name. The names of few begin as the label does.
fn has_part(table: &Table, label: &str) -> bool {
    if label.eq_ignore_ascii_case(table.logic()) {
        return false;
    }
    let nodes = table.nodes();
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return false };
    let common = first.table.bytes().zip(last.table.bytes()).take_while(|(a, b)| a == b).count();
    let begins = label
        .get(..common)
        .zip(first.table.get(..common))
        .is_some_and(|(own, known)| own.eq_ignore_ascii_case(known));
    begins && nodes.iter().any(|node| node.table.eq_ignore_ascii_case(label))
}

fn refused(label: &Ident) -> Error {
    Error::unsupported(
        20032,
        format!(
            "`{}` is the name of an actual table, which the statement gives to something else",
            label.value
        ),
        "call it otherwise",
    )
}
