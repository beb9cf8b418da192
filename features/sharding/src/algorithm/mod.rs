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
mod wrong;

use std::fmt::Debug;
use std::ops::Bound;
use std::sync::Arc;

use pando_config::{Problem, suggest};
use pando_kernel::{Result, Value};

pub(crate) use props::Reader;
pub(crate) use targets::Union;
pub use targets::{Selection, Targets};

use wrong::{check_bounds, code, no_target, not_null, unread, wrong};

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
pub fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let kind = config.kind.to_ascii_uppercase();
    if let Some((_, build, _)) = ALGORITHMS.iter().find(|(name, ..)| *name == kind) {
        return build(config);
    }
    let message = match kind.as_str() {
        "CLASS_BASED" => {
            "sharding algorithm `CLASS_BASED` loads a Java class, which Pando cannot run".to_owned()
        }
        _ => {
            let hint = suggest::hint(&kind, ALGORITHMS.iter().map(|(name, ..)| *name));
            format!("unknown sharding algorithm `{}`{hint}", config.kind.value)
        }
    };
    Err(config.kind.at.problem(message))
}
