//! UPDATE of a sharding column: the rows are read together with their new values, deleted, and inserted where they belong then.

use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_kernel::transfer::{Obstacle, Transfer};
use pando_sql::ast::{ColumnAssignment, Expr, Kind, Node, Statement, Table, TableFactor, Update};
use pando_sql::{Fold, tokenize, visit};

use super::insert_select::constant;
use crate::plan::{leftovers, numbering};

/// Functions that answer the same for the same rows when they are asked again within a transaction, or at least for more rows rather than others.
const REPEATABLE: &[&str] = &[
    "abs",
    "avg",
    "bit_length",
    "ceil",
    "ceiling",
    "char_length",
    "coalesce",
    "concat",
    "count",
    "curdate",
    "current_date",
    "current_timestamp",
    "date",
    "date_add",
    "date_sub",
    "date_trunc",
    "day",
    "dayofmonth",
    "extract",
    "floor",
    "greatest",
    "hex",
    "if",
    "ifnull",
    "least",
    "left",
    "length",
    "localtime",
    "localtimestamp",
    "lower",
    "max",
    "md5",
    "min",
    "mod",
    "month",
    "now",
    "nullif",
    "octet_length",
    "quarter",
    "replace",
    "right",
    "round",
    "sign",
    "substr",
    "substring",
    "sum",
    "to_date",
    "trim",
    "trunc",
    "truncate",
    "unix_timestamp",
    "upper",
    "year",
];

/// PostgreSQL takes 1,664 items in a select list. A wider table is read without a look at what it has become.
const MOST_ITEMS: usize = 1600;

/// Whose rows are to be moved.
#[derive(Debug)]
pub struct MovedTable {
    /// Its key in the catalogue.
    pub(crate) logic: String,
    /// A query of it, whose plan tells where it stands.
    pub(crate) query: Arc<str>,
}

/// Such a statement, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct MoveRows {
    /// The query for the rows, locking them: every column that can be written, then the new values.
    pub(crate) read: Arc<str>,
    /// What takes the rows away.
    pub(crate) delete: Arc<str>,
    /// Which of the statement's parameters that takes, in its own order; the query takes all.
    pub(crate) delete_parameters: Vec<u32>,
    /// The text in front of the new rows.
    pub(crate) head: String,
    /// The columns that are read first.
    pub(crate) columns: Vec<TableColumn>,
    /// The query's column that tells whether a row's values survive being read and written, where that is in doubt.
    pub(crate) survives: Option<usize>,
    /// New values: by column's place.
    pub(crate) changes: Vec<(usize, Change)>,
    /// All columns the table is known to have.
    pub(crate) known: Vec<String>,
    /// From which of the query's columns on those stand that the table has once its rows are locked.
    pub(crate) known_from: usize,
    /// What it gives back.
    pub(crate) returning: Option<Returning>,
}

/// What a moved row gives back to the client.
#[derive(Debug, Clone)]
pub(crate) struct Returning {
    /// Behind the new rows.
    pub(crate) clause: String,
    /// A query that tells its columns, and finds no row.
    pub(crate) none: Arc<str>,
}

/// Where a column's new value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// From the query's column with this number.
    Item {
        /// Its place among the query's columns.
        at: usize,
        /// What stands there where that is a constant.
        constant: Option<Arc<str>>,
    },
    /// From the query's column with this number, if anything else of the row changes.
    Stamp(usize),
    /// It is the column's default.
    Default,
}

fn refused(update: &str) -> Error {
    Error::unsupported(
        20031,
        format!("{update} cannot change a sharding column"),
        "insert the row with its new key and delete the old one in a transaction",
    )
}

/// The table of an UPDATE whose rows can be moved, as far as its text tells.
///
/// # Errors
/// `Refused` with what stands in the way.
pub(in crate::plan) fn moved_table(stmt: &Statement) -> Result<MovedTable> {
    let (_, table) = change_of_one_table(stmt)?;
    Ok(MovedTable {
        logic: table.name.key(),
        query: format!("SELECT 1 FROM {}", table.name.span.of(&stmt.text)).into(),
    })
}

fn change_of_one_table(stmt: &Statement) -> Result<(&Update, &Table)> {
    let Kind::Update(update) = &stmt.kind else { return Err(refused("this statement")) };
    let [TableFactor::Table(table)] = &update.tables[..] else {
        return Err(refused("UPDATE of several tables"));
    };
    let before = stmt.text.get(..table.span.start as usize).unwrap_or_default();
    let before = before.get(stmt.hint_span.map_or(0, |hint| hint.end) as usize..).unwrap_or("");
    let reasons = [
        (!update.with.is_empty(), "UPDATE with WITH"),
        (!update.from.is_empty(), "UPDATE … FROM"),
        (!update.order_by.is_empty() || update.limit.is_some(), "UPDATE … ORDER BY and LIMIT"),
        (!table.extras.is_empty(), "UPDATE of a part of a table"),
        (!before.trim().eq_ignore_ascii_case("update"), "UPDATE with a modifier"),
    ];
    match reasons.iter().find(|(holds, _)| *holds) {
        Some((_, what)) => Err(refused(what)),
        None => Ok((update, table)),
    }
}

/// Takes the UPDATE apart, around what a unit says stands in the way of moving its table's rows.
///
/// # Errors
/// `Refused` with what stands in the way.
pub(crate) fn move_rows(
    ctx: &Context<'_>,
    stmt: &Statement,
    obstacles: &[Obstacle],
) -> Result<std::result::Result<MoveRows, Need>> {
    let (update, table) = change_of_one_table(stmt)?;
    let transfer = ctx.dialect.transfer().ok_or_else(|| refused("this database"))?;
    leftovers::check(ctx, stmt)?;
    let name = table.name.parts.last().ok_or_else(|| Error::internal("a table without a name"))?;
    let logic = name.key();
    let Some(known) = ctx.catalog.columns(&logic) else { return Ok(Err(Need::Columns(logic))) };
    let stamped = free_of(obstacles, update)?;
    let is_computed = |column: &TableColumn| {
        obstacles.iter().any(|one| *one == Obstacle::Computed(column.name.clone()))
    };
    let columns: Vec<TableColumn> =
        known.iter().filter(|column| !is_computed(column)).cloned().collect();
    repeatable(stmt, update)?;
    let returning = returning(ctx, stmt, update, table)?;
    in_one_step(ctx, stmt, update)?;
    let mut items: Vec<String> =
        columns.iter().map(|column| ctx.dialect.quote(&column.name)).collect();
    let mut changes = Vec::new();
    for assignment in &update.assignments {
        let at = assigned(stmt, assignment, &columns)?;
        if let Some(before) = changes.iter().position(|(known, _)| *known == at) {
            if ctx.dialect.syntax().fold == Fold::Lower {
                return Err(set_twice(&columns[at].name));
            }
            // The last one counts, and none reads what another has assigned.
            changes.remove(before);
        }
        let change = change(stmt, &assignment.value, transfer, &columns[at], &mut items);
        changes.push((at, change));
    }
    for column in &stamped {
        let at = columns.iter().position(|known| known.name == *column);
        let Some(at) = at.filter(|at| !changes.iter().any(|(known, _)| known == at)) else {
            continue;
        };
        changes.push((at, Change::Stamp(items.len())));
        items.push(now_of(&columns[at]));
    }
    let doubts: Vec<String> =
        columns.iter().filter_map(|column| transfer.survives(column)).collect();
    let survives = (!doubts.is_empty()).then_some(items.len());
    items.extend(survives.map(|_| format!("({})", doubts.join(") AND ("))));
    let text = |span: pando_sql::Span| span.of(&stmt.text);
    let condition = update.filter.as_ref().map(|filter| format!(" WHERE {}", text(filter.span)));
    let condition = condition.unwrap_or_default();
    let hint = stmt.hint_span.map_or("", text);
    let target = match (&table.alias, ctx.dialect.syntax().fold) {
        // Older servers take an alias in this form only.
        (Some(alias), Fold::Keep) => format!("{} FROM {}", text(alias.span), text(table.span)),
        _ => format!("FROM {}", text(table.span)),
    };
    let names: Vec<String> = columns.iter().map(|column| ctx.dialect.quote(&column.name)).collect();
    let own = table.alias.as_ref().map_or(table.name.span, |alias| alias.span);
    let known_from = items.len();
    if items.len() + known.len() <= MOST_ITEMS {
        items.push(format!("{}.*", text(own)));
    }
    let in_filter = |span: &pando_sql::Span| {
        let own = update.filter.as_ref().map(|filter| filter.span);
        own.is_some_and(|own| own.start <= span.start && span.end <= own.end)
    };
    let called = match (&table.alias, &returning) {
        (Some(alias), Some(_)) => format!(" AS {}", text(alias.span)),
        _ => String::new(),
    };
    let parameters = numbering::parameters(stmt);
    Ok(Ok(MoveRows {
        read: format!(
            "{hint}SELECT {} FROM {}{condition} FOR UPDATE",
            items.join(", "),
            text(table.span)
        )
        .into(),
        delete: format!("{hint}DELETE {target}{condition}").into(),
        delete_parameters: parameters
            .iter()
            .filter(|(span, _)| in_filter(span))
            .map(|(_, index)| *index)
            .collect(),
        head: format!(
            "{hint}INSERT INTO {}{called} ({}){} VALUES ",
            text(table.name.span),
            names.join(", "),
            transfer.keep_given()
        ),
        known: known.iter().map(|column| column.name.clone()).collect(),
        known_from,
        columns,
        survives,
        changes,
        returning,
    }))
}

/// What the rows that were moved give back.
///
/// # Errors
/// `Refused` for what only the UPDATE itself could give.
fn returning(
    ctx: &Context<'_>,
    stmt: &Statement,
    update: &Update,
    table: &Table,
) -> Result<Option<Returning>> {
    let Some((_, span)) = &update.returning else { return Ok(None) };
    let syntax = ctx.dialect.syntax();
    let text = span.of(&stmt.text);
    let tokens = tokenize(text, syntax).map_err(crate::plan::unread)?.list;
    let reads = tokens.iter().any(|token| token.span.of(text).eq_ignore_ascii_case("select"));
    let takes = numbering::parameters(stmt).iter().any(|(at, _)| span.start <= at.start);
    if syntax.fold == Fold::Keep || reads || takes {
        return Err(refused("UPDATE … RETURNING with parameters or queries in it"));
    }
    let items = text.get("RETURNING".len()..).unwrap_or_default();
    Ok(Some(Returning {
        clause: format!(" {text}"),
        none: format!("SELECT {items} FROM {} WHERE FALSE", table.span.of(&stmt.text)).into(),
    }))
}

/// What a server says that takes one assignment of a column only.
fn set_twice(column: &str) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number: 0,
        sqlstate: "42601".into(),
        message: format!("multiple assignments to same column \"{column}\""),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}

/// Refuses tables whose rows cannot be taken out and put in again without anybody's noticing. Gives the columns that every UPDATE stamps.
fn free_of(obstacles: &[Obstacle], update: &Update) -> Result<Vec<String>> {
    let mut stamped = Vec::new();
    let assigns = |name: &str| {
        update.assignments.iter().any(|one| {
            one.column.parts.last().is_some_and(|part| part.value.eq_ignore_ascii_case(name))
        })
    };
    for obstacle in obstacles {
        match obstacle {
            Obstacle::Stamped(column) => stamped.push(column.clone()),
            Obstacle::Computed(column) | Obstacle::Always(column) if assigns(column) => {
                return Err(refused(&format!("an UPDATE of the generated column `{column}`")));
            }
            Obstacle::Computed(_) | Obstacle::Always(_) => {}
            Obstacle::Referenced { by, action } => {
                return Err(refused(&format!(
                    "UPDATE of a table on which `{by}` depends with {action}"
                )));
            }
            Obstacle::View(_) => return Err(refused("UPDATE of a view")),
            Obstacle::Trigger(name) => {
                return Err(refused(&format!("UPDATE of a table with the trigger `{name}`")));
            }
        }
    }
    Ok(stamped)
}

/// The place of the column that is assigned.
fn assigned(
    stmt: &Statement,
    assignment: &ColumnAssignment,
    columns: &[TableColumn],
) -> Result<usize> {
    let column = &assignment.column;
    let between = stmt.text.get(column.span.end as usize..assignment.value.span.start as usize);
    let is_plain = assignment.span.start == column.span.start
        && matches!(between.map(str::trim), Some("=" | ":="));
    if !is_plain {
        return Err(refused("an UPDATE that sets several columns at once, or a part of one,"));
    }
    let name = column.parts.last().map(|part| part.value.as_str()).unwrap_or_default();
    columns.iter().position(|known| known.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        Error::new(ErrorKind::Value(format!("there is no column `{name}` to be set")))
    })
}

/// Adds the item that computes a new value.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn change(
    stmt: &Statement,
    value: &Expr,
    transfer: &dyn Transfer,
    column: &TableColumn,
    items: &mut Vec<String>,
) -> Change {
    let mut inner = value;
    while let Node::Nested(nested) = &inner.node {
        inner = nested;
    }
    let text = value.span.of(&stmt.text);
    let item = match &inner.node {
        Node::Default => return Change::Default,
        Node::Parameter(_) => format!("{text}{}", transfer.typed_as(column)),
        _ => text.to_owned(),
    };
    items.push(item);
    Change::Item { at: items.len() - 1, constant: constant(stmt, inner) }
}

/// The current time as precise as the column keeps it.
fn now_of(column: &TableColumn) -> String {
    let digits = column.type_name.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let digits = digits.and_then(|(digits, _)| digits.parse::<u8>().ok()).unwrap_or(0);
    format!("CURRENT_TIMESTAMP({digits})")
}

/// The condition is asked twice: it must mean the same rows.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn repeatable(stmt: &Statement, update: &Update) -> Result<()> {
    let Some(filter) = &update.filter else { return Ok(()) };
    let mut wrong = None;
    visit::exprs(&stmt.kind, &mut |expr| {
        let inside = filter.span.start <= expr.span.start && expr.span.end <= filter.span.end;
        match &expr.node {
            Node::Function(call) if inside => {
                let name = call.name.parts.last().map(|part| part.value.to_lowercase());
                let name = name.unwrap_or_default();
                if REPEATABLE.binary_search(&name.as_str()).is_err() {
                    wrong.get_or_insert(name);
                }
            }
            _ => {}
        }
    });
    match wrong {
        None => Ok(()),
        Some(name) => Err(refused(&format!(
            "an UPDATE whose condition calls `{name}`, which may answer otherwise when asked again,"
        ))),
    }
}

/// Where assignments see those before them, no value may hang on one.
fn in_one_step(ctx: &Context<'_>, stmt: &Statement, update: &Update) -> Result<()> {
    if ctx.dialect.syntax().fold == Fold::Lower {
        return Ok(());
    }
    let mut wrong = false;
    visit::exprs(&stmt.kind, &mut |expr| {
        let Node::Column(name) = &expr.node else { return };
        let at = update.assignments.iter().position(|one| {
            one.value.span.start <= expr.span.start && expr.span.end <= one.value.span.end
        });
        let earlier = at.and_then(|at| update.assignments.get(..at)).unwrap_or_default();
        let own = name.parts.last().map(|part| part.value.to_lowercase());
        wrong |= earlier
            .iter()
            .any(|one| one.column.parts.last().map(|part| part.value.to_lowercase()) == own);
    });
    if wrong {
        return Err(refused("an UPDATE that computes a value from one it has set before"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::REPEATABLE;

    #[test]
    fn the_list_is_sorted() {
        assert!(REPEATABLE.is_sorted());
    }
}
