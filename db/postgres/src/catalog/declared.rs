//! What the catalogue says of the type that clients see a column of.
//! <https://www.postgresql.org/docs/current/catalog-pg-attribute.html>,
//! <https://www.postgresql.org/docs/current/infoschema-columns.html>

#![expect(clippy::wildcard_enum_match_arm, reason = "most types have no such number")]

use pando_kernel::presentation::Retold;
use pando_kernel::{DeclaredType, Native};

use super::names::literal;
use crate::dialect::Postgres;
use crate::types;
use crate::types::declared::{modifier, native, number};

/// The octets of a character at most.
const OCTETS: u32 = 4;
/// The most octets of a text.
const LONGEST: u32 = 1 << 30;
/// The number of the collation `default`.
const COLLATION: u32 = 100;

impl Retold for Postgres {
    fn native(&self, declared: DeclaredType, stored: &Native) -> Native {
        native(declared, stored)
    }
}

/// The value of a column of `pg_attribute` or `information_schema.columns`, as an expression; `None` where it is the
/// stored column's.
pub(super) fn value(relation: &str, column: &str, declared: DeclaredType) -> Option<String> {
    match relation {
        "pg_attribute" => attribute(column, declared),
        "columns" => described(column, declared),
        _ => None,
    }
}

fn attribute(column: &str, declared: DeclaredType) -> Option<String> {
    let size = types::size(number(declared));
    let is_by_value = (1..=8).contains(&size);
    Some(match column {
        "atttypid" => number(declared).to_string(),
        "atttypmod" => modifier(declared).to_string(),
        "attlen" => size.to_string(),
        "attbyval" => is_by_value.to_string(),
        "attalign" => literal(match size {
            1 | 16 => "c",
            2 => "s",
            8 => "d",
            _ => "i",
        }),
        "attstorage" => literal(match declared {
            DeclaredType::Text { .. } | DeclaredType::Char { .. } => "x",
            DeclaredType::Decimal { .. } => "m",
            _ => "p",
        }),
        "attcollation" => (if declared.is_text() { COLLATION } else { 0 }).to_string(),
        // What is stored of a default says nothing.
        "atthasdef" => false.to_string(),
        _ => return None,
    })
}

fn described(column: &str, declared: DeclaredType) -> Option<String> {
    let number_or_null =
        |value: Option<u32>| value.map_or("NULL".to_owned(), |value| value.to_string());
    let oid = number(declared);
    let most = match declared {
        DeclaredType::Text { most } => most,
        DeclaredType::Char { length } => Some(length),
        _ => None,
    };
    let precision = match declared {
        DeclaredType::Int { octets: 1 | 2, .. } => Some((16, 2, 0)),
        DeclaredType::Int { octets: 8, .. } => Some((64, 2, 0)),
        DeclaredType::Int { .. } => Some((32, 2, 0)),
        DeclaredType::Decimal { digits, scale } => Some((digits.into(), 10, scale.into())),
        _ => None,
    };
    Some(match column {
        "data_type" => literal(types::oid::name(oid)),
        "udt_name" => literal(types::catalogue_name(oid)?),
        "character_maximum_length" => number_or_null(most),
        "character_octet_length" => number_or_null(match most {
            Some(most) => Some(most * OCTETS),
            None if declared.is_text() => Some(LONGEST),
            None => None,
        }),
        "numeric_precision" => number_or_null(precision.map(|(precision, _, _)| precision)),
        "numeric_precision_radix" => number_or_null(precision.map(|(_, radix, _)| radix)),
        "numeric_scale" => number_or_null(precision.map(|(_, _, scale)| scale)),
        "datetime_precision" => number_or_null(match declared {
            DeclaredType::Date => Some(0),
            DeclaredType::Time { places } | DeclaredType::Timestamp { places } => {
                Some(places.into())
            }
            _ => None,
        }),
        "column_default" => "NULL".to_owned(),
        _ => return None,
    })
}
