//! Reading answers by their labels: versions differ in which columns they have, and how they name them.

use pando_kernel::Value;
use pando_kernel::health::Answer;

/// Name and value pairs, as SHOW VARIABLES and SHOW STATUS give them.
#[derive(Debug, Default)]
pub(super) struct Told {
    pairs: Vec<(String, String)>,
}

impl Told {
    pub(super) fn pairs(answer: &Answer) -> Self {
        let Answer::Rows { rows, .. } = answer else { return Self::default() };
        let pair = |row: &Vec<Value>| match &row[..] {
            [name, value, ..] => Some((text(name)?.to_ascii_lowercase(), text(value)?)),
            [_] | [] => None,
        };
        Self { pairs: rows.iter().filter_map(pair).collect() }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        // MySQL 8.0's Galera and later MariaDB write some switches in words of their own: whatever isn't off is on.
        self.get(name)
            .is_some_and(|value| !["OFF", "0", ""].contains(&&*value.to_ascii_uppercase()))
    }
}

/// A row with the labels of its columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    labels: &'a [String],
    values: &'a [Value],
}

impl<'a> Row<'a> {
    pub(super) fn all(labels: &'a [String], rows: &'a [Vec<Value>]) -> Vec<Self> {
        rows.iter().map(|values| Self { labels, values }).collect()
    }

    /// The first of these columns that there is, unless it is NULL.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        let at = names.iter().find_map(|name| {
            self.labels.iter().position(|label| label.eq_ignore_ascii_case(name))
        })?;
        self.values.get(at).and_then(text)
    }
}

/// The one value of an answer.
pub(super) fn single(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Rows { rows, .. } => rows.first()?.first().and_then(text),
        Answer::Refused(_) => None,
    }
}

fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Bool(yes) => u8::from(*yes).to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal(number) => number.to_plain_string(),
    })
}
