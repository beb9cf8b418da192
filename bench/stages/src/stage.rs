//! What a stage is.

use crate::outcome::Outcome;

/// One stage.
#[derive(Debug)]
pub(crate) struct Stage {
    /// `what/which statement/which protocol`; the figures file knows it by this name.
    pub(crate) name: &'static str,
    /// What the figure counts one of.
    pub(crate) of: &'static str,
    /// Operations in the shorter of the two runs.
    pub(crate) times: u32,
    /// How many of `of` one operation handles.
    pub(crate) each: u32,
    /// Does it so many times.
    pub(crate) run: fn(u32) -> Outcome,
}

/// A stage with the usual number of operations.
pub(crate) const fn of(name: &'static str, of: &'static str, run: fn(u32) -> Outcome) -> Stage {
    Stage { name, of, times: 500, each: 1, run }
}
