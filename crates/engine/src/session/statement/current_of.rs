//! UPDATE and DELETE … WHERE CURRENT OF: the row that a declared cursor stands on, by its primary key. Servers know
//! nothing of the cursor, whose rows may come from several of them.
//! <https://www.postgresql.org/docs/current/sql-declare.html>

use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{
    Cursor as SqlCursor, Distinct, Expr, Ident, Kind, Node, QueryBody, Select, SelectItem,
    Statement, Table, TableFactor,
};
use pando_sql::{Edits, tokenize};

use crate::session::Session;
use crate::session::cursors::declared::Hold;
use crate::session::errors::server_error;
use crate::session::given::Given;
use crate::session::run::find_out;
use crate::session::statement::fetch::unknown_cursor;
use crate::session::statement::instead::{Becomes, Instead};
use crate::session::steps::insert_select::{each_row, literal};

/// Where the key of a table stands in a cursor's rows: by column, counted from 0. Never empty.
type Key = Vec<(TableColumn, usize)>;

/// A change of the row that a cursor stands on.
struct Change<'a> {
    stmt: &'a Statement,
    table: &'a Table,
    cursor: String,
}

/// Whether a change has a condition that was not read.
pub(in crate::session) fn may_be_meant(kind: &Kind) -> bool {
    parts(kind).is_some()
}

/// The same change by the row's key; `None` where the statement is another.
///
/// # Errors
/// `Server` where there is no such cursor, or no row that it stands on; `Refused` where the row has no key by which it
/// can be found.
pub(in crate::session) async fn by_key(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<Option<Instead>> {
    let Some((table, filter)) = parts(&stmt.kind) else { return Ok(None) };
    let live = session.place.live()?;
    let syntax = live.database.dialect.syntax();
    let tokens = tokenize(filter.span.of(&stmt.text), syntax).map_err(crate::plan::unread)?.list;
    let words: Vec<&str> =
        tokens.iter().map(|token| token.span.of(filter.span.of(&stmt.text))).collect();
    let [current, of, name, ..] = words[..] else { return Ok(None) };
    if !current.eq_ignore_ascii_case("current") || !of.eq_ignore_ascii_case("of") {
        return Ok(None);
    }
    let close = pando_sql::parse(&format!("CLOSE {name}"), syntax).map_err(crate::plan::unread)?;
    let Kind::Cursor(close) = close.kind else { return Ok(None) };
    let SqlCursor::Close(Some(cursor)) = *close else { return Ok(None) };
    session.work.refuse_if_failed()?;
    let change = Change { stmt, table, cursor: cursor.value };
    let key = key_of(session, &change).await?;
    let condition = condition(session, &change, &key)?;
    let mut edits = Edits::default();
    edits.replace(filter.span, condition);
    let text = edits.apply(&stmt.text);
    let stmt = pando_sql::parse(&text, syntax).map_err(crate::plan::unread)?;
    let given = Given { text: None, learns: false, ..given.clone() };
    Ok(Some(Instead { stmt: Arc::new(stmt), given, settings: Vec::new(), reply: Becomes::Reply }))
}

/// The table and the condition of a change with one that was not read.
#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements change rows in place")]
fn parts(kind: &Kind) -> Option<(&Table, &Expr)> {
    let (table, filter) = match kind {
        Kind::Update(update) => {
            let [TableFactor::Table(table)] = &update.tables[..] else { return None };
            (table, update.filter.as_ref()?)
        }
        Kind::Delete(delete) => {
            let [table] = &delete.targets[..] else { return None };
            (table, delete.filter.as_ref()?)
        }
        _ => return None,
    };
    matches!(&filter.node, Node::Other(parts) if parts.is_empty()).then_some((table, filter))
}

/// Where the cursor's rows have the key of the table that is changed.
async fn key_of(session: &mut Session, change: &Change<'_>) -> Result<Key> {
    let live = session.place.live()?;
    let known = session.cursors.declared(&change.cursor);
    let known = known.ok_or_else(|| unknown_cursor(&change.cursor))?;
    if known.hold() == Hold::Held {
        let what = format!("cursor \"{}\" is held from a previous transaction", change.cursor);
        return Err(server_error(0, "24000", &what));
    }
    let width = known.columns().map_or(0, |columns| columns.list.len());
    let query = pando_sql::parse(known.query(), live.database.dialect.syntax())
        .map_err(crate::plan::unread)?;
    let select = scan(&query).filter(|(_, table)| table.name.key() == change.table.name.key());
    let Some((select, _)) = select else { return Err(other_scan(&query, change)) };
    let ask = |ctx: &Context<'_>| {
        let logic = change.table.name.key();
        Ok(match ctx.catalog.columns(&logic) {
            Some(columns) => Ok(columns.to_vec()),
            None => Err(Need::Columns(logic)),
        })
    };
    let columns: Vec<TableColumn> = find_out::find_out_until(session, &live, None, ask).await?;
    let place = |column: &TableColumn| place_of(select, &columns, &column.name);
    let key = columns.iter().filter(|column| column.primary_key);
    let key: Option<Key> = key.map(|column| Some((column.clone(), place(column)?))).collect();
    let key = key.filter(|key| !key.is_empty() && key.iter().all(|(_, place)| *place < width));
    let key = key.ok_or_else(|| {
        Error::unsupported(
            30001,
            format!(
                "WHERE CURRENT OF finds a row by its primary key, and the cursor `{}` does not give that of `{}`",
                change.cursor,
                change.table.name.key()
            ),
            "declare the cursor with the columns of the primary key among its own",
        )
    })?;
    if sets(&change.stmt.kind, &key) {
        return Err(Error::unsupported(
            30001,
            "an UPDATE of the primary key WHERE CURRENT OF a cursor is not supported: the cursor's row is known by it",
            "name the row by its key",
        ));
    }
    Ok(key)
}

/// The SELECT of a query that reads the rows of one table as they are, and the table.
fn scan(query: &Statement) -> Option<(&Select, &Table)> {
    let Kind::Select(query) = &query.kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let [TableFactor::Table(table)] = &select.from[..] else { return None };
    let is_plain = select.group_span.is_none()
        && select.having.is_none()
        && matches!(select.distinct, Distinct::No)
        && query.with.is_empty()
        && table.columns.is_none();
    is_plain.then_some((select, table))
}

/// Which of the rows' fields a column is. All of the query's columns are of its one table.
fn place_of(select: &Select, columns: &[TableColumn], name: &str) -> Option<usize> {
    let shown = || columns.iter().filter(|column| !column.invisible);
    let mut at = 0;
    for item in &select.items {
        match item {
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => {
                if let Some(within) = shown().position(|column| column.name == name) {
                    return Some(at + within);
                }
                at += shown().count();
            }
            SelectItem::Expr { expr, .. } => {
                if matches!(&expr.node, Node::Column(column) if column.key() == name) {
                    return Some(at);
                }
                at += 1;
            }
        }
    }
    None
}

/// What a server says of a cursor whose rows are none of the table's.
fn other_scan(query: &Statement, change: &Change<'_>) -> Error {
    let (cursor, table) = (&change.cursor, change.table.name.key());
    let reads = pando_sql::visit::tables(&query.kind);
    let reads_it = reads.iter().any(|one| one.name.key() == table);
    let locks = matches!(&query.kind, Kind::Select(query) if query.lock.is_some());
    match (locks, reads_it) {
        (true, true) => Error::unsupported(
            30001,
            format!(
                "WHERE CURRENT OF `{cursor}`, whose query reads more than the table `{table}`, is not supported"
            ),
            "declare the cursor for a query of that table alone",
        ),
        (true, false) => {
            let what = format!(
                "cursor \"{cursor}\" does not have a FOR UPDATE/SHARE reference to table \"{table}\""
            );
            server_error(0, "24000", &what)
        }
        (false, _) => {
            let what =
                format!("cursor \"{cursor}\" is not a simply updatable scan of table \"{table}\"");
            server_error(0, "24000", &what)
        }
    }
}

/// Whether the change sets a column of the key.
fn sets(kind: &Kind, key: &Key) -> bool {
    let Kind::Update(update) = kind else { return false };
    update.assignments.iter().any(|one| {
        let set = one.column.parts.last().map(Ident::key);
        key.iter().any(|(column, _)| set.as_deref() == Some(&*column.name))
    })
}

/// The condition that is true of the cursor's row alone.
fn condition(session: &Session, change: &Change<'_>, key: &Key) -> Result<String> {
    let known = session.cursors.declared(&change.cursor);
    let known = known.ok_or_else(|| unknown_cursor(&change.cursor))?;
    let columns = known.columns().ok_or_else(|| unknown_cursor(&change.cursor))?;
    let Some(rows) = known.given().current(&columns)? else {
        let what = format!("cursor \"{}\" is not positioned on a row", change.cursor);
        return Err(server_error(0, "24000", &what));
    };
    let live = session.place.live()?;
    let dialect = live.database.dialect.as_ref();
    let table = change.table.alias.as_ref().map(|alias| alias.span);
    let table = table.unwrap_or(change.table.name.span).of(&change.stmt.text);
    let mut conditions = Vec::new();
    each_row(&columns, Some(&rows), |fields| {
        for (column, place) in key {
            let field = fields.get(*place).copied().flatten();
            let value = literal(dialect, field, Some(column), None)?;
            conditions.push(format!("{table}.{} = {value}", dialect.quote(&column.name)));
        }
        Ok(())
    })?;
    Ok(conditions.join(" AND "))
}
