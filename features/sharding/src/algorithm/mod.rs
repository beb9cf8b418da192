//! Sharding algorithms: one per file, each with the properties of ShardingSphere's algorithm of the same type.
//!
//! An [`Algorithm`] is what the configuration says. Bound to the targets it chooses among, it becomes a [`Standard`],
//! [`Complex`] or [`Hint`] router, which has everything per target worked out, so that routing a value costs the same
//! whether there are ten tables or ten thousand.

mod auto_interval;
mod boundary_range;
mod complex_inline;
pub(crate) mod datetime;
mod hash_mod;
mod hint_inline;
mod inline;
mod interval;
mod modulo;
mod numbered;
mod partition;
mod props;
mod targets;
mod volume_range;

use std::fmt::Debug;
use std::ops::Bound;
use std::sync::Arc;

use pando_config::{Problem, suggest};
use pando_kernel::{Error, ErrorKind, Result, Value};

pub(crate) use props::Reader;
pub use targets::{Selection, Targets};

use crate::value;

/// A sharding algorithm as configured: valid in itself, not yet bound to targets.
pub trait Algorithm: Debug + Send + Sync {
    /// Its type, as `HASH_MOD`.
    fn kind(&self) -> &'static str;

    /// How many shards it makes, for auto tables; `None` where it cannot make them.
    fn shards(&self) -> Option<usize> {
        None
    }

    /// Routes by one column.
    ///
    /// # Errors
    /// Why it cannot.
    fn standard(&self, _column: &str, _targets: &Targets) -> Result<Arc<dyn Standard>, String> {
        Err(format!("algorithm `{}` cannot be used in a `standard` strategy", self.kind()))
    }

    /// Routes by several columns.
    ///
    /// # Errors
    /// Why it cannot.
    fn complex(&self, _columns: &[String], _targets: &Targets) -> Result<Arc<dyn Complex>, String> {
        Err(format!("algorithm `{}` cannot be used in a `complex` strategy", self.kind()))
    }

    /// Routes by hint values.
    ///
    /// # Errors
    /// Why it cannot.
    fn hint(&self, _targets: &Targets) -> Result<Arc<dyn Hint>, String> {
        Err(format!("algorithm `{}` cannot be used in a `hint` strategy", self.kind()))
    }

    /// A text that is the same for algorithms that spread the same values alike, once what their targets' names start
    /// with (`prefix`) is left out. Tables may only be bound if theirs agree.
    fn structure(&self, columns: &[String], prefix: &str) -> String;
}

/// Chooses targets by the values of one column.
pub trait Standard: Debug + Send + Sync {
    /// The position of the one target a value lives in.
    ///
    /// # Errors
    /// `ShardingValue`: the value is NULL, of a wrong type, or its target is not among those there are.
    fn exact(&self, value: &Value) -> Result<usize>;

    /// The targets that values between two bounds can live in; may be none.
    ///
    /// # Errors
    /// `ShardingValue`: a bound is NULL or of a wrong type.
    fn range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Result<Selection>;
}

/// Chooses a target by the values of several columns.
pub trait Complex: Debug + Send + Sync {
    /// Which of the strategy's columns it looks at, by position.
    fn columns(&self) -> &[usize];

    /// The position of the one target a row lives in; one value per column of the strategy, NULL for those it does not
    /// look at.
    ///
    /// # Errors
    /// As [`Standard::exact`].
    fn exact(&self, values: &[&Value]) -> Result<usize>;
}

/// Chooses a target by a value that is in no column.
pub trait Hint: Debug + Send + Sync {
    /// The position of the target of one hint value.
    ///
    /// # Errors
    /// As [`Standard::exact`].
    fn exact(&self, value: &Value) -> Result<usize>;
}

type Build = fn(&pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem>;

/// Every algorithm by its type.
const ALGORITHMS: [(&str, Build); 9] = [
    ("INLINE", inline::build),
    ("COMPLEX_INLINE", complex_inline::build),
    ("HINT_INLINE", hint_inline::build),
    ("MOD", modulo::build),
    ("HASH_MOD", hash_mod::build),
    ("VOLUME_RANGE", volume_range::build),
    ("BOUNDARY_RANGE", boundary_range::build),
    ("AUTO_INTERVAL", auto_interval::build),
    ("INTERVAL", interval::build),
];

/// Builds an algorithm from its configuration.
///
/// # Errors
/// An unknown type, an unknown property, a missing one, or one with a value it cannot have.
pub fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let kind = config.kind.to_ascii_uppercase();
    if let Some((_, build)) = ALGORITHMS.iter().find(|(name, _)| *name == kind) {
        return build(config);
    }
    let message = match kind.as_str() {
        "CLASS_BASED" => {
            "sharding algorithm `CLASS_BASED` loads a Java class, which Pando cannot run".to_owned()
        }
        _ => {
            let hint = suggest::hint(&kind, ALGORITHMS.iter().map(|(name, _)| *name));
            format!("unknown sharding algorithm `{}`{hint}", config.kind.value)
        }
    };
    Err(config.kind.at.problem(message))
}

/// ShardingSphere's vendor codes of what can be wrong with a sharding value.
mod code {
    pub(super) const NULL: u32 = 20020;
    pub(super) const TYPE: u32 = 20021;
    pub(super) const DATE: u32 = 20022;
    pub(super) const OFFSET: u32 = 20023;
    pub(super) const NO_TARGET: u32 = 20051;
    pub(super) const FAILED: u32 = 10440;
}

fn wrong(code: u32, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::ShardingValue { code, message: message.into() })
}

fn not_null(value: &Value) -> Result<&Value> {
    if value.is_null() {
        return Err(wrong(code::NULL, "a sharding value cannot be null"));
    }
    Ok(value)
}

/// A NULL bound is an error even where bounds are not looked at.
fn check_bounds(low: Bound<&Value>, high: Bound<&Value>) -> Result<()> {
    for bound in [low, high] {
        match bound {
            Bound::Included(value) | Bound::Excluded(value) => not_null(value).map(|_| ())?,
            Bound::Unbounded => {}
        }
    }
    Ok(())
}

/// A computed target that is not there: never passed over, as rows would seem to be gone.
fn no_target(name: &str, value: &Value, targets: &Targets) -> Error {
    const SHOWN: usize = 5;
    let names: Vec<&str> = targets.names().take(SHOWN).collect();
    let more = if targets.len() > SHOWN { ", …" } else { "" };
    let message = format!(
        "value `{}` is routed to `{name}`, which is not among the {} targets {}{more}",
        value::shown(value),
        targets.len(),
        names.join(", ")
    );
    wrong(code::NO_TARGET, message)
}
