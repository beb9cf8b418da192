//! Statements about rules of rooms of Pando's own, made of the grammar that a room brings as data.

mod build;
mod lines;
mod mistakes;
mod node;
mod notation;
#[cfg(test)]
mod tests;

use pando_kernel::grammar::{Field, Named};

pub(crate) use lines::{Line, lines};
pub(crate) use mistakes::mistakes;
#[cfg(test)]
pub(crate) use tests::language;

/// How builders find the fields of one level, by their place. A level has no more of them.
const LABELS: [&str; 16] =
    ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"];

/// How deep parts may stand in parts.
const DEEPEST: usize = 4;

/// How builders find a rule, or a part of one.
const RULE: &str = "ownRule";

/// The fields of a level with their labels.
fn labelled(fields: &'static [Field]) -> impl Iterator<Item = (&'static str, &'static Field)> {
    LABELS.into_iter().zip(fields)
}

/// The piece of grammar that such a name is written as.
fn piece(named: Named) -> &'static str {
    match named {
        Named::Table => "table",
        Named::Column => "column",
        Named::Unit => "unit",
        Named::Rule => "rule",
    }
}
