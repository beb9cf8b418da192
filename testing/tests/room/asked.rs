//! The value by which the room sends a statement elsewhere.

use pando_columns::{Given, Place, Rows, Uses, Value as Constant};
use pando_kernel::feature::Context;
use pando_kernel::shortcut::{Choose, Values};
use pando_kernel::{Target, Value};
use pando_sql::ast::{Expr, InsertSource, Kind, Node, Statement};
use pando_sql::visit;

use crate::turning::ASIDE;

/// Rows with this value are on a unit of their own.
pub(crate) const VALUE: &str = "aside";

/// Where the one value stands that a statement compares the column with, or inserts.
#[derive(Debug, Clone)]
pub(crate) struct Asked(Expr);

/// The one constant of a statement by which it could be sent elsewhere.
pub(crate) fn asked(uses: &Uses, stmt: &Statement, ctx: &Context<'_>) -> Option<Asked> {
    let mut found = uses.columns.iter().filter_map(|one| match &one.place {
        Place::EqualTo(value) => constant(stmt, *value),
        Place::InsertColumn { at, rows: Rows::Values(list) } => match (&list[..], &stmt.kind) {
            ([Given::Value(_)], Kind::Insert(insert)) => match &insert.source {
                InsertSource::Values { rows, .. } => rows
                    .first()?
                    .value(*at, &stmt.text, ctx.dialect.syntax())
                    .map(std::borrow::Cow::into_owned),
                InsertSource::Set(_) | InsertSource::Query(_) | InsertSource::Default => None,
            },
            _ => None,
        },
        _ => None,
    });
    let first = found.next()?;
    found.next().is_none().then_some(Asked(first))
}

fn constant(stmt: &Statement, value: Constant) -> Option<Expr> {
    let (Constant::Literal(span)
    | Constant::Parameter { span, .. }
    | Constant::Cast { whole: span, .. }) = value;
    let mut found = None;
    visit::exprs(&stmt.kind, &mut |expr| {
        if expr.span == span && matches!(expr.node, Node::Literal(_) | Node::Parameter(_)) {
            found = Some(expr.clone());
        }
    });
    found
}

impl Asked {
    /// Whether the statement's own value is that of the other unit.
    pub(crate) fn is_elsewhere(&self, ctx: &Context<'_>) -> bool {
        let value = match &self.0.node {
            Node::Literal(literal) => Value::of_literal(literal),
            Node::Parameter(index) => ctx.parameter(*index).cloned(),
            _ => None,
        };
        is_value(value.as_ref())
    }
}

fn is_value(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Text(text)) if text == VALUE)
}

/// The other unit's target.
pub(crate) fn elsewhere(target: Target) -> Target {
    Target { unit: ASIDE.into(), rows: None, ..target }
}

/// Chooses by the value at hand.
#[derive(Debug)]
pub(crate) struct ByValue(pub(crate) Asked);

impl Choose for ByValue {
    fn choose(&self, _: &Context<'_>, values: &dyn Values, target: Target) -> Option<Target> {
        let value = match &self.0.0.node {
            Node::Literal(_) => Value::of_literal(&values.literal(self.0.0.span)?)?,
            Node::Parameter(index) => values.parameter(*index)?.clone(),
            _ => return None,
        };
        Some(if is_value(Some(&value)) { elsewhere(target) } else { target })
    }
}
