//! What a statement may do to the connection it runs on beside what its text says: functions that users have made, and
//! tables that run something when they are read or written, can set variables, take locks, make temporary tables and
//! more. Connections serve many sessions, so it must be known where that can be.

mod graph;
mod said;

use std::collections::HashMap;
use std::fmt::Debug;

use crate::route::UnitName;
use crate::triggers::TriggerTexts;
use crate::value::Value;

pub use graph::{Graph, Place, Space};
pub use said::{Said, Stands, said};

/// How a family's servers tell which names may have effects.
pub trait Effects: Send + Sync + Debug {
    /// A query, text, for what [`Effects::read`] reads. It names everything with its schema: whoever has made a table
    /// of a catalogue's name must not answer it.
    fn query(&self) -> &'static str;

    /// What the rows of [`Effects::query`] say.
    fn read(&self, rows: &[Vec<Value>]) -> Effectful;

    /// Whether a function of the vendor's own, by its name in lower case, leaves nothing on its connection that others
    /// could see. What is not known is not harmless.
    fn is_harmless(&self, function: &str) -> bool;

    /// Whether a call of this function, named in lower case, may give a column of a query several rows where one
    /// would be.
    fn may_give_rows(&self, _function: &str) -> bool {
        false
    }

    /// What is run on a connection before a statement that may ask by a function of users' for the key that the session
    /// generated last: the connection has that of somebody else. `None` where there is no way.
    fn key(&self, _last: u64) -> Option<String> {
        None
    }

    /// How its servers tell what triggers run; `None` where nobody can tell what a trigger does.
    fn triggers(&self) -> Option<&dyn TriggerTexts> {
        None
    }
}

/// What may be left behind, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Leaves {
    /// Nothing that the statement's text does not tell.
    #[default]
    Nothing,
    /// What a reset of the connection takes back.
    State,
    /// Anything on the connection, prepared statements under other names among it.
    Anything,
    /// The same, and perhaps new definitions on the server: what was known of names' effects may hold no longer.
    Definitions,
}

/// What the names in one database of a storage unit, in lower case, may leave. What is missing leaves nothing, but for
/// functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effectful {
    /// Everything may leave this: an operator, a cast or a domain runs what users have made, and stands in no
    /// statement's text.
    pub everything: Leaves,
    /// Something of what may leave anything at all asks for the key that its session generated last.
    pub reads_key: bool,
    /// What a function may leave that is neither among `calls` nor harmless: some run texts that they are given, and so
    /// whatever users have made.
    pub unknown: Leaves,
    /// All functions that users have made, which are called by their name with a parenthesis behind it.
    pub calls: HashMap<String, Leaves>,
    /// Where what is told is of several storage units: which of them have each of these functions.
    pub routines: HashMap<String, Vec<UnitName>>,
    /// What has effects wherever it stands: views, tables with policies that call something, functions that are called
    /// as if they were columns.
    pub names: HashMap<String, Leaves>,
    /// Tables that have effects when they are written: by triggers, rules, defaults, checks, indexes.
    pub written: HashMap<String, Leaves>,
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
    /// What a name, in lower case, may leave where it stands in a statement.
    pub fn of_name(&self, name: &str, access: Access) -> Leaves {
        let read = self.names.get(name).copied().unwrap_or_default();
        let written = match access {
            Access::Reads => Leaves::Nothing,
            Access::Writes => self.written.get(name).copied().unwrap_or_default(),
        };
        self.everything.max(read).max(written)
    }

    /// What a name may leave that stands in a statement so.
    pub fn of(&self, said: &Said, access: Access, effects: &dyn Effects) -> Leaves {
        let named = self.of_name(&said.name, access);
        let called = match (said.stands, self.calls.get(&said.name)) {
            (Stands::Alone, _) => Leaves::Nothing,
            (Stands::Before | Stands::Called, Some(leaves)) => *leaves,
            (Stands::Called, None) if !effects.is_harmless(&said.name) => self.unknown,
            (Stands::Before | Stands::Called, None) => Leaves::Nothing,
        };
        named.max(called)
    }

    /// Takes in those of another storage unit.
    pub fn add(&mut self, other: &Self) {
        self.everything = self.everything.max(other.everything);
        self.reads_key |= other.reads_key;
        self.unknown = self.unknown.max(other.unknown);
        let extend = |own: &mut HashMap<String, Leaves>, other: &HashMap<String, Leaves>| {
            for (name, leaves) in other {
                let own = own.entry(name.clone()).or_default();
                *own = (*own).max(*leaves);
            }
        };
        extend(&mut self.calls, &other.calls);
        extend(&mut self.names, &other.names);
        extend(&mut self.written, &other.written);
    }
}
