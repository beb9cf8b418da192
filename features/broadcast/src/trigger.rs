//! A trigger of a broadcast table runs on each copy: it has to do the same there.

use pando_kernel::Effects;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_kernel::triggers::{Beyond, Made, Work, Written};
use pando_sql::ast::{Define, DefineAction, Statement};

use crate::rule::Rule;
use crate::same::VOLATILE;

/// What has to be known before a trigger is made on each copy; `None` where it may be made, or is told by its server.
///
/// # Errors
/// `Refused` for one by which the copies may come to differ.
pub(crate) fn defined(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    define: &Define,
) -> Result<Option<Need>> {
    let Some(texts) = ctx
        .dialect
        .effects()
        .and_then(Effects::triggers)
        .filter(|_| define.action == DefineAction::Create)
    else {
        return Ok(None);
    };
    let Some(name) = define.names.first() else { return Ok(None) };
    let Some(written) = Written::of(&stmt.text, ctx.dialect.syntax(), name.span) else {
        return Ok(None);
    };
    let units = &ctx.database.units;
    let Some(known) = ctx.catalog.routines(units).triggers else {
        return Ok(Some(Need::Triggers(units.clone())));
    };
    match written.work(texts, &known) {
        Some(work) => is_same(rule, &written.function, &work).map(|()| None),
        None => Ok(None),
    }
}

/// What has to be known before a routine is made that triggers of broadcast tables may run.
///
/// # Errors
/// `Refused` for what such a trigger may not run.
pub(crate) fn made(rule: &Rule, ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Need>> {
    let Some(made) = Made::of(ctx, stmt) else { return Ok(None) };
    if rule.is_empty() || rule.places.len() < 2 {
        return Ok(None);
    }
    let units = &ctx.database.units;
    let Some(known) = ctx.catalog.routines(units).triggers else {
        return Ok(Some(Need::Triggers(units.clone())));
    };
    if !made.uses(&known).iter().any(|one| rule.is_broadcast(&one.table)) {
        return Ok(None);
    }
    is_same(rule, &made.function, &made.work(&known)).map(|()| None)
}

/// Whether it does the same wherever it runs.
fn is_same(rule: &Rule, function: &str, work: &Work) -> Result<()> {
    let no = |reason: String| {
        Err(Error::unsupported(
            30001,
            format!("{reason}: each copy of a broadcast table would run it by itself"),
            "let the client do its work: what time it is all copies are told where the statement asks for it",
        ))
    };
    match &work.beyond {
        None | Some(Beyond::PartName) => {}
        Some(beyond) => return no(beyond.told(function)),
    }
    if let Some(table) = work.reads.iter().find(|table| !rule.is_broadcast(table)) {
        return no(format!("function `{function}` reads `{table}`, which is no broadcast table"));
    }
    if work.picks {
        return no(format!(
            "function `{function}` takes the first row of a query, which may be another one on each copy (INTO STRICT \
             takes the only one)"
        ));
    }
    // Which rows are the first ones may differ, and so does what is numbered or random; what each copy tells over a
    // channel is heard as often.
    let is_own = |name: &&String| {
        VOLATILE.binary_search(&name.as_str()).is_ok()
            || name.as_str() == "pg_notify"
            || !work.reads.is_empty() && matches!(name.as_str(), "limit" | "fetch")
    };
    match work.names.iter().find(is_own) {
        Some(name) => no(format!("function `{function}` uses `{name}`")),
        None => Ok(()),
    }
}
