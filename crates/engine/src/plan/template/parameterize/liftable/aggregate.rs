//! Aggregates that every server has for columns of these kinds. One that it has not fails when it is prepared, where a client in a transaction is told to repeat
//! that: no good where its text fails as well.

use pando_kernel::Kind;
use pando_kernel::dialect::TableColumn;
use pando_sql::ast::{Expr, Function, Node};

use super::column;

/// One of a column, or of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregate<'a> {
    Count,
    /// `max` and `min`.
    Extreme(&'a str),
    /// `avg` and `sum`.
    Sum(&'a str),
}

impl<'a> Aggregate<'a> {
    /// A plain call; `None` for everything else.
    pub(super) fn of(expr: &'a Expr) -> Option<Self> {
        let Node::Function(call) = &expr.node else { return None };
        let Function { name, arguments, star, order_by, separator, filter, .. } = &**call;
        let [name] = &name.parts[..] else { return None };
        let is_bare = order_by.is_empty()
            && separator.is_none()
            && filter.is_none()
            && call.within_group.is_none()
            && call.over.is_none();
        let of = match &arguments[..] {
            [] if *star => None,
            [one] => Some(column(one)?),
            _ => return None,
        };
        match (name.value.to_ascii_lowercase().as_str(), of) {
            ("count", _) => Some(Self::Count),
            ("max" | "min", Some(of)) => Some(Self::Extreme(of)),
            ("avg" | "sum", Some(of)) => Some(Self::Sum(of)),
            _ => None,
        }
        .filter(|_| is_bare)
    }

    /// Whether there is such a one for its column, which is `known` or not.
    pub(super) fn exists<'b>(self, known: impl Fn(&str) -> Option<&'b TableColumn>) -> bool {
        let is_number =
            |kind: Kind| matches!(kind, Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float);
        match self {
            Self::Count => true,
            Self::Sum(of) => known(of).is_some_and(|column| is_number(column.kind)),
            Self::Extreme(of) => known(of).is_some_and(|column| {
                is_number(column.kind)
                    || matches!(
                        column.kind,
                        Kind::Text | Kind::Date | Kind::Time | Kind::Timestamp | Kind::TimestampTz
                    )
            }),
        }
    }
}
