//! A relation of another vendor's catalogue: its columns and where they come from.

use std::fmt::Write as _;

use pando_kernel::dialect::Facts;
use pando_kernel::presentation::Holding;

use super::settings;
use crate::literal::text_literal;

/// A relation. Its rows are those of `from`, its columns expressions over them.
#[derive(Debug)]
pub(super) struct Relation {
    /// In lower case.
    pub(super) schema: &'static str,
    /// In lower case.
    pub(super) name: &'static str,
    /// What its rows are about.
    pub(super) holding: Holding,
    /// One line per column: its name, `:` and a letter for its type (`i`nteger, `t`ext, `b`oolean), `=`, the expression.
    pub(super) columns: &'static str,
    /// What stands behind FROM; empty for a relation that never has a row.
    pub(super) from: &'static str,
}

/// One of its columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    /// The type as SQLite reads and `types` knows it.
    pub(super) class: &'static str,
    expression: &'static str,
}

impl Relation {
    pub(super) fn columns(&self) -> impl Iterator<Item = Column> {
        self.columns.lines().flat_map(|line| line.split(" ; ")).filter_map(|part| {
            let (name, rest) = part.trim().split_once(':')?;
            let (class, expression) = rest.split_once('=').unwrap_or((rest, "NULL"));
            let class = match class.trim() {
                "i" => "BIGINT",
                "b" => "BOOLEAN",
                _ => "TEXT",
            };
            Some(Column { name, class, expression: expression.trim() })
        })
    }

    /// The name of the common table expression that stands for it.
    pub(super) fn stand_in(&self) -> String {
        format!("pando_{}_{}", self.schema, self.name)
    }

    /// The common table expression.
    pub(super) fn expression(&self, facts: &Facts) -> String {
        let mut text = format!("{} AS (SELECT ", self.stand_in());
        for (at, column) in self.columns().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "{comma}CAST({} AS {}) AS {}",
                column.expression, column.class, column.name
            );
        }
        if self.from.is_empty() {
            text.push_str(" WHERE 0)");
        } else {
            let _ = write!(text, " FROM {})", self.from);
        }
        filled(&text, facts)
    }
}

/// The text with the session's facts for its place holders. What is put in is not looked at again.
fn filled(text: &str, facts: &Facts) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, behind)) = behind.split_once('}') else { break };
        match name {
            "databases" => out.push_str(&databases(facts)),
            "database" => {
                out.push_str(&text_literal(facts.database.as_deref().unwrap_or_default()))
            }
            "user" => out.push_str(&text_literal(&facts.user)),
            "variables" => out.push_str(&text_literal(&settings::variables(facts))),
            "settings" => out.push_str(&text_literal(&settings::settings(facts))),
            other => {
                // Writing to a string does not fail.
                let _ = write!(out, "{{{other}}}");
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// One row per logical database: a number and the name, the current one first.
fn databases(facts: &Facts) -> String {
    let current = facts.database.as_deref();
    let others = facts.databases.iter().map(String::as_str).filter(|name| Some(*name) != current);
    let rows: Vec<String> = current
        .into_iter()
        .chain(others)
        .enumerate()
        .map(|(at, name)| format!("({}, {})", at + 5, text_literal(name)))
        .collect();
    if rows.is_empty() { "(NULL, NULL)".to_owned() } else { rows.join(", ") }
}
