//! How much room tables take: what is asked by a table's name is said of all its parts, which several storage units may
//! hold.

use pando_kernel::Parameter;
use pando_kernel::error::{Error, Result};
use pando_sql::ast::{Expr, Node, Statement};
use pando_sql::visit;

use super::calls::{
    Given, bound, is_computed_name, is_regclass, name_of, named, relation_argument, split,
};
use super::names::Names;

/// Functions that tell how much room a table takes: that of all its parts, which several storage units may hold.
const SIZES: &[&str] =
    &["pg_indexes_size", "pg_relation_size", "pg_table_size", "pg_total_relation_size"];

/// Refuses the size of a table by its name when it has parts: this unit knows its own only.
///
/// # Errors
/// `Refused`.
pub(super) fn whole_sizes(
    stmt: &Statement,
    names: &Names<'_>,
    parameters: Option<&[Parameter]>,
) -> Result<()> {
    let mut parted = None;
    visit::exprs(&stmt.kind, &mut |expr| {
        let Node::Function(call) = &expr.node else { return };
        if !SIZES.contains(&name_of(call)) {
            return;
        }
        let Some(argument) = relation_argument(call) else { return };
        let name = match (named(argument), bound(argument, parameters)) {
            (Some((name, _)), _) | (None, Some((_, Given::Name(name)))) => name,
            // It may be that of any table.
            (None, _) if is_computed_name(uncast(argument, &stmt.text), &stmt.text) => {
                let any = names.any_with_parts();
                return parted = parted.take().or_else(|| any.map(str::to_owned));
            }
            (None, _) => return,
        };
        let table = split(name).and_then(|mut parts| parts.pop());
        if let Some(table) = table.filter(|table| names.has_parts(table)) {
            parted.get_or_insert(table);
        }
    });
    match parted {
        None => Ok(()),
        Some(table) => Err(Error::spans_shards(
            30001,
            format!(
                "the size of the sharded table `{table}` is that of parts on several storage units"
            ),
            "ask each storage unit for its part with the hint `/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=… */`",
        )),
    }
}

/// What is cast to `regclass`, if it is.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn uncast<'a>(expr: &'a Expr, text: &str) -> &'a Expr {
    match &expr.node {
        Node::Cast { operand, to } if is_regclass(to.of(text)) => operand,
        Node::Nested(inner) => uncast(inner, text),
        _ => expr,
    }
}
