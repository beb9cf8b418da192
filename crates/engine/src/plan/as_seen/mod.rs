//! A statement with the columns written out that it means without naming them, of tables of which some are not as they
//! are stored: rooms then meet each under its name, as they meet all others.

mod insert_list;
mod stars;

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{Kind, Statement};
use pando_sql::{Edits, visit};

use super::parse::parsed;
use super::special::temporary;

/// What must be known first, or a part of the answer.
type Known<T> = std::result::Result<T, Need>;

/// The statement with its columns written out; `None` where it can stay. In databases whose rooms have all columns stored
/// as clients see them nothing is looked at.
///
/// # Errors
/// What reading the text anew says.
pub(super) fn written_out(ctx: &Context<'_>, stmt: &Statement) -> Result<Known<Option<Statement>>> {
    if !ctx.database.turns_columns() || temporary::concerned(ctx, stmt).is_some() {
        return Ok(Ok(None));
    }
    if let Some(need) = unread(ctx, stmt) {
        return Ok(Err(need));
    }
    let mut edits = Edits::default();
    let tables = Tables::of(ctx);
    let written = insert_list::write(&tables, stmt, &mut edits)
        .and_then(|()| stars::write(&tables, stmt, &mut edits));
    match written {
        Err(need) => Ok(Err(need)),
        Ok(()) if edits.is_empty() => Ok(Ok(None)),
        Ok(()) => parsed(ctx, &edits.apply(&stmt.text)).map(|stmt| Ok(Some(stmt))),
    }
}

/// What the rooms must know of a statement about their columns. Planning may come to ask them in many ways, of which
/// not each can ask for more.
fn unread(ctx: &Context<'_>, stmt: &Statement) -> Option<Need> {
    let is_about_rows =
        matches!(stmt.kind, Kind::Select(_) | Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_));
    let tables = if is_about_rows { visit::tables(&stmt.kind) } else { Vec::new() };
    let shows = || ctx.database.features.iter().filter_map(|room| room.columns());
    let is_concerned = |key: &str| shows().any(|shows| shows.concerns(key));
    if !tables.iter().any(|table| is_concerned(&table.name.key())) {
        return None;
    }
    let is_known = |key: &str| ctx.catalog.columns(key).is_some();
    let own = tables
        .iter()
        .filter(|table| table.name.parts.len() == 1 || is_concerned(&table.name.key()));
    own.map(|table| table.name.key()).find(|key| !is_known(key)).map(Need::Columns)
}

/// The tables of which some columns are not as they are stored.
struct Tables<'a> {
    ctx: &'a Context<'a>,
    keys: Vec<String>,
}

impl<'a> Tables<'a> {
    fn of(ctx: &'a Context<'a>) -> Self {
        let names = ctx.database.stored_names();
        Self { ctx, keys: names.into_iter().map(|own| own.table).collect() }
    }

    /// Whether the table with this key is one.
    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|own| own == key)
    }

    /// The columns of such a table as clients see them, quoted; none where it does not exist.
    fn columns(&self, key: &str) -> Known<Vec<String>> {
        let known = self.ctx.catalog.columns(key);
        let known = known.ok_or_else(|| Need::Columns(key.to_owned()))?;
        let known = known.iter().filter(|column| !column.invisible);
        Ok(known.map(|column| self.ctx.dialect.quote(&column.name)).collect())
    }
}
