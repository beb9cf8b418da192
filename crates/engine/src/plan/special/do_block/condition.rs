//! Conditions in a block: whether every storage unit answers alike, but for what the block itself is about to define there.

use pando_kernel::feature::Context;
use pando_sql::ast::{BinaryOp, Kind, Literal, Node, ObjectName};
use pando_sql::{TokenKind, tokenize, visit};

use super::tables::Tables;
use crate::plan::parse::parsed;

/// Relations that tell of what definitions make on every unit. `pg_type` has the tables' row types, too: names of tables are looked out for.
const ALIKE: [&str; 8] = [
    "pg_collation",
    "pg_enum",
    "pg_extension",
    "pg_language",
    "pg_namespace",
    "pg_proc",
    "pg_roles",
    "pg_type",
];

/// Words in front of a bracket that is no call's.
const BEFORE_BRACKETS: [&str; 9] =
    ["and", "exists", "from", "in", "join", "not", "on", "or", "where"];

/// Whether a condition asks for what every unit has alike, and for nothing else.
pub(super) fn is_alike(ctx: &Context<'_>, text: &str, known: &Tables) -> bool {
    let Ok(stmt) = parsed(ctx, &format!("SELECT 1 WHERE {text}")) else { return false };
    let asked = visit::tables(&stmt.kind);
    let Some(names) = literals(&stmt.kind) else { return false };
    !asked.is_empty()
        && asked.iter().all(|table| tells_alike(table.name))
        && !calls(ctx, text)
        // The type of a table's rows in an array begins with that mark.
        && !names.iter().any(|name| known.has(name) || known.has(name.trim_start_matches('_')))
}

fn tells_alike(name: &ObjectName) -> bool {
    let (last, schema) = match &name.parts[..] {
        [name] => (name, None),
        [schema, name] => (name, Some(schema)),
        _ => return false,
    };
    schema.is_none_or(|schema| schema.value == "pg_catalog") && ALIKE.contains(&&*last.value)
}

/// Whether something may be called: a bracket stands behind another word than those in front of sub-queries and lists.
fn calls(ctx: &Context<'_>, text: &str) -> bool {
    let Ok(tokens) = tokenize(text, ctx.dialect.syntax()) else { return true };
    tokens.list.windows(2).any(|two| {
        let [before, bracket] = two else { return false };
        let is_name = match before.kind {
            TokenKind::Word => {
                let word = before.span.of(text).to_ascii_lowercase();
                !BEFORE_BRACKETS.contains(&word.as_str())
            }
            TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier => true,
            TokenKind::Operator | TokenKind::Punctuation => false,
            TokenKind::Number
            | TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Variable
            | TokenKind::End => true,
        };
        is_name && bracket.span.of(text) == "("
    })
}

/// The strings that columns are compared with; `None` when something else is done than to compare them.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not known")]
fn literals(kind: &Kind) -> Option<Vec<String>> {
    let mut found = Some(Vec::new());
    visit::exprs(kind, &mut |expr| match &expr.node {
        Node::Literal(Literal::Text(text)) => {
            if let Some(found) = &mut found {
                found.push(text.clone());
            }
        }
        Node::Column(name) if is_of_a_table(name) => {}
        Node::Unary { op, .. } if op == "NOT" => {}
        Node::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Equal, .. }
        | Node::Literal(_)
        | Node::InList { .. }
        | Node::Exists(_)
        | Node::Nested(_) => {}
        _ => found = None,
    });
    found
}

/// Not one of the words that stand for the user or the moment.
fn is_of_a_table(name: &ObjectName) -> bool {
    let word = name.parts.last().map(|part| part.value.to_lowercase()).unwrap_or_default();
    !word.starts_with("current_") && !["session_user", "user"].contains(&word.as_str())
}
