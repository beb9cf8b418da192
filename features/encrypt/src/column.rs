//! An encrypted column: what stands on storage units for it, and which part of that answers what.

use std::sync::Arc;

use pando_columns::Origin;
use pando_kernel::changes::Turn;
use pando_kernel::{CellTurn, DeclaredType};

use crate::canonical::Declared;
use crate::encryptor::Encryptor;

/// A column as clients know it.
#[derive(Debug)]
pub(crate) struct EncryptedColumn {
    pub(crate) of: Origin,
    /// The type that its rule says clients see it of; without one it holds texts.
    pub(crate) declared: Option<Declared>,
    /// Holds the value as clients are told it: cipher text, or the value in the plain as long as that is read.
    pub(crate) told: Part,
    /// Holds what equality is asked of.
    pub(crate) assisted: Option<Part>,
    /// Holds what LIKE is asked of.
    pub(crate) like: Option<Part>,
    /// Those that are written as well, for the time when others are read.
    pub(crate) beside: Vec<Part>,
    /// Those that may be missing, as they are about to come or to go. Nobody sees or writes them.
    pub(crate) unwritten: Vec<Part>,
    /// What clients are told in the place of cipher text; nothing where the value is read in the plain.
    pub(crate) shown: Option<Arc<dyn CellTurn>>,
}

/// What a stored column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Value,
    Equality,
    Like,
    /// The value in the plain.
    Plain,
}

/// One stored column of it.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) purpose: Purpose,
    /// Its name on the storage units.
    pub(crate) name: String,
    /// What its encryptor is called in the rule.
    pub(crate) encryptor: String,
    /// What it stores.
    pub(crate) makes: Arc<dyn Encryptor>,
    /// What becomes of a value that is stored.
    pub(crate) stored: Turn,
    /// What becomes of a value that is compared with it; of a pattern, where LIKE is asked of it.
    pub(crate) asked: Turn,
}

impl EncryptedColumn {
    /// Its stored columns, in the order in which an INSERT fills them.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        let asked = [Some(&self.told), self.assisted.as_ref(), self.like.as_ref()];
        asked.into_iter().flatten().chain(&self.beside)
    }

    /// All of them, those that may be missing as well.
    pub(crate) fn all_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts().chain(&self.unwritten)
    }

    /// Whether clients are told it as it stands in the plain.
    pub(crate) fn is_told_plain(&self) -> bool {
        self.told.purpose == Purpose::Plain
    }

    /// Whether columns are written that nobody reads.
    pub(crate) fn has_beside(&self) -> bool {
        !self.beside.is_empty()
    }

    /// Whether it is about to be stored otherwise.
    pub(crate) fn is_in_transition(&self) -> bool {
        self.all_parts().any(|part| part.purpose == Purpose::Plain)
    }

    /// All but the one with the value.
    pub(crate) fn further(&self) -> impl Iterator<Item = &Part> {
        self.parts().skip(1)
    }

    /// The one that is equal where values are; `None` where none is.
    pub(crate) fn equality(&self) -> Option<&Part> {
        let told = Some(&self.told).filter(|part| part.makes.abilities().equal);
        self.assisted.as_ref().or(told)
    }

    /// Whether a value of it is stored in another column as in this one, so that what is stored can be copied.
    pub(crate) fn is_stored_as(&self, other: &Self) -> bool {
        let all = |column: &Self| -> Vec<(Purpose, String)> {
            column.parts().map(|part| (part.purpose, part.encryptor.clone())).collect()
        };
        all(self) == all(other) && self.declared == other.declared
    }

    /// Whether both are equal where their values are.
    pub(crate) fn compares_with(&self, other: &Self) -> bool {
        match (self.equality(), other.equality()) {
            (Some(own), Some(equal)) => own.encryptor == equal.encryptor && self.writes_as(other),
            _ => false,
        }
    }

    /// Whether equal values of both have the same text, and others another.
    pub(crate) fn writes_as(&self, other: &Self) -> bool {
        let declared = |column: &Self| match column.declared {
            Some(declared) => declared.declared,
            None => DeclaredType::Text { most: None },
        };
        match (declared(self), declared(other)) {
            (DeclaredType::Text { .. }, DeclaredType::Text { .. })
            | (DeclaredType::Int { .. }, DeclaredType::Int { .. }) => true,
            (own, other) => own == other,
        }
    }
}
