//! Casts of constants whose result is the same at every server. Any other is left to the servers: the value is not known then.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not known to be safe")]

use pando_kernel::Value;

use crate::moment;
use crate::value;
use pando_inline::number::Number;

/// The constant as this type, written as in the statement.
pub(crate) fn cast(value: Value, to: &str) -> Option<Value> {
    let to = to.trim().to_ascii_lowercase();
    let to = to.strip_prefix("pg_catalog.").unwrap_or(&to);
    let to = to.strip_prefix('"').and_then(|to| to.strip_suffix('"')).unwrap_or(to);
    if value.is_null() {
        return Some(Value::Null);
    }
    match to.split_ascii_whitespace().collect::<Vec<_>>().join(" ").as_str() {
        "int" | "integer" | "int2" | "int4" | "int8" | "smallint" | "bigint" | "signed"
        | "signed integer" | "signed int" => whole(value),
        "unsigned" | "unsigned integer" | "unsigned int" => {
            whole(value).filter(|value| !matches!(value, Value::Int(number) if *number < 0))
        }
        "numeric" => match value {
            Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Some(value),
            _ => None,
        },
        "text" | "varchar" | "character varying" => match value {
            Value::Text(_) => Some(value),
            Value::Int(number) => Some(Value::Text(number.to_string())),
            Value::UInt(number) => Some(Value::Text(number.to_string())),
            _ => None,
        },
        "bool" | "boolean" => matches!(value, Value::Bool(_)).then_some(value),
        "uuid" => matches!(value, Value::Text(_)).then_some(value),
        "date" => moment::date(&value),
        "time" => moment::time(&value).filter(|value| moment::places(value) == 0),
        "timestamp" | "datetime" => {
            moment::timestamp(&value).filter(|value| moment::places(value) == 0)
        }
        _ => None,
    }
}

/// Numbers with a fraction are rounded by rules of each server's own.
fn whole(given: Value) -> Option<Value> {
    if matches!(given, Value::Bytes(_) | Value::Null) {
        return None;
    }
    let Some(Number::Small(number)) = value::number(&given) else { return None };
    i64::try_from(number).ok().map(Value::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_casts_that_keep_the_value_are_known() {
        let text = |text: &str| Value::Text(text.into());
        let decimal = |text: &str| Value::Decimal(text.parse().expect(text));
        assert_eq!(cast(text("5"), "int"), Some(Value::Int(5)));
        assert_eq!(cast(decimal("5.0"), " SIGNED  INTEGER "), Some(Value::Int(5)));
        assert_eq!(cast(Value::Int(5), "pg_catalog.int8"), Some(Value::Int(5)));
        assert_eq!(cast(Value::Int(5), "pg_catalog.\"int4\""), Some(Value::Int(5)));
        assert_eq!(cast(text("x"), "text"), Some(text("x")));
        assert_eq!(cast(text("2024-01-02 00:00:00"), "date"), Some(text("2024-01-02")));
        for (value, to) in [
            (decimal("4.6"), "int"),
            (text("5abc"), "signed"),
            (Value::Int(-1), "unsigned"),
            (text("alice"), "char(3)"),
            (text("alice"), "char"),
            (text("2024-01-02 10:00:00"), "date"),
            (text("2024-01-02 10:00:00.7"), "datetime"),
            (decimal("5.7"), "decimal(10,0)"),
            (Value::Bytes(b"5".as_slice().into()), "signed"),
        ] {
            assert_eq!(cast(value.clone(), to), None, "{value:?} as {to}");
        }
    }
}
