//! Storage units that a person took out of work: nothing is sent there, and whoever needs them is told at once.

use std::collections::BTreeSet;

use pando_kernel::Shortcut;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, Feature, LogicTable};
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Route, Target, UnitName};
use pando_sql::ast::{Kind, Node, Statement};
use pando_sql::{Edits, visit};

/// The last room: by now every target is a storage unit.
#[derive(Debug)]
pub(crate) struct Disabled {
    units: BTreeSet<UnitName>,
}

impl Disabled {
    /// `None` when every unit works.
    pub(crate) fn new(units: &BTreeSet<UnitName>) -> Option<Self> {
        (!units.is_empty()).then(|| Self { units: units.clone() })
    }

    /// It may go to any unit that works, unless it asks for what another one has.
    fn unclaimed(&self, stmt: &Statement) -> Result<()> {
        match self.units.first() {
            Some(unit) if asks_sequence(stmt) => Err(refused(unit)),
            Some(_) | None => Ok(()),
        }
    }
}

/// What names a sequence in a function's arguments. Every unit has one of each, but the first unit's counts.
const OF_SEQUENCES: [&str; 4] = ["nextval", "currval", "setval", "lastval"];

fn asks_sequence(stmt: &Statement) -> bool {
    let mut found = false;
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Function(function) = &expr.node
            && let Some(name) = function.name.parts.last()
        {
            found |= OF_SEQUENCES.iter().any(|own| name.value.eq_ignore_ascii_case(own));
        }
    });
    found
}

fn refused(unit: &UnitName) -> Error {
    Error::forbidden(
        13010,
        format!("storage unit `{unit}` is disabled"),
        format!("`ENABLE STORAGE UNIT {unit}` puts it back to work"),
    )
}

impl Feature for Disabled {
    fn name(&self) -> &'static str {
        "disabled_storage_units"
    }

    /// What stands in a disabled unit can't be looked up, so a definition might make a second table of the same name, or leave one unit out.
    fn check(&self, _ctx: &Context<'_>, stmt: &Statement) -> Result<()> {
        match (&stmt.kind, self.units.first()) {
            (Kind::Define(_), Some(unit)) => Err(refused(unit)),
            _ => Ok(()),
        }
    }

    fn route(&self, _ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        let units = match route {
            Route::Units(units) => units,
            Route::Unclaimed => return self.unclaimed(stmt),
            Route::Needs(_) => return Ok(()),
        };
        match units.targets.iter().find(|target| self.units.contains(&target.unit)) {
            Some(target) => Err(refused(&target.unit)),
            None => Ok(()),
        }
    }

    fn rewrite(&self, _: &Context<'_>, _: &Statement, _: &Target, _: &mut Edits) -> Result<()> {
        Ok(())
    }

    fn merge(&self, _ctx: &Context<'_>, _stmt: &Statement, _plan: &mut MergePlan) -> Result<()> {
        Ok(())
    }

    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Redirect
    }

    fn tables(&self) -> Vec<LogicTable> {
        Vec::new()
    }
}
