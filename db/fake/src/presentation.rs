//! A fake unit's catalogue: it has none, and tells what its statements were warned of.

use pando_kernel::Result;
use pando_kernel::facts::Facts;
use pando_kernel::presentation::{Asked, Figured, Holding, Presentation, Presented, Retold, View};
use pando_kernel::request::Parameter;
use pando_sql::Edits;
use pando_sql::ast::{Ident, ObjectName, Show, Statement};

use crate::dialect::FakeDialect;

/// What a fake unit is asked for the warnings of the statement before.
const WHAT_WAS_WARNED: &str = "WHAT WAS WARNED";

impl Figured for FakeDialect {}

impl Retold for FakeDialect {}

impl Presentation for FakeDialect {
    fn database_part<'a>(&self, _parts: &'a [Ident]) -> Option<&'a Ident> {
        None
    }

    fn holding(&self, _name: &ObjectName) -> Option<Holding> {
        None
    }

    fn asked(&self, _stmt: &Statement, _parameters: &[Parameter]) -> Asked {
        Asked::Anyone
    }

    fn present(&self, _stmt: &Statement, _view: &View<'_>) -> Result<Presented> {
        Ok(Presented::Edits(Edits::default()))
    }

    fn restate(&self, _text: &str, _show: &Show, _facts: &Facts) -> Result<Option<String>> {
        Ok(None)
    }

    fn warnings(&self) -> Option<&'static str> {
        Some(WHAT_WAS_WARNED)
    }
}
