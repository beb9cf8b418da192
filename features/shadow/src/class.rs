//! A test of values that is a function of somebody's own module.

use pando_config::{Algorithm, Problem};
use pando_kernel::module::{Argument, Class, Gives, Own, Takes, Wanted};
use pando_kernel::{Modules, Value};

use crate::algorithm::{any_marks, texts};

/// `CLASS_BASED`.
#[derive(Debug)]
pub(crate) struct Module(Own);

const MARKS: Wanted<'_> =
    Wanted { name: "marks", takes: &[Takes::Pairs, Takes::Text], gives: Gives::Bool };

impl Module {
    /// # Errors
    /// Why there is no such function.
    pub(crate) fn new(algorithm: &Algorithm, modules: &dyn Modules) -> Result<Self, Problem> {
        Class::of(algorithm)?.function(&MARKS, modules).map(Self)
    }

    /// Whether the value marks a row; NULL marks none. `None` where the function fails.
    pub(crate) fn marks(&self, value: &Value) -> Option<bool> {
        let holds = |text: &String| self.0.call(&[Argument::Text(text)]).ok()?.holds();
        any_marks(texts(value).iter().map(holds))
    }
}
