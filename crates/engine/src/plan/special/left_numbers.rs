//! Columns that rows of an INSERT leave to a server to count.

use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_kernel::sequences::Sequences;
use pando_sql::ast::{Insert, InsertSource};

use super::sequence_calls::{schema, wanting};

/// The sequence that counts such a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Left {
    /// What it is looked up by: the name that servers give it.
    pub(crate) key: String,
    /// What names it in a statement; NULL there where the column has none of its own.
    pub(crate) named_by: Option<String>,
    /// There is a sequence of this name: the column does not count by one of another name.
    pub(crate) is_found: bool,
}

/// The sequences that count for rows of an INSERT.
pub(crate) fn left(
    ctx: &Context<'_>,
    insert: &Insert,
    text: &str,
) -> std::result::Result<Vec<Left>, Need> {
    let table = insert.table.name.key();
    let of_column = |column: &str| {
        let schema = schema(insert.table.name.span.of(text));
        let name = format!("{schema}{}", ctx.dialect.quote(&table));
        let words = ctx.dialect.sequences().and_then(Sequences::of_columns);
        let named_by = words.map(|words| words.counter(&[name], column));
        let key = format!("{table}_{column}_seq");
        let is_found = ctx.catalog.sequences().is_some_and(|known| known.contains_key(&key));
        Left { key, named_by, is_found }
    };
    if let InsertSource::Values { .. } | InsertSource::Default = insert.source {
        let wanting = wanting(ctx, insert, text)?;
        return Ok(wanting.iter().map(|column| of_column(&column.column)).collect());
    }
    let known = ctx.catalog.columns(&table).ok_or_else(|| Need::Columns(table.clone()))?;
    let is_listed = |own: &str| {
        let listed = insert.columns.as_ref();
        listed.is_none_or(|all| all.iter().any(|name| name.value.eq_ignore_ascii_case(own)))
    };
    let counted = known.iter().filter(|column| column.auto_increment && !is_listed(&column.name));
    Ok(counted.map(|column| of_column(&column.name)).collect())
}
