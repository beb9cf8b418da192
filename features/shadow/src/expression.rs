//! A test of values that people write themselves.

use pando_config::{Placed, Problem};
use pando_inline::{Condition, Datum, Type, Variable, number};
use pando_kernel::Value;

use crate::algorithm::{any_marks, of_number, texts};

/// `EXPRESSION`: an inline expression over `value` that is true of values that mark rows.
#[derive(Debug)]
pub(crate) struct Expression {
    condition: Condition,
    of: Type,
}

impl Expression {
    /// `of` is what it takes values for: `text`, which is the default, or `number`.
    ///
    /// # Errors
    /// What is wrong with either, and where.
    pub(crate) fn new(text: &Placed<String>, of: Option<&Placed<String>>) -> Result<Self, Problem> {
        let of = match of {
            None => Type::Text,
            Some(word) if word.eq_ignore_ascii_case("text") => Type::Text,
            Some(word) if word.eq_ignore_ascii_case("number") => Type::Number,
            Some(word) => return Err(word.at.problem("`value-type` is `text` or `number`")),
        };
        let variables = [Variable { name: "value", of }];
        let condition = Condition::compile(&text.value, &variables);
        let condition = condition.map_err(|error| text.at.problem(error.to_string()))?;
        if condition.used().is_empty() {
            return Err(text.at.problem("the expression does not look at `value`"));
        }
        Ok(Self { condition, of })
    }

    /// Whether the value marks a row; NULL marks none. `None` where that cannot be computed: of a text that is no number,
    /// and where a part of the expression fails.
    pub(crate) fn marks(&self, value: &Value) -> Option<bool> {
        if value.is_null() {
            return Some(false);
        }
        if self.of == Type::Number {
            return self.holds(number_of(value)?);
        }
        let texts = texts(value);
        any_marks(texts.iter().map(|text| self.holds(Datum::text(text))))
    }

    fn holds(&self, value: Datum<'_>) -> Option<bool> {
        self.condition.holds(&[value]).ok()
    }
}

/// A text is the number that a server would read in it: it may stand in the place of one.
fn number_of(value: &Value) -> Option<Datum<'static>> {
    let number = match value {
        Value::Text(text) => number::of_text(text),
        Value::Bool(flag) => return Some(Datum::int(i128::from(*flag))),
        Value::Null | Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Decimal(_) => {
            number::reduce(&of_number(value)?)
        }
        Value::Bytes(_) => None,
    };
    number.map(Datum::number)
}

#[cfg(test)]
mod tests {
    use pando_config::{Algorithm, At};

    use super::*;

    fn made(text: &str, of: &str) -> Result<Expression, Problem> {
        let props = [("expression", text), ("value-type", of)];
        let algorithm = Algorithm::nowhere("EXPRESSION", props);
        let placed = |name| algorithm.props.get(name);
        Expression::new(placed("expression").unwrap(), placed("value-type"))
    }

    fn check(text: &str, of: &str, value: Value, expected: Option<bool>) {
        assert_eq!(made(text, of).unwrap().marks(&value), expected, "{text}: {value:?}");
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn numbers_are_numbers_however_they_are_written() {
        let tail = "value % 100 == 13";
        for value in
            [Value::Int(113), Value::UInt(13), Value::Float(213.0), text("13"), text("13.0")]
        {
            check(tail, "number", value, Some(true));
        }
        check(tail, "number", Value::Decimal("13.00".parse().unwrap()), Some(true));
        check(tail, "number", Value::Int(14), Some(false));
        check("value >= 9000 && value < 9100", "number", Value::Int(9050), Some(true));
        check("value == 1", "number", Value::Bool(true), Some(true));
    }

    #[test]
    fn texts_are_told_by_methods() {
        check("value.endsWith('@test')", "text", text("bob@test"), Some(true));
        check("value.endsWith('@test')", "text", text("bob@x"), Some(false));
        check("value == '13'", "text", Value::Int(13), Some(true));
    }

    #[test]
    fn null_marks_nothing_and_what_cannot_be_computed_is_not_guessed() {
        check("value != 5", "number", Value::Null, Some(false));
        check("value % 2 == 0", "number", text("abc"), None);
        check("1 / value > 0", "number", Value::Int(0), None);
        check("value.substring(0, 4) == 'test'", "text", text("a"), None);
    }

    #[test]
    fn what_says_nothing_of_the_value_is_refused() {
        for (text, of) in [
            ("value + 1", "number"),
            ("true", "text"),
            ("value > 5", "text"),
            ("value == 'a'", "number"),
            ("user_id == 5", "number"),
            ("value == 5", "date"),
            ("", "text"),
        ] {
            assert!(made(text, of).is_err(), "{text}");
        }
        let _: At = made("value ==", "text").unwrap_err().at;
    }
}
