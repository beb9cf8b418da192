//! Triggers whose work stands in their own text, on sharded tables: each part has its own, which does the same to each row.
//! Those that call a function are [another matter](crate::trigger).

use pando_kernel::Effects;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::feature::{Context, Names};
use pando_kernel::route::{Need, TableName, Target};
use pando_kernel::row_trigger::{Body, body, neighbour};
use pando_sql::ast::{Define, DefineAction, Ident, Kind, ObjectKind, Statement};
use pando_sql::{Edits, Span};

use crate::asked::Asked;
use crate::inner::{inner_name, is_plain};
use crate::rewrite::spelled;
use crate::rule::Rule;
use crate::table::Table;

/// Whether it makes a trigger.
pub(crate) fn makes(define: &Define) -> bool {
    define.object == ObjectKind::Trigger && define.action == DefineAction::Create
}

/// Whether a trigger can be made on all parts of its table.
///
/// # Errors
/// `Refused` with what in its body would be another thing on a part than on the whole table.
pub(crate) fn check(asked: &Asked<'_>, define: &Define) -> Result<Option<Need>> {
    let ctx = asked.ctx;
    if calls_functions(ctx) {
        return Ok(None);
    }
    let Some(on) = &define.on else { return Ok(None) };
    let read = body(&asked.stmt.text, ctx.dialect.syntax(), ctx.dialect.effects());
    let own = match read {
        None => {
            return Err(Error::unsupported(
                20030,
                "a trigger on a sharded table is not supported",
                "let the client do its work in the same transaction, or make it on each actual table, on the storage \
                 units themselves",
            ));
        }
        Some(read) => read.map_err(|what| not_the_rows(&what))?,
    };
    let table = asked.rule.table(&on.key());
    refuse_keys(table, &own)?;
    if let Some(name) = own.elsewhere(ctx) {
        let what = format!("the table `{}`, which is no broadcast table", name.key());
        return Err(not_the_rows(&what));
    }
    is_free(asked.rule, ctx, asked.stmt)
}

/// Whether the name of a trigger that is to be made is free: it is one database's, and no table's. That of a trigger of
/// a sharded table is known by the names of its parts only, so that no server would say so.
///
/// # Errors
/// As a server's where another table has it.
pub(crate) fn is_free(rule: &Rule, ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Need>> {
    let Kind::Define(define) = &stmt.kind else { return Ok(None) };
    let (Some(on), Some(name)) = (&define.on, define.names.first()) else { return Ok(None) };
    if calls_functions(ctx) {
        return Ok(None);
    }
    let table = rule.table(&on.key());
    let Some(known) = ctx.catalog.names(&ctx.database.units) else {
        return Ok(Some(Need::Names(ctx.database.units.clone())));
    };
    let wanted = name.parts.last().map(|last| last.value.to_lowercase()).unwrap_or_default();
    // Those of another sharded table have names of its parts.
    let is_others = |other: &Table| {
        let mut nodes = other.nodes().iter();
        table.is_none_or(|own| own.logic() != other.logic())
            && nodes.any(|node| there(&wanted, &other.named_at(node), &known).is_some())
    };
    // A server that is asked about a table of its own looks among the others by itself.
    let nodes = table.map(Table::nodes).unwrap_or_default();
    let is_own = |table: &str| nodes.iter().any(|node| node.table.eq_ignore_ascii_case(table));
    let mut others = known.iter().filter(|(other, _)| !is_own(other));
    let is_beside = table.is_some() && others.any(|(_, own)| own.triggers.contains(&wanted));
    if !is_beside && !rule.tables().any(is_others) {
        return Ok(None);
    }
    let head = stmt.text.get(..name.span.start as usize).unwrap_or_default().to_lowercase();
    // MariaDB tells names apart by case, and those of parts are not kept so.
    let is_lower = name.parts.last().is_some_and(|last| last.value == wanted);
    if define.conditional || !is_lower || head.split_whitespace().any(|word| word == "replace") {
        return Err(Error::unsupported(
            20030,
            format!("another table has a trigger `{wanted}`"),
            "give it another name",
        ));
    }
    Err(ErrorKind::Server(Box::new(ServerError {
        number: 1359,
        sqlstate: "HY000".into(),
        message: "Trigger already exists".into(),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into())
}

/// Whether the family's triggers call functions, and are named by table.
fn calls_functions(ctx: &Context<'_>) -> bool {
    ctx.dialect.effects().and_then(Effects::triggers).is_some()
}

fn not_the_rows(what: &str) -> Error {
    Error::unsupported(
        20030,
        format!(
            "a trigger on a sharded table that does more than to compute values of its row (there is {what}) is not \
             supported"
        ),
        "let the client do that in the same transaction",
    )
}

/// What decides where the row is must be what the client has said.
fn refuse_keys(table: Option<&Table>, own: &Body) -> Result<()> {
    let mut sets = own.sets.iter();
    match sets.find(|set| table.is_some_and(|table| table.is_key(set))) {
        None => Ok(()),
        Some(key) => Err(Error::unsupported(
            20030,
            format!("a trigger that sets the sharding column `{key}` is not supported"),
            "let the client give the value: it decides on which shard the row is",
        )),
    }
}

/// Names the trigger, and the one that it stands beside, for one part.
pub(crate) fn place(ctx: &Context<'_>, stmt: &Statement, to: &Target, edits: &mut Edits) {
    let Kind::Define(define) = &stmt.kind else { return };
    let Some(on) = define.on.as_ref().filter(|_| makes(define) && !calls_functions(ctx)) else {
        return;
    };
    let Some(table) = to.tables.iter().find(|table| table.is_called(&on.key())) else { return };
    if is_plain(table) {
        return;
    }
    let mut rename = |span: Span, name: &Ident| {
        edits.replace(span, spelled(ctx, name, &inner_name(&name.value, &table.actual)));
    };
    if let Some(name) = define.names.first().and_then(|name| name.parts.last()) {
        rename(name.span, name);
    }
    if let Some(span) = neighbour(&stmt.text, ctx.dialect.syntax()) {
        let written = span.of(&stmt.text);
        let quoted = written.starts_with('`');
        let value = written.trim_matches('`').replace("``", "`");
        rename(span, &Ident { span, value, quoted, exact: false });
    }
}

/// What a trigger of the logic table is called in one part.
pub(crate) fn own_name(name: &str, table: &TableName) -> String {
    if is_plain(table) { name.to_owned() } else { inner_name(name, &table.actual) }
}

/// The trigger's own name in one part, where the part has it.
pub(crate) fn there(name: &str, table: &TableName, names: &Names) -> Option<String> {
    let own = names.get(&table.actual.to_lowercase())?;
    let ours = own_name(name, table);
    own.triggers.contains(&ours.to_lowercase()).then_some(ours)
}
