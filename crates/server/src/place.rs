//! Where what a configuration names is found: files of embedded storage units, and modules.

use std::path::Path;

use pando_config::{Database, Errors};
use pando_kernel::{Modules, States};
use pando_rooms::{Built, Ground};

/// Where what a configuration names is found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Where relative paths of embedded storage units start.
    pub(crate) data: &'a Path,
    /// Where algorithms of type `CLASS_BASED` are.
    pub(crate) modules: &'a dyn Modules,
}

impl Place<'_> {
    /// A database as configured.
    ///
    /// # Errors
    /// Every problem of its configuration.
    pub(crate) fn build(&self, database: &Database) -> Result<Built, Errors> {
        self.build_while(database, &States::default())
    }

    /// The same while the storage units are so.
    ///
    /// # Errors
    /// As [`Place::build`].
    pub(crate) fn build_while(
        &self,
        database: &Database,
        states: &States,
    ) -> Result<Built, Errors> {
        let Self { data, modules } = *self;
        pando_rooms::build_on(database, &Ground { data, states, modules })
    }
}
