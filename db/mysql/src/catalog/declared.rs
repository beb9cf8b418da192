//! What the catalogue says of the type that clients see a column of.
//! <https://dev.mysql.com/doc/refman/8.4/en/information-schema-columns-table.html>

#![expect(clippy::wildcard_enum_match_arm, reason = "most types have no such number")]

use pando_kernel::dialect::Facts;
use pando_kernel::error::Result;
use pando_kernel::presentation::{Restated, Retold, Telling};
use pando_kernel::{DeclaredType, Native};
use pando_sql::Fold;
use pando_sql::ast::Show;

use super::create::retold;
use super::relation::literal;
use super::show::restate_turned;
use super::version;
use crate::dialect::MySql;
use crate::types::declared::native;

/// The most characters and octets of a TEXT without a bound, which is a LONGTEXT.
const LONGEST: u64 = 4_294_967_295;
/// A character's octets in `utf8mb4`.
const OCTETS: u64 = 4;

impl Retold for MySql {
    fn native(&self, declared: DeclaredType, stored: &Native) -> Native {
        native(declared, stored)
    }

    fn restate_turned(&self, text: &str, show: &Show, facts: &Facts) -> Result<Option<Restated>> {
        restate_turned(text, show, facts)
    }

    fn retell(
        &self,
        show: &Show,
        label: &str,
        field: &str,
        telling: &Telling<'_>,
    ) -> Option<String> {
        retold(show, label, field, telling)
    }
}

/// A type as the server spells it: MariaDB has whole numbers with the width of their display.
pub(super) fn spelled(declared: DeclaredType, facts: &Facts) -> String {
    let text = match declared {
        DeclaredType::Text { most: None } => "longtext".to_owned(),
        _ => declared.spelled(Fold::Keep),
    };
    let DeclaredType::Int { octets, unsigned } = declared else { return text };
    if !version::is_mariadb(facts) {
        return text;
    }
    let width = match octets {
        1 => 4,
        2 => 6,
        3 => 9,
        8 => 20,
        _ => 11,
    };
    let width = if unsigned && octets != 8 { width - 1 } else { width };
    match text.strip_suffix(" unsigned") {
        Some(name) => format!("{name}({width}) unsigned"),
        None => format!("{text}({width})"),
    }
}

/// The value of a column of `information_schema.COLUMNS`, as an expression; `None` where it is the stored column's.
pub(super) fn value(column: &str, declared: DeclaredType, facts: &Facts) -> Option<String> {
    let number = |value: Option<u64>| value.map_or("NULL".to_owned(), |value| value.to_string());
    Some(match column {
        "COLUMN_TYPE" => literal(&spelled(declared, facts)),
        "DATA_TYPE" => {
            let text = spelled(declared, facts);
            let name = text.split(['(', ' ']).next().unwrap_or_default();
            literal(name)
        }
        "CHARACTER_MAXIMUM_LENGTH" => number(characters(declared)),
        "CHARACTER_OCTET_LENGTH" => {
            number(characters(declared).map(|most| (most * OCTETS).min(LONGEST)))
        }
        "NUMERIC_PRECISION" => number(precision(declared)),
        "NUMERIC_SCALE" => number(match declared {
            DeclaredType::Int { .. } | DeclaredType::TinyInt1 => Some(0),
            DeclaredType::Decimal { scale, .. } => Some(scale.into()),
            _ => None,
        }),
        "DATETIME_PRECISION" => number(match declared {
            DeclaredType::Time { places } | DeclaredType::Timestamp { places } => {
                Some(places.into())
            }
            _ => None,
        }),
        "CHARACTER_SET_NAME" if declared.is_text() => literal("utf8mb4"),
        "COLLATION_NAME" if declared.is_text() => literal("utf8mb4_bin"),
        "CHARACTER_SET_NAME" | "COLLATION_NAME" => "NULL".to_owned(),
        // What is stored of a default says nothing.
        "COLUMN_DEFAULT" => "NULL".to_owned(),
        _ => return None,
    })
}

fn characters(declared: DeclaredType) -> Option<u64> {
    match declared {
        DeclaredType::Text { most: Some(most) } => Some(most.into()),
        DeclaredType::Text { most: None } => Some(LONGEST),
        DeclaredType::Char { length } => Some(length.into()),
        _ => None,
    }
}

fn precision(declared: DeclaredType) -> Option<u64> {
    match declared {
        DeclaredType::Int { octets, unsigned } => Some(match octets {
            1 => 3,
            2 => 5,
            3 => 7,
            8 => 19 + u64::from(unsigned),
            _ => 10,
        }),
        DeclaredType::TinyInt1 => Some(3),
        DeclaredType::Decimal { digits, .. } => Some(digits.into()),
        _ => None,
    }
}
