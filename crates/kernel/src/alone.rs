//! What is answered where there is no storage unit to ask: the little that clients want to know of a server before they do anything.

use std::fmt::Debug;

use pando_sql::ast::{ObjectName, Show};

use crate::facts::Facts;
use crate::value::Value;

/// What a family tells without any server: what the session has set, else the values that Pando itself stands for. What it does not know is refused.
pub trait Alone: Send + Sync + Debug {
    /// The value of a function, by its lower-cased name without a schema.
    fn function(&self, name: &str, arguments: &[Value], facts: &Facts) -> Option<Value>;

    /// The value of a variable as written, lower-cased: `@@session.x`, `@x`.
    fn variable(&self, name: &str, facts: &Facts) -> Option<Value>;

    /// The rows of a relation of the vendor's catalogue.
    fn relation(&self, name: &ObjectName, facts: &Facts) -> Option<Relation>;

    /// The query that a SHOW is, over such relations. `text` is the whole SHOW.
    fn restate(&self, text: &str, show: &Show, facts: &Facts) -> Option<String>;
}

/// Rows under names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relation {
    /// The columns' names.
    pub columns: Vec<String>,
    /// One value for each column.
    pub rows: Vec<Vec<Value>>,
}

impl Relation {
    /// Rows of text under names.
    pub fn of_text(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        let rows = rows.into_iter().map(|row| row.into_iter().map(Value::Text).collect());
        Self {
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            rows: rows.collect(),
        }
    }
}

/// What a session has set a variable to, as SQL; `name` in lower case.
pub fn set_to<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
    let mut newest = facts.settings.iter().rev();
    newest.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, text)| text.as_str())
}
