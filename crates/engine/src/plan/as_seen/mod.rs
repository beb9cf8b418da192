//! A statement with the columns written out that it means without naming them, of tables of which some are not as they
//! are stored: rooms then meet each under its name, as they meet all others.

mod insert_list;
mod stars;

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::Edits;
use pando_sql::ast::Statement;

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
