//! What a sharding algorithm is, and what it becomes when it is bound to targets.

use std::fmt::Debug;
use std::ops::Bound;
use std::sync::Arc;

use pando_kernel::{Result, Value};

use super::targets::{Selection, Targets};

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
