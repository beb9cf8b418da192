//! `TYPE(NAME=…, PROPERTIES(…))`, and algorithms by name.

use super::{Name, Place};

/// A kind of algorithm with its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Algorithm {
    /// Such as `HASH_MOD`, in the case it was written.
    pub kind: Name,
    /// In the order they were written; no key twice.
    pub properties: Vec<Property>,
}

/// One `"key"="value"`. Numbers and booleans may be written without quotes and are texts all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Such as `sharding-count`; never empty.
    pub key: String,
    /// Its value as text.
    pub value: String,
    /// Where key and value stand.
    pub place: Place,
}

/// An algorithm where it is used: described on the spot, or by the name of one that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlgorithmUse {
    /// Becomes an algorithm of its own under a name that follows from the rule's.
    Inline(Algorithm),
    /// One that exists already.
    Named(Name),
}

/// An algorithm that is made for itself: `name(TYPE(…))`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAlgorithm {
    /// The name rules will know it by.
    pub name: Name,
    /// What it is.
    pub algorithm: Algorithm,
}
