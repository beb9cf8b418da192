//! What can be wrong with a sharding value, as errors.

use std::ops::Bound;

use pando_kernel::{Error, ErrorKind, Result, Unroutable, Value};

use super::Targets;
use crate::value;

/// ShardingSphere's vendor codes of what can be wrong with a sharding value.
pub(super) mod code {
    pub(in crate::algorithm) const NULL: u32 = 20020;
    pub(in crate::algorithm) const TYPE: u32 = 20021;
    pub(in crate::algorithm) const DATE: u32 = 20022;
    pub(in crate::algorithm) const OFFSET: u32 = 20023;
    pub(in crate::algorithm) const NO_TARGET: u32 = 20051;
    pub(in crate::algorithm) const FAILED: u32 = 10440;
}

pub(super) fn wrong(code: u32, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::ShardingValue { is: Unroutable::NoPlace, code, message: message.into() })
}

/// A value that is not of the kind that the algorithm takes.
pub(super) fn unread(code: u32, message: impl Into<String>) -> Error {
    let (is, message) = (Unroutable::OtherType, message.into());
    Error::new(ErrorKind::ShardingValue { is, code, message })
}

pub(super) fn not_null(value: &Value) -> Result<&Value> {
    if value.is_null() {
        let (is, message) = (Unroutable::Null, "a sharding value cannot be null".to_owned());
        return Err(Error::new(ErrorKind::ShardingValue { is, code: code::NULL, message }));
    }
    Ok(value)
}

/// A NULL bound is an error even where bounds are not looked at.
pub(super) fn check_bounds(low: Bound<&Value>, high: Bound<&Value>) -> Result<()> {
    for bound in [low, high] {
        match bound {
            Bound::Included(value) | Bound::Excluded(value) => not_null(value).map(|_| ())?,
            Bound::Unbounded => {}
        }
    }
    Ok(())
}

/// A computed target that is not there: never passed over, as rows would seem to be gone.
pub(super) fn no_target(name: &str, value: &Value, targets: &Targets) -> Error {
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
