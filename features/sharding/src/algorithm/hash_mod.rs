//! `HASH_MOD`: the remainder of a hash, for values of any type.

use std::ops::Bound;
use std::sync::Arc;

use pando_config::Problem;
use pando_kernel::{Result, Value};

use super::numbered::{MOST_SHARDS, Numbered};
use super::props::Reader;
use super::{Algorithm, Selection, Standard, Targets, not_null};
use crate::value;
use pando_inline::Arithmetic;

#[derive(Debug, Clone, PartialEq, Eq)]
struct HashMod {
    count: usize,
    arithmetic: Arithmetic,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let mut props = Reader::new(config);
    let count = props.integer("sharding-count", 1..=MOST_SHARDS)?;
    let arithmetic = props.arithmetic()?;
    // Values arrive without Java's types here, so whole numbers always have the one form this asks for.
    props.flag("normalize-numeric-int-range")?;
    props.finish()?;
    let count = usize::try_from(count).unwrap_or_default();
    Ok(Arc::new(HashMod { count, arithmetic }))
}

impl Algorithm for HashMod {
    fn kind(&self) -> &'static str {
        "HASH_MOD"
    }

    fn shards(&self) -> Option<usize> {
        Some(self.count)
    }

    fn standard(&self, _column: &str, targets: &Targets) -> Result<Arc<dyn Standard>, String> {
        let targets = Numbered::new(targets, self.count, 0);
        Ok(Arc::new(Router { hash_mod: self.clone(), targets }))
    }

    fn structure(&self, _columns: &[String], _prefix: &str) -> String {
        format!("{self:?}")
    }
}

#[derive(Debug)]
struct Router {
    hash_mod: HashMod,
    targets: Numbered,
}

impl Standard for Router {
    fn exact(&self, value: &Value) -> Result<usize> {
        let hash = match self.hash_mod.arithmetic {
            Arithmetic::Exact => value::hash(not_null(value)?),
            Arithmetic::Groovy => value::java_hash(not_null(value)?),
        };
        let shard = u64::from(hash.unsigned_abs()) % self.hash_mod.count as u64;
        self.targets.one(usize::try_from(shard).unwrap_or_default(), value)
    }

    fn range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Result<Selection> {
        super::check_bounds(low, high)?;
        Ok(Selection::All)
    }
}
