//! The list of stages, in the order a statement meets them.

use crate::outcome::{Failure, Outcome};
use crate::stage::Stage;
use crate::{line, merge, mysql, own, plan, postgres, route, text};

/// Every stage.
pub(crate) fn all() -> impl Iterator<Item = &'static Stage> {
    let groups = [
        postgres::STAGES,
        mysql::STAGES,
        text::STAGES,
        route::STAGES,
        plan::STAGES,
        merge::STAGES,
        own::STAGES,
        line::STAGES,
    ];
    groups.into_iter().flatten()
}

/// The stage of this name.
///
/// # Errors
/// When there is none.
pub(crate) fn named(name: &str) -> Outcome<&'static Stage> {
    let found = all().find(|stage| stage.name == name);
    found.ok_or_else(|| Failure::from(format!("no stage is named `{name}`; see --list")))
}
