//! A table's strategy at one level (storage units or tables), resolved: its columns and the bound algorithm.

use std::sync::Arc;

use pando_kernel::{Result, Value};

use crate::algorithm::{Algorithm, Complex, Hint, Selection, Standard, Targets, Union};
use crate::domain::{Domain, Part};
use crate::text_keys::TextKeys;

/// Combinations of several columns' values that are worked out one by one; beyond, every target is asked.
const MOST_COMBINATIONS: usize = 10_000;

/// How the targets of one level are chosen.
#[derive(Debug, Clone)]
pub(crate) struct Strategy {
    /// Lower-cased, in the order written; empty for none and hint.
    columns: Vec<String>,
    router: Router,
    /// Equal for tables that can be bound.
    structure: String,
    text_keys: TextKeys,
}

#[derive(Debug, Clone)]
enum Router {
    None,
    Standard(Arc<dyn Standard>),
    Complex(Arc<dyn Complex>),
    Hint(Arc<dyn Hint>),
}

impl Strategy {
    /// No strategy: every target.
    pub(crate) fn none() -> Self {
        Self {
            columns: Vec::new(),
            router: Router::None,
            structure: "none".into(),
            text_keys: TextKeys::Collation,
        }
    }

    /// By one column.
    pub(crate) fn standard(
        algorithm: &dyn Algorithm,
        column: &str,
        targets: &Targets,
        prefix: &str,
    ) -> Result<Self, String> {
        let columns = vec![column.to_lowercase()];
        let router = Router::Standard(algorithm.standard(column, targets)?);
        let structure = format!("standard {}", algorithm.structure(&columns, prefix));
        Ok(Self { columns, router, structure, text_keys: TextKeys::Collation })
    }

    /// By several columns.
    pub(crate) fn complex(
        algorithm: &dyn Algorithm,
        columns: &[String],
        targets: &Targets,
        prefix: &str,
    ) -> Result<Self, String> {
        let columns: Vec<String> = columns.iter().map(|column| column.to_lowercase()).collect();
        let router = Router::Complex(algorithm.complex(&columns, targets)?);
        let structure = format!("complex {}", algorithm.structure(&columns, prefix));
        Ok(Self { columns, router, structure, text_keys: TextKeys::Collation })
    }

    /// By hint values.
    pub(crate) fn hint(
        algorithm: &dyn Algorithm,
        targets: &Targets,
        prefix: &str,
    ) -> Result<Self, String> {
        let router = Router::Hint(algorithm.hint(targets)?);
        let structure = format!("hint {}", algorithm.structure(&[], prefix));
        Ok(Self { columns: Vec::new(), router, structure, text_keys: TextKeys::Collation })
    }

    /// The same, where texts are seen so.
    pub(crate) fn seeing(mut self, text_keys: TextKeys) -> Self {
        // A hint is no column's value.
        if text_keys == TextKeys::Bytes && !self.columns.is_empty() {
            self.text_keys = text_keys;
            self.structure.push_str(", of texts as they are written");
        }
        self
    }

    pub(crate) fn text_keys(&self) -> TextKeys {
        self.text_keys
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    pub(crate) fn structure(&self) -> &str {
        &self.structure
    }

    /// The one target of a row with these values; `None` where they do not decide, or are none the algorithm takes.
    pub(crate) fn exact<'v>(&self, value: &impl Fn(&str) -> Option<&'v Value>) -> Option<usize> {
        match &self.router {
            Router::None | Router::Hint(_) => None,
            Router::Standard(router) => router.exact(value(self.columns.first()?)?).ok(),
            Router::Complex(router) => {
                let row: Option<Vec<&Value>> = self.columns.iter().map(|c| value(c)).collect();
                router.exact(&row?).ok()
            }
        }
    }

    /// The targets that rows of these domains, or with this hint value, can be in.
    pub(crate) fn route(
        &self,
        count: usize,
        domain: &dyn Fn(&str) -> Domain,
        hint: Option<&Value>,
    ) -> Result<Selection> {
        match &self.router {
            Router::None => Ok(Selection::All),
            Router::Hint(router) => match hint {
                Some(value) => router.exact(value).map(Selection::One),
                None => Ok(Selection::All),
            },
            Router::Standard(router) => {
                let column = self.columns.first().map_or("", String::as_str);
                by_column(&**router, count, &domain(column))
            }
            Router::Complex(router) => by_columns(&**router, count, &self.columns, domain),
        }
    }
}

fn by_column(router: &dyn Standard, count: usize, domain: &Domain) -> Result<Selection> {
    let parts = match domain {
        Domain::Any => return Ok(Selection::All),
        Domain::Parts(parts) => parts,
    };
    let one = |part: &Part| match part {
        Part::Value(value) => router.exact(value).map(Selection::One),
        Part::Range(range) => {
            let [low, high] = &**range;
            router.range(low.as_ref(), high.as_ref())
        }
    };
    if let [part] = parts.as_slice() {
        return one(part);
    }
    let mut chosen = Union::of(count);
    for part in parts {
        chosen.add(&one(part)?);
    }
    Ok(chosen.selection())
}

fn by_columns(
    router: &dyn Complex,
    count: usize,
    columns: &[String],
    domain: &dyn Fn(&str) -> Domain,
) -> Result<Selection> {
    let domains: Vec<Domain> = router
        .columns()
        .iter()
        .map(|i| columns.get(*i).map_or(Domain::Any, |column| domain(column)))
        .collect();
    if domains.iter().any(Domain::is_empty) {
        return Ok(Selection::none());
    }
    let mut rows: Vec<Vec<&Value>> = vec![vec![&Value::Null; columns.len()]];
    for (column, domain) in router.columns().iter().zip(&domains) {
        let Some(values) = values(domain) else { return Ok(Selection::All) };
        if rows.len().saturating_mul(values.len()) > MOST_COMBINATIONS {
            return Ok(Selection::All);
        }
        let mut longer = Vec::with_capacity(rows.len() * values.len());
        for row in &rows {
            for value in &values {
                let mut row = row.clone();
                row[*column] = *value;
                longer.push(row);
            }
        }
        rows = longer;
    }
    if let [row] = rows.as_slice() {
        return router.exact(row).map(Selection::One);
    }
    let mut chosen = Union::of(count);
    for row in &rows {
        chosen.one(router.exact(row)?);
    }
    Ok(chosen.selection())
}

/// The values of a domain that has nothing but values.
fn values(domain: &Domain) -> Option<Vec<&Value>> {
    match domain {
        Domain::Any => None,
        Domain::Parts(parts) => parts
            .iter()
            .map(|part| match part {
                Part::Value(value) => Some(value),
                Part::Range(..) => None,
            })
            .collect(),
    }
}
