//! An answer in rows.

use pando_config::Props;
use pando_distsql::{Entry, Pattern, entries};

use crate::scrub::{HIDDEN, is_secret};

/// Rows under column names, all as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// ShardingSphere's names, from the grammar table's entry.
    pub columns: Vec<&'static str>,
    /// One value for each column; absent is NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

impl Rows {
    /// No rows yet, under the columns of a statement of the grammar table.
    pub(crate) fn of(statement: &str) -> Self {
        let entry: Option<&Entry> = entries().find(|entry| entry.name == statement);
        Self { columns: entry.map_or(&[][..], |entry| entry.columns).to_vec(), rows: Vec::new() }
    }

    /// No rows yet, under these columns.
    pub(crate) fn under(columns: &[&'static str]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn push<const N: usize>(&mut self, values: [&str; N]) {
        self.rows.push(values.into_iter().map(|value| Some(value.to_owned())).collect());
    }

    /// Keeps the rows whose first value fits a pattern of LIKE.
    pub(crate) fn like(mut self, pattern: Option<&str>) -> Self {
        if let Some(pattern) = pattern {
            let pattern = Pattern::new(pattern);
            let first = |row: &Vec<Option<String>>| row.first().cloned().flatten();
            self.rows.retain(|row| first(row).is_some_and(|name| pattern.fits(&name)));
        }
        self
    }
}

/// Properties as one line of JSON, in the order they were written; secrets are hidden.
pub(crate) fn json<'p>(pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    let pairs = pairs.into_iter().map(|(key, value)| {
        let value = if is_secret(key) { HIDDEN } else { value };
        format!("{}:{}", quoted(key), quoted(value))
    });
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
}

/// [`json`] of configured properties.
pub(crate) fn props(props: &Props) -> String {
    json(props.iter().map(|(key, value)| (key.as_str(), value.as_str())))
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_json_without_secrets() {
        let pairs = [("a\"b", "x\ny"), ("aes-key-value", "k123")];
        assert_eq!(json(pairs), r#"{"a\"b":"x\ny","aes-key-value":"******"}"#);
        assert_eq!(json([]), "{}");
    }
}
