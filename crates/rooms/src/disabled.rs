//! Storage units that a person took out of work: nothing is sent there, and whoever needs them is told at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use pando_config::Rules;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, Feature, Room};
use pando_kernel::room::Built;
use pando_kernel::route::{Route, Target, UnitName};
use pando_kernel::{Around, Offer, Shortcut};
use pando_sql::ast::{Kind, Node, Statement};
use pando_sql::visit;

/// The first room: what stands in a disabled unit can't be looked up, so a definition might make a second table of the
/// same name, leave one unit out, or tell that there is nothing to drop. Another room must not answer it before.
pub(crate) const DEFINITIONS: Offer = Offer::new(definitions);

/// The last room: by now every target is a storage unit.
pub(crate) const TARGETS: Offer = Offer::new(targets);

fn definitions(_: &Rules, around: &Around<'_>) -> Built {
    let first = around.states.disabled.first().cloned();
    Ok(first.map(|unit| Arc::new(Definitions { unit }) as _))
}

fn targets(_: &Rules, around: &Around<'_>) -> Built {
    let units = around.states.disabled.clone();
    Ok((!units.is_empty()).then(|| Arc::new(Targets { units }) as _))
}

#[derive(Debug)]
struct Definitions {
    unit: UnitName,
}

impl Room for Definitions {
    fn name(&self) -> &'static str {
        "definitions_while_disabled"
    }
}

impl Feature for Definitions {
    fn route(&self, _: &Context<'_>, stmt: &Statement, _: &mut Route) -> Result<()> {
        if matches!(stmt.kind, Kind::Define(_)) {
            return Err(refused(&self.unit));
        }
        Ok(())
    }

    fn shortcut(&self, _: &Context<'_>, stmt: &Statement) -> Shortcut {
        if matches!(stmt.kind, Kind::Define(_)) { Shortcut::None } else { Shortcut::Idle }
    }
}

#[derive(Debug)]
struct Targets {
    units: BTreeSet<UnitName>,
}

impl Targets {
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

impl Room for Targets {
    fn name(&self) -> &'static str {
        "disabled_storage_units"
    }
}

impl Feature for Targets {
    /// What is only looked at may be looked at where it works: so the columns of a table are found that has parts
    /// elsewhere, and statements about these go on.
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        let units = match route {
            Route::Units(units) => units,
            Route::Unclaimed => return self.unclaimed(stmt),
            Route::Needs(_) => return Ok(()),
        };
        let works = |target: &Target| !self.units.contains(&target.unit);
        if ctx.session.describes && units.targets.iter().any(works) {
            units.targets.retain(works);
        }
        match units.targets.iter().find(|target| self.units.contains(&target.unit)) {
            Some(target) => Err(refused(&target.unit)),
            None => Ok(()),
        }
    }

    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Redirect
    }
}
