//! A mask that people write themselves.

use pando_config::{Algorithm, Problem};
use pando_inline::{Datum, Formula, Type, Variable};
use pando_kernel::error::{Error, ErrorKind, Result};

use super::{Mask, props};

/// `EXPRESSION`: an inline expression over `value` that gives a text.
#[derive(Debug)]
pub(super) struct Expression(Formula);

const VARIABLES: [Variable; 1] = [Variable { name: "value", of: Type::Text }];

impl Expression {
    pub(super) fn new(algorithm: &Algorithm) -> std::result::Result<Self, Problem> {
        props::check(algorithm, &["expression"])?;
        let text = props::required(algorithm, "expression")?;
        let formula = Formula::compile(&text.value, &VARIABLES);
        formula.map(Self).map_err(|error| text.at.problem(error.to_string()))
    }
}

impl Mask for Expression {
    /// # Errors
    /// `Value` where it cannot be computed, as of a text that is too short for it. The value is not told.
    fn masked(&self, plain: &str) -> Result<String> {
        self.0.text(&[Datum::Text(plain.into())]).map_err(|error| {
            Error::new(ErrorKind::Value(format!(
                "a value cannot be masked by its expression (character {})",
                error.at + 1
            )))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> std::result::Result<Expression, Problem> {
        Expression::new(&Algorithm::nowhere("EXPRESSION", [("expression", text)]))
    }

    #[test]
    fn a_text_is_computed_of_the_value() {
        for (text, plain, told) in [
            ("value.substring(0, 3) + '****'", "13800138000", "138****"),
            ("value.size() > 4 ? value[0] + '***' : '***'", "Ada", "***"),
            ("value.contains('@') ? '*' + value.substring(value.indexOf('@')) : '*'", "a@b", "*@b"),
            ("value.size().toString()", "äö", "2"),
        ] {
            assert_eq!(made(text).unwrap().masked(plain).unwrap(), told, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_computed_tells_nothing_of_the_value() {
        let error = made("value.substring(0, 9)").unwrap().masked("secret").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn an_expression_that_gives_no_text_is_refused() {
        for text in ["", "value.size()", "value ==", "card", "value == 'a'"] {
            assert!(made(text).is_err(), "{text}");
        }
    }
}
