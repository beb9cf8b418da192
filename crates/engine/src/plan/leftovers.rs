//! Statements that would leave something behind on a storage unit's connection: it serves another session next, so they are refused.

use pando_kernel::ServerAct;
use pando_kernel::error::{Because, Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::temporary::{is_temporary, is_temporary_routine};
use pando_sql::ast::{
    BinaryOp, Define, DefineAction, Expr, Function, Kind, Literal, Load, Node, Query, QueryBody,
    Statement,
};
use pando_sql::{Span, Syntax, TokenKind, tokenize, user_variable, visit};

use crate::plan::Planned;
use crate::plan::special::{routines, tell_calls};
use crate::plan::steps::server_calls;

/// Functions that keep, read or end state of a connection.
const STATEFUL: &[&str] =
    &["currval", "lastval", "pg_cancel_backend", "pg_terminate_backend", "set_config", "setseed"];

/// What does the same without leaving anything behind.
fn instead_of(name: &str) -> &'static str {
    match name {
        "currval" | "lastval" => "use RETURNING, or the value that nextval gives",
        "last_insert_id" => "read the value in the application",
        "set_config" | "setseed" => "use SET",
        _ => OF_ITS_OWN,
    }
}

/// Those of them that end what a connection does.
const ENDING: [&str; 2] = ["pg_cancel_backend", "pg_terminate_backend"];

/// First words of statements that are no definitions and end a transaction of MySQL all the same.
const COMMITTING: &[&str] = &[
    "ANALYZE",
    "BACKUP",
    "CACHE",
    "CHANGE",
    "CHECK",
    "FLUSH",
    "GRANT",
    "IMPORT",
    "INSTALL",
    "OPTIMIZE",
    "REPAIR",
    "RESET",
    "REVOKE",
    "START",
    "STOP",
    "UNINSTALL",
];

const OF_ITS_OWN: &str = "call it in a statement of its own";

const ASSIGNING: &str = "assigning a user variable inside a statement";

fn refused(what: &str, instead: &str) -> Error {
    refused_because(Because::Unsupported, what, instead)
}

fn refused_because(because: Because, what: &str, instead: &str) -> Error {
    let reason = format!("{what} belongs to one server connection, and sessions share them");
    Error::refused(because, 30001, reason, instead)
}

/// Refuses INTO something that is the connection's, at the end of any of the queries it may stand in.
fn check_into(ctx: &Context<'_>, query: &Query, text: &str) -> Result<()> {
    match &query.body {
        QueryBody::Select(select) => {
            let Some(into) = select.into.map(|span| span.of(text)) else { return Ok(()) };
            if into.contains('@') {
                let instead = "read the value in the application";
                return Err(refused("SELECT … INTO a user variable", instead));
            }
            if goes_to_temporary(ctx, into) {
                let instead = "use a table with a name of its own and drop it";
                return Err(refused("SELECT … INTO a temporary table", instead));
            }
            Ok(())
        }
        QueryBody::Set { left, right, .. } => {
            check_into(ctx, left, text)?;
            check_into(ctx, right, text)
        }
        QueryBody::Values(_) => Ok(()),
    }
}

/// The next statement would meet another connection, or a lasting table of the same name.
fn check_definition(ctx: &Context<'_>, define: &Define) -> Result<()> {
    let schema = |name: &pando_sql::ast::ObjectName| match &name.parts[..] {
        [.., schema, _] => schema.value.to_ascii_lowercase().starts_with("pg_temp"),
        _ => false,
    };
    let makes = define.action == DefineAction::Create;
    if is_temporary_routine(define) {
        return routines::kept(ctx);
    }
    if makes && (define.temporary || define.names.iter().any(schema)) {
        let instead = "use a table with a name of its own and drop it";
        return Err(refused("a temporary table", instead));
    }
    Ok(())
}

/// Whether a statement is one of those whose effects nobody here can read off.
pub(crate) fn is_unread(kind: &Kind) -> bool {
    matches!(kind, Kind::Utility { verb, .. } if matches!(verb.as_str(), "CALL" | "DO"))
        || matches!(kind, Kind::Opaque)
}

/// Whether servers whose definitions commit the open transaction do so for this statement.
/// <https://dev.mysql.com/doc/refman/8.0/en/implicit-commit.html>
pub(crate) fn commits(kind: &Kind) -> bool {
    if let Kind::Utility { verb, .. } = kind {
        return match verb.as_str() {
            "SET PASSWORD" => true,
            "RESET PERSIST" => false,
            _ => verb.split(' ').next().is_some_and(|first| COMMITTING.contains(&first)),
        };
    }
    matches!(kind, Kind::Define(define) if !define.temporary)
}

/// Refuses in what is not parsed what can be seen in its words: functions that keep state, and user variables but those
/// that a CALL or DO names, which are given. A setting is not among these, it may be local.
fn check_unread(ctx: &Context<'_>, stmt: &Statement) -> Result<Vec<String>> {
    let mut assigned = Vec::new();
    let Ok(tokens) = tokenize(&stmt.text, ctx.dialect.syntax()) else { return Ok(assigned) };
    let is_known = !matches!(stmt.kind, Kind::Opaque);
    for token in &tokens.list {
        let text = token.span.of(&stmt.text);
        if token.kind == TokenKind::Variable && !text.starts_with("@@") {
            if let Some(name) = user_variable(text, ctx.dialect.syntax()).filter(|_| is_known) {
                assigned.push(name);
                continue;
            }
            return Err(refused(&format!("`{text}`"), "use values"));
        }
        let body = matches!(token.kind, TokenKind::Word | TokenKind::DollarString);
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|_| body);
        for word in words.map(str::to_ascii_lowercase) {
            if server_calls::named(ctx, &word).is_some_and(|found| found.act != ServerAct::Tell) {
                let because = match server_calls::lists_items(ctx, stmt) {
                    true => Because::TakesLock,
                    false => Because::Unsupported,
                };
                return Err(refused_because(because, &format!("`{word}`"), OF_ITS_OWN));
            }
            if word != "set_config" && STATEFUL.binary_search(&word.as_str()).is_ok() {
                return Err(refused(&format!("`{word}`"), instead_of(&word)));
            }
        }
    }
    Ok(assigned)
}

/// Notes with a plan the user variables that its statement sets.
///
/// # Errors
/// `Refused` where several connections would set them, or one that stands apart.
pub(super) fn assigning(planned: Planned, names: Vec<String>) -> Result<Planned> {
    if names.is_empty() {
        return Ok(planned);
    }
    let mut names = names;
    names.sort_unstable();
    names.dedup();
    match planned {
        Planned::Run(mut plan)
            if plan.units.len() == 1 && plan.before.is_empty() && plan.merge.told.is_none() =>
        {
            plan.assigns = Some(names.into());
            Ok(Planned::Run(plan))
        }
        Planned::Needs(need) => Ok(Planned::Needs(need)),
        Planned::Run(_) | Planned::Assembly(_) | Planned::Steps(_) => Err(Error::unsupported(
            30001,
            format!("`{}` would be set by several shards, each to a value of its own", names[0]),
            "narrow it to one shard by an equality on the sharding key, or use SELECT … INTO, which takes one row of all",
        )),
    }
}

/// Refuses locks of tables, and what only one connection is told.
fn check_utility(ctx: &Context<'_>, verb: &str, text: &str) -> Result<()> {
    let holds = match verb.split(' ').next() {
        Some("LISTEN" | "HANDLER" | "LOCK") => true,
        Some("FLUSH") => {
            let is_lock = |two: &[String]| two == ["READ", "LOCK"] || two == ["FOR", "EXPORT"];
            words(ctx, text).windows(2).any(is_lock)
        }
        _ => false,
    };
    match holds {
        true => Err(refused(&format!("`{verb}`"), "connect to the storage unit itself")),
        false => Ok(()),
    }
}

/// The words of a text, upper-cased, without comments and strings.
fn words(ctx: &Context<'_>, text: &str) -> Vec<String> {
    let tokens = tokenize(text, ctx.dialect.syntax());
    let list = tokens.map(|tokens| tokens.list).unwrap_or_default();
    let words = list.iter().filter(|token| token.kind == TokenKind::Word);
    words.map(|token| token.span.of(text).to_ascii_uppercase()).collect()
}

/// Whether INTO says that its table is temporary, or is to stand where those do.
fn goes_to_temporary(ctx: &Context<'_>, into: &str) -> bool {
    let tokens = tokenize(into, ctx.dialect.syntax());
    let list = tokens.map(|tokens| tokens.list).unwrap_or_default();
    let mut words = list.iter().map(|token| token.span.of(into).to_ascii_lowercase()).peekable();
    words.next_if(|word| word == "into");
    words.next_if(|word| matches!(word.as_str(), "local" | "global"));
    if words.next_if(|word| matches!(word.as_str(), "temp" | "temporary")).is_some() {
        return true;
    }
    words.next_if(|word| word == "table");
    words.next().is_some_and(|word| word.contains("pg_temp"))
}

/// Refuses tables that only one connection sees, also where making them is explained by doing it.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn check_made(ctx: &Context<'_>, kind: &Kind, text: &str) -> Result<()> {
    match kind {
        Kind::Select(query) => check_into(ctx, query, text),
        Kind::Define(define) => check_definition(ctx, define),
        Kind::Explain { inner, analyze: true, .. } => check_made(ctx, inner, text),
        _ => Ok(()),
    }
}

/// The user variables into which fields of a file are put.
fn loaded(ctx: &Context<'_>, load: &Load) -> Vec<String> {
    let listed = load.columns.iter().flatten().filter(|column| !column.quoted);
    listed.filter_map(|column| user_variable(&column.value, ctx.dialect.syntax())).collect()
}

/// The user variables to which a query gives its row, in their order. Empty where its INTO names anything else.
pub(crate) fn given_to(query: &Query, text: &str, syntax: &Syntax) -> Vec<String> {
    let Some(into) = into_of(query).map(|span| span.of(text)) else { return Vec::new() };
    let tokens = tokenize(into, syntax).map(|tokens| tokens.list).unwrap_or_default();
    let behind = tokens.iter().skip(1).filter(|token| token.kind != TokenKind::End);
    let names = behind.enumerate().filter_map(|(i, token)| match i % 2 {
        0 => Some(user_variable(token.span.of(into), syntax)),
        _ => (token.span.of(into) != ",").then_some(None),
    });
    names.collect::<Option<_>>().unwrap_or_default()
}

/// Where a query says where its row goes: at the end of the last one of a UNION.
pub(crate) fn into_of(query: &Query) -> Option<Span> {
    match &query.body {
        QueryBody::Select(select) => select.into,
        QueryBody::Set { right, .. } => into_of(right),
        QueryBody::Values(_) => None,
    }
}

/// The user variables that a statement sets. Refuses what else would leave state behind; because of
/// [`Because::TakesLock`] where that is all it does.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(super) fn check(ctx: &Context<'_>, stmt: &Statement) -> Result<Vec<String>> {
    let mut assigned = Vec::new();
    match &stmt.kind {
        Kind::Utility { verb, .. } => check_utility(ctx, verb, &stmt.text)?,
        Kind::Load(load) => assigned = loaded(ctx, load),
        Kind::Select(query) => {
            assigned = given_to(query, &stmt.text, ctx.dialect.syntax());
            if assigned.is_empty() {
                check_into(ctx, query, &stmt.text)?;
            }
        }
        // The session has a connection for it.
        Kind::Define(define) if ctx.session.temporaries.is_some() && is_temporary(define) => {}
        kind => check_made(ctx, kind, &stmt.text)?,
    }
    if is_unread(&stmt.kind) {
        return check_unread(ctx, stmt);
    }
    let (mut found, mut lock, mut tells) = (None, None, None);
    visit::exprs(&stmt.kind, &mut |expr| match &expr.node {
        Node::Function(call) => {
            if let Some(function) = server_calls::function_of(ctx, call) {
                match function.act {
                    ServerAct::Tell => tells.get_or_insert(function.name),
                    ServerAct::Take
                    | ServerAct::Free
                    | ServerAct::FreeAll
                    | ServerAct::Ask
                    | ServerAct::Holder => lock.get_or_insert(function.name),
                };
                return;
            }
            let name = call.name.parts.last().map(|part| part.value.to_lowercase());
            let name = name.unwrap_or_default();
            // A change tells the number it keeps with its completion; a query does not.
            let tells = matches!(stmt.kind, Kind::Insert(_) | Kind::Update(_));
            let keeps = name == "last_insert_id" && !call.arguments.is_empty() && !tells;
            if keeps
                || STATEFUL.binary_search(&name.as_str()).is_ok()
                    && !ends_with_statement(call, &stmt.kind)
            {
                found.get_or_insert(name);
            }
        }
        Node::Binary { op: BinaryOp::Other(op), left, .. } if op == ":=" => {
            let name = match &left.node {
                Node::Variable(name) => user_variable(name, ctx.dialect.syntax()),
                _ => None,
            };
            match name {
                Some(name) => assigned.push(name),
                None => drop(found.get_or_insert(ASSIGNING.to_owned())),
            }
        }
        _ => {}
    });
    match found {
        Some(name) if ENDING.contains(&name.as_str()) => Err(Error::unsupported(
            30001,
            format!(
                "`{name}` takes the number of a server connection, which may serve another session by then"
            ),
            "use KILL QUERY or KILL with a number of SHOW PROCESSLIST",
        )),
        Some(what) if what == ASSIGNING => Err(refused(&what, "use SET for variables")),
        Some(name) => Err(refused(&format!("`{name}`"), instead_of(&name))),
        None => match lock.or(tells.filter(|_| tell_calls::are_made_before(ctx, stmt))) {
            Some(name) => {
                Err(refused_because(Because::TakesLock, &format!("`{name}`"), OF_ITS_OWN))
            }
            None => Ok(assigned),
        },
    }
}

/// Whether an expression is `LAST_INSERT_ID(expression)`.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(crate) fn keeps_key(expr: &Expr) -> bool {
    match &expr.node {
        Node::Function(call) => {
            let name = call.name.parts.last();
            !call.arguments.is_empty()
                && name.is_some_and(|name| name.value.eq_ignore_ascii_case("last_insert_id"))
        }
        _ => false,
    }
}

/// `set_config(…, (…) OR true)` as a query: the setting is local, as the session makes it before it runs such a statement.
fn ends_with_statement(call: &Function, kind: &Kind) -> bool {
    let [_, _, Expr { node: Node::Binary { op: BinaryOp::Or, right, .. }, .. }] =
        &call.arguments[..]
    else {
        return false;
    };
    matches!(kind, Kind::Select(_)) && matches!(right.node, Node::Literal(Literal::Boolean(true)))
}

#[cfg(test)]
mod tests {
    use super::STATEFUL;

    #[test]
    fn the_list_is_sorted() {
        assert!(STATEFUL.is_sorted());
    }
}
