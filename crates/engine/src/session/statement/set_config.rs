//! `SELECT set_config(name, value, is_local)`: SET in the form of a query, with which drivers set up their sessions.
//! <https://www.postgresql.org/docs/current/functions-admin.html>

use std::sync::Arc;

use pando_kernel::dialect::VariableEffect;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::{Dialect, Value};
use pando_sql::ast::{
    BinaryOp, Expr, Function, Kind, Literal, Node, QueryBody, Select, SelectItem, Statement,
};
use pando_sql::{Edits, Span, visit};

use crate::session::Session;
use crate::session::given::Given;
use crate::session::reply::pull::{finish, piece};
use crate::session::run::on_units;
use crate::session::settings::value_text::value_text;
use crate::session::statement::set;

/// Rows such a query may bring, in bytes: it is about settings.
const MAX_ANSWER: usize = 1 << 20;

/// The calls that are whole select items of a statement, and its select.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn calls(stmt: &Statement) -> Option<(&Select, Vec<&Function>)> {
    let Kind::Select(query) = &stmt.kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let calls: Vec<&Function> = select
        .items
        .iter()
        .filter_map(|item| match item {
            SelectItem::Expr { expr, .. } => match &unwrapped(expr).node {
                Node::Function(call) if is_set_config(call) => Some(&**call),
                _ => None,
            },
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
        })
        .collect();
    (!calls.is_empty()).then_some((&**select, calls))
}

fn is_set_config(call: &Function) -> bool {
    let name = call.name.parts.last();
    name.is_some_and(|name| name.value == "set_config") && call.arguments.len() == 3
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn unwrapped(expr: &Expr) -> &Expr {
    match &expr.node {
        Node::Nested(inner) | Node::Cast { operand: inner, .. } => unwrapped(inner),
        _ => expr,
    }
}

/// What one call asks for.
struct Setting {
    name: String,
    text: String,
    local: bool,
}

fn refused() -> Error {
    Error::unsupported(
        30001,
        "set_config takes literals or parameters, and no rows of tables",
        "write the variable's name and value into the statement",
    )
}

/// Runs such a statement; false when it is another.
///
/// One storage unit runs it with every setting made local to the statement, and so judges the values and answers as the
/// server would; the settings are then kept like those of SET.
pub(in crate::session) async fn set_config(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<bool> {
    let Some((select, calls)) = calls(stmt) else { return Ok(false) };
    session.work.refuse_if_failed()?;
    let dialect = session.place.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
    let own = dialect.presentation().ok_or_else(refused)?;
    if visit::tables(&stmt.kind).iter().any(|table| own.holding(table.name).is_none()) {
        return Err(refused());
    }
    let mut edits = Edits::default();
    let mut settings = Vec::new();
    for call in calls {
        let setting = read(call, select, given)?.ok_or_else(refused)?;
        let own = own_value(dialect.as_ref(), &setting)?;
        settings.extend(worth_keeping(session, setting, &dialect)?);
        if let Some(value) = own {
            let value = dialect.literal(&Value::Text(value));
            instead(&mut edits, call.arguments[0].span, HARMLESS);
            instead(&mut edits, call.arguments[1].span, &value);
        }
        let is_local = call.arguments[2].span;
        edits.replace(Span::at(is_local.start), "(");
        edits.replace(Span::at(is_local.end), ") OR true");
    }
    let tried = edits.apply(&stmt.text);
    let tried = pando_sql::parse(&tried, dialect.syntax()).map_err(crate::plan::unread)?;
    let window = session.outbox.take_window();
    let (events, rows) = Box::pin(whole_answer(session, &tried, given)).await?;
    session.outbox.limit_again(window);
    if rows > 0 {
        for set in settings {
            let Kind::Set(assignments) = &set.kind else { continue };
            Box::pin(set::set(session, &set, assignments, &Given::default())).await?;
            session.outbox.take_back_completion();
        }
    }
    session.outbox.tell_all(events);
    Ok(true)
}

/// A setting that a unit is given in the place of one of which it must not hear.
const HARMLESS: &str = "'application_name'";

/// A literal in the place of an argument, which stays as what the statement takes.
fn instead(edits: &mut Edits, argument: Span, literal: &str) {
    edits.replace(Span::at(argument.start), format!("coalesce({literal}, ("));
    edits.replace(Span::at(argument.end), ")::text)");
}

/// The value, as a server tells it, of a setting of which no unit hears.
fn own_value(dialect: &dyn Dialect, setting: &Setting) -> Result<Option<String>> {
    let value = value_text(&setting.name, &setting.text, dialect);
    match dialect.set(&setting.name.to_lowercase(), &value)? {
        VariableEffect::Own { value, .. } => Ok(Some(value)),
        VariableEffect::Replay
        | VariableEffect::Report { .. }
        | VariableEffect::As { .. }
        | VariableEffect::Back { .. }
        | VariableEffect::Ignore
        | VariableEffect::Autocommit(_)
        | VariableEffect::LastInsertId(_) => Ok(None),
    }
}

/// The SET of a setting that outlives its statement.
fn worth_keeping(
    session: &Session,
    setting: Setting,
    dialect: &Arc<dyn Dialect>,
) -> Result<Option<Statement>> {
    let Setting { name, text, local } = setting;
    let parts: Vec<String> = name.split('.').map(|part| dialect.quote(part)).collect();
    let scope = if local { "LOCAL" } else { "SESSION" };
    let value = value_text(&name, &text, dialect.as_ref());
    let set = format!("SET {scope} {} = {value}", parts.join("."));
    let set = pando_sql::parse(&set, dialect.syntax()).map_err(crate::plan::unread)?;
    let Kind::Set(assignments) = &set.kind else {
        return Err(ErrorKind::Variable(format!("`{name}` is no variable's name")).into());
    };
    session.place.guard(&set)?;
    for one in assignments {
        dialect.set(&one.name, one.value_span.of(&set.text))?;
    }
    let over = local && session.work.is_idle();
    Ok((!over).then_some(set))
}

/// A statement's reply, read to its end, and how many rows it has.
#[expect(clippy::wildcard_enum_match_arm, reason = "only rows are counted")]
async fn whole_answer(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<(Vec<Event>, u32)> {
    on_units::run_as_one(session, stmt, given.clone()).await?;
    let (mut events, mut rows, mut bytes) = (Vec::new(), 0, 0);
    while let Some(event) = piece::next_of_reply(session).await? {
        if let Event::Rows(chunk) = &event {
            rows += chunk.count;
            bytes += chunk.bytes.len();
            if bytes > MAX_ANSWER {
                finish::abandon(session).await;
                return Err(ErrorKind::TooLarge("set_config with too many rows".into()).into());
            }
        }
        match event {
            Event::Done => {}
            other => events.push(other),
        }
    }
    Ok((events, rows))
}

/// What a call asks for; `None` when it is not known before it is run.
fn read(call: &Function, select: &Select, given: &Given) -> Result<Option<Setting>> {
    let [name, text, local] = &call.arguments[..] else { return Ok(None) };
    let name = value(name, given).or_else(|| named_by_filter(name, select.filter.as_ref()?, given));
    match (name, value(text, given), value(local, given)) {
        (Some(Value::Text(name)), Some(Value::Text(text)), Some(local)) => {
            Ok(Some(Setting { name, text, local: is_true(&local)? }))
        }
        _ => Ok(None),
    }
}

/// The value a column has because the condition says so: `… FROM pg_settings WHERE name = 'x'`.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn named_by_filter(column: &Expr, filter: &Expr, given: &Given) -> Option<Value> {
    let Node::Column(column) = &column.node else { return None };
    let is_it = |expr: &Expr| match &unwrapped(expr).node {
        Node::Column(other) => {
            other.parts.last().map(|part| &part.value) == column.parts.last().map(|p| &p.value)
        }
        _ => false,
    };
    let mut stack = vec![filter];
    while let Some(part) = stack.pop() {
        let Node::Binary { op, left, right } = &unwrapped(part).node else { continue };
        match op {
            BinaryOp::And => stack.extend([&**left, &**right]),
            BinaryOp::Equal if is_it(left) => return value(right, given),
            BinaryOp::Equal if is_it(right) => return value(left, given),
            _ => {}
        }
    }
    None
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn value(expr: &Expr, given: &Given) -> Option<Value> {
    match &expr.node {
        Node::Nested(inner) => value(inner, given),
        Node::Cast { operand, .. } => value(operand, given),
        Node::Parameter(index) => given.parameters.get(*index as usize).map(|p| p.value.clone()),
        Node::Literal(Literal::Text(text)) => Some(Value::Text(text.clone())),
        Node::Literal(Literal::Boolean(value)) => Some(Value::Bool(*value)),
        Node::Literal(Literal::Integer(value)) => Some(Value::Text(value.to_string())),
        Node::Literal(Literal::Number(value)) => Some(Value::Text(value.clone())),
        _ => None,
    }
}

fn is_true(value: &Value) -> Result<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::Text(text) => match text.to_ascii_lowercase().as_str() {
            "t" | "true" | "on" | "yes" | "y" | "1" => Ok(true),
            "f" | "false" | "off" | "no" | "n" | "0" => Ok(false),
            _ => Err(ErrorKind::Value(format!("`{text}` is no boolean")).into()),
        },
        Value::Null
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Bytes(_) => Err(ErrorKind::Value("a boolean was expected".into()).into()),
    }
}
