//! How PostgreSQL describes a column of a declared type.

use pando_kernel::{DeclaredType, Native};

use super::{FAMILY, oid, size};

/// The description; the column stays where it stands.
pub(crate) fn native(declared: DeclaredType, stored: &Native) -> Native {
    let type_id = number(declared);
    Native {
        family: FAMILY,
        type_id,
        length: i64::from(size(type_id)),
        modifier: modifier(declared),
        ..*stored
    }
}

/// The type's number.
pub(crate) fn number(declared: DeclaredType) -> u32 {
    match declared {
        DeclaredType::Text { most: Some(_) } => oid::VARCHAR,
        DeclaredType::Text { most: None } => oid::TEXT,
        DeclaredType::Char { .. } => oid::BPCHAR,
        DeclaredType::Int { octets: 1 | 2, .. } | DeclaredType::TinyInt1 => oid::INT2,
        DeclaredType::Int { octets: 3 | 4, .. } => oid::INT4,
        DeclaredType::Int { .. } => oid::INT8,
        DeclaredType::Decimal { .. } => oid::NUMERIC,
        DeclaredType::Date => oid::DATE,
        DeclaredType::Time { .. } => oid::TIME,
        DeclaredType::Timestamp { .. } => oid::TIMESTAMP,
        DeclaredType::Bool => oid::BOOL,
        DeclaredType::Uuid => oid::UUID,
    }
}

/// `atttypmod`: lengths with the four octets of a header, digits of a numeric above its scale.
/// <https://www.postgresql.org/docs/current/catalog-pg-attribute.html>
pub(crate) fn modifier(declared: DeclaredType) -> i32 {
    const HEADER: i32 = 4;
    match declared {
        DeclaredType::Text { most: Some(length) } | DeclaredType::Char { length } => {
            i32::try_from(length).map_or(-1, |length| length + HEADER)
        }
        DeclaredType::Decimal { digits, scale } => {
            ((i32::from(digits) << 16) | i32::from(scale)) + HEADER
        }
        // Six digits are what it has without a modifier.
        DeclaredType::Time { places } | DeclaredType::Timestamp { places } if places < 6 => {
            i32::from(places)
        }
        DeclaredType::Text { most: None }
        | DeclaredType::Time { .. }
        | DeclaredType::Timestamp { .. }
        | DeclaredType::Int { .. }
        | DeclaredType::TinyInt1
        | DeclaredType::Date
        | DeclaredType::Bool
        | DeclaredType::Uuid => -1,
    }
}

#[cfg(test)]
mod tests {
    use pando_sql::Fold;

    use super::*;

    #[test]
    fn types_are_described_as_the_server_does() {
        for (text, expected) in [
            ("varchar(20)", (oid::VARCHAR, -1, 24)),
            ("text", (oid::TEXT, -1, -1)),
            ("smallint", (oid::INT2, 2, -1)),
            ("bigint", (oid::INT8, 8, -1)),
            ("numeric(10,2)", (oid::NUMERIC, -1, 655_366)),
            ("timestamp", (oid::TIMESTAMP, 8, -1)),
            ("timestamp(3)", (oid::TIMESTAMP, 8, 3)),
        ] {
            let told = native(DeclaredType::read(text, Fold::Lower).unwrap(), &Native::default());
            assert_eq!((told.type_id, told.length, told.modifier), expected, "{text}");
        }
    }
}
