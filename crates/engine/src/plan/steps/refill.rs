//! Materialized views over sharded tables. Each is its server's own, which has its rows; they are read over all shards
//! and given to it when it is made, and by REFRESH.
//! <https://www.postgresql.org/docs/current/sql-refreshmaterializedview.html>

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_kernel::views::Views;
use pando_sql::ast::{Kind, ObjectName, Statement};
use pando_sql::visit;

use super::{Apart, InSteps, Steps, table_of_query};
use crate::plan::{Planned, views};

/// A materialized view that is to be filled anew.
#[derive(Debug, Clone)]
pub struct Refilled {
    /// Its name as the statement has it.
    pub(crate) name: ObjectName,
    /// The statement that fills it.
    pub(crate) text: Arc<str>,
}

/// The steps of a statement about a materialized view that would otherwise run on one unit, and find a part of the rows
/// there; `None` for all others.
///
/// # Errors
/// What stands in the way of the steps.
pub(in crate::plan) fn planned(ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Planned>> {
    if ctx.session.keeps_time || ctx.dialect.views().is_none_or(|texts| texts.refill().is_none()) {
        return Ok(None);
    }
    let is_refresh =
        matches!(&stmt.kind, Kind::Utility { verb, .. } if verb.starts_with("REFRESH"));
    let makes = table_of_query::made_of_query(stmt).filter(|(define, _)| define.materialized);
    if !is_refresh && makes.is_none() || !views::are_possible(ctx.database) {
        return Ok(None);
    }
    let Some(known) = ctx.catalog.views() else { return Ok(Some(Planned::Needs(Need::Tables))) };
    let found = match is_refresh {
        true => refreshed(ctx, stmt, &known),
        false => from_view(ctx, stmt, &known)?,
    };
    let refusal = || {
        Error::spans_shards(
            20032,
            "a materialized view over sharded tables is filled in several steps",
            "execute the statement by itself",
        )
    };
    Ok(match found {
        Ok(None) => None,
        Ok(Some(steps)) => Some(Planned::Steps(Box::new(InSteps { steps, refusal: refusal() }))),
        Err(need) => Some(Planned::Needs(need)),
    })
}

/// REFRESH of a view that is given its rows; one without rows is its server's to empty.
fn refreshed(ctx: &Context<'_>, stmt: &Statement, known: &Views) -> Apart<Steps> {
    let Kind::Utility { tables, .. } = &stmt.kind else { return Ok(None) };
    let Some(name) = tables.first() else { return Ok(None) };
    let words: Vec<String> = stmt.text.split_whitespace().map(str::to_ascii_lowercase).collect();
    let text = words.join(" ");
    let is_emptied = text.trim_end_matches([';', ' ']).ends_with("with no data");
    if is_emptied || views::materialized(ctx, known, name).is_none() {
        return Ok(None);
    }
    Ok(Some(Steps::Refill(Refilled { name: name.clone(), text: Arc::clone(&stmt.text) })))
}

/// A view that is made of views over sharded tables: its server would read their parts.
fn from_view(ctx: &Context<'_>, stmt: &Statement, known: &Views) -> Result<Apart<Steps>> {
    let tables = visit::tables(&stmt.kind);
    if !tables.iter().any(|table| views::stands_for_query(ctx, known, table.name)) {
        return Ok(Ok(None));
    }
    let parts = table_of_query::take_apart(ctx, stmt)?;
    Ok(parts.map(|own| own.map(|own| Steps::TableOfQuery(Box::new(own)))))
}
