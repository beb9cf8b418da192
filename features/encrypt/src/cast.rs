//! Constants that are cast, as drivers write them (`'1815-12-10'::date`), to what their column is or holds: the cast is
//! done here, as what is stored is of another type.

use std::sync::Arc;

use pando_columns::{Given, Place, Rows, Use, Value};
use pando_kernel::changes::{Changes, Turn, ValueMap};
use pando_kernel::error::{Error, Result};
use pando_kernel::{DeclaredType, Value as PlainValue};
use pando_sql::ast::{Expr, Node};
use pando_sql::{Fold, Span};

use crate::canonical::{Aim, Declared};
use crate::column::EncryptedColumn;

/// Refuses casts to types that have not all values of the column. `text` is the statement's.
///
/// # Errors
/// `Refused`, with the types.
pub(crate) fn check(one: &Use, column: &EncryptedColumn, text: &str, fold: Fold) -> Result<()> {
    let declared = match column.declared {
        Some(declared) => declared.declared,
        None => DeclaredType::Text { most: None },
    };
    for value in values(&one.place) {
        let Value::Cast { to, .. } = value else { continue };
        let to = to.of(text);
        if !keeps(to, declared, fold) {
            let (name, own) = (&column.of.column, declared.spelled(fold));
            return Err(Error::unsupported(
                30001,
                format!(
                    "a value of the encrypted column `{name}`, which is {own}, is cast to {to}"
                ),
                "leave the cast away",
            ));
        }
    }
    Ok(())
}

/// Whether a type has every value of the column's, written alike.
fn keeps(to: &str, own: DeclaredType, fold: Fold) -> bool {
    use DeclaredType::{Char, Decimal, Int, Text, Time, Timestamp};
    let bare = bare(to);
    let is_any_number = fold == Fold::Lower && matches!(bare.as_str(), "numeric" | "decimal");
    if is_any_number && matches!(own, Decimal { .. }) {
        return true;
    }
    match (DeclaredType::read(&bare, fold), own) {
        (Some(Text { most: None }), Text { .. } | Char { .. }) => true,
        (Some(Int { octets: to, unsigned: false }), Int { octets, unsigned: false }) => {
            to >= octets
        }
        (Some(Time { places: to }), Time { places })
        | (Some(Timestamp { places: to }), Timestamp { places }) => to >= places,
        (Some(to), own) => to == own,
        (None, _) => false,
    }
}

/// A type's name in lower case, without the schema that has all of them.
fn bare(to: &str) -> String {
    let lower = to.trim().to_lowercase();
    lower.strip_prefix("pg_catalog.").unwrap_or(&lower).to_owned()
}

/// The constants of a place.
fn values(place: &Place) -> Vec<Value> {
    let given = |given: &Given| if let Given::Value(value) = given { Some(*value) } else { None };
    match place {
        Place::EqualTo(value) | Place::NotEqualTo(value) => vec![*value],
        Place::InList { values, .. } => values.clone(),
        Place::Like { pattern, .. } => vec![*pattern],
        Place::Assigned(one) => given(one).into_iter().collect(),
        Place::InsertColumn { rows: Rows::Values(list), .. } => {
            list.iter().filter_map(given).collect()
        }
        Place::Item { .. }
        | Place::Returning { .. }
        | Place::InnerItem { .. }
        | Place::Stored { .. }
        | Place::EqualToColumn(_)
        | Place::NotEqualToColumn(_)
        | Place::Between { .. }
        | Place::Ordered { .. }
        | Place::NullTest
        | Place::GroupKey
        | Place::OrderKey
        | Place::DistinctKey
        | Place::Aggregate { .. }
        | Place::InsertColumn { .. }
        | Place::AssignedTo { .. }
        | Place::ConflictTarget
        | Place::Field { .. }
        | Place::Definition(_)
        | Place::Inside { .. } => Vec::new(),
    }
}

/// A constant that goes without the cast around it: what is stored is no value of that type.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) expr: Expr,
    to: Option<Declared>,
}

impl Constant {
    /// Of an expression in a statement of this text.
    pub(crate) fn of(expr: &Expr, text: &str, fold: Fold, changes: &mut Changes) -> Self {
        let Node::Cast { operand, to } = &expr.node else {
            return Self { expr: expr.clone(), to: None };
        };
        // `numeric` alone keeps any number as it is.
        let to = DeclaredType::read(&bare(to.of(text)), fold);
        let to = to.map(|declared| Declared { declared, fold });
        if !matches!(operand.node, Node::Parameter(_)) {
            return Self { expr: Expr { span: expr.span, node: operand.node.clone() }, to };
        }
        // A parameter stays where it stands, as its place among the others tells its number.
        for around in [
            Span::new(expr.span.start, operand.span.start),
            Span::new(operand.span.end, expr.span.end),
        ] {
            if around.start < around.end {
                changes.text().replace(around, "");
            }
        }
        Self { expr: (**operand).clone(), to }
    }

    /// As [`Constant::of`], where the cast stays: something is only put behind it.
    pub(crate) fn kept(expr: &Expr, text: &str, fold: Fold) -> Self {
        let Node::Cast { operand, to } = &expr.node else {
            return Self { expr: expr.clone(), to: None };
        };
        let to = DeclaredType::read(&bare(to.of(text)), fold);
        let to = to.map(|declared| Declared { declared, fold });
        Self { expr: Expr { span: expr.span, node: operand.node.clone() }, to }
    }

    /// The constant where it ends no earlier than there: behind parentheses, say.
    pub(crate) fn up_to(&self, end: u32) -> Expr {
        let span = Span::new(self.expr.span.start, end.max(self.expr.span.end));
        Expr { span, node: self.expr.node.clone() }
    }

    /// What becomes of it, where that is done with a value of its column: if it is cast it is made one first.
    pub(crate) fn turn(&self, column: &EncryptedColumn, then: &Turn) -> Turn {
        let Some(to) = self.to else { return then.clone() };
        let column = Arc::clone(&column.of.column);
        Turn(Arc::new(Cast { column, to, then: then.clone() }))
    }
}

/// Casts a value, and does with it what would be done without.
#[derive(Debug)]
struct Cast {
    column: Arc<str>,
    to: Declared,
    then: Turn,
}

impl ValueMap for Cast {
    fn turned(&self, value: &PlainValue) -> Result<PlainValue> {
        let text = self.to.text(&self.column, value, Aim::Cast)?;
        self.then.of(&PlainValue::Text(text))
    }

    fn declared(&self) -> Option<DeclaredType> {
        Some(self.to.declared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cast_to_the_columns_type_changes_nothing() {
        for (to, own, expected) in [
            ("date", "date", true),
            (" PG_CATALOG.date", "date", true),
            ("timestamp", "timestamp(3)", true),
            ("timestamp(0)", "timestamp(3)", false),
            ("timestamp", "date", false),
            ("bigint", "int", true),
            ("smallint", "int", false),
            ("numeric", "numeric(10,2)", true),
            ("numeric(10,1)", "numeric(10,2)", false),
            ("varchar", "varchar(20)", true),
            ("text", "varchar(20)", true),
            ("varchar(5)", "varchar(20)", false),
            ("uuid", "uuid", true),
            ("money", "numeric(10,2)", false),
        ] {
            let own = DeclaredType::read(own, Fold::Lower).unwrap();
            assert_eq!(keeps(to, own, Fold::Lower), expected, "{to} {own:?}");
        }
    }
}
