//! How MySQL describes a column of a declared type.

use pando_kernel::{DeclaredType, Native};

use super::{BINARY_CHARSET, ColumnType, FAMILY, flag};

/// A character's octets in `utf8mb4`.
const OCTETS: u32 = 4;
/// The octets of a TEXT without a bound, as `LONGTEXT` tells them.
const LONGEST: u32 = u32::MAX;

/// The description: display lengths are those of
/// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html>.
/// Whether the column may be NULL and what keys it is part of stays.
pub(crate) fn native(declared: DeclaredType, stored: &Native) -> Native {
    let (kind, length, decimals) = shape(declared);
    let kept = stored.flags & !(flag::BINARY | flag::BLOB | flag::UNSIGNED);
    let own = match declared {
        DeclaredType::Text { most: None } => flag::BLOB,
        DeclaredType::Int { unsigned: true, .. } => flag::UNSIGNED,
        DeclaredType::Date | DeclaredType::Time { .. } | DeclaredType::Timestamp { .. } => {
            flag::BINARY
        }
        DeclaredType::Text { .. }
        | DeclaredType::Char { .. }
        | DeclaredType::Int { .. }
        | DeclaredType::TinyInt1
        | DeclaredType::Decimal { .. }
        | DeclaredType::Bool
        | DeclaredType::Uuid => 0,
    };
    let charset = if declared.is_text() { stored.charset } else { BINARY_CHARSET };
    Native {
        family: FAMILY,
        type_id: kind as u32,
        length: i64::from(length),
        flags: kept | own,
        charset,
        decimals,
        ..*stored
    }
}

fn shape(declared: DeclaredType) -> (ColumnType, u32, u8) {
    let places = |digits: u8| if digits == 0 { 0 } else { u32::from(digits) + 1 };
    match declared {
        DeclaredType::Text { most: Some(most) } => (ColumnType::VarString, most * OCTETS, 0),
        DeclaredType::Text { most: None } => (ColumnType::Blob, LONGEST, 0),
        DeclaredType::Char { length } => (ColumnType::String, length * OCTETS, 0),
        DeclaredType::Int { octets, unsigned } => {
            let (kind, signed) = match octets {
                1 => (ColumnType::Tiny, 4),
                2 => (ColumnType::Short, 6),
                3 => (ColumnType::Int24, 9),
                8 => (ColumnType::LongLong, 20),
                _ => (ColumnType::Long, 11),
            };
            // A BIGINT has as many digits without a sign as with one.
            let is_shorter = unsigned && octets != 8;
            (kind, signed - u32::from(is_shorter), 0)
        }
        DeclaredType::TinyInt1 => (ColumnType::Tiny, 1, 0),
        DeclaredType::Decimal { digits, scale } => {
            let point = u32::from(scale > 0);
            (ColumnType::NewDecimal, u32::from(digits) + point + 1, scale)
        }
        DeclaredType::Date => (ColumnType::Date, 10, 0),
        DeclaredType::Time { places: digits } => (ColumnType::Time, 10 + places(digits), digits),
        DeclaredType::Timestamp { places: digits } => {
            (ColumnType::DateTime, 19 + places(digits), digits)
        }
        DeclaredType::Bool => (ColumnType::Tiny, 1, 0),
        DeclaredType::Uuid => (ColumnType::String, 36 * OCTETS, 0),
    }
}

#[cfg(test)]
mod tests {
    use pando_sql::Fold;

    use super::*;

    #[test]
    fn types_are_described_as_the_server_does() {
        for (text, expected) in [
            ("varchar(20)", (253, 80, 0)),
            ("int", (3, 11, 0)),
            ("int unsigned", (3, 10, 0)),
            ("bigint unsigned", (8, 20, 0)),
            ("decimal(10,2)", (246, 12, 2)),
            ("date", (10, 10, 0)),
            ("datetime(3)", (12, 23, 3)),
        ] {
            let told = native(DeclaredType::read(text, Fold::Keep).unwrap(), &Native::default());
            assert_eq!((told.type_id, told.length, told.decimals), expected, "{text}");
        }
    }
}
