//! Algorithms that cut the whole numbers at fixed points: values up to a point, between two, and from the last one on.

use std::ops::Bound;

use pando_kernel::{Result, Value};

use super::numbered::Numbered;
use super::{Selection, Standard, code, not_null, unread};
use crate::value;

/// Routes by the part a number lies in: part 0 lies below the first point, part `n` from point `n - 1` on.
#[derive(Debug)]
pub(super) struct Partition {
    pub(super) points: Vec<i64>,
    pub(super) targets: Numbered,
}

impl Partition {
    fn part(&self, number: i128) -> usize {
        self.points.partition_point(|point| i128::from(*point) <= number)
    }
}

impl Standard for Partition {
    fn exact(&self, value: &Value) -> Result<usize> {
        self.targets.one(self.part(floor(value)?), value)
    }

    fn range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Result<Selection> {
        let (low, high) = bounds(low, high)?;
        let first = low.map_or(0, |low| self.part(low));
        let last = high.map_or(self.points.len(), |high| self.part(high));
        if first > last {
            return Ok(Selection::none());
        }
        Ok(self.targets.span(first..=last))
    }
}

/// The value's floor: points are whole, so a fraction lies in the part of its floor.
fn floor(value: &Value) -> Result<i128> {
    let floor = value::floor(not_null(value)?);
    floor.ok_or_else(|| {
        let message = format!("sharding value `{}` is not a number", value::shown(value));
        unread(code::TYPE, message)
    })
}

/// The least and greatest floor of values between two bounds. A column may hold fractions, so `> 5` still starts at 5.
fn bounds(low: Bound<&Value>, high: Bound<&Value>) -> Result<(Option<i128>, Option<i128>)> {
    let low = match low {
        Bound::Included(value) | Bound::Excluded(value) => Some(floor(value)?),
        Bound::Unbounded => None,
    };
    let high = match high {
        Bound::Included(value) => Some(floor(value)?),
        Bound::Excluded(value) => {
            let is_whole = value::whole(value).is_some();
            Some(floor(value)?.saturating_sub(i128::from(is_whole)))
        }
        Bound::Unbounded => None,
    };
    Ok((low, high))
}
