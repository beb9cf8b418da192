//! A room whose tables tell by their names where they are, for two units.

use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, Room};
use pando_kernel::route::{Route, Spread, Target, UnitName, Units};
use pando_sql::ast::Statement;
use pando_sql::visit;

/// Tables `all_…` are on both units, `zero_…` and `one_…` on theirs, `twice_…` in two parts on the first.
#[derive(Debug)]
pub(crate) struct ByName;

impl Room for ByName {
    fn name(&self) -> &'static str {
        "by name"
    }
}

impl Feature for ByName {
    fn route(&self, _: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        let tables = visit::tables(&stmt.kind);
        let Some(name) = tables.first().and_then(|table| table.name.parts.last()) else {
            return Ok(());
        };
        let whole = |n: usize| Target::whole(UnitName::from(format!("ds_{n}")));
        let targets = match name.value.split('_').next() {
            Some("all") => vec![whole(0), whole(1)],
            Some("zero") => vec![whole(0)],
            Some("twice") => vec![whole(0), whole(0)],
            _ => vec![whole(1)],
        };
        *route = Route::Units(Units::new(targets, Spread::Gather));
        Ok(())
    }
}
