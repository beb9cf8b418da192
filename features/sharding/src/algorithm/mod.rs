//! Sharding algorithms: one per file, each with the properties of ShardingSphere's algorithm of the same type.
//!
//! An [`Algorithm`] is what the configuration says. Bound to the targets it chooses among, it becomes a [`Standard`],
//! [`Complex`] or [`Hint`] router, which has everything per target worked out, so that routing a value costs the same
//! whether there are ten tables or ten thousand.

mod auto_interval;
mod boundary_range;
mod class_based;
mod complex_inline;
mod hash_mod;
mod hint_inline;
mod inline;
mod interval;
mod modulo;
mod numbered;
mod partition;
mod props;
mod router;
mod targets;
mod volume_range;
mod wrong;

use std::sync::Arc;

use pando_config::{Problem, suggest};
use pando_kernel::Modules;
use pando_kernel::module::CLASS_BASED;

pub(crate) use props::Reader;
pub use router::{Algorithm, Complex, Hint, Standard};
pub(crate) use targets::Union;
pub use targets::{Selection, Targets};

use wrong::{check_bounds, code, no_target, not_null, unread, wrong};

type Build = fn(&pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem>;

/// Every algorithm by its type, and what it does.
pub(crate) const ALGORITHMS: [(&str, Build, &str); 9] = [
    ("MOD", modulo::build, "the remainder of a whole number; makes auto tables"),
    ("HASH_MOD", hash_mod::build, "the remainder of a value's hash; makes auto tables"),
    ("VOLUME_RANGE", volume_range::build, "ranges of one size; makes auto tables"),
    ("BOUNDARY_RANGE", boundary_range::build, "ranges between boundaries; makes auto tables"),
    ("AUTO_INTERVAL", auto_interval::build, "ranges of seconds; makes auto tables"),
    ("INTERVAL", interval::build, "the part of a date that is in the table's name"),
    ("INLINE", inline::build, "an expression of one column"),
    ("COMPLEX_INLINE", complex_inline::build, "an expression of several columns"),
    ("HINT_INLINE", hint_inline::build, "an expression of a hint's value"),
];

/// Builds an algorithm from its configuration.
///
/// # Errors
/// An unknown type, an unknown property, a missing one, or one with a value it cannot have.
pub fn build(
    config: &pando_config::Algorithm,
    modules: &dyn Modules,
) -> Result<Arc<dyn Algorithm>, Problem> {
    let kind = config.kind.to_ascii_uppercase();
    if kind == CLASS_BASED {
        return class_based::build(config, modules);
    }
    if let Some((_, build, _)) = ALGORITHMS.iter().find(|(name, ..)| *name == kind) {
        return build(config);
    }
    let names = ALGORITHMS.iter().map(|(name, ..)| *name).chain([CLASS_BASED]);
    let hint = suggest::hint(&kind, names);
    let message = format!("unknown sharding algorithm `{}`{hint}", config.kind.value);
    Err(config.kind.at.problem(message))
}
