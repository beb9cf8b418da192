//! What a statement may do to the connection it runs on beside what its text says: functions that users have made, and tables that run something when they are read or
//! written, can set variables, take locks, make temporary tables and more. Connections serve many sessions, so it must be known where that can be.

use std::collections::HashSet;
use std::fmt::Debug;

use crate::value::Value;

/// How a family's servers tell which names may have effects.
pub trait Effects: Send + Sync + Debug {
    /// A query, text, for what [`Effects::read`] reads. It names everything with its schema: whoever has made a table of a catalogue's name must not answer it.
    fn query(&self) -> &'static str;

    /// What the rows of [`Effects::query`] say.
    fn read(&self, rows: &[Vec<Value>]) -> Effectful;

    /// Whether a function of the vendor's own, by its name in lower case, leaves nothing on its connection that others could see. What is not known is not harmless.
    fn is_harmless(&self, function: &str) -> bool;
}

/// The names in one database of a storage unit, in lower case, that may have effects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effectful {
    /// Everything may: an operator, a cast or a domain runs what users have made, and stands in no statement's text.
    pub everything: bool,
    /// Some of the functions may prepare statements, drop those of others, or do what nobody can read off them; else what they leave is gone with a reset.
    pub prepares: bool,
    /// Functions that users have made, which are called by their name with a parenthesis behind it.
    pub calls: HashSet<String>,
    /// What has effects wherever it stands: views, tables with policies that call something, functions that are called as if they were columns.
    pub names: HashSet<String>,
    /// Tables that have effects when they are written: by triggers, rules, defaults, checks, indexes.
    pub written: HashSet<String>,
}

/// What a statement does to the tables that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Reads,
    /// It may write.
    Writes,
}

impl Effectful {
    /// Whether a name, in lower case, may have effects where it stands in a statement.
    pub fn has(&self, name: &str, access: Access) -> bool {
        self.everything
            || self.names.contains(name)
            || access == Access::Writes && self.written.contains(name)
    }

    /// Whether a call of this name, in lower case, is one of a function that may have effects.
    pub fn has_call(&self, name: &str) -> bool {
        self.everything || self.calls.contains(name)
    }

    /// Takes in those of another storage unit.
    pub fn add(&mut self, other: &Self) {
        self.everything |= other.everything;
        self.prepares |= other.prepares;
        let extend = |own: &mut HashSet<String>, other: &HashSet<String>| {
            own.extend(other.iter().cloned());
        };
        extend(&mut self.calls, &other.calls);
        extend(&mut self.names, &other.names);
        extend(&mut self.written, &other.written);
    }
}
