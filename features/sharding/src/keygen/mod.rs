//! Generated keys: one generator per file. Time and randomness come from the kernel's `Source`, so the crate stays pure.

mod class_based;
mod expression;
mod generator;
mod given;
mod nanoid;
mod snowflake;
mod uuid;

use std::sync::Arc;

use pando_config::{Problem, suggest};
use pando_kernel::Modules;
use pando_kernel::module::CLASS_BASED;

pub use generator::KeyGenerator;

type Build = fn(&pando_config::Algorithm) -> Result<Arc<dyn KeyGenerator>, Problem>;

/// Every generator by its type, and what it makes.
pub(crate) const GENERATORS: [(&str, Build, &str); 4] = [
    ("SNOWFLAKE", snowflake::build, "numbers that ascend in time"),
    ("UUID", uuid::build, "32 random hexadecimal digits"),
    ("NANOID", nanoid::build, "a short random text"),
    ("EXPRESSION", expression::build, "what an inline expression makes of `id` or `uuid`"),
];

/// Builds a generator from its configuration.
///
/// # Errors
/// An unknown type, an unknown property, or one with a value it cannot have.
pub fn build(
    config: &pando_config::Algorithm,
    modules: &dyn Modules,
) -> Result<Arc<dyn KeyGenerator>, Problem> {
    let kind = config.kind.to_ascii_uppercase();
    if kind == CLASS_BASED {
        return class_based::build(config, modules);
    }
    if let Some((_, build, _)) = GENERATORS.iter().find(|(name, ..)| *name == kind) {
        return build(config);
    }
    let hint = suggest::hint(&kind, GENERATORS.iter().map(|(name, ..)| *name).chain([CLASS_BASED]));
    let message = format!("unknown key generator `{}`{hint}", config.kind.value);
    Err(config.kind.at.problem(message))
}
