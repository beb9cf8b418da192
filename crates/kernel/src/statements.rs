//! The prepared statements of one session by name, whichever way they were made: a server knows them by one list.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::{ErrorKind, Result};
use crate::request::Prepared;

/// Prepared statements with names one session may have.
const MAX: usize = 10_000;

/// Statements by name, in the order of their names.
#[derive(Debug, Default)]
pub struct Statements {
    /// In order, because few names are found faster so than by their hashes.
    all: BTreeMap<String, Named>,
}

/// A statement that has a name.
#[derive(Debug, Clone)]
pub struct Named {
    /// The statement.
    pub prepared: Arc<Prepared>,
    /// The text of the PREPARE that made it; `None` when its door did.
    pub from: Option<Arc<str>>,
    /// When it was made.
    pub made: SystemTime,
}

impl Named {
    /// Made now, of the text of a PREPARE or by a door.
    pub fn new(prepared: Arc<Prepared>, from: Option<Arc<str>>) -> Self {
        Self { prepared, from, made: SystemTime::now() }
    }
}

impl Statements {
    /// Keeps a statement under a name that none has.
    ///
    /// # Errors
    /// `StatementExists`, and `TooLarge` when there are too many.
    pub fn add(&mut self, name: &str, named: Named) -> Result<()> {
        if self.all.contains_key(name) {
            return Err(ErrorKind::StatementExists(name.to_owned()).into());
        }
        self.put(name, named)
    }

    /// Keeps a statement in the place of one that had its name.
    ///
    /// # Errors
    /// `TooLarge` when there are too many.
    pub fn put(&mut self, name: &str, named: Named) -> Result<()> {
        if let Some(place) = self.all.get_mut(name) {
            *place = named;
            return Ok(());
        }
        if self.all.len() >= MAX {
            return Err(ErrorKind::TooLarge(format!("more than {MAX} prepared statements")).into());
        }
        self.all.insert(name.to_owned(), named);
        Ok(())
    }

    /// The statement of that name.
    ///
    /// # Errors
    /// `UnknownStatement`.
    pub fn get(&self, name: &str) -> Result<&Arc<Prepared>> {
        let named = self.all.get(name).map(|named| &named.prepared);
        named.ok_or_else(|| ErrorKind::UnknownStatement(name.to_owned()).into())
    }

    /// All of them with their names, in their names' order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Named)> {
        self.all.iter().map(|(name, named)| (&**name, named))
    }

    /// Forgets one. Result: whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.all.remove(name).is_some()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.all.clear();
    }
}
