//! An encryptor that is two functions of somebody's own module.

use pando_config::{Algorithm, Problem};
use pando_kernel::Modules;
use pando_kernel::error::Result;
use pando_kernel::module::{Argument, CLASS_BASED, Class, Gives, Own, Takes, Wanted, misgiven};

use super::expression::kept;
use super::{Abilities, Encryptor, Like, Stores, props};

/// `CLASS_BASED`.
#[derive(Debug)]
pub(super) struct Module {
    encrypts: Own,
    decrypts: Own,
    added: usize,
}

const fn wanted(name: &'static str) -> Wanted<'static> {
    Wanted { name, takes: &[Takes::Pairs, Takes::Text], gives: Gives::Text }
}

impl Module {
    pub(super) fn new(
        algorithm: &Algorithm,
        modules: &dyn Modules,
    ) -> std::result::Result<Self, Problem> {
        let class = Class::of(algorithm)?;
        Ok(Self {
            encrypts: class.function(&wanted("encrypt"), modules)?,
            decrypts: class.function(&wanted("decrypt"), modules)?,
            added: props::added(algorithm)?,
        })
    }
}

fn made(function: &Own, text: &str) -> Result<String> {
    function.call_in_private(&[Argument::Text(text)])?.text().ok_or_else(misgiven)
}

impl Encryptor for Module {
    /// # Errors
    /// `Value` for a value that cannot be had again from what would be stored, `Algorithm`; nothing of either is told.
    fn encrypt(&self, plain: &[u8]) -> Result<String> {
        kept(CLASS_BASED, plain, self.added, |text| {
            let stored = made(&self.encrypts, text)?;
            let back = made(&self.decrypts, &stored)?;
            Ok((stored, back))
        })
    }

    fn decrypt(&self, stored: &str) -> Result<Vec<u8>> {
        made(&self.decrypts, stored).map(String::into_bytes)
    }

    fn width(&self, octets: usize) -> usize {
        octets + self.added
    }

    fn abilities(&self) -> Abilities {
        Abilities { decrypts: true, equal: true, like: Like::Never }
    }

    fn stores(&self) -> Stores {
        Stores::Characters
    }
}
