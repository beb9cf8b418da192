//! Properties of one algorithm, read by name and type; what nobody asked for is an error.

use std::ops::RangeInclusive;

use pando_config::{At, Placed, Problem, suggest};

use pando_inline::Arithmetic;

/// A reader of one algorithm's properties.
#[derive(Debug)]
pub(crate) struct Reader<'c> {
    config: &'c pando_config::Algorithm,
    known: Vec<&'static str>,
}

impl<'c> Reader<'c> {
    pub(crate) fn new(config: &'c pando_config::Algorithm) -> Self {
        Self { config, known: vec![crate::text_keys::PROPERTY] }
    }

    pub(crate) fn at(&self) -> &'c At {
        &self.config.at
    }

    pub(crate) fn optional(&mut self, name: &'static str) -> Option<&'c Placed<String>> {
        self.known.push(name);
        self.config.props.get(name)
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<&'c Placed<String>, Problem> {
        let found = self.optional(name).filter(|text| !text.trim().is_empty());
        found.ok_or_else(|| {
            self.at().problem(format!("property `{name}` of `{}` is required", self.kind()))
        })
    }

    pub(crate) fn integer(
        &mut self,
        name: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<i64, Problem> {
        let text = self.text(name)?;
        integer(name, text, range)
    }

    pub(crate) fn optional_integer(
        &mut self,
        name: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<i64>, Problem> {
        self.optional(name).map(|text| integer(name, text, range)).transpose()
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, Problem> {
        let Some(text) = self.optional(name) else { return Ok(None) };
        match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            other => {
                let message =
                    format!("property `{name}`: expected `true` or `false`, found `{other}`");
                Err(text.at.problem(message))
            }
        }
    }

    /// `compatibility: shardingsphere`, where existing data was spread by its arithmetic.
    pub(crate) fn arithmetic(&mut self) -> Result<Arithmetic, Problem> {
        let Some(text) = self.optional("compatibility") else { return Ok(Arithmetic::Exact) };
        match text.trim().to_ascii_lowercase().as_str() {
            "none" => Ok(Arithmetic::Exact),
            "shardingsphere" => Ok(Arithmetic::Groovy),
            other => {
                let message = format!(
                    "property `compatibility`: expected `none` or `shardingsphere`, found `{other}`"
                );
                Err(text.at.problem(message))
            }
        }
    }

    /// Refuses every property that was not asked for.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        let unknown = self.config.props.iter().find(|(key, _)| !self.known.contains(&key.as_str()));
        let Some((key, _)) = unknown else { return Ok(()) };
        let hint = suggest::hint(key, self.known.iter().copied());
        let kind = self.kind();
        Err(key.at.problem(format!("unknown property `{}` of `{kind}`{hint}", key.value)))
    }

    fn kind(&self) -> &'c str {
        &self.config.kind.value
    }
}

fn integer(name: &str, text: &Placed<String>, range: RangeInclusive<i64>) -> Result<i64, Problem> {
    let number = text.trim().parse::<i64>().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        let wanted = match (*range.start(), *range.end()) {
            (i64::MIN, i64::MAX) => "a whole number".to_owned(),
            (low, i64::MAX) => format!("a whole number of at least {low}"),
            (low, high) => format!("a whole number from {low} to {high}"),
        };
        text.at.problem(format!("property `{name}`: expected {wanted}, found `{}`", text.value))
    })
}
