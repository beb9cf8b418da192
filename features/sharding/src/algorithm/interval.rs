//! `INTERVAL`: targets whose names end in the date their rows begin at.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::Arc;

use jiff::civil::DateTime;
use pando_config::{Placed, Problem};
use pando_kernel::{Result, Value};

use super::props::Reader;
use super::{
    Algorithm, Selection, Standard, Targets, Union, code, no_target, not_null, unread, wrong,
};
use crate::value;
use pando_inline::datetime::{Pattern, Read, Steps, Unit};

/// A range over more steps than this asks every target.
const MOST_STEPS: u64 = 10_000;

#[derive(Debug, Clone)]
struct Interval {
    pattern: Pattern,
    suffix: Pattern,
    steps: Steps,
    upper: Option<DateTime>,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let mut props = Reader::new(config);
    let form = props.text("datetime-pattern")?;
    let pattern = compiled("datetime-pattern", form)?;
    let suffix = props.text("sharding-suffix-pattern")?;
    let suffix = compiled("sharding-suffix-pattern", suffix)?;
    let date = |name: &str, text: &Placed<String>| {
        pattern.read_whole(text.trim()).map_err(|_| {
            let (form, text_given) = (&form.value, &text.value);
            let message = format!("property `{name}`: expected `{form}`, found `{text_given}`");
            text.at.problem(message)
        })
    };
    let lower = date("datetime-lower", props.text("datetime-lower")?)?;
    let upper = props.optional("datetime-upper");
    let upper = upper.map(|text| date("datetime-upper", text)).transpose()?;
    let amount = props.optional_integer("datetime-interval-amount", 1..=1_000_000)?.unwrap_or(1);
    let unit = match props.optional("datetime-interval-unit") {
        None => Unit::DAYS,
        Some(text) => Unit::named(text.trim()).ok_or_else(|| {
            let message = format!(
                "property `datetime-interval-unit`: expected a unit as `DAYS` or `MONTHS`, found `{}`",
                text.value
            );
            text.at.problem(message)
        })?,
    };
    props.finish()?;
    let steps = Steps::new(lower, u32::try_from(amount).unwrap_or(1), unit);
    Ok(Arc::new(Interval { pattern, suffix, steps, upper }))
}

fn compiled(name: &str, text: &Placed<String>) -> Result<Pattern, Problem> {
    Pattern::parse(text).map_err(|why| text.at.problem(format!("property `{name}`: {why}")))
}

impl Algorithm for Interval {
    fn kind(&self) -> &'static str {
        "INTERVAL"
    }

    fn standard(&self, _column: &str, targets: &Targets) -> Result<Arc<dyn Standard>, String> {
        Ok(Arc::new(Router::new(self.clone(), targets)))
    }

    fn structure(&self, _columns: &[String], _prefix: &str) -> String {
        format!("{self:?}")
    }
}

#[derive(Debug)]
struct Router {
    interval: Interval,
    targets: Targets,
    /// Targets by every end of their names that a suffix could be.
    endings: HashMap<String, Vec<usize>>,
    /// The last step that can have a target; `None` where that cannot be told.
    last: Option<u64>,
}

impl Router {
    fn new(interval: Interval, targets: &Targets) -> Self {
        let (least, most) = interval.suffix.widths();
        let mut endings: HashMap<String, Vec<usize>> = HashMap::new();
        let mut newest: Option<DateTime> = None;
        for (position, name) in targets.names().enumerate() {
            let starts: Vec<usize> = name.char_indices().map(|(at, _)| at).collect();
            for length in least..=most.min(starts.len()) {
                let Some(start) = starts.len().checked_sub(length).and_then(|i| starts.get(i))
                else {
                    continue;
                };
                let ending = &name[*start..];
                endings.entry(ending.to_owned()).or_default().push(position);
                newest = newest.max(interval.suffix.read_whole(ending).ok());
            }
        }
        // Without an upper bound the names tell where the data ends, if they tell the year.
        let newest = newest.filter(|_| interval.suffix.has_full_year());
        let end = interval.upper.or(newest);
        let last = end.map(|end| interval.steps.index(end).map_or(0, |step| step + 1));
        let last = match interval.upper {
            Some(_) => last.map(|last| last.saturating_sub(1)),
            // A name's date may be cut short of its step's start, so one step more is looked at.
            None => last,
        };
        Self { interval, targets: targets.clone(), endings, last }
    }

    fn read(&self, value: &Value) -> Result<Read> {
        let text = value::text(not_null(value)?);
        self.interval.pattern.read(&text).map_err(|why| unread(code::DATE, why))
    }

    fn suffix(&self, step: u64) -> Option<String> {
        self.interval.steps.at(step).map(|start| self.interval.suffix.write(start))
    }

    /// Targets that end in a suffix; where that is digits, those where it is the whole number come first.
    fn matching(&self, suffix: &str) -> Vec<usize> {
        let Some(found) = self.endings.get(suffix) else { return Vec::new() };
        let is_whole = |position: &&usize| {
            let name = self.targets.name(**position).map_or("", |name| &**name);
            let before = name[..name.len() - suffix.len()].chars().next_back();
            !before.is_some_and(|c| c.is_ascii_digit())
        };
        let starts_with_digit = suffix.starts_with(|c: char| c.is_ascii_digit());
        let whole: Vec<usize> = found.iter().filter(is_whole).copied().collect();
        if starts_with_digit && !whole.is_empty() { whole } else { found.clone() }
    }
}

impl Standard for Router {
    fn exact(&self, value: &Value) -> Result<usize> {
        let date = self.read(value)?.date;
        let step = self.interval.steps.index(date);
        let within = |step: &u64| {
            self.interval.upper.is_none() || self.last.is_none_or(|last| *step <= last)
        };
        let suffix = step.filter(within).and_then(|step| self.suffix(step));
        let Some(suffix) = suffix else {
            let message = format!(
                "sharding value `{}` is outside `datetime-lower` and `datetime-upper`",
                value::shown(value)
            );
            return Err(wrong(code::NO_TARGET, message));
        };
        match self.matching(&suffix).as_slice() {
            [one] => Ok(*one),
            [] => Err(no_target(&format!("…{suffix}"), value, &self.targets)),
            _ => {
                let message = format!("more than one target ends in `{suffix}`");
                Err(wrong(code::NO_TARGET, message))
            }
        }
    }

    fn range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Result<Selection> {
        let first = match low {
            Bound::Included(value) | Bound::Excluded(value) => {
                self.interval.steps.index(self.read(value)?.date).unwrap_or(0)
            }
            Bound::Unbounded => 0,
        };
        let high = match high {
            Bound::Included(value) => Some((self.read(value)?, true)),
            Bound::Excluded(value) => Some((self.read(value)?, false)),
            Bound::Unbounded => None,
        };
        let last = match high {
            Some((read, included)) => {
                let Some(step) = self.interval.steps.index(read.date) else {
                    return Ok(Selection::none());
                };
                let at_start = self.interval.steps.at(step) == Some(read.date);
                if at_start && !included && !read.is_cut {
                    let Some(before) = step.checked_sub(1) else { return Ok(Selection::none()) };
                    Some(before)
                } else {
                    Some(step)
                }
            }
            None => None,
        };
        let last = match (last, self.last) {
            (Some(a), Some(b)) => a.min(b),
            (Some(step), None) | (None, Some(step)) => step,
            (None, None) => return Ok(Selection::All),
        };
        if first > last {
            return Ok(Selection::none());
        }
        if last - first > MOST_STEPS {
            return Ok(Selection::All);
        }
        let mut chosen = Union::of(self.targets.len());
        for suffix in (first..=last).map_while(|step| self.suffix(step)) {
            self.matching(&suffix).into_iter().for_each(|position| chosen.one(position));
        }
        Ok(chosen.selection())
    }
}
