//! Constants that are cast, as drivers write them (`'1815-12-10'::date`): one that is cast to what its column is says
//! nothing more than the constant.

use pando_columns::{Given, Place, Rows, Use, Value};
use pando_kernel::DeclaredType;
use pando_kernel::changes::Changes;
use pando_kernel::error::{Error, Result};
use pando_sql::ast::{Expr, Node};
use pando_sql::{Fold, Span};

use crate::column::EncryptedColumn;

/// Refuses casts that may change a value of the column. `text` is the statement's.
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

/// Whether every value of a type stays what it is when it is cast so.
fn keeps(to: &str, own: DeclaredType, fold: Fold) -> bool {
    use DeclaredType::{Char, Decimal, Int, Text, Time, Timestamp};
    let bare = to.trim().to_lowercase();
    let bare = bare.strip_prefix("pg_catalog.").unwrap_or(&bare);
    if matches!(own, Decimal { .. }) && fold == Fold::Lower && matches!(bare, "numeric" | "decimal")
    {
        return true;
    }
    match (DeclaredType::read(bare, fold), own) {
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

/// The constant of an expression, which goes without the cast around it: what is stored is no value of that type.
pub(crate) fn uncast(expr: &Expr, changes: &mut Changes) -> Expr {
    let Node::Cast { operand, .. } = &expr.node else { return expr.clone() };
    if let Node::Parameter(_) = operand.node {
        // The parameter stays where it stands, as its place among the others tells its number.
        for around in [
            Span::new(expr.span.start, operand.span.start),
            Span::new(operand.span.end, expr.span.end),
        ] {
            if around.start < around.end {
                changes.text().replace(around, "");
            }
        }
        return (**operand).clone();
    }
    Expr { span: expr.span, node: operand.node.clone() }
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
