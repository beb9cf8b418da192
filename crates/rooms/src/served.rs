//! Settings for the whole server that can be made but not served yet. They are refused: a setting that is passed over
//! in silence is worse than one that is missing.

use pando_config::global::Global;
use pando_config::{At, Problem};

/// The problems of the settings for the whole server; empty when all of them can be served.
pub fn check_global(global: &Global) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut refuse = |at: &At, message: &str| problems.push(at.problem(message));
    let nowhere = At::default();
    if !global.sql_translator.kind.eq_ignore_ascii_case("NATIVE") {
        refuse(&nowhere, "`sqlTranslator.type` other than `NATIVE` is not served by this version");
    }
    if global.global_clock.enabled {
        refuse(&nowhere, "`globalClock.enabled` is not served by this version");
    }
    problems
}
