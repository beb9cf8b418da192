//! INSERT: each row goes to the one node its sharding values say.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pando_kernel::Value;
use pando_kernel::error::{Error, ErrorKind, Result, Unroutable};
use pando_kernel::feature::Context;
use pando_kernel::insert::{by_place, uneven_row, unknown_column};
use pando_kernel::route::{GeneratedKeys, Need, Spread, Target, Units};
use pando_sql::ast::{ColumnAssignment, Expr, Insert, InsertRow, InsertSource, Node};
use pando_sql::{Edits, Fold, Item, Span, reading};

use crate::arbiter;
use crate::asked::Asked;
use crate::carried;
use crate::domain::Domain;
use crate::found::{Found, spans_shards, unsupported};
use crate::literal;
use crate::rule::Rule;
use crate::scope::last;
use crate::table::Table;
use crate::value;

/// The rows of an INSERT as values by column.
pub(crate) struct Rows<'a> {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row<'a>>,
}

/// One of them.
pub(crate) enum Row<'a> {
    /// A row of VALUES.
    Written(&'a InsertRow),
    /// Values that stand elsewhere.
    Listed(Vec<&'a Expr>),
}

impl<'a> Row<'a> {
    fn len(&self) -> usize {
        match self {
            Self::Written(row) => row.width(),
            Self::Listed(values) => values.len(),
        }
    }

    fn get(&self, asked: &Asked<'_>, at: usize) -> Option<Cow<'a, Expr>> {
        match self {
            Self::Written(row) => row.value(at, &asked.stmt.text, asked.ctx.dialect.syntax()),
            Self::Listed(values) => values.get(at).map(|value| Cow::Borrowed(*value)),
        }
    }
}

/// Routes an INSERT whose target may be sharded.
pub(crate) fn route(asked: &Asked<'_>, insert: &Insert) -> Result<Found> {
    // What a row lacks it may have under a name that is none: that is what a server would say.
    by_its_values(asked, insert).map_err(|error| misnamed(asked, insert).unwrap_or(error))
}

/// The error for a listed column that the table is not known to have.
fn misnamed(asked: &Asked<'_>, insert: &Insert) -> Option<Error> {
    let table = asked.rule.table(&insert.table.name.key())?;
    let known = asked.ctx.catalog.columns(table.logic()).filter(|known| !known.is_empty())?;
    let is_known = |name: &str| known.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let listed = insert.columns.iter().flatten();
    let name = listed.map(|column| &*column.value).find(|name| !is_known(name))?;
    Some(unknown_column(asked.ctx.dialect, table.logic(), name))
}

fn by_its_values(asked: &Asked<'_>, insert: &Insert) -> Result<Found> {
    let Asked { rule, ctx, stmt, .. } = asked;
    asked.mark(insert.table.name.span);
    let Some(table) = rule.table(&insert.table.name.key()) else {
        return Err(Error::spans_shards(
            20034,
            "INSERT … SELECT from a sharded table into one that is not sharded like it is not supported",
            "read the rows first, then insert them",
        ));
    };
    arbiter::finds_its_rows(ctx, stmt, table, insert)?;
    if let InsertSource::Query(query) = &insert.source
        && upserts_keep_their_shard(table, insert).is_ok()
        && let Some(units) = carried::route(asked, table, insert, query)?
    {
        return Ok(Found::Units(units));
    }
    let rows = match read(ctx, table, insert)? {
        Ok(rows) => rows,
        Err(need) => return Ok(Found::Needs(need)),
    };
    upserts_keep_their_shard(table, insert)?;
    if is_refused_by_servers(insert, &rows) {
        // Any of them says what is wrong.
        return Ok(Found::Units(first_node(table)?));
    }
    if let Some(row) = rows.rows.iter().position(|row| row.len() != rows.columns.len()) {
        return Err(uneven_row(ctx.dialect, row + 1));
    }
    let keys = generated(asked, table, &rows)?;
    counted_by_hand(asked, table, &rows)?;
    if ctx.parameters.is_none() && stmt.parameters > 0 {
        return Ok(Found::Units(Units { keys, ..first_node(table)? }));
    }
    let mut by_node: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (i, row) in rows.rows.iter().enumerate() {
        let made = keys.as_ref().and_then(|keys| keys.values.get(i)).filter(|key| !key.is_null());
        let node = node_of(asked, table, &rows.columns, row, made)?;
        by_node.entry(node).or_default().push(u32::try_from(i).unwrap_or(u32::MAX));
    }
    let all = rows.rows.len();
    let mut targets = Vec::with_capacity(by_node.len());
    for (node, rows) in by_node {
        let actual = table.node(node)?;
        let tables = vec![table.named_at(actual)];
        let rows = (rows.len() != all).then_some(rows);
        targets.push(Target { unit: actual.unit.clone(), tables, rows });
    }
    queries_are_there(asked, &targets)?;
    Ok(Found::Units(Units { keys, ..Units::new(targets, Spread::Gather) }))
}

/// Whether the column list cannot be right, whatever the columns are: it has not as many as a row has values.
fn is_refused_by_servers(insert: &Insert, rows: &Rows<'_>) -> bool {
    let Some(listed) = &insert.columns else { return false };
    rows.rows.iter().any(|row| row.len() != listed.len())
}

/// Queries over sharded tables inside an INSERT see the one shard the rows go to: they must need no other.
fn queries_are_there(asked: &Asked<'_>, targets: &[Target]) -> Result<()> {
    let queries = crate::placed::inner(asked)?;
    if queries.is_empty() {
        return Ok(());
    }
    let [target] = targets else {
        return Err(spans_shards(
            20034,
            "an INSERT of rows for several shards with a query on a sharded table is not supported",
        ));
    };
    for one in crate::placed::single(queries.iter())?.targets {
        crate::join::united(target.clone(), one)?;
    }
    Ok(())
}

/// The first node, where any will do.
pub(crate) fn first_node(table: &Table) -> Result<Units> {
    at_node(table, 0)
}

/// One node.
pub(crate) fn at_node(table: &Table, node: usize) -> Result<Units> {
    let actual = table.node(node)?;
    let tables = vec![table.named_at(actual)];
    let target = Target { unit: actual.unit.clone(), tables, rows: None };
    Ok(Units::new(vec![target], Spread::Gather))
}

/// Columns and rows, or what must be known first.
fn read<'a>(
    ctx: &Context<'_>,
    table: &Table,
    insert: &'a Insert,
) -> Result<std::result::Result<Rows<'a>, Need>> {
    let refuse = |what: &str| {
        Err(Error::spans_shards(
            20034,
            format!("{what} into a sharded table is not supported"),
            "insert rows with VALUES",
        ))
    };
    let rows = match &insert.source {
        InsertSource::Values { rows, .. } => rows.iter().map(Row::Written).collect::<Vec<_>>(),
        InsertSource::Set(assignments) => {
            let columns = assignments.iter().map(|a| last(&a.column)).collect();
            let rows = vec![Row::Listed(assignments.iter().map(|a| &a.value).collect())];
            return Ok(Ok(Rows { columns, rows }));
        }
        InsertSource::Query(_) => return refuse("INSERT … SELECT"),
        InsertSource::Default => return refuse("INSERT … DEFAULT VALUES"),
    };
    if let Some(columns) = &insert.columns {
        let columns = columns.iter().map(|column| column.value.to_lowercase()).collect();
        return Ok(Ok(Rows { columns, rows }));
    }
    match ctx.catalog.columns(table.logic()) {
        None => Ok(Err(Need::Columns(table.logic().to_string()))),
        Some(known) if known.is_empty() => {
            Err(ErrorKind::UnknownTable(table.logic().to_string()).into())
        }
        Some(known) => {
            let width = rows.iter().map(Row::len).max().unwrap_or_default();
            let columns =
                by_place(ctx.dialect, &known, width).map(|name| name.to_lowercase()).collect();
            Ok(Ok(Rows { columns, rows }))
        }
    }
}

/// Writes the list of columns that values without one were routed by into an INSERT: the server may have others by then, or in another order.
pub(crate) fn list_columns(rule: &Rule, ctx: &Context<'_>, insert: &Insert, edits: &mut Edits) {
    let InsertSource::Values { rows, .. } = &insert.source else { return };
    let Some(table) = rule.table(&insert.table.name.key()) else { return };
    let known = ctx.catalog.columns(table.logic()).unwrap_or_default();
    if insert.columns.is_some() || known.is_empty() {
        return;
    }
    let width = rows.iter().map(InsertRow::width).max().unwrap_or_default();
    let mut names: Vec<&str> = by_place(ctx.dialect, &known, width).collect();
    // A key that is made for a row too short for it stands behind the row's own values.
    let made = table.key_generator().map(|(column, _)| column);
    names.extend(made.filter(|made| !names.iter().any(|name| name.eq_ignore_ascii_case(made))));
    let names: Vec<String> = names.into_iter().map(|name| ctx.dialect.quote(name)).collect();
    edits.replace(insert.columns_span, format!(" ({})", names.join(", ")));
}

/// Takes the table's name off columns that are written with it: its part is called otherwise.
pub(crate) fn bare_columns(ctx: &Context<'_>, text: &str, insert: &Insert, edits: &mut Edits) {
    let Some(columns) = &insert.columns else { return };
    let list = insert.columns_span;
    if !list.of(text).contains('.') {
        return;
    }
    let syntax = ctx.dialect.syntax();
    let Ok(items) = reading(list.of(text), syntax, None) else { return };
    let names: Vec<_> = items.iter().filter_map(Item::name).collect();
    if names.len() != columns.len() || !syntax.limit_with_comma {
        return;
    }
    let table = insert.table.name.key();
    for (name, column) in names.into_iter().zip(columns) {
        let owner = name.parts.iter().rev().nth(1);
        if owner.is_some_and(|owner| syntax.table_key(owner) == table) {
            let start = list.start + name.span.start;
            edits.replace(Span::new(start, column.span.start), "");
        }
    }
}

/// Keys for the rows that have none; NULL stands for rows that bring their own.
fn generated(asked: &Asked<'_>, table: &Table, rows: &Rows<'_>) -> Result<Option<GeneratedKeys>> {
    let Some((column, generator)) = table.key_generator() else { return Ok(None) };
    let at = rows.columns.iter().position(|name| name.eq_ignore_ascii_case(column));
    let is_wanted = |row: &Row<'_>| {
        at.is_none_or(|at| row.get(asked, at).is_some_and(|expr| asks_for_key(asked, &expr)))
    };
    let wanted: Vec<bool> = rows.rows.iter().map(is_wanted).collect();
    let count = wanted.iter().filter(|wanted| **wanted).count();
    if count == 0 {
        return Ok(None);
    }
    let mut keys = generator.run(asked.ctx.source, count)?.into_iter();
    let mut next = |wanted: &bool| wanted.then(|| keys.next()).flatten().unwrap_or(Value::Null);
    let values = wanted.iter().map(&mut next).collect();
    Ok(Some(GeneratedKeys { column: column.to_owned(), values }))
}

/// DEFAULT asks for a generated key; so does NULL where the language's own generated columns take it so.
fn asks_for_key(asked: &Asked<'_>, expr: &Expr) -> bool {
    let node = &literal::unwrapped(expr).node;
    matches!(node, Node::Default)
        || asked.ctx.dialect.syntax().fold == Fold::Keep
            && literal::value(asked, expr).is_some_and(|value| value.is_null())
}

/// Refuses rows whose keys would have to be made.
pub(crate) fn has_no_key_to_make(asked: &Asked<'_>, table: &Table, rows: &Rows<'_>) -> Result<()> {
    if generated(asked, table, rows)?.is_some() {
        return Err(unsupported(
            "MERGE into a sharded table that leaves out a key that is made for it",
        ));
    }
    counted_by_hand(asked, table, rows)
}

/// The node of the first row.
pub(crate) fn node_of_first(asked: &Asked<'_>, table: &Table, rows: &Rows<'_>) -> Result<usize> {
    let nothing = Row::Listed(Vec::new());
    node_of(asked, table, &rows.columns, rows.rows.first().unwrap_or(&nothing), None)
}

/// The node of one row.
fn node_of(
    asked: &Asked<'_>,
    table: &Table,
    columns: &[String],
    row: &Row<'_>,
    made: Option<&Value>,
) -> Result<usize> {
    let key_column = table.key_generator().map(|(column, _)| column.to_lowercase());
    let mut domains = Vec::new();
    for key in table.keys() {
        let value = match made {
            Some(value) if key_column.as_ref() == Some(key) => value.clone(),
            _ => given(asked, table, columns, row, key)?,
        };
        let value = stored(asked, table, key, value)?;
        domains.push((key.clone(), Domain::equal(value)));
    }
    let of = |column: &str| {
        let found = domains.iter().find(|(key, _)| key == column);
        found.map(|(_, domain)| domain.clone()).unwrap_or_default()
    };
    match table.route_exactly(&of, &asked.stmt.hints)?[..] {
        [node] => Ok(node),
        [] => Err(wrong(20041, format!("a row of `{}` belongs to no shard", table.logic()))),
        _ => Err(wrong(
            20056,
            format!(
                "a row of `{}` would go to several shards: its sharding values do not decide for one",
                table.logic()
            ),
        )),
    }
}

/// The value a row gives for a sharding column.
fn given(
    asked: &Asked<'_>,
    table: &Table,
    columns: &[String],
    row: &Row<'_>,
    key: &str,
) -> Result<Value> {
    let at = columns.iter().position(|column| column == key);
    let Some(expr) = at.and_then(|at| row.get(asked, at)) else {
        return Err(wrong(
            20056,
            format!("INSERT into `{}` must give its sharding column `{key}`", table.logic()),
        ));
    };
    match literal::value(asked, &expr) {
        Some(value) if value.is_null() => {
            let message =
                format!("the sharding column `{key}` of `{}` must not be NULL", table.logic());
            Err(ErrorKind::ShardingValue { is: Unroutable::Null, code: 20020, message }.into())
        }
        Some(value) => Ok(value),
        None => Err(Error::unsupported(
            20056,
            format!(
                "the sharding column `{key}` of `{}` must be a literal or a parameter",
                table.logic()
            ),
            "compute the value in the application",
        )),
    }
}

/// The value that the row will have once the server has converted it.
pub(crate) fn stored(asked: &Asked<'_>, table: &Table, key: &str, value: Value) -> Result<Value> {
    let shown = value::shown(&value);
    asked.keeper(table.logic(), key, |keeper| keeper.stored(value)).map_err(|why| {
        let logic = table.logic();
        let message =
            format!("the value `{shown}` for the sharding column `{key}` of `{logic}` {why}");
        ErrorKind::ShardingValue { is: Unroutable::OtherType, code: 20056, message }.into()
    })
}

/// Every actual table counts by itself: two rows would get the same number.
fn counted_by_hand(asked: &Asked<'_>, table: &Table, rows: &Rows<'_>) -> Result<()> {
    if asked.ctx.session.is_counted {
        return Ok(());
    }
    if table.nodes().len() == 1 {
        return Ok(());
    }
    let Some(columns) = asked.columns(table.logic()) else { return Ok(()) };
    let made = |name: &str| {
        table.key_generator().is_some_and(|(column, _)| column.eq_ignore_ascii_case(name))
    };
    for column in columns.iter().filter(|column| column.auto_increment && !made(&column.name)) {
        let at = rows.columns.iter().position(|name| name.eq_ignore_ascii_case(&column.name));
        let is_given = |row: &Row<'_>| {
            at.and_then(|at| row.get(asked, at)).is_some_and(|expr| !asks_for_number(asked, &expr))
        };
        if !rows.rows.iter().all(is_given) {
            return Err(Error::uncounted(
                30001,
                format!(
                    "each shard of `{}` would count `{}` by itself, and give numbers twice",
                    table.logic(),
                    column.name
                ),
                "give its value in the INSERT, or have it made: `keyGenerateStrategy` in files, `KEY_GENERATE_STRATEGY` in DistSQL; most makers want a BIGINT",
            ));
        }
    }
    Ok(())
}

/// Whether a value makes the server count: DEFAULT, or NULL and 0 where its counting columns take them so.
fn asks_for_number(asked: &Asked<'_>, expr: &Expr) -> bool {
    let is_zero =
        |value: &Value| value::number(value) == Some(pando_inline::number::Number::Small(0));
    let is_loose = asked.ctx.dialect.syntax().fold == Fold::Keep;
    if is_loose && asked.ctx.session.keeps_zero {
        // Where zero is a value, it is the column's default.
        return literal::value(asked, expr).is_some_and(|value| value.is_null());
    }
    asks_for_key(asked, expr)
        || is_loose && literal::value(asked, expr).is_some_and(|value| is_zero(&value))
}

/// An upsert may not move its row to another shard: its sharding columns keep their values, or all take those of the row that was to be inserted, by which the shard was found.
fn upserts_keep_their_shard(table: &Table, insert: &Insert) -> Result<()> {
    let own = match &insert.table.alias {
        Some(alias) => alias.key(),
        None => insert.table.name.key(),
    };
    let on_conflict = insert.on_conflict.iter().flat_map(|conflict| &conflict.assignments);
    let on_conflict = on_conflict.map(|one| (one, conflict_takes(one, &own)));
    let on_duplicate = insert.on_duplicate.iter().map(|one| (one, duplicate_takes(one, insert)));
    let mut given: Vec<String> = Vec::new();
    for (assignment, taken) in on_duplicate.chain(on_conflict) {
        match taken {
            _ if !table.is_key(&last(&assignment.column)) => {}
            Some(Taken::Stored) => {}
            Some(Taken::Inserted) => given.push(last(&assignment.column)),
            None => return Err(moves(table)),
        }
    }
    let is_given = |key: &String| given.iter().any(|column| column.eq_ignore_ascii_case(key));
    if given.is_empty() || table.is_placed_by_keys() && table.keys().iter().all(is_given) {
        return Ok(());
    }
    Err(moves(table))
}

fn moves(table: &Table) -> Error {
    Error::moves_row(
        20031,
        format!("an upsert may not change the sharding column of `{}`", table.logic()),
        "leave the sharding column out of the update part, or set all of them to the values of the inserted row",
    )
}

/// Where an upsert takes a column's value from.
enum Taken {
    /// The row that is there: `key = key`, `key = LAST_INSERT_ID(key)`.
    Stored,
    /// The row that was to be inserted: `key = VALUES(key)`, `key = excluded.key`.
    Inserted,
}

/// What DO UPDATE sets a column to; `own` is what the statement calls its table. Nothing of a SELECT that gives the rows can be named there.
fn conflict_takes(assignment: &ColumnAssignment, own: &str) -> Option<Taken> {
    let Node::Column(name) = &literal::unwrapped(&assignment.value).node else { return None };
    if last(name) != last(&assignment.column) {
        return None;
    }
    match &name.parts[..] {
        [_] => Some(Taken::Stored),
        [owner, _] if owner.key() == own => Some(Taken::Stored),
        [owner, _] if owner.value.eq_ignore_ascii_case("excluded") => Some(Taken::Inserted),
        _ => None,
    }
}

/// What ON DUPLICATE KEY UPDATE sets a column to. A name with an owner may be a table of the SELECT that gives the rows, whatever it is called.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter over syntax nodes: every other one says nothing about a shard"
)]
fn duplicate_takes(assignment: &ColumnAssignment, insert: &Insert) -> Option<Taken> {
    let column = last(&assignment.column);
    match &literal::unwrapped(&assignment.value).node {
        Node::Column(name) if last(name) == column && name.parts.len() == 1 => Some(Taken::Stored),
        Node::Function(call) => match &call.arguments[..] {
            [Expr { node: Node::Column(name), .. }] if last(name) == column => {
                match last(&call.name).as_str() {
                    "values" => Some(Taken::Inserted),
                    // It is told as the row's key, of several rows as the last one's, and stays what it is.
                    "last_insert_id" if name.parts.len() == 1 && is_one_row(insert) => {
                        Some(Taken::Stored)
                    }
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    }
}

fn is_one_row(insert: &Insert) -> bool {
    match &insert.source {
        InsertSource::Values { rows, .. } => rows.len() == 1,
        InsertSource::Set(_) => true,
        InsertSource::Query(_) | InsertSource::Default => false,
    }
}

pub(crate) fn wrong(code: u32, message: String) -> Error {
    ErrorKind::ShardingValue { is: Unroutable::NoPlace, code, message }.into()
}
