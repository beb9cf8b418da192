//! `MOD`: the remainder of a whole number, never negative.

use std::ops::Bound;
use std::sync::Arc;

use bigdecimal::num_bigint::BigInt;
use pando_config::Problem;
use pando_kernel::{Result, Value};

use super::numbered::{MOST_SHARDS, Numbered};
use super::props::Reader;
use super::{Algorithm, Selection, Standard, Targets, code, not_null, unread};
use crate::value;
use pando_inline::number::Number;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Modulo {
    count: usize,
    start: usize,
    stop: usize,
    width: usize,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    const LONGEST: i64 = 1000;
    let mut props = Reader::new(config);
    let count = props.integer("sharding-count", 1..=MOST_SHARDS)?;
    let start = props.optional_integer("start-offset", 0..=LONGEST)?.unwrap_or(0);
    let stop = props.optional_integer("stop-offset", 0..=LONGEST)?.unwrap_or(0);
    let padding = props.flag("zero-padding")?.unwrap_or(false);
    props.finish()?;
    let size = |number: i64| usize::try_from(number).unwrap_or_default();
    let width = if padding { (count - 1).to_string().len() } else { 0 };
    let modulo = Modulo { count: size(count), start: size(start), stop: size(stop), width };
    Ok(Arc::new(modulo))
}

impl Algorithm for Modulo {
    fn kind(&self) -> &'static str {
        "MOD"
    }

    fn shards(&self) -> Option<usize> {
        Some(self.count)
    }

    fn standard(&self, _column: &str, targets: &Targets) -> Result<Arc<dyn Standard>, String> {
        let targets = Numbered::new(targets, self.count, self.width);
        Ok(Arc::new(Router { modulo: self.clone(), targets }))
    }

    fn structure(&self, _columns: &[String], _prefix: &str) -> String {
        format!("{self:?}")
    }
}

#[derive(Debug)]
struct Router {
    modulo: Modulo,
    targets: Numbered,
}

impl Standard for Router {
    fn exact(&self, value: &Value) -> Result<usize> {
        self.targets.one(self.shard(not_null(value)?)?, value)
    }

    fn range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Result<Selection> {
        if self.modulo.start + self.modulo.stop > 0 {
            return Ok(Selection::All);
        }
        // Rows hold whole numbers, as others could not be written; so bounds move inwards to the next whole one.
        let low = match low {
            Bound::Included(value) => ceiling(value)?,
            Bound::Excluded(value) => floor(value)?.saturating_add(1),
            Bound::Unbounded => return Ok(Selection::All),
        };
        let high = match high {
            Bound::Included(value) => floor(value)?,
            Bound::Excluded(value) => ceiling(value)?.saturating_sub(1),
            Bound::Unbounded => return Ok(Selection::All),
        };
        let count = self.modulo.count as u128;
        let is_extreme = low == i128::MIN || high == i128::MAX;
        if low > high {
            return Ok(Selection::none());
        }
        if is_extreme || low.abs_diff(high) >= count - 1 {
            return Ok(Selection::All);
        }
        Ok(self.targets.some((low..=high).map(|number| remainder(number, self.modulo.count))))
    }
}

impl Router {
    fn shard(&self, value: &Value) -> Result<usize> {
        let Modulo { count, start, stop, .. } = self.modulo;
        if start + stop == 0 {
            return rest(value::whole(value), count, value);
        }
        let text = value::text(value);
        let length = text.chars().count();
        if length <= start + stop {
            let message = format!(
                "sharding value `{}` has no digits left between `start-offset` {start} and \
                 `stop-offset` {stop}",
                value::shown(value)
            );
            return Err(unread(code::OFFSET, message));
        }
        let cut: String = text.chars().skip(start).take(length - start - stop).collect();
        rest(pando_inline::number::of_text(&cut), count, value)
    }
}

fn rest(number: Option<Number>, count: usize, value: &Value) -> Result<usize> {
    match number {
        Some(Number::Small(number)) => Ok(remainder(number, count)),
        Some(Number::Big(number)) => {
            let count = BigInt::from(count);
            let rest = ((number % &count) + &count) % &count;
            Ok(usize::try_from(&rest).unwrap_or_default())
        }
        Some(Number::Fraction(_)) | None => Err(not_whole(value)),
    }
}

fn remainder(number: i128, count: usize) -> usize {
    match (i64::try_from(number), i64::try_from(count)) {
        // Which a processor divides at once.
        (Ok(number), Ok(count)) => usize::try_from(number.rem_euclid(count)),
        (Err(_), _) | (_, Err(_)) => usize::try_from(number.rem_euclid(count as i128)),
    }
    .unwrap_or_default()
}

fn floor(value: &Value) -> Result<i128> {
    value::floor(not_null(value)?).ok_or_else(|| not_whole(value))
}

fn ceiling(value: &Value) -> Result<i128> {
    let is_whole = value::whole(value).is_some();
    Ok(floor(value)?.saturating_add(i128::from(!is_whole)))
}

fn not_whole(value: &Value) -> pando_kernel::Error {
    let message = format!("sharding value `{}` is not a whole number", value::shown(value));
    unread(code::TYPE, message)
}
