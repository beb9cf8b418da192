//! Which environment a statement is for.

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, Found, SessionView};
use pando_kernel::route::Environment;
use pando_kernel::session::TransactionState;
use pando_sql::ast::{DefineAction, Kind, Statement};
use pando_sql::visit;

use crate::algorithm::any_marks;
use crate::clause::Meant;
use crate::define;
use crate::evidence::{Evidence, evidence};
use crate::refused;
use crate::rule::Rule;
use crate::values::{Constant, Read, Reading, Source};

/// What the hint says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hint {
    /// `SHADOW=true`, where an algorithm asks for it.
    Shadow,
    /// `SHADOW=false`.
    Production,
    Nothing,
}

/// Which environment a statement is for; `None` of one that no rule speaks of, outside of transactions.
///
/// # Errors
/// `Refused` where it is for both.
pub(crate) fn environment(rule: &Rule, ctx: &Context<'_>, stmt: &Statement) -> Result<Found> {
    let begun = begun(rule, ctx.session);
    let tables = visit::tables(&stmt.kind);
    let is_concerned = tables.iter().any(|table| rule.table(&table.name.key()).is_some());
    let hint = hint(rule, stmt);
    if let Kind::Define(own) = &stmt.kind
        && own.action != DefineAction::Truncate
    {
        return define::environment(rule, ctx, stmt, hint);
    }
    if matches!(stmt.kind, Kind::Show(_)) {
        return Ok(Ok(Some(Environment::Production)));
    }
    if hint == Hint::Shadow {
        if begun == Some(Environment::Production) {
            return Err(mixed_transaction(Environment::Shadow));
        }
        let temporaries = ctx.session.temporaries.as_ref();
        if tables.iter().any(|table| temporaries.is_some_and(|own| own.is_one(table.name))) {
            return Err(beside_temporary());
        }
        return Ok(Ok(Some(Environment::Shadow)));
    }
    if !is_concerned {
        return Ok(Ok(begun));
    }
    let mut evidence = evidence(rule, ctx, stmt);
    if let Some(need) = evidence.needs.take() {
        return Ok(Err(need));
    }
    let read = |constant: &Constant| constant.here(ctx);
    let by_hint = (hint == Hint::Production).then_some(Environment::Production);
    let decided = decided(&evidence, hint, &read)?.or(by_hint);
    let environment = in_transaction(decided, begun)?;
    kept(&evidence, environment, &read)?;
    let temporaries = ctx.session.temporaries.as_ref();
    let is_beside =
        tables.iter().any(|table| temporaries.is_some_and(|own| own.is_one(table.name)));
    if environment == Environment::Shadow && is_beside {
        return Err(beside_temporary());
    }
    Ok(Ok(Some(environment)))
}

/// What the hint says of a statement.
pub(crate) fn hint(rule: &Rule, stmt: &Statement) -> Hint {
    let given = stmt.hints.iter().find(|(key, _)| key == "SHADOW").map(|(_, value)| value.trim());
    let asks = || {
        let tables = visit::tables(&stmt.kind);
        let mut own = tables.iter().filter_map(|table| rule.table(&table.name.key()));
        rule.takes_all || own.any(|table| table.hinted)
    };
    match given {
        Some(value) if value.eq_ignore_ascii_case("true") && asks() => Hint::Shadow,
        Some(value) if value.eq_ignore_ascii_case("false") => Hint::Production,
        Some(_) | None => Hint::Nothing,
    }
}

/// What a statement's values say; `None` where they say nothing.
///
/// # Errors
/// `Refused` where they say both, or only show when it runs.
pub(crate) fn decided(
    evidence: &Evidence,
    hint: Hint,
    read: Read<'_>,
) -> Result<Option<Environment>> {
    let mut found = Tally::default();
    for clause in &evidence.clauses {
        match clause.meant(read) {
            Meant::Both => return Err(both(&clause.table.name)),
            Meant::Shadow if clause.is_own => found.shadow = Some(&clause.table.name),
            Meant::Shadow => found.inside = Some(&clause.table.name),
            Meant::Production => found.is_production = true,
            Meant::Computed if hint != Hint::Production => {
                return Err(computed(&clause.table.name));
            }
            Meant::Untold if hint != Hint::Production => return Err(untold(&clause.table.name)),
            Meant::Computed | Meant::Untold | Meant::Nothing | Meant::Unbound => {}
        }
    }
    if let Some(table) = evidence.unseen.as_ref().filter(|_| hint != Hint::Production) {
        return Err(computed(table));
    }
    match found {
        Tally { shadow: Some(table), is_production: true, .. }
        | Tally { inside: Some(table), is_production: true, .. } => Err(both(table)),
        Tally { shadow: None, inside: Some(table), .. } if evidence.changes => Err(refused(
            format!("only a query inside of this change says that rows of `{table}` are shadows"),
            "say it in the conditions of the change itself, or by the hint `SHADOW=true`",
        )),
        Tally { shadow: None, inside: None, is_production: false } => Ok(None),
        Tally { shadow: None, inside: None, is_production: true } => {
            Ok(Some(Environment::Production))
        }
        Tally { .. } => Ok(Some(Environment::Shadow)),
    }
}

/// What the parts of a statement say.
#[derive(Default)]
struct Tally<'a> {
    /// A table of which the statement itself says that its rows are shadows.
    shadow: Option<&'a str>,
    /// One of which a query inside of it says so.
    inside: Option<&'a str>,
    is_production: bool,
}

/// What the statement is for where the transaction has begun so: one that says nothing stays with it.
///
/// # Errors
/// `Refused` where it is for the other environment.
pub(crate) fn in_transaction(
    decided: Option<Environment>,
    begun: Option<Environment>,
) -> Result<Environment> {
    match (decided, begun) {
        (Some(own), Some(begun)) if own != begun => Err(mixed_transaction(own)),
        (Some(own), _) | (None, Some(own)) => Ok(own),
        (None, None) => Ok(Environment::Production),
    }
}

/// Refuses values for columns that mark rows which would make a row one of the other environment.
///
/// # Errors
/// `Refused`.
pub(crate) fn kept(evidence: &Evidence, environment: Environment, read: Read<'_>) -> Result<()> {
    for assigned in &evidence.assigned {
        let Some(column) = assigned.table.columns.get(assigned.column) else { continue };
        let marks = |value: &Value| any_marks(column.tests.iter().map(|test| test.marks(value)));
        let stays = match &assigned.value {
            Source::Constant(constant) => match read(constant) {
                Reading::Value(value) => marks(&value) == Some(environment == Environment::Shadow),
                Reading::Unbound => true,
                Reading::Computed => false,
            },
            Source::Computed => false,
        };
        if !stays {
            let table = &assigned.table.name;
            return Err(refused(
                format!(
                    "the new value of `{}` would make rows of `{table}` those of the other environment",
                    column.name
                ),
                "delete the rows and insert them there, or give the hint `SHADOW=true` where they are shadows",
            ));
        }
    }
    Ok(())
}

/// Which environment the open transaction began in: that of the first storage unit it has of any pair.
pub(crate) fn begun(rule: &Rule, session: &SessionView) -> Option<Environment> {
    if session.transaction == TransactionState::Idle {
        return None;
    }
    session.held.iter().find_map(|unit| {
        rule.pairs.iter().find_map(|pair| {
            if pair.shadow.members.contains(unit) {
                Some(Environment::Shadow)
            } else if pair.production.members.contains(unit) {
                Some(Environment::Production)
            } else {
                None
            }
        })
    })
}

fn both(table: &str) -> Error {
    refused(
        format!("it is about rows of `{table}` in production and about shadows at once"),
        "write one statement for each",
    )
}

fn computed(table: &str) -> Error {
    refused(
        format!("whether its rows for `{table}` are shadows shows only when it runs"),
        "say so by the hint `SHADOW=true`, or that none of them is by `SHADOW=false`",
    )
}

fn untold(table: &str) -> Error {
    refused(
        format!(
            "whether its rows for `{table}` are shadows cannot be computed of a value of theirs"
        ),
        "say so by the hint `SHADOW=true`, or that none of them is by `SHADOW=false`",
    )
}

fn mixed_transaction(own: Environment) -> Error {
    let (own, begun) = match own {
        Environment::Shadow => ("about shadows", "in production"),
        Environment::Production => ("about rows in production", "with shadows"),
    };
    refused(
        format!("the statement is {own}, and its transaction has begun {begun}"),
        "run it in a transaction of its own",
    )
}

pub(crate) fn beside_temporary() -> Error {
    refused(
        "a statement about shadows names a temporary table, which stands in production",
        "use a table that the rule names",
    )
}
