//! Columns that are told in part: storage units have values, clients see masks. What would show a value itself is
//! refused.

mod algorithm;
mod places;
mod rule;
mod shown;

use std::sync::Arc;

use pando_columns::Uses;
use pando_config::Rules;
use pando_kernel::changes::Changes;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, Feature, Room};
use pando_kernel::room::Built;
use pando_kernel::route::{Need, Route, Target};
use pando_kernel::table::TableColumn;
use pando_kernel::{Around, CellMap, LogicColumn, Offer, Shortcut, ShowsColumns, StoredName};
use pando_sql::ast::Statement;

/// The room for `!MASK`.
pub const ROOM: Offer =
    Offer { section: Some("MASK"), algorithms: algorithm::algorithms, ..Offer::new(room) };

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    let Some(section) = &rules.mask else { return Ok(None) };
    let rule = rule::Rule::new(section, around)?;
    Ok(Some(Arc::new(Mask { rule })))
}

#[derive(Debug)]
struct Mask {
    rule: rule::Rule,
}

impl Mask {
    /// The uses of masked columns; what must be known first.
    fn uses(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<std::result::Result<Uses, Need>> {
        pando_columns::uses_or_need(ctx, stmt, &self.rule.interest, refused)
    }

    /// The same, where routing has seen to it that all is known.
    fn known(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<Uses> {
        pando_columns::known_uses(ctx, stmt, &self.rule.interest, refused)
    }
}

impl Room for Mask {
    fn name(&self) -> &'static str {
        "mask"
    }

    /// Rows that a server is to compare are read past the masks, as past columns that are stored otherwise.
    fn columns(&self) -> Option<&dyn ShowsColumns> {
        Some(self)
    }
}

impl ShowsColumns for Mask {
    fn logic(&self, _: &str, _: &[TableColumn]) -> Option<Vec<LogicColumn>> {
        None
    }

    fn names(&self) -> Vec<StoredName> {
        Vec::new()
    }

    fn concerns(&self, table: &str) -> bool {
        self.rule.interest.has_table(table)
    }
}

impl Feature for Mask {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        match self.uses(ctx, stmt)? {
            Ok(uses) => places::check(&self.rule, ctx, uses.columns.iter(), &uses.stars),
            Err(need) => {
                *route = Route::Needs(need);
                Ok(())
            }
        }
    }

    /// Changes nothing: a statement that a hint has sent to a unit is looked at here.
    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        _: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        let uses = self.known(ctx, stmt)?;
        let told = uses.columns.iter().filter(|one| !changes.is_added(one.span));
        places::check(&self.rule, ctx, told, &uses.stars)
    }

    fn shown(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<Vec<CellMap>> {
        Ok(shown::cells(&self.rule, ctx, &self.known(ctx, stmt)?))
    }

    /// What one user sees masked is not kept for another who does not.
    fn shortcut(&self, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
        match self.uses(ctx, stmt) {
            Ok(Ok(uses)) if !shown::hangs_on_users(&self.rule, &uses) => Shortcut::Idle,
            Ok(_) | Err(_) => Shortcut::None,
        }
    }
}

/// What would tell more than a mask.
fn refused(why: impl Into<String>) -> Error {
    Error::unsupported(30001, why, "leave the masked column out of it")
}
