//! INSERTs into tables of several shards or copies whose servers would count a column by themselves: what each row
//! wants of the counter.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, DataNode, SessionView, TableKind};
use pando_kernel::insert::by_place;
use pando_kernel::route::{GeneratedKeys, Need, UnitName};
use pando_sql::ast::{Expr, Insert, InsertRow, InsertSource, Kind, Literal, Node, Statement};
use pando_sql::{Edits, Piece, Span, Token, TokenKind, tokenize};

use crate::counters::{Counted, Counter, Shard};
use crate::plan::about::writer_of;
use crate::plan::rewrite;

use super::catalogue::tables;

/// What a row wants of the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// A number, in the place of what stands there, or as a further value.
    Number,
    /// A number in the place of this parameter's value.
    OfParameter(u32),
    /// That it counts on behind this value.
    Beyond(u64),
    /// Nothing: its value is not one that the counter comes to, or is not known yet.
    Nothing,
    /// Its server computes it.
    Computed,
}

/// A counted column of an INSERT.
#[derive(Debug, Clone)]
pub(crate) struct CountedRows {
    pub(crate) table: String,
    pub(crate) column: String,
    /// One for each row.
    pub(crate) wants: Vec<Want>,
}

/// What the rows of an INSERT want; `None` where no column of its table is counted by its server, or no rows are
/// written there.
pub(crate) fn wants(
    ctx: &Context<'_>,
    insert: &Insert,
    text: &str,
) -> std::result::Result<Option<CountedRows>, Need> {
    let table = insert.table.name.key();
    if ctx.session.temporaries.as_deref().is_some_and(|own| own.names.contains(&table)) {
        return Ok(None);
    }
    let Some(known) = ctx.catalog.columns(&table) else { return Err(Need::Columns(table)) };
    let Some(column) = known.iter().find(|column| column.auto_increment) else { return Ok(None) };
    let is_it = |name: &str| name.eq_ignore_ascii_case(&column.name);
    let wants = match &insert.source {
        InsertSource::Values { rows, .. } => {
            let at = place(ctx, insert, &known, &is_it);
            let value = |row: &InsertRow| {
                at.and_then(|at| row.value(at, text, ctx.dialect.syntax()))
                    .map_or(Want::Number, |value| want(ctx, &value))
            };
            rows.iter().map(value).collect()
        }
        InsertSource::Set(assignments) => {
            let own = assignments
                .iter()
                .find(|one| one.column.parts.last().is_some_and(|name| is_it(&name.value)));
            vec![own.map_or(Want::Number, |own| want(ctx, &own.value))]
        }
        InsertSource::Query(_) | InsertSource::Default => return Ok(None),
    };
    Ok(Some(CountedRows { table, column: column.name.clone(), wants }))
}

/// Where the column stands in a row of VALUES.
fn place(
    ctx: &Context<'_>,
    insert: &Insert,
    known: &[TableColumn],
    is_it: &dyn Fn(&str) -> bool,
) -> Option<usize> {
    match &insert.columns {
        Some(listed) => listed.iter().position(|name| is_it(&name.value)),
        None => by_place(ctx.dialect, known, usize::MAX).position(is_it),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(super) fn want(ctx: &Context<'_>, value: &Expr) -> Want {
    match &value.node {
        Node::Nested(inner) => want(ctx, inner),
        // Where zero is a value, it is the column's default.
        Node::Default if ctx.session.keeps_zero => Want::Nothing,
        Node::Default => Want::Number,
        Node::Parameter(at) => match (ctx.parameters, ctx.parameter(*at)) {
            (None, _) => Want::Nothing,
            (_, Some(value)) => match of_value(ctx.session, value) {
                Want::Number => Want::OfParameter(*at),
                want => want,
            },
            (_, None) => Want::Computed,
        },
        Node::Unary { op, operand } if op == "-" => match want(ctx, operand) {
            Want::Beyond(_) | Want::Nothing => Want::Nothing,
            other => other,
        },
        Node::Literal(Literal::Typed(..)) => Want::Computed,
        Node::Literal(literal) => {
            Value::of_literal(literal).map_or(Want::Computed, |value| of_value(ctx.session, &value))
        }
        _ => Want::Computed,
    }
}

/// What a value wants. Zero stands for a number, unless the session keeps it.
pub(crate) fn of_value(view: &SessionView, value: &Value) -> Want {
    let of_number = |number: i128| match (number, u64::try_from(number)) {
        (0, _) if view.keeps_zero => Want::Nothing,
        (0, _) => Want::Number,
        (_, Ok(number)) => Want::Beyond(number),
        (_, Err(_)) => Want::Nothing,
    };
    let of_float = |number: f64| match number.round() {
        number if number.abs() < 9e15 => format!("{number:.0}").parse().ok(),
        _ => None,
    };
    let number = match value {
        Value::Null => return Want::Number,
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        Value::Bool(number) => Some(i128::from(*number)),
        Value::Float(number) => of_float(*number),
        Value::Text(text) => {
            let text = text.trim();
            text.parse().ok().or_else(|| text.parse().ok().and_then(of_float))
        }
        Value::Decimal(_) | Value::Bytes(_) => None,
    };
    number.map_or(Want::Computed, of_number)
}

/// The counter of a table in several shards or copies; `None` for other tables.
pub(crate) fn counted(ctx: &Context<'_>, table: &str) -> Option<Counted> {
    let key = |name: &str| ctx.dialect.syntax().table_key(name);
    let table = tables(ctx.database)
        .find(|known| known.kind != TableKind::Single && key(&known.name) == table)?;
    let first = table.nodes.first().filter(|_| table.nodes.len() > 1)?;
    let writer = |unit: &UnitName| writer_of(ctx.database, Arc::clone(unit));
    let shard =
        |node: &DataNode| Shard { unit: writer(&node.unit), table: Arc::clone(&node.table) };
    Some(Counted {
        name: first.table.to_string(),
        home: writer(&first.unit),
        shards: table.nodes.iter().map(shard).collect(),
        counter: Counter::default(),
    })
}

/// The text of an INSERT with values in a column.
#[derive(Debug)]
pub(crate) struct Filled {
    pub(crate) text: String,
    /// The places of the values among the parameters, ascending, where they are given as such.
    pub(crate) places: Vec<usize>,
}

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    AsLiterals,
    /// `?`: the text is the same each time.
    AsParameters,
}

/// The text of an INSERT with these values in a column: one for each row, NULL for a row that keeps its own.
///
/// # Errors
/// `Internal` where its columns are no longer known.
pub(crate) fn filled(
    ctx: &Context<'_>,
    stmt: &Statement,
    keys: &GeneratedKeys,
    written: Written,
) -> Result<std::result::Result<Option<Filled>, Need>> {
    let Kind::Insert(insert) = &stmt.kind else { return Ok(Ok(None)) };
    let table = insert.table.name.key();
    let Some(known) = ctx.catalog.columns(&table) else { return Ok(Err(Need::Columns(table))) };
    let mut edits = Edits::default();
    rewrite::generated_keys(ctx, (insert, &stmt.text), keys, &mut edits)?;
    if let (InsertSource::Values { rows, .. }, None) = (&insert.source, &insert.columns) {
        let names = listed(ctx, rows, &known, &[&keys.column]);
        // An empty list is none, and stands there.
        edits.replace(insert.columns_span, names);
    }
    Ok(Ok(Some(match written {
        Written::AsLiterals => Filled { text: edits.apply(&stmt.text), places: Vec::new() },
        Written::AsParameters => with_parameters(ctx, stmt, keys, &edits),
    })))
}

/// The edited text with parameters in the place of the values.
fn with_parameters(
    ctx: &Context<'_>,
    stmt: &Statement,
    keys: &GeneratedKeys,
    edits: &Edits,
) -> Filled {
    let tokens = tokenize(&stmt.text, ctx.dialect.syntax()).map(|tokens| tokens.list);
    let tokens = tokens.unwrap_or_default();
    let own = |span: Span| {
        let inside = |token: &&Token| token.span.start >= span.start && token.span.end <= span.end;
        let all = tokens.iter().filter(|token| token.kind == TokenKind::Parameter);
        all.filter(inside).count()
    };
    let values = keys.values.iter().filter(|value| !value.is_null());
    let mut values = values.map(|value| ctx.dialect.literal(value)).peekable();
    let mut filled = Filled { text: String::new(), places: Vec::new() };
    let mut count = 0;
    for piece in edits.pieces(&stmt.text) {
        match piece {
            Piece::Kept(span) => {
                count += own(span);
                filled.text.push_str(span.of(&stmt.text));
            }
            Piece::New(new) => {
                match values.peek().and_then(|value| new.strip_suffix(value.as_str())) {
                    Some(before) => {
                        filled.text.push_str(before);
                        filled.text.push('?');
                        filled.places.push(count);
                        count += 1;
                        values.next();
                    }
                    None => filled.text.push_str(new),
                }
            }
        }
    }
    filled
}

/// The list of the columns that rows without one give, and of these beside.
pub(super) fn listed(
    ctx: &Context<'_>,
    rows: &[InsertRow],
    known: &[TableColumn],
    others: &[&str],
) -> String {
    let width = rows.iter().map(InsertRow::width).max().unwrap_or_default();
    let mut names: Vec<&str> = by_place(ctx.dialect, known, width).collect();
    let others: Vec<&str> = others.iter().copied().filter(|other| !names.contains(other)).collect();
    names.extend(others);
    let names: Vec<String> = names.into_iter().map(|name| ctx.dialect.quote(name)).collect();
    format!(" ({})", names.join(", "))
}
