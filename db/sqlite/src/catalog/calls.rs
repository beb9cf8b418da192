//! PostgreSQL's casts and functions that look into the catalogue, as queries of the expressions in front of the statement.

use pando_sql::ast::{Expr, Function, Literal, Node, SelectItem, Statement};
use pando_sql::{Edits, Span, visit};

use crate::literal::text_literal;

/// The name of a type without its schema, in lower case.
fn bare(text: &str) -> String {
    let lower = text.trim().to_ascii_lowercase();
    lower.rsplit('.').next().unwrap_or_default().trim().trim_matches('"').to_owned()
}

fn name_of(call: &Function) -> String {
    call.name.parts.last().map_or_else(String::new, |part| part.value.to_ascii_lowercase())
}

/// A name written out, casts and parentheses taken off.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other node is not what is looked for"
)]
fn named(expr: &Expr) -> Option<&str> {
    match &expr.node {
        Node::Nested(inner) | Node::Cast { operand: inner, .. } => named(inner),
        Node::Literal(Literal::Text(text)) if text.parse::<u64>().is_err() => Some(text),
        _ => None,
    }
}

/// A table that an expression looks up by its name.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other node is not what is looked for"
)]
pub(super) fn looked_up(expr: &Expr, text: &str) -> Option<String> {
    let name = match &expr.node {
        Node::Cast { operand, to } if bare(to.of(text)) == "regclass" => named(operand)?,
        Node::Function(call) if name_of(call) == "to_regclass" => named(call.arguments.first()?)?,
        _ => return None,
    };
    let table = name.strip_prefix("public.").unwrap_or(name).trim_matches('"');
    (!table.starts_with("pg_") && !table.contains('.')).then(|| table.to_lowercase())
}

/// Edits every such cast and call.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other node is not what is looked for"
)]
pub(super) fn edit(stmt: &Statement, user: &str, edits: &mut Edits) {
    let shown = displayed(stmt);
    visit::exprs(&stmt.kind, &mut |expr| match &expr.node {
        Node::Cast { operand, to } => {
            let constant = matches!(operand.node, Node::Literal(_) | Node::Parameter(_));
            let is_shown = !constant || shown.contains(&expr.span);
            let to = bare(to.of(&stmt.text));
            let shown = if is_shown { shown_cast(&to) } else { None };
            if let Some((before, behind)) = shown.or_else(|| cast(&to)) {
                edits.replace(Span::new(expr.span.start, operand.span.start), before);
                edits.replace(Span::new(operand.span.end, expr.span.end), behind);
            }
        }
        Node::Function(call) => called(call, expr.span, &stmt.text, user, edits),
        _ => {}
    });
}

/// Expressions whose value is told as text: select items, and what is cast to text.
fn displayed(stmt: &Statement) -> Vec<Span> {
    use pando_sql::ast::{Kind, QueryBody};
    let mut spans = Vec::new();
    if let Kind::Select(query) = &stmt.kind
        && let QueryBody::Select(select) = &query.body
    {
        spans.extend(select.items.iter().filter_map(|item| match item {
            SelectItem::Expr { expr, .. } => Some(expr.span),
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
        }));
    }
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Cast { operand, to } = &expr.node
            && matches!(bare(to.of(&stmt.text)).as_str(), "text" | "varchar" | "name")
        {
            spans.push(operand.span);
        }
    });
    spans
}

/// What stands before and behind an expression.
type Around = (&'static str, &'static str);

/// What stands before and behind the operand of a cast to one of the types that name objects.
fn cast(to: &str) -> Option<Around> {
    match to {
        "regclass" => Some((
            "(SELECT coalesce((SELECT pando_k FROM pando_names WHERE pando_t = pando_relation(pando_o)), pando_class(pando_o)) FROM (SELECT (",
            ") AS pando_o))",
        )),
        "regtype" => Some(("pando_to_type(", ")")),
        "regnamespace" => Some(("pando_namespace(", ")")),
        "oid" => Some(("pando_number(", ")")),
        _ => None,
    }
}

/// The same where the value is what is shown, for those that are shown as something else than they are compared by.
fn shown_cast(to: &str) -> Option<Around> {
    match to {
        "regclass" => Some((
            "(SELECT coalesce((SELECT pando_t FROM pando_names WHERE pando_k = pando_o), pando_class_name(pando_o)) FROM (SELECT (",
            ") AS pando_o))",
        )),
        "regtype" => Some(("format_type(pando_to_type(", "), NULL)")),
        _ => None,
    }
}

fn called(call: &Function, span: Span, text: &str, user: &str, edits: &mut Edits) {
    let argument = |at: usize| call.arguments.get(at).map(|expr: &Expr| expr.span);
    let Some(first) = argument(0) else { return };
    // What stands between the arguments goes, the arguments stay: they may hold more to edit.
    let around = |before: String, behind: &str, edits: &mut Edits| {
        edits.replace(Span::new(span.start, first.start), before);
        edits.replace(Span::new(first.end, span.end), behind);
    };
    let definition = "(SELECT pando_t FROM pando_definitions WHERE pando_k = (";
    match name_of(call).as_str() {
        "pg_get_constraintdef" | "pg_get_viewdef" => {
            around(definition.to_owned(), ") AND pando_n = 0)", edits);
        }
        "pg_get_indexdef" => match argument(1) {
            None => around(definition.to_owned(), ") AND pando_n = 0)", edits),
            Some(second) => {
                edits.replace(Span::new(span.start, first.start), definition);
                edits.replace(Span::new(first.end, second.start), ") AND pando_n = (");
                edits.replace(Span::new(second.end, span.end), "))");
            }
        },
        "to_regclass" => around(
            "(SELECT pando_t FROM pando_names WHERE pando_t = pando_relation(".to_owned(),
            "))",
            edits,
        ),
        "to_regtype" => around("pando_to_type(".to_owned(), ")", edits),
        "pg_get_userbyid" if !first.of(text).is_empty() => {
            edits.replace(span, text_literal(user));
        }
        _ => {}
    }
}
