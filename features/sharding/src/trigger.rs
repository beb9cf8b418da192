//! Triggers stand on every part of a sharded table, under their own names. Each sees a row of one part: those whose
//! functions hang on no more than that do there what they would do on one server.

use std::collections::HashSet;

use pando_kernel::Effects;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, TableKind};
use pando_kernel::route::{Need, UnitName};
use pando_kernel::triggers::{Assigns, Beyond, Fires, Made, Work, Written};
use pando_sql::ast::{Define, DefineAction, Statement};

use crate::asked::Asked;
use crate::found::Found;
use crate::rule::Rule;
use crate::table::Table;

/// What is always possible.
const WAY: &str = "let the client do its work in the same transaction";

/// What has to be known before a trigger that calls a function is made on each part of a sharded table; `None` where it
/// may be made.
///
/// # Errors
/// `Refused` for one that would do something else there than on one server.
pub(crate) fn defined(asked: &Asked<'_>, define: &Define) -> Result<Option<Found>> {
    let Some(texts) = asked.ctx.dialect.effects().and_then(Effects::triggers) else {
        return Ok(None);
    };
    if define.action != DefineAction::Create {
        return Ok(None);
    }
    let own = define.on.as_ref().and_then(|name| asked.rule.table(&name.key()));
    let name = define.names.first();
    let (Some(table), Some(name)) = (own, name) else {
        return Err(refused(
            "a trigger that names a sharded table behind another one is not supported",
        ));
    };
    let syntax = asked.ctx.dialect.syntax();
    let Some(written) = Written::of(&asked.stmt.text, syntax, name.span) else { return Ok(None) };
    if table.nodes().len() == 1 && !written.refers {
        return Ok(None);
    }
    let units = units_of([table].into_iter());
    let Some(known) = asked.ctx.catalog.routines(&units).triggers else {
        return Ok(Some(Found::Needs(Need::Triggers(units))));
    };
    let judge = Judge { ctx: asked.ctx, table, function: &written.function };
    judge.written(&written)?;
    // Who has no such function is told so by the servers.
    let Some(work) = written.work(texts, &known) else { return Ok(None) };
    judge.work(&work, written.fires, written.argument.as_deref())?;
    Ok(None)
}

/// What has to be known before a routine is made that triggers of sharded tables may run.
///
/// # Errors
/// `Refused` for what such a trigger may not run.
pub(crate) fn made(rule: &Rule, ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Need>> {
    let Some(made) = Made::of(ctx, stmt) else { return Ok(None) };
    let units = units_of(rule.tables());
    if units.is_empty() {
        return Ok(None);
    }
    let Some(known) = ctx.catalog.routines(&units).triggers else {
        return Ok(Some(Need::Triggers(units)));
    };
    let uses = made.uses(&known);
    if uses.is_empty() {
        return Ok(None);
    }
    let work = made.work(&known);
    for table in rule.tables().filter(|table| table.nodes().len() > 1) {
        let is_part =
            |actual: &str| table.nodes().iter().any(|node| node.table.eq_ignore_ascii_case(actual));
        for one in uses.iter().filter(|one| is_part(&one.table)) {
            // Which column an argument names is said by the trigger, whose text is not at hand.
            Judge { ctx, table, function: &made.function }.work(&work, one.fires, None)?;
        }
    }
    Ok(None)
}

fn units_of<'a>(tables: impl Iterator<Item = &'a Table>) -> Vec<UnitName> {
    let mut units: Vec<UnitName> =
        tables.flat_map(Table::nodes).map(|node| node.unit.clone()).collect();
    units.sort_unstable();
    units.dedup();
    units
}

/// What one trigger of a table of several parts may do.
struct Judge<'a> {
    ctx: &'a Context<'a>,
    table: &'a Table,
    function: &'a str,
}

impl Judge<'_> {
    fn written(&self, written: &Written) -> Result<()> {
        let logic = self.table.logic();
        if written.refers {
            return Err(refused(format!(
                "a constraint trigger of sharded table `{logic}` that names another table is not supported"
            )));
        }
        match written.sees_all_rows {
            true => Err(refused(format!(
                "a trigger that sees all rows of a statement would see those of one part of `{logic}`"
            ))),
            false => Ok(()),
        }
    }

    fn work(&self, work: &Work, fires: Fires, argument: Option<&str>) -> Result<()> {
        let (logic, function) = (self.table.logic(), self.function);
        let keeps_name = self.table.nodes().iter().all(|node| node.table == *logic);
        match &work.beyond {
            None => {}
            Some(Beyond::PartName) if keeps_name => {}
            Some(beyond) => {
                let told = beyond.told(function);
                return Err(refused(format!(
                    "{told}: not for a trigger of sharded table `{logic}`"
                )));
            }
        }
        if let Some(table) = self.elsewhere(work) {
            return Err(refused(format!(
                "function `{function}` reads `{table}`, which is not the same on each storage unit: \
                 not for a trigger of sharded table `{logic}`"
            )));
        }
        if fires == Fires::Statement && work.tells {
            return Err(refused(format!(
                "function `{function}` tells something, and a trigger of sharded table `{logic}` for each \
                 statement would run once for each shard"
            )));
        }
        if fires == Fires::BeforeRow { self.keeps_rows(work, argument) } else { Ok(()) }
    }

    /// A table that is read and is no broadcast one.
    fn elsewhere<'w>(&self, work: &'w Work) -> Option<&'w String> {
        let rooms = self.ctx.database.features.iter().flat_map(|feature| feature.tables());
        let broadcast: HashSet<String> = rooms
            .filter(|table| table.kind == TableKind::Broadcast)
            .map(|table| table.name.to_lowercase())
            .collect();
        work.reads.iter().find(|name| !broadcast.contains(*name))
    }

    /// A row stays on the shard that it was sent to.
    fn keeps_rows(&self, work: &Work, argument: Option<&str>) -> Result<()> {
        let (logic, function) = (self.table.logic(), self.function);
        let key = match (&work.assigns, argument) {
            (Assigns::Fields(fields), _) => {
                fields.iter().map(String::as_str).find(|name| self.table.is_key(name))
            }
            (Assigns::FirstArgument, Some(argument)) => {
                Some(argument).filter(|name| self.table.is_key(name))
            }
            (Assigns::Any, _) | (Assigns::FirstArgument, None) => {
                return Err(Error::unsupported(
                    20031,
                    format!(
                        "it cannot be seen which columns function `{function}` gives other values, and a \
                         sharding column of `{logic}` may be one of them"
                    ),
                    "assign columns by their names (`NEW.c := …`), and return NEW, OLD or NULL",
                ));
            }
        };
        key.map_or(Ok(()), |key| {
            Err(Error::unsupported(
                20031,
                format!(
                    "function `{function}` may give the sharding column `{key}` of `{logic}` another value, \
                     and the row would be looked for where it is not"
                ),
                "let the client give its value",
            ))
        })
    }
}

fn refused(reason: impl Into<String>) -> Error {
    Error::unsupported(20030, reason, WAY)
}
