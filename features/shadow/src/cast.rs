//! Casts that leave a value as it is.

use pando_kernel::Value;
use pando_sql::Syntax;

/// A type that some values are cast to without a change. None has a length: statements that differ in it alone have one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// Texts of any length.
    Text,
    /// Whole numbers between two, as numbers or as servers write them.
    Integer { low: i128, high: i128 },
}

impl Keeps {
    /// The type of this text; `None` of one that may change any value.
    ///
    /// <https://www.postgresql.org/docs/current/datatype.html>,
    /// <https://dev.mysql.com/doc/refman/8.0/en/cast-functions.html#function_cast>
    pub(crate) fn of(text: &str, syntax: &Syntax) -> Option<Self> {
        let name = text.to_ascii_lowercase();
        let words: Vec<&str> = name.split_ascii_whitespace().collect();
        let between = |low: i128, high: i128| Some(Self::Integer { low, high });
        match (&words[..], syntax.casts_with_colons) {
            (["text" | "varchar"] | ["character", "varying"], true) => Some(Self::Text),
            (["smallint" | "int2"], true) => between(i16::MIN.into(), i16::MAX.into()),
            (["int" | "integer" | "int4"], true) => between(i32::MIN.into(), i32::MAX.into()),
            (["bigint" | "int8"], true) => between(i64::MIN.into(), i64::MAX.into()),
            // Elsewhere one character of it is left.
            (["char"], false) => Some(Self::Text),
            (["signed"] | ["signed", "integer"], false) => {
                between(i64::MIN.into(), i64::MAX.into())
            }
            (["unsigned"] | ["unsigned", "integer"], false) => between(0, u64::MAX.into()),
            _ => None,
        }
    }

    /// The value behind the cast; `None` where a server would have to tell.
    pub(crate) fn kept(self, value: Value) -> Option<Value> {
        match (self, value) {
            (_, Value::Null) => Some(Value::Null),
            (Self::Text, value @ (Value::Text(_) | Value::Int(_) | Value::UInt(_))) => Some(value),
            (Self::Integer { low, high }, value) => {
                let number = whole(&value)?;
                let number = (low..=high).contains(&number).then_some(number)?;
                let signed = i64::try_from(number).map(Value::Int);
                signed.or_else(|_| u64::try_from(number).map(Value::UInt)).ok()
            }
            (Self::Text, _) => None,
        }
    }
}

/// The whole number that a value is, or that it is written as with nothing around it.
fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        Value::Text(text) => text.parse().ok().filter(|number: &i128| number.to_string() == *text),
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::Decimal(_) | Value::Bytes(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MYSQL: Syntax = pando_fake::BACKTICK;
    const POSTGRES: Syntax = pando_fake::STANDARD;

    fn check(to: &str, syntax: &Syntax, value: Value, kept: Option<Value>) {
        assert_eq!(Keeps::of(to, syntax).and_then(|to| to.kept(value)), kept, "{to}");
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn what_a_type_has_room_for_is_kept() {
        check("INT", &POSTGRES, Value::Int(13), Some(Value::Int(13)));
        check("bigint", &POSTGRES, text("-13"), Some(Value::Int(-13)));
        check("Character  Varying", &POSTGRES, text("a"), Some(text("a")));
        check("text", &POSTGRES, Value::Int(13), Some(Value::Int(13)));
        check("int", &POSTGRES, Value::Null, Some(Value::Null));
        check("UNSIGNED", &MYSQL, Value::UInt(u64::MAX), Some(Value::UInt(u64::MAX)));
        check("SIGNED INTEGER", &MYSQL, text("13"), Some(Value::Int(13)));
        check("CHAR", &MYSQL, text("13"), Some(text("13")));
    }

    #[test]
    fn what_a_server_may_change_is_not() {
        let half = || Value::Decimal("12.6".parse().unwrap());
        for (to, syntax, value) in [
            ("int", &POSTGRES, half()),
            ("int", &POSTGRES, Value::Float(12.6)),
            ("int", &POSTGRES, text("0013")),
            ("int", &POSTGRES, text("+13")),
            ("int", &POSTGRES, text("12.6")),
            ("int", &POSTGRES, Value::Bool(true)),
            ("int2", &POSTGRES, Value::Int(65_549)),
            ("char", &POSTGRES, text("13")),
            ("varchar(2)", &POSTGRES, text("130")),
            ("numeric", &POSTGRES, half()),
            ("text", &POSTGRES, half()),
            ("text", &POSTGRES, Value::Bool(true)),
            ("pg_catalog.text[]", &POSTGRES, text("13")),
            ("signed", &MYSQL, Value::UInt(u64::MAX)),
            ("unsigned", &MYSQL, Value::Int(-1)),
            ("char(1)", &MYSQL, text("13")),
            ("binary", &MYSQL, text("13")),
        ] {
            check(to, syntax, value, None);
        }
    }
}
