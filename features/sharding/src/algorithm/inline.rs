//! `INLINE`: an expression of one column names the target.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::Arc;

use pando_config::{Placed, Problem};
use pando_kernel::{Result, Value};

use super::props::Reader;
use super::{Algorithm, Selection, Standard, Targets, code, no_target, not_null, unread};
use crate::value;
use pando_inline::{Arithmetic, Datum, Template};

/// So many numbers of a range are looked at.
const MOST_NUMBERS: i128 = 1_000;

#[derive(Debug)]
struct Inline {
    expression: Placed<String>,
    arithmetic: Arithmetic,
    all_for_ranges: bool,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let mut props = Reader::new(config);
    let expression = props.text("algorithm-expression")?.clone();
    // All targets is right for every range, so that is the default; `false` asks for ShardingSphere's refusal.
    let all_for_ranges = props.flag("allow-range-query-with-inline-sharding")?.unwrap_or(true);
    let arithmetic = props.arithmetic()?;
    props.finish()?;
    Ok(Arc::new(Inline { expression, arithmetic, all_for_ranges }))
}

impl Inline {
    fn template(&self, column: &str) -> Result<Template, String> {
        let columns = [column.to_owned()];
        let template = Template::compile(&self.expression, &columns, self.arithmetic)
            .map_err(|error| format!("property `algorithm-expression`: {error}"))?;
        if template.variables().is_empty() {
            return Err(format!(
                "expression `{}` does not use the sharding column `{column}`",
                self.expression.value
            ));
        }
        Ok(template)
    }
}

impl Algorithm for Inline {
    fn kind(&self) -> &'static str {
        "INLINE"
    }

    fn standard(&self, column: &str, targets: &Targets) -> Result<Arc<dyn Standard>, String> {
        let names = Names::new(self.template(column)?, targets);
        Ok(Arc::new(Router { names, all_for_ranges: self.all_for_ranges }))
    }

    fn structure(&self, columns: &[String], prefix: &str) -> String {
        let column = columns.first().map_or("", String::as_str);
        match self.template(column) {
            Ok(template) => template.structure(prefix),
            Err(_) => self.expression.value.clone(),
        }
    }
}

#[derive(Debug)]
struct Router {
    names: Names,
    all_for_ranges: bool,
}

impl Standard for Router {
    fn exact(&self, value: &Value) -> Result<usize> {
        self.names.find(&[not_null(value)?])
    }

    fn range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Result<Selection> {
        super::check_bounds(low, high)?;
        match self.all_for_ranges {
            true => Ok(self.few(low, high).unwrap_or(Selection::All)),
            false => Err(range_refused()),
        }
    }
}

impl Router {
    /// The targets of a range of `column % number` with fewer numbers than there are remainders; `None` where there may be
    /// others. Rows hold whole numbers, as others could not be written.
    fn few(&self, low: Bound<&Value>, high: Bound<&Value>) -> Option<Selection> {
        let low = match low {
            Bound::Included(value) => ceiling(value)?,
            Bound::Excluded(value) => floor(value)?.checked_add(1)?,
            Bound::Unbounded => return None,
        };
        let high = match high {
            Bound::Included(value) => floor(value)?,
            Bound::Excluded(value) => ceiling(value)?.checked_sub(1)?,
            Bound::Unbounded => return None,
        };
        let remainders = self.names.remainders?;
        if low > high {
            return Some(Selection::none());
        }
        let count = high.checked_sub(low)?;
        if count >= MOST_NUMBERS || count >= remainders - 1 {
            return None;
        }
        let found = (low..=high).map(|number| {
            let number = Value::Int(i64::try_from(number).ok()?);
            self.names.find(&[&number]).ok()
        });
        let mut found: Vec<usize> = found.collect::<Option<_>>()?;
        found.sort_unstable();
        found.dedup();
        Some(Selection::Many(found))
    }
}

/// Of a number; a text may be one of a column of texts, which stand in another order.
fn floor(value: &Value) -> Option<i128> {
    is_number(value).then(|| value::floor(value))?
}

fn ceiling(value: &Value) -> Option<i128> {
    let is_whole = value::whole(value).is_some();
    floor(value)?.checked_add(i128::from(!is_whole))
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_))
}

/// ShardingSphere's refusal, where the configuration asks for it.
fn range_refused() -> pando_kernel::Error {
    pando_kernel::Error::forbidden(
        30001,
        "a range on a column sharded by an inline expression goes to every target",
        "set `allow-range-query-with-inline-sharding` to `true`",
    )
}

/// A compiled expression and the targets it names.
#[derive(Debug)]
pub(super) struct Names {
    template: Template,
    targets: Targets,
    numbers: Option<HashMap<i128, usize>>,
    /// By what the one variable is divided, where its remainder is all that counts.
    remainders: Option<i128>,
}

impl Names {
    pub(super) fn new(template: Template, targets: &Targets) -> Self {
        let numbers = numbers(&template, targets);
        // A value with a fraction has a name with one: no target has.
        let is_all_whole = numbers.as_ref().is_some_and(|numbers| numbers.len() == targets.len());
        let remainders = template.remainder().filter(|_| is_all_whole);
        Self { template, targets: targets.clone(), numbers, remainders }
    }

    /// The target of these values, one per variable.
    pub(super) fn find(&self, values: &[&Value]) -> Result<usize> {
        let data: Vec<Datum<'_>> = values.iter().map(|value| value::datum(value)).collect();
        let failed = |error: pando_inline::Error| {
            let shown: Vec<String> = values.iter().map(|value| value::shown(value)).collect();
            let message = format!("sharding value `{}`: {error}", shown.join("`, `"));
            unread(code::FAILED, message)
        };
        // The usual `t_${id % 4}`: the number itself finds the target, no name is made.
        if let Some(numbers) = &self.numbers
            && let Datum::Int(number, _) = self.template.value(&data).map_err(failed)?
            && let Some(position) = numbers.get(&number)
        {
            return Ok(*position);
        }
        let name = self.template.name(&data).map_err(failed)?;
        let unknown = || no_target(&name, values.first().unwrap_or(&&Value::Null), &self.targets);
        self.targets.find(&name).ok_or_else(unknown)
    }
}

/// For `text${number}text`, the targets by that number.
fn numbers(template: &Template, targets: &Targets) -> Option<HashMap<i128, usize>> {
    let (before, after) = template.numbered()?;
    let mut numbers = HashMap::new();
    for (position, name) in targets.names().enumerate() {
        let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        let Some(number) = number.and_then(|text| text.parse::<i128>().ok()) else { continue };
        if format!("{before}{number}{after}") == name {
            numbers.insert(number, position);
        }
    }
    Some(numbers)
}
