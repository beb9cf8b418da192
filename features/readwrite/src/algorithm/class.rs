//! A choice that is a function of somebody's own module.

use pando_config::{Algorithm, Problem};
use pando_kernel::Modules;
use pando_kernel::error::Result;
use pando_kernel::module::{Argument, Class, Gives, Own, Takes, Wanted, misgiven};

use super::expression::named;
use super::{Asked, Balancer};

/// `CLASS_BASED`.
#[derive(Debug)]
pub(super) struct Module(Own);

/// The group, its units that take reads, its primary, the user, whether a transaction is open, and a number that changes.
const CHOOSE: Wanted<'_> = Wanted {
    name: "choose",
    takes: &[
        Takes::Pairs,
        Takes::Text,
        Takes::Texts,
        Takes::Text,
        Takes::Text,
        Takes::Bool,
        Takes::Number,
    ],
    gives: Gives::Text,
};

impl Module {
    pub(super) fn new(
        algorithm: &Algorithm,
        modules: &dyn Modules,
    ) -> std::result::Result<Self, Problem> {
        Class::of(algorithm)?.function(&CHOOSE, modules).map(Self)
    }
}

impl Balancer for Module {
    /// Where no unit takes reads the primary answers, and nothing is called.
    ///
    /// # Errors
    /// `Algorithm`; `Unavailable` where it names a unit that may not be read now.
    fn choose(&self, asked: &Asked<'_>) -> Result<Option<usize>> {
        let able = asked.among.iter().filter_map(|at| asked.reads.get(*at));
        let units: Vec<&str> = able.map(|unit| &**unit).collect();
        if units.is_empty() {
            return Ok(None);
        }
        let given = self.0.call(&[
            Argument::Text(asked.group),
            Argument::Texts(&units),
            Argument::Text(asked.primary),
            Argument::Text(asked.user),
            Argument::Bool(asked.in_transaction),
            Argument::Number(asked.ticket),
        ])?;
        named(asked, &given.text().ok_or_else(misgiven)?)
    }
}
