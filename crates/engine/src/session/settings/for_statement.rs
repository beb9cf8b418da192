//! Variables that hold for one statement, and what the connections of an open transaction wear meanwhile.

use pando_kernel::dialect::Dialect;
use pando_kernel::error::{ErrorKind, Result};

use crate::session::settings::Settings;
use crate::variables::UNKNOWN;

/// Variables of single statements that one transaction may know.
const MOST: usize = 1_000;

/// What variables of a statement were before it; `None` where they were not set.
#[derive(Debug)]
#[must_use = "they hold until they are taken back"]
pub(in crate::session) struct Before(Vec<(String, Option<String>)>);

/// What connections of a transaction wear that may not be what the session has.
#[derive(Debug)]
pub(in crate::session) struct Worn {
    /// Which variables were set for single statements.
    names: Vec<String>,
    /// The number of the variables that all of them wear.
    id: u64,
}

impl Settings {
    /// Sets variables until they are taken back. Connections that are dressed from here on get them as all others.
    ///
    /// # Errors
    /// `TooLarge` when there are too many; none is set then.
    pub(in crate::session) fn set_for_statement(
        &mut self,
        list: &[(String, String)],
    ) -> Result<Before> {
        self.may_differ(list.iter().map(|(name, _)| name))?;
        let known = self.variables.list();
        let value = |name: &str| {
            let known = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            known.map(|(_, value)| value.clone())
        };
        let before = Before(list.iter().map(|(name, _)| (name.clone(), value(name))).collect());
        for (name, value) in list {
            if !self.variables.set(name, value) {
                self.take_back(before);
                return Err(ErrorKind::TooLarge("too many session variables".into()).into());
            }
        }
        Ok(before)
    }

    /// A statement is about to set these on its connection: nobody knows to what before it has ended.
    ///
    /// # Errors
    /// `TooLarge` when there are too many.
    pub(in crate::session) fn will_be_set(&mut self, names: &[String]) -> Result<()> {
        self.may_differ(names.iter())?;
        self.may_be_worn();
        Ok(())
    }

    /// What a statement has set on its connection holds for the session.
    ///
    /// # Errors
    /// `TooLarge` when there are too many.
    pub(in crate::session) fn are_set(&mut self, list: Vec<(String, String)>) -> Result<()> {
        self.may_differ(list.iter().map(|(name, _)| name))?;
        for (name, value) in list {
            if !self.variables.set(&name, &value) {
                return Err(ErrorKind::TooLarge("too many session variables".into()).into());
            }
        }
        Ok(())
    }

    /// Connections may have other values of these than the session.
    fn may_differ<'a>(&mut self, names: impl Iterator<Item = &'a String>) -> Result<()> {
        let id = self.variables.id();
        let worn = self.worn.get_or_insert_with(|| Worn { names: Vec::new(), id });
        for name in names {
            if worn.names.contains(name) {
                continue;
            }
            if worn.names.len() >= MOST {
                let message = "too many variables of single statements";
                return Err(ErrorKind::TooLarge(message.into()).into());
            }
            worn.names.push(name.clone());
        }
        Ok(())
    }

    /// The statement is under way: what follows goes by what was set before it.
    pub(in crate::session) fn take_back(&mut self, before: Before) {
        for (name, value) in before.0 {
            match value {
                Some(value) => drop(self.variables.set(&name, &value)),
                None => self.variables.unset(&name),
            }
        }
    }

    /// Whether the transaction's connections wear what was set for a statement before.
    pub(in crate::session) fn are_worn_otherwise(&self) -> bool {
        self.worn.as_ref().is_some_and(|worn| worn.id != self.variables.id())
    }

    /// What brings such connections to the session's variables; nothing when they have them.
    pub(in crate::session) fn change_of_dress(&self, dialect: &dyn Dialect) -> Option<String> {
        let worn = self.worn.as_ref().filter(|worn| worn.id != self.variables.id())?;
        let value = |name: &String| {
            let known = self.variables.list().iter().find(|(known, _)| known == name);
            known.map_or_else(
                || if name.starts_with('@') { "NULL" } else { "DEFAULT" }.to_owned(),
                |(_, value)| value.clone(),
            )
        };
        let list: Vec<_> = worn.names.iter().map(|name| (name.clone(), value(name))).collect();
        (!list.is_empty()).then(|| dialect.set_statement(&list))
    }

    /// All connections of the transaction wear the session's variables.
    pub(in crate::session) fn are_worn(&mut self) {
        if let Some(worn) = &mut self.worn {
            worn.id = self.variables.id();
        }
    }

    /// Nobody knows what they wear.
    pub(in crate::session) fn may_be_worn(&mut self) {
        if let Some(worn) = &mut self.worn {
            worn.id = UNKNOWN;
        }
    }
}
