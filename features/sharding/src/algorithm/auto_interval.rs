//! `AUTO_INTERVAL`: parts of equal length between two moments, and one part on either side.

use std::ops::Bound;
use std::sync::Arc;

use jiff::civil::DateTime;
use pando_config::Problem;
use pando_kernel::{Result, Value};

use super::numbered::{MOST_SHARDS, Numbered};
use super::props::Reader;
use super::{Algorithm, Selection, Standard, Targets, code, not_null, unread};
use crate::value;
use pando_inline::datetime::Pattern;

/// Both bounds and the values have this form.
const FORM: &str = "yyyy-MM-dd HH:mm:ss";

#[derive(Debug, Clone)]
struct AutoInterval {
    pattern: Pattern,
    lower: DateTime,
    seconds: i64,
    shards: usize,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let mut props = Reader::new(config);
    let pattern = Pattern::parse(FORM).map_err(|why| props.at().problem(why))?;
    let mut moment = |name: &'static str| {
        let text = props.text(name)?;
        pattern.read_whole(text.trim()).map_err(|_| {
            let message = format!("property `{name}`: expected `{FORM}`, found `{}`", text.value);
            text.at.problem(message)
        })
    };
    let lower = moment("datetime-lower")?;
    let upper = moment("datetime-upper")?;
    let seconds = props.integer("sharding-seconds", 1..=i64::MAX)?;
    let at = props.at();
    props.finish()?;
    let inner = upper.duration_since(lower).as_secs() / seconds;
    if upper < lower || inner + 2 > MOST_SHARDS {
        let message = format!(
            "`datetime-upper` must not be before `datetime-lower`, and not more than {MOST_SHARDS} parts after it"
        );
        return Err(at.problem(message));
    }
    let shards = usize::try_from(inner + 2).unwrap_or_default();
    Ok(Arc::new(AutoInterval { pattern, lower, seconds, shards }))
}

impl Algorithm for AutoInterval {
    fn kind(&self) -> &'static str {
        "AUTO_INTERVAL"
    }

    fn shards(&self) -> Option<usize> {
        Some(self.shards)
    }

    fn standard(&self, _column: &str, targets: &Targets) -> Result<Arc<dyn Standard>, String> {
        let targets = Numbered::new(targets, self.shards, 0);
        Ok(Arc::new(Router { interval: self.clone(), targets }))
    }

    fn structure(&self, _columns: &[String], _prefix: &str) -> String {
        format!("{self:?}")
    }
}

#[derive(Debug)]
struct Router {
    interval: AutoInterval,
    targets: Numbered,
}

impl Router {
    /// The part of a moment, counted as ShardingSphere does: parts passed, rounded to two decimals and then up. The
    /// rounding moves a boundary by less than a hundredth of a part; it never decreases, which is what ranges rely on.
    fn part(&self, value: &Value) -> Result<usize> {
        let text = value::text(not_null(value)?);
        let moment = self.interval.pattern.read(&text).map_err(|why| unread(code::DATE, why))?;
        let passed = moment.date.duration_since(self.interval.lower).as_secs();
        #[expect(clippy::cast_precision_loss, reason = "as ShardingSphere divides")]
        let quotient = passed as f64 / self.interval.seconds as f64;
        let rounded = format!("{quotient:.2}").parse::<f64>().unwrap_or(quotient).ceil();
        let last = self.targets.shards().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the parts there are"
        )]
        let part = rounded.clamp(0.0, last as f64) as usize;
        Ok(part)
    }
}

impl Standard for Router {
    fn exact(&self, value: &Value) -> Result<usize> {
        self.targets.one(self.part(value)?, value)
    }

    fn range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Result<Selection> {
        let first = match low {
            Bound::Included(value) | Bound::Excluded(value) => self.part(value)?,
            Bound::Unbounded => 0,
        };
        let last = match high {
            Bound::Included(value) | Bound::Excluded(value) => self.part(value)?,
            Bound::Unbounded => self.targets.shards() - 1,
        };
        Ok(if first > last { Selection::none() } else { self.targets.span(first..=last) })
    }
}
