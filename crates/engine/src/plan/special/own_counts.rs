//! Statements that would have each server of a table in several shards or copies count a column by itself: refused.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, LogicTable, TableKind};
use pando_kernel::route::Need;
use pando_sql::ast::{
    ColumnAssignment, Define, DefineAction, Insert, InsertSource, Kind, Node, ObjectKind,
    ObjectName, Statement, TableFactor,
};
use pando_sql::{Dotted, Item, Span, reading};

use crate::plan::parse::unread;

/// Words of a column that a server counts.
const COUNTED: [&str; 8] = [
    "auto_increment",
    "serial",
    "bigserial",
    "smallserial",
    "serial4",
    "serial8",
    "serial2",
    "identity",
];

/// What may be added that is no column.
const NO_COLUMNS: [&str; 11] = [
    "check",
    "constraint",
    "foreign",
    "fulltext",
    "generated",
    "index",
    "key",
    "partition",
    "primary",
    "spatial",
    "unique",
];

/// Looks at what a statement leaves to servers to count. `Some` asks for what must be known first.
///
/// # Errors
/// `Refused` where the shards' numbers would meet.
pub(in crate::plan) fn check(ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Need>> {
    if let Kind::Update(update) = &stmt.kind
        && let [TableFactor::Table(table), ..] = &update.tables[..]
    {
        return assigned(ctx, &table.name, &update.assignments);
    }
    if let Kind::Define(define) = &stmt.kind {
        return added(ctx, stmt, define).map(|()| None);
    }
    let Kind::Insert(insert) = &stmt.kind else { return Ok(None) };
    if let Some(conflict) = &insert.on_conflict
        && let Some(need) = assigned(ctx, &insert.table.name, &conflict.assignments)?
    {
        return Ok(Some(need));
    }
    if !overrides(ctx, stmt, insert)? || !is_split(ctx, &insert.table.name) {
        return Ok(None);
    }
    counted(ctx, &insert.table.name, |_| true, "OVERRIDING USER VALUE", "leave the column out")
}

/// A counted column that is added to a table: each shard would number the rows that it has.
fn added(ctx: &Context<'_>, stmt: &Statement, define: &Define) -> Result<()> {
    let alters = define.object == ObjectKind::Table && define.action == DefineAction::Alter;
    let Some(table) = define.names.first().filter(|table| alters && is_split(ctx, table)) else {
        return Ok(());
    };
    let items = reading(&stmt.text, ctx.dialect.syntax(), None).map_err(unread)?;
    let mut depth = 0_usize;
    let clauses = items.split(|item| {
        if *item == Item::Mark("(") {
            depth += 1;
        } else if *item == Item::Mark(")") {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && *item == Item::Mark(",")
    });
    for clause in clauses {
        // What is quoted is no word of the language.
        let word = |name: &Dotted<'_>| match name.quoted {
            true => String::new(),
            false => name.last().to_ascii_lowercase(),
        };
        let words: Vec<String> = clause.iter().filter_map(Item::name).map(word).collect();
        let Some(at) = words.iter().position(|word| word == "add") else { continue };
        let Some([name, rest @ ..]) = words.get(at + 1..) else { continue };
        let is_column = !NO_COLUMNS.contains(&name.as_str());
        if is_column && rest.iter().any(|word| COUNTED.contains(&word.as_str())) {
            return Err(Error::unsupported(
                30001,
                format!(
                    "each part or copy of `{}` would number the rows that it has by itself",
                    table.key()
                ),
                "make the table with the column, or add it plainly, number the rows, and have it counted then",
            ));
        }
    }
    Ok(())
}

/// Whether an INSERT has the server count instead of taking its values.
fn overrides(ctx: &Context<'_>, stmt: &Statement, insert: &Insert) -> Result<bool> {
    let end = match &insert.source {
        InsertSource::Values { span, .. } => span.start,
        InsertSource::Query(query) => query.span.start,
        InsertSource::Set(_) | InsertSource::Default => return Ok(false),
    };
    let between = Span::new(insert.columns_span.end, end).of(&stmt.text).trim();
    if between.is_empty() {
        return Ok(false);
    }
    let items = reading(between, ctx.dialect.syntax(), None).map_err(unread)?;
    let is_it = |two: &[Item<'_>]| two[0].is_word("overriding") && two[1].is_word("user");
    Ok(items.windows(2).any(is_it))
}

fn assigned(
    ctx: &Context<'_>,
    table: &ObjectName,
    assignments: &[ColumnAssignment],
) -> Result<Option<Need>> {
    let defaults: Vec<&str> = assignments
        .iter()
        .filter(|one| matches!(one.value.node, Node::Default))
        .filter_map(|one| one.column.parts.last().map(|name| name.value.as_str()))
        .collect();
    if defaults.is_empty() || !is_split(ctx, table) {
        return Ok(None);
    }
    let is_set = |column: &str| defaults.iter().any(|name| name.eq_ignore_ascii_case(column));
    counted(ctx, table, is_set, "DEFAULT", "set it to numbers of your own")
}

fn counted(
    ctx: &Context<'_>,
    table: &ObjectName,
    is_meant: impl Fn(&str) -> bool,
    what: &str,
    instead: &str,
) -> Result<Option<Need>> {
    let key = table.key();
    let Some(known) = ctx.catalog.columns(&key) else { return Ok(Some(Need::Columns(key))) };
    match known.iter().find(|column| column.auto_increment && is_meant(&column.name)) {
        None => Ok(None),
        Some(column) => Err(Error::unsupported(
            30001,
            format!(
                "by {what} each part or copy of `{key}` would count `{}` by itself",
                column.name
            ),
            instead,
        )),
    }
}

fn is_split(ctx: &Context<'_>, table: &ObjectName) -> bool {
    let key = table.key();
    let mut tables = ctx.database.features.iter().flat_map(|feature| feature.tables());
    let is_one = |known: &LogicTable| known.kind == TableKind::Single;
    tables.any(|known| {
        !is_one(&known) && known.nodes.len() > 1 && known.name.eq_ignore_ascii_case(&key)
    })
}
