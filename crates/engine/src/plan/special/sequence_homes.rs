//! What counts row by row runs where its sequence is at home.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::{Kind, Statement};
use pando_sql::tokenize;

use crate::plan::Planned;

use super::sequence_calls::{Verb, calls, last_part, standing};

/// Refuses what would have units count that are not the sequence's home: what is left of calls is evaluated where rows
/// are.
///
/// # Errors
/// `SpansShards`, by which other ways are tried.
pub(in crate::plan) fn at_home(
    ctx: &Context<'_>,
    stmt: &Statement,
    planned: Planned,
) -> Result<Planned> {
    if !stmt.counts || matches!(planned, Planned::Needs(_)) {
        return Ok(planned);
    }
    if let Kind::Define(_) = stmt.kind {
        return defaults_at_home(ctx, stmt, planned);
    }
    let calls = match calls(ctx, stmt)? {
        Ok(calls) => calls,
        Err(need) => return Ok(Planned::Needs(need)),
    };
    let mut counting = calls.iter().filter(|call| call.verb != Verb::Current);
    let away = counting.find_map(|call| {
        let named = call.sequence.as_ref()?;
        let is_there = match &planned {
            Planned::Run(plan) => plan.units.iter().all(|unit| unit.target.unit == named.home),
            Planned::Assembly(_) | Planned::Steps(_) | Planned::Needs(_) => false,
        };
        (!is_there).then_some(named)
    });
    match away {
        None => Ok(planned),
        Some(named) => Err(Error::spans_shards(
            30001,
            format!(
                "sequence `{}` counts on storage unit `{}`, and this statement would take its numbers row by row elsewhere",
                named.key, named.home
            ),
            "take the numbers first: INSERT … SELECT nextval(…), …, or SELECT nextval(…) FROM generate_series(1, n)",
        )),
    }
}

/// Refuses a table whose default would count where its sequence is not.
fn defaults_at_home(ctx: &Context<'_>, stmt: &Statement, planned: Planned) -> Result<Planned> {
    let Planned::Run(plan) = &planned else { return Ok(planned) };
    let (true, Ok(tokens)) =
        (ctx.database.units.len() > 1, tokenize(&stmt.text, ctx.dialect.syntax()))
    else {
        return Ok(planned);
    };
    let words: Vec<&str> = tokens.list.iter().map(|token| token.span.of(&stmt.text)).collect();
    for three in words.windows(3) {
        let [called, "(", name] = three else { continue };
        if !called.eq_ignore_ascii_case("nextval") {
            continue;
        }
        let key = ctx.dialect.syntax().table_key(&last_part(name.trim_matches('\'')));
        let units = match standing(ctx, &key) {
            Ok(units) => units,
            Err(need) => return Ok(Planned::Needs(need)),
        };
        let away = plan.units.iter().find(|unit| !units.contains(&unit.target.unit));
        if let (Some(home), Some(away)) = (units.first(), away) {
            return Err(Error::unsupported(
                30001,
                format!(
                    "sequence `{key}` counts on storage unit `{home}`, and a default cannot ask for its numbers on `{}`",
                    away.target.unit
                ),
                "give it to the table first: ALTER SEQUENCE … OWNED BY table.column; or use serial",
            ));
        }
    }
    Ok(planned)
}
