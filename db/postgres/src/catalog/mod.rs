//! PostgreSQL's catalogue, shown as the logical database's: every relation that names tables or databases is replaced by a sub-query with
//! the same columns, and functions that take or give such names are wrapped.

mod calls;
mod columns;
mod declared;
mod definitions;
mod figures;
mod names;
mod number;
mod own;
mod relation;
mod relations;
mod told;
mod type_numbers;
mod version;

use std::sync::Arc;

use pando_kernel::dialect::Facts;
use pando_kernel::error::Result;
use pando_kernel::presentation::{Asked, Holding, Presentation, Presented, View};
use pando_kernel::route::Need;
use pando_kernel::{ActualNames, Parameter, ServerError, Value};
use pando_sql::ast::{Ident, ObjectName, Show, Statement};
use pando_sql::visit;
use pando_sql::{Edits, Span};

use crate::dialect::{POSTGRES, Postgres, TEMPLATE};
pub(crate) use calls::is_regclass;
use names::{Names, STEP};
use number::number;

impl Presentation for Postgres {
    fn database_part<'a>(&self, parts: &'a [Ident]) -> Option<&'a Ident> {
        match parts {
            [database, _, _] => Some(database),
            _ => None,
        }
    }

    fn holding(&self, name: &ObjectName) -> Option<Holding> {
        relations::parts(name)?;
        Some(relations::find(name).map_or(Holding::Shared, |(relation, _)| relation.holding))
    }

    fn asked(&self, stmt: &Statement, parameters: &[Parameter]) -> Asked {
        let mut asked = Asked::Anyone;
        visit::exprs(&stmt.kind, &mut |expr| {
            if let Asked::Table(_) = asked {
                return;
            }
            if let Some(table) = calls::looked_up(expr, &stmt.text, parameters) {
                asked = Asked::Table(table);
            } else if let Some(number) = number(expr)
                .or_else(|| calls::bound_number(expr, parameters))
                .filter(|number| *number >= STEP)
            {
                asked = Asked::Number(usize::try_from(number / STEP).unwrap_or(usize::MAX));
            }
        });
        asked
    }

    fn present(&self, stmt: &Statement, view: &View<'_>) -> Result<Presented> {
        presented(stmt, view, None).map(|(presented, _)| presented)
    }

    fn present_bound(
        &self,
        stmt: &Statement,
        view: &View<'_>,
        parameters: &[Parameter],
    ) -> Result<(Presented, Vec<(usize, Value)>)> {
        presented(stmt, view, Some(parameters))
    }

    fn restate(&self, _text: &str, _show: &Show, _facts: &Facts) -> Result<Option<String>> {
        Ok(None)
    }

    fn version(&self, servers: &[Arc<str>]) -> Option<String> {
        version::told(servers)
    }

    fn in_logic_names(&self, told: &mut ServerError, names: &ActualNames) {
        told::in_logic_names(told, names);
    }

    fn own_database(&self, name: &str) -> Option<&'static str> {
        [POSTGRES, TEMPLATE].into_iter().find(|own| *own == name)
    }

    fn relation_number(&self, own: u32, unit: usize) -> u32 {
        names::shown_number(own, unit)
    }
}

/// The changes of a text and of its bound parameters' values.
fn presented(
    stmt: &Statement,
    view: &View<'_>,
    parameters: Option<&[Parameter]>,
) -> Result<(Presented, Vec<(usize, Value)>)> {
    columns::check(stmt, view)?;
    let names = Names::new(view);
    let mut edits = Edits::default();
    let mut replaced: Vec<Span> = Vec::new();
    for occurrence in visit::tables(&stmt.kind) {
        let Some((known, name)) = relations::find(occurrence.name) else { continue };
        let Some(table) = occurrence.table else { continue };
        let key = format!("{}.{name}", known.schema);
        let Some(columns) = view.catalog.columns(&key) else {
            return Ok((Presented::Needs(Need::Columns(key)), Vec::new()));
        };
        if columns.is_empty() {
            // This server has no such relation, and says so itself.
            continue;
        }
        let known = relation::Known { relation: known, name, columns: &columns };
        let text = match relation::sub_query(stmt, &names, &known) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(need) => return Ok((Presented::Needs(need), Vec::new())),
        };
        let alias = if table.alias.is_none() { format!(" AS {name}") } else { String::new() };
        edits.replace(occurrence.name.span, format!("{text}{alias}"));
        table.extras.iter().for_each(|extra| edits.replace(*extra, ""));
        replaced.push(occurrence.name.span);
    }
    relation::name_alone(stmt, &replaced, &mut edits);
    if let Some(need) = figures::of_calls(stmt, view, parameters, &mut edits)? {
        return Ok((Presented::Needs(need), Vec::new()));
    }
    let values = calls::edit(stmt, &names, parameters, &mut edits);
    Ok((Presented::Edits(edits), values))
}

#[cfg(test)]
mod tests;
