//! What SQLite's declared types and its values are in the kernel's terms. SQLite keeps a type per value, not per column: a column's
//! declared type says what its values should be, and what does not fit passes as it is.

use bigdecimal::{BigDecimal, FromPrimitive};
use bytes::Bytes;
use pando_kernel::{Kind, Value};
use rusqlite::types::ValueRef;

/// A declared type, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) kind: Kind,
    /// The first number in parentheses, 0 when there is none.
    pub(crate) length: i64,
    /// Digits behind the point of an exact number, when declared.
    pub(crate) scale: Option<u8>,
}

impl Declared {
    /// Nothing is declared: values pass as they are.
    pub(crate) const OPEN: Self = Self { kind: Kind::Other, length: 0, scale: None };

    pub(crate) fn of(kind: Kind) -> Self {
        Self { kind, ..Self::OPEN }
    }
}

/// Reads the text between a column's name and its constraints.
pub(crate) fn declared(text: &str) -> Declared {
    let upper = text.trim().to_ascii_uppercase();
    let (base, rest) = upper.split_once('(').unwrap_or((&upper, ""));
    let (numbers, tail) = rest.split_once(')').unwrap_or((rest, ""));
    let mut numbers = numbers.split(',').map(str::trim);
    let length = numbers.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let scale = numbers.next().and_then(|n| n.parse().ok());
    let kind = kind(base.trim(), tail.trim());
    // `DECIMAL(10)` is `DECIMAL(10, 0)`; without any number the scale is open.
    let exact = kind == Kind::Decimal && length > 0;
    let scale = exact.then(|| scale.unwrap_or(0));
    Declared { kind, length, scale }
}

fn kind(base: &str, tail: &str) -> Kind {
    let first = base.split_whitespace().next().unwrap_or("");
    let zoned = |text: &str| text.contains("WITH TIME ZONE");
    let unsigned = base.contains("UNSIGNED") || tail.contains("UNSIGNED");
    match first {
        "BOOL" | "BOOLEAN" => Kind::Bool,
        "INT" | "INTEGER" | "BIGINT" | "SMALLINT" | "TINYINT" | "MEDIUMINT" | "INT2" | "INT4"
        | "INT8" | "YEAR" | "SERIAL" | "BIGSERIAL" | "SMALLSERIAL" | "OID" => {
            if unsigned {
                Kind::UInt
            } else {
                Kind::Int
            }
        }
        "DECIMAL" | "DEC" | "NUMERIC" | "NUMBER" | "FIXED" | "MONEY" => Kind::Decimal,
        "FLOAT" | "DOUBLE" | "REAL" | "FLOAT4" | "FLOAT8" => Kind::Float,
        "CHAR" | "CHARACTER" | "VARCHAR" | "NCHAR" | "NVARCHAR" | "VARYING" | "TEXT"
        | "TINYTEXT" | "MEDIUMTEXT" | "LONGTEXT" | "CLOB" | "STRING" | "ENUM" | "SET" | "UUID"
        | "NAME" | "BPCHAR" | "CITEXT" => Kind::Text,
        "BLOB" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BINARY" | "VARBINARY" | "BYTEA" => {
            Kind::Bytes
        }
        "DATE" => Kind::Date,
        "DATETIME" => Kind::Timestamp,
        "TIMESTAMPTZ" => Kind::TimestampTz,
        "TIMESTAMP" if zoned(base) || zoned(tail) => Kind::TimestampTz,
        "TIMESTAMP" => Kind::Timestamp,
        "TIME" | "TIMETZ" => Kind::Time,
        _ => Kind::Other,
    }
}

/// A value as its column's declaration wants it, as far as nothing is lost.
pub(crate) fn value(raw: ValueRef<'_>, declared: Declared) -> Value {
    match raw {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => integer(number, declared),
        ValueRef::Real(number) => real(number, declared),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => words(text, declared),
            Err(_) => Value::Bytes(Bytes::copy_from_slice(text)),
        },
        ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if declared.kind == Kind::Text => Value::Text(text.to_owned()),
            _ => Value::Bytes(Bytes::copy_from_slice(bytes)),
        },
    }
}

fn integer(number: i64, declared: Declared) -> Value {
    match declared.kind {
        Kind::Bool if number == 0 || number == 1 => Value::Bool(number == 1),
        Kind::UInt => u64::try_from(number).map_or(Value::Int(number), Value::UInt),
        Kind::Decimal => scaled(BigDecimal::from(number), declared),
        Kind::Float => Value::Float(number as f64),
        Kind::Text | Kind::Date | Kind::Time | Kind::Timestamp | Kind::TimestampTz => {
            Value::Text(number.to_string())
        }
        Kind::Bytes => Value::Bytes(number.to_string().into()),
        Kind::Bool | Kind::Int | Kind::Other => Value::Int(number),
    }
}

fn real(number: f64, declared: Declared) -> Value {
    match declared.kind {
        // Fifteen digits are what a double keeps of any decimal number; those behind come from adding up.
        Kind::Decimal => match format!("{number:.14e}").parse::<BigDecimal>() {
            Ok(exact) => scaled(plain(&exact), declared),
            Err(_) => Value::Float(number),
        },
        Kind::Text | Kind::Date | Kind::Time | Kind::Timestamp | Kind::TimestampTz => {
            Value::Text(number.to_string())
        }
        Kind::Bytes => Value::Bytes(number.to_string().into()),
        Kind::Bool | Kind::Int | Kind::UInt | Kind::Float | Kind::Other => Value::Float(number),
    }
}

/// Without zeros behind the last digit, and without an exponent.
fn plain(number: &BigDecimal) -> BigDecimal {
    let short = number.normalized();
    if short.fractional_digit_count() < 0 { short.with_scale(0) } else { short }
}

/// Zeros are added up to the declared scale; digits are never taken away.
fn scaled(number: BigDecimal, declared: Declared) -> Value {
    let scale = i64::from(declared.scale.unwrap_or(0));
    let grows = scale > number.fractional_digit_count();
    Value::Decimal(if grows { number.with_scale(scale) } else { number })
}

fn words(text: &str, declared: Declared) -> Value {
    match declared.kind {
        Kind::Decimal => match text.trim().parse() {
            Ok(number) => scaled(number, declared),
            Err(_) => Value::Text(text.to_owned()),
        },
        Kind::Bool => match text {
            "t" | "true" | "TRUE" => Value::Bool(true),
            "f" | "false" | "FALSE" => Value::Bool(false),
            _ => Value::Text(text.to_owned()),
        },
        Kind::Timestamp | Kind::TimestampTz => {
            match (text.as_bytes().get(10), text.split_at_checked(10)) {
                (Some(b'T'), Some((date, rest))) => Value::Text(format!("{date} {}", &rest[1..])),
                _ => Value::Text(text.to_owned()),
            }
        }
        Kind::Bytes => Value::Bytes(Bytes::copy_from_slice(text.as_bytes())),
        Kind::Int
        | Kind::UInt
        | Kind::Float
        | Kind::Text
        | Kind::Date
        | Kind::Time
        | Kind::Other => Value::Text(text.to_owned()),
    }
}

/// The kind of a column that declares nothing, from its values: the one they share; integers and floats share floats. `Other` when they share
/// none or all are NULL.
pub(crate) fn common<'a>(values: impl Iterator<Item = &'a Value>) -> Kind {
    let mut common = None;
    for value in values {
        let kind = match value {
            Value::Null => continue,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::UInt(_) => Kind::UInt,
            Value::Float(_) => Kind::Float,
            Value::Decimal(_) => Kind::Decimal,
            Value::Text(_) => Kind::Text,
            Value::Bytes(_) => Kind::Bytes,
        };
        common = match (common, kind) {
            (None, kind) => Some(kind),
            (Some(known), kind) if known == kind => Some(kind),
            (Some(Kind::Int | Kind::Float), Kind::Int | Kind::Float) => Some(Kind::Float),
            (Some(_), _) => return Kind::Other,
        };
    }
    common.unwrap_or(Kind::Other)
}

/// A parameter as SQLite stores it; `None` when it would lose something.
pub(crate) fn bound(value: &Value) -> Option<rusqlite::types::Value> {
    use rusqlite::types::Value as Stored;
    Some(match value {
        Value::Null => Stored::Null,
        Value::Bool(truth) => Stored::Integer(i64::from(*truth)),
        Value::Int(number) => Stored::Integer(*number),
        Value::UInt(number) => Stored::Integer(i64::try_from(*number).ok()?),
        Value::Float(number) => Stored::Real(*number),
        Value::Decimal(number) => decimal(number),
        Value::Text(text) => Stored::Text(text.clone()),
        Value::Bytes(bytes) => Stored::Blob(bytes.to_vec()),
    })
}

/// A number where SQLite's numbers can hold it, so that it compares as one; else text, which loses nothing.
fn decimal(number: &BigDecimal) -> rusqlite::types::Value {
    use bigdecimal::ToPrimitive;
    use rusqlite::types::Value as Stored;
    if number.is_integer()
        && let Some(whole) = number.to_i64()
    {
        return Stored::Integer(whole);
    }
    match number.to_f64() {
        Some(float) if BigDecimal::from_f64(float).is_some() && reads_back(float, number) => {
            Stored::Real(float)
        }
        _ => Stored::Text(number.to_plain_string()),
    }
}

fn reads_back(float: f64, number: &BigDecimal) -> bool {
    float.to_string().parse::<BigDecimal>().is_ok_and(|back| back == *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_have_the_kind_their_vendors_mean() {
        let cases = [
            ("INTEGER", Kind::Int),
            ("bigint(20) unsigned", Kind::UInt),
            ("INT UNSIGNED", Kind::UInt),
            ("VARCHAR(255)", Kind::Text),
            ("character varying(10)", Kind::Text),
            ("double precision", Kind::Float),
            ("NUMERIC(10, 2)", Kind::Decimal),
            ("boolean", Kind::Bool),
            ("TIMESTAMP", Kind::Timestamp),
            ("timestamp(3) with time zone", Kind::TimestampTz),
            ("DATETIME(6)", Kind::Timestamp),
            ("DATE", Kind::Date),
            ("TIME", Kind::Time),
            ("BLOB", Kind::Bytes),
            ("JSON", Kind::Other),
            ("", Kind::Other),
        ];
        for (text, kind) in cases {
            assert_eq!(declared(text).kind, kind, "{text}");
        }
        assert_eq!(declared("decimal(10,2)").scale, Some(2));
        assert_eq!(declared("decimal(10)").scale, Some(0));
        assert_eq!(declared("decimal").scale, None);
        assert_eq!(declared("VARCHAR(255)").length, 255);
    }

    #[test]
    fn values_fit_their_declaration_and_pass_unchanged_where_they_do_not() {
        let check = |raw: ValueRef<'_>, text: &str, expected: Value| {
            assert_eq!(value(raw, declared(text)), expected, "{text}");
        };
        check(ValueRef::Integer(1), "BOOLEAN", Value::Bool(true));
        check(ValueRef::Integer(7), "BOOLEAN", Value::Int(7));
        check(ValueRef::Real(1.5), "DECIMAL(10,2)", Value::Decimal("1.50".parse().unwrap()));
        check(ValueRef::Integer(3), "DECIMAL(10,2)", Value::Decimal("3.00".parse().unwrap()));
        check(ValueRef::Real(0.1 + 0.2), "DECIMAL(10,2)", Value::Decimal("0.30".parse().unwrap()));
        check(
            ValueRef::Real(1e20),
            "DECIMAL",
            Value::Decimal("100000000000000000000".parse().unwrap()),
        );
        check(ValueRef::Real(0.125), "DECIMAL(10,2)", Value::Decimal("0.125".parse().unwrap()));
        check(ValueRef::Text(b"n/a"), "DECIMAL", Value::Text("n/a".into()));
        check(ValueRef::Integer(3), "DOUBLE", Value::Float(3.0));
        check(ValueRef::Real(1.5), "INT", Value::Float(1.5));
        check(
            ValueRef::Text(b"2026-01-31T13:45:00.5"),
            "TIMESTAMP",
            Value::Text("2026-01-31 13:45:00.5".into()),
        );
        check(
            ValueRef::Text("été 2026 T".as_bytes()),
            "TIMESTAMP",
            Value::Text("été 2026 T".into()),
        );
        check(ValueRef::Text(&[0xff]), "TEXT", Value::Bytes(Bytes::from_static(&[0xff])));
        check(ValueRef::Blob(b"ab"), "BLOB", Value::Bytes(Bytes::from_static(b"ab")));
        check(ValueRef::Null, "INT", Value::Null);
    }

    #[test]
    fn decimals_are_bound_as_numbers_only_when_nothing_is_lost() {
        use rusqlite::types::Value as Stored;
        let check = |text: &str, expected: Stored| {
            assert_eq!(bound(&Value::Decimal(text.parse().unwrap())), Some(expected), "{text}");
        };
        check("12.00", Stored::Integer(12));
        check("12.5", Stored::Real(12.5));
        check("0.1", Stored::Real(0.1));
        check("12345678901234567890.5", Stored::Text("12345678901234567890.5".into()));
        assert_eq!(bound(&Value::UInt(u64::MAX)), None);
    }

    #[test]
    fn columns_without_a_type_take_that_of_their_values() {
        let check = |values: &[Value], expected| assert_eq!(common(values.iter()), expected);
        check(&[Value::Null, Value::Int(1)], Kind::Int);
        check(&[Value::Int(1), Value::Float(1.5)], Kind::Float);
        check(&[Value::Int(1), Value::Text("a".into())], Kind::Other);
        check(&[Value::Null], Kind::Other);
    }
}
