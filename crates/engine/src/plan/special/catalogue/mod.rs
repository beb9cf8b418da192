//! Questions about the catalogue: which units answer, how their answers become one, and what each is sent.

mod figures;
mod merge;
mod spread;
mod stand;
mod unmixed;

use std::sync::Arc;

use pando_kernel::Parameter;
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::presentation::{Asked, Holding, Presented, View};
use pando_kernel::route::{Need, Spread, Target, UnitName, Units};
use pando_sql::ast::{Kind, Query, Statement};
use pando_sql::visit;

use crate::plan::parse::parsed;
use crate::plan::{Plan, any_unit};
pub(crate) use figures::figures_questions;
pub(in crate::plan) use merge::merge;
pub(in crate::plan) use stand::tables;
use stand::{Chosen, Shower};
pub(crate) use stand::{columns_at, shown_at};
pub(in crate::plan) use unmixed::unmixed;

/// Where a question goes.
pub(in crate::plan) enum Routed {
    Units(Units),
    Needs(Need),
    /// It is not about the catalogue.
    Other,
}

/// The units that answer a query no room has claimed: every one when each has rows of its own, else one.
pub(in crate::plan) fn route(ctx: &Context<'_>, stmt: &Statement) -> Result<Routed> {
    let Some(presentation) = ctx.dialect.presentation() else { return Ok(Routed::Other) };
    let Some(query) = query_of(&stmt.kind) else { return Ok(Routed::Other) };
    let one = |unit: Option<UnitName>| match unit.or_else(|| any_unit(ctx)) {
        Some(unit) => Routed::Units(Units::new(vec![Target::whole(unit)], Spread::Gather)),
        None => Routed::Other,
    };
    if let [_] | [] = &ctx.database.units[..] {
        return Ok(one(None));
    }
    let asked = presentation.asked(stmt, ctx.parameters.unwrap_or(&[]));
    if let Asked::Table(table) = &asked {
        return Ok(match stand::shown_by(ctx, table) {
            Shower::Unit(unit) => one(Some(unit)),
            // A sequence of its own, for example, which every unit has: only one may count.
            Shower::Nobody => one(ctx.database.units.first().cloned()),
            Shower::Unread => Routed::Needs(Need::Tables),
        });
    }
    if matches!(stmt.kind, Kind::Select(_)) && spread::spreads(presentation, query, &mut Vec::new())
    {
        let units = ctx.database.units.iter();
        let targets = units.map(|unit| Target::whole(Arc::clone(unit))).collect();
        return Ok(Routed::Units(Units::new(targets, Spread::Gather)));
    }
    let of_tables = visit::tables(&stmt.kind)
        .iter()
        .any(|table| presentation.holding(table.name) == Some(Holding::Tables));
    if !of_tables {
        // A function may still be given an object's number.
        return Ok(one(match asked {
            Asked::Number(number) => ctx.database.units.get(number).cloned(),
            Asked::Anyone | Asked::Table(_) => None,
        }));
    }
    if !spread::has_shared(presentation, query) {
        return Ok(match stand::chosen(ctx, presentation, stmt)? {
            Chosen::Unit(unit) => one(Some(unit)),
            Chosen::Needs(need) => Routed::Needs(need),
        });
    }
    // Its rows are the same everywhere; of tables it wants to know something besides.
    Ok(one(ctx.database.units.first().cloned()))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn query_of(kind: &Kind) -> Option<&Query> {
    match kind {
        Kind::Select(query) => Some(query),
        Kind::Explain { inner, .. } => query_of(inner),
        _ => None,
    }
}

/// Changes what each unit is sent, so that it answers in logic names. Gives back what must be found out first.
pub(in crate::plan) fn present(ctx: &Context<'_>, plan: &mut Plan) -> Result<Option<Need>> {
    let Some(presentation) = ctx.dialect.presentation() else { return Ok(None) };
    for unit in &mut plan.units {
        let number = stand::number_of(ctx, &unit.target.unit);
        let shown = stand::shown_at(ctx.database, &unit.target.unit);
        let columns = stand::columns_at(ctx.database, &unit.target.unit);
        let numbers = match number > 0 && ctx.dialect.oid_rules().is_some() {
            true => ctx.catalog.numbers(&unit.target.unit),
            false => Some(Arc::default()),
        };
        let Some(numbers) = numbers else {
            return Ok(Some(Need::Oids(Arc::clone(&unit.target.unit))));
        };
        let view = View {
            database: &ctx.database.name,
            facts: &ctx.session.facts,
            number,
            tables: &shown,
            columns: &columns,
            numbers: (number > 0).then_some(&*numbers),
            catalog: ctx.catalog,
        };
        let stmt = parsed(ctx, &unit.sql)?;
        let own: Option<Vec<Parameter>> = ctx.parameters.map(|all| {
            unit.parameters.iter().filter_map(|i| all.get(*i as usize)).cloned().collect()
        });
        let (presented, replaced) = figures::presented(ctx, view, |view| match &own {
            None => Ok((presentation.present(&stmt, view)?, Vec::new())),
            Some(own) => presentation.present_bound(&stmt, view, own),
        })?;
        unit.replaced = replaced;
        match presented {
            Presented::Needs(need) => return Ok(Some(need)),
            Presented::Edits(edits) => {
                plan.asks_catalogue |= !edits.is_empty();
                unit.sql = edits.apply(&unit.sql).into();
            }
        }
    }
    Ok(None)
}
