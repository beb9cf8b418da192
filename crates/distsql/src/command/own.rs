//! Rules of rooms of Pando's own, which bring their grammar with them.

use pando_kernel::RuleGrammar;

use super::{Algorithm, Name};

/// A sort of rules that a room brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Own {
    /// The tag of the section that they stand in.
    pub tag: &'static str,
    /// How they are written and kept.
    pub grammar: &'static RuleGrammar,
}

/// One of these rules, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRule {
    /// What it is found by.
    pub key: Name,
    /// What it says: one entry for each field of its grammar, in the grammar's order.
    pub given: Vec<Option<Given>>,
}

/// What a field says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// A name.
    Name(Name),
    /// A text.
    Text(String),
    /// A number within the grammar's bounds.
    Number(u64),
    /// TRUE or FALSE.
    Boolean(bool),
    /// A list of names; never empty.
    Names(Vec<Name>),
    /// One algorithm, or several where the grammar allows them; never empty.
    Algorithms(Vec<Algorithm>),
    /// Parts with keys of their own; never empty.
    Parts(Vec<OwnRule>),
}
