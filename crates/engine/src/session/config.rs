//! `SELECT set_config(name, value, is_local)`: SET in the form of a query, with which drivers set up their sessions.
//! <https://www.postgresql.org/docs/current/functions-admin.html>

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::{Column, Columns, Description, Kind as ValueKind, Native, NeutralCodec, Value};
use pando_sql::ast::{Expr, Function, Kind, Literal, Node, QueryBody, SelectItem, Statement};
use std::sync::Arc;

use super::{Bound, Session};

/// The call, and the label of its result, when a statement is nothing but this.
fn call(stmt: &Statement) -> Option<(&Function, &str)> {
    let Kind::Select(query) = &stmt.kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let bare = select.from.is_empty() && select.filter.is_none() && query.with.is_empty();
    let [SelectItem::Expr { expr, alias, .. }] = &select.items[..] else { return None };
    let Node::Function(call) = &expr.node else { return None };
    let name = call.name.parts.last()?;
    let fits = bare && name.value == "set_config" && call.arguments.len() == 3;
    let label = alias.as_ref().unwrap_or(name);
    fits.then_some((&**call, label.value.as_str()))
}

/// What describing such a statement tells.
pub(super) fn described(stmt: &Statement) -> Option<Description> {
    let (_, label) = call(stmt)?;
    let list = vec![Column::computed(label, ValueKind::Text)];
    let columns = Columns { list, codec: Arc::new(NeutralCodec) };
    let parameters = vec![Native::default(); stmt.parameters as usize];
    Some(Description { parameters, columns: Some(columns) })
}

impl Session {
    /// Runs such a statement; false when it is another.
    pub(super) async fn set_config(&mut self, stmt: &Statement, bound: &Bound) -> Result<bool> {
        let Some((call, label)) = call(stmt) else { return Ok(false) };
        self.refuse_if_failed(false)?;
        let mut values = call.arguments.iter().map(|argument| value(argument, bound));
        let (name, text, local) = match (values.next(), values.next(), values.next()) {
            (Some(Some(Value::Text(name))), Some(Some(Value::Text(text))), Some(Some(local))) => {
                (name, text, is_true(&local)?)
            }
            _ => {
                return Err(Error::refused(
                    30001,
                    "set_config takes literals or parameters here",
                    "write the variable's name and value into the statement",
                ));
            }
        };
        let dialect = self.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
        let parts: Vec<String> = name.split('.').map(|part| dialect.quote(part)).collect();
        let scope = if local { "LOCAL" } else { "SESSION" };
        let set = format!("SET {scope} {} = {}", parts.join("."), setting(&name, &text, &*dialect));
        let set = pando_sql::parse(&set, dialect.syntax()).map_err(super::run::syntax_error)?;
        let Kind::Set(assignments) = &set.kind else {
            return Err(ErrorKind::Variable(format!("`{name}` is no variable's name")).into());
        };
        Box::pin(self.set(&set, assignments, &Bound::default())).await?;
        if matches!(self.pending.back(), Some(Event::Complete(_))) {
            self.pending.pop_back();
        }
        self.rows("SELECT", &[label], &[vec![Value::Text(text)]])?;
        Ok(true)
    }
}

/// A list of names is written as one, so that each stays a name of its own.
fn setting(name: &str, text: &str, dialect: &dyn pando_kernel::Dialect) -> String {
    let is_list = name.eq_ignore_ascii_case("search_path") && !text.trim().is_empty();
    if !is_list {
        return dialect.literal(&Value::Text(text.to_owned()));
    }
    let parts: Vec<String> = text
        .split(',')
        .map(|part| match part.trim() {
            quoted if quoted.starts_with('"') => quoted.to_owned(),
            plain => dialect.quote(&plain.to_lowercase()),
        })
        .collect();
    parts.join(", ")
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn value(expr: &Expr, bound: &Bound) -> Option<Value> {
    match &expr.node {
        Node::Nested(inner) => value(inner, bound),
        Node::Cast { operand, .. } => value(operand, bound),
        Node::Parameter(index) => bound.parameters.get(*index as usize).map(|p| p.value.clone()),
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
