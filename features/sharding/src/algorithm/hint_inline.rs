//! `HINT_INLINE`: an expression of the hint's `value` names the target.

use std::sync::Arc;

use pando_config::Problem;
use pando_kernel::{Result, Value};

use super::inline::Names;
use super::props::Reader;
use super::{Algorithm, Hint, Targets, not_null};
use pando_inline::Template;

#[derive(Debug)]
struct HintInline {
    template: Template,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let mut props = Reader::new(config);
    let expression = props.optional("algorithm-expression");
    let arithmetic = props.arithmetic()?;
    let at = expression.map_or(props.at(), |expression| &expression.at);
    props.finish()?;
    let text = expression.map_or("${value}", |expression| expression.as_str());
    let template = Template::compile(text, &["value".to_owned()], arithmetic)
        .map_err(|error| at.problem(format!("property `algorithm-expression`: {error}")))?;
    Ok(Arc::new(HintInline { template }))
}

impl Algorithm for HintInline {
    fn kind(&self) -> &'static str {
        "HINT_INLINE"
    }

    fn hint(&self, targets: &Targets) -> Result<Arc<dyn Hint>, String> {
        Ok(Arc::new(Router(Names::new(self.template.clone(), targets))))
    }

    fn structure(&self, _columns: &[String], prefix: &str) -> String {
        self.template.structure(prefix)
    }
}

#[derive(Debug)]
struct Router(Names);

impl Hint for Router {
    fn exact(&self, value: &Value) -> Result<usize> {
        self.0.find(&[not_null(value)?])
    }
}
