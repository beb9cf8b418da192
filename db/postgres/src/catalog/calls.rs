//! Functions and casts that take or give names and numbers of relations.

mod own_names;

use pando_kernel::{Parameter, Value};
use pando_sql::ast::{
    BinaryOp, Expr, Function, Kind, Literal, Node, ObjectName, Query, QueryBody, SelectItem,
    Statement,
};
use pando_sql::{Edits, Span, visit};

use self::own_names::{own_name, own_relation, renamed};
use super::definitions;
use super::figures::COUNTS;
use pando_kernel::dialect::Language as _;

use super::names::{Around, Names, Number};
use super::number;
use super::type_numbers::{regtype, type_number};
use crate::dialect::Postgres;

/// Functions whose text names tables.
const DEFINITIONS: &[&str] = &[
    "pg_get_constraintdef",
    "pg_get_expr",
    "pg_get_indexdef",
    "pg_get_ruledef",
    "pg_get_serial_sequence",
    "pg_get_statisticsobjdef",
    "pg_get_triggerdef",
    "pg_get_viewdef",
];

/// Functions that take a relation, or what belongs to one, and which argument that is.
const RELATION_ARGUMENT: &[(&str, usize)] = &[
    ("col_description", 0),
    ("currval", 0),
    ("has_any_column_privilege", 0),
    ("has_column_privilege", 0),
    ("has_sequence_privilege", 0),
    ("has_table_privilege", 0),
    ("nextval", 0),
    ("obj_description", 0),
    ("pg_column_is_updatable", 0),
    ("pg_get_constraintdef", 0),
    ("pg_get_expr", 1),
    ("pg_get_indexdef", 0),
    ("pg_get_partkeydef", 0),
    ("pg_get_replica_identity_index", 0),
    ("pg_get_ruledef", 0),
    ("pg_get_serial_sequence", 0),
    ("pg_get_statisticsobjdef", 0),
    ("pg_get_statisticsobjdef_columns", 0),
    ("pg_get_triggerdef", 0),
    ("pg_get_viewdef", 0),
    ("pg_index_column_has_property", 0),
    ("pg_index_has_property", 0),
    ("pg_indexes_size", 0),
    ("pg_partition_ancestors", 0),
    ("pg_partition_root", 0),
    ("pg_partition_tree", 0),
    ("pg_relation_filenode", 0),
    ("pg_relation_filepath", 0),
    ("pg_relation_is_publishable", 0),
    ("pg_relation_is_updatable", 0),
    ("pg_relation_size", 0),
    ("pg_sequence_last_value", 0),
    ("pg_sequence_parameters", 0),
    ("pg_table_is_visible", 0),
    ("pg_table_size", 0),
    ("pg_total_relation_size", 0),
    ("row_security_active", 0),
    ("setval", 0),
    ("to_regclass", 0),
];

/// Those of them that take the name as text, not as a number.
const BY_TEXT: &[&str] = &["pg_get_serial_sequence", "to_regclass"];

/// Functions with an optional user in front of the relation, by their number of arguments with one.
const WITH_USER: &[(&str, usize)] = &[
    ("has_any_column_privilege", 3),
    ("has_column_privilege", 4),
    ("has_sequence_privilege", 3),
    ("has_table_privilege", 3),
];

/// Functions that take a database's name or number first, a user before it when there are so many arguments.
const DATABASE_ARGUMENT: &[(&str, usize)] = &[("has_database_privilege", 3)];

pub(super) fn name_of(call: &Function) -> &str {
    call.name.parts.last().map_or("", |part| part.value.as_str())
}

pub(super) fn relation_argument(call: &Function) -> Option<&Expr> {
    let name = name_of(call);
    if COUNTS.contains(&name) {
        return call.arguments.first();
    }
    let (_, at) = RELATION_ARGUMENT.iter().find(|(known, _)| *known == name)?;
    let user = WITH_USER.contains(&(name, call.arguments.len()));
    call.arguments.get(at + usize::from(user))
}

/// Whether the type is `regclass`.
pub(crate) fn is_regclass(text: &str) -> bool {
    is_alias(text, "regclass")
}

/// Whether the type is this one of those whose values are numbers that are shown as names.
fn is_alias(text: &str, alias: &str) -> bool {
    let text = text.trim();
    let bare = match text.split_once('.') {
        Some((schema, name)) if schema.trim().eq_ignore_ascii_case("pg_catalog") => name.trim(),
        _ => text,
    };
    bare.eq_ignore_ascii_case(alias)
}

fn is_text(text: &str) -> bool {
    text_type(text).is_some()
}

/// The name that a column has by a cast to such a type.
fn text_type(text: &str) -> Option<&'static str> {
    let text = text.trim().to_ascii_lowercase();
    match text.rsplit('.').next().unwrap_or("") {
        "text" => Some("text"),
        "varchar" | "character varying" => Some("varchar"),
        "name" => Some("name"),
        _ => None,
    }
}

/// The text of a string literal that is no number, parentheses and casts to text taken off.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(super) fn named(expr: &Expr) -> Option<(&str, Span)> {
    match &expr.node {
        Node::Nested(inner) => named(inner),
        Node::Cast { operand, .. } => named(operand),
        Node::Literal(Literal::Text(text)) if number(expr).is_none() => Some((text, expr.span)),
        _ => None,
    }
}

/// Columns of the catalogue, and functions, whose values are names.
const NAMES: &[&str] = &[
    "table_name",
    "tablename",
    "relname",
    "viewname",
    "matviewname",
    "indexname",
    "sequence_name",
    "sequencename",
    "quote_ident",
    "format",
    "concat",
    "concat_ws",
];

/// Whether a text is put together from names as the query runs, so that the server finds out what it names.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(super) fn is_computed_name(expr: &Expr, text: &str) -> bool {
    let is_known = |name: &ObjectName| {
        name.parts.last().is_some_and(|part| NAMES.contains(&part.value.as_str()))
    };
    match &expr.node {
        Node::Nested(inner) => is_computed_name(inner, text),
        Node::Cast { operand, to } if is_text(to.of(text)) => is_computed_name(operand, text),
        Node::Binary { op: BinaryOp::Other(op), .. } => op == "||",
        Node::Function(call) => is_known(&call.name),
        Node::Column(name) => is_known(name),
        _ => false,
    }
}

/// A table that an expression makes the server look up by name, apart from those of its own catalogue.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(super) fn looked_up(expr: &Expr, text: &str, parameters: &[Parameter]) -> Option<String> {
    let looked = match &expr.node {
        Node::Cast { operand, to } if is_regclass(to.of(text)) => operand,
        Node::Function(call) => relation_argument(call)?,
        _ => return None,
    };
    match named(looked) {
        Some((name, _)) => users(name),
        None => match bound(looked, Some(parameters))?.1 {
            Given::Name(name) => users(name),
            Given::Number(_) | Given::Nothing => None,
        },
    }
}

/// A parameter whose value can be an object's number, or begins a list of them.
pub(super) fn bound_number(expr: &Expr, parameters: &[Parameter]) -> Option<u64> {
    let Node::Parameter(index) = expr.node else { return None };
    let number = match &parameters.get(index as usize)?.value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::UInt(number) => Some(*number),
        Value::Text(text) => {
            let first = text.trim_start_matches('{').split(',').next().unwrap_or_default();
            first.trim_end_matches('}').trim().parse().ok()
        }
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::Decimal(_) | Value::Bytes(_) => {
            None
        }
    };
    number.filter(|number| u32::try_from(*number).is_ok())
}

/// What is known of the parameter that names a relation.
pub(super) enum Given<'a> {
    Name(&'a str),
    Number(u64),
    /// NULL, or not bound yet.
    Nothing,
}

/// The parameter that an expression is, casts and parentheses taken off.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(super) fn bound<'a>(
    expr: &Expr,
    parameters: Option<&'a [Parameter]>,
) -> Option<(usize, Given<'a>)> {
    let index = match &expr.node {
        Node::Nested(inner) | Node::Cast { operand: inner, .. } => return bound(inner, parameters),
        Node::Parameter(index) => *index as usize,
        _ => return None,
    };
    let given = match parameters.and_then(|list| list.get(index)).map(|parameter| &parameter.value)
    {
        Some(Value::Int(number)) => u64::try_from(*number).map_or(Given::Nothing, Given::Number),
        Some(Value::UInt(number)) => Given::Number(*number),
        Some(Value::Text(text)) => text.trim().parse().map_or(Given::Name(text), Given::Number),
        Some(
            Value::Null | Value::Bool(_) | Value::Float(_) | Value::Decimal(_) | Value::Bytes(_),
        )
        | None => Given::Nothing,
    };
    Some((index, given))
}

/// The table a name means when it is none of the server's own.
fn users(name: &str) -> Option<String> {
    let mut parts = split(name)?;
    let table = parts.pop()?;
    let of_server = table.starts_with("pg_")
        || parts.last().is_some_and(|schema| {
            matches!(schema.as_str(), "pg_catalog" | "information_schema" | "pg_toast")
        });
    (!of_server).then_some(table)
}

/// A dotted name, quotes taken off and folded as the server does.
pub(super) fn split(name: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut letters = name.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        let part = parts.last_mut()?;
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                part.push('"');
            }
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            letter if quoted => part.push(letter),
            // Around dots; inside a name the server takes none.
            letter if letter.is_ascii_whitespace() => {
                while letters.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                let ends = part.is_empty() || letters.peek() == Some(&'.');
                if !ends {
                    return None;
                }
            }
            letter => part.extend(letter.to_lowercase()),
        }
    }
    (!quoted && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// Where an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    /// Its value is what is shown.
    Shown,
    /// In another one, or in a condition.
    Within,
}

/// What a function looks a relation up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// A text that names a table.
    Table,
    /// A text that names any relation.
    Text,
    Number,
}

/// Edits every such function and cast.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(super) fn edit(
    stmt: &Statement,
    names: &Names<'_>,
    parameters: Option<&[Parameter]>,
    edits: &mut Edits,
) -> Vec<(usize, Value)> {
    let mut values = Vec::new();
    let shown = displayed(&stmt.kind, &stmt.text);
    let stands = |span: Span| if shown.contains(&span) { Stands::Shown } else { Stands::Within };
    let own = by_text(&stmt.kind);
    let texts = cast_to_text(&stmt.kind, &stmt.text);
    // A column is called by the cast that is outermost.
    let called =
        |span: Span| texts.iter().find(|(cast, _)| *cast == span).map_or("regclass", |(_, to)| to);
    visit::exprs(&stmt.kind, &mut |expr| match &expr.node {
        Node::Cast { operand, to } if is_regclass(to.of(&stmt.text)) => {
            let is_own =
                own.iter().any(|at| at.start <= expr.span.start && expr.span.end <= at.end);
            if let Some((index, given)) = bound(operand, parameters) {
                values.extend(own_value(given, names).map(|value| (index, value)));
                if !is_own {
                    outside(expr.span, called(expr.span), stands(expr.span), names, edits);
                }
                return;
            }
            if is_computed_name(operand, &stmt.text) {
                if !is_own {
                    outside(expr.span, label(operand, "regclass"), stands(expr.span), names, edits);
                }
                wrap(operand.span, names.around_name(label(operand, "regclass")), edits);
                return;
            }
            match (is_own, named(operand)) {
                (true, Some(_)) => drop(own_relation(operand, names, edits)),
                (true, None) => own_number(operand, names, edits),
                (false, _) => {
                    let shown = Cast { expr, operand, called: called(expr.span) };
                    regclass(&shown, stands(expr.span), names, edits);
                }
            }
        }
        Node::Cast { operand, to } if is_alias(to.of(&stmt.text), "regtype") => {
            regtype(expr, operand, stands(expr.span), names, edits);
        }
        Node::Function(call) => {
            if let Some(around) = definitions::around(call, &stmt.text, names) {
                wrap(expr.span, around, edits);
            }
            if DEFINITIONS.contains(&name_of(call)) && !names.are_plain() && call.over.is_none() {
                wrap(expr.span, names.around_definition(name_of(call)), edits);
            }
            if name_of(call) == "format_type"
                && let Some(of) = call.arguments.first()
            {
                type_number(of, Number::Own, names, edits);
            }
            if name_of(call) == "to_regtype" && stands(expr.span) == Stands::Within {
                type_number(expr, Number::Shown, names, edits);
            }
            if name_of(call) == "to_regclass" {
                outside(expr.span, "to_regclass", stands(expr.span), names, edits);
            }
            if let Some(argument) = relation_argument(call) {
                let by = match name_of(call) {
                    "to_regclass" => By::Text,
                    name if BY_TEXT.contains(&name) => By::Table,
                    _ => By::Number,
                };
                let regclass = is_cast_to_regclass(argument, &stmt.text);
                match bound(argument, parameters).filter(|_| !regclass) {
                    Some((index, given @ Given::Name(_))) => {
                        values.extend(own_value(given, names).map(|value| (index, value)));
                    }
                    // Not bound yet: its type must stay what the function takes.
                    Some(_) if parameters.is_none() => {}
                    Some(_) | None => {
                        own_argument(argument, by, &stmt.text, names, edits);
                    }
                }
            }
            database_argument(call, edits);
        }
        _ => {}
    });
    values
}

/// The value that names the unit's own relation where a parameter's names a shown one; `None` when it can stay.
fn own_value(given: Given<'_>, names: &Names<'_>) -> Option<Value> {
    match given {
        Given::Name(name) => {
            users(name)?;
            renamed(name, |table| names.actual(table).map(str::to_owned)).map(Value::Text)
        }
        Given::Number(number) => {
            let own = names.own_number(number);
            (own != number).then(|| Value::Text(own.to_string()))
        }
        Given::Nothing => None,
    }
}

/// What is made of a relation that the unit has looked up: its logic name where it is shown, else its number as shown.
fn outside(span: Span, label: &str, stands: Stands, names: &Names<'_>, edits: &mut Edits) {
    if stands == Stands::Shown && !names.are_plain() {
        wrap(span, names.around_definition(label), edits);
    } else if names.shift() > 0 {
        shift(span, names, edits);
    }
}

fn is_cast_to_regclass(expr: &Expr, text: &str) -> bool {
    matches!(&expr.node, Node::Cast { to, .. } if is_regclass(to.of(text)))
}

pub(super) fn wrap(span: Span, around: Around, edits: &mut Edits) {
    edits.around(span, around.before, around.behind);
}

/// A number of the unit's own becomes the one that is shown.
fn shift(span: Span, names: &Names<'_>, edits: &mut Edits) {
    let marker = "\u{0}";
    let whole = names.shown_number(marker);
    if let Some((before, behind)) = whole.split_once(marker) {
        wrap(span, Around { before: before.to_owned(), behind: behind.to_owned() }, edits);
    }
}

/// What the server calls the column of a cast of this to `regclass`.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(super) fn label<'a>(operand: &'a Expr, otherwise: &'a str) -> &'a str {
    match &operand.node {
        Node::Nested(inner) | Node::Cast { operand: inner, .. } => label(inner, otherwise),
        Node::Column(name) => name.parts.last().map_or(otherwise, |part| part.value.as_str()),
        Node::Function(call) => name_of(call),
        _ => otherwise,
    }
}

/// A cast to `regclass`, and what its column is called where its operand gives it no name.
struct Cast<'a> {
    expr: &'a Expr,
    operand: &'a Expr,
    called: &'static str,
}

fn regclass(cast: &Cast<'_>, stands: Stands, names: &Names<'_>, edits: &mut Edits) {
    let Cast { expr, operand, called } = *cast;
    if let Some((name, _)) = named(operand) {
        if users(name).is_none() {
            return;
        }
        own_relation(operand, names, edits);
        outside(expr.span, called, stands, names, edits);
        return;
    }
    if stands == Stands::Within {
        return;
    }
    if !names.are_plain() {
        wrap(expr.span, names.around_definition(label(operand, called)), edits);
    } else if names.shift() != 0 && number(operand).is_none() {
        // The column is called as it is where its number stays.
        let behind = format!(" AS {})", Postgres.quote(label(operand, called)));
        wrap(expr.span, Around { before: "(SELECT ".to_owned(), behind }, edits);
    }
    own_number(operand, names, edits);
}

/// The argument of a function that looks a relation up.
fn own_argument(argument: &Expr, by: By, text: &str, names: &Names<'_>, edits: &mut Edits) {
    let regclass = is_cast_to_regclass(argument, text);
    // The name in a cast to `regclass` is edited where the cast is met.
    if !regclass && named(argument).is_some() {
        match by {
            By::Table => own_name(argument, names, edits),
            // What is computed is a text.
            By::Text | By::Number => {
                if own_relation(argument, names, edits) && by == By::Number {
                    edits.replace(Span::at(argument.span.end), "::pg_catalog.regclass");
                }
            }
        }
    } else if is_computed_name(argument, text) {
        wrap(argument.span, names.around_name(label(argument, "regclass")), edits);
    } else if by == By::Number {
        own_number(argument, names, edits);
    }
}

/// A shown number becomes the unit's own.
fn own_number(expr: &Expr, names: &Names<'_>, edits: &mut Edits) {
    if names.shift() == 0 {
        return;
    }
    match number(expr) {
        Some(number) => edits.replace(expr.span, format!("'{}'", names.own_number(number))),
        None => wrap(expr.span, names.around_number(), edits),
    }
}

/// Arguments that are looked up as texts: the server must find its own names in them.
fn by_text(kind: &Kind) -> Vec<Span> {
    let mut found = Vec::new();
    visit::exprs(kind, &mut |expr| {
        if let Node::Function(call) = &expr.node
            && BY_TEXT.contains(&name_of(call))
        {
            found.extend(call.arguments.first().map(|argument| argument.span));
        }
    });
    found
}

/// The server knows its own databases only: the one behind this connection is the answer for every logical one.
fn database_argument(call: &Function, edits: &mut Edits) {
    let known = DATABASE_ARGUMENT.iter().find(|(known, _)| *known == name_of(call));
    let Some((_, with_user)) = known else { return };
    let at = usize::from(call.arguments.len() == *with_user);
    if let Some(argument) = call.arguments.get(at) {
        edits.replace(argument.span, "pg_catalog.current_database()");
    }
}

/// Casts to `regclass` whose text is looked at: select items of the outermost query, and casts on to text.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn displayed(kind: &Kind, text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut queries: Vec<&Query> = match kind {
        Kind::Select(query) => vec![query],
        _ => Vec::new(),
    };
    while let Some(query) = queries.pop() {
        match &query.body {
            QueryBody::Select(select) => {
                found.extend(select.items.iter().filter_map(|item| match item {
                    SelectItem::Expr { expr, .. } => Some(unwrapped(expr).span),
                    SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
                }));
            }
            QueryBody::Set { left, right, .. } => queries.extend([&**left, &**right]),
            QueryBody::Values(_) => {}
        }
    }
    found.extend(cast_to_text(kind, text).into_iter().map(|(span, _)| span));
    found
}

/// What is cast on to text, and to which type.
fn cast_to_text(kind: &Kind, text: &str) -> Vec<(Span, &'static str)> {
    let mut found = Vec::new();
    visit::exprs(kind, &mut |expr| {
        if let Node::Cast { operand, to } = &expr.node
            && let Some(to) = text_type(to.of(text))
        {
            found.push((unwrapped(operand).span, to));
        }
    });
    found
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn unwrapped(expr: &Expr) -> &Expr {
    match &expr.node {
        Node::Nested(inner) => unwrapped(inner),
        _ => expr,
    }
}
