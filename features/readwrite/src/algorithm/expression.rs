//! A choice that people write themselves.

use pando_config::{Algorithm, Problem};
use pando_inline::{Datum, Formula, Type, Variable};
use pando_kernel::error::{Error, ErrorKind, Result};

use super::{Asked, Balancer, unknown};

/// `EXPRESSION`: an inline expression that names the unit.
#[derive(Debug)]
pub(super) struct Expression(Formula);

const VARIABLES: [Variable; 6] = [
    Variable { name: "units", of: Type::Texts },
    Variable { name: "ticket", of: Type::Number },
    Variable { name: "primary", of: Type::Text },
    Variable { name: "group", of: Type::Text },
    Variable { name: "user", of: Type::Text },
    Variable { name: "in_transaction", of: Type::Bool },
];

impl Expression {
    pub(super) fn new(algorithm: &Algorithm) -> std::result::Result<Self, Problem> {
        let kind = &algorithm.kind;
        let mut text = None;
        for (key, value) in algorithm.props.iter() {
            match key.as_str() {
                "expression" => text = Some(value),
                _ => return Err(unknown(key, kind)),
            }
        }
        let text = text.ok_or_else(|| {
            kind.at.problem(format!("`{}` needs the property `expression`", kind.value))
        })?;
        let formula = Formula::compile(&text.value, &VARIABLES);
        formula.map(Self).map_err(|error| text.at.problem(error.to_string()))
    }
}

impl Balancer for Expression {
    /// Where no unit takes reads the primary answers, and nothing is computed.
    ///
    /// # Errors
    /// `Value` where it cannot be computed, `Unavailable` where it names a unit that may not be read now.
    fn choose(&self, asked: &Asked<'_>) -> Result<Option<usize>> {
        let able = || asked.among.iter().filter_map(|at| Some((*at, asked.reads.get(*at)?)));
        if able().next().is_none() {
            return Ok(None);
        }
        let units = able().map(|(_, unit)| Datum::text(&**unit)).collect();
        let values = [
            Datum::List(units),
            Datum::int(i128::from(asked.ticket)),
            Datum::text(asked.primary),
            Datum::text(asked.group),
            Datum::text(asked.user),
            Datum::Bool(asked.in_transaction),
        ];
        let failed = |error| {
            let message = format!("the load balancer of `{}` cannot choose: {error}", asked.group);
            Error::new(ErrorKind::Value(message))
        };
        let name = self.0.text(&values).map_err(failed)?;
        named(asked, &name)
    }
}

/// The unit of this name, which may be the primary's.
///
/// # Errors
/// `Unavailable` of one that may not be read now.
pub(super) fn named(asked: &Asked<'_>, name: &str) -> Result<Option<usize>> {
    let is_it = |at: &&usize| asked.reads.get(**at).is_some_and(|unit| **unit == *name);
    if let Some(at) = asked.among.iter().find(is_it) {
        return Ok(Some(*at));
    }
    if name == asked.primary {
        return Ok(None);
    }
    let message = format!("the load balancer of `{}` chose it, and it takes no reads", asked.group);
    Err(ErrorKind::Unavailable { unit: name.to_owned(), message }.into())
}
