//! `COMPLEX_INLINE`: an expression of several columns names the target.

use std::sync::Arc;

use pando_config::{Placed, Problem};
use pando_kernel::{Result, Value};

use super::inline::Names;
use super::props::Reader;
use super::{Algorithm, Complex, Targets, not_null};
use pando_inline::{Arithmetic, Template};

#[derive(Debug)]
struct ComplexInline {
    expression: Placed<String>,
    columns: Vec<String>,
    arithmetic: Arithmetic,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let mut props = Reader::new(config);
    let expression = props.text("algorithm-expression")?.clone();
    let columns = props.optional("sharding-columns").map(|text| text.as_str()).unwrap_or_default();
    let columns = columns.split(',').map(str::trim).filter(|column| !column.is_empty());
    let columns = columns.map(str::to_owned).collect();
    // Where a column has no single value, every target is asked, whatever this says: that is always right.
    props.flag("allow-range-query-with-inline-sharding")?;
    let arithmetic = props.arithmetic()?;
    props.finish()?;
    Ok(Arc::new(ComplexInline { expression, columns, arithmetic }))
}

impl ComplexInline {
    fn template(&self, columns: &[String]) -> Result<Template, String> {
        let missing = self
            .columns
            .iter()
            .find(|column| !columns.iter().any(|known| known.eq_ignore_ascii_case(column)));
        if let Some(column) = missing {
            return Err(format!(
                "property `sharding-columns`: `{column}` is not among the strategy's columns {}",
                columns.join(", ")
            ));
        }
        let template = Template::compile(&self.expression, columns, self.arithmetic)
            .map_err(|error| format!("property `algorithm-expression`: {error}"))?;
        if template.variables().is_empty() {
            return Err(format!(
                "expression `{}` uses none of the sharding columns {}",
                self.expression.value,
                columns.join(", ")
            ));
        }
        Ok(template)
    }
}

impl Algorithm for ComplexInline {
    fn kind(&self) -> &'static str {
        "COMPLEX_INLINE"
    }

    fn complex(&self, columns: &[String], targets: &Targets) -> Result<Arc<dyn Complex>, String> {
        let template = self.template(columns)?;
        let columns = template.variables();
        Ok(Arc::new(Router { columns, names: Names::new(template, targets) }))
    }

    fn structure(&self, columns: &[String], prefix: &str) -> String {
        match self.template(columns) {
            Ok(template) => template.structure(prefix),
            Err(_) => self.expression.value.clone(),
        }
    }
}

#[derive(Debug)]
struct Router {
    columns: Vec<usize>,
    names: Names,
}

impl Complex for Router {
    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn exact(&self, values: &[&Value]) -> Result<usize> {
        for column in &self.columns {
            not_null(values.get(*column).copied().unwrap_or(&Value::Null))?;
        }
        self.names.find(values)
    }
}
