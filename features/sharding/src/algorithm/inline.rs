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
            true => Ok(Selection::All),
            false => Err(range_refused()),
        }
    }
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
}

impl Names {
    pub(super) fn new(template: Template, targets: &Targets) -> Self {
        let numbers = numbers(&template, targets);
        Self { template, targets: targets.clone(), numbers }
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
