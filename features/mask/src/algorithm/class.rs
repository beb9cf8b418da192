//! A mask that is a function of somebody's own module.

use pando_config::{Algorithm, Problem};
use pando_kernel::Modules;
use pando_kernel::error::Result;
use pando_kernel::module::{Argument, Class, Gives, Own, Takes, Wanted, misgiven};

use super::Mask;

/// `CLASS_BASED`.
#[derive(Debug)]
pub(super) struct Module(Own);

const MASK: Wanted<'_> =
    Wanted { name: "mask", takes: &[Takes::Pairs, Takes::Text], gives: Gives::Text };

impl Module {
    pub(super) fn new(
        algorithm: &Algorithm,
        modules: &dyn Modules,
    ) -> std::result::Result<Self, Problem> {
        Class::of(algorithm)?.function(&MASK, modules).map(Self)
    }
}

impl Mask for Module {
    /// # Errors
    /// `Algorithm`. The value is not told.
    fn masked(&self, plain: &str) -> Result<String> {
        self.0.call_in_private(&[Argument::Text(plain)])?.text().ok_or_else(misgiven)
    }
}
