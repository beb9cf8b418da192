//! Masks: what is told in the place of a value. As ShardingSphere's, but by whole characters: it counts halves of those
//! beyond the basic plane.

mod class;
mod cover;
mod digest;
mod expression;
mod props;
mod replace;

use std::fmt::Debug;
use std::sync::Arc;

use pando_config::{Algorithm, Problem};
use pando_kernel::error::Result;
use pando_kernel::module::CLASS_BASED;
use pando_kernel::{AlgorithmKind, AlgorithmSort, Modules};

/// Tells a value in part.
pub(crate) trait Mask: Send + Sync + Debug {
    /// What is told of it.
    ///
    /// # Errors
    /// `Value` where that cannot be computed.
    fn masked(&self, plain: &str) -> Result<String>;
}

/// A mask for any value.
trait Covers: Send + Sync + Debug {
    fn covered(&self, plain: &str) -> String;
}

impl<T: Covers> Mask for T {
    fn masked(&self, plain: &str) -> Result<String> {
        Ok(self.covered(plain))
    }
}

/// The mask that a `maskAlgorithms` section asks for.
///
/// # Errors
/// What is wrong, when there is no such mask or its properties are not right.
pub(crate) fn mask(algorithm: &Algorithm, modules: &dyn Modules) -> Result<Arc<dyn Mask>, Problem> {
    let kind = &algorithm.kind;
    Ok(match kind.to_uppercase().as_str() {
        "EXPRESSION" => Arc::new(expression::Expression::new(algorithm)?),
        CLASS_BASED => Arc::new(class::Module::new(algorithm, modules)?),
        "MD5" => Arc::new(digest::Md5::new(algorithm)?),
        "KEEP_FIRST_N_LAST_M" => Arc::new(cover::Ends::keep(algorithm)?),
        "MASK_FIRST_N_LAST_M" => Arc::new(cover::Ends::cover(algorithm)?),
        "KEEP_FROM_X_TO_Y" => Arc::new(cover::Range::keep(algorithm)?),
        "MASK_FROM_X_TO_Y" => Arc::new(cover::Range::cover(algorithm)?),
        "MASK_BEFORE_SPECIAL_CHARS" => Arc::new(cover::Special::before(algorithm)?),
        "MASK_AFTER_SPECIAL_CHARS" => Arc::new(cover::Special::after(algorithm)?),
        "GENERIC_TABLE_RANDOM_REPLACE" => Arc::new(replace::Generic::new(algorithm)?),
        "PERSONAL_IDENTITY_NUMBER_RANDOM_REPLACE" => Arc::new(replace::Identity::new(algorithm)?),
        "MILITARY_IDENTITY_NUMBER_RANDOM_REPLACE" => Arc::new(replace::Military::new(algorithm)?),
        "LANDLINE_NUMBER_RANDOM_REPLACE" => Arc::new(replace::Prefixed::landline(algorithm)?),
        "TELEPHONE_RANDOM_REPLACE" => Arc::new(replace::Prefixed::telephone(algorithm)?),
        "UNIFIED_CREDIT_CODE_RANDOM_REPLACE" => Arc::new(replace::Credit::new(algorithm)?),
        _ => {
            let names = KINDS.map(|(name, _)| format!("`{name}`")).join(", ");
            let message = format!("mask type `{}` does not exist; use {names}", kind.value);
            return Err(kind.at.problem(message));
        }
    })
}

const KINDS: [(&str, &str); 15] = [
    (CLASS_BASED, "a function of a WebAssembly module"),
    ("EXPRESSION", "an inline expression over `value`"),
    ("MD5", "a digest with salt"),
    ("KEEP_FIRST_N_LAST_M", "keeps the ends"),
    ("KEEP_FROM_X_TO_Y", "keeps a range"),
    ("MASK_FIRST_N_LAST_M", "covers the ends"),
    ("MASK_FROM_X_TO_Y", "covers a range"),
    ("MASK_BEFORE_SPECIAL_CHARS", "covers what stands in front of a text"),
    ("MASK_AFTER_SPECIAL_CHARS", "covers what stands behind a text"),
    ("GENERIC_TABLE_RANDOM_REPLACE", "other characters of each sort"),
    ("PERSONAL_IDENTITY_NUMBER_RANDOM_REPLACE", "another date of birth"),
    ("MILITARY_IDENTITY_NUMBER_RANDOM_REPLACE", "another type and other digits"),
    ("LANDLINE_NUMBER_RANDOM_REPLACE", "another area and other digits"),
    ("TELEPHONE_RANDOM_REPLACE", "another network and other digits"),
    ("UNIFIED_CREDIT_CODE_RANDOM_REPLACE", "another code altogether"),
];

/// The masks there are.
pub(crate) fn algorithms() -> Vec<AlgorithmKind> {
    let sort = AlgorithmSort::Mask;
    KINDS.map(|(name, description)| AlgorithmKind { sort, name, description }).to_vec()
}

#[cfg(test)]
mod tests {
    use pando_kernel::NoModules;

    use super::*;

    pub(super) fn made(kind: &str, props: &[(&str, &str)]) -> Arc<dyn Mask> {
        mask(&Algorithm::nowhere(kind, props.iter().copied()), &NoModules).unwrap()
    }

    pub(super) fn problem(kind: &str, props: &[(&str, &str)]) -> String {
        mask(&Algorithm::nowhere(kind, props.iter().copied()), &NoModules).unwrap_err().message
    }

    /// What ShardingSphere 5.4.1 tells of a value: type, properties, value, what is told.
    const TOLD: &str = include_str!("../../tests/shardingsphere.tsv");

    #[test]
    fn a_value_is_told_as_shardingsphere_tells_it() {
        for line in TOLD.lines() {
            let [kind, props, plain, told] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let props: Vec<(&str, &str)> =
                props.split_terminator(' ').map(|pair| pair.split_once('=').unwrap()).collect();
            assert_eq!(made(kind, &props).masked(plain).unwrap(), told, "{line}");
        }
        assert!(TOLD.lines().count() > 150);
    }

    #[test]
    fn an_unknown_mask_is_named_with_those_there_are() {
        let told = problem("BLUR", &[]);
        assert!(told.contains("`BLUR`") && told.contains("`MD5`"), "{told}");
    }
}
