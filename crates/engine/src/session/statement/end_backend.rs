//! `SELECT pg_terminate_backend(n)`, `SELECT pg_cancel_backend(n)` of a session of Pando's, by the number that it is
//! told as its own (`pg_backend_pid()`). Any other number is a process of a storage unit, as `pg_stat_activity` shows
//! them.
//! <https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADMIN-SIGNAL>

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_sql::ast::{Expr, Function, Kind, Literal, Node, QueryBody, SelectItem, Statement};
use pando_sql::{Edits, Span};

use crate::handle::{Handle, Killed};
use crate::plan;

use crate::session::Session;
use crate::session::errors::server_error;
use crate::session::given::Given;
use crate::session::statement::instead::{Becomes, Instead};

/// Does what is asked of sessions here; the statement that tells so is run in the place of such a query, which has no
/// rows to choose from. `None` for all others.
///
/// # Errors
/// 42501 where it is somebody else's session, and nothing was done then.
pub(in crate::session) fn instead(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<Option<Instead>> {
    let mut ended: Vec<(Arc<Handle>, Killed)> = Vec::new();
    let mut edits = Edits::default();
    for Call { call, whole, name, what } in calls(stmt) {
        let Some(number) = call.arguments.first() else { continue };
        let own = session.place.handle().key.id;
        let id = number_of(number, given, own);
        let Some(handle) = id.and_then(|id| session.place.engine().inner.registry.find(id)) else {
            continue;
        };
        let login = session.place.login();
        if !login.is_administrator && handle.user != login.user {
            return Err(not_ones_own());
        }
        ended.push((handle, what));
        // What it was given stays where it was, and so its types.
        let before = format!("(SELECT true AS {name} WHERE pg_catalog.num_nonnulls");
        edits.replace(call.name.span, before);
        for argument in &call.arguments {
            edits.replace(Span::at(argument.span.end), "::pg_catalog.int8");
        }
        edits.replace(Span::at(whole.end), " >= 0)");
    }
    if ended.is_empty() {
        return Ok(None);
    }
    session.work.refuse_if_failed()?;
    let syntax = session.place.syntax()?;
    let other = pando_sql::parse(&edits.apply(&stmt.text), syntax).map_err(plan::unread)?;
    for (handle, what) in ended {
        let runtime = &session.place.engine().inner.runtime;
        match what {
            Killed::Statement => handle.cancel(runtime),
            Killed::Session => handle.kill(runtime),
        }
    }
    let (given, settings) = (given.clone(), Vec::new());
    Ok(Some(Instead { stmt: Arc::new(other), given, settings, reply: Becomes::Reply }))
}

/// A call that ends something.
struct Call<'a> {
    call: &'a Function,
    /// Where it stands.
    whole: Span,
    name: &'static str,
    what: Killed,
}

/// The calls that are items of a query of one row without rows to choose from; none where a server would refuse one of
/// them, or may call it never.
fn calls<'a>(stmt: &'a Statement) -> Vec<Call<'a>> {
    let Kind::Select(query) = &stmt.kind else { return Vec::new() };
    let QueryBody::Select(select) = &query.body else { return Vec::new() };
    let is_one_row = select.from.is_empty()
        && select.filter.is_none()
        && select.group_span.is_none()
        && select.having.is_none()
        && query.with.is_empty()
        && query.limit.is_none();
    if !is_one_row {
        return Vec::new();
    }
    let call = |item: &'a SelectItem| -> Option<Call<'a>> {
        let SelectItem::Expr { expr, .. } = item else { return None };
        let Node::Function(call) = &expr.node else { return None };
        let (name, what) = ends(call)?;
        Some(Call { call, whole: expr.span, name, what })
    };
    let calls: Vec<Call<'_>> = select.items.iter().filter_map(call).collect();
    match calls.iter().all(Call::is_certain) {
        true => calls,
        false => Vec::new(),
    }
}

impl Call<'_> {
    /// Whether a server has such a function, and calls it: none is called with NULL, nor with a time below zero.
    fn is_certain(&self) -> bool {
        let is_plain = !self.call.star
            && self.call.distinct.is_none()
            && self.call.order_by.is_empty()
            && self.call.filter.is_none()
            && self.call.within_group.is_none()
            && self.call.over.is_none();
        let has_its_arguments = match &self.call.arguments[..] {
            [_] => true,
            [_, within] => {
                self.what == Killed::Session
                    && matches!(within.node, Node::Literal(Literal::Integer(0..)))
            }
            _ => false,
        };
        is_plain && has_its_arguments
    }
}

fn ends(call: &Function) -> Option<(&'static str, Killed)> {
    let (name, schema) = call.name.parts.split_last()?;
    let is_the_servers = matches!(schema, [])
        || matches!(schema, [schema] if schema.value.eq_ignore_ascii_case("pg_catalog"));
    match name.value.as_str() {
        _ if !is_the_servers => None,
        "pg_cancel_backend" => Some(("pg_cancel_backend", Killed::Statement)),
        "pg_terminate_backend" => Some(("pg_terminate_backend", Killed::Session)),
        _ => None,
    }
}

/// The number that an argument is, where that is known before the statement runs.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes and values")]
fn number_of(argument: &Expr, given: &Given, own: u32) -> Option<u32> {
    match &argument.node {
        Node::Nested(inner) | Node::Cast { operand: inner, .. } => number_of(inner, given, own),
        Node::Literal(Literal::Integer(number)) => u32::try_from(*number).ok(),
        Node::Literal(Literal::Text(text)) => text.trim().parse().ok(),
        Node::Parameter(index) => match &given.parameters.get(*index as usize)?.value {
            Value::Int(number) => u32::try_from(*number).ok(),
            Value::UInt(number) => u32::try_from(*number).ok(),
            Value::Text(text) => text.trim().parse().ok(),
            _ => None,
        },
        Node::Function(call) => {
            let name = call.name.parts.last()?;
            (call.arguments.is_empty() && name.value == "pg_backend_pid").then_some(own)
        }
        _ => None,
    }
}

fn not_ones_own() -> Error {
    server_error(
        0,
        "42501",
        "must be a member of the role whose process is being terminated or member of pg_signal_backend",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        calls(&pando_sql::parse(text, &pando_fake::STANDARD).unwrap()).len()
    }

    #[test]
    fn calls_that_servers_make_are_found() {
        for (text, expected) in [
            ("SELECT pg_cancel_backend(5)", 1),
            ("SELECT 1, pg_catalog.pg_cancel_backend(5), pg_terminate_backend($1) ORDER BY 1", 2),
            ("SELECT pg_terminate_backend(5, 100)", 1),
            ("SELECT other(5)", 0),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_is_done_where_servers_refuse_a_call_or_may_never_make_it() {
        for text in [
            "SELECT pg_cancel_backend(5, 7)",
            "SELECT pg_cancel_backend()",
            "SELECT pg_terminate_backend(5, 7, 9)",
            "SELECT pg_cancel_backend(5), pg_cancel_backend(5, 7)",
            "SELECT pg_terminate_backend(5, NULL)",
            "SELECT pg_terminate_backend(5, -1)",
            "SELECT pg_terminate_backend(5, $1)",
            "SELECT pg_terminate_backend(5) LIMIT 0",
            "SELECT pg_terminate_backend(5) OFFSET 1",
            "SELECT pg_terminate_backend(5) HAVING false",
            "SELECT pg_terminate_backend(5) GROUP BY 1",
            "SELECT pg_terminate_backend(5) GROUP BY ()",
            "SELECT pg_terminate_backend(5) WHERE false",
            "SELECT pg_terminate_backend(5) FILTER (WHERE false)",
            "SELECT pg_terminate_backend(5) OVER ()",
        ] {
            assert_eq!(found(text), 0, "{text}");
        }
    }
}
